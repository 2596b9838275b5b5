/* Selection of particles near walls, and the planes of their wall contacts. See wall.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_WALL_PLANES_H
#define OZ_PHYSICS_WALL_PLANES_H

#include "physics/contact.h"
#include "physics/fields.h"

/* cosine: normals of entry and nearest face with a smaller product are different faces */
#define OZ_WALL_ENTRY 0.7f
/* squared sine: planes closer to parallel than 18 degrees do not meet within reach */
#define OZ_WALL_PARALLEL 0.1f

/* m: a plane further than this from the predicted position of a particle matters neither for
 * density nor for contact: h, and one separation for the correction by the solve. The backend
 * selects particles with it. */
OZ_FN float oz_wall_reach(const oz_frame *f) { return f->h + f->d; }

/* True for particles that the stages here leave alone: particles of bodies, which touch walls with
 * Coulomb friction (body_wall in body.h), and held particles. */
OZ_FN int oz_wall_leaves(const oz_frame *f, size_t i) {
  return !(f->omega[i] > 0.0f) || oz_word(f->owner, i) >> OZ_OWNER_SHIFT == OZ_OWNER_RIGID ||
         oz_word(f->owner, i) >> OZ_OWNER_SHIFT == OZ_OWNER_SOFT;
}

/* ---- Selecting particles ---- */

/* True if x can come within `reach` of a wall at its end pose. */
OZ_FN int oz_wall_near(const oz_frame *f, const float x[3], float reach) {
  if (!oz_finite3f(x)) return 0;
  for (uint32_t k = 0; k < f->collider_count; k++) {
    const oz_collider *c = f->collider + k;
    if (c->role == OZ_ROLE_COLLIDE && oz_collider_distance(f, c, x, reach) < reach) return 1;
  }
  return 0;
}

/* The particle's way from x to p in the collider's frame; a and b are its ends in local space.
 * Returns 0 if it stays further than `reach` from the bounding sphere. */
OZ_FN int oz_wall_path(const oz_collider *c, const float x[3], const float p[3], float reach,
                       float a[3], float b[3], float *length) {
  float r0[3], r1[3], d[3];
  for (int k = 0; k < 3; k++)
    r0[k] = x[k] - c->p0[k], r1[k] = p[k] - c->p1[k], d[k] = r1[k] - r0[k];
  float moved = sqrtf(oz_dot3f(d, d));
  if (c->reach > 0.0f) {
    /* a rotation by dq moves a point at distance r by at most 2 |dq| r */
    float turn = 0.0f, l0 = sqrtf(oz_dot3f(r0, r0));
    for (int k = 0; k < 4; k++) turn += (c->q1[k] - c->q0[k]) * (c->q1[k] - c->q0[k]);
    if (!(l0 - moved - 2.0f * sqrtf(turn) * l0 <= c->reach + reach)) return 0;
  }
  oz_turn_back(c->q0, r0, a);
  oz_turn_back(c->q1, r1, b);
  for (int k = 0; k < 3; k++) d[k] = b[k] - a[k];
  *length = sqrtf(oz_dot3f(d, d));
  return 1;
}

/* True if the way from x (now) to p (predicted) can come within `reach` of a wall. It misses
 * neither a particle that passes a thin wall nor a thin wall that passes a particle. The walls()
 * function of a backend uses it. planes: the caller knows that all walls are planes. */
OZ_FN int oz_wall_near_way(const oz_frame *f, const float x[3], const float p[3], float reach,
                           int planes) {
  if (!oz_finite3f(x) || !oz_finite3f(p)) return 0;
  for (uint32_t k = 0; k < f->collider_count; k++) {
    const oz_collider *c = f->collider + k;
    float a[3], b[3], mid[3], length;
    oz_face face;
    if (c->role != OZ_ROLE_COLLIDE || !oz_wall_path(c, x, p, reach, a, b, &length)) continue;
    /* a point of the way is within reach only if the middle is within reach plus half the way */
    float half = 0.5f * length;
    for (int m = 0; m < 3; m++) mid[m] = 0.5f * (a[m] + b[m]);
    /* the common case, without a function call on the GPU */
    if (planes || c->shape == OZ_SHAPE_PLANE)
      oz_plane_face(c, mid, &face);
    else
      oz_collider_face(f, c, mid, reach + half, &face);
    if (face.dist < reach + half) return 1;
    if (planes) continue;
    /* beyond all bricks only a lower bound is known: trace where the way is longer than that */
    if (c->shape == OZ_SHAPE_SDF && !(face.dist < OZ_FAR) && 8.0f * c->voxel < half + f->d)
      return 1;
  }
  return 0;
}

