/* Streams: the next substep's order and start list are built while the rest filter of the last one
 * still runs, and wall contacts are found beside the kernels that prepare the velocity projection.
 *
 * `finish` leaves particles at the next substep's start positions; the filter, which follows,
 * changes velocities alone. So the list stream sorts cells and searches for neighbours at copies of
 * the positions meanwhile, and both together fill the machine better than one after the other.
 * Rows, lists of blocks and packed positions are double-buffered, since the filter still reads the
 * old ones, and state is permuted when both are done.
 *
 * The host need not know the bounding box for that: the order depends on the number of bits of the
 * box's sides (cells.h), which seldom changes. `finish` counts particles by cell, and the sort
 * waits for `finish` alone. The host receives the box meanwhile; if the bits have changed after
 * all, it sorts again.
 *
 * The wall stream has priority, because its kernels are short and others wait for them. It sorts;
 * it finds wall contacts as soon as `predict` is done, beside the search; and it runs wall_planes
 * and wall_hold beside `gradient` and `bound_sums`. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/gpu.h"

namespace OZ_NAMESPACE {

/* Whether a substep that begins where finish left the particles can build its lists ahead, and
 * there is memory for a second set. Boundary particles, bodies and links take the ordinary way, as
 * does a scene that waits for the size of its lists. */
bool can_build_ahead(gpu *g, const oz_frame *f) {
  if (disabled(g, DISABLE_SIDE_STREAMS) || g->profile.on || g->links.present || f->has_boundary ||
      f->has_slip || f->body_count)
    return false;
  if (!defers_checks(g, f) || !g->lists.start_fits || lanes_for(g) > COMPUTED_GRADIENT_LANES)
    return false;
  if (!g->lists.block_j.at) return false; /* the last list was that of a small scene */
  spare_lists *s = &g->lists.spare;
  const auto most = [](size_t have, size_t wish) { return have > wish ? have : wish; };
  const struct {
    buffer *slot;
    size_t bytes;
  } room[] = {
      {&s->start.entries, most(g->lists.start.entries.bytes, g->lists.wish_entries)},
      {&s->start.group, g->lists.start.group.bytes},
      {&s->start.len, g->lists.start.len.bytes},
      {&s->block_first, ((size_t)g->capacity / BLOCK_PARTICLES + 1) * 8},
      /* a search reads a few entries beyond the last, and ignores them */
      {&s->block_j, most(g->lists.block_j.bytes, g->lists.wish_blocks)},
      {&s->place, (size_t)g->capacity * 8},
      {&s->x, ((size_t)g->capacity + 64) * 16},
  };
  bool more = false;
  for (const auto &r : room) {
    more |= r.slot->bytes < r.bytes;
    if (grow(g, r.slot, r.bytes, "neighbour lists", nullptr) < 0) {
      release_spare_lists(g);
      g->disabled |= DISABLE_SIDE_STREAMS; /* works without */
      return false;
    }
  }
  /* fresh memory is cleared on this stream, which the list stream does not wait for */
  return !more || cudaStreamSynchronize(g->stream) == cudaSuccess;
}

void release_spare_lists(gpu *g) {
  spare_lists *s = &g->lists.spare;
  g->lists.place = g->capacity ? places_of(as<float>(g->block), g->capacity) : nullptr;
  buffer *all[] = {&s->start.entries, &s->start.group, &s->start.len, &s->block_first,
                   &s->block_j,       &s->place,       &s->x};
  for (buffer *b : all) drop(g, b, false);
}

static void swap_buffers(buffer *a, buffer *b) {
  const buffer was = *a;
  *a = *b, *b = was;
}
void swap_lists(gpu *g) {
  spare_lists *s = &g->lists.spare;
  swap_buffers(&g->lists.start.entries, &s->start.entries),
      swap_buffers(&g->lists.start.group, &s->start.group),
      swap_buffers(&g->lists.start.len, &s->start.len);
  swap_buffers(&g->lists.block_first, &s->block_first),
      swap_buffers(&g->lists.block_j, &s->block_j);
  uint32_t *own = places_of(as<float>(g->block), g->capacity);
  g->lists.place = g->lists.place == own ? as<uint32_t>(s->place) : own;
}

