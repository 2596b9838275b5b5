/* Links as the host sees them: pairs of ids. The backend keeps them by particle; here they are one
 * list by rank, which is fetched when asked for and put back whole when the host changes it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/links.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "core/particles.h"

static ooze_result short_of_memory(ooze_solver *s, uint64_t count) {
  return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory for %llu links",
                 (unsigned long long)count);
}

static ooze_result room(ooze_solver *s, uint64_t count) {
  void *pairs = s->links.pairs;
  if (count > SIZE_MAX / sizeof(oz_link_pair) ||
      !oz_grow(&s->memory, &pairs, &s->links.capacity, (size_t)count * sizeof(oz_link_pair),
               s->links.capacity))
    return short_of_memory(s, count);
  s->links.pairs = pairs;
  return OOZE_OK;
}

/* Those to boundary particles behind the others; the order of each kind stays. */
static ooze_result set_apart(ooze_solver *s) {
  oz_link_list *l = &s->links;
  const uint32_t visible = oz_visible(s);
  uint64_t hidden = 0, n = 0, m = 0;
  for (uint64_t k = 0; k < l->count; ++k) hidden += l->pairs[k].b >= visible;
  if (!hidden) return OOZE_OK;
  oz_link_pair *other = oz_alloc(&s->memory, (size_t)hidden * sizeof *other);
  if (!other) return short_of_memory(s, hidden);
  for (uint64_t k = 0; k < l->count; ++k)
    if (l->pairs[k].b >= visible)
      other[m++] = l->pairs[k];
    else
      l->pairs[n++] = l->pairs[k];
  memcpy(l->pairs + n, other, (size_t)m * sizeof *other);
  oz_free(&s->memory, other);
  l->shown = n;
  return OOZE_OK;
}
/* There is room. Links that have lost an end are left out. */
static void append_waiting(ooze_solver *s) {
  oz_link_list *l = &s->links;
  for (uint64_t k = 0; k < l->waiting; ++k) {
    const oz_link_wait *w = &l->wait[k];
    uint32_t rank;
    if (!oz_rank_of(s, w->id, &rank) || rank >= oz_visible(s) ||
        w->point >= UINT32_MAX - oz_visible(s))
      continue;
    l->pairs[l->count++] =
        (oz_link_pair){rank, oz_visible(s) + w->point, w->rest, w->kind, w->spare};
  }
}

ooze_result oz_links_fetch(ooze_solver *s) {
  oz_link_list *l = &s->links;
  if (l->known) return OOZE_OK;
  uint64_t count = 0;
  if (s->backend->table->has_links(s->backend)) {
    OZ_TRY(oz_rank_map(s));
    OZ_TRY(s->backend->table->links_get(s->backend, s->particles.at, NULL, &count, s->message));
  }
  if (count + l->waiting) OZ_TRY(room(s, count + l->waiting));
  if (count)
    OZ_TRY(s->backend->table->links_get(s->backend, s->particles.at, l->pairs, &count, s->message));
  l->count = l->shown = count;
  if (s->particles.hidden) OZ_TRY(set_apart(s));
  append_waiting(s);
  l->known = 1;
  return OOZE_OK;
}

void oz_links_await(ooze_solver *s, oz_link_wait *wait, uint64_t count) {
  oz_free(&s->memory, s->links.wait);
  s->links.wait = wait;
  s->links.waiting = count;
  s->links.known = 0;
}

/* Gives the current list to the backend. On failure the backend keeps its own. */
static ooze_result put_back(ooze_solver *s) {
  oz_link_list *l = &s->links;
  uint64_t n = l->waiting ? l->shown : l->count;
  ooze_result r = oz_host_flush(s);
  if (r >= 0) r = oz_rank_map(s);
  if (r >= 0)
    r = s->backend->table->links_put(s->backend, s->particles.at, l->pairs, n, s->message);
  l->known = r >= 0;
  return r;
}

