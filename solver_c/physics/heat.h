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
 * temperature. A particle's share of the surface follows from the first moment of the weights c:
 * between two layers their sum is the same wherever the layers are, so that a crowded surface has
 * no less of it than the lattice's. The lack of weights, which a crowded surface does not have,
 * serves for sheets and threads only, whose moment is 0.
 *
 * Working memory, free at the end of a substep: dx holds (T, conductivity, weight phi, lack of
 * neighbours), y2 (moment, share of a surface particle), wall_term (normal, share of its moment),
 * heat_words six words. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_HEAT_H
#define OZ_PHYSICS_HEAT_H

#include "physics/pairs.h"

/* words of heat_words */
enum { OZ_HEAT_FREE, OZ_HEAT_BEFORE, OZ_HEAT_NOW, OZ_HEAT_WALL, OZ_HEAT_WALL_T, OZ_HEAT_SHARE };

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
  acc[2] += n->g.x;
  acc[3] += n->g.y;
  acc[4] += n->g.z;
}

/* Share of a surface particle, by its moment over a flat surface's: 0 up to the first, 1 from the
 * second on. Below a crowded surface there are 0.15. */
#define OZ_HEAT_INSIDE 0.15f
#define OZ_HEAT_OUTER 0.5f

OZ_FN oz_real oz_heat_outer(oz_v3 m) {
  oz_real size = oz_sqrt(oz_dot(m, m));
  return oz_clamp((size - OZ_HEAT_INSIDE) * (1.0f / (OZ_HEAT_OUTER - OZ_HEAT_INSIDE)), oz_set(0.0f),
                  oz_set(1.0f));
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
  oz_heat_st(f, OZ_HEAT_BEFORE, i, theta);
  oz_heat_st(f, OZ_HEAT_NOW, i, theta);
  oz_heat_st(f, OZ_HEAT_WALL, i, zero);
  oz_heat_st(f, OZ_HEAT_WALL_T, i, zero);
  oz_heat_st(f, OZ_HEAT_SHARE, i, oz_of_matter(f, i, &f->matter->heat_share));
  oz_st(f->melt, i, melt);
  oz_v3 send = {T, k, phi};
  oz_real lack = oz_clamp(one - acc[0] * (1.0f / f->heat_sum), zero, one);
  oz_vec_st(f->dx, i, send, lack);
  /* outwards, in areas d^2: over the lattice's moment through a plane */
  const float scale = -f->zero_energy_arm * f->inv_d * f->heat_norm;
  oz_v3 m = {scale * acc[2], scale * acc[3], scale * acc[4]};
  oz_vec_st(f->y2, i, m, oz_heat_outer(m));
}

/* ---- heat_wall: conduction through the fluid between a wall and the centre of a particle next to
 * it, s away, in series with the contact: 1 / (s / k + 1 / contact) over an area d^2. As k / d, in
 * the units of the exchange between pairs ---- */

OZ_FN float oz_heat_wall_side(float s) { /* s: in separations */
  const float side = 1.25f * (1.3f - s);
  return side < 0.0f ? 0.0f : side > 1.4f ? 1.4f : side;
}

/* A wall is no free surface: it gives the moment of the half-space that it fills, to a film on it
 * in whole, and nothing beyond 0 to fluid whose moment points into a wall next to it. A particle
 * beside a wall misses a fifth of its neighbours below as well, whose moment lies along the wall.
 */
