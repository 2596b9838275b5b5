/* Cells: the particles of each cell, and the cells around it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda/cells.h"

namespace OZ_NAMESPACE {
namespace {

/* ---- counting sort over all cells ----
 *
 * Where the bounding box is small, a counter for every Morton code replaces the radix sort: count,
 * exclusive sum, write each particle into its cell, and rank by id within a cell of a few
 * particles. The order is the same. */

struct count_cell_item {
  key_item key;
  cell_counter to;
  OZ_D void operator()(uint32_t i) const {
    const uint32_t k = (uint32_t)key.of(i);
    to.cell[i] = k;
    to.within[i] = oz_atomic_add(to.table + k, 1u);
  }
};
struct fill_item {
  const uint32_t *start, *cell, *within, *rank;
  uint32_t *ranks;
  /* cleared on the way for the next search and the next box, which saves a launch */
  device_status *ready;
  OZ_D void operator()(uint32_t i) const {
    ranks[start[cell[i]] + within[i]] = rank[i];
    if (i) return;
    ready->clear_list_counters();
    ready->clear_box();
  }
};
struct keys {
  const uint32_t *key32;
  const uint64_t *key64;
  OZ_D uint64_t at(uint32_t i) const { return key32 ? key32[i] : key64[i]; }
};

/* The same for the density list: cells of a clamped key that wrap around, and within a cell the
 * order of the start list. */
struct count_wrapped_item {
  key_item key;
  cell_counter to;
  OZ_D void operator()(uint32_t i) const {
    uint32_t c[3];
    int cell[3];
    key.cell(key.at + 4 * (size_t)i, c);
    for (int k = 0; k < 3; k++) cell[k] = (int)c[k];
    to.within[i] = count_particle(to, i, cell);
  }
};
struct fill_wrapped_item {
  const uint32_t *start, *cell, *within;
  uint32_t *filled;
  OZ_D void operator()(uint32_t i) const { filled[start[cell[i]] + within[i]] = i; }
};
struct order_wrapped_item {
  const uint32_t *start, *cell, *filled;
  uint32_t *key, *order;
  OZ_D void operator()(uint32_t i) const {
    const uint32_t c = cell[i], begin = start[c], end = start[c + 1];
    uint32_t k = begin;
    for (uint32_t e = begin; e < end; e++) k += filled[e] < i;
    key[k] = c, order[k] = i;
  }
};

/* ---- cells ---- */

struct head_item {
  keys key;
  uint32_t *head, *hash;
  uint32_t n, slots;
  /* cleared on the way: the hash table, and the counters of the search behind it */
  device_status *ready;
  OZ_D void operator()(uint32_t i) const {
    head[i] = i == 0 || key.at(i) != key.at(i - 1);
    for (uint32_t k = i; k < slots; k += n) hash[k] = 0u;
    if (i == 0) ready->clear_list_counters();
  }
};
OZ_FN uint32_t hash_of(uint64_t key, uint32_t mask) {
  return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32) & mask;
}

struct cell_item {
  keys key;
  const uint32_t *number; /* cell + 1 of each place */
  const uint32_t *order;
  uint32_t *cell_of; /* by particle */
  /* record 4: current (w: particle) and start positions in cell order, or NULL if they are in order
   * already */
  float *sorted, *sorted_x;
  const float *at, *x;
  uint32_t *start, *hash;
  uint64_t *cell_key;
  uint32_t n, capacity, mask;
  uint32_t *cells;
  OZ_D void operator()(uint32_t k) const {
    const uint32_t c = number[k] - 1, i = sorted ? order[k] : k;
    cell_of[i] = c;
    if (sorted) {
      oz_real v[4];
      oz_ld4(at, i, 4, 0, v);
      v[3] = oz_float_of(i);
      oz_st4(sorted, k, 4, 0, v);
      oz_ld4(x, i, 4, 0, v);
      oz_st4(sorted_x, k, 4, 0, v);
    }
    if (k == n - 1) *cells = c + 1;
    if (c >= capacity) { /* the host reads the count, makes room and repeats */
      if (c == capacity && (!k || number[k - 1] == c)) start[c] = k;
      return;
    }
    if (k == n - 1) start[c + 1] = n;
    if (k && number[k - 1] == c + 1) return;
    start[c] = k;
    const uint64_t mine = key.at(k);
    cell_key[c] = mine;
    uint32_t slot = hash_of(mine, mask);
    while (oz_atomic_cas(hash + slot, 0u, c + 1) != 0u) slot = (slot + 1) & mask;
  }
};

