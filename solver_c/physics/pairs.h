/* Kernels, and the view that one particle has of a group of its neighbours.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_PAIRS_H
#define OZ_PHYSICS_PAIRS_H

#include "physics/storage.h"

/* A group of OZ_LANES neighbours of one particle. Padding repeats the particle itself: ghat and c
 * are zero there. */
typedef struct oz_group {
#if OZ_GPU
  const uint32_t *j;
  oz_v3 r;   /* x_i - x_j at the start, m: for the stages that use it (cuda/gather.h) */
  oz_v3 way; /* ghat is s times this vector: for sums with a further factor */
  /* off: receives the sum of the factors of A_j's first element, for oz_matrix_off */
  oz_real s, *off;
  oz_real far; /* length of `way`; 0 for coincident particles */
#else
  uint32_t j[OZ_LANES];
#endif
  oz_v3 g;   /* ghat_ij, pure number: V0 d grad W (spiky) */
  oz_real c; /* zero-energy weight, 1 / unit */
#if OZ_ARMS
  uint32_t i;              /* the particle itself */
  ptrdiff_t far[OZ_LANES]; /* j - i */
  oz_arms arms;            /* ghat in parts, for the sums below */
#endif
} oz_group;

OZ_FN oz_group oz_group_of(const uint32_t *j) { /* without gradients */
  oz_group n;
  __builtin_memset(&n, 0, sizeof n);
#if OZ_GPU
  n.j = j;
#else
  for (uint32_t k = 0; k < OZ_LANES; k++) n.j[k] = j[k];
#endif
#if OZ_ARMS
  for (uint32_t k = 0; k < OZ_LANES; k++) n.far[k] = j[k];
#endif
  return n;
}

/* Loads and sums over a group. oz_near4: the neighbours' records of 4. oz_outer: v_j ghat^T, v the
 * first three floats of records of 4. oz_matrix: A_j ghat (oz_matrix_ld); oz_matrix_spare adds w_j
 * ghat, w the fourth float of the records u and the spare of A's columns. oz_pull: c (w_i + w_j)
 * (v_j - v_i), w the fourth float. */
#if OZ_ARMS
OZ_FN void oz_near4(const float *a, const oz_group *n, oz_real v[4]) {
  oz_gather4_far(a + 4 * (size_t)n->i, n->far, v);
}

OZ_FN void oz_outer(oz_real *acc, const float *a, const oz_group *n) {
  oz_outer_arms(acc, a + 4 * (size_t)n->i, n->far, &n->arms);
}

OZ_FN void oz_matrix(oz_real *acc, const float *a, const oz_group *n) {
  oz_matrix_arms(acc, a + 12 * (size_t)n->i, n->far, &n->arms);
}

OZ_FN void oz_matrix_spare(oz_real *acc, const float *a, const float *u, const oz_group *n) {
  (void)u;
  oz_spare_arms(acc, a + 12 * (size_t)n->i, n->far, &n->arms);
}

OZ_FN void oz_pull(oz_real *acc, const float *a, const oz_group *n, const oz_own *own) {
  oz_pull_far(acc + OZ_PULL_ACC, a + 4 * (size_t)n->i, n->far, own, n->arms.near);
}

#define oz_pull_spare oz_pull
#else
OZ_FN void oz_near4(const float *a, const oz_group *n, oz_real v[4]) {
  oz_gather4(a, n->j, 4, 0, v);
}

OZ_FN void oz_outer(oz_real *acc, const float *a, const oz_group *n) {
  oz_outer_gather(acc, a, n->j, n->g.x, n->g.y, n->g.z);
}
#if OZ_GPU
OZ_FN void oz_matrix(oz_real *acc, const float *a, const oz_group *n) {
  oz_real m[9], s = n->s * oz_packed_raw(a, n->j[0], m), x = s * n->way.x, y = s * n->way.y,
                z = s * n->way.z;
  for (int r = 0; r < 3; r++)
    acc[r] += m[3 * r] * x, acc[r] += m[3 * r + 1] * y, acc[r] += m[3 * r + 2] * z;
  *n->off += x;
}

