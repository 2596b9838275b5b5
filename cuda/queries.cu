/* Questions about all particles after a substep, answered on the device without a download: loads
 * on the walls, the greatest speed, columns, statistics, extremes, particles within a box.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda/mailbox.h"

#include "physics/lanes.h"

#include "physics/columns.h"
#include "physics/extremes.h"
#include "physics/wall.h"

#include <cmath>

namespace OZ_NAMESPACE {
namespace {

enum { CHUNKS = 64 };

/* Impulse (kg m/s) on collider c, and its moment about the collider's position, from chunk `part`
 * of the contacts: as oz_colliders_collect (core/colliders.c), summed in a fixed order. */
struct load_item {
  oz_frame f;
  const uint32_t *slots;
  double *part; /* (collider, chunk, 6) */
  OZ_D void add(uint32_t c, uint32_t slot, double *sum) const {
    for (uint32_t k = 0; k < f.wall_planes[slot]; k++) {
      const uint32_t plane = slot * f.contact_planes + k;
      if (f.wall[plane].collider == c) give(c, slot, f.wall_impulse + 3 * (size_t)plane, sum);
    }
    for (uint32_t k = 0; f.load && k < f.load[slot].count; k++)
      if (f.load[slot].handle[k] == f.collider[c].handle) give(c, slot, f.load[slot].sum[k], sum);
  }
  OZ_D void give(uint32_t c, uint32_t slot, const float *j, double *sum) const {
    const float *x = f.x + 4 * (size_t)f.wall_particle[slot], *at = f.collider[c].p1;
    if (!(fabsf(j[0]) + fabsf(j[1]) + fabsf(j[2]) < 1e30f))
      return; /* contained particles have NaN */
    const double r[3] = {(double)x[0] - (double)at[0], (double)x[1] - (double)at[1],
                         (double)x[2] - (double)at[2]};
    const double g[3] = {(double)j[0], (double)j[1], (double)j[2]};
    const double turn[3] = {r[1] * g[2] - r[2] * g[1], r[2] * g[0] - r[0] * g[2],
                            r[0] * g[1] - r[1] * g[0]};
    if (!(fabs(turn[0]) + fabs(turn[1]) + fabs(turn[2]) < 1e30)) return;
    for (int k = 0; k < 3; k++) sum[k] += g[k], sum[3 + k] += turn[k];
  }
  OZ_D void range(uint32_t chunk, uint32_t *first, uint32_t *end) const {
    const uint32_t all = *slots, each = (all + CHUNKS - 1) / CHUNKS;
    *first = chunk * each < all ? chunk * each : all;
    *end = *first + each < all ? *first + each : all;
  }
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t i) const {
    double sum[6] = {0};
    uint32_t first, end;
    range(i % CHUNKS, &first, &end);
    for (uint32_t k = first; k < end; k++) add(i / CHUNKS, k, sum);
    for (int k = 0; k < 6; k++) part[6 * (size_t)i + k] += sum[k];
  }
#endif
};
#if defined(OZ_CUDA_HOST)
cudaError_t load_all(const load_item &l, uint32_t colliders, cudaStream_t stream) {
  return for_each(stream, colliders * CHUNKS, l);
}
#else
__global__ void __launch_bounds__(128) load_kernel(const __grid_constant__ load_item l) {
  __shared__ double part[6][4];
  double sum[6] = {0};
  uint32_t first, end;
  l.range(blockIdx.x % CHUNKS, &first, &end);
  for (uint32_t k = first + threadIdx.x; k < end; k += 128) l.add(blockIdx.x / CHUNKS, k, sum);
  for (int k = 0; k < 6; k++) {
    for (int d = 16; d; d >>= 1) sum[k] += __shfl_xor_sync(0xffffffffu, sum[k], d);
    if (threadIdx.x % 32 == 0) part[k][threadIdx.x / 32] = sum[k];
  }
  __syncthreads();
  if (threadIdx.x < 6)
    l.part[6 * (size_t)blockIdx.x + threadIdx.x] +=
        part[threadIdx.x][0] + part[threadIdx.x][1] + part[threadIdx.x][2] + part[threadIdx.x][3];
}
cudaError_t load_all(const load_item &l, uint32_t colliders, cudaStream_t stream) {
  load_kernel<<<colliders * CHUNKS, 128, 0, stream>>>(l);
  return cudaGetLastError();
}
#endif

