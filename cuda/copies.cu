/* Copies of fields in public order, and their way to the host on a stream of their own
 * (base/backend.h).
 *
 * One kernel of the main stream copies every field that is asked for, each particle's words to its
 * rank. The copy's stream waits for that kernel and brings the wanted fields to pinned memory; the
 * main stream goes on meanwhile. A field that was not fetched then is fetched when it is asked
 * for. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/gpu.h"

#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace OZ_NAMESPACE {
namespace {

/* Pinned memory of the host. CUDA pins small pages, one after the other: a field of twelve million
 * particles takes longer to pin than to copy. So large blocks are large pages, pinned afterwards.
 */
struct pinned {
  void *at;
  size_t bytes;
  bool own; /* not CUDA's */
  void release() {
#if !defined(OZ_CUDA_HOST)
    if (own) {
      cudaHostUnregister(at);
      free(at);
      at = nullptr;
    }
#endif
    if (at) cudaFreeHost(at);
    *this = pinned{};
  }
  cudaError_t reserve(size_t wish) {
    release();
    cudaError_t e = cudaSuccess;
    if (!reserve_large(wish)) e = cudaMallocHost(&at, wish);
    if (e == cudaSuccess) bytes = wish;
    return e;
  }
  bool reserve_large(size_t wish) {
#if defined(__linux__) && defined(MADV_HUGEPAGE) && !defined(OZ_CUDA_HOST)
    enum { PAGE = 2 << 20, LARGE = 16 << 20, SMALL_PAGE = 4096 };
    const size_t all = (wish + PAGE - 1) / PAGE * PAGE;
    if (wish < LARGE || posix_memalign(&at, PAGE, all) != 0) return at = nullptr, false;
    madvise(at, all, MADV_HUGEPAGE); /* small ones serve as well */
    for (size_t k = 0; k < all; k += SMALL_PAGE) static_cast<volatile char *>(at)[k] = 0;
    if (cudaHostRegister(at, all, cudaHostRegisterDefault) == cudaSuccess) return own = true;
    cudaGetLastError();
    free(at);
    at = nullptr;
#else
    (void)wish;
#endif
    return false;
  }
};

struct field_copy {
  gpu *g;
  uint32_t count;
  uint64_t there, fetched; /* bits of oz_field */
  buffer device[OZ_FIELD_COUNT];
  pinned host[OZ_FIELD_COUNT];
  cudaStream_t stream;
  void *taken; /* event: the kernel is done */
};
inline field_copy *COPY(oz_copy *c) { return reinterpret_cast<field_copy *>(c); }

struct copy_item {
  struct part {
    const uint32_t *from;
    uint32_t *to;
    size_t plane;         /* words from plane to plane */
    uint32_t step, words; /* of a record; of its copy */
    uint32_t end;         /* places from here on are 0 */
  } parts[OZ_FIELD_COUNT];
  const uint32_t *rank;
  uint32_t count, part_count;
  OZ_D void operator()(uint32_t i) const {
    const uint32_t r = rank[i];
    if (r >= count) return; /* a boundary particle */
    for (uint32_t p = 0; p < part_count; p++) {
      const part &q = parts[p];
      const uint32_t *from = q.from + (size_t)i * q.step;
      uint32_t *to = q.to + (size_t)r * q.words;
      for (uint32_t k = 0; k < q.words; k++) to[k] = i < q.end ? from[k * q.plane] : 0u;
    }
  }
};

ooze_result open_copy(gpu *g, field_copy *c, ooze_message *why) {
  c->g = g;
#if defined(OZ_CUDA_HOST)
  (void)why;
#else
  OZ_CUDA(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking), "a copy");
  cudaEvent_t e = nullptr;
  OZ_CUDA(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "a copy");
  c->taken = e;
#endif
  return OOZE_OK;
}

/* The copy's stream goes on behind the main one. */
ooze_result follow(gpu *g, field_copy *c, ooze_message *why) {
#if defined(OZ_CUDA_HOST)
  (void)g, (void)c, (void)why;
#else
  OZ_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(c->taken), g->stream), "a copy");
  OZ_CUDA(cudaStreamWaitEvent(c->stream, static_cast<cudaEvent_t>(c->taken), 0), "a copy");
#endif
  return OOZE_OK;
}

