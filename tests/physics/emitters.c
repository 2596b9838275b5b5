/* Emitters: a column of particles that does not know about substeps. SPDX-License-Identifier:
 * Apache-2.0 */
#include "emitter_shop.h"

OZ_TEST_MAIN()

OZ_CASE(a_disc_is_filled_by_its_layout) {
  shop *s = open_shop();
  uint32_t h[2];
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_BCT), g = nozzle(OOZE_LAYOUT_SUNFLOWER);
  d.radius = 3.0f * D, g.radius = 3.0f * D;
  CHECK(oz_emitters_add(&s->e, &d, 2, h, NULL) == OOZE_OK &&
            oz_emitters_add(&s->e, &g, 2, h + 1, NULL) == OOZE_OK,
        "added");
  CHECK(oz_emitters_births(&s->e, 0.0, 0.0, 0.0, 0.0, 2, &s->b, NULL) == OOZE_OK, "full at once");
  CHECK_EQ(s->e.slot[0].points, 29); /* lattice points with i^2 + j^2 <= 9 */
  CHECK_EQ(s->e.slot[1].points, 28); /* round(9 pi) */
  CHECK_EQ(s->b.count, 3 * 29 + 3 * 28);
  double reach = 0.0, mean = 0.0;
  for (uint32_t k = 0; k < 28; k++) {
    const oz_emitter_point *p = s->e.slot[1].point + k;
    reach = fmax(reach, (double)(p->x * p->x + p->z * p->z));
    mean += p->phase / 28.0;
    CHECK(p->phase >= 0.0 && p->phase < 1.0 && (k == 0 || p->phase >= p[-1].phase),
          "in the order of birth");
  }
  CHECK(sqrt(reach) < (double)(3.0f * D) && sqrt(reach) > (double)(2.9f * D),
        "%g: filled to the rim", sqrt(reach) / (double)D);
  CHECK_NEAR(mean, 0.5, 0.22, "4 sigma of 28 uniform phases");
  for (uint32_t k = 0; k < 2 * 28; k++) { /* each layer is turned on by the golden angle */
    const float *a = s->b.position + 3 * (3 * 29 + k), *b = a + 3 * 28;
    double turn =
        atan2((double)b[2], (double)b[0]) - atan2((double)a[2], (double)a[0]) - 2.39996322972865;
    CHECK_NEAR(remainder(turn, 6.283185307179586), 0.0, 1e-4, "floats");
    CHECK_NEAR(b[1] - a[1], D, 1e-8, "one separation on");
  }
  close_shop(s);
}

OZ_CASE(auto_spreads_particles_evenly_in_mouths_of_any_radius) {
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_AUTO);
  uint32_t h;
  shop *s = open_with(&d, &h);
  for (uint32_t k = 0; k < 5; k++) {
    d.material = k % 2;
    d.radius = (0.3f + (float)k) * D;
    CHECK(oz_emitters_set(&s->e, h, &d, 2, NULL) == OOZE_OK, "set");
    CHECK(oz_emitters_births(&s->e, 0.0, 0.0, 0.0, 0.0, 2, &s->b, NULL) == OOZE_OK, "births");
    CHECK_EQ(s->e.slot[0].layout, OOZE_LAYOUT_RELAXED);
    CHECK(s->e.slot[0].points > 0, "radius %g separations", (double)(d.radius / D));
  }
  close_shop(s);
}

static void check_columns(const shop *s, stream *m) {
  CHECK_EQ(s->e.slot[0].emitted, m->count);
  /* 21 columns; 0.5 m/s for 5/24 s is 26.04 layers, and 3 are in the nozzle: those at phase 0 are
   * 30, at 1/2 29 */
  uint32_t columns = s->e.slot[0].points;
  CHECK_EQ(columns, 21);
  qsort(m->x, m->count, 16, by_place);
  uint32_t seen = 1;
  for (uint32_t i = 1; i < m->count; i++) {
    const float *a = m->x + 4 * (i - 1), *b = m->x + 4 * i;
    if (fabsf(a[0] - b[0]) > 0.5f * D || fabsf(a[2] - b[2]) > 0.5f * D) {
      seen++;
      continue;
    }
    CHECK_NEAR(b[1] - a[1], D, 2e-6,
               "floats at 0.25 over 200 moves; a clump or a gap would be of the size of speed dt "
               "= 5e-4");
  }
  CHECK_EQ(seen, columns);
}