struct column_item {
  oz_frame f;
  oz_columns columns;
  uint32_t *table;
  unsigned long long *sum;
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t i) const {
    if (!oz_columns_count(&f, &columns, i)) return;
    uint64_t mine[OZ_COLUMN_SUMS] = {0};
    oz_columns_add(&f, &columns, i, table[oz_column_of(&f, &columns, i)]++, mine);
    for (int k = 0; k < OZ_COLUMN_SUMS; k++) sum[k] += mine[k];
  }
#endif
};
#if defined(OZ_CUDA_HOST)
cudaError_t columns_all(const gpu *, const column_item &c, uint32_t n, cudaStream_t stream) {
  return for_each(stream, n, c);
}
#else
__global__ void __launch_bounds__(256)
    column_kernel(const __grid_constant__ column_item c, uint32_t n) {
  uint64_t sum[OZ_COLUMN_SUMS] = {0};
  for (uint32_t i = blockIdx.x * 256u + threadIdx.x; i < n; i += gridDim.x * 256u) {
    if (!oz_columns_count(&c.f, &c.columns, i)) continue;
    const uint32_t above = atomicAdd(c.table + oz_column_of(&c.f, &c.columns, i), 1u);
    oz_columns_add(&c.f, &c.columns, i, above, sum);
  }
  for (int k = 0; k < OZ_COLUMN_SUMS; k++) {
    unsigned long long all = sum[k];
    for (int d = 16; d; d >>= 1) all += __shfl_xor_sync(0xffffffffu, all, d);
    if (threadIdx.x % 32 == 0 && all) atomicAdd(c.sum + k, all);
  }
}
cudaError_t columns_all(const gpu *g, const column_item &c, uint32_t n, cudaStream_t stream) {
  const uint32_t blocks = one_wave(g, (n + 1023u) / 1024u);
  column_kernel<<<blocks, 256, 0, stream>>>(c, n);
  return cudaGetLastError();
}
#endif

struct speed_item {
  const float *u;
  const uint32_t *owner; /* boundary particles do not count; or NULL */
  uint32_t *fastest;     /* bits of a float that is not negative are ordered as integers */
  OZ_D float of(uint32_t i) const {
    const float *v = u + 4 * (size_t)i, s = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    /* NaN counts as 0 */
    return s > 0.0f && !(owner && owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY) ? s : 0.0f;
  }
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t i) const {
    const uint32_t s = oz_bits_of(of(i));
    if (s > *fastest) *fastest = s;
  }
