/* The CUDA backend's side of base/backend.h: memory, mailbox, transfers, errors, the table. */
#include "cuda/mailbox.h"

#include "physics/contact.h"

#include <atomic>
#include <cstdarg>

#if defined(OZ_CUDA_HOST)
#include <cmath>
#endif

namespace OZ_NAMESPACE {

/* ---- devices ---- */

#if defined(OZ_CUDA_HOST)
on_device::on_device(const gpu *) : before(0) {}
on_device::~on_device() {}
#else
on_device::on_device(const gpu *g) : before(-1) {
  if (cudaGetDevice(&before) != cudaSuccess) before = -1;
  if (before != g->device.index)
    cudaSetDevice(g->device.index);
  else
    before = -1;
}
on_device::~on_device() {
  if (before >= 0) cudaSetDevice(before);
}
#endif

/* An error that ended a call. The driver's copy of it is cleared, so that the host's own calls do
 * not report it. A sticky error (a fault inside a kernel) ends this solver's use of the device. */
ooze_result fail_cuda(gpu *g, cudaError_t e, const char *what, ooze_message *why) {
  cudaGetLastError();
#if !defined(OZ_CUDA_HOST)
  if (e == cudaErrorMemoryAllocation)
    return oz_fail(why, OOZE_ERROR_MEMORY, "cuda: out of device memory in %s", what);
  if (cudaStreamQuery(g->stream) != cudaSuccess && cudaGetLastError() != cudaSuccess) {
    g->lost_result = OOZE_LOST_DEVICE;
    return oz_fail(why, OOZE_LOST_DEVICE, "cuda: %s: %s; the device's state is lost", what,
                   cudaGetErrorString(e));
  }
#else
  (void)g;
#endif
  return oz_fail(why, OOZE_ERROR_DEVICE, "cuda: %s: %s", what, cudaGetErrorString(e));
}

/* ---- memory ---- */

void drop(gpu *g, buffer *b, bool scratch) {
  if (!b->at) return;
  cudaFree(b->at);
  (scratch ? g->scratch_bytes : g->bytes) -= b->bytes;
  b->at = nullptr;
  b->bytes = 0;
}

static ooze_result no_memory(size_t bytes, const gpu *g, const char *what, ooze_message *why) {
  size_t available = 0, all = 0;
  cudaGetLastError(); /* clears the error */
  if (cudaMemGetInfo(&available, &all) != cudaSuccess) cudaGetLastError();
  return oz_fail(
      why, OOZE_ERROR_MEMORY,
      "cuda: no device memory for %s: %zu bytes asked for, %llu min_blocks, %zu of %zu free", what,
      bytes, (unsigned long long)(g->bytes + g->scratch_bytes), available, all);
}

/* Room for `bytes`; the content is lost. On failure the old memory is still there. */
ooze_result grow(gpu *g, buffer *b, size_t bytes, const char *what, ooze_message *why,
                 bool scratch) {
  if (bytes <= b->bytes) return OOZE_OK;
  void *fresh = nullptr;
  bytes = (bytes + 255) / 256 * 256;
  if (g->memory_limit && g->bytes + g->scratch_bytes + bytes > g->memory_limit)
    return no_memory(bytes, g, what, why);
  if (cudaMalloc(&fresh, bytes) != cudaSuccess) return no_memory(bytes, g, what, why);
  drop(g, b, scratch);
  b->at = fresh;
  b->bytes = bytes;
  (scratch ? g->scratch_bytes : g->bytes) += bytes;
  OZ_CUDA(cudaMemsetAsync(fresh, 0, bytes, g->stream), what);
  return OOZE_OK;
}

status_post next_post(gpu *g) {
  return status_post{as<uint32_t>(g->mailbox.device), reinterpret_cast<uint32_t *>(g->mailbox.host),
                     ++g->mailbox.number};
}
#if defined(OZ_CUDA_HOST)
ooze_result post_status(gpu *g, ooze_message *) {
  memcpy(g->mailbox.host, g->mailbox.device.at, sizeof(device_status));
  return OOZE_OK;
}
ooze_result post_status_on_stream(gpu *g, ooze_message *why) { return post_status(g, why); }
ooze_result post_status_deferred(gpu *g, ooze_message *why) { return post_status(g, why); }
ooze_result await_status(gpu *, ooze_message *) { return OOZE_OK; }
#else
namespace {
__global__ void post_kernel(const __grid_constant__ status_post t) { post_status(t); }
} // namespace
/* A kernel writes the status into the host's memory: a few microseconds less than a copy and a
 * synchronisation. */
ooze_result post_status(gpu *g, ooze_message *why) {
  /* the status has results of both side streams */
  if (g->streams.unjoined & (UNJOINED_CONTACTS | UNJOINED_LISTS)) OZ_TRY(join_streams(g, why));
  return post_status_on_stream(g, why);
}
ooze_result post_status_on_stream(gpu *g, ooze_message *why) {
  if (g->mailbox.post == POST_DEFERRED) g->mailbox.post = POST_NONE;
  post_kernel<<<1, 32, 0, g->stream>>>(next_post(g));
  OZ_CUDA(cudaGetLastError(), "reading results");
  return OOZE_OK;
}
/* A recorded graph has no post numbers of its own, so small scenes post at once. */
ooze_result post_status_deferred(gpu *g, ooze_message *why) {
  OZ_EXPECT_STATE(g->mailbox.post != POST_OWED);
  if (lanes_for(g) > COMPUTED_GRADIENT_LANES || g->profile.on ||
      disabled(g, DISABLE_STATUS_CARRIERS))
    return post_status(g, why);
  g->mailbox.post = POST_DEFERRED;
  return OOZE_OK;
}
ooze_result await_status(gpu *g, ooze_message *why) {
  if (g->mailbox.post == POST_DEFERRED) OZ_TRY(post_status(g, why));
  const uint32_t number = g->mailbox.number;
  const volatile uint32_t *now =
      reinterpret_cast<uint32_t *>(g->mailbox.host) + sizeof(device_status) / 4;
  for (uint32_t n = 1; *now != number; n++)
    if (n % 1024 == 0) {
      /* the stream cannot be idle before the kernel that posts is done; join_sort orders posts of
       * the wall stream */
      const cudaError_t e = cudaStreamQuery(g->stream);
      if (e != cudaErrorNotReady && *now != number)
        return fail_cuda(g, e == cudaSuccess ? cudaErrorUnknown : e, "a substep", why);
    }
  std::atomic_thread_fence(std::memory_order_acquire);
  return OOZE_OK;
}
#endif
/* The status, once all kernels so far are done. */
ooze_result fetch_status(gpu *g, ooze_message *why) {
  OZ_TRY(post_status(g, why));
  OZ_TRY(await_status(g, why));
  g->staging.used = 0;
  return OOZE_OK;
}

ooze_result send(gpu *g, void *to, const void *from, size_t bytes, const char *what,
                 ooze_message *why) {
  if (!bytes) return OOZE_OK;
  if (bytes > STAGING / 4) {
    OZ_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, g->stream), what);
    OZ_CUDA(cudaStreamSynchronize(g->stream), what);
    g->staging.used = 0;
    return OOZE_OK;
  }
  if (g->staging.used + bytes > STAGING) {
    OZ_CUDA(cudaStreamSynchronize(g->stream), what);
    g->staging.used = 0;
  }
  void *room = static_cast<char *>(g->staging.at) + g->staging.used;
  memcpy(room, from, bytes);
  g->staging.used += (bytes + 15) / 16 * 16;
  OZ_CUDA(cudaMemcpyAsync(to, room, bytes, cudaMemcpyHostToDevice, g->stream), what);
  return OOZE_OK;
}

