/* Running stages. They wait in a queue until the host needs something; then neighbours in the queue
 * are joined where that saves a pass or a launch, and a sequence that comes again is recorded as a
 * graph and replayed. */
#include "cuda/gpu.h"

namespace OZ_NAMESPACE {

#if defined(OZ_CUDA_HOST)
#define OZ_PARTS_LIST(part) part(0)
#else
#define OZ_PARTS_LIST(part) part(0) part(1) part(2) part(3) part(4) part(5) part(6) part(7)
#endif
#define OZ_DECLARE(n) void fill_part_##n(stage_fn *table);
OZ_PARTS_LIST(OZ_DECLARE)

int lanes_for(const gpu *g) {
  if (g->lanes_wish && (uint64_t)g->count * (uint64_t)g->lanes_wish / BLOCK <
                           g->partial.bytes / (sizeof(double) * MOST_SUMS))
    return g->lanes_wish;
  /* as many as one wave of blocks holds: 132 multiprocessors of 1536 threads on the H200, and no
   * wrong guess elsewhere. Two need more registers than there are in one wave: from 75 thousand
   * particles on, one in an even wave is faster */
  int lanes = 16;
  while (lanes > 1 &&
         (uint64_t)g->count * (uint64_t)lanes > (lanes == 2 ? g->threads / 10 * 7 : g->threads))
    lanes /= 2;
  return lanes;
}

namespace {

/* Blocks of a kernel that starts early take whatever room the one before leaves, so that some
 * multiprocessors get eight and others three. Where all n blocks are on the device at once, each
 * asks for so much shared memory that none gets more than its share. 0: they are not, or there is
 * nothing to share out. */
/* fixed: arrays of the kernel itself, bytes */
uint32_t even_memory(const gpu *g, uint32_t n, uint32_t spare, uint32_t fixed = 640) {
  const uint32_t each = g->processors ? (n + g->processors - 1) / g->processors : 0;
  /* 1024 are the device's own */
  return each < 2 || each > 8 ? 0 : (g->processor_memory / (each + spare) - 1024u - fixed) & ~127u;
}

enum { MANY_WAVES = 16 }; /* blocks a multiprocessor */
/* with one thread a particle */
uint32_t blocks_of(const gpu *g) { return (g->count + SHARE - 1) / SHARE; }
static_assert(SHARE == BLOCK, "gathers and maps have as many");
bool many_blocks(const gpu *g, int lanes) {
  return lanes == 1 && blocks_of(g) > MANY_WAVES * g->processors;
}

#define OZ_STAGE(name, kind, sums, reductions) \
  static_assert(reductions <= MOST_SUMS, #name ": blocks have no room for its sums");
#include "physics/stages.def"
#undef OZ_STAGE
const struct {
  uint8_t kind, reductions;
} info[] = {
#define OZ_STAGE(name, kind, sums, reductions) {KIND_##kind, reductions},
#include "physics/stages.def"
#undef OZ_STAGE
};

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

#include "cuda/plan.h"

/* Whether it can tell the host what came before it. */
bool takes_news(const launch &l) {
  return l.stage == OZ_STAGE_velocity_start || l.stage == OZ_STAGE_density_lambda ||
         l.stage == OZ_STAGE_filter_gradient ||
         (l.stage == OZ_STAGE_residual && (l.walls & JOIN_BOTH));
}

/* Whether it begins with what it need not wait for the density list for, and then does (stages.cu).
 */
bool awaits_rows(const gpu *g, const launch &l) {
  return l.stage == OZ_STAGE_density_lambda && (l.walls & JOIN_BOTH) && g->frame[l.frame].near_c;
}

/* Three sets of exact sums: two in turn for those that are left, of which cg_update clears the one
 * that comes next, and one that whoever reads it clears, for all others. */
oz_exact_sums *exact_set(const gpu *g, uint32_t which) {
  return reinterpret_cast<oz_exact_sums *>(static_cast<char *>(g->ticket.at) + 256) + which;
}
oz_exact_sums *sums_of(gpu *g, const launch &l, int lanes) {
  if (many_blocks(g, lanes) ||
      ((uint64_t)g->count * (uint64_t)lanes + BLOCK - 1) / BLOCK > OZ_EXACT_TERMS)
    return nullptr;
  if (!l.left || l.stage == OZ_STAGE_residual) return exact_set(g, 2);
  if (l.stage != OZ_STAGE_cg_update) g->exact_turn = 1 - g->exact_turn;
  return exact_set(g, g->exact_turn);
}
/* last: of what waits. */
cudaError_t launch_one(gpu *g, const launch &l, int lanes, bool last) {
  stage_args a;
  const bool ends = g->ends && (l.stage == OZ_STAGE_finish ||
                                (l.stage == OZ_STAGE_conform_update && (l.walls & JOIN_BOTH)));
  a.f = g->frame[l.frame];
  a.place = g->place;
  a.units.set(a.f);
  a.share_room = g->share_room;
  a.even = lanes == 1 ? even_memory(g, blocks_of(g), 0, 160) : 0;
  a.even_map = lanes == 1 ? even_memory(g, blocks_of(g), 1) : 0;
  a.processors = g->processors;
  a.slot_of = g->slot_of;
  a.wall_count = &static_cast<const news *>(g->device_news.at)->slots;
  a.partial = static_cast<double *>(g->partial.at);
  a.tally = static_cast<uint32_t *>(g->ticket.at) + 32;
  a.ticket = many_blocks(g, lanes) ? nullptr : static_cast<uint32_t *>(g->ticket.at);
  a.left = l.left ? blocks_of(g) : 0u;
  /* where residual leaves its sums, and they stay until cg_apply has left its own */
  double *start = a.partial + (size_t)MOST_SUMS * a.left;
  if (l.left && l.stage == OZ_STAGE_residual) a.partial = start;
  a.start = l.first ? start : nullptr;
  a.exact = sums_of(g, l, lanes), a.exact_next = exact_set(g, 1 - g->exact_turn);
  a.walls = l.walls;
  a.flat = g->flat;
  a.packed = l.packed;
  a.beside = l.beside || (g->sought && awaits_rows(g, l));
  g->sought = false;
  a.one = l.one;
  a.box = ends ? static_cast<news *>(g->device_news.at)->box : nullptr;
  a.reset = ends ? &static_cast<news *>(g->device_news.at)->reset : nullptr;
  a.box_inv = cells_of_sort(&a.f);
  a.count = counting{};
  if (ends && g->ends_counting)
    a.count = count_into(g, g->bits), g->counted = a.count.table != nullptr;
  a.shake = last &&
                    (l.stage == OZ_STAGE_advance ||
                     (l.stage == OZ_STAGE_cg_update && (l.walls & JOIN_ADVANCE))) &&
                    l.walls
                ? g->shake
                : nullptr;
  if (a.shake) g->shake = nullptr;
  a.tell = {nullptr, nullptr, 0};
  if (g->soon && takes_news(l)) {
    g->soon = false;
    a.tell = next_telling(g);
  }
  return table()[l.stage](a, g->frame[l.wall_frame], lanes, g->stream);
}

/* Whether walls may be looked for from here on, beside what follows. */
bool forks(const gpu *g, const launch &l, int lanes) {
  const bool predicts =
      l.stage == OZ_STAGE_predict || (l.stage == OZ_STAGE_material && (l.walls & 4u));
  return predicts && lanes <= STORED_ABOVE && g->collider_count && !g->no_ahead &&
         goes_on(g, &g->frame[l.frame]);
}
cudaError_t note_moved(gpu *g) {
#if defined(OZ_CUDA_HOST)
  (void)g;
  return cudaSuccess;
#else
  return cudaEventRecord(static_cast<cudaEvent_t>(g->moved), g->stream);
#endif
}

cudaError_t launch_all(gpu *g, int lanes) {
  launch all[QUEUE];
  const uint32_t n = plan(g, lanes, all);
  ooze_message ignored;
  uint32_t first = 0;
  /* what comes soon after these takes news along */
  const auto later = [](const launch &l) {
    return l.aside || l.stage == OZ_STAGE_bound || l.stage == OZ_STAGE_wall_planes ||
           l.stage == OZ_STAGE_wall_hold;
  };
  while (first < n && later(all[first])) first++;
  /* whatever this is, it comes when the density list is done: what is no kernel never starts early
   */
  if (g->sought && !awaits_rows(g, all[0])) {
    g->sought = false;
    const cudaError_t e =
        cudaMemsetAsync(&static_cast<news *>(g->device_news.at)->spare, 0, 4, g->stream);
    if (e != cudaSuccess) return e;
  }
  for (uint32_t k = 0; k < n; k++) {
    const launch &l = all[k];
    if (k == first && g->soon && !takes_news(l) && tell_news(g, &ignored) != OOZE_OK)
      return cudaErrorUnknown;
    /* particle by particle */
    const bool prepares = l.stage == OZ_STAGE_material || l.stage == OZ_STAGE_predict;
    if ((l.joins || (g->lists_aside && !prepares)) && join_side(g, &ignored) != OOZE_OK)
      return cudaErrorUnknown;
    /* before the last of two sweeps of the filter: the side has sorted by then, and what stands
     * between that and the permutation would keep the latter from starting early */
    if (g->sorting && n >= 4 && k + 1 == n && after_sort(g, &ignored) != OOZE_OK)
      return cudaErrorUnknown;
    const aside there(g, l.aside, &gpu::wall_side);
    g->walls_given |= l.aside;
    const bool fork = forks(g, l, lanes),
               votes = fork && l.stage == OZ_STAGE_material && !g->frame[l.frame].loads;
    if (!votes && permute_now(g, &ignored) != OOZE_OK) return cudaErrorUnknown;
    cudaError_t e = votes ? predict_voting(g, g->frame[l.frame],
                                           lanes == 1 ? even_memory(g, blocks_of(g), 1) : 0u)
                          : launch_one(g, l, lanes, k + 1 == n);
    if (e != cudaSuccess) return e;
    g->apart = g->apart && (l.stage == OZ_STAGE_gradient || l.stage == OZ_STAGE_bound_sums ||
                            l.stage == OZ_STAGE_bound);
    if (fork) {
      g->apart = true, g->voted = votes;
      e = note_moved(g);
      if (e != cudaSuccess) return e;
    }
  }
  return cudaSuccess;
}

} // namespace

#if defined(OZ_CUDA_HOST)

timer::timer(gpu *gg, int w) : g(gg), which(w) { g->calls[w]++; }
timer::~timer() {}
void forget_graphs(gpu *) {}
static cudaError_t launch_queue(gpu *g, int lanes) { return launch_all(g, lanes); }

#else

bool start_early() {
  static const bool yes = [] {
    const char *text = getenv("OOZE_CUDA_EARLY");
    int device = 0, major = 0;
    if (text && *text == '0') return false;
    if (cudaGetDevice(&device) != cudaSuccess) return false;
    return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
               cudaSuccess &&
           major >= 9;
  }();
  return yes;
}

timer::timer(gpu *gg, int w) : g(gg), which(w) {
  if (g->profiling) cudaEventRecord(static_cast<cudaEvent_t>(g->event[0]), g->stream);
}
timer::~timer() {
  float ms = 0.0f;
  if (!g->profiling) return;
  cudaEventRecord(static_cast<cudaEvent_t>(g->event[1]), g->stream);
  if (cudaEventSynchronize(static_cast<cudaEvent_t>(g->event[1])) != cudaSuccess) return;
  cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(g->event[0]),
                       static_cast<cudaEvent_t>(g->event[1]));
  g->seconds[which] += 1e-3 * (double)ms;
  g->calls[which]++;
}

struct graph_entry {
  uint64_t key, used;
  uint32_t seen;
  cudaGraphExec_t exec;
};

void forget_graphs(gpu *g) {
  for (int k = 0; g->graphs && k < GRAPHS; k++) {
    if (g->graphs[k].exec) cudaGraphExecDestroy(g->graphs[k].exec);
    memset(&g->graphs[k], 0, sizeof g->graphs[k]);
  }
}

static uint64_t stir(uint64_t h, const void *data, size_t bytes) {
  const unsigned char *p = static_cast<const unsigned char *>(data);
  for (; bytes >= 8; bytes -= 8, p += 8) {
    uint64_t w;
    memcpy(&w, p, 8);
    h = (h ^ w) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
  }
  for (; bytes; bytes--, p++) h = (h ^ *p) * 0x9e3779b97f4a7c15ull;
  return h;
}

static cudaError_t record(gpu *g, int lanes, cudaGraphExec_t *out) {
  cudaGraph_t graph = nullptr;
  cudaError_t e = cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal);
  if (e != cudaSuccess) return e;
  e = launch_all(g, lanes);
  cudaError_t end = cudaStreamEndCapture(g->stream, &graph);
  if (e == cudaSuccess) e = end;
  if (e == cudaSuccess) e = cudaGraphInstantiate(out, graph, 0);
  if (graph) cudaGraphDestroy(graph);
  return e;
}

