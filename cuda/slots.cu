/* Wall slots: the particles that are near a wall. */
#include "cuda/cells.h"

#include "physics/boundary.h"
#include "physics/wall.h"

namespace OZ_NAMESPACE {
namespace {

struct flag_item {
  oz_frame f;
  float reach;
  uint32_t *flag;
  OZ_D void operator()(uint32_t i) const {
    if (oz_is_boundary(&f, i)) {
      flag[i] = 0;
      return;
    }
    flag[i] = (uint32_t)(oz_wall_near_path(&f, f.x + 4 * (size_t)i, f.p + 4 * (size_t)i, reach) || oz_load_near(&f, i));
  }
};
struct slot_item {
  const uint32_t *number; /* slots up to and with this particle */
  uint32_t *slot_of, *particle, *count, *slots;
  uint32_t n, capacity;
  OZ_D void operator()(uint32_t i) const { give(i, number[i], number[i] != (i ? number[i - 1] : 0)); }
  /* k: slots up to and with this one */
  OZ_D void give(uint32_t i, uint32_t k, bool near) const {
    const bool has = near && k <= capacity;
    slot_of[i] = has ? k : 0;
    if (has) particle[k - 1] = i;
    if (i == n - 1) *count = k, *slots = k < capacity ? k : capacity;
  }
};

/* Up to SLOTS_SMALL particles: one block adds up flags and hands out slots, in place of three launches. */
enum { SLOTS_SMALL = 32768, SLOTS_BLOCK = 1024 };
#if defined(OZ_CUDA_HOST)
cudaError_t slots_at_once(gpu *, const slot_item &s, const uint32_t *flag) {
  for (uint32_t i = 0, number = 0; i < s.n; i++) {
    number += flag[i];
    s.give(i, number, flag[i] != 0);
  }
  return cudaSuccess;
}
#else
__global__ void __launch_bounds__(SLOTS_BLOCK) slots_kernel(const __grid_constant__ slot_item s, const uint32_t *flag) {
  __shared__ uint32_t part[SLOTS_BLOCK / 32];
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint32_t before = 0;
  for (uint32_t first = 0; first < s.n; first += 4 * SLOTS_BLOCK) { /* four side by side a thread */
    const uint32_t i = first + 4 * threadIdx.x;
    uint32_t v[4], own = 0;
    for (uint32_t k = 0; k < 4; k++) {
      v[k] = i + k < s.n ? flag[i + k] : 0u;
      own += v[k];
    }
    uint32_t sum = own;
    for (uint32_t d = 1; d < 32; d *= 2) {
      const uint32_t low = __shfl_up_sync(0xffffffffu, sum, d);
      if (lane >= d) sum += low;
    }
    if (lane == 31) part[warp] = sum;
    __syncthreads();
    if (warp == 0) {
      uint32_t all = part[lane];
      for (uint32_t d = 1; d < 32; d *= 2) {
        const uint32_t low = __shfl_up_sync(0xffffffffu, all, d);
        if (lane >= d) all += low;
      }
      part[lane] = all;
    }
    __syncthreads();
    uint32_t number = before + (warp ? part[warp - 1] : 0u) + sum - own;
    before += part[SLOTS_BLOCK / 32 - 1];
    __syncthreads();
    for (uint32_t k = 0; k < 4; k++)
      if (i + k < s.n) {
        number += v[k];
        s.give(i + k, number, v[k] != 0);
      }
  }
}
cudaError_t slots_at_once(gpu *g, const slot_item &s, const uint32_t *flag) {
  slots_kernel<<<1, SLOTS_BLOCK, 0, g->stream>>>(s, flag);
  return cudaGetLastError();
}
#endif

} // namespace

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
  g->wall_capacity = (uint32_t)room;
  return OOZE_OK;
}

ooze_result walls(oz_backend *b, oz_frame *f, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  g->wall_count = 0;
  if (g->count && g->collider_count) {
    timer t(g, TIMER_WALLS);
    uint32_t *flag = as<uint32_t>(g->cell_of);
    flag_item item = {*f, f->h + f->d, flag}; /* oz_wall_reach */
    OZ_CUDA(each(g->stream, g->count, item), "walls");
    const bool at_once = g->count <= SLOTS_SMALL;
    if (!at_once) OZ_TRY(add_up(g, flag, g->count, why));
    const bool late = goes_on(g, f) && g->wall_last;
    for (;;) {
      const uint32_t guess = rounded(g->wall_last + g->wall_last / 8);
      g->wall_room = late && guess < g->wall_capacity ? guess : g->wall_capacity;
      slot_item slots = {flag, g->slot_of, as<uint32_t>(g->wall_particle), &device_news(g)->walls, &device_news(g)->slots, g->count, g->wall_room};
      OZ_CUDA(at_once ? slots_at_once(g, slots, flag) : each(g->stream, g->count, slots), "walls");
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
  f->wall_planes = as<uint32_t>(g->wall_planes), f->wall_impulse = as<float>(g->wall_impulse);
  g->has_load = f->loads != 0;
  f->load = as<oz_load>(g->load);
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
