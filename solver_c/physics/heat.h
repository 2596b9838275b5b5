/* Heat: conduction between particles (Cleary & Monaghan 1999; Takahashi et al. 2014, section 3.6)
 * and from walls, melting with latent heat, and material values by temperature
 * (docs/theory/heat.md).
 *
 * The conserved quantity is the enthalpy theta = T + (latent heat / heat capacity) melt, in K.
 * Below the melting point theta is the temperature; then it rises at a constant temperature while
 * melt goes from 0 to 1; then it is the temperature plus a constant. Conduction exchanges theta in
 * equal parts between two particles of a material, so that heat is neither made nor lost. Between
 * materials the conductivity is the harmonic mean, 2 k_i k_j / (k_i + k_j), and heat is shared by
 * volumetric heat capacities.
 *
 * A substep is one step of the Runge-Kutta-Legendre method of first order (Meyer, Balsara, Aslam
 * 2014): s stages, each an explicit exchange, are stable for (s^2 + s) / 2 explicit steps. The host
 * chooses s (models/heat.c).
 *
 * Air takes heat from the free surface, by a film coefficient and by radiation to the ambient
 * temperature. A particle's share of the surface is what its neighbourhood lacks of a full
 * lattice's, walls filled in, over what a particle of a flat surface lacks: by the same idea as
 * tension (tension.h), with the weights c of the exchange. A sheet has two faces then, and a cube
 * of ten particles a side 0.96 of its area.
 *
 * Working memory, free at the end of a substep: dx holds (T, conductivity, weight phi, lack of
 * neighbours), heat_words six words. SPDX-License-Identifier:
 * Apache-2.0 */
#ifndef OZ_PHYSICS_HEAT_H
#define OZ_PHYSICS_HEAT_H

#include "physics/pairs.h"

/* words of heat_words */
enum { OZ_HEAT_START, OZ_HEAT_BEFORE, OZ_HEAT_NOW, OZ_HEAT_WALL, OZ_HEAT_WALL_T, OZ_HEAT_SHARE };

OZ_FN oz_real oz_heat_ld(const oz_frame *f, uint32_t word, uint32_t i) {
  return oz_block_ld(f->heat_words, 6, word, f->stride, i);
}

OZ_FN void oz_heat_st(const oz_frame *f, uint32_t word, uint32_t i, oz_real v) {
  oz_block_st(f->heat_words, 6, word, f->stride, i, v);
}

/* Temperature and melt of theta. `step` is latent heat over heat capacity, in K; `point` the
 * melting point. */
OZ_FN void oz_heat_split(oz_real theta, oz_real point, oz_real step, oz_real *T, oz_real *melt) {
  oz_real zero = oz_set(0.0f), one = oz_set(1.0f), over = theta - point;
  oz_real part = oz_clamp(over / oz_max(step, oz_set(1e-6f)), zero, one);
  *melt = part;
  *T = oz_select(over < zero, theta, oz_select(over > step, theta - step, point));
}

/* ---- heat_begin: theta, and the weights of the exchange. phi raises the second moment of thin
 * neighbourhoods to that of the lattice, twofold at most, and lowers that of crowded ones, which
 * bounds the total exchange of a particle ---- */

typedef struct {
  oz_v3 x;
} oz_heat_begin_self;

OZ_FN void oz_heat_begin_begin(const oz_frame *f, uint32_t i, oz_heat_begin_self *s) {
  (void)f;
  (void)i;
  s->x.x = oz_set(0.0f);
}

OZ_FN void oz_heat_begin_pair(const oz_frame *f, const oz_heat_begin_self *s, const oz_group *n,
                              oz_real *acc) {
  /* c r^2 = arm |ghat| r, and c r = arm |ghat|: so c r^2 = (arm |ghat|)^2 / c */
  (void)s;
  oz_real g2 = oz_dot(n->g, n->g);
  acc[0] += n->c;
  acc[1] += g2 * (f->zero_energy_arm * f->zero_energy_arm * f->inv_d * f->inv_d) /
            oz_max(n->c, oz_set(1e-6f));
}

