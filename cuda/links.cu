/* Links on the GPU (physics/links.h): two sets of rows, one of which is rebuilt from the other by a
 * rule. New rows of 32 particles are interleaved, so that a warp's loads coalesce; each particle
 * has the offset of its row, so that sorting moves no entries. Room comes from counting and a
 * prefix sum: the place of a row depends on the links alone. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/gpu.h"

#include "physics/lanes.h"

#include "physics/rows.h"
#include "physics/rules.h"

namespace OZ_NAMESPACE {
namespace {

const uint32_t NO_PARTICLE = 0xffffffffu;

struct row_view { /* one set, for kernels */
  uint32_t *row, *j, *kind;
  uint16_t *len;
  float *rest, *spare;
  OZ_D void put(size_t e, const oz_link &l) const {
    j[e] = l.j, rest[e] = l.rest, kind[e] = l.kind, spare[e] = l.spare;
  }
  OZ_D oz_link get(size_t e) const {
    oz_link l = {j[e], rest[e], kind[e], spare[e]};
    return l;
  }
};
row_view view(const link_rows &r) {
  row_view v = {as<uint32_t>(r.row), as<uint32_t>(r.j), as<uint32_t>(r.kind),
                as<uint16_t>(r.len), as<float>(r.rest), as<float>(r.spare)};
  return v;
}

/* ---- the rule ---- */

struct relink {
  oz_frame f; /* its link rows are those before the rule */
  uint32_t rule;

  /* Is there a link i - j? Rows are in ascending rank. */
  OZ_D bool linked(uint32_t i, uint32_t j) const {
    uint32_t low = 0, high = f.link_len[i];
    const uint32_t rank = f.rank[j];
    while (low < high) {
      const uint32_t middle = (low + high) / 2, there = f.rank[f.link_j[oz_link_at(&f, i, middle)]];
      if (there == rank) return true;
      if (there < rank)
        low = middle + 1;
      else
        high = middle;
    }
    return false;
  }
  OZ_D bool kept(uint32_t i, uint32_t m, oz_link *l) const {
    const size_t e = oz_link_at(&f, i, m);
    l->j = f.link_j[e], l->rest = f.link_rest[e], l->kind = f.link_kind[e],
    l->spare = f.link_spare[e];
    return oz_link_keep(&f, rule, i, l, oz_link_distance2(&f, i, l->j)) != 0;
  }
  OZ_D bool made(uint32_t i, uint32_t j, oz_link *l) const {
    l->j = j;
    if (j == i) return false;
    const float r2 = oz_link_distance2(&f, i, j);
    return r2 < oz_link_reach2(&f, rule) && !linked(i, j) && oz_link_room(&f, j) &&
           oz_link_seen(&f, i, j) && oz_link_make(&f, rule, i, l, r2);
  }
  /* Calls take(link) for all links of i after the rule: old ones in order, then new ones. */
  template <class T> OZ_D void all(uint32_t i, T &take) const {
    oz_link l;
    if (!oz_link_has_row(f.owner, i)) return;
    for (uint32_t m = 0; m < f.link_len[i]; m++)
      if (kept(i, m, &l)) take(l);
    if (!(oz_link_reach2(&f, rule) > 0.0f) || !oz_link_room(&f, i)) return;
    /* rows of the start list, then those of the density list */
    for (uint32_t m = 0; m < f.start_length[i]; m++)
      if (made(i, oz_neighbour(&f, i, m), &l)) take(l);
    const uint32_t *list =
        f.density_list[1] + (size_t)f.density_row[1][i / GROUP] * GROUP + i % GROUP * 4;
    for (uint32_t m = 0; m < f.density_length[1][i]; m++)
      if (made(i, list[(m >> 2) * (4 * GROUP) + (m & 3u)], &l)) take(l);
  }
};
struct count_links {
  uint32_t n;
  OZ_D void operator()(const oz_link &) { n++; }
};
struct count_item {
  relink s;
  uint16_t *len;
  OZ_D void operator()(uint32_t i) const {
    count_links c = {0};
    s.all(i, c);
    len[i] = (uint16_t)c.n;
  }
};
/* Lines that a group needs: those of its longest row. */
struct width_item {
  const uint16_t *len;
  uint32_t n;
  uint32_t *width;
  OZ_D void operator()(uint32_t g) const {
    uint32_t most = 0;
    for (uint32_t i = g * GROUP; i < n && i < (g + 1) * GROUP; i++)
      most = len[i] > most ? len[i] : most;
    width[g] = most;
  }
};
struct total_item {
  const uint32_t *through;
  uint32_t groups;
  uint32_t *lines;
  OZ_D void operator()(uint32_t) const { *lines = through[groups - 1]; }
};
struct write_links {
  row_view to;
  const uint32_t *rank;
  size_t first;
  uint32_t n;
  OZ_D void operator()(const oz_link &l) {
    uint32_t t = n++;
    for (; t > 0; t--) { /* a new link is inserted by rank */
      const oz_link before = to.get(first + (size_t)(t - 1) * GROUP);
      if (rank[before.j] < rank[l.j]) break;
      to.put(first + (size_t)t * GROUP, before);
    }
    to.put(first + (size_t)t * GROUP, l);
  }
};
struct write_item {
  relink s;
  row_view to;
  const uint32_t *through; /* inclusive sum of lines by group */
  OZ_D void operator()(uint32_t i) const {
    const uint32_t g = i / GROUP, line = g ? through[g - 1] : 0;
    write_links w = {to, s.f.rank, (size_t)line * GROUP + i % GROUP, 0};
    to.row[i] = line * GROUP + i % GROUP;
    s.all(i, w);
  }
};