OZ_CASE(columns_are_spaced_by_exactly_one_separation_at_any_substep_count) {
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_BCT);
  d.start.position[1] = d.end.position[1] = 0.25f;
  pour_in_any_substeps(&d, check_columns);
}

OZ_CASE(neighbouring_columns_are_half_a_layer_apart) {
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_BCT);
  uint32_t h;
  shop *s = open_with(&d, &h);
  CHECK(oz_emitters_births(&s->e, 0.0, 0.001, 0.0, 1.0, 2, &s->b, NULL) == OOZE_OK, "births");
  for (uint32_t i = 0; i < s->b.count; i++) {
    const float *p = s->b.position + 3 * i;
    int odd = ((int)lroundf(p[0] / D) + (int)lroundf(p[2] / D)) & 1;
    float phase = p[1] / D - floorf(p[1] / D + 1e-3f);
    CHECK_NEAR(phase, odd ? 0.5 : 0.0, 1e-3, "checkerboard");
  }
  close_shop(s);
}

static void check_sunflower(const shop *s, stream *m) {
  (void)s;
  CHECK_NEAR(m->count, 20 * (26.04 + 3), 20, "flow over volume of a particle, and the nozzle");
  /* no flat layers: along the stream the particles come evenly, and no slice holds a whole layer */
  float far = 0.0f;
  int bins[64] = {0};
  for (uint32_t i = 0; i < m->count; i++) far = oz_minf(far, m->x[4 * i + 1]);
  for (uint32_t i = 0; i < m->count; i++) {
    float depth = (m->x[4 * i + 1] - far) / (0.25f * D);
    if (depth < 64.0f) bins[(int)depth]++;
  }
  for (int k = 4; k < 60; k++)
    CHECK(bins[k] <= 12, "slice %d of a quarter layer has %d of 20 points", k, bins[k]);
}

/* The same particle has the same number and place. */
OZ_CASE(a_sunflower_stream_is_the_same_at_any_substep_count) {
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_SUNFLOWER);
  d.seed = 4;
  pour_in_any_substeps(&d, check_sunflower);
}

OZ_CASE(a_moving_turning_nozzle_keeps_its_column_together) {
  stream m = {0};
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_BCT);
  d.layers = 20;
  uint32_t h;
  shop *s = open_with(&d, &h);
  ooze_pose at = d.start;
  for (int frame = 0; frame < 4; frame++) {
    d.start = at;
    at.position[0] += 0.05f;
    float angle = 0.3f * (float)(frame + 1);
    at.rotation[0] = sinf(0.5f * angle), at.rotation[3] = cosf(0.5f * angle);
    d.end = at;
    CHECK(oz_emitters_set(&s->e, h, &d, 2, NULL) == OOZE_OK, "moved");
    step(s, &m, frame / 24.0, 1.0 / 24.0, 5);
  }
  int held = 0;
  for (uint32_t i = 0; i < m.count; i++) {
    float local[3];
    if (!m.source[i]) continue;
    held++;
    oz_pose_in(at.position, at.rotation, m.x + 4 * i, local);
    CHECK_NEAR(local[0] / D, roundf(local[0] / D), 2e-3, "on its column");
    CHECK_NEAR(local[2] / D, roundf(local[2] / D), 2e-3, "on its column");
    int odd = ((int)lroundf(local[0] / D) + (int)lroundf(local[2] / D)) & 1;
    double place = ((double)local[1] + s->e.slot[0].flow) / (double)D + (odd ? 0.5 : 0.0);
    CHECK_NEAR(place, round(place), 2e-3, "at its place along it");
  }
  CHECK(held >= 20 * 21 && held <= 22 * 21, "%d held", held);
  close_both(s, &m);
}

