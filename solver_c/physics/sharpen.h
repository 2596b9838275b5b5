/* Sharpening (docs/theory/sharpening.md): a drawn thread of relaxing fluid enters strain into its
 * stretch as it would be without the mean over neighbours that a gradient is. Stages between the
 * position phase and conform_update or law_update. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_SHARPEN_H
#define OZ_PHYSICS_SHARPEN_H

#include "physics/projection.h"
#include "physics/strain.h"

#define OZ_SHARPEN 16.0f     /* times the strain less its neighbours' mean */
#define OZ_SHARPEN_MOST 0.5f /* strain that is added in a substep, as a norm */
/* From where on, and how fast, a / (1 + a) lets it: the implicit step knows only of the strain that
 * gradients see, and more of it makes a stiff substep swing. Dough between plates burst. */
#define OZ_SHARPEN_SOFT 4.0f
#define OZ_SHARPEN_FROM 0.05f

/* ---- strain_send: the strain of the substep, for the neighbours; the spare is 1 of those that
 * have one ---- */

OZ_SUM_OUTER(strain_send, y)

OZ_FN void oz_strain_send_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_m3 R, S, F;
  oz_q4 rot;
  oz_turned_own own;
  oz_real size = oz_set(0.0f), zero = oz_set(0.0f);
  oz_turned_take(f, i, &own);
  oz_corotate(f, i, acc, &own, &rot, &R, &F, &S);
  for (int c = 0; c < 9; c++) size += oz_abs(S.m[c]);
  oz_mask good = oz_enough(f, i) & (size < oz_set(1e3f));
  for (int c = 0; c < 9; c++) S.m[c] = oz_select(good, S.m[c], zero);
  oz_real counts = oz_select(good, oz_set(1.0f), zero);
  oz_matrix_st_spare(f->A, i, &S, counts);
  oz_st(f->density_near_sum, i, counts);
}

/* ---- sharpen: Q turned by (I + D) Q (I + D)^T, D the strain less its neighbours' mean ---- */

OZ_SELF_NONE(sharpen)

OZ_FN void oz_sharpen_pair(const oz_frame *f, const oz_sharpen_self *s, const oz_group *n,
                           oz_real *acc) {
  (void)s;
  oz_m3 S;
  oz_real scale, c = n->c * oz_matrix_gather_spare(f->A, f->density_near_sum, n->j, &S, &scale);
  oz_real k = c * scale;
  for (int e = 0; e < 9; e++) acc[e] += k * S.m[e];
  acc[9] += c;
}

/* a where stiffening and a second mode make stress steeper. Their square: dough of 1 mm throws
 * particles with less. */
OZ_FN oz_real oz_sharpen_compliance(const oz_frame *f, uint32_t i, const oz_s3 *Q, oz_real a) {
  oz_real stiff = oz_set(1.0f);
  if (f->laws & OZ_LAW_EXTENDS) {
    oz_real most, trace = oz_s3_trace(Q);
    oz_mask on = oz_extends(f, i, &most);
    oz_real steep = most / (most - oz_min(trace, OZ_EXTENDED * most));
    stiff = oz_select(on, oz_stiffening(trace, most) * steep, stiff);
  }
  if (f->laws & OZ_LAW_SECOND) stiff += oz_second_share(f, i, a);
  return a / (stiff * stiff);
}

/* D in the frame of the substep's start, in which Q is. k: its factor. */
OZ_FN oz_m3 oz_sharpening(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real k) {
  oz_m3 D, R = oz_q4_matrix(oz_turn_ld(f->rotation, f->stride, i)), back, turned;
  oz_real zero = oz_set(0.0f), least = oz_set(1e-20f), inv = 1.0f / oz_max(acc[9], least),
          square = zero;
  oz_mask on = acc[9] > zero;
  oz_matrix_ld(f->A, i, &D);
  for (int c = 0; c < 9; c++) {
    D.m[c] = oz_select(on, k * (D.m[c] - inv * acc[c]), zero);
    square += D.m[c] * D.m[c];
  }
  oz_real most = oz_set(OZ_SHARPEN_MOST * OZ_SHARPEN_MOST);
  oz_real cut =
      oz_select(square > most, OZ_SHARPEN_MOST * oz_rsqrt(oz_max(square, least)), oz_set(1.0f));
  for (int c = 0; c < 9; c++) D.m[c] *= cut, back.m[c] = R.m[c / 3 + 3 * (c % 3)];
  turned = oz_m3_mul(&D, &R);
  return oz_m3_mul(&back, &turned);
}

OZ_FN void oz_sharpen_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_s3 Q = oz_planes6_ld(f->q, f->stride, i), dev = Q;
  oz_real far = oz_set(0.0f), zero = oz_set(0.0f), one = oz_set(1.0f), w[3];
  (void)oz_s3_take_mean(&dev);
  for (int c = 0; c < 6; c++) far = oz_max(far, oz_abs(dev.s[c]));
  oz_mask on = oz_enough(f, i) & (far > oz_set(OZ_DRAWN_FROM));
  if (!oz_any(on)) return;
  oz_real a = oz_ld(f->a, i) / oz_inv_q_ld(f, i), tau = oz_drawn_time(f, i, a);
  oz_m3 U;
  oz_s3_eigen(&Q, 4, w, &U);
  oz_tensile t = oz_tensile_of(f, i, w, a, tau);
  on &= tau < oz_set(OZ_SOLID_TIME);
  oz_real met = oz_sharpen_compliance(f, i, &Q, a);
  oz_real soft = oz_clamp(OZ_SHARPEN_SOFT * (met / (one + met) - OZ_SHARPEN_FROM), zero, one);
  oz_real k = oz_select(on, OZ_SHARPEN * soft * t.thread * oz_min(t.pull, one), zero);
  oz_m3 D = oz_sharpening(f, i, acc, k);
  oz_s3 sharp = oz_transport(&Q, &D);
  on &= oz_s3_trace(&sharp) < oz_set(1e20f); /* and no NaN */
  Q = oz_s3_select(on & (k > zero), &sharp, &Q);
  oz_planes6_st(f->q, f->stride, i, &Q);
}
#endif
