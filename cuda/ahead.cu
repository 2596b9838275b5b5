/* The order and the lists of the next substep, made while the rest filter of the last one still
 * runs.
 *
 * `finish` leaves particles where they are when the next substep begins; the filter, which follows,
 * changes velocities alone. So a second stream sorts cells and looks for neighbours at copies of
 * the positions meanwhile, and both fill the machine better than one after the other. What the
 * filter still reads is not touched: rows, the lists that blocks share and packed places are there
 * twice, and state is permuted when both are done.
 *
 * Where that is the host need not know: the order depends on how many bits the sides of the box of
 * all cells take (cells.h), and these change seldom. `finish` counts particles by cell on its way,
 * and the sort waits for `finish` alone. The host, which hears of the box meanwhile, goes on from
 * there if the bits are what they were, and otherwise sorts again.
 *
 * A third stream is for what has little to do and keeps others waiting: it has precedence. It
 * sorts; it finds walls as soon as `predict` is done, beside the search, and holds what they hold
 * while the gathers that prepare the projection (`gradient`, `bound_sums`) run. */
#include "cuda/gpu.h"

namespace OZ_NAMESPACE {

uint32_t *places_of(float *at, uint32_t capacity);

/* Whether a substep that begins where finish left particles, which the caller knows, may do so, and
 * there is room for a second set of lists. What is there for few scenes only goes the ordinary way:
 * boundary particles and bodies, links, and whatever waits for answers. */
bool goes_ahead(gpu *g, const oz_frame *f) {
  if (g->no_ahead || g->profiling || g->has_links || f->boundary || f->slips || f->body_count)
    return false;
  if (!goes_on(g, f) || !g->knows_near || lanes_for(g) > STORED_ABOVE) return false;
  spare_lists *s = &g->spare;
  const struct {
    buffer *slot;
    size_t bytes;
  } room[] = {
      {&s->c.entries, g->c.entries.bytes},
      {&s->c.group, g->c.group.bytes},
      {&s->c.len, g->c.len.bytes},
      {&s->near_first, g->near_first.bytes},
      /* a search reads some beyond the last, and looks at none of them */
      {&s->near_j, g->near_j.bytes},
      {&s->place, (size_t)g->capacity * 8},
      {&s->x, ((size_t)g->capacity + 64) * 16},
  };
  bool more = false;
  for (const auto &r : room) {
    more |= r.slot->bytes < r.bytes;
    if (grow(g, r.slot, r.bytes, "neighbour lists", nullptr) < 0) {
      drop_spare(g);
      g->no_ahead = 1; /* it works without */
      return false;
    }
  }
  /* new memory is cleared in the order of the stream, for which the side does not wait */
  return !more || cudaStreamSynchronize(g->stream) == cudaSuccess;
}

void drop_spare(gpu *g) {
  spare_lists *s = &g->spare;
  g->place = g->capacity ? places_of(as<float>(g->block), g->capacity) : nullptr;
  buffer *all[] = {&s->c.entries, &s->c.group, &s->c.len, &s->near_first,
                   &s->near_j,    &s->place,   &s->x};
  for (buffer *b : all) drop(g, b, false);
}

static void exchange(buffer *a, buffer *b) {
  const buffer was = *a;
  *a = *b, *b = was;
}
void change_lists(gpu *g) {
  spare_lists *s = &g->spare;
  exchange(&g->c.entries, &s->c.entries), exchange(&g->c.group, &s->c.group),
      exchange(&g->c.len, &s->c.len);
  exchange(&g->near_first, &s->near_first), exchange(&g->near_j, &s->near_j);
  uint32_t *own = places_of(as<float>(g->block), g->capacity);
  g->place = g->place == own ? as<uint32_t>(s->place) : own;
}

aside::aside(gpu *gg, bool yes, cudaStream_t gpu::*there) : g(gg), was(gg->stream) {
  if (yes) g->stream = g->*there;
}
aside::~aside() { g->stream = was; }
void give_up_foreseen(gpu *g) {
  if (g->foreseen) g->foresee_rest = 7; /* something stands in between, and may do so again */
  g->foresees = g->foreseen = false;
}
/* The table of what is stirred, while the filter runs: behind the sort, whose stream has nothing
 * else to do then. */
ooze_result clear_beside(gpu *g, ooze_message *why) {
  const aside there(g, true, &gpu::wall_side);
  OZ_TRY(clear_stirred(g, why));
  g->clears = true;
  return OOZE_OK;
}
#if defined(OZ_CUDA_HOST)
ooze_result after_cleared(gpu *g, ooze_message *) {
  g->clears = false;
  return OOZE_OK;
}
ooze_result note_ended(gpu *, ooze_message *) { return OOZE_OK; }
ooze_result after_ended(gpu *, ooze_message *) { return OOZE_OK; }
ooze_result note_sorted(gpu *g, ooze_message *) {
  g->sorting = true;
  return OOZE_OK;
}
ooze_result after_sort(gpu *g, ooze_message *) {
  g->sorting = false;
  return OOZE_OK;
}
ooze_result fork_side(gpu *, ooze_message *) { return OOZE_OK; }
ooze_result join_side(gpu *g, ooze_message *) {
  g->walls_aside = g->lists_aside = g->sorting = false;
  return OOZE_OK;
}
#else
ooze_result after_cleared(gpu *g, ooze_message *why) {
  if (!g->clears) return OOZE_OK;
  OZ_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(g->walls_done), g->wall_side), "cells");
  OZ_CUDA(cudaStreamWaitEvent(g->stream, static_cast<cudaEvent_t>(g->walls_done), 0), "cells");
  g->clears = false;
  return OOZE_OK;
}
ooze_result note_ended(gpu *g, ooze_message *why) {
  OZ_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(g->ended), g->stream), "a substep");
  return OOZE_OK;
}
ooze_result after_ended(gpu *g, ooze_message *why) {
  OZ_CUDA(cudaStreamWaitEvent(g->wall_side, static_cast<cudaEvent_t>(g->ended), 0), "sorting");
  return OOZE_OK;
}
ooze_result note_sorted(gpu *g, ooze_message *why) {
  const cudaEvent_t side_done = static_cast<cudaEvent_t>(g->side_done);
  g->sorting = true;
  OZ_CUDA(cudaEventRecord(side_done, g->wall_side), "sorting");
  OZ_CUDA(cudaStreamWaitEvent(g->side, side_done, 0), "sorting");
  return OOZE_OK;
}
ooze_result after_sort(gpu *g, ooze_message *why) {
  if (g->sorting)
    OZ_CUDA(cudaStreamWaitEvent(g->stream, static_cast<cudaEvent_t>(g->side_done), 0), "sorting");
  g->sorting = false;
  return OOZE_OK;
}
ooze_result fork_side(gpu *g, ooze_message *why) {
  const cudaEvent_t moved = static_cast<cudaEvent_t>(g->moved),
                    side_done = static_cast<cudaEvent_t>(g->side_done);
  /* wall_hold asks for rows, where it looks who is nearer to the wall */
  OZ_CUDA(cudaEventRecord(side_done, g->side), "walls");
  OZ_CUDA(cudaStreamWaitEvent(g->wall_side, side_done, 0), "walls");
  OZ_CUDA(cudaStreamWaitEvent(g->wall_side, moved, 0), "walls");
  OZ_CUDA(cudaStreamWaitEvent(g->side, moved, 0), "walls");
  g->walls_given = true;
  return OOZE_OK;
}
ooze_result join_side(gpu *g, ooze_message *why) {
  const cudaEvent_t side_done = static_cast<cudaEvent_t>(g->side_done),
                    walls_done = static_cast<cudaEvent_t>(g->walls_done);
  OZ_CUDA(cudaEventRecord(side_done, g->side), "neighbour lists");
  OZ_CUDA(cudaStreamWaitEvent(g->stream, side_done, 0), "neighbour lists");
  if (g->walls_given) { /* every event that is waited for takes its time */
    OZ_CUDA(cudaEventRecord(walls_done, g->wall_side), "walls");
    OZ_CUDA(cudaStreamWaitEvent(g->stream, walls_done, 0), "walls");
    g->clears = false;
  }
  g->walls_given = false;
  g->walls_aside = g->lists_aside = g->sorting = false;
  return OOZE_OK;
}
#endif

} // namespace OZ_NAMESPACE
