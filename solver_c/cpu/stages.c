/* Every stage as a loop over particles. Compiled once per instruction set (OZ_ISA), each time with
 * all of physics/. SPDX-License-Identifier: Apache-2.0 */
#include "cpu/isa.h"

#include "physics/lanes.h"

#include "physics/formulas.h"

#include <string.h>

#include "cpu/search.h"

enum { BLOCK = 64 }; /* particles with sums kept for `end` */

/* Tail lanes beyond the last particle must not enter reductions. */
static inline void add_lanes(double *sums, const oz_real *red, int count, uint32_t i,
                             uint32_t end) {
  float lane[OZ_LANES];
  for (int r = 0; r < count; r++) {
    memcpy(lane, &red[r], sizeof lane);
    for (uint32_t k = 0; k < OZ_LANES && i + k < end; k++) sums[r] += lane[k];
  }
}

OZ_FN void row_group(const oz_row *row, uint32_t wide, uint32_t k, oz_group *n) {
#if OZ_ARMS
  n->i = row->i;
  for (uint32_t l = 0; l < OZ_LANES; l++)
    n->far[l] = oz_row_far(row, wide, k + l), n->j[l] = row->i + (uint32_t)n->far[l];
#else
  for (uint32_t l = 0; l < OZ_LANES; l++) n->j[l] = row->i + (uint32_t)oz_row_far(row, wide, k + l);
#endif
}
#define OZ_ROW_START(name, wide)                           \
  for (uint32_t k = 0; k < length; k += OZ_LANES) {        \
    oz_group n;                                            \
    row_group(&row, wide, k, &n);                          \
    oz_group_gradients(f, i, oz_ld_half(weights + k), &n); \
    oz_##name##_pair(f, &self, &n, acc);                   \
  }
#define OZ_ROWS_START(name)                                        \
  const oz_row row = oz_row_of(f->start_entries, f->start_row, i); \
  const uint32_t length = f->start_length[i];                      \
  const uint16_t *weights = row.e + length;                        \
  if (!row.wide)                                                   \
    OZ_ROW_START(name, 0)                                          \
  else {                                                           \
    weights += length;                                             \
    OZ_ROW_START(name, 1)                                          \
  }
#define OZ_ROW_DENSITY(name, part, wide)                                                 \
  for (uint32_t k = 0, length = f->density_length[part][i]; k < length; k += OZ_LANES) { \
    oz_group n;                                                                          \
    memset(&n, 0, sizeof n);                                                             \
    row_group(&row, wide, k, &n);                                                        \
    oz_##name##_pair(f, &self, &n, acc);                                                 \
  }
#define OZ_ROWS_DENSITY_FIRST(name)                                            \
  {                                                                            \
    const oz_row row = oz_row_of(f->density_entries[0], f->density_row[0], i); \
    __builtin_prefetch(row.e + 320),                                           \
        __builtin_prefetch(row.e + 352); /* half of a row is not read here */  \
    if (!row.wide)                                                             \
      OZ_ROW_DENSITY(name, 0, 0)                                               \
    else                                                                       \
      OZ_ROW_DENSITY(name, 0, 1)                                               \
  }
#define OZ_ROWS_DENSITY_SECOND(name)                                                    \
  if (f->density_entries[1] && f->density_length[1][i]) { /* few particles have more */ \
    const oz_row row = oz_row_of(f->density_entries[1], f->density_row[1], i);          \
    OZ_ROW_DENSITY(name, 1, row.wide)                                                   \
  }
#define OZ_ROWS_DENSITY(name) OZ_ROWS_DENSITY_FIRST(name) OZ_ROWS_DENSITY_SECOND(name)
#define OZ_ROWS_LATE(name)                           \
  if (!f->fused_density) OZ_ROWS_DENSITY_FIRST(name) \
  OZ_ROWS_DENSITY_SECOND(name)
#define OZ_ROWS_LINK(name)                                                                        \
  for (uint32_t k = 0; k < f->link_len[i]; k += OZ_LANES) {                                       \
    const size_t e = oz_link_at(f, i, k);                                                         \
    oz_links n = {f->link_j + e, oz_ld(f->link_rest + e, 0), f->link_kind + e, f->link_spare + e, \
                  f->link_share + e};                                                             \
    oz_##name##_pair(f, &self, &n, acc);                                                          \
  }
#define OZ_ROWS_DENSITY_LINK(name)                                                                \
  const float *records = oz_##name##_records(f);                                                  \
  oz_real next[4];                                                                                \
  oz_gather4(records, f->link_j + oz_link_at(f, i, 0), 4, 0, next);                               \
  for (uint32_t k = 0, all = f->link_fused_length[i]; k < all; k += OZ_LANES) {                   \
    const size_t e = oz_link_at(f, i, k);                                                         \
    oz_links n = {f->link_j + e, oz_ld(f->link_rest + e, 0), f->link_kind + e, f->link_spare + e, \
                  f->link_share + e};                                                             \
    /* the hardware prefetcher cannot follow three streams */                                     \
    __builtin_prefetch(f->link_j + e + 128), __builtin_prefetch(f->link_rest + e + 128);          \
    __builtin_prefetch(f->link_share + e + 128);                                                  \
    const oz_real v[4] = {next[0], next[1], next[2], next[3]};                                    \
    oz_gather4(records, n.j + (k + OZ_LANES < all ? OZ_LANES : 0), 4, 0, next);                   \
    oz_##name##_fused(f, &self, v, &n, acc);                                                      \
  }