OZ_FN void oz_heat_wall_moment(const oz_frame *f, uint32_t contact, size_t i) {
  const oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  const float scale = f->zero_energy_arm * f->heat_norm / f->h;
  float m[3] = {f->y2[4 * i], f->y2[4 * i + 1], f->y2[4 * i + 2]};
  for (uint32_t k = 0; k < f->wall_planes[contact]; k++) {
    const float more = 1.0f / (1.0f - 0.2f * oz_heat_wall_side(wall[k].s * f->inv_d));
    const float into = (1.0f - more) * oz_dot3f(m, wall[k].n);
    for (int a = 0; a < 3; a++) m[a] = more * m[a] + into * wall[k].n[a];
  }
  for (uint32_t k = 0; k < f->wall_planes[contact]; k++) {
    const float was = oz_dot3f(m, wall[k].n), q = wall[k].s / f->h;
    /* distance at which it pushes as much as the image of a lattice (oz_wall_slope_at) */
    const float fill = scale * oz_half_space_slope(oz_maxf(1.35f * q - 0.0867f, 0.0f));
    float now = was + fill;
    if (wall[k].s < 1.1f * f->d && was < 0.0f) now = oz_maxf(fill * (1.0f + 1.3f * was), 0.0f);
    for (int a = 0; a < 3; a++) m[a] += (now - was) * wall[k].n[a];
  }
  const float outer = (sqrtf(oz_dot3f(m, m)) - OZ_HEAT_INSIDE) / (OZ_HEAT_OUTER - OZ_HEAT_INSIDE);
  for (size_t a = 0; a < 3; a++) f->y2[4 * i + a] = m[a];
  f->y2[4 * i + 3] = outer < 0.0f ? 0.0f : outer > 1.0f ? 1.0f : outer;
}

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
    const float fill = f->heat_lack * oz_heat_wall_side(s);
    f->dx[4 * i + 3] = (f->dx[4 * i + 3] - fill) / (1.0f - 0.754f * fill);
    if (!(near > 0.0f) || !(c->contact > 0.0f) || !(k > 0.0f)) continue;
    const float g =
        (near < 1.0f ? near : 1.0f) / ((s > 0.25f ? s : 0.25f) / k + f->inv_d / c->contact);
    sum += g;
    warm += g * c->temperature;
  }
  oz_heat_wall_moment(f, contact, i);
  *oz_block_at(f->heat_words, 6, OZ_HEAT_WALL, f->stride, (uint32_t)i) = sum;
  *oz_block_at(f->heat_words, 6, OZ_HEAT_WALL_T, f->stride, (uint32_t)i) = warm;
}

/* ---- heat_free: the normal of the free surface, from the moments around a particle, which tell a
 * surface from the disorder of an interior as well. Along it each moment is shared by the surface
 * particles around, by their weights, so that the sum stays: the layer below a crowded one has a
 * moment into the fluid, and sunken and raised particles are one surface ---- */

/* weight of the own moment among those around, and of the share that a particle keeps, in lattice
 * sums */
#define OZ_HEAT_OWN 0.3f
#define OZ_HEAT_KEEP 0.6f

OZ_SELF_NONE(heat_free)

OZ_FN void oz_heat_free_pair(const oz_frame *f, const oz_heat_free_self *s, const oz_group *n,
                             oz_real *acc) {
  oz_real v[4];
  (void)s;
  oz_near4(f->y2, n, v);
  for (int k = 0; k < 4; k++) acc[k] += n->c * v[k];
}

OZ_FN void oz_heat_free_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real m[4], zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_ld4(f->y2, i, 4, 0, m);
  const float own = OZ_HEAT_OWN * f->heat_sum;
  oz_v3 sum = {acc[0] + own * m[0], acc[1] + own * m[1], acc[2] + own * m[2]};
  oz_real size2 = oz_dot(sum, sum), unit = oz_rsqrt(oz_max(size2, oz_set(1e-20f)));
  oz_v3 normal = {unit * sum.x, unit * sum.y, unit * sum.z}, none = {zero, zero, zero};
  /* over a flat surface's, whose particles have 1 - 2 heat_lack of the weights beside them */
  const float flat = f->heat_sum * (1.0f - 2.0f * f->heat_lack + OZ_HEAT_OWN);
  oz_real sure = oz_clamp(5.0f * (size2 * unit * (1.0f / flat) - 0.3f), zero, one);
  oz_real out = m[0] * normal.x + m[1] * normal.y + m[2] * normal.z;
  const float few = 0.05f * f->heat_sum;
  oz_real takers = acc[3] + OZ_HEAT_KEEP * f->heat_sum * m[3];
  oz_real give = out / oz_max(takers, oz_set(few));
  oz_mask known = sure > zero;
  none.x = oz_select(known, normal.x, zero);
  none.y = oz_select(known, normal.y, zero);
  none.z = oz_select(known, normal.z, zero);
  oz_vec_st(f->wall_term, i, none, oz_select(takers > oz_set(few), give, zero));
  oz_heat_st(f, OZ_HEAT_FREE, i, sure);
}

