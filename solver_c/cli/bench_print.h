/* Figures of `ooze bench`, in print. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_CLI_BENCH_PRINT_H
#define OOZE_CLI_BENCH_PRINT_H

#include "verify/bench_scenes.h"

#include "json.h"

enum { BENCH_STAGES = 96 };
typedef struct bench_stage {
  char name[48];
  double seconds;
  uint64_t calls;
} bench_stage;

typedef struct bench_result {
  ooze_result code;
  char message[640], backend[96];
  uint32_t particles, stage_count, frames;
  uint64_t steps, bytes_per_particle, bytes, device_bytes, device_scratch, hash;
  double neighbours, seconds_per_frame, seconds_per_step, processor_per_step, compression,
      max_speed;
  double setup_seconds;
  double velocity_ns, position_ns,
      lists_ns; /* a particle, of one iteration of each phase; of a step's neighbour work */
  bench_stage stages[BENCH_STAGES];
} bench_result;

enum { WALLS_SDF, WALLS_PARTICLES, WALLS_BOTH };
typedef struct bench_settings {
  kit_machine machine;
  uint32_t frames, warmup, particles, steps, velocity, position, model, walls;
  double dt;
} bench_settings;

/* twin: of another width or kind of walls, or NULL */
void bench_print_table(const bench_scene *s, const bench_settings *o, const bench_result *r,
                       const bench_result *twin);
void bench_print_json(cli_json *j, const bench_scene *s, const bench_settings *o,
                      const bench_result *r, const bench_result *twin);

#endif
