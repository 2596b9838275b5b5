/* The part of a links update that runs in each task: old row and near particles in, new row out.
 * Included by stages.c. SPDX-License-Identifier: Apache-2.0 */

enum { OZ_LINK_HASH = 1024 }; /* twice the longest row: probes stay short */

/* The known other ends of a row, as an open hash. */
typedef struct known {
  uint32_t mask;
  uint32_t slot[OZ_LINK_HASH]; /* particle + 1, or 0 */
} known;
static void known_clear(known *k, uint32_t count) {
  uint32_t size = 32;
  while (size < 2 * count) size *= 2;
  k->mask = size - 1;
  memset(k->slot, 0, size * sizeof *k->slot);
}
static uint32_t *known_find(known *k, uint32_t j) {
  uint32_t at = j * 0x9e3779b9u >> 12 & k->mask;
  while (k->slot[at] && k->slot[at] != j + 1) at = (at + 1) & k->mask;
  return &k->slot[at];
}

/* Room for one row on the task's current page, or a new page. */
static int link_room(oz_relink *s, uint32_t *at, uint32_t *left, uint32_t need) {
  if (need <= *left) return 1;
  const uint32_t page = atomic_fetch_add(&s->to->next, 1);
  if (page >= s->to->pages) return 0;
  *at = page * OZ_PAGE;
  *left = OZ_PAGE;
  return 1;
}

/* Squared current distances of the particles in one row of j, padded with i, and the number of them
 * near enough for a new link (not counting padding). far: one of them is so far that a viscous link
 * is dropped. Both ends of a pair get the same bits: every decision about it is based on these. */
static uint32_t distances(const oz_frame *f, uint32_t i, const uint32_t *j, uint32_t padded_count,
                          float reach2, float *out, int *far) {
  const oz_v3 p = oz_vec_of(f->p, i);
  const oz_real one = oz_set(1.0f), zero = oz_set(0.0f);
  oz_real near = zero;
  oz_mask beyond = zero > one;
  for (uint32_t k = 0; k < padded_count; k += OZ_LANES) {
    const oz_v3 r = oz_sub(oz_vec_gather(f->p, j + k), p);
    const oz_real r2 = oz_dot(r, r);
    const oz_mask in = (r2 < oz_set(reach2)) & oz_index_ne(j + k, i);
    near += oz_select(in, one, zero);
    beyond |= r2 >= oz_set(4.0f * f->h2);
    oz_st(out, k, oz_select(in, -1e-30f - r2, r2)); /* near ones become negative, coincident ones
                                                     * too */
  }
  *far = oz_any(beyond);
  return (uint32_t)oz_sum(near);
}

/* A row in the making: links, then unlinked near particles. */
/* rows of near particles have two parts */
enum { OZ_ROW_MOST = OZ_LINKS_MAX + 2 * OZ_MAX_NEIGHBOURS + OZ_WORD };
typedef struct new_row {
  uint32_t j[OZ_ROW_MOST], kind[OZ_ROW_MOST];
  float rest[OZ_ROW_MOST], spare[OZ_ROW_MOST];
  uint32_t loose[OZ_ROW_MOST], loose_count;
} new_row;
static void row_set(new_row *r, uint32_t m, const oz_link *l) {
  r->j[m] = l->j, r->rest[m] = l->rest, r->kind[m] = l->kind, r->spare[m] = l->spare;
}

/* Links to near particles that have none yet, at their places by rank; near particles that get none
 * are loose. */
