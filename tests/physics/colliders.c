/* Colliders as the core keeps them. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "core/colliders.h"
#include "physics/contact.h"

OZ_TEST_MAIN()

/* An allocator that can be told to fail. */
typedef struct till {
  uint64_t left; /* allocations before it refuses */
} till;
static void *till_allocate(void *user, size_t bytes, size_t alignment) {
  till *t = (till *)user;
  void *raw;
  if (t->left == 0) return NULL;
  t->left--;
  raw = malloc(bytes + alignment + sizeof raw);
  if (!raw) return NULL;
  uintptr_t at = ((uintptr_t)raw + sizeof raw + alignment - 1) & ~(uintptr_t)(alignment - 1);
  memcpy((void *)(at - sizeof raw), &raw, sizeof raw);
  return (void *)at;
}
static void till_release(void *user, void *memory, size_t bytes) {
  void *raw;
  (void)user;
  (void)bytes;
  memcpy(&raw, (unsigned char *)memory - sizeof raw, sizeof raw);
  free(raw);
}
static oz_memory *heap(till *t) {
  static oz_memory m;
  ooze_hooks hooks;
  ooze_hooks_default(&hooks);
  t->left = UINT64_MAX;
  hooks.user = t, hooks.allocate = till_allocate, hooks.release = till_release;
  oz_memory_init(&m, &hooks);
  return &m;
}

static ooze_collider_desc shape(uint32_t s) {
  ooze_collider_desc d;
  ooze_collider_desc_default(&d);
  d.shape = s;
  return d;
}
static void fill_brick(ooze_sdf_brick *b, int32_t x, int32_t y, int32_t z) {
  b->origin[0] = x, b->origin[1] = y, b->origin[2] = z;
  for (int k = 0; k < 512; k++) b->values[k] = 0.001f * (float)(x + 10 * y + 100 * z + k);
}

static void refused(oz_colliders *c, const ooze_collider_desc *d, ooze_result r, const char *word) {
  ooze_message why = {""};
  uint32_t handle = 77, count = c->count;
  CHECK(oz_colliders_add(c, d, &handle, &why) == r, "%s: %s", word, why.text);
  CHECK(strstr(why.text, word) != NULL, "\"%s\" does not name %s", why.text, word);
  CHECK(handle == 77 && c->count == count, "%s: something changed", word);
}

OZ_CASE(every_field_is_checked_and_named) {
  till t;
  oz_colliders c;
  oz_colliders_init(&c, heap(&t));
  ooze_collider_desc d = shape(9);
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "shape");
  d = shape(OOZE_SHAPE_BOX), d.role = 2;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "role");
  d = shape(OOZE_SHAPE_BOX), d.invert = 2;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "invert");
  d = shape(OOZE_SHAPE_BOX), d.half[1] = 0.0f;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "half[1]");
  d = shape(OOZE_SHAPE_BOX), d.half[2] = NAN;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "half[2]");
  d = shape(OOZE_SHAPE_BOX), d.start.position[2] = INFINITY;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "start.position[2]");
  d = shape(OOZE_SHAPE_BOX), d.end.rotation[3] = 0.0f;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "end.rotation");
  d = shape(OOZE_SHAPE_BOX), d.friction = 1.5f;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "friction");
  d = shape(OOZE_SHAPE_BOX), d.stick = -1.0f;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "stick");
  d = shape(OOZE_SHAPE_BOX), d.temperature = NAN;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "temperature");
  d = shape(OOZE_SHAPE_BOX), d.wall_density = 7;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "wall_density");
  static ooze_sdf_brick b[2];
  fill_brick(b, 0, 0, 0), fill_brick(b + 1, 8, 0, 0);
  d = shape(OOZE_SHAPE_SDF);
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "voxel");
  d.voxel = 0.1f;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "brick_count");
  d.brick_count = 2, d.bricks = b;
  b[1].origin[0] = 12;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "bricks[1].origin[0]");
  b[1].origin[0] = 1 << 30;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "bricks[1].origin[0]");
  b[1].origin[0] = 0;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "two bricks");
  b[1].origin[0] = -8, b[1].values[511] = NAN;
  refused(&c, &d, OOZE_ERROR_ARGUMENT, "bricks[1].values[511]");
  uint32_t handle = 0;
  d = shape(OOZE_SHAPE_PLANE);
  CHECK(oz_colliders_add(&c, &d, &handle, NULL) == OOZE_OK && handle == 1, "a plain floor is fine");
  ooze_message why;
  ooze_pose bad = d.start;
  bad.position[0] = NAN;
  CHECK(oz_colliders_move(&c, 1, &d.start, &bad, &why) == OOZE_ERROR_ARGUMENT &&
            strstr(why.text, "collider 1: end.position[0]"),
        "%s", why.text);
  CHECK(c.slot[0].desc.end.position[0] == 0.0f, "unchanged");
  CHECK(oz_colliders_move(&c, 5, &d.start, &d.end, &why) == OOZE_ERROR_NOT_FOUND &&
            strstr(why.text, "collider 5"),
        "%s", why.text);
  oz_colliders_destroy(&c);
}

