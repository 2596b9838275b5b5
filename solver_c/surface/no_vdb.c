/* In place of vdb.cpp where there is no OpenVDB: everything is there and says so.
 * SPDX-License-Identifier: Apache-2.0 */
#include "vdb.h"

static ooze_result without(ooze_message *why) {
  return oz_fail(why, OOZE_ERROR_UNSUPPORTED,
                 "this build has no OpenVDB (configure with OOZE_OPENVDB=ON)");
}

int ooze_surface_has_vdb(void) { return 0; }
void oz_vdb_prepare(void) {}
ooze_result oz_vdb_read(const ooze_sdf_desc *desc, const char *path, const char *grid,
                        ooze_sdf *out, ooze_message *why) {
  (void)desc, (void)path, (void)grid, (void)out;
  return without(why);
}
ooze_result oz_vdb_list(const char *path, ooze_vdb_grid *out, uint32_t capacity,
                        uint32_t *out_count, ooze_message *why) {
  (void)path, (void)out, (void)capacity, (void)out_count;
  return without(why);
}
ooze_result ooze_surface_mesh(const ooze_surface *s, double adaptivity, ooze_mesh *out,
                              ooze_message *why) {
  (void)s, (void)adaptivity, (void)out;
  return without(why);
}
ooze_result ooze_sdf_from_mesh(const ooze_sdf_desc *desc, const float *points, uint32_t point_count,
                               const uint32_t *triangles, uint32_t triangle_count, ooze_sdf *out,
                               ooze_message *why) {
  (void)desc, (void)points, (void)point_count, (void)triangles, (void)triangle_count, (void)out;
  return without(why);
}
ooze_result ooze_surface_grid(const ooze_surface *s, uint32_t index,
                              const ooze_vdb_options *options, void *grid, ooze_message *why) {
  (void)s, (void)index, (void)options, (void)grid;
  return without(why);
}
ooze_result ooze_grid_mesh(const void *grid, double iso, ooze_mesh *out, ooze_message *why) {
  (void)grid, (void)iso, (void)out;
  return without(why);
}
ooze_result ooze_sdf_from_grid(const ooze_sdf_desc *desc, const void *grid, ooze_sdf *out,
                               ooze_message *why) {
  (void)desc, (void)grid, (void)out;
  return without(why);
}
ooze_result ooze_grid_sample(const void *grid, const float *points, uint32_t count, float *out,
                             ooze_message *why) {
  (void)grid, (void)points, (void)count, (void)out;
  return without(why);
}
uint64_t ooze_grid_hash(const void *grid) {
  (void)grid;
  return 0;
}
ooze_result ooze_sdf_mesh(const ooze_sdf *sdf, ooze_mesh *out, ooze_message *why) {
  (void)sdf, (void)out;
  return without(why);
}
