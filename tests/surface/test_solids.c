/* Solids taken out of a surface: level sets and meshes end at walls. SPDX-License-Identifier:
 * Apache-2.0 */
#include "scenes.h"

enum { N = 16 };
#define D 0.01f
#define VOXEL 0.005f

/* Particles of a cube from the origin on, 0.16 m a side, with the solids taken out. */
static ooze_surface *cube(const ooze_collider_desc *solids, uint32_t count, float gap,
                          uint32_t threads) {
  float *x = lattice(N, D, 0.2f);
  ooze_surface_desc d;
  ooze_surface_desc_default(&d);
  d.method = OOZE_SURFACE_ANISOTROPIC;
  d.solids = solids;
  d.solid_count = count;
  d.solid_gap = gap;
  d.threads = threads;
  ooze_surface *s = build(&d, x, N * N * N);
  free(x);
  return s;
}

static double volume_of(const ooze_surface *s) {
  ooze_surface_info info;
  ooze_surface_info_default(&info);
  ooze_surface_info_get(s, &info);
  return info.volume;
}

static ooze_collider_desc solid_of(uint32_t shape, float x, float y, float z, float half) {
  ooze_collider_desc c;
  ooze_collider_desc_default(&c);
  c.shape = shape;
  c.end.position[0] = x;
  c.end.position[1] = y;
  c.end.position[2] = z;
  c.half[0] = c.half[1] = c.half[2] = half;
  return c;
}

/* Distance from the solid, exactly: a half-space, a ball, or a box that may be turned about z. */
static double true_distance(const ooze_collider_desc *c, const float p[3]) {
  const double turn = 2.0 * atan2((double)c->end.rotation[2], (double)c->end.rotation[3]);
  double x = (double)p[0] - (double)c->end.position[0],
         y = (double)p[1] - (double)c->end.position[1],
         z = (double)p[2] - (double)c->end.position[2];
  const double u = cos(turn) * x + sin(turn) * y, v = cos(turn) * y - sin(turn) * x;
  double d = v;
  if (c->shape == OOZE_SHAPE_SPHERE) d = sqrt(x * x + y * y + z * z) - (double)c->half[0];
  if (c->shape == OOZE_SHAPE_BOX || c->shape == OOZE_SHAPE_SDF) {
    const double h = (double)c->half[0], a = fabs(u) - h, b = fabs(v) - h, e = fabs(z) - h;
    const double in = fmin(fmax(a, fmax(b, e)), 0.0);
    a > 0.0 || b > 0.0 || e > 0.0
        ? (d = sqrt(pow(fmax(a, 0.0), 2) + pow(fmax(b, 0.0), 2) + pow(fmax(e, 0.0), 2)))
        : (d = in);
  }
  return c->invert ? -d : d;
}

typedef struct depths {
  double corners, edges; /* m: how far the worst vertex and middle of an edge are in the solid */
  uint32_t touching;     /* vertices within a hundredth of a voxel of it */
} depths;

static depths depths_of(const ooze_surface *s, const ooze_collider_desc *c, double gap) {
  depths out = {0.0, 0.0, 0};
  ooze_mesh m;
  ooze_message why = {""};
  ooze_mesh_default(&m);
  CHECK(ooze_surface_mesh(s, 0.0, &m, &why) == OOZE_OK, "%s", why.text);
  CHECK(m.triangle_count > 1000);
  for (uint32_t i = 0; i < m.point_count; i++) {
    const double d = true_distance(c, m.positions + 3 * (size_t)i) - gap;
    out.corners = fmax(out.corners, -d);
    out.touching += fabs(d) < 0.01 * (double)VOXEL;
  }
  for (uint64_t t = 0; t < m.triangle_count; t++)
    for (int k = 0; k < 3; k++) {
      const float *p = m.positions + 3 * (size_t)m.triangles[3 * t + (uint64_t)k],
                  *q = m.positions + 3 * (size_t)m.triangles[3 * t + (uint64_t)((k + 1) % 3)];
      const float middle[3] = {0.5f * (p[0] + q[0]), 0.5f * (p[1] + q[1]), 0.5f * (p[2] + q[2])};
      out.edges = fmax(out.edges, gap - true_distance(c, middle));
    }
  ooze_mesh_release(&m);
  return out;
}

