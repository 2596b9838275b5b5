/* Which particles the density list need not look at (OZ_CALM), before anything is sorted: in large
 * scenes the sort and the cells cost more than the search, and mostly little of the fluid is
 * stirred.
 *
 * Particles lie in the order of list C's cells. Each such cell puts the box of its displacements
 * into every coarse cell that comes within half of reach of one of its particles, where they are
 * now. Two particles within reach share a coarse cell, so those that touch calm coarse cells alone
 * have nobody to list, and nobody lists them. Coarse cells are slots of a table by hash; two in one
 * slot only make a larger box. */
#include "cuda/cells.h"

namespace OZ_NAMESPACE {
namespace {

enum {
  /* cells a side: larger ones are less often calm, smaller ones take more of what each cell has to
     write */
  COARSE = 3,
  SLOT_WORDS = 8, /* six numbers, as in motions; 32 bytes are read at once */
  /* coarse cells a side that what was one cell may have come to; beyond that nobody is calm */
  FAR = 8
};
struct coarse {
  int *box; /* slots; behind them a word that is 0 where some cell has gone too far */
  uint32_t mask;
  float inv, half; /* 1/m; m */
  OZ_D int *slot(int x, int y, int z) const {
    const uint64_t key = (uint64_t)(uint32_t)(x + CELL_LIMIT) |
                         (uint64_t)(uint32_t)(y + CELL_LIMIT) << 21 |
                         (uint64_t)(uint32_t)(z + CELL_LIMIT) << 42;
    return box + (size_t)((uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32) & mask) * SLOT_WORDS;
  }
  OZ_D int *wild() const { return box + ((size_t)mask + 1) * SLOT_WORDS; }
};
/* Coarse cells that a cell of the start touches: the lowest, and how many along each axis, 8 bits
 * each; none: it has gone too far. */
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

/* Eight threads a cell; the loops have one. */
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
    for (int d = 1; d < SIZE; d *= 2) v = motions::least(v, __shfl_xor_sync(mask, v, d));
    return v;
  }
  OZ_D float least(float v) const {
    for (int d = 1; d < SIZE; d *= 2) v = fminf(v, __shfl_xor_sync(mask, v, d));
    return v;
  }
  OZ_D bool any(bool v) const { return __any_sync(mask, v) != 0; }
#endif
};

struct stir_item {
  const uint32_t *start, *cells;
  uint32_t capacity;
  const float *p, *x;
  motions moves; /* only for its units */
  coarse to;
  touched *of;
  OZ_D void operator()(uint32_t t) const {
    const uint32_t c = t / team::SIZE, lane = t % team::SIZE;
    if (c >= *cells || c >= capacity) return; /* the whole team */
    const team us(t);
    uint32_t w[3];
    float end[6]; /* least, and least of the negated */
    motions::none(w);
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
      w[k] = us.least2(w[k]);
      const int low = coordinate(us.least(end[k]) - to.half, to.inv),
                high = coordinate(to.half - us.least(end[3 + k]), to.inv);
      at.low[k] = low;
      far = far || high < low || high - low >= FAR;
      at.sides |= (uint32_t)(high - low + 1) << (8 * k);
    }
    if (far) at.sides = 0;
    if (lane == 0) {
      of[c] = at;
      if (far) *to.wild() = 0;
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

/* 1 for each particle of a cell that touches one that is stirred, else 0. */
struct sift_item {
  const uint32_t *start, *cells;
  uint32_t capacity;
  coarse from;
  const touched *of;
  uint32_t *stirred;
  OZ_D void operator()(uint32_t t) const {
    const uint32_t c = t / team::SIZE, lane = t % team::SIZE;
    if (c >= *cells || c >= capacity) return;
    const team us(t);
    const touched at = of[c];
    bool some = *from.wild() == 0;
    for (uint32_t q = lane; q < at.all() && !some; q += team::SIZE) {
      const int *box = at.slot(from, q);
      some = !motions::calm(-box[0] - box[3], -box[1] - box[4], -box[2] - box[5]);
    }
    some = us.any(some);
    for (uint32_t i = start[c] + lane; i < start[c + 1]; i += team::SIZE) stirred[i] = some;
  }
};
struct stirred_item {
  const uint32_t *sum;
  uint32_t n;
  news *to;
  OZ_D void operator()(uint32_t) const { to->stirred = sum[n - 1]; }
};

} // namespace

/* What follows counts on list C's cells; waits for the answer. */
ooze_result sift(gpu *g, const oz_frame *f, const motions &moves, const uint32_t **upto,
                 uint32_t *out, ooze_message *why) {
  const cells *c = &g->grid;
  uint32_t slots = 64;
  /* where fluid is whole, 300 particles have a coarse cell */
  while (slots < g->count / 8) slots *= 2;
  coarse grid = {reinterpret_cast<int *>(f->A), slots - 1, 1.0f / (COARSE * g->cell),
                 0.5005f * f->reach};
  /* the conjugate gradient's direction, on which y2 lies, has six words */
  uint32_t *stirred = reinterpret_cast<uint32_t *>(f->y2 + 4 * (size_t)f->stride);
  touched *of = reinterpret_cast<touched *>(f->y2);
  const uint32_t *many = &device_news(g)->cells, *start = as<uint32_t>(c->start);
  OZ_CUDA(cudaMemsetAsync(grid.box, 0x7f, ((size_t)slots + 1) * SLOT_WORDS * 4, g->stream),
          "cells");
  OZ_CUDA(each(g->stream, c->capacity * team::SIZE,
               stir_item{start, many, c->capacity, f->p, f->x, moves, grid, of}),
          "cells");
  OZ_CUDA(each(g->stream, c->capacity * team::SIZE,
               sift_item{start, many, c->capacity, grid, of, stirred}),
          "cells");
  OZ_TRY(add_up(g, stirred, g->count, why));
  OZ_CUDA(each(g->stream, 1, stirred_item{stirred, g->count, device_news(g)}), "cells");
  OZ_TRY(bring_news(g, why));
  *upto = stirred;
  *out = g->host_news->stirred;
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
