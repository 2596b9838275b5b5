/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "check.h"
#include "cuda/compare_arrays.h"

/* ---- walls, by rank ---- */

typedef struct wall_copy {
  oz_load *load; /* zero where there are none */
  oz_wall *wall;
  uint32_t *planes;
  float *impulse;
  oz_wall_row *row;
  oz_wall_slip *slip; /* zero where there is none */
} wall_copy;
static wall_copy read_walls(const side *s) {
  const size_t n = s->f.wall_count;
  wall_copy w = {calloc(n + 1, sizeof *w.load),
                 calloc(n * OZ_PLANES + 1, sizeof *w.wall),
                 calloc(n + 1, 4),
                 calloc(n * OZ_PLANES * 3 + 1, 4),
                 calloc(n + 1, sizeof *w.row),
                 calloc(n + 1, sizeof *w.slip)};
  if (n) {
    side_get(s, w.wall, s->f.wall, n * s->f.contact_planes * sizeof *w.wall);
    side_get(s, w.planes, s->f.wall_planes, n * 4);
    side_get(s, w.impulse, s->f.wall_impulse, n * s->f.contact_planes * 12);
    if (s->f.contact_of) side_get(s, w.row, s->f.wall_row, n * sizeof *w.row);
    if (s->f.contact_of && s->f.wall_slip) side_get(s, w.slip, s->f.wall_slip, n * sizeof *w.slip);
    if (s->f.has_loads) side_get(s, w.load, s->f.load, n * sizeof *w.load);
  }
  return w;
}
static void free_walls(wall_copy *w) {
  free(w->load), free(w->wall), free(w->planes), free(w->impulse), free(w->row), free(w->slip);
}
/* Where that of collider `handle` is; -1: nowhere. */
static int load_of(const oz_load *l, uint32_t handle) {
  for (uint32_t k = 0; k < l->count && k < OZ_LOADS; k++)
    if (l->handle[k] == handle) return (int)k;
  return -1;
}
/* How far two are apart, and the size of the first: impulse and the sums that it comes of by
 * themselves. */
static void compare_load(const oz_load *a, const oz_load *b, double size[2], double off[2]) {
  for (uint32_t k = 0; k < a->count && k < OZ_LOADS; k++) {
    const int m = load_of(b, a->handle[k]);
    for (int c = 0; c < OZ_LOAD_SUMS; c++) {
      const int which = c >= 3;
      size[which] = fmax(size[which], fabs((double)a->sum[k][c]));
      off[which] = fmax(off[which], m < 0 ? fabs((double)a->sum[k][c])
                                          : fabs((double)a->sum[k][c] - (double)b->sum[m][c]));
    }
  }
}

static void sync_walls(const both *t) {
  if (!t->a.f.wall_count || !t->b.f.wall_count) return;
  wall_copy a = read_walls(&t->a), b = read_walls(&t->b);
  const size_t room = t->a.f.contact_planes;
  CHECK_EQ(t->b.f.contact_planes, room);
  for (uint32_t r = 0; r < t->n; r++) {
    const uint32_t sa = t->a.slot[r], sb = t->b.slot[r];
    if (!sa || !sb) continue;
    memcpy(b.wall + (size_t)(sb - 1) * room, a.wall + (size_t)(sa - 1) * room,
           room * sizeof(oz_wall));
    memcpy(b.impulse + (size_t)(sb - 1) * room * 3, a.impulse + (size_t)(sa - 1) * room * 3,
           room * 12);
    b.planes[sb - 1] = a.planes[sa - 1];
    b.row[sb - 1] = a.row[sa - 1], b.slip[sb - 1] = a.slip[sa - 1];
    uint32_t near[4]; /* is about rows, which each has its own */
    memcpy(near, b.load[sb - 1].near, sizeof near);
    b.load[sb - 1] = a.load[sa - 1];
    memcpy(b.load[sb - 1].near, near, sizeof near);
  }
  const size_t n = t->b.f.wall_count;
  CHECK(t->b.copy(t->b.b, t->b.f.wall, b.wall, n * room * sizeof *b.wall));
  CHECK(t->b.copy(t->b.b, t->b.f.wall_planes, b.planes, n * 4));
  CHECK(t->b.copy(t->b.b, t->b.f.wall_impulse, b.impulse, n * room * 12));
  if (t->b.f.contact_of) CHECK(t->b.copy(t->b.b, t->b.f.wall_row, b.row, n * sizeof *b.row));
  if (t->b.f.contact_of && t->b.f.wall_slip)
    CHECK(t->b.copy(t->b.b, t->b.f.wall_slip, b.slip, n * sizeof *b.slip));
  if (t->b.f.has_loads) CHECK(t->b.copy(t->b.b, t->b.f.load, b.load, n * sizeof *b.load));
  free_walls(&a), free_walls(&b);
}

