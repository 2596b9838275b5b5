/* Links on the CPU: two sets of rows, one of which is remade from the other by a rule. Sorting and
 * removing leave the entries in place: rows change places, other ends their indices.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cpu/cpu.h"

enum { NONE = UINT32_MAX };

/* ---- memory: none until there is a link ---- */

static ooze_result refused(uint64_t entries, ooze_message *why) {
  return oz_fail(why, OOZE_ERROR_MEMORY,
                 "no memory for links: %llu entries of 16 bytes were refused",
                 (unsigned long long)entries);
}
static ooze_result rows_of_particles(oz_cpu *cpu, uint32_t capacity, ooze_message *why) {
  for (int k = 0; k < 2; k++) {
    oz_link_rows *r = &cpu->links[k];
    if (!oz_grow(cpu->memory, (void **)&r->row, &r->row_bytes, capacity * sizeof *r->row,
                 r->row_bytes) ||
        !oz_grow(cpu->memory, (void **)&r->len, &r->len_bytes, capacity * sizeof *r->len,
                 r->len_bytes))
      return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the links of %u particles", capacity);
  }
  if (!oz_grow(cpu->memory, (void **)&cpu->link_fused_length, &cpu->link_all_bytes,
               capacity * sizeof *cpu->link_fused_length, 0))
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the links of %u particles", capacity);
  return OOZE_OK;
}
ooze_result oz_cpu_links_reserve(oz_cpu *cpu, uint32_t capacity, ooze_message *why) {
  return cpu->has_links ? rows_of_particles(cpu, capacity, why) : OOZE_OK;
}

/* Room for that many pages in a set; its contents are lost. */
static ooze_result pages_room(oz_cpu *cpu, oz_link_rows *r, uint64_t pages, ooze_message *why) {
  const uint64_t room = pages * OZ_PAGE;
  if (room > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%llu link entries; 4294967295 fit",
                   (unsigned long long)room);
  if (pages <= r->pages) return OOZE_OK;
  if (!oz_grow(cpu->memory, (void **)&r->j, &r->j_bytes, room * sizeof *r->j, 0) ||
      !oz_grow(cpu->memory, (void **)&r->rest, &r->rest_bytes, room * sizeof *r->rest, 0) ||
      !oz_grow(cpu->memory, (void **)&r->kind, &r->kind_bytes, room * sizeof *r->kind, 0) ||
      !oz_grow(cpu->memory, (void **)&r->spare, &r->spare_bytes, room * sizeof *r->spare, 0))
    return refused(room, why);
  r->pages = (uint32_t)pages;
  return OOZE_OK;
}
/* Pages for that many entries: each task leaves the end of a page unused, and each page the end
 * where a row did not fit. */
static uint64_t pages_for(const oz_cpu *cpu, uint64_t entries) {
  return (entries + entries / 8) / OZ_PAGE + oz_cpu_chunks(cpu->capacity, OZ_CHUNK) + 4;
}

void oz_cpu_links_release(oz_cpu *cpu) {
  for (int k = 0; k < 2; k++) {
    oz_link_rows *r = &cpu->links[k];
    void *all[] = {r->row, r->len, r->j, r->rest, r->kind, r->spare};
    for (size_t m = 0; m < sizeof all / sizeof *all; m++) oz_free(cpu->memory, all[m]);
  }
  oz_free(cpu->memory, cpu->link_fused_length);
  oz_free(cpu->memory, cpu->link_share);
}

void oz_cpu_links_frame(const oz_cpu *cpu, oz_frame *f) {
  const oz_link_rows *r = &cpu->links[cpu->links_now];
  const int any = cpu->has_links;
  f->link_row = any ? r->row : NULL, f->link_len = any ? r->len : NULL;
  f->link_j = r->j, f->link_rest = r->rest, f->link_kind = r->kind, f->link_spare = r->spare;
  f->link_share = cpu->link_share ? cpu->link_share : r->spare,
  f->link_fused_length = cpu->link_fused_length;
}

/* ---- particles come, go and change places ---- */

typedef struct move_job {
  oz_cpu *cpu;
  oz_link_rows *now, *next; /* the next set lends its row and len */
  uint32_t kept, all;
} move_job;

