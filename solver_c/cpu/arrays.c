/* The particle arrays: layout, growth, copies in and out, permutation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cpu/cpu.h"

#include <stddef.h>

/* One line an array: frame member, floats (4 bytes) a particle, how it is laid out. */
typedef enum { RECORD, PLANES, WIDE, BLOCKS } layout; /* WIDE: 64-bit scalars */
typedef struct array {
  size_t member; /* offset in oz_frame */
  uint32_t words;
  layout kind;
  int optional;
} array;
static const char *const field_names[OZ_FIELD_COUNT] = {
#define OZ_FIELD(name, member, words, layout) #member,
#define OZ_OPTIONAL(name, member, words, layout, fallback) #member,
#define OZ_RESULT OZ_FIELD
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
#undef OZ_RESULT
};
#define AT(m) offsetof(oz_frame, m)

static const array fields[OZ_FIELD_COUNT] = {
#define OZ_FIELD(name, member, words, layout) {AT(member), words, layout, 0},
#define OZ_OPTIONAL(name, member, words, layout, fallback) {AT(member), words, layout, 1},
#define OZ_RESULT OZ_FIELD
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
#undef OZ_RESULT
};
/* Work arrays. cg_residual, cg_direction and cg_applied, which follow each other, are alive in the
 * velocity phase only. Arrays of other phases lie over them, the given number of words on:
 * rotations and positions of the position phase, the arrays before it (predicted positions, soft
 * bodies) and after it (heat, in cg_residual itself). */
static const array work[] = {
    {AT(omega), 1, PLANES, 0},
    {AT(y), 4, RECORD, 0},
    {AT(dx), 4, RECORD, 0},
    {AT(A), 12, RECORD, 0},
    {AT(K), 6, BLOCKS, 0},
    {AT(B), 6, BLOCKS, 0},
    {AT(gradient_sum), 3, BLOCKS, 0},
    {AT(precond_rotation), 4, BLOCKS, 0},
    {AT(precond_eigenvalues), 4, BLOCKS, 0},
    {AT(cg_residual), 6, BLOCKS, 0},
    {AT(cg_direction), 6, BLOCKS, 0},
    {AT(cg_applied), 6, BLOCKS, 0},
    {AT(zero_energy_gate), 1, PLANES, 0},
    {AT(density_diagonal), 1, PLANES, 0},
    {AT(density_near_sum), 1, PLANES, 0},
    {AT(density_push), 1, PLANES, 0},
    {AT(dilation), 1, PLANES, 0},
};
static const struct {
  size_t member, over;
  uint32_t words;
} shared[] = {
    {AT(bound_sum), AT(cg_residual), 0},  {AT(density_relaxation), AT(density_diagonal), 0},
    {AT(density_row_sum), AT(rho), 0},    {AT(density_step), AT(density_near_sum), 0},

    {AT(rotation), AT(cg_residual), 0},   {AT(soft_gradient), AT(cg_residual), 0},
    {AT(y2), AT(cg_residual), 6},         {AT(p), AT(cg_residual), 10},
    {AT(wall_term), AT(cg_residual), 14}, {AT(u2), AT(dx), 0},
};

static float *get(const oz_frame *f, size_t member) {
  float *p;
  memcpy(&p, (const char *)f + member, sizeof p);
  return p;
}
static void set(oz_frame *f, size_t member, float *p) { memcpy((char *)f + member, &p, sizeof p); }

/* Does the array exist? */
static int has(const oz_frame *f, const array *a) { return get(f, a->member) != NULL; }

/* Lays all arrays of `capacity` particles out from `at`, except optional fields; returns the words
 * used. */
static size_t lay_out(oz_frame *f, float *at, uint32_t capacity) {
  size_t used = 0;
  for (int k = 0; k < OZ_FIELD_COUNT; k++) {
    if (fields[k].optional) continue;
    if (at) set(f, fields[k].member, at + used);
    used += (size_t)fields[k].words * capacity;
  }
  for (size_t k = 0; k < sizeof work / sizeof *work; k++) {
    if (at) set(f, work[k].member, at + used);
    used += (size_t)work[k].words * capacity;
  }
  if (at)
    for (size_t k = 0; k < sizeof shared / sizeof *shared; k++)
      set(f, shared[k].member, get(f, shared[k].over) + (size_t)shared[k].words * capacity);
  return used;
}

