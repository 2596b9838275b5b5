/* Cached frames in files and folders. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_CLI_SEQUENCE_H
#define OOZE_CLI_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

#include "ooze/ooze_scene.h"

enum { CLI_PATH_ROOM = 4096 };

typedef struct cli_sequence {
  char **paths;
  uint32_t count;
} cli_sequence;

int cli_ends_with(const char *path, const char *ending);
/* The number before the ending: honey.0012.bgeo.sc is 12. 0 if there is none. */
int cli_frame_of(const char *path, int *frame);
/* Frames of `count` caches (each a file, a folder of them, or the folder of a run), of folders
 * those from low to high in steps of `every`. 0, and the exit code, after it has told the error. */
int cli_sequence_gather(cli_sequence *s, const char *command, const char *const *caches,
                        size_t count, int low, int high, uint32_t every, int *code);
void cli_sequence_release(cli_sequence *s);
/* "A-B" or "A"; 0 after it has told the error */
int cli_frame_range(const char *text, int *low, int *high);
/* The scene that a run left beside its points; "" if there is none. */
void cli_find_scene(const char *points, char *out, size_t room);

/* The scene that goes with a cache; kept while the caches are of one run. */
typedef struct cli_scene_beside {
  ooze_scene *scene; /* NULL where there is none */
  char path[CLI_PATH_ROOM];
} cli_scene_beside;
/* `given`, or the one beside the points: a scene there that cannot be read is told and left out. */
ooze_result cli_use_scene(cli_scene_beside *at, const char *command, const char *given,
                          const char *points, const ooze_scene_options *options, ooze_message *why);

#endif
