/* The CUDA backend: fills the table of base/backend.h. Memory, transfers, errors. */
#include "cuda/tell.h"

#include "physics/contact.h"

#include <atomic>
#include <cstdarg>

#if defined(OZ_CUDA_HOST)
#include <cmath>
#endif

namespace OZ_NAMESPACE {

float *array_of(const oz_frame *f, const field_array *a);
void put_array(oz_frame *f, const field_array *a, float *p);
uint32_t *slots_of(float *at, uint32_t capacity, uint32_t parity);
uint32_t *places_of(float *at, uint32_t capacity);

/* ---- devices ---- */

#if defined(OZ_CUDA_HOST)
on_device::on_device(const gpu *) : before(0) {}
on_device::~on_device() {}
#else
on_device::on_device(const gpu *g) : before(-1) {
  if (cudaGetDevice(&before) != cudaSuccess) before = -1;
  if (before != g->device)
    cudaSetDevice(g->device);
  else
    before = -1;
}
on_device::~on_device() {
  if (before >= 0) cudaSetDevice(before);
}
#endif

/* An error that ended a call. What the driver keeps of it is taken away, so that the host does not
 * find it. An error that stays (a fault inside a kernel) ends this solver's use of the device. */
ooze_result fail_cuda(gpu *g, cudaError_t e, const char *what, ooze_message *why) {
  cudaGetLastError();
#if !defined(OZ_CUDA_HOST)
  if (e == cudaErrorMemoryAllocation)
    return oz_fail(why, OOZE_ERROR_MEMORY, "cuda: out of device memory in %s", what);
  if (cudaStreamQuery(g->stream) != cudaSuccess && cudaGetLastError() != cudaSuccess) {
    g->lost = OOZE_LOST_DEVICE;
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
  cudaGetLastError(); /* nothing stays behind */
  if (cudaMemGetInfo(&available, &all) != cudaSuccess) cudaGetLastError();
  return oz_fail(why, OOZE_ERROR_MEMORY,
                 "cuda: no device memory for %s: %zu bytes asked for, %llu held, %zu of %zu free",
                 what, bytes, (unsigned long long)(g->bytes + g->scratch_bytes), available, all);
}

/* Room for `bytes`; what was there is lost. On failure the old room is still there. */
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

telling next_telling(gpu *g) {
  return telling{as<uint32_t>(g->device_news), reinterpret_cast<uint32_t *>(g->host_news),
                 ++g->told};
}
#if defined(OZ_CUDA_HOST)
ooze_result tell_news(gpu *g, ooze_message *) {
  memcpy(g->host_news, g->device_news.at, sizeof(news));
  return OOZE_OK;
}
ooze_result tell_beside(gpu *g, ooze_message *why) { return tell_news(g, why); }
ooze_result tell_soon(gpu *g, ooze_message *why) { return tell_news(g, why); }
ooze_result await_news(gpu *, ooze_message *) { return OOZE_OK; }
#else
namespace {
__global__ void tell_kernel(const __grid_constant__ telling t) { tell_host(t); }
} // namespace
/* A kernel writes the news into the host's memory, which takes a few microseconds less than a copy
 * that is waited for. */
ooze_result tell_news(gpu *g, ooze_message *why) {
  if (g->walls_aside || g->lists_aside) OZ_TRY(join_side(g, why)); /* of which they tell too */
  return tell_beside(g, why);
}
ooze_result tell_beside(gpu *g, ooze_message *why) {
  g->soon = false;
  tell_kernel<<<1, 32, 0, g->stream>>>(next_telling(g));
  OZ_CUDA(cudaGetLastError(), "reading results");
  return OOZE_OK;
}
/* (Launches that are recorded have no numbers of their own.) */
ooze_result tell_soon(gpu *g, ooze_message *why) {
  g->soon = lanes_for(g) <= STORED_ABOVE && !g->profiling && !g->no_soon;
  return g->soon ? OOZE_OK : tell_news(g, why);
}
ooze_result await_news(gpu *g, ooze_message *why) {
  if (g->soon) OZ_TRY(tell_news(g, why));
  const uint32_t number = g->told;
  const volatile uint32_t *now = reinterpret_cast<uint32_t *>(g->host_news) + sizeof(news) / 4;
  for (uint32_t n = 1; *now != number; n++)
    if (n % 1024 == 0) {
      /* which is not done before whoever tells is: after_sort, where that is another one */
      const cudaError_t e = cudaStreamQuery(g->stream);
      if (e != cudaErrorNotReady && *now != number)
        return fail_cuda(g, e == cudaSuccess ? cudaErrorUnknown : e, "a substep", why);
    }
  std::atomic_thread_fence(std::memory_order_acquire);
  return OOZE_OK;
}
#endif
/* Everything that kernels have left for the host, once they are done. */
ooze_result bring_news(gpu *g, ooze_message *why) {
  OZ_TRY(tell_news(g, why));
  OZ_TRY(await_news(g, why));
  g->staged = 0;
  return OOZE_OK;
}

ooze_result send(gpu *g, void *to, const void *from, size_t bytes, const char *what,
                 ooze_message *why) {
  if (!bytes) return OOZE_OK;
  if (bytes > STAGING / 4) {
    OZ_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, g->stream), what);
    OZ_CUDA(cudaStreamSynchronize(g->stream), what);
    g->staged = 0;
    return OOZE_OK;
  }
  if (g->staged + bytes > STAGING) {
    OZ_CUDA(cudaStreamSynchronize(g->stream), what);
    g->staged = 0;
  }
  void *room = static_cast<char *>(g->staging) + g->staged;
  memcpy(room, from, bytes);
  g->staged += (bytes + 15) / 16 * 16;
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
  /* everything sized by the particle count, or nothing */
  struct {
    buffer *slot;
    size_t bytes;
    bool scratch;
    buffer fresh;
  } part[FIXED_PARTS + OZ_FIELD_STATE_COUNT] = {
      {&g->block, n * words_per_particle() * 4, false, {}},
      {&g->c.group, groups * 4, false, {}},
      {&g->c.len, n * 2, false, {}},
      {&g->extra.group, groups * 4, false, {}},
      {&g->extra.len, n * 2, false, {}},
      {&g->key[0], n * 8, true, {}},
      {&g->key[1], n * 8, true, {}},
      {&g->order[0], n * 4, true, {}},
      {&g->order[1], n * 4, true, {}},
      {&g->cell_of, n * 4, true, {}},
      {&g->partial, (n / BLOCK * MOST_SUMS + 65536) * sizeof(double), true, {}},
      {&g->votes, (groups + 8) * 4, true, {}},
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
  for (buffer &k : g->field_to) drop(g, &k, false); /* too small by now */
  drop_spare(g);
  give_up_foreseen(g);
  g->ahead = false;
  g->arrays = next;
  g->parity = 0;
  g->capacity = capacity;
  g->slot_of = slots_of(static_cast<float *>(g->block.at), capacity, 0);
  g->place = places_of(static_cast<float *>(g->block.at), capacity);
  return OOZE_OK;
}

static ooze_result resize(oz_backend *b, uint32_t count, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  if (count > g->capacity) {
    /* grow by half, so that an emitter does not reallocate every substep */
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
  g->box_known = false;
  give_up_foreseen(g);
  return OOZE_OK;
}

static void frame(oz_backend *b, oz_frame *f) {
  gpu *g = GPU(b);
  *f = g->arrays;
  f->count = f->fluid = g->count;
  f->seen_at = f->x;
  f->scalar = static_cast<news *>(g->device_news.at)->scalar;
  f->collider = static_cast<const oz_collider *>(g->collider.at);
  f->collider_count = g->collider_count;
  f->brick_key = static_cast<const uint64_t *>(g->brick_key.at);
  f->brick_values = static_cast<const float *>(g->brick_values.at);
  f->grip_key = static_cast<const uint64_t *>(g->grip_key.at);
  f->grip_values = static_cast<const float *>(g->grip_values.at);
  f->nozzle = static_cast<const oz_nozzle *>(g->nozzle.at);
  f->nozzle_count = g->nozzle_count;
  f->matter = static_cast<const oz_matter *>(g->matter.at);
  f->matter_count = g->matter_count;
  f->body = static_cast<const oz_body *>(g->body.at);
  f->body_state = static_cast<oz_body_state *>(g->body_state.at);
  f->member = static_cast<uint32_t *>(g->member.at);
  f->body_count = g->body_count, f->member_count = g->member_count;
  f->wall_count = g->wall_count;
  f->wall_particle = static_cast<uint32_t *>(g->wall_particle.at);
  f->wall = static_cast<oz_wall *>(g->wall.at);
  f->wall_planes = static_cast<uint32_t *>(g->wall_planes.at);
  f->wall_impulse = static_cast<float *>(g->wall_impulse.at);
  f->slot_planes = g->slot_planes ? g->slot_planes : 1;
  f->load = g->has_load ? static_cast<oz_load *>(g->load.at) : nullptr;
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
  /* zeros */
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
    g->box_known = false;
    give_up_foreseen(g);
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
  g->staged = 0;
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

/* Removes particles from the state. Results of the last substep, of which the caller has moved up
 * those that stay, keep their places. */
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
    cudaError_t e =
        cudaMemcpyAsync(g->order[0].at, order, (size_t)n * 4, cudaMemcpyHostToDevice, g->stream);
    if (e == cudaSuccess) e = cudaStreamSynchronize(g->stream);
    if (e != cudaSuccess)
      r = fail_cuda(g, e, "removing particles", why);
    else {
      g->backed = false;
      r = permute(g, static_cast<uint32_t *>(g->order[0].at), n, false, why);
      if (r >= 0) r = links_move(g, static_cast<uint32_t *>(g->order[0].at), n, g->count, why);
    }
  }
  oz_free(g->memory, order);
  if (r < 0) return r;
  g->count = *out_count = n;
  g->box_known = false;
  give_up_foreseen(g);
  return OOZE_OK;
}

/* ---- surroundings ---- */

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
  /* walls that stand still are there already */
  if (count != g->collider_count || !g->collider_copy || memcmp(g->collider_copy, c, bytes) != 0) {
    if (!oz_grow(g->memory, &g->collider_copy, &g->collider_copy_bytes, bytes, 0) && bytes)
      return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u colliders", count);
    if (bytes) memcpy(g->collider_copy, c, bytes);
    OZ_TRY(put(g, &g->collider, g->collider_copy, bytes, "colliders", why));
  }
  if (keys) {
    OZ_TRY(put(g, &g->brick_key, keys, bricks * sizeof *keys, "colliders", why));
    OZ_TRY(
        put(g, &g->brick_values, values, (size_t)bricks * 512 * sizeof *values, "colliders", why));
  }
  const uint32_t planes = oz_planes_of(c, count);
  if (planes > g->slot_planes) { /* slots become larger; what they hold is of the last substep */
    OZ_TRY(grow(g, &g->wall, (size_t)g->wall_capacity * planes * sizeof(oz_wall), "walls", why));
    OZ_TRY(grow(g, &g->wall_impulse, (size_t)g->wall_capacity * planes * 12, "walls", why));
    g->slot_planes = planes;
    g->wall_count = 0;
  }
  g->collider_count = count;
  g->flat = g->planar = true;
  for (uint32_t k = 0; k < count; k++)
    if (c[k].role == OOZE_ROLE_COLLIDE)
      g->flat &= OZ_IS_FLAT(c + k) != 0, g->planar &= c[k].shape == OZ_SHAPE_PLANE;
  return OOZE_OK;
}
static ooze_result grips(oz_backend *b, const uint64_t *keys, const float *values, uint32_t bricks,
                         ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  OZ_TRY(put(g, &g->grip_key, keys, bricks * sizeof *keys, "colliders' friction", why));
  return put(g, &g->grip_values, values, (size_t)bricks * OZ_GRIP_FLOATS * sizeof *values,
             "colliders' friction", why);
}
static ooze_result nozzles(oz_backend *b, const oz_nozzle *n, uint32_t count, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  OZ_TRY(put(g, &g->nozzle, n, count * sizeof *n, "nozzles", why));
  g->nozzle_count = count;
  return OOZE_OK;
}
static ooze_result matter(oz_backend *b, const oz_matter *m, uint32_t count, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  OZ_TRY(put(g, &g->matter, m, count * sizeof *m, "materials", why));
  g->matter_count = count;
  return OOZE_OK;
}