OZ_CASE(there_is_a_limit_to_their_number) {
  till t;
  oz_colliders c;
  oz_colliders_init(&c, heap(&t));
  ooze_collider_desc d = shape(OOZE_SHAPE_SPHERE);
  uint32_t handle = 0;
  for (uint32_t k = 0; k < OZ_COLLIDERS_MAX; k++)
    CHECK(oz_colliders_add(&c, &d, &handle, NULL) == OOZE_OK, "%u", k);
  CHECK(oz_colliders_add(&c, &d, &handle, NULL) == OOZE_ERROR_LIMIT, "one more");
  CHECK(oz_colliders_remove(&c, 3, NULL) == OOZE_OK &&
            oz_colliders_remove(&c, 3, NULL) == OOZE_ERROR_NOT_FOUND,
        "once");
  CHECK(oz_colliders_add(&c, &d, &handle, NULL) == OOZE_OK && handle == OZ_COLLIDERS_MAX + 1,
        "handles are not used again");
  oz_colliders_destroy(&c);
  CHECK_EQ(c.memory->bytes, 0);
}

/* Bricks through set, remove and back: the physics finds the given values. */
static void look(const oz_colliders *c, uint32_t index, const int32_t origin[3]) {
  static oz_frame f;
  oz_collider *list = malloc(c->count * sizeof *list);
  CHECK(list != NULL);
  oz_colliders_frame(c, 0.0, 1.0, 1.0 / 240.0, list);
  f.brick_key = c->key, f.brick_values = c->values;
  int64_t at = oz_brick_find(&f, list + index, origin[0] / 8, origin[1] / 8, origin[2] / 8);
  CHECK(at >= 0, "collider %u: brick %d %d %d is not found", index, origin[0], origin[1],
        origin[2]);
  ooze_sdf_brick b;
  fill_brick(&b, origin[0], origin[1], origin[2]);
  CHECK(memcmp(c->values + 512 * at, b.values, sizeof b.values) == 0, "another brick's values");
  free(list);
}

OZ_CASE(bricks_are_sorted_and_follow_their_collider) {
  till t;
  oz_colliders c;
  oz_colliders_init(&c, heap(&t));
  static ooze_sdf_brick a[3], b[2];
  static const int32_t at[5][3] = {
      {8, -16, 0}, {-8, 0, 24}, {0, 0, 0}, {16, 16, 16}, {-80000, 8, -8}};
  for (int k = 0; k < 5; k++) fill_brick(k < 3 ? a + k : b + k - 3, at[k][0], at[k][1], at[k][2]);
  ooze_collider_desc d = shape(OOZE_SHAPE_SDF), e = d, floor = shape(OOZE_SHAPE_PLANE);
  uint32_t h[3];
  d.voxel = e.voxel = 0.1f, d.bricks = a, d.brick_count = 3, e.bricks = b, e.brick_count = 2;
  CHECK(oz_colliders_add(&c, &d, h, NULL) == OOZE_OK &&
            oz_colliders_add(&c, &floor, h + 1, NULL) == OOZE_OK &&
            oz_colliders_add(&c, &e, h + 2, NULL) == OOZE_OK,
        "three");
  CHECK_EQ(c.bricks, 5);
  for (int k = 0; k < 5; k++) look(&c, k < 3 ? 0 : 2, at[k]);
  CHECK(oz_colliders_set(&c, h[0], &e, NULL) == OOZE_OK, "the first becomes as the third");
  CHECK_EQ(c.bricks, 4);
  for (int k = 3; k < 5; k++) look(&c, 0, at[k]), look(&c, 2, at[k]);
  CHECK(oz_colliders_remove(&c, h[2], NULL) == OOZE_OK, "gone");
  CHECK_EQ(c.bricks, 2);
  for (int k = 3; k < 5; k++) look(&c, 0, at[k]);
  CHECK(oz_colliders_set(&c, h[0], &floor, NULL) == OOZE_OK && c.bricks == 0, "no bricks left");
  oz_colliders_destroy(&c);
}