static void none_chunk(void *arg, uint32_t chunk) {
  const move_job *job = arg;
  OZ_CHUNK_RANGE(job->all);
  for (uint32_t i = begin; i < end; i++) job->cpu->order2[i] = NONE;
}
static void inverse_chunk(void *arg, uint32_t chunk) {
  const move_job *job = arg;
  OZ_CHUNK_RANGE(job->kept);
  for (uint32_t i = begin; i < end; i++) job->cpu->order2[job->cpu->order[i]] = i;
}
static void move_chunk(void *arg, uint32_t chunk) {
  move_job *job = arg;
  oz_link_rows *r = job->now;
  const uint32_t *to = job->cpu->order2, lanes = job->cpu->isa->lanes;
  OZ_CHUNK_RANGE(job->kept);
  for (uint32_t i = begin; i < end; i++) {
    const uint32_t was = job->cpu->order[i], row = r->row[was], len = r->len[was];
    uint32_t n = 0;
    for (uint32_t m = 0; m < len; m++) {
      const uint32_t j = to[r->j[row + m]];
      if (j == NONE) continue; /* the other end was removed */
      r->j[row + n] = j;
      if (n != m)
        r->rest[row + n] = r->rest[row + m], r->kind[row + n] = r->kind[row + m],
                      r->spare[row + n] = r->spare[row + m];
      n++;
    }
    for (uint32_t m = n; m < (len + lanes - 1) / lanes * lanes; m++)
      r->j[row + m] = i, r->rest[row + m] = 0.0f, r->kind[row + m] = 0, r->spare[row + m] = 0.0f;
    job->next->row[i] = row;
    job->next->len[i] = (uint16_t)n;
  }
}

/* cpu->order holds the old indices of the first `kept` of `all` particles. */
void oz_cpu_links_move(oz_cpu *cpu, uint32_t kept, uint32_t all) {
  if (!cpu->has_links) return;
  oz_link_rows *now = &cpu->links[cpu->links_now], *next = &cpu->links[1 - cpu->links_now];
  move_job job = {cpu, now, next, kept, all};
  if (kept < all) cpu->tasks->run(cpu->tasks, oz_cpu_chunks(all, OZ_CHUNK), none_chunk, &job);
  if (kept) {
    cpu->tasks->run(cpu->tasks, oz_cpu_chunks(kept, OZ_CHUNK), inverse_chunk, &job);
    cpu->tasks->run(cpu->tasks, oz_cpu_chunks(kept, OZ_CHUNK), move_chunk, &job);
  }
  uint32_t *row = now->row;
  uint16_t *len = now->len;
  const size_t row_bytes = now->row_bytes, len_bytes = now->len_bytes;
  now->row = next->row, now->len = next->len, now->row_bytes = next->row_bytes,
  now->len_bytes = next->len_bytes;
  next->row = row, next->len = len, next->row_bytes = row_bytes, next->len_bytes = len_bytes;
}

/* There are `count` particles now; new ones have no links. */
void oz_cpu_links_resize(oz_cpu *cpu, uint32_t count) {
  oz_link_rows *r = &cpu->links[cpu->links_now];
  if (!cpu->has_links) return;
  if (count > cpu->count) memset(r->len + cpu->count, 0, (count - cpu->count) * sizeof *r->len);
  if (count > cpu->count) memset(r->row + cpu->count, 0, (count - cpu->count) * sizeof *r->row);
  if (count >= cpu->count) return;
  for (uint32_t i = 0; i < count; i++) cpu->order[i] = i;
  oz_cpu_links_move(cpu, count, cpu->count);
}

/* ---- the rule ---- */

typedef struct relink_job {
  oz_cpu *cpu;
  oz_relink *s;
} relink_job;
static void relink_chunk(void *arg, uint32_t chunk) {
  const relink_job *job = arg;
  OZ_CHUNK_RANGE(job->cpu->count);
  job->cpu->isa->relink(job->s, begin, end);
}

/* The first links: empty rows for all particles. */
static ooze_result begin_links(oz_cpu *cpu, ooze_message *why) {
  if (cpu->has_links || !cpu->capacity) return OOZE_OK;
  OZ_TRY(rows_of_particles(cpu, cpu->capacity, why));
  for (int k = 0; k < 2; k++) {
    memset(cpu->links[k].row, 0, cpu->links[k].row_bytes);
    memset(cpu->links[k].len, 0, cpu->links[k].len_bytes);
    OZ_TRY(pages_room(cpu, &cpu->links[k], 1, why));
  }
  cpu->has_links = 1;
  return OOZE_OK;
}

