/* Walls in the density constraint: the volume that they fill, and the mirror pressure
 * (docs/theory/walls.md). See wall.h. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_WALL_DENSITY_H
#define OZ_PHYSICS_WALL_DENSITY_H

#include "physics/pairs.h"
#include "physics/rows.h"
#include "physics/wall_planes.h"
#include "physics/wall_points.h"

/* factor on the mirror pressure of models without wall rows, whose walls push with the slope of a
 * half-space */
#define OZ_WALL_MIRROR_PART 0.92f

/* Part of the kernel W that a half-space at signed distance D = q h fills: 693/512 int_q^1
 * (1-t^2)^5 dt; 1/2 at q = 0. */
OZ_FN float oz_half_space(float q) {
  q = oz_minf(oz_maxf(q, -1.0f), 1.0f);
  float t = q * q;
  float sum =
      q * (1.0f + t * (-5.0f / 3.0f +
                       t * (2.0f + t * (-10.0f / 7.0f + t * (5.0f / 9.0f + t * (-1.0f / 11.0f))))));
  return oz_maxf(0.0f, 0.5f - (693.0f / 512.0f) * sum);
}

/* h times the integral of the spiky kernel 15/(pi h^6) (h-r)^3, whose gradient the density uses,
 * over the plane at distance |q| h: 3/2 (1-q)^4 (1+4q). Minus this along n is h times the gradient
 * of the part that a half-space fills. */
OZ_FN float oz_half_space_slope(float q) {
  float a = fabsf(q), w = oz_maxf(0.0f, 1.0f - a);
  return 1.5f * w * w * w * w * (1.0f + 4.0f * a);
}

/* Distances, over h, at which a half-space fills as much, and pushes as much, as the image of a
 * lattice in a wall. Fluid at a wall stands in layers, the first one half a separation off: there a
 * half-space fills 2.5% too much, and pushes 1.6% too little, but the second layer five times too
 * much. With these distances every layer of a lattice has a density of 1 and is in balance; they
 * grow faster than the distance itself, which holds settled fluid in the same place. */
OZ_FN float oz_wall_value_at(const oz_frame *f, float q) {
  return f->is_conformation ? 1.5f * q - 0.0905f : q;
}
OZ_FN float oz_wall_slope_at(const oz_frame *f, float q) {
  return f->is_conformation ? oz_maxf(1.35f * q - 0.0867f, 0.0f) : q;
}

/* wall_density. Two walls that meet overlap behind their edge: together they fill 1 - product of (1
 * - V), exact for square corners through the particle and good to 0.02 beyond. The gradient follows
 * from it. */
