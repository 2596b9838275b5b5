/* Walls in the strain of the particles next to them (docs/theory/walls.md, no-slip).
 *
 * A particle's gradient L comes from its neighbours, which are on one side of a wall only. The
 * fluid towards the wall, s away, shears at (u - u_w) / s, and takes part with the share theta:
 *
 *     L' = L + theta (P t n^T + k (n n^T - c I / 3)),   t = (u - u_w) / s - L n,   P = I - n n^T,
 *
 * so that a linear flow that stands still at the wall has its own gradient in every particle. k is
 * 0 where normal motion is left to contact. Where fluid leaves the wall k is n . t: it has to flow
 * to let air in between, which thick fluids do slowly. c is 1 where nothing sucks, and 0 where
 * volume between particle and wall is held as in fluid (oz_row_sucks). The transpose acts on
 * stresses: with t' = P T n + (n . T n - c tr T / 3) n, the latter where k is not 0, neighbours
 * feel T' = T - theta t' n^T, and the wall pulls with theta t' / s. The stress is the material's
 * own, whatever its law. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_WALL_ROW_H
#define OZ_PHYSICS_WALL_ROW_H

#include "physics/contact.h"
#include "physics/fields.h"
#include "physics/pairs.h"

/* True for a particle of fluid with enough neighbours for a strain. */
OZ_FN int oz_takes_row(const oz_frame *f, size_t i) {
  return f->neighbours[i] >= OZ_MIN_NEIGHBOURS && oz_word(f->owner, i) == 0;
}

/* A solid leaves a wall freely. */
OZ_FN int oz_row_solid(const oz_frame *f, size_t i) {
  return oz_relaxation_time_of(f, (uint32_t)i) > OZ_SOLID_TIME;
}

/* Part of the volume in a normal hold: nu / (nu + d sqrt(g d)). Air pressure holds any fluid to a
 * wall until air comes in between. In thin fluids that happens at once, by waves smaller than the
 * particles. */
OZ_FN float oz_row_sucks(const oz_frame *f, size_t i) {
  /* d sqrt(g d) / nu, finite or not: mu = (tau + dt) / alpha, alpha = a V0 dt^2 / (m_ref d^2) */
  const float thin =
      sqrtf(9.81f * f->d) * f->dt * f->dt * f->a[i] /
      (f->d * (oz_relaxation_time_of(f, (uint32_t)i) + f->dt) * oz_maxf(f->omega[i], 1e-20f));
  return 1.0f / (1.0f + oz_maxf(thin, 0.0f));
}

/* Support across a wall of normal n, from K over that of a lattice: 0.5 next to a wall, 0.33 at an
 * edge, 0 in a single layer. */
OZ_FN float oz_row_across(const float K[6], const float n[3]) {
  return n[0] * (K[0] * n[0] + 2.0f * (K[3] * n[1] + K[4] * n[2])) +
         n[1] * (K[1] * n[1] + 2.0f * K[5] * n[2]) + K[2] * n[2] * n[2];
}

/* d: fluid rests at half a separation; between a wall and a layer further off that is pressed
 * towards it there is air, which gives way. Thick fluid would stop there, since its row resists in
 * both directions. apart: speed away from the wall; pressed: stress across it, of any unit. */
#define OZ_ROW_RESTS 0.55f
OZ_FN int oz_row_lands(const oz_frame *f, float start, float apart, float pressed) {
  return start > OZ_ROW_RESTS * f->d && apart <= 0.0f && pressed >= 0.0f;
}

/* Stress across a wall of normal n that a particle with a memory has kept of the last substep,
 * above 0 where it presses: a pure number. */
OZ_FN float oz_row_kept(const oz_frame *f, size_t i, const float n[3]) {
  const float tau = oz_relaxation_time_of(f, (uint32_t)i);
  float q[6];
  for (size_t c = 0; c < 6; c++) q[c] = f->q[c * f->stride + i];
  const float pull = oz_row_across(q, n) - (1.0f / 3.0f) * (q[0] + q[1] + q[2]),
              pressure = f->pressure ? f->pressure[i] : 0.0f;
  return pressure / oz_pressure_unit(f) - pull * (tau + f->dt) / (tau * f->a[i]);
}

/* 0 where a wall holds the particle along its normal too: one that leaves it, and thick fluid of
 * brief memory in both directions, because the side of the pull is known only with the stress, but
 * for a layer that lands. A longer memory lets fluid rebound, and a paste without one stays as it
 * is, but for a sticky wall; solids leave freely. */
