/* Walls in the velocity projection: the active set, and the filter that keeps conjugate gradients
 * within it (docs/theory/walls.md, velocity phase). See wall.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_WALL_HOLD_H
#define OZ_PHYSICS_WALL_HOLD_H

#include "physics/rows.h"
#include "physics/wall_planes.h"
#include "physics/wall_row.h"

/* d: a particle this much further away than its nearest neighbour counts as the same layer */
#define OZ_WALL_LAYER 0.3f
#define OZ_WALL_TOUCH 0.05f /* d: a particle this near to wall_gap counts as touching */
/* d: thickness of the layer that a sticky wall holds; where walls count in the density, the layer
 * stands at 0.5 */
#define OZ_WALL_STICK 0.7f
/* m/s^2: most that stick holds along a wall of thick fluid that is drawn off it; two layers' weight
 */
#define OZ_WALL_DRAWN 20.0f
/* squared sine: planes closer to parallel than 18 degrees count as one direction */
#define OZ_WALL_WEDGE 0.1f
#define OZ_WALL_SHEAR 0.75f /* d: thickness of the layer that the wall drags along */

/* The active planes of one particle as an orthonormal set, so that the filter
 *     P = keep (I - sum_k e_k e_k^T),      keep = product of (1 - friction)
 * is symmetric and positive semi-definite for all angles between walls, as conjugate gradients
 * need. A plane almost parallel to an earlier one adds no direction. */
typedef struct oz_hold {
  uint32_t planes;
  int count; /* planes that add a direction; `on` marks them */
  int on[OZ_PLANES];
  float e[OZ_PLANES][3];
  float b[OZ_PLANES]; /* m/s: e_k.u that puts the particle exactly at wall_gap */
  float keep;
  /* m/s: velocity of the walls, weighted by friction: target of the tangential part */
  float u[3];
  float share[OZ_PLANES]; /* share of each plane in the friction */
  float total;            /* sum of the shares before oz_hold_close normalises them */
  /* plane that drags the particle without pressing on it, or -1; its normal, velocity and factor */
  int shear;
  float shear_n[3], shear_u[3], shear_keep;
} oz_hold;

/* True for a particle that remembers its shape and is compliant. Without compliance there is no
 * stress to keep in balance. */
OZ_FN int oz_wall_solid(const oz_frame *f, size_t i) {
  return (oz_relaxation_time_of(f, (uint32_t)i) > 0.0f &&
          oz_compliance_of(f, (uint32_t)i) > 0.0f) ||
         (f->has_yield && f->matter[f->material[i]].yield_stress > 0.0f);
}

/* m: distance of the particle's start position from the wall's start pose. */
OZ_FN float oz_wall_start(const oz_frame *f, const oz_wall *w) {
  return w->s + f->dt * oz_dot3f(w->n, w->u);
}

/* True within the range of a sticky wall. */
OZ_FN int oz_wall_sticks(const oz_frame *f, const oz_wall *w) {
  return w->stick > 0.0f && oz_wall_start(f, w) <= OZ_WALL_STICK * f->d;
}

/* True for fluid that the wall's row holds along the normal as firmly as fluid holds itself. */
OZ_FN int oz_row_grips(const oz_frame *f, size_t i) {
  return f->contact_of && oz_takes_row(f, i) && !oz_row_solid(f, i) && oz_row_sucks(f, i) > 0.5f;
}

/* The same for one wall. Stick would pull the first layer away from the second. */
OZ_FN int oz_wall_grips(const oz_wall *w, int grips) { return grips && w->friction > 0.5f; }

/* m: least distance from the wall that the velocity projection allows. A wall that counts in the
 * density keeps its distance by pressure in the position phase. A particle that remembers its shape
 * must feel the wall already while its stress is solved for; otherwise it falls freely there and is
 * pushed back out of balance in every substep. So it may come no nearer than its start distance, or
 * half a separation; for a sticky wall no nearer than its start distance, because a particle held
 * on one side only would drift to the other with every disturbance. */
OZ_FN float oz_wall_floor_of(const oz_frame *f, const oz_wall *w, int solid) {
  if (!f->wall_density || !w->dense || !solid) return f->wall_gap;
  return oz_maxf(f->wall_gap,
                 oz_minf((w->stick > 0.0f ? OZ_WALL_STICK : 0.5f) * f->d, oz_wall_start(f, w)));
}