OZ_FN void oz_heat_begin_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real tiny = oz_set(1e-6f), two = oz_set(2.0f), zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_real phi = oz_min(two, oz_min(f->heat_moment / oz_max(acc[1], tiny),
                                   2.0f * f->heat_sum / oz_max(acc[0], tiny)));
  oz_real k = oz_of_matter(f, i, &f->matter->conductivity),
          point = oz_of_matter(f, i, &f->matter->melting_point);
  oz_real step = oz_of_matter(f, i, &f->matter->melt_step), T = oz_ld(f->temperature, i),
          melt = oz_ld(f->melt, i);
  /* after birth or a change of its temperature: a particle hotter than its melting point is molten
   */
  oz_mask melts = point > zero;
  melt = oz_select(melts,
                   oz_select(T > point, one, oz_select(T < point, zero, oz_clamp(melt, zero, one))),
                   melt);
  oz_real theta = oz_select(melts, T + step * melt, T);
  oz_heat_st(f, OZ_HEAT_START, i, theta);
  oz_heat_st(f, OZ_HEAT_BEFORE, i, theta);
  oz_heat_st(f, OZ_HEAT_NOW, i, theta);
  oz_heat_st(f, OZ_HEAT_WALL, i, zero);
  oz_heat_st(f, OZ_HEAT_WALL_T, i, zero);
  oz_heat_st(f, OZ_HEAT_SHARE, i, oz_of_matter(f, i, &f->matter->heat_share));
  oz_st(f->melt, i, melt);
  oz_v3 send = {T, k, phi};
  oz_real lack = oz_clamp(one - acc[0] * (1.0f / f->heat_sum), zero, one);
  oz_vec_st(f->dx, i, send, lack);
}

/* ---- heat_wall: conduction through the fluid between a wall and the centre of a particle next to
 * it, s away, in series with the contact: 1 / (s / k + 1 / contact) over an area d^2. As k / d, in
 * the units of the exchange between pairs ---- */

OZ_FN void oz_heat_wall_item(const oz_frame *f, uint32_t contact) {
  const size_t i = f->wall_particle[contact];
  const float k = f->dx[4 * i + 1];
  float sum = 0.0f, warm = 0.0f;
  for (uint32_t m = 0; m < f->wall_planes[contact]; m++) {
    const oz_wall *w = f->wall + (size_t)contact * f->contact_planes + m;
    const oz_collider *c = f->collider + w->collider;
    /* full exchange up to half a separation, none beyond one */
    const float s = w->s * f->inv_d, near = 2.0f * (1.0f - s);
    /* share that the wall fills: a face at half a separation, nothing at 1.3. Two faces of a
     * lattice together lack a + b - 0.754 a b */
    const float side = 1.25f * (1.3f - s), fill = f->heat_lack * (side < 0.0f   ? 0.0f
                                                                  : side > 1.4f ? 1.4f
                                                                                : side);
    f->dx[4 * i + 3] = (f->dx[4 * i + 3] - fill) / (1.0f - 0.754f * fill);
    if (!(near > 0.0f) || !(c->contact > 0.0f) || !(k > 0.0f)) continue;
    const float g =
        (near < 1.0f ? near : 1.0f) / ((s > 0.25f ? s : 0.25f) / k + f->inv_d / c->contact);
    sum += g;
    warm += g * c->temperature;
  }
  *oz_block_at(f->heat_words, 6, OZ_HEAT_WALL, f->stride, (uint32_t)i) = sum;
  *oz_block_at(f->heat_words, 6, OZ_HEAT_WALL_T, f->stride, (uint32_t)i) = warm;
}

/* ---- heat_air: the free surface beside the walls. Air and radiation in series with the fluid
 * between the centre of a particle and the surface, half a separation; radiation by its slope
 * eps sigma (T^2 + Ta^2) (T + Ta), which is exact for the two temperatures. Lack of less than a
 * third of a flat surface's is disorder of the interior, not surface ---- */

#define OZ_STEFAN_BOLTZMANN 5.670374e-8f /* W/(m^2 K^4) */

OZ_FN void oz_heat_air_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real v[4], zero = oz_set(0.0f), one = oz_set(1.0f), tiny = oz_set(1e-20f);
  oz_ld4(f->dx, i, 4, 0, v);
  oz_real film = oz_of_matter(f, i, &f->matter->film_coefficient),
          emissivity = oz_of_matter(f, i, &f->matter->emissivity), air = oz_set(f->ambient);
  oz_real T = oz_max(v[0], zero), k = v[1];
  oz_real h = film + OZ_STEFAN_BOLTZMANN * emissivity * (T * T + air * air) * (T + air);
  oz_real faces = v[3] * (1.0f / f->heat_lack);
  oz_real sure = oz_clamp(3.0f * (faces - 0.33f), zero, one);
  oz_real hd = h * f->d;
  /* h d k / (k + h d / 2), over `faces` areas of d^2 */
  oz_real g = sure * oz_max(faces, zero) * hd * k / oz_max(k + 0.5f * hd, tiny);
  g = oz_select((k > zero) & (h > zero), g, zero);
  oz_heat_st(f, OZ_HEAT_WALL, i, oz_heat_ld(f, OZ_HEAT_WALL, i) + g);
  oz_heat_st(f, OZ_HEAT_WALL_T, i, oz_heat_ld(f, OZ_HEAT_WALL_T, i) + g * air);
}

