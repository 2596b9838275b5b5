/* Layers of fluid above each other, for the counts of a step (docs/theory/counts.md). All sums are
 * of whole numbers, so that no order of particles changes them. SPDX-License-Identifier: Apache-2.0
 */
#ifndef OZ_PHYSICS_COLUMNS_H
#define OZ_PHYSICS_COLUMNS_H

#include "physics/fields.h"

/* Columns along gravity, of a table by hash: OZ_COLUMNS counters. */
enum { OZ_COLUMNS = 1 << 16 };
typedef struct oz_columns {
  float across[2][3]; /* two axes across gravity, in 1 / width of a column */
  float scale;        /* s^2/m^2: 1 / unit of pressure over density */
  uint32_t least;     /* units: particles that bear less are not counted */
} oz_columns;

/* Units of pressure over density in gravity times a separation. */
#define OZ_PRESSURE_UNITS 16.0

/* Sums over particles: pressure in units, its square, the square of their number in each column,
 * particles. */
enum { OZ_SUM_PRESSURE, OZ_SUM_PRESSURE2, OZ_SUM_COLUMN2, OZ_SUM_PARTICLES, OZ_COLUMN_SUMS };

/* At most 65535; 0 of NaN. */
OZ_FN uint32_t oz_pressure_units(const oz_frame *f, const oz_columns *c, uint32_t i) {
  if (!f->density_pressure) return 0;
  const float q = c->scale * f->density_pressure[i] / oz_density_of(f, i);
  return q > 0.0f ? q < 65535.0f ? (uint32_t)q : 65535u : 0u;
}

OZ_FN int oz_columns_count(const oz_frame *f, const oz_columns *c, uint32_t i) {
  if (oz_word(f->owner, i) >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY) return 0;
  return c->least == 0 || oz_pressure_units(f, c, i) >= c->least;
}

/* Index of a particle's column. */
OZ_FN uint32_t oz_column_of(const oz_frame *f, const oz_columns *c, uint32_t i) {
  const float *x = f->x + 4 * (size_t)i;
  uint32_t cell[2];
  for (int k = 0; k < 2; k++) {
    const float *a = c->across[k], at = a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
    cell[k] = (uint32_t)(int)(at < -1e9f ? -1e9f : at < 1e9f ? floorf(at) : 1e9f);
  }
  uint32_t h = cell[0] * 0x9e3779b1u + cell[1] * 0x85ebca77u;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  return (h ^ h >> 13) * 0xc2b2ae35u >> 16; /* OZ_COLUMNS */
}

/* Adds a particle that `above` others of its column were added before: sums of 2 k + 1 are squares.
 */
OZ_FN void oz_columns_add(const oz_frame *f, const oz_columns *c, uint32_t i, uint32_t above,
                          uint64_t *sum) {
  const uint64_t q = oz_pressure_units(f, c, i);
  sum[OZ_SUM_PRESSURE] += q;
  sum[OZ_SUM_PRESSURE2] += q * q;
  sum[OZ_SUM_COLUMN2] += 2 * (uint64_t)above + 1;
  sum[OZ_SUM_PARTICLES]++;
}

#endif