/* removes the offset that oz_packed_raw leaves in the first element */
OZ_FN void oz_matrix_off(oz_real *acc, oz_real off) { acc[0] -= OZ_PACKED_OFF * off; }

OZ_FN void oz_matrix_spare(oz_real *acc, const float *a, const float *u, const oz_group *n) {
  oz_real k = n->s * oz_gather1(u + 3, n->j, 4);
  oz_matrix(acc, a, n);
  acc[3] += k * n->way.x;
  acc[4] += k * n->way.y;
  acc[5] += k * n->way.z;
}

/* the particle's own weight is 0 */
OZ_FN void oz_pull_spare(oz_real *acc, const float *a, const oz_group *n, const oz_own *own) {
  oz_real v[4];
  oz_near4(a, n, v);
  oz_real k = n->c * v[3];
  for (int r = 0; r < 3; r++) acc[6 + r] += k * (v[r] - own->v[r]);
}
#else
OZ_FN void oz_matrix(oz_real *acc, const float *a, const oz_group *n) {
  oz_matrix_product(acc, a, n->j, n->g.x, n->g.y, n->g.z);
}

OZ_FN void oz_matrix_spare(oz_real *acc, const float *a, const float *u, const oz_group *n) {
  oz_matrix_product_spare(acc, a, u, n->j, n->g.x, n->g.y, n->g.z);
}

OZ_FN void oz_pull_spare(oz_real *acc, const float *a, const oz_group *n, const oz_own *own) {
  oz_pull_gather(acc + 6, a, n->j, own, n->c);
}
#endif
OZ_FN void oz_pull(oz_real *acc, const float *a, const oz_group *n, const oz_own *own) {
  oz_pull_gather(acc, a, n->j, own, n->c);
}
#endif

OZ_FN oz_v3 oz_vec_near(const float *a, const oz_group *n) {
  oz_real v[4];
  oz_near4(a, n, v);
  oz_v3 r = {v[0], v[1], v[2]};
  return r;
}

/* The same, with the whole records, from the place `own`. */
OZ_FN oz_v3 oz_near_from(const float *a, const oz_group *n, oz_v3 own, oz_real v[4]) {
  oz_near4(a, n, v);
  oz_v3 r = {v[0] - own.x, v[1] - own.y, v[2] - own.z};
  return r;
}

OZ_FN oz_real oz_length(oz_v3 v) {
  oz_real l2 = oz_dot(v, v);
  return l2 * oz_rsqrt_fast(oz_max(l2, oz_set(1e-30f)));
}

/* v|^2 plus `little`, which is far below every relevant square, so that a root exists. */
OZ_FN oz_real oz_square_above(oz_v3 v, oz_real little) {
  return v.x * v.x + (v.y * v.y + (v.z * v.z + little));
}

OZ_FN oz_real oz_root(oz_real l2) { return l2 * oz_rsqrt(l2); }

/* ghat as a factor (*factor) and a vector, and the vector's length: sums of the first degree in
 * ghat need no gradient of their own on the GPU. */
OZ_FN oz_v3 oz_along(const oz_group *n, oz_real *factor) {
#if OZ_GPU
  *factor = n->s;
  return n->way;
#else
  *factor = oz_set(1.0f);
  return n->g;
#endif
}

OZ_FN oz_real oz_along_length(const oz_group *n) {
#if OZ_GPU
  return n->far;
#else
  return oz_length(n->g);
#endif
}

OZ_FN oz_v3 oz_sub(oz_v3 a, oz_v3 b) {
  oz_v3 r = {a.x - b.x, a.y - b.y, a.z - b.z};
  return r;
}

/* m^2: squared relative motion of two particles, from x to p and from z to q (see
 * OZ_MIN_APPROACH). */
