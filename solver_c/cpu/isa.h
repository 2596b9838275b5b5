/* One vector build of the stages: the exports of stages.c, compiled once per instruction set.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CPU_ISA_H
#define OZ_CPU_ISA_H

#include <stdatomic.h>

#include "base/backend.h"

enum {
  OZ_CHUNK = 1024,     /* particles a task; reductions add chunks in order */
  OZ_CELL_CHUNK = 64,  /* cells a task in the neighbour search */
  OZ_PAGE = 4096,      /* words of lists a page; rows never straddle pages */
  OZ_CANDIDATES = 4096 /* candidates around one cell; more are left out */
};

/* Rows of neighbours in pages that tasks take from a common pool. The page of a row may differ from
 * run to run; its content does not. */
typedef struct oz_rows {
  uint16_t *words; /* physics/rows.h */
  uint32_t pages;  /* capacity */
  _Atomic uint32_t next;
  uint32_t *row; /* fours of words, and OZ_WIDE */
  uint16_t *len; /* padded */
} oz_rows;

/* Rows of links, in pages likewise. */
typedef struct oz_link_rows {
  uint32_t *row;
  uint16_t *len; /* true length; entries are padded */
  uint32_t *j;
  float *rest;
  uint32_t *kind;
  float *spare;
  uint32_t pages; /* capacity */
  _Atomic uint32_t next;
  size_t row_bytes, len_bytes, j_bytes, rest_bytes, kind_bytes, spare_bytes;
} oz_link_rows;

typedef struct oz_relink {
  const oz_frame *f;
  uint32_t rule;
  const oz_link_rows *from;
  oz_link_rows *to;
  uint16_t *all; /* padded length of a row with the unlinked near particles */
  float *share;
  _Atomic uint32_t overflow; /* tasks that found no page */
} oz_relink;

/* Range of displacements in a cell since the start: least and greatest along each axis, m. */
typedef struct oz_motion {
  float low[3], high[3];
} oz_motion;
/* True if every pair with this squared relative motion is certainly below f->min_approach2, for any
 * rounding. */
static inline int oz_calm(float apart2, float min_approach2) {
  return apart2 < 0.999f * min_approach2;
}

typedef struct oz_search {
  const oz_frame *f;
  const float *at;            /* record 4 in cell order: position */
  const uint32_t *index;      /* particle of each, or NULL if at is in particle order */
  const uint64_t *cell_key;   /* packed coordinates */
  const uint32_t *cell_start; /* cells + 1 */
  uint32_t cells;
  const uint32_t *hash; /* cell + 1, or 0 */
  uint32_t hash_mask, cell_kinds;
  float radius2; /* main rows: within this */
  float margin2; /* outer rows: beyond `limit` and within this; 0: no outer rows */
  oz_rows *main, *outer;
  int weights;          /* main rows have weights */
  uint32_t narrow;      /* distances below this have 16 bits: OZ_NARROW, or less in tests */
  const oz_rows *wide;  /* start rows, where main holds only pairs that these lack; or NULL */
  oz_motion *moved;     /* (cells), and main leaves out pairs below f->min_approach2; or NULL */
  uint32_t *neighbours; /* true count of main rows, or NULL */
  float *pad_weight;
  _Atomic uint32_t overflow; /* pages that were missing */
} oz_search;

typedef void (*oz_stage_fn)(const oz_frame *f, uint32_t begin, uint32_t end, double *sums);

typedef struct oz_cpu_isa {
  const char *name;
  uint32_t isa, lanes;
  oz_stage_fn stage[OZ_STAGE_COUNT];
  void (*search)(oz_search *s, uint32_t cell_begin, uint32_t cell_end);
  void (*narrow)(oz_search *s, uint32_t begin, uint32_t end); /* particles */
  void (*relink)(oz_relink *s, uint32_t begin, uint32_t end); /* particles */
  /* Flags (1 byte each) the particles for which a wall may matter on the way from f->x to f->p. */
  void (*near_walls)(const oz_frame *f, uint32_t begin, uint32_t end, uint8_t *flag);
} oz_cpu_isa;

extern const oz_cpu_isa oz_isa_scalar;
extern const oz_cpu_isa oz_isa_neon;
extern const oz_cpu_isa oz_isa_sse;
extern const oz_cpu_isa oz_isa_avx2;
extern const oz_cpu_isa oz_isa_avx512;

#define OZ_CELL_BIAS (1 << 20)
static inline uint64_t oz_cell_key(int32_t x, int32_t y, int32_t z) {
  return (uint64_t)(uint32_t)(x + OZ_CELL_BIAS) | (uint64_t)(uint32_t)(y + OZ_CELL_BIAS) << 21 |
         (uint64_t)(uint32_t)(z + OZ_CELL_BIAS) << 42;
}
static inline uint32_t oz_cell_hash(uint64_t key, uint32_t mask) {
  key *= 0x9e3779b97f4a7c15ull;
  return (uint32_t)(key >> 32) & mask;
}
/* in keys of cells, with 21 bits for each of three coordinates */
#define OZ_KEY_BOUNDARY ((uint64_t)1 << 63)
/* Place of a cell in the hash, or the empty place where it would be. */
static inline uint32_t oz_cell_slot(const uint32_t *hash, uint32_t mask, uint32_t kinds,
                                    const uint64_t *cell_key, uint64_t place) {
  uint32_t slot = oz_cell_hash(place, mask);
  for (;; slot = (slot + 1) & mask) {
    const uint32_t *here = hash + (size_t)slot * kinds, any = here[0]     ? here[0]
                                                              : kinds > 1 ? here[1]
                                                                          : 0;
    if (!any || (cell_key[any - 1] & ~OZ_KEY_BOUNDARY) == place) return slot;
  }
}

#endif