/* ---- permutation ---- */

struct inverse_item {
  const uint32_t *order;
  uint32_t *to;
  OZ_D void operator()(uint32_t k) const { to[order[k]] = k; }
};
struct move_item {
  const uint32_t *order, *to;
  row_view now, next; /* `next` provides memory for row and len */
  OZ_D void operator()(uint32_t i) const {
    const uint32_t was = order[i], len = now.len[was];
    const size_t first = now.row[was];
    uint32_t n = 0;
    for (uint32_t m = 0; m < len; m++) {
      oz_link l = now.get(first + (size_t)m * GROUP);
      l.j = to[l.j];
      if (l.j != NO_PARTICLE) now.put(first + (size_t)n++ * GROUP, l);
    }
    next.row[i] = (uint32_t)first;
    next.len[i] = (uint16_t)n;
  }
};

/* ---- memory ---- */

ooze_result reserve_lines(gpu *g, link_rows *r, uint64_t lines, ooze_message *why) {
  if (lines <= r->lines) return OOZE_OK;
  lines += lines / 8 + 256;
  if (lines * GROUP > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "cuda: %llu link entries; %u fit",
                   (unsigned long long)lines * GROUP, UINT32_MAX);
  buffer *part[] = {&r->j, &r->rest, &r->kind, &r->spare, &r->share};
  for (buffer *b : part) OZ_TRY(grow(g, b, (size_t)lines * GROUP * 4, "links", why));
  r->lines = lines;
  return OOZE_OK;
}

ooze_result open_links(gpu *g, ooze_message *why) {
  if (g->links.present || !g->capacity) return OOZE_OK;
  for (link_rows &r : g->links.rows) {
    OZ_TRY(grow(g, &r.row, (size_t)g->capacity * 4, "links", why)); /* fresh memory is zero */
    OZ_TRY(grow(g, &r.len, (size_t)g->capacity * 2, "links", why));
    OZ_TRY(reserve_lines(g, &r, 1, why));
  }
  OZ_TRY(grow(g, &g->links.width, ((size_t)g->capacity / GROUP + 1) * 4, "links", why, true));
  g->links.present = true;
  return OOZE_OK;
}

} // namespace