OZ_FN oz_real oz_moved2(oz_v3 p, oz_v3 x, oz_v3 q, oz_v3 z) {
  oz_v3 y = oz_sub(oz_sub(q, z), oz_sub(p, x));
  return oz_dot(y, y);
}

/* v += dv in lanes where the sum is finite and below the limit (sum of sizes). Other lanes keep v,
 * so that a breakdown in one particle reaches no further than its neighbours' corrections. A
 * non-finite v becomes zero. */
OZ_FN void oz_add_sane(oz_real *v, oz_v3 dv, float limit) {
  oz_real n[3] = {v[0] + dv.x, v[1] + dv.y, v[2] + dv.z}, most = oz_set(limit), zero = oz_set(0.0f);
  oz_mask sane = oz_abs(n[0]) + oz_abs(n[1]) + oz_abs(n[2]) < most;
  if (oz_any(oz_not(sane))) {
    oz_mask was = oz_abs(v[0]) + oz_abs(v[1]) + oz_abs(v[2]) < most;
    for (int c = 0; c < 3; c++) v[c] = oz_select(was, v[c], zero);
  }
  for (int c = 0; c < 3; c++) v[c] = oz_select(sane, n[c], v[c]);
}

#define OZ_SANE_MOVE                                                                           \
  3e4f                      /* separations: a larger displacement in one substep is treated as \
                             * non-finite */
#define OZ_SANE_SPEED 1e12f /* m/s: far beyond the limit of the interface (1e6) */

OZ_FN float oz_first(oz_real v) { /* of a value that is the same in every lane */
  float lane[OZ_LANES];
  oz_st(lane, 0, v);
  return lane[0];
}

/* W over W(0), (1 - r^2 / h^2)^4: the kernel of densities. Its power is chosen so that the sum
 * tells volume and not order: with h = 2.2 d the cubic lattices, simple, body- and face-centred,
 * have sums within 0.3% of each other (docs/theory/density.md). */
OZ_FN oz_real oz_kernel(const oz_frame *f, oz_real r2) {
  oz_real q = oz_max(1.0f - r2 * f->inv_h2, oz_set(0.0f)), q2 = q * q;
  return q2 * q2;
}

/* (h - r)^2 / r, in m. Zero beyond h and at r = 0. */
OZ_FN oz_real oz_steepness(const oz_frame *f, oz_v3 r) {
  oz_real r2 = oz_dot(r, r), tiny = oz_set(1e-10f * f->h2), zero = oz_set(0.0f);
  oz_mask apart = r2 > tiny;
  oz_real ir = oz_rsqrt(oz_max(r2, tiny)), t = oz_max(f->h - r2 * ir, zero);
  return oz_select(apart, t * t * ir, zero);
}
#if OZ_GPU
/* (h - r)^2 / r = (h^2 + r^2) / r - 2 h, which takes one instruction less. The difference has an
 * error of some 3e-7 h, against 0.7 h between neighbours. */
OZ_FN oz_real oz_steepness_at(const oz_frame *f, oz_real r2) {
  return oz_rsqrt(r2) * (r2 + f->h2) - 2.0f * f->h;
}

/* oz_steepness without a test, for pairs of a row: they are within h, and at r = 0 the factor that
 * follows is 0 as well. The small term that keeps it finite there is lost in r^2 elsewhere. */
OZ_FN oz_real oz_steepness_within(const oz_frame *f, oz_v3 r) {
  return oz_steepness_at(f, oz_square_above(r, oz_set(1e-10f * f->h2)));
}

/* distance from the same root */
OZ_FN oz_real oz_far_within(const oz_frame *f, oz_v3 r) {
  return oz_dot(r, r) * oz_rsqrt(oz_square_above(r, oz_set(1e-10f * f->h2)));
}
#endif
/* The zero-energy weight grows as 1/r. Below 0.3 d, where steepness is 5.47 h, it stays constant,
 * so that a coincident pair does not dominate its neighbourhood. */