OZ_FN float oz_wall_floor(const oz_frame *f, const oz_wall *w, size_t i) {
  return oz_wall_floor_of(f, w, f->wall_density && w->dense && oz_wall_solid(f, i));
}

/* Loops over planes have a fixed count and no data-dependent index, so that the compiler keeps all
 * of this in registers. */
OZ_FN void oz_hold_open(oz_hold *h, uint32_t planes) {
  h->planes = planes;
  h->count = 0;
  h->keep = h->shear_keep = 1.0f;
  h->total = 0.0f;
  h->shear = -1;
  for (int a = 0; a < 3; a++) h->u[a] = h->shear_n[a] = h->shear_u[a] = 0.0f;
  for (uint32_t k = 0; k < OZ_PLANES; k++) h->share[k] = 0.0f, h->on[k] = 0;
}

/* Adds plane k, which is w. `active` and `keep` are its present or future values; floor, its
 * oz_wall_floor, matters only where it is active. */
OZ_FN void oz_hold_add(const oz_frame *f, oz_hold *h, uint32_t k, const oz_wall *w, uint32_t active,
                       float keep, float floor) {
  /* the strongest only: several do not commute, and P must be symmetric */
  if (keep < h->shear_keep) {
    h->shear = (int)k, h->shear_keep = keep;
    for (int a = 0; a < 3; a++) h->shear_n[a] = w->n[a], h->shear_u[a] = w->u[a];
  }
  if (!active) return;
  float e[3] = {w->n[0], w->n[1], w->n[2]};
  const int keeps = active == OZ_WALL_STUCK || active == OZ_WALL_CLINGS;
  float b = keeps ? oz_dot3f(w->n, w->u) : (floor - w->s) * f->inv_dt;
  for (uint32_t m = 0; m < k; m++) {
    if (!h->on[m]) continue;
    float along = oz_dot3f(e, h->e[m]);
    for (int a = 0; a < 3; a++) e[a] -= along * h->e[m][a];
    b -= along * h->b[m];
  }
  /* a particle that stands off the wall, or clings to it, is dragged by shear instead */
  const int slides = active == OZ_WALL_STANDS || active == OZ_WALL_CLINGS;
  const float friction = slides ? 0.0f : w->friction;
  h->keep *= 1.0f - friction;
  h->share[k] = friction;
  h->total += friction;
  for (int a = 0; a < 3; a++) h->u[a] += friction * w->u[a];
  float l2 = oz_dot3f(e, e);
  if (!(l2 > OZ_WALL_WEDGE)) return;
  float inv = 1.0f / sqrtf(l2);
  for (int a = 0; a < 3; a++) h->e[k][a] = e[a] * inv;
  h->b[k] = b * inv;
  h->on[k] = 1;
  h->count++;
}

OZ_FN void oz_hold_close(oz_hold *h) {
  if (!(h->total > 0.0f)) return;
  for (int a = 0; a < 3; a++) h->u[a] /= h->total;
  for (uint32_t k = 0; k < OZ_PLANES; k++) h->share[k] /= h->total;
}

OZ_FN void oz_wall_basis(const oz_frame *f, size_t i, const oz_wall *wall, uint32_t planes,
                         oz_hold *h) {
  oz_hold_open(h, planes);
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    const oz_wall *w = wall + k;
    oz_hold_add(f, h, k, w, w->active, w->keep, w->active ? oz_wall_floor(f, w, i) : 0.0f);
  }
  oz_hold_close(h);
}

/* The wall's drag on the layer next to it: v <- D v, D = n n^T + keep (I - n n^T). */
OZ_FN void oz_wall_shear(const oz_hold *h, float v[3], float *impulse, float scale) {
  const float vn = oz_dot3f(h->shear_n, v);
  for (int a = 0; a < 3; a++) {
    float lost = (1.0f - h->shear_keep) * (v[a] - vn * h->shear_n[a]);
    v[a] -= lost;
    for (int k = 0; k < OZ_PLANES; k++)
      if (k == h->shear) impulse[3 * k + a] += scale * lost;
  }
}

