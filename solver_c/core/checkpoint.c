/* All state as one block of bytes, and back. Everything is little-endian, like every supported
 * machine.
 *
 *   header           oz_header, 88 bytes (72 before version 5, 80 before version 8)
 *   params           ooze_params, with its size in front
 *   materials        ooze_material each, likewise
 *   colliders        length (8 bytes), then the bytes of colliders.c
 *   emitters         likewise
 *   bodies           likewise
 *   boundary points  likewise
 *   particles        each attribute that is state, in the order of ooze_attribute, tightly packed
 * in ascending id; without those that the header marks as left out, because every particle has the
 * default links            their number (8 bytes), then oz_link_pair each, by the particles' places
 * in that order; behind them those to boundary particles, which have the last places
 *
 * Each part is filled up to 8 bytes. A reader trusts nothing: sizes are checked against the block
 * before they are used, values as strictly as those that come through the interface.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/hash.h"
#include "core/checkpoint.h"
#include "core/links.h"
#include "core/particles.h"

#define OZ_MAGIC "ooze ck\n"
/* 3 leaves no attribute out; 5 knows what computed it; 6 has the attributes of laws of flow; 7 has
 * birth and rest; 8 knows which speed is explained */
enum {
  OZ_CHECKPOINT_VERSION = 8,
  OZ_CHECKPOINT_OLDEST = 3,
  OZ_HEADER_BEFORE_5 = 72,
  OZ_HEADER_BEFORE_8 = 80,
  OZ_STRUCT_MAX = 4096
};

/* Fields with the same words as their attribute; the fourth word of a record is 0. */
static const struct {
  ooze_attribute attribute;
  oz_field field;
  uint8_t words;
} places[] = {
    {OOZE_POSITION, OZ_FIELD_X, 3},
    {OOZE_VELOCITY, OZ_FIELD_U, 3},
    {OOZE_CONFORMATION, OZ_FIELD_Q, 6},
    {OOZE_RELAXATION_TIME, OZ_FIELD_RELAXATION_TIME, 1},
    {OOZE_COMPLIANCE, OZ_FIELD_COMPLIANCE, 1},
    {OOZE_VISCOSITY, OZ_FIELD_VISCOSITY, 1},
    {OOZE_DENSITY, OZ_FIELD_DENSITY, 1},
    {OOZE_TEMPERATURE, OZ_FIELD_TEMPERATURE, 1},
    {OOZE_FORCE, OZ_FIELD_FORCE, 3},
    {OOZE_MATERIAL, OZ_FIELD_MATERIAL, 1},
    {OOZE_SOURCE, OZ_FIELD_SOURCE, 1},
    {OOZE_OWNER, OZ_FIELD_OWNER, 1},
    {OOZE_REST, OZ_FIELD_REFERENCE, 3},
    {OOZE_MELT, OZ_FIELD_MELT, 1},
    {OOZE_PRESSURE, OZ_FIELD_PRESSURE, 1},
    {OOZE_SOLVENT_VISCOSITY, OZ_FIELD_SOLVENT_VISCOSITY, 1},
    {OOZE_SHEAR_RATE, OZ_FIELD_SHEAR_RATE, 1},
    {OOZE_SECOND_STRETCH, OZ_FIELD_SECOND_STRETCH, 6},
    {OOZE_ID, OZ_FIELD_ID, 2},
};
enum { OZ_PLACES = (int)(sizeof places / sizeof *places), OZ_LOAD_BLOCK = 16384 };

/* Attributes that are kept by rank (labels.c). */
static const uint64_t labels =
    UINT64_C(1) << OOZE_BIRTH | UINT64_C(1) << OOZE_REST_1 | UINT64_C(1) << OOZE_REST_2;

/* Bits of the attributes with optional fields; of those with absent fields. */
static uint64_t optional(void) {
  uint64_t bits = labels;
  for (int p = 0; p < OZ_PLACES; ++p)
    if (oz_field_shapes[places[p].field].fallback != OZ_FALLBACK_NONE)
      bits |= UINT64_C(1) << places[p].attribute;
  return bits;
}
static uint64_t absent(const ooze_solver *s) {
  uint64_t bits = s->particles.labels ? 0 : labels;
  for (int p = 0; p < OZ_PLACES; ++p)
    if (!oz_field_there(s, places[p].field)) bits |= UINT64_C(1) << places[p].attribute;
  return bits;
}

