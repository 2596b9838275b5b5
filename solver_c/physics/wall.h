/* Walls as particles see them: up to three planes each, found once a substep (NUMERICS.md 3.6, 3.7, part 3).
 *
 * A plane stands where the wall is at the END of the substep. A particle that starts at x and moves by y ends at
 * distance
 *     D(y) = s + n.y,      s = dist(p) - n.(p - x)        (exact at the predicted p, linear around it)
 * from it, so "does not penetrate" is D >= wall_gap whatever the wall does meanwhile: in the velocity phase y = dt u
 * and the condition is s + dt u.n >= wall_gap, with no wall velocity in it, because s has it already. Only what
 * compares with where the wall WAS (is the particle touching it now? friction?) uses the wall's velocity u_w: the
 * distance from the start pose is s + dt u_w.n.
 *
 * Friction acts once on every bit of tangential displacement, in whichever phase it arises: oz_wall.t remembers what it
 * has acted on. So the result does not depend on how many iterations touch the wall. 1 holds fully, 0 slides freely.
 *
 * Order in a substep: walls() of the backend, wall_planes (at the predicted p); wall_hold, then wall_filter after every
 * gather of forces in the velocity solve, wall_clamp after it; wall_project after every change of y; wall_density
 * before density is evaluated, wall_mirror before density_move; wall_drag in the rest filter. wall_load (after cg_alpha) and wall_press only add up what
 * walls carry. */
#ifndef OZ_PHYSICS_WALL_H
#define OZ_PHYSICS_WALL_H

#include "physics/contact.h"
#include "physics/rows.h"

#define OZ_WALL_LAYER 0.3f  /* d: nearer than this to the nearest neighbour's distance counts as the same layer */
#define OZ_WALL_TOUCH 0.05f /* d: nearer than this to wall_gap counts as touching */
#define OZ_WALL_STICK 0.7f  /* d: nearer than this is the layer that a sticky wall holds; where walls count in the density it stands at 0.5 */
#define OZ_WALL_ENTRY 0.7f  /* cosine: normals of entry and nearest face that differ more are different faces */
#define OZ_WALL_WEDGE 0.1f  /* squared sine: planes nearer to parallel than 18 degrees count as one direction */
#define OZ_WALL_SHEAR 0.75f /* d: the layer nearer than this is dragged along by the wall */
#define OZ_WALL_ORDER 0.05f /* of the way to the wall beyond one separation that is kept as distance */
#define OZ_WALL_DRAG 0.8f   /* NUMERICS.md part 3 */
#define OZ_WALL_IMAGE 0.98f /* of what images push: with 1 slabs of four densities float 0.7% of their draught too high, on the mean */

/* m: a plane further than this from the predicted position of a particle matters neither for density nor contact: h,
 * and one separation for what the solve may add to the prediction. The backend selects particles with it. */
OZ_FN float oz_wall_reach(const oz_frame *f) { return f->h + f->d; }

/* What belongs to a body touches walls with Coulomb's friction (body_wall in body.h); the stages here leave it alone. */
OZ_FN int oz_wall_leaves(const oz_frame *f, size_t i) {
  return !(f->omega[i] > 0.0f) || f->owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_RIGID || f->owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_SOFT;
}

/* ---- Selecting particles ---- */

/* Could x come within `reach` of any wall at its end pose? */
OZ_FN int oz_wall_near(const oz_frame *f, const float x[3], float reach) {
  if (!oz_finite3f(x)) return 0;
  for (uint32_t k = 0; k < f->collider_count; k++) {
    const oz_collider *c = f->collider + k;
    if (c->role == OZ_ROLE_COLLIDE && oz_collider_distance(f, c, x, reach) < reach) return 1;
  }
  return 0;
}
/* The particle's way from x to p as the collider sees it: ends in local space. 0 if it stays further than `reach` from
 * the bounding sphere. */