static ooze_result reserve(oz_backend *b, uint32_t count, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  if (count <= g->capacity) return OOZE_OK;
  OZ_TRY(flush(g, why));
  const uint64_t wish = ((uint64_t)count + 127) / 128 * 128;
  if (wish > 1u << 30)
    return oz_fail(why, OOZE_ERROR_LIMIT, "cuda: %u particles; at most %u fit", count, 1u << 30);
  const uint32_t capacity = (uint32_t)wish;
  OZ_TRY(links_reserve(g, capacity, why));
  const size_t n = capacity, groups = n / GROUP;
  enum { FIXED_PARTS = 12 };
  /* all arrays sized by the particle count, or none */
  struct {
    buffer *slot;
    size_t bytes;
    bool scratch;
    buffer fresh;
  } part[FIXED_PARTS + OZ_FIELD_STATE_COUNT] = {
      {&g->block, n * words_per_particle() * 4, false, {}},
      {&g->lists.start.group, groups * 4, false, {}},
      {&g->lists.start.len, n * 2, false, {}},
      {&g->lists.density.group, groups * 4, false, {}},
      {&g->lists.density.len, n * 2, false, {}},
      {&g->sorter.key[0], n * 8, true, {}},
      {&g->sorter.key[1], n * 8, true, {}},
      {&g->sorter.order[0], n * 4, true, {}},
      {&g->sorter.order[1], n * 4, true, {}},
      {&g->sorter.cell_of, n * 4, true, {}},
      {&g->sums.partial, (n / BLOCK * MAX_SUMS + 65536) * sizeof(double), true, {}},
      {&g->walls.votes, (groups + 8) * 4, true, {}},
  };
  size_t parts = FIXED_PARTS, total = 0;
  for (int k = 0; k < OZ_FIELD_STATE_COUNT; k++)
    if (g->field[k].at)
      part[parts++] = {&g->field[k], n * field_of((oz_field)k)->words * 4, false, {}};
  for (size_t k = 0; k < parts; k++) total += part[k].bytes;
  for (size_t k = 0; k < parts; k++) {
    ooze_result r = OOZE_OK;
    if (g->memory_limit && g->bytes + g->scratch_bytes + total > g->memory_limit)
      r = OOZE_ERROR_MEMORY;
    else
      r = grow(g, &part[k].fresh, part[k].bytes, "particles", nullptr, part[k].scratch);
    if (r >= 0) continue;
    for (size_t m = 0; m < k; m++) drop(g, &part[m].fresh, part[m].scratch);
    size_t available = 0, all = 0;
    if (cudaMemGetInfo(&available, &all) != cudaSuccess) cudaGetLastError();
    return oz_fail(
        why, OOZE_ERROR_MEMORY,
        "cuda: no device memory for %u particles: %zu bytes needed, %zu asked for, %zu of %zu free",
        count, total, part[k].bytes, available, all);
  }
  oz_frame next = g->arrays;
  lay_out(&next, static_cast<float *>(part[0].fresh.at), capacity, 0);
  for (size_t k = FIXED_PARTS; k < parts; k++)
    put_array(&next, field_of((oz_field)(part[k].slot - g->field)),
              static_cast<float *>(part[k].fresh.at));
  for (int k = 0; k < OZ_FIELD_STATE_COUNT && g->count; k++) {
    const field_array *a = field_of((oz_field)k);
    const float *from = array_of(&g->arrays, a);
    float *to = array_of(&next, a);
    if (!from) continue;
    for (uint32_t c = 0; c < (a->planes ? a->words : 1); c++)
      OZ_CUDA(cudaMemcpyAsync(to + (size_t)c * capacity, from + (size_t)c * g->arrays.stride,
                              (size_t)g->count * (a->planes ? 1 : a->words) * 4,
                              cudaMemcpyDeviceToDevice, g->stream),
              "moving particles");
  }
  OZ_CUDA(cudaStreamSynchronize(g->stream), "moving particles");
  forget_graphs(g);
  for (size_t k = 0; k < parts; k++) {
    drop(g, part[k].slot, part[k].scratch);
    *part[k].slot = part[k].fresh;
  }
  for (buffer &k : g->field_to) drop(g, &k, false); /* too small now */
  release_spare_lists(g);
  cancel_presort(g);
  g->lists.prebuilt = PREBUILT_NONE;
  g->arrays = next;
  g->parity = 0;
  g->capacity = capacity;
  g->walls.slot_of = slots_of(static_cast<float *>(g->block.at), capacity, 0);
  g->lists.place = places_of(static_cast<float *>(g->block.at), capacity);
  return OOZE_OK;
}