/* ---- writing: without memory it only counts ---- */

typedef struct oz_writer {
  unsigned char *memory;
  size_t at;
} oz_writer;

static void *claim(oz_writer *w, size_t bytes) {
  unsigned char *here = w->memory ? w->memory + w->at : NULL;
  size_t padded = (bytes + 7) & ~(size_t)7;
  if (here) memset(here + bytes, 0, padded - bytes);
  w->at += padded;
  return here;
}

static void put(oz_writer *w, const void *from, size_t bytes) {
  void *here = claim(w, bytes);
  if (here) memcpy(here, from, bytes);
}

static int is_state(ooze_attribute attribute, size_t *out_bytes) {
  ooze_attribute_info info;
  ooze_attribute_info_default(&info);
  (void)ooze_attribute_describe(attribute, &info);
  *out_bytes = (size_t)info.components * info.element_bytes;
  return info.is_state != 0;
}

/* Everything before the particles. */
static void write_head(const ooze_solver *s, oz_writer *w) {
  put(w, &s->params, sizeof s->params);
  for (uint32_t i = 0; i < s->material_count; ++i) put(w, &s->materials[i], sizeof s->materials[i]);
  uint64_t length = oz_colliders_bytes(&s->colliders);
  put(w, &length, sizeof length);
  void *here = claim(w, (size_t)length);
  if (here) oz_colliders_write(&s->colliders, here);
  length = oz_emitters_bytes(&s->emitters);
  put(w, &length, sizeof length);
  here = claim(w, (size_t)length);
  if (here) oz_emitters_write(&s->emitters, here);
  length = oz_bodies_bytes(&s->bodies);
  put(w, &length, sizeof length);
  here = claim(w, (size_t)length);
  if (here) oz_bodies_write(&s->bodies, here);
  length = oz_boundary_bytes(&s->boundary);
  put(w, &length, sizeof length);
  here = claim(w, (size_t)length);
  if (here) oz_boundary_write(&s->boundary, here);
}

size_t oz_checkpoint_head(const ooze_solver *s, void *memory) {
  oz_writer w = {memory, 0};
  write_head(s, &w);
  return w.at;
}

oz_header oz_checkpoint_header(const ooze_solver *s) {
  oz_header header;
  memset(&header, 0, sizeof header);
  memcpy(header.magic, OZ_MAGIC, sizeof header.magic);
  header.version = OZ_CHECKPOINT_VERSION;
  header.header_bytes = sizeof header;
  header.particles = oz_visible(s);
  header.materials = s->material_count;
  header.separation = s->separation;
  header.library = ooze_version();
  header.time = s->time;
  header.next_id = s->particles.next_id;
  header.left_out = absent(s);
  header.backend = s->backend_kind;
  header.isa = s->isa;
  header.explained_speed = s->explained_speed;
  return header;
}

ooze_result oz_checkpoint_write(const oz_checkpoint_source *from, void *memory, size_t *out_bytes) {
  oz_writer w = {memory, 0};
  oz_header header = from->header;
  (void)claim(&w, sizeof header);
  if (from->head)
    put(&w, from->head, from->head_bytes);
  else
    write_head(from->solver, &w);
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
    size_t bytes;
    if (!is_state((ooze_attribute)a, &bytes) || header.left_out >> a & 1) continue;
    void *here = claim(&w, header.particles * bytes);
    if (here) OZ_TRY(from->read(from->user, (ooze_attribute)a, header.particles, here));
  }
  put(&w, &from->link_count, sizeof from->link_count);
  if (from->link_count) put(&w, from->links, (size_t)from->link_count * sizeof *from->links);
  *out_bytes = w.at;
  if (!memory) return OOZE_OK;
  header.bytes = w.at;
  header.hash = oz_hash_of(w.memory + sizeof header, w.at - sizeof header);
  memcpy(memory, &header, sizeof header);
  return OOZE_OK;
}

static ooze_result read_now(void *user, ooze_attribute attribute, uint32_t count, void *out) {
  return ooze_attribute_read(user, attribute, 0, count, 0, out);
}
static ooze_result write_now(ooze_solver *s, void *memory, size_t *out_bytes) {
  oz_checkpoint_source from = {.solver = s, .header = oz_checkpoint_header(s), .user = s};
  from.read = read_now;
  OZ_TRY(oz_links_fetch(s));
  from.links = s->links.pairs;
  from.link_count = s->links.count;
  return oz_checkpoint_write(&from, memory, out_bytes);
}