/* i: the contact's particle, here and below; y: its displacement */
OZ_FN void oz_wall_density_at(const oz_frame *f, uint32_t contact, uint32_t planes, size_t i,
                              const float y[3]) {
  oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float value[OZ_PLANES], press[OZ_PLANES], n[OZ_PLANES][3] = {{0.0f}},
                                            term[4] = {0.0f, 0.0f, 0.0f, 0.0f}, empty = 1.0f,
                                            inv_h = 1.0f / f->h;
  const int counts = f->wall_density && oz_word(f->owner, i) == 0;
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    value[k] = press[k] = 0.0f;
    if (k >= planes) continue;
    for (int a = 0; a < 3; a++) n[k][a] = wall[k].n[a];
    float q = (wall[k].s + oz_dot3f(n[k], y)) * inv_h;
    int on = counts && wall[k].dense && q < 1.0f;
    value[k] = on ? oz_half_space(oz_wall_value_at(f, q)) : 0.0f;
    /* Where strain pushes pairs with the gradients of the start, the wall does so too. Otherwise it
     * is relatively too strong, and a third more of a light fluid stays on the floor under a heavy
     * one (ooze verify fluids.heavy-on-light). */
    const float at = f->fused_density && wall[k].s < f->h ? wall[k].s * inv_h : q;
    press[k] = on ? f->d * inv_h * oz_half_space_slope(oz_wall_slope_at(f, at)) : 0.0f;
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

OZ_FN void oz_wall_density_of(const oz_frame *f, uint32_t contact, size_t i) {
  const float y[3] = {f->y[4 * i], f->y[4 * i + 1], f->y[4 * i + 2]};
  oz_wall_density_at(f, contact, f->wall_planes[contact], i, y);
}

OZ_FN void oz_wall_density_item(const oz_frame *f, uint32_t contact) {
  oz_wall_density_of(f, contact, f->wall_particle[contact]);
}

/* Share of the trace of K that a half-space fills: 90 int_q^1 (r^3 - q r^2) (1 - r)^2 dr over 3. */
OZ_FN float oz_half_space_moment(float q) {
  q = oz_minf(oz_maxf(q, 0.0f), 1.0f);
  const float q4 = q * q * q * q;
  return 0.5f - q + q4 * (2.5f + q * (-3.0f + q));
}

/* Dilation of a particle near walls, which fill their side of its kernel. */
OZ_FN void oz_wall_dilation(const oz_frame *f, uint32_t contact, size_t i) {
  const oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float trace = 0.0f, g[3], lanes[OZ_PAD];
  if (!f->wall_density || oz_word(f->owner, i) != 0) return;
  for (uint32_t c = 0; c < 3; c++) {
    trace += *oz_block_at(f->K, 6, c, f->stride, (uint32_t)i);
    g[c] = *oz_block_at(f->gradient_sum, 3, c, f->stride, (uint32_t)i);
  }
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= f->wall_planes[contact]) break;
    const float q = wall[k].s / f->h;
    if (!wall[k].dense || !(q < 1.0f)) continue;
    trace += f->k_ref * oz_half_space_moment(q);
    const float press = f->d / (f->h * f->dens_grad) * oz_half_space_slope(q);
    for (int a = 0; a < 3; a++) g[a] -= press * wall[k].n[a];
  }
  const float memory = oz_relaxation_time_of(f, (uint32_t)i);
  const int forgets = memory < OZ_BRIEF_TIME && !(oz_yield_of(f, (uint32_t)i) > 0.0f);
  const oz_real most = oz_dilation_most(oz_set(memory)),
                open = oz_set(forgets ? OZ_DILATION_OPEN : 0.0f);
  oz_st(lanes, 0, oz_dilation(f, oz_set(trace), oz_set(oz_dot3f(g, g)), most, open));
  f->dilation[i] = lanes[0];
}

/* Distances below a quarter of a separation count as that: contact keeps fluid further away. */
#define OZ_ROW_NEAREST 0.25f

/* The share theta of a wall, and the distance over which fluid shears towards it. K: of the
 * particle, over that of a lattice; start: its distance.
 *
 * In fluid several layers deep theta is s / d, up to one separation: theta d / s then adds up to 1
 * over layers that stand a separation apart, wherever the first one stands, so that fluid under the
 * same stress everywhere is in balance with the wall. A film of one layer, or less, has no gradient
 * across it but the wall's. Its thickness is h = sigma d, sigma the layer's density, and a film
 * that drains feels 3 mu u / h: that is theta 1 and s = sigma d / sqrt(3). A film that thins out
 * slows down, and stays. In a film of two layers the first one's gradient towards the second would
 * leave no stress between them, and the film would run half again too fast: theta 1 and
 * s = sigma d sqrt(5 / 12) give both layers their means in a film that drains. two: the part of
 * that (oz_film_of_two). Returns the part of both films. */
OZ_FN float oz_row_film(const oz_frame *f, const float K[6], const float n[3], float start,
                        float two, float *s, float *share) {
  const float x = start / f->d, reach = oz_minf(1.0f, oz_maxf(0.0f, (1.1f - x) * (1.0f / 0.2f))),
              across = oz_row_across(K, n), along = K[0] + K[1] + K[2] - across;
  const float more = oz_film_deep(across), deep = more * (1.0f - two),
              thin = (1.0f - more) * 0.57735f + more * 0.6455f, sigma = oz_film_sigma(along);
  *share = (deep * x + (1.0f - deep)) * reach;
  *s = (deep * x + (1.0f - deep) * thin * sigma) * f->d;
  return (1.0f - deep) * reach;
}

