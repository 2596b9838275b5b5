/* The CUDA backend's side of base/backend.h: frames, transfers, the scene, the table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda/gpu.h"

#include "physics/contact.h"

namespace OZ_NAMESPACE {

/* Copies to the device; `from` is the caller's again. Small copies do not wait. */
static ooze_result send(gpu *g, void *to, const void *from, size_t bytes, const char *what,
                        ooze_message *why) {
  if (!bytes) return OOZE_OK;
  if (bytes > STAGING / 4) {
    OZ_TRY(flush(g, why)); /* staged rows, too, are read before the memory is used again */
    OZ_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, g->stream), what);
    OZ_CUDA(cudaStreamSynchronize(g->stream), what);
    g->staging.used = 0;
    return OOZE_OK;
  }
  if (g->staging.used + bytes > STAGING) {
    OZ_TRY(flush(g, why));
    OZ_CUDA(cudaStreamSynchronize(g->stream), what);
    g->staging.used = 0;
  }
  void *room = static_cast<char *>(g->staging.at) + g->staging.used;
  memcpy(room, from, bytes);
  g->staging.used += (bytes + 15) / 16 * 16;
  OZ_CUDA(cudaMemcpyAsync(to, room, bytes, cudaMemcpyHostToDevice, g->stream), what);
  return OOZE_OK;
}

static void frame(oz_backend *b, oz_frame *f) {
  gpu *g = GPU(b);
  *f = g->arrays;
  f->count = f->fluid = g->count;
  f->start_list_x = f->x;
  f->scalar = status_on_device(g)->scalar;
  f->collider = static_cast<const oz_collider *>(g->scene.collider.at);
  f->collider_count = g->scene.collider_count;
  f->brick_boxes = g->scene.brick_boxes;
  f->brick_key = static_cast<const uint64_t *>(g->scene.brick_key.at);
  f->brick_values = static_cast<const float *>(g->scene.brick_values.at);
  f->friction_map_key = static_cast<const uint64_t *>(g->scene.friction_map_key.at);
  f->friction_map_values = static_cast<const float *>(g->scene.friction_map_values.at);
  f->nozzle = static_cast<const oz_nozzle *>(g->scene.nozzle.at);
  f->nozzle_count = g->scene.nozzle_count;
  f->matter = static_cast<const oz_matter *>(g->scene.matter.at);
  f->matter_count = g->scene.matter_count;
  f->body = static_cast<const oz_body *>(g->scene.body.at);
  f->body_state = static_cast<oz_body_state *>(g->scene.body_state.at);
  f->member = static_cast<uint32_t *>(g->scene.member.at);
  f->body_count = g->scene.body_count, f->member_count = g->scene.member_count;
  f->wall_count = g->walls.count;
  f->wall_particle = static_cast<uint32_t *>(g->walls.particle.at);
  f->wall = static_cast<oz_wall *>(g->walls.contact.at);
  f->wall_planes = static_cast<uint32_t *>(g->walls.plane_count.at);
  f->wall_impulse = static_cast<float *>(g->walls.impulse.at);
  f->wall_row = static_cast<oz_wall_row *>(g->walls.row.at);
  f->contact_planes = g->walls.contact_planes ? g->walls.contact_planes : 1;
  f->load = g->walls.has_load ? static_cast<oz_load *>(g->walls.load.at) : nullptr;
  f->wall_slip = g->walls.has_slip ? static_cast<oz_wall_slip *>(g->walls.slip.at) : nullptr;
  links_frame(g, f);
}

/* ---- optional fields ---- */

static int has(const oz_backend *b, oz_field field) {
  return array_of(&reinterpret_cast<const gpu *>(b)->arrays, field_of(field)) != nullptr;
}
static ooze_result provide(oz_backend *b, oz_field field, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  if (!field_of(field)->optional || has(b, field) || !g->capacity) return OOZE_OK;
  OZ_TRY(flush(g, why));
  /* fresh memory is zero */
  OZ_TRY(grow(g, &g->field[field], (size_t)g->capacity * field_of(field)->words * 4,
              field_of(field)->name, why));
  put_array(&g->arrays, field_of(field), as<float>(g->field[field]));
  return OOZE_OK;
}

/* ---- transfers ---- */

