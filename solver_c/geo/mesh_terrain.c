/* A solid under a field of heights. SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <math.h>

static void quad(ooze_mesh *m, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  uint32_t *t = m->triangles + 3 * m->triangle_count;
  const uint32_t corners[6] = {a, b, c, a, c, d};
  memcpy(t, corners, sizeof corners);
  m->triangle_count += 2;
}

/* The same places again at the bottom, so that walls are quads between the two. */
ooze_result ooze_mesh_terrain(uint32_t columns, uint32_t rows, const float *positions, float depth,
                              ooze_mesh *out, ooze_message *why) {
  if (!positions || !out || columns < 2 || rows < 2 || !(depth > 0.0f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "terrain: %u by %u places and a depth of %g m; expected 2 by 2 or more, above 0",
                   columns, rows, (double)depth);
  const uint64_t n = (uint64_t)columns * rows, quads = (uint64_t)(columns - 1) * (rows - 1),
                 walls = 2 * ((uint64_t)(columns - 1) + (rows - 1));
  if (n > UINT32_MAX / 4)
    return oz_fail(why, OOZE_ERROR_LIMIT, "terrain: %llu places", (unsigned long long)n);
  OZ_TRY(ooze_mesh_allocate(out, (uint32_t)(2 * n), 4 * quads + 2 * walls, 0, why));
  float lowest = positions[1];
  for (uint64_t i = 0; i < n; i++) lowest = fminf(lowest, positions[3 * i + 1]);
  memcpy(out->positions, positions, n * 3 * sizeof(float));
  memcpy(out->positions + 3 * n, positions, n * 3 * sizeof(float));
  for (uint64_t i = n; i < 2 * n; i++) out->positions[3 * i + 1] = lowest - depth;
  out->triangle_count = 0;
  const uint32_t below = (uint32_t)n;
  for (uint32_t r = 0; r + 1 < rows; r++)
    for (uint32_t c = 0; c + 1 < columns; c++) {
      const uint32_t a = r * columns + c, b = a + 1, d = a + columns, e = d + 1;
      quad(out, a, d, e, b);
      quad(out, below + a, below + b, below + e, below + d);
    }
  for (uint32_t c = 0; c + 1 < columns; c++) {
    const uint32_t a = c, last = (rows - 1) * columns + c;
    quad(out, a, a + 1, below + a + 1, below + a);
    quad(out, last + 1, last, below + last, below + last + 1);
  }
  for (uint32_t r = 0; r + 1 < rows; r++) {
    const uint32_t a = r * columns, last = a + columns - 1;
    quad(out, a + columns, a, below + a, below + a + columns);
    quad(out, last, last + columns, below + last + columns, below + last);
  }
  ooze_mesh_face_out(out);
  return OOZE_OK;
}