OZ_CASE(poses_run_evenly_from_start_to_end) {
  till t;
  oz_colliders c;
  oz_collider out[1];
  oz_colliders_init(&c, heap(&t));
  ooze_collider_desc d = shape(OOZE_SHAPE_BOX);
  d.end.position[0] = 2.0f;
  d.end.rotation[1] = 3.0f * sinf(0.6f),
  d.end.rotation[3] = 3.0f * cosf(0.6f); /* 1.2 rad about y, not of unit length */
  uint32_t h;
  CHECK(oz_colliders_add(&c, &d, &h, NULL) == OOZE_OK, "added");
  for (int k = 0; k < 5; k++) {
    double f0 = 0.2 * k, f1 = 0.2 * (k + 1);
    oz_colliders_frame(&c, f0, f1, 1.0 / 120.0, out);
    CHECK_NEAR(out->p0[0], 2.0 * f0, 1e-6, "rounding");
    CHECK_NEAR(2.0f * atan2f(out->q1[1], out->q1[3]), 1.2 * f1, 1e-6, "even pace, unit length");
    CHECK_NEAR(out->q1[1] * out->q1[1] + out->q1[3] * out->q1[3], 1.0, 1e-6, "rounding");
  }
  oz_colliders_end_step(&c, 0.5); /* cancelled half way */
  oz_colliders_frame(&c, 0.0, 1.0, 1.0 / 120.0, out);
  CHECK_NEAR(out->p0[0], 1.0, 1e-6, "goes on from there");
  CHECK_NEAR(out->p1[0], 2.0, 1e-6, "to the same end");
  oz_colliders_end_step(&c, 1.0);
  oz_colliders_frame(&c, 0.3, 0.4, 1.0 / 120.0, out);
  CHECK(out->p0[0] == 2.0f && out->p1[0] == 2.0f && memcmp(out->q0, out->q1, sizeof out->q0) == 0,
        "rests where it ended");
  oz_collider later[1];
  oz_colliders_frame(&c, 0.4, 0.5, 1.0 / 120.0, later);
  CHECK(memcmp(out, later, sizeof out) == 0,
        "and is the same in every substep: a device is not sent it again");
  oz_colliders_destroy(&c);
}

OZ_CASE(friction_over_a_second_does_not_depend_on_substeps) {
  till t;
  oz_colliders c;
  oz_collider out[3];
  uint32_t h;
  oz_colliders_init(&c, heap(&t));
  static const float friction[3] = {0.0f, 0.3f, 1.0f};
  for (int k = 0; k < 3; k++) {
    ooze_collider_desc d = shape(OOZE_SHAPE_PLANE);
    d.friction = friction[k];
    CHECK(oz_colliders_add(&c, &d, &h, NULL) == OOZE_OK, "added");
  }
  static const double steps[4] = {60.0, 240.0, 333.0, 1920.0};
  for (int k = 0; k < 4; k++) {
    oz_colliders_frame(&c, 0.0, 1.0, 1.0 / steps[k], out);
    CHECK(out[0].friction == 0.0f && out[2].friction == 1.0f, "the ends stay");
    CHECK_NEAR(pow(1.0 - (double)out[1].friction, steps[k] / 240.0), 0.7, 1e-5,
               "what 1/240 s leaves");
  }
  oz_colliders_destroy(&c);
}