/* ---- heat_air: area of the free surface, and its exchange. Air and radiation in series with the
 * fluid between the centre of a particle and the surface, half a separation; radiation by its slope
 * eps sigma (T^2 + Ta^2) (T + Ta), which is exact for the two temperatures ---- */

#define OZ_STEFAN_BOLTZMANN 5.670374e-8f /* W/(m^2 K^4) */

/* Separations by which the surface lies outside of the moments (Steiner): with 0.33, lattice balls
 * from a radius of 6 and cylinders have up to 1.05 of their area, a cube of ten 0.96. */
#define OZ_HEAT_OUTSIDE 0.33f

typedef struct {
  float n[3];
} oz_heat_air_self;

OZ_FN void oz_heat_air_begin(const oz_frame *f, uint32_t i, oz_heat_air_self *s) {
  for (size_t k = 0; k < 3; k++) s->n[k] = f->wall_term[4 * (size_t)i + k];
}

OZ_FN void oz_heat_air_pair(const oz_frame *f, const oz_heat_air_self *s, const oz_group *n,
                            oz_real *acc) {
  oz_real v[4], zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_near4(f->wall_term, n, v);
  /* how far the normals turn on the way to neighbours of the same face */
  oz_v3 to = {v[0], v[1], v[2]}, turn = {s->n[0] - v[0], s->n[1] - v[1], s->n[2] - v[2]};
  oz_real same = s->n[0] * v[0] + s->n[1] * v[1] + s->n[2] * v[2];
  oz_real w = oz_clamp(same + 0.5f, zero, one) * oz_dot(to, to); /* 0 without a normal */
  oz_real up = s->n[0] * n->g.x + s->n[1] * n->g.y + s->n[2] * n->g.z;
  const float arm = f->zero_energy_arm;
  acc[0] += n->c * v[3];
  acc[1] -= w * arm * oz_dot(n->g, turn);
  acc[2] += w * (0.5f * arm * arm) * (oz_dot(n->g, n->g) - up * up) / oz_max(n->c, oz_set(1e-6f));
}

/* Area of the free surface over d^2. acc: as above. */
OZ_FN oz_real oz_heat_area(const oz_frame *f, uint32_t i, oz_real lack, const oz_real *acc) {
  oz_real zero = oz_set(0.0f), one = oz_set(1.0f), m[4], n[4];
  oz_ld4(f->y2, i, 4, 0, m);
  oz_ld4(f->wall_term, i, 4, 0, n);
  oz_real area = acc[0] + OZ_HEAT_KEEP * f->heat_sum * n[3];
  area = oz_heat_ld(f, OZ_HEAT_FREE, i) * m[3] * oz_max(area, zero);
  const float least = 0.1f * f->d * f->d / f->heat_norm; /* a tenth of a plane's */
  oz_real bend = f->d * acc[1] / oz_max(acc[2], oz_set(least));
  area *= one + OZ_HEAT_OUTSIDE * oz_clamp(bend, oz_set(-0.5f), oz_set(1.5f));
  /* sheets and threads: much lack, little moment. The cylinder of a thread's volume has a little
   * more area than the lack */
  oz_real faces = lack * (1.0f / f->heat_lack);
  oz_real size = oz_sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
  oz_real round = faces * (one + 0.07f * oz_max(faces - 2.0f, zero));
  oz_real thin = oz_clamp((faces - 1.4f) * (1.0f / 0.3f), zero, one) *
                 oz_clamp((faces - 2.6f * size) * (1.0f / 0.3f), zero, one);
  return area + thin * oz_max(round - area, zero);
}

OZ_FN void oz_heat_air_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real v[4], zero = oz_set(0.0f), tiny = oz_set(1e-20f);
  oz_ld4(f->dx, i, 4, 0, v);
  oz_real film = oz_of_matter(f, i, &f->matter->film_coefficient),
          emissivity = oz_of_matter(f, i, &f->matter->emissivity), air = oz_set(f->ambient);
  oz_real T = oz_max(v[0], zero), k = v[1];
  oz_real h = film + OZ_STEFAN_BOLTZMANN * emissivity * (T * T + air * air) * (T + air);
  oz_real hd = h * f->d;
  /* h d k / (k + h d / 2), over areas of d^2 */
  oz_real g = oz_heat_area(f, i, v[3], acc) * hd * k / oz_max(k + 0.5f * hd, tiny);
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
