/* The CPU backend's own data. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CPU_CPU_H
#define OZ_CPU_CPU_H

#include "base/memory.h"
#include "base/result.h"
#include "base/seconds.h"
#include "base/tasks.h"
#include "cpu/isa.h"

enum {
  OZ_TIMER_SORT = OZ_STAGE_COUNT,
  OZ_TIMER_LISTS,
  OZ_TIMER_DENSITY_LIST,
  OZ_TIMER_WALLS,
  OZ_TIMER_LINKS,
  OZ_TIMER_COUNT
};

typedef struct oz_cells {
  uint64_t *key;   /* (cells) */
  uint32_t *start; /* (cells + 1) */
  /* hash_mask + 1 places with `kinds` cells each, or 0: the cell of fluid and the cell of boundary
   * particles there */
  uint32_t *hash;
  uint32_t count, hash_mask;
  uint32_t kinds;   /* 2 where boundary particles have cells of their own */
  oz_motion *moved; /* (cells) of the density list */
  size_t key_bytes, start_bytes, hash_bytes, moved_bytes;
} oz_cells;

typedef struct oz_cpu {
  oz_backend base;
  oz_memory *memory;
  const oz_cpu_isa *isa;
  oz_tasks *tasks;
  oz_frame arrays; /* pointers only */
  uint32_t count, capacity;
  uint32_t used; /* places from here on hold the zeros that they came with */
  /* all particle arrays except optional fields, which have memory of their own */
  void *block;
  char text[64];

  /* sorting and cells */
  /* (capacity) Morton code. These four lie in arrays.A and are overwritten when a stage writes it
   */
  uint64_t *key, *key2;
  uint32_t *order, *order2;
  uint32_t *histogram; /* chunks * 256 */
  /* keys of the boundary particles, at the end, from the last sort */
  uint64_t *boundary_key;
  uint32_t boundary_keys; /* number of these keys; 0 when particles were added, removed or written
                           * since */
  float boundary_cell;    /* m: cell size of these keys */
  size_t boundary_key_bytes;
  oz_cells cells, cells_d;
  /* start rows; margin rows, then the part of the density list beyond the start rows */
  oz_rows c, x;
  uint32_t narrow; /* OZ_NARROW; less in tests of wide rows */
  size_t c_bytes, x_bytes;
  float *pad_weight_d;
  int has_margin; /* x holds this substep's margin */
  int still;      /* displacements are too small to need margin rows */
  /* start rows were made at predicted positions: these are in arrays.A */
  int foreseen;
  int pad_is_c; /* pad_weight_d is that of the start rows */

  /* links */
  oz_link_rows links[2];
  uint32_t links_now; /* index of the current set */
  int has_links;      /* there is memory for them */
  uint16_t *link_fused_length;
  float *link_share;
  size_t link_all_bytes, link_share_bytes;

  /* walls */
  uint8_t *flag;
  uint32_t *contact_of; /* (capacity) contact + 1 of each particle, or 0 */
  oz_wall_row *wall_row;
  uint32_t *wall_particle, *wall_planes;
  oz_wall *wall;
  float *wall_impulse;
  oz_load *load; /* allocated where there are boundary particles */
  oz_wall_slip *wall_slip;
  size_t load_bytes, wall_slip_bytes;
  int has_load, has_slip; /* the last contacts have loads; and slip */
  size_t wall_particle_bytes, wall_planes_bytes, wall_row_bytes, wall_bytes, wall_impulse_bytes;
  oz_collider *collider;
  uint64_t *brick_key, *friction_map_key;
  float *brick_values, *friction_map_values;
  size_t friction_map_key_bytes, friction_map_value_bytes;
  oz_nozzle *nozzle;
  oz_matter *matter;
  oz_body *body;
  oz_body_state *body_state;
  uint32_t *member;
  size_t collider_bytes, brick_key_bytes, brick_value_bytes, nozzle_bytes, matter_bytes, body_bytes,
      body_state_bytes, member_bytes;
  uint32_t collider_count, nozzle_count, matter_count, body_count, member_count, wall_count;
  uint32_t contact_planes; /* planes that contacts have room for; never shrinks */

  double *partial; /* chunks * OZ_REDUCTIONS */
  double scalar[OZ_SCALAR_COUNT];
  double seconds[OZ_TIMER_COUNT];
  uint64_t calls[OZ_TIMER_COUNT];
} oz_cpu;

static inline uint32_t oz_cpu_chunks(uint32_t count, uint32_t size) {
  return count / size + (count % size != 0);
}