OZ_CASE(loads_are_mean_force_and_torque) {
  till t;
  oz_colliders c;
  oz_collider frame[1];
  uint32_t h;
  oz_colliders_init(&c, heap(&t));
  ooze_collider_desc d = shape(OOZE_SHAPE_BOX);
  d.start.position[0] = d.end.position[0] = 1.0f;
  CHECK(oz_colliders_add(&c, &d, &h, NULL) == OOZE_OK, "added");
  oz_colliders_begin_step(&c);
  for (int k = 0; k < 4; k++) {
    uint32_t particle[2] = {1, 0}, planes[2] = {1, 2};
    oz_wall wall[2 * OZ_PLANES];
    float impulse[2 * OZ_PLANES * 3] = {0}, p[8] = {1.5f, 0.5f, 0.0f, 0.0f, 0.5f, 0.5f, 0.0f, 0.0f};
    memset(wall, 0, sizeof wall);
    impulse[1] = -0.01f; /* slot 0: particle 1 at -0.5: presses down */
    impulse[9] = 0.002f; /* slot 1: particle 0 at +0.5: pulls along x */
    impulse[13] = NAN;   /* its second plane is no number, and is left out */
    oz_colliders_frame(&c, 0.25 * k, 0.25 * (k + 1), 0.01, frame);
    oz_frame f;
    memset(&f, 0, sizeof f);
    f.wall_count = 2, f.wall_particle = particle, f.wall = wall, f.contact_planes = OZ_PLANES,
    f.wall_planes = planes, f.wall_impulse = impulse, f.x = p;
    oz_colliders_collect(&c, frame, &f, 0.01);
  }
  oz_colliders_end_step(&c, 1.0);
  float force[3], torque[3];
  CHECK(oz_colliders_load(&c, h, force, torque, NULL) == OOZE_OK, "there");
  CHECK_NEAR(force[0], 0.2, 1e-5, "0.002 in 0.01 s");
  CHECK_NEAR(force[1], -1.0, 1e-5, "0.01 in 0.01 s");
  CHECK_NEAR(torque[2], -0.5 * -1.0 - 0.5 * 0.2, 1e-5, "x F_y - y F_x about its position");
  CHECK(oz_colliders_load(&c, 9, force, torque, NULL) == OOZE_ERROR_NOT_FOUND, "not there");
  oz_colliders_destroy(&c);
}

static void some(oz_colliders *c) {
  static ooze_sdf_brick b[2];
  uint32_t h;
  ooze_collider_desc d = shape(OOZE_SHAPE_SDF);
  fill_brick(b, 8, 8, -8), fill_brick(b + 1, 0, 0, 0);
  d.voxel = 0.05f, d.brick_count = 2, d.bricks = b;
  CHECK(oz_colliders_add(c, &d, &h, NULL) == OOZE_OK, "sdf");
  d = shape(OOZE_SHAPE_CYLINDER), d.invert = 1, d.friction = 0.25f, d.end.position[1] = 0.5f;
  d.start.rotation[0] = 0.3f, d.start.rotation[2] = -0.7f;
  CHECK(oz_colliders_add(c, &d, &h, NULL) == OOZE_OK &&
            oz_colliders_add(c, &d, &h, NULL) == OOZE_OK,
        "cylinders");
  CHECK(oz_colliders_remove(c, 2, NULL) == OOZE_OK, "one removed");
  c->slot[1].force[1] = 3.5f;
}

