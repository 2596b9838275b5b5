/* Fluid held by the bodies that it touches (docs/theory/bodies.md, clinging and sticking).
 *
 * - Clinging: viscosity drags fluid along with the surface of a body. Implicitly in the whole
 *   substep where the body follows keyframes (body_cling); at the end of it, with the reaction,
 *   where it is free (body_stick).
 * - Sticking: fluid keeps its displacement relative to a body that it touches (body_stick).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_BODY_CLING_H
#define OZ_PHYSICS_BODY_CLING_H

#include "physics/rigid.h"
#include "physics/wall.h"

/* d: fluid within this of a particle of a body that sticks is held; the first layer stands about
 * one separation off */
#define OZ_BODY_STICK 1.4f
/* particles of fluid that stick to a body, over its own: a coat of a small body */
#define OZ_BODY_COAT 1.5f
/* Viscosity's hold on the first layer, over viscosity / d. Along the body, with a surface half a
 * separation below: d / s; a film has a part of its own drag by its strain. Away from it:
 * lubrication's 3/2 R^2 / h^3, for air or fluid that comes in by one separation through a gap of
 * half of one. */
#define OZ_BODY_SHEAR 2.0f
#define OZ_BODY_STRAIN 1.0f
#define OZ_BODY_SUCKS 12.0f
/* sum of weights from which fluid is held in full: half of that of a particle one separation off */
#define OZ_BODY_REACH 0.14f
/* d: nearer to the centre of a body's particles around it fluid has no side, and is less held */
#define OZ_BODY_SIDE 0.3f

/* Weight of a particle of a body in the hold on fluid r away from it at the start of the substep.
 */
OZ_FN float oz_body_stick_weight(const oz_frame *f, const float r[3]) {
  const float reach = OZ_BODY_STICK * f->d;
  return oz_maxf(reach - sqrtf(oz_dot3f(r, r)), 0.0f) / reach;
}

/* 1: K of a neighbour of fluid r away, over a third of a lattice's trace, added to sum. */
OZ_FN void oz_body_fluid(const oz_frame *f, const float r[3], float sum[6]) {
  static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
  const float l = sqrtf(oz_dot3f(r, r)), near = f->h - l;
  if (!(near > 0.0f) || !(l > 1e-5f * f->h)) return;
  const float k = -3.0f / f->k_ref * f->grad_norm * f->inv_d * near * near / l;
  for (int c = 0; c < 6; c++) sum[c] += k * r[I[c]] * r[J[c]];
}

/* True for a body that holds fluid in this iteration: one that sticks, and in the last one any with
 * friction, to which thick fluid clings. */
OZ_FN int oz_body_holds(const oz_frame *f, const oz_body *b) {
  return b->stick > 0.0f || (f->body_clings && b->friction > 0.0f);
}

/* The particles of bodies around particle i of fluid. */
typedef struct oz_body_near {
  float n[3], rel[3]; /* outward normal; velocity or displacement relative to their mean */
  float total;        /* sum of the weights; 0: none near */
  float side;         /* distance from their centre, over d: 0 among them */
  uint32_t count;     /* all particles within h; f->neighbours is not known before `gradient` */
  float stick, friction, yields, free; /* means; free: part that moves */
  float coat;                          /* greatest of body_coat */
  float fluid[6];                      /* K of the fluid alone, over a third of a lattice's trace */
} oz_body_near;