OZ_FN int oz_wall_near_path(const oz_frame *f, const float x[3], const float p[3], float reach) {
  return oz_wall_near_way(f, x, p, reach, 0);
}

/* True if x is inside a kill volume. */
OZ_FN int oz_wall_kill(const oz_frame *f, const float x[3]) {
  if (!oz_finite3f(x)) return 0;
  for (uint32_t k = 0; k < f->collider_count; k++) {
    const oz_collider *c = f->collider + k;
    if (c->role == OZ_ROLE_KILL && oz_collider_distance(f, c, x, 0.0f) < 0.0f) return 1;
  }
  return 0;
}

/* ---- Planes ---- */

/* Keeps the nearest `most` planes of those offered; rank is the distance at p. */
OZ_FN void oz_wall_offer(oz_wall *wall, float *rank, uint32_t *count, uint32_t most,
                         const oz_wall *w, float dist) {
  uint32_t at = *count;
  while (at > 0 && rank[at - 1] > dist) at--;
  if (at >= most) return;
  if (*count < most) (*count)++;
  for (uint32_t k = *count - 1; k > at; k--) wall[k] = wall[k - 1], rank[k] = rank[k - 1];
  wall[at] = *w;
  rank[at] = dist;
}

/* The plane that touches the collider's face as seen from the local point `at`. */
OZ_FN void oz_wall_plane(const oz_frame *f, const oz_collider *c, uint32_t collider,
                         const float at[3], const oz_face *face, const float x[3], const float p[3],
                         float reach, oz_wall *wall, float *rank, uint32_t *count) {
  oz_wall w;
  float world[3], foot[3], nx = 0.0f, np = 0.0f;
  if (!(oz_dot3f(face->n, face->n) > 0.5f)) return; /* no direction: the samples are flat */
  oz_turn(c->q1, face->n, w.n);
  oz_pose_out(c->p1, c->q1, at, world);
  for (int k = 0; k < 3; k++) {
    nx += w.n[k] * (x[k] - world[k]);
    np += w.n[k] * (p[k] - world[k]);
    foot[k] = at[k] - face->dist * face->n[k];
  }
  w.s = face->dist + nx;
  oz_collider_velocity(c, foot, f->inv_dt, w.u);
  /* too far from both the start and the predicted end? (Near one of them is enough: the solve may
   * stop the particle before the end.) */
  if (!(oz_minf(w.s + f->dt * oz_dot3f(w.n, w.u), face->dist + np) < reach)) return;
  w.friction = c->friction;
  w.stick = c->stick;
  if (c->friction_map_count && oz_friction_map_at(f, c, foot, &w.friction, &w.stick))
    w.friction = 1.0f - powf(oz_maxf(1.0f - w.friction, 0.0f), c->friction_map_power);
  w.collider = collider;
  w.active = 0;
  w.dense = c->wall_density;
  for (int k = 0; k < 3; k++) w.t[k] = f->dt * w.u[k];
  w.press = 0.0f;
  w.keep = 1.0f;
  for (int k = 0; k < 3; k++) w.took[k] = 0.0f;
  oz_wall_offer(wall, rank, count, f->contact_planes, &w, face->dist + np);
}

/* True if the solid of plane w lies between the place `from` and plane b: b cannot be reached there
 * without passing w. The way leads to where a particle touches b, or both where the normal's foot
 * is behind w, as at the bottom of a ramp. flat: the caller knows that no collider is curved. */
OZ_FN int oz_wall_between(const oz_frame *f, const oz_wall *w, const oz_wall *b, float dw, float db,
                          const float from[3], int flat) {
  const oz_collider *c = f->collider + w->collider;
  const float cosine = oz_dot3f(w->n, b->n), rest = 1.0f - cosine * cosine,
              out = oz_maxf(f->wall_gap - dw, 0.0f), /* a place within w is moved out first */
      down = db + out * cosine - f->wall_gap;
  float start[3], end[3], behind = f->wall_gap - (dw + out - down * cosine);
  if (!(down > 0.0f)) return 0;
  if (!(behind > 0.0f)) behind = 0.0f;
  const int meet = rest > OZ_WALL_PARALLEL;
  if (flat || oz_is_flat(c)) return !meet && behind > f->wall_gap;
  for (int a = 0; a < 3; a++) {
    start[a] = from[a] + out * w->n[a];
    end[a] = start[a] - down * b->n[a];
    if (meet) end[a] += behind / rest * (w->n[a] - cosine * b->n[a]);
  }
  float near[3], far[3];
  oz_face face;
  oz_pose_in(c->p1, c->q1, start, near);
  oz_pose_in(c->p1, c->q1, end, far);
  oz_collider_face(f, c, near, OZ_FAR, &face);
  return face.dist > 0.0f && oz_trace(f, c, near, far, &face, 1e-3f * f->d) <= 1.0f;
}