/* Empty rows, mainly those of boundary particles, add nothing. */
#define OZ_NONE_START (!f->start_length[i])
#define OZ_NONE_DENSITY \
  (!f->density_length[0][i] && !(f->density_entries[1] && f->density_length[1][i]))
#define OZ_NONE_LATE                                 \
  ((f->fused_density || !f->density_length[0][i]) && \
   !(f->density_entries[1] && f->density_length[1][i]))
#define OZ_NONE_LINK (!f->link_len[i])
#define OZ_NONE_DENSITY_LINK (!f->link_fused_length[i])
#define OZ_FOLD_PLAIN(nsum) \
  for (uint32_t s = 0; s < nsum; s++) kept[s * BLOCK + i - b] = oz_sum(acc[s]);
#define OZ_UNFOLD_PLAIN(nsum) \
  for (uint32_t s = 0; s < nsum; s++) acc[s] = oz_ld(kept + s * BLOCK, i - b);
#if OZ_ARMS
#define OZ_FOLD_OUTER(nsum) oz_outer_fold(acc, f->inv_d, kept, i - b);
#define OZ_UNFOLD_OUTER(nsum) oz_outer_unfold(kept, i - b, acc);
#define OZ_FOLD_MATRIX(nsum) \
  oz_matrix_fold(acc, f->inv_d, f->zero_energy_arm * f->inv_d, kept, i - b);
#define OZ_UNFOLD_MATRIX(nsum) oz_matrix_unfold(kept, i - b, acc);
#define OZ_FOLD_SPARE(nsum) \
  oz_spare_fold(acc, f->inv_d, f->zero_energy_arm * f->inv_d, kept, i - b);
#define OZ_UNFOLD_SPARE(nsum) oz_spare_unfold(kept, i - b, acc);
#else
#define OZ_KEPT(nsum) nsum
#define OZ_FOLD_OUTER OZ_FOLD_PLAIN
#define OZ_UNFOLD_OUTER OZ_UNFOLD_PLAIN
#define OZ_FOLD_MATRIX OZ_FOLD_PLAIN
#define OZ_UNFOLD_MATRIX OZ_UNFOLD_PLAIN
#define OZ_FOLD_SPARE OZ_FOLD_PLAIN
#define OZ_UNFOLD_SPARE OZ_UNFOLD_PLAIN
#endif
#define OZ_GATHER(name, rows, none, fold, unfold, room, nsum, nred)                           \
  static void run_##name(const oz_frame *given, uint32_t begin, uint32_t end, double *sums) { \
    const oz_frame frame = *given,                                                            \
                   *f = &frame; /* a copy, which cannot alias anything written here */        \
    float kept[(room)*BLOCK];                                                                 \
    memset(kept, 0, sizeof kept);                                                             \
    for (uint32_t b = begin; b < end; b += BLOCK) {                                           \
      uint32_t stop = b + BLOCK < end ? b + BLOCK : end;                                      \
      for (uint32_t i = b; i < stop; i++) {                                                   \
        if (none) {                                                                           \
          oz_real acc[nsum + 6];                                                              \
          for (int s = 0; s < nsum + 6; s++) acc[s] = oz_set(0.0f);                           \
          fold(nsum) continue;                                                                \
        }                                                                                     \
        oz_##name##_self self;                                                                \
        oz_real acc[nsum + 6]; /* some sums are kept in more parts */                         \
        oz_##name##_begin(f, i, &self);                                                       \
        for (int s = 0; s < nsum + 6; s++) acc[s] = oz_set(0.0f);                             \
        rows(name) fold(nsum)                                                                 \
      }                                                                                       \
      for (uint32_t i = b; i < stop; i += OZ_LANES) {                                         \
        oz_real acc[nsum], red[nred + 1];                                                     \
        unfold(nsum) oz_##name##_end(f, i, acc, red);                                         \
        if (nred) add_lanes(sums, red, nred, i, stop);                                        \
      }                                                                                       \
    }                                                                                         \
    (void)sums;                                                                               \
  }
#define OZ_KIND_START(name, nsum, nred) \
  OZ_GATHER(name, OZ_ROWS_START, OZ_NONE_START, OZ_FOLD_PLAIN, OZ_UNFOLD_PLAIN, nsum, nsum, nred)
#define OZ_KIND_OUTER(name, nsum, nred)                                                        \
  OZ_GATHER(name, OZ_ROWS_START, OZ_NONE_START, OZ_FOLD_OUTER, OZ_UNFOLD_OUTER, OZ_KEPT(nsum), \
            nsum, nred)