/* Let go, a particle has the velocity of the flow and of the place in the mouth that it left. */
OZ_CASE(a_moving_turning_nozzle_gives_its_velocity) {
  enum { STEPS = 160, MOST = 4096 };
  static uint32_t was[MOST];
  const double dt = 1.0 / 960.0, way = 1.2, turn = 7.2; /* s, m/s, rad/s: along and about x */
  stream m = {0};
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_AUTO);
  d.radius = 3.0f * D, d.disturbance = 0.0f;
  uint32_t h, let_go = 0;
  shop *s = open_with(&d, &h);
  for (int k = 0; k < STEPS; k++) {
    ooze_pose *at[2] = {&d.start, &d.end};
    for (int e = 0; e < 2; e++) {
      const double angle = turn * dt * (k + e);
      at[e]->position[0] = (float)(way * dt * (k + e));
      at[e]->rotation[0] = (float)sin(0.5 * angle), at[e]->rotation[3] = (float)cos(0.5 * angle);
    }
    CHECK(oz_emitters_set(&s->e, h, &d, 2, NULL) == OOZE_OK, "moved");
    const uint32_t before = m.count;
    CHECK(before <= MOST, "%u particles", before);
    if (before) memcpy(was, m.source, before * sizeof *was);
    step(s, &m, k * dt, dt, 1);
    for (uint32_t i = 0; i < before; i++) {
      if (!was[i] || m.source[i]) continue;
      const float *x = m.x + 4 * i, *u = m.u + 4 * i;
      const double speed = (double)d.speed, angle = turn * dt * k;
      const double exact[3] = {way, -speed * cos(angle) - turn * (double)x[2],
                               -speed * sin(angle) + turn * (double)x[1]};
      for (int a = 0; a < 3; a++)
        CHECK_NEAR(u[a], exact[a], 0.02, "a substep turns the flow of 0.5 m/s by 0.0075");
      let_go++;
    }
  }
  CHECK(let_go > 200, "%u let go", let_go);
  close_both(s, &m);
}

OZ_CASE(max_particles_is_exact) {
  stream m = {0};
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_SUNFLOWER);
  d.max_particles = 137;
  uint32_t h;
  shop *s = open_with(&d, &h);
  for (int frame = 0; frame < 5; frame++) step(s, &m, frame / 24.0, 1.0 / 24.0, 7);
  CHECK_EQ(m.count, 137);
  CHECK_EQ(s->e.slot[0].emitted, 137);
  close_both(s, &m);
}

OZ_CASE(a_pause_leaves_no_gap_and_no_clump) {
  stream m = {0};
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_BCT);
  uint32_t h;
  shop *s = open_with(&d, &h);
  step(s, &m, 0.0, 0.01, 3);
  uint32_t before = m.count;
  d.active = 0;
  CHECK(oz_emitters_set(&s->e, h, &d, 2, NULL) == OOZE_OK, "off");
  step(s, &m, 0.01, 1.0, 3);
  CHECK_EQ(m.count, before);
  for (uint32_t i = 0; i < m.count; i++)
    if (m.source[i]) CHECK(m.u[4 * i + 1] == 0.0f, "what is inside waits");
  d.active = 1, d.speed = 1.0f;
  CHECK(oz_emitters_set(&s->e, h, &d, 2, NULL) == OOZE_OK, "on, faster");
  step(s, &m, 1.01, 0.01, 3);
  qsort(m.x, m.count, 16, by_place);
  for (uint32_t i = 1; i < m.count; i++) {
    const float *a = m.x + 4 * (i - 1), *b = m.x + 4 * i;
    if (fabsf(a[0] - b[0]) > 0.5f * D || fabsf(a[2] - b[2]) > 0.5f * D || b[1] < 0.0f ||
        a[1] < 0.0f)
      continue;
    CHECK_NEAR(b[1] - a[1], D, 2e-6, "within the nozzle the column is whole");
  }
  CHECK_NEAR(s->e.slot[0].flow, 0.5 * 0.01 + 1.0 * 0.01, 1e-12, "what was pushed out");
  close_both(s, &m);
}

OZ_CASE(births_that_are_not_accepted_have_not_happened) {
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_BCT);
  uint32_t h;
  shop *s = open_with(&d, &h);
  for (int k = 0; k < 2; k++) {
    CHECK(oz_emitters_births(&s->e, 0.0, 0.019, 0.0, 1.0, 2, &s->b, NULL) == OOZE_OK, "births");
    /* 2.375 layers and 3: 9 columns of phase 0 have 6, 12 of phase 1/2 have 5 */
    CHECK_EQ(s->b.count, 9 * 6 + 12 * 5);
    CHECK_EQ(s->e.slot[0].emitted, 0);
  }
  close_shop(s);
}

