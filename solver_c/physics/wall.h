/* Walls as particles see them: up to three planes each, found once a substep
 * (docs/theory/walls.md).
 *
 * A plane stands where the wall is at the END of the substep. A particle that starts at x and moves
 * by y ends at the distance
 *     D(y) = s + n.y,      s = dist(p) - n.(p - x)        (exact at the predicted p, linear around
 * it) from it, so "does not penetrate" is D >= wall_gap for any motion of the wall. In the velocity
 * phase y = dt u, and the condition is s + dt u.n >= wall_gap; it contains no wall velocity,
 * because s includes it. Only comparisons with the wall's start pose (touching, friction) use the
 * wall's velocity u_w: the distance from the start pose is s + dt u_w.n.
 *
 * Friction acts once on every part of the tangential displacement, in the phase in which it arises;
 * oz_wall.t holds the part that is done. So the result does not depend on the number of iterations
 * that touch the wall. Friction 1 holds fully, 0 slides freely.
 *
 * Order in a substep: walls() of the backend, wall_planes (at the predicted p); wall_hold, then
 * wall_filter after every gather of forces in the velocity solve, wall_clamp after the solve;
 * wall_project after every change of y; wall_density before density is evaluated, wall_mirror
 * before density_move; wall_drag in the rest filter. wall_load (after cg_steps) and wall_press only
 * sum the loads on walls. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_WALL_H
#define OZ_PHYSICS_WALL_H

#include "physics/wall_density.h"
#include "physics/wall_hold.h"

/* part of the way beyond one separation that is kept as distance from the wall */
#define OZ_WALL_ORDER 0.05f

/* ---- Positions ---- */

/* m: least distance from the wall at the end. A particle that comes from further than a separation
 * within one substep keeps a trace of its order: many layers stopped on exactly one plane would
 * have no direction left to separate in. */
OZ_FN float oz_wall_rest(const oz_frame *f, const oz_wall *w) {
  return f->wall_gap + OZ_WALL_ORDER * oz_maxf(0.0f, w->s + f->dt * oz_dot3f(w->n, w->u) - f->d);
}

/* m: distance at which a sticky wall holds a particle that is now at distance `now`: no further
 * than its start distance. Applied to positions alone this is a ratchet: a particle that remembers
 * its shape comes nearer with every disturbance and does not leave until its stress throws it off
 * (a block of 20 kPa on a floor with 30 m/s^2 moved at 0.03 m/s, a shell around a ball burst). So
 * after a velocity projection the wall keeps, on both sides, only the particles that it held there;
 * but it lets them out to half a separation, the distance that walls in the density prefer. */
OZ_FN float oz_wall_kept(const oz_frame *f, const oz_wall *w, size_t i, float now) {
  const float start = oz_maxf(oz_wall_start(f, w), f->wall_gap);
  if (!f->projects_velocity || !oz_wall_solid(f, i)) return oz_minf(now, start);
  if (w->active != OZ_WALL_STUCK && w->active != OZ_WALL_STANDS) return now;
  return oz_maxf(oz_minf(now, f->wall_density && w->dense ? oz_maxf(start, 0.5f * f->d) : start),
                 start);
}

/* m: distance of a particle that clings: that of the start, or up to half a separation, which walls
 * in the density prefer. */
OZ_FN float oz_wall_coated(const oz_frame *f, const oz_wall *w, float now) {
  const float start = oz_maxf(oz_wall_start(f, w), f->wall_gap);
  return oz_maxf(start, oz_minf(now, 0.5f * f->d));
}

/* wall_project: moves the particle out of every wall, with friction on the new part of its
 * tangential displacement. The second pass, for corners, has no friction, so that friction cannot
 * hold a particle inside another wall. A sticky wall keeps a touching particle that would leave
 * with less acceleration than `stick`. */
