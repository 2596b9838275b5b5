/* Wall slots: the particles that are near a wall. */
#include "cuda/before.h"
#include "cuda/cells.h"
#include "cuda/permute.h"

#include "physics/boundary.h"
#include "physics/motion.h"
#include "physics/wall.h"

namespace OZ_NAMESPACE {
namespace {

struct near_item {
  oz_frame f;
  float reach;
  OZ_D bool operator()(uint32_t i) const {
    return near<false>(i) || (!oz_is_boundary(&f, i) && oz_load_near(&f, i));
  }
  template <bool PLANES> OZ_D bool near(uint32_t i) const {
    if (oz_is_boundary(&f, i)) return false;
    float x[4], p[4]; /* both are on the way before either is looked at */
    oz_ld4(f.x, i, 4, 0, x);
    oz_ld4(f.p, i, 4, 0, p);
    return oz_wall_near_way(&f, x, p, reach, PLANES);
  }
};
struct in_place { /* they are permuted already */
  OZ_D void operator()(uint32_t) const {}
};
near_item near_to(const oz_frame &f) { return {f, f.h + f.d}; } /* oz_wall_reach */
struct flag_item {
  near_item near;
  uint32_t *flag;
  OZ_D void operator()(uint32_t i) const { flag[i] = near(i); }
};
struct slot_item {
  const uint32_t *number; /* slots up to and with this particle */
  uint32_t *slot_of, *particle, *count, *slots;
  uint32_t n, capacity;
  uint32_t *next; /* to a wall: none so far (mirror.h) */
  OZ_D void operator()(uint32_t i) const {
    give(i, number[i], number[i] != (i ? number[i - 1] : 0));
  }
  /* k: slots up to and with this one */
  OZ_D void give(uint32_t i, uint32_t k, bool near) const {
    const bool has = near && k <= capacity;
    slot_of[i] = has ? k : 0;
    if (has) particle[k - 1] = i;
    if (i == n - 1) *count = k, *slots = k < capacity ? k : capacity, *next = 0;
  }
};

/* Up to SLOTS_MOST particles one kernel does all of it. Where walls are found aside, `material` and
 * `predict` have voted already: a bit for each particle that is near one. */
enum { SLOTS_BLOCK = 256, SLOTS_MOST = 1 << 18 }; /* blocks that fit beside those of a gather */
#if defined(OZ_CUDA_HOST)
template <class K>
cudaError_t predict_all(gpu *g, const near_item &near, const K &first, uint32_t *votes, uint32_t) {
  for (uint32_t i = 0; i < g->count; i++) {
    first(i);
    oz_material_item(&near.f, i, nullptr);
    oz_predict_item(&near.f, i, nullptr);
    const uint32_t before = i % 32 ? votes[i / 32] : 0u;
    votes[i / 32] = before | (uint32_t)(g->planar ? near.near<true>(i) : near.near<false>(i))
                                 << i % 32;
  }
  return cudaSuccess;
}
ooze_result slots_at_once(gpu *, const near_item &near, const slot_item &s, const uint32_t *votes,
                          ooze_message *) {
  for (uint32_t i = 0, number = 0; i < s.n; i++) {
    const bool has = votes ? votes[i / 32] >> i % 32 & 1u : near(i);
    number += has;
    s.give(i, number, has);
  }
  return OOZE_OK;
}
#else
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { SLOTS_HELD = 4 }; /* 1024 threads are all it has */
#else
enum { SLOTS_HELD = 6 };
#endif
static_assert(SLOTS_MOST <= SLOTS_BLOCK * SUMS_MOST, "blocks have no room for their sums");
template <bool PLANES, class K>
__global__ void __launch_bounds__(BLOCK, 7)
    predict_kernel(const __grid_constant__ near_item near, const __grid_constant__ K first,
                   uint32_t *out) {
  const oz_frame *f = &near.f;
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  draw_all_near(f->matter, f->matter_count * sizeof(oz_matter));
  draw_all_near(f->collider, f->collider_count * sizeof(oz_collider));
  after_the_last();
  if (i < f->count) {
    first(i);
    oz_material_item(f, i, nullptr);
    oz_predict_item(f, i, nullptr);
  }
  const uint32_t votes = __ballot_sync(0xffffffffu, i < f->count && near.near<PLANES>(i));
  if (threadIdx.x % 32 == 0 && i < f->count) out[i / 32] = votes;
}
template <class K>
cudaError_t predict_all(gpu *g, const near_item &near, const K &first, uint32_t *votes,
                        uint32_t memory) {
  static_assert(sizeof(near_item) + sizeof(K) < 4000, "what a kernel can be given");
  const uint32_t blocks = (g->count + BLOCK - 1u) / BLOCK;
  if (g->planar)
    return start<predict_kernel<true, K>>(blocks, (uint32_t)BLOCK, memory, g->stream, near, first,
                                          votes);
  return start<predict_kernel<false, K>>(blocks, (uint32_t)BLOCK, memory, g->stream, near, first,
                                         votes);
}
/* By votes no block waits for another: each counts what all before it have. */
__global__ void __launch_bounds__(SLOTS_BLOCK)
    count_kernel(const __grid_constant__ slot_item s, const uint32_t *votes) {
  constexpr uint32_t WARPS = SLOTS_BLOCK / 32;
  static_assert(WARPS == 8, "two times four words a block");
  __shared__ uint32_t before[WARPS], here[WARPS];
  const uint32_t i = blockIdx.x * (uint32_t)SLOTS_BLOCK + threadIdx.x, warp = threadIdx.x / 32,
                 lane = threadIdx.x % 32;
  uint32_t sum = 0;
  await_the_last(); /* as below */
  const uint32_t own = i - lane < s.n ? votes[i / 32] : 0u;
  for (uint32_t w = threadIdx.x; w < 2 * blockIdx.x; w += SLOTS_BLOCK) {
    const uint4 four = reinterpret_cast<const uint4 *>(votes)[w];
    sum += __popc(four.x) + __popc(four.y) + __popc(four.z) + __popc(four.w);
  }
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) before[warp] = sum, here[warp] = __popc(own);
  __syncthreads();
  uint32_t number = __popc(own & (0xffffffffu >> (31u - lane)));
  for (uint32_t w = 0; w < WARPS; w++) number += before[w] + (w < warp ? here[w] : 0u);
  if (i < s.n) s.give(i, number, own >> lane & 1u);
}
__global__ void __launch_bounds__(SLOTS_BLOCK, SLOTS_HELD)
    slots_kernel(const __grid_constant__ near_item near, const __grid_constant__ slot_item s,
                 const block_sums sums) {
  constexpr uint32_t WARPS = SLOTS_BLOCK / 32;
  __shared__ uint32_t part[WARPS];
  const uint32_t i = blockIdx.x * (uint32_t)SLOTS_BLOCK + threadIdx.x, warp = threadIdx.x / 32,
                 lane = threadIdx.x % 32;
  await_the_last(); /* and lets nobody come early: stages read slots before they wait */
  const bool has = i < s.n && near(i);
  const uint32_t votes = __ballot_sync(0xffffffffu, has);
  if (lane == 0) part[warp] = __popc(votes);
  __syncthreads();
  uint32_t number = __popc(votes & (0xffffffffu >> (31u - lane))), all = 0;
  for (uint32_t w = 0; w < WARPS; w++) {
    if (w < warp) number += part[w];
    all += part[w];
  }
  number += before_block<SLOTS_BLOCK>(sums, all);
  if (i < s.n) s.give(i, number, has);
}
ooze_result slots_at_once(gpu *g, const near_item &near, const slot_item &s, const uint32_t *votes,
                          ooze_message *why) {
  block_sums sums;
  if (votes) {
    OZ_CUDA(start<count_kernel>((s.n + SLOTS_BLOCK - 1u) / SLOTS_BLOCK, (uint32_t)SLOTS_BLOCK, 0,
                                g->stream, s, votes),
            "walls");
    return OOZE_OK;
  }
  OZ_TRY(next_sums(g, &sums, why));
  OZ_CUDA(start<slots_kernel>((s.n + SLOTS_BLOCK - 1u) / SLOTS_BLOCK, (uint32_t)SLOTS_BLOCK, 0,
                              g->stream, near, s, sums),
          "walls");
  return OOZE_OK;
}
#endif

} // namespace