OZ_CASE(a_checkpoint_brings_them_back_and_survives_any_bytes) {
  till t;
  oz_memory *m = heap(&t);
  oz_colliders a, b;
  oz_colliders_init(&a, m);
  oz_colliders_init(&b, m);
  some(&a);
  size_t bytes = oz_colliders_bytes(&a), used = 0;
  unsigned char *saved = malloc(bytes), *again = malloc(bytes), *spoilt = malloc(bytes);
  CHECK(saved && again && spoilt, "memory");
  oz_colliders_write(&a, saved);
  ooze_message why = {""};
  CHECK(oz_colliders_read(&b, saved, bytes, &used, &why) == OOZE_OK && used == bytes, "%s",
        why.text);
  CHECK_EQ(oz_colliders_bytes(&b), bytes);
  oz_colliders_write(&b, again);
  CHECK(memcmp(saved, again, bytes) == 0, "the same bits");
  CHECK(b.next_handle == a.next_handle && b.bricks_changed,
        "handles go on; bricks must go to the backend");
  oz_collider fa[2], fb[2];
  oz_colliders_frame(&a, 0.2, 0.4, 0.01, fa);
  oz_colliders_frame(&b, 0.2, 0.4, 0.01, fb);
  CHECK(memcmp(fa, fb, sizeof fa) == 0, "the physics sees the same");
  /* cut short anywhere: refused, nothing changed */
  for (size_t n = 0; n < bytes; n += n < 400 ? 1 : 97) {
    unsigned char *cut = malloc(n ? n : 1); /* exactly n, so that a sanitizer sees one byte more */
    CHECK(cut != NULL, "memory");
    memcpy(cut, saved, n);
    CHECK(oz_colliders_read(&b, cut, n, &used, &why) == OOZE_ERROR_FORMAT && why.text[0],
          "%zu bytes of %zu", n, bytes);
    free(cut);
  }
  oz_colliders_destroy(&b);
  /* any byte spoilt: refused or read, never worse; a value that is read is valid */
  for (size_t n = 0; n < bytes; n += n < 400 ? 1 : 97)
    for (int k = 0; k < 4; k++) {
      static const unsigned char with[4] = {0xff, 0x7f, 0x80, 0x01};
      memcpy(spoilt, saved, bytes);
      spoilt[n] = (unsigned char)(spoilt[n] ^ with[k]);
      oz_colliders_init(&b, m);
      ooze_result r = oz_colliders_read(&b, spoilt, bytes, &used, &why);
      CHECK(r == OOZE_OK || r == OOZE_ERROR_FORMAT, "byte %zu: %s", n, why.text);
      CHECK(b.count <= OZ_COLLIDERS_MAX && used <= bytes, "byte %zu", n);
      oz_colliders_destroy(&b);
    }
  free(saved), free(again), free(spoilt);
  oz_colliders_destroy(&a);
  CHECK_EQ(m->bytes, 0);
}

OZ_CASE(a_failing_allocator_changes_nothing) {
  till t;
  oz_memory *m = heap(&t);
  oz_colliders a;
  oz_colliders_init(&a, m);
  some(&a);
  static ooze_sdf_brick b[3];
  for (int k = 0; k < 3; k++) fill_brick(b + k, 8 * k, 0, 0);
  ooze_collider_desc d = shape(OOZE_SHAPE_SDF);
  d.voxel = 0.1f, d.bricks = b, d.brick_count = 3;
  size_t bytes = oz_colliders_bytes(&a);
  unsigned char *before = malloc(bytes), *after = malloc(bytes);
  CHECK(before && after, "memory");
  oz_colliders_write(&a, before);
  int refusals = 0;
  for (uint64_t n = 0; n < 20; n++) {
    uint32_t h;
    size_t used;
    ooze_message why;
    t.left = n;
    ooze_result r = n % 2 ? oz_colliders_set(&a, 1, &d, &why) : oz_colliders_add(&a, &d, &h, &why);
    if (r == OOZE_OK) {
      t.left = UINT64_MAX;
      break;
    }
    CHECK(r == OOZE_ERROR_MEMORY && why.text[0], "%d", r);
    t.left = n;
    r = oz_colliders_read(&a, before, bytes, &used, &why);
    t.left = UINT64_MAX;
    CHECK(r == OOZE_OK || r == OOZE_ERROR_MEMORY, "%d", r);
    refusals++;
    CHECK_EQ(oz_colliders_bytes(&a), bytes);
    oz_colliders_write(&a, after);
    CHECK(memcmp(before, after, bytes) == 0, "something changed");
  }
  CHECK(refusals >= 2, "%d", refusals);
  free(before), free(after);
  oz_colliders_destroy(&a);
  CHECK_EQ(m->bytes, 0);
}
