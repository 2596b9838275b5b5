/* Conformation constraints (Barreiro, Garcia-Fernandez, Alduan, Otaduy 2017) in the forms of
 * docs/theory/: their pieces, the stages of the kernel gradient and of the relaxation bound, and
 * the force stage. Numbers in brackets are the paper's equations.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_CONFORMATION_H
#define OZ_PHYSICS_CONFORMATION_H

#include "physics/law.h"
#include "physics/stage_parts.h"
#include "physics/wall_points.h"

/* ---- pieces ---- */

/* The mean of the diagonal, which is left without it. The trace of the rest is subtracted once
 * more: what the first subtraction leaves of it is a rounding error of the mean, which compliance
 * would multiply. */
OZ_FN oz_real oz_s3_take_mean(oz_s3 *e) {
  oz_real mean = oz_s3_trace(e) * (1.0f / 3.0f), rest;
  for (int c = 0; c < 3; c++) e->s[c] -= mean;
  rest = oz_s3_trace(e) * (1.0f / 3.0f);
  for (int c = 0; c < 3; c++) e->s[c] -= rest;
  return mean;
}

/* Compliance as an operator: a on the deviator, a_min (practically 0) on the volume, so that a
 * stretched thread becomes thinner (docs/theory/conformation.md, split compliance). Without the
 * split, a on everything. Compliance grows with 1 / dt, of elastic material with 1 / dt^2, and
 * pressure does not: deviator and volume are kept apart, since a rounding error of the pressure in
 * the deviator, times a, may be larger than the residual of the volume. */
OZ_FN void oz_comply(const oz_frame *f, oz_real a, const oz_s3 *lam, oz_real sign, oz_s3 *out) {
  oz_s3 dev = *lam;
  oz_real a_vol = f->volume_split ? oz_min(oz_set(f->a_min), a) : a, mean = oz_s3_take_mean(&dev);
  for (int c = 0; c < 6; c++)
    out->s[c] += sign * (a * dev.s[c] + (c < 3 ? a_vol * mean : oz_set(0.0f)));
}

/* The preconditioner M in its own frame, the eigenframe U of the relaxation bound: pairwise sums of
 * the bound's eigenvalues, plus compliance (docs/theory/velocity_projection.md). */
typedef struct {
  oz_real p[6], a, a_vol;
} oz_metric;

OZ_FN oz_metric oz_metric_of(const oz_frame *f, const oz_real p[3], oz_real a) {
  static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
  oz_metric m;
  m.a = a;
  m.a_vol = f->volume_split ? oz_min(oz_set(f->a_min), a) : a;
  oz_real floor = oz_set(0.04f * f->t_ref);
  for (int c = 0; c < 6; c++) m.p[c] = oz_max(p[I[c]] + p[J[c]], floor);
  return m;
}

/* M^-1 e; Sherman-Morrison on the trace. */
OZ_FN oz_s3 oz_metric_solve(const oz_frame *f, const oz_metric *m, oz_s3 e) {
  oz_real D[3], den = oz_set(0.0f);
  for (int c = 0; c < 6; c++) {
    oz_real inv = 1.0f / (m->p[c] + m->a);
    if (c < 3) {
      D[c] = inv;
      den += (m->p[c] + m->a_vol) * inv;
    }
    e.s[c] *= inv;
  }
  if (f->volume_split) {
    oz_real k = (m->a - m->a_vol) * (e.s[0] + e.s[1] + e.s[2]) / den;
    for (int c = 0; c < 3; c++) e.s[c] += k * D[c];
  }
  return e;
}

OZ_FN oz_real oz_metric_square(const oz_metric *m, const oz_s3 *e) { /* e . M e */
  oz_s3 t, dev = *e;
  oz_real mean = oz_s3_take_mean(&dev);
  for (int c = 0; c < 6; c++) t.s[c] = m->p[c] * e->s[c];
  return oz_s3_dot(e, &t) + m->a * oz_s3_dot(&dev, &dev) + 3.0f * m->a_vol * mean * mean;
}

