/* The neighbour search, part of stages.c: compiled once per instruction set.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CPU_SEARCH_H
#define OZ_CPU_SEARCH_H

enum { OZ_WORD = 64 }; /* candidates whose tests are kept as the bits of one number */

static uint32_t padded(uint32_t n) { return (n + OZ_LANES - 1) / OZ_LANES * OZ_LANES; }

/* Output of a task: its current page. Without one it goes on and counts the pages that it would
 * have needed, so that the search is repeated once, not page by page. */
typedef struct oz_pen {
  oz_rows *rows;
  uint32_t at, left; /* fours of words; words */
  int dry;           /* there is no page */
} oz_pen;

/* Writes row i: pn entries, and their weights if the rows have weights. */
static void row_put(oz_search *s, const oz_frame *f, oz_pen *pen, uint32_t i, const uint32_t *j,
                    uint32_t pn, int weights) {
  oz_rows *rows = pen->rows;
  uint32_t apart = 0;
  for (uint32_t k = 0; k < pn; k++) apart |= j[k] - i + s->narrow;
  const int wide = apart >= 2 * s->narrow; /* narrow is a power of two */
  const uint32_t need = (pn * (uint32_t)((wide ? 2 : 1) + (weights ? 1 : 0)) + 3u) & ~3u;
  rows->len[i] = (uint16_t)pn;
  rows->row[i] = 0;
  if (!pn) return;
  if (need > pen->left) {
    const uint32_t page = atomic_fetch_add(&rows->next, 1);
    pen->dry = page >= rows->pages;
    if (pen->dry) atomic_fetch_add(&s->overflow, 1);
    pen->at = page * (OZ_PAGE / 4), pen->left = OZ_PAGE;
  }
  if (pen->dry) {
    pen->left -= need;
    return;
  }
  uint16_t *to = rows->words + 4 * (size_t)pen->at;
  rows->row[i] = pen->at | (wide ? OZ_WIDE : 0);
  pen->at += need / 4, pen->left -= need;
  if (wide)
    for (uint32_t k = 0; k < pn; k++) {
      const uint32_t e = j[k] - i;
      memcpy(to + 2 * k, &e, sizeof e);
    }
  else
    for (uint32_t k = 0; k < pn; k++) to[k] = (uint16_t)(j[k] - i);
  if (!weights) return;
  const oz_v3 x = oz_vec_of(f->x, i);
  to += (wide ? 2 : 1) * pn;
  for (uint32_t k = 0; k < pn; k += OZ_LANES)
    oz_st_half(to + k, oz_pair_weight(f, oz_sub(x, oz_vec_gather(f->x, j + k))));
}

/* Candidates around one cell, in groups of lanes: x.., y.., z.. from a corner nearby, and half
 * their square. Then |x - p|^2 < limit is x.x/2 - p.x < (limit - p.p)/2: three multiply-adds,
 * without cancellation of large numbers. */
typedef struct oz_around {
  float v[4 * (OZ_CANDIDATES + OZ_WORD)]; /* m, m^2 */
  uint32_t at[OZ_CANDIDATES + OZ_WORD];   /* index in s->at */
  float corner[3];
  uint32_t count, own; /* own: first of the cell's own particles */
} oz_around;

/* Leaves out candidates that no particle of the cell can reach: a third of the content of 27 cells.
 * Keeps their order; returns their number. Entries up to the next full group of lanes may be
 * read. */
static uint32_t within_reach(const oz_search *s, uint32_t cell, uint32_t *at, uint32_t n) {
  const uint32_t first = s->cell_start[cell], end = (n + OZ_LANES - 1) / OZ_LANES * OZ_LANES;
  const float *v = s->at + 4 * (size_t)first,
              reach2 = 1.001f * (s->margin2 > s->radius2 ? s->margin2 : s->radius2);
  float lo[3] = {v[0], v[1], v[2]}, hi[3] = {v[0], v[1], v[2]};
  for (uint32_t k = first + 1; k < s->cell_start[cell + 1]; k++) {
    v += 4;
    for (int c = 0; c < 3; c++)
      lo[c] = v[c] < lo[c] ? v[c] : lo[c], hi[c] = v[c] > hi[c] ? v[c] : hi[c];
  }
  const oz_v3 low = oz_vec_of(lo, 0), high = oz_vec_of(hi, 0);
  const oz_real zero = oz_set(0.0f), limit = oz_set(reach2);
  uint32_t kept = 0;
  for (uint32_t k = n; k < end; k++) at[k] = first; /* within reach: they are the last ones kept */
  for (uint32_t k = 0; k < end; k += OZ_LANES) {
    const oz_v3 x = oz_vec_gather(s->at, at + k);
    const oz_real dx = oz_max(oz_max(low.x - x.x, x.x - high.x), zero),
                  dy = oz_max(oz_max(low.y - x.y, x.y - high.y), zero);
    const oz_real dz = oz_max(oz_max(low.z - x.z, x.z - high.z), zero);
    kept += oz_pack(at + kept, oz_not(dx * dx + dy * dy + dz * dz > limit), at + k);
  }
  return kept - (end - n);
}

