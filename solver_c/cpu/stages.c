/* Every stage as a loop over particles. Compiled once per instruction set (OZ_ISA), each time with all of physics/. */
#include "cpu/isa.h"

#include "physics/lanes.h"

#include "physics/conformation.h"
#include "physics/density.h"
#include "physics/filter.h"
#include "physics/motion.h"
#include "physics/nozzle.h"
#include "physics/paper.h"
#include "physics/wall.h"

#include <string.h>

enum { BLOCK = 64 }; /* particles whose sums wait for their `end` */

/* Tail lanes beyond the last particle must not enter reductions. */
static inline void add_lanes(double *sums, const oz_real *red, int count, uint32_t i, uint32_t end) {
  float lane[OZ_LANES];
  for (int r = 0; r < count; r++) {
    memcpy(lane, &red[r], sizeof lane);
    for (uint32_t k = 0; k < OZ_LANES && i + k < end; k++) sums[r] += lane[k];
  }
}

#define OZ_ROWS_C(name)                                                                                                \
  const uint32_t *j = f->list_c + f->row_c[i];                                                                         \
  const uint16_t *h = f->ghat + 4 * (size_t)f->row_c[i];                                                               \
  for (uint32_t k = 0; k < f->len_c[i]; k += OZ_LANES, h += 4 * OZ_LANES) {                                            \
    oz_group n = {j + k, {oz_ld_half(h), oz_ld_half(h + OZ_LANES), oz_ld_half(h + 2 * OZ_LANES)}, oz_ld_half(h + 3 * OZ_LANES)}; \
    oz_##name##_pair(f, &self, &n, acc);                                                                               \
  }
#define OZ_ROWS_D(name)                                                                                                \
  oz_group n;                                                                                                          \
  memset(&n, 0, sizeof n);                                                                                             \
  n.j = f->list_d[0] + f->row_d[0][i];                                                                                   \
  for (uint32_t k = 0; k < f->len_d[0][i]; k += OZ_LANES, n.j += OZ_LANES) oz_##name##_pair(f, &self, &n, acc);
#define OZ_FOLD_PLAIN(nsum) for (int s = 0; s < nsum; s++) kept[s][i - b] = oz_sum(acc[s]);
#define OZ_FOLD_OUTER(nsum) oz_outer_fold(acc, &kept[0][i - b], BLOCK);
#define OZ_FOLD_MATRIX(nsum)                                                                                           \
  oz_matrix_fold(acc, &kept[0][i - b], BLOCK);                                                                         \
  for (int s = 3; s < nsum; s++) kept[s][i - b] = oz_sum(acc[OZ_MATRIX_ACC - 3 + s]);
#define OZ_FOLD_SPARE(nsum) oz_spare_fold(acc, &kept[0][i - b], BLOCK);
#define OZ_GATHER(name, rows, fold, nsum, nred)                                                                              \
  static void run_##name(const oz_frame *f, uint32_t begin, uint32_t end, double *sums) {                              \
    float kept[nsum][BLOCK];                                                                                           \
    memset(kept, 0, sizeof kept);                                                                                      \
    for (uint32_t b = begin; b < end; b += BLOCK) {                                                                    \
      uint32_t stop = b + BLOCK < end ? b + BLOCK : end;                                                               \
      for (uint32_t i = b; i < stop; i++) {                                                                            \
        oz_##name##_self self;                                                                                         \
        oz_real acc[nsum + 6]; /* some sums are kept in more parts */                                                  \
        oz_##name##_begin(f, i, &self);                                                                                \
        for (int s = 0; s < nsum + 6; s++) acc[s] = oz_set(0.0f);                                                      \
        rows(name) fold(nsum)                                                                                          \
      }                                                                                                                \
      for (uint32_t i = b; i < stop; i += OZ_LANES) {                                                                  \
        oz_real acc[nsum], red[nred + 1];                                                                              \
        for (int s = 0; s < nsum; s++) acc[s] = oz_ld(kept[s], i - b);                                                 \
        oz_##name##_end(f, i, acc, red);                                                                               \
        if (nred) add_lanes(sums, red, nred, i, stop);                                                                 \
      }                                                                                                                \
    }                                                                                                                  \
    (void)sums;                                                                                                        \
  }