/* Larger rows, before any other array of a reserve has changed. */
ooze_result links_reserve(gpu *g, uint32_t capacity, ooze_message *why) {
  if (!g->links.present) return OOZE_OK;
  OZ_TRY(grow(g, &g->links.width, ((size_t)capacity / GROUP + 1) * 4, "links", why, true));
  for (link_rows &r : g->links.rows) {
    buffer *part[] = {&r.row, &r.len};
    for (buffer *b : part) {
      buffer fresh = {};
      const size_t bytes = (size_t)capacity * (b == &r.row ? 4 : 2);
      if (bytes <= b->bytes) continue;
      OZ_TRY(grow(g, &fresh, bytes, "links", why));
      OZ_CUDA(cudaMemcpyAsync(fresh.at, b->at, b->bytes, cudaMemcpyDeviceToDevice, g->stream),
              "links");
      OZ_CUDA(cudaStreamSynchronize(g->stream), "links");
      drop(g, b, false);
      *b = fresh;
    }
  }
  return OOZE_OK;
}

void links_frame(const gpu *g, oz_frame *f) {
  const row_view v = view(g->links.rows[g->links.current]);
  f->link_row = g->links.present ? v.row : nullptr,
  f->link_len = g->links.present ? v.len : nullptr;
  f->link_j = v.j, f->link_rest = v.rest, f->link_kind = v.kind, f->link_spare = v.spare;
  f->link_share = as<float>(g->links.rows[g->links.current].share);
}

void links_release(gpu *g) {
  for (link_rows &r : g->links.rows) {
    buffer *part[] = {&r.row, &r.len, &r.j, &r.rest, &r.kind, &r.spare, &r.share};
    for (buffer *b : part) drop(g, b, false);
  }
  drop(g, &g->links.width, true);
}

/* `order` has the old places of the first `kept` of `all` particles; the unsorted keys serve as
 * scratch. */
ooze_result links_move(gpu *g, const uint32_t *order, uint32_t kept, uint32_t all,
                       ooze_message *why) {
  if (!g->links.present) return OOZE_OK;
  link_rows *now = &g->links.rows[g->links.current], *next = &g->links.rows[1 - g->links.current];
  uint32_t *to = as<uint32_t>(g->sorter.key[1 - g->sorter.current]);
  if (kept < all) OZ_CUDA(cudaMemsetAsync(to, 0xff, (size_t)all * 4, g->stream), "links");
  OZ_CUDA(for_each(g->stream, kept, inverse_item{order, to}), "links");
  OZ_CUDA(for_each(g->stream, kept, move_item{order, to, view(*now), view(*next)}), "links");
  const buffer row = now->row, len = now->len;
  now->row = next->row, now->len = next->len;
  next->row = row, next->len = len;
  return OOZE_OK;
}

/* From g->count particles to `count`; new ones have no links. */
ooze_result links_resize(gpu *g, uint32_t count, ooze_message *why) {
  link_rows *r = &g->links.rows[g->links.current];
  if (!g->links.present) return OOZE_OK;
  if (count > g->count) {
    OZ_CUDA(cudaMemsetAsync(as<uint16_t>(r->len) + g->count, 0, (size_t)(count - g->count) * 2,
                            g->stream),
            "links");
    OZ_CUDA(cudaMemsetAsync(as<uint32_t>(r->row) + g->count, 0, (size_t)(count - g->count) * 4,
                            g->stream),
            "links");
  } else if (count == 0) {
    if (g->count) OZ_CUDA(cudaMemsetAsync(r->len.at, 0, (size_t)g->count * 2, g->stream), "links");
  } /* particles that were added and removed before a step have none */
  return OOZE_OK;
}

