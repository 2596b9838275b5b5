/* Rigid bodies: particles that keep their shape (shape matching, Mueller et al. 2005), in the same
 * density and viscosity sums as the fluid around them (docs/theory/bodies.md): a body moves rigidly
 * by the pushes of the fluid's constraints on its particles.
 *
 * - Velocities: conjugate gradients need a symmetric operator. The motion of a body's particles is
 *   projected onto the rigid motions in the metric of mass, dx <- V + W x r (body_push,
 * body_carry); a projection keeps the operator symmetric and can only lower the bound of the
 * relaxation.
 * - Positions: after every iteration the reference shape is fitted to the current positions
 *   (body_match), which keeps linear and angular momentum, and the particles go to their places in
 *   it (body_place).
 * - Contact with walls and other bodies: by impulses on the whole body, because a push on one
 *   particle that the fit shares out among all would hardly move it (body_touch, body_wall,
 *   body_shift).
 * - Rotation: a free body keeps its angular momentum exactly; the rotation of a substep uses the
 *   inertia half way through it (body_drive, body_end).
 * - Poses: particles of a driven body have infinite mass (body_hold).
 * - Sticking and clinging: see body_cling.h.
 *
 * The state of a body is that of its particles; oz_body_state is derived from them at the start of
 * every substep. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_BODY_H
#define OZ_PHYSICS_BODY_H

#include "physics/body_cling.h"

/* contacts that share the load where particles of soft bodies touch other bodies */
#define OZ_SOFT_CONTACTS 4.0
/* d: a gap smaller than this counts as a contact in the number of contacts */
#define OZ_BODY_NEAR 0.2f
OZ_FN double oz_body_mass_of(const oz_frame *f, uint32_t i) {
  return f->omega[i] > 0.0f ? (double)f->m_ref / (double)f->omega[i] : 0.0;
}

OZ_FN void oz_body_rest_of(const oz_frame *f, uint32_t i, double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = (double)f->owner_place[(size_t)k * f->stride + i];
}

/* ---- body_clear, body_find: the particle of each member slot, by id ---- */

OZ_FN void oz_body_clear_item(const oz_frame *f, uint32_t slot) { f->member[slot] = OZ_NO_MEMBER; }

OZ_FN void oz_body_find_item(const oz_frame *f, uint32_t i) {
  if (oz_word(f->owner, i) == 0 || oz_owner_kind(oz_word(f->owner, i)) == OZ_OWNER_BOUNDARY) return;
  const int64_t b = oz_body_index(f, oz_word(f->owner, i));
  if (b < 0) return;
  /* an id below first_id wraps around to a large number */
  const uint64_t k = f->id[i] - f->body[b].first_id;
  if (k < f->body[b].count) f->member[f->body[b].first + (uint32_t)k] = i;
}

/* ---- body_hold: held particles of driven bodies. Infinite mass, and the velocity that leads to
 * the place at the end of the substep ---- */

OZ_FN void oz_body_hold_item(const oz_frame *f, uint32_t slot) {
  const uint32_t i = f->member[slot];
  if (i == OZ_NO_MEMBER) return;
  const int64_t at = oz_body_index(f, oz_word(f->owner, i));
  if (at < 0 || !f->body[at].driven) return;
  const oz_body *b = f->body + at;
  float place[3], to[3], *x = f->x + 4 * (size_t)i, *u = f->u + 4 * (size_t)i;
  for (int k = 0; k < 3; k++) place[k] = f->owner_place[(size_t)k * f->stride + i];
  if (!(oz_dot3f(place, place) <= b->held2)) return;
  oz_pose_out(b->p1, b->q1, place, to);
  for (int k = 0; k < 3; k++) u[k] = (to[k] - x[k]) * f->inv_dt;
  f->omega[i] = x[3] = 0.0f;
}

/* ---- body_start: the state from the particles, with forces already in their velocities ---- */

OZ_FN void oz_body_start_pair(const oz_frame *f, uint32_t b, uint32_t i, double *acc) {
  double rest[3];
  (void)b;
  oz_body_rest_of(f, i, rest);
  oz_body_add(acc, oz_body_mass_of(f, i), f->x + 4 * (size_t)i, f->u + 4 * (size_t)i, rest);
}