OZ_FN float oz_row_slides(const oz_frame *f, size_t i, const float n[3], const float u[3],
                          float stick, float start) {
  const float *v = f->u + 4 * i, rel[3] = {v[0] - u[0], v[1] - u[1], v[2] - u[2]};
  const float memory = oz_relaxation_time_of(f, (uint32_t)i), apart = oz_dot3f(rel, n);
  const int sticks = stick > 0.0f, remembers = memory > 0.0f,
            keeps = remembers ||
                    (sticks && f->has_yield && f->matter[f->material[i]].yield_stress > 0.0f),
            thick = keeps && memory < (sticks ? OZ_SOLID_TIME : OZ_BRIEF_TIME) &&
                    oz_row_sucks(f, i) > 0.5f &&
                    !(remembers && oz_row_lands(f, start, apart, oz_row_kept(f, i, n)));
  return (apart > 0.0f && !oz_row_solid(f, i)) || thick ? 0.0f : 1.0f;
}

/* 0 in a film of one layer, 1 in fluid that is deep. across: as above. */
OZ_FN float oz_film_deep(float across) {
  return oz_minf(1.0f, oz_maxf(0.0f, across * (1.0f / 0.3f)));
}

/* Thickness of a film of one layer, in separations: the layer's density. along: the rest of the
 * trace of K, over that of a lattice, which has 1.269 in one layer. */
#define OZ_ROW_THINNEST 0.3f /* separations: least thickness of a film */
OZ_FN float oz_film_sigma(float along) {
  return oz_minf(1.0f, oz_maxf(OZ_ROW_THINNEST, along * (1.0f / 1.269f)));
}

/* d: thickness of the layer of thick fluid that clings to a wall */
#define OZ_WALL_COAT 0.8f

/* d: from and to where the second layer stands above the first */
#define OZ_FILM_ABOVE 0.5f
#define OZ_FILM_BELOW 1.5f
#define OZ_FILM_FLAT 0.77f /* colour gradient of a flat surface (shift.h) */

/* Neighbours at a time: each takes three dependent loads, of which a GPU thread has several in
 * flight. */
#if OZ_GPU
#define OZ_WALL_AHEAD 8
#else
#define OZ_WALL_AHEAD 1
#endif

/* 1 in the first layer of a film of two: the layer above it belongs to the surface. Coats are of
 * thick fluid; 0 for others. start: distance from the wall of normal n. */
OZ_FN float oz_film_of_two(const oz_frame *f, size_t i, const float n[3], float start) {
  const float *x = f->x + 4 * i, at[3] = {x[0], x[1], x[2]},
              inv_flat = 1.0f / (OZ_FILM_FLAT * f->grad_norm * f->h2); /* below 0, as is g . n */
  float count = 0.0f, surface = 0.0f;
  if (!(start < OZ_WALL_COAT * f->d) || oz_row_solid(f, i) || !(oz_row_sucks(f, i) > 0.5f))
    return 0.0f;
  const uint32_t length = f->start_length[i];
  for (uint32_t m = 0; m < length; m += OZ_WALL_AHEAD)
    for (uint32_t e = 0; e < OZ_WALL_AHEAD; e++) {
      const uint32_t j = oz_neighbour(f, i, m + e < length ? m + e : m);
      const float *v = f->x + 4 * (size_t)j, r[3] = {v[0] - at[0], v[1] - at[1], v[2] - at[2]},
                  above = oz_dot3f(n, r) * f->inv_d;
      const int on = m + e < length && above > OZ_FILM_ABOVE && above < OZ_FILM_BELOW;
      if (!OZ_GPU && !on) continue;
      float g[3];
      for (uint32_t c = 0; c < 3; c++) g[c] = *oz_block_at(f->gradient_sum, 3, c, f->stride, j);
      count += on ? 1.0f : 0.0f;
      surface += on ? oz_minf(1.0f, oz_maxf(0.0f, oz_dot3f(g, n) * inv_flat)) : 0.0f;
    }
  return oz_minf(1.0f, oz_maxf(0.0f, 2.0f * surface / oz_maxf(count, 1.0f) - 0.5f));
}

/* ---- Coats ---- */

/* Separations of fluid that a clinging layer bears by its normal stress. A greater pull is left to
 * the wall's row, which lets the layer yield together with the fluid behind it. A paste without
 * memory carries hardly more than its yield stress over, and bears more; but where that stress
 * holds a layer by itself nothing tells how hard it is pulled. */
#define OZ_WALL_BEARS 1.0f
#define OZ_WALL_BEARS_PASTE 3.0f

/* True for the first layer of fluid, `start` off a wall with friction, as long as the tension
 * across the wall that it carries is that of a coat. Air pressure holds thick fluid to a wall until
 * air comes in between, whatever its own stiffness (docs/theory/walls.md, coats). The stress of the
 * substep before is known where a material relaxes or yields; a memory has kept tau / (tau + dt) of
 * it, the least one all. Stick bears its own weight of the layer besides. Impacts are left to
 * contact. */