/* The box of each cell's displacements, by eight threads. */
struct motion_item {
  const uint32_t *start, *cells;
  uint32_t capacity;
  const float *sorted, *sorted_x;
  displacement_boxes to;
#if defined(OZ_CUDA_HOST)
  enum { TEAM = 1 };
#else
  enum { TEAM = 8 };
#endif
  OZ_D void operator()(uint32_t t) const {
    const uint32_t c = t / TEAM, lane = t % TEAM;
    if (c >= *cells || c >= capacity) return; /* the whole team leaves */
    uint32_t w[3];
    displacement_boxes::set_empty(w);
    for (uint32_t k = start[c] + lane, end = start[c + 1]; k < end; k += TEAM) {
      oz_real p[4], x[4];
      oz_ld4(sorted, k, 4, 0, p);
      oz_ld4(sorted_x, k, 4, 0, x);
      to.add(w, p, x);
    }
#if !defined(OZ_CUDA_HOST)
    const uint32_t team = 0xffu << (threadIdx.x & 24u);
    for (int d = 1; d < TEAM; d *= 2)
      for (int k = 0; k < 3; k++)
        w[k] = displacement_boxes::least(w[k], __shfl_xor_sync(team, w[k], d));
#endif
    if (lane == 0) to.put(c, w);
  }
};

/* Particles of each block around each cell, as ranges. Cells are numbered along the curve, so those
 * of a block are adjacent: one is looked up, the others follow it, and the cell itself is in the
 * first block. */
struct around_item {
  const uint32_t *start, *hash, *cells;
  const uint64_t *cell_key;
  uint32_t mask, capacity, last[3];
  bool round; /* coordinates wrap around at `last` */
  uint2 *around;
  displacement_boxes moves;
  /* The cell with this key, or `none`. */
  OZ_D uint32_t find(uint64_t want, uint32_t none) const {
    for (uint32_t slot = hash_of(want, mask);; slot = (slot + 1) & mask) {
      const uint32_t c = hash[slot];
      if (!c) return none;
      if (cell_key[c - 1] == want) return c - 1;
    }
  }
  /* Of an axis: the cell's own pair, or the single cell beyond it; all bits set: outside (-1 wraps
   * to the largest). */
  OZ_D uint64_t part(uint64_t key, uint32_t which, uint32_t most) const {
    const uint32_t v = (uint32_t)oz_gathered(key), at = which < 2 ? (v & ~1u) + which
                                                        : v & 1u  ? v + 1
                                                                  : v - 1;
    if (which < 2 || at <= most) return oz_spread(at);
    return round ? oz_spread(at & most) : ~0ull;
  }
  OZ_D void operator()(uint32_t t) const {
    const uint32_t c = t / BLOCKS_AROUND, b = t % BLOCKS_AROUND,
                   known = *cells < capacity ? *cells : capacity;
    if (c >= known) return;
    uint32_t which[3], n;
    uint2 range = {0, 0};
    block_parts(b, &which[0], &which[1], &which[2], &n);
    const uint64_t mine = cell_key[c], x = part(mine, which[0], last[0]),
                   y = part(mine >> 1, which[1], last[1]), z = part(mine >> 2, which[2], last[2]);
    if (x != ~0ull && y != ~0ull && z != ~0ull) {
      const uint64_t first = x | y << 1 | z << 2;
      uint32_t low = b ? known : c;
      if (!b)
        while (low > 0 && cell_key[low - 1] >= first) low--;
      for (uint64_t want = first; low == known && want < first + n; want++) low = find(want, known);
      uint32_t high = low;
      while (high < known && cell_key[high] < first + n) high++;
      if (low < high) range.x = start[low], range.y = start[high];
      if (moves.at && low < high) {
        uint32_t moved[3];
        displacement_boxes::set_empty(moved);
        moves.merge_cell(moved, c);
        for (uint32_t k = low; k < high; k++) moves.merge_cell(moved, k);
        if (displacement_boxes::is_static(moved)) range.y = range.x;
      }
    }
    around[t] = range;
  }
};

} // namespace

uint32_t bits_for(const uint32_t last[3]) {
  uint32_t bits = 1;
  while (bits < 21 && (last[0] | last[1] | last[2]) >> bits) bits++;
  return bits;
}

