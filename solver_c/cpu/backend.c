/* The CPU backend: fills the table of base/backend.h. SPDX-License-Identifier: Apache-2.0 */
#include "cpu/cpu.h"

#include <stdio.h>

const char *const oz_stage_names[] = {
#define OZ_STAGE(name, kind, sums, reductions) #name,
#include "physics/stages.def"
#undef OZ_STAGE
    "sort", "lists", "density_list", "walls", "links"};

enum {
  KIND_START,
  KIND_OUTER,
  KIND_MATRIX,
  KIND_SPARE,
  KIND_DENSITY,
  KIND_LATE,
  KIND_LINK,
  KIND_DENSITY_LINK,
  KIND_MAP,
  KIND_ITEM,
  KIND_WALL,
  KIND_BODY,
  KIND_MEMBER,
  KIND_ONE
};
static const struct {
  uint8_t kind, reductions;
} stage_info[] = {
#define OZ_STAGE(name, kind, sums, reductions) {KIND_##kind, reductions},
#include "physics/stages.def"
#undef OZ_STAGE
};

/* ---- running stages ---------------------------------------------------------------------- */

typedef struct run_job {
  const oz_frame *f;
  oz_stage_fn fn;
  uint32_t count, chunk;
  double *partial;
} run_job;

typedef struct part_job {
  oz_chunk_fn fn;
  void *arg;
  uint32_t first;
} part_job;

static void part_chunk(void *arg, uint32_t chunk) {
  const part_job *part = arg;
  part->fn(part->arg, part->first + chunk);
}

ooze_result oz_cpu_run_chunks(oz_cpu *cpu, uint32_t chunks, oz_chunk_fn fn, void *arg,
                              ooze_message *why) {
  /* so many that no thread waits for long */
  const uint32_t most = 64 * (cpu->tasks->threads ? cpu->tasks->threads : 1);
  if (!cpu->memory->hooks.abandon || chunks <= most) {
    cpu->tasks->run(cpu->tasks, chunks, fn, arg);
    return OOZE_OK;
  }
  for (uint32_t first = 0; first < chunks; first += most) {
    part_job part = {fn, arg, first};
    if (first) OZ_TRY(oz_cpu_go_on(cpu, why));
    cpu->tasks->run(cpu->tasks, chunks - first < most ? chunks - first : most, part_chunk, &part);
  }
  return OOZE_OK;
}

static void run_chunk(void *arg, uint32_t chunk) {
  const run_job *job = arg;
  const uint32_t begin = chunk * job->chunk,
                 end = begin + job->chunk < job->count ? begin + job->chunk : job->count;
  double none[OZ_REDUCTIONS],
      *sums = job->partial ? job->partial + (size_t)chunk * OZ_REDUCTIONS : none;
  for (int r = 0; r < OZ_REDUCTIONS; r++) sums[r] = 0.0;
  job->fn(job->f, begin, end, sums);
}

static ooze_result cpu_run(oz_backend *b, const oz_frame *f, oz_stage stage, double *sums,
                           ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  OZ_TRY(oz_cpu_go_on(cpu, why));
  const double t0 = oz_seconds();
  const int kind = stage_info[stage].kind, reductions = stage_info[stage].reductions;
  run_job job = {f, cpu->isa->stage[stage], f->count, OZ_CHUNK, reductions ? cpu->partial : NULL};
  if (f->skip_boundary && kind <= KIND_MAP) job.count = f->fluid;
  if (kind == KIND_WALL) job.count = f->wall_count;
  if (kind == KIND_MEMBER) job.count = f->member_count;
  if (kind == KIND_BODY) job.count = f->body_count, job.chunk = 1;
  if ((kind == KIND_LINK || kind == KIND_DENSITY_LINK) && !f->link_row) job.count = 0;
  if (kind == KIND_ONE)
    job.fn(f, 0, 1, NULL);
  else if (job.count) {
    const uint32_t chunks = oz_cpu_chunks(job.count, job.chunk);
    OZ_TRY(oz_cpu_run_chunks(cpu, chunks, run_chunk, &job, why));
    for (int r = 0; r < reductions; r++) { /* in chunk order, independent of the threads that ran
                                            * them */
      double total = 0.0;
      for (uint32_t c = 0; c < chunks; c++)
        total += cpu->partial[(size_t)c * OZ_REDUCTIONS + (size_t)r];
      cpu->scalar[OZ_SCALAR_SUM + r] = total;
    }
  } else
    for (int r = 0; r < reductions; r++) cpu->scalar[OZ_SCALAR_SUM + r] = 0.0;
  if (sums)
    for (int r = 0; r < reductions; r++) sums[r] = cpu->scalar[OZ_SCALAR_SUM + r];
  cpu->seconds[stage] += oz_seconds() - t0;
  cpu->calls[stage]++;
  return OOZE_OK;
}

