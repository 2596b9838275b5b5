/* Particles along a space-filling curve, boundary particles behind all others. The order is a
 * function of (boundary, cell, id) alone, never of an older order, so that a stopped and resumed
 * run continues with the same bits. Boundary particles mostly rest: where they are in order
 * already, only the particles in front of them are sorted and moved.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cpu/cpu.h"

#include <math.h>

#include "physics/morton.h"

/* Cell coordinate along one axis; particles far away (or with a NaN) share the outermost cells. */
static uint64_t coordinate(float x, float inv) {
  float c = floorf(x * inv), limit = (float)(OZ_CELL_BIAS - 2);
  if (!(c > -limit)) c = -limit;
  if (c > limit) c = limit;
  return (uint64_t)((int32_t)c + OZ_CELL_BIAS);
}

typedef struct sort_job {
  oz_cpu *cpu;
  const float *at, *u;
  float dt, inv;
  uint32_t shift;
  const uint64_t *key;
  const uint32_t *order;
  uint64_t *key_to;
  uint32_t *order_to;
  uint32_t count; /* first particle to be sorted */
} sort_job;

static void key_chunk(void *arg, uint32_t chunk) {
  const sort_job *job = arg;
  OZ_CHUNK_RANGE(job->count);
  const uint32_t *owner = job->cpu->arrays.owner;
  for (uint32_t i = begin; i < end; i++) {
    float x[3];
    for (int c = 0; c < 3; c++)
      x[c] = job->at[4 * (size_t)i + (size_t)c] +
             (job->u ? job->dt * job->u[4 * (size_t)i + (size_t)c] : 0.0f);
    const uint64_t boundary =
        owner && owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY ? OZ_KEY_BOUNDARY : 0;
    job->cpu->key[i] = oz_spread(coordinate(x[0], job->inv)) |
                       oz_spread(coordinate(x[1], job->inv)) << 1 |
                       oz_spread(coordinate(x[2], job->inv)) << 2 | boundary;
    job->cpu->order[i] = i;
  }
}
static void count_chunk(void *arg, uint32_t chunk) {
  const sort_job *job = arg;
  OZ_CHUNK_RANGE(job->count);
  uint32_t *h = job->cpu->histogram + (size_t)chunk * 256;
  memset(h, 0, 256 * sizeof *h);
  for (uint32_t i = begin; i < end; i++) h[job->key[i] >> job->shift & 255]++;
}
static void scatter_chunk(void *arg, uint32_t chunk) {
  const sort_job *job = arg;
  OZ_CHUNK_RANGE(job->count);
  uint32_t *h = job->cpu->histogram + (size_t)chunk * 256;
  for (uint32_t i = begin; i < end; i++) {
    uint32_t to = h[job->key[i] >> job->shift & 255]++;
    job->key_to[to] = job->key[i];
    job->order_to[to] = job->order[i];
  }
}
/* Within a cell: ascending id. Cells hold about ten particles; one that starts in this chunk is
 * finished by it. */
static void ids_chunk(void *arg, uint32_t chunk) {
  const sort_job *job = arg;
  OZ_CHUNK_RANGE(job->count);
  const uint64_t *key = job->key, *id = job->cpu->arrays.id;
  uint32_t *order = job->order_to;
  uint32_t i = begin;
  while (i > 0 && i < end && key[i] == key[i - 1]) i++; /* belongs to the chunk before */
  while (i < end) {
    uint32_t stop = i + 1;
    while (stop < job->count && key[stop] == key[i]) stop++;
    /* shell sort: piled-up cells stay cheap */
    for (uint32_t gap = (stop - i) / 2; gap > 0; gap /= 2)
      for (uint32_t k = i + gap; k < stop; k++) {
        uint32_t v = order[k], m = k;
        for (; m >= i + gap && id[order[m - gap]] > id[v]; m -= gap) order[m] = order[m - gap];
        order[m] = v;
      }
    i = stop;
  }
}