ooze_result ooze_checkpoint_size(ooze_solver *s, size_t *out_bytes) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (!out_bytes) return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "checkpoint: out_bytes is NULL");
  return write_now(s, NULL, out_bytes);
}

ooze_result ooze_checkpoint_save(ooze_solver *s, void *memory, size_t capacity, size_t *out_bytes) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  size_t bytes = 0;
  if (s->lost)
    return oz_fail(s->message, s->lost, "checkpoint: the state is lost; there is nothing to save");
  OZ_TRY(ooze_checkpoint_size(s, &bytes));
  if (!memory || capacity < bytes)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                   "checkpoint: %zu bytes of memory; expected %zu or more", memory ? capacity : 0,
                   bytes);
  OZ_TRY(write_now(s, memory, &bytes));
  if (out_bytes) *out_bytes = bytes;
  return OOZE_OK;
}

/* ---- reading ---- */

typedef struct oz_reader {
  const unsigned char *memory;
  size_t at, bytes;
} oz_reader;

/* The next part, or NULL if it is not all there. */
static const void *take(oz_reader *r, uint64_t bytes) {
  if (bytes > r->bytes - r->at) return NULL;
  uint64_t padded = (bytes + 7) & ~(uint64_t)7;
  const unsigned char *here = r->memory + r->at;
  if (padded > r->bytes - r->at) return NULL;
  r->at += (size_t)padded;
  return here;
}

/* Parts that are read before anything of the solver changes. */
typedef struct oz_incoming {
  oz_header header;
  ooze_params params;
  ooze_material *materials;
  oz_colliders colliders;
  oz_emitters emitters;
  oz_bodies bodies;
  oz_boundary boundary;
  uint64_t *ids;
  const unsigned char *attribute[OOZE_ATTRIBUTE_COUNT];
  oz_link_pair *links;
  uint64_t link_count, shown; /* shown: not to boundary particles */
  oz_link_wait *wait;
} oz_incoming;

static ooze_result cut_short(ooze_solver *s, const oz_reader *r, const char *what) {
  return oz_fail(s->message, OOZE_ERROR_FORMAT,
                 "checkpoint: %s at byte %zu goes past the end, byte %zu", what, r->at, r->bytes);
}

/* A struct that says its own size. */
static ooze_result take_struct(ooze_solver *s, oz_reader *r, void *into, size_t known,
                               const char *what) {
  uint32_t size = 0;
  if (r->bytes - r->at < sizeof size) return cut_short(s, r, what);
  memcpy(&size, r->memory + r->at, sizeof size);
  if (size < sizeof size || size > OZ_STRUCT_MAX || size % 4)
    return oz_fail(s->message, OOZE_ERROR_FORMAT, "checkpoint: size of %s at byte %zu is %u", what,
                   r->at, (unsigned)size);
  const void *from = take(r, size);
  if (!from) return cut_short(s, r, what);
  return oz_struct_read(into, from, known, what, s->message);
}

