/* CUDA under nvcc; with OZ_CUDA_HOST plain C++ on one thread, so that the same kernels and host
 * code run, and are tested, without a GPU. SPDX-License-Identifier: Apache-2.0 */
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

#define OZ_D inline /* for member functions and templates that run on the device */
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
inline void oz_fence() {} /* orders earlier writes before later ones */

namespace OZ_NAMESPACE {
template <class K> inline cudaError_t for_each(cudaStream_t, uint32_t n, const K &k) {
  for (uint32_t i = 0; i < n; i++) k(i);
  return cudaSuccess;
}
enum chain { ALONE, CHAIN_FIRST, CHAINED };
template <class K> inline cudaError_t for_each(cudaStream_t stream, uint32_t n, const K &k, chain) {
  return for_each(stream, n, k);
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
/* shim.cu: whether dependent launches are used (compute capability 9) */
bool dependent_launch_enabled();
/* Programmatic dependent launch: a kernel may start while the one before it still runs, which hides
 * the launch latency. The trigger lets the dependent kernel start; the wait blocks until the kernel
 * before is done and its writes are visible. */
__device__ __forceinline__ void launch_dependency_trigger() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}
__device__ __forceinline__ void launch_dependency_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
/* Before reads that need no wait, because the kernel that triggered had waited for their writer: no
 * stale line is in the first-level cache afterwards. */
__device__ __forceinline__ void acquire_fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
/* Into the first-level cache. */
__device__ __forceinline__ void prefetch(const void *p) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
}
/* Prefetches a table that all threads of a block read, and that the host wrote before any kernel in
 * flight: it may precede the wait. */
__device__ __forceinline__ void prefetch_table(const void *p, size_t bytes) {
  const size_t at = 32u * threadIdx.x;
  if (at < bytes) prefetch(static_cast<const char *>(p) + at);
}
__device__ __forceinline__ void launch_dependency_trigger_and_wait() {
  launch_dependency_trigger();
  launch_dependency_wait();
}
/* A dependent launch: the kernel has a launch dependency wait. */
template <class... P>
inline cudaError_t start_kernel(void (*kernel)(P...), uint32_t blocks, uint32_t threads,
                                size_t memory, cudaStream_t stream, const P &...args) {
  cudaLaunchConfig_t c = {};
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  c.gridDim = dim3(blocks), c.blockDim = dim3(threads), c.stream = stream,
  c.dynamicSmemBytes = memory;
  c.attrs = &early, c.numAttrs = dependent_launch_enabled() ? 1 : 0;
  return cudaLaunchKernelEx(&c, kernel, args...);
}
/* Every kernel asks for the same carve-out of the first-level cache, as much shared memory as
 * possible: a multiprocessor that changes it waits until it is empty. */
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
/* These kernels and searches are ordinary launches, without a trigger: gathers read lists before
 * their wait (gather.h). The search of moved cells is the exception: its dependent kernel reads the
 * rows after its wait. */
template <class K>
__global__ void __launch_bounds__(256) for_each_kernel(const __grid_constant__ K k, uint32_t n) {
  const uint32_t i = blockIdx.x * 256u + threadIdx.x;
  if (i < n) k(i);
}
/* Runs k(i) for every i below n. */
template <class K> inline cudaError_t for_each(cudaStream_t stream, uint32_t n, const K &k) {
  if (n) for_each_kernel<K><<<(n + 255u) / 256u, 256, 0, stream>>>(k, n);
  return cudaGetLastError();
}
/* The same in a chain of such kernels on a stream of their own: dependent launches, each of which
 * waits for the one before. */
enum chain { ALONE, CHAIN_FIRST, CHAINED };
template <class K>
__global__ void __launch_bounds__(256) chained_kernel(const __grid_constant__ K k, uint32_t n) {
  const uint32_t i = blockIdx.x * 256u + threadIdx.x;
  launch_dependency_trigger_and_wait();
  if (i < n) k(i);
}
template <class K>
inline cudaError_t for_each(cudaStream_t stream, uint32_t n, const K &k, chain in) {
  if (in == ALONE || !n) return for_each(stream, n, k);
  if (in == CHAINED) return start<chained_kernel<K>>((n + 255u) / 256u, 256, 0, stream, k, n);
  static const cudaError_t ready = prepare<chained_kernel<K>>();
  if (ready != cudaSuccess) return ready;
  chained_kernel<K><<<(n + 255u) / 256u, 256, 0, stream>>>(k, n);
  return cudaGetLastError();
}
} // namespace OZ_NAMESPACE

#endif
#endif
