/* Neighbour lists (docs/theory/neighbours.md). One search a substep at the start positions fills
 * two sets of rows: the start rows, within h, and the margin, a little beyond. The density list
 * uses the start rows and the margin pairs that come within reach, as long as no displacement
 * exceeds the margin; otherwise the pairs missing from the start rows are searched for at the
 * current positions and stored in the margin's place.
 *
 * Where a model leaves out slow pairs (OZ_MIN_APPROACH), there is no margin: start rows suffice as
 * long as no two displacements differ by more, and the search at the current positions skips cells
 * of which this is known. SPDX-License-Identifier: Apache-2.0 */
#include "cpu/cpu.h"

#include <math.h>

typedef struct list_job {
  oz_cpu *cpu;
  oz_search *search;
} list_job;

static void search_chunk(void *arg, uint32_t chunk) {
  const list_job *job = arg;
  const uint32_t begin = chunk * OZ_CELL_CHUNK;
  uint32_t end = begin + OZ_CELL_CHUNK;
  if (end > job->search->cells) end = job->search->cells;
  job->cpu->isa->search(job->search, begin, end);
}

static void narrow_chunk(void *arg, uint32_t chunk) {
  const list_job *job = arg;
  OZ_CHUNK_RANGE(job->cpu->count);
  job->cpu->isa->narrow(job->search, begin, end);
}

/* Makes room for that many pages of rows. */
static ooze_result rows_room(oz_cpu *cpu, oz_rows *rows, size_t *bytes, uint64_t pages,
                             ooze_message *why) {
  if (pages * (OZ_PAGE / 4) > OZ_WIDE)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%llu words of neighbour rows; a list holds 8589934592",
                   (unsigned long long)(pages * OZ_PAGE));
  if (!oz_grow(cpu->memory, (void **)&rows->words, bytes,
               (size_t)pages * OZ_PAGE * sizeof(uint16_t), 0))
    return oz_fail(why, OOZE_ERROR_MEMORY,
                   "no memory for %llu words of neighbour rows of %u particles",
                   (unsigned long long)(pages * OZ_PAGE), cpu->count);
  rows->pages = (uint32_t)(*bytes / sizeof(uint16_t) / OZ_PAGE);
  return OOZE_OK;
}
/* A first guess, in words a particle; missing pages are added once their number is known. */
static ooze_result rows_begin(oz_cpu *cpu, oz_rows *rows, size_t *bytes, uint32_t words,
                              ooze_message *why) {
  if (rows->pages) return OOZE_OK;
  return rows_room(cpu, rows, bytes,
                   (uint64_t)cpu->count * words / OZ_PAGE + oz_cpu_chunks(cpu->count, OZ_CHUNK) + 4,
                   why);
}
/* Number of pages that tasks have asked for, with some to spare. */
static ooze_result rows_grow(oz_cpu *cpu, oz_rows *rows, size_t *bytes, ooze_message *why) {
  const uint64_t pages = atomic_load(&rows->next);
  return pages > rows->pages ? rows_room(cpu, rows, bytes, pages + pages / 16 + 4, why) : OOZE_OK;
}

/* Runs the search, making the rows larger until everything fits. */
static ooze_result search_all(oz_cpu *cpu, oz_search *s, size_t *main_bytes, size_t *outer_bytes,
                              ooze_message *why) {
  list_job job = {cpu, s};
  for (;;) {
    atomic_store(&s->main->next, 0);
    if (s->outer) atomic_store(&s->outer->next, 0);
    atomic_store(&s->overflow, 0);
    OZ_TRY(oz_cpu_run_chunks(cpu, oz_cpu_chunks(s->cells, OZ_CELL_CHUNK), search_chunk, &job, why));
    if (!atomic_load(&s->overflow)) return OOZE_OK;
    OZ_TRY(rows_grow(cpu, s->main, main_bytes, why));
    if (s->outer) OZ_TRY(rows_grow(cpu, s->outer, outer_bytes, why));
  }
}