/* U E U^T and U^T E U. The mean is no part of the rotation, whose own rounding error it would leave
 * in the deviator. */
OZ_FN oz_s3 oz_to_frame(oz_s3 e, const oz_m3 *U) {
  oz_real mean = oz_s3_take_mean(&e);
  e = oz_s3_rotate_back(&e, U);
  for (int c = 0; c < 3; c++) e.s[c] += mean;
  return e;
}

OZ_FN oz_s3 oz_from_frame(oz_s3 e, const oz_m3 *U) {
  oz_real mean = oz_s3_take_mean(&e);
  e = oz_s3_rotate(&e, U);
  for (int c = 0; c < 3; c++) e.s[c] += mean;
  return e;
}

/* M^-1 r */
OZ_FN oz_s3 oz_precondition(const oz_frame *f, const oz_s3 *r, const oz_m3 *U, const oz_real p[3],
                            oz_real a) {
  oz_metric m = oz_metric_of(f, p, a);
  return oz_from_frame(oz_metric_solve(f, &m, oz_to_frame(*r, U)), U);
}

/* dev(Q) / q: the strain that the stored stretch asks for; without the split Q - I. */
OZ_FN oz_s3 oz_stretch(const oz_frame *f, const oz_s3 *q, oz_real inv_q) {
  oz_real mean = f->volume_split ? oz_s3_trace(q) * (1.0f / 3.0f) : oz_set(1.0f);
  oz_s3 r;
  for (int c = 0; c < 6; c++) r.s[c] = (q->s[c] - (c < 3 ? mean : oz_set(0.0f))) * inv_q;
  return r;
}

/* Pressure that a substep starts with, as a multiplier; part: of it. */
OZ_FN oz_real oz_start_pressure(const oz_frame *f, uint32_t i, oz_real part) {
  oz_real pressure = oz_ld_or_none(f->pressure, i) * (1.0f / oz_pressure_unit(f)) * part;
  /* more than a thousand separations in a substep is no pressure */
  return oz_select(oz_abs(pressure) < oz_set(1e3f), pressure, oz_set(0.0f));
}

/* Thick fluid with a least memory tells by Q the stress that the substep ended with, as sigma tau /
 * mu: the result of conformation_step in a converged substep. An unconverged one has more strain
 * than stress, and strain taken for stress adds up until the fluid bursts. a: compliance without
 * q. */
OZ_FN oz_s3 oz_stress_kept(const oz_frame *f, uint32_t i, const oz_s3 *Q, oz_real a) {
  if (!(f->has_memory & OZ_MEMORY_STRESS)) return *Q;
  oz_s3 lam = oz_lam_ld(f, i), kept = oz_s3_identity();
  oz_real tau = oz_relaxation_time(f, i), k = a * tau / (tau + f->dt);
  (void)oz_s3_take_mean(&lam);
  for (int c = 0; c < 6; c++) kept.s[c] -= k * lam.s[c];
  return oz_s3_select(oz_keeps_stress(f, i), &kept, Q);
}

/* The multiplier that such fluid starts from: the last substep's, its deviator decayed, so that
 * iterations need only find the difference. Pressure does not decay: what is missing of it in each
 * substep would press deep fluid together. */
OZ_FN void oz_start_from_kept(const oz_frame *f, uint32_t i, const oz_s3 *Q, oz_real a,
                              oz_s3 *lam) {
  if (!(f->has_memory & OZ_MEMORY_STRESS)) return;
  const float part = OZ_STRESS_TIME / (OZ_STRESS_TIME + f->dt);
  oz_real tau = oz_relaxation_time(f, i), pressure = oz_start_pressure(f, i, oz_set(1.0f));
  oz_s3 dev = oz_stretch(f, Q, part * (tau + f->dt) / (tau * a)), kept;
  for (int c = 0; c < 6; c++) kept.s[c] = (c < 3 ? pressure : oz_set(0.0f)) - dev.s[c];
  *lam = oz_s3_select(oz_keeps_stress(f, i) & oz_enough(f, i), &kept, lam);
}

