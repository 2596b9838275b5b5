/* The walls of a particle, and their effect on its velocity. SPDX-License-Identifier: Apache-2.0
 */
#include "contact_world.h"

OZ_TEST_MAIN()

/* ---- Planes ---- */

OZ_CASE(a_container_corner_has_three_walls) {
  world *w = make(2, 1);
  box(w, 0, 0.5f, 0.5f, 0.5f, 1);
  put(w, 0, 0.5f - 0.4f * D, -0.5f + 0.3f * D, 0.5f - 0.5f * D);
  put(w, 1, 0.0f, -0.5f + 0.3f * D, 0.5f - 0.5f * D);
  planes(w);
  CHECK_EQ(w->planes[0], 3);
  CHECK_EQ(w->planes[1], 2);
  const oz_wall *a = w->wall;
  CHECK_NEAR(a[0].n[1], 1.0, 1e-6, "the floor is nearest");
  CHECK_NEAR(a[0].s, 0.3f * D, 1e-7, "floats at 0.5");
  CHECK_NEAR(a[1].n[0], -1.0, 1e-6, "then x");
  CHECK_NEAR(a[1].s, 0.4f * D, 1e-7, "floats at 0.5");
  CHECK_NEAR(a[2].n[2], -1.0, 1e-6, "then z");
  CHECK_NEAR(a[2].s, 0.5f * D, 1e-7, "floats at 0.5");
}

OZ_CASE(a_cup_has_a_floor_and_a_side) {
  world *w = make(1, 1);
  w->c[0].shape = OOZE_SHAPE_CYLINDER, w->c[0].invert = 1, w->c[0].half[0] = 0.1f,
  w->c[0].half[1] = 0.2f;
  put(w, 0, 0.1f - 0.5f * D, -0.2f + 0.3f * D, 0.0f);
  planes(w);
  CHECK_EQ(w->planes[0], 2);
  CHECK_NEAR(w->wall[0].n[1], 1.0, 1e-6, "floor");
  CHECK_NEAR(w->wall[1].n[0], -1.0, 1e-6, "side");
}

OZ_CASE(the_nearest_walls_are_kept) {
  world *w = make(1, 4);
  for (uint32_t k = 0; k < 4; k++) { /* four floors within a quarter separation, highest last */
    static const float height[4] = {0.1f, 0.2f, 0.15f, 0.3f};
    w->c[k].p0[1] = w->c[k].p1[1] = height[k] * D;
  }
  put(w, 0, 0.0f, 0.4f * D, 0.0f);
  planes(w);
  CHECK_EQ(w->planes[0], 3);
  CHECK_EQ(w->wall[0].collider, 3);
  CHECK_EQ(w->wall[1].collider, 1);
  CHECK_EQ(w->wall[2].collider, 2);
}