#define OZ_KIND_C(name, nsum, nred) OZ_GATHER(name, OZ_ROWS_C, OZ_FOLD_PLAIN, nsum, nred)
#define OZ_KIND_OUTER(name, nsum, nred) OZ_GATHER(name, OZ_ROWS_C, OZ_FOLD_OUTER, nsum, nred)
#define OZ_KIND_MATRIX(name, nsum, nred) OZ_GATHER(name, OZ_ROWS_C, OZ_FOLD_MATRIX, nsum, nred)
#define OZ_KIND_SPARE(name, nsum, nred) OZ_GATHER(name, OZ_ROWS_C, OZ_FOLD_SPARE, nsum, nred)
#define OZ_KIND_D(name, nsum, nred) OZ_GATHER(name, OZ_ROWS_D, OZ_FOLD_PLAIN, nsum, nred)
#define OZ_KIND_MAP(name, nsum, nred)                                                                                  \
  static void run_##name(const oz_frame *f, uint32_t begin, uint32_t end, double *sums) {                              \
    for (uint32_t i = begin; i < end; i += OZ_LANES) {                                                                 \
      oz_real red[nred + 1];                                                                                           \
      oz_##name##_item(f, i, red);                                                                                     \
      if (nred) add_lanes(sums, red, nred, i, end);                                                                    \
    }                                                                                                                  \
    (void)sums;                                                                                                        \
  }
#define OZ_KIND_ITEM(name, nsum, nred)                                                                                 \
  static void run_##name(const oz_frame *f, uint32_t begin, uint32_t end, double *sums) {                              \
    for (uint32_t i = begin; i < end; i++) oz_##name##_item(f, i);                                                     \
    (void)sums;                                                                                                        \
  }
#define OZ_KIND_WALL OZ_KIND_ITEM
#define OZ_KIND_ONE(name, nsum, nred)                                                                                  \
  static void run_##name(const oz_frame *f, uint32_t begin, uint32_t end, double *sums) {                              \
    (void)begin, (void)end, (void)sums;                                                                                \
    oz_##name##_item(f);                                                                                               \
  }
#define OZ_STAGE(name, kind, nsum, nred) OZ_KIND_##kind(name, nsum, nred)
#include "physics/stages.def"
#undef OZ_STAGE

/* ---- neighbour search ---------------------------------------------------------------------------------------- */

/* Room for one row on the task's current page, or a new page. */
static uint32_t *row_room(oz_search *s, oz_rows *rows, uint32_t *at, uint32_t *left, uint32_t need) {
  if (need > *left) {
    uint32_t page = atomic_fetch_add(&rows->next, 1);
    if (page >= rows->pages) {
      atomic_fetch_add(&s->overflow, 1);
      return NULL;
    }
    *at = page * OZ_PAGE;
    *left = OZ_PAGE;
  }
  return rows->entries + *at;
}

static uint32_t padded(uint32_t n) { return (n + OZ_LANES - 1) / OZ_LANES * OZ_LANES; }

/* ghat and zero-energy weight of a finished row, rounded to half precision. */
static void fill_gradients(const oz_frame *f, uint32_t i, const uint32_t *j, uint32_t n, uint16_t *h) {
  oz_v3 x = oz_vec_of(f->x, i);
  for (uint32_t k = 0; k < n; k += OZ_LANES, h += 4 * OZ_LANES) {
    oz_real c;
    oz_v3 g = oz_spiky(f, oz_sub(x, oz_vec_gather(f->x, j + k)), &c);
    oz_st_half(h, g.x);
    oz_st_half(h + OZ_LANES, g.y);
    oz_st_half(h + 2 * OZ_LANES, g.z);
    oz_st_half(h + 3 * OZ_LANES, c);
  }
}