static ooze_result read_header(ooze_solver *s, oz_reader *r, oz_header *h) {
  const void *from = take(r, OZ_HEADER_BEFORE_5);
  if (!from) return cut_short(s, r, "the header");
  memset(h, 0, sizeof *h);
  memcpy(h, from, OZ_HEADER_BEFORE_5);
  const size_t whole = h->version < 5   ? OZ_HEADER_BEFORE_5
                       : h->version < 8 ? OZ_HEADER_BEFORE_8
                                        : sizeof *h;
  h->explained_speed = OZ_SPEED_UNKNOWN;
  if (memcmp(h->magic, OZ_MAGIC, sizeof h->magic) != 0)
    return oz_fail(s->message, OOZE_ERROR_FORMAT, "checkpoint: these bytes are not one");
  if (h->version < OZ_CHECKPOINT_OLDEST || h->version > OZ_CHECKPOINT_VERSION ||
      h->header_bytes != whole)
    return oz_fail(s->message, OOZE_ERROR_FORMAT,
                   "checkpoint: version %u of library %u.%u.%u; expected version %d to %d",
                   (unsigned)h->version, (unsigned)h->library / 10000,
                   (unsigned)h->library / 100 % 100, (unsigned)h->library % 100,
                   OZ_CHECKPOINT_OLDEST, OZ_CHECKPOINT_VERSION);
  if (whole > OZ_HEADER_BEFORE_5) {
    from = take(r, whole - OZ_HEADER_BEFORE_5);
    if (!from) return cut_short(s, r, "the header");
    memcpy(&h->backend, from, whole - OZ_HEADER_BEFORE_5);
  }
  for (int a = OOZE_SOLVENT_VISCOSITY; h->version < 6 && a <= OOZE_SECOND_STRETCH; ++a)
    h->left_out |= UINT64_C(1) << a;
  if (h->version < 7) h->left_out |= labels;
  if (h->left_out & ~optional())
    return oz_fail(s->message, OOZE_ERROR_FORMAT,
                   "checkpoint: attributes %#llx are left out; of these %#llx can be",
                   (unsigned long long)h->left_out, (unsigned long long)optional());
  if (h->bytes != r->bytes)
    return oz_fail(s->message, OOZE_ERROR_FORMAT, "checkpoint: it has %zu bytes; expected %llu",
                   r->bytes, (unsigned long long)h->bytes);
  if (h->hash != oz_hash_of(r->memory + whole, r->bytes - whole))
    return oz_fail(s->message, OOZE_ERROR_FORMAT,
                   "checkpoint: it is damaged: its hash does not match");
  if (h->separation != s->separation)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                   "checkpoint: particle_separation is %g m; this solver's is %g m",
                   (double)h->separation, (double)s->separation);
  if (h->particles > s->max_particles)
    return oz_fail(s->message, OOZE_ERROR_LIMIT, "checkpoint: %u particles; max_particles is %u",
                   (unsigned)h->particles, (unsigned)s->max_particles);
  if (!(fabs(h->time) <= 1e12))
    return oz_fail(s->message, OOZE_ERROR_FORMAT, "checkpoint: time is %g s", h->time);
  if (h->materials == 0 || h->materials > OZ_MATERIALS_MAX)
    return oz_fail(s->message, OOZE_ERROR_FORMAT, "checkpoint: %u materials; expected 1 to %u",
                   (unsigned)h->materials, OZ_MATERIALS_MAX);
  return OOZE_OK;
}

static ooze_result read_materials(ooze_solver *s, oz_reader *r, oz_incoming *in) {
  size_t bytes = in->header.materials * sizeof *in->materials;
  if (in->header.materials > (r->bytes - r->at) / 8)
    return cut_short(s, r, "the materials"); /* before memory is asked for */
  in->materials = oz_alloc(&s->memory, bytes);
  if (!in->materials)
    return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory: %zu bytes for materials", bytes);
  for (uint32_t i = 0; i < in->header.materials; ++i) {
    ooze_material_default(&in->materials[i]);
    OZ_TRY(take_struct(s, r, &in->materials[i], sizeof *in->materials, "a material"));
    OZ_TRY(oz_material_check(&in->materials[i], "checkpoint: material", s->message));
  }
  return OOZE_OK;
}

static ooze_result read_surroundings(ooze_solver *s, oz_reader *r, oz_incoming *in) {
  for (int k = 0; k < 4; ++k) {
    const char *what = k == 0   ? "the colliders"
                       : k == 1 ? "the emitters"
                       : k == 2 ? "the bodies"
                                : "the boundary points";
    uint64_t length = 0;
    size_t used = 0;
    const void *from = take(r, sizeof length);
    if (!from) return cut_short(s, r, what);
    memcpy(&length, from, sizeof length);
    from = take(r, length);
    if (!from) return cut_short(s, r, what);
    if (k == 0)
      OZ_TRY(oz_colliders_read(&in->colliders, from, (size_t)length, &used, s->message));
    else if (k == 3)
      OZ_TRY(oz_boundary_read(&in->boundary, from, (size_t)length, &used, s->message));
    else if (k == 2)
      OZ_TRY(oz_bodies_read(&in->bodies, from, (size_t)length, &used, s->message));
    else
      OZ_TRY(oz_emitters_read(&in->emitters, from, (size_t)length, in->header.materials, &used,
                              s->message));
    if (used != length)
      return oz_fail(s->message, OOZE_ERROR_FORMAT, "checkpoint: %s take %zu bytes of %llu", what,
                     used, (unsigned long long)length);
  }
  return OOZE_OK;
}