/* v <- N v, N the filter of the active planes. The removed part is added to each plane's impulse,
 * times scale (kg for a velocity, kg/s for a displacement). */
OZ_FN void oz_wall_stop(const oz_hold *h, float v[3], float *impulse, float scale) {
  for (int m = 0; m < OZ_PLANES; m++) {
    if (!h->on[m]) continue;
    float along = oz_dot3f(h->e[m], v);
    for (int a = 0; a < 3; a++) {
      v[a] -= along * h->e[m][a];
      impulse[3 * m + a] += scale * along * h->e[m][a];
    }
  }
  for (int a = 0; a < 3; a++) {
    float lost = (1.0f - h->keep) * v[a];
    v[a] -= lost;
    for (uint32_t k = 0; k < OZ_PLANES; k++) {
      if (k >= h->planes) break;
      impulse[3 * k + (uint32_t)a] += scale * h->share[k] * lost;
    }
  }
}

/* v <- P v = N D N v: symmetric and positive semi-definite because N and D are. */
OZ_FN void oz_wall_apply(const oz_hold *h, float v[3], float *impulse, float scale) {
  if (h->count) oz_wall_stop(h, v, impulse, scale);
  if (h->shear < 0) return;
  oz_wall_shear(h, v, impulse, scale);
  if (h->count) oz_wall_stop(h, v, impulse, scale);
}

/* True if neighbour j is nearer to wall w than particle i by more than a layer, measured from the
 * plane at the start positions. */
OZ_FN int oz_wall_beyond(const oz_frame *f, const float n[3], const float xi[3], size_t j) {
  const float *xj = f->x + 4 * j, r[3] = {xj[0] - xi[0], xj[1] - xi[1], xj[2] - xi[2]};
  return oz_dot3f(n, r) < -(OZ_WALL_LAYER * f->d);
}

/* True if any neighbour of particle i is, of entries first, first + step, ... of its row. */
OZ_FN int oz_wall_behind_plane(const oz_frame *f, const oz_wall *w, size_t i, uint32_t first,
                               uint32_t step, uint32_t length) {
  const float *x = f->x + 4 * i, xi[3] = {x[0], x[1], x[2]}, n[3] = {w->n[0], w->n[1], w->n[2]};
  for (uint32_t m = first; m < length; m += step * OZ_WALL_AHEAD) { /* never true for i itself */
    uint32_t j[OZ_WALL_AHEAD];
    int some = 0;
    for (uint32_t e = 0; e < OZ_WALL_AHEAD; e++)
      j[e] = oz_neighbour(f, i, m + step * e < length ? m + step * e : m);
    for (uint32_t e = 0; e < OZ_WALL_AHEAD; e++) some |= oz_wall_beyond(f, n, xi, j[e]);
    if (some) return 1;
  }
  return 0;
}

/* Behind a curved or small collider the plane alone would count every particle as nearer, so the
 * test asks the collider itself. */
OZ_CALL int oz_wall_behind(const oz_frame *f, const oz_wall *w, size_t i, uint32_t first,
                           uint32_t step, uint32_t length) {
  const float *xi = f->x + 4 * i;
  const oz_collider *c = f->collider + w->collider;
  if (oz_is_flat(c)) return oz_wall_behind_plane(f, w, i, first, step, length);
  float a[3], b[3], n[3];
  oz_face fi, fj;
  oz_pose_in(c->p0, c->q0, xi, a);
  oz_collider_face(f, c, a, oz_wall_reach(f), &fi);
  for (uint32_t m = first; m < length; m += step) {
    const size_t j = oz_neighbour(f, i, m);
    if (!oz_wall_beyond(f, w->n, xi, j)) continue;
    oz_pose_in(c->p0, c->q0, f->x + 4 * j, b);
    oz_collider_face(f, c, b, oz_wall_reach(f), &fj);
    oz_turn(c->q0, fj.n, n);
    /* on the same side, and truly nearer */
    if (oz_dot3f(n, w->n) > 0.0f && fj.dist < fi.dist - OZ_WALL_LAYER * f->d) return 1;
  }
  return 0;
}

/* Values of a particle on which a wall's hold depends, loaded at once. */
typedef struct oz_wall_inputs {
  uint32_t i;
  float u[3], omega, a, tau, yield;
  int leaves, solid;
  int row;    /* the wall is in the particle's strain (wall_row.h) */
  int clings; /* and holds it along the normal, as firmly as fluid holds itself */
} oz_wall_inputs;

