/* Captures: the state of one moment, for a reader beside the simulation.
 *
 * Taking one copies the particles in public order within the backend's memory and writes everything
 * else, which is little, into a block. Reading touches neither the solver nor its backend's arrays.
 * A backend that has no memory for a copy is read at once, field by field.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/tasks.h"
#include "core/attributes.h"
#include "core/checkpoint.h"
#include "core/links.h"
#include "core/particles.h"

struct ooze_capture {
  ooze_solver *solver;
  ooze_message message;
  oz_copy *copy;
  void *fallback[OZ_FIELD_COUNT]; /* where the backend made no copy */
  size_t fallback_bytes[OZ_FIELD_COUNT];
  uint64_t fallback_fields; /* bits of oz_field: valid ones */
  int has_fallback, taken;
  oz_loop loop;

  oz_header header;
  float volume, stress_scale;
  uint32_t split_compliance;
  ooze_material *materials;
  size_t materials_capacity;
  void *head; /* of the checkpoint */
  size_t head_bytes, head_capacity;
  oz_link_pair *links;
  size_t links_capacity;
  uint64_t link_count;
  ooze_params params;
  oz_label_copy labels;
};

ooze_result ooze_capture_create(ooze_solver *s, ooze_capture **out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (!out) return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "capture: out is NULL");
  *out = oz_alloc(&s->memory, sizeof **out);
  if (!*out) return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory for a capture");
  (*out)->solver = s;
  oz_loop_open(&(*out)->loop, &s->memory.hooks, s->threads);
  return OOZE_OK;
}

void ooze_capture_destroy(ooze_capture *c) {
  if (!c) return;
  oz_memory *m = &c->solver->memory;
  if (c->copy) c->solver->backend->table->copy_drop(c->copy);
  for (int k = 0; k < OZ_FIELD_COUNT; ++k) oz_free(m, c->fallback[k]);
  oz_free(m, c->materials);
  oz_free(m, c->head);
  oz_free(m, c->links);
  oz_labels_copy_release(c->solver, &c->labels);
  oz_loop_close(&c->loop);
  oz_free(m, c);
}

/* ---- taking ---- */

static uint64_t bit(oz_field field) { return UINT64_C(1) << field; }

/* The field that an attribute is read from: its own, or the material's number. */
static oz_field field_read(const ooze_solver *s, ooze_attribute a) {
  const oz_field field = oz_attribute_field(a);
  const int of_material =
      !oz_field_there(s, field) && oz_field_shapes[field].fallback == OZ_FALLBACK_MATTER;
  return of_material ? OZ_FIELD_MATERIAL : field;
}

static ooze_result keep_bytes(ooze_solver *s, void **to, size_t *capacity, const void *from,
                              size_t bytes) {
  OZ_TRY(oz_host_reserve(s, to, capacity, bytes, 0));
  if (bytes && from) memcpy(*to, from, bytes);
  return OOZE_OK;
}

/* Everything but the particles. */
static ooze_result take_rest(ooze_capture *c) {
  ooze_solver *s = c->solver;
  void *materials = c->materials, *links = c->links;
  OZ_TRY(keep_bytes(s, &materials, &c->materials_capacity, s->materials,
                    s->material_count * sizeof *s->materials));
  c->materials = materials;
  c->head_bytes = oz_checkpoint_head(s, NULL);
  OZ_TRY(keep_bytes(s, &c->head, &c->head_capacity, NULL, c->head_bytes));
  (void)oz_checkpoint_head(s, c->head);
  OZ_TRY(oz_links_fetch(s));
  OZ_TRY(keep_bytes(s, &links, &c->links_capacity, s->links.pairs,
                    (size_t)s->links.count * sizeof *s->links.pairs));
  c->links = links;
  c->link_count = s->links.count;
  c->params = s->params;
  return oz_labels_copy(s, &c->labels, &c->loop);
}

/* Field by field through the host's copy, in public order. */
static ooze_result take_fields(ooze_capture *c, const oz_copy_request *request) {
  ooze_solver *s = c->solver;
  const oz_particles *p = &s->particles;
  c->fallback_fields = 0;
  OZ_TRY(oz_rank_map(s));
  for (int k = 0; k < OZ_FIELD_COUNT; ++k) {
    const uint32_t words = oz_copied_words((oz_field)k);
    void *copy;
    if (!(request->fields >> k & 1) || !oz_field_there(s, (oz_field)k)) continue;
    OZ_TRY(oz_host_copy(s, (oz_field)k, &copy));
    OZ_TRY(oz_host_reserve(s, &c->fallback[k], &c->fallback_bytes[k],
                           (size_t)request->count * words * 4, 0));
    uint32_t *to = c->fallback[k];
    for (uint32_t r = 0; r < request->count; ++r)
      for (uint32_t w = 0; w < words; ++w, ++to)
        *to = k >= OZ_FIELD_STATE_COUNT && p->at[r] >= request->results
                  ? 0
                  : ((const uint32_t *)copy)[oz_field_at((oz_field)k, p->count, p->at[r], w)];
    c->fallback_fields |= bit((oz_field)k);
  }
  c->has_fallback = 1;
  return OOZE_OK;
}