/* F Q F^T, F = I + S: Q carried along by the motion of a substep. */
OZ_FN oz_s3 oz_transport(const oz_s3 *q, const oz_m3 *s) {
  oz_m3 F = *s, t, full = oz_s3_full(q);
  F.m[0] += 1.0f;
  F.m[4] += 1.0f;
  F.m[8] += 1.0f;
  t = oz_m3_mul(&F, &full);
  t = oz_m3_mul_t(&t, &F);
  return oz_m3_sym(&t);
}

/* (6) in its positive-definite form: Q' = (F Q F^T + f I) / (1 + f), f = dt / tau, F = I + S
 * (docs/theory/conformation.md, update). tau = 0 gives I. */
OZ_FN oz_s3 oz_conformation_step(const oz_s3 *q, const oz_m3 *s, oz_real tau, float dt) {
  oz_s3 r = oz_transport(q, s), one = oz_s3_identity();
  oz_mask relaxes = tau > oz_set(0.0f);
  oz_real fr = dt / oz_select(relaxes, tau, oz_set(1.0f)), k = 1.0f / (1.0f + fr);
  for (int c = 0; c < 6; c++) r.s[c] = (r.s[c] + (c < 3 ? fr : oz_set(0.0f))) * k;
  return oz_s3_select(relaxes, &r, &one);
}

/* Yield stress (Saramito 2007; docs/theory/yield.md). Below it the material is elastic and does not
 * relax; above it only the excess relaxes, so that in steady shear stress = yield + viscosity *
 * rate.
 *
 * Q is transported by F = I + S. Then its deviator returns towards the yield surface |dev Q| /
 * sqrt(2) = strain by the implicit relaxation step, which keeps 1 / (1 + dt / tau) of the excess,
 * and nothing for tau = 0. *out_kept is the factor on the deviator. Q is scaled back to det Q =
 * 1. */
OZ_FN oz_s3 oz_yield_step(const oz_s3 *q, const oz_m3 *s, oz_real tau, oz_real strain, float dt,
                          oz_real *out_kept) {
  oz_s3 r = oz_transport(q, s);
  oz_real mean = oz_s3_trace(&r) * (1.0f / 3.0f), zero = oz_set(0.0f), one = oz_set(1.0f);
  for (int c = 0; c < 3; c++) r.s[c] -= mean;
  oz_real size = oz_sqrt(0.5f * oz_s3_dot(&r, &r)), over = oz_max(size - strain, zero);
  oz_real keep = oz_select(
      over > zero, (strain + over * (tau / (tau + dt))) / oz_max(size, oz_set(1e-20f)), one);
  *out_kept = keep;
  for (int c = 0; c < 6; c++) r.s[c] = keep * r.s[c] + (c < 3 ? mean : zero);
  /* inverse cube root of det Q, which is near 1: Newton's steps from 1 */
  oz_m3 full = oz_s3_full(&r);
  oz_real J = oz_clamp(oz_det(&full), oz_set(0.3f), oz_set(2.5f)), k = one;
  for (int n = 0; n < 3; n++) k *= (4.0f - J * k * k * k) * (1.0f / 3.0f);
  for (int c = 0; c < 6; c++) r.s[c] *= k;
  return r;
}

/* Keeps the eigenvalues of Q within bounds. Lanes near the identity are left alone. */
OZ_FN oz_s3 oz_conformation_within(const oz_s3 *q, oz_real least, oz_real most) {
  oz_s3 one = oz_s3_identity();
  oz_real far = oz_set(0.0f);
  for (int c = 0; c < 6; c++) far = oz_max(far, oz_abs(q->s[c] - one.s[c]));
  oz_mask check = oz_not(far < oz_set(0.3f));
  if (!oz_any(check)) return *q;
  oz_real w[3];
  oz_m3 U;
  oz_s3_eigen(q, 4, w, &U);
  for (int c = 0; c < 3; c++) w[c] = oz_clamp(w[c], least, most);
  oz_s3 r = oz_s3_compose(w, &U);
  return oz_s3_select(check, &r, q);
}

