/* Walls in the density constraint: the volume that they fill, and the images of the fluid behind them. See wall.h. */
#ifndef OZ_PHYSICS_WALL_DENSITY_H
#define OZ_PHYSICS_WALL_DENSITY_H

#include "physics/rows.h"
#include "physics/wall_planes.h"

#define OZ_WALL_IMAGE 0.98f /* of what images push: with 1 slabs of four densities float 0.7% of their draught too high, on the mean */

/* What a half-space at signed distance D = q h fills of the poly6 kernel: 315/256 int_q^1 (1-t^2)^4 dt; 1/2 at q = 0.
 */
OZ_FN float oz_half_space(float q) {
  q = oz_minf(oz_maxf(q, -1.0f), 1.0f);
  float t = q * q;
  float sum = q * (1.0f + t * (-4.0f / 3.0f + t * (6.0f / 5.0f + t * (-4.0f / 7.0f + t * (1.0f / 9.0f)))));
  return oz_maxf(0.0f, 0.5f - (315.0f / 256.0f) * sum);
}
/* h times the integral of the spiky kernel 15/(pi h^6) (h-r)^3, whose gradient the density uses, over the plane at
 * distance |q| h: 3/2 (1-q)^4 (1+4q). Minus this along n is h times the gradient of what a half-space fills. */
OZ_FN float oz_half_space_slope(float q) {
  float a = fabsf(q), w = oz_maxf(0.0f, 1.0f - a);
  return 1.5f * w * w * w * w * (1.0f + 4.0f * a);
}
/* Two walls that meet overlap behind their edge: what they fill together is 1 - product of (1 - V), exact for square
 * corners through the particle and good to 0.02 beyond. The gradient follows. */
OZ_FN void oz_wall_density_item(const oz_frame *f, uint32_t slot) {
  const size_t i = f->wall_particle[slot];
  const uint32_t planes = f->wall_planes[slot];
  oz_wall *wall = f->wall + (size_t)slot * OZ_PLANES;
  const float y[3] = {f->y[4 * i], f->y[4 * i + 1], f->y[4 * i + 2]};
  float value[OZ_PLANES], press[OZ_PLANES], n[OZ_PLANES][3] = {{0.0f}}, term[4] = {0.0f, 0.0f, 0.0f, 0.0f}, empty = 1.0f, inv_h = 1.0f / f->h;
  const int counts = f->wall_density && f->owner[i] == 0;
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    value[k] = press[k] = 0.0f;
    if (k >= planes) continue;
    for (int a = 0; a < 3; a++) n[k][a] = wall[k].n[a];
    float q = (wall[k].s + oz_dot3f(n[k], y)) * inv_h;
    int on = counts && wall[k].dense && q < 1.0f;
    value[k] = on ? oz_half_space(q) : 0.0f;
    press[k] = on ? f->d * inv_h * oz_half_space_slope(q) : 0.0f;
    empty *= 1.0f - value[k];
  }
  term[3] = 1.0f - empty;
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    for (uint32_t m = 0; m < OZ_PLANES; m++)
      if (m != k && m < planes) press[k] *= 1.0f - value[m];
    for (int a = 0; a < 3; a++) term[a] -= press[k] * n[k][a];
    wall[k].press = press[k];
  }
  for (int a = 0; a < 4; a++) f->wall_term[4 * i + (size_t)a] = term[a];
}
/* After density_lambda (multiplier in dx's w): what the density constraint's push off the wall puts on it. The particle
 * is moved by d omega lambda times the wall's gradient, so its mass cancels. */
OZ_FN void oz_wall_press_item(const oz_frame *f, uint32_t slot) {
  const size_t i = f->wall_particle[slot];
  const oz_wall *wall = f->wall + (size_t)slot * OZ_PLANES;
  float *impulse = f->wall_impulse + (size_t)slot * OZ_PLANES * 3, now[OZ_PLANES * 3];
  const uint32_t planes = f->wall_planes[slot];
  float scale = f->m_ref * f->d * f->inv_dt * f->dx[4 * i + 3];
  /* nobody pushes */
  if (!(f->omega[i] > 0.0f) || scale == 0.0f) return;
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    for (uint32_t a = 0; a < 3; a++) now[3 * k + a] = impulse[3 * k + a] + scale * wall[k].press * wall[k].n[a];
  }
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    for (uint32_t a = 0; a < 3; a++) impulse[3 * k + a] = now[3 * k + a];
  }
}

