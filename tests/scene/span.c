/* `from` and `until` of emitters and fluids in scene files: parsing, refusals, runs.
 * SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "scene/scene_internal.h"
#include "scratch.h"

#include <math.h>

RUN_IN_SCRATCH()

/* Frames of 1/24 s: the tap opens in the third and closes in the ninth. */
static const char TAP[] =
    "{\n\"solver\": {\"particle_separation\": 0.01, \"substeps\": 3, \"velocity_iterations\": 4, "
    "\"position_iterations\": 3},\n\"materials\": {\"thin\": {\"viscosity\": 1}},\n"
    "\"emitters\": {\"tap\": {\"material\": \"thin\", \"radius\": 0.02, \"speed\": 0.5,\n"
    "\"from\": 0.11, \"until\": 0.37}},\n"
    "\"output\": {\"frames\": [1, 13], \"fps\": 24, \"points\": \"none\", \"checkpoint_every\": "
    "1}}";
static const double D = 0.01, SPEED = 0.5, FROM = 0.11, UNTIL = 0.37;
static const char BOX[] =
    "{\n\"solver\": {\"particle_separation\": 0.01, \"substeps\": 2, \"velocity_iterations\": 4, "
    "\"position_iterations\": 3},\n\"fluids\": {\"tank\": {\"material\": \"honey\", \"shape\": "
    "\"box\", \"size\": [0.05, 0.05, 0.05], \"emit\": \"volume\"}},\n"
    "\"output\": {\"frames\": [1, 9], \"fps\": 30, \"points\": \"none\"}}";

static ooze_message why;

static ooze_scene *load(const char *text, const char *const *sets, uint32_t count) {
  ooze_scene_options o;
  ooze_scene *s = NULL;
  ooze_scene_options_default(&o);
  o.sets = sets;
  o.set_count = count;
  why.text[0] = 0;
  ooze_scene_load_memory("s.json", text, strlen(text), &o, &s, &why);
  return s;
}
static ooze_scene *load_with(const char *text, const char *a, const char *b) {
  const char *sets[2] = {a, b};
  ooze_scene *s = load(text, sets, (uint32_t)(a != NULL) + (b != NULL));
  CHECK(s != NULL, "%s", why.text);
  return s;
}
static void refused(const char *text, const char *set, const char *words) {
  ooze_scene *s = load(text, &set, 1);
  CHECK(s == NULL, "%s was accepted", set);
  CHECK(strstr(why.text, words) != NULL, "said \"%s\", expected \"%s\"", why.text, words);
}

static int on_stop(void *user) { return --*(int *)user < 0; }

static ooze_result run(const ooze_scene *s, const char *folder, int resume, int polls,
                       ooze_run_report *report) {
  ooze_run_options o;
  ooze_run_options_default(&o);
  ooze_run_report_default(report);
  o.folder = folder;
  o.resume = (uint32_t)resume;
  o.stop = polls > 0 ? on_stop : NULL;
  o.user = &polls;
  return ooze_run(s, &o, report, &why);
}
static uint32_t particles(const char *text, const char *a, const char *b) {
  ooze_scene *s = load_with(text, a, b);
  ooze_run_report r;
  CHECK(run(s, "span", 0, 0, &r) == OOZE_OK, "%s", why.text);
  ooze_scene_destroy(s);
  return r.particles;
}

/* Particles that the tap pours in so many seconds; a layer of them is as near as it gets. */
static double poured(double seconds) {
  return 3.14159265358979 * 0.02 * 0.02 * SPEED * seconds / (D * D * D);
}
static const double LAYER = 3.14159265358979 * 4.0;

OZ_CASE(a_span_reaches_the_nozzle) {
  ooze_scene *s = load_with(TAP, NULL, NULL);
  CHECK(s->start.emitters[0].desc.from == (float)FROM);
  CHECK(s->start.emitters[0].desc.until == (float)UNTIL);
  ooze_scene_destroy(s);
}

OZ_CASE(spans_that_cannot_be_are_refused_by_key_value_and_what_fits) {
  refused(TAP, "emitters.tap.until=0.1",
          "emitters.tap.until: is 0.1 s; expected more than from, which is 0.11 s, or 0 for no "
          "end");
  refused(TAP, "emitters.tap.from=0.37",
          "emitters.tap.until: is 0.37 s; expected more than from, which is 0.37 s");
  refused(TAP, "emitters.tap.from=-1",
          "emitters.tap.from: -1 is out of range; expected a number from 0 to 1e+09 s");
  refused(TAP, "emitters.tap.until=-1",
          "emitters.tap.until: -1 is out of range; expected a number from 0 to 1e+09 s");
  refused(TAP, "emitters.tap.until=soon", "emitters.tap.until: \"soon\" is a text; expected a");
  refused(TAP, "emitters.tap.until=NaN", "emitters.tap.until: ");
  refused(TAP, "emitters.tap.until={\"keys\": [[0, 1]]}", "this value is fixed");
  refused(TAP, "emitters.tap.til=1", "did you mean until?");
  refused(TAP, "emitters.tap.stop=1", "did you mean until?");
  refused(TAP, "emitters.tap.direction=1", "did you mean rotate?");
  refused(TAP, "emitters.tap.keyframes=1", "keyframes take the place of a value");
  refused(BOX,
          "fluids.tank={\"material\": \"honey\", \"shape\": \"sphere\", \"radius\": 0.05, "
          "\"emit\": \"volume\", \"from\": 2, "
          "\"until\": 1}",
          "fluids.tank.until: is 1 s; expected more than from, which is 2 s, or 0 for no end");
  refused(
      BOX,
      "fluids.tank={\"material\": \"honey\", \"shape\": \"sphere\", \"radius\": 0.05, \"from\": 2}",
      "fluids.tank.from: is 2 s; expected 0, or \"emit\": \"volume\" or \"surface\" beside it");
}

