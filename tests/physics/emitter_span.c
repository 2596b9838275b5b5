/* `from` and `until` of emitters: the span in which they pour. SPDX-License-Identifier: Apache-2.0
 */
#include "emitter_shop.h"

OZ_TEST_MAIN()

/* Within frames of 1/24 s, and on no substep of the counts below. */
static const float FROM = 0.031f, UNTIL = 0.117f;

static ooze_emitter_desc spanned(float from, float until) {
  ooze_emitter_desc d = nozzle(OOZE_LAYOUT_BCT);
  d.from = from, d.until = until;
  return d;
}

/* Particles of the column up to a length: 9 columns at phase 0 and 12 at phase 1/2. */
static uint32_t column(double length) {
  const double layers = length / (double)D;
  return 9 * (uint32_t)ceil(layers) + 12 * (uint32_t)ceil(layers - 0.5);
}

static void check_span(const shop *s, stream *m) {
  const double length = 0.5 * ((double)UNTIL - (double)FROM);
  CHECK_EQ(m->count, column(length));
  CHECK_EQ(s->e.slot[0].emitted, m->count);
  qsort(m->x, m->count, 16, by_place);
  float low = 1.0f, high = -1.0f;
  for (uint32_t i = 0; i < m->count; i++) {
    low = fminf(low, m->x[4 * i + 1]);
    high = fmaxf(high, m->x[4 * i + 1]);
    CHECK(!m->source[i], "nothing waits in the nozzle");
  }
  const double end = 5.0 / 24.0;
  CHECK_NEAR(low, -0.5 * (end - (double)FROM), 2e-6, "the front left the mouth at `from`");
  CHECK(high <= -0.5f * ((float)end - UNTIL) && high > -0.5f * ((float)end - UNTIL) - D,
        "%g m: the last layer left the mouth before `until`", (double)high);
}

OZ_CASE(a_span_pours_its_volume_at_any_substep_count) {
  ooze_emitter_desc d = spanned(FROM, UNTIL);
  pour_in_any_substeps(&d, check_span);
}

OZ_CASE(births_fall_within_the_span) {
  for (int n = 1; n < 60; n += 7) {
    ooze_emitter_desc d = spanned(FROM, UNTIL);
    uint32_t h, born = 0;
    shop *s = open_with(&d, &h);
    for (int k = 0; k < 5 * n; k++) {
      const double t0 = k / (24.0 * n), t1 = (k + 1) / (24.0 * n);
      CHECK(oz_emitters_births(&s->e, t0, t1, 0.0, 1.0, 2, &s->b, NULL) == OOZE_OK, "births");
      if (t1 <= (double)FROM || t0 >= (double)UNTIL)
        CHECK(s->b.count == 0, "%u from %g s to %g s", s->b.count, t0, t1);
      if (t0 < (double)FROM && t1 > (double)FROM)
        CHECK(s->b.count >= column(3.0 * (double)D), "%u: a full nozzle", s->b.count);
      born += s->b.count;
      oz_emitters_accept(&s->e);
    }
    CHECK_EQ(born, column(0.5 * ((double)UNTIL - (double)FROM)));
    close_shop(s);
  }
}

OZ_CASE(a_stream_that_begins_later_is_the_same_stream) {
  stream early = {0}, late = {0};
  ooze_emitter_desc d = spanned(0.0f, 0.0f);
  uint32_t h;
  shop *s = open_with(&d, &h);
  for (int k = 0; k < 8; k++) step(s, &early, k / 64.0, 1.0 / 64.0, 4);
  close_shop(s);
  d.from = 0.25f; /* on a step, so that both have the same substeps */
  s = open_with(&d, &h);
  for (int k = 0; k < 24; k++) step(s, &late, k / 64.0, 1.0 / 64.0, 4);
  CHECK_EQ(late.count, early.count);
  CHECK(memcmp(late.x, early.x, early.count * 16u) == 0, "bit for bit");
  stream_free(&early);
  close_both(s, &late);
}