OZ_FN oz_s3 oz_conformation_clamp(const oz_s3 *q) {
  return oz_conformation_within(q, oz_set(0.05f), oz_set(20.0f));
}

/* The preconditioner store: rotation of the eigenframe, eigenvalues, and the lanes that have a
 * constraint (oz_enough). The GPU rounds both, to 1.5e-5 and 1.2e-4: any symmetric positive
 * definite matrix serves as long as it stays the same, U D U^T is one even where U is not quite a
 * rotation, and eigenvalues are rounded up, so that the bound holds.
 *
 * oz_inv_q: place of 1 / max(1, largest eigenvalue of Q), a float on both backends. */
#if OZ_GPU
OZ_FN oz_mask oz_preconditioner_eigenvalues(const oz_frame *f, uint32_t i, oz_real p[3]) {
  return oz_three_get(f->precond_eigenvalues->v, i, p);
}

OZ_FN void oz_preconditioner_st(const oz_frame *f, uint32_t i, const oz_real p[3], oz_q4 q) {
  oz_turn_st(f->precond_rotation, f->stride, i, q);
  oz_three_put(f->precond_eigenvalues->v, i, p, oz_enough(f, i));
}

OZ_FN float *oz_inv_q(const oz_frame *f, uint32_t i) {
  return f->precond_eigenvalues->v + 2 * (size_t)f->stride + i;
}
#else
OZ_FN oz_mask oz_preconditioner_eigenvalues(const oz_frame *f, uint32_t i, oz_real p[3]) {
  for (uint32_t c = 0; c < 3; c++) p[c] = oz_block_ld(f->precond_eigenvalues, 4, c, f->stride, i);
  return oz_enough(f, i);
}

OZ_FN void oz_preconditioner_st(const oz_frame *f, uint32_t i, const oz_real p[3], oz_q4 q) {
  for (uint32_t c = 0; c < 3; c++) oz_block_st(f->precond_eigenvalues, 4, c, f->stride, i, p[c]);
  oz_turn_st(f->precond_rotation, f->stride, i, q);
}

OZ_FN float *oz_inv_q(const oz_frame *f, uint32_t i) {
  return oz_block_at(f->precond_eigenvalues, 4, 3, f->stride, i);
}
#endif
OZ_FN oz_real oz_inv_q_ld(const oz_frame *f, uint32_t i) { return oz_ld(oz_inv_q(f, i), 0); }

/* A = -d Lam B: the matrix from which neighbours compute their displacement by this multiplier. */
OZ_FN void oz_send(const oz_frame *f, uint32_t i, const oz_s3 *lam, const oz_s3 *B) {
  oz_m3 A;
  if (f->contact_of) {
    oz_m3 T = oz_s3_full(lam);
    oz_v3 pull;
    oz_row_stress(f, i, &T);
    if (oz_points_matrix(f, i, &T, B, -f->d, &A, &pull)) oz_points_pull_st(f, i, pull);
  } else {
    A = oz_s3_mul_s(lam, B);
    for (int c = 0; c < 9; c++) A.m[c] *= -f->d;
  }
  oz_matrix_st(f->A, i, &A);
}

/* 2 sym(M B) / d: strain of a field v from its differences; goal: as in oz_row_strain. */
OZ_FN oz_s3 oz_strain_of(const oz_frame *f, uint32_t i, const oz_m3 *m, const oz_s3 *B, oz_v3 v,
                         float goal, float scale) {
  oz_m3 L = oz_points_gradient(f, i, m, B, v, goal);
  oz_row_strain(f, i, v, goal, &L);
  oz_s3 e = oz_m3_sym(&L);
  for (int c = 0; c < 6; c++) e.s[c] *= scale * f->inv_d;
  return e;
}

/* ---- gradient: K = sum (x_ji / d) ghat^T, its bounded inverse B, the sum of ghat, zero-energy
 * strength and gate (docs/theory/velocity_projection.md, zero_energy.md) ---- */

typedef struct {
  oz_v3 x;
  oz_real light;
} oz_gradient_self;