ooze_result links_update(oz_backend *b, oz_frame *f, uint32_t rule, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  OZ_TRY(open_links(g, why));
  links_frame(g, f);
  if (!g->count) return OOZE_OK;
  timer t(g, TIMER_LINKS);
  link_rows *to = &g->links.rows[1 - g->links.current];
  const uint32_t groups = (g->count + GROUP - 1) / GROUP;
  relink s = {*f, rule};
  uint32_t *width = as<uint32_t>(g->links.width);
  OZ_CUDA(for_each(g->stream, g->count, count_item{s, as<uint16_t>(to->len)}), "links");
  OZ_CUDA(for_each(g->stream, groups, width_item{as<uint16_t>(to->len), g->count, width}), "links");
  OZ_TRY(inclusive_sum(g, width, groups, ALONE, why));
  OZ_CUDA(for_each(g->stream, 1, total_item{width, groups, &status_on_device(g)->links}), "links");
  OZ_TRY(fetch_status(g, why));
  OZ_TRY(reserve_lines(g, to, g->mailbox.host->links, why));
  OZ_CUDA(for_each(g->stream, g->count, write_item{s, view(*to), width}), "links");
  g->links.current = 1 - g->links.current;
  links_frame(g, f);
  return OOZE_OK;
}

/* ---- to and from the host ---- */

namespace {
struct host_block { /* freed at the end of the call */
  gpu *g;
  void *at;
  host_block(gpu *gg, size_t bytes) : g(gg), at(oz_alloc(gg->memory, bytes ? bytes : 1)) {}
  ~host_block() { oz_free(g->memory, at); }
};
ooze_result no_host_memory(uint64_t count, ooze_message *why) {
  return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %llu links", (unsigned long long)count);
}
/* Where each row begins, from its length; rows of a group of particles lie side by side. Returns
 * how many lines of GROUP entries they take. */
uint64_t place_rows(const uint16_t *len, uint32_t *row, size_t n) {
  uint64_t lines = 0;
  for (size_t i = 0; i < n; i += GROUP) {
    uint32_t most = 0;
    for (size_t k = i; k < n && k < i + GROUP; k++) {
      row[k] = (uint32_t)(lines * GROUP + k % GROUP);
      most = len[k] > most ? len[k] : most;
    }
    lines += most;
  }
  return lines;
}
} // namespace

ooze_result links_put(oz_backend *b, const uint32_t *at, const oz_link_pair *links, uint64_t count,
                      ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  if (!g->links.present && !count) return OOZE_OK;
  OZ_TRY(open_links(g, why));
  link_rows *to = &g->links.rows[1 - g->links.current];
  /* a first guess, before the row lengths are known */
  if (!at) return reserve_lines(g, to, 2 * count / GROUP, why);
  const size_t n = g->count;
  host_block hl(g, n * 2), hr(g, n * 4);
  uint16_t *len = static_cast<uint16_t *>(hl.at);
  uint32_t *row = static_cast<uint32_t *>(hr.at);
  if (!len || !row) return no_host_memory(count, why);
  host_block ho(g, n * 4);
  uint32_t *owner = static_cast<uint32_t *>(ho.at);
  if (!owner) return no_host_memory(count, why);
  if (n && !g->arrays.owner) memset(owner, 0, n * 4);
  if (n && g->arrays.owner)
    OZ_CUDA(cudaMemcpyAsync(owner, g->arrays.owner, n * 4, cudaMemcpyDeviceToHost, g->stream),
            "links");
  OZ_CUDA(cudaStreamSynchronize(g->stream), "links");
  /* as oz_link_has_row, which nvcc compiles for the device alone */
  const auto has_row = [owner](uint32_t i) {
    return owner[i] >> OZ_OWNER_SHIFT != OZ_OWNER_BOUNDARY;
  };
  for (uint64_t k = 0; k < count; k++)
    for (int turn = 0; turn < 2; turn++) {
      const uint32_t i = at[turn ? links[k].b : links[k].a];
      if (has_row(i)) len[i]++;
    }
  const uint64_t lines = place_rows(len, row, n);
  OZ_TRY(reserve_lines(g, to, lines, why));
  const size_t entries = (size_t)lines * GROUP;
  host_block hj(g, entries * 4), hrest(g, entries * 4), hkind(g, entries * 4),
      hspare(g, entries * 4);
  uint32_t *j = static_cast<uint32_t *>(hj.at), *kind = static_cast<uint32_t *>(hkind.at);
  float *rest = static_cast<float *>(hrest.at), *spare = static_cast<float *>(hspare.at);
  if (!j || !kind || !rest || !spare) return no_host_memory(count, why);
  for (uint32_t i = 0; i < n; i++) len[i] = 0;
  /* in ascending (a, b), each row comes out in ascending rank of the other end */
  for (uint64_t k = 0; k < count; k++)
    for (int turn = 0; turn < 2; turn++) {
      const uint32_t i = at[turn ? links[k].b : links[k].a];
      if (!has_row(i)) continue;
      const size_t e = row[i] + (size_t)len[i]++ * GROUP;
      j[e] = at[turn ? links[k].a : links[k].b], rest[e] = links[k].rest, kind[e] = links[k].kind,
      spare[e] = links[k].spare;
    }
  const struct {
    const buffer *to;
    const void *from;
    size_t bytes;
  } part[] = {{&to->row, row, n * 4},         {&to->len, len, n * 2},
              {&to->j, j, entries * 4},       {&to->rest, rest, entries * 4},
              {&to->kind, kind, entries * 4}, {&to->spare, spare, entries * 4}};
  for (const auto &p : part)
    if (p.bytes)
      OZ_CUDA(cudaMemcpyAsync(p.to->at, p.from, p.bytes, cudaMemcpyHostToDevice, g->stream),
              "links");
  OZ_CUDA(cudaStreamSynchronize(g->stream), "links");
  g->links.current = 1 - g->links.current;
  return OOZE_OK;
}

