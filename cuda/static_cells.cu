/* Static cells (OZ_MIN_APPROACH): particles that the density list need not search for, found before
 * anything is sorted. In large scenes sort and cells cost more than the search, and little of the
 * fluid moves.
 *
 * Particles are in the order of the start list's cells. Each such cell merges the box of its
 * displacements into every coarse cell within half the reach of one of its particles' current
 * positions. Two particles within reach share a coarse cell, so a particle that touches static
 * coarse cells alone has no pair to add. Coarse cells are slots of a hash table; a collision only
 * enlarges a box. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/cells.h"

namespace OZ_NAMESPACE {
namespace {

enum {
  /* cells a side: larger ones are seldom static, smaller ones cost more writes a cell */
  COARSE = 3,
  SLOT_WORDS = 8, /* six numbers, as in displacement_boxes; one sector of 32 bytes */
  /* coarse cells a side that one cell's particles may spread over; beyond that the whole scene
     counts as moved */
  FAR = 8
};
struct coarse {
  int *box; /* slots; the word behind them is 0 if a cell has spread too far */
  uint32_t mask;
  float inv, half; /* 1/m; m */
  OZ_D int *slot(int x, int y, int z) const {
    const uint64_t key = (uint64_t)(uint32_t)(x + CELL_LIMIT) |
                         (uint64_t)(uint32_t)(y + CELL_LIMIT) << 21 |
                         (uint64_t)(uint32_t)(z + CELL_LIMIT) << 42;
    return box + (size_t)((uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32) & mask) * SLOT_WORDS;
  }
  OZ_D int *overflow() const { return box + ((size_t)mask + 1) * SLOT_WORDS; }
};
/* Coarse cells that a cell of the start list touches: the lowest, and the number along each axis, 8
 * bits each; 0: spread too far. */
struct touched {
  int low[3];
  uint32_t sides;
  OZ_D uint32_t side(int k) const { return sides >> (8 * k) & 255u; }
  OZ_D uint32_t all() const { return side(0) * side(1) * side(2); }
  OZ_D int *slot(const coarse &c, uint32_t q) const {
    const uint32_t nx = side(0), ny = side(1);
    return c.slot(low[0] + (int)(q % nx), low[1] + (int)(q / nx % ny),
                  low[2] + (int)(q / (nx * ny)));
  }
};

/* Eight threads a cell; the host loops have one. */
struct team {
#if defined(OZ_CUDA_HOST)
  enum { SIZE = 1 };
  explicit team(uint32_t) {}
  uint32_t least2(uint32_t v) const { return v; }
  float least(float v) const { return v; }
  bool any(bool v) const { return v; }
#else
  enum { SIZE = 8 };
  uint32_t mask;
  OZ_D explicit team(uint32_t thread) : mask(0xffu << (thread & 24u)) {}
  OZ_D uint32_t least2(uint32_t v) const {
    for (int d = 1; d < SIZE; d *= 2) v = displacement_boxes::least(v, __shfl_xor_sync(mask, v, d));
    return v;
  }
  OZ_D float least(float v) const {
    for (int d = 1; d < SIZE; d *= 2) v = fminf(v, __shfl_xor_sync(mask, v, d));
    return v;
  }
  OZ_D bool any(bool v) const { return __any_sync(mask, v) != 0; }
#endif
};