OZ_FN int oz_row_coats(const oz_frame *f, uint32_t i, const oz_wall *w, float start,
                       const float u[3]) {
  const float tau = oz_relaxation_time_of(f, i),
              yield = f->has_yield ? f->matter[f->material[i]].yield_stress : 0.0f,
              weight = 9.81f * f->d, layer = weight * oz_density_of(f, i), /* Pa */
      rel[3] = {w->u[0] - u[0], w->u[1] - u[1], w->u[2] - u[2]};
  if (!(w->friction > 0.5f) || !(start <= OZ_WALL_COAT * f->d) ||
      !(oz_dot3f(w->n, rel) < sqrtf(weight)) || !(tau > 0.0f || (yield > 0.0f && yield < layer)))
    return 0;
  const oz_s3 lam = oz_lam_of(f, i);
  const float s[6] = {oz_first(lam.s[0]), oz_first(lam.s[1]), oz_first(lam.s[2]),
                      oz_first(lam.s[3]), oz_first(lam.s[4]), oz_first(lam.s[5])},
              now = tau > OZ_LEAST_MEMORY ? (tau + f->dt) / tau : 1.0f,
              bears = layer * (tau > 0.0f ? OZ_WALL_BEARS : OZ_WALL_BEARS_PASTE),
              most = bears + w->stick * f->d * oz_density_of(f, i),
              pressed = oz_row_across(s, w->n);
  return -now * pressed * oz_pressure_unit(f) < most &&
         !oz_row_lands(f, start, -oz_dot3f(w->n, rel), pressed);
}

/* The rows of consecutive particles; zero where there is none. */
typedef struct oz_row_lanes {
  oz_v3 n, w;            /* normal; theta n */
  oz_real b;             /* d / s */
  oz_real pull;          /* theta d / s */
  oz_real slides, third; /* third: of a normal hold, what leaves volume out */
} oz_row_lanes;

/* A member of the records of consecutive particles' contacts, or 0. */
#define OZ_CONTACT_MEMBER(f, i, record, member, out)           \
  do {                                                         \
    float of_lane[OZ_LANES];                                   \
    for (uint32_t k = 0; k < OZ_LANES; k++) {                  \
      const uint32_t slot = (f)->contact_of[(i) + k];          \
      of_lane[k] = slot ? (f)->record[slot - 1].member : 0.0f; \
    }                                                          \
    (out) = oz_ld(of_lane, 0);                                 \
  } while (0)
#define OZ_ROW_MEMBER(f, i, member, out) OZ_CONTACT_MEMBER(f, i, wall_row, member, out)

/* 0 where no particle has a row. */
OZ_FN int oz_row_ld(const oz_frame *f, uint32_t i, oz_row_lanes *r) {
  float any = 0.0f;
  if (!f->contact_of) return 0;
  for (uint32_t k = 0; k < OZ_LANES; k++) {
    const uint32_t slot = f->contact_of[i + k];
    if (slot) any += f->wall_row[slot - 1].b;
  }
  if (!(any > 0.0f)) return 0;
  OZ_ROW_MEMBER(f, i, w[0], r->w.x);
  OZ_ROW_MEMBER(f, i, w[1], r->w.y);
  OZ_ROW_MEMBER(f, i, w[2], r->w.z);
  OZ_ROW_MEMBER(f, i, b, r->b);
  OZ_ROW_MEMBER(f, i, slides, r->slides);
  OZ_ROW_MEMBER(f, i, sucks, r->third);
  r->third = (1.0f / 3.0f) * (1.0f - r->third);
  oz_real square = oz_max(oz_dot(r->w, r->w), oz_set(1e-12f)), inv = oz_rsqrt(square);
  r->n.x = inv * r->w.x, r->n.y = inv * r->w.y, r->n.z = inv * r->w.z;
  r->pull = r->b * (square * inv);
  return 1;
}

/* v without its normal part, which is returned where the wall holds it */
OZ_FN oz_v3 oz_row_along(const oz_row_lanes *r, oz_v3 v, oz_real *held) {
  const oz_real k = oz_dot(r->n, v);
  *held = (1.0f - r->slides) * k;
  v.x -= k * r->n.x, v.y -= k * r->n.y, v.z -= k * r->n.z;
  return v;
}

