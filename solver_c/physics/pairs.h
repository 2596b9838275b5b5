/* Kernels, and what one particle knows of a group of its neighbours. */
#ifndef OZ_PHYSICS_PAIRS_H
#define OZ_PHYSICS_PAIRS_H

#include "physics/algebra.h"
#include "physics/fields.h"

/* A group of OZ_LANES neighbours of one particle. Padding repeats the particle itself: ghat and c
 * are zero there. */
typedef struct oz_group {
#if OZ_GPU
  const uint32_t *j;
  oz_v3 r;   /* x_i - x_j at the start, m: for stages that ask for it (cuda/gather.h) */
  oz_v3 way; /* ghat is s times this: for sums that have another factor besides */
  /* off: receives the sum of what A_j's first number was multiplied with, for oz_matrix_off */
  oz_real s, *off;
  oz_real far; /* the length of way; 0 where there is no distance */
#else
  uint32_t j[OZ_LANES];
#endif
  oz_v3 g;   /* ghat_ij, pure number: V0 d grad W (spiky) */
  oz_real c; /* zero-energy weight, 1 / unit */
#if OZ_ARMS
  uint32_t i;              /* the particle itself */
  ptrdiff_t far[OZ_LANES]; /* j - i */
  oz_arms arms;            /* ghat in pieces, for the sums below */
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
/* The neighbours' records of 4 (oz_near4). Sums over the group: of v_j ghat^T, v the first three
 * floats of records of 4; of A_j ghat (oz_matrix_ld), and with it of w_j ghat, w the fourth float
 * of records u, and the spare of A's columns; of c (w_i + w_j) (v_j - v_i), w the fourth float. */
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
/* what oz_packed_raw tells too much */
OZ_FN void oz_matrix_off(oz_real *acc, oz_real off) { acc[0] -= OZ_PACKED_OFF * off; }
OZ_FN void oz_matrix_spare(oz_real *acc, const float *a, const float *u, const oz_group *n) {
  oz_real k = n->s * oz_gather1(u + 3, n->j, 4);
  oz_matrix(acc, a, n);
  acc[3] += k * n->way.x;
  acc[4] += k * n->way.y;
  acc[5] += k * n->way.z;
}
/* whose own weight is 0 */
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

OZ_FN oz_v3 oz_vec_of(const float *a, uint32_t i) { /* one particle's vector in all lanes */
  oz_v3 r = {oz_set(a[4 * (size_t)i]), oz_set(a[4 * (size_t)i + 1]), oz_set(a[4 * (size_t)i + 2])};
  return r;
}
OZ_FN oz_v3 oz_vec_gather(const float *a, const uint32_t *j) {
  oz_real v[4];
  oz_gather4(a, j, 4, 0, v);
  oz_v3 r = {v[0], v[1], v[2]};
  return r;
}
OZ_FN oz_v3 oz_vec_near(const float *a, const oz_group *n) {
  oz_real v[4];
  oz_near4(a, n, v);
  oz_v3 r = {v[0], v[1], v[2]};
  return r;
}
OZ_FN oz_v3 oz_vec_ld(const float *a, uint32_t i) {
  oz_real v[4];
  oz_ld4(a, i, 4, 0, v);
  oz_v3 r = {v[0], v[1], v[2]};
  return r;
}
OZ_FN void oz_vec_st(float *a, uint32_t i, oz_v3 v, oz_real w) {
  oz_real r[4] = {v.x, v.y, v.z, w};
  oz_st4(a, i, 4, 0, r);
}
OZ_FN oz_real oz_length(oz_v3 v) {
  oz_real l2 = oz_dot(v, v);
  return l2 * oz_rsqrt_fast(oz_max(l2, oz_set(1e-30f)));
}
/* |v|^2 and a little, so that it has a root: what is far below every square that counts. */
OZ_FN oz_real oz_square_above(oz_v3 v, oz_real little) {
  return v.x * v.x + (v.y * v.y + (v.z * v.z + little));
}
OZ_FN oz_real oz_root(oz_real l2) { return l2 * oz_rsqrt(l2); }
/* ghat as a factor and what it is multiplied with, and that one's length: sums of the first degree
 * in ghat need no gradient of their own on the GPU. */
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
/* m^2: how far particles have moved relative to each other, from x to p and from z to q (see
 * OZ_MIN_APPROACH). */
OZ_FN oz_real oz_moved2(oz_v3 p, oz_v3 x, oz_v3 q, oz_v3 z) {
  oz_v3 y = oz_sub(oz_sub(q, z), oz_sub(p, x));
  return oz_dot(y, y);
}
OZ_FN oz_s3 oz_planes6_ld(const float *a, uint32_t stride, uint32_t i) {
  oz_s3 r;
  for (int c = 0; c < 6; c++) r.s[c] = oz_ld(a + (size_t)c * stride, i);
  return r;
}
OZ_FN void oz_planes6_st(float *a, uint32_t stride, uint32_t i, const oz_s3 *v) {
  for (int c = 0; c < 6; c++) oz_st(a + (size_t)c * stride, i, v->s[c]);
}
OZ_FN oz_v3 oz_planes3_ld(const float *a, uint32_t stride, uint32_t i) {
  oz_v3 r = {oz_ld(a, i), oz_ld(a + stride, i), oz_ld(a + 2 * (size_t)stride, i)};
  return r;
}
OZ_FN oz_q4 oz_planes4_ld(const float *a, uint32_t stride, uint32_t i) {
  oz_q4 r = {oz_ld(a, i), oz_ld(a + stride, i), oz_ld(a + 2 * (size_t)stride, i),
             oz_ld(a + 3 * (size_t)stride, i)};
  return r;
}
OZ_FN void oz_planes4_st(float *a, uint32_t stride, uint32_t i, oz_q4 q) {
  oz_st(a, i, q.x);
  oz_st(a + stride, i, q.y);
  oz_st(a + 2 * (size_t)stride, i, q.z);
  oz_st(a + 3 * (size_t)stride, i, q.w);
}

/* Word c of n that particle i has in blocks: on the CPU sixteen particles' words lie together, so
 * that a stage walks along a few streams and not along forty; on the GPU those of a block of
 * threads, so that one address serves all of a thread's words. */
OZ_FN float *oz_block_at(oz_block *a, uint32_t n, uint32_t c, uint32_t stride, uint32_t i) {
  (void)stride;
#if OZ_GPU
  return a->v + (((size_t)(i / OZ_SHARE) * n + c) * OZ_SHARE + i % OZ_SHARE);
#else
  return a[(size_t)(i / OZ_PAD) * n + c].v + i % OZ_PAD;
#endif
}
OZ_FN oz_real oz_block_ld(oz_block *a, uint32_t n, uint32_t c, uint32_t stride, uint32_t i) {
  return oz_ld(oz_block_at(a, n, c, stride, i), 0);
}
OZ_FN void oz_block_st(oz_block *a, uint32_t n, uint32_t c, uint32_t stride, uint32_t i,
                       oz_real v) {
  oz_st(oz_block_at(a, n, c, stride, i), 0, v);
}
OZ_FN oz_s3 oz_block6_ld(oz_block *a, uint32_t stride, uint32_t i) {
  oz_s3 r;
  for (uint32_t c = 0; c < 6; c++) r.s[c] = oz_block_ld(a, 6, c, stride, i);
  return r;
}
OZ_FN void oz_block6_st(oz_block *a, uint32_t stride, uint32_t i, const oz_s3 *v) {
  for (uint32_t c = 0; c < 6; c++) oz_block_st(a, 6, c, stride, i, v->s[c]);
}
/* The symmetric matrices that the two projections read most, "sixes": blocks of 6 on the CPU,
 * records of 4 words on the GPU (oz_six_put). And one particle's in all lanes. */
#if OZ_GPU
OZ_FN oz_s3 oz_six_ld(oz_block *a, uint32_t stride, uint32_t i) {
  oz_s3 r;
  (void)stride;
  oz_six_get(a->v, i, r.s);
  return r;
}
OZ_FN void oz_six_st(oz_block *a, uint32_t stride, uint32_t i, const oz_s3 *v) {
  (void)stride;
  oz_six_put(a->v, i, v->s);
}
OZ_FN oz_s3 oz_six_of(oz_block *a, uint32_t stride, uint32_t i) { return oz_six_ld(a, stride, i); }
#else
OZ_FN oz_s3 oz_six_ld(oz_block *a, uint32_t stride, uint32_t i) {
  return oz_block6_ld(a, stride, i);
}
OZ_FN void oz_six_st(oz_block *a, uint32_t stride, uint32_t i, const oz_s3 *v) {
  oz_block6_st(a, stride, i, v);
}
OZ_FN oz_s3 oz_six_of(oz_block *a, uint32_t stride, uint32_t i) {
  oz_s3 r;
  for (uint32_t c = 0; c < 6; c++) r.s[c] = oz_set(*oz_block_at(a, 6, c, stride, i));
  return r;
}
#endif
/* The multiplier of conformation. While a substep runs it is a six on the GPU; what finish tells
 * lies in planes on both. */
#if OZ_GPU
OZ_FN oz_s3 oz_lam_ld(const oz_frame *f, uint32_t i) {
  return oz_six_ld(f->lam_packed, f->stride, i);
}
OZ_FN void oz_lam_st(const oz_frame *f, uint32_t i, const oz_s3 *v) {
  oz_six_st(f->lam_packed, f->stride, i, v);
}
OZ_FN oz_s3 oz_lam_of(const oz_frame *f, uint32_t i) { return oz_lam_ld(f, i); }
OZ_FN oz_s3 oz_lam_told(const oz_frame *f, uint32_t i) {
  if (!f->is_conformation) return oz_planes6_ld(f->lam, f->stride, i);
  oz_s3 v = oz_lam_ld(f, i);
  oz_planes6_st(f->lam, f->stride, i, &v);
  return v;
}
#else
OZ_FN oz_s3 oz_lam_ld(const oz_frame *f, uint32_t i) { return oz_planes6_ld(f->lam, f->stride, i); }
OZ_FN void oz_lam_st(const oz_frame *f, uint32_t i, const oz_s3 *v) {
  oz_planes6_st(f->lam, f->stride, i, v);
}
OZ_FN oz_s3 oz_lam_of(const oz_frame *f, uint32_t i) { /* one particle's in all lanes */
  oz_s3 r;
  for (uint32_t c = 0; c < 6; c++) r.s[c] = oz_set(f->lam[(size_t)c * f->stride + i]);
  return r;
}
OZ_FN oz_s3 oz_lam_told(const oz_frame *f, uint32_t i) { return oz_lam_ld(f, i); }
#endif
OZ_FN oz_v3 oz_block3_ld(oz_block *a, uint32_t stride, uint32_t i) {
  oz_v3 r = {oz_block_ld(a, 3, 0, stride, i), oz_block_ld(a, 3, 1, stride, i),
             oz_block_ld(a, 3, 2, stride, i)};
  return r;
}
OZ_FN oz_q4 oz_block4_ld(oz_block *a, uint32_t stride, uint32_t i) {
  oz_q4 r = {oz_block_ld(a, 4, 0, stride, i), oz_block_ld(a, 4, 1, stride, i),
             oz_block_ld(a, 4, 2, stride, i), oz_block_ld(a, 4, 3, stride, i)};
  return r;
}
OZ_FN void oz_block4_st(oz_block *a, uint32_t stride, uint32_t i, oz_q4 q) {
  oz_block_st(a, 4, 0, stride, i, q.x);
  oz_block_st(a, 4, 1, stride, i, q.y);
  oz_block_st(a, 4, 2, stride, i, q.z);
  oz_block_st(a, 4, 3, stride, i, q.w);
}

/* The rotation of the neighbourhood, from which the next iteration goes on: on the GPU 16 bits a
 * number are enough for that. */
#if OZ_GPU
OZ_FN oz_q4 oz_turn_ld(oz_block *a, uint32_t stride, uint32_t i) {
  oz_real q[4];
  (void)stride;
  oz_turn_get(a->v, i, q);
  oz_q4 r = {q[0], q[1], q[2], q[3]};
  return r;
}
OZ_FN void oz_turn_st(oz_block *a, uint32_t stride, uint32_t i, oz_q4 q) {
  const oz_real v[4] = {q.x, q.y, q.z, q.w};
  (void)stride;
  oz_turn_put(a->v, i, v);
}
#else
OZ_FN oz_q4 oz_turn_ld(oz_block *a, uint32_t stride, uint32_t i) {
  return oz_block4_ld(a, stride, i);
}
OZ_FN void oz_turn_st(oz_block *a, uint32_t stride, uint32_t i, oz_q4 q) {
  oz_block4_st(a, stride, i, q);
}
#endif

/* The matrix that a particle sends to its neighbours. On the CPU records of 12, three columns of
 * three floats and a spare; on the GPU packed into 4 words (oz_packed_ld). What is gathered with it
 * rides in the spare, or has an array of its own there. */
#if OZ_GPU
OZ_FN void oz_matrix_ld(const float *a, uint32_t i, oz_m3 *m) { oz_packed_ld(a, i, m->m); }
OZ_FN void oz_matrix_gather(const float *a, const uint32_t *j, oz_m3 *m) {
  oz_packed_ld(a, j[0], m->m);
}
OZ_FN void oz_matrix_st(float *a, uint32_t i, const oz_m3 *m) { oz_packed_st(a, i, m->m); }
OZ_FN void oz_matrix_st_spare(float *a, uint32_t i, const oz_m3 *m, oz_real spare) {
  (void)spare;
  oz_matrix_st(a, i, m);
}
/* m is to be multiplied with the scale */
OZ_FN oz_real oz_matrix_gather_spare(const float *a, const float *spare, const uint32_t *j,
                                     oz_m3 *m, oz_real *scale) {
  *scale = oz_packed_raw(a, j[0], m->m);
  m->m[0] -= OZ_PACKED_OFF;
  return spare[j[0]];
}
#else
OZ_FN void oz_matrix_ld(const float *a, uint32_t i, oz_m3 *m) {
  for (uint32_t c = 0; c < 3; c++) {
    oz_real v[4];
    oz_ld4(a, i, 12, 4 * c, v);
    for (int r = 0; r < 3; r++) m->m[3 * r + (int)c] = v[r];
  }
}
OZ_FN void oz_matrix_st_spare(float *a, uint32_t i, const oz_m3 *m, oz_real spare) {
  for (uint32_t c = 0; c < 3; c++) {
    oz_real v[4] = {m->m[c], m->m[3 + c], m->m[6 + c], spare};
    oz_st4(a, i, 12, 4 * c, v);
  }
}
OZ_FN void oz_matrix_st(float *a, uint32_t i, const oz_m3 *m) {
  oz_matrix_st_spare(a, i, m, oz_set(0.0f));
}
OZ_FN oz_real oz_matrix_gather_spare(const float *a, const float *spare, const uint32_t *j,
                                     oz_m3 *m, oz_real *scale) {
  oz_real v[4];
  (void)spare;
  *scale = oz_set(1.0f);
  for (uint32_t c = 0; c < 3; c++) {
    oz_gather4(a, j, 12, 4 * c, v);
    for (int r = 0; r < 3; r++) m->m[3 * r + (int)c] = v[r];
  }
  return v[3];
}
OZ_FN void oz_matrix_gather(const float *a, const uint32_t *j, oz_m3 *m) {
  oz_real one;
  (void)oz_matrix_gather_spare(a, a, j, m, &one);
}
#endif

/* v += dv in lanes where the sum is a number below limit (sum of sizes); others stay as they are,
 * so that what broke down in one particle goes no further than its neighbours' corrections. What
 * was no number before becomes zero. */
OZ_FN void oz_add_sane(oz_real *v, oz_v3 dv, float limit) {
  oz_real n[3] = {v[0] + dv.x, v[1] + dv.y, v[2] + dv.z}, most = oz_set(limit), zero = oz_set(0.0f);
  oz_mask sane = oz_abs(n[0]) + oz_abs(n[1]) + oz_abs(n[2]) < most;
  if (oz_any(oz_not(sane))) {
    oz_mask was = oz_abs(v[0]) + oz_abs(v[1]) + oz_abs(v[2]) < most;
    for (int c = 0; c < 3; c++) v[c] = oz_select(was, v[c], zero);
  }
  for (int c = 0; c < 3; c++) v[c] = oz_select(sane, n[c], v[c]);
}
#define OZ_SANE_MOVE 3e4f   /* separations: further in one substep is no motion */
#define OZ_SANE_SPEED 1e12f /* m/s: far beyond what the interface accepts (1e6) */

/* (h - r)^2 / r, in m. Zero beyond h and at r = 0. */
OZ_FN oz_real oz_steepness(const oz_frame *f, oz_v3 r) {
  oz_real r2 = oz_dot(r, r), tiny = oz_set(1e-10f * f->h2), zero = oz_set(0.0f);
  oz_mask apart = r2 > tiny;
  oz_real ir = oz_rsqrt(oz_max(r2, tiny)), t = oz_max(f->h - r2 * ir, zero);
  return oz_select(apart, t * t * ir, zero);
}
#if OZ_GPU
/* (h - r)^2 / r = (h^2 + r^2) / r - 2 h, by one instruction less. The difference leaves some 3e-7 h
 * of error, of what is 0.7 h between neighbours. */
OZ_FN oz_real oz_steepness_at(const oz_frame *f, oz_real r2) {
  return oz_rsqrt(r2) * (r2 + f->h2) - 2.0f * f->h;
}
/* oz_steepness without a test, for pairs of a row: they are within h, and where r = 0 what this is
 * multiplied with is 0 as well. What keeps it from infinity there is lost in r^2 elsewhere. */
OZ_FN oz_real oz_steepness_within(const oz_frame *f, oz_v3 r) {
  return oz_steepness_at(f, oz_square_above(r, oz_set(1e-10f * f->h2)));
}
/* by the same root */
OZ_FN oz_real oz_far_within(const oz_frame *f, oz_v3 r) {
  return oz_dot(r, r) * oz_rsqrt(oz_square_above(r, oz_set(1e-10f * f->h2)));
}
#endif
/* The zero-energy weight grows as 1/r. Below 0.3 d, where steepness is 5.47 h, it stays as it is,
 * so that a coincident pair does not rule its neighbourhood. */
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
/* The same for pairs of a row. Where there is no distance, which is below 1e-5 h as above, there is
 * no weight either. */
OZ_FN oz_v3 oz_spiky_within(const oz_frame *f, oz_v3 r, oz_real *out_c) {
  oz_real s = oz_steepness_within(f, r), k = f->grad_norm * s;
  oz_v3 g = {k * r.x, k * r.y, k * r.z};
  *out_c = f->zero_energy_norm * oz_select(s < oz_set(7.07e4f * f->h),
                                           oz_min(s, oz_set(OZ_STEEPEST * f->h)), oz_set(0.0f));
  return g;
}
#endif
/* The neighbours' start positions, in a stage before these are moved. On the CPU read as the
 * gradients are, so that it is done once. */
OZ_FN void oz_near_start(const oz_frame *f, const oz_group *n, oz_real x[4]) {
#if OZ_GPU
  oz_near4(f->x, n, x);
#else
  oz_near4(f->start, n, x);
#endif
}
/* From a particle at `own` to a neighbour, whose start position is x. */
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
/* What rows keep of a pair: w = d |ghat| / r, a pure number, below 28,000. And back: the group has
 * its ghat = (w / d) (x_j - x_i), c is bounded as above. */
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
OZ_FN oz_real oz_yield(const oz_frame *f, uint32_t i) { /* Pa; 0: none */
  return f->has_yield ? oz_of_matter(f, i, &f->matter->yield_stress) : oz_set(0.0f);
}
/* Pa: of a multiplier. */
OZ_FN float oz_pressure_unit(const oz_frame *f) {
  return f->m_ref * f->d * f->d / (f->V0 * f->dt * f->dt);
}
/* Lanes of fluid among more neighbours than any fluid has (33 at rest): a heap that was put, or
 * pressed, into one spot. */
#define OZ_CROWD 72
OZ_FN oz_mask oz_crowded(const oz_frame *f, uint32_t i) {
  return (oz_words(f->neighbours, i) > OZ_CROWD) & (oz_words(f->owner, i) == 0);
}
/* Lanes of fluid: what belongs neither to a body nor to a boundary. */
OZ_FN oz_mask oz_fluid(const oz_frame *f, uint32_t i) { return oz_words(f->owner, i) == 0; }
/* Lanes of boundary particles. */
OZ_FN oz_mask oz_at_boundary(const oz_frame *f, uint32_t i) {
  return oz_words(f->owner, i) >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY;
}
/* How much a particle counts in the density of its neighbours. Boundary particles have no use for a
 * compliance: it holds this weight. */
OZ_FN oz_real oz_weight(const oz_frame *f, uint32_t i) {
  oz_real one = oz_set(1.0f);
  return f->has_boundary ? oz_select(oz_at_boundary(f, i), oz_boundary_weight(f, i), one) : one;
}
/* Where a particle that has moved to p is: boundary particles along which fluid slips stay where
 * they are (boundary.h). */
OZ_FN oz_v3 oz_held_place(const oz_frame *f, uint32_t i, oz_v3 p) {
  if (!f->has_slip) return p;
  oz_v3 was = oz_vec_ld(f->p, i);
  oz_mask held = oz_at_boundary(f, i);
  oz_v3 r = {oz_select(held, was.x, p.x), oz_select(held, was.y, p.y), oz_select(held, was.z, p.z)};
  return r;
}
/* Lanes (as 0 / -1, or 0 / 1) of particles that have a conformation constraint: fluid with enough
 * neighbours. What belongs to a body or a boundary has none. */
OZ_FN oz_mask oz_enough(const oz_frame *f, uint32_t i) {
  return (oz_words(f->neighbours, i) >= OZ_MIN_NEIGHBOURS) & (oz_words(f->owner, i) == 0);
}
/* Lanes in which K B = I for sure: B is bounded at 1 / 0.3 (gradient), and where its eigenvalues
 * stay below 3.3 it is K's inverse. */
OZ_FN oz_mask oz_whole(const oz_frame *f, const oz_s3 *B) {
  oz_s3 less;
  for (int c = 0; c < 6; c++) less.s[c] = -B->s[c];
  return oz_s3_above(&less, -3.3f) &
         (oz_set((float)(f->gradient_correction & f->is_conformation)) > oz_set(0.5f));
}
/* Lanes with neighbours all around, so that the gradient is to be trusted: thin sheets and spray
 * are not among them. */
OZ_FN oz_mask oz_thick(const oz_frame *f, uint32_t i) {
  oz_s3 B = oz_six_ld(f->B, f->stride, i);
  oz_mask enough = oz_enough(f, i);
  if (!oz_any(oz_not(oz_whole(f, &B)))) return enough;
  oz_s3 K = oz_block6_ld(f->K, f->stride, i);
  oz_m3 KB = oz_s3_mul_s(&K, &B);
  return enough & (oz_min(oz_min(KB.m[0], KB.m[4]), KB.m[8]) > oz_set(0.9f));
}
/* What a particle weighs in the filter on non-affine velocity; light ones have the same strength
 * among themselves. One among heavy ones would be pulled sqrt(omega) times as hard as they are,
 * from omega = 4 on beyond all bounds: so these count by so much more in its gate (gradient). Then
 * omega_i g_i sum_j g_j c is 1 at most, whatever the masses, and the filter's eigenvalues stay what
 * they are in one fluid. */
OZ_FN oz_real oz_filter_weight(const oz_frame *f, uint32_t i) {
  return oz_ld(f->zero_energy_gate, i) * oz_rsqrt(oz_max(oz_ld(f->omega, i), oz_set(1.0f)));
}
/* Lanes that remember their shape. */
OZ_FN oz_mask oz_solid(const oz_frame *f, uint32_t i) {
  oz_real zero = oz_set(0.0f);
  return ((oz_relaxation_time(f, i) > zero) | (oz_yield(f, i) > zero)) & oz_enough(f, i);
}
#endif