/* v: velocities or displacements; held: by driven bodies alone. */
OZ_FN oz_body_near oz_body_near_of(const oz_frame *f, uint32_t i, const float *v, int held) {
  oz_body_near b;
  const float *x = f->x + 4 * (size_t)i, *own = v + 4 * (size_t)i;
  float by[3] = {0.0f, 0.0f, 0.0f};
  b.total = b.side = b.stick = b.friction = b.yields = b.free = b.coat = 0.0f;
  b.count = 0;
  for (int k = 0; k < 3; k++) b.n[k] = 0.0f;
  for (int k = 0; k < 6; k++) b.fluid[k] = 0.0f;
  const uint32_t length = f->start_length[i];
  for (uint32_t m = 0; m < length; m++) {
    const uint32_t j = oz_neighbour(f, i, m), owner = oz_word(f->owner, j);
    const float *o = f->x + 4 * (size_t)j, r[3] = {x[0] - o[0], x[1] - o[1], x[2] - o[2]};
    b.count += j != i && oz_dot3f(r, r) < f->h2;
    if (owner == 0) {
      if (f->body_clings) oz_body_fluid(f, r, b.fluid);
      continue;
    }
    if (oz_owner_kind(owner) == OZ_OWNER_BOUNDARY || (held && f->omega[j] > 0.0f)) continue;
    const int64_t at = oz_body_index(f, owner);
    if (at < 0 || !oz_body_holds(f, f->body + at)) continue;
    const float *vj = v + 4 * (size_t)j, w = oz_body_stick_weight(f, r);
    b.total += w;
    b.stick += w * f->body[at].stick;
    b.friction += w * f->body[at].friction;
    b.yields += w * f->omega[j]; /* 0 for held particles */
    b.free += f->omega[j] > 0.0f ? w : 0.0f;
    if (w > 0.0f && oz_owner_kind(owner) == OZ_OWNER_SOFT && !held)
      b.coat = oz_maxf(b.coat, f->dx[4 * (size_t)j + 3]);
    for (int k = 0; k < 3; k++) b.n[k] += w * r[k], by[k] += w * vj[k];
  }
  const float size = sqrtf(oz_dot3f(b.n, b.n));
  if (!(b.total > 0.0f) || !(size > 1e-6f * f->d * b.total)) {
    b.total = 0.0f;
    return b;
  }
  b.side = size / (f->d * b.total);
  b.stick /= b.total, b.friction /= b.total, b.yields /= b.total, b.free /= b.total;
  for (int k = 0; k < 3; k++) b.n[k] /= size, b.rel[k] = own[k] - by[k] / b.total;
  return b;
}

/* Friction of bodies on viscous fluid in a substep: friction times viscosity dt / (density d^2). */
OZ_FN float oz_body_thick(const oz_frame *f, uint32_t i, const oz_body_near *b) {
  if (oz_row_solid(f, i) || b->count < OZ_MIN_NEIGHBOURS) return 0.0f;
  const float reach = oz_minf(1.0f, b->total * (1.0f / OZ_BODY_REACH)),
              side = oz_minf(1.0f, b->side * (1.0f / OZ_BODY_SIDE)),
              grip = side * oz_minf(1.0f, b->friction);
  return reach * grip * (oz_relaxation_time_of(f, i) + f->dt) * f->omega[i] /
         oz_maxf(f->a[i] * f->dt, 1e-30f);
}

/* Drag on the first layer, over viscosity / d: of a film of the thickness sigma d it is 3 / sigma^2
 * on a particle (docs/theory/walls.md, films). */
OZ_FN float oz_body_drag(const oz_frame *f, const oz_body_near *b) {
  /* film: 0 in deep fluid, 1 in one layer; s over it: a film's thickness / sqrt(3) */
  float s, film;
  (void)oz_row_film(f, b->fluid, b->n, 0.0f, 0.0f, &s, &film);
  const float across = film * f->d / oz_maxf(s, 1e-3f * f->d);
  return film * (across * across - OZ_BODY_STRAIN) + (1.0f - film) * OZ_BODY_SHEAR;
}

/* body_cling, after predict: fluid beside a body that follows keyframes is dragged along by its
 * viscosity, implicitly: (m + c dt) u = m u* + c dt u_b + forces. */
OZ_FN void oz_body_cling_item(const oz_frame *f, uint32_t i) {
  if (oz_word(f->owner, i) != 0 || !(f->omega[i] > 0.0f)) return;
  float *x = f->x + 4 * (size_t)i, *u = f->u + 4 * (size_t)i;
  const oz_body_near b = oz_body_near_of(f, i, f->u, 1);
  if (!(b.total > 0.0f)) return;
  /* one mass for all directions: that of the motion as it is */
  const float leaves = oz_maxf(oz_dot3f(b.rel, b.n), 0.0f), drag = oz_body_drag(f, &b),
              sucks = leaves * leaves / oz_maxf(oz_dot3f(b.rel, b.rel), 1e-30f),
              c = drag + sucks * oz_maxf(OZ_BODY_SUCKS - drag, 0.0f),
              keep = oz_maxf(1.0f / (1.0f + oz_body_thick(f, i, &b) * c), 1e-6f);
  for (int k = 0; k < 3; k++) u[k] -= (1.0f - keep) * b.rel[k];
  f->omega[i] *= keep;
  x[3] = f->omega[i];
}

/* body_stick: fluid beside a body that sticks keeps its displacement relative to the body's
 * particles around it: apart up to stick dt^2, along up to friction times that. Beyond the former
 * it lets go, as from a sticky wall; beyond the latter it slides, held back by as much. In the last
 * iteration thick fluid is held by its viscosity. dx: the correction over the sum of the weights,
 * for the reaction in body_touch; dx.w: its mass. */
