/* The words that the backend is written in. Under nvcc they are CUDA's. With OZ_CUDA_HOST they are
 * plain C++ on one thread, so that the same kernels and the same host code run, and are tested,
 * where there is no GPU. */
#ifndef OZ_CUDA_SHIM_H
#define OZ_CUDA_SHIM_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "base/backend.h"
#include "base/memory.h"
#include "base/result.h"
}

#if defined(OZ_CUDA_HOST)

#define OZ_D inline /* of member functions and templates that run on the device */
#define OZ_NAMESPACE oz_cuda_host
#define OZ_CUDA_CREATE oz_cuda_host_backend_create
enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorUnknown = 999 };
typedef int cudaStream_t;
struct uint2 {
  uint32_t x, y;
};
static inline cudaError_t cudaMalloc(void **p, size_t n) {
  *p = aligned_alloc(256, (n + 255) / 256 * 256);
  return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
static inline cudaError_t cudaFree(void *p) {
  free(p);
  return cudaSuccess;
}
static inline cudaError_t cudaMallocHost(void **p, size_t n) {
  *p = calloc(1, n);
  return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
static inline cudaError_t cudaFreeHost(void *p) {
  free(p);
  return cudaSuccess;
}
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, int, cudaStream_t) {
  memmove(to, from, n);
  return cudaSuccess;
}
static inline cudaError_t cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t) {
  memset(p, v, n);
  return cudaSuccess;
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
static inline cudaError_t cudaGetLastError(void) { return cudaSuccess; }
static inline const char *cudaGetErrorString(cudaError_t) { return "refused"; }
static inline cudaError_t cudaMemGetInfo(size_t *f, size_t *t) {
  *f = *t = 0;
  return cudaSuccess;
}
template <class T> inline T oz_atomic_add(T *p, T v) {
  T old = *p;
  *p = (T)(old + v);
  return old;
}
inline void oz_atomic_max(uint32_t *p, uint32_t v) {
  if (v > *p) *p = v;
}
inline void oz_atomic_or(uint32_t *p, uint32_t v) { *p |= v; }
inline void oz_atomic_min(int *p, int v) {
  if (v < *p) *p = v;
}
inline uint32_t oz_atomic_cas(uint32_t *p, uint32_t was, uint32_t v) {
  uint32_t old = *p;
  if (old == was) *p = v;
  return old;
}
inline void oz_fence() {} /* what was written before is seen before what is written after */

namespace OZ_NAMESPACE {
template <class K> inline cudaError_t each(cudaStream_t, uint32_t n, const K &k) {
  for (uint32_t i = 0; i < n; i++) k(i);
  return cudaSuccess;
}
enum chain { ALONE, CHAIN_FIRST, CHAINED };
template <class K> inline cudaError_t each(cudaStream_t stream, uint32_t n, const K &k, chain) {
  return each(stream, n, k);
}
} // namespace OZ_NAMESPACE

#else

#include <cuda_runtime.h>
#define OZ_D __device__ __forceinline__
#define OZ_NAMESPACE oz_cuda
#define OZ_CUDA_CREATE oz_cuda_backend_create
__device__ __forceinline__ uint32_t oz_atomic_add(uint32_t *p, uint32_t v) {
  return atomicAdd(p, v);
}
__device__ __forceinline__ unsigned long long oz_atomic_add(unsigned long long *p,
                                                            unsigned long long v) {
  return atomicAdd(p, v);
}
__device__ __forceinline__ void oz_atomic_max(uint32_t *p, uint32_t v) { atomicMax(p, v); }
__device__ __forceinline__ void oz_atomic_or(uint32_t *p, uint32_t v) { atomicOr(p, v); }
__device__ __forceinline__ void oz_atomic_min(int *p, int v) { atomicMin(p, v); }
__device__ __forceinline__ uint32_t oz_atomic_cas(uint32_t *p, uint32_t was, uint32_t v) {
  return atomicCAS(p, was, v);
}
__device__ __forceinline__ void oz_fence() { __threadfence(); }

namespace OZ_NAMESPACE {
/* queue.cu: whether kernels may be started before the one before is done (compute capability 9) */
bool start_early();
/* A kernel may be started while the one before it is still running, so that its launch costs
 * nothing; here it waits for what that one wrote, and lets the next one come. */
__device__ __forceinline__ void let_the_next_come() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}
__device__ __forceinline__ void await_the_last() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
/* Before what a kernel reads that it need not wait for, because whoever let it come had waited for
 * that: nothing old is in the first-level cache then. */
__device__ __forceinline__ void look_afresh() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
/* On its way into the first-level cache. */
__device__ __forceinline__ void draw_near(const void *p) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
}
/* A table that all threads of a block look into, and which the host wrote before anything that one
 * might have to wait for: before the wait. */
