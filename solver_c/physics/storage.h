/* Access to the particle arrays by layout (frame.h): records, planes, blocks, sixes, and the
 * packed forms of the GPU. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_STORAGE_H
#define OZ_PHYSICS_STORAGE_H

#include "physics/algebra.h"
#include "physics/fields.h"

/* ---- vectors: records of 4 ---- */

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

/* ---- planes ---- */

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

/* Word c of n of particle i in blocks. On the CPU the words of sixteen particles lie together, so
 * that a stage walks along a few streams instead of forty; on the GPU those of a thread block, so
 * that one address serves all words of a thread. */
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

/* The symmetric matrices that both projections read most, "sixes": blocks of 6 on the CPU, records
 * of 4 words on the GPU (oz_six_put). oz_six_of: one particle's matrix in all lanes. */
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
/* The multiplier of conformation. During a substep the GPU stores it as a six; oz_lam_told, called
 * by finish, writes the planes that are the result on both backends. */
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

/* The rotation of the neighbourhood, start value of the next iteration; 16 bits a component suffice
 * for that on the GPU. */
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

/* The matrix that neighbours gather. On the CPU records of 12: three columns of three floats and a
 * spare, which carries a value gathered along with it; on the GPU packed into 4 words
 * (oz_packed_ld), with the spare values in an array of their own. */
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

/* m has still to be multiplied by *scale */
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
#endif
