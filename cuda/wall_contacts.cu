/* Wall contacts: a slot for each particle near a wall. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/block_scan.h"
#include "cuda/cells.h"
#include "cuda/near_walls.h"

namespace OZ_NAMESPACE {
namespace {

struct flag_item {
  near_item near;
  uint32_t *flag;
  OZ_D void operator()(uint32_t i) const { flag[i] = near(i); }
};
struct contact_item {
  const uint32_t *number; /* contacts up to and including this particle */
  uint32_t *slot_of, *particle, *count, *slots;
  uint32_t n, capacity;
  uint32_t *next; /* count of the wall layer's list, 0 at first (mirror_pressure.h) */
  OZ_D void operator()(uint32_t i) const {
    give(i, number[i], number[i] != (i ? number[i - 1] : 0));
  }
  /* k: contacts up to and including this one */
  OZ_D void give(uint32_t i, uint32_t k, bool near) const {
    const bool has = near && k <= capacity;
    slot_of[i] = has ? k : 0;
    if (has) particle[k - 1] = i;
    if (i == n - 1) *count = k, *slots = k < capacity ? k : capacity, *next = 0;
  }
};

/* Up to CONTACT_MAX_PARTICLES particles one kernel finds and numbers the contacts. On the wall
 * stream it has votes to go by: predict has set a bit for each particle near a wall. */
enum {
  CONTACT_BLOCK = 256,
  CONTACT_MAX_PARTICLES = 1 << 18
}; /* blocks that fit beside those of a gather */
#if defined(OZ_CUDA_HOST)
ooze_result contacts_in_one_pass(gpu *, const near_item &near, const contact_item &s,
                                 const uint32_t *votes, ooze_message *) {
  for (uint32_t i = 0, number = 0; i < s.n; i++) {
    const bool has = votes ? votes[i / 32] >> i % 32 & 1u : near(i);
    number += has;
    s.give(i, number, has);
  }
  return OOZE_OK;
}
#else
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { CONTACT_MIN_BLOCKS = 4 }; /* its limit is 1,024 threads a multiprocessor */
#else
enum { CONTACT_MIN_BLOCKS = 6 };
#endif
static_assert(CONTACT_MAX_PARTICLES <= CONTACT_BLOCK * MAX_SCAN_BLOCKS,
              "blocks have no room for their sums");