/* OOZE_OK, or OOZE_LOST_ABANDONED where the host wants no more of this step. */
static inline ooze_result oz_cpu_go_on(const oz_cpu *cpu, ooze_message *why) {
  const ooze_hooks *hooks = &cpu->memory->hooks;
  if (!hooks->abandon || !hooks->abandon(hooks->user)) return OOZE_OK;
  return oz_fail(why, OOZE_LOST_ABANDONED, "step: the host has left it within a substep");
}

/* backend.c: chunks of a long loop in parts, with a look at oz_cpu_go_on between these: a stage of
 * five million particles takes half a second. */
ooze_result oz_cpu_run_chunks(oz_cpu *cpu, uint32_t chunks, oz_chunk_fn fn, void *arg,
                              ooze_message *why);

/* sort.c */
ooze_result oz_cpu_sort(oz_backend *b, oz_frame *f, ooze_message *why);
/* Order of the particles by (boundary, Morton code of the cell, id) at `at` + dt `u` (records of 4;
 * u may be NULL); result in cpu->order and cpu->key. Returns the number of leading particles that
 * may have changed places; the boundary particles behind them have not. */
uint32_t oz_cpu_order(oz_cpu *cpu, const oz_frame *f, const float *at, const float *u, float dt,
                      float cell);
/* Size of a cell: no larger than the radius of rows, where there is no margin. */
static inline float oz_cpu_cell(const oz_frame *f) {
  return f->single_search ? 1.005f * f->reach : f->cell;
}
/* The cells of the order just made. */
ooze_result oz_cpu_cells(oz_cpu *cpu, oz_cells *cells, ooze_message *why);

/* lists.c */
ooze_result oz_cpu_lists(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why);
ooze_result oz_cpu_density_list(oz_backend *b, oz_frame *f, oz_build_result *out,
                                ooze_message *why);

/* links.c */
ooze_result oz_cpu_links_update(oz_backend *b, oz_frame *f, uint32_t rule, ooze_message *why);
ooze_result oz_cpu_links_put(oz_backend *b, const uint32_t *at, const oz_link_pair *links,
                             uint64_t count, ooze_message *why);
ooze_result oz_cpu_links_get(oz_backend *b, const uint32_t *at, oz_link_pair *out, uint64_t *count,
                             ooze_message *why);
ooze_result oz_cpu_links_reserve(oz_cpu *cpu, uint32_t capacity, ooze_message *why);
void oz_cpu_links_move(oz_cpu *cpu, uint32_t kept, uint32_t all);
void oz_cpu_links_resize(oz_cpu *cpu, uint32_t count);
void oz_cpu_links_frame(const oz_cpu *cpu, oz_frame *f);
void oz_cpu_links_release(oz_cpu *cpu);

/* copies.c */
ooze_result oz_cpu_copy_take(oz_backend *b, const oz_copy_request *request, oz_copy **copy,
                             ooze_message *why);
ooze_result oz_cpu_copy_words(oz_copy *copy, oz_field field, const void **out, ooze_message *why);
uint64_t oz_cpu_copy_bytes(const oz_copy *copy);
void oz_cpu_copy_drop(oz_copy *copy);

/* arrays.c */
ooze_result oz_cpu_reserve(oz_backend *b, uint32_t count, ooze_message *why);
ooze_result oz_cpu_resize(oz_backend *b, uint32_t count, ooze_message *why);
void oz_cpu_frame(oz_backend *b, oz_frame *f);
ooze_result oz_cpu_download(oz_backend *b, oz_field field, uint32_t first, uint32_t count,
                            void *out, ooze_message *why);
ooze_result oz_cpu_upload(oz_backend *b, oz_field field, uint32_t first, uint32_t count,
                          const void *in, ooze_message *why);
int oz_cpu_has(const oz_backend *b, oz_field field);
ooze_result oz_cpu_provide(oz_backend *b, oz_field field, ooze_message *why);
const void *oz_cpu_memory(const oz_backend *b, oz_field field);
void oz_cpu_fields_release(oz_cpu *cpu);
ooze_result oz_cpu_compact(oz_backend *b, const uint8_t *keep, uint32_t *out_count,
                           ooze_message *why);
/* Brings the state of the first `count` particles into the order cpu->order. */
void oz_cpu_permute(oz_cpu *cpu, uint32_t count);

#define OZ_CPU(b) ((oz_cpu *)(b))
/* Items of `n` in a task: from `begin` to `end`. */
#define OZ_CHUNK_RANGE(n) \
  const uint32_t begin = chunk * OZ_CHUNK, end = begin + OZ_CHUNK < (n) ? begin + OZ_CHUNK : (n)

#endif
