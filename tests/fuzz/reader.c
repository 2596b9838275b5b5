/* One reader under libFuzzer; OZ_FUZZ_<name> says which. A reader may refuse, but not crash, hang,
 * leak or take more memory than it was given. SPDX-License-Identifier: Apache-2.0 */
#include "ooze/ooze_io.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Results must be consistent: every value is touched, so that the sanitizer sees arrays
 * that are too short. */
static void touch(const void *data, uint64_t bytes) {
  volatile uint8_t sum = 0;
  for (uint64_t i = 0; i < bytes; i++) sum ^= ((const uint8_t *)data)[i];
  (void)sum;
}

static void must(int condition) {
  if (!condition) abort();
}

static void try_points(const char *name, const uint8_t *data, size_t size,
                       const ooze_io_limits *limits) {
  ooze_points *points = NULL;
  ooze_message why = {""};
  ooze_result result = ooze_points_read_memory(name, data, size, limits, &points, &why);
  must((result == OOZE_OK) == (points != NULL));
  must(result == OOZE_OK || why.text[0] != 0);
  if (result != OOZE_OK) return;
  uint64_t total = 0;
  for (uint32_t i = 0; i < ooze_points_attribute_count(points); i++) {
    ooze_points_attribute a;
    ooze_points_attribute_default(&a);
    must(ooze_points_attribute_get(points, i, &a) == OOZE_OK);
    uint64_t bytes = ooze_points_count(points) * a.components *
                     (a.type == OOZE_FLOAT32 || a.type == OOZE_INT32 ? 4u : 8u);
    touch(a.data, bytes);
    total += bytes;
  }
  must(total <= limits->max_bytes);
  must(ooze_points_find(points, "P", NULL) == OOZE_OK);
  ooze_points_destroy(points);
}

static void try_mesh(const char *name, const uint8_t *data, size_t size,
                     const ooze_io_limits *limits) {
  ooze_mesh mesh;
  ooze_message why = {""};
  ooze_mesh_default(&mesh);
  ooze_result result = ooze_mesh_read_memory(name, data, size, limits, &mesh, &why);
  must(result == OOZE_OK || why.text[0] != 0);
  if (result != OOZE_OK) {
    must(!mesh.positions && !mesh.triangles);
    return;
  }
  touch(mesh.positions, (uint64_t)mesh.point_count * 12);
  for (uint64_t i = 0; i < mesh.triangle_count * 3; i++) must(mesh.triangles[i] < mesh.point_count);
  ooze_mesh_release(&mesh);
}

static void try_checkpoint(const uint8_t *data, size_t size, const ooze_io_limits *limits) {
  void *memory = NULL;
  char *meta = NULL;
  size_t bytes = 0;
  ooze_message why = {""};
  ooze_result result =
      ooze_checkpoint_read_memory("x.ozc", data, size, limits, &memory, &bytes, &meta, &why);
  must((result == OOZE_OK) == (memory != NULL) && (result == OOZE_OK) == (meta != NULL));
  must(result == OOZE_OK || why.text[0] != 0);
  if (result == OOZE_OK) touch(memory, bytes);
  ooze_io_free(memory);
  ooze_io_free(meta);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ooze_io_limits limits;
  ooze_io_limits_default(&limits);
  limits.max_bytes = 8u << 20;
  /* Unused ones stay referenced, so that one file serves all. */
  (void)try_points;
  (void)try_mesh;
  (void)try_checkpoint;
#if defined(OZ_FUZZ_geo)
  try_points("x.geo", data, size, &limits);
  try_mesh("x.geo", data, size, &limits);
#elif defined(OZ_FUZZ_bgeo)
  try_points("x.bgeo", data, size, &limits);
  try_mesh("x.bgeo", data, size, &limits);
#elif defined(OZ_FUZZ_bgeo_sc)
  try_points("x.bgeo.sc", data, size, &limits);
#elif defined(OZ_FUZZ_ply)
  try_points("x.ply", data, size, &limits);
  try_mesh("x.ply", data, size, &limits);
#elif defined(OZ_FUZZ_obj)
  try_mesh("x.obj", data, size, &limits);
#elif defined(OZ_FUZZ_checkpoint)
  try_checkpoint(data, size, &limits);
#else
#error "which reader?"
#endif
  return 0;
}
