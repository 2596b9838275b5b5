/* Launches the queued stages: neighbours in the queue are fused (fusion.h, launch_plan.h), and a
 * sequence that comes again is recorded as a graph and replayed. SPDX-License-Identifier:
 * Apache-2.0 */
#include "cuda/fusion.h"

namespace OZ_NAMESPACE {

#if defined(OZ_CUDA_HOST)
#define OZ_PARTS_LIST(part) part(0)
#else
#define OZ_PARTS_LIST(part) part(0) part(1) part(2) part(3) part(4) part(5) part(6) part(7)
#endif
#define OZ_DECLARE(n) void fill_part_##n(stage_fn *table);
OZ_PARTS_LIST(OZ_DECLARE)

int lanes_for(const gpu *g) {
  if (g->lanes_override && (uint64_t)g->count * (uint64_t)g->lanes_override / BLOCK <
                               g->sums.partial.bytes / (sizeof(double) * MAX_SUMS))
    return g->lanes_override;
  /* 16 for fewest particles: few blocks wait for memory; else 4 at most: kernels with more
   * threads a particle store gradients, and neither fuse nor overlap. Of these as many as one wave
   * holds. Two need more registers: 70% of a wave (74 thousand particles on the
   * H200); beyond that one thread in a balanced wave is faster */
  const uint32_t wave = g->device.threads, wave_of_two = g->device.threads / 10 * 7;
  int lanes = g->count <= g->device.few ? 16 : COMPUTED_GRADIENT_LANES;
  while (lanes > 1 && (uint64_t)g->count * (uint64_t)lanes > (lanes == 2 ? wave_of_two : wave))
    lanes /= 2;
  return lanes;
}

namespace {

const stage_fn *table() {
  static stage_fn all[OZ_STAGE_COUNT];
  static const bool filled = [] {
#define OZ_CALL_FILL(n) fill_part_##n(all);
    OZ_PARTS_LIST(OZ_CALL_FILL)
    return true;
  }();
  (void)filled;
  return all;
}

#include "cuda/launch_plan.h"

/* Whether the kernel can post the status of all earlier ones. */
bool carries_status(const launch &l) {
  return l.stage == OZ_STAGE_velocity_start || l.stage == OZ_STAGE_density_lambda ||
         l.stage == OZ_STAGE_filter_gradient ||
         (l.stage == OZ_STAGE_residual && (l.fused & FUSE_SECOND));
}

/* Whether the kernel begins with the rows of the start list, and then waits for the density list
 * (stage_kernels.cu). */
bool overlaps_density_list(const gpu *g, const launch &l) {
  return l.stage == OZ_STAGE_density_lambda && (l.fused & FUSE_SECOND) &&
         g->queue.frame[l.frame].start_entries;
}

/* Three sets of exact sums: two in turn for deferred sums, of which cg_update clears the next one,
 * and one for all other stages, cleared as it is read. */
oz_exact_sums *exact_set(const gpu *g, uint32_t which) {
  return reinterpret_cast<oz_exact_sums *>(static_cast<char *>(g->sums.ticket.at) + 256) + which;
}
oz_exact_sums *sums_of(gpu *g, const launch &l, int lanes) {
  if (many_blocks(g, lanes) ||
      ((uint64_t)g->count * (uint64_t)lanes + BLOCK - 1) / BLOCK > OZ_EXACT_TERMS)
    return nullptr;
  if (!l.defers_sums || l.stage == OZ_STAGE_residual) return exact_set(g, 2);
  if (l.stage != OZ_STAGE_cg_update) g->sums.exact_turn = 1 - g->sums.exact_turn;
  return exact_set(g, g->sums.exact_turn);
}
void set_sums(gpu *g, const launch &l, int lanes, stage_args *a) {
  uint32_t *tickets = as<uint32_t>(g->sums.ticket);
  a->partial = as<double>(g->sums.partial);
  a->ticket = many_blocks(g, lanes) ? nullptr : tickets;
  a->tally = tickets + 32;
  a->deferred_blocks = l.defers_sums ? block_count(g) : 0u;
  /* residual keeps its partial sums here until cg_apply has left its own */
  double *start = a->partial + (size_t)MAX_SUMS * a->deferred_blocks;
  if (l.defers_sums && l.stage == OZ_STAGE_residual) a->partial = start;
  a->start = l.first_update ? start : nullptr;
  a->exact = sums_of(g, l, lanes);
  a->exact_next = exact_set(g, 1 - g->sums.exact_turn);
  a->scalar_stage = l.scalar_stage;
}
/* Box and cell counters, for a kernel that runs finish. */
void set_finish(gpu *g, const launch &l, stage_args *a) {
  const bool finishes =
      l.stage == OZ_STAGE_finish || (l.stage == OZ_STAGE_conform_update && (l.fused & FUSE_SECOND));
  a->box = nullptr, a->reset = nullptr;
  a->box_inv = sort_cells_per_metre(&a->f);
  a->counter = cell_counter{};
  if (!finishes || g->sorter.at_finish == FINISH_ONLY) return;
  a->box = status_on_device(g)->box;
  a->reset = &status_on_device(g)->reset;
  if (g->sorter.at_finish != FINISH_BOX_AND_COUNT) return;
  a->counter = cell_counter_for(g, g->sorter.wrap);
  g->sorter.counted = a->counter.table != nullptr;
}
/* last: of the queue */
cudaError_t launch_one(gpu *g, const launch &l, int lanes, bool last) {
  stage_args a;
  a.f = g->queue.frame[l.frame];
  a.place = g->lists.place;
  a.units.set(a.f);
  a.block_room = g->lists.block_room;
  a.balance = lanes == 1 ? balanced_shared_memory(g, 0, 160) : 0;
  a.balance_map = lanes == 1 ? balanced_shared_memory(g, 1) : 0;
  a.multiprocessors = g->device.multiprocessors;
  a.slot_of = g->walls.slot_of;
  a.wall_count = &status_on_device(g)->slots;
  a.fused = l.fused;
  a.flat = g->walls.flat;
  a.packed = l.packed;
  set_sums(g, l, lanes, &a);
  set_finish(g, l, &a);

  a.overlaps = l.overlaps || (g->lists.density_overlaps && overlaps_density_list(g, l));
  g->lists.density_overlaps = false;

  const bool advances =
      l.stage == OZ_STAGE_advance || (l.stage == OZ_STAGE_cg_update && (l.fused & FUSE_ADVANCE));
  a.binning = last && advances && l.fused ? g->lists.binning : nullptr;
  if (a.binning) g->lists.binning = nullptr;

  a.status = {nullptr, nullptr, 0};
  if (g->mailbox.post == POST_DEFERRED && carries_status(l)) {
    g->mailbox.post = POST_NONE;
    a.status = next_post(g);
  }
  return table()[l.stage](a, g->queue.frame[l.wall_frame], lanes, g->stream);
}

/* Whether wall contacts can be searched for from here on, on the wall stream. */
bool forks_walls(const gpu *g, const launch &l, int lanes) {
  const bool predicts =
      l.stage == OZ_STAGE_predict || (l.stage == OZ_STAGE_material && (l.fused & FUSE_PREDICT));
  return predicts && lanes <= COMPUTED_GRADIENT_LANES && g->scene.collider_count &&
         !disabled(g, DISABLE_SIDE_STREAMS) && defers_checks(g, &g->queue.frame[l.frame]);
}
cudaError_t record_predicted(gpu *g) {
#if defined(OZ_CUDA_HOST)
  (void)g;
  return cudaSuccess;
#else
  return cudaEventRecord(static_cast<cudaEvent_t>(g->streams.predicted), g->stream);
#endif
}

/* Waits for side streams and posts that kernel k of n needs before it. */
ooze_result prepare_launch(gpu *g, const launch *all, uint32_t k, uint32_t n, ooze_message *why) {
  const launch &l = all[k];
  const bool reads_lists =
      l.stage != OZ_STAGE_material && l.stage != OZ_STAGE_predict && l.stage != OZ_STAGE_nozzle;
  if (l.joins_streams || ((g->streams.unjoined & UNJOINED_LISTS) && reads_lists))
    OZ_TRY(join_streams(g, why));
  /* before the last of two sweeps of the filter: the sort is done by then, and an event between
   * the last sweep and the permutation would prevent a dependent launch */
  const bool last_sweep = n >= 4 && k + 1 == n;
  if ((g->streams.unjoined & UNJOINED_SORT) && last_sweep) OZ_TRY(join_sort(g, why));
  return OOZE_OK;
}
/* Stages with a status that the next kernel carries. */
bool leaves_status(const launch &l) {
  return l.on_wall_stream || l.stage == OZ_STAGE_bound || l.stage == OZ_STAGE_wall_planes ||
         l.stage == OZ_STAGE_wall_hold || l.stage == OZ_STAGE_wall_rows ||
         pulls_by_tension(l.stage);
}
cudaError_t launch_all(gpu *g, int lanes) {
  launch all[QUEUE];
  const uint32_t n = plan(g, lanes, all);
  ooze_message ignored;
  uint32_t carrier = 0;
  while (carrier < n && leaves_status(all[carrier])) carrier++;
  /* a first kernel that does not overlap the density list comes after it: a memset is never a
   * dependent launch */
  if (g->lists.density_overlaps && !overlaps_density_list(g, all[0])) {
    g->lists.density_overlaps = false;
    const cudaError_t e = cudaMemsetAsync(&status_on_device(g)->spare, 0, 4, g->stream);
    if (e != cudaSuccess) return e;
  }
  for (uint32_t k = 0; k < n; k++) {
    const launch &l = all[k];
    const oz_frame &f = g->queue.frame[l.frame];
    if (k == carrier && g->mailbox.post == POST_DEFERRED && !carries_status(l) &&
        post_status(g, &ignored) != OOZE_OK)
      return cudaErrorUnknown;
    if (prepare_launch(g, all, k, n, &ignored) != OOZE_OK) return cudaErrorUnknown;
    const on_stream there(g, l.on_wall_stream, &stream_set::walls);
    if (l.on_wall_stream) g->streams.unjoined |= UNJOINED_WALL_KERNELS;

    const bool fork = forks_walls(g, l, lanes),
               votes = fork && l.stage == OZ_STAGE_material && !f.has_loads;
    if (!votes && apply_pending_permutation(g, &ignored) != OOZE_OK) return cudaErrorUnknown;
    cudaError_t e = votes ? predict_with_votes(g, f, lanes == 1 ? balanced_shared_memory(g, 1) : 0u)
                          : launch_one(g, l, lanes, k + 1 == n);
    if (e != cudaSuccess) return e;

    const bool independent =
        l.stage == OZ_STAGE_gradient || l.stage == OZ_STAGE_bound_sums || l.stage == OZ_STAGE_bound;
    if (!independent) g->walls.fork = FORK_NONE;
    if (fork) {
      g->walls.fork = votes ? FORK_WITH_VOTES : FORK_POSSIBLE;
      e = record_predicted(g);
      if (e != cudaSuccess) return e;
    }
  }
  return cudaSuccess;
}

} // namespace

#if defined(OZ_CUDA_HOST)

void forget_graphs(gpu *) {}
static cudaError_t launch_queue(gpu *g, int lanes) { return launch_all(g, lanes); }

#else

#include "cuda/graph_cache.h"

#endif

ooze_result flush(gpu *g, ooze_message *why) {
  OZ_TRY(flush_stages(g, why));
  if (!g->births.parts) return OOZE_OK;
  g->sorter.births = true;
  return write_births(g, why);
}
ooze_result flush_stages(gpu *g, ooze_message *why) {
  if (!g->queue.count) return apply_pending_permutation(g, why);
  /* recorded kernels cannot carry posts */
  if (g->mailbox.post == POST_DEFERRED && lanes_for(g) > COMPUTED_GRADIENT_LANES)
    OZ_TRY(post_status(g, why));
  if (!g->sums.exact_clear)
    OZ_CUDA(cudaMemsetAsync(exact_set(g, 0), 0, EXACT_BYTES, g->stream), "running stages");
  cudaError_t e = launch_queue(g, lanes_for(g));
  g->queue.count = g->queue.frame_count = 0;
  g->sums.exact_clear = e == cudaSuccess; /* a failed launch may have left sums behind */
  if (e != cudaSuccess) return fail_cuda(g, e, "running stages", why);
  return OOZE_OK;
}

bool advance_can_bin(const gpu *g, const oz_frame *f) {
  const int lanes = lanes_for(g);
  uint32_t at = g->queue.count;
  while (at && fused_behind(OZ_STAGE_advance, g->queue.entry[at - 1].stage)) at--;
  if (!at || at == g->queue.count || g->queue.entry[at - 1].stage != OZ_STAGE_advance ||
      g->mailbox.post == POST_OWED)
    return false;
  const oz_frame &of = g->queue.frame[g->queue.entry[at - 1].frame];
  return fuses_walls(g, lanes) && lanes <= COMPUTED_GRADIENT_LANES && of.p == f->p &&
         of.x == f->x && of.A == f->A && of.count == g->count;
}
/* All but `bound`, if it is last: the search for wall contacts does not wait for it, and the stages
 * behind the walls may be fused with it. */
ooze_result flush_except_bound(gpu *g, ooze_message *why) {
  const uint32_t last = g->queue.count - 1;
  if (!g->queue.count || g->queue.entry[last].stage != OZ_STAGE_bound || !fuses_bound(g))
    return flush(g, why);
  const oz_frame f = g->queue.frame[g->queue.entry[last].frame];
  g->queue.count = last;
  OZ_TRY(flush(g, why));
  g->queue.frame[0] = f, g->queue.frame_count = 1;
  g->queue.entry[0] = {(uint16_t)OZ_STAGE_bound, 0}, g->queue.count = 1;
  return OOZE_OK;
}

/* Size of a wall stage's launch: the number of contacts varies, and a rounded one keeps recorded
 * graphs valid. */
uint32_t rounded_launch(const gpu *g, uint32_t n) {
  if (lanes_for(g) <= COMPUTED_GRADIENT_LANES)
    return (n + 1023u) / 1024u * 1024u; /* large scenes record no graphs */
  uint32_t room = n ? 1024 : 0;
  while (room < n) room *= 2;
  return room;
}

int stage_kind(int stage) { return info[stage].kind; }
int stage_reductions(int stage) { return info[stage].reductions; }

} // namespace OZ_NAMESPACE