/* ---- comparing ---- */

/* The value that k of them precede in ascending order; they are put in another order for it
 * (Hoare's selection: sorting them took two fifths of the time of the tests). */
static double of_rank(double *x, int64_t n, int64_t k) {
  int64_t low = 0, high = n - 1;
  while (low < high) {
    const double pivot = x[low + (high - low) / 2];
    int64_t i = low, j = high;
    while (i <= j) {
      while (x[i] < pivot) i++;
      while (x[j] > pivot) j--;
      if (i > j) break;
      const double kept = x[i];
      x[i++] = x[j];
      x[j--] = kept;
    }
    if (k <= j)
      high = j;
    else if (k >= i)
      low = i;
    else
      break;
  }
  return x[k];
}
static void judge(both *t, oz_stage stage, const char *name, double *difference, uint32_t n,
                  double scale) {
  if (!n) return;
  double most = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    if (!(difference[i] == difference[i])) difference[i] = INFINITY; /* it has no rank otherwise */
    most = fmax(most, difference[i]);
  }
  const double worst = most / scale,
               typical = of_rank(difference, n, (int64_t)((n - 1) * 0.995)) / scale;
  finding *f = &t->found[stage];
  if (t->verbose && worst > 1e-4)
    printf("    %-16s %-10s typical %.2e worst %.2e scale %.2e\n", oz_stage_names[stage], name,
           typical, worst, scale);
  if (!f->array || typical > f->typical || !(typical == typical))
    f->array = name, f->typical = typical;
  if (worst > f->worst) f->worst = worst;
}

/* The six words of a symmetric matrix R diag(w) R' in place of its eigenvalues w; v is R as a
 * quaternion. A frame is not unique, the matrix that it stands for is. */
static void matrix_of_frame(float *w, const float *v) {
  static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
  const float R[9] = {1 - 2 * (v[1] * v[1] + v[2] * v[2]), 2 * (v[0] * v[1] - v[2] * v[3]),
                      2 * (v[0] * v[2] + v[1] * v[3]),     2 * (v[0] * v[1] + v[2] * v[3]),
                      1 - 2 * (v[0] * v[0] + v[2] * v[2]), 2 * (v[1] * v[2] - v[0] * v[3]),
                      2 * (v[0] * v[2] - v[1] * v[3]),     2 * (v[1] * v[2] + v[0] * v[3]),
                      1 - 2 * (v[0] * v[0] + v[1] * v[1])};
  float out[7] = {0, 0, 0, 0, 0, 0, w[3]};
  for (int c = 0; c < 6; c++)
    for (int e = 0; e < 3; e++) out[c] += R[3 * I[c] + e] * w[e] * R[3 * J[c] + e];
  memcpy(w, out, sizeof out);
}

/* An array of one side, as words that can be compared; returns how many a particle has. */
static uint32_t comparable(both *t, side *s, const array *r, float *out) {
  compare_read(t, s, r, out);
  if (!named(r, "precond_eigenvalues")) return r->words;
  float *rotation = calloc((size_t)t->n * MOST, 4);
  compare_read(t, s, r - 1, rotation);
  for (uint32_t i = 0; i < t->n; i++)
    matrix_of_frame(out + (size_t)i * MOST, rotation + (size_t)i * MOST);
  free(rotation);
  return 7;
}