ooze_result ooze_capture_take(ooze_capture *c, uint64_t attributes) {
  if (!c) return OOZE_ERROR_ARGUMENT;
  ooze_solver *s = c->solver;
  c->taken = c->has_fallback = 0;
  if (s->lost)
    return oz_fail(s->message, s->lost, "capture: the state is lost; there is nothing to copy");
  if (attributes >> OOZE_ATTRIBUTE_COUNT)
    return oz_fail(s->message, OOZE_ERROR_NOT_FOUND,
                   "capture: there is no attribute behind %d; bits %#llx were given",
                   OOZE_ATTRIBUTE_COUNT - 1, (unsigned long long)attributes);
  OZ_TRY(oz_host_flush(s));
  oz_copy_request request = {0, 0, oz_visible(s), s->particles.results};
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
    const int wanted = attributes >> a & 1;
    if (oz_attribute_is_label((ooze_attribute)a)) continue; /* take_rest has them */
    if (!wanted && !oz_attribute_is_state((ooze_attribute)a)) continue;
    if (!oz_attribute_is_state((ooze_attribute)a) && a != OOZE_MASS && !s->particles.results)
      continue; /* no substep yet: they read 0 */
    const uint64_t field = bit(field_read(s, (ooze_attribute)a));
    request.fields |= field;
    if (wanted) request.fetch |= field;
  }
  OZ_TRY(take_rest(c));
  c->header = oz_checkpoint_header(s);
  c->volume = s->volume;
  c->stress_scale = (float)oz_stress_scale(s);
  c->split_compliance = s->params.split_compliance;
  ooze_result r = s->backend->table->copy_take(s->backend, &request, &c->copy, s->message);
  if (r == OOZE_ERROR_MEMORY) r = take_fields(c, &request);
  c->taken = r >= 0;
  return r;
}

/* ---- reading ---- */

static ooze_result words_of(ooze_capture *c, oz_field field, const void **out) {
  if (!c->has_fallback)
    return c->solver->backend->table->copy_words(c->copy, field, out, &c->message);
  *out = c->fallback_fields & bit(field) ? c->fallback[field] : NULL;
  return OOZE_OK;
}

static ooze_result check(ooze_capture *c, ooze_attribute attribute) {
  if (!c->taken)
    return oz_fail(&c->message, OOZE_ERROR_ARGUMENT, "capture: nothing has been taken");
  if ((uint32_t)attribute >= (uint32_t)OOZE_ATTRIBUTE_COUNT)
    return oz_fail(&c->message, OOZE_ERROR_NOT_FOUND,
                   "capture: there is no attribute %d; expected 0 to %d", (int)attribute,
                   OOZE_ATTRIBUTE_COUNT - 1);
  return OOZE_OK;
}

ooze_result ooze_capture_array(ooze_capture *c, ooze_attribute attribute, const void **out) {
  if (!c || !out) return OOZE_ERROR_ARGUMENT;
  *out = NULL;
  OZ_TRY(check(c, attribute));
  if (oz_attribute_is_label(attribute) && c->labels.present)
    *out = c->labels.rows[attribute - OOZE_BIRTH];
  if (!oz_attribute_is_state(attribute) || c->header.left_out >> attribute & 1) return OOZE_OK;
  return words_of(c, oz_attribute_field(attribute), out);
}

/* Words as they are, or scaled as the attribute's unit wants it. */
typedef struct reading {
  const uint32_t *words; /* NULL: `value` of each particle's material, or 0 */
  const uint32_t *material, *value;
  uint32_t components, materials;
  float scale, less;
  int scaled, traceless;
  uint32_t first;
  size_t stride;
  unsigned char *to;
} reading;

static void read_rows(void *arg, uint32_t begin, uint32_t end) {
  const reading *r = arg;
  const size_t row = r->components * sizeof(uint32_t);
  if (r->words && !r->scaled && r->stride == row) { /* as they lie */
    const uint32_t *from = r->words + ((size_t)r->first + begin) * r->components;
    memcpy(r->to + begin * row, from, (end - begin) * row);
    return;
  }
  for (uint32_t i = begin; i < end; ++i) {
    unsigned char *to = r->to + i * r->stride;
    const size_t rank = (size_t)r->first + i;
    const uint32_t m = r->words || !r->value ? 0 : r->material[rank];
    if (!r->words && !r->value) {
      memset(to, 0, row);
      continue;
    }
    memcpy(to, r->words ? r->words + rank * r->components : r->value + (m < r->materials ? m : 0),
           row);
    for (uint32_t k = 0; r->scaled && k < r->components; ++k) {
      float value;
      memcpy(&value, to + 4 * k, 4);
      value = value * r->scale - r->less;
      memcpy(to + 4 * k, &value, 4);
    }
    if (r->traceless) oz_stress_traceless(to);
  }
}

