/* A cube that falls on a floor: its drift, rebound and spread. SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

void verify_drop_default(verify_drop *d) {
  memset(d, 0, sizeof *d);
  d->n = 12;
  d->velocity_iterations = 10;
  d->position_iterations = 5;
  d->scheme = OOZE_SCHEME_OOZE;
  d->separation = 0.05;
  d->gap = 0.5;
  d->dt = 1.0 / 240.0;
  d->duration = 2.0;
  d->blow_up = 50.0;
}

/* The first dip of the centre after landing, and the highest rise after it. */
typedef struct bounce {
  int landed, rising;
  double peak;
} bounce;

static void follow_bounce(bounce *c, const verify_drop *d, const measure_body *b,
                          verify_dropped *out) {
  if (!c->landed && b->low[1] < 0.55 * d->separation) c->landed = 1;
  if (!c->landed) return;
  if (!c->rising && b->centre[1] < out->lowest)
    out->lowest = b->centre[1];
  else if (b->centre[1] > out->lowest)
    c->rising = 1;
  if (c->rising && b->centre[1] > c->peak) c->peak = b->centre[1];
}

static void record(const verify_drop *d, const measure_body *b, double rms, verify_dropped *out) {
  const double side = d->n * d->separation;
  out->rms_end = rms;
  out->rms_max = fmax(out->rms_max, rms);
  out->height = (b->high[1] - b->low[1] + d->separation) / side;
  out->radius = (b->radius + 0.5 * d->separation) / side;
  out->front = (b->front + 0.5 * d->separation) / side;
  out->mean_compression = b->mean_compression;
  out->max_compression = fmax(out->max_compression, b->max_compression);
  out->max_speed = b->max_speed;
}

static void build(kit *k, const verify_drop *d) {
  const double side = d->n * d->separation, low[3] = {-0.5 * side, d->gap, -0.5 * side};
  const uint32_t n[3] = {d->n, d->n, d->n};
  k->params.scheme = d->scheme;
  k->params.wall_density = d->wall_density;
  kit_iterations(k, d->velocity_iterations, d->position_iterations);
  const uint32_t material =
      d->viscosity > 0.0 ? kit_fluid(k, d->viscosity, d->tau) : kit_material(k, d->tau, d->alpha);
  kit_floor(k, d->friction);
  kit_block(k, material, n, low);
  kit_read(k);
}

/* Steps to the end, or to where the cube blows up, with a look every 0.01 s; returns the time. */
static double fall(kit *k, const verify_drop *d, const float (*reference)[3], uint32_t count,
                   bounce *c, verify_dropped *out) {
  double t = 0.0, next_look = 0.0;
  while (kit_good(k) && t < d->duration - 1e-9) {
    kit_step(k, d->dt, 1);
    t += d->dt;
    ++out->steps;
    if (t < next_look - 1e-9 && t < d->duration - 1e-9) continue;
    next_look += 0.01;
    measure_body b;
    kit_read(k);
    if (!kit_good(k)) break;
    measure((measure_points)k->x, (measure_points)k->v, k->compression, k->count, &b);
    if (!b.finite || b.max_speed > d->blow_up || k->contained || k->count != count) {
      out->blown_at = t;
      break;
    }
    record(d, &b, measure_rigid_rms((measure_points)k->x, reference, count) / d->separation, out);
    follow_bounce(c, d, &b, out);
  }
  return t;
}

int verify_drop_run(verify *v, const verify_drop *d, verify_dropped *out) {
  kit k;
  float(*reference)[3] = NULL;
  const uint32_t count = d->n * d->n * d->n;
  double t = 0.0;
  bounce c = {0, 0, 0.0};
  memset(out, 0, sizeof *out);
  out->lowest = (double)INFINITY;
  kit_open(&k, verify_machine(v), d->separation);
  build(&k, d);
  if (kit_good(&k) && (reference = malloc(count * sizeof *reference)) != NULL) {
    memcpy(reference, k.x, count * sizeof *reference);
    t = fall(&k, d, (measure_points)reference, count, &c, out);
  }
  if (k.result <= OOZE_LOST_DIVERGED && out->blown_at == 0.0) out->blown_at = t;
  if (!isfinite(out->lowest)) out->lowest = (double)NAN;
  out->rebound = c.rising ? c.peak - out->lowest : 0.0;
  if (out->blown_at > 0.0) out->rms_end = out->rms_max = (double)NAN;
  out->seconds = k.step_seconds;
  out->seconds_per_second = t > 0.0 ? k.step_seconds / t : (double)NAN;
  int ran = verify_ran(v, &k);
  if (!reference && ran) {
    verify_at_most(v, (double)NAN, 0.0, "", "run");
    verify_note(v, "no memory for the reference shape");
    ran = 0;
  }
  free(reference);
  kit_close(&k);
  return ran;
}