/* Copies `count` items of one array: planes move one by one, since each has its own stride. */
static void copy_out(const oz_frame *f, const array *a, uint32_t first, uint32_t count,
                     float *out) {
  const float *p = get(f, a->member);
  if (a->kind == PLANES)
    for (uint32_t c = 0; c < a->words; c++)
      memcpy(out + (size_t)c * count, p + (size_t)c * f->stride + first, (size_t)count * 4);
  else
    memcpy(out, p + (size_t)first * a->words, (size_t)count * a->words * 4);
}
static void copy_in(const oz_frame *f, const array *a, uint32_t first, uint32_t count,
                    const float *in) {
  float *p = get(f, a->member);
  if (a->kind == PLANES)
    for (uint32_t c = 0; c < a->words; c++)
      memcpy(p + (size_t)c * f->stride + first, in + (size_t)c * count, (size_t)count * 4);
  else
    memcpy(p + (size_t)first * a->words, in, (size_t)count * a->words * 4);
}

/* ---- optional fields --------------------------------------------------------------------- */

static size_t field_bytes(int k, uint32_t capacity) {
  return (size_t)fields[k].words * capacity * 4;
}

int oz_cpu_has(const oz_backend *b, oz_field field) {
  return has(&((const oz_cpu *)b)->arrays, &fields[field]);
}

ooze_result oz_cpu_provide(oz_backend *b, oz_field field, ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  if (!fields[field].optional || oz_cpu_has(b, field) || !cpu->capacity) return OOZE_OK;
  float *fresh = oz_alloc(cpu->memory, field_bytes((int)field, cpu->capacity)); /* zeros */
  if (!fresh)
    return oz_fail(why, OOZE_ERROR_MEMORY,
                   "no memory for %s of %u particles: %zu bytes were refused", field_names[field],
                   cpu->count, field_bytes((int)field, cpu->capacity));
  set(&cpu->arrays, fields[field].member, fresh);
  return OOZE_OK;
}

const void *oz_cpu_memory(const oz_backend *b, oz_field field) {
  return get(&((const oz_cpu *)b)->arrays, fields[field].member);
}

void oz_cpu_fields_release(oz_cpu *cpu) {
  for (int k = 0; k < OZ_FIELD_COUNT; k++)
    if (fields[k].optional) {
      oz_free(cpu->memory, get(&cpu->arrays, fields[k].member));
      set(&cpu->arrays, fields[k].member, NULL);
    }
}

/* Particles of whole vectors: stages write these. */
static uint32_t padded(uint32_t count) { return (count + OZ_PAD - 1) / OZ_PAD * OZ_PAD; }

ooze_result oz_cpu_reserve(oz_backend *b, uint32_t count, ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  if (count <= cpu->capacity) return OOZE_OK;
  /* an odd number of cache lines from plane to plane: planes then start in different sets of the
   * cache, and the forty that one stage walks along do not push each other out */
  const uint32_t capacity = (padded(count) / OZ_PAD | 1) * OZ_PAD;
  const uint32_t chunks = oz_cpu_chunks(capacity, OZ_CHUNK);
  OZ_TRY(oz_cpu_links_reserve(cpu, capacity, why));
  oz_frame next = cpu->arrays;
  const size_t words = lay_out(&next, NULL, capacity);
  /* everything sized by the particle count, or nothing */
  struct {
    void **slot;
    size_t bytes;
    void *fresh;
  } part[] = {
      {&cpu->block, words * 4, NULL},
      {(void **)&cpu->histogram, (size_t)chunks * 256 * sizeof(uint32_t), NULL},
      {(void **)&cpu->c.row, capacity * sizeof(uint32_t), NULL},
      {(void **)&cpu->c.len, capacity * sizeof(uint16_t), NULL},
      {(void **)&cpu->x.row, capacity * sizeof(uint32_t), NULL},
      {(void **)&cpu->x.len, capacity * sizeof(uint16_t), NULL},
      {(void **)&cpu->pad_weight_d, capacity * sizeof(float), NULL},
      {(void **)&cpu->flag, capacity, NULL},
      {(void **)&cpu->contact_of, capacity * sizeof(uint32_t), NULL},
      {(void **)&cpu->partial, (size_t)chunks * OZ_REDUCTIONS * sizeof(double), NULL},
  };
  const size_t parts = sizeof part / sizeof *part;
  float *fresh[OZ_FIELD_COUNT] = {NULL};
  size_t refused = 0;
  for (size_t k = 0; k < parts && !refused; k++)
    if (!(part[k].fresh = oz_alloc(cpu->memory, part[k].bytes))) refused = part[k].bytes;
  for (int k = 0; k < OZ_FIELD_COUNT && !refused; k++)
    if (fields[k].optional && has(&cpu->arrays, &fields[k]) &&
        !(fresh[k] = oz_alloc(cpu->memory, field_bytes(k, capacity))))
      refused = field_bytes(k, capacity);
  if (refused) {
    for (size_t k = 0; k < parts; k++) oz_free(cpu->memory, part[k].fresh);
    for (int k = 0; k < OZ_FIELD_COUNT; k++) oz_free(cpu->memory, fresh[k]);
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u particles: %zu bytes were refused",
                   count, refused);
  }
  lay_out(&next, part[0].fresh, capacity);
  for (int k = 0; k < OZ_FIELD_COUNT; k++)
    if (fields[k].optional) set(&next, fields[k].member, fresh[k]);
  next.stride = capacity;
  /* planes change stride: through the frame, not memcpy */
  for (int k = 0; k < OZ_FIELD_STATE_COUNT && cpu->count; k++) {
    const array *a = &fields[k];
    const float *from = get(&cpu->arrays, a->member);
    if (!from) continue;
    float *to = get(&next, a->member);
    if (a->kind == PLANES)
      for (uint32_t c = 0; c < a->words; c++)
        memcpy(to + (size_t)c * capacity, from + (size_t)c * cpu->arrays.stride,
               (size_t)cpu->count * 4);
    else
      memcpy(to, from, (size_t)cpu->count * a->words * 4);
  }
  for (size_t k = 0; k < parts; k++) {
    oz_free(cpu->memory, *part[k].slot);
    *part[k].slot = part[k].fresh;
  }
  oz_cpu_fields_release(cpu);
  cpu->arrays = next;
  cpu->capacity = capacity;
  cpu->used = padded(cpu->count);
  /* A is free while particles are sorted: its first four words a particle are the scratch of the
   * sort, six more its keys */
  float *spare = next.A + 4 * (size_t)capacity;
  cpu->key = (uint64_t *)(void *)spare, cpu->key2 = cpu->key + capacity;
  cpu->order = (uint32_t *)(cpu->key2 + capacity), cpu->order2 = cpu->order + capacity;
  return OOZE_OK;
}