/* returns 1 if y, the displacement of particle i, has changed */
OZ_FN int oz_wall_projected(const oz_frame *f, uint32_t contact, uint32_t planes, size_t i,
                            float y[3]) {
  oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float *impulse = f->wall_impulse + (size_t)contact * f->contact_planes * 3;
  int moved = 0;
  if (planes == 0 || oz_wall_leaves(f, i)) return 0;
  const float to_wall = -f->m_ref / f->omega[i] * f->inv_dt;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t k = 0; k < OZ_PLANES; k++) {
      if (k >= planes) break;
      oz_wall *w = wall + k;
      const float n[3] = {w->n[0], w->n[1], w->n[2]};
      float yn = oz_dot3f(n, y), lift = oz_wall_rest(f, w) - (w->s + yn),
            old[3] = {y[0], y[1], y[2]};
      int held = lift > 0.0f;
      const int clings = pass == 0 && w->active == OZ_WALL_CLINGS;
      if (clings) {
        lift = oz_wall_coated(f, w, w->s + yn) - (w->s + yn);
        held = lift != 0.0f;
      }
      if (!held && !clings && pass == 0 && oz_wall_sticks(f, w) &&
          !oz_wall_grips(w, oz_row_grips(f, i))) {
        const float now = w->s + yn, back = oz_wall_kept(f, w, i, now) - now;
        /* a place that is kept but for rounding needs no hold */
        held = fabsf(back) > 1e-6f * f->d && -back < w->stick * f->dt * f->dt;
        if (held) lift = back;
      }
      if (!held) continue;
      for (int a = 0; a < 3; a++) y[a] += lift * n[a];
      if (pass == 0 && !clings) {
        const float t[3] = {w->t[0], w->t[1], w->t[2]}, tn = oz_dot3f(n, t), friction = w->friction;
        yn = oz_dot3f(n, y);
        for (int a = 0; a < 3; a++) {
          float done = t[a] - tn * n[a], now = y[a] - yn * n[a],
                to = done + (1.0f - friction) * (now - done);
          w->t[a] = to;
          y[a] = to + yn * n[a];
        }
      }
      moved = 1;
      float now[3] = {impulse[3 * k], impulse[3 * k + 1], impulse[3 * k + 2]};
      for (uint32_t a = 0; a < 3; a++) impulse[3 * k + a] = now[a] + to_wall * (y[a] - old[a]);
    }
  return moved;
}

OZ_FN void oz_wall_project_of(const oz_frame *f, uint32_t contact, size_t i) {
  float y[3] = {f->y[4 * i], f->y[4 * i + 1], f->y[4 * i + 2]};
  if (oz_wall_projected(f, contact, f->wall_planes[contact], i, y))
    for (size_t a = 0; a < 3; a++) f->y[4 * i + a] = y[a], f->p[4 * i + a] = f->x[4 * i + a] + y[a];
}

OZ_FN void oz_wall_project_item(const oz_frame *f, uint32_t contact) {
  oz_wall_project_of(f, contact, f->wall_particle[contact]);
}

/* ---- Rest ---- */

/* Noise in the square of a particle's speed is this much of its change by the sweep before. */
#define OZ_DRAG_NOISE 64.0f

/* wall_drag: static drag of walls on slow particles, relative to the walls, weighted by their
 * pressure: the walls' part of a sweep of the rest filter, with its factor
 * (docs/theory/rest_filter.md). Smooth motion passes, however slow: a sweep leaves it as it is (u2
 * has the velocity before the sweep). */
OZ_FN void oz_wall_drag_of(const oz_frame *f, uint32_t contact, uint32_t planes, size_t i) {
  const oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float *u = f->u + 4 * i, goal[3] = {0.0f, 0.0f, 0.0f}, total = 0.0f;
  if (oz_wall_leaves(f, i)) return;
  for (uint32_t k = 0; k < planes; k++) {
    total += wall[k].press;
    for (int a = 0; a < 3; a++) goal[a] += wall[k].press * wall[k].u[a];
  }
  if (!(total > 0.0f)) return;
  float rel[3], swept[3];
  for (int a = 0; a < 3; a++) rel[a] = u[a] - goal[a] / total, swept[a] = u[a] - f->u2[4 * i + a];
  const float u2 = oz_dot3f(rel, rel), noise2 = OZ_DRAG_NOISE * oz_dot3f(swept, swept),
              q = u2 / (f->rest_speed * f->rest_speed + 1e-30f);
  float k = f->filter_factor * oz_minf(1.0f, f->wall_term[4 * i + 3]) / (1.0f + q * q);
  k *= noise2 / (noise2 + u2 + 1e-30f);
  for (int a = 0; a < 3; a++) u[a] -= k * rel[a];
}

OZ_FN void oz_wall_drag_item(const oz_frame *f, uint32_t contact) {
  oz_wall_drag_of(f, contact, f->wall_planes[contact], f->wall_particle[contact]);
}

#endif
