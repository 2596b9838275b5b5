/* 3-vectors, 3x3 matrices (row major), symmetric matrices (xx yy zz xy xz yz) and quaternions (x y
 * z w) over lanes. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_ALGEBRA_H
#define OZ_PHYSICS_ALGEBRA_H

#include "physics/lanes.h"

typedef struct {
  oz_real x, y, z;
} oz_v3;

typedef struct {
  oz_real m[9];
} oz_m3;

typedef struct {
  oz_real s[6];
} oz_s3;

typedef struct {
  oz_real x, y, z, w;
} oz_q4;

OZ_FN oz_real oz_dot(oz_v3 a, oz_v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

OZ_FN oz_v3 oz_m3_v(const oz_m3 *a, oz_v3 v) {
  oz_v3 r;
  r.x = a->m[0] * v.x + a->m[1] * v.y + a->m[2] * v.z;
  r.y = a->m[3] * v.x + a->m[4] * v.y + a->m[5] * v.z;
  r.z = a->m[6] * v.x + a->m[7] * v.y + a->m[8] * v.z;
  return r;
}

OZ_FN oz_v3 oz_s3_v(const oz_s3 *a, oz_v3 v) {
  oz_v3 r;
  r.x = a->s[0] * v.x + a->s[3] * v.y + a->s[4] * v.z;
  r.y = a->s[3] * v.x + a->s[1] * v.y + a->s[5] * v.z;
  r.z = a->s[4] * v.x + a->s[5] * v.y + a->s[2] * v.z;
  return r;
}

/* w v v^T on six sums, in the order of oz_s3. */
OZ_FN void oz_tensor_add(oz_real *acc, oz_real w, oz_v3 v) {
  acc[0] += w * v.x * v.x;
  acc[1] += w * v.y * v.y;
  acc[2] += w * v.z * v.z;
  acc[3] += w * v.x * v.y;
  acc[4] += w * v.x * v.z;
  acc[5] += w * v.y * v.z;
}

OZ_FN oz_m3 oz_s3_full(const oz_s3 *a) {
  const oz_real *s = a->s;
  oz_m3 r = {{s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]}};
  return r;
}

OZ_FN oz_s3 oz_m3_sym(const oz_m3 *a) {
  oz_s3 r;
  r.s[0] = a->m[0];
  r.s[1] = a->m[4];
  r.s[2] = a->m[8];
  r.s[3] = 0.5f * (a->m[1] + a->m[3]);
  r.s[4] = 0.5f * (a->m[2] + a->m[6]);
  r.s[5] = 0.5f * (a->m[5] + a->m[7]);
  return r;
}

OZ_FN oz_real oz_s3_trace(const oz_s3 *a) { return a->s[0] + a->s[1] + a->s[2]; }

/* The symmetric part without its mean. */
OZ_FN oz_s3 oz_m3_deviator(const oz_m3 *a) {
  oz_s3 e = oz_m3_sym(a);
  oz_real mean = oz_s3_trace(&e) * (1.0f / 3.0f);
  for (int c = 0; c < 3; c++) e.s[c] -= mean;
  return e;
}

OZ_FN oz_m3 oz_m3_mul(const oz_m3 *a, const oz_m3 *b) {
  oz_m3 r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      r.m[3 * i + j] =
          a->m[3 * i] * b->m[j] + a->m[3 * i + 1] * b->m[3 + j] + a->m[3 * i + 2] * b->m[6 + j];
  return r;
}

OZ_FN oz_m3 oz_m3_mul_t(const oz_m3 *a, const oz_m3 *b) { /* a b^T */
  oz_m3 r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      r.m[3 * i + j] = a->m[3 * i] * b->m[3 * j] + a->m[3 * i + 1] * b->m[3 * j + 1] +
                       a->m[3 * i + 2] * b->m[3 * j + 2];
  return r;
}

OZ_FN oz_m3 oz_m3_mul_s(const oz_m3 *a, const oz_s3 *b) {
  oz_m3 f = oz_s3_full(b);
  return oz_m3_mul(a, &f);
}