static ooze_result transfer(gpu *g, oz_field field, uint32_t first, uint32_t count, void *out,
                            const void *in, ooze_message *why) {
  on_device here(g);
  const bool births = in && g->births.parts && first >= g->births.first;
  OZ_TRY(births ? flush_stages(g, why) : flush(g, why));
  if ((uint32_t)field >= OZ_FIELD_COUNT || first > g->count || count > g->count - first)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "field %d, particles %u to %u: there are %u",
                   (int)field, first, first + count, g->count);
  if (!count) return OOZE_OK;
  if (in) {
    if (field == OZ_FIELD_X) extend_box(g, first, count, static_cast<const float *>(in));
    cancel_presort(g);
  }
  const field_array *a = field_of(field);
  if (in && !has(&g->base, field)) { /* the new field has no part in an open batch */
    OZ_TRY(flush(g, why));
    OZ_TRY(provide(&g->base, field, why));
  }
  if (out && !has(&g->base, field)) {
    memset(out, 0, (size_t)count * a->words * 4);
    return OOZE_OK;
  }
  float *p = array_of(&g->arrays, a);
  const size_t words = a->planes ? 1 : a->words, bytes = (size_t)count * words * 4;
  for (uint32_t c = 0; c < (a->planes ? a->words : 1); c++) {
    float *device = p + (size_t)c * g->arrays.stride + (size_t)first * words;
    const char *rows = static_cast<const char *>(in) + c * bytes;
    if (births && put_births(g, device, rows, bytes)) continue;
    if (in) OZ_TRY(flush(g, why)); /* rows of an open batch are zero before they are set */
    if (in && (field == OZ_FIELD_X || field == OZ_FIELD_RANK)) g->sorter.births = true;
    if (out)
      OZ_CUDA(cudaMemcpyAsync(static_cast<char *>(out) + c * bytes, device, bytes,
                              cudaMemcpyDeviceToHost, g->stream),
              "download");
    else
      OZ_TRY(send(g, device, rows, bytes, "upload", why));
  }
  if (!out) return OOZE_OK;
  OZ_CUDA(cudaStreamSynchronize(g->stream), "download");
  g->staging.used = 0;
  return OOZE_OK;
}
static ooze_result download(oz_backend *b, oz_field field, uint32_t first, uint32_t count,
                            void *out, ooze_message *why) {
  return transfer(GPU(b), field, first, count, out, nullptr, why);
}
static ooze_result upload(oz_backend *b, oz_field field, uint32_t first, uint32_t count,
                          const void *in, ooze_message *why) {
  return transfer(GPU(b), field, first, count, nullptr, in, why);
}

/* Removes particles from the state. Results of the last substep, which the caller has compacted,
 * keep their places. */
static ooze_result compact(oz_backend *b, const uint8_t *keep, uint32_t *out_count,
                           ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  uint32_t n = 0, *order = static_cast<uint32_t *>(oz_alloc(g->memory, ((size_t)g->count + 1) * 4));
  if (!order)
    return oz_fail(why, OOZE_ERROR_MEMORY,
                   "no memory for removing particles: %zu bytes were refused",
                   ((size_t)g->count + 1) * 4);
  for (uint32_t i = 0; i < g->count; i++)
    if (keep[i]) order[n++] = i;
  ooze_result r = OOZE_OK;
  if (n < g->count) {
    cudaError_t e = cudaMemcpyAsync(g->sorter.order[0].at, order, (size_t)n * 4,
                                    cudaMemcpyHostToDevice, g->stream);
    if (e == cudaSuccess) e = cudaStreamSynchronize(g->stream);
    if (e != cudaSuccess)
      r = fail_cuda(g, e, "removing particles", why);
    else {
      g->sorter.has_backup = false;
      r = permute(g, static_cast<uint32_t *>(g->sorter.order[0].at), n, false, why);
      if (r >= 0)
        r = links_move(g, static_cast<uint32_t *>(g->sorter.order[0].at), n, g->count, why);
    }
  }
  oz_free(g->memory, order);
  if (r < 0) return r;
  g->count = *out_count = n;
  g->sorter.box_known = BOX_UNKNOWN, g->sorter.unplaced = 0;
  cancel_presort(g);
  return OOZE_OK;
}

/* ---- scene ---- */