key_item clamped_key(const float *at, const uint32_t *rank, float cell, const int low[3],
                     const uint32_t last[3]) {
  key_item k = {at,
                rank,
                1.0f / cell,
                {low[0], low[1], low[2]},
                {(int)last[0], (int)last[1], (int)last[2]},
                0,
                nullptr,
                nullptr,
                nullptr,
                nullptr,
                nullptr};
  return k;
}
key_item wrapped_key(const float *at, const uint32_t *rank, float cell, const uint32_t bits[3]) {
  const int from[3] = {0, 0, 0};
  key_item k = clamped_key(at, rank, cell, from, bits);
  k.round = 1;
  return k;
}
void wrap_bits(const uint32_t last[3], uint32_t bits[3]) {
  for (int k = 0; k < 3; k++)
    for (bits[k] = 3; bits[k] < last[k];) bits[k] = 2 * bits[k] + 1;
}

/* Morton codes up to that of the far corner, where every coordinate may be the odd one of its pair.
 */
uint64_t morton_codes(const uint32_t last[3]) {
  uint64_t most = 0;
  for (uint32_t bit = 0; bit < 21; bit++)
    for (uint32_t axis = 0; axis < 3; axis++)
      most |= (uint64_t)((last[axis] | 1u) >> bit & 1u) << (3 * bit + axis);
  return most + 1;
}
/* Clearing and summing the table costs less than a sort: up to 16 codes a particle. */
static bool is_cheap_table(const gpu *g, const uint32_t last[3]) {
  return bits_for(last) < CELL_TABLE_BITS && morton_codes(last) <= 65536 + 16 * (uint64_t)g->count;
}
/* A table pays where it is cheap. Up
 * to 200 thousand particles, whose sort is made of short kernels, up to 64, or 8 MiB of counters:
 * a radix sort takes 80 microseconds, such a table 15, and lists can be built ahead with it. */
bool uses_cell_table(const gpu *g, const uint32_t last[3]) {
  enum { MANY_CODES = 1 << 21, MOST_CODES = 1 << 23 };
  const uint64_t codes = morton_codes(last), n = g->count;
  const uint32_t bits = bits_for(last);
  if (disabled(g, DISABLE_CELL_TABLE)) return false;
  if (is_cheap_table(g, last)) return true;
  if (bits > CELL_TABLE_BITS || n <= g->device.few || n > g->device.deferred_max) return false;
  return codes <= MANY_CODES || (codes <= MOST_CODES && codes <= 64 * n);
}
/* Halves the wrap of the longest axes until the table is cheap. Cells that are a wrap apart share a
 * code then; their particles are far apart, and fail the test of distance. So stray particles and
 * long thin streams cost neither a sort nor a large table. Where particles would crowd the codes,
 * the wrap stays as it is. */
void fold_wrap(const gpu *g, uint32_t last[3]) {
  enum { LEAST = 3, CODES_EACH = 2 }; /* cells of a wrap less one; codes a particle */
  uint32_t less[3] = {last[0], last[1], last[2]};
  if (g->count <= g->device.few || g->count > g->device.deferred_max) return;
  while (!is_cheap_table(g, less)) {
    uint32_t *longest = less;
    for (int k = 1; k < 3; k++)
      if (less[k] >= *longest) longest = less + k;
    if (*longest <= LEAST) return;
    *longest >>= 1;
  }
  const uint64_t codes = ((uint64_t)less[0] + 1) * (less[1] + 1) * (less[2] + 1);
  if (codes >= (uint64_t)CODES_EACH * g->count) memcpy(last, less, sizeof less);
}
/* The table of moved cells has slots by the number of particles, whatever the box. It pays where
 * few cells have moved: a list that added a line of entries for every eighth group of particles, or
 * more, is searched for in a sorted grid the next time (honey as it pours: 120 microseconds instead
 * of 270). The rows are the same. */
