/* Devices of the machine, their limits, and the backend on one of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda/gpu.h"

namespace OZ_NAMESPACE {

static long number_of(const char *name, long otherwise) {
  const char *text = getenv(name);
  char *end = nullptr;
  if (!text || !*text) return otherwise;
  long v = strtol(text, &end, 10);
  return *end ? otherwise : v;
}

static ooze_result begin(gpu *g, ooze_message *why) {
#if !defined(OZ_CUDA_HOST)
  /* a greater number is a lower priority; wall kernels are short, and others wait for them */
  int least = 0, most = 0;
  OZ_CUDA(cudaDeviceGetStreamPriorityRange(&least, &most), "making a stream");
  OZ_CUDA(cudaStreamCreateWithPriority(&g->stream, cudaStreamNonBlocking, least),
          "making a stream");
  OZ_CUDA(cudaStreamCreateWithPriority(&g->streams.lists, cudaStreamNonBlocking, least),
          "making a stream");
  OZ_CUDA(cudaStreamCreateWithPriority(&g->streams.walls, cudaStreamNonBlocking,
                                       most < least ? least - 1 : least),
          "making a stream");
  void **events[] = {&g->streams.lists_done, &g->streams.walls_done, &g->streams.predicted,
                     &g->streams.finished};
  for (void **slot : events) {
    cudaEvent_t e = nullptr;
    OZ_CUDA(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "making an event");
    *slot = e;
  }
  cudaEvent_t e[2] = {nullptr, nullptr};
  for (int k = 0; k < 2; k++) {
    OZ_CUDA(cudaEventCreate(&e[k]), "making an event");
    g->profile.event[k] = e[k];
  }
#endif
  void *host = nullptr;
  OZ_CUDA(cudaMallocHost(&host, sizeof(device_status) + 4), "host memory");
  memset(host, 0, sizeof(device_status) + 4);
  g->mailbox.host = static_cast<device_status *>(host);
  OZ_CUDA(cudaMallocHost(&g->staging.at, STAGING), "host memory");
  OZ_TRY(grow(g, &g->mailbox.device, sizeof(device_status), "results", why));
  OZ_TRY(grow(g, &g->sums.ticket, 256 + EXACT_BYTES, "results", why));
  return OOZE_OK;
}

/* ---- limits of a device ---- */

/* Particle counts at which one way becomes faster than another, found on an H200 and scaled by the
 * number of multiprocessors: each is a number of waves. */
enum {
  REFERENCE_MULTIPROCESSORS = 132,
  /* 16 threads a particle are faster up to 2,200, 4 from 4,900 on */
  FEW = 3500,
  /* the host's latency is hidden up to here; a larger scene gains nothing, and a repeated substep
   * costs it more: 12 blocks a multiprocessor */
  DEFERRED_MAX = 200000,
  /* 8 threads a particle search up to 2.4 blocks a multiprocessor, 4 up to 24 */
  TEAM8_MAX = 40000,
  TEAM4_MAX = 400000,
  /* from one wave of blocks on, one thread with prefetch hides the latency; below, two are done
   * sooner with the densest places */
  PREFETCH_MIN = 135000
};
static void scale_limits(device_info *d) {
  uint64_t have = d->multiprocessors;
  if (!have) have = REFERENCE_MULTIPROCESSORS;
  const auto scaled = [have](uint64_t particles) {
    return (uint32_t)(particles * have / REFERENCE_MULTIPROCESSORS);
  };
  d->few = scaled(FEW);
  d->deferred_max = scaled(DEFERRED_MAX);
  d->team8_max = scaled(TEAM8_MAX);
  d->team4_max = scaled(TEAM4_MAX);
  d->prefetch_min = scaled(PREFETCH_MIN);
}

#if !defined(OZ_CUDA_HOST)
/* Threads of one wave of gathers: a multiprocessor holds 12 to 13 blocks of 128 with the registers
 * that a gather takes. 1,600 a multiprocessor, found on an H200. */
enum { GATHER_THREADS = 1600 };
/* Shared memory of a block that is not for copies of neighbours, and bytes a neighbour at most: two
 * records of 16 bytes and a packed position of 8. */
enum { BLOCK_RESERVE = 8192, NEIGHBOUR_BYTES = 40 };

static void read_device(gpu *g) {
  cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, g->device.index) != cudaSuccess) {
    cudaGetLastError();
    return;
  }
  snprintf(g->device.text, sizeof g->device.text, "cuda %.64s", p.name);
  g->device.multiprocessors = (uint32_t)p.multiProcessorCount;
  g->device.shared_memory = (uint32_t)p.sharedMemPerMultiprocessor;
  g->device.threads = g->device.multiprocessors * GATHER_THREADS;
  const uint32_t fit = (uint32_t)(p.sharedMemPerBlockOptin - BLOCK_RESERVE) / NEIGHBOUR_BYTES;
  if (fit < g->lists.block_limit) g->lists.block_limit = fit;
}
#endif

} // namespace OZ_NAMESPACE

using namespace OZ_NAMESPACE;

#if !defined(OZ_CUDA_HOST)

/* Device memory for so many particles with some 34 neighbours each: arrays, lists (rows of a group
 * are as long as its longest; lists of blocks), sorting. Walls, colliders, links and optional
 * fields come on top. */