/* True if no pair between two cells has moved enough relative to each other to be listed. */
static int calm_cells(const oz_motion *a, const oz_motion *b, float min_approach2) {
  float sum = 0.0f;
  for (int c = 0; c < 3; c++) {
    const float low = a->low[c] < b->low[c] ? a->low[c] : b->low[c],
                high = a->high[c] > b->high[c] ? a->high[c] : b->high[c];
    sum += (high - low) * (high - low);
  }
  return oz_calm(sum, min_approach2);
}

/* Looks the 27 cells up; every particle of the cell in the middle traverses their content. */
static void look_around(const oz_search *s, uint32_t cell, oz_around *a) {
  const int32_t bits = (1 << 21) - 1;
  const uint64_t key = s->cell_key[cell];
  const int32_t kx = (int32_t)(key & (uint64_t)bits) - OZ_CELL_BIAS,
                ky = (int32_t)(key >> 21 & (uint64_t)bits) - OZ_CELL_BIAS;
  const int32_t kz = (int32_t)(key >> 42 & (uint64_t)bits) - OZ_CELL_BIAS;
  uint32_t n = 0;
  a->own = OZ_CANDIDATES;
  for (int32_t z = kz - 1; z <= kz + 1; z++)
    for (int32_t y = ky - 1; y <= ky + 1; y++)
      for (int32_t x = kx - 1; x <= kx + 1; x++) {
        const uint32_t *here = s->hash + oz_cell_slot(s->hash, s->hash_mask, s->cell_kinds,
                                                      s->cell_key, oz_cell_key(x, y, z)) *
                                             (size_t)s->cell_kinds;
        /* cells of boundary particles are cells of their own */
        for (uint32_t kind = 0; kind < s->cell_kinds; kind++) {
          const uint32_t found = here[kind];
          if (!found ||
              (s->moved && calm_cells(s->moved + cell, s->moved + found - 1, s->f->min_approach2)))
            continue;
          const uint32_t first = s->cell_start[found - 1];
          uint32_t m = s->cell_start[found] - first;
          if (m > OZ_CANDIDATES - n) m = OZ_CANDIDATES - n;
          uint32_t *to = a->at + n;
          /* the surplus is overwritten by the next cell */
          for (uint32_t k = 0; k < m; k += 4, to += 4)
            to[0] = first + k, to[1] = first + k + 1, to[2] = first + k + 2, to[3] = first + k + 3;
          n += m;
        }
      }
  n = within_reach(s, cell, a->at, n);
  for (uint32_t k = 0; k < n && a->own == OZ_CANDIDATES; k++)
    if (a->at[k] == s->cell_start[cell]) a->own = k;
  a->count = n;
  const uint32_t middle = s->cell_start[cell], end = (n + OZ_WORD - 1) / OZ_WORD * OZ_WORD;
  memcpy(a->corner, s->at + 4 * (size_t)middle, sizeof a->corner);
  for (uint32_t k = n; k < end; k++) a->at[k] = middle;
  for (uint32_t k = 0; k < end; k += OZ_LANES) {
    const oz_v3 x = oz_sub(oz_vec_gather(s->at, a->at + k), oz_vec_of(a->corner, 0));
    oz_st(a->v, 4 * k, x.x), oz_st(a->v, 4 * k + OZ_LANES, x.y),
        oz_st(a->v, 4 * k + 2 * OZ_LANES, x.z);
    oz_st(a->v, 4 * k + 3 * OZ_LANES, 0.5f * oz_dot(x, x));
  }
  /* out of reach */
  for (uint32_t k = n; k < end; k++)
    a->v[4 * (k / OZ_LANES * OZ_LANES) + 3 * OZ_LANES + k % OZ_LANES] = 1e36f;
}

/* One bit for each of 64 candidates: nearer to p than the limit, and than the wider one if there
 * are bits for it. No branch depends on a distance, because such a branch is unpredictable. */