/* With votes no block waits for another: each counts the bits of all before it. */
__global__ void __launch_bounds__(CONTACT_BLOCK)
    number_contacts_kernel(const __grid_constant__ contact_item s, const uint32_t *votes) {
  constexpr uint32_t WARPS = CONTACT_BLOCK / 32;
  static_assert(WARPS == 8, "two times four words a block");
  __shared__ uint32_t before[WARPS], here[WARPS];
  const uint32_t i = blockIdx.x * (uint32_t)CONTACT_BLOCK + threadIdx.x, warp = threadIdx.x / 32,
                 lane = threadIdx.x % 32;
  uint32_t sum = 0;
  launch_dependency_wait(); /* no trigger, as below */
  const uint32_t own = i - lane < s.n ? votes[i / 32] : 0u;
  for (uint32_t w = threadIdx.x; w < 2 * blockIdx.x; w += CONTACT_BLOCK) {
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
__global__ void __launch_bounds__(CONTACT_BLOCK, CONTACT_MIN_BLOCKS)
    contacts_kernel(const __grid_constant__ near_item near, const __grid_constant__ contact_item s,
                    const scan_state sums) {
  constexpr uint32_t WARPS = CONTACT_BLOCK / 32;
  __shared__ uint32_t part[WARPS];
  const uint32_t i = blockIdx.x * (uint32_t)CONTACT_BLOCK + threadIdx.x, warp = threadIdx.x / 32,
                 lane = threadIdx.x % 32;
  launch_dependency_wait(); /* no trigger: stages read slots before their wait */
  const bool has = i < s.n && near(i);
  const uint32_t votes = __ballot_sync(0xffffffffu, has);
  if (lane == 0) part[warp] = __popc(votes);
  __syncthreads();
  uint32_t number = __popc(votes & (0xffffffffu >> (31u - lane))), all = 0;
  for (uint32_t w = 0; w < WARPS; w++) {
    if (w < warp) number += part[w];
    all += part[w];
  }
  number += block_prefix<CONTACT_BLOCK>(sums, all);
  if (i < s.n) s.give(i, number, has);
}
ooze_result contacts_in_one_pass(gpu *g, const near_item &near, const contact_item &s,
                                 const uint32_t *votes, ooze_message *why) {
  scan_state sums;
  if (votes) {
    OZ_CUDA(start<number_contacts_kernel>((s.n + CONTACT_BLOCK - 1u) / CONTACT_BLOCK,
                                          (uint32_t)CONTACT_BLOCK, 0, g->stream, s, votes),
            "walls");
    return OOZE_OK;
  }
  OZ_TRY(next_scan(g, &sums, why));
  OZ_CUDA(start<contacts_kernel>((s.n + CONTACT_BLOCK - 1u) / CONTACT_BLOCK,
                                 (uint32_t)CONTACT_BLOCK, 0, g->stream, near, s, sums),
          "walls");
  return OOZE_OK;
}
#endif

} // namespace

ooze_result check_walls(gpu *g, bool *fits, ooze_message *why) {
  const uint32_t n = g->walls.last_count = g->mailbox.host->walls;
  if (n <= g->walls.room) {
    g->walls.count = n;
    return OOZE_OK;
  }
  *fits = false;
  if (n <= g->walls.capacity) return OOZE_OK; /* the room was a guess, and memory suffices */
  const size_t room = (size_t)n + n / (g->count <= g->device.deferred_max ? 2 : 8) +
                      1024; /* as in check_start_list */
  OZ_TRY(grow(g, &g->walls.plane_count, room * 4, "walls", why));
  OZ_TRY(
      grow(g, &g->walls.contact, room * g->walls.contact_planes * sizeof(oz_wall), "walls", why));
  OZ_TRY(grow(g, &g->walls.impulse, room * g->walls.contact_planes * 12, "walls", why));
  OZ_TRY(grow(g, &g->walls.particle, room * 4, "walls", why));
  /* launches are rounded up, and their threads read before they know the count */
  OZ_TRY(grow(g, &g->walls.near, (2 * room + 1025) * 4, "walls", why));
  OZ_TRY(grow(g, &g->walls.row, room * sizeof(oz_wall_row), "walls", why));
  g->walls.capacity = (uint32_t)room;
  return OOZE_OK;
}

ooze_result walls(oz_backend *b, oz_frame *f, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush_except_bound(g, why));
  g->walls.count = 0;
  if (g->count && g->scene.collider_count) {
    timer t(g, TIMER_WALLS);
    uint32_t *flag = as<uint32_t>(g->sorter.cell_of);
    const near_item near = near_to(*f);
    const bool at_once = g->count <= CONTACT_MAX_PARTICLES;
    if (!at_once) {
      OZ_CUDA(for_each(g->stream, g->count, flag_item{near, flag}), "walls");
      OZ_TRY(inclusive_sum(g, flag, g->count, ALONE, why));
    }
    const bool late = defers_checks(g, f) && g->walls.last_count;
    OZ_TRY(grow(g, &g->walls.near, 256, "walls", why));
    for (;;) {
      const uint32_t guess = rounded_launch(g, g->walls.last_count + g->walls.last_count / 8);
      g->walls.room = late && guess < g->walls.capacity ? guess : g->walls.capacity;
      contact_item slots = {flag,
                            g->walls.slot_of,
                            as<uint32_t>(g->walls.particle),
                            &status_on_device(g)->walls,
                            &status_on_device(g)->slots,
                            g->count,
                            g->walls.room,
                            as<uint32_t>(g->walls.near)};
      const bool aside = late && at_once && g->walls.fork != FORK_NONE &&
                         !disabled(g, DISABLE_SIDE_STREAMS) && !f->has_loads;
      if (aside)
        g->streams.unjoined |= UNJOINED_CONTACTS;
      else
        g->streams.unjoined &= ~UNJOINED_CONTACTS;
      if (aside) OZ_TRY(fork_streams(g, why));
      if (at_once) {
        const on_stream there(g, aside, &stream_set::walls);
        OZ_TRY(contacts_in_one_pass(
            g, near, slots,
            g->walls.fork == FORK_WITH_VOTES ? as<uint32_t>(g->walls.votes) : nullptr, why));
      } else
        OZ_CUDA(for_each(g->stream, g->count, slots), "walls");
      if (aside) {
        const on_stream there(g, true); /* behind the lists, which are done by then */
        OZ_TRY(clear_moved_cells(g, why));
        OZ_TRY(clear_cell_table(g, why));
        OZ_TRY(clear_density_table(g, why));
      }
      bool fits = true;
      if (g->mailbox.post == POST_OWED)
        g->mailbox.post = POST_NONE; /* the post includes the start list's size */
      if (late) {
        OZ_TRY(post_status_deferred(g, why));
        g->mailbox.pending |= PENDING_WALLS;
        g->walls.count = g->walls.room;
      } else {
        OZ_TRY(fetch_status(g, why));
        OZ_TRY(check_walls(g, &fits, why));
      }
      if (fits) break;
    }
    if (f->has_loads && g->walls.capacity * sizeof(oz_load) > g->walls.load.bytes)
      OZ_TRY(
          grow(g, &g->walls.load, g->walls.capacity * sizeof(oz_load), "loads of boundaries", why));
    if (f->has_slip && f->projects_velocity &&
        g->walls.capacity * sizeof(oz_wall_slip) > g->walls.slip.bytes)
      OZ_TRY(grow(g, &g->walls.slip, g->walls.capacity * sizeof(oz_wall_slip), "walls", why));
  }
  f->wall_count = g->walls.count;
  f->wall_particle = as<uint32_t>(g->walls.particle), f->wall = as<oz_wall>(g->walls.contact);
  f->near_wall_contacts = as<uint32_t>(g->walls.near);
  f->wall_planes = as<uint32_t>(g->walls.plane_count),
  f->wall_impulse = as<float>(g->walls.impulse);
  f->wall_row = as<oz_wall_row>(g->walls.row), f->contact_of = g->walls.slot_of;
  g->walls.has_load = f->has_loads != 0;
  f->load = as<oz_load>(g->walls.load);
  g->walls.has_slip = f->has_slip && f->projects_velocity;
  f->wall_slip = g->walls.has_slip ? as<oz_wall_slip>(g->walls.slip) : nullptr;
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