/* Keys of resting boundary particles, from the previous sort. */
static uint32_t kept_keys(oz_cpu *cpu, const oz_frame *f, float cell) {
  const uint32_t kept = cpu->boundary_keys;
  if (!kept || !f->boundary_still || cpu->boundary_cell != cell) return 0;
  const uint32_t first = cpu->count - kept;
  memcpy(cpu->key + first, cpu->boundary_key, kept * sizeof *cpu->key);
  for (uint32_t i = first; i < cpu->count; i++) cpu->order[i] = i;
  return kept;
}
static void keep_keys(oz_cpu *cpu, const oz_frame *f, float cell) {
  const uint32_t kept = cpu->count - f->fluid;
  /* the keys of these particles */
  if (kept && kept == cpu->boundary_keys && f->boundary_still && cpu->boundary_cell == cell) return;
  cpu->boundary_keys = 0;
  /* without keys from the previous sort */
  if (!kept || !oz_grow(cpu->memory, (void **)&cpu->boundary_key, &cpu->boundary_key_bytes,
                        kept * sizeof *cpu->boundary_key, 0))
    return;
  memcpy(cpu->boundary_key, cpu->key + f->fluid, kept * sizeof *cpu->key);
  cpu->boundary_keys = kept, cpu->boundary_cell = cell;
}

/* Number of particles in front of the boundary particles, if these are in order already; otherwise
 * the number of all particles. */
static uint32_t unsorted(const oz_cpu *cpu) {
  uint32_t i = cpu->count;
  const uint64_t *key = cpu->key, *id = cpu->arrays.id;
  while (i > 0 && key[i - 1] & OZ_KEY_BOUNDARY) {
    if (i < cpu->count && !(key[i - 1] < key[i] || (key[i - 1] == key[i] && id[i - 1] < id[i])))
      return cpu->count;
    i--;
  }
  for (uint32_t k = 0; k < i; k++)
    if (key[k] & OZ_KEY_BOUNDARY) return cpu->count;
  return i;
}

uint32_t oz_cpu_order(oz_cpu *cpu, const oz_frame *f, const float *at, const float *u, float dt,
                      float cell) {
  const uint32_t kept = u || at == f->x ? kept_keys(cpu, f, cell) : 0;
  sort_job job = {cpu, at, u, dt, 1.0f / cell, 0, NULL, NULL, NULL, NULL, cpu->count - kept};
  cpu->tasks->run(cpu->tasks, oz_cpu_chunks(job.count, OZ_CHUNK), key_chunk, &job);
  const uint32_t count = kept ? job.count : unsorted(cpu), chunks = oz_cpu_chunks(count, OZ_CHUNK);
  job.count = count;
  uint64_t differ = 0; /* only digits in which keys differ need a pass */
  for (uint32_t i = 1; i < count; i++) differ |= cpu->key[i] ^ cpu->key[0];
  uint64_t *key = cpu->key, *key2 = cpu->key2;
  uint32_t *order = cpu->order, *order2 = cpu->order2;
  for (uint32_t shift = 0; shift < 64; shift += 8) {
    if (!(differ >> shift & 255)) continue;
    job.shift = shift, job.key = key, job.order = order, job.key_to = key2, job.order_to = order2;
    cpu->tasks->run(cpu->tasks, chunks, count_chunk, &job);
    uint32_t sum = 0;
    for (uint32_t digit = 0; digit < 256; digit++)
      for (uint32_t c = 0; c < chunks; c++) {
        uint32_t *h = cpu->histogram + (size_t)c * 256 + digit, n = *h;
        *h = sum;
        sum += n;
      }
    cpu->tasks->run(cpu->tasks, chunks, scatter_chunk, &job);
    OZ_SWAP(uint64_t *, key, key2);
    OZ_SWAP(uint32_t *, order, order2);
  }
  if (key != cpu->key) { /* the unsorted part is copied */
    memcpy(key + count, cpu->key + count, (cpu->count - count) * sizeof *key);
    memcpy(order + count, cpu->order + count, (cpu->count - count) * sizeof *order);
  }
  cpu->key = key, cpu->key2 = key2, cpu->order = order, cpu->order2 = order2;
  job.key = key, job.order_to = order;
  cpu->tasks->run(cpu->tasks, chunks, ids_chunk, &job);
  return count;
}