static ooze_result read_particles(ooze_solver *s, oz_reader *r, oz_incoming *in) {
  uint32_t n = in->header.particles;
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
    size_t bytes;
    if (!is_state((ooze_attribute)a, &bytes) || in->header.left_out >> a & 1) continue;
    in->attribute[a] = take(r, (uint64_t)n * bytes);
    if (!in->attribute[a]) return cut_short(s, r, "an attribute");
  }
  if (in->header.next_id > (uint64_t)OZ_ID_MAX + 1)
    return oz_fail(s->message, OOZE_ERROR_FORMAT, "checkpoint: the next id is %llu",
                   (unsigned long long)in->header.next_id);
  if (n == 0) return OOZE_OK;
  in->ids = oz_alloc(&s->memory, n * sizeof *in->ids);
  if (!in->ids)
    return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory: %zu bytes for ids",
                   n * sizeof *in->ids);
  memcpy(in->ids, in->attribute[OOZE_ID], n * sizeof *in->ids);
  for (uint32_t i = 0; i < n; ++i)
    if (in->ids[i] >= in->header.next_id || (i && in->ids[i] <= in->ids[i - 1]))
      return oz_fail(s->message, OOZE_ERROR_FORMAT, "checkpoint: id %llu is out of order",
                     (unsigned long long)in->ids[i]);
  /* material numbers count against the new list */
  /* tensors have the meaning of the new model */
  uint32_t had = s->material_count, model = s->params.model;
  s->material_count = in->header.materials;
  s->params.model = in->params.model;
  ooze_result result = OOZE_OK;
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT && result >= 0; ++a)
    if (in->attribute[a])
      result =
          oz_attribute_check(s, (ooze_attribute)a, in->ids, n, 0, in->attribute[a], s->message);
  s->material_count = had;
  s->params.model = model;
  return result < 0 ? OOZE_ERROR_FORMAT : OOZE_OK;
}

/* Links of particles that are known by now. */
static ooze_result read_links(ooze_solver *s, oz_reader *r, oz_incoming *in) {
  const void *from = take(r, sizeof in->link_count);
  if (!from) return cut_short(s, r, "the links");
  memcpy(&in->link_count, from, sizeof in->link_count);
  if (in->link_count > (r->bytes - r->at) / sizeof *in->links) return cut_short(s, r, "the links");
  size_t bytes = (size_t)in->link_count * sizeof *in->links;
  from = take(r, bytes);
  if (!from) return cut_short(s, r, "the links");
  if (r->at != r->bytes)
    return oz_fail(s->message, OOZE_ERROR_FORMAT, "checkpoint: %zu bytes too many",
                   r->bytes - r->at);
  if (in->link_count == 0) return OOZE_OK;
  in->links = oz_alloc(&s->memory, bytes);
  if (!in->links)
    return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory: %zu bytes for links", bytes);
  memcpy(in->links, from, bytes);
  for (uint64_t k = 0; k < in->link_count; ++k) {
    const oz_link_pair *l = &in->links[k];
    const uint32_t n = in->header.particles;
    const int hidden = l->b >= n, was_hidden = k > 0 && l[-1].b >= n;
    const int ordered =
        k == 0 || hidden > was_hidden ||
        (hidden == was_hidden && (l[-1].a < l->a || (l[-1].a == l->a && l[-1].b < l->b)));
    in->shown += !hidden;
    if (l->a >= l->b || l->a >= n || (hidden && l->b - n >= OZ_BOUNDARY_POINTS_MAX) || !ordered)
      return oz_fail(s->message, OOZE_ERROR_FORMAT,
                     "checkpoint: link %llu, %u - %u, is out of order", (unsigned long long)k,
                     (unsigned)l->a, (unsigned)l->b);
    if (oz_links_check(in->ids, n, l, "checkpoint", s->message) < 0) return OOZE_ERROR_FORMAT;
  }
  OZ_TRY(
      oz_links_check_rows(s, in->links, in->link_count, in->header.particles, in->ids, s->message));
  const uint64_t hidden = in->link_count - in->shown;
  if (!hidden) return OOZE_OK;
  in->wait = oz_alloc(&s->memory, (size_t)hidden * sizeof *in->wait);
  if (!in->wait)
    return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory for %llu links",
                   (unsigned long long)hidden);
  for (uint64_t k = 0; k < hidden; ++k) {
    const oz_link_pair *l = &in->links[in->shown + k];
    in->wait[k] =
        (oz_link_wait){in->ids[l->a], l->b - in->header.particles, l->rest, l->kind, l->spare};
  }
  return OOZE_OK;
}