/* ---- walls ------------------------------------------------------------------------------- */

typedef struct wall_job {
  const oz_frame *f;
  const oz_cpu *cpu;
} wall_job;
static void wall_chunk(void *arg, uint32_t chunk) {
  const wall_job *job = arg;
  OZ_CHUNK_RANGE(job->f->count);
  job->cpu->isa->near_walls(job->f, begin, end, job->cpu->flag);
}

static ooze_result cpu_walls(oz_backend *b, oz_frame *f, ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  OZ_TRY(oz_cpu_go_on(cpu, why));
  const double t0 = oz_seconds();
  uint32_t n = 0;
  if (cpu->collider_count) {
    wall_job job = {f, cpu};
    cpu->tasks->run(cpu->tasks, oz_cpu_chunks(cpu->count, OZ_CHUNK), wall_chunk, &job);
    for (uint32_t i = 0; i < cpu->count; i++) n += cpu->flag[i];
  }
  const size_t planes = cpu->contact_planes ? cpu->contact_planes : 1;
  if (n * sizeof(uint32_t) > cpu->wall_particle_bytes ||
      n * planes * sizeof(oz_wall) > cpu->wall_bytes || n * planes * 12 > cpu->wall_impulse_bytes ||
      !cpu->wall_impulse) {
    const size_t room = (size_t)n + n / 4 + 128;
    if (!oz_grow(cpu->memory, (void **)&cpu->wall_planes, &cpu->wall_planes_bytes,
                 room * sizeof(uint32_t), 0) ||
        !oz_grow(cpu->memory, (void **)&cpu->wall, &cpu->wall_bytes,
                 room * planes * sizeof(oz_wall), 0) ||
        !oz_grow(cpu->memory, (void **)&cpu->wall_impulse, &cpu->wall_impulse_bytes,
                 room * planes * 3 * sizeof(float), 0) ||
        !oz_grow(cpu->memory, (void **)&cpu->wall_row, &cpu->wall_row_bytes,
                 room * sizeof(oz_wall_row), 0) ||
        !oz_grow(cpu->memory, (void **)&cpu->wall_particle, &cpu->wall_particle_bytes,
                 room * sizeof(uint32_t), 0))
      return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the walls of %u particles", n);
  }
  if (f->has_loads && n * sizeof *cpu->load > cpu->load_bytes &&
      !oz_grow(cpu->memory, (void **)&cpu->load, &cpu->load_bytes,
               ((size_t)n + n / 4 + 128) * sizeof *cpu->load, 0))
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for what %u particles put on boundaries", n);
  cpu->has_slip = f->has_slip && f->projects_velocity;
  if (cpu->has_slip && n * sizeof *cpu->wall_slip > cpu->wall_slip_bytes &&
      !oz_grow(cpu->memory, (void **)&cpu->wall_slip, &cpu->wall_slip_bytes,
               ((size_t)n + n / 4 + 128) * sizeof *cpu->wall_slip, 0))
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u particles that slip", n);
  uint32_t k = 0;
  if (n) {
    for (uint32_t i = 0; i < cpu->count; i++) {
      if (cpu->flag[i]) cpu->wall_particle[k++] = i;
      cpu->contact_of[i] = cpu->flag[i] ? k : 0;
    }
    for (uint32_t i = cpu->count; i < cpu->capacity && i < cpu->count + OZ_PAD; i++)
      cpu->contact_of[i] = 0;
  }
  if (n) memset(cpu->wall_impulse, 0, (size_t)n * planes * 3 * sizeof(float));
  cpu->wall_count = n;
  f->wall_count = n;
  f->wall_particle = cpu->wall_particle, f->wall = cpu->wall;
  f->wall_planes = cpu->wall_planes, f->wall_impulse = cpu->wall_impulse,
  f->wall_row = cpu->wall_row, f->contact_of = cpu->contact_of,
  f->contact_planes = (uint32_t)planes;
  cpu->has_load = f->has_loads != 0;
  f->load = cpu->load;
  f->wall_slip = cpu->has_slip ? cpu->wall_slip : NULL;
  cpu->seconds[OZ_TIMER_WALLS] += oz_seconds() - t0;
  cpu->calls[OZ_TIMER_WALLS]++;
  return OOZE_OK;
}