OZ_FN int oz_wall_path(const oz_collider *c, const float x[3], const float p[3], float reach, float a[3], float b[3],
                       float *length) {
  float r0[3], r1[3], d[3];
  for (int k = 0; k < 3; k++) r0[k] = x[k] - c->p0[k], r1[k] = p[k] - c->p1[k], d[k] = r1[k] - r0[k];
  float moved = sqrtf(oz_dot3f(d, d));
  if (c->reach > 0.0f) {
    /* turning by dq moves a point at distance r by at most 2 |dq| r */
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
/* Could the way from x (now) to p (predicted) come within `reach` of any wall, on the way too? Nothing that moves past
 * a thin wall, or that a thin wall moves past, is missed. This is what walls() of the backend should use. */
OZ_FN int oz_wall_near_path(const oz_frame *f, const float x[3], const float p[3], float reach) {
  if (!oz_finite3f(x) || !oz_finite3f(p)) return 0;
  for (uint32_t k = 0; k < f->collider_count; k++) {
    const oz_collider *c = f->collider + k;
    float a[3], b[3], mid[3], length;
    oz_face face;
    if (c->role != OZ_ROLE_COLLIDE || !oz_wall_path(c, x, p, reach, a, b, &length)) continue;
    /* a point of the way is within reach only if its middle is within reach and half the way */
    float half = 0.5f * length;
    for (int m = 0; m < 3; m++) mid[m] = 0.5f * (a[m] + b[m]);
    oz_collider_face(f, c, mid, reach + half, &face);
    if (face.dist < reach + half) return 1;
    /* far from every brick is all that is known here: look closer if the way is long as bricks go */
    if (c->shape == OZ_SHAPE_SDF && !(face.dist < OZ_FAR) && 8.0f * c->voxel < half + f->d) return 1;
  }
  return 0;
}
/* Is x inside a kill volume? */
OZ_FN int oz_wall_kill(const oz_frame *f, const float x[3]) {
  if (!oz_finite3f(x)) return 0;
  for (uint32_t k = 0; k < f->collider_count; k++) {
    const oz_collider *c = f->collider + k;
    if (c->role == OZ_ROLE_KILL && oz_collider_distance(f, c, x, 0.0f) < 0.0f) return 1;
  }
  return 0;
}

/* ---- Planes ---- */

/* Keeps the nearest OZ_PLANES of what is offered; rank is the distance at p. */
OZ_FN void oz_wall_offer(oz_wall *wall, float *rank, uint32_t *count, const oz_wall *w, float dist) {
  uint32_t at = *count;
  while (at > 0 && rank[at - 1] > dist) at--;
  if (at >= OZ_PLANES) return;
  if (*count < OZ_PLANES) (*count)++;
  for (uint32_t k = *count - 1; k > at; k--) wall[k] = wall[k - 1], rank[k] = rank[k - 1];
  wall[at] = *w;
  rank[at] = dist;
}
/* The plane that touches the collider's face as seen from the local point `at`. */
OZ_FN void oz_wall_plane(const oz_frame *f, uint32_t collider, const float at[3], const oz_face *face, const float x[3],
                         const float p[3], float reach, oz_wall *wall, float *rank, uint32_t *count) {
  const oz_collider *c = f->collider + collider;
  oz_wall w;
  float world[3], foot[3], nx = 0.0f, np = 0.0f;
  if (!(oz_dot3f(face->n, face->n) > 0.5f)) return; /* no direction */
  oz_turn(c->q1, face->n, w.n);
  oz_pose_out(c->p1, c->q1, at, world);
  for (int k = 0; k < 3; k++) {
    nx += w.n[k] * (x[k] - world[k]);
    np += w.n[k] * (p[k] - world[k]);
    foot[k] = at[k] - face->dist * face->n[k];
  }
  w.s = face->dist + nx;
  oz_collider_velocity(c, foot, f->inv_dt, w.u);
  /* far from where it starts, and from where it is to end? (Near one is enough: the solve may keep it from getting
   * there.) */
  if (!(oz_minf(w.s + f->dt * oz_dot3f(w.n, w.u), face->dist + np) < reach)) return;
  w.friction = c->friction;
  w.stick = c->stick;
  if (c->grip_count && oz_grip_at(f, c, foot, &w.friction, &w.stick))
    w.friction = 1.0f - powf(oz_maxf(1.0f - w.friction, 0.0f), c->grip_power);
  w.collider = collider;
  w.active = 0;
  w.dense = c->wall_density;
  for (int k = 0; k < 3; k++) w.t[k] = f->dt * w.u[k];
  w.press = 0.0f;
  w.keep = 1.0f;
  for (int k = 0; k < 3; k++) w.took[k] = 0.0f;
  oz_wall_offer(wall, rank, count, &w, face->dist + np);
}

OZ_FN void oz_wall_planes_item(const oz_frame *f, uint32_t slot) {
  const size_t i = f->wall_particle[slot];
  const float *x = f->x + 4 * i, *p = f->p + 4 * i;
  oz_wall *wall = f->wall + (size_t)slot * OZ_PLANES;
  float *impulse = f->wall_impulse + (size_t)slot * OZ_PLANES * 3;
  float rank[OZ_PLANES] = {0.0f, 0.0f, 0.0f};
  uint32_t count = 0;
  for (int k = 0; k < OZ_PLANES * 3; k++) impulse[k] = 0.0f;
  f->wall_planes[slot] = 0;
  if (!oz_finite3f(x) || !oz_finite3f(p)) return;
  for (uint32_t k = 0; k < f->collider_count; k++) {
    const oz_collider *c = f->collider + k;
    const float reach = oz_wall_reach(f);
    float a[3], b[3], length;
    if (c->role != OZ_ROLE_COLLIDE || !oz_wall_path(c, x, p, reach, a, b, &length)) continue;
    if (oz_is_container(c)) {
      oz_face faces[OZ_FACES];
      int n = oz_container_faces(c, b, reach + length, faces);
      for (int m = 0; m < n; m++) oz_wall_plane(f, k, b, faces + m, x, p, reach, wall, rank, &count);
      continue;
    }
    oz_face face, from, entry;
    float e[3], t = 2.0f;
    oz_collider_face(f, c, b, reach, &face);
    if (c->shape == OZ_SHAPE_PLANE) {
      oz_wall_plane(f, k, b, &face, x, p, reach, wall, rank, &count);
      continue;
    }
    /* Did the way lead into the solid, or through it? Then the side where it went in is the wall, not the nearest. */
    oz_collider_face(f, c, a, length + reach, &from);
    /* (far from every brick, all that is known is that a brick's width is free) */
    if (from.dist > 0.0f && !((from.dist < OZ_FAR ? from.dist : 8.0f * c->voxel) > length))
      t = oz_trace(f, c, a, b, &from, 1e-3f * f->d);
    if (t <= 1.0f) {
      for (int m = 0; m < 3; m++) e[m] = a[m] + t * (b[m] - a[m]);
      oz_collider_face(f, c, e, reach, &entry);
      if (oz_dot3f(entry.n, entry.n) > 0.5f && (!(face.dist < reach) || oz_dot3f(entry.n, face.n) < OZ_WALL_ENTRY)) {
        oz_wall_plane(f, k, e, &entry, x, p, reach, wall, rank, &count);
        continue;
      }
    }
    /* It was a little inside already and is now nearer to the far side, or it leaves: the wall is that of its start. */
    if ((from.dist <= 0.0f && oz_dot3f(from.n, face.n) < 0.0f) || (from.dist < reach && !(face.dist < reach)))
      oz_wall_plane(f, k, a, &from, x, p, reach, wall, rank, &count);
    else if (face.dist < OZ_FAR)
      oz_wall_plane(f, k, b, &face, x, p, reach, wall, rank, &count);
  }
  f->wall_planes[slot] = count;
}

/* ---- The velocity projection's filter ---- */

/* The active planes of one particle as an orthonormal set, so that the filter
 *     P = keep (I - sum_k e_k e_k^T),      keep = product of (1 - friction)
 * is symmetric and positive semi-definite whatever the angles between walls; conjugate gradients need that. A plane
 * almost parallel to one before it adds no direction. */
typedef struct oz_hold {
  int count;                 /* planes that add a direction: */
  int on[OZ_PLANES];
  float e[OZ_PLANES][3];
  float b[OZ_PLANES];        /* m/s: e_k.u that puts the particle exactly at wall_gap */
  float keep;
  float u[3];                /* m/s: velocity of the walls, weighted by friction: what the tangential part is drawn to */
  float share[OZ_PLANES];    /* of each plane in friction */
  int shear;                 /* plane that drags the particle along without pressing on it, or -1; its */
  float shear_n[3], shear_keep;
} oz_hold;

/* Does it remember its shape, and give way? Without compliance there is no stress to be kept in balance. */
OZ_FN int oz_wall_solid(const oz_frame *f, size_t i) {
  return (f->tau[i] > 0.0f && f->compliance[i] > 0.0f) || (f->yielding && f->matter[f->material[i]].yield_stress > 0.0f);
}
/* m: where the particle starts from, measured from where the wall starts. */
OZ_FN float oz_wall_start(const oz_frame *f, const oz_wall *w) { return w->s + f->dt * oz_dot3f(w->n, w->u); }
/* In reach of a wall that holds on to what it touches. */
OZ_FN int oz_wall_sticks(const oz_frame *f, const oz_wall *w) {
  return w->stick > 0.0f && oz_wall_start(f, w) <= OZ_WALL_STICK * f->d;
}

/* m: how near the velocity projection lets it come. A wall that counts in the density keeps its distance by pressure, in the
 * position phase; but what remembers its shape must know of it while its stress is solved for, or it falls freely there and
 * is pushed back out of balance, every substep. So it comes no nearer than it is, or than half a separation. */
OZ_FN float oz_wall_floor(const oz_frame *f, const oz_wall *w, size_t i) {
  if (!f->wall_density || !w->dense || !oz_wall_solid(f, i)) return f->wall_gap;
  return oz_maxf(f->wall_gap, oz_minf(0.5f * f->d, oz_wall_start(f, w)));
}

/* Loops over planes have a fixed count and index nothing by what they find, so that all of this stays in registers. */
OZ_FN void oz_wall_basis(const oz_frame *f, size_t i, const oz_wall *wall, uint32_t planes, oz_hold *h) {
  float total = 0.0f;
  h->count = 0;
  h->keep = h->shear_keep = 1.0f;
  h->shear = -1;
  for (int a = 0; a < 3; a++) h->u[a] = h->shear_n[a] = 0.0f;
  for (uint32_t k = 0; k < OZ_PLANES; k++) h->share[k] = 0.0f, h->on[k] = 0;
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    const oz_wall *w = wall + k;
    if (w->keep < h->shear_keep) { /* the strongest: several would not commute, and P must be symmetric */
      h->shear = (int)k, h->shear_keep = w->keep;
      for (int a = 0; a < 3; a++) h->shear_n[a] = w->n[a];
    }
    if (!w->active) continue;
    float e[3] = {w->n[0], w->n[1], w->n[2]};
    float b = w->active == OZ_WALL_STUCK ? oz_dot3f(w->n, w->u) : (oz_wall_floor(f, w, i) - w->s) * f->inv_dt;
    for (uint32_t m = 0; m < k; m++) {
      if (!h->on[m]) continue;
      float along = oz_dot3f(e, h->e[m]);
      for (int a = 0; a < 3; a++) e[a] -= along * h->e[m][a];
      b -= along * h->b[m];
    }
    const float friction = w->active == OZ_WALL_STANDS ? 0.0f : w->friction; /* what stands off is dragged by shear */
    h->keep *= 1.0f - friction;
    h->share[k] = friction;
    total += friction;
    for (int a = 0; a < 3; a++) h->u[a] += friction * w->u[a];
    float l2 = oz_dot3f(e, e);
    if (!(l2 > OZ_WALL_WEDGE)) continue;
    float inv = 1.0f / sqrtf(l2);
    for (int a = 0; a < 3; a++) h->e[k][a] = e[a] * inv;
    h->b[k] = b * inv;
    h->on[k] = 1;
    h->count++;
  }
  if (total > 0.0f) {
    for (int a = 0; a < 3; a++) h->u[a] /= total;
    for (uint32_t k = 0; k < OZ_PLANES; k++) h->share[k] /= total;
  }
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
/* v <- N v, N the filter of the active planes; what is taken away goes to each plane's impulse, times scale (kg over
 * whatever v is). */
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
    for (int k = 0; k < OZ_PLANES; k++) impulse[3 * k + a] += scale * h->share[k] * lost;
  }
}