OZ_FN void oz_gradient_begin(const oz_frame *f, uint32_t i, oz_gradient_self *s) {
  s->x = oz_vec_of(f->x, i);
  s->light = oz_sqrt(oz_max(oz_set(f->x[4 * (size_t)i + 3]), oz_set(1.0f)));
}

OZ_FN void oz_gradient_pair(const oz_frame *f, const oz_gradient_self *s, const oz_group *n,
                            oz_real *acc) {
  oz_real x[4], k;
  oz_near_start(f, n, x);
  oz_v3 r = oz_across(n, x, s->x);
  acc[0] += r.x * n->g.x;
  acc[1] += r.y * n->g.y;
  acc[2] += r.z * n->g.z;
  acc[3] += r.x * n->g.y;
  acc[4] += r.x * n->g.z;
  acc[5] += r.y * n->g.z;
  acc[6] += n->g.x;
  acc[7] += n->g.y;
  acc[8] += n->g.z;
  oz_mask free = x[3] > oz_set(0.0f);
  oz_real one = oz_set(1.0f),
          heavier = oz_select(free, s->light * oz_rsqrt(oz_max(x[3], one)), one);
  acc[9] +=
      n->c * oz_max(heavier, one); /* the factor of oz_filter_weight: 1 between equal masses */
  (void)oz_along(n, &k);
  /* ghat|: for the diagonal and the bound of the density constraint, density.h */
  oz_real size = k * oz_along_length(n);
  acc[10] += oz_select(free, size, oz_set(0.0f));
  acc[11] += x[3] * (size * size);
}

/* Values of the particle itself that the end of the stage needs: inverse mass, that of the fluid
 * where a nozzle holds it, that of water from 500 kg/m^3 on; and the zero-energy strength 0.8 N /
 * (1 + N), N = (tau + dt) dt / (alpha rho d^2), alpha = a V0 dt^2 / (m_ref d^2), for particles with
 * enough neighbours (docs/theory/zero_energy.md). The GPU loads them before the walk over
 * neighbours, because the material number and the material's values are two dependent loads. */
typedef struct {
  oz_real om, fluid, hg, most; /* most: of the dilation */
  oz_real mark;                /* in a nozzle, oz_nozzles_row; otherwise 0 */
} oz_gradient_own;

/* Row of a particle in a nozzle, by which bound_sums knows it; no size among others. */
#define OZ_ROW_HELD -1e-30f

/* The row of particles in nozzles: marked while none pours. Streams have thinner threads where
 * their mouths are damped (tests/physics/threads.c). */
OZ_FN float oz_nozzles_row(const oz_frame *f) {
  float most = 0.0f;
  for (uint32_t k = 0; k < f->nozzle_count; k++) most = oz_maxf(most, f->nozzle[k].speed);
  return most > 0.0f ? 0.0f : OZ_ROW_HELD;
}

OZ_FN void oz_gradient_take(const oz_frame *f, uint32_t i, oz_gradient_own *o) {
  oz_real a = oz_ld(f->a, i), tau = oz_relaxation_time(f, i), rho = oz_density(f, i),
          load = a * (f->V0 * f->dt / f->m_ref) * rho;
  o->om = oz_ld(f->omega, i), o->most = oz_dilation_most(tau);
  o->mark = oz_select(oz_words(f->source, i) != 0, oz_set(oz_nozzles_row(f)), oz_set(0.0f));
  oz_real one = oz_set(1.0f), light = oz_max(500.0f / rho, one);
  /* its own where a body drags it (body_cling); rounding leaves all others as they are */
  o->fluid = oz_select(o->om > oz_set(0.0f), oz_max(o->om, 999.9f / rho),
                       oz_select(oz_at_boundary(f, i), one, light));
  o->hg = oz_select(oz_enough(f, i), f->zero_energy * (tau + f->dt) / (tau + f->dt + load),
                    oz_set(0.0f));
}