OZ_FN void oz_wall_inputs_ld(const oz_frame *f, size_t i, oz_wall_inputs *g) {
  const float *u = f->u + 4 * i;
  g->i = (uint32_t)i;
  for (int a = 0; a < 3; a++) g->u[a] = u[a];
  g->omega = f->omega[i];
  g->a = f->a[i];
  g->tau = oz_relaxation_time_of(f, (uint32_t)i);
  g->yield = oz_yield_of(f, (uint32_t)i);
  g->leaves = oz_wall_leaves(f, i);
  g->row = f->contact_of && oz_takes_row(f, i);
  g->clings = oz_row_grips(f, i);
  g->solid = oz_wall_solid(f, i);
}

/* m/s: speed of sliding along a wall. */
OZ_FN float oz_wall_slides(const oz_wall *w, const float u[3]) {
  const float rel[3] = {u[0] - w->u[0], u[1] - w->u[1], u[2] - w->u[2]},
              along = oz_dot3f(rel, w->n);
  return sqrtf(oz_maxf(oz_dot3f(rel, rel) - along * along, 0.0f));
}

/* True for the first layer of thick fluid on a sticky wall with friction: it clings to it by
 * itself, and stick holds it along the wall (oz_wall_keep_stuck). A longer memory tears where it is
 * held. */
OZ_FN int oz_wall_sticks_along(const oz_frame *f, const oz_wall *w, const oz_wall_inputs *g) {
  return oz_wall_sticks(f, w) && oz_wall_grips(w, g->clings) && g->tau < OZ_BRIEF_TIME &&
         !g->leaves;
}

/* Factor on the sliding velocity of that layer: stick takes up to its own value, times friction, of
 * the sliding momentum, as that of bodies does. clings: as a coat. What is drawn off harder has to
 * flow along the wall to its neck, and parts behind a layer that is pinned: there stick ends at
 * OZ_WALL_DRAWN. */
OZ_FN float oz_wall_keep_stuck(const oz_frame *f, const oz_wall *w, const oz_wall_inputs *g,
                               int clings) {
  const float slides = oz_wall_slides(w, g->u),
              most = clings ? w->stick : w->stick / (1.0f + w->stick * (1.0f / OZ_WALL_DRAWN)),
              held = w->friction * most * f->dt;
  return held < slides ? 1.0f - held / slides : 0.0f;
}

/* Factor on the sliding velocity of the layer next to a wall, for particles with too few neighbours
 * for a strain, and for schemes that do not project velocities. Fluid between the wall and the
 * centre of the particle, s away, shears at (u - u_w) / s and pulls with mu d^2 (u - u_w) / s; an
 * implicit step makes that a factor 1 / (1 + eta). So a channel has its no-slip plane at the wall,
 * not at the first particles, and thin fluids with a boundary layer below the particle size are
 * hardly held. Friction scales the effect: with 0 a particle slides at any viscosity. */
OZ_FN float oz_wall_keep(const oz_frame *f, const oz_wall *w, const oz_wall_inputs *g) {
  const float s0 = oz_wall_start(f, w);
  if (g->leaves || g->row || !(w->friction > 0.0f) || !(s0 < OZ_WALL_SHEAR * f->d)) return 1.0f;
  /* mu = (tau + dt) / alpha and alpha = a V0 dt^2 / (m_ref d^2): eta = dt mu d^2 / (s m) */
  const float eta =
      (g->tau + f->dt) * f->inv_dt * g->omega * f->d / (g->a * oz_maxf(s0, 0.25f * f->d));
  float keep = 1.0f / (1.0f + eta);
  /* A yield stress holds the layer too: it takes up to its own value of the sliding momentum. */
  if (f->has_yield) {
    const float slides = oz_wall_slides(w, g->u);
    const float held = g->yield * f->dt * g->omega / (1000.0f * f->d);
    keep *= held < slides ? 1.0f - held / slides : 0.0f;
  }
  return 1.0f - w->friction * (1.0f - keep);
}