extern "C" uint64_t oz_cuda_bytes(uint64_t particles) {
  /* up to DEFERRED_MAX lists have spare room and are double-buffered with their positions
   * (streams.cu), and there is a table of moved cells */
  const uint64_t lists = particles > DEFERRED_MAX
                             ? 44 * 2 + 5 * 4 + 2 * 4 + 2 * (2 + 1)
                             : 2 * (60 * 2 + 7 * 4 + 2 + 1) + 12 * 4 + 8 + 16 + 72,
                 sorting = 2 * 8 + 2 * 4 + 4 + 14;
  return particles * (words_per_particle() * 4 + lists + sorting) + (16u << 20);
}

/* The number of devices, or 0 with the reason. A missing driver, an old one or a missing card is an
 * ordinary answer. */
extern "C" uint32_t oz_cuda_devices(const char **why) {
  int count = 0;
  cudaError_t e = cudaGetDeviceCount(&count);
  if (e != cudaSuccess) {
    cudaGetLastError();
    if (why) *why = cudaGetErrorString(e);
    return 0;
  }
  if (count == 0 && why) *why = "no CUDA device";
  return (uint32_t)count;
}

/* Name, compute capability and memory of a device as one line. */
extern "C" int oz_cuda_device_text(uint32_t device, char *text, size_t capacity) {
  cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, (int)device) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  snprintf(text, capacity, "%.64s, compute %d.%d, %.1f GiB", p.name, p.major, p.minor,
           (double)p.totalGlobalMem / 1073741824.0);
  return 1;
}

/* Whether there is a device. detail: the devices, or the reason for their absence; it stays valid.
 */
extern "C" int oz_cuda_usable(const char **detail) {
  struct device_list {
    uint32_t count;
    char text[240];
    device_list() : count(0), text() {
      const char *why = "";
      count = oz_cuda_devices(&why);
      if (!count) snprintf(text, sizeof text, "%s", why);
      size_t at = 0;
      for (uint32_t k = 0; k < count && at < sizeof text; k++) {
        char one[100] = "";
        oz_cuda_device_text(k, one, sizeof one);
        int wrote = snprintf(text + at, sizeof text - at, "%sdevice %u: %s", k ? "; " : "", k, one);
        at += wrote > 0 ? (size_t)wrote : 0;
      }
    }
  };
  static const device_list list; /* initialised once, thread-safe */
  *detail = list.text;
  return list.count != 0;
}
#endif

extern "C" ooze_result OZ_CUDA_CREATE(const oz_backend_desc *desc, oz_backend **out,
                                      ooze_message *why) {
  oz_memory *memory = const_cast<oz_memory *>(desc->memory);
  *out = nullptr;
  long device = desc->device;
#if !defined(OZ_CUDA_HOST)
  const char *reason = "";
  const uint32_t devices = oz_cuda_devices(&reason);
  if (!devices) return oz_fail(why, OOZE_ERROR_UNSUPPORTED, "cuda: %s", reason);
  if (device < 0) device = number_of("OOZE_DEVICE", 0);
  if (device < 0 || device >= (long)devices)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "cuda: device %ld; there are %u, from 0", device,
                   devices);
#endif
  uint32_t disabled = 0;
  OZ_TRY(read_debug_disable(&disabled, why));
  gpu *g = static_cast<gpu *>(oz_alloc(memory, sizeof *g));
  if (!g)
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the CUDA backend: %zu bytes were refused",
                   sizeof *g);
  g->base.table = &gpu_table;
  g->memory = memory;
  g->device.index = (int)device;
  g->device.threads = 1u << 30;
  g->disabled = disabled;
  g->graphs.enabled = !(disabled & DISABLE_GRAPHS);
  g->profile.on = number_of("OOZE_PROFILE", 0) != 0;
  /* for tests: threads a particle, neighbours of a block in shared memory, MiB of device memory */
  g->lanes_override = (int)number_of("OOZE_CUDA_LANES", 0);
  if (g->lanes_override < 1 || g->lanes_override > 16 ||
      (g->lanes_override & (g->lanes_override - 1)))
    g->lanes_override = 0;
  g->lists.block_limit = (uint32_t)number_of("OOZE_CUDA_SHARE", BLOCK_MAX_NEIGHBOURS);
  if (g->lists.block_limit > BLOCK_MAX_NEIGHBOURS) g->lists.block_limit = BLOCK_MAX_NEIGHBOURS;
  g->memory_limit = (uint64_t)number_of("OOZE_CUDA_MEMORY", 0) << 20;
#if defined(OZ_CUDA_HOST)
  snprintf(g->device.text, sizeof g->device.text, "cuda kernels as loops");
#else
  read_device(g);
  g->graphs.entry = new_graph_cache(memory);
  if (!g->graphs.entry) {
    oz_free(memory, g);
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the CUDA backend");
  }
#endif
  scale_limits(&g->device);
  ooze_result r;
  {
    on_device here(g);
    r = begin(g, why);
  }
  if (r < 0) {
    gpu_table.destroy(&g->base);
    return r;
  }
  *out = &g->base;
  return OOZE_OK;
}

/* For tests: copies between the host and any pointer of the frame. */
#if defined(OZ_CUDA_HOST)
extern "C" int oz_cuda_host_copy(oz_backend *b, void *to, const void *from, size_t bytes) {
  if (flush(GPU(b), nullptr) < 0) return 0;
  memcpy(to, from, bytes);
  return 1;
}
#else
extern "C" int oz_cuda_copy(oz_backend *b, void *to, const void *from, size_t bytes) {
  gpu *g = GPU(b);
  on_device here(g);
  if (flush(g, nullptr) < 0 ||
      cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, g->stream) != cudaSuccess)
    return 0;
  return cudaStreamSynchronize(g->stream) == cudaSuccess;
}
#endif