static double greatest(const float *a, uint32_t n, uint32_t words) {
  double scale = 1e-30;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t c = 0; c < words; c++) {
      double v = fabs((double)a[(size_t)i * MOST + c]);
      if (v > scale && v < 1e30) scale = v;
    }
  return scale;
}

static void compare_array(both *t, oz_stage stage, const array *r, double *difference) {
  const uint32_t n = t->n;
  float *a = calloc((size_t)n * MOST, 4), *b = calloc((size_t)n * MOST, 4);
  const uint32_t words = comparable(t, &t->a, r, a);
  comparable(t, &t->b, r, b);
  double scale = greatest(a, n, words);
  /* a translation is the difference of two positions: its roundings are theirs */
  if (stage == OZ_STAGE_blend_match && scale < (double)t->a.f.d) scale = (double)t->a.f.d;
  for (uint32_t i = 0; i < n; i++) {
    difference[i] = 0.0;
    /* the CPU leaves these out */
    if (t->a.f.skip_boundary && t->a.at[i] >= t->a.f.fluid) continue;
    for (uint32_t c = 0; c < words; c++) {
      float va = a[(size_t)i * MOST + c], vb = b[(size_t)i * MOST + c];
      if (!memcmp(&va, &vb, 4)) continue;
      double d = fabs((double)va - (double)vb);
      if (!(d <= difference[i])) difference[i] = d == d ? d : 1e30;
    }
  }
  judge(t, stage, r->name, difference, n, scale);
  free(a), free(b);
}

static void wall_words(const oz_wall *w, float d, float out[10]) {
  const float words[10] = {w->n[0],     w->n[1],     w->n[2],     w->s / d, (float)w->active,
                           w->t[0] / d, w->t[1] / d, w->t[2] / d, w->press, w->u[0]};
  memcpy(out, words, sizeof words);
}

/* The wall in the strain of one particle, as far as it takes part: at the kernel's edge the one has
 * a row without a share, the other none. Boundary particles as well. */
enum { ROW_WORDS = 21 };
static void row_words(const oz_wall_row *r, float d, float out[ROW_WORDS]) {
  const float share = sqrtf(r->w[0] * r->w[0] + r->w[1] * r->w[1] + r->w[2] * r->w[2]);
  const float points = r->points_weight;
  const float words[ROW_WORDS] = {r->w[0],
                                  r->w[1],
                                  r->w[2],
                                  share * r->b,
                                  share * r->goal[0],
                                  share * r->goal[1],
                                  share * r->goal[2],
                                  r->pull[0] / d,
                                  r->pull[1] / d,
                                  r->pull[2] / d,
                                  share * r->sucks,
                                  points,
                                  points * r->points_film,
                                  r->points_g[0],
                                  r->points_g[1],
                                  r->points_g[2],
                                  points * r->points_u[0],
                                  points * r->points_u[1],
                                  points * r->points_u[2],
                                  r->points_pull[0] / d,
                                  r->points_pull[1] / d};
  memcpy(out, words, sizeof words);
}
static void compare_rows(const oz_wall_row *a, const oz_wall_row *b, float d, double *scale,
                         double *worst) {
  float x[ROW_WORDS], y[ROW_WORDS];
  row_words(a, d, x), row_words(b, d, y);
  for (int c = 0; c < ROW_WORDS; c++) {
    *scale = fmax(*scale, fabs((double)x[c]));
    *worst = fmax(*worst, fabs((double)x[c] - (double)y[c]));
  }
}

/* The slip of one particle along boundary particles: matrices of a size of 1. */
static void compare_slips(const oz_wall_slip *a, const oz_wall_slip *b, double *worst) {
  const float *x = &a->part, *y = &b->part;
  if (!(a->part > 0.0f) && !(b->part > 0.0f)) return;
  for (size_t c = 0; c < sizeof *a / sizeof *x; c++)
    *worst = fmax(*worst, fabs((double)x[c] - (double)y[c]));
}