static ooze_result bodies(oz_backend *b, const oz_body *body, uint32_t count, uint32_t members,
                          ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  OZ_TRY(grow(g, &g->body_state, count * sizeof(oz_body_state), "bodies", why));
  OZ_TRY(grow(g, &g->member, members * sizeof(uint32_t), "bodies", why));
  OZ_TRY(put(g, &g->body, body, count * sizeof *body, "bodies", why));
  g->body_count = count, g->member_count = members;
  return OOZE_OK;
}

/* ---- the rest ---- */

static uint64_t bytes(const oz_backend *b, uint64_t *out_scratch) {
  const gpu *g = reinterpret_cast<const gpu *>(b);
  *out_scratch = g->scratch_bytes;
  return g->bytes;
}
static const char *describe(const oz_backend *b) { return reinterpret_cast<const gpu *>(b)->text; }
static void profile(oz_backend *b, oz_stage stage, double *seconds, uint64_t *calls) {
  gpu *g = GPU(b);
  const uint32_t k = (uint32_t)stage;
  *seconds = k < TIMER_COUNT ? g->seconds[k] : 0.0;
  *calls = k < TIMER_COUNT ? g->calls[k] : 0;
}
static void profile_reset(oz_backend *b) {
  gpu *g = GPU(b);
  memset(g->seconds, 0, sizeof g->seconds);
  memset(g->calls, 0, sizeof g->calls);
}

