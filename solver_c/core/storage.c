/* Adding, removing and finding particles. Everything that can fail comes first; the later part only
 * moves bytes. SPDX-License-Identifier: Apache-2.0 */
#include "core/particles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/boundary.h"
#include "base/schema.h"

ooze_result oz_particles_prepare(ooze_solver *s, uint32_t count) {
  oz_particles *p = &s->particles;
  void *at = p->at, *scratch = p->scratch, *flags = p->flags, *copy = p->copy;
  size_t n = count;
  OZ_TRY(oz_host_reserve(s, &at, &p->at_capacity, n * 4, p->at_capacity));
  p->at = at;
  const int own = s->backend->table->memory == NULL; /* ranks and vectors have to be fetched */
  if (own) OZ_TRY(oz_host_reserve(s, &scratch, &p->scratch_capacity, n * 4, 0));
  p->scratch = scratch;
  OZ_TRY(oz_host_reserve(s, &flags, &p->flags_capacity, n + 1, 0));
  p->flags = flags;
  /* velocities, with sources: keep_backup */
  const size_t record = own || s->emitters.count || oz_field_there(s, OZ_FIELD_SOURCE) ? 16 : 12;
  OZ_TRY(oz_host_reserve(s, &copy, &p->copy_capacity, n * record, p->copy_capacity));
  p->copy = copy;
  return OOZE_OK;
}

/* ---- adding ---- */

typedef struct oz_named {
  uint64_t id;
  uint32_t index;
} oz_named;

static int by_id(const void *a, const void *b) {
  const oz_named *x = a, *y = b;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* Asks for room with some ahead; if that is refused, for the exact need. */
static ooze_result reserve(ooze_solver *s, uint32_t count) {
  oz_particles *p = &s->particles;
  if (count <= p->reserved) return OOZE_OK;
  uint64_t more = p->count ? (uint64_t)p->reserved + p->reserved / 2 : 0;
  if (more > s->max_particles) more = s->max_particles;
  if (!(more > count && s->backend->table->reserve(s->backend, (uint32_t)more, s->message) >= 0)) {
    more = count;
    OZ_TRY(s->backend->table->reserve(s->backend, count, s->message));
  }
  p->reserved = (uint32_t)more;
  p->results = 0; /* growing keeps state, but not the results of the last substep */
  return OOZE_OK;
}

/* One block of new particles goes through scratch at a time, so that a large fluid needs no large
 * detour. */
enum { OZ_BLOCK = 16384 };

static int all_zero(const uint32_t *words, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (words[i]) return 0;
  return 1;
}

/* An absent field whose values are those of the materials. */
static int is_of_matter(const ooze_solver *s, oz_field field) {
  return oz_field_shapes[field].fallback == OZ_FALLBACK_MATTER && !oz_field_there(s, field);
}

/* A value equal to the default is not written. */
static ooze_result put(ooze_solver *s, oz_field field, uint32_t first, uint32_t n) {
  if (is_of_matter(s, field) ||
      (!oz_field_there(s, field) &&
       all_zero(s->particles.scratch, (size_t)n * oz_field_shapes[field].words)))
    return OOZE_OK;
  return s->backend->table->upload(s->backend, field, s->particles.count + first, n,
                                   s->particles.scratch, s->message);
}

static ooze_result put_vectors(ooze_solver *s, oz_field field, uint32_t first, uint32_t n,
                               const void *from, size_t stride) {
  float *records = s->particles.scratch;
  memset(records, 0, (size_t)n * 16);
  if (stride == 0) stride = 12;
  for (uint32_t i = 0; i < n && from; ++i)
    memcpy(&records[4 * (size_t)i], (const unsigned char *)from + (size_t)(first + i) * stride, 12);
  return put(s, field, first, n);
}

/* The reference shape of new particles is where they come in. */
static ooze_result put_rest(ooze_solver *s, const oz_arrivals *a, uint32_t first, uint32_t n) {
  float *planes = s->particles.scratch;
  const size_t stride = a->position_stride ? a->position_stride : 12;
  for (uint32_t i = 0; i < n; ++i) {
    float x[3];
    memcpy(x, (const unsigned char *)a->positions + (size_t)(first + i) * stride, sizeof x);
    for (uint32_t k = 0; k < 3; ++k) planes[(size_t)k * n + i] = x[k];
  }
  return put(s, OZ_FIELD_REFERENCE, first, n);
}

ooze_result oz_particles_rest_here(ooze_solver *s) {
  oz_particles *p = &s->particles;
  void *copy, *scratch = p->scratch;
  if (p->count == 0) return OOZE_OK;
  OZ_TRY(oz_host_copy(s, OZ_FIELD_X, &copy));
  OZ_TRY(oz_host_reserve(s, &scratch, &p->scratch_capacity, (size_t)p->count * 12, 0));
  p->scratch = scratch;
  const float *x = copy;
  float *planes = scratch;
  for (uint32_t i = 0; i < p->count; ++i)
    for (uint32_t k = 0; k < 3; ++k) planes[(size_t)k * p->count + i] = x[4 * (size_t)i + k];
  OZ_TRY(oz_host_flush(s));
  p->copy_valid = 0;
  return s->backend->table->upload(s->backend, OZ_FIELD_REFERENCE, 0, p->count, planes, s->message);
}

ooze_result oz_particles_rest_nowhere(ooze_solver *s) {
  const oz_particles *p = &s->particles;
  void *copy;
  if (p->count == 0 || !oz_field_there(s, OZ_FIELD_REFERENCE)) return OOZE_OK;
  OZ_TRY(oz_host_copy(s, OZ_FIELD_OWNER, &copy));
  size_t bytes = (size_t)p->count * 4; /* the copy holds one field at a time */
  uint32_t *owner = oz_alloc(&s->memory, bytes);
  if (!owner)
    return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory: %zu bytes for reference shapes",
                   bytes);
  memcpy(owner, copy, bytes);
  ooze_result r = oz_host_copy(s, OZ_FIELD_REFERENCE, &copy);
  for (uint32_t i = 0; i < p->count && r >= 0; ++i)
    for (uint32_t k = 0; k < 3 && owner[i] == 0; ++k)
      ((float *)copy)[oz_field_at(OZ_FIELD_REFERENCE, p->count, i, k)] = 0.0f;
  if (r >= 0) r = oz_host_dirty(s);
  oz_free(&s->memory, owner);
  return r;
}