bool uses_moved_cells(const gpu *g, const uint32_t last[3]) {
  if (g->count > g->device.deferred_max || g->count <= g->device.few)
    return uses_cell_table(g, last);
  return !disabled(g, DISABLE_CELL_TABLE) && bits_for(last) <= cell_table::BITS &&
         (uint64_t)g->lists.density_lines * (8 * GROUP) <= g->count;
}
/* Clears the counters in advance, when the search no longer reads them. */
ooze_result clear_cell_table(gpu *g, ooze_message *why) {
  g->sorter.table_clear = 0;
  if (g->sorter.table_bytes)
    OZ_CUDA(cudaMemsetAsync(g->sorter.table.at, 0, g->sorter.table_bytes, g->stream), "cells");
  g->sorter.table_clear = g->sorter.table_bytes;
  return OOZE_OK;
}
/* The same for the density list, whose own table is left alone while it is clear. */
ooze_result clear_density_table(gpu *g, ooze_message *why) {
  cell_sorter *s = &g->sorter;
  if (s->density_clear >= s->density_bytes) return OOZE_OK;
  s->density_clear = 0;
  OZ_CUDA(cudaMemsetAsync(s->density_table.at, 0, s->density_bytes, g->stream), "cells");
  s->density_clear = s->density_bytes;
  return OOZE_OK;
}
/* Only a table that was cleared in advance will do. */
cell_counter cell_counter_for(gpu *g, const uint32_t bits[3]) {
  const uint64_t codes = morton_codes(bits);
  if (g->sorter.table_clear < (codes + 1) * 4) return cell_counter{};
  g->sorter.table_clear = 0;
  return {as<uint32_t>(g->sorter.table),
          as<uint32_t>(g->sorter.key[0]),
          as<uint32_t>(g->sorter.key[1]),
          {(int)bits[0], (int)bits[1], (int)bits[2]}};
}
ooze_result table_cells(gpu *g, const key_item &key, bool counted, chain in, placement *out,
                        ooze_message *why) {
  const uint32_t last[3] = {(uint32_t)key.last[0], (uint32_t)key.last[1], (uint32_t)key.last[2]},
                 cells = (uint32_t)morton_codes(last);
  const size_t bytes = ((size_t)cells + 1) * 4;
  if (bytes > g->sorter.table.bytes) g->sorter.table_clear = 0;
  OZ_TRY(grow(g, &g->sorter.table, bytes, "cells", why, true));
  uint32_t *table = as<uint32_t>(g->sorter.table), *cell = as<uint32_t>(g->sorter.key[0]),
           *within = as<uint32_t>(g->sorter.key[1]), *ranks = as<uint32_t>(g->sorter.order[0]);
  if (!counted) {
    if (g->sorter.table_clear < bytes)
      OZ_CUDA(cudaMemsetAsync(table, 0, bytes, g->stream), "cells");
    OZ_CUDA(for_each(g->stream, g->count, count_cell_item{key, {table, cell, within, {}}},
                     in == ALONE ? ALONE : CHAIN_FIRST),
            "cells");
  }
  g->sorter.table_bytes = bytes, g->sorter.table_clear = 0;
  OZ_TRY(exclusive_sum(g, table, cells + 1, counted ? CHAIN_FIRST : in, why));
  OZ_CUDA(for_each(g->stream, g->count,
                   fill_item{table, cell, within, key.rank, ranks, status_on_device(g)}, in),
          "cells");
  g->mailbox.counters_clear = g->mailbox.box_clear = true;
  *out = {table, cell, ranks, key.rank};
  return OOZE_OK;
}

/* Its table is one of its own: that of the next sort may be being cleared. */
ooze_result order_by_count(gpu *g, const key_item &key, uint32_t n, uint32_t wrap[3], bool *done,
                           ooze_message *why) {
  const uint32_t last[3] = {(uint32_t)key.last[0], (uint32_t)key.last[1], (uint32_t)key.last[2]};
  wrap_bits(last, wrap);
  fold_wrap(g, wrap);
  *done = n == g->count && n > g->device.few && n <= g->device.deferred_max &&
          !disabled(g, DISABLE_CELL_TABLE) && is_cheap_table(g, wrap);
  if (!*done) return OOZE_OK;
  const uint32_t codes = (uint32_t)morton_codes(wrap);
  const size_t bytes = ((size_t)codes + 1) * 4;
  if (bytes > g->sorter.density_table.bytes) g->sorter.density_clear = 0;
  OZ_TRY(grow(g, &g->sorter.density_table, bytes, "cells", why, true));
  uint32_t *table = as<uint32_t>(g->sorter.density_table), *cell = as<uint32_t>(g->sorter.key[0]),
           *within = as<uint32_t>(g->sorter.key[1]), *filled = as<uint32_t>(g->sorter.order[0]);
  const bool clear = g->sorter.density_clear >= bytes;
  if (!clear) OZ_CUDA(cudaMemsetAsync(table, 0, bytes, g->stream), "cells");
  g->sorter.density_bytes = bytes, g->sorter.density_clear = 0;
  const cell_counter to = {table, cell, within, {(int)wrap[0], (int)wrap[1], (int)wrap[2]}};
  OZ_CUDA(for_each(g->stream, n, count_wrapped_item{key, to}, clear ? CHAINED : CHAIN_FIRST),
          "cells");
  OZ_TRY(exclusive_sum(g, table, codes + 1, CHAINED, why));
  OZ_CUDA(for_each(g->stream, n, fill_wrapped_item{table, cell, within, filled}, CHAINED), "cells");
  /* keys take the place of the counts within a cell */
  OZ_CUDA(
      for_each(g->stream, n,
               order_wrapped_item{table, cell, filled, within, as<uint32_t>(g->sorter.order[1])},
               CHAINED),
      "cells");
  g->sorter.current = 1, g->sorter.wide_keys = false;
  return OOZE_OK;
}