OZ_CASE(a_wall_behind_another_is_out_of_reach) {
  /* a slab a separation thick on a table, or 0.9 separations above one: only a particle beside the
   * slab, or past its edge, can reach the table */
  for (int gap = 0; gap < 2; gap++) {
    const float table = gap ? -1.9f * D : -D;
    world *w = make(4, 2);
    box(w, 0, 4.0f * D, 0.5f * D, 4.0f * D, 0);
    w->c[0].p0[1] = w->c[0].p1[1] = -0.5f * D;
    w->c[1].p0[1] = w->c[1].p1[1] = table;
    put(w, 0, 0.0f, 0.5f * D, 0.0f);
    put(w, 1, 0.0f, 0.5f * D, 0.0f), speed(w, 1, 0.0f, -3.0f * 240.0f * D, 0.0f); /* through both */
    put(w, 2, 4.2f * D, 0.5f * D, 0.0f);
    put(w, 3, 4.5f * D, table + 0.5f * D, 0.0f);
    planes(w);
    for (uint32_t i = 0; i < 4; i++) {
      uint32_t on_table = 0, on_slab = 0;
      for (uint32_t k = 0; k < w->planes[i]; k++) {
        const oz_wall *wall = w->wall + i * OZ_PLANES + k;
        on_table += wall->collider == 1, on_slab += wall->collider == 0;
      }
      CHECK(on_table == (i > 1), "gap %d, particle %u: %u planes of the table", gap, i, on_table);
      CHECK(on_slab == 1, "gap %d, particle %u: %u planes of the slab", gap, i, on_slab);
    }
  }
}
OZ_CASE(a_ramp_does_not_hide_the_floor_at_its_foot) {
  /* a ramp of 30 degrees on a floor, an obtuse corner: the foot of the perpendicular to the floor
   * is within the ramp, but the floor can be reached by sliding down */
  world *w = make(1, 2);
  box(w, 0, 10.0f * D, 10.0f * D, 10.0f * D, 0);
  turn_about(w->c[0].q0, 0.0f, 0.0f, 1.0f, -0.5235988f);
  memcpy(w->c[0].q1, w->c[0].q0, sizeof w->c[0].q0);
  const float n[2] = {0.5f, 0.8660254f}; /* of the ramp, through the origin */
  for (int k = 0; k < 2; k++) w->c[0].p0[k] = w->c[0].p1[k] = -10.0f * D * n[k];
  put(w, 0, 0.5f * D * n[0] - 1.5f * D * n[1], 0.5f * D * n[1] + 1.5f * D * n[0], 0.0f);
  planes(w);
  CHECK(w->planes[0] == 2, "%u planes", w->planes[0]);
}
OZ_CASE(distance_is_from_the_start_position_to_the_wall_at_its_end) {
  world *w = make(1, 1);
  w->c[0].p1[1] = 0.4f * D; /* a floor that rises */
  put(w, 0, 0.0f, 1.0f * D, 0.0f);
  speed(w, 0, 1.0f, -0.3f * D * 240.0f, 0.0f);
  planes(w);
  CHECK_EQ(w->planes[0], 1);
  CHECK_NEAR(w->wall[0].s, 0.6f * D, 1e-8, "1.0 d above the old floor, 0.6 d above the new");
  CHECK_NEAR(w->wall[0].u[1], 0.4f * D * 240.0f, 1e-4, "floats over dt");
}

OZ_CASE(a_fast_particle_meets_the_side_where_it_enters) {
  for (int k = 0; k < 3; k++) {
    world *w = make(1, 1);
    box(w, 0, 0.5f, 0.1f * D, 0.5f, 0); /* a plate a fifth of a particle thick */
    put(w, 0, 0.1f, 2.0f * D, 0.0f);
    /* inside before the middle, behind it, far beyond */
    static const float depth[3] = {2.02f, 2.15f, 9.0f};
    speed(w, 0, 0.5f, -depth[k] * D * 240.0f, 0.0f);
    planes(w);
    CHECK(oz_wall_near_path(&w->f, w->x, w->p, oz_wall_reach(&w->f)), "selected");
    CHECK_EQ(w->planes[0], 1);
    CHECK_NEAR(w->wall[0].n[1], 1.0, 1e-5, "the upper side");
    CHECK_NEAR(w->wall[0].s, 1.9f * D, 2e-3f * D, "traced to a thousandth of d");
    advance(w);
    oz_wall_project_item(&w->f, 0);
    CHECK_NEAR(w->p[1], 0.35f * D + 0.05f * 0.9f * D, 2e-3f * D,
               "wall_gap above the upper side, and a trace of where it came from");
  }
}