OZ_CASE(no_end_pours_on_and_the_smaller_limit_ends) {
  static const struct {
    float until;
    uint64_t most, expected;
  } rows[] = {{0.0f, 0, 0}, {UNTIL, 100, 100}, {UNTIL, 100000, 0}};
  for (int k = 0; k < 3; k++) {
    stream m = {0};
    ooze_emitter_desc d = spanned(FROM, rows[k].until);
    d.max_particles = rows[k].most;
    shop *s = pour(&d, 7, &m);
    const double end = rows[k].until > 0.0f ? (double)UNTIL : 5.0 / 24.0 + 3.0 * (double)D / 0.5;
    CHECK_EQ(m.count, rows[k].expected ? rows[k].expected : column(0.5 * (end - (double)FROM)));
    close_both(s, &m);
  }
}

OZ_CASE(a_rate_times_the_span_is_the_volume_of_every_outline) {
  for (uint32_t outline = 0; outline < 5; outline++) {
    stream m = {0};
    ooze_emitter_desc d = nozzle(OOZE_LAYOUT_AUTO);
    d.outline = outline, d.radius = 5.0f * D;
    d.rate = (float)(0.5 * ooze_emitter_area(&d)), d.from = FROM, d.until = UNTIL;
    shop *s = pour(&d, 3, &m);
    const double volume = (double)d.rate * ((double)UNTIL - (double)FROM),
                 filled = m.count * pow((double)D, 3.0), layer = ooze_emitter_area(&d) * (double)D;
    CHECK_NEAR(filled, volume, layer, "the last layer is born as a whole or not");
    close_both(s, &m);
  }
}

OZ_CASE(keyed_rates_and_pauses_end_at_until_too) {
  stream m = {0};
  ooze_emitter_desc d = spanned(FROM, UNTIL);
  uint32_t h, at_end = 0;
  shop *s = open_with(&d, &h);
  for (int frame = 0; frame < 8; frame++) {
    d.speed = 0.3f + 0.1f * (float)frame, d.active = frame != 1;
    CHECK(oz_emitters_set(&s->e, h, &d, 2, NULL) == OOZE_OK, "set");
    step(s, &m, frame / 24.0, 1.0 / 24.0, 5);
    if (frame == 2) at_end = m.count; /* to 0.125 s */
  }
  /* 0.0107 s at 0.3 m/s, and 0.0337 s at 0.5 m/s after the pause */
  const double f = 1.0 / 24.0, length = 0.3 * (f - (double)FROM) + 0.5 * ((double)UNTIL - 2.0 * f);
  CHECK_EQ(at_end, column(length));
  CHECK_EQ(m.count, at_end);
  close_both(s, &m);
}

OZ_CASE(a_slower_flow_leaves_its_nozzle_empty) {
  stream m = {0};
  ooze_emitter_desc d = spanned(0.0f, 0.1f);
  uint32_t h, held = 0;
  shop *s = open_with(&d, &h);
  step(s, &m, 0.0, 0.09, 9);
  d.speed = 0.05f; /* layers in the nozzle were born for a faster flow */
  CHECK(oz_emitters_set(&s->e, h, &d, 2, NULL) == OOZE_OK, "set");
  const uint32_t born = m.count;
  step(s, &m, 0.09, 0.01, 2);
  for (uint32_t i = 0; i < m.count; i++) held += m.source[i] != 0;
  CHECK(held > 0, "some are left at `until`");
  for (int k = 0; k < 4; k++) step(s, &m, 0.1 + 0.1 * k, 0.1, 9);
  for (uint32_t i = 0; i < m.count; i++) CHECK(!m.source[i], "it has run empty");
  CHECK_EQ(m.count, born);
  close_both(s, &m);
}

