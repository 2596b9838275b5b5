/* Things of a scene that begin within each other, and walls too thin to hold a fluid: told before
 * the first step throws particles out. SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <math.h>

enum { DIRECTIONS = 8, ACROSS = 12, COPIES = 64, TRIANGLES = 20000 };

static void warn_of(oz_reader *r, const char *group, const char *name, const char *what,
                    const char *other, const char *why) {
  const size_t mark = oz_down(r, group);
  oz_down(r, name);
  oz_warn(r, "begins inside %s %s: %s", what, other, why);
  oz_up(r, mark);
}

/* Is a point within the fluid? Of its copies only the first are looked at. */
static int in_fluid(const oz_fluid *f, const double x[3]) {
  const uint64_t all = (uint64_t)f->count[0] * f->count[1] * f->count[2];
  if (f->keep_state || f->from > 0.0f || !oz_shape_has_distance(&f->shape)) return 0;
  for (uint64_t n = 0; n < all && n < COPIES; n++) {
    const uint32_t at[3] = {(uint32_t)(n % f->count[0]), (uint32_t)(n / f->count[0] % f->count[1]),
                            (uint32_t)(n / f->count[0] / f->count[1])};
    ooze_pose pose;
    double local[3];
    oz_fluid_copy(f, at, n, &pose);
    oz_pose_unapply(&pose, x, local);
    if (oz_shape_distance(&f->shape, local) < 0.0) return 1;
  }
  return 0;
}

/* Point k of a nozzle's mouth, `back` metres up the stream from it. */
static void mouth_point(const ooze_emitter_desc *e, int k, double back, double out[3]) {
  /* of other outlines than round only the middle is sure to be open */
  const double round = e->outline == OOZE_OUTLINE_ROUND ? 0.9 : 0.0, pi = 3.14159265358979,
               far = k ? round * (double)e->radius : 0.0, angle = 2.0 * pi * k / DIRECTIONS;
  const double local[3] = {far * cos(angle), back, far * sin(angle)};
  oz_pose_apply(&e->start, local, out);
}

static void check_emitter(oz_reader *r, const oz_solids *solids, uint32_t index) {
  const ooze_scene *s = r->scene;
  const ooze_emitter_desc *e = &s->start.emitters[index].desc;
  const double d = (double)s->separation;
  if (!e->active) return;
  for (uint32_t i = 0; i < s->collider_count; i++) {
    const ooze_collider_desc *c = &s->start.colliders[i].desc;
    int inside = 0;
    if (c->role != OOZE_ROLE_COLLIDE) continue;
    /* the channel itself may go through a wall, unless particles stand in it */
    const double back = c->boundary == OOZE_BOUNDARY_PARTICLES ? d : -0.5 * d;
    for (int k = 0; k <= 2 * DIRECTIONS && !inside; k++) {
      double x[3];
      mouth_point(e, k, k < DIRECTIONS ? -0.5 * d : back, x);
      inside = oz_solid_distance(solids, i, x) < 0.0;
    }
    if (inside)
      warn_of(r, "emitters", s->emitters[index].name, "collider", s->colliders[i].name,
              "what it pours into the wall is thrown out at great speed; move its mouth");
  }
  /* at a later time fluids are elsewhere */
  for (uint32_t i = 0; i < s->fluid_count && !(e->from > 0.0f); i++) {
    int inside = 0;
    for (int k = 0; k <= 2 * DIRECTIONS && !inside; k++) { /* at the mouth, and behind it */
      double x[3];
      mouth_point(e, k, k < DIRECTIONS ? 0.0 : d, x);
      inside = in_fluid(&s->fluids[i], x);
    }
    if (inside)
      warn_of(r, "emitters", s->emitters[index].name, "fluid", s->fluids[i].name,
              "its particles come where others are, which fly apart; move one of the two");
  }
}

/* Point n of the body's shape; 0: there is none. */
static int body_point(const oz_fluid *f, uint32_t n, double out[3]) {
  double low[3], high[3];
  if (f->shape.kind == OZ_SHAPE_MESH) {
    for (int k = 0; k < 3; k++)
      out[k] = (double)f->shape.mesh.positions[3 * (n % f->shape.mesh.point_count) + (uint32_t)k];
    return 1;
  }
  if (!oz_shape_has_distance(&f->shape) || !oz_shape_bounds(&f->shape, low, high)) return 0;
  const uint32_t at[3] = {n % ACROSS, n / ACROSS % ACROSS, n / ACROSS / ACROSS};
  for (int k = 0; k < 3; k++)
    out[k] = low[k] + (high[k] - low[k]) * ((double)at[k] + 0.5) / (double)ACROSS;
  return oz_shape_distance(&f->shape, out) < 0.0;
}

static void check_body(oz_reader *r, const oz_solids *solids, uint32_t index) {
  const ooze_scene *s = r->scene;
  const oz_fluid *f = &s->bodies[index].fill;
  const uint32_t first[3] = {0, 0, 0};
  ooze_pose pose;
  if (f->shape.kind == OZ_SHAPE_MESH && !f->shape.mesh.point_count) return;
  oz_fluid_copy(f, first, 0, &pose);
  for (uint32_t i = 0; i < s->collider_count; i++) {
    if (s->start.colliders[i].desc.role != OOZE_ROLE_COLLIDE) continue;
    int inside = 0;
    for (uint32_t n = 0; n < ACROSS * ACROSS * ACROSS && !inside; n++) {
      double local[3], x[3];
      if (!body_point(f, n, local)) continue;
      oz_pose_apply(&pose, local, x);
      inside = oz_solid_distance(solids, i, x) < -0.5 * (double)s->separation;
    }
    if (inside)
      warn_of(r, "bodies", f->name, "collider", s->colliders[i].name,
              "the wall throws it out at great speed; move one of the two");
  }
}