OZ_FN oz_wall_row oz_no_row(void) {
  oz_wall_row none;
  __builtin_memset(&none, 0, sizeof none);
  none.slides = none.points_film = 1.0f;
  return none;
}

/* The wall of a contact in the strain of its particle (wall_row.h): of several the one that fills
 * most. Friction is its share. */
OZ_FN void oz_wall_row_made(const oz_frame *f, uint32_t contact, size_t i) {
  const oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  oz_wall_row row = oz_no_row();
  float most = 0.0f, K[6];
  for (uint32_t c = 0; c < 6; c++)
    K[c] = 3.0f / f->k_ref * *oz_block_at(f->K, 6, c, f->stride, (uint32_t)i);
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= f->wall_planes[contact]) break;
    const float n[3] = {wall[k].n[0], wall[k].n[1], wall[k].n[2]},
                u[3] = {wall[k].u[0], wall[k].u[1], wall[k].u[2]},
                start = oz_maxf(wall[k].s + f->dt * oz_dot3f(n, u), OZ_ROW_NEAREST * f->d);
    float s, share, film = oz_row_film(f, K, n, start, oz_film_of_two(f, i, n, start), &s, &share);
    row.film = oz_maxf(row.film, film);
    share *= wall[k].friction;
    if (!(share > most)) continue;
    most = share;
    row.b = f->d / s, row.plane = k;
    row.slides = oz_row_slides(f, i, n, u, wall[k].stick, start), row.sucks = oz_row_sucks(f, i);
    for (int a = 0; a < 3; a++) row.w[a] = share * n[a], row.goal[a] = row.b * u[a];
  }
  if (f->has_boundary) oz_points_made(f, contact, i, &row);
  f->wall_row[contact] = row;
  if (!(row.b > 0.0f || row.points_c > 0.0f)) return;
#if OZ_GPU
  oz_real p[3];
  const oz_mask on = oz_three_get(f->precond_eigenvalues->v, (uint32_t)i, p);
  const float more = oz_row_bound(f, &row, f->omega[i], oz_maxf(p[0], oz_maxf(p[1], p[2])));
  for (int c = 0; c < 3; c++) p[c] += more;
  oz_three_put(f->precond_eigenvalues->v, (uint32_t)i, p, on);
#else
  float *p[3], greatest = 0.0f;
  for (uint32_t c = 0; c < 3; c++) {
    p[c] = oz_block_at(f->precond_eigenvalues, 4, c, f->stride, (uint32_t)i);
    greatest = oz_maxf(greatest, *p[c]);
  }
  const float more = oz_row_bound(f, &row, f->omega[i], greatest);
  for (int c = 0; c < 3; c++) *p[c] += more;
#endif
}

/* wall_rows, after gradient: walls in the strain and in the dilation of the particles next to them.
 */
OZ_FN void oz_wall_rows_item(const oz_frame *f, uint32_t contact) {
  const size_t i = f->wall_particle[contact];
  if (f->dilates) oz_wall_dilation(f, contact, i);
  if (f->wall_slip) f->wall_slip[contact].part = 0.0f;
  if (oz_takes_row(f, i))
    oz_wall_row_made(f, contact, i);
  else
    f->wall_row[contact] = oz_no_row();
}

/* wall_press, after density_lambda (multiplier in dx.w): load of the density constraint on the
 * wall. The particle moves by d omega lambda times the wall's gradient, so its mass cancels. */
