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
  uint32_t *slot_of, *particle, *count;
  uint32_t n, capacity;
  OZ_D void operator()(uint32_t i) const {
    const uint32_t k = number[i], before = i ? number[i - 1] : 0;
    slot_of[i] = k != before ? k : 0;
    if (k != before && k <= capacity) particle[k - 1] = i;
    if (i == n - 1) *count = k;
  }
};

} // namespace

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
    OZ_TRY(add_up(g, flag, g->count, why));
    for (;;) {
      slot_item slots = {flag, g->slot_of, as<uint32_t>(g->wall_particle), &device_news(g)->walls, g->count, g->wall_capacity};
      OZ_CUDA(each(g->stream, g->count, slots), "walls");
      OZ_TRY(bring_news(g, why));
      const size_t n = g->host_news->walls;
      if (n <= g->wall_capacity) break;
      const size_t room = n + n / 2 + 1024;
      OZ_TRY(grow(g, &g->wall_planes, room * 4, "walls", why));
      OZ_TRY(grow(g, &g->wall, room * OZ_PLANES * sizeof(oz_wall), "walls", why));
      OZ_TRY(grow(g, &g->wall_impulse, room * OZ_PLANES * 12, "walls", why));
      OZ_TRY(grow(g, &g->wall_particle, room * 4, "walls", why));
      g->wall_capacity = (uint32_t)room;
    }
    g->wall_count = g->host_news->walls;
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