OZ_CASE(floor_cuts_a_cube_flat) {
  if (!ooze_surface_has_vdb()) return;
  ooze_collider_desc floor = solid_of(OOZE_SHAPE_PLANE, 0, 0.0432f, 0, 0);
  ooze_surface *whole = cube(NULL, 0, 0, 0), *s = cube(&floor, 1, 0, 0);
  const depths before = depths_of(whole, &floor, 0), d = depths_of(s, &floor, 0);
  CHECK(before.corners > 0.04, "the cube reaches %g m into the floor", before.corners);
  CHECK(d.corners < 1e-7 && d.edges < 1e-7, "vertices %g m, edges %g m in the floor", d.corners,
        d.edges);
  CHECK(d.touching > 600, "%u vertices on the floor of 32 x 32 voxels", d.touching);
  /* half a separation beyond the outermost particles */
  CHECK_NEAR(volume_of(s), 0.16 * 0.16 * (0.155 - 0.0432), 0.02 * 0.16 * 0.16 * 0.11,
             "as the whole block's volume, with the rounded edges of the lower half gone");
  ooze_surface_destroy(whole);
  ooze_surface_destroy(s);
}

OZ_CASE(distance_beside_a_floor_is_the_floors) {
  ooze_collider_desc floor = solid_of(OOZE_SHAPE_PLANE, 0, 0.0432f, 0, 0);
  ooze_surface *s = cube(&floor, 1, 0, 0);
  for (int i = -2; i <= 2; i++) {
    const float p[3] = {0.07f, 0.0432f + (float)i * 0.7f * VOXEL, 0.08f};
    float found = 0;
    ooze_surface_sample(s, p, 1, &found);
    CHECK_NEAR(found, -(float)i * 0.7f * VOXEL, 1e-6f, "linear between samples of a plane");
  }
  ooze_surface_destroy(s);
}

OZ_CASE(gap_leaves_room_and_overlap_takes_it) {
  if (!ooze_surface_has_vdb()) return;
  ooze_collider_desc ball = solid_of(OOZE_SHAPE_SPHERE, 0.075f, 0.155f, 0.075f, 0.05f);
  ooze_surface *apart = cube(&ball, 1, 0.004f, 0), *into = cube(&ball, 1, -0.004f, 0);
  CHECK(depths_of(apart, &ball, 0.004).corners < 1e-7);
  const depths in = depths_of(into, &ball, 0.0);
  CHECK_NEAR(in.corners, 0.004, 1e-6, "as far as asked for, and no further");
  ooze_surface_destroy(apart);
  ooze_surface_destroy(into);
}

OZ_CASE(ball_leaves_a_bowl) {
  if (!ooze_surface_has_vdb()) return;
  ooze_collider_desc ball = solid_of(OOZE_SHAPE_SPHERE, 0.075f, 0.155f, 0.075f, 0.05f);
  ooze_surface *s = cube(&ball, 1, 0, 0), *whole = cube(NULL, 0, 0, 0);
  const depths d = depths_of(s, &ball, 0);
  CHECK(d.corners < 1e-7, "%g m", d.corners);
  CHECK(d.edges < 4.0 * VOXEL * VOXEL / (8.0 * 0.05), "%g m: two voxels as a chord of the ball",
        d.edges);
  CHECK(d.touching > 300, "%u vertices on half a ball of 628 voxels", d.touching);
  const double half_ball = 2.0 / 3.0 * 3.14159265 * 0.05 * 0.05 * 0.05;
  CHECK_NEAR(volume_of(whole) - volume_of(s), half_ball, 0.02 * half_ball,
             "a sum over samples ten to the radius");
  ooze_surface_destroy(s);
  ooze_surface_destroy(whole);
}

OZ_CASE(container_holds_the_surface_in_its_corners) {
  if (!ooze_surface_has_vdb()) return;
  ooze_collider_desc box = solid_of(OOZE_SHAPE_BOX, 0.081f, 0.0772f, 0.0755f, 0.074f);
  box.invert = 1;
  ooze_surface *s = cube(&box, 1, 0, 0);
  const depths d = depths_of(s, &box, 0);
  CHECK(d.corners < 1e-7 && d.edges < 1e-7, "vertices %g m, edges %g m in the walls", d.corners,
        d.edges);
  ooze_surface_destroy(s);
}