OZ_FN void oz_body_start_end(const oz_frame *f, uint32_t b, const double *acc) {
  oz_body_state *s = f->body_state + b;
  s->contacts = 0.0;
  s->live = oz_body_solve(acc, s) && f->body[b].kind == OZ_OWNER_RIGID;
}

/* ---- body_push, body_carry: dx of the velocity solve projected onto rigid motion ---- */

OZ_FN void oz_body_moment(const oz_frame *f, uint32_t i, const float *v, const double c[3],
                          const float *at, double *acc) {
  const double m = oz_body_mass_of(f, i), d[3] = {(double)v[0], (double)v[1], (double)v[2]};
  double r[3], t[3];
  for (int k = 0; k < 3; k++) r[k] = (double)at[k] - c[k];
  oz_cross3(r, d, t);
  for (int k = 0; k < 3; k++) acc[k] += m * d[k], acc[3 + k] += m * t[k];
}

OZ_FN void oz_body_push_pair(const oz_frame *f, uint32_t b, uint32_t i, double *acc) {
  oz_body_moment(f, i, f->dx + 4 * (size_t)i, f->body_state[b].c0, f->x + 4 * (size_t)i, acc);
}

OZ_FN void oz_body_push_end(const oz_frame *f, uint32_t b, const double *acc) {
  oz_body_state *s = f->body_state + b;
  if (!s->live) return;
  for (int k = 0; k < 3; k++) s->v[k] = acc[k] / s->mass;
  oz_sym_v(s->inverse, acc + 3, s->w);
}

/* Particle and body of a member slot; 0 if the particle is missing or the body is not rigid. */
OZ_FN int oz_body_member(const oz_frame *f, uint32_t slot, uint32_t *i, uint32_t *b) {
  *i = f->member[slot];
  if (*i == OZ_NO_MEMBER) return 0;
  const int64_t at = oz_body_index(f, oz_word(f->owner, *i));
  *b = (uint32_t)at;
  return at >= 0 && f->body_state[at].live && f->omega[*i] > 0.0f;
}

OZ_FN void oz_body_carry_item(const oz_frame *f, uint32_t slot) {
  uint32_t i, b;
  if (!oz_body_member(f, slot, &i, &b)) return;
  const oz_body_state *s = f->body_state + b;
  double r[3], t[3];
  for (int k = 0; k < 3; k++) r[k] = (double)f->x[4 * (size_t)i + (size_t)k] - s->c0[k];
  oz_cross3(s->w, r, t);
  for (int k = 0; k < 3; k++) f->dx[4 * (size_t)i + (size_t)k] = (float)(s->v[k] + t[k]);
}

/* ---- body_drive: the pose at the end of the substep by the velocities ---- */

OZ_FN void oz_body_drive_pair(const oz_frame *f, uint32_t b, uint32_t i, double *acc) {
  oz_body_moment(f, i, f->u + 4 * (size_t)i, f->body_state[b].c0, f->x + 4 * (size_t)i, acc);
}

OZ_FN void oz_body_drive_end(const oz_frame *f, uint32_t b, const double *acc) {
  oz_body_state *s = f->body_state + b;
  double w[3], half[3], by[4], turn[3];
  const double dt = (double)f->dt;
  if (!s->live) return;
  oz_sym_v(s->inverse, acc + 3, w);
  for (int it = 0; it < 3; it++) { /* the spin half way that belongs to this angular momentum */
    for (int k = 0; k < 3; k++) half[k] = 0.5 * dt * w[k];
    oz_quat_exp(half, by);
    oz_body_spin(s, by, acc + 3, w);
  }
  for (int k = 0; k < 3; k++) s->c[k] = s->c0[k] + dt * acc[k] / s->mass, turn[k] = dt * w[k];
  oz_quat_exp(turn, by);
  oz_quat_mul(by, s->q0, s->q);
}

/* ---- body_match: the pose that fits the current positions best ---- */

OZ_FN void oz_body_match_pair(const oz_frame *f, uint32_t b, uint32_t i, double *acc) {
  const double m = oz_body_mass_of(f, i);
  double rest[3];
  oz_body_rest_of(f, i, rest);
  for (int k = 0; k < 3; k++) {
    const double p = (double)f->p[4 * (size_t)i + (size_t)k] - f->body_state[b].c0[k];
    acc[k] += m * p;
    for (int c = 0; c < 3; c++)
      acc[3 + 3 * k + c] += m * p * (rest[c] - f->body_state[b].rest_centre[c]);
  }
}