static ooze_result put_fields(ooze_solver *s, const oz_arrivals *a, uint32_t first, uint32_t n) {
  OZ_TRY(put_vectors(s, OZ_FIELD_X, first, n, a->positions, a->position_stride));
  OZ_TRY(put_vectors(s, OZ_FIELD_U, first, n, a->velocities, a->velocity_stride));
  uint32_t *words = s->particles.scratch;
  for (int v = 0; v < OZ_MATERIAL_VALUES; ++v) {
    if (is_of_matter(s, oz_material_values[v].field)) continue;
    for (uint32_t i = 0; i < n; ++i) {
      uint32_t m = a->materials ? a->materials[first + i] : a->material;
      memcpy(&words[i], (const unsigned char *)&s->materials[m] + oz_material_values[v].offset, 4);
    }
    OZ_TRY(put(s, oz_material_values[v].field, first, n));
  }
  for (uint32_t i = 0; i < n; ++i) words[i] = a->materials ? a->materials[first + i] : a->material;
  OZ_TRY(put(s, OZ_FIELD_MATERIAL, first, n));
  for (uint32_t i = 0; i < n; ++i) words[i] = a->sources ? a->sources[first + i] : a->source;
  OZ_TRY(put(s, OZ_FIELD_SOURCE, first, n));
  float *planes = s->particles.scratch;
  if (a->owner) {
    for (uint32_t i = 0; i < n; ++i) words[i] = a->owner;
    OZ_TRY(put(s, OZ_FIELD_OWNER, first, n));
    for (uint32_t i = 0; i < n; ++i)
      for (uint32_t k = 0; k < 3; ++k)
        planes[(size_t)k * n + i] = a->rests[3 * (size_t)(first + i) + k];
    OZ_TRY(put(s, OZ_FIELD_REFERENCE, first, n));
  }
  if (oz_field_there(s, OZ_FIELD_FORCE)) {
    memset(planes, 0, (size_t)n * 24);
    OZ_TRY(put(s, OZ_FIELD_FORCE, first, n));
  }
  memset(planes, 0, (size_t)n * 24);
  if (s->params.model == OOZE_MODEL_BLEND) OZ_TRY(put_rest(s, a, first, n));
  for (size_t i = 0; i < 3 * (size_t)n; ++i) planes[i] = 1.0f; /* identity: xx yy zz are 1 */
  return put(s, OZ_FIELD_Q, first, n);
}