OZ_CASE(a_grazing_path_does_not_slip_through) {
  uint64_t dice = 17;
  for (int k = 0; k < 400; k++) {
    world *w = make(1, 1);
    if (k % 2)
      box(w, 0, 0.5f, 0.1f * D, 0.5f, 0);
    else { /* the same plate as bricks: three voxels thick, so that samples see it */
      oz_collider *c = w->c;
      c->shape = OOZE_SHAPE_SDF, c->voxel = 0.1f * D, c->reach = 1.0f;
      for (int32_t b = -8; b < 8; b++)
        for (int32_t h = -1; h < 1; h++) {
          uint32_t n = (uint32_t)(2 * (b + 8) + h + 1);
          w->key[n] = oz_brick_key(b, h, 0);
          for (int v = 0; v < 512; v++)
            w->values[512 * n + (uint32_t)v] =
                (fabsf((float)(8 * h + v / 8 % 8)) - 1.5f) * c->voxel;
        }
      c->brick_count = 32;
    }
    float high = number(&dice, 0.3f, 3.0f), deep = number(&dice, 0.2f, 4.0f),
          along = number(&dice, 0.0f, k % 2 ? 30.0f : 5.0f);
    float back = along * high / (high + deep); /* so that it crosses the middle of the plate */
    put(w, 0, -back * D, high * D, 0.3f * w->c[0].voxel);
    speed(w, 0, along * D * 240.0f, -(high + deep) * D * 240.0f, 0.0f);
    planes(w);
    CHECK(oz_wall_near_path(&w->f, w->x, w->p, oz_wall_reach(&w->f)), "selected");
    CHECK(w->planes[0] == 1 && w->wall[0].n[1] > 0.9f,
          "%d: %u planes, normal %g: %g d high, to %g d deep, %g d along", k, w->planes[0],
          (double)w->wall[0].n[1], (double)high, (double)deep, (double)along);
    CHECK_NEAR(w->wall[0].s, (high - (k % 2 ? 0.1f : 0.15f)) * D, 0.01f * D,
               "a plane of the upper side");
  }
}

OZ_CASE(what_leaves_fast_still_has_its_wall) {
  static const uint32_t shapes[3] = {OOZE_SHAPE_PLANE, OOZE_SHAPE_BOX, OOZE_SHAPE_SPHERE};
  for (int k = 0; k < 5; k++) {
    world *w = make(1, 1);
    if (k == 3)
      box(w, 0, 0.5f, 0.5f, 0.5f, 1);
    else if (k == 4)
      sphere_bricks(w, 0.05f, 0.5f, 10.0f);
    else
      w->c[0].shape = shapes[k], w->c[0].half[0] = w->c[0].half[1] = w->c[0].half[2] = 0.5f,
      w->c[0].reach = k ? 0.9f : 0.0f;
    float floor = k == 0 ? 0.0f : k == 3 ? -0.5f : 0.5f;
    put(w, 0, 0.0f, floor + 0.3f * D, 0.0f);
    speed(w, 0, 0.0f, 99.0f * D * 240.0f, 0.0f); /* beyond all bricks */
    planes(w);
    CHECK_EQ(w->planes[0], k == 3 ? 2 : 1); /* the box's ceiling comes near */
    uint32_t at = k == 3 ? 1 : 0;
    CHECK_NEAR(w->wall[at].s, 0.3f * D, 1e-7 + (k == 4 ? 0.01 * (double)D : 0.0),
               "floats at 0.5; bricks interpolate");
    w->y[1] = -1.0f * D; /* the solve turned it around */
    oz_wall_project_item(&w->f, 0);
    CHECK_NEAR(w->p[1], floor + 0.25f * D, 1e-7 + (k == 4 ? 0.01 * (double)D : 0.0),
               "floats at 0.5; bricks interpolate");
  }
}

OZ_CASE(layers_that_arrive_together_stay_apart) {
  world *w = make(3, 1);
  for (uint32_t i = 0; i < 3; i++) {
    put(w, i, 0.0f, (0.5f + (float)i) * D, 0.0f);
    speed(w, i, 0.0f, -8.0f * D * 240.0f, 0.0f);
  }
  planes(w);
  for (uint32_t i = 0; i < 3; i++) oz_wall_project_item(&w->f, i);
  CHECK_NEAR(w->p[1], 0.25f * D, 1e-8, "the first is at the wall");
  CHECK(w->p[5] > w->p[1] + 0.02f * D && w->p[9] > w->p[5] + 0.04f * D, "%g %g %g d",
        (double)(w->p[1] / D), (double)(w->p[5] / D), (double)(w->p[9] / D));
}