ooze_result links_get(oz_backend *b, const uint32_t *at, oz_link_pair *out, uint64_t *count,
                      ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  const uint64_t room = out ? *count : 0;
  *count = 0;
  if (!g->links.present || !g->count) return OOZE_OK;
  const link_rows *r = &g->links.rows[g->links.current];
  const size_t n = g->count, entries = (size_t)r->lines * GROUP;
  host_block hl(g, n * 2), hr(g, n * 4), hk(g, n * 4), hj(g, entries * 4), hrest(g, entries * 4),
      hkind(g, entries * 4), hspare(g, entries * 4);
  if (!hl.at || !hr.at || !hk.at || !hj.at || !hrest.at || !hkind.at || !hspare.at)
    return no_host_memory(entries, why);
  const struct {
    void *to;
    const void *from;
    size_t bytes;
  } part[] = {{hl.at, r->len.at, n * 2},
              {hr.at, r->row.at, n * 4},
              {hk.at, g->arrays.rank, n * 4},
              {hj.at, r->j.at, entries * 4},
              {hrest.at, r->rest.at, entries * 4},
              {hkind.at, r->kind.at, entries * 4},
              {hspare.at, r->spare.at, entries * 4}};
  for (const auto &p : part)
    if (p.bytes)
      OZ_CUDA(cudaMemcpyAsync(p.to, p.from, p.bytes, cudaMemcpyDeviceToHost, g->stream), "links");
  OZ_CUDA(cudaStreamSynchronize(g->stream), "links");
  const uint16_t *len = static_cast<uint16_t *>(hl.at);
  const uint32_t *row = static_cast<uint32_t *>(hr.at), *rank = static_cast<uint32_t *>(hk.at),
                 *j = static_cast<uint32_t *>(hj.at);
  uint64_t m = 0;
  for (uint32_t a = 0; a < n; a++) {
    const uint32_t i = at[a];
    for (uint32_t k = 0; k < len[i]; k++) {
      const size_t e = row[i] + (size_t)k * GROUP;
      const uint32_t other = rank[j[e]];
      if (other <= a) continue; /* counted from the other end */
      if (m < room)
        out[m] =
            oz_link_pair{a, other, static_cast<float *>(hrest.at)[e],
                         static_cast<uint32_t *>(hkind.at)[e], static_cast<float *>(hspare.at)[e]};
      m++;
    }
  }
  *count = m;
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