cudaError_t predict_voting(gpu *g, const oz_frame &f, uint32_t memory) {
  if (!g->permutes) return predict_all(g, near_to(f), in_place{}, as<uint32_t>(g->votes), memory);
  g->permutes = false;
  permute_item item;
  static_cast<permuting &>(item) = g->permuting_later;
  return predict_all(g, near_to(f), item, as<uint32_t>(g->votes), memory);
}

ooze_result fit_walls(gpu *g, bool *fits, ooze_message *why) {
  const uint32_t n = g->wall_last = g->host_news->walls;
  if (n <= g->wall_room) {
    g->wall_count = n;
    return OOZE_OK;
  }
  *fits = false;
  if (n <= g->wall_capacity) return OOZE_OK; /* no room was only guessed */
  const size_t room = (size_t)n + n / (g->count <= LATE_MOST ? 2 : 8) + 1024; /* as in fit_near */
  OZ_TRY(grow(g, &g->wall_planes, room * 4, "walls", why));
  OZ_TRY(grow(g, &g->wall, room * g->slot_planes * sizeof(oz_wall), "walls", why));
  OZ_TRY(grow(g, &g->wall_impulse, room * g->slot_planes * 12, "walls", why));
  OZ_TRY(grow(g, &g->wall_particle, room * 4, "walls", why));
  OZ_TRY(grow(g, &g->wall_near, (room + 1) * 4, "walls", why));
  g->wall_capacity = (uint32_t)room;
  return OOZE_OK;
}