/* The active set: a particle that would end nearer than wall_gap and belongs to the layer nearest
 * to the wall, or touches it already. Holding all particles that would penetrate pins several
 * layers to one plane and is unstable (docs/theory/walls.md); the position phase stops the others.
 * Touching is measured from the wall's start pose, not its end pose: a wall that moves fast into
 * the fluid must not pin all the layers that it will have passed. asks: the answer holds only if
 * no neighbour is nearer to the wall (oz_wall_behind), and is OZ_WALL_FREE otherwise. */
OZ_FN uint32_t oz_wall_active(const oz_frame *f, const oz_wall *w, const oz_wall_inputs *g,
                              float floor, int *asks) {
  *asks = 0;
  if (g->leaves) return OZ_WALL_FREE;
  const float start = oz_wall_start(f, w);
  if (g->clings && start > 0.9f * f->wall_gap && oz_row_coats(f, g->i, w, start, g->u)) {
    *asks = !(start <= floor + OZ_WALL_TOUCH * f->d);
    return OZ_WALL_CLINGS;
  }
  const float un = oz_dot3f(w->n, g->u), ends = w->s + f->dt * un;
  /* Not into it. A sticky wall holds in both directions: the side of the pull is known only with
   * the stress, and wall_clamp releases a contact that is pulled too hard. */
  if (!(ends < floor)) {
    const float wn = oz_dot3f(w->n, w->u);
    const int pulled = (f->dilates || un > wn) && !oz_wall_grips(w, g->clings);
    return oz_wall_sticks(f, w) && un - wn < w->stick * f->dt && pulled ? OZ_WALL_STUCK
                                                                        : OZ_WALL_FREE;
  }
  *asks = !(start <= floor + OZ_WALL_TOUCH * f->d);
  /* Pressure that is carried over presses the first layer to the wall before the solve; its row
   * drags it, and friction on top would pin it. */
  const int stands = g->row && start > f->wall_gap;
  return ends < f->wall_gap && !stands ? OZ_WALL_HELD : OZ_WALL_STANDS;
}

/* i: the contact's particle, g its values; active: OZ_WALL_BITS of each plane, since an array would
 * not stay in registers. All loads come before the first store. */
OZ_FN void oz_wall_hold_by(const oz_frame *f, uint32_t contact, uint32_t planes, size_t i,
                           oz_wall_inputs g, uint32_t active) {
  oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float keep[OZ_PLANES];
  oz_hold h;
  oz_hold_open(&h, planes);
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    const oz_wall *w = wall + k;
    const uint32_t how = active >> OZ_WALL_BITS * k & OZ_WALL_MASK;
    /* friction acts on these */
    const int rubs = how == OZ_WALL_HELD || how == OZ_WALL_STUCK;
    const int sticks = oz_wall_sticks_along(f, w, &g);
    keep[k] = rubs     ? 1.0f
              : sticks ? oz_wall_keep_stuck(f, w, &g, how == OZ_WALL_CLINGS)
                       : oz_wall_keep(f, w, &g);
    oz_hold_add(f, &h, k, w, how, keep[k], oz_wall_floor_of(f, w, g.solid));
  }
  oz_hold_close(&h);
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    wall[k].active = active >> OZ_WALL_BITS * k & OZ_WALL_MASK, wall[k].keep = keep[k];
  }
  float *u = g.u, rel[3], *impulse = f->wall_impulse + (size_t)contact * f->contact_planes * 3,
        mass = f->m_ref / g.omega;
  if (h.shear < 0 && !h.count) return;
  if (h.shear >= 0) {
    for (int a = 0; a < 3; a++) rel[a] = u[a] - h.shear_u[a];
    oz_wall_shear(&h, rel, impulse, mass);
    for (int a = 0; a < 3; a++) u[a] = h.shear_u[a] + rel[a];
  }
  if (h.count) {
    /* u = goal + P (u - goal): a goal with the walls' velocity and with normal parts that end at
     * wall_gap leaves nothing but P to apply */
    float goal[3] = {h.u[0], h.u[1], h.u[2]};
    for (int m = 0; m < OZ_PLANES; m++) {
      if (!h.on[m]) continue;
      float to = h.b[m] - oz_dot3f(h.e[m], goal);
      for (int a = 0; a < 3; a++) goal[a] += to * h.e[m][a];
    }
    for (int a = 0; a < 3; a++) rel[a] = u[a] - goal[a];
    oz_wall_stop(&h, rel, impulse, mass);
    for (int a = 0; a < 3; a++) u[a] = goal[a] + rel[a];
  }
  for (size_t a = 0; a < 3; a++) f->u[4 * i + a] = u[a];
}

