/* .abc: meshes and points with velocity, where libalembic was found.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <stdlib.h>

#include "alembic.h"

#ifdef OOZE_HAVE_ALEMBIC
ooze_result oz_alembic_can_write(const char *path, ooze_message *why) {
  (void)path, (void)why;
  return OOZE_OK;
}

ooze_result oz_alembic_write(const char *path, const ooze_points *points, const ooze_mesh *mesh,
                             const ooze_write_options *options, ooze_message *why) {
  char reason[256];
  void *bytes = NULL;
  size_t count = 0;
  oz_out out;
  ooze_points_attribute p;
  ooze_points_attribute_default(&p);
  if (ooze_points_find(points, "P", &p) != OOZE_OK || p.type != OOZE_FLOAT32 || p.components != 3)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: the points have no positions", path);
  ooze_result result =
      oz_alembic_bytes(points, mesh, options->software, &bytes, &count, reason, sizeof reason);
  if (result == OOZE_ERROR_MEMORY) return oz_fail(why, result, "%s: out of memory", path);
  if (result < 0) return oz_fail(why, result, "%s: Alembic refuses it: %s", path, reason);
  result = oz_out_open(&out, path, why);
  if (result == OOZE_OK) {
    out.ready = options->ready;
    out.user = options->user;
    oz_out_put(&out, bytes, count);
    result = oz_out_close(&out, options->sync);
  }
  free(bytes);
  return result;
}
#else
ooze_result oz_alembic_can_write(const char *path, ooze_message *why) {
  return oz_fail(why, OOZE_ERROR_UNSUPPORTED,
                 "%s: this build writes no Alembic files: libalembic was not found when it was "
                 "made; .bgeo.sc, .ply and .vdb carry the same",
                 path);
}

ooze_result oz_alembic_write(const char *path, const ooze_points *points, const ooze_mesh *mesh,
                             const ooze_write_options *options, ooze_message *why) {
  (void)points, (void)mesh, (void)options;
  return oz_alembic_can_write(path, why);
}
#endif
