/* The arrays that two backends are compared in: where each has them, in which layout, and when they
 * hold something. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_CUDA_COMPARE_ARRAYS_H
#define OZ_TESTS_CUDA_COMPARE_ARRAYS_H

#include "cuda/compare.h"

#include <string.h>

typedef struct array {
  const char *name;
  size_t member;
  /* planes: 1, or 2 where the CPU has blocks, 3 where the GPU packs its six numbers, 4 a rotation,
   * 5 its eigenvalues */
  uint32_t words, planes;
  /* 0 always, 1 velocity phase, 2 position phase, 3 solve of soft bodies, 4 from bound_sums to
   * bound, 5 before density_bound, 6 behind it, 7 from bound_sums to density_bound */
  int when;
  int sums; /* sums over gradients */
} array;
extern const array compare_arrays[];
extern const int compare_array_count;
enum { MOST = 12 }; /* words of one particle */

static inline int named(const array *a, const char *name) { return strcmp(a->name, name) == 0; }
/* Bytes of a backend's memory. */
void side_get(const side *s, void *to, const void *from, size_t bytes);
/* One array by rank: out[rank * MOST + word]. */
void compare_read(const both *t, const side *s, const array *a, float *out);
void compare_write(const both *t, const side *s, const array *a, const float *in);
/* Whether the array holds something that a stage reads, at this moment of the substep. */
int compare_live(const both *t, const array *a);

#endif
