/* Clavet, Beaudoin, Poulin 2005: double density relaxation, springs with plasticity, viscosity
 * impulses (docs/theory/models/springs.md).
 *
 * The paper moves one pair after the other, each from the positions that the previous pair left;
 * that order cannot be parallelised. Here every particle gathers all of its pairs at once (Jacobi
 * instead of Gauss-Seidel). The displacements of a pair are still equal and opposite, so momentum
 * is kept. But all pairs act on the same positions and may overshoot together. So each particle
 * (springs, viscosity) or each density has a bound on the sum of its pairs, and a pair obeys the
 * stricter bound of its two ends. The paper's own values do not reach the bounds of density; they
 * reach those of springs at one step a frame (docs/guide/models.md has the numbers).
 *
 * Units, as in the paper: time in units of T (models/springs.c), lengths in units of h; k and
 * k_near are accelerations in h / T^2, k_spring and k_stick are 1 / T^2, alpha and sigma 1 / T,
 * beta 1 / h. s = dt / T. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_SPRINGS_H
#define OZ_PHYSICS_SPRINGS_H

#include "physics/links.h"
#include "physics/stage_parts.h"
#include "physics/wall.h"

/* Largest eigenvalue that the gathered operators may have. F = -K x is stable below 4/3 in the
 * paper's scheme (force at the predicted position, velocity from displacement); sums of w r r^T
 * over pairs stay below twice the greatest of one particle's. Velocities: below 1 they decay
 * without oscillation. */
#define OZ_SPRING_BOUND 0.6f
#define OZ_SPRING_VISCOUS_BOUND 0.5f
/* For densities the bound by sums of sizes is loose, since directions cancel most of it: 3 leaves
 * the paper's values unchanged (2.6 at dt = T) and still stabilises values a thousand times as
 * large (tests/models/springs.c). */
#define OZ_SPRING_DENSITY_BOUND 3.0f
/* h: most that the pressures of one particle may move its neighbours, all together. A pair far from
 * its rest density is no small disturbance. */
#define OZ_SPRING_REACH 1.0f

/* Distance, direction (zero for padding and for coincident particles) and 1 - r/h, not below 0.
 * way: from i to j, m. */
OZ_FN oz_real oz_spring_way(const oz_frame *f, oz_v3 *way, oz_real *out_r) {
  oz_real r2 = oz_dot(*way, *way), tiny = oz_set(1e-12f * f->h2), ir = oz_rsqrt(oz_max(r2, tiny));
  ir = oz_select(r2 > tiny, ir, oz_set(0.0f));
  way->x *= ir;
  way->y *= ir;
  way->z *= ir;
  *out_r = r2 * ir;
  return oz_max(1.0f - *out_r * f->springs.inv_h, oz_set(0.0f));
}

/* This end's part of the relative motion of a pair, by inverse masses: 1/2 for equal masses, 0 for
 * a held particle. */
OZ_FN oz_real oz_spring_share(oz_real own, oz_real other) {
  return own / oz_max(own + other, oz_set(1e-20f));
}

/* Upper bound of the largest eigenvalue of a positive tensor: its greatest row sum. */
OZ_FN oz_real oz_spring_norm(const oz_real *m) {
  oz_real xy = oz_abs(m[3]), xz = oz_abs(m[4]), yz = oz_abs(m[5]);
  return oz_max(m[0] + xy + xz, oz_max(m[1] + xy + yz, m[2] + xz + yz));
}

OZ_FN oz_real oz_spring_limit(const oz_real *m, float bound) {
  return oz_min(oz_set(1.0f), bound / oz_max(oz_spring_norm(m), oz_set(1e-20f)));
}

/* ---- viscosity impulses (Algorithm 5): spring_drag bounds, spring_viscosity gives u2 ---- */

typedef struct {
  oz_v3 x, u;
  oz_real omega;
} oz_spring_drag_self;

OZ_FN void oz_spring_drag_begin(const oz_frame *f, uint32_t i, oz_spring_drag_self *s) {
  s->x = oz_vec_of(f->x, i);
  s->u = oz_vec_of(f->u, i);
  s->omega = oz_set(f->omega[i]);
}

/* dt (1 - q)(sigma u + beta u^2) over u, this end's part; u is the approach velocity of the pair, 0
 * where it moves apart. The bound counts such pairs too, because rounding may change the sign. */
