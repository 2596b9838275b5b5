/* Incompressibility: the position-based density constraint (Macklin & Mueller 2013), one-sided,
 * relaxed by a bound instead of a guess, with the diagonal fixed for the substep
 * (docs/theory/density.md). It counts volume rather than mass, so that fluids of different density
 * meet without a gap. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_DENSITY_H
#define OZ_PHYSICS_DENSITY_H

#include "physics/stage_parts.h"
#include "physics/wall_slip.h"

/* Gradient of the density constraint with respect to x_i, times d: Vm d grad W, is this times r,
 * times oz_density_scale. */
OZ_FN oz_real oz_density_slope(const oz_frame *f, oz_v3 r) {
  oz_real r2 = oz_square_above(r, oz_set(1e-10f * f->h2));
#if OZ_GPU
  return oz_steepness_at(f, oz_min(r2, oz_set(f->h2)));
#else /* the fast root of the CPU is too coarse for a difference */
  oz_real ir = oz_rsqrt_fast(r2), t = oz_max(f->h - r2 * ir, oz_set(0.0f));
  return t * t * ir;
#endif
}

OZ_FN float oz_density_scale(const oz_frame *f) { return f->grad_norm * f->dens_grad; }

OZ_FN oz_v3 oz_density_gradient(const oz_frame *f, oz_v3 r) {
  oz_real k = oz_density_scale(f) * oz_density_slope(f, r);
  oz_v3 g = {k * r.x, k * r.y, k * r.z};
  return g;
}

/* ---- density_bound: k = min(0.6, 2.5 D / sum_k omega_k S_k |grad_k C|) / max(D, 0.2 D_ref), with
 * the gradients of the start positions, whose neighbour part is in bound_sums: a bound need not
 * follow every displacement of the substep ---- */

typedef struct {
  oz_v3 g;
  oz_real om, diag, near, row;
} oz_density_own; /* values at the start */

OZ_FN void oz_density_bound_take(const oz_frame *f, uint32_t i, oz_density_own *o) {
  o->g = oz_block3_ld(f->gradient_sum, f->stride, i);
  o->om = oz_ld(f->omega, i), o->diag = oz_ld(f->density_diagonal, i),
  o->near = oz_ld(f->density_near_sum, i), o->row = oz_ld(f->density_row_sum, i);
}

/* w: wall_term */
OZ_FN void oz_density_bound_of(const oz_frame *f, uint32_t i, const oz_density_own *o,
                               const oz_real w[4]) {
  oz_real c = oz_set(f->dens_grad);
  oz_v3 own = {c * o->g.x + w[0], c * o->g.y + w[1], c * o->g.z + w[2]};
  /* A wall pushes twice as hard as the density feels it: by the particle's own multiplier, and by
   * the mirror pressure (wall_density.h). */
  oz_v3 push = {own.x + w[0], own.y + w[1], own.z + w[2]};
  oz_real D = c * c * o->diag + o->om * oz_max(oz_dot(own, own), oz_dot(own, push));
  oz_real row = c * o->near + o->row * oz_length(own);
  oz_real relax = oz_min(oz_set(0.6f), 2.5f * D / oz_max(row, oz_set(1e-30f)));
  relax *= f->density_pace;
  oz_st(f->density_relaxation, i, relax / oz_max(D, oz_set(0.2f * f->d_ref)));
}

OZ_FN void oz_density_bound_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_density_own own;
  oz_real w[4];
  oz_ld4(f->wall_term, i, 4, 0, w);
  oz_density_bound_take(f, i, &own);
  oz_density_bound_of(f, i, &own, w);
}

/* Largest excess of density that a resting paste may keep. A paste comes to rest with its particles
 * squeezed together, some of them on one spot. Pushing these apart in every substep, against no
 * volume term of the conformation, lets the paste creep forever, although a push of one separation
 * a substep is far below its yield stress. So below the speed of rest (rest_speed, with the same
 * flank as wall_drag) an excess up to this value is tolerated; beyond it the constraint acts as
 * usual.
 *
 * Spots of four particles have 1.3; with 0.3 and 1.5 some ropes still crept (ooze verify
 * slump.toothpaste: 0.8 and 0.2 d in 10 s, 0.006 d with 2). A slowly pressed paste keeps its volume
 * by the velocity projection (slump.pressed). */