ooze_result walls(oz_backend *b, oz_frame *f, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush_but_bound(g, why));
  g->wall_count = 0;
  if (g->count && g->collider_count) {
    timer t(g, TIMER_WALLS);
    uint32_t *flag = as<uint32_t>(g->cell_of);
    const near_item near = near_to(*f);
    const bool at_once = g->count <= SLOTS_MOST;
    if (!at_once) {
      OZ_CUDA(each(g->stream, g->count, flag_item{near, flag}), "walls");
      OZ_TRY(add_up(g, flag, g->count, why));
    }
    const bool late = goes_on(g, f) && g->wall_last;
    OZ_TRY(grow(g, &g->wall_near, 256, "walls", why));
    for (;;) {
      const uint32_t guess = rounded(g, g->wall_last + g->wall_last / 8);
      g->wall_room = late && guess < g->wall_capacity ? guess : g->wall_capacity;
      slot_item slots = {flag,
                         g->slot_of,
                         as<uint32_t>(g->wall_particle),
                         &device_news(g)->walls,
                         &device_news(g)->slots,
                         g->count,
                         g->wall_room,
                         as<uint32_t>(g->wall_near)};
      g->walls_aside = late && at_once && g->apart && !g->no_ahead && !f->loads;
      if (g->walls_aside) OZ_TRY(fork_side(g, why));
      if (at_once) {
        const aside there(g, g->walls_aside, &gpu::wall_side);
        OZ_TRY(slots_at_once(g, near, slots,
                             g->voted && g->apart ? as<uint32_t>(g->votes) : nullptr, why));
      } else
        OZ_CUDA(each(g->stream, g->count, slots), "walls");
      if (g->walls_aside) {
        const aside there(g, true); /* behind lists, which are done by then */
        OZ_TRY(clear_stirred(g, why));
        OZ_TRY(clear_table(g, why));
      }
      bool fits = true;
      g->untold = false; /* list C's answer comes along */
      if (late) {
        OZ_TRY(tell_soon(g, why));
        g->due |= DUE_WALLS;
        g->wall_count = g->wall_room;
      } else {
        OZ_TRY(bring_news(g, why));
        OZ_TRY(fit_walls(g, &fits, why));
      }
      if (fits) break;
    }
    if (f->loads && g->wall_capacity * sizeof(oz_load) > g->load.bytes)
      OZ_TRY(grow(g, &g->load, g->wall_capacity * sizeof(oz_load), "loads of boundaries", why));
  }
  f->wall_count = g->wall_count;
  f->wall_particle = as<uint32_t>(g->wall_particle), f->wall = as<oz_wall>(g->wall);
  f->wall_near = as<uint32_t>(g->wall_near);
  f->wall_planes = as<uint32_t>(g->wall_planes), f->wall_impulse = as<float>(g->wall_impulse);
  g->has_load = f->loads != 0;
  f->load = as<oz_load>(g->load);
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