ooze_result oz_cpu_links_update(oz_backend *b, oz_frame *f, uint32_t rule, ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  const double t0 = oz_seconds();
  const int first = !cpu->has_links;
  OZ_TRY(begin_links(cpu, why));
  if (!cpu->has_links) return OOZE_OK;
  oz_cpu_links_frame(cpu, f);
  oz_link_rows *from = &cpu->links[cpu->links_now], *to = &cpu->links[1 - cpu->links_now];
  oz_relink s = {f, rule, from, to, cpu->link_fused_length, NULL, 0};
  relink_job job = {cpu, &s};
  uint64_t pages = first ? pages_for(cpu, (uint64_t)cpu->count * 40) : from->pages;
  for (;;) {
    OZ_TRY(pages_room(cpu, to, pages, why));
    if (rule == OZ_RULE_LINKS &&
        !oz_grow(cpu->memory, (void **)&cpu->link_share, &cpu->link_share_bytes,
                 (size_t)to->pages * OZ_PAGE * sizeof(float), 0))
      return refused((uint64_t)to->pages * OZ_PAGE, why);
    s.share = cpu->link_share;
    atomic_store(&to->next, 0);
    atomic_store(&s.overflow, 0);
    cpu->tasks->run(cpu->tasks, oz_cpu_chunks(cpu->count, OZ_CHUNK), relink_chunk, &job);
    if (!atomic_load(&s.overflow)) break;
    /* a task without a page does not report how many more it needs */
    pages = (uint64_t)to->pages * 5 / 4 + 4;
  }
  cpu->links_now = 1 - cpu->links_now;
  oz_cpu_links_frame(cpu, f);
  cpu->seconds[OZ_TIMER_LINKS] += oz_seconds() - t0;
  cpu->calls[OZ_TIMER_LINKS]++;
  return OOZE_OK;
}

/* ---- to and from the host ---- */

/* As oz_link_has_row, which is for stages. */
static int has_row(const oz_cpu *cpu, uint32_t i) {
  return !cpu->arrays.owner || cpu->arrays.owner[i] >> OZ_OWNER_SHIFT != OZ_OWNER_BOUNDARY;
}

ooze_result oz_cpu_links_put(oz_backend *b, const uint32_t *at, const oz_link_pair *links,
                             uint64_t count, ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  const uint32_t lanes = cpu->isa->lanes;
  if (!cpu->has_links && !count) return OOZE_OK;
  OZ_TRY(begin_links(cpu, why));
  oz_link_rows *to = &cpu->links[1 - cpu->links_now];
  /* at worst every row is padded almost by a group */
  OZ_TRY(
      pages_room(cpu, to, pages_for(cpu, 2 * count + (uint64_t)cpu->capacity * (lanes - 1)), why));
  if (!at) return OOZE_OK; /* a call that only reserves memory */
  memset(to->len, 0, cpu->count * sizeof *to->len);
  for (uint64_t k = 0; k < count; k++)
    for (int turn = 0; turn < 2; turn++) {
      const uint32_t i = at[turn ? links[k].b : links[k].a];
      if (has_row(cpu, i)) to->len[i]++;
    }
  uint32_t next = 0;
  for (uint32_t i = 0; i < cpu->count; i++) {
    const uint32_t pn = (to->len[i] + lanes - 1) / lanes * lanes;
    if (next % OZ_PAGE + pn > OZ_PAGE) next = (next / OZ_PAGE + 1) * OZ_PAGE;
    to->row[i] = next;
    for (uint32_t m = to->len[i]; m < pn; m++)
      to->j[next + m] = i, to->rest[next + m] = 0.0f, to->kind[next + m] = 0,
                   to->spare[next + m] = 0.0f;
    next += pn;
    to->len[i] = 0;
  }
  /* in ascending (a, b), each row comes out in ascending rank of the other end */
  for (uint64_t k = 0; k < count; k++) {
    const oz_link_pair *l = &links[k];
    for (int turn = 0; turn < 2; turn++) {
      const uint32_t i = at[turn ? l->b : l->a];
      if (!has_row(cpu, i)) continue;
      const uint32_t e = to->row[i] + to->len[i]++;
      to->j[e] = at[turn ? l->a : l->b];
      to->rest[e] = l->rest, to->kind[e] = l->kind, to->spare[e] = l->spare;
    }
  }
  atomic_store(&to->next, next / OZ_PAGE + 1);
  cpu->links_now = 1 - cpu->links_now;
  return OOZE_OK;
}

ooze_result oz_cpu_links_get(oz_backend *b, const uint32_t *at, oz_link_pair *out, uint64_t *count,
                             ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  (void)why;
  oz_link_rows *r = &cpu->links[cpu->links_now];
  uint64_t n = 0;
  const uint64_t room = out ? *count : 0;
  for (uint32_t rank = 0; cpu->has_links && rank < cpu->count; rank++) {
    const uint32_t i = at[rank];
    for (uint32_t m = 0; m < r->len[i]; m++) {
      const uint32_t e = r->row[i] + m, other = cpu->arrays.rank[r->j[e]];
      if (other <= rank) continue; /* reported from the other end already */
      if (n < room) out[n] = (oz_link_pair){rank, other, r->rest[e], r->kind[e], r->spare[e]};
      n++;
    }
  }
  *count = n;
  return OOZE_OK;
}