static cudaError_t profile_all(gpu *g, int lanes) {
  launch all[QUEUE];
  const uint32_t n = plan(g, lanes, all);
  for (uint32_t k = 0; k < n; k++) {
    timer t(g, all[k].stage);
    cudaError_t e = launch_one(g, all[k], lanes, k + 1 == n);
    if (e != cudaSuccess) return e;
  }
  return cudaSuccess;
}

static cudaError_t launch_queue(gpu *g, int lanes) {
  if (g->profiling) return profile_all(g, lanes);
  /* larger scenes gain nothing: their kernels take longer than their launches, and recording takes
   * milliseconds */
  if (!g->use_graphs || g->queued < 8 || lanes <= STORED_ABOVE) return launch_all(g, lanes);
  /* the same stages on the same frames are the same kernels */
  uint64_t key = stir(0x5eed + (uint64_t)lanes, g->queue, g->queued * sizeof *g->queue);
  key = stir(key, g->frame, g->frames * sizeof *g->frame);
  graph_entry *slot = &g->graphs[0];
  for (int k = 0; k < GRAPHS; k++) {
    graph_entry *e = &g->graphs[k];
    if (e->used && e->key == key) {
      slot = e;
      break;
    }
    if (e->used < slot->used) slot = e; /* the one that nobody has asked for longest */
  }
  if (!slot->used || slot->key != key) {
    if (slot->exec) cudaGraphExecDestroy(slot->exec);
    memset(slot, 0, sizeof *slot);
    slot->key = key;
  }
  slot->used = ++g->graph_clock;
  /* recording costs a few launches each: only what has come before */
  if (!slot->exec && slot->seen++ >= 1) {
    cudaError_t e = record(g, lanes, &slot->exec);
    if (e != cudaSuccess) {
      slot->exec = nullptr;
      cudaGetLastError();
      g->use_graphs = 0; /* go on without */
    }
  }
  return slot->exec ? cudaGraphLaunch(slot->exec, g->stream) : launch_all(g, lanes);
}