#define OZ_STILL_MOST 2.0f

#define OZ_MOMENTUM_EXCESS 4.0f /* 1 over the excess of density with half of the momentum */

/* ---- density_lambda: density and multiplier; (position, multiplier) goes to dx for density_move
 * ---- */

OZ_SELF_VECTOR(density_lambda, p, p)

OZ_FN void oz_density_lambda_pair(const oz_frame *f, const oz_density_lambda_self *s,
                                  const oz_group *n, oz_real *acc) {
  /* a sheet of boundary particles stands for the wall behind it: each has a weight */
  if (OZ_RARELY(f->has_boundary)) {
    oz_real v[4];
    oz_near4(f->p, n, v);
    oz_v3 b = {s->p.x - v[0], s->p.y - v[1], s->p.z - v[2]};
    acc[0] += v[3] * oz_kernel(f, oz_dot(b, b));
    return;
  }
  const oz_v3 r = oz_sub(s->p, oz_vec_near(f->p, n));
  acc[0] += oz_kernel(f, oz_dot(r, r));
}

OZ_FN oz_real oz_pad_weight(const oz_frame *f, uint32_t i) {
#if OZ_GPU /* two rows, each padded to a multiple of four */
  return (float)((-f->density_length[0][i] & 3) + (-f->density_length[1][i] & 3)) * f->w_self;
#else
  return oz_ld(f->pad_weight, i);
#endif
}

/* sum: of weights. Returns the multiplier; the density goes to *rho. */
OZ_FN oz_real oz_density_multiplier(const oz_frame *f, uint32_t i, oz_real sum, oz_real *rho) {
  oz_real w[4], k = oz_ld(f->density_relaxation, i);
  oz_ld4(f->wall_term, i, 4, 0, w);
  /* Padding repeats the particle itself. The list builder counts the repetitions, so 1 + pad times
   * the particle itself is subtracted. */
  *rho = f->w_self * sum - oz_pad_weight(f, i) + f->w_self + w[3];
  /* boundary particles: the density is unused, and their padding has their own weight */
  if (f->has_slip) *rho = oz_select(oz_at_boundary(f, i), oz_set(f->w_self), *rho);
  oz_real over = oz_max(*rho - 1.0f, oz_set(0.0f));
  /* a particle at rest with a yield stress tolerates close neighbours: see OZ_STILL_MOST */
  if (f->has_yield) {
    oz_v3 u = oz_vec_ld(f->u, i);
    oz_real q = oz_dot(u, u) * (1.0f / (f->rest_speed * f->rest_speed + 1e-30f)),
            still = oz_min(over, oz_set(OZ_STILL_MOST));
    over = oz_select(oz_yield(f, i) > oz_set(0.0f), over - still / (1.0f + q * q), over);
  }
  oz_real lam = -k * over;
  if (f->momentum > 0.0f) {
    /* Each iteration goes on with a part of the step before it, which carries pressure through many
     * layers in few iterations, and the first one with a part of the last substep's pressure
     * (docs/theory/density.md). Not where the density is right already, and little in impacts. */
    oz_real q = over * OZ_MOMENTUM_EXCESS, q2 = q * q, before = oz_set(0.0f);
    if (!f->first_iteration)
      before = f->momentum * oz_ld(f->density_step, i);
    else if (f->warm_start > 0.0f)
      before = oz_ld(f->density_pressure, i) * (-f->warm_start / oz_pressure_unit(f));
    lam += oz_select(over > oz_set(0.0f), before / (1.0f + q2 * q2), oz_set(0.0f));
    lam = oz_min(lam, oz_set(0.0f)); /* 0 for NaN */
    oz_st(f->density_step, i, lam);
    oz_st(f->density_push, i, f->first_iteration ? lam : lam + oz_ld(f->density_push, i));
  }
  return lam;
}