/* length: of the particle's row; flat: the caller knows that no collider is curved. */
OZ_FN void oz_wall_held(const oz_frame *f, uint32_t contact, uint32_t planes, size_t i,
                        uint32_t length, oz_wall_inputs g, int flat) {
  const oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  uint32_t active = 0;
  for (uint32_t k = 0; k < planes; k++) {
    int asks;
    uint32_t how = oz_wall_active(f, wall + k, &g, oz_wall_floor_of(f, wall + k, g.solid), &asks);
    if (asks && (flat ? oz_wall_behind_plane(f, wall + k, i, 0, 1, length)
                      : oz_wall_behind(f, wall + k, i, 0, 1, length)))
      how = OZ_WALL_FREE;
    active |= how << OZ_WALL_BITS * k;
  }
  oz_wall_hold_by(f, contact, planes, i, g, active);
}

OZ_FN void oz_wall_hold_of(const oz_frame *f, uint32_t contact, size_t i, int flat) {
  const uint32_t planes = f->wall_planes[contact], length = f->start_length[i];
  oz_wall_inputs g;
  oz_wall_inputs_ld(f, i, &g);
  oz_wall_held(f, contact, planes, i, length, g, flat);
}

OZ_FN void oz_wall_hold_item(const oz_frame *f, uint32_t contact) {
  oz_wall_hold_of(f, contact, f->wall_particle[contact], 0);
}

/* wall_filter: dx <- P dx, the part of a correction that walls allow, and dx.w with it
 * (oz_force_work). The part that each wall removes is kept until the length of the step is
 * known. */
/* v: dx, which need not be stored yet */
OZ_FN void oz_wall_filtered(const oz_frame *f, uint32_t contact, uint32_t planes, size_t i,
                            float v[3]) {
  oz_hold h;
  oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float took[OZ_PLANES * 3];
  for (int k = 0; k < OZ_PLANES * 3; k++) took[k] = 0.0f;
  oz_wall_basis(f, i, wall, planes, &h);
  oz_wall_apply(&h, v, took, 1.0f);
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    for (uint32_t a = 0; a < 3; a++) wall[k].took[a] = took[3 * k + a];
  }
}

OZ_FN void oz_wall_filter_item(const oz_frame *f, uint32_t contact) {
  const size_t i = f->wall_particle[contact];
  float *dx = f->dx + 4 * i, v[3] = {dx[0], dx[1], dx[2]};
  const float was[3] = {v[0], v[1], v[2]}, om = f->omega[i];
  oz_wall_filtered(f, contact, f->wall_planes[contact], i, v);
  for (int a = 0; a < 3; a++) dx[a] = v[a];
  dx[3] = oz_dot3f(v, was) / (om > 0.0f ? om : 1.0f);
}

/* wall_load, after cg_steps: the wall's share of this iteration's step. */
OZ_FN void oz_wall_load_of(const oz_frame *f, uint32_t contact, size_t i) {
  const oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float *impulse = f->wall_impulse + (size_t)contact * f->contact_planes * 3, now[OZ_PLANES * 3];
  const uint32_t planes = f->wall_planes[contact];
  if (!(f->omega[i] > 0.0f)) return;
  const float scale = (float)f->scalar[OZ_SCALAR_ALPHA] * f->m_ref / f->omega[i] * f->inv_dt;
  for (uint32_t k = 0; k < OZ_PLANES; k++) { /* all loads come before the first store */
    if (k >= planes) break;
    for (uint32_t a = 0; a < 3; a++) now[3 * k + a] = impulse[3 * k + a] + scale * wall[k].took[a];
  }
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    for (uint32_t a = 0; a < 3; a++) impulse[3 * k + a] = now[3 * k + a];
  }
}

OZ_FN void oz_wall_load_item(const oz_frame *f, uint32_t contact) {
  oz_wall_load_of(f, contact, f->wall_particle[contact]);
}