#define OZ_STEEPEST 5.46970f

/* Spiky gradient (Mueller 2003), scaled: ghat = V0 d grad_i W(x_i - x_j). r = x_i - x_j in m. Zero
 * beyond h and at r = 0. */
OZ_FN oz_v3 oz_spiky(const oz_frame *f, oz_v3 r, oz_real *out_c) {
  oz_real s = oz_steepness(f, r), k = f->grad_norm * s;
  oz_v3 g = {k * r.x, k * r.y, k * r.z};
  *out_c = f->zero_energy_norm * oz_min(s, oz_set(OZ_STEEPEST * f->h));
  return g;
}
#if OZ_GPU
/* The same for pairs of a row. A coincident pair (closer than 1e-5 h, as above) has no weight. */
OZ_FN oz_v3 oz_spiky_within(const oz_frame *f, oz_v3 r, oz_real *out_c) {
  oz_real s = oz_steepness_within(f, r), k = f->grad_norm * s;
  oz_v3 g = {k * r.x, k * r.y, k * r.z};
  *out_c = f->zero_energy_norm * oz_select(s < oz_set(7.07e4f * f->h),
                                           oz_min(s, oz_set(OZ_STEEPEST * f->h)), oz_set(0.0f));
  return g;
}
#endif
/* The neighbours' start positions, in a stage before x is moved. The CPU reads them as the
 * gradients do, so that one load serves both. */
OZ_FN void oz_near_start(const oz_frame *f, const oz_group *n, oz_real x[4]) {
#if OZ_GPU
  oz_near4(f->x, n, x);
#else
  oz_near4(f->start, n, x);
#endif
}

/* From a particle at `own` to a neighbour with the start position x. */
OZ_FN oz_v3 oz_across(const oz_group *n, const oz_real x[4], oz_v3 own) {
#if OZ_GPU
  const oz_v3 r = {-n->r.x, -n->r.y, -n->r.z};
  (void)x, (void)own;
#else
  const oz_v3 r = {x[0] - own.x, x[1] - own.y, x[2] - own.z};
  (void)n;
#endif
  return r;
}
#if !OZ_GPU
/* The stored weight of a pair: w = d |ghat| / r, a pure number below 28,000. oz_group_gradients
 * restores ghat = (w / d) (x_j - x_i), and c, bounded as above. */
OZ_FN oz_real oz_pair_weight(const oz_frame *f, oz_v3 r) {
  return (-f->grad_norm * f->d) * oz_steepness(f, r);
}

OZ_FN void oz_group_gradients(const oz_frame *f, uint32_t i, oz_real w, oz_group *n) {
  const float *x = f->start + 4 * (size_t)i;
  oz_real v[4], k = w * f->inv_d,
                near = oz_min(w, oz_set(-f->grad_norm * f->d * OZ_STEEPEST * f->h));
  oz_near4(f->start, n, v);
  n->g.x = k * (v[0] - x[0]), n->g.y = k * (v[1] - x[1]), n->g.z = k * (v[2] - x[2]);
  n->c = (f->zero_energy_arm * f->inv_d) * near;
#if OZ_ARMS
  n->arms.x = x, n->arms.own = oz_own_record(x), n->arms.w = w, n->arms.near = near;
#endif
}
#endif
/* sum_j v_j ghat^T - v_i (sum_j ghat)^T = sum_j v_ji ghat^T: v_i and the sum of ghat leave the
 * loop. */