static uint32_t new_links(const oz_relink *s, uint32_t i, known *k, new_row *row, uint32_t n,
                          uint32_t *near[2], float *r2[2]) {
  const oz_frame *f = s->f;
  const uint32_t kept = n;
  const int room = oz_link_room(f, i), both = oz_link_fused(s->rule);
  for (uint32_t part = 0; part < 2 && f->density_entries[part]; part++) {
    for (uint32_t m = 0; m < f->density_length[part][i]; m++) {
      oz_link l = {near[part][m], 0.0f, 0, 0.0f};
      if (!(r2[part][m] < 0.0f) || *known_find(k, l.j)) continue;
      if (room && oz_link_room(f, l.j) && oz_link_seen(f, i, l.j) &&
          oz_link_make(f, s->rule, i, &l, -r2[part][m]))
        row_set(row, n++, &l);
      else if (both)
        row->loose[row->loose_count++] = l.j;
    }
  }
  /* the old ones are in order: the new ones move down to their places */
  for (uint32_t m = kept; m < n; m++) {
    const oz_link l = {row->j[m], row->rest[m], row->kind[m], row->spare[m]};
    const uint32_t rank = f->rank[l.j];
    uint32_t t = m;
    for (; t > 0 && f->rank[row->j[t - 1]] > rank; t--) {
      const oz_link up = {row->j[t - 1], row->rest[t - 1], row->kind[t - 1], row->spare[t - 1]};
      row_set(row, t, &up);
    }
    row_set(row, t, &l);
  }
  return n;
}

/* A row without additions or removals, straight to its new place. */
static void copy_row(const oz_relink *s, uint32_t i, uint32_t first, uint32_t count,
                     const float *r2, uint32_t at) {
  const oz_link_rows *from = s->from;
  const oz_link_rows *to = s->to;
  for (uint32_t m = 0; m < count; m += OZ_LANES) {
    const uint32_t e = first + m;
    uint32_t j[OZ_LANES], kind[OZ_LANES];
    float spare[OZ_LANES];
    memcpy(j, from->j + e, sizeof j), memcpy(kind, from->kind + e, sizeof kind),
        memcpy(spare, from->spare + e, sizeof spare);
    oz_real rest = oz_ld(from->rest + e, 0);
    (void)oz_viscous_drop(s->f, i, j, kind, oz_abs(oz_ld(r2, m)), &rest);
    memcpy(to->j + at + m, j, sizeof j), memcpy(to->kind + at + m, kind, sizeof kind),
        memcpy(to->spare + at + m, spare, sizeof spare);
    oz_st(to->rest + at, m, rest);
  }
}

/* The remaining links with their new lengths. Links dropped while their ends are near become
 * loose. */
static uint32_t keep_links(const oz_relink *s, uint32_t i, uint32_t first, uint32_t old,
                           const float *r2, new_row *row) {
  const oz_frame *f = s->f;
  const oz_link_rows *from = s->from;
  const int both = oz_link_fused(s->rule);
  const int grouped = s->rule == OZ_RULE_LINKS; /* most rows lose none */
  const oz_real one = oz_set(1.0f), zero = oz_set(0.0f);
  float gone[OZ_ROW_MOST];
  uint32_t n = 0;
  if (grouped) {
    oz_real any = zero;
    const size_t bytes = padded(old) * sizeof(uint32_t);
    memcpy(row->j, from->j + first, bytes), memcpy(row->kind, from->kind + first, bytes),
        memcpy(row->spare, from->spare + first, bytes);
    for (uint32_t m = 0; m < old; m += OZ_LANES) {
      oz_real rest = oz_ld(from->rest + first, m);
      const oz_real drop = oz_select(
          oz_viscous_drop(f, i, row->j + m, row->kind + m, oz_abs(oz_ld(r2, m)), &rest), one, zero);
      oz_st(row->rest, m, rest);
      oz_st(gone, m, drop);
      any = oz_max(any, drop);
    }
    if (!f->body_count && !oz_any(any > zero)) return old;
  }
  for (uint32_t m = 0; m < old; m++) {
    const uint32_t e = first + m;
    oz_link l = {from->j[e], grouped ? row->rest[m] : from->rest[e], from->kind[e], from->spare[e]};
    const int stays = !grouped ? oz_link_keep(f, s->rule, i, &l, fabsf(r2[m]))
                               : gone[m] == 0.0f && (l.kind != OZ_LINK_SOFT ||
                                                     oz_soft_keep(f, i, &l, fabsf(r2[m])));
    if (stays)
      row_set(row, n++, &l);
    else if (both && r2[m] < 0.0f)
      row->loose[row->loose_count++] = l.j;
  }
  return n;
}