/* v <- P v = N D N v: symmetric and positive semi-definite because N and D are. */
OZ_FN void oz_wall_apply(const oz_hold *h, float v[3], float *impulse, float scale) {
  if (h->count) oz_wall_stop(h, v, impulse, scale);
  if (h->shear < 0) return;
  oz_wall_shear(h, v, impulse, scale);
  if (h->count) oz_wall_stop(h, v, impulse, scale);
}

/* Is neighbour j nearer to wall w than particle i, by more than a layer? Both are where they start. Against a curved or
 * small collider the plane alone would call everything behind it nearer, so there the collider itself is asked. */
OZ_FN int oz_wall_nearer(const oz_frame *f, const oz_wall *w, size_t i, size_t j) {
  const float *xi = f->x + 4 * i, *xj = f->x + 4 * j, layer = OZ_WALL_LAYER * f->d;
  float r[3] = {xj[0] - xi[0], xj[1] - xi[1], xj[2] - xi[2]};
  const oz_collider *c = f->collider + w->collider;
  if (!(oz_dot3f(w->n, r) < -layer)) return 0;
  if (c->shape == OZ_SHAPE_PLANE || oz_is_container(c)) return 1;
  float a[3], b[3], n[3];
  oz_face fi, fj;
  oz_pose_in(c->p0, c->q0, xi, a);
  oz_pose_in(c->p0, c->q0, xj, b);
  oz_collider_face(f, c, a, oz_wall_reach(f), &fi);
  oz_collider_face(f, c, b, oz_wall_reach(f), &fj);
  oz_turn(c->q0, fj.n, n);
  /* on the same side, and truly nearer */
  return oz_dot3f(n, w->n) > 0.0f && fj.dist < fi.dist - layer;
}