OZ_FN oz_m3 oz_difference(const oz_real *acc, oz_v3 v, oz_v3 gradient_sum) {
  oz_m3 m;
  m.m[0] = acc[0] - v.x * gradient_sum.x;
  m.m[1] = acc[1] - v.x * gradient_sum.y;
  m.m[2] = acc[2] - v.x * gradient_sum.z;
  m.m[3] = acc[3] - v.y * gradient_sum.x;
  m.m[4] = acc[4] - v.y * gradient_sum.y;
  m.m[5] = acc[5] - v.y * gradient_sum.z;
  m.m[6] = acc[6] - v.z * gradient_sum.x;
  m.m[7] = acc[7] - v.z * gradient_sum.y;
  m.m[8] = acc[8] - v.z * gradient_sum.z;
  return m;
}

/* Lanes of materials with a viscosity by rate. */
OZ_FN oz_mask oz_thins(const oz_frame *f, uint32_t i) {
  oz_real zero = oz_set(0.0f);
  return (oz_of_matter(f, i, &f->matter->consistency) > zero) |
         ((oz_of_matter(f, i, &f->matter->thinning_time) > zero) & (oz_viscosity(f, i) > zero));
}

/* Share of the yield stress that is left to a paste, above 0. While a thinning paste flows it has
 * the rest as a viscosity: its steady stress is the same, but a clump in a thread that is drawn is
 * no rigid body beside gaps that open (docs/theory/yield.md, pastes that flow). */
#define OZ_YIELD_RATE 1.0f /* 1/s: remembered rate of which the share is one half */
OZ_FN oz_real oz_yield_share(const oz_frame *f, uint32_t i) {
  oz_real one = oz_set(1.0f);
  if (!(f->laws & OZ_LAW_RATE)) return one;
  oz_real share = OZ_YIELD_RATE / (oz_ld_or_none(f->shear_rate, i) + OZ_YIELD_RATE);
  return oz_select(oz_thins(f, i), share, one);
}

OZ_FN oz_real oz_yield(const oz_frame *f, uint32_t i) { /* Pa; 0: none */
  if (!f->has_yield) return oz_set(0.0f);
  return oz_of_matter(f, i, &f->matter->yield_stress) * oz_yield_share(f, i);
}

/* of one particle */
OZ_FN float oz_yield_of(const oz_frame *f, uint32_t i) {
  if (!f->has_yield) return 0.0f;
  const oz_matter *m = &f->matter[oz_matter_of(f, i)];
  const int thins =
      (f->laws & OZ_LAW_RATE) && f->shear_rate &&
      (m->consistency > 0.0f ||
       (m->thinning_time > 0.0f && (f->viscosity ? f->viscosity[i] : m->viscosity) > 0.0f));
  return thins ? m->yield_stress * (OZ_YIELD_RATE / (OZ_YIELD_RATE + f->shear_rate[i]))
               : m->yield_stress;
}

/* Pa: unit of a multiplier. */
OZ_FN float oz_pressure_unit(const oz_frame *f) {
  return f->m_ref * f->d * f->d / (f->V0 * f->dt * f->dt);
}

/* Lanes of fluid with more neighbours than a fluid can have (33 at rest): particles piled or
 * pressed into one spot. */
#define OZ_CROWD 72

OZ_FN oz_mask oz_crowded(const oz_frame *f, uint32_t i) {
  return (oz_words(f->neighbours, i) > OZ_CROWD) & (oz_words(f->owner, i) == 0);
}

/* Lanes of fluid: particles of neither a body nor a boundary. */
OZ_FN oz_mask oz_fluid(const oz_frame *f, uint32_t i) { return oz_words(f->owner, i) == 0; }

/* Lanes of boundary particles. */
OZ_FN oz_mask oz_at_boundary(const oz_frame *f, uint32_t i) {
  return oz_words(f->owner, i) >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY;
}

/* Weight of a particle in the density of its neighbours. */
OZ_FN oz_real oz_weight(const oz_frame *f, uint32_t i) {
  oz_real one = oz_set(1.0f);
  return f->has_boundary ? oz_select(oz_at_boundary(f, i), oz_boundary_weight(f, i), one) : one;
}

/* Position of a particle that has moved to p: boundary particles along which fluid slips stay at
 * their place (boundary.h). */
