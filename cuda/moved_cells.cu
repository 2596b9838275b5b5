/* Rows that the density list adds to the start list, where a table holds the cells: only moved
 * cells are searched (OZ_MIN_APPROACH), and the host need not know their number.
 *
 * Each particle merges its displacement into the box of its current cell, and joins that cell's
 * list (displacement_bins.h). A cell is static if no displacement within the 27 cells around it
 * differs by the static limit: then it has no pair to add. The relation is symmetric, since two
 * cells compare the same boxes. Other cells are searched in the same kernel: particles of one group
 * in one cell have the same candidates, in the same order. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/displacement_bins.h"

#include "physics/boundary_particles.h"
#include "physics/pairs.h"

namespace OZ_NAMESPACE {
namespace {

#include "cuda/moved_search.h"

} // namespace

/* In advance, beside other kernels. */
ooze_result clear_moved_cells(gpu *g, ooze_message *why) {
  if (g->lists.moved_cells_clear >= g->lists.moved_cells_bytes) return OOZE_OK;
  g->lists.moved_cells_clear = 0;
  if (g->lists.moved_cells_bytes)
    OZ_CUDA(cudaMemsetAsync(g->lists.moved_cells.at, 0, g->lists.moved_cells_bytes, g->stream),
            "cells");
  g->lists.moved_cells_clear = g->lists.moved_cells_bytes;
  return OOZE_OK;
}
/* Clears the table of moved cells while the filter runs: behind the sort, on a stream that is idle
 * then. */
ooze_result clear_moved_cells_aside(gpu *g, ooze_message *why) {
  const on_stream there(g, true, &stream_set::walls);
  OZ_TRY(clear_moved_cells(g, why));
  g->streams.unjoined |= UNJOINED_CLEAR;
  return OOZE_OK;
}
ooze_result prepare_bins(gpu *g, const key_item &key, const oz_frame *f,
                         const displacement_boxes &moves, bin_item *out, ooze_message *why) {
  cell_table in = {};
  OZ_TRY(join_clear(g, why));
  /* with the empty slot */
  const uint32_t slots = in.fold(key.last, 2 * g->count + 16384) + 1;
  const size_t bytes = (size_t)slots * cell_table::WORDS * 4,
               all = bytes + (size_t)slots * cell_table::OWN_WORDS * 8;
  if (all > g->lists.moved_cells.bytes) g->lists.moved_cells_clear = 0;
  OZ_TRY(grow(g, &g->lists.moved_cells, all, "cells", why, true));
  in.at = as<uint32_t>(g->lists.moved_cells), in.words = in.at + bytes / 4; /* needs no clearing */
  /* A is free until the first iteration */
  in.linked = reinterpret_cast<uint32_t *>(f->A);
  if (g->lists.moved_cells_clear < bytes)
    OZ_CUDA(cudaMemsetAsync(in.at, 0, bytes, g->stream), "cells");
  g->lists.moved_cells_bytes = bytes, g->lists.moved_cells_clear = 0;
  *out = {key, f->x, moves, in, as<uint32_t>(g->sorter.cell_of), g->count, status_on_device(g)};
  return OOZE_OK;
}
ooze_result moved_rows(gpu *g, const bin_item &from, bool binned, const oz_frame *f, float radius,
                       uint64_t lines, bool overlaps, ooze_message *why) {
  if (!binned) OZ_CUDA(bin_all(g->stream, from), "cells");
  g->mailbox.counters_clear = false, g->mailbox.box_clear = true;
  moved_search s = {};
  s.in = from.to, s.all = !from.moves.at, s.n = from.n, s.cell = from.cell, s.p = f->p, s.x = f->x;
  s.radius2 = radius * radius, s.skip2 = f->h2, s.min_approach2 = f->min_approach2,
  s.scale = from.moves.scale, s.overlaps = overlaps;
  s.owner = f->has_boundary ? f->owner : nullptr, s.slip = f->has_slip ? f->material : nullptr;
  s.entries = as<uint32_t>(g->lists.density.entries), s.row = as<uint32_t>(g->lists.density.group),
  s.len = as<uint16_t>(g->lists.density.len), s.lines = lines;
  s.asked = &status_on_device(g)->groups[1], s.total = &status_on_device(g)->neighbours;
  OZ_CUDA(moved_search_all(g->stream, s), "neighbour search");
  g->lists.density_overlaps = overlaps;
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