OZ_CASE(a_fast_plate_takes_along_what_it_passes) {
  world *w = make(1, 1);
  box(w, 0, 0.5f, 0.1f * D, 0.5f, 0);
  w->c[0].p0[1] = -1.0f * D, w->c[0].p1[1] = 12.0f * D;
  put(w, 0, 0.1f, 0.0f, 0.0f);
  planes(w);
  CHECK(oz_wall_near_path(&w->f, w->x, w->p, oz_wall_reach(&w->f)), "selected");
  CHECK(!oz_wall_near(&w->f, w->x, oz_wall_reach(&w->f)), "at the end the plate is far away");
  CHECK_EQ(w->planes[0], 1);
  oz_wall_project_item(&w->f, 0);
  CHECK_NEAR(w->p[1], 12.35f * D, 5e-3f * D,
             "on top of the plate: it was less than a separation away");
}

OZ_CASE(fluid_on_a_box_is_not_pushed_out_of_its_side) {
  world *w = make(1, 1);
  box(w, 0, 0.1f, 0.1f, 0.1f, 0);
  put(w, 0, 0.1f - 0.1f * D, 0.1f + 0.4f * D, 0.0f);
  speed(w, 0, 0.0f, -0.9f * D * 240.0f, 0.0f); /* ends deeper below the top than beside the side */
  planes(w);
  CHECK_EQ(w->planes[0], 1);
  CHECK_NEAR(w->wall[0].n[1], 1.0, 1e-4, "the top");
}

OZ_CASE(kill_volumes_and_walls_are_told_apart) {
  world *w = make(1, 2);
  box(w, 0, 0.1f, 0.1f, 0.1f, 0);
  w->c[0].role = OOZE_ROLE_KILL;
  w->c[1].shape = OOZE_SHAPE_SPHERE, w->c[1].half[0] = 0.1f, w->c[1].reach = 0.1f,
  w->c[1].p1[0] = w->c[1].p0[0] = 1.0f;
  float in[3] = {0.05f, 0.05f, 0.05f}, out[3] = {0.11f, 0.0f, 0.0f}, ball[3] = {1.0f, 0.0f, 0.0f};
  CHECK(oz_wall_kill(&w->f, in) && !oz_wall_kill(&w->f, out) && !oz_wall_kill(&w->f, ball),
        "inside the box only");
  CHECK(!oz_wall_near(&w->f, in, 0.05f) && oz_wall_near(&w->f, ball, 0.05f), "the sphere only");
}

OZ_CASE(no_number_has_no_walls) {
  world *w = make(3, 2);
  box(w, 0, 0.5f, 0.5f, 0.5f, 1);
  sphere_bricks(w, 0.1f, 0.9f, 10.0f);
  box(w, 1, 0.5f, 0.5f, 0.5f, 1);
  put(w, 0, NAN, 0.0f, 0.0f);
  put(w, 1, 0.0f, INFINITY, 0.0f);
  put(w, 2, 0.0f, -0.5f, 0.0f);
  speed(w, 2, NAN, 0.0f, 0.0f);
  planes(w);
  for (uint32_t i = 0; i < 3; i++) {
    CHECK_EQ(w->planes[i], 0);
    CHECK(!oz_wall_near(&w->f, w->p + 4 * i, 1.0f) && !oz_wall_kill(&w->f, w->p + 4 * i),
          "nowhere");
    CHECK(!oz_wall_near_path(&w->f, w->x + 4 * i, w->p + 4 * i, 1.0f), "nowhere");
    oz_wall_hold_item(&w->f, i);
    oz_wall_filter_item(&w->f, i);
    oz_wall_clamp_item(&w->f, i);
    oz_wall_density_item(&w->f, i);
    oz_wall_project_item(&w->f, i);
    oz_wall_drag_item(&w->f, i);
    CHECK_NEAR(w->term[4 * i + 3], 0.0, 0.0, "no wall, no density");
  }
  /* and a particle that turns into no number after its planes were found spoils nothing else */
  w = make(1, 1);
  put(w, 0, 0.0f, 0.3f * D, 0.0f);
  planes(w);
  w->y[0] = w->u[0] = NAN;
  oz_wall_hold_item(&w->f, 0);
  oz_wall_clamp_item(&w->f, 0);
  oz_wall_density_item(&w->f, 0);
  oz_wall_project_item(&w->f, 0);
}