/* ---- putting it in place ---- */

/* The default of such a field for particle i. */
static uint32_t by_itself(const oz_incoming *in, oz_field field, uint32_t i) {
  uint32_t material;
  memcpy(&material, in->attribute[OOZE_MATERIAL] + 4 * (size_t)i, 4);
  return oz_material_word(in->materials, in->header.materials, material, field);
}

/* Does some particle have anything else? */
static int sets(const oz_incoming *in, int p) {
  const unsigned char *from = in->attribute[places[p].attribute];
  for (uint32_t i = 0; from && i < in->header.particles; ++i) {
    const uint32_t plain = by_itself(in, places[p].field, i);
    for (uint32_t k = 0; k < places[p].words; ++k, from += 4)
      if (memcmp(from, &plain, 4)) return 1;
  }
  return 0;
}

static ooze_result fill(ooze_solver *s, const oz_incoming *in) {
  uint32_t n = in->header.particles;
  uint32_t *block = s->particles.scratch;
  for (uint32_t first = 0; first < n; first += OZ_LOAD_BLOCK) {
    uint32_t count = n - first < OZ_LOAD_BLOCK ? n - first : OZ_LOAD_BLOCK;
    for (int p = 0; p < OZ_PLACES; ++p) {
      uint32_t words = places[p].words;
      const unsigned char *from = in->attribute[places[p].attribute];
      /* `prepare` has seen to it that it need not be */
      if (!oz_field_there(s, places[p].field)) continue;
      memset(block, 0, (size_t)count * 24);
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t plain = from ? 0 : by_itself(in, places[p].field, first + i);
        for (uint32_t k = 0; k < words; ++k)
          memcpy(&block[oz_field_at(places[p].field, count, i, k)],
                 from ? from + ((size_t)(first + i) * words + k) * 4
                      : (const unsigned char *)&plain,
                 4);
      }
      OZ_TRY(
          s->backend->table->upload(s->backend, places[p].field, first, count, block, s->message));
    }
    for (uint32_t i = 0; i < count; ++i) block[i] = first + i;
    OZ_TRY(s->backend->table->upload(s->backend, OZ_FIELD_RANK, first, count, block, s->message));
  }
  return OOZE_OK;
}

/* All memory that is needed, while the old state still stands. */
static ooze_result prepare(ooze_solver *s, const oz_incoming *in) {
  void *scratch = s->particles.scratch;
  OZ_TRY(oz_host_flush(s));
  if (!oz_grow(&s->memory, &scratch, &s->particles.scratch_capacity, (size_t)OZ_LOAD_BLOCK * 24, 0))
    return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory: %d bytes to load with",
                   OZ_LOAD_BLOCK * 24);
  s->particles.scratch = scratch;
  if (in->header.particles > s->particles.reserved) {
    OZ_TRY(s->backend->table->reserve(s->backend, in->header.particles, s->message));
    s->particles.reserved = in->header.particles;
    s->particles.results = 0;
  }
  for (int p = 0; p < OZ_PLACES; ++p)
    if (!oz_field_there(s, places[p].field) && sets(in, p))
      OZ_TRY(oz_field_provide(s, places[p].field));
  if (~in->header.left_out & labels) OZ_TRY(oz_labels_room(s, in->header.particles));
  if (in->shown == 0) return OOZE_OK;
  void *at = s->particles.at;
  if (!oz_grow(&s->memory, &at, &s->particles.at_capacity,
               in->header.particles * sizeof *s->particles.at, 0))
    return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory for the links of %u particles",
                   (unsigned)in->header.particles);
  s->particles.at = at;
  s->particles.at_known = 0;
  return s->backend->table->links_put(s->backend, NULL, NULL, in->shown, s->message);
}