/* Ids behind all others: ranks and ids are simply continued. ids NULL: from first_id on. */
static ooze_result put_ids_behind(ooze_solver *s, const oz_arrivals *a, uint32_t n,
                                  const uint64_t *ids, uint64_t first_id) {
  oz_particles *p = &s->particles;
  uint64_t *id = p->ids + p->count;
  for (uint32_t i = 0; i < n; ++i) {
    id[i] = ids ? ids[i] : first_id + i;
    oz_labels_put(s, a, i, p->count + i);
  }
  OZ_TRY(s->backend->table->upload(s->backend, OZ_FIELD_ID, p->count, n, id, s->message));
  uint32_t *rank = p->scratch;
  for (uint32_t first = 0; first < n; first += OZ_BLOCK) {
    const uint32_t block = n - first < OZ_BLOCK ? n - first : OZ_BLOCK;
    for (uint32_t i = 0; i < block; ++i) rank[i] = p->count + first + i;
    OZ_TRY(s->backend->table->upload(s->backend, OZ_FIELD_RANK, p->count + first, block, rank,
                                     s->message));
  }
  return OOZE_OK;
}

/* Ids anywhere: those that are there move up by how many new ones come before them. `named` is in
 * ascending id and the old ranks are in the host copy. */
static ooze_result put_ids_between(ooze_solver *s, const oz_arrivals *a, uint32_t n,
                                   const uint64_t *ids, const oz_named *named) {
  oz_particles *p = &s->particles;
  uint32_t old = p->count;
  uint32_t *rank = p->copy, *shift = p->at; /* shift[r]: new ids below the old rank r */
  OZ_TRY(s->backend->table->upload(s->backend, OZ_FIELD_ID, old, n, ids, s->message));
  for (uint32_t r = 0, k = 0; r < old; ++r) {
    while (k < n && named[k].id < p->ids[r]) k++;
    shift[r] = k;
  }
  for (uint32_t i = 0; i < old; ++i) rank[i] += shift[rank[i]];
  if (old) OZ_TRY(s->backend->table->upload(s->backend, OZ_FIELD_RANK, 0, old, rank, s->message));
  /* merge from the back, in place */
  uint32_t *fresh = p->scratch;
  for (uint32_t to = old + n, r = old, k = n; k > 0;) {
    --to;
    if (r > 0 && p->ids[r - 1] > named[k - 1].id) {
      p->ids[to] = p->ids[--r];
      oz_labels_move(s, to, r);
    } else {
      --k;
      p->ids[to] = named[k].id;
      fresh[named[k].index] = to;
      oz_labels_put(s, a, named[k].index, to);
    }
  }
  return s->backend->table->upload(s->backend, OZ_FIELD_RANK, old, n, fresh, s->message);
}

/* Each id above the one before, and the first above all that are there: a host's particles come
 * that way. */
static int rising(const oz_particles *p, const uint64_t *ids, uint32_t n) {
  if (ids[n - 1] > (uint64_t)OZ_ID_MAX || (p->count && ids[0] <= p->ids[p->count - 1])) return 0;
  for (uint32_t i = 1; i < n; ++i)
    if (ids[i] <= ids[i - 1]) return 0;
  return 1;
}

/* New particles go before the boundary particles, so these need new ranks too: the arrivals get
 * the ids that they would have had by themselves. */
static ooze_result append_with_ids(ooze_solver *s, const oz_arrivals *a) {
  const uint32_t n = a->count;
  uint64_t *ids = oz_alloc(&s->memory, n * sizeof *ids);
  if (!ids) return oz_host_no_memory(s, n * sizeof *ids);
  for (uint32_t i = 0; i < n; ++i) ids[i] = s->particles.next_id + i;
  oz_arrivals named = *a;
  named.ids = ids;
  ooze_result r = oz_particles_append(s, &named);
  oz_free(&s->memory, ids);
  return r;
}

/* Refuses ids, sorted, that are too large, given twice or in use. */
static ooze_result check_named(ooze_solver *s, const oz_named *named, uint32_t n, int hidden) {
  for (uint32_t i = 0; i < n; ++i) {
    const unsigned long long id = (unsigned long long)named[i].id;
    uint32_t rank;
    if (named[i].id >= OZ_HIDDEN_ID && !hidden)
      return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                     "particles: id %llu is too large; expected at most %llu", id,
                     (unsigned long long)OZ_HIDDEN_ID - 1);
    if (i > 0 && named[i].id == named[i - 1].id)
      return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "particles: id %llu is given twice", id);
    if (oz_rank_of(s, named[i].id, &rank))
      return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "particles: id %llu is in use", id);
  }
  return OOZE_OK;
}