/* Planes of one particle, and the impulses that they took: greatest values and differences. */
static void compare_planes(const both *t, const wall_copy *wa, const wall_copy *wb, uint32_t sa,
                           uint32_t sb, double scale[2], double worst[2]) {
  if (wa->planes[sa] != wb->planes[sb]) {
    worst[0] = 1e30;
    return;
  }
  for (uint32_t k = 0; k < wa->planes[sa]; k++) {
    const size_t at = (size_t)sa * t->a.f.contact_planes + k,
                 bt = (size_t)sb * t->b.f.contact_planes + k;
    float x[10], y[10];
    wall_words(wa->wall + at, t->a.f.d, x);
    wall_words(wb->wall + bt, t->a.f.d, y);
    for (int c = 0; c < 10; c++) {
      scale[0] = fmax(scale[0], fabs((double)x[c]));
      worst[0] = fmax(worst[0], fabs((double)x[c] - (double)y[c]));
    }
    for (size_t c = 0; c < 3; c++) {
      const double ja = (double)wa->impulse[3 * at + c], jb = (double)wb->impulse[3 * bt + c];
      scale[1] = fmax(scale[1], fabs(ja));
      worst[1] = fmax(worst[1], fabs(ja - jb));
    }
  }
}

/* Planes and their loads; loads on walls, where a stage has them. */
static void compare_walls(both *t, oz_stage stage, double *difference) {
  const int loads =
      t->a.f.has_loads && stage >= OZ_STAGE_load_start && stage <= OZ_STAGE_load_mps_move;
  wall_copy wa = read_walls(&t->a), wb = read_walls(&t->b);
  for (int what = 0; what < 1 + loads; what++) {
    double scale[2] = {1e-30, 1e-30};
    uint32_t m = 0;
    for (int pass = 0; pass < 2; pass++) /* scales first, then differences by them */
      for (uint32_t r = 0; r < t->n; r++) {
        const uint32_t sa = t->a.slot[r], sb = t->b.slot[r];
        double worst[2] = {0.0, 0.0};
        if (!sa || !sb) continue;
        if (what)
          compare_load(&wa.load[sa - 1], &wb.load[sb - 1], scale, worst);
        else
          compare_planes(t, &wa, &wb, sa - 1, sb - 1, scale, worst);
        if (!what && t->rows)
          compare_rows(&wa.row[sa - 1], &wb.row[sb - 1], t->a.f.d, scale, worst),
              compare_slips(&wa.slip[sa - 1], &wb.slip[sb - 1], worst);
        const double least = what ? 0.0 : 1.0;
        if (pass) difference[m++] = fmax(worst[0] / fmax(scale[0], least), worst[1] / scale[1]);
      }
    judge(t, stage, what ? "loads" : "walls", difference, m, 1.0);
  }
  free_walls(&wa), free_walls(&wb);
}

static void compare(both *t, oz_stage stage) {
  double *difference = malloc(((size_t)t->n + 1) * sizeof *difference);
  for (int k = 0; k < compare_array_count; k++) {
    const array *r = &compare_arrays[k];
    if (!compare_live(t, r) || named(r, "precond_rotation")) continue;
    if (t->own_gradients && r->sums && !t->ran_gradient) continue;
    compare_array(t, stage, r, difference);
  }
  if (t->a.f.wall_count && t->b.f.wall_count && stage != OZ_STAGE_finish)
    compare_walls(t, stage, difference);
  free(difference);
}

/* ---- the table ---- */

#define T both *t = (both *)(void *)o
#define ON(s, call) (s)->b->table->call