#endif
};
#if defined(OZ_CUDA_HOST)
ooze_result post_speed(gpu *g, const speed_item &s, ooze_message *why) {
  *s.fastest = 0;
  for_each(g->stream, g->count, s);
  return post_status(g, why);
}
#else
/* The last block posts the status, and clears what this kernel counts in. */
__global__ void __launch_bounds__(256)
    speed_kernel(const __grid_constant__ speed_item s, uint32_t n, uint32_t *tally,
                 const __grid_constant__ status_post post) {
  __shared__ bool last;
  float most = 0.0f;
  launch_dependency_trigger_and_wait();
  for (uint32_t i = blockIdx.x * 256u + threadIdx.x; i < n; i += gridDim.x * 256u)
    most = fmaxf(most, s.of(i));
  for (int d = 16; d; d >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  if (threadIdx.x % 32 == 0) {
    atomicMax(s.fastest, __float_as_uint(most));
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(tally, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last || threadIdx.x >= 32) return;
  __threadfence();
  post_status(post);
  __syncwarp();
  if (threadIdx.x == 0) *s.fastest = 0, *tally = 0;
}
ooze_result post_speed(gpu *g, const speed_item &s, ooze_message *why) {
  enum { TALLY = 48 }; /* place among the tickets of stages (stage_launch.cu) */
  /* the status has results of both side streams */
  if (g->streams.unjoined & (UNJOINED_CONTACTS | UNJOINED_LISTS)) OZ_TRY(join_streams(g, why));
  if (g->mailbox.post == POST_DEFERRED) g->mailbox.post = POST_NONE;
  OZ_CUDA(start<speed_kernel>(one_wave(g, (g->count + 1023u) / 1024u), 256u, 0, g->stream, s,
                              g->count, as<uint32_t>(g->sums.ticket) + TALLY, next_post(g)),
          "the greatest speed");
  return OOZE_OK;
}
#endif

/* Sums of statistics; MOST_ and behind: maxima. */
enum statistics_sum {
  SUM_ENERGY,
  SUM_MOMENTUM,
  SUM_NEIGHBOURS = SUM_MOMENTUM + 3,
  SUM_COMPRESSION,
  SUM_INNER,
  MOST_SPEED2,
  MOST_COMPRESSION,
  STATISTICS_SUMS
};
struct statistics_item {
  oz_frame f;
  float volume;
  uint32_t results, inner;
  OZ_D static void clear(double *sum) {
    for (int k = 0; k < STATISTICS_SUMS; k++) sum[k] = k == MOST_COMPRESSION ? -1.0 : 0.0;
  }
  OZ_D static double together(int k, double a, double b) {
    return k < MOST_SPEED2 ? a + b : a > b ? a : b;
  }
  OZ_D void add(uint32_t i, double *sum) const {
    const float *u = f.u + 4 * (size_t)i, density = oz_density(&f, i);
    const bool boundary = f.owner && f.owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY;
    if (density > 0.0f && !boundary) {
      const double mass = (double)density * (double)volume;
      const double v[3] = {(double)u[0], (double)u[1], (double)u[2]},
                   speed2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
      sum[SUM_ENERGY] += 0.5 * mass * speed2;
      for (int k = 0; k < 3; k++) sum[SUM_MOMENTUM + k] += mass * v[k];
      sum[MOST_SPEED2] = together(MOST_SPEED2, speed2, sum[MOST_SPEED2]);
    }
    if (i >= results) return;
    const double compression = (double)f.rho[i] - 1.0;
    sum[SUM_NEIGHBOURS] += (double)f.neighbours[i];
    sum[MOST_COMPRESSION] = together(MOST_COMPRESSION, compression, sum[MOST_COMPRESSION]);
    if (f.neighbours[i] < inner) return;
    sum[SUM_COMPRESSION] += compression;
    sum[SUM_INNER] += 1.0;
  }
};
#if defined(OZ_CUDA_HOST)
uint32_t statistics_blocks(const gpu *) { return 1; }
cudaError_t sum_all(const statistics_item &s, uint32_t n, uint32_t, double *part, cudaStream_t) {
  statistics_item::clear(part);
  for (uint32_t i = 0; i < n; i++) s.add(i, part);
  return cudaSuccess;
}
#else
__global__ void __launch_bounds__(256)
    statistics_kernel(const __grid_constant__ statistics_item s, uint32_t n, double *part) {
  __shared__ double warp[8][STATISTICS_SUMS];
  double sum[STATISTICS_SUMS];
  statistics_item::clear(sum);
  for (uint32_t i = blockIdx.x * 256u + threadIdx.x; i < n; i += gridDim.x * 256u) s.add(i, sum);
  for (int k = 0; k < STATISTICS_SUMS; k++) {
    for (int d = 16; d; d >>= 1)
      sum[k] = statistics_item::together(k, sum[k], __shfl_xor_sync(0xffffffffu, sum[k], d));
    if (threadIdx.x % 32 == 0) warp[threadIdx.x / 32][k] = sum[k];
  }
  __syncthreads();
  if (threadIdx.x >= STATISTICS_SUMS) return;
  const int k = (int)threadIdx.x;
  double all = warp[0][k];
  for (int w = 1; w < 8; w++) all = statistics_item::together(k, all, warp[w][k]);
  part[blockIdx.x * STATISTICS_SUMS + threadIdx.x] = all;
}
uint32_t statistics_blocks(const gpu *g) { return one_wave(g, (g->count + 1023u) / 1024u); }
cudaError_t sum_all(const statistics_item &s, uint32_t n, uint32_t blocks, double *part,
                    cudaStream_t stream) {
  statistics_kernel<<<blocks, 256, 0, stream>>>(s, n, part);
  return cudaGetLastError();
}
#endif

struct extremes_item {
  oz_frame f;
  uint32_t materials; /* boundary particles have none of them */
  oz_extreme_bits *table;
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t i) const {
    if (f.material[i] < materials) oz_extremes_add(&f, i, table + f.material[i]);
  }
#endif
};
#if defined(OZ_CUDA_HOST)
cudaError_t collect_extremes(const gpu *, const extremes_item &e, uint32_t n, cudaStream_t stream) {
  return for_each(stream, n, e);
}
#else
/* The table only grows, so that a stale value costs an atomic and no more. */
OZ_D void keep_extremes(oz_extreme_bits *to, const oz_extreme_bits &e) {
  for (int v = 0; v < OZ_EXTREMES; v++)
    if (e.value[v] > to->value[v]) atomicMax(&to->value[v], e.value[v]);
  if (e.stiffness > to->stiffness)
    atomicMax(reinterpret_cast<unsigned long long *>(&to->stiffness),
              (unsigned long long)e.stiffness);
}
/* A thread has one material at a time; a warp of one material keeps its values once. */
__global__ void __launch_bounds__(256)
    extremes_kernel(const __grid_constant__ extremes_item e, uint32_t n) {
  const uint32_t none = e.materials;
  oz_extreme_bits mine = {};
  uint32_t of = none;
  for (uint32_t i = blockIdx.x * 256u + threadIdx.x; i < n; i += gridDim.x * 256u) {
    const uint32_t k = e.f.material[i];
    if (k >= e.materials) continue;
    if (k != of) {
      if (of != none) keep_extremes(e.table + of, mine);
      mine = {}, of = k;
    }
    oz_extremes_add(&e.f, i, &mine);
  }
  const bool alike = __all_sync(0xffffffffu, of == __shfl_sync(0xffffffffu, of, 0));
  for (int d = 16; d && alike; d >>= 1) {
    for (int v = 0; v < OZ_EXTREMES; v++)
      oz_extremes_raise(&mine, v, __shfl_xor_sync(0xffffffffu, mine.value[v], d));
    const unsigned long long other =
        __shfl_xor_sync(0xffffffffu, (unsigned long long)mine.stiffness, d);
    if (other > mine.stiffness) mine.stiffness = other;
  }
  if (of != none && (!alike || threadIdx.x % 32 == 0)) keep_extremes(e.table + of, mine);
}
cudaError_t collect_extremes(const gpu *g, const extremes_item &e, uint32_t n,
                             cudaStream_t stream) {
  extremes_kernel<<<one_wave(g, (n + 1023u) / 1024u), 256, 0, stream>>>(e, n);
  return cudaGetLastError();
}
#endif

struct within_item {
  oz_frame f;
  oz_within which;
  uint32_t *count;
  float *to;
  OZ_D void operator()(uint32_t i) const {
    const float *x = f.x + 4 * (size_t)i;
    for (int k = 0; k < 3; k++)
      if (!(x[k] >= which.low[k] && x[k] <= which.high[k])) return;
    if (f.rank[i] >= which.visible) return;
    const uint32_t at = oz_atomic_add(count, 1u);
    for (int k = 0; k < 3 && at < which.room; k++) to[3 * (size_t)at + k] = x[k];
  }
};

} // namespace