static ooze_result put(gpu *g, buffer *b, const void *from, size_t bytes, const char *what,
                       ooze_message *why) {
  if (!bytes) return OOZE_OK;
  OZ_TRY(grow(g, b, bytes, what, why));
  return send(g, b->at, from, bytes, what, why);
}
static ooze_result put_brick_keys(gpu *g, const oz_collider *c, uint32_t count,
                                  const uint64_t *keys, uint32_t bricks, ooze_message *why) {
  void *all;
  size_t bytes;
  g->scene.brick_boxes = bricks;
  if (!bricks) return OOZE_OK;
  OZ_TRY(make_brick_keys(g, c, count, keys, bricks, &all, &bytes, why));
  const ooze_result done = put(g, &g->scene.brick_key, all, bytes, "colliders", why);
  oz_free(g->memory, all);
  return done;
}
static ooze_result colliders(oz_backend *b, const oz_collider *c, uint32_t count,
                             const uint64_t *keys, const float *values, uint32_t bricks,
                             ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush_stages(g, why));
  const size_t bytes = count * sizeof *c;
  /* colliders at rest need no upload */
  if (count != g->scene.collider_count || !g->scene.collider_copy ||
      memcmp(g->scene.collider_copy, c, bytes) != 0) {
    if (!oz_grow(g->memory, &g->scene.collider_copy, &g->scene.collider_copy_bytes, bytes, 0) &&
        bytes)
      return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u colliders", count);
    if (bytes) memcpy(g->scene.collider_copy, c, bytes);
    OZ_TRY(put(g, &g->scene.collider, g->scene.collider_copy, bytes, "colliders", why));
  }
  if (keys) {
    OZ_TRY(put_brick_keys(g, c, count, keys, bricks, why));
    OZ_TRY(put(g, &g->scene.brick_values, values, (size_t)bricks * 512 * sizeof *values,
               "colliders", why));
  }
  const uint32_t planes = oz_planes_of(c, count);
  if (planes >
      g->walls.contact_planes) { /* larger contacts; the old ones are of the last substep */
    OZ_TRY(grow(g, &g->walls.contact, (size_t)g->walls.capacity * planes * sizeof(oz_wall), "walls",
                why));
    OZ_TRY(grow(g, &g->walls.impulse, (size_t)g->walls.capacity * planes * 12, "walls", why));
    g->walls.contact_planes = planes;
    g->walls.count = 0;
  }
  g->scene.collider_count = count;
  g->walls.flat = g->walls.planar = true;
  for (uint32_t k = 0; k < count; k++)
    if (c[k].role == OOZE_ROLE_COLLIDE)
      g->walls.flat &= OZ_IS_FLAT(c + k) != 0, g->walls.planar &= c[k].shape == OZ_SHAPE_PLANE;
  return OOZE_OK;
}
static ooze_result friction_maps(oz_backend *b, const uint64_t *keys, const float *values,
                                 uint32_t bricks, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush_stages(g, why));
  OZ_TRY(
      put(g, &g->scene.friction_map_key, keys, bricks * sizeof *keys, "colliders' friction", why));
  return put(g, &g->scene.friction_map_values, values,
             (size_t)bricks * OZ_FRICTION_MAP_FLOATS * sizeof *values, "colliders' friction", why);
}
/* A list of the scene, in place of the one before. */
template <class T, class A>
static ooze_result replace(oz_backend *b, A *to, uint32_t *to_count, const T *list, uint32_t count,
                           const char *what, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush_stages(g, why));
  OZ_TRY(put(g, to, list, count * sizeof *list, what, why));
  *to_count = count;
  return OOZE_OK;
}
static ooze_result nozzles(oz_backend *b, const oz_nozzle *n, uint32_t count, ooze_message *why) {
  gpu *g = GPU(b);
  scene_data *scene = &g->scene;
  const size_t bytes = count * sizeof *n;
  if (count == scene->nozzle_count && scene->nozzle_copy &&
      memcmp(scene->nozzle_copy, n, bytes) == 0)
    return OOZE_OK;
  if (bytes && !oz_grow(g->memory, &scene->nozzle_copy, &scene->nozzle_copy_bytes, bytes,
                        scene->nozzle_copy_bytes))
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u nozzles", count);
  OZ_TRY(replace(b, &scene->nozzle, &scene->nozzle_count, n, count, "nozzles", why));
  if (bytes) memcpy(scene->nozzle_copy, n, bytes);
  return OOZE_OK;
}
static ooze_result matter(oz_backend *b, const oz_matter *m, uint32_t count, ooze_message *why) {
  auto &scene = GPU(b)->scene;
  return replace(b, &scene.matter, &scene.matter_count, m, count, "materials", why);
}

static ooze_result bodies(oz_backend *b, const oz_body *body, uint32_t count, uint32_t members,
                          ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush_stages(g, why));
  OZ_TRY(grow(g, &g->scene.body_state, count * sizeof(oz_body_state), "bodies", why));
  OZ_TRY(grow(g, &g->scene.member, members * sizeof(uint32_t), "bodies", why));
  OZ_TRY(put(g, &g->scene.body, body, count * sizeof *body, "bodies", why));
  g->scene.body_count = count, g->scene.member_count = members;
  return OOZE_OK;
}

/* ---- the rest ---- */