OZ_FN oz_real oz_spring_impulse(const oz_frame *f, const oz_spring_drag_self *s, const oz_group *n,
                                oz_v3 *e, oz_real *out_u) {
  oz_real x[4], u[4], r;
  oz_near4(f->x, n, x); /* w: omega */
  oz_near4(f->u, n, u);
  e->x = x[0] - s->x.x;
  e->y = x[1] - s->x.y;
  e->z = x[2] - s->x.z;
  oz_real q1 = oz_spring_way(f, e, &r);
  oz_real inward = (s->u.x - u[0]) * e->x + (s->u.y - u[1]) * e->y + (s->u.z - u[2]) * e->z;
  inward = oz_max(inward, oz_set(0.0f));
  *out_u = inward;
  return q1 * (f->springs.sigma + f->springs.beta * inward) * oz_spring_share(s->omega, x[3]);
}

OZ_FN void oz_spring_drag_pair(const oz_frame *f, const oz_spring_drag_self *s, const oz_group *n,
                               oz_real *acc) {
  oz_v3 e;
  oz_real u, w = oz_spring_impulse(f, s, n, &e, &u);
  oz_tensor_add(acc, w, e);
}

OZ_FN void oz_spring_drag_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_st(f->spring_limit, i, oz_spring_limit(acc, OZ_SPRING_VISCOUS_BOUND));
}

typedef struct {
  oz_spring_drag_self d;
  oz_real limit;
} oz_spring_viscosity_self;

OZ_FN void oz_spring_viscosity_begin(const oz_frame *f, uint32_t i, oz_spring_viscosity_self *s) {
  oz_spring_drag_begin(f, i, &s->d);
  s->limit = oz_set(f->spring_limit[i]);
}

OZ_FN void oz_spring_viscosity_pair(const oz_frame *f, const oz_spring_viscosity_self *s,
                                    const oz_group *n, oz_real *acc) {
  oz_v3 e;
  oz_real u, w = oz_spring_impulse(f, &s->d, n, &e, &u);
  w *= u * oz_min(s->limit, oz_gather1(f->spring_limit, n->j, 1));
  acc[0] -= w * e.x;
  acc[1] -= w * e.y;
  acc[2] -= w * e.z;
}

OZ_FN void oz_spring_viscosity_end(const oz_frame *f, uint32_t i, const oz_real *acc,
                                   oz_real *red) {
  (void)red;
  oz_real u[4];
  oz_v3 du = {acc[0], acc[1], acc[2]};
  oz_ld4(f->u, i, 4, 0, u);
  oz_add_sane(u, du, OZ_SANE_SPEED);
  oz_st4(f->u2, i, 4, 0, u);
}

/* ---- springs (Algorithm 3): spring_bound, then spring_move; dx carries (position, bound) between
 * them ---- */

OZ_SELF_VECTOR_SCALAR(spring_bound, p, p, omega, omega)

/* dt^2 k_spring (1 - L/h), this end's part, for links of kind spring. */
OZ_FN oz_real oz_spring_weight(const oz_frame *f, const oz_links *n, oz_real own, oz_real other) {
  oz_real w = f->springs.elasticity * oz_max(1.0f - n->rest * f->springs.inv_h, oz_set(0.0f)) *
              oz_spring_share(own, other);
  return oz_select(oz_index_ne(n->kind, OZ_LINK_SPRING), oz_set(0.0f), w);
}

OZ_FN void oz_spring_bound_pair(const oz_frame *f, const oz_spring_bound_self *s, const oz_links *n,
                                oz_real *acc) {
  oz_real p[4], r;
  oz_gather4(f->p, n->j, 4, 0, p);
  oz_v3 e = {p[0] - s->p.x, p[1] - s->p.y, p[2] - s->p.z};
  (void)oz_spring_way(f, &e, &r);
  oz_tensor_add(acc, oz_spring_weight(f, n, s->omega, oz_gather1(f->omega, n->j, 1)), e);
}

OZ_FN void oz_spring_bound_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_vec_st(f->dx, i, oz_vec_ld(f->p, i), oz_spring_limit(acc, OZ_SPRING_BOUND));
}

OZ_SELF_RECORD_SCALAR(spring_move, dx, p, limit, omega, omega)