OZ_FN void oz_body_match_end(const oz_frame *f, uint32_t b, const double *acc) {
  oz_body_state *s = f->body_state + b;
  double sum = 0.0;
  for (int k = 0; k < 12; k++) sum += fabs(acc[k]);
  if (!s->live || !(sum < 1e100))
    return; /* a body with non-finite sums stays at the pose of
             * body_drive */
  for (int k = 0; k < 3; k++) s->c[k] = s->c0[k] + acc[k] / s->mass;
  oz_horn(acc + 3, s->q); /* the centre drops out: the reference is relative to its own */
}

OZ_FN void oz_body_place_item(const oz_frame *f, uint32_t slot) {
  uint32_t i, b;
  if (!oz_body_member(f, slot, &i, &b)) return;
  const oz_body_state *s = f->body_state + b;
  double rest[3], at[3];
  float *y = f->y + 4 * (size_t)i, *p = f->p + 4 * (size_t)i;
  const float *x = f->x + 4 * (size_t)i;
  oz_body_rest_of(f, i, rest);
  for (int k = 0; k < 3; k++) rest[k] -= s->rest_centre[k];
  oz_turn3(s->q, rest, at);
  for (int k = 0; k < 3; k++) {
    y[k] = (float)(s->c[k] + at[k] - (double)x[k]);
    p[k] = x[k] + y[k];
  }
}

/* ---- contact ---- */

/* 1/kg: inverse effective mass of a body against a push along n at p: 1/M + (r x n) . I^-1 (r x
 * n). */
OZ_FN double oz_body_give(const oz_body_state *s, const double by[4], const float p[3],
                          const double n[3]) {
  double r[3], t[3], w[3];
  for (int k = 0; k < 3; k++) r[k] = (double)p[k] - s->c[k];
  oz_cross3(r, n, t);
  oz_body_spin(s, by, t, w);
  return 1.0 / s->mass + oz_dot3(t, w);
}

/* The impulse (kg m) along n that opens a gap by `depth`, and the one that holds the slip `slip`
 * back within Coulomb's cone; each of `many` contacts gives its share. */
OZ_FN void oz_body_impulse(double depth, const double n[3], double give, const double slip[3],
                           double friction, double many, double out[3]) {
  double sn = oz_dot3(slip, n), t[3], l2 = 0.0, push = depth / give / many;
  for (int k = 0; k < 3; k++) t[k] = slip[k] - sn * n[k], l2 += t[k] * t[k];
  double l = sqrt(l2), hold = l / give / many, most = friction * push;
  if (hold > most) hold = most;
  for (int k = 0; k < 3; k++) out[k] = push * n[k] - (l > 1e-12 ? hold * t[k] / l : 0.0);
}

/* One side of a contact: a whole rigid body, or one particle of a soft one. */
typedef struct oz_toucher {
  const oz_body_state *rigid; /* NULL: soft */
  double by[4], inv_mass, share, friction;
} oz_toucher;

OZ_FN oz_toucher oz_toucher_none(void) {
  oz_toucher t = {NULL, {0.0, 0.0, 0.0, 1.0}, 0.0, 0.0, 0.0};
  return t;
}

OZ_FN int oz_toucher_of(const oz_frame *f, uint32_t i, oz_toucher *t) {
  const uint32_t kind = oz_owner_kind(oz_word(f->owner, i));
  const int64_t b =
      kind == OZ_OWNER_RIGID || kind == OZ_OWNER_SOFT ? oz_body_index(f, oz_word(f->owner, i)) : -1;
  if (b < 0 || !(f->omega[i] > 0.0f)) return 0;
  t->inv_mass = 1.0 / oz_body_mass_of(f, i);
  t->friction = (double)f->body[b].friction;
  t->rigid = kind == OZ_OWNER_RIGID ? f->body_state + b : NULL;
  t->share = t->rigid ? t->rigid->contacts : OZ_SOFT_CONTACTS;
  if (!t->rigid) return 1;
  oz_body_turned(t->rigid, t->by);
  return t->rigid->live != 0;
}