/* ---- The velocity projection ---- */

OZ_CASE(only_the_layer_at_the_wall_is_held) {
  world *w = make(3, 1);
  w->c[0].friction = 1.0f;
  put(w, 0, 0.0f, 0.6f * D, 0.0f);
  put(w, 1, 0.3f * D, 1.5f * D, 0.0f);
  /* within 0.3 d of the lowest */
  put(w, 2, 1.0f * D, 0.8f * D, 0.0f);
  /* all would end below the wall */
  for (uint32_t i = 0; i < 3; i++) speed(w, i, 0.2f, -2.0f * D * 240.0f, 0.0f);
  planes(w);
  for (uint32_t i = 0; i < 3; i++) oz_wall_hold_item(&w->f, i);
  CHECK_EQ(w->wall[0].active, 1);
  CHECK_EQ(w->wall[OZ_PLANES].active, 0);
  CHECK_EQ(w->wall[2 * OZ_PLANES].active, 1);
  CHECK_NEAR(w->x[1] + w->f.dt * w->u[1], 0.25f * D, 1e-7, "ends at wall_gap");
  CHECK_NEAR(w->u[0], 0.0, 1e-7, "friction 1");
  CHECK(w->u[4] == 0.2f, "not held: as it was");
}

OZ_CASE(what_touches_is_held_whatever_its_neighbours_do) {
  world *w = make(2, 1);
  put(w, 0, 0.0f, -0.4f * D, 0.0f); /* pressed into the wall, a layer below the other */
  put(w, 1, D, 0.26f * D, 0.0f);
  speed(w, 1, 0.0f, -0.1f, 0.0f);
  planes(w);
  oz_wall_hold_item(&w->f, 1);
  CHECK_EQ(w->wall[OZ_PLANES].active, 1);
}

OZ_CASE(a_wall_that_drives_into_fluid_holds_one_layer) {
  world *w = make(3, 1);
  w->c[0].p1[1] = 3.0f * D; /* past all three in one substep */
  for (uint32_t i = 0; i < 3; i++) put(w, i, 0.0f, (0.3f + (float)i) * D, 0.0f);
  planes(w);
  for (uint32_t i = 0; i < 3; i++) oz_wall_hold_item(&w->f, i);
  CHECK(w->wall[0].active && !w->wall[OZ_PLANES].active && !w->wall[2 * OZ_PLANES].active,
        "touching is measured against the wall where it was");
  CHECK_NEAR(w->u[1], 2.95f * D * 240.0f, 1e-3, "rides on the wall: from 0.3 d to 3.25 d");
}

OZ_CASE(neighbours_behind_a_thin_plate_do_not_count) {
  world *w = make(2, 1);
  box(w, 0, 0.5f, 0.1f * D, 0.5f, 0);
  put(w, 0, 0.0f, 0.9f * D, 0.0f);
  put(w, 1, 0.0f, -0.4f * D, 0.0f); /* on the other side, nearer to the plate */
  speed(w, 0, 0.0f, -1.0f * D * 240.0f, 0.0f);
  planes(w);
  oz_wall_hold_item(&w->f, 0);
  CHECK_EQ(w->wall[0].active, 1);
}