struct bin_coarse_item {
  const uint32_t *start, *cells;
  uint32_t capacity;
  const float *p, *x;
  displacement_boxes moves; /* only for its units */
  coarse to;
  touched *of;
  OZ_D void operator()(uint32_t t) const {
    const uint32_t c = t / team::SIZE, lane = t % team::SIZE;
    if (c >= *cells || c >= capacity) return; /* the whole team leaves */
    const team threads(t);
    uint32_t w[3];
    float end[6]; /* minima, and minima of the negated */
    displacement_boxes::set_empty(w);
    for (int k = 0; k < 6; k++) end[k] = 3.0e38f;
    for (uint32_t i = start[c] + lane; i < start[c + 1]; i += team::SIZE) {
      oz_real a[4], b[4];
      oz_ld4(p, i, 4, 0, a);
      oz_ld4(x, i, 4, 0, b);
      moves.add(w, a, b);
      for (int k = 0; k < 3; k++)
        end[k] = fminf(end[k], a[k]), end[3 + k] = fminf(end[3 + k], -a[k]);
    }
    touched at;
    at.sides = 0;
    bool far = false;
    for (int k = 0; k < 3; k++) {
      w[k] = threads.least2(w[k]);
      const int low = coordinate(threads.least(end[k]) - to.half, to.inv),
                high = coordinate(to.half - threads.least(end[3 + k]), to.inv);
      at.low[k] = low;
      far = far || high < low || high - low >= FAR;
      at.sides |= (uint32_t)(high - low + 1) << (8 * k);
    }
    if (far) at.sides = 0;
    if (lane == 0) {
      of[c] = at;
      if (far) *to.overflow() = 0;
    }
    for (uint32_t q = lane; q < at.all(); q += team::SIZE) {
      int *box = at.slot(to, q);
      for (int k = 0; k < 6; k++) {
        const int v = (int)(int16_t)(w[k % 3] >> (k < 3 ? 0 : 16));
        if (*static_cast<volatile int *>(box + k) > v) oz_atomic_min(box + k, v);
      }
    }
  }
};

/* 1 for each particle of a cell that touches a moved coarse cell, else 0. */
struct mark_moved_item {
  const uint32_t *start, *cells;
  uint32_t capacity;
  coarse from;
  const touched *of;
  uint32_t *moved;
  OZ_D void operator()(uint32_t t) const {
    const uint32_t c = t / team::SIZE, lane = t % team::SIZE;
    if (c >= *cells || c >= capacity) return;
    const team threads(t);
    const touched at = of[c];
    bool some = *from.overflow() == 0;
    for (uint32_t q = lane; q < at.all() && !some; q += team::SIZE) {
      const int *box = at.slot(from, q);
      some = !displacement_boxes::is_static(-box[0] - box[3], -box[1] - box[4], -box[2] - box[5]);
    }
    some = threads.any(some);
    for (uint32_t i = start[c] + lane; i < start[c + 1]; i += team::SIZE) moved[i] = some;
  }
};
struct count_moved_item {
  const uint32_t *sum;
  uint32_t n;
  device_status *to;
  OZ_D void operator()(uint32_t) const { to->moved = sum[n - 1]; }
};

} // namespace

/* Needs the start list's cells; waits for the count. */
ooze_result sift(gpu *g, const oz_frame *f, const displacement_boxes &moves, const uint32_t **upto,
                 uint32_t *out, ooze_message *why) {
  const cell_grid *c = &g->sorter.grid;
  uint32_t slots = 64;
  /* a coarse cell of full fluid has 300 particles */
  while (slots < g->count / 8) slots *= 2;
  coarse grid = {reinterpret_cast<int *>(f->A), slots - 1, 1.0f / (COARSE * g->sorter.cell),
                 0.5005f * f->reach};
  /* y2 lies over the direction of conjugate gradients, which has six words */
  uint32_t *moved = reinterpret_cast<uint32_t *>(f->y2 + 4 * (size_t)f->stride);
  touched *of = reinterpret_cast<touched *>(f->y2);
  const uint32_t *many = &status_on_device(g)->cells, *start = as<uint32_t>(c->start);
  OZ_CUDA(cudaMemsetAsync(grid.box, 0x7f, ((size_t)slots + 1) * SLOT_WORDS * 4, g->stream),
          "cells");
  OZ_CUDA(for_each(g->stream, c->capacity * team::SIZE,
                   bin_coarse_item{start, many, c->capacity, f->p, f->x, moves, grid, of}),
          "cells");
  OZ_CUDA(for_each(g->stream, c->capacity * team::SIZE,
                   mark_moved_item{start, many, c->capacity, grid, of, moved}),
          "cells");
  OZ_TRY(inclusive_sum(g, moved, g->count, ALONE, why));
  OZ_CUDA(for_each(g->stream, 1, count_moved_item{moved, g->count, status_on_device(g)}), "cells");
  OZ_TRY(fetch_status(g, why));
  *upto = moved;
  *out = g->mailbox.host->moved;
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
