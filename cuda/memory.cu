/* Memory of the backend: the current device, errors, growth.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda/gpu.h"

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
  return oz_fail(why, OOZE_ERROR_MEMORY,
                 "cuda: no device memory for %s: %zu bytes asked for, %llu held, %zu of %zu free",
                 what, bytes, (unsigned long long)(g->bytes + g->scratch_bytes), available, all);
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

} // namespace OZ_NAMESPACE