/* The arrivals in the order of their ids, for ids that lie between those that are there. */
static ooze_result sort_named(ooze_solver *s, const oz_arrivals *a, int hidden, oz_named **out) {
  oz_particles *p = &s->particles;
  const uint32_t n = a->count;
  void *at = p->at, *copy = NULL;
  OZ_TRY(oz_host_reserve(s, &at, &p->at_capacity, (size_t)p->count * sizeof *p->at, 0));
  p->at = at;
  p->at_known = 0;
  OZ_TRY(oz_host_copy(s, OZ_FIELD_RANK, &copy));
  oz_named *named = oz_alloc(&s->memory, (size_t)n * sizeof *named);
  if (!named) return oz_host_no_memory(s, (size_t)n * sizeof *named);
  for (uint32_t i = 0; i < n; ++i) named[i] = (oz_named){a->ids[i], i};
  qsort(named, n, sizeof *named, by_id);
  ooze_result r = check_named(s, named, n, hidden);
  if (r < 0) {
    oz_free(&s->memory, named);
    return r;
  }
  *out = named;
  return OOZE_OK;
}

/* Fields, ids and ranks of the arrivals; a failure leaves the old particles. */
static ooze_result put_arrivals(ooze_solver *s, const oz_arrivals *a, const oz_named *named) {
  const oz_particles *p = &s->particles;
  const uint32_t n = a->count, old = p->count;
  ooze_result r = s->backend->table->resize(s->backend, old + n, s->message);
  if (r < 0) return r;
  for (uint32_t first = 0; first < n && r >= 0; first += OZ_BLOCK)
    r = put_fields(s, a, first, n - first < OZ_BLOCK ? n - first : OZ_BLOCK);
  if (r >= 0)
    r = named ? put_ids_between(s, a, n, a->ids, named)
              : put_ids_behind(s, a, n, a->ids, p->next_id);
  if (r < 0) (void)s->backend->table->resize(s->backend, old, NULL);
  return r;
}

/* New particles explain their own speed (speeds.c). */
static void explain_speeds(ooze_solver *s, const oz_arrivals *a) {
  const unsigned char *from = a->velocities;
  const size_t stride = a->velocity_stride ? a->velocity_stride : 3 * sizeof(float);
  if (s->explained_speed < 0 || !from) return;
  for (uint32_t i = 0; i < a->count; ++i, from += stride) {
    float v[3];
    memcpy(v, from, sizeof v);
    const double x = (double)v[0], y = (double)v[1], z = (double)v[2];
    s->explained_speed = fmax(s->explained_speed, sqrt(x * x + y * y + z * z));
  }
}

ooze_result oz_particles_append(ooze_solver *s, const oz_arrivals *a) {
  oz_particles *p = &s->particles;
  uint32_t n = a->count, old = p->count;
  if (n == 0) return OOZE_OK;
  if (n > s->max_particles - old)
    return oz_fail(s->message, OOZE_ERROR_LIMIT,
                   "particles: %u and %u more are too many; max_particles is %u", (unsigned)old,
                   (unsigned)n, (unsigned)s->max_particles);
  if (!a->ids && p->hidden) return append_with_ids(s, a);
  const int hidden = a->owner >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY;
  if (!a->ids && p->next_id > OZ_HIDDEN_ID - 1 - n)
    return oz_fail(s->message, OOZE_ERROR_LIMIT, "particles: ids are used up; the largest is %llu",
                   (unsigned long long)p->next_id - 1);

  /* all memory first */
  oz_named *named = NULL;
  void *ids = p->ids, *scratch = p->scratch;
  size_t ids_bytes = ((size_t)old + n) * sizeof *p->ids;
  OZ_TRY(oz_host_reserve(s, &ids, &p->ids_capacity, ids_bytes, (size_t)old * sizeof *p->ids));
  p->ids = ids;
  OZ_TRY(oz_labels_reserve(s, old + n));
  const int behind = !a->ids || rising(p, a->ids, n);
  size_t block = (size_t)(n < OZ_BLOCK ? n : OZ_BLOCK) * 24, words = behind ? 0 : (size_t)n * 4;
  OZ_TRY(oz_host_reserve(s, &scratch, &p->scratch_capacity, block > words ? block : words, 0));
  p->scratch = scratch;
  OZ_TRY(oz_host_flush(s));
  OZ_TRY(reserve(s, old + n));
  if (!behind) OZ_TRY(sort_named(s, a, hidden, &named));

  if (!hidden) explain_speeds(s, a);
  /* from here on only a device can fail; then the old particles remain */
  uint64_t last = !a->ids ? p->next_id + n - 1 : behind ? a->ids[n - 1] : named[n - 1].id;
  ooze_result r = put_arrivals(s, a, named);
  oz_free(&s->memory, named);
  oz_particles_moved(s);
  if (r < 0) return r;
  p->count = old + n;
  if (last >= p->next_id && !hidden) p->next_id = last + 1;
  p->relaxation_time_known = s->extremes_known = 0;
  return OOZE_OK;
}