static void relink(oz_relink *s, uint32_t begin, uint32_t end) {
  const oz_frame *f = s->f;
  const oz_link_rows *from = s->from;
  oz_link_rows *to = s->to;
  new_row row;
  known k;
  float r2[OZ_LINKS_MAX + OZ_WORD], near_r2[2][OZ_MAX_NEIGHBOURS + OZ_WORD];
  float *away[2] = {near_r2[0], near_r2[1]};
  uint32_t share_list[2][OZ_MAX_NEIGHBOURS + OZ_WORD], *near[2] = {share_list[0], share_list[1]};
  uint32_t at = 0, left = 0;
  const float reach2 = oz_link_reach2(f, s->rule);
  const int both = oz_link_fused(s->rule);
  for (uint32_t i = begin; i < end; i++) {
    /* it has no link and gets none */
    if (!oz_link_has_row(f->owner, i) || (from->len[i] == 0 && !(reach2 > 0.0f))) {
      to->row[i] = at, to->len[i] = 0, s->all[i] = 0;
      continue;
    }
    row.loose_count = 0;
    const uint32_t old = from->len[i], first = from->row[i];
    int far, none_far;
    const uint32_t linked = distances(f, i, from->j + first, padded(old), reach2, r2, &far);
    /* near particles with a link are among all near ones: equal numbers mean that there is nothing
     * to make */
    uint32_t all = 0;
    const int looks = reach2 > 0.0f && (both || oz_link_room(f, i));
    for (uint32_t part = 0; looks && part < 2 && f->density_entries[part]; part++) {
      const oz_row from_row = oz_row_of(f->density_entries[part], f->density_row[part], i);
      oz_row_j(&from_row, 0, f->density_length[part][i], near[part]);
      all += distances(f, i, near[part], f->density_length[part][i], reach2, away[part], &none_far);
    }
    if (both && all == linked && !far && !f->body_count) {
      const uint32_t pn = padded(old);
      if (!link_room(s, &at, &left, pn)) {
        atomic_fetch_add(&s->overflow, 1);
        return;
      }
      to->row[i] = at, to->len[i] = (uint16_t)old, s->all[i] = (uint16_t)pn;
      copy_row(s, i, first, old, r2, at);
      at += pn, left -= pn;
      continue;
    }
    uint32_t n = keep_links(s, i, first, old, r2, &row);
    if (looks && all != linked) {
      known_clear(&k, old);
      for (uint32_t m = 0; m < old; m++)
        *known_find(&k, from->j[first + m]) = from->j[first + m] + 1;
      n = new_links(s, i, &k, &row, n, near, away);
    }
    const uint32_t pn = padded(n + row.loose_count);
    if (!link_room(s, &at, &left, pn)) {
      atomic_fetch_add(&s->overflow, 1);
      return;
    }
    to->row[i] = at;
    to->len[i] = (uint16_t)n;
    s->all[i] = (uint16_t)pn;
    for (uint32_t m = n; m < pn; m++) {
      const oz_link none = {m - n < row.loose_count ? row.loose[m - n] : i, 0.0f, 0, 0.0f};
      row_set(&row, m, &none);
      if (both) s->share[at + m] = 0.0f; /* stages of kind LINK skip some kinds */
    }
    memcpy(to->j + at, row.j, pn * sizeof *row.j);
    memcpy(to->rest + at, row.rest, pn * sizeof *row.rest);
    memcpy(to->kind + at, row.kind, pn * sizeof *row.kind);
    memcpy(to->spare + at, row.spare, pn * sizeof *row.spare);
    at += pn;
    left -= pn;
  }
}