/* Load of the wall in the particle's strain, by the multiplier of the whole velocity phase. */
OZ_FN void oz_wall_row_load(const oz_frame *f, uint32_t contact, size_t i, float *impulse) {
  const oz_wall_row *r = f->wall_row + contact;
  if (!(r->b > 0.0f)) return;
  const oz_s3 lam = oz_lam_of(f, (uint32_t)i);
  const float share = sqrtf(oz_dot3f(r->w, r->w)), inv = 1.0f / oz_maxf(share, 1e-6f),
              n[3] = {inv * r->w[0], inv * r->w[1], inv * r->w[2]},
              s[6] = {oz_first(lam.s[0]), oz_first(lam.s[1]), oz_first(lam.s[2]),
                      oz_first(lam.s[3]), oz_first(lam.s[4]), oz_first(lam.s[5])},
              t[3] = {s[0] * n[0] + s[3] * n[1] + s[4] * n[2],
                      s[3] * n[0] + s[1] * n[1] + s[5] * n[2],
                      s[4] * n[0] + s[5] * n[1] + s[2] * n[2]},
              along = oz_dot3f(t, n), third = (1.0f - r->sucks) * (1.0f / 3.0f),
              held = (1.0f - r->slides) * (along - third * (s[0] + s[1] + s[2])),
              scale = f->m_ref * f->inv_dt * f->d * r->b * share;
  for (uint32_t a = 0; a < 3; a++)
    impulse[3 * r->plane + a] -= scale * (t[a] + (held - along) * n[a]);
}

/* wall_clamp, after the velocity solve: no active plane is penetrated, and its friction is recorded
 * as done. (The solve keeps both up to rounding; planes that added no direction are corrected
 * here.) */
/* returns 1 if u, the velocity of particle i, may have changed */
OZ_FN int oz_wall_clamped(const oz_frame *f, uint32_t contact, uint32_t planes, size_t i,
                          float u[3]) {
  oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float *impulse = f->wall_impulse + (size_t)contact * f->contact_planes * 3;
  if (!(f->omega[i] > 0.0f)) return 0;
  const float mass = f->m_ref / f->omega[i];
  if (f->contact_of) oz_wall_row_load(f, contact, i, impulse);
  for (uint32_t k = 0; k < planes; k++) {
    if (wall[k].active != OZ_WALL_STUCK) continue;
    /* The impulse given to the wall is the force that held the particle. Beyond the wall's limit it
     * lets go. A particle that remembers its shape is still pulled with the limit: losing all of it
     * at once would be a shock to a stress solved with it. */
    const float held = oz_dot3f(wall[k].n, impulse + 3 * k) / mass, most = wall[k].stick * f->dt;
    if (!(held > most)) continue;
    const float pull = oz_wall_solid(f, i) ? held - most : held;
    wall[k].active = 0;
    for (int a = 0; a < 3; a++) {
      u[a] += pull * wall[k].n[a];
      impulse[3 * k + (uint32_t)a] -= mass * pull * wall[k].n[a];
    }
  }
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t k = 0; k < planes; k++) {
      if (!wall[k].active) continue;
      float lift = (oz_wall_floor(f, wall + k, i) - wall[k].s) * f->inv_dt - oz_dot3f(wall[k].n, u);
      if (!(lift > 0.0f)) continue;
      for (int a = 0; a < 3; a++) {
        u[a] += lift * wall[k].n[a];
        impulse[3 * k + (uint32_t)a] -= mass * lift * wall[k].n[a];
      }
    }
  for (uint32_t k = 0; k < planes; k++)
    if (wall[k].active || wall[k].keep < 1.0f)
      for (int a = 0; a < 3; a++) wall[k].t[a] = f->dt * u[a];
  return 1;
}

OZ_FN void oz_wall_clamp_of(const oz_frame *f, uint32_t contact, size_t i) {
  float *own = f->u + 4 * i, u[3] = {own[0], own[1], own[2]};
  if (oz_wall_clamped(f, contact, f->wall_planes[contact], i, u))
    for (int a = 0; a < 3; a++) own[a] = u[a];
}

OZ_FN void oz_wall_clamp_item(const oz_frame *f, uint32_t contact) {
  oz_wall_clamp_of(f, contact, f->wall_particle[contact]);
}

#endif