OZ_CASE(the_layer_at_the_wall_is_dragged_as_its_shear_demands) {
  world *w = make(1, 1);
  w->c[0].friction = 1.0f;
  put(w, 0, 0.0f, 0.5f * D, 0.0f);
  speed(w, 0, 0.3f, 0.0f, 0.0f);
  w->a[0] = 4.0f; /* eta = d / (a s) = 0.5 */
  planes(w);
  oz_wall_hold_item(&w->f, 0);
  CHECK_EQ(w->wall[0].active, 0); /* it does not press on the wall */
  CHECK_NEAR(w->u[0], 0.3f / 1.5f, 1e-6, "implicit drag: u / (1 + eta)");
  CHECK_NEAR(w->u[1], 0.0f, 1e-7, "free to leave");
  w->dx[0] = 1.0f, w->dx[1] = 2.0f, w->dx[2] = 3.0f;
  oz_wall_filter_item(&w->f, 0);
  CHECK_NEAR(w->dx[0], 1.0f / 1.5f, 1e-6, "the same factor in the solve");
  CHECK_NEAR(w->dx[1], 2.0f, 1e-6, "the normal part is untouched");
  w = make(1, 1);
  put(w, 0, 0.0f, 0.5f * D, 0.0f);
  speed(w, 0, 0.3f, 0.0f, 0.0f);
  w->a[0] = 1e-6f;
  planes(w);
  oz_wall_hold_item(&w->f, 0);
  CHECK_NEAR(w->u[0], 0.3f, 1e-7, "friction 0 slides, however viscous");
}

OZ_CASE(friction_is_relative_to_the_wall) {
  static const float friction[3] = {0.0f, 0.5f, 1.0f};
  for (int k = 0; k < 3; k++) {
    world *w = make(1, 1);
    w->c[0].friction = friction[k];
    w->c[0].p1[0] = 0.4f / 240.0f; /* the floor slides along at 0.4 m/s */
    put(w, 0, 0.0f, 0.25f * D, 0.0f);
    speed(w, 0, 1.0f, -0.2f, 0.0f);
    planes(w);
    oz_wall_hold_item(&w->f, 0);
    float expected = 0.4f + (1.0f - friction[k]) * 0.6f;
    CHECK_NEAR(w->u[0], expected, 1e-5, "floats over dt");
    CHECK_NEAR(w->u[1], 0.0, 1e-5, "at wall_gap already");
    /* later velocities of the solve are filtered alike, and no phase acts twice on the same motion
     */
    w->dx[0] = 0.001f, w->dx[1] = -0.001f;
    oz_wall_filter_item(&w->f, 0);
    CHECK_NEAR(w->dx[0], 0.001f * (1.0f - friction[k]), 1e-9, "rounding");
    CHECK_NEAR(w->dx[1], 0.0, 1e-9, "rounding");
    oz_wall_clamp_item(&w->f, 0);
    advance(w);
    for (int m = 0; m < 5; m++) oz_wall_project_item(&w->f, 0);
    CHECK_NEAR(w->y[0] * 240.0f, expected, 1e-5,
               "as after the hold: five more contacts change nothing");
    w->y[1] -= 0.1f * D, w->y[0] += 0.002f; /* an iteration pushes it on */
    oz_wall_project_item(&w->f, 0);
    CHECK_NEAR(w->y[0], expected / 240.0f + 0.002f * (1.0f - friction[k]), 1e-8,
               "friction on what is new");
    CHECK_NEAR(w->p[1], 0.25f * D, 1e-8, "pushed out");
  }
}

OZ_CASE(position_contact_alone_has_the_same_friction) {
  static const float friction[3] = {0.0f, 0.5f, 1.0f};
  for (int k = 0; k < 3; k++) {
    world *w = make(1, 1);
    w->c[0].friction = friction[k];
    put(w, 0, 0.0f, 0.5f * D, 0.0f);
    speed(w, 0, 0.6f, -1.0f * D * 240.0f, 0.3f);
    planes(w);
    for (int m = 0; m < 3; m++) oz_wall_project_item(&w->f, 0);
    CHECK_NEAR(w->y[1], -0.25f * D, 1e-8, "to wall_gap");
    CHECK_NEAR(w->y[0] * 240.0f, 0.6f * (1.0f - friction[k]), 1e-5, "once, not three times");
    CHECK_NEAR(w->y[2] * 240.0f, 0.3f * (1.0f - friction[k]), 1e-5, "once, not three times");
    CHECK_NEAR(w->p[0], w->x[0] + w->y[0], 1e-9, "p follows y");
    /* momentum given to the wall is that which the particle lost */
    CHECK_NEAR(w->impulse[1], -1e-3f * 0.75f * D * 240.0f, 1e-6, "mass times what was pushed back");
    CHECK_NEAR(w->impulse[0], 1e-3f * 0.6f * friction[k], 1e-6, "mass times what was slowed");
  }
}