OZ_FN void oz_gradient_made(const oz_frame *f, uint32_t i, const oz_real *acc,
                            const oz_gradient_own *o) {
  oz_s3 K, B = oz_s3_identity();
  oz_real om = o->om;
  for (int c = 0; c < 6; c++) K.s[c] = acc[c] * f->inv_d;
  if (f->gradient_correction) B = oz_s3_inverse_bounded(&K);
  oz_block6_st(f->K, f->stride, i, &K);
  oz_six_st(f->B, f->stride, i, &B);
  for (uint32_t c = 0; c < 3; c++) oz_block_st(f->gradient_sum, 3, c, f->stride, i, acc[6 + c]);
  /* crowded neighbourhoods: normalisation of the zero-energy weights */
  oz_real thin = 1.0f / oz_max(oz_set(1.0f), acc[9]);
  oz_st(f->zero_energy_gate, i, thin);
  /* a held particle pulls with the strength of its fluid */
  oz_real hg = o->hg * thin / o->fluid;
  oz_v3 zero = {oz_set(0.0f), oz_set(0.0f), oz_set(0.0f)};
  oz_vec_st(f->y, i, zero, 0.5f * hg);

  oz_v3 own = {acc[6], acc[7], acc[8]};
  oz_st(f->dilation, i, oz_dilation(f, oz_s3_trace(&K), oz_dot(own, own), o->most, oz_set(0.0f)));
  oz_m3 send = oz_s3_full(&B);
  oz_real row = om * f->dens_grad * (acc[10] + oz_sqrt(oz_dot(own, own))) + o->mark;
  oz_st(f->density_diagonal, i, acc[11]);
  oz_st(f->density_row_sum, i, row);
  oz_matrix_st_spare(f->A, i, &send, row);
}

OZ_END_TAKEN(gradient)

/* ---- bound_sums: S_k = sum over the rows that touch k of |ghat B|, times omega
 * (docs/theory/velocity_projection.md, preconditioner); and the neighbours' part of the same sum
 * for the density constraint, for density_bound ---- */

/* Rows of particles in nozzles that do not pour count twice. Where most neighbours are held, strain
 * corrects a free particle by up to beta = 1.9 of its displacement and the zero-energy control by
 * 0.8 more, so that each position iteration would multiply it by -1.7. With 1.9 / 2 that is -0.75.
 */
#define OZ_BOUND_HELD 2.0f

OZ_SELF_NONE(bound_sums)

OZ_FN void oz_bound_sums_pair(const oz_frame *f, const oz_bound_sums_self *s, const oz_group *n,
                              oz_real *acc) {
  (void)s;
  oz_m3 m;
  oz_real scale, k, row = oz_matrix_gather_spare(f->A, f->density_row_sum, n->j, &m, &scale);
  oz_s3 B = {{m.m[0], m.m[4], m.m[8], m.m[3], m.m[6], m.m[7]}};
  oz_v3 v = oz_s3_v(&B, oz_along(n, &k));
  oz_real times = oz_select(row < oz_set(0.0f), oz_set(OZ_BOUND_HELD), oz_set(1.0f));
  acc[0] += times * k * scale * oz_root(oz_square_above(v, oz_set(1e-30f)));
  acc[1] += row * (k * oz_along_length(n));
}

/* inverse mass; |ghat B| of the particle itself */
typedef struct {
  oz_real om, own;
} oz_bound_sums_own;

OZ_FN void oz_bound_sums_take(const oz_frame *f, uint32_t i, oz_bound_sums_own *o) {
  oz_s3 B = oz_six_ld(f->B, f->stride, i);
  oz_v3 v = oz_s3_v(&B, oz_block3_ld(f->gradient_sum, f->stride, i));
  o->om = oz_ld(f->omega, i), o->own = oz_sqrt(oz_dot(v, v));
}

OZ_FN void oz_bound_sums_made(const oz_frame *f, uint32_t i, const oz_real *acc,
                              const oz_bound_sums_own *o) {
  oz_st(f->bound_sum, i, o->om * (acc[0] + o->own));
  oz_st(f->density_near_sum, i, acc[1]);
}

OZ_END_TAKEN(bound_sums)