OZ_FN double oz_toucher_give(const oz_toucher *t, const float p[3], const double n[3]) {
  return t->rigid ? oz_body_give(t->rigid, t->by, p, n) : t->inv_mass;
}

/* True if one of entries m to m + OZ_WALL_AHEAD of a row belongs to another body or to a boundary.
 * Most are fluid: a GPU thread has several loads in flight. */
OZ_FN int oz_body_meets(const oz_frame *f, uint32_t i, uint32_t m, uint32_t length) {
  const uint32_t own = oz_word(f->owner, i);
  uint32_t j[OZ_WALL_AHEAD];
  int some = 0;
  for (uint32_t e = 0; e < OZ_WALL_AHEAD; e++)
    j[e] = oz_neighbour(f, i, m + e < length ? m + e : m);
  for (uint32_t e = 0; e < OZ_WALL_AHEAD; e++) {
    const uint32_t owner = oz_word(f->owner, j[e]);
    some |= owner != 0 && owner != own;
  }
  return some;
}

/* body_touch, with other bodies and boundary particles: spheres of one separation. dx: the impulse
 * over the particle's mass; dx.w: number of contacts. Both sides compute the same impulse, so
 * momentum is kept. */
OZ_FN void oz_body_touch_item(const oz_frame *f, uint32_t slot) {
  const uint32_t i = f->member[slot];
  oz_toucher me = oz_toucher_none(), it = me;
  if (i == OZ_NO_MEMBER || !oz_toucher_of(f, i, &me)) return;
  float *dx = f->dx + 4 * (size_t)i;
  const float *p = f->p + 4 * (size_t)i, *y = f->y + 4 * (size_t)i;
  double sum[3] = {0.0, 0.0, 0.0};
  float many = 0.0f;
  const uint32_t length = f->start_length[i];
  for (uint32_t m = 0; m < length; m++) {
    if (m % OZ_WALL_AHEAD == 0 && !oz_body_meets(f, i, m, length)) {
      m += OZ_WALL_AHEAD - 1;
      continue;
    }
    const uint32_t j = oz_neighbour(f, i, m);
    if (j == i || oz_word(f->owner, j) == 0 || oz_word(f->owner, j) == oz_word(f->owner, i))
      continue;
    /* a boundary and a driven body have infinite mass */
    const int body = oz_owner_kind(oz_word(f->owner, j)) != OZ_OWNER_BOUNDARY && f->omega[j] > 0.0f;
    const float *o = f->p + 4 * (size_t)j, *yj = f->y + 4 * (size_t)j;
    double r[3], slip[3], n[3], J[3];
    for (int k = 0; k < 3; k++)
      r[k] = (double)p[k] - (double)o[k], slip[k] = (double)y[k] - (double)yj[k];
    double l = sqrt(oz_dot3(r, r)), depth = (double)f->d - l;
    if (!(depth > -(double)(OZ_BODY_NEAR * f->d)) || !(l > 1e-6 * (double)f->d)) continue;
    if (body && !oz_toucher_of(f, j, &it)) continue;
    many += 1.0f;
    if (!(depth > 0.0)) continue;
    for (int k = 0; k < 3; k++) n[k] = r[k] / l;
    double give = oz_toucher_give(&me, p, n), share = me.share, friction = me.friction;
    if (body) {
      give += oz_toucher_give(&it, o, n);
      if (it.share > share) share = it.share;
      friction *= it.friction;
    }
    oz_body_impulse(depth, n, give, slip, friction, share > 1.0 ? share : 1.0, J);
    for (int k = 0; k < 3; k++) sum[k] += J[k];
  }
  if (f->body_sticks && !f->first_iteration)
    oz_body_stuck(f, i, f->body + oz_body_index(f, oz_word(f->owner, i)), sum);
  for (int k = 0; k < 3; k++) dx[k] = (float)(sum[k] * me.inv_mass);
  dx[3] = many;
}