/* One kernel with the room that there is, which is that of the last time most of the time. */
ooze_result within(oz_backend *b, const oz_within *which, float *out, uint32_t *out_count,
                   ooze_message *why) {
  enum { AHEAD = 16, LEAST = 1 << 14 }; /* bytes before the positions; particles */
  gpu *g = GPU(b);
  on_device here(g);
  *out_count = 0;
  if (!g->count) return OOZE_OK;
  OZ_TRY(flush(g, why));
  within_item item;
  b->table->frame(b, &item.f);
  item.which = *which;
  for (uint32_t wanted = LEAST, found = 0;; wanted = found) {
    OZ_TRY(grow(g, &g->sums.answers, AHEAD + (size_t)wanted * 12, "particles within a box", why,
                true));
    const size_t room = (g->sums.answers.bytes - AHEAD) / 12;
    item.which.room = (uint32_t)(room < which->room ? room : which->room);
    item.count = as<uint32_t>(g->sums.answers);
    item.to = as<float>(g->sums.answers) + AHEAD / 4;
    OZ_CUDA(cudaMemsetAsync(item.count, 0, AHEAD, g->stream), "particles within a box");
    OZ_CUDA(for_each(g->stream, g->count, item), "particles within a box");
    OZ_CUDA(cudaMemcpyAsync(&found, item.count, 4, cudaMemcpyDeviceToHost, g->stream),
            "particles within a box");
    OZ_CUDA(cudaStreamSynchronize(g->stream), "particles within a box");
    *out_count = found;
    if (found > which->room) found = which->room;
    if (found <= item.which.room) break;
  }
  g->staging.used = 0;
  const uint32_t n = *out_count < which->room ? *out_count : which->room;
  if (!n) return OOZE_OK;
  OZ_CUDA(cudaMemcpyAsync(out, item.to, (size_t)n * 12, cudaMemcpyDeviceToHost, g->stream),
          "particles within a box");
  OZ_CUDA(cudaStreamSynchronize(g->stream), "particles within a box");
  return OOZE_OK;
}

