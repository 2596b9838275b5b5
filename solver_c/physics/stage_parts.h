/* Parts that many gather stages have in common (stages.def): the values of the particle itself that
 * a walk over its neighbours needs, with oz_STAGE_self and oz_STAGE_begin as their names; sums; and
 * ends. A stage with needs of its own writes its struct and functions out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_STAGE_PARTS_H
#define OZ_PHYSICS_STAGE_PARTS_H

#include "physics/pairs.h"

/* The stage needs no value of the particle itself. */
#define OZ_SELF_NONE(stage)                                                            \
  typedef struct {                                                                     \
    int none;                                                                          \
  } oz_##stage##_self;                                                                 \
                                                                                       \
  OZ_FN void oz_##stage##_begin(const oz_frame *f, uint32_t i, oz_##stage##_self *s) { \
    (void)f;                                                                           \
    (void)i;                                                                           \
    s->none = 0;                                                                       \
  }

/* One vector, `name`: the first three floats of record i of `array`. */
#define OZ_SELF_VECTOR(stage, array, name)                                             \
  typedef struct {                                                                     \
    oz_v3 name;                                                                        \
  } oz_##stage##_self;                                                                 \
                                                                                       \
  OZ_FN void oz_##stage##_begin(const oz_frame *f, uint32_t i, oz_##stage##_self *s) { \
    s->name = oz_vec_of(f->array, i);                                                  \
  }

/* Two vectors, each by its array and its name. */
#define OZ_SELF_VECTORS(stage, first, one, second, two)                                \
  typedef struct {                                                                     \
    oz_v3 one, two;                                                                    \
  } oz_##stage##_self;                                                                 \
                                                                                       \
  OZ_FN void oz_##stage##_begin(const oz_frame *f, uint32_t i, oz_##stage##_self *s) { \
    s->one = oz_vec_of(f->first, i);                                                   \
    s->two = oz_vec_of(f->second, i);                                                  \
  }

/* All of record i of `array`: the vector `name` and the fourth float as `value`. */
#define OZ_SELF_RECORD(stage, array, name, value)                                      \
  typedef struct {                                                                     \
    oz_v3 name;                                                                        \
    oz_real value;                                                                     \
  } oz_##stage##_self;                                                                 \
                                                                                       \
  OZ_FN void oz_##stage##_begin(const oz_frame *f, uint32_t i, oz_##stage##_self *s) { \
    s->name = oz_vec_of(f->array, i);                                                  \
    s->value = oz_set(f->array[4 * (size_t)i + 3]);                                    \
  }

/* A vector by its array and its name, then all of a record as in OZ_SELF_RECORD. */
#define OZ_SELF_VECTOR_RECORD(stage, first, one, second, two, value)                   \
  typedef struct {                                                                     \
    oz_v3 one, two;                                                                    \
    oz_real value;                                                                     \
  } oz_##stage##_self;                                                                 \
                                                                                       \
  OZ_FN void oz_##stage##_begin(const oz_frame *f, uint32_t i, oz_##stage##_self *s) { \
    s->one = oz_vec_of(f->first, i);                                                   \
    s->two = oz_vec_of(f->second, i);                                                  \
    s->value = oz_set(f->second[4 * (size_t)i + 3]);                                   \
  }

/* A vector as in OZ_SELF_VECTOR, and `scalar`: float i of `scalars`. */
#define OZ_SELF_VECTOR_SCALAR(stage, array, name, scalars, scalar)                     \
  typedef struct {                                                                     \
    oz_v3 name;                                                                        \
    oz_real scalar;                                                                    \
  } oz_##stage##_self;                                                                 \
                                                                                       \
  OZ_FN void oz_##stage##_begin(const oz_frame *f, uint32_t i, oz_##stage##_self *s) { \
    s->name = oz_vec_of(f->array, i);                                                  \
    s->scalar = oz_set(f->scalars[i]);                                                 \
  }

/* A record as in OZ_SELF_RECORD, and `scalar`: float i of `scalars`. */
#define OZ_SELF_RECORD_SCALAR(stage, array, name, value, scalars, scalar)              \
  typedef struct {                                                                     \
    oz_v3 name;                                                                        \
    oz_real value, scalar;                                                             \
  } oz_##stage##_self;                                                                 \
                                                                                       \
  OZ_FN void oz_##stage##_begin(const oz_frame *f, uint32_t i, oz_##stage##_self *s) { \
    s->name = oz_vec_of(f->array, i);                                                  \
    s->value = oz_set(f->array[4 * (size_t)i + 3]);                                    \
    s->scalar = oz_set(f->scalars[i]);                                                 \
  }

/* A whole walk of kind OUTER: the sums of oz_outer of the vectors in `array`. */
#define OZ_SUM_OUTER(stage, array)                                                               \
  OZ_SELF_NONE(stage)                                                                            \
                                                                                                 \
  OZ_FN void oz_##stage##_pair(const oz_frame *f, const oz_##stage##_self *s, const oz_group *n, \
                               oz_real *acc) {                                                   \
    (void)s;                                                                                     \
    oz_outer(acc, f->array, n);                                                                  \
  }

/* An end in two parts, which fused kernels call apart: oz_STAGE_take loads the particle's values to
 * an oz_STAGE_own, oz_STAGE_made computes and stores. */
#define OZ_END_TAKEN(stage)                                                                      \
  OZ_FN void oz_##stage##_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) { \
    oz_##stage##_own own;                                                                        \
    (void)red;                                                                                   \
    oz_##stage##_take(f, i, &own);                                                               \
    oz_##stage##_made(f, i, acc, &own);                                                          \
  }
#endif