OZ_CASE(the_filter_is_symmetric_and_positive) {
  uint64_t dice = 99;
  for (int trial = 0; trial < 500; trial++) {
    world *w = make(1, 3);
    int count = 1 + trial % 3;
    for (int k = 0; k < count; k++) {
      float n[3], l = 0.0f;
      while (!(l > 0.1f)) {
        for (int a = 0; a < 3; a++) n[a] = number(&dice, -1.0f, 1.0f);
        l = sqrtf(oz_dot3f(n, n));
      }
      for (int a = 0; a < 3; a++) w->wall[k].n[a] = n[a] / l;
      w->wall[k].active = 1, w->wall[k].friction = trial % 5 ? number(&dice, 0.0f, 1.0f) : 0.0f;
    }
    if (trial % 7 == 0 && count > 1) w->wall[1] = w->wall[0]; /* the same wall twice */
    w->planes[0] = (uint32_t)count;
    float P[3][3];
    for (int k = 0; k < 3; k++) {
      for (int a = 0; a < 3; a++) w->dx[a] = a == k ? 1.0f : 0.0f;
      oz_wall_filter_item(&w->f, 0);
      for (int a = 0; a < 3; a++) P[a][k] = w->dx[a];
    }
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) CHECK_NEAR(P[a][b], P[b][a], 1e-5, "rounding");
    for (int m = 0; m < 20; m++) {
      float v[3] = {number(&dice, -1, 1), number(&dice, -1, 1), number(&dice, -1, 1)}, e = 0.0f;
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) e += v[a] * P[a][b] * v[b];
      CHECK(e >= -1e-5f && e <= oz_dot3f(v, v) + 1e-5f, "v P v = %g: neither negative nor a gain",
            (double)e);
    }
    for (int a = 0; a < 3; a++) w->dx[a] = w->wall[0].n[a];
    oz_wall_filter_item(&w->f, 0);
    CHECK_NEAR(sqrtf(oz_dot3f(w->dx, w->dx)), 0.0, 1e-5, "nothing along an active normal passes");
  }
}

OZ_CASE(a_corner_holds_and_projects_onto_all_its_walls) {
  world *w = make(1, 1);
  box(w, 0, 0.5f, 0.5f, 0.5f, 1);
  put(w, 0, 0.5f - 0.3f * D, -0.5f + 0.3f * D, 0.5f - 0.3f * D);
  speed(w, 0, 0.8f, -0.9f, 1.0f);
  planes(w);
  oz_wall_hold_item(&w->f, 0);
  oz_wall_clamp_item(&w->f, 0);
  CHECK_NEAR(w->x[0] + w->f.dt * w->u[0], 0.5f - 0.25f * D, 1e-6, "floats at 0.5");
  CHECK_NEAR(w->x[1] + w->f.dt * w->u[1], -0.5f + 0.25f * D, 1e-6, "floats at 0.5");
  CHECK_NEAR(w->x[2] + w->f.dt * w->u[2], 0.5f - 0.25f * D, 1e-6, "floats at 0.5");
  speed(w, 0, 0.8f, -0.9f, 1.0f);
  planes(w);
  oz_wall_project_item(&w->f, 0);
  CHECK_NEAR(w->p[0], 0.5f - 0.25f * D, 1e-6, "floats at 0.5");
  CHECK_NEAR(w->p[1], -0.5f + 0.25f * D, 1e-6, "floats at 0.5");
  CHECK_NEAR(w->p[2], 0.5f - 0.25f * D, 1e-6, "floats at 0.5");
}

