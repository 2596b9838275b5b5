/* A backend that runs everything on two backends and compares them, stage by stage.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Before each stage the second gets the first's arrays, so that every stage is judged by itself;
 * the stage's values in any array are compared particle by particle, by id, since each backend has
 * an order of its own. */
#ifndef OZ_TESTS_CUDA_COMPARE_H
#define OZ_TESTS_CUDA_COMPARE_H

#include "base/backend.h"
#include "base/memory.h"
#include "models/models.h"

ooze_result oz_cpu_backend_create(const oz_backend_desc *desc, oz_backend **out, ooze_message *why);
ooze_result oz_cuda_host_backend_create(const oz_backend_desc *desc, oz_backend **out,
                                        ooze_message *why);
int oz_cuda_host_copy(oz_backend *b, void *to, const void *from, size_t bytes);
ooze_result oz_cuda_backend_create(const oz_backend_desc *desc, oz_backend **out,
                                   ooze_message *why);
int oz_cuda_copy(oz_backend *b, void *to, const void *from, size_t bytes);
int oz_cuda_usable(const char **detail);

typedef struct side {
  oz_backend *b;
  int (*copy)(oz_backend *b, void *to, const void *from, size_t bytes);
  int gpu; /* lists and matrices in the GPU's layout */
  oz_frame f;
  float *y, *y2, *u, *u2, *q, *carried; /* as they were after the sort */
  uint32_t *at;                         /* rank -> index */
  uint32_t *slot;                       /* rank -> wall slot + 1, or 0 */
} side;

/* The worst that was seen of one array after one stage. */
typedef struct finding {
  const char *array;
  double worst;   /* greatest difference over the array's greatest value */
  double typical; /* 99.5% of the particles are nearer than this */
} finding;

typedef struct both {
  oz_backend base;
  side a, b;
  oz_memory *memory;
  uint32_t n;
  /* the first rounds gradients to halves: sums of them stay with their backend */
  int own_gradients;
  int soft;               /* the solve of soft bodies runs, on arrays of its own */
  int heat;               /* conduction has begun */
  int tension;            /* tension counts walls before the velocity solve */
  int velocity, position; /* these phases have begun */
  int summed;             /* bound_sums has run, and only bound since */
  int pushed;             /* density_lambda has run, and finish not yet */
  int multiplied;         /* velocity_start has run, and finish not yet */
  int near;               /* bound_sums has run, and density_bound not yet */
  int bounded; /* density_bound has: diag and density_row_sum have become density_relaxation and rho
                */
  int ran_gradient; /* in this substep */
  int rows;         /* wall_rows has run in this substep */
  int scratch;      /* A and dx hold nothing at present */
  int keys;         /* A holds the CPU's sort keys: until gradient */
  int paper;        /* scheme: paper */
  int no_matrices;  /* a model that writes no A at all */
  int other, sent;  /* another model than conformation; it has written A */
  int verbose;
  uint32_t ran[OZ_STAGE_COUNT];
  finding found[OZ_STAGE_COUNT];               /* of the worst array */
  uint32_t list_differences, wall_differences; /* particles */
  uint32_t links, link_differences;
} both;

void both_open(both *t, side a, side b, oz_memory *memory);
void both_close(both *t);

#endif
