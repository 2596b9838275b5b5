/* Copies of fields in public order (base/backend.h). SPDX-License-Identifier: Apache-2.0 */
#include "cpu/cpu.h"

struct oz_copy {
  oz_memory *memory;
  void *block;
  size_t block_bytes;
  const float *words[OZ_FIELD_COUNT]; /* NULL: not in it */
};

enum { RECORD = 0, PLANES = 1, WIDE = 0 };
static const struct {
  uint8_t words, planes, result;
} shapes[OZ_FIELD_COUNT] = {
#define OZ_FIELD(name, member, words, layout) {words, layout, 0},
#define OZ_OPTIONAL(name, member, words, layout, fallback) {words, layout, 0},
#define OZ_RESULT(name, member, words, layout) {words, layout, 1},
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
#undef OZ_RESULT
};

typedef struct copy_job {
  const uint32_t *rank;
  uint32_t parts, all, count, results;
  struct {
    const float *from;
    float *to;
    size_t plane;         /* words from plane to plane */
    uint32_t step, words; /* of a record; of its copy */
    uint32_t end;         /* places from here on are 0 */
  } part[OZ_FIELD_COUNT];
} copy_job;

static void copy_chunk(void *arg, uint32_t chunk) {
  const copy_job *job = arg;
  OZ_CHUNK_RANGE(job->all);
  for (uint32_t p = 0; p < job->parts; p++) {
    const uint32_t words = job->part[p].words, step = job->part[p].step, last = job->part[p].end;
    const size_t plane = job->part[p].plane;
    for (uint32_t i = begin; i < end; i++) {
      const uint32_t rank = job->rank[i];
      if (rank >= job->count) continue; /* a boundary particle */
      const float *from = job->part[p].from + (size_t)i * step;
      float *to = job->part[p].to + (size_t)rank * words;
      if (i >= last)
        memset(to, 0, words * sizeof *to);
      else
        for (uint32_t k = 0; k < words; k++) memcpy(to + k, from + k * plane, sizeof *to);
    }
  }
}

ooze_result oz_cpu_copy_take(oz_backend *b, const oz_copy_request *request, oz_copy **copy,
                             ooze_message *why) {
  oz_cpu *cpu = OZ_CPU(b);
  oz_copy *c = *copy;
  size_t words = 0;
  if (!c) c = oz_alloc(cpu->memory, sizeof *c);
  if (!c) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for a copy of the particles");
  c->memory = cpu->memory;
  *copy = c;
  memset(c->words, 0, sizeof c->words);
  for (int k = 0; k < OZ_FIELD_COUNT; k++)
    if (request->fields >> k & 1 && oz_cpu_memory(b, (oz_field)k))
      words += oz_copied_words((oz_field)k);
  const size_t bytes = words * cpu->capacity * sizeof(float);
  if (!oz_grow(cpu->memory, &c->block, &c->block_bytes, bytes, 0) && bytes)
    return oz_fail(why, OOZE_ERROR_MEMORY,
                   "no memory for a copy of %u particles: %zu bytes were refused", cpu->count,
                   bytes);
  copy_job job = {.all = cpu->count, .count = request->count};
  job.rank = oz_cpu_memory(b, OZ_FIELD_RANK);
  float *at = c->block;
  for (int k = 0; k < OZ_FIELD_COUNT; k++) {
    const float *from = oz_cpu_memory(b, (oz_field)k);
    if (!(request->fields >> k & 1) || !from) continue;
    const uint32_t p = job.parts++;
    job.part[p].from = from;
    job.part[p].to = at;
    job.part[p].words = oz_copied_words((oz_field)k);
    job.part[p].step = shapes[k].planes ? 1 : shapes[k].words;
    job.part[p].plane = shapes[k].planes ? cpu->arrays.stride : 1;
    job.part[p].end = shapes[k].result ? request->results : UINT32_MAX;
    c->words[k] = at;
    at += (size_t)job.part[p].words * cpu->capacity;
  }
  if (cpu->count)
    cpu->tasks->run(cpu->tasks, oz_cpu_chunks(cpu->count, OZ_CHUNK), copy_chunk, &job);
  return OOZE_OK;
}

ooze_result oz_cpu_copy_words(oz_copy *copy, oz_field field, const void **out, ooze_message *why) {
  (void)why;
  *out = copy->words[field];
  return OOZE_OK;
}

uint64_t oz_cpu_copy_bytes(const oz_copy *copy) {
  (void)copy; /* all of it is counted by the memory hooks */
  return 0;
}

void oz_cpu_copy_drop(oz_copy *copy) {
  if (!copy) return;
  oz_free(copy->memory, copy->block);
  oz_free(copy->memory, copy);
}