static void destroy(oz_backend *b) {
  gpu *g = GPU(b);
  {
    on_device here(g);
#if !defined(OZ_CUDA_HOST)
    if (g->stream) cudaStreamSynchronize(g->stream);
    if (g->side) cudaStreamSynchronize(g->side);
    if (g->wall_side) cudaStreamSynchronize(g->wall_side);
#endif
    drop_spare(g);
    forget_graphs(g);
    buffer *kept[] = {&g->block,         &g->c.entries,     &g->c.group,     &g->c.len,
                      &g->extra.entries, &g->extra.group,   &g->extra.len,   &g->wall,
                      &g->wall_near,     &g->wall_particle, &g->wall_planes, &g->wall_impulse,
                      &g->load,          &g->collider,      &g->brick_key,   &g->brick_values,
                      &g->grip_key,      &g->grip_values,   &g->nozzle,      &g->matter,
                      &g->body,          &g->body_state,    &g->member,      &g->device_news,
                      &g->ticket,        &g->block_sums,    &g->votes,       &g->loads,
                      &g->ghat,          &g->near_first,    &g->near_j};
    buffer *scratch[] = {&g->key[0],   &g->key[1],    &g->order[0],   &g->order[1], &g->cell_of,
                         &g->table,    &g->stirred,   &g->temp,       &g->partial,  &g->grid.start,
                         &g->grid.key, &g->grid.hash, &g->grid.around};
    for (buffer *k : kept) drop(g, k, false);
    for (buffer &k : g->field) drop(g, &k, false);
    for (buffer &k : g->field_to) drop(g, &k, false);
    for (buffer *k : scratch) drop(g, k, true);
    links_release(g);
    if (g->host_news) cudaFreeHost(g->host_news);
    if (g->host_loads) cudaFreeHost(g->host_loads);
    if (g->staging) cudaFreeHost(g->staging);
#if !defined(OZ_CUDA_HOST)
    for (void *e : g->event)
      if (e) cudaEventDestroy(static_cast<cudaEvent_t>(e));
    void *beside[] = {g->side_done, g->walls_done, g->moved, g->ended};
    for (void *e : beside)
      if (e) cudaEventDestroy(static_cast<cudaEvent_t>(e));
    if (g->wall_side) cudaStreamDestroy(g->wall_side);
    if (g->side) cudaStreamDestroy(g->side);
    if (g->stream) cudaStreamDestroy(g->stream);
#endif
    cudaGetLastError();
  }
  oz_free(g->memory, g->graphs);
  oz_free(g->memory, g->collider_copy);
  oz_free(g->memory, g);
}

const oz_backend_table gpu_table = {
    "cuda",   destroy, describe,      reserve,      resize,       frame,     download,
    upload,   compact, sort,          lists,        density_list, walls,     colliders,
    nozzles,  matter,  bodies,        links_update, links_put,    links_get, run,
    bytes,    profile, profile_reset, lost,         wall_loads,   undo,      fastest,
    finished, grips,   has,           provide,      nullptr};

} // namespace OZ_NAMESPACE