#endif

ooze_result flush(gpu *g, ooze_message *why) {
  if (!g->queued) return permute_now(g, why);
  /* none of those can be recorded */
  if (g->soon && lanes_for(g) > STORED_ABOVE) OZ_TRY(tell_news(g, why));
  if (!g->exact_clear)
    OZ_CUDA(cudaMemsetAsync(exact_set(g, 0), 0, EXACT_BYTES, g->stream), "running stages");
  cudaError_t e = launch_queue(g, lanes_for(g));
  g->queued = g->frames = 0;
  g->exact_clear = e == cudaSuccess; /* otherwise who would have cleared them may not have come */
  if (e != cudaSuccess) return fail_cuda(g, e, "running stages", why);
  return OOZE_OK;
}

bool shakes(const gpu *g, const oz_frame *f) {
  const int lanes = lanes_for(g);
  uint32_t at = g->queued;
  while (at && joins(OZ_STAGE_advance, g->queue[at - 1].stage)) at--;
  if (!at || at == g->queued || g->queue[at - 1].stage != OZ_STAGE_advance || g->untold)
    return false;
  const oz_frame &of = g->frame[g->queue[at - 1].frame];
  return joins_walls(g, lanes) && lanes <= STORED_ABOVE && of.p == f->p && of.x == f->x &&
         of.A == f->A && of.count == g->count;
}
/* All but `bound`, if it is last: walls, which are looked for then, do not wait for it, and what
 * comes after them may join it. */