static void constants(both *t, const oz_frame *f) {
  const size_t from = offsetof(oz_frame, dt), to = offsetof(oz_frame, x);
  t->a.f = *f;
  memcpy((char *)&t->b.f + from, (const char *)f + from, to - from);
  const int swapped = f->y != t->a.y;
  t->b.f.y = swapped ? t->b.y2 : t->b.y;
  t->b.f.y2 = swapped ? t->b.y : t->b.y2;
  const int turned = f->u == t->a.u2; /* a sweep of the rest filter */
  t->b.f.u = turned ? t->b.u2 : t->b.u;
  t->b.f.u2 = turned ? t->b.u : t->b.u2;
  const int lawful = f->carried && f->q == t->a.carried; /* the projections of a law of flow */
  t->b.f.q = lawful ? t->b.carried : t->b.q;
  t->b.f.carried = lawful ? t->b.q : t->b.carried;
  if (!f->contact_of) t->b.f.contact_of = NULL; /* walls sets its own */
}
static void keep_places(side *s) {
  s->y = s->f.y, s->y2 = s->f.y2, s->u = s->f.u, s->u2 = s->f.u2;
  s->q = s->f.q, s->carried = s->f.carried;
}
static void map_ranks(both *t, side *s) {
  uint32_t *rank = malloc(((size_t)t->n + 1) * 4);
  ooze_message why = {""};
  CHECK(ON(s, download)(s->b, OZ_FIELD_RANK, 0, t->n, rank, &why) >= 0, "%s", why.text);
  for (uint32_t i = 0; i < t->n; i++) s->at[rank[i]] = i;
  free(rank);
}
static void map_slots(both *t, side *s) {
  uint32_t *particle = malloc(((size_t)s->f.wall_count + 1) * 4),
           *slot = calloc((size_t)t->n + 1, 4);
  if (s->f.wall_count) side_get(s, particle, s->f.wall_particle, (size_t)s->f.wall_count * 4);
  for (uint32_t k = 0; k < s->f.wall_count; k++) slot[particle[k]] = k + 1;
  for (uint32_t r = 0; r < t->n; r++) s->slot[r] = slot[s->at[r]];
  free(particle), free(slot);
}
static void give_arrays(both *t) {
  float *v = calloc((size_t)t->n * MOST, 4);
  double scalars[OZ_SCALAR_COUNT];
  for (int k = 0; k < compare_array_count; k++) {
    if (!compare_live(t, &compare_arrays[k]) || (t->own_gradients && compare_arrays[k].sums))
      continue;
    compare_read(t, &t->a, &compare_arrays[k], v);
    compare_write(t, &t->b, &compare_arrays[k], v);
  }
  side_get(&t->a, scalars, t->a.f.scalar, sizeof scalars);
  CHECK(t->b.copy(t->b.b, t->b.f.scalar, scalars, sizeof scalars));
  free(v);
  sync_walls(t);
}