static void search(oz_search *s, uint32_t cell_begin, uint32_t cell_end) {
  const oz_frame *f = s->f;
  float cx[OZ_CANDIDATES + 2 * OZ_LANES], cy[OZ_CANDIDATES + 2 * OZ_LANES], cz[OZ_CANDIDATES + 2 * OZ_LANES];
  uint32_t cj[OZ_CANDIDATES + 2 * OZ_LANES];
  uint32_t near[OZ_MAX_NEIGHBOURS + 4 * OZ_LANES], rest[OZ_MAX_NEIGHBOURS + 4 * OZ_LANES];
  uint32_t at[2] = {0, 0}, left[2] = {0, 0};
  const float outer2 = s->margin2 > 0.0f ? s->margin2 : s->radius2;
  for (uint32_t cell = cell_begin; cell < cell_end; cell++) {
    /* what stands in the 27 cells around, as three plain arrays */
    const int32_t bits = (1 << 21) - 1;
    const uint64_t key = s->cell_key[cell];
    const int32_t kx = (int32_t)(key & (uint64_t)bits) - OZ_CELL_BIAS, ky = (int32_t)(key >> 21 & (uint64_t)bits) - OZ_CELL_BIAS;
    const int32_t kz = (int32_t)(key >> 42 & (uint64_t)bits) - OZ_CELL_BIAS;
    uint32_t n = 0;
    for (int32_t z = kz - 1; z <= kz + 1; z++)
      for (int32_t y = ky - 1; y <= ky + 1; y++)
        for (int32_t x = kx - 1; x <= kx + 1; x++) {
          const uint64_t want = oz_cell_key(x, y, z);
          uint32_t slot = oz_cell_hash(want, s->hash_mask), found = 0;
          while (s->hash[slot]) {
            if (s->cell_key[s->hash[slot] - 1] == want) {
              found = s->hash[slot];
              break;
            }
            slot = (slot + 1) & s->hash_mask;
          }
          if (!found) continue;
          const uint32_t first = s->cell_start[found - 1];
          uint32_t m = s->cell_start[found] - first;
          if (m > OZ_CANDIDATES - n) m = OZ_CANDIDATES - n;
          for (uint32_t k = 0; k < m; k += OZ_LANES) { /* records to planes; what runs over is overwritten by the next cell */
            oz_real v[4];
            oz_ld4(s->at, first + k, 4, 0, v);
            oz_st(cx, n + k, v[0]), oz_st(cy, n + k, v[1]), oz_st(cz, n + k, v[2]);
          }
          if (s->index) memcpy(cj + n, s->index + first, m * sizeof *cj);
          else
            for (uint32_t k = 0; k < m; k++) cj[n + k] = first + k;
          n += m;
        }
    for (uint32_t k = n; k < n + 2 * OZ_LANES; k++) cx[k] = cy[k] = cz[k] = 1e18f, cj[k] = 0;

    for (uint32_t k = s->cell_start[cell]; k < s->cell_start[cell + 1]; k++) {
      const uint32_t i = s->index ? s->index[k] : k;
      const oz_real px = oz_set(s->at[4 * (size_t)k]), py = oz_set(s->at[4 * (size_t)k + 1]), pz = oz_set(s->at[4 * (size_t)k + 2]);
      uint32_t nn = 0, nr = 0;
      for (uint32_t c = 0; c < n; c += 2 * OZ_LANES) { /* two groups a test: most are all out of reach */
        oz_real dx = oz_ld(cx, c) - px, dy = oz_ld(cy, c) - py, dz = oz_ld(cz, c) - pz;
        oz_real ex = oz_ld(cx, c + OZ_LANES) - px, ey = oz_ld(cy, c + OZ_LANES) - py, ez = oz_ld(cz, c + OZ_LANES) - pz;
        oz_real r2 = dx * dx + dy * dy + dz * dz, q2 = ex * ex + ey * ey + ez * ez;
        if (!oz_any(oz_min(r2, q2) < oz_set(outer2))) continue;
        oz_mask in = (r2 < oz_set(s->radius2)) & oz_index_ne(cj + c, i), in2 = (q2 < oz_set(s->radius2)) & oz_index_ne(cj + c + OZ_LANES, i);
        nn += oz_pack(near + nn, in, cj + c);
        nn += oz_pack(near + nn, in2, cj + c + OZ_LANES);
        if (s->margin2 > 0.0f) {
          nr += oz_pack(rest + nr, (r2 < oz_set(outer2)) & oz_not(r2 < oz_set(s->radius2)), cj + c);
          nr += oz_pack(rest + nr, (q2 < oz_set(outer2)) & oz_not(q2 < oz_set(s->radius2)), cj + c + OZ_LANES);
        }
        if (nn > OZ_MAX_NEIGHBOURS) nn = OZ_MAX_NEIGHBOURS;
        if (nr > OZ_MAX_NEIGHBOURS) nr = OZ_MAX_NEIGHBOURS;
      }
      const uint32_t pn = padded(nn), pr = s->margin2 > 0.0f ? padded(nr) : 0;
      for (uint32_t c = nn; c < pn; c++) near[c] = i;
      for (uint32_t c = nr; c < pr; c++) rest[c] = i;
      uint32_t *to = row_room(s, s->main, &at[0], &left[0], pn);
      uint32_t *to_rest = pr ? row_room(s, s->rest, &at[1], &left[1], pr) : NULL;
      if (!to || (pr && !to_rest)) return;
      memcpy(to, near, pn * sizeof *to);
      s->main->row[i] = at[0];
      s->main->len[i] = (uint16_t)pn;
      if (s->main->ghat) fill_gradients(f, i, to, pn, s->main->ghat + 4 * (size_t)at[0]);
      at[0] += pn;
      left[0] -= pn;
      if (s->rest) {
        s->rest->row[i] = at[1];
        s->rest->len[i] = (uint16_t)pr;
        if (pr) memcpy(to_rest, rest, pr * sizeof *to_rest);
        at[1] += pr;
        left[1] -= pr;
      }
      if (s->neighbours) s->neighbours[i] = nn;
      if (s->pad_weight) s->pad_weight[i] = (float)(pn - nn) * f->w_self;
    }
  }
}