ooze_result oz_links_arrive(ooze_solver *s) {
  oz_link_list *l = &s->links;
  if (!l->waiting) return OOZE_OK;
  l->known = 0;
  OZ_TRY(oz_links_fetch(s));
  uint64_t n = l->shown;
  /* fewer points than before: their memory is free */
  for (uint64_t k = l->shown; k < l->count; ++k)
    if (l->pairs[k].b < s->particles.count) l->pairs[n++] = l->pairs[k];
  l->count = n;
  l->waiting = 0;
  oz_free(&s->memory, l->wait);
  l->wait = NULL;
  return put_back(s);
}

void oz_links_release(ooze_solver *s) {
  oz_free(&s->memory, s->links.pairs);
  oz_free(&s->memory, s->links.wait);
  memset(&s->links, 0, sizeof s->links);
}

static int by_ends(const void *a, const void *b) {
  const oz_link_pair *x = a, *y = b;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return x->b < y->b ? -1 : x->b > y->b;
}

/* Place of a pair in the list, or where it would be. */
static int find(const oz_link_list *l, const oz_link_pair *pair, uint64_t *out) {
  uint64_t low = 0, high = l->shown;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (by_ends(&l->pairs[middle], pair) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  *out = low;
  return low < l->shown && by_ends(&l->pairs[low], pair) == 0;
}

static ooze_result ends_of(ooze_solver *s, const uint64_t ids[2], oz_link_pair *out) {
  uint32_t rank[2];
  for (int k = 0; k < 2; ++k)
    if (!oz_rank_of(s, ids[k], &rank[k]))
      return oz_fail(s->message, OOZE_ERROR_NOT_FOUND, "links: there is no id %llu",
                     (unsigned long long)ids[k]);
  if (rank[0] == rank[1])
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "links: id %llu is both ends of one",
                   (unsigned long long)ids[0]);
  memset(out, 0, sizeof *out);
  out->a = rank[rank[0] > rank[1]];
  out->b = rank[rank[0] < rank[1]];
  return OOZE_OK;
}

static unsigned long long id_of(const ooze_solver *s, uint32_t rank) {
  return (unsigned long long)s->particles.ids[rank];
}

/* ---- adding ---- */

ooze_result oz_links_check(const uint64_t *ids, uint32_t particles, const oz_link_pair *l,
                           const char *who, ooze_message *why) {
  const unsigned long long a = ids[l->a],
                           b = l->b < particles ? ids[l->b] : OZ_HIDDEN_ID + (l->b - particles);
  if (!(l->rest >= 0.0f && l->rest <= (float)OZ_FAR_METRES))
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "%s: rest of link %llu - %llu is %g m; expected 0 to %g", who, a, b,
                   (double)l->rest, OZ_FAR_METRES);
  if (l->kind == 0)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "%s: kind of link %llu - %llu is 0; expected 1 or more", who, a, b);
  if (!(fabsf(l->spare) <= 3e38f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: spare of link %llu - %llu is no finite number",
                   who, a, b);
  return OOZE_OK;
}

ooze_result oz_links_check_rows(ooze_solver *s, const oz_link_pair *pairs, uint64_t count,
                                uint32_t particles, const uint64_t *ids, ooze_message *why) {
  size_t bytes = (size_t)particles * sizeof(uint16_t);
  uint16_t *rows = count ? oz_alloc(&s->memory, bytes) : NULL;
  ooze_result r = OOZE_OK;
  if (count && !rows)
    return oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for %llu links",
                   (unsigned long long)count);
  for (uint64_t k = 0; k < count && r >= 0; ++k)
    for (int end = 0; end < 2 && r >= 0; ++end) {
      uint32_t rank = end ? pairs[k].b : pairs[k].a;
      if (rank >= particles) continue; /* a boundary particle: it has no row */
      if (++rows[rank] <= OZ_LINKS_MAX) continue;
      r = oz_fail(why, OOZE_ERROR_LIMIT, "links: id %llu would have more than %u",
                  (unsigned long long)ids[rank], OZ_LINKS_MAX);
    }
  oz_free(&s->memory, rows);
  return r;
}