typedef struct box_job {
  const oz_frame *f;
  const float *v, *from; /* record 4; `from`, which may be NULL, is subtracted */
  float *box;            /* 6 a chunk: least and greatest */
} box_job;
static void box_chunk(void *arg, uint32_t chunk) {
  const box_job *job = arg;
  OZ_CHUNK_RANGE(job->f->count);
  float lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (uint32_t i = begin; i < end; i++)
    for (int c = 0; c < 3; c++) {
      const float y = job->v[4 * (size_t)i + c] - (job->from ? job->from[4 * (size_t)i + c] : 0.0f);
      if (y < lo[c]) lo[c] = y;
      if (y > hi[c]) hi[c] = y;
    }
  for (int c = 0; c < 3; c++)
    job->box[6 * (size_t)chunk + c] = lo[c], job->box[6 * (size_t)chunk + 3 + c] = hi[c];
}

/* Two particles that were further apart than h + margin are still beyond h if no two displacements
 * differ by more than the margin: the diagonal of the box of all displacements bounds that. */
static float spread_of(oz_cpu *cpu, const oz_frame *f, const float *v, const float *from) {
  const uint32_t chunks = oz_cpu_chunks(cpu->count, OZ_CHUNK);
  box_job job = {f, v, from, (float *)cpu->partial}; /* 6 floats fit in OZ_REDUCTIONS doubles */
  cpu->tasks->run(cpu->tasks, chunks, box_chunk, &job);
  float lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY}, s = 0.0f;
  for (uint32_t k = 0; k < chunks; k++)
    for (int c = 0; c < 3; c++) {
      lo[c] = fminf(lo[c], job.box[6 * (size_t)k + c]);
      hi[c] = fmaxf(hi[c], job.box[6 * (size_t)k + 3 + c]);
    }
  for (int c = 0; c < 3; c++) s += (hi[c] - lo[c]) * (hi[c] - lo[c]);
  return sqrtf(s);
}

/* If displacements differ by less than this part of h, a pair that was beyond h and is now within
 * it adds less than 1e-5 of the density: (1 - 0.98^2)^3 of a particle's own part. Then no margin is
 * needed at all. */
#define OZ_STILL 0.02f
/* Twice as much for a model that evaluates its kernels anew and searches at predicted positions:
 * 1e-4 of a particle's own part. */
#define OZ_FORESEEN 0.04f

typedef struct ahead_job {
  const oz_frame *f;
  float *to;
} ahead_job;
static void ahead_chunk(void *arg, uint32_t chunk) {
  const ahead_job *job = arg;
  const oz_frame *f = job->f;
  OZ_CHUNK_RANGE(f->count);
  for (size_t k = 4 * (size_t)begin; k < 4 * (size_t)end; k++)
    job->to[k] = f->x[k] + f->dt * f->u[k];
}

