/* A checkpoint's bytes, read and checked before anything of the solver changes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/hash.h"
#include "core/checkpoint.h"
#include "core/particles.h"

/* Bits of the attributes with optional fields. */
static uint64_t optional(void) {
  uint64_t bits = OZ_LABELS;
  for (int p = 0; p < OZ_PLACES; ++p)
    if (oz_field_shapes[oz_places[p].field].fallback != OZ_FALLBACK_NONE)
      bits |= UINT64_C(1) << oz_places[p].attribute;
  return bits;
}

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
  if (h->version < 7) h->left_out |= OZ_LABELS;
  if (h->version < 9) h->left_out |= UINT64_C(1) << OOZE_DENSITY_PRESSURE;
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
    const size_t bytes = oz_attribute_bytes((ooze_attribute)a);
    if (!oz_attribute_is_saved((ooze_attribute)a) || in->header.left_out >> a & 1) continue;
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

ooze_result oz_incoming_read(ooze_solver *s, const void *memory, size_t bytes, oz_incoming *in) {
  oz_reader r = {memory, 0, bytes};
  memset(in, 0, sizeof *in);
  oz_colliders_init(&in->colliders, &s->memory);
  oz_emitters_init(&in->emitters, &s->memory, s->separation);
  oz_bodies_init(&in->bodies, &s->memory);
  oz_boundary_init(&in->boundary, &s->memory);
  ooze_params_default(&in->params);
  OZ_TRY(read_header(s, &r, &in->header));
  OZ_TRY(take_struct(s, &r, &in->params, sizeof in->params, "params"));
  OZ_TRY(oz_params_check(&in->params, s->message));
  OZ_TRY(read_materials(s, &r, in));
  OZ_TRY(read_surroundings(s, &r, in));
  OZ_TRY(read_particles(s, &r, in));
  return read_links(s, &r, in);
}

void oz_incoming_release(ooze_solver *s, oz_incoming *in) {
  oz_free(&s->memory, in->materials);
  oz_free(&s->memory, in->ids);
  oz_free(&s->memory, in->links);
  oz_free(&s->memory, in->wait);
  oz_colliders_destroy(&in->colliders);
  oz_emitters_destroy(&in->emitters);
  oz_bodies_destroy(&in->bodies);
  oz_boundary_destroy(&in->boundary);
}