/* Distances of pairs for which the host gives no rest length. */
static ooze_result measure(ooze_solver *s, oz_link_pair *pairs, uint64_t count) {
  void *copy;
  OZ_TRY(oz_rank_map(s));
  OZ_TRY(oz_host_copy(s, OZ_FIELD_X, &copy));
  const float *x = copy;
  for (uint64_t k = 0; k < count; ++k) {
    const float *a = x + 4 * (size_t)s->particles.at[pairs[k].a],
                *b = x + 4 * (size_t)s->particles.at[pairs[k].b];
    float d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    pairs[k].rest = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  }
  return OOZE_OK;
}

/* New links, sorted and checked against each other and those that are there. */
static ooze_result take_new(ooze_solver *s, const ooze_links *in, oz_link_pair *fresh) {
  for (uint64_t k = 0; k < in->count; ++k) {
    OZ_TRY(ends_of(s, in->pairs + 2 * k, &fresh[k]));
    if (in->rest) fresh[k].rest = in->rest[k];
    fresh[k].kind = in->kind ? in->kind[k] : OOZE_LINK_HELD;
    fresh[k].spare = in->spare ? in->spare[k] : 0.0f;
  }
  if (!in->rest) OZ_TRY(measure(s, fresh, in->count));
  for (uint64_t k = 0; k < in->count; ++k)
    OZ_TRY(oz_links_check(s->particles.ids, s->particles.count, &fresh[k], "links", s->message));
  qsort(fresh, (size_t)in->count, sizeof *fresh, by_ends);
  for (uint64_t k = 0; k < in->count; ++k) {
    uint64_t at;
    const char *what = k && by_ends(&fresh[k - 1], &fresh[k]) == 0 ? "given twice" : NULL;
    if (find(&s->links, &fresh[k], &at)) what = "there already";
    if (what)
      return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "links: %llu - %llu is %s",
                     id_of(s, fresh[k].a), id_of(s, fresh[k].b), what);
  }
  return OOZE_OK;
}

/* Into the list and the backend: `n` new ones, ascending, none of which is there; s->links is
 * right. */
ooze_result oz_links_merge(ooze_solver *s, const oz_link_pair *fresh, uint64_t n) {
  oz_link_list *l = &s->links;
  const uint64_t old = l->shown;
  OZ_TRY(room(s, l->count + n));
  memmove(l->pairs + old + n, l->pairs + old, (size_t)(l->count - old) * sizeof *l->pairs);
  for (uint64_t to = old + n, a = old, b = n; b > 0;) { /* from the back, in place */
    --to;
    l->pairs[to] =
        a > 0 && by_ends(&l->pairs[a - 1], &fresh[b - 1]) > 0 ? l->pairs[--a] : fresh[--b];
  }
  l->count += n, l->shown += n;
  ooze_result r =
      oz_links_check_rows(s, l->pairs, l->count, oz_visible(s), s->particles.ids, s->message);
  if (r >= 0) return put_back(s);
  l->known = 0;
  return r;
}

/* Soft links hold soft bodies together, and nothing else. */
static ooze_result soft_ends(ooze_solver *s, const oz_link_pair *fresh, uint64_t count) {
  uint32_t owner[2];
  for (uint64_t k = 0; k < count; ++k) {
    if (fresh[k].kind != OOZE_LINK_SOFT) continue;
    OZ_TRY(ooze_attribute_read(s, OOZE_OWNER, fresh[k].a, 1, 0, &owner[0]));
    OZ_TRY(ooze_attribute_read(s, OOZE_OWNER, fresh[k].b, 1, 0, &owner[1]));
    if (owner[0] == owner[1] && owner[0] >> OZ_OWNER_SHIFT == OZ_OWNER_SOFT) continue;
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                   "links: %llu - %llu is of kind soft; expected both ends in one soft body",
                   id_of(s, fresh[k].a), id_of(s, fresh[k].b));
  }
  return OOZE_OK;
}