OZ_FN oz_m3 oz_s3_mul_s(const oz_s3 *a, const oz_s3 *b) {
  oz_m3 f = oz_s3_full(a);
  return oz_m3_mul_s(&f, b);
}

OZ_FN oz_real oz_det(const oz_m3 *a) {
  const oz_real *m = a->m;
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
         m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/* Frobenius product: off-diagonals count twice. */
OZ_FN oz_real oz_s3_dot(const oz_s3 *a, const oz_s3 *b) {
  return a->s[0] * b->s[0] + a->s[1] * b->s[1] + a->s[2] * b->s[2] +
         2.0f * (a->s[3] * b->s[3] + a->s[4] * b->s[4] + a->s[5] * b->s[5]);
}

OZ_FN oz_s3 oz_s3_identity(void) {
  oz_s3 r;
  for (int c = 0; c < 6; c++) r.s[c] = oz_set(c < 3 ? 1.0f : 0.0f);
  return r;
}

OZ_FN oz_s3 oz_s3_select(oz_mask m, const oz_s3 *a, const oz_s3 *b) {
  oz_s3 r;
  for (int c = 0; c < 6; c++) r.s[c] = oz_select(m, a->s[c], b->s[c]);
  return r;
}

/* The symmetric product of a and b: six of nine sums. */
OZ_FN oz_s3 oz_m3_mul_sym(const oz_m3 *a, const oz_m3 *b) {
  static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
  oz_s3 r;
  for (int c = 0; c < 6; c++)
    r.s[c] = a->m[3 * I[c]] * b->m[J[c]] + a->m[3 * I[c] + 1] * b->m[3 + J[c]] +
             a->m[3 * I[c] + 2] * b->m[6 + J[c]];
  return r;
}

OZ_FN oz_m3 oz_m3_transpose(const oz_m3 *a) {
  oz_m3 r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r.m[3 * i + j] = a->m[3 * j + i];
  return r;
}

OZ_FN oz_s3 oz_s3_rotate(const oz_s3 *a, const oz_m3 *r) { /* R A R^T */
  oz_m3 back = oz_m3_transpose(r), t = oz_m3_mul_s(r, a);
  return oz_m3_mul_sym(&t, &back);
}

OZ_FN oz_s3 oz_s3_rotate_back(const oz_s3 *a, const oz_m3 *r) { /* R^T A R */
  oz_m3 back = oz_m3_transpose(r), t = oz_m3_mul_s(&back, a);
  return oz_m3_mul_sym(&t, r);
}

OZ_FN oz_m3 oz_q4_matrix(oz_q4 q) {
  oz_m3 r;
  oz_real xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  r.m[0] = 1.0f - 2.0f * (yy + zz);
  r.m[1] = 2.0f * (q.x * q.y - q.z * q.w);
  r.m[2] = 2.0f * (q.x * q.z + q.y * q.w);
  r.m[3] = 2.0f * (q.x * q.y + q.z * q.w);
  r.m[4] = 1.0f - 2.0f * (xx + zz);
  r.m[5] = 2.0f * (q.y * q.z - q.x * q.w);
  r.m[6] = 2.0f * (q.x * q.z - q.y * q.w);
  r.m[7] = 2.0f * (q.y * q.z + q.x * q.w);
  r.m[8] = 1.0f - 2.0f * (xx + yy);
  return r;
}

OZ_FN oz_q4 oz_q4_mul(oz_q4 a, oz_q4 b) {
  oz_q4 r;
  r.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z;
  r.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y;
  r.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x;
  r.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w;
  return r;
}

OZ_FN oz_q4 oz_q4_unit(oz_q4 q) {
  oz_real k = oz_rsqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  q.x *= k;
  q.y *= k;
  q.z *= k;
  q.w *= k;
  return q;
}

/* Eigenvalues w and the frame U (as a rotation) of a symmetric matrix, a = U diag(w) U^T: cyclic
 * Jacobi with a fixed number of sweeps, one path for all lanes. Four sweeps bring any 3x3 to single
 * precision; the frame is orthonormal after any number. */
OZ_FN void oz_s3_eigen(const oz_s3 *a, int sweeps, oz_real w[3], oz_m3 *u) {
  oz_real d[3], o[3]; /* o: 01, 02, 12 */
  oz_m3 v;
  for (int k = 0; k < 3; k++) d[k] = a->s[k], o[k] = a->s[3 + k];
  for (int k = 0; k < 9; k++) v.m[k] = oz_set(k % 4 == 0 ? 1.0f : 0.0f);
  for (int sweep = 0; sweep < sweeps; sweep++)
    for (int k = 0; k < 3; k++) {
      /* rotation in the plane (p, q); r is the third axis. pr and qr are the off-diagonals that it
       * mixes */
      const int p = k == 2 ? 1 : 0, q = k == 0 ? 1 : 2;
      const int pr = k == 0 ? 1 : 0, qr = k == 2 ? 1 : 2;
      oz_real apq = o[k], tiny = 1e-12f * (oz_abs(d[p]) + oz_abs(d[q])) + 1e-36f;
      oz_mask on = oz_abs(apq) > tiny;
      oz_real theta = (d[q] - d[p]) / (2.0f * oz_select(on, apq, oz_set(1.0f)));
      oz_real t = 1.0f / (oz_abs(theta) + oz_sqrt(theta * theta + 1.0f));
      t = oz_select(theta < oz_set(0.0f), -t, t);
      t = oz_select(on, t, oz_set(0.0f));
      oz_real c = oz_rsqrt(t * t + 1.0f), s = t * c;
      d[p] -= t * apq;
      d[q] += t * apq;
      o[k] = oz_select(on, oz_set(0.0f), apq);
      oz_real op = k == 0 ? o[pr] : k == 1 ? o[0] : o[0]; /* a_pr */
      oz_real oq = k == 0 ? o[qr] : k == 1 ? o[2] : o[1]; /* a_qr */
      oz_real np = c * op - s * oq, nq = s * op + c * oq;
      if (k == 0)
        o[1] = np, o[2] = nq;
      else if (k == 1)
        o[0] = np, o[2] = nq;
      else
        o[0] = np, o[1] = nq;
      for (int i = 0; i < 3; i++) {
        oz_real vp = v.m[3 * i + p], vq = v.m[3 * i + q];
        v.m[3 * i + p] = c * vp - s * vq;
        v.m[3 * i + q] = s * vp + c * vq;
      }
    }
  for (int k = 0; k < 3; k++) w[k] = d[k];
  *u = v;
}

OZ_FN oz_s3 oz_s3_inverse(const oz_s3 *a) {
  const oz_real *s = a->s;
  oz_s3 r;
  r.s[0] = s[1] * s[2] - s[5] * s[5];
  r.s[1] = s[0] * s[2] - s[4] * s[4];
  r.s[2] = s[0] * s[1] - s[3] * s[3];
  r.s[3] = s[4] * s[5] - s[3] * s[2];
  r.s[4] = s[3] * s[5] - s[4] * s[1];
  r.s[5] = s[3] * s[4] - s[5] * s[0];
  oz_real k = 1.0f / (s[0] * r.s[0] + s[3] * r.s[3] + s[4] * r.s[4]);
  for (int c = 0; c < 6; c++) r.s[c] *= k;
  return r;
}

/* Lanes with all eigenvalues above `floor`: the leading minors of a - floor I (Sylvester). */
OZ_FN oz_mask oz_s3_above(const oz_s3 *a, float floor) {
  const oz_real *s = a->s;
  oz_real x = s[0] - floor, y = s[1] - floor, z = s[2] - floor, zero = oz_set(0.0f);
  oz_real m2 = x * y - s[3] * s[3];
  oz_real m3 = z * m2 - x * s[5] * s[5] - y * s[4] * s[4] + 2.0f * s[3] * s[4] * s[5];
  return (x > zero) & (m2 > zero) & (m3 > zero);
}

OZ_FN oz_s3 oz_s3_compose(const oz_real w[3], const oz_m3 *u) { /* U diag(w) U^T */
  oz_m3 t;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) t.m[3 * i + j] = u->m[3 * i + j] * w[j];
  t = oz_m3_mul_t(&t, u);
  return oz_m3_sym(&t);
}