on_stream::on_stream(gpu *gg, bool yes, cudaStream_t stream_set::*side)
    : g(gg), before(gg->stream) {
  if (yes) g->stream = g->streams.*side;
}
on_stream::~on_stream() { g->stream = before; }
void cancel_presort(gpu *g) {
  if (g->sorter.presort == PRESORT_STARTED)
    g->sorter.presort_pause = 7; /* an intervening change is likely to come again */
  g->sorter.presort = PRESORT_NONE;
}
#if defined(OZ_CUDA_HOST)
ooze_result join_clear(gpu *g, ooze_message *) {
  g->streams.unjoined &= ~UNJOINED_CLEAR;
  return OOZE_OK;
}
ooze_result record_finish(gpu *, ooze_message *) { return OOZE_OK; }
ooze_result wait_for_finish(gpu *, ooze_message *) { return OOZE_OK; }
ooze_result record_sort(gpu *g, ooze_message *) {
  g->streams.unjoined |= UNJOINED_SORT;
  return OOZE_OK;
}
ooze_result join_sort(gpu *g, ooze_message *) {
  g->streams.unjoined &= ~UNJOINED_SORT;
  return OOZE_OK;
}
ooze_result fork_streams(gpu *, ooze_message *) { return OOZE_OK; }
ooze_result join_streams(gpu *g, ooze_message *) {
  g->streams.unjoined &= UNJOINED_CLEAR;
  return OOZE_OK;
}
#else
ooze_result join_clear(gpu *g, ooze_message *why) {
  if (!(g->streams.unjoined & UNJOINED_CLEAR)) return OOZE_OK;
  OZ_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(g->streams.walls_done), g->streams.walls),
          "cells");
  OZ_CUDA(cudaStreamWaitEvent(g->stream, static_cast<cudaEvent_t>(g->streams.walls_done), 0),
          "cells");
  g->streams.unjoined &= ~UNJOINED_CLEAR;
  return OOZE_OK;
}
ooze_result record_finish(gpu *g, ooze_message *why) {
  OZ_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(g->streams.finished), g->stream), "a substep");
  return OOZE_OK;
}
ooze_result wait_for_finish(gpu *g, ooze_message *why) {
  OZ_CUDA(cudaStreamWaitEvent(g->streams.walls, static_cast<cudaEvent_t>(g->streams.finished), 0),
          "sorting");
  return OOZE_OK;
}
ooze_result record_sort(gpu *g, ooze_message *why) {
  const cudaEvent_t side_done = static_cast<cudaEvent_t>(g->streams.lists_done);
  g->streams.unjoined |= UNJOINED_SORT;
  OZ_CUDA(cudaEventRecord(side_done, g->streams.walls), "sorting");
  OZ_CUDA(cudaStreamWaitEvent(g->streams.lists, side_done, 0), "sorting");
  return OOZE_OK;
}
ooze_result join_sort(gpu *g, ooze_message *why) {
  if (g->streams.unjoined & UNJOINED_SORT)
    OZ_CUDA(cudaStreamWaitEvent(g->stream, static_cast<cudaEvent_t>(g->streams.lists_done), 0),
            "sorting");
  g->streams.unjoined &= ~UNJOINED_SORT;
  return OOZE_OK;
}
ooze_result fork_streams(gpu *g, ooze_message *why) {
  const cudaEvent_t moved = static_cast<cudaEvent_t>(g->streams.predicted),
                    side_done = static_cast<cudaEvent_t>(g->streams.lists_done);
  /* wall_hold reads rows, to find particles nearer to the wall */
  OZ_CUDA(cudaEventRecord(side_done, g->streams.lists), "walls");
  OZ_CUDA(cudaStreamWaitEvent(g->streams.walls, side_done, 0), "walls");
  OZ_CUDA(cudaStreamWaitEvent(g->streams.walls, moved, 0), "walls");
  OZ_CUDA(cudaStreamWaitEvent(g->streams.lists, moved, 0), "walls");
  g->streams.unjoined |= UNJOINED_WALL_KERNELS;
  return OOZE_OK;
}
ooze_result join_streams(gpu *g, ooze_message *why) {
  const cudaEvent_t side_done = static_cast<cudaEvent_t>(g->streams.lists_done),
                    walls_done = static_cast<cudaEvent_t>(g->streams.walls_done);
  OZ_CUDA(cudaEventRecord(side_done, g->streams.lists), "neighbour lists");
  OZ_CUDA(cudaStreamWaitEvent(g->stream, side_done, 0), "neighbour lists");
  if (g->streams.unjoined & UNJOINED_WALL_KERNELS) { /* every event costs time */
    OZ_CUDA(cudaEventRecord(walls_done, g->streams.walls), "walls");
    OZ_CUDA(cudaStreamWaitEvent(g->stream, walls_done, 0), "walls");
    g->streams.unjoined &= ~UNJOINED_CLEAR;
  }
  g->streams.unjoined &= UNJOINED_CLEAR;
  return OOZE_OK;
}
#endif

} // namespace OZ_NAMESPACE