/* How much of its sliding velocity the layer next to a wall keeps in this substep. Fluid between the wall and the
 * centre of the particle, s away, shears at (u - u_w) / s and pulls with mu d^2 (u - u_w) / s; implicitly, that is a
 * factor 1 / (1 + eta). So a channel has its no-slip plane at the wall, not at the first particles, and thin fluids,
 * whose boundary layer is finer than a particle, are not held at all. Friction scales it: 0 slides whatever the
 * viscosity. */
OZ_FN float oz_wall_keep(const oz_frame *f, const oz_wall *w, size_t i) {
  const float s0 = w->s + f->dt * oz_dot3f(w->n, w->u);
  if (oz_wall_leaves(f, i) || !(w->friction > 0.0f) || !(s0 < OZ_WALL_SHEAR * f->d)) return 1.0f;
  /* mu = (tau + dt) / alpha and alpha = a V0 dt^2 / (m_ref d^2): eta = dt mu d^2 / (s m) */
  const float eta = (f->tau[i] + f->dt) * f->inv_dt * f->omega[i] * f->d / (f->a[i] * oz_maxf(s0, 0.25f * f->d));
  float keep = 1.0f / (1.0f + eta);
  if (f->yielding) { /* and a yield stress holds it up to that: what pulls at it is what its velocity has become without */
    const float *u = f->u + 4 * i, rel[3] = {u[0] - w->u[0], u[1] - w->u[1], u[2] - w->u[2]}, along = oz_dot3f(rel, w->n);
    const float slides = sqrtf(oz_maxf(oz_dot3f(rel, rel) - along * along, 0.0f));
    const float held = f->matter[f->material[i]].yield_stress * f->dt * f->omega[i] / (1000.0f * f->d);
    keep *= held < slides ? 1.0f - held / slides : 0.0f;
  }
  return 1.0f - w->friction * (1.0f - keep);
}