ooze_result oz_cpu_resize(oz_backend *b, uint32_t count, ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  if (count > cpu->capacity) {
    /* grow by half, so that an emitter does not reallocate every substep */
    uint64_t room = (uint64_t)cpu->capacity + cpu->capacity / 2;
    if (room > UINT32_MAX / 2) room = count;
    ooze_result r = oz_cpu_reserve(b, room > count ? (uint32_t)room : count, why);
    if (r < 0) OZ_TRY(oz_cpu_reserve(b, count, why));
  }
  /* memory that nothing was written to is zero already */
  const uint32_t end = count < cpu->used ? count : cpu->used;
  for (int k = 0; k < OZ_FIELD_STATE_COUNT && end > cpu->count; k++) {
    float *p = get(&cpu->arrays, fields[k].member);
    const uint32_t stale = end - cpu->count;
    if (!p) continue;
    if (fields[k].kind == PLANES)
      for (uint32_t c = 0; c < fields[k].words; c++)
        memset(p + (size_t)c * cpu->arrays.stride + cpu->count, 0, (size_t)stale * 4);
    else
      memset(p + (size_t)cpu->count * fields[k].words, 0, (size_t)stale * fields[k].words * 4);
  }
  oz_cpu_links_resize(cpu, count);
  if (count != cpu->count) cpu->boundary_keys = 0;
  cpu->count = count;
  if (cpu->used < padded(count)) cpu->used = padded(count);
  return OOZE_OK;
}

void oz_cpu_frame(oz_backend *b, oz_frame *f) {
  oz_cpu *cpu = OZ_CPU(b);
  *f = cpu->arrays;
  f->count = f->fluid = cpu->count;
  f->scalar = cpu->scalar;
  f->collider = cpu->collider;
  f->collider_count = cpu->collider_count;
  f->brick_key = cpu->brick_key;
  f->brick_values = cpu->brick_values;
  f->friction_map_key = cpu->friction_map_key;
  f->friction_map_values = cpu->friction_map_values;
  f->nozzle = cpu->nozzle;
  f->nozzle_count = cpu->nozzle_count;
  f->matter = cpu->matter;
  f->matter_count = cpu->matter_count;
  f->body = cpu->body, f->body_state = cpu->body_state, f->member = cpu->member;
  f->body_count = cpu->body_count, f->member_count = cpu->member_count;
  f->wall_count = cpu->wall_count;
  f->wall_particle = cpu->wall_particle;
  f->wall = cpu->wall;
  f->wall_planes = cpu->wall_planes;
  f->wall_impulse = cpu->wall_impulse;
  f->wall_row = cpu->wall_row;
  f->contact_planes = cpu->contact_planes ? cpu->contact_planes : 1;
  f->load = cpu->has_load ? cpu->load : NULL;
  f->wall_slip = cpu->has_slip ? cpu->wall_slip : NULL;
  oz_cpu_links_frame(cpu, f);
}