OZ_CASE(slanted_walls_are_held_exactly_too) {
  world *w = make(1, 2);
  /* a slope of 60 degrees: normals are not at right angles */
  turn_about(w->c[1].q0, 0.0f, 0.0f, 1.0f, 1.0471976f);
  turn_about(w->c[1].q1, 0.0f, 0.0f, 1.0f, 1.0471976f);
  put(w, 0, -0.3f * D, 0.3f * D, 0.0f);
  speed(w, 0, 1.0f, -1.0f, 0.3f);
  planes(w);
  CHECK_EQ(w->planes[0], 2);
  oz_wall_hold_item(&w->f, 0);
  for (int k = 0; k < 2; k++)
    CHECK_NEAR(w->wall[k].s + w->f.dt * oz_dot3f(w->wall[k].n, w->u), w->f.wall_gap, 1e-7,
               "both planes at wall_gap");
  CHECK_NEAR(w->u[2], 0.3, 1e-6, "free along the edge");
}

OZ_CASE(held_particles_are_left_alone) {
  world *w = make(1, 1);
  w->omega[0] = 0.0f, w->c[0].friction = 1.0f;
  put(w, 0, 0.0f, 0.1f * D, 0.0f);
  speed(w, 0, 0.5f, -1.0f, 0.0f);
  planes(w);
  float y[3] = {w->y[0], w->y[1], w->y[2]};
  oz_wall_hold_item(&w->f, 0);
  oz_wall_clamp_item(&w->f, 0);
  oz_wall_project_item(&w->f, 0);
  oz_wall_density_item(&w->f, 0);
  oz_wall_drag_item(&w->f, 0);
  CHECK(w->u[0] == 0.5f && w->u[1] == -1.0f && w->y[0] == y[0] && w->y[1] == y[1], "as it was");
}

OZ_CASE(a_sticky_wall_keeps_up_to_its_strength) {
  for (int k = 0; k < 4; k++) {
    world *w = make(1, 1);
    w->c[0].stick = 15.0f;
    /* the last one does not touch */
    put(w, 0, 0.0f, (k == 3 ? 0.9f : k == 1 ? 0.5f : 0.25f) * D, 0.0f);
    static const float pull[4] = {9.81f, 14.9f, 15.1f, 9.81f}; /* m/s^2 */
    speed(w, 0, 0.0f, pull[k] * w->f.dt, 0.0f);
    planes(w);
    oz_wall_project_item(&w->f, 0);
    CHECK_NEAR(w->y[1], k < 2 ? 0.0f : pull[k] * w->f.dt * w->f.dt, 1e-9,
               "held below 15 m/s^2, if it touched");
  }
}

/* rows: speed relative to the wall, and its change by the filter's sweep before */
OZ_CASE(noise_is_slowed_near_walls_and_flow_is_not) {
  static const float value[3][2] = {{0.005f, 0.005f}, {0.005f, 0.0f}, {2.0f, 2.0f}};
  static const double least[3] = {0.9, 0.0, 0.0}, most[3] = {1.0, 0.0, 1e-6};
  for (int k = 0; k < 3; k++) {
    world *w = make(1, 1);
    w->c[0].p1[0] = 0.3f / 240.0f; /* relative to a wall that moves */
    put(w, 0, 0.0f, 0.5f * D, 0.0f);
    planes(w);
    oz_wall_density_item(&w->f, 0);
    const float v = w->term[3], q = value[k][0] / w->f.rest_speed,
                noise2 = OZ_DRAG_NOISE * value[k][1] * value[k][1],
                s = noise2 / (noise2 + value[k][0] * value[k][0]) / (1.0f + q * q * q * q);
    float before[4] = {0.3f + value[k][0] - value[k][1], 0.0f, 0.0f, 0.0f};
    speed(w, 0, 0.3f + value[k][0], 0.0f, 0.0f);
    w->f.u2 = before;
    oz_wall_drag_item(&w->f, 0);
    CHECK_NEAR(w->u[0], 0.3f + value[k][0] * (1.0f - 0.8f * s * v), 2e-6, "floats at 0.3");
    CHECK((double)s >= least[k] && (double)s <= most[k], "s = %g", (double)s);
  }
}