ooze_result flush_but_bound(gpu *g, ooze_message *why) {
  const uint32_t last = g->queued - 1;
  if (!g->queued || g->queue[last].stage != OZ_STAGE_bound || !keeps_bound(g)) return flush(g, why);
  const oz_frame f = g->frame[g->queue[last].frame];
  g->queued = last;
  OZ_TRY(flush(g, why));
  g->frame[0] = f, g->frames = 1;
  g->queue[0] = {(uint16_t)OZ_STAGE_bound, 0}, g->queued = 1;
  return OOZE_OK;
}

/* Walls come and go by the hundred; launches are cut for a rounded number, so that recorded ones
 * stay good. */
uint32_t rounded(const gpu *g, uint32_t n) {
  if (lanes_for(g) <= STORED_ABOVE) return (n + 1023u) / 1024u * 1024u; /* these are not recorded */
  uint32_t room = n ? 1024 : 0;
  while (room < n) room *= 2;
  return room;
}

/* Waits for the last news that were told of, which have the sums of a stage. */
static ooze_result answer(gpu *g, int reductions, double *sums, ooze_message *why) {
  OZ_TRY(await_news(g, why));
  g->staged = 0;
  g->box_known = g->box_told;
  if (g->box_known) keep_box(g);
  for (int r = 0; r < reductions; r++) sums[r] = g->host_news->scalar[OZ_SCALAR_SUM + r];
  if (g->counts_reset) sums[0] = (double)g->host_news->reset;
  g->counts_reset = false;
  return OOZE_OK;
}