/* Fluid near a wall has its image behind it. density_move knows the wall by the particle's own multiplier alone; that is
 * half of what images do, (lambda_i + lambda_j) grad W of each: with it alone fluid under pressure is pushed towards walls,
 * where nothing but contact holds it, a light one under a heavy one for ever; and the layer next to an upright wall, which lacks
 * neighbours, hangs on the others. So here, before density_move: along the wall what images do, pair by pair, so that
 * momentum is kept; towards it the wall's own push with the mean of the images' multipliers, which counts as a load. An image of
 * j is sqrt(r^2 + 4 D_i D_j) away. Beyond half of h a particle has only its own image, if any. */
OZ_FN void oz_wall_mirror_item(const oz_frame *f, uint32_t slot) {
  const size_t i = f->wall_particle[slot];
  const uint32_t planes = f->wall_planes[slot], length = f->len_c[i];
  const oz_wall *wall = f->wall + (size_t)slot * OZ_PLANES;
  const float *x = f->x + 4 * i, *own = f->dx + 4 * i, at[3] = {own[0], own[1], own[2]}, lam = own[3], half = 0.5f * f->h;
  const oz_real zero = oz_set(0.0f), tiny = oz_set(1e-10f * f->h2);
  float *impulse = f->wall_impulse + (size_t)slot * OZ_PLANES * 3, move[3] = {0.0f, 0.0f, 0.0f};
  if (!f->wall_density || !(f->omega[i] > 0.0f)) return;
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    const oz_wall *w = wall + k;
    const float n[3] = {w->n[0], w->n[1], w->n[2]}, y[3] = {at[0] - x[0], at[1] - x[1], at[2] - x[2]};
    const float D = oz_maxf(w->s + oz_dot3f(n, y), 0.0f), near = half - D;
    float mean = lam;
    if (!w->dense) continue;
    if (near > 0.0f) {
      oz_real weight = zero, sum = zero, ax = zero, ay = zero, az = zero;
      for (uint32_t m = 0; m < length; m += OZ_LANES) { /* rows end with the particle itself, as often as it takes */
        uint32_t j[OZ_LANES];
        oz_real v[4];
        for (uint32_t c = 0; c < OZ_LANES; c++) j[c] = oz_neighbour(f, i, m + c);
        oz_gather4(f->dx, j, 4, 0, v);
        oz_real rx = at[0] - v[0], ry = at[1] - v[1], rz = at[2] - v[2], r2 = rx * rx + ry * ry + rz * rz;
        oz_real along = rx * n[0] + ry * n[1] + rz * n[2], Dj = oz_max(D - along, zero), image = r2 + (4.0f * D) * Dj;
        oz_mask on = (image < oz_set(f->h2)) & (Dj < oz_set(half)) & (r2 > zero) & oz_not(v[3] > zero);
        oz_real inv = oz_rsqrt_fast(oz_max(image, tiny)), t = f->h - image * inv, slope = oz_select(on, t * t * inv, zero);
        oz_real part = slope * (D + Dj), g = slope * (lam + v[3]);
        weight += part;
        sum += part * v[3];
        ax += g * (rx - along * n[0]); ay += g * (ry - along * n[1]); az += g * (rz - along * n[2]);
      }
      const float self = 4.0f * near * near, scale = f->grad_norm * f->dens_grad; /* self: its own image, 2 D away */
      mean = (oz_sum(sum) + self * lam) / (oz_sum(weight) + self);
      move[0] += scale * oz_sum(ax), move[1] += scale * oz_sum(ay), move[2] += scale * oz_sum(az);
    }
    const float push = OZ_WALL_IMAGE * mean * w->press, load = f->m_ref * f->d * f->inv_dt * push;
    const float now[3] = {impulse[3 * k], impulse[3 * k + 1], impulse[3 * k + 2]};
    for (uint32_t a = 0; a < 3; a++) impulse[3 * k + a] = now[a] + load * n[a];
    for (int a = 0; a < 3; a++) move[a] -= push * n[a];
  }
  const float scale = f->d * f->omega[i], now[3] = {f->y[4 * i], f->y[4 * i + 1], f->y[4 * i + 2]};
  for (size_t a = 0; a < 3; a++) f->y[4 * i + a] = now[a] + scale * move[a];
}

#endif