/* The active set: a particle that would end nearer than wall_gap and is of the layer nearest to the wall, or touches it
 * already. Holding everything that would penetrate pins several layers to one plane, and explodes (NUMERICS.md 3.6);
 * the position phase deals with the rest. Touching is measured where the wall is now, not where it will be: a wall that
 * moves fast into the fluid must not pin all the layers that it will have passed. */
OZ_FN void oz_wall_hold_item(const oz_frame *f, uint32_t slot) {
  const size_t i = f->wall_particle[slot];
  const uint32_t planes = f->wall_planes[slot];
  oz_wall *wall = f->wall + (size_t)slot * OZ_PLANES;
  float *u = f->u + 4 * i;
  int any = 0;
  for (uint32_t k = 0; k < planes; k++) {
    oz_wall *w = wall + k;
    w->active = 0;
    w->keep = oz_wall_keep(f, w, i);
    any |= w->keep < 1.0f;
    if (oz_wall_leaves(f, i)) continue;
    const float ends = w->s + f->dt * oz_dot3f(w->n, u), floor = oz_wall_floor(f, w, i);
    if (!(ends < floor)) { /* not into it: away, and stuck? */
      if (!oz_wall_sticks(f, w) || !(oz_dot3f(w->n, u) - oz_dot3f(w->n, w->u) < w->stick * f->dt)) continue;
      if (!(oz_dot3f(w->n, u) > oz_dot3f(w->n, w->u))) continue;
      w->active = OZ_WALL_STUCK;
      w->keep = 1.0f;
      any = 1;
      continue;
    }
    int hold = oz_wall_start(f, w) <= floor + OZ_WALL_TOUCH * f->d;
    if (!hold) {
      const uint32_t length = f->len_c[i];
      hold = 1;
      for (uint32_t m = 0; m < length && hold; m++)
        hold = !oz_wall_nearer(f, w, i, oz_neighbour(f, i, m)); /* i itself never is */
    }
    w->active = OZ_WALL_FREE;
    if (hold) w->active = ends < f->wall_gap ? OZ_WALL_HELD : OZ_WALL_STANDS;
    if (w->active == OZ_WALL_HELD) w->keep = 1.0f; /* friction has it */
    any |= hold;
  }
  if (!any) return;
  oz_hold h;
  float rel[3], *impulse = f->wall_impulse + (size_t)slot * OZ_PLANES * 3, mass = f->m_ref / f->omega[i];
  oz_wall_basis(f, i, wall, planes, &h);
  if (h.shear >= 0) {
    const float *uw = wall[h.shear].u;
    for (int a = 0; a < 3; a++) rel[a] = u[a] - uw[a];
    oz_wall_shear(&h, rel, impulse, mass);
    for (int a = 0; a < 3; a++) u[a] = uw[a] + rel[a];
  }
  if (!h.count) return;
  /* u = walls' velocity + P (u - walls' velocity), with the normal parts that end at wall_gap: relative to a target
   * that has those, nothing but P is needed */
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

/* dx <- P dx: what the velocity solve may move. What each wall took is kept until the length of the step is known. */
OZ_FN void oz_wall_filter_item(const oz_frame *f, uint32_t slot) {
  oz_hold h;
  const size_t i = f->wall_particle[slot];
  oz_wall *wall = f->wall + (size_t)slot * OZ_PLANES;
  const uint32_t planes = f->wall_planes[slot];
  float took[OZ_PLANES * 3], *dx = f->dx + 4 * i, v[3] = {dx[0], dx[1], dx[2]};
  for (int k = 0; k < OZ_PLANES * 3; k++) took[k] = 0.0f;
  oz_wall_basis(f, i, wall, planes, &h);
  oz_wall_apply(&h, v, took, 1.0f);
  for (int a = 0; a < 3; a++) dx[a] = v[a];
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    for (uint32_t a = 0; a < 3; a++) wall[k].took[a] = took[3 * k + a];
  }
}