/* The inverse, with eigenvalues bounded at 0.3: thin neighbourhoods. */
OZ_FN oz_s3 oz_s3_inverse_bounded(const oz_s3 *K) {
  oz_mask whole = oz_s3_above(K, 0.3f);
  oz_s3 B = oz_s3_inverse(K);
  if (oz_any(oz_not(whole))) {
    oz_real k[3];
    oz_m3 U;
    oz_s3_eigen(K, 4, k, &U);
    for (int c = 0; c < 3; c++) k[c] = 1.0f / oz_max(k[c], oz_set(0.3f));
    oz_s3 bounded = oz_s3_compose(k, &U);
    B = oz_s3_select(whole, &B, &bounded);
  }
  return B;
}

/* The quaternion of a rotation matrix, by the largest of four equal forms (Shepperd), chosen per
 * lane. */
OZ_FN oz_q4 oz_q4_of(const oz_m3 *r) {
  const oz_real *m = r->m;
  oz_real t0 = 1.0f + m[0] + m[4] + m[8], t1 = 1.0f + m[0] - m[4] - m[8];
  oz_real t2 = 1.0f - m[0] + m[4] - m[8], t3 = 1.0f - m[0] - m[4] + m[8];
  oz_q4 q = {m[7] - m[5], m[2] - m[6], m[3] - m[1], t0};
  oz_real best = t0;
  oz_mask on = t1 > best;
  best = oz_select(on, t1, best);
  q.w = oz_select(on, m[7] - m[5], q.w), q.x = oz_select(on, t1, q.x);
  q.y = oz_select(on, m[3] + m[1], q.y), q.z = oz_select(on, m[2] + m[6], q.z);
  on = t2 > best;
  best = oz_select(on, t2, best);
  q.w = oz_select(on, m[2] - m[6], q.w), q.x = oz_select(on, m[3] + m[1], q.x);
  q.y = oz_select(on, t2, q.y), q.z = oz_select(on, m[7] + m[5], q.z);
  on = t3 > best;
  q.w = oz_select(on, m[3] - m[1], q.w), q.x = oz_select(on, m[2] + m[6], q.x);
  q.y = oz_select(on, m[7] + m[5], q.y), q.z = oz_select(on, t3, q.z);
  return oz_q4_unit(q);
}