static ooze_result cpu_colliders(oz_backend *b, const oz_collider *c, uint32_t count,
                                 const uint64_t *keys, const float *values, uint32_t bricks,
                                 ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  if (!oz_grow(cpu->memory, (void **)&cpu->collider, &cpu->collider_bytes, count * sizeof *c, 0) ||
      (keys && (!oz_grow(cpu->memory, (void **)&cpu->brick_key, &cpu->brick_key_bytes,
                         bricks * sizeof *keys, 0) ||
                !oz_grow(cpu->memory, (void **)&cpu->brick_values, &cpu->brick_value_bytes,
                         (size_t)bricks * 512 * sizeof *values, 0))))
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u colliders with %u bricks", count,
                   bricks);
  if (count) memcpy(cpu->collider, c, count * sizeof *c);
  if (keys && bricks) {
    memcpy(cpu->brick_key, keys, bricks * sizeof *keys);
    memcpy(cpu->brick_values, values, (size_t)bricks * 512 * sizeof *values);
  }
  cpu->collider_count = count;
  /* the contacts of the last substep have another layout: they are dropped */
  if (oz_planes_of(c, count) > cpu->contact_planes)
    cpu->contact_planes = oz_planes_of(c, count), cpu->wall_count = 0;
  return OOZE_OK;
}

static ooze_result cpu_friction_maps(oz_backend *b, const uint64_t *keys, const float *values,
                                     uint32_t bricks, ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  const size_t floats = (size_t)bricks * OZ_FRICTION_MAP_FLOATS;
  if (!oz_grow(cpu->memory, (void **)&cpu->friction_map_key, &cpu->friction_map_key_bytes,
               bricks * sizeof *keys, 0) ||
      !oz_grow(cpu->memory, (void **)&cpu->friction_map_values, &cpu->friction_map_value_bytes,
               floats * sizeof *values, 0))
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u bricks of friction", bricks);
  if (bricks)
    memcpy(cpu->friction_map_key, keys, bricks * sizeof *keys),
        memcpy(cpu->friction_map_values, values, floats * sizeof *values);
  return OOZE_OK;
}

/* Copies a list of `count` records; `names` is the plural of one, for the message. */
static ooze_result keep(oz_cpu *cpu, void **list, size_t *list_bytes, const void *from,
                        size_t record, uint32_t count, const char *names, ooze_message *why) {
  const size_t bytes = record * count;
  if (!oz_grow(cpu->memory, list, list_bytes, bytes, 0))
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u %s", count, names);
  if (count) memcpy(*list, from, bytes);
  return OOZE_OK;
}

static ooze_result cpu_nozzles(oz_backend *b, const oz_nozzle *n, uint32_t count,
                               ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  OZ_TRY(keep(cpu, (void **)&cpu->nozzle, &cpu->nozzle_bytes, n, sizeof *n, count, "nozzles", why));
  cpu->nozzle_count = count;
  return OOZE_OK;
}

static ooze_result cpu_matter(oz_backend *b, const oz_matter *m, uint32_t count,
                              ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  OZ_TRY(
      keep(cpu, (void **)&cpu->matter, &cpu->matter_bytes, m, sizeof *m, count, "materials", why));
  cpu->matter_count = count;
  return OOZE_OK;
}

static ooze_result cpu_bodies(oz_backend *b, const oz_body *body, uint32_t count, uint32_t members,
                              ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  if (!oz_grow(cpu->memory, (void **)&cpu->body, &cpu->body_bytes, count * sizeof *body, 0) ||
      !oz_grow(cpu->memory, (void **)&cpu->body_state, &cpu->body_state_bytes,
               count * sizeof *cpu->body_state, 0) ||
      !oz_grow(cpu->memory, (void **)&cpu->member, &cpu->member_bytes,
               members * sizeof *cpu->member, 0))
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u bodies of %u particles", count,
                   members);
  if (count) memcpy(cpu->body, body, count * sizeof *body);
  cpu->body_count = count, cpu->member_count = members;
  return OOZE_OK;
}

/* ---- memory, timing, the table ----------------------------------------------------------- */

static uint64_t cpu_bytes(const oz_backend *b, uint64_t *out_scratch) {
  *out_scratch = 0;
  return ((const oz_cpu *)b)->memory->bytes;
}
static const char *cpu_describe(const oz_backend *b) { return ((const oz_cpu *)b)->text; }

static void cpu_profile(oz_backend *b, oz_stage stage, double *seconds, uint64_t *calls) {
  oz_cpu *cpu = OZ_CPU(b);
  const uint32_t k = (uint32_t)stage;
  *seconds = k < OZ_TIMER_COUNT ? cpu->seconds[k] : 0.0;
  *calls = k < OZ_TIMER_COUNT ? cpu->calls[k] : 0;
}
static void cpu_profile_reset(oz_backend *b) {
  memset(OZ_CPU(b)->seconds, 0, sizeof OZ_CPU(b)->seconds);
  memset(OZ_CPU(b)->calls, 0, sizeof OZ_CPU(b)->calls);
}

