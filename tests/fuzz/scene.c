/* Fuzzer of scene files: any text ends in a scene or in one line. SPDX-License-Identifier:
 * Apache-2.0 */
#include <string.h>

#include "ooze/ooze_scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  ooze_scene *scene = NULL;
  ooze_message why;
  memset(&why, 0, sizeof why);
  /* "file" keys would read whatever the fuzzer names; the shapes that take files have fuzzers of
   * their own */
  for (size_t i = 0; i + 6 <= count; i++)
    if (memcmp(bytes + i, "\"file\"", 6) == 0) return 0;
  ooze_result r = ooze_scene_load_memory("s.json", bytes, count, NULL, &scene, &why);
  if (r == OOZE_OK) {
    ooze_scene_info info;
    ooze_scene_info_default(&info);
    if (ooze_scene_info_get(scene, &info) != OOZE_OK || !info.text) __builtin_trap();
  } else if (scene || !why.text[0] || strchr(why.text, '\n')) {
    __builtin_trap();
  }
  ooze_scene_destroy(scene);
  return 0;
}