__device__ __forceinline__ void draw_all_near(const void *p, size_t bytes) {
  const size_t at = 32u * threadIdx.x;
  if (at < bytes) draw_near(static_cast<const char *>(p) + at);
}
__device__ __forceinline__ void after_the_last() {
  let_the_next_come();
  await_the_last();
}
/* Launches a kernel that begins with after_the_last. */
template <class... P>
inline cudaError_t start_kernel(void (*kernel)(P...), uint32_t blocks, uint32_t threads,
                                size_t memory, cudaStream_t stream, const P &...args) {
  cudaLaunchConfig_t c = {};
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  c.gridDim = dim3(blocks), c.blockDim = dim3(threads), c.stream = stream,
  c.dynamicSmemBytes = memory;
  c.attrs = &early, c.numAttrs = start_early() ? 1 : 0;
  return cudaLaunchKernelEx(&c, kernel, args...);
}
/* Every kernel asks for the same division of the first-level cache, as much shared memory as there
 * is: a multiprocessor that has to divide it anew waits until it is empty. */
template <auto KERNEL> inline cudaError_t prepare() {
  int device = 0, most = 0;
  cudaFuncAttributes have;
  cudaError_t e = cudaGetDevice(&device);
  if (e == cudaSuccess)
    e = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (e == cudaSuccess) e = cudaFuncGetAttributes(&have, KERNEL);
  if (e == cudaSuccess)
    e = cudaFuncSetAttribute(KERNEL, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             most - (int)have.sharedSizeBytes);
  if (e == cudaSuccess)
    e = cudaFuncSetAttribute(KERNEL, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared);
  return e;
}
template <auto KERNEL, class... A>
inline cudaError_t start(uint32_t n, uint32_t threads, size_t memory, cudaStream_t stream,
                         const A &...args) {
  static const cudaError_t ready = prepare<KERNEL>();
  if (ready != cudaSuccess) return ready;
  return start_kernel(KERNEL, n, threads, memory, stream, args...);
}
/* These and searches start when all before them is done, and let nobody come early: gathers read
 * lists before they wait (walk.h). (That of what is stirred starts early, and lets those come who
 * read its rows after they have waited.) */
template <class K>
__global__ void __launch_bounds__(256) each_kernel(const __grid_constant__ K k, uint32_t n) {
  const uint32_t i = blockIdx.x * 256u + threadIdx.x;
  if (i < n) k(i);
}
/* Runs k(i) for every i below n. */
template <class K> inline cudaError_t each(cudaStream_t stream, uint32_t n, const K &k) {
  if (n) each_kernel<K><<<(n + 255u) / 256u, 256, 0, stream>>>(k, n);
  return cudaGetLastError();
}
/* The same where one such kernel follows the other on a stream where nobody else does: each waits
 * for the one before it, having started early. */
enum chain { ALONE, CHAIN_FIRST, CHAINED };
template <class K>
__global__ void __launch_bounds__(256) chained_kernel(const __grid_constant__ K k, uint32_t n) {
  const uint32_t i = blockIdx.x * 256u + threadIdx.x;
  after_the_last();
  if (i < n) k(i);
}
template <class K> inline cudaError_t each(cudaStream_t stream, uint32_t n, const K &k, chain in) {
  if (in == ALONE || !n) return each(stream, n, k);
  if (in == CHAINED) return start<chained_kernel<K>>((n + 255u) / 256u, 256, 0, stream, k, n);
  static const cudaError_t ready = prepare<chained_kernel<K>>();
  if (ready != cudaSuccess) return ready;
  chained_kernel<K><<<(n + 255u) / 256u, 256, 0, stream>>>(k, n);
  return cudaGetLastError();
}
} // namespace OZ_NAMESPACE

#endif
#endif