/* m += s t w^T */
OZ_FN void oz_row_add(oz_m3 *m, oz_real s, oz_v3 t, oz_v3 w) {
  const oz_v3 v = {s * w.x, s * w.y, s * w.z};
  m->m[0] += t.x * v.x, m->m[1] += t.x * v.y, m->m[2] += t.x * v.z;
  m->m[3] += t.y * v.x, m->m[4] += t.y * v.y, m->m[5] += t.y * v.z;
  m->m[6] += t.z * v.x, m->m[7] += t.z * v.y, m->m[8] += t.z * v.z;
}

/* L, d times the gradient of v, becomes L'. goal: 1 for velocities, dt for displacements, 0 for
 * changes of either. */
OZ_FN void oz_row_strain(const oz_frame *f, uint32_t i, oz_v3 v, float goal, oz_m3 *L) {
  oz_row_lanes r;
  if (!oz_row_ld(f, i, &r)) return;
  oz_v3 t = oz_m3_v(L, r.n);
  t.x = r.b * v.x - t.x, t.y = r.b * v.y - t.y, t.z = r.b * v.z - t.z;
  if (goal != 0.0f) {
    oz_v3 g;
    OZ_ROW_MEMBER(f, i, goal[0], g.x);
    OZ_ROW_MEMBER(f, i, goal[1], g.y);
    OZ_ROW_MEMBER(f, i, goal[2], g.z);
    t.x -= goal * g.x, t.y -= goal * g.y, t.z -= goal * g.z;
  }
  oz_real held, third;
  oz_v3 along = oz_row_along(&r, t, &held);
  along.x += held * r.n.x, along.y += held * r.n.y, along.z += held * r.n.z;
  oz_row_add(L, oz_set(1.0f), along, r.w);
  third = r.third * held * oz_dot(r.n, r.w);
  L->m[0] -= third, L->m[4] -= third, L->m[8] -= third;
}

/* T becomes T'; the pull of the wall is stored for the force. */
OZ_FN void oz_row_stress(const oz_frame *f, uint32_t i, oz_m3 *T) {
  oz_row_lanes r;
  if (!oz_row_ld(f, i, &r)) return;
  oz_real held;
  oz_v3 t = oz_row_along(&r, oz_m3_v(T, r.n), &held);
  held -= (1.0f - r.slides) * r.third * (T->m[0] + T->m[4] + T->m[8]);
  t.x += held * r.n.x, t.y += held * r.n.y, t.z += held * r.n.z;
  oz_row_add(T, oz_set(-1.0f), t, r.w);
  const oz_real scale = f->d * r.pull;
  float pull[3][OZ_LANES];
  oz_st(pull[0], 0, scale * t.x), oz_st(pull[1], 0, scale * t.y), oz_st(pull[2], 0, scale * t.z);
  for (uint32_t k = 0; k < OZ_LANES; k++) {
    const uint32_t slot = f->contact_of[i + k];
    if (!slot) continue;
    for (int c = 0; c < 3; c++) f->wall_row[slot - 1].pull[c] = pull[c][k];
  }
}

/* The pulls that oz_row_stress and oz_points_stress have stored, added to a sum of forces. */
OZ_FN void oz_row_pull(const oz_frame *f, uint32_t i, oz_v3 *sum) {
  uint32_t any = 0;
  oz_v3 p;
  if (!f->contact_of) return;
  for (uint32_t k = 0; k < OZ_LANES; k++) any |= f->contact_of[i + k];
  if (!any) return;
  OZ_ROW_MEMBER(f, i, pull[0], p.x);
  OZ_ROW_MEMBER(f, i, pull[1], p.y);
  OZ_ROW_MEMBER(f, i, pull[2], p.z);
  sum->x += p.x, sum->y += p.y, sum->z += p.z;
  if (!f->has_boundary) return;
  OZ_ROW_MEMBER(f, i, points_pull[0], p.x);
  OZ_ROW_MEMBER(f, i, points_pull[1], p.y);
  OZ_ROW_MEMBER(f, i, points_pull[2], p.z);
  sum->x += p.x, sum->y += p.y, sum->z += p.z;
}

/* What a row adds to the bound of its particle's eigenvalues (docs/theory/velocity_projection.md):
 * it touches the particle itself with the weight theta d / s, boundary particles with theirs.
 * greatest: of the eigenvalues without it, omega S^2 / 3 beta for neighbours all around, which
 * tells S. */
OZ_FN float oz_row_bound(const oz_frame *f, const oz_wall_row *r, float omega, float greatest) {
  const float weight = r->b * sqrtf(r->w[0] * r->w[0] + r->w[1] * r->w[1] + r->w[2] * r->w[2]) +
                       r->points_weight,
              sum = sqrtf(3.0f * f->beta * omega * (greatest > 0.0f ? greatest : 0.0f));
  return weight * (sum + omega * weight) / f->beta;
}
#endif