OZ_CASE(every_emitter_field_is_checked_and_named) {
  shop *s = open_shop();
  static const char *const words[] = {"layout",       "material",    "active", "radius",
                                      "radius",       "speed",       "speed",  "start.position[1]",
                                      "end.rotation", "disturbance", "layers"};
  for (int k = 0; k < 11; k++) {
    ooze_emitter_desc d = nozzle(OOZE_LAYOUT_AUTO);
    ooze_message why = {""};
    uint32_t h = 9;
    if (k == 0) d.layout = 4;
    if (k == 1) d.material = 2;
    if (k == 2) d.active = 2;
    if (k == 3) d.radius = 0.0f;
    if (k == 4) d.radius = 1001.0f * D;
    if (k == 5) d.speed = NAN;
    if (k == 6) d.speed = 0.0f;
    if (k == 7) d.start.position[1] = INFINITY;
    if (k == 8) d.end.rotation[3] = 0.0f;
    if (k == 9) d.disturbance = -1.0f;
    if (k == 10) d.layers = 1000;
    CHECK(oz_emitters_add(&s->e, &d, 2, &h, &why) == OOZE_ERROR_ARGUMENT, "%s", words[k]);
    CHECK(strstr(why.text, words[k]) && h == 9 && s->e.count == 0, "\"%s\" does not name %s",
          why.text, words[k]);
  }
  ooze_message why;
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_BCT);
  uint32_t h;
  CHECK(oz_emitters_set(&s->e, 4, &d, 2, &why) == OOZE_ERROR_NOT_FOUND &&
            strstr(why.text, "emitter 4"),
        "%s", why.text);
  CHECK(oz_emitters_remove(&s->e, 4, &why) == OOZE_ERROR_NOT_FOUND, "none");
  d.radius = 1000.0f * D, d.speed = 1e4f;
  CHECK(oz_emitters_add(&s->e, &d, 2, &h, &why) == OOZE_OK, "%s", why.text);
  CHECK(oz_emitters_births(&s->e, 0.0, 1.0, 0.0, 1.0, 2, &s->b, &why) == OOZE_ERROR_LIMIT &&
            strstr(why.text, "emitter 1"),
        "%s", why.text);
  close_shop(s);
}

OZ_CASE(a_checkpoint_goes_on_with_the_same_column) {
  shop *s = open_shop();
  uint32_t h[2];
  stream m, n;
  memset(&m, 0, sizeof m);
  memset(&n, 0, sizeof n);
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_AUTO);
  d.start.rotation[0] = d.end.rotation[0] = 0.4f, d.seed = 8;
  CHECK(oz_emitters_add(&s->e, &d, 2, h, NULL) == OOZE_OK, "added");
  d.material = 1, d.speed = 0.3f;
  CHECK(oz_emitters_add(&s->e, &d, 2, h + 1, NULL) == OOZE_OK &&
            oz_emitters_remove(&s->e, h[0], NULL) == OOZE_OK &&
            oz_emitters_add(&s->e, &d, 2, h, NULL) == OOZE_OK,
        "2 and 3");
  step(s, &m, 0.0, 0.0371, 4);
  size_t bytes = oz_emitters_bytes(&s->e), used = 0;
  unsigned char *saved = malloc(bytes), *again = malloc(bytes);
  CHECK(saved && again, "memory");
  oz_emitters_write(&s->e, saved);
  m.count = 0;
  step(s, &m, 0.0371, 0.04, 4);
  ooze_message why = {""};
  CHECK(oz_emitters_read(&s->e, saved, bytes, 2, &used, &why) == OOZE_OK && used == bytes, "%s",
        why.text);
  oz_emitters_write(&s->e, again);
  CHECK(memcmp(saved, again, bytes) == 0, "the same bits");
  step(s, &n, 0.0371, 0.04, 4);
  CHECK(m.count == n.count && m.count > 100, "%u and %u", m.count, n.count);
  CHECK(memcmp(m.x, n.x, m.count * 16u) == 0 || m.count == 0, "the same births, bit for bit");
  /* hostile bytes */
  for (size_t k = 0; k < bytes; k++) {
    unsigned char *cut = malloc(k ? k : 1);
    CHECK(cut != NULL, "memory");
    memcpy(cut, saved, k);
    CHECK(oz_emitters_read(&s->e, cut, k, 2, &used, &why) == OOZE_ERROR_FORMAT, "%zu of %zu", k,
          bytes);
    free(cut);
    for (int b = 0; b < 8; b++) {
      memcpy(again, saved, bytes);
      again[k] ^= (unsigned char)(1 << b);
      ooze_result r = oz_emitters_read(&s->e, again, bytes, 2, &used, &why);
      CHECK(r == OOZE_OK || r == OOZE_ERROR_FORMAT, "byte %zu", k);
    }
  }
  CHECK(oz_emitters_read(&s->e, saved, bytes, 1, &used, &why) == OOZE_ERROR_FORMAT &&
            strstr(why.text, "material"),
        "%s", why.text);
  free(saved), free(again);
  stream_free(&m), stream_free(&n);
  close_shop(s);
}