OZ_FN oz_v3 oz_held_place(const oz_frame *f, uint32_t i, oz_v3 p) {
  if (!f->has_slip) return p;
  oz_v3 was = oz_vec_ld(f->p, i);
  oz_mask held = oz_at_boundary(f, i);
  oz_v3 r = {oz_select(held, was.x, p.x), oz_select(held, was.y, p.y), oz_select(held, was.z, p.z)};
  return r;
}

/* Lanes (as 0 / -1, or 0 / 1) of particles that have a conformation constraint: fluid with enough
 * neighbours. Particles of bodies and boundaries have none. */
OZ_FN oz_mask oz_enough(const oz_frame *f, uint32_t i) {
  return (oz_words(f->neighbours, i) >= OZ_MIN_NEIGHBOURS) & (oz_words(f->owner, i) == 0);
}

/* Lanes in which certainly K B = I: B is bounded at 1 / 0.3 (gradient), and where its eigenvalues
 * stay below 3.3 it is the inverse of K. */
OZ_FN oz_mask oz_whole(const oz_frame *f, const oz_s3 *B) {
  oz_s3 less;
  for (int c = 0; c < 6; c++) less.s[c] = -B->s[c];
  return oz_s3_above(&less, -3.3f) &
         (oz_set((float)(f->gradient_correction & f->is_conformation)) > oz_set(0.5f));
}

/* Lanes with neighbours on all sides, so that the gradient is reliable: no thin sheets and no
 * spray. */
OZ_FN oz_mask oz_thick(const oz_frame *f, uint32_t i) {
  oz_s3 B = oz_six_ld(f->B, f->stride, i);
  oz_mask enough = oz_enough(f, i);
  if (!oz_any(oz_not(oz_whole(f, &B)))) return enough;
  oz_s3 K = oz_block6_ld(f->K, f->stride, i);
  oz_m3 KB = oz_s3_mul_s(&K, &B);
  return enough & (oz_min(oz_min(KB.m[0], KB.m[4]), KB.m[8]) > oz_set(0.9f));
}

/* Weight of a particle in the filter on non-affine velocity. Light particles have the same strength
 * among themselves. A light particle among heavy ones would be pulled sqrt(omega) times as hard,
 * which is unstable from omega = 4 on; so heavier neighbours count by that factor more in its gate
 * (gradient). Then omega_i g_i sum_j g_j c is at most 1 for all masses, and the eigenvalues of the
 * filter stay those of a single fluid. */
OZ_FN oz_real oz_filter_weight(const oz_frame *f, uint32_t i) {
  return oz_ld(f->zero_energy_gate, i) * oz_rsqrt(oz_max(oz_ld(f->omega, i), oz_set(1.0f)));
}

/* Lanes of particles that remember their shape. */
OZ_FN oz_mask oz_solid(const oz_frame *f, uint32_t i) {
  oz_real zero = oz_set(0.0f);
  return ((oz_relaxation_time(f, i) > zero) | (oz_yield(f, i) > zero)) & oz_enough(f, i);
}

/* Share of viscosity in the motion at the scale of particles: N / (1 + N), N = mu t / (rho d^2),
 * over a fixed time, so that it does not depend on the substep. Splashes have none, honey all. */
OZ_FN oz_real oz_viscous_share(const oz_frame *f, uint32_t i, oz_real a) {
  oz_real held = (oz_relaxation_time(f, i) + f->dt) * OZ_VISCOUS_TIME;
  return held / (held + a * (f->V0 * f->dt * f->dt / f->m_ref) * oz_density(f, i));
}

/* Seconds: relaxation times above it make a solid, which remembers the arrangement of its particles
 * for as long as a shot lasts. */
#define OZ_SOLID_TIME 10.0f