static ooze_result replace(ooze_solver *s, oz_incoming *in) {
  oz_particles *p = &s->particles;
  uint32_t n = in->header.particles;
  ooze_result r = s->backend->table->resize(s->backend, 0, s->message);
  if (r < 0) return r;
  r = s->backend->table->resize(s->backend, n, s->message);
  if (r >= 0) r = fill(s, in);
  oz_particles_moved(s);
  if (r >= 0 && in->shown) { /* the fields just filled in are in ascending id */
    for (uint32_t i = 0; i < n; ++i) p->at[i] = i;
    r = s->backend->table->links_put(s->backend, p->at, in->links, in->shown, s->message);
  }
  if (r < 0) {
    (void)s->backend->table->resize(s->backend, 0, NULL);
    p->count = p->hidden = p->results = 0;
    return s->lost = OOZE_LOST_DEVICE;
  }
  uint64_t *old_ids = p->ids;
  p->ids = in->ids;
  p->ids_capacity = n * sizeof *p->ids;
  in->ids = old_ids;
  p->count = n;
  p->hidden = 0;
  oz_labels_clear(s);
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a)
    if (labels >> a & 1 && in->attribute[a]) /* there is room: this cannot fail */
      (void)oz_labels_write(s, (ooze_attribute)a, 0, n, oz_attribute_bytes((ooze_attribute)a),
                            in->attribute[a]);
  p->next_id = in->header.next_id;
  p->results = 0;
  p->results_dt = 0;
  p->relaxation_time_known = 0;
  s->params = in->params;
  ooze_material *old_materials = s->materials;
  s->materials = in->materials;
  s->material_count = in->header.materials;
  s->matter_known = 0;
  s->materials_capacity = in->header.materials * sizeof *s->materials;
  in->materials = old_materials;
  oz_colliders colliders = s->colliders;
  s->colliders = in->colliders;
  s->colliders.bricks_changed = 1;
  in->colliders = colliders;
  oz_emitters emitters = s->emitters;
  s->emitters = in->emitters;
  in->emitters = emitters;
  oz_bodies bodies = s->bodies;
  s->bodies = in->bodies;
  s->bodies.changed = 1;
  in->bodies = bodies;
  oz_boundary boundary = s->boundary;
  s->boundary = in->boundary;
  s->boundary.placed = 0; /* before the next step */
  oz_links_await(s, in->wait, in->link_count - in->shown);
  in->wait = NULL;
  in->boundary = boundary;
  s->time = in->header.time;
  const double speed = in->header.explained_speed;
  s->explained_speed = speed >= 0 || speed == OZ_SPEED_OF_STRETCH ? speed : OZ_SPEED_UNKNOWN;
  memset(&s->run, 0, sizeof s->run);
  s->lost = OOZE_OK;
  return OOZE_OK;
}

/* Each vector width and each backend rounds in its own way. */
static void tell_of_maker(ooze_solver *s, const oz_header *h) {
  const ooze_hooks *hooks = &s->memory.hooks;
  if (!h->backend || (h->backend == s->backend_kind && h->isa == s->isa)) return;
  (void)oz_fail(
      s->message, OOZE_OK,
      "checkpoint: %s computed it and %s goes on: its results have other last digits than "
      "those of a run that stays with one",
      oz_registry_name(h->backend, h->isa), oz_registry_name(s->backend_kind, s->isa));
  if (hooks->log) hooks->log(hooks->user, OOZE_LOG_WARNING, s->message->text);
}

ooze_result ooze_checkpoint_load(ooze_solver *s, const void *memory, size_t bytes) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  oz_incoming in;
  oz_reader r = {memory, 0, bytes};
  if (!memory) return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "checkpoint: the memory is NULL");
  memset(&in, 0, sizeof in);
  oz_colliders_init(&in.colliders, &s->memory);
  oz_emitters_init(&in.emitters, &s->memory, s->separation);
  oz_bodies_init(&in.bodies, &s->memory);
  oz_boundary_init(&in.boundary, &s->memory);
  ooze_params_default(&in.params);
  ooze_result result = read_header(s, &r, &in.header);
  if (result >= 0) result = take_struct(s, &r, &in.params, sizeof in.params, "params");
  if (result >= 0) result = oz_params_check(&in.params, s->message);
  if (result >= 0) result = read_materials(s, &r, &in);
  if (result >= 0) result = read_surroundings(s, &r, &in);
  if (result >= 0) result = read_particles(s, &r, &in);
  if (result >= 0) result = read_links(s, &r, &in);
  if (result >= 0) result = prepare(s, &in);
  if (result >= 0) result = replace(s, &in);
  if (result >= 0) tell_of_maker(s, &in.header);
  oz_free(&s->memory, in.materials);
  oz_free(&s->memory, in.ids);
  oz_free(&s->memory, in.links);
  oz_free(&s->memory, in.wait);
  oz_colliders_destroy(&in.colliders);
  oz_emitters_destroy(&in.emitters);
  oz_bodies_destroy(&in.bodies);
  oz_boundary_destroy(&in.boundary);
  return result;
}