/* The worst values of each material's particles come down. */
ooze_result extremes(oz_backend *b, uint32_t materials, oz_extreme_bits *out, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  const size_t bytes = materials * sizeof *out;
  memset(out, 0, bytes);
  if (!g->count || !materials) return OOZE_OK;
  OZ_TRY(flush(g, why));
  OZ_TRY(grow(g, &g->sums.answers, bytes, "extremes", why, true));
  extremes_item item;
  b->table->frame(b, &item.f);
  item.materials = materials;
  item.table = as<oz_extreme_bits>(g->sums.answers);
  OZ_CUDA(cudaMemsetAsync(item.table, 0, bytes, g->stream), "extremes");
  OZ_CUDA(collect_extremes(g, item, g->count, g->stream), "extremes");
  OZ_CUDA(cudaMemcpyAsync(out, item.table, bytes, cudaMemcpyDeviceToHost, g->stream), "extremes");
  OZ_CUDA(cudaStreamSynchronize(g->stream), "extremes");
  g->staging.used = 0;
  return OOZE_OK;
}

/* Blocks' sums come down, and are added up here in their order. */
ooze_result statistics(oz_backend *b, float volume, uint32_t results, uint32_t inner, oz_sums *out,
                       ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  memset(out, 0, sizeof *out);
  out->most_compression = -1.0;
  if (!g->count) return OOZE_OK;
  OZ_TRY(flush(g, why));
  const uint32_t blocks = statistics_blocks(g);
  const size_t words = (size_t)blocks * STATISTICS_SUMS;
  double *part = static_cast<double *>(oz_alloc(g->memory, words * sizeof *part));
  if (!part) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for statistics");
  statistics_item item;
  b->table->frame(b, &item.f);
  item.volume = volume, item.results = results, item.inner = inner;
  /* the partial sums of stages are dead between substeps; there is room for 65,536 more */
  double *device = as<double>(g->sums.partial);
  cudaError_t e = sum_all(item, g->count, blocks, device, g->stream);
  if (e == cudaSuccess)
    e = cudaMemcpyAsync(part, device, words * sizeof *part, cudaMemcpyDeviceToHost, g->stream);
  if (e == cudaSuccess) e = cudaStreamSynchronize(g->stream);
  for (uint32_t k = STATISTICS_SUMS; e == cudaSuccess && k < words; k++) {
    const uint32_t s = k % STATISTICS_SUMS;
    const double v = part[k];
    if (s < MOST_SPEED2)
      part[s] += v;
    else if (v > part[s])
      part[s] = v;
  }
  if (e == cudaSuccess) {
    out->energy = part[SUM_ENERGY];
    for (int k = 0; k < 3; k++) out->momentum[k] = part[SUM_MOMENTUM + k];
    out->neighbours = part[SUM_NEIGHBOURS];
    out->compression = part[SUM_COMPRESSION];
    out->inner = (uint32_t)part[SUM_INNER];
    out->speed2 = part[MOST_SPEED2];
    out->most_compression = part[MOST_COMPRESSION];
  }
  oz_free(g->memory, part);
  return e == cudaSuccess ? OOZE_OK : fail_cuda(g, e, "statistics", why);
}