OZ_FN void oz_spring_move_pair(const oz_frame *f, const oz_spring_move_self *s, const oz_links *n,
                               oz_real *acc) {
  oz_real p[4], r;
  oz_gather4(f->dx, n->j, 4, 0, p); /* w: bound */
  oz_v3 e = {p[0] - s->p.x, p[1] - s->p.y, p[2] - s->p.z};
  (void)oz_spring_way(f, &e, &r);
  oz_real w = oz_spring_weight(f, n, s->omega, oz_gather1(f->omega, n->j, 1)) *
              oz_min(s->limit, p[3]) * (n->rest - r);
  acc[0] -= w * e.x;
  acc[1] -= w * e.y;
  acc[2] -= w * e.z;
}

/* Adds a displacement in m to y and p. */
OZ_FN void oz_spring_shift(const oz_frame *f, uint32_t i, const oz_real *acc) {
  oz_real y[4], p[4];
  oz_v3 x = oz_vec_ld(f->x, i), move = {acc[0], acc[1], acc[2]};
  oz_ld4(f->y, i, 4, 0, y);
  oz_ld4(f->p, i, 4, 0, p);
  oz_add_sane(y, move, OZ_SANE_MOVE * f->d);
  oz_st4(f->y, i, 4, 0, y);
  oz_v3 at = {x.x + y[0], x.y + y[1], x.z + y[2]};
  oz_vec_st(f->p, i, at, p[3]);
}

OZ_FN void oz_spring_move_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_spring_shift(f, i, acc);
}

/* ---- double density relaxation (Algorithm 2): spring_density finds both pressures, spring_relax
 * moves by them. (position, P) goes to dx, P_near to spring_near_pressure; both already as
 * displacements, dt^2 P in m. ---- */

OZ_SELF_VECTOR(spring_density, p, p)

OZ_FN void oz_spring_density_pair(const oz_frame *f, const oz_spring_density_self *s,
                                  const oz_group *n, oz_real *acc) {
  oz_real p[4], r;
  oz_v3 e = oz_near_from(f->p, n, s->p, p);
  oz_real q1 = oz_spring_way(f, &e, &r), q2 = q1 * q1;
  q1 = oz_select(r > oz_set(0.0f), q1, oz_set(0.0f)); /* padding is no neighbour */
  q2 = oz_select(r > oz_set(0.0f), q2, oz_set(0.0f));
  acc[0] += q1;
  acc[1] += q2;
  acc[2] += q1 * q2;
}

OZ_FN void oz_spring_density_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  /* eigenvalues of dt^2 k J^T J: the gradient of the density has 2 (1 - q) / h for each neighbour,
   * that of the near-density 3 (1 - q)^2 / h */
  oz_real size = f->springs.k * acc[0] * acc[0] + 1.5f * f->springs.k_near * acc[1] * acc[1];
  oz_real push = f->springs.k * oz_abs(acc[1] - f->springs.rho0) * acc[0] +
                 f->springs.k_near * acc[2] * acc[1];
  oz_real limit = oz_min(oz_set(1.0f), OZ_SPRING_DENSITY_BOUND / oz_max(size, oz_set(1e-20f)));
  limit = oz_min(limit, OZ_SPRING_REACH / oz_max(push, oz_set(1e-20f))) * f->h;
  oz_st(f->spring_near_pressure, i, limit * f->springs.k_near * acc[2]);
  oz_vec_st(f->dx, i, oz_vec_ld(f->p, i), limit * f->springs.k * (acc[1] - f->springs.rho0));
  /* with the particle itself: proportional to the number of particles */
  oz_st(f->rho, i, (acc[1] + 1.0f) * f->springs.inv_rho);
}

/* Factor on the pull between fluid and a body. The paper's bodies are shapes without any pull, and
 * a block stands on the fluid rather than in it; with the full pull a block is wetted and drawn in
 * by a separation. By the work of separating two halves of the fluid, of which P does 30 and P_near
 * -26 parts, the two balance at 0.93; measured, blocks float as Archimedes says between 0.8 and 0.9
 * (ooze verify springs.fig10). */
#define OZ_SPRING_BODY_PULL 0.85f

OZ_FN int oz_spring_of_body(const oz_frame *f, uint32_t i) {
  return oz_word(f->owner, i) && oz_word(f->owner, i) >> OZ_OWNER_SHIFT != OZ_OWNER_BOUNDARY;
}

typedef struct {
  oz_v3 p;
  oz_real P, near, omega;
  int body;
} oz_spring_relax_self;

