/* Wind and forces that a host drives step by step, as accelerations of single particles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/result.h"
#include "ooze/ooze_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct kept {
  uint64_t *ids;   /* of the particles before the step, ascending */
  float *own;      /* their OOZE_FORCE, 3 each */
  float *total;    /* their values for the step */
  float *velocity; /* 3 each */
  uint32_t count;
} kept;

static void release(kept *k) {
  free(k->ids);
  free(k->own);
  free(k->total);
  free(k->velocity);
}

static ooze_result reserve(kept *k, uint32_t count, ooze_message *why) {
  const size_t n = count ? count : 1;
  k->count = count;
  k->ids = malloc(n * sizeof *k->ids);
  k->own = malloc(n * 3 * sizeof(float));
  k->total = malloc(n * 3 * sizeof(float));
  k->velocity = malloc(n * 3 * sizeof(float));
  if (k->ids && k->own && k->total && k->velocity) return OOZE_OK;
  return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the forces of %u particles", count);
}

/* The mean acceleration of a velocity that relaxes towards the air's at a constant rate: u(dt) =
 * air + (u - air) exp(-rate dt). Never overshoots, however large rate dt is. */
static double drag(double air, double velocity, double rate, double dt) {
  return rate > 0.0 && dt > 0.0 ? (air - velocity) * -expm1(-rate * dt) / dt : 0.0;
}

static ooze_result add_up(const ooze_forces *f, double dt, kept *k, ooze_message *why) {
  for (size_t i = 0; i < k->count; i++) {
    const double rate = (double)(f->resistance ? f->resistance[i] : f->air_resistance);
    if (!(rate >= 0.0) || !isfinite(rate))
      return oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "air resistance of id %llu is %g 1/s; expected 0 or more",
                     (unsigned long long)k->ids[i], rate);
    for (size_t c = 0; c < 3; c++) {
      const size_t at = 3 * i + c;
      const double air = (double)(f->target ? f->target[at] : f->wind[c]);
      double a = (double)k->own[at] + drag(air, (double)k->velocity[at], rate, dt);
      if (f->acceleration) a += (double)f->acceleration[at];
      if (!isfinite(a))
        return oz_fail(why, OOZE_ERROR_ARGUMENT, "force or wind at id %llu is not finite",
                       (unsigned long long)k->ids[i]);
      k->total[at] = (float)a;
    }
  }
  return OOZE_OK;
}

/* Their own force again, for those that are still there. */
static ooze_result give_back(ooze_solver *s, const kept *k) {
  const uint32_t n = ooze_particle_count(s);
  uint32_t from = 0;
  uint64_t *ids = malloc((n ? n : 1) * sizeof *ids);
  float *own = calloc(n ? n : 1, 3 * sizeof(float));
  ooze_result r = ids && own ? OOZE_OK : OOZE_ERROR_MEMORY;
  if (r == OOZE_OK && n) r = ooze_attribute_read(s, OOZE_ID, 0, n, 0, ids);
  for (uint32_t i = 0; r == OOZE_OK && i < n; i++) {
    while (from < k->count && k->ids[from] < ids[i]) from++;
    if (from < k->count && k->ids[from] == ids[i])
      memcpy(own + 3 * (size_t)i, k->own + 3 * (size_t)from, 3 * sizeof(float));
  }
  if (r == OOZE_OK && n) r = ooze_attribute_write(s, OOZE_FORCE, 0, n, 0, own);
  free(ids);
  free(own);
  return r;
}

ooze_result ooze_step_forced(ooze_solver *s, const ooze_forces *forces, double dt,
                             ooze_message *why) {
  kept k = {NULL, NULL, NULL, NULL, 0};
  ooze_params params;
  if (!s || !forces || forces->size != sizeof *forces)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_step_forced: solver or forces is missing");
  const uint32_t n = ooze_particle_count(s);
  if (forces->count != n && (forces->acceleration || forces->target || forces->resistance))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "forces are for %u particles; expected %u",
                   forces->count, n);
  ooze_params_default(&params);
  ooze_result r = ooze_params_get(s, &params);
  if (r >= 0) r = reserve(&k, n, why);
  if (r >= 0 && n) r = ooze_attribute_read(s, OOZE_ID, 0, n, 0, k.ids);
  if (r >= 0 && n) r = ooze_attribute_read(s, OOZE_FORCE, 0, n, 0, k.own);
  if (r >= 0 && n) r = ooze_attribute_read(s, OOZE_VELOCITY, 0, n, 0, k.velocity);
  if (r >= 0) r = add_up(forces, dt * (double)params.time_scale, &k, why);
  if (r >= 0 && n) r = ooze_attribute_write(s, OOZE_FORCE, 0, n, 0, k.total);
  if (r >= 0) {
    r = ooze_step(s, dt);
    if (r < 0 && why) oz_fail(why, r, "%s", ooze_solver_message(s));
    ooze_result back = r > -100 ? give_back(s, &k) : r;
    if (r >= 0 && back < 0) r = oz_fail(why, back, "%s", ooze_solver_message(s));
  }
  release(&k);
  return r;
}