/* The greatest speed, m/s. */
ooze_result fastest(oz_backend *b, double *out, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  *out = 0.0;
  if (!g->count) return OOZE_OK;
  OZ_TRY(flush(g, why));
  const speed_item item = {g->arrays.u, g->arrays.owner, &status_on_device(g)->fastest};
  OZ_TRY(post_speed(g, item, why));
  OZ_TRY(await_status(g, why));
  g->staging.used = 0;
  float speed2;
  memcpy(&speed2, &g->mailbox.host->fastest, sizeof speed2);
  *out = sqrt((double)speed2);
  return OOZE_OK;
}

ooze_result column_sums(oz_backend *b, const oz_columns *columns, uint64_t *out,
                        ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  memset(out, 0, OZ_COLUMN_SUMS * sizeof *out);
  if (!g->count) return OOZE_OK;
  OZ_TRY(flush(g, why));
  column_item item;
  b->table->frame(b, &item.f);
  item.columns = *columns;
  /* the partial sums of stages are dead between substeps; there is room for 65,536 more */
  item.table = as<uint32_t>(g->sums.partial);
  item.sum = status_on_device(g)->columns;
  OZ_CUDA(cudaMemsetAsync(item.table, 0, OZ_COLUMNS * sizeof *item.table, g->stream), "columns");
  OZ_CUDA(cudaMemsetAsync(item.sum, 0, OZ_COLUMN_SUMS * sizeof *item.sum, g->stream), "columns");
  OZ_CUDA(columns_all(g, item, g->count, g->stream), "columns");
  OZ_TRY(fetch_status(g, why));
  for (int k = 0; k < OZ_COLUMN_SUMS; k++) out[k] = g->mailbox.host->columns[k];
  return OOZE_OK;
}

/* Without `out`: adds the loads of the last substep, on the device. With it: downloads the sums and
 * starts again at zero. */
ooze_result wall_loads(oz_backend *b, double *out, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  const size_t bytes = (size_t)g->scene.collider_count * CHUNKS * 6 * sizeof(double);
  if (!out) {
    if (!g->walls.count || !g->scene.collider_count) return OOZE_OK;
    OZ_TRY(flush(g, why));
    if (!g->walls.has_loads || g->walls.loads.bytes < bytes) {
      OZ_TRY(grow(g, &g->walls.loads, bytes, "loads", why));
      OZ_CUDA(cudaMemsetAsync(g->walls.loads.at, 0, bytes, g->stream), "loads");
    }
    g->walls.has_loads = true;
    load_item item;
    b->table->frame(b, &item.f);
    item.slots = &status_on_device(g)->walls;
    item.part = static_cast<double *>(g->walls.loads.at);
    OZ_CUDA(load_all(item, g->scene.collider_count, g->stream), "loads");
    return OOZE_OK;
  }
  memset(out, 0, (size_t)g->scene.collider_count * 6 * sizeof *out);
  if (!g->walls.has_loads) return OOZE_OK;
  g->walls.has_loads = false;
  if (bytes > g->walls.host_loads_bytes) {
    void *fresh = nullptr;
    if (cudaMallocHost(&fresh, bytes) != cudaSuccess)
      return fail_cuda(g, cudaErrorMemoryAllocation, "loads", why);
    if (g->walls.host_loads) cudaFreeHost(g->walls.host_loads);
    g->walls.host_loads = static_cast<double *>(fresh);
    g->walls.host_loads_bytes = bytes;
  }
  OZ_CUDA(cudaMemcpyAsync(g->walls.host_loads, g->walls.loads.at, bytes, cudaMemcpyDeviceToHost,
                          g->stream),
          "loads");
  OZ_CUDA(cudaStreamSynchronize(g->stream), "loads");
  for (uint32_t c = 0; c < g->scene.collider_count; c++)
    for (int part = 0; part < CHUNKS; part++)
      for (int k = 0; k < 6; k++)
        out[6 * c + (uint32_t)k] +=
            g->walls.host_loads[6 * ((size_t)c * CHUNKS + (size_t)part) + (size_t)k];
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