/* Voxels that an open mesh is thickened by to either side. */
#define OPEN_VOXELS 1.5

static void tell_open(oz_reader *r, const char *name, double thick) {
  const size_t mark = oz_down(r, "colliders");
  oz_down(r, name);
  oz_warn(
      r,
      "the mesh is open, and becomes a wall that reaches about %.2g m to both sides of it (1.5 "
      "voxels): fluid stands that far off; close it, or take it as a sheet: \"shell\": true and "
      "\"boundary\": \"particles\"",
      thick);
  oz_up(r, mark);
}

/* A wall of known thickness that its samples do not show. */
static void tell_thin(oz_reader *r, const oz_collider_item *c, const ooze_collider_desc *desc) {
  const double thick = oz_shape_thickness(&c->shape);
  if (desc->invert || desc->role != OOZE_ROLE_COLLIDE ||
      desc->boundary == OOZE_BOUNDARY_PARTICLES || !((double)desc->voxel > 0.501 * thick))
    return;
  const size_t mark = oz_down(r, "colliders");
  oz_down(r, c->name);
  oz_down(r, "voxel");
  oz_warn(r,
          "%.3g m is more than half of the thinnest wall, %.3g m: fluid may leak through it; "
          "expected a voxel of %.3g m or less, or a thicker wall",
          (double)desc->voxel, thick, 0.5 * thick);
  oz_up(r, mark);
}

/* A mesh's wall as the solver sees it, half a separation behind the surface: it is thin where that
 * is less than a fifth of a separation within the solid. */
static void check_wall(oz_reader *r, const oz_solids *solids, uint32_t index) {
  const ooze_scene *s = r->scene;
  const oz_collider_item *c = &s->colliders[index];
  const ooze_collider_desc *desc = &s->start.colliders[index].desc;
  const ooze_mesh *mesh = &c->shape.mesh;
  const double d = (double)s->separation;
  double all = 0.0, thin = 0.0;
  tell_thin(r, c, desc);
  if (c->shape.kind != OZ_SHAPE_MESH || c->shell || c->shape.sequence || desc->invert ||
      desc->role != OOZE_ROLE_COLLIDE)
    return;
  if (!ooze_mesh_is_closed(mesh)) {
    tell_open(r, c->name, OPEN_VOXELS * (double)(desc->voxel > 0.0f ? desc->voxel : s->separation));
    return;
  }
  const uint64_t step = 1 + mesh->triangle_count / TRIANGLES;
  for (uint64_t t = 0; t < mesh->triangle_count; t += step) {
    double corner[3][3], middle[3], n[3], depth = 1e30;
    for (int k = 0; k < 3; k++)
      for (int a = 0; a < 3; a++)
        corner[k][a] =
            (double)mesh->positions[3 * (size_t)mesh->triangles[3 * t + (size_t)k] + (size_t)a];
    for (int a = 0; a < 3; a++) {
      const int b = (a + 1) % 3, e = (a + 2) % 3;
      n[a] = (corner[1][b] - corner[0][b]) * (corner[2][e] - corner[0][e]) -
             (corner[1][e] - corner[0][e]) * (corner[2][b] - corner[0][b]);
      middle[a] = (corner[0][a] + corner[1][a] + corner[2][a]) / 3.0;
    }
    const double area = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (!(area > 0.0)) continue;
    for (int side = -1; side <= 1; side += 2) { /* whichever way the triangles face */
      double local[3], x[3];
      for (int a = 0; a < 3; a++) local[a] = middle[a] + 0.5 * d * side * n[a] / area;
      oz_pose_apply(&desc->start, local, x);
      depth = fmin(depth, oz_solid_distance(solids, index, x));
    }
    all += area;
    if (depth > -0.2 * d) thin += area;
  }
  if (!(thin > 0.2 * all)) return;
  const size_t mark = oz_down(r, "colliders");
  oz_down(r, c->name);
  oz_warn(r,
          "over %.0f%% of its surface the wall is thinner than a particle_separation of %g m, and "
          "fluid leaks through it; make it two separations thick, or a sheet: \"shell\": true and "
          "\"boundary\": \"particles\"",
          100.0 * thin / all, d);
  oz_up(r, mark);
}

ooze_result oz_check_overlaps(oz_reader *r) {
  const ooze_scene *s = r->scene;
  oz_solids *solids = oz_solids_create(s, 0.0);
  if (!solids) return OZ_NO_MEMORY(r);
  for (uint32_t i = 0; i < s->emitter_count; i++) check_emitter(r, solids, i);
  for (uint32_t i = 0; i < s->body_count; i++) check_body(r, solids, i);
  for (uint32_t i = 0; i < s->collider_count; i++) check_wall(r, solids, i);
  oz_solids_destroy(solids);
  return OOZE_OK;
}