/* After cg_alpha: the wall's share of this iteration's step. */
OZ_FN void oz_wall_load_item(const oz_frame *f, uint32_t slot) {
  const size_t i = f->wall_particle[slot];
  const oz_wall *wall = f->wall + (size_t)slot * OZ_PLANES;
  float *impulse = f->wall_impulse + (size_t)slot * OZ_PLANES * 3, now[OZ_PLANES * 3];
  const uint32_t planes = f->wall_planes[slot];
  if (!(f->omega[i] > 0.0f)) return;
  const float scale = (float)f->scalar[OZ_SCALAR_ALPHA] * f->m_ref / f->omega[i] * f->inv_dt;
  for (uint32_t k = 0; k < OZ_PLANES; k++) { /* all is read before anything is written */
    if (k >= planes) break;
    for (uint32_t a = 0; a < 3; a++) now[3 * k + a] = impulse[3 * k + a] + scale * wall[k].took[a];
  }
  for (uint32_t k = 0; k < OZ_PLANES; k++) {
    if (k >= planes) break;
    for (uint32_t a = 0; a < 3; a++) impulse[3 * k + a] = now[3 * k + a];
  }
}

/* After the velocity solve: no active plane is penetrated, and its friction is done with. (The solve keeps both to
 * rounding; planes that added no direction of their own are put right here.) */