ooze_result ooze_links_add(ooze_solver *s, const ooze_links *links) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_STRUCT_TAKE(ooze_links, in, links, "links", s->message);
  if (s->lost)
    return oz_fail(s->message, s->lost,
                   "links: the state is lost; clear the particles or load a checkpoint");
  if (in.count == 0) return OOZE_OK;
  if (!in.pairs) return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "links: pairs is NULL");
  OZ_TRY(oz_links_fetch(s));
  const uint64_t n = in.count;
  if (n > UINT64_MAX / 64 - s->links.count) return short_of_memory(s, n);
  oz_link_pair *fresh = oz_alloc(&s->memory, (size_t)n * sizeof *fresh);
  if (!fresh) return short_of_memory(s, n);
  ooze_result r = take_new(s, &in, fresh);
  if (r >= 0) r = soft_ends(s, fresh, n);
  if (r >= 0) r = oz_links_merge(s, fresh, n);
  oz_free(&s->memory, fresh);
  return r;
}

/* ---- removing ---- */

ooze_result ooze_links_remove(ooze_solver *s, const uint64_t *pairs, uint64_t count) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (count == 0) return OOZE_OK;
  if (!pairs) return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "links: pairs is NULL");
  OZ_TRY(oz_links_fetch(s));
  oz_link_list *l = &s->links;
  uint8_t *gone = l->count ? oz_alloc(&s->memory, (size_t)l->count) : NULL;
  if (l->count && !gone) return short_of_memory(s, count);
  ooze_result r = OOZE_OK;
  for (uint64_t k = 0; k < count && r >= 0; ++k) {
    oz_link_pair pair;
    uint64_t at;
    r = ends_of(s, pairs + 2 * k, &pair);
    if (r >= 0 && (!find(l, &pair, &at) || gone[at]))
      r = oz_fail(s->message, OOZE_ERROR_NOT_FOUND,
                  "links: there is none between ids %llu and %llu",
                  (unsigned long long)pairs[2 * k], (unsigned long long)pairs[2 * k + 1]);
    if (r >= 0) gone[at] = 1;
  }
  if (r >= 0) {
    uint64_t n = 0, left = 0;
    for (uint64_t k = 0; k < l->count; ++k) {
      if (k == l->shown) left = n;
      if (!gone[k]) l->pairs[n++] = l->pairs[k];
    }
    l->shown = l->shown == l->count ? n : left;
    l->count = n;
    r = put_back(s);
  }
  oz_free(&s->memory, gone);
  return r;
}

ooze_result ooze_links_clear(ooze_solver *s) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  oz_links_await(s, NULL, 0);
  s->links.count = s->links.shown = 0;
  return put_back(s);
}

/* ---- reading ---- */

ooze_result ooze_links_count(ooze_solver *s, uint64_t *out_count) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (!out_count) return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "links: out_count is NULL");
  OZ_TRY(oz_links_fetch(s));
  *out_count = s->links.shown;
  return OOZE_OK;
}

ooze_result ooze_links_read(ooze_solver *s, uint64_t first, uint64_t count, uint64_t *pairs,
                            float *rest, uint32_t *kind, float *spare) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_TRY(oz_links_fetch(s));
  const oz_link_list *l = &s->links;
  if (first > l->shown || count > l->shown - first)
    return oz_fail(
        s->message, OOZE_ERROR_ARGUMENT, "links: %llu from %llu were asked for; there are %llu",
        (unsigned long long)count, (unsigned long long)first, (unsigned long long)l->shown);
  for (uint64_t k = 0; k < count; ++k) {
    const oz_link_pair *p = &l->pairs[first + k];
    if (pairs) pairs[2 * k] = s->particles.ids[p->a], pairs[2 * k + 1] = s->particles.ids[p->b];
    if (rest) rest[k] = p->rest;
    if (kind) kind[k] = p->kind;
    if (spare) spare[k] = p->spare;
  }
  return OOZE_OK;
}

/* ---- as part of all state ---- */

ooze_result oz_links_hash(ooze_solver *s, oz_hash *h) {
  OZ_TRY(oz_links_fetch(s));
  if (s->links.count)
    oz_hash_add(h, s->links.pairs, (size_t)s->links.count * sizeof *s->links.pairs);
  return OOZE_OK;
}