static void cpu_destroy(oz_backend *b) {
  oz_cpu *cpu = OZ_CPU(b);
  oz_memory *m = cpu->memory;
  void *all[] = {cpu->block,
                 cpu->histogram,
                 cpu->boundary_key,
                 cpu->c.words,
                 cpu->c.row,
                 cpu->c.len,
                 cpu->x.words,
                 cpu->x.row,
                 cpu->x.len,
                 cpu->pad_weight_d,
                 cpu->flag,
                 cpu->contact_of,
                 cpu->wall_row,
                 cpu->wall_slip,
                 cpu->partial,
                 cpu->cells.key,
                 cpu->cells.start,
                 cpu->cells.hash,
                 cpu->cells_d.key,
                 cpu->cells_d.start,
                 cpu->cells_d.hash,
                 cpu->cells_d.moved,
                 cpu->wall,
                 cpu->wall_particle,
                 cpu->wall_planes,
                 cpu->wall_impulse,
                 cpu->load,
                 cpu->collider,
                 cpu->brick_key,
                 cpu->brick_values,
                 cpu->friction_map_key,
                 cpu->friction_map_values,
                 cpu->nozzle,
                 cpu->matter,
                 cpu->body,
                 cpu->body_state,
                 cpu->member};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) oz_free(m, all[k]);
  oz_cpu_fields_release(cpu);
  oz_cpu_links_release(cpu);
  if (cpu->tasks) cpu->tasks->destroy(cpu->tasks);
  oz_free(m, cpu);
}

static int cpu_has_links(const oz_backend *b) { return ((const oz_cpu *)b)->has_links; }

/* Functions for memory that is not the host's stay NULL. */
static const oz_backend_table table = {
    .name = "cpu",
    .destroy = cpu_destroy,
    .describe = cpu_describe,
    .reserve = oz_cpu_reserve,
    .resize = oz_cpu_resize,
    .frame = oz_cpu_frame,
    .download = oz_cpu_download,
    .upload = oz_cpu_upload,
    .compact = oz_cpu_compact,
    .sort = oz_cpu_sort,
    .lists = oz_cpu_lists,
    .density_list = oz_cpu_density_list,
    .walls = cpu_walls,
    .colliders = cpu_colliders,
    .nozzles = cpu_nozzles,
    .matter = cpu_matter,
    .bodies = cpu_bodies,
    .links_update = oz_cpu_links_update,
    .links_put = oz_cpu_links_put,
    .links_get = oz_cpu_links_get,
    .has_links = cpu_has_links,
    .run = cpu_run,
    .bytes = cpu_bytes,
    .profile = cpu_profile,
    .profile_reset = cpu_profile_reset,
    .friction_maps = cpu_friction_maps,
    .has = oz_cpu_has,
    .provide = oz_cpu_provide,
    .memory = oz_cpu_memory,
    .copy_take = oz_cpu_copy_take,
    .copy_words = oz_cpu_copy_words,
    .copy_bytes = oz_cpu_copy_bytes,
    .copy_drop = oz_cpu_copy_drop,
};

static const oz_cpu_isa *isa_of(uint32_t isa) {
  switch (isa) {
  case OOZE_ISA_SCALAR:
    return &oz_isa_scalar;
#ifdef OZ_HAVE_NEON
  case OOZE_ISA_NEON:
    return &oz_isa_neon;
#endif
#ifdef OZ_HAVE_SSE
  case OOZE_ISA_SSE:
    return &oz_isa_sse;
#endif
#ifdef OZ_HAVE_AVX2
  case OOZE_ISA_AVX2:
    return &oz_isa_avx2;
#endif
#ifdef OZ_HAVE_AVX512
  case OOZE_ISA_AVX512:
    return &oz_isa_avx512;
#endif
  default:
    return NULL;
  }
}

ooze_result oz_cpu_backend_create(const oz_backend_desc *desc, oz_backend **out,
                                  ooze_message *why) {
  oz_memory *memory = (oz_memory *)desc->memory;
  const oz_cpu_isa *isa = isa_of(desc->isa);
  if (!isa)
    return oz_fail(why, OOZE_ERROR_UNSUPPORTED, "vector build %u is not in this library",
                   desc->isa);
  oz_cpu *cpu = oz_alloc(memory, sizeof *cpu);
  if (!cpu)
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the CPU backend: %zu bytes were refused",
                   sizeof *cpu);
  cpu->base.table = &table;
  cpu->memory = memory;
  cpu->isa = isa;
  cpu->narrow = OZ_NARROW;
  cpu->tasks = oz_tasks_create(desc->tasks, desc->threads, memory);
  if (!cpu->tasks) {
    oz_free(memory, cpu);
    return oz_fail(why, OOZE_ERROR_UNSUPPORTED,
                   "task system %u is not in this library, or could not start %u threads",
                   desc->tasks, desc->threads);
  }
  snprintf(cpu->text, sizeof cpu->text, "cpu %s, %s, %u threads", isa->name, cpu->tasks->name,
           cpu->tasks->threads);
  *out = &cpu->base;
  return OOZE_OK;
}