OZ_CASE(births_begin_and_end_within_their_frames) {
  CHECK_EQ(particles(TAP, "output.frames=[1,3]", NULL), 0); /* to 0.083 s */
  CHECK(particles(TAP, "output.frames=[1,4]", NULL) > 0, "to 0.125 s");
  const uint32_t end = particles(TAP, "output.frames=[1,10]", NULL); /* to 0.375 s */
  CHECK_NEAR(end, poured(UNTIL - FROM), LAYER, "the volume of the span");
  CHECK_EQ(particles(TAP, NULL, NULL), end);
  CHECK(particles(TAP, "emitters.tap.until=0", NULL) > 1.3 * end, "0 never stops");
}

OZ_CASE(a_resumed_run_starts_and_stops_with_the_same_bits) {
  ooze_scene *s = load_with(
      TAP, "emitters.tap.position={\"keys\": [[0, [0, 0.3, 0]], [0.5, [0.2, 0.3, 0]]]}", NULL);
  ooze_run_report whole, part;
  int32_t seen = 0; /* bits: frames that a run went on from */
  CHECK(run(s, "whole", 0, 0, &whole) == OOZE_OK, "%s", why.text);
  for (int polls = 3; polls < 60; polls += 8) {
    ooze_result r = run(s, "part", 0, polls, &part);
    for (int round = 0; r == OOZE_CANCELLED && round < 40; round++) {
      r = run(s, "part", 1, polls + 5 * round, &part);
      if (part.resumed) seen |= 1 << part.resumed_frame;
    }
    CHECK(r == OOZE_OK, "%s", why.text);
    CHECK(part.state_hash == whole.state_hash && part.particles == whole.particles,
          "%d polls: %u particles and %u", polls, part.particles, whole.particles);
  }
  /* before the start, while it pours, and after the stop */
  CHECK((seen & 0xe) && (seen & 0x3e0) && (seen & 0x1c00), "frames %x", (unsigned)seen);
  ooze_scene_destroy(s);
}

OZ_CASE(a_span_is_counted_in_seconds_of_the_scene) {
  /* at half the speed half as much comes out, as in a fluid's span */
  CHECK_NEAR(particles(TAP, "solver.time_scale=0.5", NULL), poured(0.5 * (UNTIL - FROM)), LAYER,
             "half of it");
  static const char keys[] =
      "solver.time_scale={\"keys\": [[0, 0.5], [0.25, 2]], \"interpolation\": \"step\"}";
  ooze_scene *s = load_with(TAP, keys, NULL);
  CHECK_NEAR(oz_simulated_time(s, 0.11), 0.055, 1e-12, "half");
  CHECK_NEAR(oz_simulated_time(s, 0.37), 0.125 + 0.24, 1e-12, "six frames of half, then double");
  CHECK_NEAR(oz_simulated_time(s, 10.0), 0.125 + 19.5, 1e-12, "beyond the last frame");
  CHECK_NEAR(s->start.emitters[0].desc.until, 0.365, 1e-7, "the solver's");
  ooze_scene_destroy(s);
  CHECK_NEAR(particles(TAP, keys, NULL), poured(0.365 - 0.055), LAYER, "the same of keyframes");
  CHECK(particles(TAP, "solver.time_scale=0", NULL) == 0, "time stands still");
}

OZ_CASE(an_estimate_knows_the_span) {
  ooze_scene *s = load_with(TAP, NULL, NULL);
  ooze_scene_estimate e;
  ooze_scene_estimate_default(&e);
  CHECK(ooze_scene_estimate_get(s, &e, &why) == OOZE_OK, "%s", why.text);
  CHECK_NEAR(e.emitted, poured(UNTIL - FROM), 1.0, "a whole number");
  ooze_scene_destroy(s);
}

OZ_CASE(a_fluid_begins_at_from_and_ends_at_until) {
  static const char gone[] = "solver.gravity=[0,-200,0]"; /* the box is empty at each frame */
  CHECK_EQ(particles(BOX, "fluids.tank.from=0.1", "output.frames=[1,4]"), 0);
  const uint32_t one = particles(BOX, "fluids.tank.from=0.1", "output.frames=[1,5]");
  CHECK_EQ(one, 125); /* the frame at 0.1 s is the fourth */
  const char *const sets[3] = {gone, "fluids.tank.from=0.1", "fluids.tank.until=0.2"};
  ooze_scene *s = load(BOX, sets, 3);
  ooze_run_report r;
  CHECK(s != NULL, "%s", why.text);
  CHECK(run(s, "span", 0, 0, &r) == OOZE_OK, "%s", why.text);
  CHECK_EQ(r.particles, 3 * 125);
  ooze_scene_destroy(s);
}
OZ_TEST_MAIN()