static ooze_result resize(oz_backend *b, uint32_t count, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  if (count > g->capacity) {
    /* growth by half, so that an emitter does not reallocate every substep */
    const uint64_t room = (uint64_t)g->capacity + g->capacity / 2;
    ooze_result r = OOZE_ERROR_MEMORY;
    if (room > count && room < 1u << 30) r = reserve(b, (uint32_t)room, why);
    if (r < 0) OZ_TRY(reserve(b, count, why));
  }
  for (int k = 0; k < OZ_FIELD_STATE_COUNT && count > g->count; k++) {
    const field_array *a = field_of((oz_field)k);
    float *p = array_of(&g->arrays, a);
    if (!p) continue;
    const size_t fresh = count - g->count, words = a->planes ? 1 : a->words;
    for (uint32_t c = 0; c < (a->planes ? a->words : 1); c++)
      OZ_CUDA(cudaMemsetAsync(p + (size_t)c * g->arrays.stride + g->count * words, 0,
                              fresh * words * 4, g->stream),
              "new particles");
  }
  OZ_TRY(links_resize(g, count, why));
  g->count = count;
  g->sorter.box_known = BOX_UNKNOWN;
  cancel_presort(g);
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
  f->contact_planes = g->walls.contact_planes ? g->walls.contact_planes : 1;
  f->load = g->walls.has_load ? static_cast<oz_load *>(g->walls.load.at) : nullptr;
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
  OZ_TRY(flush(g, why));
  if ((uint32_t)field >= OZ_FIELD_COUNT || first > g->count || count > g->count - first)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "field %d, particles %u to %u: there are %u",
                   (int)field, first, first + count, g->count);
  if (!count) return OOZE_OK;
  if (in) {
    g->sorter.box_known = BOX_UNKNOWN;
    cancel_presort(g);
  }
  const field_array *a = field_of(field);
  if (in) OZ_TRY(provide(&g->base, field, why));
  if (out && !has(&g->base, field)) {
    memset(out, 0, (size_t)count * a->words * 4);
    return OOZE_OK;
  }
  float *p = array_of(&g->arrays, a);
  const size_t words = a->planes ? 1 : a->words, bytes = (size_t)count * words * 4;
  for (uint32_t c = 0; c < (a->planes ? a->words : 1); c++) {
    float *device = p + (size_t)c * g->arrays.stride + (size_t)first * words;
    if (out)
      OZ_CUDA(cudaMemcpyAsync(static_cast<char *>(out) + c * bytes, device, bytes,
                              cudaMemcpyDeviceToHost, g->stream),
              "download");
    else
      OZ_TRY(send(g, device, static_cast<const char *>(in) + c * bytes, bytes, "upload", why));
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
  g->sorter.box_known = BOX_UNKNOWN;
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
static ooze_result colliders(oz_backend *b, const oz_collider *c, uint32_t count,
                             const uint64_t *keys, const float *values, uint32_t bricks,
                             ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
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
    OZ_TRY(put(g, &g->scene.brick_key, keys, bricks * sizeof *keys, "colliders", why));
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
  OZ_TRY(flush(g, why));
  OZ_TRY(
      put(g, &g->scene.friction_map_key, keys, bricks * sizeof *keys, "colliders' friction", why));
  return put(g, &g->scene.friction_map_values, values,
             (size_t)bricks * OZ_FRICTION_MAP_FLOATS * sizeof *values, "colliders' friction", why);
}
static ooze_result nozzles(oz_backend *b, const oz_nozzle *n, uint32_t count, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  OZ_TRY(put(g, &g->scene.nozzle, n, count * sizeof *n, "nozzles", why));
  g->scene.nozzle_count = count;
  return OOZE_OK;
}
static ooze_result matter(oz_backend *b, const oz_matter *m, uint32_t count, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  OZ_TRY(put(g, &g->scene.matter, m, count * sizeof *m, "materials", why));
  g->scene.matter_count = count;
  return OOZE_OK;
}

static ooze_result bodies(oz_backend *b, const oz_body *body, uint32_t count, uint32_t members,
                          ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
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
static const char *describe(const oz_backend *b) {
  return reinterpret_cast<const gpu *>(b)->device.text;
}
static void profile(oz_backend *b, oz_stage stage, double *seconds, uint64_t *calls) {
  gpu *g = GPU(b);
  const uint32_t k = (uint32_t)stage;
  *seconds = k < TIMER_COUNT ? g->profile.seconds[k] : 0.0;
  *calls = k < TIMER_COUNT ? g->profile.calls[k] : 0;
}
static void profile_reset(oz_backend *b) {
  gpu *g = GPU(b);
  memset(g->profile.seconds, 0, sizeof g->profile.seconds);
  memset(g->profile.calls, 0, sizeof g->profile.calls);
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
                      &g->walls.load,
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
    buffer *scratch[] = {&g->sorter.key[0],     &g->sorter.key[1],   &g->sorter.order[0],
                         &g->sorter.order[1],   &g->sorter.cell_of,  &g->sorter.table,
                         &g->lists.moved_cells, &g->sorter.temp,     &g->sums.partial,
                         &g->sorter.grid.start, &g->sorter.grid.key, &g->sorter.grid.hash,
                         &g->sorter.grid.around};
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
  t.run = run;
  t.bytes = bytes;
  t.profile = profile;
  t.profile_reset = profile_reset;
  t.lost = lost;
  t.wall_loads = wall_loads;
  t.roll_back = roll_back;
  t.fastest = fastest;
  t.finished = finished;
  t.friction_maps = friction_maps;
  t.has = has;
  t.provide = provide;
  return t;
}
const oz_backend_table gpu_table = make_table();

} // namespace OZ_NAMESPACE