/* Lanes of solids, which no yield stress lets flow. */
OZ_FN oz_mask oz_keeps_shape(const oz_frame *f, uint32_t i) {
  oz_mask solid = oz_relaxation_time(f, i) > oz_set(OZ_SOLID_TIME);
  if (f->has_yield) solid &= oz_yield(f, i) <= oz_set(0.0f);
  return solid;
}

/* How far a material is from the arrangement that it remembers, 0 to 1: 1 for a liquid, for elastic
 * material the part that flows in this substep, at least a fifth of what is no solid, or all of it
 * from a stretch of 1.4 on. */
#define OZ_STRETCH_FREE 0.2f /* trace of Q - I up to which an elastic arrangement is still fine */
#define OZ_FLOW_LEAST 0.2f
OZ_FN oz_real oz_flow_share(const oz_frame *f, uint32_t i, oz_real trace) {
  oz_real tau = oz_relaxation_time(f, i), flows = f->dt / (tau + f->dt);
  oz_real least = oz_select(tau < oz_set(OZ_SOLID_TIME), oz_set(OZ_FLOW_LEAST), oz_set(0.0f));
  flows = oz_max(flows, least);
  return oz_max(flows,
                oz_clamp(3.0f * (trace - 3.0f - OZ_STRETCH_FREE), oz_set(0.0f), oz_set(1.0f)));
}

#define OZ_DILATION_MOST 0.03f /* of the volume, taken back in a substep */
#define OZ_DILATION_RATE 0.4f  /* of what there is too much */
/* What order may explain of it in thick fluid of brief memory that is pressed (oz_dilation_now): a
 * lack of 0.125. Films and spoonfuls lack more where they swell; without a bound syrup had twice
 * its volume there. */
#define OZ_DILATION_ORDER 0.05f
#define OZ_BRIEF_TIME 0.01f /* s: thick fluid with less memory does not rebound */

/* Bound on the way to oz_dilation_now, which takes order off and has its own. */
OZ_FN oz_real oz_dilation_most(oz_real memory) {
  return oz_select(memory < oz_set(OZ_BRIEF_TIME), oz_set(OZ_DILATION_MOST + OZ_DILATION_ORDER),
                   oz_set(OZ_DILATION_MOST));
}

/* Lack that a free surface explains, over its colour gradient, that of a flat one being 1: of a
 * lattice's trace of K a layer has 0.423, either side of it 0.289. Half of a layer above a film has
 * half of both. For fluid of brief memory next to walls: in the air drops would turn and streams
 * swell, threads of pastes part with less, and elastic fluid bursts. */
#define OZ_DILATION_OPEN 0.289f

/* Lanes of fluid of brief memory that does not yield. */
OZ_FN oz_mask oz_forgets(const oz_frame *f, uint32_t i) {
  oz_mask brief = oz_relaxation_time(f, i) < oz_set(OZ_BRIEF_TIME);
  return f->has_yield ? brief & oz_not(oz_yield(f, i) > oz_set(0.0f)) : brief;
}

/* Volume that a particle of the interior has too much of, as a share of its own. A liquid bears
 * tension, and the density constraint, which is one-sided, does not see it: both projections ask
 * for dt div u = -dilation. trace: of K, which over the lattice's is a density of the start
 * positions; g2: |gradient_sum|^2, which tells the interior: fully below half of a flat surface's
 * value, not at all from that value on; most: oz_dilation_most; open: OZ_DILATION_OPEN
 * next to a wall. */
OZ_FN oz_real oz_dilation(const oz_frame *f, oz_real trace, oz_real g2, oz_real most,
                          oz_real open) {
  oz_real zero = oz_set(0.0f), one = oz_set(1.0f), surface = oz_sqrt(g2) * (2.0f / f->g_ref);
  oz_real lack = oz_max(0.98f - trace * (1.0f / f->k_ref) - 0.5f * open * surface, zero);
  oz_real inside = oz_clamp(2.0f - surface, zero, one);
  return f->dilates ? inside * oz_min(OZ_DILATION_RATE * lack, most) : zero;
}
#endif
