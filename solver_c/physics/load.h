/* Loads of the fluid on boundary particles, summed by collider: the reaction to their forces.
 *
 * A particle that a boundary particle moves by dx in a substep receives the momentum m dx / dt from
 * the collider. So the parts of the gathers that come from boundary particles are computed once
 * more, only for particles near them (wall contacts), neighbour by neighbour, by the `pair`
 * function of each gather, and given to the collider of each neighbour. The velocity solve is
 * linear with fixed gradients, so the sum of all multipliers suffices there, once.
 *
 * Order in a substep: load_start after the wall contacts are found; load_rows whenever the density
 * rows are new; load_stress between the velocity and the position phase; each other stage directly
 * behind the stage of its name, while the inputs of that stage (dx, A, the previous y) are still
 * there. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_LOAD_H
#define OZ_PHYSICS_LOAD_H

#include "physics/boundary_particles.h"
#include "physics/conformation.h"
#include "physics/mps.h"
#include "physics/paper.h"
#include "physics/rows.h"
#include "physics/springs.h"
#include "physics/tension.h"
#include "physics/viscous.h"

/* entries of a row for one bit of oz_load.near */
#define OZ_LOAD_GROUP (OZ_LANES > 4 ? OZ_LANES : 4)

/* Sums of the collider of boundary particle j. A particle that touches more than OZ_LOADS colliders
 * gives the surplus to the last one. */
OZ_FN float *oz_load_of(const oz_frame *f, oz_load *l, uint32_t j) {
  const uint32_t handle = oz_word(f->owner, j) & OZ_OWNER_HANDLE;
  uint32_t k = 0;
  while (k < l->count && l->handle[k] != handle) k++;
  if (k == OZ_LOADS)
    k = OZ_LOADS - 1;
  else if (k == l->count) {
    l->handle[k] = handle;
    for (int c = 0; c < OZ_LOAD_SUMS; c++) l->sum[k][c] = 0.0f;
    l->count++;
  }
  return l->sum[k];
}

enum {
  OZ_LOAD_G = 3,
  OZ_LOAD_C = 6,
  OZ_LOAD_CY = 7
}; /* places in oz_load.sum, behind the impulse */