/* Touches nothing of g but its device: another thread may be in a step. */
cudaError_t fetch(field_copy *c, int k) {
  const size_t each = oz_copied_words((oz_field)k) * sizeof(uint32_t), bytes = c->count * each;
  if (c->host[k].bytes < bytes) {
    /* as much as the device has: room for the births to come */
    const size_t room = c->device[k].bytes > bytes ? c->device[k].bytes : bytes;
    const cudaError_t e = c->host[k].reserve(room);
    if (e != cudaSuccess) return e;
  }
  const cudaError_t e = bytes ? cudaMemcpyAsync(c->host[k].at, c->device[k].at, bytes,
                                                cudaMemcpyDeviceToHost, c->stream)
                              : cudaSuccess;
  if (e == cudaSuccess) c->fetched |= UINT64_C(1) << k;
  return e;
}

} // namespace

ooze_result copy_take(oz_backend *b, const oz_copy_request *request, oz_copy **out,
                      ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  field_copy *c = COPY(*out);
  if (!c) {
    c = static_cast<field_copy *>(oz_alloc(g->memory, sizeof *c));
    if (!c) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for a copy of the particles");
    *out = reinterpret_cast<oz_copy *>(c);
    OZ_TRY(open_copy(g, c, why));
  }
  OZ_CUDA(cudaStreamSynchronize(c->stream), "a copy"); /* mostly idle: its reader has waited */
  c->there = c->fetched = 0;
  c->count = request->count;
  copy_item item;
  item.rank = g->arrays.rank;
  item.count = request->count;
  item.part_count = 0;
  for (int k = 0; k < OZ_FIELD_COUNT; k++) {
    const field_array *a = field_of((oz_field)k);
    const float *from = array_of(&g->arrays, a);
    if (!(request->fields >> k & 1) || !from) continue;
    const uint32_t words = oz_copied_words((oz_field)k);
    OZ_TRY(grow(g, &c->device[k], (size_t)g->capacity * words * 4, "a copy", why));
    copy_item::part &p = item.parts[item.part_count++];
    p.from = reinterpret_cast<const uint32_t *>(from);
    p.to = as<uint32_t>(c->device[k]);
    p.words = words;
    p.step = a->planes ? 1 : a->words;
    p.plane = a->planes ? g->arrays.stride : 1;
    p.end = k < OZ_FIELD_STATE_COUNT ? UINT32_MAX : request->results;
    c->there |= UINT64_C(1) << k;
  }
  OZ_CUDA(for_each(g->stream, g->count, item), "a copy");
  OZ_TRY(follow(g, c, why));
  for (int k = 0; k < OZ_FIELD_COUNT; k++)
    if (request->fetch & c->there & (UINT64_C(1) << k)) OZ_CUDA(fetch(c, k), "a copy");
  return OOZE_OK;
}

ooze_result copy_words(oz_copy *copy, oz_field field, const void **out, ooze_message *why) {
  field_copy *c = COPY(copy);
  const uint64_t bit = UINT64_C(1) << (int)field;
  *out = nullptr;
  if (!(c->there & bit)) return OOZE_OK;
  on_device here(c->g);
  cudaError_t e = cudaSuccess;
  if (!(c->fetched & bit)) e = fetch(c, (int)field);
  if (e == cudaSuccess) e = cudaStreamSynchronize(c->stream);
  if (e != cudaSuccess) {
    cudaGetLastError();
    return oz_fail(why, e == cudaErrorMemoryAllocation ? OOZE_ERROR_MEMORY : OOZE_ERROR_DEVICE,
                   "cuda: a copy to the host: %s", cudaGetErrorString(e));
  }
  *out = c->host[field].at;
  return OOZE_OK;
}

uint64_t copy_bytes(const oz_copy *copy) {
  const field_copy *c = reinterpret_cast<const field_copy *>(copy);
  uint64_t bytes = 0;
  for (int k = 0; k < OZ_FIELD_COUNT; k++) bytes += c->host[k].bytes;
  return bytes; /* device memory is counted by the backend */
}

void copy_drop(oz_copy *copy) {
  field_copy *c = COPY(copy);
  if (!c) return;
  gpu *g = c->g;
  on_device here(g);
#if !defined(OZ_CUDA_HOST)
  if (c->stream) cudaStreamSynchronize(c->stream);
#endif
  for (int k = 0; k < OZ_FIELD_COUNT; k++) {
    drop(g, &c->device[k], false);
    c->host[k].release();
  }
#if !defined(OZ_CUDA_HOST)
  if (c->taken) cudaEventDestroy(static_cast<cudaEvent_t>(c->taken));
  if (c->stream) cudaStreamDestroy(c->stream);
#endif
  oz_free(g->memory, c);
}

} // namespace OZ_NAMESPACE
