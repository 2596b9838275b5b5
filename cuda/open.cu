/* Which devices there are, what a scene needs of one, and how the backend is opened on it. */
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
  /* priorities: greater is less. What is done for walls is little, and waited for */
  int least = 0, most = 0;
  OZ_CUDA(cudaDeviceGetStreamPriorityRange(&least, &most), "making a stream");
  OZ_CUDA(cudaStreamCreateWithPriority(&g->stream, cudaStreamNonBlocking, least),
          "making a stream");
  OZ_CUDA(cudaStreamCreateWithPriority(&g->side, cudaStreamNonBlocking, least), "making a stream");
  OZ_CUDA(cudaStreamCreateWithPriority(&g->wall_side, cudaStreamNonBlocking,
                                       most < least ? least - 1 : least),
          "making a stream");
  void **beside[] = {&g->side_done, &g->walls_done, &g->moved, &g->ended};
  for (void **slot : beside) {
    cudaEvent_t e = nullptr;
    OZ_CUDA(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "making an event");
    *slot = e;
  }
  cudaEvent_t e[2] = {nullptr, nullptr};
  for (int k = 0; k < 2; k++) {
    OZ_CUDA(cudaEventCreate(&e[k]), "making an event");
    g->event[k] = e[k];
  }
#endif
  void *host = nullptr;
  OZ_CUDA(cudaMallocHost(&host, sizeof(news) + 4), "host memory");
  memset(host, 0, sizeof(news) + 4);
  g->host_news = static_cast<news *>(host);
  OZ_CUDA(cudaMallocHost(&g->staging, STAGING), "host memory");
  OZ_TRY(grow(g, &g->device_news, sizeof(news), "results", why));
  OZ_TRY(grow(g, &g->ticket, 256 + EXACT_BYTES, "results", why));
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE

using namespace OZ_NAMESPACE;

#if !defined(OZ_CUDA_HOST)

/* Device memory for so many particles with some 34 neighbours each: arrays, lists (rows of 32 are
 * as long as the longest; the list that their block shares), what sorting needs. Walls, colliders,
 * links and what is set of the optional fields come on top. */
extern "C" uint64_t oz_cuda_bytes(uint64_t particles) {
  /* up to LATE_MOST lists have more room, and are there twice with the places and positions that
   * they are made of (ahead.cu); and cells of what is stirred */
  const uint64_t lists = particles > LATE_MOST
                             ? 44 * 2 + 5 * 4 + 2 * 4 + 2 * (2 + 1)
                             : 2 * (60 * 2 + 7 * 4 + 2 + 1) + 12 * 4 + 8 + 16 + 72,
                 sorting = 2 * 8 + 2 * 4 + 4 + 14;
  return particles * (words_per_particle() * 4 + lists + sorting) + (16u << 20);
}

/* The number of devices, or 0 with the reason. No driver, an old one or no card is an ordinary
 * answer. */
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

/* Whether there is a device; detail tells which there are, or why there is none. */
extern "C" int oz_cuda_usable(const char **detail) {
  static char text[240];
  const char *why = "";
  const uint32_t n = oz_cuda_devices(&why);
  if (!n) {
    snprintf(text, sizeof text, "%s", why);
    *detail = text;
    return 0;
  }
  size_t at = 0;
  for (uint32_t k = 0; k < n && at < sizeof text; k++) {
    char one[100] = "";
    oz_cuda_device_text(k, one, sizeof one);
    int wrote = snprintf(text + at, sizeof text - at, "%sdevice %u: %s", k ? "; " : "", k, one);
    at += wrote > 0 ? (size_t)wrote : 0;
  }
  *detail = text;
  return 1;
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
  gpu *g = static_cast<gpu *>(oz_alloc(memory, sizeof *g));
  if (!g)
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the CUDA backend: %zu bytes were refused",
                   sizeof *g);
  g->base.table = &gpu_table;
  g->memory = memory;
  g->device = (int)device;
  g->use_graphs = number_of("OOZE_CUDA_GRAPHS", 1) != 0;
  g->profiling = number_of("OOZE_PROFILE", 0) != 0;
  g->no_table = number_of("OOZE_CUDA_TABLE", 1) == 0;
  g->no_join = number_of("OOZE_CUDA_JOIN", 1) == 0;
  g->no_both = number_of("OOZE_CUDA_BOTH", 1) == 0;
  g->no_left = number_of("OOZE_CUDA_LEFT", 1) == 0;
  g->no_beside = number_of("OOZE_CUDA_BESIDE", 1) == 0;
  g->no_soon = number_of("OOZE_CUDA_SOON", 1) == 0;
  g->no_ahead = number_of("OOZE_CUDA_AHEAD", 1) == 0;
  g->no_spread = number_of("OOZE_CUDA_SPREAD", 1) == 0;
  g->no_twice = number_of("OOZE_CUDA_TWICE", 1) == 0;
  g->no_late = number_of("OOZE_CUDA_LATE", 1) == 0;
  g->lanes_wish = (int)number_of("OOZE_CUDA_LANES", 0);
  if (g->lanes_wish < 1 || g->lanes_wish > 16 || (g->lanes_wish & (g->lanes_wish - 1)))
    g->lanes_wish = 0;
  g->threads = 1u << 30;
  /* fewer: for tests of blocks that have more */
  g->share_most = (uint32_t)number_of("OOZE_CUDA_SHARE", SHARE_MOST);
  if (g->share_most > SHARE_MOST) g->share_most = SHARE_MOST;
  /* MiB; for tests of running out */
  g->memory_limit = (uint64_t)number_of("OOZE_CUDA_MEMORY", 0) << 20;
#if defined(OZ_CUDA_HOST)
  snprintf(g->text, sizeof g->text, "cuda kernels as loops");
#else
  cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, g->device) == cudaSuccess) {
    snprintf(g->text, sizeof g->text, "cuda %.64s", p.name);
    g->processors = (uint32_t)p.multiProcessorCount;
    g->processor_memory = (uint32_t)p.sharedMemPerMultiprocessor;
    g->threads = g->processors * 1600u;
    /* two records of 16 bytes and a place */
    const uint32_t fit = (uint32_t)(p.sharedMemPerBlockOptin - 8192) / 40;
    if (fit < g->share_most) g->share_most = fit;
  } else
    cudaGetLastError();
  g->graphs = static_cast<graph_entry *>(oz_alloc(memory, GRAPHS * 32));
  if (!g->graphs) {
    oz_free(memory, g);
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the CUDA backend");
  }
#endif
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

/* For tests: bytes between the host and wherever the frame's pointers point. */
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
