/* Numbers about the state and the last step. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "core/particles.h"

/* A particle with this many neighbours is not at a free surface: the lattice has 32 within the
 * kernel, 22 at a flat surface and 31 in the layer below it. */
enum { OZ_INNER_NEIGHBOURS = 27 };

static ooze_result motion(ooze_solver *s, ooze_stats *t) {
  void *copy;
  const void *velocities;
  uint32_t n = s->particles.count;
  if (s->particles.hidden) OZ_TRY(oz_rank_map(s));
  OZ_TRY(oz_host_copy(s, OZ_FIELD_DENSITY, &copy));
  float *density = copy;
  OZ_TRY(oz_host_look(s, OZ_FIELD_U, &velocities));
  if (s->particles.hidden) s->particles.copy_valid = 0; /* changed here: */
  /* boundary particles: no mass, no speed */
  for (uint32_t r = oz_visible(s); r < n; ++r) density[s->particles.at[r]] = 0;
  const float *u = velocities;
  double fastest = 0;
  for (uint32_t i = 0; i < n; ++i, u += 4) {
    if (!(density[i] > 0)) continue;
    double mass = (double)density[i] * (double)s->volume,
           v[3] = {(double)u[0], (double)u[1], (double)u[2]};
    double speed2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    t->kinetic_energy += 0.5 * mass * speed2;
    for (int k = 0; k < 3; ++k) t->momentum[k] += mass * v[k];
    if (speed2 > fastest) fastest = speed2;
  }
  t->max_speed = sqrt(fastest);
  return OOZE_OK;
}

static ooze_result compression(ooze_solver *s, ooze_stats *t) {
  uint32_t n = s->particles.results;
  void *copy;
  if (n == 0) return OOZE_OK;
  OZ_TRY(oz_host_copy(s, OZ_FIELD_NEIGHBOURS, &copy));
  OZ_TRY(oz_particles_flags(s));
  uint8_t *inner = s->particles.flags;
  double neighbours = 0;
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t count = ((const uint32_t *)copy)[i];
    inner[i] = count >= OZ_INNER_NEIGHBOURS;
    neighbours += count;
  }
  /* boundary particles have none, and no density */
  t->mean_neighbours = oz_visible(s) ? neighbours / oz_visible(s) : 0;
  OZ_TRY(oz_host_copy(s, OZ_FIELD_RHO, &copy));
  const float *rho = copy;
  double sum = 0, most = -1;
  uint32_t counted = 0;
  for (uint32_t i = 0; i < n; ++i) {
    double value = (double)rho[i] - 1.0;
    if (value > most) most = value;
    if (!inner[i]) continue;
    sum += value;
    counted++;
  }
  t->max_compression = most;
  t->mean_compression = counted ? sum / counted : 0;
  return OOZE_OK;
}

/* Summed where the particles are. */
static ooze_result device_sums(ooze_solver *s, ooze_stats *t) {
  oz_sums sums;
  OZ_TRY(oz_host_flush(s));
  OZ_TRY(oz_materials_to_backend(s));
  OZ_TRY(s->backend->table->statistics(s->backend, s->volume, s->particles.results,
                                       OZ_INNER_NEIGHBOURS, &sums, s->message));
  t->kinetic_energy = sums.energy;
  for (int k = 0; k < 3; ++k) t->momentum[k] = sums.momentum[k];
  t->max_speed = sqrt(sums.speed2);
  if (!s->particles.results) return OOZE_OK;
  t->mean_neighbours = oz_visible(s) ? sums.neighbours / oz_visible(s) : 0;
  t->max_compression = sums.most_compression;
  t->mean_compression = sums.inner ? sums.compression / sums.inner : 0;
  return OOZE_OK;
}

static ooze_result stats(ooze_solver *s, int particles, ooze_stats *out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  ooze_stats t, probe;
  ooze_stats_default(&t);
  ooze_stats_default(&probe);
  /* refused before the work, not after */
  OZ_TRY(oz_struct_read(&probe, out, sizeof probe, "stats", s->message));
  t.particles = oz_visible(s);
  t.substeps = s->run.substeps;
  t.velocity_iterations = s->run.counts.velocity;
  t.position_iterations = s->run.counts.position;
  t.contained = s->run.contained;
  t.first_contained = s->run.first_contained;
  t.born = s->run.born;
  t.killed = s->run.killed;
  t.list_rebuilds = s->run.list_rebuilds;
  t.residual = s->run.residual;
  t.tension_held = s->run.tension_held;
  if (particles && s->particles.count && s->backend->table->statistics) {
    OZ_TRY(device_sums(s, &t));
  } else if (particles && s->particles.count) {
    OZ_TRY(motion(s, &t));
    OZ_TRY(compression(s, &t));
  }
  t.bytes = s->memory.bytes;
  if (s->backend_kind != OOZE_BACKEND_CPU) {
    t.device_bytes = s->backend->table->bytes(s->backend, &t.device_scratch);
    t.bytes += t.device_bytes + t.device_scratch;
  }
  t.bytes_per_particle = s->particles.count ? t.bytes / s->particles.count : 0;
  return oz_struct_write(out, &t, sizeof t, "stats", s->message);
}

ooze_result ooze_stats_get(ooze_solver *s, ooze_stats *out) { return stats(s, 1, out); }
ooze_result ooze_stats_counts(ooze_solver *s, ooze_stats *out) { return stats(s, 0, out); }

/* ---- time spent ---- */

/* Behind the stages come the backend's own doings, as long as it names them (base/backend.h). */
enum { OZ_TIMERS = OZ_STAGE_COUNT + 5 };

/* The index-th timer that has run. */
static int timer(const ooze_solver *s, uint32_t index, ooze_stage_time *t) {
  for (int k = 0; k < OZ_TIMERS; ++k) {
    s->backend->table->profile(s->backend, (oz_stage)k, &t->seconds, &t->calls);
    if (t->calls == 0 || index-- > 0) continue;
    t->name = oz_stage_names[k];
    return 1;
  }
  return 0;
}

uint32_t ooze_profile_count(const ooze_solver *s) {
  uint32_t n = 0;
  if (!s) return 0;
  for (int k = 0; k < OZ_TIMERS; ++k) {
    double seconds;
    uint64_t calls = 0;
    s->backend->table->profile(s->backend, (oz_stage)k, &seconds, &calls);
    n += calls != 0;
  }
  return n;
}

ooze_result ooze_profile_get(const ooze_solver *s, uint32_t index, ooze_stage_time *out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  ooze_stage_time t;
  ooze_stage_time_default(&t);
  if (!timer(s, index, &t))
    return oz_fail(s->message, OOZE_ERROR_NOT_FOUND, "profile: there is no entry %u",
                   (unsigned)index);
  return oz_struct_write(out, &t, sizeof t, "profile", s->message);
}

void ooze_profile_reset(ooze_solver *s) {
  if (s) s->backend->table->profile_reset(s->backend);
}

void ooze_profile_start(ooze_solver *s) {
  if (s && s->backend->table->profile_start) s->backend->table->profile_start(s->backend);
}