OZ_CASE(a_steady_stream_soon_allocates_nothing) {
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_SUNFLOWER);
  uint32_t h;
  shop *s = open_with(&d, &h);
  uint64_t made = 0;
  for (int k = 0; k < 500; k++) {
    if (k == 20) made = s->memory.allocations;
    CHECK(oz_emitters_births(&s->e, k / 240.0, (k + 1) / 240.0, 0.0, 1.0, 2, &s->b, NULL) ==
              OOZE_OK,
          "births");
    oz_emitters_accept(&s->e);
  }
  CHECK_EQ(s->memory.allocations, made);
  close_shop(s);
}

/* Every outline, from two to ten separations: as many particles as it has volume, all of them
 * inside, none nearer to another than 0.7 separations, in the same order however time is cut. */
OZ_CASE(relaxed_mouths_are_even_and_keep_to_their_outline) {
  static const float corners[8] = {-1.0f, -0.3f, 1.0f, -0.5f, 0.4f, 0.8f, -0.6f, 0.7f};
  for (uint32_t outline = 0; outline <= OOZE_OUTLINE_POLYGON + 1; outline++)
    for (float radius = 2.0f; radius <= 10.0f; radius += 4.0f) {
      shop *s = open_shop();
      ooze_message why = {""};
      stream a = {0}, b = {0};
      uint32_t h;
      ooze_emitter_desc d = nozzle(OOZE_LAYOUT_RELAXED);
      d.radius = radius * D;
      d.speed = 0.5f;
      d.outline = outline > OOZE_OUTLINE_POLYGON ? (uint32_t)OOZE_OUTLINE_POLYGON : outline;
      if (outline > OOZE_OUTLINE_POLYGON) {
        d.corner_count = 4;
        memcpy(d.corners, corners, sizeof corners);
      }
      const double area = ooze_emitter_area(&d), sep = (double)D;
      CHECK(oz_emitters_add(&s->e, &d, 2, &h, &why) == OOZE_OK, "%s", why.text);
      step(s, &a, 0.0, 0.16, 4);
      /* 20 layers and three in the nozzle; a piece of the stream is eight long */
      CHECK_NEAR(a.count, area * 23.0 / (sep * sep), 0.03 * area * 23.0 / (sep * sep) + 8.0,
                 "the outline's volume");
      double least = 1e9;
      for (uint32_t i = 0; i < a.count; i++) {
        CHECK(hypot((double)a.x[4 * i], (double)a.x[4 * i + 2]) <= (double)d.radius * 1.12,
              "outline %u: a particle is outside", outline); /* corners lie up to 1.118 radii out */
        for (uint32_t j = 0; j < i; j++) {
          const double x = (double)(a.x[4 * i] - a.x[4 * j]),
                       y = (double)(a.x[4 * i + 1] - a.x[4 * j + 1]),
                       z = (double)(a.x[4 * i + 2] - a.x[4 * j + 2]);
          least = fmin(least, x * x + y * y + z * z);
        }
      }
      /* a slot or a star's tip of less than one separation has one row, crowded */
      CHECK(sqrt(least) / sep > (radius > 3.0f ? 0.7 : 0.3), "outline %u of %g: %g separations",
            outline, (double)radius, sqrt(least) / sep);
      close_shop(s);
      s = open_shop();
      CHECK(oz_emitters_add(&s->e, &d, 2, &h, NULL) == OOZE_OK, "again");
      step(s, &b, 0.0, 0.16, 7);
      CHECK_EQ(a.count, b.count);
      for (uint32_t i = 0; i < a.count && i < b.count; i++)
        CHECK_NEAR(a.x[4 * i + 1], b.x[4 * i + 1], 1e-5f, "by other substeps");
      stream_free(&a), stream_free(&b);
      close_shop(s);
    }
}

OZ_CASE(a_rate_gives_the_speed) {
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_AUTO);
  stream m = {0};
  d.radius = 4.0f * D;
  d.rate = (float)(0.25 * ooze_emitter_area(&d)); /* a quarter of a metre a second */
  uint32_t h;
  shop *s = open_with(&d, &h);
  step(s, &m, 0.0, 0.4, 4);
  CHECK_NEAR(s->e.slot[0].flow, 0.1, 1e-6, "0.4 s at 0.25 m/s, whatever `speed` says");
  close_both(s, &m);
}