ooze_result run(oz_backend *b, const oz_frame *f, oz_stage stage, double *sums, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  if (g->lost) return oz_fail(why, g->lost, "cuda: the device failed before; make a new solver");
  const int reductions = info[stage].reductions;
  if (f->count == 0 || (info[stage].kind == KIND_WALL && f->wall_count == 0) ||
      ((info[stage].kind == KIND_LINK || info[stage].kind == KIND_BOTH) && !f->link_row)) {
    for (int r = 0; sums && r < reductions; r++) sums[r] = 0.0;
    return OOZE_OK;
  }
  g->ahead = false;
  /* these change what undo does not bring back */
  if (g->due && (stage == OZ_STAGE_slip_take || stage == OZ_STAGE_conform_update ||
                 stage == OZ_STAGE_finish)) {
    OZ_TRY(flush(g, why));
    OZ_TRY(check_due(g, why));
  }
  /* an iteration waits as a whole */
  const bool room = stage == OZ_STAGE_density_lambda
                        ? g->queued + 16 < QUEUE && g->frames + 2 < FRAMES
                        : g->queued < QUEUE;
  if (!room) OZ_TRY(flush(g, why));
  /* of what follows `finish` only the rest filter is known to leave positions alone */
  if (stage != OZ_STAGE_filter_gradient && stage != OZ_STAGE_filter_move &&
      stage != OZ_STAGE_settle && stage != OZ_STAGE_wall_drag) {
    g->box_known = g->box_told = false;
    give_up_foreseen(g);
  }
  /* walls, if there are any, have been looked for */
  if (stage == OZ_STAGE_velocity_start) OZ_TRY(tell_due(g, why));
  oz_frame copy = *f;
  copy.wall_count = rounded(g, f->wall_count);
  if (info[stage].kind != KIND_ITEM) copy.time = 0.0f; /* only counted random numbers ask for it */
  uint32_t k = 0;
  while (k < g->frames && memcmp(&g->frame[k], &copy, sizeof copy) != 0) k++;
  if (k == g->frames) {
    if (g->frames == FRAMES) {
      OZ_TRY(flush(g, why));
      k = 0;
    }
    g->frame[k] = copy;
    g->frames = k + 1;
  }
  g->queue[g->queued].stage = (uint16_t)stage;
  g->queue[g->queued++].frame = (uint16_t)k;
  /* the next sort asks for the box: so it need not wait for it */
  const bool at_the_end = stage == OZ_STAGE_finish;
  if (!sums && !at_the_end) return OOZE_OK;
  const bool box = at_the_end && !g->no_soon;
  if (box) OZ_TRY(ready_box(g, why));
  g->foresees = at_the_end && !sums && foresees(g, f);
  /* where the table is cleared */
  if (g->foresees && (g->walls_aside || g->lists_aside)) OZ_TRY(join_side(g, why));
  g->ends = box, g->ends_counting = box && g->foresees;
  g->counted = false;
  const ooze_result flushed = flush(g, why);
  g->ends = g->ends_counting = false;
  OZ_TRY(flushed);
  if (at_the_end && !box) OZ_TRY(launch_box(g, f, why));
  if (box)
    OZ_TRY(tell_soon(g, why)); /* by foresee, or by the filter */
  else
    OZ_TRY(tell_news(g, why));
  g->box_told = at_the_end && g->cell > 0.0f;
  g->counts_reset = box;
  if (g->foresees) OZ_TRY(note_ended(g, why));
  return sums ? answer(g, reductions, sums, why) : OOZE_OK;
}

/* What came after `finish` is launched before the host waits for what that delivered. */
ooze_result finished(oz_backend *b, double *sums, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  *sums = 0.0;
  if (!g->count) return OOZE_OK;
  if (g->foresees) OZ_TRY(foresee(g, why));
  OZ_TRY(flush(g, why));
  OZ_TRY(after_sort(g, why));
  return answer(g, info[OZ_STAGE_finish].reductions, sums, why);
}

} // namespace OZ_NAMESPACE
