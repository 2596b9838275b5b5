/* Timing scenes. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_VERIFY_BENCH_SCENES_H
#define OOZE_VERIFY_BENCH_SCENES_H

#include "scene_kit.h"

typedef struct bench_scene {
  const char *name, *about;
  uint32_t particles; /* about as many as the scene is known for */
  double separation;  /* m */
  double dt;          /* s, one step */
  uint32_t steps;     /* a frame */
  uint32_t velocity_iterations, position_iterations;
  uint32_t frames;      /* timed, unless the command line says otherwise */
  double paper_seconds; /* a frame, in the paper's Table 1 (GTX 1070); 0: not in it */
  int large;            /* runs only when named */
  void (*build)(kit *k, uint32_t particles);
  /* or NULL: moves colliders */
  void (*before_step)(kit *k, uint32_t particles, uint32_t step, double dt);
} bench_scene;

extern const bench_scene bench_scenes[];
extern const uint32_t bench_scene_count;
const bench_scene *bench_find(const char *name); /* NULL if there is none */

#endif