OZ_FN void near_bits(const float *v, oz_v3 p, oz_real limit, oz_real limit2, uint64_t *out,
                     uint64_t *out2) {
  oz_bits b[4], b2[4];
  for (uint32_t q = 0; q < 4; q++) {
    oz_mask in[16 / OZ_LANES], in2[16 / OZ_LANES];
    for (uint32_t k = 0; k < 16 / OZ_LANES; k++, v += 4 * OZ_LANES) {
      const oz_real t = oz_ld(v, 3 * OZ_LANES) - oz_ld(v, 0) * p.x - oz_ld(v, OZ_LANES) * p.y -
                        oz_ld(v, 2 * OZ_LANES) * p.z;
      in[k] = t < limit;
      if (out2) in2[k] = t < limit2;
    }
    b[q] = oz_bits16(in);
    if (out2) b2[q] = oz_bits16(in2);
  }
  *out = oz_bits_join(b);
  if (out2) *out2 = oz_bits_join(b2);
}

/* The candidates with set bits, in a row of OZ_MAX_NEIGHBOURS at most, padded with i. Four are
 * written at a time: the number of near ones among 64 is unpredictable, in fours mostly not. The
 * surplus is overwritten. */
static uint32_t take(const oz_search *s, const oz_around *a, const uint64_t *bits, uint32_t i,
                     uint32_t *row, uint32_t *out_padded) {
  const uint64_t last = (uint64_t)1 << (OZ_WORD - 1); /* for a number without bits */
  uint32_t n = 0;
  for (uint32_t c = 0; c < a->count; c += OZ_WORD) {
    const uint32_t *at = a->at + c;
    uint64_t b = *bits++;
    uint32_t *to = row + n;
    n += (uint32_t)__builtin_popcountll(b);
    for (; b; to += 4)
      for (uint32_t k = 0; k < 4; k++, b &= b - 1) to[k] = at[__builtin_ctzll(b | last)];
    if (n > OZ_MAX_NEIGHBOURS) { /* there is room for a word more */
      n = OZ_MAX_NEIGHBOURS;
      break;
    }
  }
  if (s->index)
    for (uint32_t k = 0; k < n; k++) row[k] = s->index[row[k]];
  for (uint32_t k = 0; k < OZ_LANES; k++) row[n + k] = i;
  *out_padded = padded(n);
  return n;
}

/* Removes from a row of near particles those that were near at the start or have not moved enough:
 * the former are in the start row, the latter are not listed. Where rounding could decide the side
 * of h, the start row decides. */
static uint32_t lacking(const oz_frame *f, const oz_rows *c, uint32_t i, uint32_t *row, uint32_t n,
                        uint32_t *out_padded) {
  const oz_v3 x = oz_vec_of(f->x, i), p = oz_vec_of(f->p, i);
  const oz_real out = oz_set(1.0001f * f->h2), in = oz_set(0.9999f * f->h2);
  const oz_row mine = oz_row_of(c->words, c->row, i);
  uint32_t kept = 0;
  for (uint32_t k = 0; k < n; k += OZ_LANES) {
    const oz_v3 r = oz_sub(oz_vec_gather(f->x, row + k), x);
    const oz_real r2 = oz_dot(r, r);
    oz_mask lacks = r2 > out;
    if (oz_any(oz_not(lacks) & (r2 > in))) {
      float l2[OZ_LANES];
      int32_t m[OZ_LANES];
      memcpy(l2, &r2, sizeof l2);
      for (uint32_t l = 0; l < OZ_LANES; l++) {
        int known = l2[l] < 0.9999f * f->h2;
        for (uint32_t e = 0; e < c->len[i] && !known && l2[l] <= 1.0001f * f->h2; e++) {
          uint32_t j;
          oz_row_j(&mine, e, 1, &j);
          known = j == row[k + l];
        }
        m[l] = known ? 0 : -1;
      }
      memcpy(&lacks, m, sizeof lacks);
    }
    if (f->min_approach2 > 0.0f) {
      if (!oz_any(lacks)) continue;
      lacks = lacks & (oz_moved2(p, x, oz_vec_gather(f->p, row + k), oz_vec_gather(f->x, row + k)) >
                       oz_set(f->min_approach2));
    }
    kept += oz_pack(row + kept, lacks & oz_index_ne(row + k, i), row + k);
  }
  for (uint32_t k = 0; k < OZ_LANES; k++) row[kept + k] = i;
  *out_padded = padded(kept);
  return kept;
}