OZ_FN void oz_density_lambda_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real rho, lam = oz_density_multiplier(f, i, acc[0], &rho);
  oz_v3 p = oz_vec_ld(f->p, i);
  /* boundary particles have no constraint; their weight takes the place of the multiplier, which is
   * never above 0 */
  if (f->has_boundary) lam = oz_select(oz_at_boundary(f, i), oz_boundary_weight(f, i), lam);
  oz_st(f->rho, i, rho);
  oz_vec_st(f->dx, i, p, lam);
}

/* ---- density_move: dx_i = d omega_i sum (lam_i + lam_j) grad C, at the current positions. With
 * f->fused_density only of pairs that were beyond h at the start: strain and conform_move have
 * moved the others, with the gradients of the start ---- */

typedef struct {
  oz_v3 p;
  oz_real lam;
  const oz_wall_slip *slip; /* of points, which push across their wall alone; or NULL */
} oz_density_move_self;

OZ_FN void oz_density_move_begin(const oz_frame *f, uint32_t i, oz_density_move_self *s) {
  s->p = oz_vec_of(f->dx, i);
  s->lam = oz_set(f->dx[4 * (size_t)i + 3]);
  s->slip = OZ_RARELY(f->wall_slip) ? oz_slip_of(f, i) : NULL;
}

OZ_FN void oz_density_move_pair(const oz_frame *f, const oz_density_move_self *s, const oz_group *n,
                                oz_real *acc) {
  oz_real v[4];
  oz_near4(f->dx, n, v);
  oz_real k = s->lam + v[3];
  if (OZ_RARELY(f->has_boundary)) k = oz_select(v[3] > oz_set(0.0f), s->lam * v[3], k);
#if OZ_LANES == 1
  /* neither end is compressed. A vector of pairs would mispredict this branch too often */
  if (!(k < 0.0f)) return;
#endif
  oz_v3 r = {s->p.x - v[0], s->p.y - v[1], s->p.z - v[2]};
  k *= oz_density_slope(f, r);
  if (OZ_RARELY(s->slip != NULL)) {
    const oz_mask point = v[3] > oz_set(0.0f);
    const oz_v3 across = oz_slip_across(s->slip, r);
    r.x = oz_select(point, across.x, r.x), r.y = oz_select(point, across.y, r.y),
    r.z = oz_select(point, across.z, r.z);
  }
  acc[0] += k * r.x;
  acc[1] += k * r.y;
  acc[2] += k * r.z;
}

/* sum: of (lam_i + lam_j) grad C. Adds the displacement to y. */
OZ_FN void oz_density_shift(const oz_frame *f, uint32_t i, const oz_real sum[3], oz_real lam,
                            oz_real y[4]) {
  oz_real w[4], k = f->d * oz_ld(f->omega, i);
  oz_ld4(f->wall_term, i, 4, 0, w);
  oz_v3 move = {k * (sum[0] + lam * w[0]), k * (sum[1] + lam * w[1]), k * (sum[2] + lam * w[2])};
  oz_add_sane(y, move, OZ_SANE_MOVE * f->d);
}

/* The place that a displacement leads to. */
OZ_FN void oz_density_placed(const oz_frame *f, uint32_t i, const oz_real y[4]) {
  oz_v3 x = oz_vec_ld(f->x, i), p = {x.x + y[0], x.y + y[1], x.z + y[2]};
  oz_st4(f->y, i, 4, 0, y);
  oz_vec_st(f->p, i, oz_held_place(f, i, p), oz_weight(f, i));
}

OZ_FN void oz_density_move_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  const float c = oz_density_scale(f);
  const oz_real sum[3] = {c * acc[0], c * acc[1], c * acc[2]};
  oz_real y[4], q[4];
  oz_ld4(f->dx, i, 4, 0, q);
  oz_ld4(f->y, i, 4, 0, y);
  oz_density_shift(f, i, sum, q[3], y);
  oz_density_placed(f, i, y);
}
#endif