/* The materials' values of an absent field. */
static ooze_result read_materials(ooze_capture *c, oz_field field, reading *r, uint32_t count) {
  const void *material = NULL;
  OZ_TRY(words_of(c, OZ_FIELD_MATERIAL, &material));
  uint32_t *value = oz_allocate(c->header.materials, sizeof *value);
  if (!value) return oz_fail(&c->message, OOZE_ERROR_MEMORY, "capture: out of memory");
  for (uint32_t m = 0; m < c->header.materials; ++m)
    value[m] = oz_material_word(c->materials, c->header.materials, m, field);
  r->material = material;
  r->materials = c->header.materials;
  r->value = value;
  oz_loop_rows(&c->loop, count, read_rows, r);
  oz_release(value);
  return OOZE_OK;
}

ooze_result ooze_capture_read(ooze_capture *c, ooze_attribute attribute, uint32_t first,
                              uint32_t count, size_t stride, void *out) {
  if (!c) return OOZE_ERROR_ARGUMENT;
  OZ_TRY(check(c, attribute));
  const size_t row = oz_attribute_bytes(attribute);
  if (stride == 0) stride = row;
  if (first > c->header.particles || count > c->header.particles - first || stride < row ||
      (count && !out))
    return oz_fail(&c->message, OOZE_ERROR_ARGUMENT,
                   "capture: particles %u to %llu of %u were asked for, %zu bytes apart",
                   (unsigned)first, (unsigned long long)first + count,
                   (unsigned)c->header.particles, stride);
  const void *words = NULL;
  if (oz_attribute_is_label(attribute)) {
    const unsigned char *from = c->labels.present ? c->labels.rows[attribute - OOZE_BIRTH] : NULL;
    for (uint32_t i = 0; i < count; ++i) {
      unsigned char *to = (unsigned char *)out + i * stride;
      if (from)
        memcpy(to, from + (first + i) * row, row);
      else
        memset(to, 0, row);
    }
    return OOZE_OK;
  }
  const oz_field field = oz_attribute_field(attribute);
  OZ_TRY(words_of(c, field, &words));
  reading r = {.words = words, .components = (uint32_t)(row / 4), .scale = 1};
  r.first = first;
  r.stride = stride;
  r.to = out;
  if (attribute == OOZE_MASS) r.scale = c->volume, r.scaled = 1;
  if (attribute == OOZE_COMPRESSION) r.less = 1, r.scaled = 1;
  if (attribute == OOZE_STRESS)
    r.scale = c->stress_scale, r.scaled = 1, r.traceless = c->split_compliance != 0;
  if (!words && count && oz_field_shapes[field].fallback == OZ_FALLBACK_MATTER)
    return read_materials(c, field, &r, count);
  oz_loop_rows(&c->loop, count, read_rows, &r);
  return OOZE_OK;
}

static ooze_result read_state(void *user, ooze_attribute attribute, uint32_t count, void *out) {
  return ooze_capture_read(user, attribute, 0, count, 0, out);
}

ooze_result ooze_capture_save(ooze_capture *c, void *memory, size_t capacity, size_t *out_bytes) {
  if (!c || !out_bytes) return OOZE_ERROR_ARGUMENT;
  OZ_TRY(check(c, OOZE_POSITION));
  oz_checkpoint_source from = {.header = c->header, .head = c->head, .head_bytes = c->head_bytes};
  from.read = read_state;
  from.user = c;
  from.links = c->links;
  from.link_count = c->link_count;
  OZ_TRY(oz_checkpoint_write(&from, NULL, out_bytes));
  if (!memory) return OOZE_OK;
  if (capacity < *out_bytes)
    return oz_fail(&c->message, OOZE_ERROR_ARGUMENT,
                   "capture: %zu bytes of memory; expected %zu or more", capacity, *out_bytes);
  return oz_checkpoint_write(&from, memory, out_bytes);
}

uint32_t ooze_capture_count(const ooze_capture *c) {
  return c && c->taken ? c->header.particles : 0;
}
double ooze_capture_time(const ooze_capture *c) { return c && c->taken ? c->header.time : 0; }
float ooze_capture_separation(const ooze_capture *c) { return c ? c->solver->separation : 0; }
ooze_result ooze_capture_params(const ooze_capture *c, ooze_params *out) {
  if (!c || !c->taken) return OOZE_ERROR_ARGUMENT;
  return oz_struct_write(out, &c->params, sizeof c->params, "params", NULL);
}
uint64_t ooze_capture_bytes(const ooze_capture *c) {
  return c && c->copy ? c->solver->backend->table->copy_bytes(c->copy) : 0;
}
const char *ooze_capture_message(const ooze_capture *c) { return c ? c->message.text : ""; }