OZ_FN void oz_body_stick_item(const oz_frame *f, uint32_t i) {
  float *dx = f->dx + 4 * (size_t)i, *y = f->y + 4 * (size_t)i, *p = f->p + 4 * (size_t)i;
  if (oz_word(f->owner, i) != 0) return;
  for (int k = 0; k < 4; k++) dx[k] = 0.0f;
  if (!(f->omega[i] > 0.0f)) return;
  const oz_body_near b = oz_body_near_of(f, i, f->y, 0);
  if (!(b.total > 0.0f)) return;
  if (f->body_sticks == OZ_BODY_WEIGHS) {
    dx[3] = 1.0f / b.total;
    return;
  }
  const float *x = f->x + 4 * (size_t)i, apart = oz_dot3f(b.rel, b.n),
              most = b.stick * f->dt * f->dt, hold = b.friction * most;
  float along[3], slides = 0.0f, away = 0.0f, part = 0.0f; /* taken back: m across; of along */
  for (int k = 0; k < 3; k++) along[k] = b.rel[k] - apart * b.n[k], slides += along[k] * along[k];
  slides = sqrtf(slides);
  if (f->body_clings) {
    const float thick = oz_body_thick(f, i, &b), sucks = OZ_BODY_SUCKS * thick,
                drag = b.free * thick * oz_body_drag(f, &b);
    away = apart * sucks / (1.0f + sucks), part = drag / (1.0f + drag);
  }
  if (apart < most) {
    away = oz_maxf(apart, away);
    part = oz_maxf(part, slides < hold ? 1.0f : f->first_iteration ? hold / slides : 0.0f);
  }
  if (away == 0.0f && !(part > 0.0f)) return;
  /* Free bodies move as well: with a whole layer of fluid as heavy as they are, a full correction
   * would overshoot. A particle of a soft body moves alone: one that stands out has more fluid
   * around it, would stand out further, and be plucked off. */
  const float share = 1.0f / (1.0f + oz_maxf(OZ_BODY_COAT, b.coat) * b.yields / f->omega[i]);
  for (int k = 0; k < 3; k++) {
    const float back = -share * (away * b.n[k] + part * along[k]);
    y[k] += back;
    p[k] = x[k] + y[k];
    dx[k] = back;
  }
  dx[3] = 1.0f / b.total;
}

/* body_coat, between the two calls of body_stick that there are with soft bodies: the particles of
 * fluid that hold on to a member slot's particle of such a body, by the sums of weights that the
 * first one has left in dx.w. */
OZ_FN void oz_body_coat_item(const oz_frame *f, uint32_t slot) {
  const uint32_t i = f->member[slot];
  float coat = 0.0f;
  if (i == OZ_NO_MEMBER || oz_owner_kind(oz_word(f->owner, i)) != OZ_OWNER_SOFT) return;
  const float *x = f->x + 4 * (size_t)i;
  const uint32_t length = f->start_length[i];
  for (uint32_t m = 0; m < length; m++) {
    const uint32_t j = oz_neighbour(f, i, m);
    if (oz_word(f->owner, j) != 0) continue;
    const float *o = f->x + 4 * (size_t)j, r[3] = {o[0] - x[0], o[1] - x[1], o[2] - x[2]};
    coat += f->dx[4 * (size_t)j + 3] * oz_body_stick_weight(f, r);
  }
  f->dx[4 * (size_t)i + 3] = coat;
}

/* kg m: reaction of the fluid that sticks to particle i of body b. */
OZ_FN void oz_body_stuck(const oz_frame *f, uint32_t i, const oz_body *b, double sum[3]) {
  const float *x = f->x + 4 * (size_t)i;
  const uint32_t length = f->start_length[i];
  if (!oz_body_holds(f, b)) return;
  for (uint32_t m = 0; m < length; m++) {
    const uint32_t j = oz_neighbour(f, i, m);
    if (oz_word(f->owner, j) != 0 || !(f->omega[j] > 0.0f)) continue;
    const float *o = f->x + 4 * (size_t)j, *dx = f->dx + 4 * (size_t)j,
                r[3] = {o[0] - x[0], o[1] - x[1], o[2] - x[2]},
                w = dx[3] * oz_body_stick_weight(f, r), mass = w * f->m_ref / f->omega[j];
    for (int k = 0; k < 3; k++) sum[k] -= (double)(mass * dx[k]);
  }
}

#endif