/* body_wall, after body_touch: walls keep half a separation from a body's outermost particles. */
OZ_FN void oz_body_wall_item(const oz_frame *f, uint32_t contact) {
  const uint32_t i = f->wall_particle[contact];
  oz_toucher me = oz_toucher_none();
  if (!oz_toucher_of(f, i, &me)) return;
  const oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float *dx = f->dx + 4 * (size_t)i,
        *impulse = f->wall_impulse + (size_t)contact * f->contact_planes * 3;
  const float *p = f->p + 4 * (size_t)i, *y = f->y + 4 * (size_t)i;
  const double share = me.rigid && me.share > 1.0 ? me.share : 1.0;
  for (uint32_t k = 0; k < f->wall_planes[contact]; k++) {
    const oz_wall *w = wall + k;
    double depth = (double)(0.5f * f->d - (w->s + oz_dot3f(w->n, y))), n[3], slip[3], J[3];
    if (!(depth > -(double)(OZ_BODY_NEAR * f->d))) continue;
    dx[3] += 1.0f;
    if (!(depth > 0.0)) continue;
    for (int a = 0; a < 3; a++)
      n[a] = (double)w->n[a], slip[a] = (double)y[a] - (double)f->dt * (double)w->u[a];
    oz_body_impulse(depth, n, oz_toucher_give(&me, p, n), slip, me.friction * (double)w->friction,
                    share, J);
    for (int a = 0; a < 3; a++) {
      dx[a] += (float)(J[a] * me.inv_mass);
      if (!f->first_iteration) impulse[3 * k + (uint32_t)a] -= (float)(J[a] * (double)f->inv_dt);
    }
  }
}

/* body_shift: the impulses change the pose. Its first call in a substep only counts the contacts
 * that share the load. */
OZ_FN void oz_body_shift_pair(const oz_frame *f, uint32_t b, uint32_t i, double *acc) {
  const float *dx = f->dx + 4 * (size_t)i;
  acc[6] += (double)dx[3];
  oz_body_moment(f, i, dx, f->body_state[b].c, f->p + 4 * (size_t)i, acc);
}

OZ_FN void oz_body_shift_end(const oz_frame *f, uint32_t b, const double *acc) {
  oz_body_state *s = f->body_state + b;
  double w[3], by[4], sum = 0.0;
  for (int k = 0; k < 6; k++) sum += fabs(acc[k]);
  if (!s->live || !(sum < 1e100)) return;
  if (!f->first_iteration) {
    oz_body_turned(s, by);
    oz_body_spin(s, by, acc + 3, w);
    for (int k = 0; k < 3; k++) s->c[k] += acc[k] / s->mass;
    oz_quat_exp(w, by);
    oz_quat_mul(by, s->q, s->q);
  }
  s->contacts = acc[6];
}

/* ---- body_end, body_speed: velocities from the motion of the substep ---- */

OZ_FN void oz_body_end_pair(const oz_frame *f, uint32_t b, uint32_t i, double *acc) {
  (void)f;
  (void)b;
  (void)i;
  (void)acc;
}

OZ_FN void oz_body_end_end(const oz_frame *f, uint32_t b, const double *acc) {
  oz_body_state *s = f->body_state + b;
  double by[4], turn[3], half[3], mid[4], w[3], L[3], t[3];
  (void)acc;
  if (!s->live) return;
  oz_body_turned(s, by);
  oz_quat_log(by, turn);
  for (int k = 0; k < 3; k++)
    half[k] = 0.5 * turn[k], w[k] = turn[k] * (double)f->inv_dt,
    s->v[k] = (s->c[k] - s->c0[k]) * (double)f->inv_dt;
  oz_quat_exp(half, mid);
  oz_unturn3(mid, w, t);
  oz_sym_v(s->inertia, t, t);
  oz_turn3(mid, t, L); /* half way, as in body_drive */
  oz_body_spin(s, by, L, s->w);
}

OZ_FN void oz_body_speed_item(const oz_frame *f, uint32_t slot) {
  uint32_t i, b;
  if (!oz_body_member(f, slot, &i, &b)) return;
  const oz_body_state *s = f->body_state + b;
  double r[3], t[3];
  float *u = f->u + 4 * (size_t)i;
  if (u[3] < 0.0f) return; /* finish has just reset this particle */
  for (int k = 0; k < 3; k++) r[k] = (double)f->x[4 * (size_t)i + (size_t)k] - s->c[k];
  oz_cross3(s->w, r, t);
  for (int k = 0; k < 3; k++) u[k] = (float)(s->v[k] + t[k]);
  if (f->max_speed > 0.0f) {
    float l = sqrtf(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    if (l > f->max_speed)
      for (int k = 0; k < 3; k++) u[k] *= f->max_speed / l;
  }
}

#endif