/* The rotation nearest to a, warm started from q (Mueller et al. 2016, "A robust method to extract
 * the rotational part of deformations"). Same fixed point, two changes: the half-angle form (w, 1)
 * instead of the exponential map, no sine; and 3/2 of his step, which is the exact Newton step for
 * an unstretched a (his divides by 3 where 2 is meant) and stays below the limit 2 for any stretch.
 */
OZ_FN oz_q4 oz_polar(const oz_m3 *a, oz_q4 q, int iterations) {
  const oz_real *A = a->m;
  for (int it = 0; it < iterations; it++) {
    oz_m3 R = oz_q4_matrix(q);
    const oz_real *r = R.m;
    oz_real ox = r[3] * A[6] - r[6] * A[3] + r[4] * A[7] - r[7] * A[4] + r[5] * A[8] - r[8] * A[5];
    oz_real oy = r[6] * A[0] - r[0] * A[6] + r[7] * A[1] - r[1] * A[7] + r[8] * A[2] - r[2] * A[8];
    oz_real oz = r[0] * A[3] - r[3] * A[0] + r[1] * A[4] - r[4] * A[1] + r[2] * A[5] - r[5] * A[2];
    oz_real den = r[0] * A[0] + r[1] * A[1] + r[2] * A[2] + r[3] * A[3] + r[4] * A[4] +
                  r[5] * A[5] + r[6] * A[6] + r[7] * A[7] + r[8] * A[8];
    oz_real k = 0.75f / (oz_abs(den) + 1e-30f);
    oz_q4 w = {k * ox, k * oy, k * oz, oz_set(1.0f)};
    q = oz_q4_unit(oz_q4_mul(w, q));
  }
  return q;
}
#endif