OZ_FN void oz_wall_pressed(const oz_frame *f, uint32_t contact, uint32_t planes, size_t i,
                           float lam) {
  const oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float *impulse = f->wall_impulse + (size_t)contact * f->contact_planes * 3, now[OZ_PLANES * 3];
  float scale = f->m_ref * f->d * f->inv_dt * lam;
  /* no pressure */
  if (!(f->omega[i] > 0.0f) || scale == 0.0f) return;
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    for (uint32_t a = 0; a < 3; a++)
      now[3 * k + a] = impulse[3 * k + a] + scale * wall[k].press * wall[k].n[a];
  }
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    for (uint32_t a = 0; a < 3; a++) impulse[3 * k + a] = now[3 * k + a];
  }
}

OZ_FN void oz_wall_press_of(const oz_frame *f, uint32_t contact, size_t i) {
  oz_wall_pressed(f, contact, f->wall_planes[contact], i, f->dx[4 * i + 3]);
}

OZ_FN void oz_wall_press_item(const oz_frame *f, uint32_t contact) {
  oz_wall_press_of(f, contact, f->wall_particle[contact]);
}

/* wall_mirror: mirror pressure at walls. Each particle near a wall stands for a mirror particle
 * behind it. density_move acts on the wall with the particle's own multiplier only; that is half of
 * the pressure of mirror particles, (lambda_i + lambda_j) grad W each. With this half alone, fluid
 * under pressure is pushed towards walls, where only contact stops it, and a light fluid stays
 * under a heavy one; and the layer next to an upright wall, which lacks neighbours, hangs on the
 * others.
 *
 * So this stage, before density_move, adds the other half: along the wall pair by pair, so that
 * momentum is kept; towards it the wall's own push with the mean multiplier of the mirror
 * particles, which counts as a load. The mirror particle of j is sqrt(r^2 + 4 D_i D_j) away. A
 * particle beyond half of h sees only its own mirror particle, if any. The stage is cut into parts
 * because a backend with several threads to a row sums the pairs in its own way. */
typedef struct oz_mirror { /* particle i in front of one of its planes */
  float at[3], lam;
  float n[3], D;
} oz_mirror;

#define OZ_MIRROR_SUMS 5

OZ_FN int oz_mirror_open(const oz_frame *f, size_t i, oz_mirror *m) {
  const float *own = f->dx + 4 * i;
  for (int a = 0; a < 3; a++) m->at[a] = own[a];
  m->lam = own[3];
  return f->wall_density && f->omega[i] > 0.0f;
}

/* Selects plane w; x: start position of the particle. Returns 1 if mirror particles of others must
 * be summed. */
OZ_FN int oz_mirror_plane(const oz_frame *f, const float x[3], const oz_wall *w, oz_mirror *m) {
  const float y[3] = {m->at[0] - x[0], m->at[1] - x[1], m->at[2] - x[2]};
  for (int a = 0; a < 3; a++) m->n[a] = w->n[a];
  m->D = oz_maxf(w->s + oz_dot3f(m->n, y), 0.0f);
  return 0.5f * f->h - m->D > 0.0f;
}

/* v: a neighbour's record, position and multiplier. */
OZ_FN void oz_mirror_pair(const oz_frame *f, const oz_mirror *m, const oz_real *v, oz_real *acc) {
  const oz_real zero = oz_set(0.0f), tiny = oz_set(1e-10f * f->h2);
  const float *n = m->n;
  oz_real rx = m->at[0] - v[0], ry = m->at[1] - v[1], rz = m->at[2] - v[2],
          r2 = rx * rx + ry * ry + rz * rz;
  oz_real along = rx * n[0] + ry * n[1] + rz * n[2], Dj = oz_max(m->D - along, zero),
          mirror2 = r2 + (4.0f * m->D) * Dj;
  oz_mask on =
      (mirror2 < oz_set(f->h2)) & (Dj < oz_set(0.5f * f->h)) & (r2 > zero) & oz_not(v[3] > zero);
  oz_real inv = oz_rsqrt_fast(oz_max(mirror2, tiny)), t = f->h - mirror2 * inv,
          slope = oz_select(on, t * t * inv, zero);
  oz_real part = slope * (m->D + Dj), g = slope * (m->lam + v[3]);
  acc[0] += part;
  acc[1] += part * v[3];
  acc[2] += g * (rx - along * n[0]);
  acc[3] += g * (ry - along * n[1]);
  acc[4] += g * (rz - along * n[2]);
}