ooze_result oz_cpu_lists(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  OZ_TRY(oz_cpu_go_on(cpu, why));
  const double t0 = oz_seconds();
  OZ_TRY(oz_cpu_cells(cpu, &cpu->cells, why));
  OZ_TRY(rows_begin(cpu, &cpu->c, &cpu->c_bytes, f->rows_without_gradients ? 30 : 60, why));
  oz_search s;
  memset(&s, 0, sizeof s);
  s.f = f;
  s.at = f->x;
  s.cell_key = cpu->cells.key, s.cell_start = cpu->cells.start, s.cells = cpu->cells.count;
  s.hash = cpu->cells.hash, s.hash_mask = cpu->cells.hash_mask, s.cell_kinds = cpu->cells.kinds;
  s.radius2 = f->h2;
  /* no margin rows where velocities already show that they would not suffice, or that none is
   * needed */
  const int calms = f->min_approach2 > 0.0f;
  const float spread = f->single_search || calms ? 0.0f : spread_of(cpu, f, f->u, NULL) * f->dt;
  cpu->foreseen = f->single_search != 0;
  cpu->still = cpu->foreseen || (!calms && spread <= 0.75f * OZ_STILL * f->h);
  cpu->has_margin = !cpu->still && !calms && spread <= 0.67f * f->margin;
  /* A has room for them before the sort's keys, and no stage of such a model writes it */
  if (cpu->foreseen) {
    ahead_job ahead = {f, f->A};
    cpu->tasks->run(cpu->tasks, oz_cpu_chunks(cpu->count, OZ_CHUNK), ahead_chunk, &ahead);
    s.at = f->A;
    s.radius2 = f->reach * f->reach;
  }
  f->start_list_x = s.at, f->start_list_radius2 = s.radius2;
  s.pad_weight = cpu->pad_weight_d;
  cpu->pad_is_c = 1;
  if (cpu->has_margin) {
    s.margin2 = (f->h + f->margin) * (f->h + f->margin);
    OZ_TRY(rows_begin(cpu, &cpu->x, &cpu->x_bytes, 12, why));
  }
  s.main = &cpu->c, s.outer = &cpu->x;
  s.weights = !f->rows_without_gradients;
  s.narrow = cpu->narrow;
  s.neighbours = f->neighbours;
  OZ_TRY(search_all(cpu, &s, &cpu->c_bytes, &cpu->x_bytes, why));
  f->start_entries = cpu->c.words, f->start_row = cpu->c.row, f->start_length = cpu->c.len;
  f->start = f->x;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < cpu->count; i++) sum += f->neighbours[i];
  out->mean_neighbours = cpu->count ? (double)sum / cpu->count : 0.0;
  cpu->seconds[OZ_TIMER_LISTS] += oz_seconds() - t0;
  cpu->calls[OZ_TIMER_LISTS]++;
  return OOZE_OK;
}

typedef struct copy_job {
  const oz_cpu *cpu;
  const float *at;
  float *to;
} copy_job;
static void copy_chunk(void *arg, uint32_t chunk) {
  const copy_job *job = arg;
  OZ_CHUNK_RANGE(job->cpu->count);
  for (uint32_t k = begin; k < end; k++)
    memcpy(job->to + 4 * (size_t)k, job->at + 4 * (size_t)job->cpu->order[k], 16);
}

typedef struct moved_job {
  const oz_cpu *cpu;
  const oz_frame *f;
} moved_job;
static void moved_chunk(void *arg, uint32_t chunk) {
  const moved_job *job = arg;
  const oz_cells *cells = &job->cpu->cells_d;
  const float *p = job->f->p, *x = job->f->x;
  const uint32_t begin = chunk * OZ_CELL_CHUNK,
                 end = begin + OZ_CELL_CHUNK < cells->count ? begin + OZ_CELL_CHUNK : cells->count;
  for (uint32_t cell = begin; cell < end; cell++) {
    oz_motion m = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (uint32_t k = cells->start[cell]; k < cells->start[cell + 1]; k++) {
      const size_t i = 4 * (size_t)job->cpu->order[k];
      for (int c = 0; c < 3; c++) {
        const float y = p[i + c] - x[i + c];
        m.low[c] = y < m.low[c] ? y : m.low[c], m.high[c] = y > m.high[c] ? y : m.high[c];
      }
    }
    cells->moved[cell] = m;
  }
}

/* Padding of the start rows in the density, if a new list has written its own there. */
static void pad_weight_of_c(oz_cpu *cpu, const oz_frame *f) {
  if (!cpu->pad_is_c)
    for (uint32_t i = 0; i < cpu->count; i++)
      cpu->pad_weight_d[i] = (float)(cpu->c.len[i] - f->neighbours[i]) * f->w_self;
  cpu->pad_is_c = 1;
}