/* ---- removing ---- */

ooze_result oz_particles_flags(ooze_solver *s) {
  oz_particles *p = &s->particles;
  void *flags = p->flags;
  OZ_TRY(oz_host_reserve(s, &flags, &p->flags_capacity, (size_t)p->count + 1, 0));
  p->flags = flags;
  memset(p->flags, 1, p->count);
  return OOZE_OK;
}

/* Moves the last substep's results of the remaining particles to their new places. */
static ooze_result keep_results(ooze_solver *s, uint32_t kept) {
  static const oz_field fields[] = {OZ_FIELD_RHO, OZ_FIELD_LAM, OZ_FIELD_NEIGHBOURS};
  oz_particles *p = &s->particles;
  for (size_t f = 0; f < sizeof fields / sizeof *fields; ++f) {
    void *copy;
    uint32_t words = oz_field_shapes[fields[f]].words, *to, *from;
    OZ_TRY(oz_host_copy(s, fields[f], &copy));
    to = from = copy;
    for (uint32_t k = 0; k < words; ++k) /* planes, or single words: all of one shape */
      for (uint32_t i = 0; i < p->count; ++i, ++from)
        if (p->flags[i]) *to++ = *from;
    p->copy_valid = 0;
    OZ_TRY(s->backend->table->upload(s->backend, fields[f], 0, kept, copy, s->message));
  }
  return OOZE_OK;
}

ooze_result oz_particles_keep(ooze_solver *s, uint32_t kept) {
  oz_particles *p = &s->particles;
  uint32_t old = p->count, n = 0;
  if (kept == old) return OOZE_OK;
  void *copy;
  OZ_TRY(oz_rank_map(s)); /* used up below */
  OZ_TRY(oz_host_flush(s));
  uint32_t results = 0;
  for (uint32_t i = 0; i < p->results; ++i) results += p->flags[i] != 0;
  p->results = 0;
  if (results && keep_results(s, kept) < 0)
    results = 0; /* without memory for them they read as 0 until the next step */
  OZ_TRY(oz_host_copy(s, OZ_FIELD_RANK, &copy));
  OZ_TRY(s->backend->table->compact(s->backend, p->flags, &n, s->message));

  /* new rank of each old one, and the ids that stay */
  uint32_t *fresh = p->at, *ranks = copy, to = 0, old_visible = 0;
  for (uint32_t r = 0; r < old; ++r) {
    if (r == old - p->hidden) old_visible = to; /* of those that the host sees, this many stay */
    uint32_t stays = p->flags[p->at[r]];
    uint64_t id = p->ids[r];
    fresh[r] = to;
    if (!stays) continue;
    oz_labels_move(s, to, r);
    p->ids[to++] = id;
  }
  for (uint32_t i = 0, k = 0; i < old; ++i)
    if (p->flags[i]) ranks[k++] = fresh[ranks[i]];
  p->hidden = p->hidden ? to - old_visible : 0;
  p->count = to;
  p->results = results;
  p->relaxation_time_known = s->extremes_known = 0;
  oz_particles_moved(s);
  if (to == 0) return OOZE_OK;
  ooze_result r = s->backend->table->upload(s->backend, OZ_FIELD_RANK, 0, to, ranks, s->message);
  return r < 0 ? (s->lost = OOZE_LOST_DEVICE) : OOZE_OK;
}

ooze_result oz_particles_empty(ooze_solver *s) {
  oz_particles *p = &s->particles;
  OZ_TRY(s->backend->table->resize(s->backend, 0, s->message));
  oz_particles_moved(s);
  p->count = p->hidden = p->results = 0;
  s->boundary.placed = 0;
  p->relaxation_time_known = s->extremes_known = 0;
  s->explained_speed = OZ_SPEED_UNKNOWN;
  return OOZE_OK;
}

void oz_particles_release(ooze_solver *s) {
  oz_particles *p = &s->particles;
  oz_free(&s->memory, p->ids);
  oz_free(&s->memory, p->labels);
  oz_free(&s->memory, p->at);
  oz_free(&s->memory, p->copy);
  oz_free(&s->memory, p->scratch);
  oz_free(&s->memory, p->flags);
  memset(p, 0, sizeof *p);
}