/* ---- bound: P_i = (1/beta) sum_k omega_k S_k ghat ghat^T / |ghat|, its eigenframe and eigenvalues
 * ---- */

typedef struct {
  oz_s3 B;
} oz_bound_self;

OZ_FN void oz_bound_begin(const oz_frame *f, uint32_t i, oz_bound_self *s) {
  s->B = oz_six_of(f->B, f->stride, i);
}

OZ_FN void oz_bound_add(oz_real *acc, oz_v3 v, oz_real weight) {
  oz_real k = weight * oz_rsqrt(oz_square_above(v, oz_set(1e-30f)));
  oz_tensor_add(acc, k, v);
}

OZ_FN void oz_bound_pair(const oz_frame *f, const oz_bound_self *s, const oz_group *n,
                         oz_real *acc) {
  oz_real k;
  oz_v3 way = oz_along(n, &k);
  oz_bound_add(acc, oz_s3_v(&s->B, way), k * oz_gather1(f->bound_sum, n->j, 1));
}

/* Rotation of the eigenframe; the eigenvalues go to w. */
OZ_FN oz_q4 oz_bound_eigen(const oz_frame *f, uint32_t i, const oz_real *acc, const oz_s3 *B,
                           oz_real w[3]) {
  oz_real sum[6];
  for (int c = 0; c < 6; c++) sum[c] = acc[c];
  oz_bound_add(sum, oz_s3_v(B, oz_block3_ld(f->gradient_sum, f->stride, i)),
               oz_ld(f->bound_sum, i));
  oz_s3 P;
  for (int c = 0; c < 6; c++) P.s[c] = sum[c] * (1.0f / f->beta);
  oz_m3 U;
  oz_s3_eigen(&P, 3, w, &U);
#if OZ_GPU /* in a fused kernel, behind wall_rows; elsewhere that stage adds it */
  const uint32_t slot = f->contact_of ? f->contact_of[i] : 0u;
  if (slot && (f->wall_row[slot - 1].b > 0.0f || f->wall_row[slot - 1].points_c > 0.0f)) {
    const float more =
        oz_row_bound(f, f->wall_row + slot - 1, f->omega[i], oz_max(w[0], oz_max(w[1], w[2])));
    for (int c = 0; c < 3; c++) w[c] += more;
  }
#endif
  return oz_q4_of(&U);
}

OZ_FN void oz_bound_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real w[3];
  oz_s3 B = oz_six_ld(f->B, f->stride, i);
  oz_q4 turn = oz_bound_eigen(f, i, acc, &B, w);
  oz_preconditioner_st(f, i, w, turn);
}

/* ---- force: dx_i = omega_i sum_j (A_i + A_j) ghat_ij, the transpose of the strain; dx.w: dx . dx
 * / omega, for cg_last ---- */

OZ_SELF_NONE(force)

OZ_FN void oz_force_pair(const oz_frame *f, const oz_force_self *s, const oz_group *n,
                         oz_real *acc) {
  (void)s;
  oz_matrix(acc, f->A, n);
}

OZ_FN oz_v3 oz_force_total(const oz_frame *f, uint32_t i, const oz_real *acc) {
  oz_m3 A;
  oz_matrix_ld(f->A, i, &A);
  oz_v3 own = oz_m3_v(&A, oz_block3_ld(f->gradient_sum, f->stride, i));
  oz_row_pull(f, i, &own);
  oz_real om = oz_ld(f->omega, i);
  oz_v3 dx = {om * (acc[0] + own.x), om * (acc[1] + own.y), om * (acc[2] + own.z)};
  return dx;
}

/* work of the correction that passed the walls' filter on the one before it */
OZ_FN oz_real oz_force_work(oz_v3 dx, oz_v3 unheld, oz_real om) {
  return oz_dot(dx, unheld) / oz_select(om > oz_set(0.0f), om, oz_set(1.0f));
}

OZ_FN void oz_force_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_v3 dx = oz_force_total(f, i, acc);
  oz_vec_st(f->dx, i, dx, oz_force_work(dx, dx, oz_ld(f->omega, i)));
}
#endif
