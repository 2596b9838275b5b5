/* Cached frames in files and folders. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_CLI_SEQUENCE_H
#define OOZE_CLI_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

enum { CLI_PATH_ROOM = 4096 };

typedef struct cli_sequence {
  char **paths;
  uint32_t count;
} cli_sequence;

int cli_ends_with(const char *path, const char *ending);
/* The number before the ending: honey.0012.bgeo.sc is 12. 0 if there is none. */
int cli_frame_of(const char *path, int *frame);
/* Frames of `count` caches (each a file, a folder of them, or the folder of a run), of folders
 * those from low to high in steps of `every`. 0, and the exit code, after it has told what is
 * wrong. */
int cli_sequence_gather(cli_sequence *s, const char *command, const char *const *caches,
                        size_t count, int low, int high, uint32_t every, int *code);
void cli_sequence_release(cli_sequence *s);
/* "A-B" or "A"; 0 after it has told what is wrong */
int cli_frame_range(const char *text, int *low, int *high);
/* The scene that a run left beside its points; "" if there is none. */
void cli_find_scene(const char *points, char *out, size_t room);

#endif