/* ---- heat_flow: one stage: theta_now = mu theta_now + nu theta_before + weight dt / (rho c d^2)
 * (exchange + walls) ---- */

typedef struct {
  float T, k, phi;
} oz_heat_flow_self;

OZ_FN void oz_heat_flow_begin(const oz_frame *f, uint32_t i, oz_heat_flow_self *s) {
  const float *v = f->dx + 4 * (size_t)i;
  s->T = v[0], s->k = v[1], s->phi = v[2];
}

OZ_FN void oz_heat_flow_pair(const oz_frame *f, const oz_heat_flow_self *s, const oz_group *n,
                             oz_real *acc) {
  oz_real v[4];
  oz_near4(f->dx, n, v);
  oz_real k = 2.0f * s->k * v[1] / oz_max(s->k + v[1], oz_set(1e-20f));
  acc[0] += n->c * k * oz_min(v[2], oz_set(s->phi)) * (v[0] - s->T);
}

OZ_FN void oz_heat_flow_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real v[4];
  oz_ld4(f->dx, i, 4, 0, v);
  oz_real now = oz_heat_ld(f, OZ_HEAT_NOW, i), before = oz_heat_ld(f, OZ_HEAT_BEFORE, i);
  oz_real wall = oz_heat_ld(f, OZ_HEAT_WALL_T, i) - oz_heat_ld(f, OZ_HEAT_WALL, i) * v[0];
  oz_real rate = oz_heat_ld(f, OZ_HEAT_SHARE, i) * (f->heat_norm * acc[0] + wall);
  /* boundary particles keep their temperature */
  if (f->has_slip) rate = oz_select(oz_at_boundary(f, i), oz_set(0.0f), rate);
  oz_real next = now + f->heat_nu * (before - now) + f->heat_weight * rate; /* mu = 1 - nu */
  oz_heat_st(f, OZ_HEAT_BEFORE, i, now);
  oz_heat_st(f, OZ_HEAT_NOW, i, next);
}

/* ---- heat_state: temperature and melt of the new theta, for the next stage and, after the last,
 * as state ---- */

OZ_FN void oz_heat_state_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real v[4], T, melt, theta = oz_heat_ld(f, OZ_HEAT_NOW, i);
  oz_real point = oz_of_matter(f, i, &f->matter->melting_point),
          step = oz_of_matter(f, i, &f->matter->melt_step);
  oz_mask melts = point > oz_set(0.0f), good = (theta > oz_set(-1e7f)) & (theta < oz_set(1e7f));
  oz_heat_split(theta, point, step, &T, &melt);
  oz_ld4(f->dx, i, 4, 0, v);
  v[0] = oz_select(good, oz_select(melts, T, theta), v[0]);
  oz_st4(f->dx, i, 4, 0, v);
  oz_st(f->temperature, i, v[0]);
  oz_st(f->melt, i, oz_select(good & melts, melt, oz_ld(f->melt, i)));
}

/* ---- ramp: viscosity and relaxation time by temperature, at the start of a substep. Between two
 * points both are interpolated by their logarithms where they are above 0. A melting material
 * passes its melting point within one kelvin, by melt ---- */

OZ_FN float oz_ramp_between(float a, float b, float t) {
  return a > 0.0f && b > 0.0f ? a * expf(t * logf(b / a)) : a + t * (b - a);
}

OZ_FN void oz_ramp_item(const oz_frame *f, uint32_t i) {
  const oz_matter *m = f->matter + oz_matter_of(f, i);
  const uint32_t n = m->ramp_count;
  uint32_t k = 0;
  if (n == 0) return;
  float T = oz_temperature_of(f, i);
  if (m->melting_point > 0.0f && m->melt_step > 0.0f)
    T += T > m->melting_point   ? 0.5f
         : T < m->melting_point ? -0.5f
                                : (f->melt ? f->melt[i] : 0.0f) - 0.5f;
  while (k + 1 < n && m->ramp[k + 1][0] <= T) k++;
  const float *a = m->ramp[k], *b = m->ramp[k + 1 < n ? k + 1 : k];
  float t = b[0] > a[0] ? (T - a[0]) / (b[0] - a[0]) : 0.0f;
  t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
  f->viscosity[i] = oz_ramp_between(a[1], b[1], t);
  f->relaxation_time[i] = oz_ramp_between(a[2], b[2], t);
}
#endif