/* Density rows from those of C and of the margin: what is within reach at the current positions. */
static void narrow(oz_search *s, uint32_t begin, uint32_t end) {
  const oz_frame *f = s->f;
  uint32_t at = 0, left = 0, near[2 * OZ_MAX_NEIGHBOURS + 4 * OZ_LANES];
  for (uint32_t i = begin; i < end; i++) {
    const oz_v3 x = oz_vec_of(f->p, i);
    uint32_t nn = 0;
    for (int part = 0; part < 2; part++) {
      const oz_rows *from = part ? s->rest : s->wide;
      const uint32_t *j = from->entries + from->row[i];
      for (uint32_t k = 0; k < from->len[i]; k += OZ_LANES) {
        const oz_v3 r = oz_sub(oz_vec_gather(f->p, j + k), x);
        const oz_mask in = (oz_dot(r, r) < oz_set(s->radius2)) & oz_index_ne(j + k, i);
        nn += oz_pack(near + nn, in, j + k);
      }
    }
    if (nn > OZ_MAX_NEIGHBOURS) nn = OZ_MAX_NEIGHBOURS;
    const uint32_t pn = padded(nn);
    for (uint32_t c = nn; c < pn; c++) near[c] = i;
    uint32_t *to = row_room(s, s->main, &at, &left, pn);
    if (!to) return;
    memcpy(to, near, pn * sizeof *to);
    s->main->row[i] = at;
    s->main->len[i] = (uint16_t)pn;
    s->pad_weight[i] = (float)(pn - nn) * f->w_self;
    at += pn;
    left -= pn;
  }
}

static void near_walls(const oz_frame *f, uint32_t begin, uint32_t end, uint8_t *flag) {
  const float reach = oz_wall_reach(f);
  for (uint32_t i = begin; i < end; i++)
    flag[i] = (uint8_t)oz_wall_near_path(f, f->x + 4 * (size_t)i, f->p + 4 * (size_t)i, reach);
}

#define OZ_TABLE_NAME(isa) OZ_CAT(oz_isa_, isa)
#define OZ_TEXT2(a) #a
#define OZ_TEXT(a) OZ_TEXT2(a)
const oz_cpu_isa OZ_TABLE_NAME(OZ_ISA) = {
    OZ_TEXT(OZ_ISA),
    OZ_CAT(OZ_ISA_, OZ_ISA),
    OZ_LANES,
    {
#define OZ_STAGE(name, kind, nsum, nred) run_##name,
#include "physics/stages.def"
#undef OZ_STAGE
    },
    search,
    narrow,
    near_walls,
};