/* Fluid around the edges of a turned box of polygons: both in a render. */
OZ_CASE(polygons_cut_by_their_bricks_show_no_overlap) {
  if (!ooze_surface_has_vdb()) return;
  float points[24];
  uint32_t triangles[36], n = box_mesh(0.04f, 0, points, triangles);
  ooze_sdf_desc desc;
  ooze_sdf sdf;
  ooze_message why = {""};
  ooze_sdf_desc_default(&desc);
  desc.voxel = VOXEL;
  CHECK(ooze_sdf_from_mesh(&desc, points, 8, triangles, n, &sdf, &why) == OOZE_OK, "%s", why.text);
  ooze_collider_desc box = solid_of(OOZE_SHAPE_SDF, 0.075f, 0.15f, 0.075f, 0.04f);
  box.end.rotation[2] = sinf(0.3f);
  box.end.rotation[3] = cosf(0.3f);
  box.voxel = sdf.voxel;
  box.bricks = sdf.bricks;
  box.brick_count = sdf.brick_count;
  ooze_surface *s = cube(&box, 1, 0, 0);
  ooze_sdf_free(&sdf); /* the surface has a copy */
  const depths d = depths_of(s, &box, 0);
  CHECK(d.corners < 0.25 * VOXEL, "%g m: what linear interpolation rounds off an edge", d.corners);
  CHECK(d.edges < 0.35 * VOXEL, "%g m: a chord across an edge", d.edges);
  CHECK(d.touching > 200, "%u vertices on the faces", d.touching);
  ooze_surface_destroy(s);
}

OZ_CASE(threads_make_no_difference) {
  ooze_collider_desc solids[2] = {solid_of(OOZE_SHAPE_PLANE, 0, 0.0432f, 0, 0),
                                  solid_of(OOZE_SHAPE_SPHERE, 0.075f, 0.155f, 0.075f, 0.05f)};
  ooze_surface *one = cube(solids, 2, 0, 1), *four = cube(solids, 2, 0, 4),
               *whole = cube(NULL, 0, 0, 1);
  CHECK(ooze_surface_hash(one) == ooze_surface_hash(four));
  CHECK(ooze_surface_hash(one) != ooze_surface_hash(whole));
  ooze_surface_destroy(one);
  ooze_surface_destroy(four);
  ooze_surface_destroy(whole);
}

OZ_CASE(solids_that_make_no_sense_are_refused) {
  const float x[3] = {0, 0, 0};
  ooze_sdf_brick brick;
  ooze_surface_desc d;
  ooze_surface_points p;
  ooze_collider_desc c = solid_of(OOZE_SHAPE_PLANE, 0, 0, 0, 0);
  ooze_surface *s = NULL;
  ooze_message why = {""};
  memset(&brick, 0, sizeof brick);
  ooze_surface_desc_default(&d);
  ooze_surface_points_default(&p);
  p.count = 1;
  p.positions = x;
  d.solid_count = 1;
#define REFUSED(words)                                                 \
  CHECK_EQ(ooze_surface_build(&d, &p, &s, &why), OOZE_ERROR_ARGUMENT); \
  CHECK(strstr(why.text, words), "%s", why.text)
  REFUSED("solids is NULL");
  d.solids = &c;
  c.shape = 17;
  REFUSED("shape 17");
  c.shape = OOZE_SHAPE_SDF;
  c.voxel = 0;
  REFUSED("voxels above 0");
  c.voxel = 0.01f;
  c.brick_count = 1;
  REFUSED("at NULL");
  c.bricks = &brick;
  brick.origin[1] = 4;
  REFUSED("multiple of 8");
  brick.origin[1] = 0;
  d.solid_gap = NAN;
  REFUSED("solid_gap");
  d.solid_gap = 0;
  CHECK_EQ(ooze_surface_build(&d, &p, &s, &why), OOZE_OK);
  ooze_surface_destroy(s);
}
OZ_TEST_MAIN()