static void both_frame(oz_backend *o, oz_frame *f) {
  T;
  ON(&t->a, frame)(t->a.b, &t->a.f);
  ON(&t->b, frame)(t->b.b, &t->b.f);
  t->n = t->a.f.count;
  t->velocity = t->position = t->ran_gradient = t->rows = t->scratch = t->heat = t->soft =
      t->tension = 0;
  t->keys = 1;
  /* a stage may run before they are sorted */
  keep_places(&t->a), keep_places(&t->b);
  map_ranks(t, &t->a);
  map_ranks(t, &t->b);
  memset(t->a.slot, 0, (size_t)t->n * 4);
  memset(t->b.slot, 0, (size_t)t->n * 4);
  *f = t->a.f;
}
static ooze_result both_sort(oz_backend *o, oz_frame *f, ooze_message *why) {
  T;
  t->a.y = f->y, t->a.y2 = f->y2, t->a.u = f->u, t->a.u2 = f->u2;
  t->a.q = f->q, t->a.carried = f->carried;
  constants(t, f);
  OZ_TRY(ON(&t->a, sort)(t->a.b, &t->a.f, why));
  OZ_TRY(ON(&t->b, sort)(t->b.b, &t->b.f, why));
  keep_places(&t->a), keep_places(&t->b);
  map_ranks(t, &t->a);
  map_ranks(t, &t->b);
  memset(t->a.slot, 0, (size_t)t->n * 4);
  memset(t->b.slot, 0, (size_t)t->n * 4);
  *f = t->a.f;
  return OOZE_OK;
}
static ooze_result both_lists(oz_backend *o, oz_frame *f, oz_build_result *out, ooze_message *why) {
  T;
  oz_build_result other = {0, 0.0};
  constants(t, f);
  OZ_TRY(ON(&t->a, lists)(t->a.b, &t->a.f, out, why));
  OZ_TRY(ON(&t->b, lists)(t->b.b, &t->b.f, &other, why));
  uint32_t *a = malloc(((size_t)t->n + 1) * 4), *b = malloc(((size_t)t->n + 1) * 4);
  side_get(&t->a, a, t->a.f.neighbours, (size_t)t->n * 4);
  side_get(&t->b, b, t->b.f.neighbours, (size_t)t->n * 4);
  double sum = 0.0;
  /* where a model looks ahead, the CPU counts at other places than the GPU */
  for (uint32_t r = 0; r < t->n; r++) {
    if (!f->single_search) t->list_differences += a[t->a.at[r]] != b[t->b.at[r]];
    sum += b[t->b.at[r]];
  }
  CHECK_NEAR(other.mean_neighbours, sum / t->n, 1e-9, "the mean is that of the counts");
  free(a), free(b);
  *f = t->a.f;
  return OOZE_OK;
}
static ooze_result both_density_list(oz_backend *o, oz_frame *f, oz_build_result *out,
                                     ooze_message *why) {
  T;
  oz_build_result other = {0, 0.0};
  constants(t, f);
  give_arrays(t);
  OZ_TRY(ON(&t->a, density_list)(t->a.b, &t->a.f, out, why));
  OZ_TRY(ON(&t->b, density_list)(t->b.b, &t->b.f, &other, why));
  t->scratch = 1;
  *f = t->a.f;
  return OOZE_OK;
}
static ooze_result both_walls(oz_backend *o, oz_frame *f, ooze_message *why) {
  T;
  constants(t, f);
  give_arrays(t);
  OZ_TRY(ON(&t->a, walls)(t->a.b, &t->a.f, why));
  OZ_TRY(ON(&t->b, walls)(t->b.b, &t->b.f, why));
  map_slots(t, &t->a);
  map_slots(t, &t->b);
  for (uint32_t r = 0; r < t->n; r++) t->wall_differences += !t->a.slot[r] != !t->b.slot[r];
  *f = t->a.f;
  return OOZE_OK;
}
static const uint8_t reductions[] = {
#define OZ_STAGE(name, kind, sums, reductions) reductions,
#include "physics/stages.def"
#undef OZ_STAGE
};
static ooze_result both_run(oz_backend *o, const oz_frame *f, oz_stage stage, double *sums,
                            ooze_message *why) {
  T;
  double sa[OZ_REDUCTIONS] = {0}, sb[OZ_REDUCTIONS] = {0};
  constants(t, f);
  t->soft = stage >= OZ_STAGE_soft_start && stage <= OZ_STAGE_soft_set;
  if (stage == OZ_STAGE_free_start) t->other = 1;
  if (stage == OZ_STAGE_mps_stress) t->sent = 1;
  if (stage == OZ_STAGE_mps_density || stage == OZ_STAGE_blend_match) t->sent = t->scratch = 0;
  if (stage == OZ_STAGE_heat_begin) t->heat = 1;
  if (stage == OZ_STAGE_tension_clear) t->tension = 1;
  if (stage == OZ_STAGE_velocity_start) t->tension = 0;
  if (stage == OZ_STAGE_residual) t->velocity = 1;
  t->summed = stage == OZ_STAGE_bound_sums || (t->summed && stage == OZ_STAGE_bound);
  if (stage == OZ_STAGE_gradient) t->bounded = t->near = 0;
  if (stage == OZ_STAGE_advance) t->position = 1; /* its arrays lie over the velocity phase's */
  give_arrays(t);
  OZ_TRY(ON(&t->a, run)(t->a.b, &t->a.f, stage, sa, why));
  OZ_TRY(ON(&t->b, run)(t->b.b, &t->b.f, stage, sb, why));
  t->ran[stage]++;
  t->multiplied = (t->multiplied || stage == OZ_STAGE_velocity_start) && stage != OZ_STAGE_finish;
  if (stage == OZ_STAGE_gradient) t->keys = 0;
  if (stage == OZ_STAGE_strain || stage == OZ_STAGE_paper_strain || stage == OZ_STAGE_paper_force ||
      stage == OZ_STAGE_filter_gradient)
    t->scratch = 0;
  if (stage == OZ_STAGE_gradient) t->ran_gradient = 1;
  if (stage == OZ_STAGE_wall_rows) t->rows = 1;
  if (stage == OZ_STAGE_bound_sums) t->near = 1;
  if (stage == OZ_STAGE_density_bound) t->bounded = 1, t->near = 0;
  t->pushed = (t->pushed || stage == OZ_STAGE_density_lambda) && stage != OZ_STAGE_finish;
  compare(t, stage);
  for (int r = 0; r < reductions[stage]; r++) {
    double difference = fabs(sa[r] - sb[r]);
    judge(t, stage, "sum", &difference, 1, fmax(fabs(sa[r]), 1e-30));
    if (sums) sums[r] = sa[r];
  }
  /* link_bound comes with the first iteration's densities; those of the others are the same where
   * nothing has moved */
  if (stage == OZ_STAGE_link_bound) return both_run(o, f, OZ_STAGE_link_lambda, NULL, why);
  return OOZE_OK;
}