static void search(oz_search *s, uint32_t cell_begin, uint32_t cell_end) {
  const oz_frame frame = *s->f, *f = &frame; /* a copy that nothing written here can be part of */
  oz_around a;
  uint64_t in[OZ_CANDIDATES / OZ_WORD], wide[OZ_CANDIDATES / OZ_WORD];
  uint32_t near[OZ_MAX_NEIGHBOURS + OZ_WORD], outer[OZ_MAX_NEIGHBOURS + OZ_WORD];
  oz_pen pen = {s->main, 0, 0, 0}, pen_outer = {s->outer, 0, 0, 0};
  const int margin = s->margin2 > 0.0f, weights = s->weights;
  for (uint32_t cell = cell_begin; cell < cell_end; cell++) {
    const uint32_t first = s->cell_start[cell];
    uint32_t words = 0;
    int looked = 0;
    for (uint32_t k = first; k < s->cell_start[cell + 1]; k++) {
      const uint32_t i = s->index ? s->index[k] : k;
      if (f->has_boundary && oz_boundary_idle(f, i)) { /* boundary particles gather nothing */
        s->main->row[i] = 0, s->main->len[i] = 0;
        if (s->outer) s->outer->row[i] = 0, s->outer->len[i] = 0;
        if (s->neighbours) s->neighbours[i] = 0;
        if (s->pad_weight) s->pad_weight[i] = 0.0f;
        continue;
      }
      if (!looked) { /* a cell of boundary particles alone never gets here */
        look_around(s, cell, &a);
        words = (a.count + OZ_WORD - 1) / OZ_WORD;
        looked = 1;
      }
      const uint32_t self = a.own + (k - first);
      const float *x = s->at + 4 * (size_t)k,
                  v[3] = {x[0] - a.corner[0], x[1] - a.corner[1], x[2] - a.corner[2]};
      const float pp = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
      const oz_v3 p = oz_vec_of(v, 0);
      const oz_real limit = oz_set(0.5f * (s->radius2 - pp)),
                    limit2 = oz_set(0.5f * (s->margin2 - pp));
      if (margin)
        for (uint32_t w = 0; w < words; w++) {
          near_bits(a.v + 4 * OZ_WORD * w, p, limit, limit2, &in[w], &wide[w]);
          wide[w] &= ~in[w];
        }
      else
        for (uint32_t w = 0; w < words; w++)
          near_bits(a.v + 4 * OZ_WORD * w, p, limit, limit, &in[w], NULL);
      if (self < a.count) in[self / OZ_WORD] &= ~((uint64_t)1 << self % OZ_WORD);
      uint32_t pn, pr = 0;
      uint32_t nn = take(s, &a, in, i, near, &pn), pads = 0;
      if (s->wide)
        nn = lacking(f, s->wide, i, near, nn, &pn), pads = s->wide->len[i] - f->neighbours[i];
      if (margin) (void)take(s, &a, wide, i, outer, &pr);
      row_put(s, f, &pen, i, near, pn, weights);
      if (s->outer) row_put(s, f, &pen_outer, i, outer, pr, 0);
      if (s->neighbours) s->neighbours[i] = nn;
      if (s->pad_weight) s->pad_weight[i] = (float)(pads + pn - nn) * f->w_self;
    }
  }
}

/* Density rows are the start rows and, here, the margin pairs that have come within reach, packed
 * in place. Start pairs that are out of reach by now add nothing. */
static void narrow(oz_search *s, uint32_t begin, uint32_t end) {
  const oz_frame *f = s->f;
  uint32_t near[OZ_MAX_NEIGHBOURS + 4 * OZ_LANES];
  for (uint32_t i = begin; i < end; i++) {
    const oz_v3 x = oz_vec_of(f->p, i);
    const oz_row row = oz_row_of(s->main->words, s->main->row, i);
    uint32_t nn = 0;
    for (uint32_t k = 0; k < s->main->len[i]; k += OZ_LANES) {
      uint32_t j[OZ_LANES];
      oz_row_j(&row, k, OZ_LANES, j);
      const oz_v3 r = oz_sub(oz_vec_gather(f->p, j), x);
      const oz_mask in = (oz_dot(r, r) < oz_set(s->radius2)) & oz_index_ne(j, i);
      nn += oz_pack(near + nn, in, j);
    }
    const uint32_t pn = padded(nn);
    for (uint32_t c = nn; c < pn; c++) near[c] = i;
    uint16_t *to = s->main->words + 4 * (size_t)(s->main->row[i] & ~OZ_WIDE);
    if (row.wide)
      for (uint32_t k = 0; k < pn; k++) {
        const uint32_t e = near[k] - i;
        memcpy(to + 2 * k, &e, sizeof e);
      }
    else
      for (uint32_t k = 0; k < pn; k++) to[k] = (uint16_t)(near[k] - i);
    s->main->len[i] = (uint16_t)pn;
    s->pad_weight[i] = (float)(s->wide->len[i] - f->neighbours[i] + pn - nn) * f->w_self;
  }
}

#endif
