/* The part of a links update that runs in each task: old row and near particles in, new row out. Included by stages.c. */

enum { OZ_LINK_HASH = 1024 }; /* twice the longest row: probes stay short */

/* Which of the row's other ends are known, as an open hash. */
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

static void relink(oz_relink *s, uint32_t begin, uint32_t end) {
  const oz_frame *f = s->f;
  const oz_link_rows *from = s->from;
  oz_link_rows *to = s->to;
  oz_link row[OZ_LINKS_MAX];
  known k;
  uint32_t at = 0, left = 0;
  uint64_t count = 0;
  const float reach2 = oz_link_reach2(f, s->rule);
  for (uint32_t i = begin; i < end; i++) {
    uint32_t n = 0;
    const uint32_t old = from->len[i];
    if (old == 0 && !(reach2 > 0.0f)) { /* has none and gets none: most, where only bodies have links */
      to->row[i] = at, to->len[i] = 0;
      continue;
    }
    known_clear(&k, old);
    for (uint32_t m = 0; m < old; m++) {
      const uint32_t e = from->row[i] + m;
      oz_link l = {from->j[e], from->rest[e], from->kind[e], from->spare[e]};
      *known_find(&k, l.j) = l.j + 1;
      if (oz_link_keep(f, s->rule, i, &l, oz_link_distance2(f, i, l.j))) row[n++] = l;
    }
    const uint32_t kept = n;
    if (reach2 > 0.0f && oz_link_room(f, i)) {
      for (uint32_t part = 0; part < 2 && f->list_d[part]; part++) {
        const uint32_t *near = f->list_d[part] + f->row_d[part][i];
        for (uint32_t m = 0; m < f->len_d[part][i]; m++) {
          oz_link l = {near[m], 0.0f, 0, 0.0f};
          const float r2 = oz_link_distance2(f, i, l.j);
          if (!(r2 < reach2) || l.j == i || *known_find(&k, l.j)) continue;
          if (oz_link_room(f, l.j) && oz_link_seen(f, i, l.j) && oz_link_make(f, s->rule, i, &l, r2)) row[n++] = l;
        }
      }
      /* the old ones are in order: the new ones move down to their places */
      for (uint32_t m = kept; m < n; m++) {
        const oz_link l = row[m];
        const uint32_t rank = f->rank[l.j];
        uint32_t t = m;
        for (; t > 0 && f->rank[row[t - 1].j] > rank; t--) row[t] = row[t - 1];
        row[t] = l;
      }
    }
    const uint32_t pn = padded(n);
    if (!link_room(s, &at, &left, pn)) {
      atomic_fetch_add(&s->overflow, 1);
      return;
    }
    to->row[i] = at;
    to->len[i] = (uint16_t)n;
    for (uint32_t m = 0; m < n; m++) {
      to->j[at + m] = row[m].j;
      to->rest[at + m] = row[m].rest;
      to->kind[at + m] = row[m].kind;
      to->spare[at + m] = row[m].spare;
    }
    for (uint32_t m = n; m < pn; m++) to->j[at + m] = i, to->rest[at + m] = 0.0f, to->kind[at + m] = 0, to->spare[at + m] = 0.0f;
    at += pn;
    left -= pn;
    count += n;
  }
  atomic_fetch_add(&to->count, count);
}