/* All links of one side by rank. */
static oz_link_pair *links_of(side *s, uint64_t *count) {
  ooze_message why = {""};
  CHECK(ON(s, links_get)(s->b, s->at, NULL, count, &why) >= 0, "%s", why.text);
  oz_link_pair *all = calloc((size_t)*count + 1, sizeof *all);
  CHECK(ON(s, links_get)(s->b, s->at, all, count, &why) >= 0, "%s", why.text);
  return all;
}
static int before(const oz_link_pair *a, const oz_link_pair *b) {
  return a->a < b->a || (a->a == b->a && a->b < b->b);
}
static ooze_result both_links_update(oz_backend *o, oz_frame *f, uint32_t rule, ooze_message *why) {
  T;
  constants(t, f);
  give_arrays(t);
  OZ_TRY(ON(&t->a, links_update)(t->a.b, &t->a.f, rule, why));
  OZ_TRY(ON(&t->b, links_update)(t->b.b, &t->b.f, rule, why));
  uint64_t na, nb;
  oz_link_pair *a = links_of(&t->a, &na), *b = links_of(&t->b, &nb);
  for (uint64_t i = 0, k = 0; i < na || k < nb;) {
    if (k == nb || (i < na && before(&a[i], &b[k])))
      t->link_differences++, i++;
    else if (i == na || before(&b[k], &a[i]))
      t->link_differences++, k++;
    else {
      if (a[i].kind != b[k].kind || !(fabsf(a[i].rest - b[k].rest) <= 1e-5f * t->a.f.h) ||
          !(fabsf(a[i].spare - b[k].spare) <= 1e-5f))
        t->link_differences++;
      i++, k++;
    }
  }
  t->links += (uint32_t)na;
  /* the stages that follow are judged by themselves */
  OZ_TRY(ON(&t->b, links_put)(t->b.b, t->b.at, a, na, why));
  oz_frame fresh;
  ON(&t->b, frame)(t->b.b, &fresh);
  t->b.f.link_row = fresh.link_row, t->b.f.link_len = fresh.link_len, t->b.f.link_j = fresh.link_j;
  t->b.f.link_rest = fresh.link_rest, t->b.f.link_kind = fresh.link_kind,
  t->b.f.link_spare = fresh.link_spare;
  t->b.f.link_share = fresh.link_share;
  free(a), free(b);
  *f = t->a.f;
  return OOZE_OK;
}

static const oz_backend_table table = {.name = "both",
                                       .frame = both_frame,
                                       .sort = both_sort,
                                       .lists = both_lists,
                                       .density_list = both_density_list,
                                       .walls = both_walls,
                                       .links_update = both_links_update,
                                       .run = both_run};

void both_open(both *t, side a, side b, oz_memory *memory) {
  enum { ROOM = 1 << 16 };
  memset(t, 0, sizeof *t);
  t->base.table = &table;
  t->a = a, t->b = b;
  t->memory = memory;
  t->a.at = calloc(ROOM, 4), t->b.at = calloc(ROOM, 4), t->a.slot = calloc(ROOM, 4),
  t->b.slot = calloc(ROOM, 4);
}
void both_close(both *t) {
  ON(&t->a, destroy)(t->a.b);
  ON(&t->b, destroy)(t->b.b);
  free(t->a.at), free(t->b.at), free(t->a.slot), free(t->b.slot);
}