OZ_FN uint32_t oz_minu(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* NULL where the particle is held. */
OZ_FN oz_load *oz_load_at(const oz_frame *f, uint32_t contact, uint32_t *i) {
  *i = f->wall_particle[contact];
  return f->omega[*i] > 0.0f ? f->load + contact : NULL;
}

OZ_FN void oz_load_start_item(const oz_frame *f, uint32_t contact) {
  f->load[contact].count = 0;
  for (int k = 0; k < 4; k++) f->load[contact].near[k] = 0;
}

/* ---- rows ---- */

OZ_FN uint32_t oz_load_length(const oz_frame *f, int part, uint32_t i) {
  return oz_dense_part(f, part) ? f->density_length[part][i] : 0;
}

/* load_rows: marks the groups of the density rows that hold boundary particles; sums ghat, c and c
 * y of those in the start row. */
OZ_FN void oz_load_rows_item(const oz_frame *f, uint32_t contact) {
  uint32_t i;
  oz_load *l = oz_load_at(f, contact, &i);
  if (!l) return;
  for (int k = 0; k < 4; k++) l->near[k] = 0;
  for (uint32_t k = 0; k < l->count; k++)
    for (int c = OZ_LOAD_G; c < OZ_LOAD_SUMS; c++) l->sum[k][c] = 0.0f;
  for (int part = 0; part < 2; part++) {
    const uint32_t length = oz_load_length(f, part, i);
    for (uint32_t m = 0; m < length; m++) {
      const uint32_t j = oz_dense_neighbour(f, part, i, m);
      if (!oz_is_boundary(f, j)) continue;
      const uint32_t bit = m / OZ_LOAD_GROUP;
      l->near[2 * part + (int)(bit >> 5)] |= (uint32_t)1 << (bit & 31u);
    }
  }
  const uint32_t length = f->start_length[i];
  const oz_v3 x = oz_vec_of(f->x, i);
  for (uint32_t m = 0; m < length; m++) {
    const uint32_t j = oz_neighbour(f, i, m);
    if (!oz_is_boundary(f, j)) continue;
    oz_real c;
    const oz_v3 g = oz_spiky(f, oz_sub(x, oz_vec_of(f->x, j)), &c);
    const float *y = f->y + 4 * (size_t)j;
    float *sum = oz_load_of(f, l, j), one = oz_first(c);
    sum[OZ_LOAD_G] += oz_first(g.x), sum[OZ_LOAD_G + 1] += oz_first(g.y),
        sum[OZ_LOAD_G + 2] += oz_first(g.z);
    sum[OZ_LOAD_C] += one;
    for (int k = 0; k < 3; k++) sum[OZ_LOAD_CY + k] += one * y[k];
  }
}

enum { /* number of sums of each gather */

#define OZ_STAGE(name, kind, sums, reductions) OZ_SUMS_##name = sums,
#include "physics/stages.def"
#undef OZ_STAGE
};

/* The pair function of a stage over the boundary particles of a row, lane by lane; OZ_LOAD_GIVE
 * adds the result of lane k to `sum`, that of the collider. */
#define OZ_LOAD_LANES(stage)                                           \
  oz_real acc[OZ_SUMS_##stage];                                        \
  for (int s = 0; s < OZ_SUMS_##stage; s++) acc[s] = oz_set(0.0f);     \
  const oz_group n = oz_group_of(j);                                   \
  oz_##stage##_pair(f, &self, &n, acc);                                \
  float lane[OZ_SUMS_##stage][OZ_LANES];                               \
  for (int s = 0; s < OZ_SUMS_##stage; s++) oz_st(lane[s], 0, acc[s]); \
  for (uint32_t k = 0; k < OZ_LANES; k++) {                            \
    if (!oz_is_boundary(f, j[k])) continue;                            \
    float *sum = oz_load_of(f, l, j[k]);                               \
    OZ_LOAD_GIVE                                                       \
  }
#define OZ_LOAD_ROW_DENSITY(stage)                                                              \
  for (int part = 0; part < 2; part++)                                                          \
    for (int word = 0; word < 2; word++)                                                        \
      for (uint32_t bits = l->near[2 * part + word], bit = 32u * (uint32_t)word; bits;          \
           bits >>= 1, bit++)                                                                   \
        for (uint32_t m = bit * OZ_LOAD_GROUP,                                                  \
                      end = oz_minu(m + OZ_LOAD_GROUP, oz_load_length(f, part, i));             \
             (bits & 1u) && m < end; m += OZ_LANES) {                                           \
          uint32_t j[OZ_LANES];                                                                 \
          for (uint32_t k = 0; k < OZ_LANES; k++) j[k] = oz_dense_neighbour(f, part, i, m + k); \
          OZ_LOAD_LANES(stage)                                                                  \
        }
#define OZ_LOAD_ROW_START(stage)                                           \
  for (uint32_t m = 0, end = f->start_length[i]; m < end; m += OZ_LANES) { \
    uint32_t j[OZ_LANES];                                                  \
    int any = 0;                                                           \
    for (uint32_t k = 0; k < OZ_LANES; k++)                                \
      j[k] = oz_neighbour(f, i, m + k), any |= oz_is_boundary(f, j[k]);    \
    if (!any) continue;                                                    \
    OZ_LOAD_LANES(stage)                                                   \
  }

/* The load of one stage: `sum` of each collider by the stage's pair function over `rows`, START or
 * DENSITY, with `by`, an expression of f and i, as `scale` of OZ_LOAD_GIVE. */
#define OZ_LOAD_OF_STAGE(load, stage, rows, by)                           \
  OZ_FN void oz_load_##load##_item(const oz_frame *f, uint32_t contact) { \
    uint32_t i;                                                           \
    oz_load *l = oz_load_at(f, contact, &i);                              \
    if (!l) return;                                                       \
    const float scale = by;                                               \
    oz_##stage##_self self;                                               \
    oz_##stage##_begin(f, i, &self);                                      \
    OZ_LOAD_ROW_##rows(stage)                                             \
  }

/* ---- any model ---- */

/* dx = scale sum; the wall loses the momentum that the particle gains. */
#define OZ_LOAD_GIVE \
  for (int c = 0; c < 3; c++) sum[c] -= scale * lane[c][k];

OZ_LOAD_OF_STAGE(tension, tension, START, oz_tension_scale(f) * f->m_ref)

/* ---- conformation ---- */

/* Load of the whole velocity phase: A = -d Lam B with its final multipliers, dx = omega A sum of
 * ghat, twice where points are in the strain as images (wall_points.h). Boundary particles have no
 * multiplier of their own. */
OZ_FN void oz_load_stress_item(const oz_frame *f, uint32_t contact) {
  uint32_t i;
  oz_load *l = oz_load_at(f, contact, &i);
  if (!l || !l->count) return;
  oz_s3 lam = oz_lam_of(f, i), B = oz_six_of(f->B, f->stride, i);
  const oz_m3 A = oz_s3_mul_s(&lam, &B);
  const oz_wall_slip *slip = oz_slip_of(f, i);
  const int image = f->contact_of && f->wall_row[contact].points_c > 0.0f;
  const float scale = f->m_ref * f->inv_dt * f->d * (image ? 2.0f : 1.0f);
  for (uint32_t k = 0; k < l->count; k++) {
    float *sum = l->sum[k];
    const oz_v3 g = {oz_set(sum[OZ_LOAD_G]), oz_set(sum[OZ_LOAD_G + 1]),
                     oz_set(sum[OZ_LOAD_G + 2])};
    oz_v3 v = oz_m3_v(&A, g);
    if (slip) oz_slip_load(slip, &lam, g, &v);
    sum[0] += scale * oz_first(v.x), sum[1] += scale * oz_first(v.y),
        sum[2] += scale * oz_first(v.z);
  }
}

OZ_FN void oz_load_density_item(const oz_frame *f, uint32_t contact) {
  uint32_t i;
  oz_load *l = oz_load_at(f, contact, &i);
  if (!l || f->dx[4 * (size_t)i + 3] == 0.0f) return;
  const float scale = f->m_ref * f->d * f->inv_dt * oz_density_scale(f);
  oz_density_move_self self;
  oz_density_move_begin(f, i, &self);
  OZ_LOAD_ROW_DENSITY(density_move)
}

/* The matrix of particle i for its neighbours, times a vector. */
OZ_FN void oz_load_sent(const oz_frame *f, uint32_t i, const float v[3], float out[3]) {
  uint32_t j[OZ_LANES];
  oz_m3 A;
  for (uint32_t k = 0; k < OZ_LANES; k++) j[k] = i;
  oz_matrix_gather(f->A, j, &A);
  const oz_v3 g = {oz_set(v[0]), oz_set(v[1]), oz_set(v[2])}, r = oz_m3_v(&A, g);
  out[0] = oz_first(r.x), out[1] = oz_first(r.y), out[2] = oz_first(r.z);
}

/* conform_move: A sum of ghat + w sum of c (y_j - y_i), with the previous y, which is in y2 by now,
 * and the pull of the images (wall_points.h), to which colliders add by their weights. */
OZ_FN void oz_load_conform_item(const oz_frame *f, uint32_t contact) {
  uint32_t i;
  oz_load *l = oz_load_at(f, contact, &i);
  if (!l) return;
  const float *y = f->y2 + 4 * (size_t)i, pull = y[3], scale = f->m_ref * f->inv_dt;
  const oz_wall_row *row = f->contact_of ? f->wall_row + contact : NULL;
  const float all = row ? row->points_c : 0.0f;
  for (uint32_t k = 0; k < l->count; k++) {
    float *sum = l->sum[k], moved[3];
    oz_load_sent(f, i, sum + OZ_LOAD_G, moved);
    for (int c = 0; c < 3; c++) {
      float by = moved[c] + pull * (sum[OZ_LOAD_CY + c] - sum[OZ_LOAD_C] * y[c]);
      if (all > 0.0f) by += sum[OZ_LOAD_C] / all * row->points_pull[c];
      sum[c] -= scale * by;
    }
  }
}

/* ---- links ---- */

OZ_LOAD_OF_STAGE(link_density, link_move, DENSITY, f->m_ref * f->d * f->inv_dt)

OZ_FN void oz_load_link_pull_item(const oz_frame *f, uint32_t contact) {
  uint32_t i;
  oz_load *l = oz_load_at(f, contact, &i);
  if (!l || !f->link_row) return;
  const float scale = f->m_ref * f->d * f->inv_dt;
  oz_link_move_self self;
  oz_link_move_begin(f, i, &self);
  for (uint32_t m = 0; m < f->link_len[i]; m += OZ_LANES) {
    const size_t e = oz_link_at(f, i, m);
    const uint32_t *j = f->link_j + e;
    int any = 0;
    for (uint32_t k = 0; k < OZ_LANES && m + k < f->link_len[i]; k++)
      any |= oz_is_boundary(f, j[k]);
    if (!any) continue;
    oz_real acc[3] = {oz_set(0.0f), oz_set(0.0f), oz_set(0.0f)};
    oz_links n = {j, oz_ld(f->link_rest + e, 0), f->link_kind + e, f->link_spare + e,
                  f->link_share + e};
    oz_link_move_link(f, &self, &n, acc);
    float lane[3][OZ_LANES];
    for (int s = 0; s < 3; s++) oz_st(lane[s], 0, acc[s]);
    for (uint32_t k = 0; k < OZ_LANES && m + k < f->link_len[i]; k++) {
      if (!oz_is_boundary(f, j[k])) continue;
      float *sum = oz_load_of(f, l, j[k]);
      OZ_LOAD_GIVE
    }
  }
}

/* ---- springs: displacements, not yet multiplied by mass ---- */

OZ_LOAD_OF_STAGE(relax, spring_relax, DENSITY, f->m_ref / f->omega[i] * f->inv_dt)

/* ---- cauchy ---- */

OZ_LOAD_OF_STAGE(mps_move, mps_move, DENSITY,
                 -0.5f * f->cauchy.lambda * f->m_ref / f->omega[i] * f->inv_dt)

#undef OZ_LOAD_GIVE
/* Stress: towards held particles the particle's own matrix, sums 3 to 5; its pull 6 to 8;
 * viscosity 9 to 11. */
#define OZ_LOAD_GIVE                                         \
  float v[3] = {lane[3][k], lane[4][k], lane[5][k]}, own[3]; \
  oz_load_sent(f, i, v, own);                                \
  for (int c = 0; c < 3; c++)                                \
    sum[c] -= scale * (lane[c][k] + own[c] + pull * lane[6 + c][k] + viscous * lane[9 + c][k]);

OZ_FN void oz_load_mps_force_item(const oz_frame *f, uint32_t contact) {
  uint32_t i;
  oz_load *l = oz_load_at(f, contact, &i);
  if (!l) return;
  /* m / rho = Vm */
  const float scale = f->Vm * f->dt, pull = f->cauchy.pair / f->Vm, viscous = oz_mps_viscous(f);
  oz_mps_force_self self;
  oz_mps_force_begin(f, i, &self);
  OZ_LOAD_ROW_START(mps_force)
}

#undef OZ_LOAD_GIVE

/* ---- conformation as printed: own matrix times the sum of vol g, sums 3 to 5 ---- */

#define OZ_LOAD_GIVE                                         \
  float v[3] = {lane[3][k], lane[4][k], lane[5][k]}, own[3]; \
  oz_load_sent(f, i, v, own);                                \
  for (int c = 0; c < 3; c++) sum[c] -= scale * (f->y2[4 * (size_t)i + 3] * lane[c][k] + own[c]);

OZ_LOAD_OF_STAGE(paper, paper_force, DENSITY,
                 f->m_ref * f->inv_dt * oz_minf(1.0f, 5.0f / oz_maxf(f->zero_energy_gate[i], 1.0f)))

#undef OZ_LOAD_GIVE
#endif