OZ_CASE(a_second_span_begins_with_a_full_nozzle) {
  stream m = {0};
  ooze_emitter_desc d = spanned(0.0f, 0.05f);
  uint32_t h;
  shop *s = open_with(&d, &h);
  step(s, &m, 0.0, 0.2, 20);
  const uint32_t first = m.count;
  CHECK_EQ(first, column(0.5 * 0.05));
  d.from = 0.3f, d.until = 0.4f;
  CHECK(oz_emitters_set(&s->e, h, &d, 2, NULL) == OOZE_OK, "set");
  step(s, &m, 0.2, 0.05, 5);
  CHECK_EQ(m.count, first);
  step(s, &m, 0.25, 0.25, 25);
  /* the flow of the run that emptied it begins in mid-layer */
  CHECK_NEAR(m.count - first, column(0.5 * 0.1), 21, "one layer");
  for (uint32_t i = first; i < m.count; i++)
    CHECK(m.x[4 * i + 1] > -0.5f * 0.2f - 2e-6f, "%g m: none came below the mouth",
          (double)m.x[4 * i + 1]);
  close_both(s, &m);
}

OZ_CASE(a_checkpoint_anywhere_goes_on_to_the_same_end) {
  enum { STEPS = 20, SUBSTEPS = 3 };
  const double dt = 0.01; /* from and until fall into steps 3 and 11 */
  ooze_emitter_desc d = spanned(FROM, UNTIL);
  stream whole = {0};
  uint32_t h;
  shop *s = open_with(&d, &h);
  for (int k = 0; k < STEPS; k++) step(s, &whole, k * dt, dt, SUBSTEPS);
  close_shop(s);
  for (int cut = 0; cut < STEPS; cut++) {
    stream m = {0};
    ooze_message why = {""};
    size_t used = 0;
    s = open_with(&d, &h);
    for (int k = 0; k < cut; k++) step(s, &m, k * dt, dt, SUBSTEPS);
    const size_t bytes = oz_emitters_bytes(&s->e);
    void *saved = malloc(bytes);
    CHECK(saved != NULL, "memory");
    oz_emitters_write(&s->e, saved);
    oz_emitters_destroy(&s->e);
    CHECK(oz_emitters_read(&s->e, saved, bytes, 2, &used, &why) == OOZE_OK, "%s", why.text);
    free(saved);
    CHECK(s->e.slot[0].desc.from == FROM && s->e.slot[0].desc.until == UNTIL, "kept");
    for (int k = cut; k < STEPS; k++) step(s, &m, k * dt, dt, SUBSTEPS);
    CHECK_EQ(m.count, whole.count);
    CHECK(memcmp(m.x, whole.x, m.count * 16u) == 0, "cut at step %d: the same bits", cut);
    close_both(s, &m);
  }
  stream_free(&whole);
}

OZ_CASE(spans_that_cannot_be_are_refused_with_key_and_value) {
  static const struct {
    float from, until;
    const char *words;
  } rows[] = {
      {0.5f, 0.5f, "until is 0.5 s; expected more than from, which is 0.5 s, or 0 for no end"},
      {2.0f, 1.0f, "until is 1 s; expected more than from, which is 2 s, or 0 for no end"},
      {-1.0f, 0.0f, "from is -1 s; expected 0 to 1e+09"},
      {NAN, 0.0f, "from is "},
      {0.0f, -0.5f, "until is -0.5 s; expected 0 to 1e+09"},
      {0.0f, NAN, "until is "},
      {0.0f, INFINITY, "until is inf s; expected 0 to 1e+09"},
  };
  shop *s = open_shop();
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    ooze_emitter_desc d = spanned(rows[k].from, rows[k].until);
    ooze_message why = {""};
    uint32_t h = 0;
    CHECK(oz_emitters_add(&s->e, &d, 2, &h, &why) == OOZE_ERROR_ARGUMENT, "%s", rows[k].words);
    CHECK(strstr(why.text, rows[k].words) != NULL, "\"%s\", expected \"%s\"", why.text,
          rows[k].words);
  }
  close_shop(s);
}