ooze_result oz_cpu_cells(oz_cpu *cpu, oz_cells *cells, ooze_message *why) {
  /* keys are sorted: a cell is a run of equal ones */
  uint32_t n = 0;
  for (uint32_t i = 0; i < cpu->count; i++) n += i == 0 || cpu->key[i] != cpu->key[i - 1];
  uint32_t size = 64;
  while (size < 2 * n) size *= 2;
  const size_t want_key = (size_t)n + n / 4 + 16;
  const uint32_t kinds = n && cpu->key[cpu->count - 1] & OZ_KEY_BOUNDARY ? 2 : 1;
  const size_t hash_bytes = (size_t)size * kinds * sizeof(uint32_t);
  if (n * sizeof(uint64_t) > cells->key_bytes || (n + 1) * sizeof(uint32_t) > cells->start_bytes ||
      hash_bytes > cells->hash_bytes)
    if (!oz_grow(cpu->memory, (void **)&cells->key, &cells->key_bytes, want_key * sizeof(uint64_t),
                 0) ||
        !oz_grow(cpu->memory, (void **)&cells->start, &cells->start_bytes,
                 (want_key + 1) * sizeof(uint32_t), 0) ||
        !oz_grow(cpu->memory, (void **)&cells->hash, &cells->hash_bytes, hash_bytes, 0))
      return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u neighbour cells", n);
  cells->count = n;
  cells->kinds = kinds;
  cells->hash_mask = size - 1;
  memset(cells->hash, 0, hash_bytes);
  uint32_t c = 0;
  for (uint32_t i = 0; i < cpu->count; i++) {
    if (i && cpu->key[i] == cpu->key[i - 1]) continue;
    const uint64_t k = cpu->key[i];
    const uint64_t packed = oz_gathered(k) | oz_gathered(k >> 1) << 21 | oz_gathered(k >> 2) << 42 |
                            (k & OZ_KEY_BOUNDARY);
    cells->key[c] = packed;
    cells->start[c] = i;
    const uint64_t place = packed & ~OZ_KEY_BOUNDARY;
    cells->hash[oz_cell_slot(cells->hash, cells->hash_mask, kinds, cells->key, place) *
                    (size_t)kinds +
                (packed != place)] = ++c;
  }
  cells->start[n] = cpu->count;
  return OOZE_OK;
}

ooze_result oz_cpu_sort(oz_backend *b, oz_frame *f, ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  (void)why;
  const double t0 = oz_seconds();
  const float cell = oz_cpu_cell(f);
  const uint32_t sorted = oz_cpu_order(cpu, f, f->x, f->single_search ? f->u : NULL, f->dt, cell);
  uint32_t moved = 0;
  for (uint32_t i = 0; i < sorted && !moved; i++) moved = cpu->order[i] != i;
  if (moved) {
    oz_cpu_permute(cpu, sorted);
    oz_cpu_links_move(cpu, cpu->count, cpu->count);
    oz_cpu_links_frame(cpu, f);
  }
  f->fluid = sorted; /* all but the boundary particles that were in order; or all */
  while (f->fluid > 0 && cpu->key[f->fluid - 1] & OZ_KEY_BOUNDARY) f->fluid--;
  keep_keys(cpu, f, cell);
  /* contacts refer to particles by index: walls() finds them anew, if there are walls */
  cpu->wall_count = f->wall_count = 0;
  cpu->seconds[OZ_TIMER_SORT] += oz_seconds() - t0;
  cpu->calls[OZ_TIMER_SORT]++;
  return OOZE_OK;
}