static uint64_t bytes(const oz_backend *b, uint64_t *out_scratch) {
  const gpu *g = reinterpret_cast<const gpu *>(b);
  *out_scratch = g->scratch_bytes;
  return g->bytes;
}
static int has_links(const oz_backend *b) {
  return reinterpret_cast<const gpu *>(b)->links.present;
}
static const char *describe(const oz_backend *b) {
  return reinterpret_cast<const gpu *>(b)->device.text;
}
static void destroy(oz_backend *b) {
  gpu *g = GPU(b);
  {
    on_device here(g);
#if !defined(OZ_CUDA_HOST)
    if (g->stream) cudaStreamSynchronize(g->stream);
    if (g->streams.lists) cudaStreamSynchronize(g->streams.lists);
    if (g->streams.walls) cudaStreamSynchronize(g->streams.walls);
#endif
    release_spare_lists(g);
    forget_graphs(g);
    buffer *kept[] = {&g->block,
                      &g->lists.start.entries,
                      &g->lists.start.group,
                      &g->lists.start.len,
                      &g->lists.density.entries,
                      &g->lists.density.group,
                      &g->lists.density.len,
                      &g->walls.contact,
                      &g->walls.near,
                      &g->walls.particle,
                      &g->walls.plane_count,
                      &g->walls.impulse,
                      &g->walls.row,
                      &g->walls.load,
                      &g->walls.slip,
                      &g->scene.collider,
                      &g->scene.brick_key,
                      &g->scene.brick_values,
                      &g->scene.friction_map_key,
                      &g->scene.friction_map_values,
                      &g->scene.nozzle,
                      &g->scene.matter,
                      &g->scene.body,
                      &g->scene.body_state,
                      &g->scene.member,
                      &g->mailbox.device,
                      &g->sums.ticket,
                      &g->sums.blocks,
                      &g->walls.votes,
                      &g->walls.loads,
                      &g->lists.gradients,
                      &g->lists.block_first,
                      &g->lists.block_j};
    buffer *scratch[] = {&g->sorter.key[0],      &g->sorter.key[1],        &g->sorter.order[0],
                         &g->sorter.order[1],    &g->sorter.cell_of,       &g->sorter.table,
                         &g->lists.moved_cells,  &g->sorter.temp,          &g->sums.partial,
                         &g->sorter.grid.start,  &g->sorter.grid.key,      &g->sorter.grid.hash,
                         &g->sorter.grid.around, &g->sorter.density_table, &g->sorter.gone,
                         &g->sums.answers};
    for (buffer *k : kept) drop(g, k, false);
    for (buffer &k : g->field) drop(g, &k, false);
    for (buffer &k : g->field_to) drop(g, &k, false);
    for (buffer *k : scratch) drop(g, k, true);
    links_release(g);
    if (g->mailbox.host) cudaFreeHost(g->mailbox.host);
    if (g->walls.host_loads) cudaFreeHost(g->walls.host_loads);
    if (g->staging.at) cudaFreeHost(g->staging.at);
#if !defined(OZ_CUDA_HOST)
    for (void *e : g->profile.event)
      if (e) cudaEventDestroy(static_cast<cudaEvent_t>(e));
    void *events[] = {g->streams.lists_done, g->streams.walls_done, g->streams.predicted,
                      g->streams.finished};
    for (void *e : events)
      if (e) cudaEventDestroy(static_cast<cudaEvent_t>(e));
    if (g->streams.walls) cudaStreamDestroy(g->streams.walls);
    if (g->streams.lists) cudaStreamDestroy(g->streams.lists);
    if (g->stream) cudaStreamDestroy(g->stream);
#endif
    cudaGetLastError();
  }
  oz_free(g->memory, g->graphs.entry);
  oz_free(g->memory, g->scene.collider_copy);
  oz_free(g->memory, g->scene.nozzle_copy);
  oz_free(g->memory, g);
}

static constexpr oz_backend_table make_table() {
  oz_backend_table t = {};
  t.name = "cuda";
  t.destroy = destroy;
  t.describe = describe;
  t.reserve = reserve;
  t.resize = resize;
  t.frame = frame;
  t.download = download;
  t.upload = upload;
  t.compact = compact;
  t.sort = sort;
  t.lists = lists;
  t.density_list = density_list;
  t.walls = walls;
  t.colliders = colliders;
  t.nozzles = nozzles;
  t.matter = matter;
  t.bodies = bodies;
  t.links_update = links_update;
  t.links_put = links_put;
  t.links_get = links_get;
  t.has_links = has_links;
  t.run = run;
  t.bytes = bytes;
  t.profile = profile;
  t.profile_reset = profile_reset;
  t.profile_start = profile_start;
  t.lost = lost;
  t.remove_lost = remove_lost;
  t.wall_loads = wall_loads;
  t.roll_back = roll_back;
  t.fastest = fastest;
  t.column_sums = column_sums;
  t.finished = finished;
  t.friction_maps = friction_maps;
  t.has = has;
  t.provide = provide;
  t.copy_take = copy_take;
  t.copy_words = copy_words;
  t.copy_bytes = copy_bytes;
  t.copy_drop = copy_drop;
  t.statistics = statistics;
  t.extremes = extremes;
  t.within = within;
  return t;
}
const oz_backend_table gpu_table = make_table();

} // namespace OZ_NAMESPACE