static ooze_result check_range(const oz_cpu *cpu, oz_field field, uint32_t first, uint32_t count,
                               ooze_message *why) {
  if ((uint32_t)field < OZ_FIELD_COUNT && first <= cpu->count && count <= cpu->count - first)
    return OOZE_OK;
  return oz_fail(why, OOZE_ERROR_ARGUMENT, "field %d, particles %u to %u: there are %u", (int)field,
                 first, first + count, cpu->count);
}
ooze_result oz_cpu_download(oz_backend *b, oz_field field, uint32_t first, uint32_t count,
                            void *out, ooze_message *why) {
  OZ_TRY(check_range(OZ_CPU(b), field, first, count, why));
  if (count && oz_cpu_has(b, field))
    copy_out(&OZ_CPU(b)->arrays, &fields[field], first, count, out);
  else if (count)
    memset(out, 0, (size_t)count * fields[field].words * 4);
  return OOZE_OK;
}
ooze_result oz_cpu_upload(oz_backend *b, oz_field field, uint32_t first, uint32_t count,
                          const void *in, ooze_message *why) {
  OZ_TRY(check_range(OZ_CPU(b), field, first, count, why));
  if (count) OZ_TRY(oz_cpu_provide(b, field, why));
  OZ_CPU(b)->boundary_keys = 0;
  if (count) copy_in(&OZ_CPU(b)->arrays, &fields[field], first, count, in);
  return OOZE_OK;
}

/* ---- permuting --------------------------------------------------------------------------- */

/* Words that move together: up to four a particle, the size of the scratch (oz_cpu_reserve). */
enum { PERMUTE_WORDS = 4 };
typedef struct permute_strip {
  float *at;
  uint32_t words; /* of one particle, which lie together: 1, 2 or 4 */
} permute_strip;
typedef struct permute_job {
  const oz_cpu *cpu;
  permute_strip strip[PERMUTE_WORDS];
  uint32_t strips, words, count;
  int back;
} permute_job;

/* Chunks first gather into scratch; a second round copies back, after all reads of the old
 * order. */
static void permute_chunk(void *arg, uint32_t chunk) {
  const permute_job *job = arg;
  const uint32_t *order = job->cpu->order;
  OZ_CHUNK_RANGE(job->count);
  float *scratch = job->cpu->arrays.A; /* holds nothing between substeps */
  for (uint32_t k = 0; k < job->strips; k++) {
    const uint32_t words = job->strip[k].words;
    float *p = job->strip[k].at;
    if (job->back)
      memcpy(p + (size_t)begin * words, scratch + (size_t)begin * words,
             (size_t)(end - begin) * words * 4);
    else if (words == 4)
      for (uint32_t i = begin; i < end; i++)
        memcpy(scratch + 4 * (size_t)i, p + 4 * (size_t)order[i], 16);
    else if (words == 2)
      for (uint32_t i = begin; i < end; i++)
        memcpy(scratch + 2 * (size_t)i, p + 2 * (size_t)order[i], 8);
    else
      for (uint32_t i = begin; i < end; i++) scratch[i] = p[order[i]];
    scratch += (size_t)words * job->count;
  }
}
static void permute_together(permute_job *job) {
  const uint32_t chunks = oz_cpu_chunks(job->count, OZ_CHUNK);
  for (job->back = 0; job->back < 2; job->back++)
    job->cpu->tasks->run(job->cpu->tasks, chunks, permute_chunk, job);
  job->strips = job->words = 0;
}

void oz_cpu_permute(oz_cpu *cpu, uint32_t count) {
  permute_job job = {cpu, {{NULL, 0}}, 0, 0, count, 0};
  for (int k = 0; k < OZ_FIELD_STATE_COUNT; k++)
    for (uint32_t c = 0;
         c < (fields[k].kind == PLANES ? fields[k].words : 1) && has(&cpu->arrays, &fields[k]);
         c++) {
      const permute_strip strip = {
          get(&cpu->arrays, fields[k].member) +
              (fields[k].kind == PLANES ? (size_t)c * cpu->arrays.stride : 0),
          fields[k].kind == PLANES ? 1 : fields[k].words};
      if (job.words + strip.words > PERMUTE_WORDS) permute_together(&job);
      job.strip[job.strips++] = strip;
      job.words += strip.words;
    }
  permute_together(&job);
}

ooze_result oz_cpu_compact(oz_backend *b, const uint8_t *keep, uint32_t *out_count,
                           ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  (void)why;
  uint32_t n = 0;
  for (uint32_t i = 0; i < cpu->count; i++)
    if (keep[i]) cpu->order[n++] = i;
  const uint32_t all = cpu->count;
  for (uint32_t i = n; i < all; i++) cpu->order[i] = 0; /* moved, then forgotten */
  if (n < all) {
    oz_cpu_permute(cpu, all);
    oz_cpu_links_move(cpu, n, all);
  }
  if (n != all) cpu->boundary_keys = 0;
  cpu->count = n;
  *out_count = n;
  return OOZE_OK;
}