ooze_result find_cells(gpu *g, uint32_t n, const uint32_t *round, const float *at, const float *x,
                       float *sorted, float *sorted_x, const displacement_boxes &moves,
                       bool chained, ooze_message *why) {
  cell_grid *c = &g->sorter.grid;
  keys key = {g->sorter.wide_keys ? nullptr : as<uint32_t>(g->sorter.key[g->sorter.current]),
              g->sorter.wide_keys ? as<uint64_t>(g->sorter.key[g->sorter.current]) : nullptr};
  uint32_t *number = as<uint32_t>(g->sorter.order[1 - g->sorter.current]);
  uint32_t *count = &status_on_device(g)->cells;
  const uint32_t most = n < c->capacity ? n : c->capacity;
  /* the search behind it is an ordinary launch: lists are read before a dependent one waits */
  const chain in = chained ? CHAINED : ALONE;
  const head_item head = {key, number,           as<uint32_t>(c->hash),
                          n,   c->hash_mask + 1, status_on_device(g)};
  OZ_CUDA(for_each(g->stream, n, head, in), "cells");
  g->mailbox.counters_clear = true;
  OZ_TRY(inclusive_sum(g, number, n, in, why));
  cell_item item = {key,
                    number,
                    as<uint32_t>(g->sorter.order[g->sorter.current]),
                    as<uint32_t>(g->sorter.cell_of),
                    sorted,
                    sorted_x,
                    at,
                    x,
                    as<uint32_t>(c->start),
                    as<uint32_t>(c->hash),
                    as<uint64_t>(c->key),
                    n,
                    c->capacity,
                    c->hash_mask,
                    count};
  OZ_CUDA(for_each(g->stream, n, item, in), "cells");
  if (moves.at)
    OZ_CUDA(
        for_each(g->stream, most * motion_item::TEAM,
                 motion_item{as<uint32_t>(c->start), count, c->capacity, sorted, sorted_x, moves},
                 in),
        "cells");
  const uint32_t all = (1u << c->bits) - 1u;
  around_item around = {as<uint32_t>(c->start),
                        as<uint32_t>(c->hash),
                        count,
                        as<uint64_t>(c->key),
                        c->hash_mask,
                        c->capacity,
                        {all, all, all},
                        round != nullptr,
                        as<uint2>(c->around),
                        moves};
  for (int k = 0; k < 3 && round; k++) around.last[k] = round[k];
  OZ_CUDA(for_each(g->stream, most * BLOCKS_AROUND, around, in), "cells");
  return OOZE_OK;
}

ooze_result reserve_cells(gpu *g, uint32_t wish, ooze_message *why) {
  cell_grid *c = &g->sorter.grid;
  if (wish <= c->capacity) return OOZE_OK;
  uint32_t size = 64;
  while (size < 2 * (uint64_t)wish && size < 1u << 31) size *= 2;
  OZ_TRY(grow(g, &c->start, ((size_t)wish + 1) * 4, "cells", why, true));
  OZ_TRY(grow(g, &c->key, (size_t)wish * 8, "cells", why, true));
  OZ_TRY(grow(g, &c->around, (size_t)wish * BLOCKS_AROUND * sizeof(uint2), "cells", why, true));
  OZ_TRY(grow(g, &c->hash, (size_t)size * 4, "cells", why, true));
  c->capacity = wish;
  c->hash_mask = size - 1;
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