/* Drops planes behind the solid of a nearer one, from where the particle starts and from where it
 * is predicted. Held at both it would be drawn through the nearer: 16 of 1372 particles of jelly
 * that falls into a bowl passed its bottom, 2.5 separations thick, while it stood on a table. */
OZ_FN uint32_t oz_wall_reachable(const oz_frame *f, oz_wall *wall, float *rank, uint32_t count,
                                 const float x[3], const float p[3], int flat) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < count; k++) {
    const oz_wall b = wall[k];
    int hidden = 0;
    for (uint32_t m = 0; m < kept && !hidden; m++) {
      const oz_wall *w = wall + m;
      if (w->collider == b.collider) continue;
      hidden = oz_wall_between(f, w, &b, w->s, b.s, x, flat) &&
               oz_wall_between(f, w, &b, rank[m], rank[k], p, flat);
    }
    if (hidden) continue;
    wall[kept] = b;
    rank[kept++] = rank[k];
  }
  return kept;
}

/* i: the contact's particle; flat: the caller knows that no collider is curved. */
OZ_FN void oz_wall_planes_of(const oz_frame *f, uint32_t contact, size_t i, int flat) {
  const float *own = f->x + 4 * i, *end = f->p + 4 * i, x[3] = {own[0], own[1], own[2]},
              p[3] = {end[0], end[1], end[2]};
  oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  float *impulse = f->wall_impulse + (size_t)contact * f->contact_planes * 3;
  float rank[OZ_PLANES] = {0.0f, 0.0f, 0.0f};
  uint32_t count = 0;
  for (uint32_t k = 0; k < f->contact_planes * 3; k++) impulse[k] = 0.0f;
  f->wall_planes[contact] = 0;
  if (!oz_finite3f(x) || !oz_finite3f(p)) return;
  for (uint32_t k = 0; k < f->collider_count; k++) {
    const oz_collider *c = f->collider + k;
    const float reach = oz_wall_reach(f);
    float a[3], b[3], length;
    if (c->role != OZ_ROLE_COLLIDE || !oz_wall_path(c, x, p, reach, a, b, &length)) continue;
    if (flat || oz_is_flat(c)) {
      oz_face faces[OZ_FACES];
      int n = oz_container_faces(c, b, reach + length, faces);
      if (c->shape == OZ_SHAPE_PLANE) oz_plane_face(c, b, faces), n = 1;
      for (int m = 0; m < n; m++)
        oz_wall_plane(f, c, k, b, faces + m, x, p, reach, wall, rank, &count);
      continue;
    }
    oz_face face, from, entry;
    float e[3], t = 2.0f;
    oz_collider_face(f, c, b, reach, &face);
    /* If the way leads into or through the solid, the wall is the side of entry, not the nearest
     * one. */
    oz_collider_face(f, c, a, length + reach, &from);
    /* (beyond all bricks, only the width of a brick is known to be free) */
    if (from.dist > 0.0f && !((from.dist < OZ_FAR ? from.dist : 8.0f * c->voxel) > length))
      t = oz_trace(f, c, a, b, &from, 1e-3f * f->d);
    if (t <= 1.0f) {
      for (int m = 0; m < 3; m++) e[m] = a[m] + t * (b[m] - a[m]);
      oz_collider_face(f, c, e, reach, &entry);
      if (oz_dot3f(entry.n, entry.n) > 0.5f &&
          (!(face.dist < reach) || oz_dot3f(entry.n, face.n) < OZ_WALL_ENTRY)) {
        oz_wall_plane(f, c, k, e, &entry, x, p, reach, wall, rank, &count);
        continue;
      }
    }
    /* The particle was slightly inside already and is now nearer to the far side, or it leaves: the
     * wall is that of its start. */
    if ((from.dist <= 0.0f && oz_dot3f(from.n, face.n) < 0.0f) ||
        (from.dist < reach && !(face.dist < reach)))
      oz_wall_plane(f, c, k, a, &from, x, p, reach, wall, rank, &count);
    else if (face.dist < OZ_FAR)
      oz_wall_plane(f, c, k, b, &face, x, p, reach, wall, rank, &count);
  }
  f->wall_planes[contact] = oz_wall_reachable(f, wall, rank, count, x, p, flat);
}

OZ_FN void oz_wall_planes_item(const oz_frame *f, uint32_t contact) {
  oz_wall_planes_of(f, contact, f->wall_particle[contact], 0);
}

#endif