OZ_FN void oz_wall_clamp_item(const oz_frame *f, uint32_t slot) {
  const size_t i = f->wall_particle[slot];
  const uint32_t planes = f->wall_planes[slot];
  oz_wall *wall = f->wall + (size_t)slot * OZ_PLANES;
  float *u = f->u + 4 * i, *impulse = f->wall_impulse + (size_t)slot * OZ_PLANES * 3;
  if (!(f->omega[i] > 0.0f)) return;
  const float mass = f->m_ref / f->omega[i];
  for (uint32_t k = 0; k < planes; k++) {
    if (wall[k].active != OZ_WALL_STUCK) continue;
    /* what the wall has been given is what it held on with; too much: it lets go */
    const float pull = oz_dot3f(wall[k].n, impulse + 3 * k) / mass;
    if (!(pull > wall[k].stick * f->dt)) continue;
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
}

/* ---- Density ---- */

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

/* ---- Positions ---- */

/* m: how near to the wall a particle may end. What comes from further than a separation within one substep keeps a
 * trace of its order: many layers stopped on exactly one plane would have no direction left to part in. */
OZ_FN float oz_wall_rest(const oz_frame *f, const oz_wall *w) {
  return f->wall_gap + OZ_WALL_ORDER * oz_maxf(0.0f, w->s + f->dt * oz_dot3f(w->n, w->u) - f->d);
}
/* Out of every wall, with friction on what is new of the tangential displacement. A second pass for corners has no
 * friction, so that what friction holds cannot end inside another wall. A sticky wall keeps what touched it and would
 * leave with less acceleration than `stick`. */
OZ_FN void oz_wall_project_item(const oz_frame *f, uint32_t slot) {
  const size_t i = f->wall_particle[slot];
  const uint32_t planes = f->wall_planes[slot];
  oz_wall *wall = f->wall + (size_t)slot * OZ_PLANES;
  float *impulse = f->wall_impulse + (size_t)slot * OZ_PLANES * 3, y[3] = {f->y[4 * i], f->y[4 * i + 1], f->y[4 * i + 2]};
  int moved = 0;
  if (planes == 0 || oz_wall_leaves(f, i)) return;
  const float to_wall = -f->m_ref / f->omega[i] * f->inv_dt;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t k = 0; k < OZ_PLANES; k++) {
      if (k >= planes) break;
      oz_wall *w = wall + k;
      const float n[3] = {w->n[0], w->n[1], w->n[2]};
      float yn = oz_dot3f(n, y), lift = oz_wall_rest(f, w) - (w->s + yn), old[3] = {y[0], y[1], y[2]};
      int held = lift > 0.0f;
      if (!held && pass == 0 && oz_wall_sticks(f, w)) { /* stays as far off as it was */
        const float back = oz_maxf(oz_wall_start(f, w), f->wall_gap) - (w->s + yn);
        held = back < 0.0f && -back < w->stick * f->dt * f->dt;
        if (held) lift = back;
      }
      if (!held) continue;
      for (int a = 0; a < 3; a++) y[a] += lift * n[a];
      if (pass == 0) {
        const float t[3] = {w->t[0], w->t[1], w->t[2]}, tn = oz_dot3f(n, t), friction = w->friction;
        yn = oz_dot3f(n, y);
        for (int a = 0; a < 3; a++) {
          float done = t[a] - tn * n[a], now = y[a] - yn * n[a], to = done + (1.0f - friction) * (now - done);
          w->t[a] = to;
          y[a] = to + yn * n[a];
        }
      }
      moved = 1;
      float now[3] = {impulse[3 * k], impulse[3 * k + 1], impulse[3 * k + 2]};
      for (uint32_t a = 0; a < 3; a++) impulse[3 * k + a] = now[a] + to_wall * (y[a] - old[a]);
    }
  if (moved)
    for (size_t a = 0; a < 3; a++) f->y[4 * i + a] = y[a], f->p[4 * i + a] = f->x[4 * i + a] + y[a];
}

/* ---- Rest ---- */

/* Static wall drag for what is almost still (NUMERICS.md part 3), relative to the walls, each as far as it presses. */
OZ_FN void oz_wall_drag_item(const oz_frame *f, uint32_t slot) {
  const size_t i = f->wall_particle[slot];
  const oz_wall *wall = f->wall + (size_t)slot * OZ_PLANES;
  float *u = f->u + 4 * i, goal[3] = {0.0f, 0.0f, 0.0f}, total = 0.0f;
  if (oz_wall_leaves(f, i)) return;
  for (uint32_t k = 0; k < f->wall_planes[slot]; k++) {
    total += wall[k].press;
    for (int a = 0; a < 3; a++) goal[a] += wall[k].press * wall[k].u[a];
  }
  if (!(total > 0.0f)) return;
  float rel[3], q;
  for (int a = 0; a < 3; a++) rel[a] = u[a] - goal[a] / total;
  q = oz_dot3f(rel, rel) / (f->rest_speed * f->rest_speed + 1e-30f);
  float k = OZ_WALL_DRAG * oz_minf(1.0f, f->wall_term[4 * i + 3]) / (1.0f + q * q);
  for (int a = 0; a < 3; a++) u[a] -= k * rel[a];
}

#endif