OZ_FN void oz_spring_relax_begin(const oz_frame *f, uint32_t i, oz_spring_relax_self *s) {
  s->p = oz_vec_of(f->dx, i);
  s->P = oz_set(f->dx[4 * (size_t)i + 3]);
  s->near = oz_set(f->spring_near_pressure[i]);
  s->body = f->body_count && oz_spring_of_body(f, i);
  s->omega = oz_set(f->omega[i]);
}

/* D of both ends' densities (6): each moves both ends by half. */
OZ_FN void oz_spring_relax_pair(const oz_frame *f, const oz_spring_relax_self *s, const oz_group *n,
                                oz_real *acc) {
  oz_real p[4], r;
  oz_v3 e = oz_near_from(f->dx, n, s->p, p);
  oz_real q1 = oz_spring_way(f, &e, &r);
  oz_real P = s->P + p[3];
  if (f->body_count) {
    float part[OZ_LANES];
    for (uint32_t k = 0; k < OZ_LANES; k++)
      part[k] = s->body != oz_spring_of_body(f, n->j[k]) ? OZ_SPRING_BODY_PULL : 1.0f;
    P *= oz_ld(part, 0);
  }
  oz_real w = q1 * (P + (s->near + oz_gather1(f->spring_near_pressure, n->j, 1)) * q1);
  w *= oz_spring_share(s->omega, oz_gather1(f->omega, n->j, 1));
  acc[0] -= w * e.x;
  acc[1] -= w * e.y;
  acc[2] -= w * e.z;
}

OZ_FN void oz_spring_relax_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_spring_shift(f, i, acc);
}

/* ---- spring_stick: stickiness (12): walls draw particles within d_stick of the collision surface,
 * most at half of that ---- */

OZ_FN void oz_spring_stick_item(const oz_frame *f, uint32_t contact) {
  const size_t i = f->wall_particle[contact];
  const oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float *y = f->y + 4 * i, *p = f->p + 4 * i,
        *impulse = f->wall_impulse + (size_t)contact * f->contact_planes * 3;
  const float *x = f->x + 4 * i, reach = f->springs.stick_distance;
  if (oz_wall_leaves(f, i)) return;
  for (uint32_t k = 0; k < f->wall_planes[contact]; k++) {
    const float away = wall[k].s + oz_dot3f(wall[k].n, y) - f->wall_gap;
    if (!(away > 0.0f && away < reach)) continue;
    /* never past the wall */
    const float pull = oz_minf(f->springs.stick, 0.5f) * away * (1.0f - away / reach);
    for (int a = 0; a < 3; a++) {
      y[a] -= pull * wall[k].n[a];
      impulse[3 * k + (uint32_t)a] += f->m_ref / f->omega[i] * f->inv_dt * pull * wall[k].n[a];
    }
  }
  for (int a = 0; a < 3; a++) p[a] = x[a] + y[a];
}

/* ---- spring adjustment (Algorithm 4), the basis of OZ_RULE_SPRINGS. Rest lengths yield beyond h
 * too: as printed, a spring pulled longer than h in one step would hold forever. ---- */

OZ_FN float oz_spring_yield(const oz_frame *f, float L, float r) {
  const float stretch = r - L - f->springs.yield_stretch * L,
              squeeze = L - f->springs.yield_compress * L - r;
  if (stretch > 0.0f) return L + f->springs.plastic_stretch * stretch;
  if (squeeze > 0.0f) return L - f->springs.plastic_compress * squeeze;
  return L;
}

OZ_FN int oz_spring_keep(const oz_frame *f, oz_link *l, float r2) {
  if (l->kind != OZ_LINK_SPRING) return 1;
  if (f->springs.mode == OZ_SPRINGS_OFF) return 0;
  if (f->springs.mode != OZ_SPRINGS_SET) l->rest = oz_spring_yield(f, l->rest, sqrtf(r2));
  return l->rest <= f->h;
}

OZ_FN int oz_spring_make(const oz_frame *f, uint32_t i, oz_link *l, float r2) {
  const float r = sqrtf(r2);
  if (oz_word(f->owner, i) || oz_word(f->owner, l->j))
    return 0; /* solids are touched, not linked */
  l->kind = OZ_LINK_SPRING;
  l->spare = 0.0f;
  l->rest = f->springs.mode == OZ_SPRINGS_SET ? r : oz_spring_yield(f, f->h, r);
  return 1;
}
#endif