#define OZ_KIND_MATRIX(name, nsum, nred)                                                         \
  OZ_GATHER(name, OZ_ROWS_START, OZ_NONE_START, OZ_FOLD_MATRIX, OZ_UNFOLD_MATRIX, OZ_KEPT(nsum), \
            nsum, nred)
#define OZ_KIND_SPARE(name, nsum, nred)                                                        \
  OZ_GATHER(name, OZ_ROWS_START, OZ_NONE_START, OZ_FOLD_SPARE, OZ_UNFOLD_SPARE, OZ_KEPT(nsum), \
            nsum, nred)
#define OZ_KIND_DENSITY(name, nsum, nred)                                                       \
  OZ_GATHER(name, OZ_ROWS_DENSITY, OZ_NONE_DENSITY, OZ_FOLD_PLAIN, OZ_UNFOLD_PLAIN, nsum, nsum, \
            nred)
#define OZ_KIND_LATE(name, nsum, nred) \
  OZ_GATHER(name, OZ_ROWS_LATE, OZ_NONE_LATE, OZ_FOLD_PLAIN, OZ_UNFOLD_PLAIN, nsum, nsum, nred)
#define OZ_KIND_LINK(name, nsum, nred) \
  OZ_GATHER(name, OZ_ROWS_LINK, OZ_NONE_LINK, OZ_FOLD_PLAIN, OZ_UNFOLD_PLAIN, nsum, nsum, nred)
#define OZ_KIND_DENSITY_LINK(name, nsum, nred)                                                \
  OZ_GATHER(name, OZ_ROWS_DENSITY_LINK, OZ_NONE_DENSITY_LINK, OZ_FOLD_PLAIN, OZ_UNFOLD_PLAIN, \
            nsum, nsum, nred)
#define OZ_KIND_MAP(name, nsum, nred)                                                     \
  static void run_##name(const oz_frame *f, uint32_t begin, uint32_t end, double *sums) { \
    for (uint32_t i = begin; i < end; i += OZ_LANES) {                                    \
      oz_real red[nred + 1];                                                              \
      oz_##name##_item(f, i, red);                                                        \
      if (nred) add_lanes(sums, red, nred, i, end);                                       \
    }                                                                                     \
    (void)sums;                                                                           \
  }
#define OZ_KIND_ITEM(name, nsum, nred)                                                    \
  static void run_##name(const oz_frame *f, uint32_t begin, uint32_t end, double *sums) { \
    for (uint32_t i = begin; i < end; i++) oz_##name##_item(f, i);                        \
    (void)sums;                                                                           \
  }
#define OZ_KIND_WALL OZ_KIND_ITEM
#define OZ_KIND_MEMBER OZ_KIND_ITEM
#define OZ_KIND_BODY(name, nsum, nred)                                                    \
  static void run_##name(const oz_frame *f, uint32_t begin, uint32_t end, double *sums) { \
    for (uint32_t b = begin; b < end; b++) {                                              \
      double acc[nsum];                                                                   \
      for (int s = 0; s < nsum; s++) acc[s] = 0.0;                                        \
      for (uint32_t k = 0; k < f->body[b].count; k++)                                     \
        if (f->member[f->body[b].first + k] != OZ_NO_MEMBER)                              \
          oz_##name##_pair(f, b, f->member[f->body[b].first + k], acc);                   \
      oz_##name##_end(f, b, acc);                                                         \
    }                                                                                     \
    (void)sums;                                                                           \
  }
#define OZ_KIND_ONE(name, nsum, nred)                                                     \
  static void run_##name(const oz_frame *f, uint32_t begin, uint32_t end, double *sums) { \
    (void)begin, (void)end, (void)sums;                                                   \
    oz_##name##_item(f);                                                                  \
  }
#define OZ_STAGE(name, kind, nsum, nred) OZ_KIND_##kind(name, nsum, nred)
#include "physics/stages.def"
#undef OZ_STAGE

#include "cpu/link_rows.h"

static void near_walls(const oz_frame *f, uint32_t begin, uint32_t end, uint8_t *flag) {
  const float reach = oz_wall_reach(f);
  for (uint32_t i = begin; i < end; i++)
    flag[i] = (uint8_t)(!oz_is_boundary(f, i) &&
                        (oz_wall_near_path(f, f->x + 4 * (size_t)i, f->p + 4 * (size_t)i, reach) ||
                         oz_load_near(f, i)));
}

#define OZ_TABLE_NAME(isa) OZ_CAT(oz_isa_, isa)
#define OZ_TEXT2(a) #a
#define OZ_TEXT(a) OZ_TEXT2(a)
const oz_cpu_isa OZ_TABLE_NAME(OZ_ISA) = {
    OZ_TEXT(OZ_ISA),
    OZ_CAT(OZ_ISA_, OZ_ISA),
    OZ_LANES,
    {
#define OZ_STAGE(name, kind, nsum, nred) run_##name,
#include "physics/stages.def"
#undef OZ_STAGE
    },
    search,
    narrow,
    relink,
    near_walls,
};