/* Push of the mirror pressure off one plane with the gradient `press`. sum: of all pairs, if
 * `others`. */
OZ_FN float oz_mirror_push(const oz_frame *f, const oz_mirror *m, float press, int others,
                           const float *sum) {
  const float near = 0.5f * f->h - m->D, self = 4.0f * near * near; /* its own mirror particle, 2 D
                                                                     * away */
  const float mean = others ? (sum[1] + self * m->lam) / (sum[0] + self) : m->lam;
  return (f->is_conformation ? 1.0f : OZ_WALL_MIRROR_PART) * mean * press;
}

/* The effect along one axis on the particle's move, and on the wall. n: normal; along: sum over
 * pairs, if `others`. */
OZ_FN void oz_mirror_axis(const oz_frame *f, float push, float n, int others, float along,
                          float *impulse, float *move) {
  const float scale = f->grad_norm * f->dens_grad, load = f->m_ref * f->d * f->inv_dt * push;
  if (others) *move += scale * along;
  *impulse += load * n;
  *move -= push * n;
}

OZ_FN float oz_mirror_moved(const oz_frame *f, float omega, float y, float move) {
  return y + f->d * omega * move;
}

/* The effect along all axes; the impulse is stored. */
OZ_FN void oz_mirror_apply(const oz_frame *f, const oz_mirror *m, float press, int others,
                           const float *sum, float *impulse, float move[3]) {
  const float push = oz_mirror_push(f, m, press, others, sum);
  float now[3] = {impulse[0], impulse[1], impulse[2]};
  for (int a = 0; a < 3; a++)
    oz_mirror_axis(f, push, m->n[a], others, sum[2 + a], now + a, move + a);
  for (int a = 0; a < 3; a++) impulse[a] = now[a];
}

OZ_FN void oz_mirror_close(const oz_frame *f, size_t i, const float move[3]) {
  const float omega = f->omega[i], now[3] = {f->y[4 * i], f->y[4 * i + 1], f->y[4 * i + 2]};
  for (size_t a = 0; a < 3; a++) f->y[4 * i + a] = oz_mirror_moved(f, omega, now[a], move[a]);
}

OZ_FN void oz_wall_mirror_item(const oz_frame *f, uint32_t contact) {
  const size_t i = f->wall_particle[contact];
  const uint32_t planes = f->wall_planes[contact], length = f->start_length[i];
  const oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float move[3] = {0.0f, 0.0f, 0.0f}, sum[OZ_MIRROR_SUMS];
  oz_mirror m;
  if (!oz_mirror_open(f, i, &m)) return;
  for (uint32_t k = 0; k < planes; k++) {
    oz_real acc[OZ_MIRROR_SUMS];
    if (!wall[k].dense) continue;
    const int others = oz_mirror_plane(f, f->x + 4 * i, wall + k, &m);
    for (int s = 0; s < OZ_MIRROR_SUMS; s++) acc[s] = oz_set(0.0f);
    /* rows are padded with the particle itself */
    for (uint32_t e = 0; others && e < length; e += OZ_LANES) {
      uint32_t j[OZ_LANES];
      oz_real v[4];
      for (uint32_t c = 0; c < OZ_LANES; c++) j[c] = oz_neighbour(f, i, e + c);
      oz_gather4(f->dx, j, 4, 0, v);
      oz_mirror_pair(f, &m, v, acc);
    }
    for (int s = 0; s < OZ_MIRROR_SUMS; s++) sum[s] = oz_sum(acc[s]);
    oz_mirror_apply(f, &m, wall[k].press, others, sum,
                    f->wall_impulse + ((size_t)contact * f->contact_planes + k) * 3, move);
  }
  oz_mirror_close(f, i, move);
}

#endif