ooze_result oz_cpu_density_list(oz_backend *b, oz_frame *f, oz_build_result *out,
                                ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  OZ_TRY(oz_cpu_go_on(cpu, why));
  const double t0 = oz_seconds();
  const int calms = f->min_approach2 > 0.0f;
  const float spread = calms           ? spread_of(cpu, f, f->p, f->x)
                       : cpu->foreseen ? spread_of(cpu, f, f->p, f->A)
                                       : spread_of(cpu, f, f->y, NULL);
  oz_search s;
  memset(&s, 0, sizeof s);
  s.f = f;
  s.main = &cpu->x;
  s.narrow = cpu->narrow;
  s.pad_weight = cpu->pad_weight_d;
  s.radius2 = f->reach * f->reach;
  /* the start rows suffice where nothing moves; with the margin rows, if no pair beyond the margin
   * can be within reach */
  const int still =
      calms ? oz_calm(spread * spread, f->min_approach2)
            : cpu->still && spread <= (cpu->foreseen ? OZ_FORESEEN * f->h + f->reach - f->h
                                                     : OZ_STILL * f->h);
  const int narrow = !still && cpu->has_margin && spread <= f->h + f->margin - f->reach;
  out->rebuilt = !still && !narrow;
  f->density_entries[0] = cpu->c.words, f->density_row[0] = cpu->c.row,
  f->density_length[0] = cpu->c.len;
  f->density_entries[1] = NULL, f->density_row[1] = NULL, f->density_length[1] = NULL;
  f->pad_weight = cpu->pad_weight_d;
  if (still)
    pad_weight_of_c(cpu, f);
  else {
    cpu->pad_is_c = 0;
    /* its rows are now those of the density list; a further list in this substep is searched anew
     */
    cpu->has_margin = 0;
    OZ_TRY(rows_begin(cpu, &cpu->x, &cpu->x_bytes, 8, why));
  }
  if (narrow) {
    list_job job = {cpu, &s};
    s.wide = &cpu->c;
    cpu->tasks->run(cpu->tasks, oz_cpu_chunks(cpu->count, OZ_CHUNK), narrow_chunk, &job);
    f->density_entries[1] = cpu->x.words, f->density_row[1] = cpu->x.row,
    f->density_length[1] = cpu->x.len;
  } else if (!still) {
    oz_cpu_order(cpu, f, f->p, NULL, 0.0f, oz_cpu_cell(f));
    const int anew = f->start_list_x != f->x; /* the positions of the start rows are about to be
                                               * overwritten */
    cpu->foreseen = 0;
    if (!anew) s.wide = &cpu->c;
    OZ_TRY(oz_cpu_cells(cpu, &cpu->cells_d, why));
    copy_job copy = {cpu, f->p, f->A}; /* A is free until the first strain */
    cpu->tasks->run(cpu->tasks, oz_cpu_chunks(cpu->count, OZ_CHUNK), copy_chunk, &copy);
    if (calms) {
      oz_cells *cells = &cpu->cells_d;
      moved_job moved = {cpu, f};
      if (!oz_grow(cpu->memory, (void **)&cells->moved, &cells->moved_bytes,
                   cells->key_bytes / sizeof *cells->key * sizeof *cells->moved, 0))
        return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u neighbour cells", cells->count);
      cpu->tasks->run(cpu->tasks, oz_cpu_chunks(cells->count, OZ_CELL_CHUNK), moved_chunk, &moved);
      s.moved = cells->moved;
    }
    s.at = f->A;
    s.index = cpu->order;
    s.cell_key = cpu->cells_d.key, s.cell_start = cpu->cells_d.start, s.cells = cpu->cells_d.count;
    s.hash = cpu->cells_d.hash, s.hash_mask = cpu->cells_d.hash_mask,
    s.cell_kinds = cpu->cells_d.kinds;
    OZ_TRY(search_all(cpu, &s, &cpu->x_bytes, NULL, why));
    const int part = !anew;
    f->density_entries[part] = cpu->x.words, f->density_row[part] = cpu->x.row,
    f->density_length[part] = cpu->x.len;
  }
  cpu->seconds[OZ_TIMER_DENSITY_LIST] += oz_seconds() - t0;
  cpu->calls[OZ_TIMER_DENSITY_LIST]++;
  return OOZE_OK;
}
