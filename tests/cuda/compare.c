/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/compare.h"

#include "check.h"

#include <stddef.h>

typedef struct array {
  const char *name;
  size_t member;
  /* planes: 1, or 2 where the CPU has blocks, 3 where the GPU packs its six numbers, 4 a rotation,
   * 5 its eigenvalues */
  uint32_t words, planes;
  /* 0 always, 1 velocity phase, 2 position phase, 3 solve of soft bodies, 4 from bound_sums to
   * bound, 5 before density_bound, 6 behind it, 7 from bound_sums to density_bound */
  int when;
  int sums; /* sums over gradients */
} array;
#define AT(m) #m, offsetof(oz_frame, m)
static const array arrays[] = {
    {AT(x), 4, 0, 0, 0},
    {AT(u), 4, 0, 0, 0},
    {AT(q), 6, 1, 0, 0},
    {AT(source), 1, 1, 0, 0},
    {AT(omega), 1, 1, 0, 0},
    {AT(a), 1, 1, 0, 0},
    {AT(y), 4, 0, 0, 0},
    {AT(y2), 4, 0, 2, 0},
    {AT(p), 4, 0, 0, 0},
    {AT(dx), 4, 0, 0, 0},
    {AT(u2), 4, 0, 0, 0},
    {AT(A), 9, 0, 0, 0},
    {AT(K), 6, 2, 0, 1},
    {AT(B), 6, 3, 0, 1},
    {AT(gradient_sum), 3, 2, 0, 1},
    {AT(precond_rotation), 4, 4, 0, 0},
    {AT(precond_eigenvalues), 4, 5, 0, 0},
    {AT(lam), 6, 1, 0, 0},
    {AT(cg_residual), 6, 3, 1, 0},
    {AT(cg_direction), 6, 3, 1, 0},
    {AT(cg_applied), 6, 3, 1, 0},
    {AT(rotation), 4, 4, 2, 0},
    {AT(density_relaxation), 1, 1, 6, 0},
    {AT(density_step), 1, 1, 6, 0},
    {AT(density_push), 1, 1, 6, 0},
    {AT(rho), 1, 1, 6, 0},
    {AT(density_diagonal), 1, 1, 5, 1},
    {AT(density_row_sum), 1, 1, 5, 1},
    {AT(bound_sum), 1, 1, 4, 0},
    {AT(density_near_sum), 1, 1, 7, 1},
    {AT(zero_energy_gate), 1, 1, 0, 1},
    {AT(dilation), 1, 1, 0, 1},
    {AT(wall_term), 4, 0, 2, 0},
    {AT(relaxation_time), 1, 1, 0, 0},
    {AT(viscosity), 1, 1, 0, 0},
    {AT(temperature), 1, 1, 0, 0},
    {AT(melt), 1, 1, 0, 0},
    {AT(pressure), 1, 1, 0, 0},
    {AT(density_pressure), 1, 1, 0, 0},
    {AT(density), 1, 1, 0, 0},
    {AT(compliance), 1, 1, 0, 0},
    {AT(reference), 3, 1, 0, 0},
    {AT(shear_rate), 1, 1, 0, 0},
    {AT(second_stretch), 6, 1, 0, 0},
    {AT(carried), 6, 1, 0, 0},
    {AT(soft_gradient), 4, 0, 3, 0},
};
enum { ARRAYS = sizeof arrays / sizeof *arrays, MOST = 12 };

static float *pointer(const oz_frame *f, size_t member) {
  float *p;
  memcpy(&p, (const char *)f + member, sizeof p);
  return p;
}
static void get(const side *s, void *to, const void *from, size_t bytes) {
  CHECK(s->copy(s->b, to, from, bytes));
}

/* The 32 bits from which number k of a packed matrix is read, as physics/lanes_scalar.h has them:
 * 13 bits are its own, the ninth's 12. */
static int32_t window(const uint32_t w[4], int k) {
  const uint64_t half = (uint64_t)w[k < 4 ? 0 : 2] << 32 | w[k < 4 ? 1 : 3];
  const int from[9] = {0, 0, 13, 26, 0, 13, 26, 39, 52};
  return (int32_t)(uint32_t)(half << from[k] >> 32);
}
/* The matrix record as nine floats. */
static void unpack(const side *s, const float *r, float *m) {
  if (!s->gpu) { /* columns of four */
    for (int k = 0; k < 9; k++) m[k] = r[4 * (k % 3) + k / 3];
    return;
  }
  uint32_t w[4];
  memcpy(w, r, sizeof w);
  const int e = (int)(w[1] & 255u) - 127;
  m[0] = ldexpf((float)((int)(w[1] >> 10 & 0x1fff) - 4096), e + 19);
  for (int k = 1; k < 9; k++) m[k] = ldexpf((float)window(w, k), e);
}
static void pack(const side *s, const float *m, float *r) {
  if (!s->gpu) {
    for (int k = 0; k < 9; k++) r[4 * (k % 3) + k / 3] = m[k];
    return;
  }
  float most = 0.0f;
  int e;
  for (int k = 0; k < 9; k++) most = fmaxf(most, fabsf(m[k]));
  (void)frexpf(most * 1.001f, &e); /* most < 2^e */
  e = most == 0.0f || e < -94 ? -94 : e;
  uint32_t w[4] = {
      0, (uint32_t)((int)rintf(ldexpf(m[0], 12 - e)) + 4096) << 10 | (uint32_t)(e + 96), 0, 0};
  for (int k = 8; k; k--) { /* each with regard to what lies below it */
    const uint32_t last = k == 8 ? 1u << 20 : 1u << 19;
    const int64_t own =
        (int64_t)ldexpf(m[k], 31 - e) - (k < 8 ? window(w, k) & (int32_t)(last - 1u) : 0);
    const uint64_t field = (uint64_t)(uint32_t)((own + (int64_t)(last / 2u)) & -(int64_t)last)
                               << 32 >>
                           (k < 4 ? 13 * (k - 1) : 13 * (k - 4));
    w[k < 4 ? 0 : 2] |= (uint32_t)(field >> 32), w[k < 4 ? 1 : 3] |= (uint32_t)field;
  }
  memcpy(r, w, sizeof w);
}
/* Six numbers of 20 bits in four words, as physics/lanes_scalar.h has them. */
static void unpack_six(const float *r, float *m) {
  uint32_t w[4];
  memcpy(w, r, sizeof w);
  const int e = (int)(w[1] >> 28 | (w[3] >> 28) << 4);
  const uint32_t u[6] = {w[0] & 0xfffff,
                         w[1] & 0xfffff,
                         w[2] & 0xfffff,
                         w[3] & 0xfffff,
                         w[0] >> 20 | (w[1] >> 20 & 0xff) << 12,
                         w[2] >> 20 | (w[3] >> 20 & 0xff) << 12};
  for (int k = 0; k < 6; k++) m[k] = e == 255 ? NAN : ldexpf((float)((int)u[k] - 524288), e - 145);
}
static void pack_six(const float *m, float *r) {
  float most = 0.0f;
  int e;
  uint32_t u[6];
  for (int k = 0; k < 6; k++) most = fmaxf(most, fabsf(m[k]));
  (void)frexpf(most * 1.00001f, &e); /* most < 2^e */
  e = e + 126 < 20 ? 20 : e + 126;
  for (int k = 0; k < 6; k++) u[k] = (uint32_t)((int)rintf(ldexpf(m[k], 145 - e)) + 524288);
  const uint32_t x = (uint32_t)e;
  const uint32_t w[4] = {u[0] | u[4] << 20, u[1] | u[4] >> 12 << 20 | x << 28, u[2] | u[5] << 20,
                         u[3] | u[5] >> 12 << 20 | x >> 4 << 28};
  memcpy(r, w, sizeof w);
}
/* A quaternion of 16 bits, and three numbers' first 21 bits with a flag, in two words. */
static void unpack_turn(const float *r, float *m) {
  uint16_t u[4];
  memcpy(u, r, sizeof u);
  for (int k = 0; k < 4; k++) m[k] = (float)((int)u[k] - 32768) / 32767.0f;
}
static void pack_turn(const float *m, float *r) {
  uint16_t u[4];
  for (int k = 0; k < 4; k++) u[k] = (uint16_t)(lrintf(m[k] * 32767.0f) + 32768);
  memcpy(r, u, sizeof u);
}
static void unpack_three(const float *r, float *m) {
  uint64_t w[2];
  uint32_t word[2];
  memcpy(word, r, sizeof word);
  w[0] = word[0], w[1] = word[1];
  const uint32_t b[3] = {(uint32_t)(w[0] >> 11), (uint32_t)(w[1] >> 11),
                         (uint32_t)((w[0] & 0x7ff) | (w[1] & 0x3ff) << 11)};
  for (int k = 0; k < 3; k++) {
    const uint32_t bits = b[k] << 10;
    memcpy(&m[k], &bits, 4);
  }
}
static void pack_three(const float *m, float *r) { /* the flag stays as it is */
  uint32_t word[2], b[3];
  memcpy(word, r, sizeof word);
  for (int k = 0; k < 3; k++) {
    const float size = fabsf(m[k]);
    memcpy(&b[k], &size, 4);
    b[k] = (b[k] + 0x3ff) >> 10;
  }
  word[0] = b[0] << 11 | (b[2] & 0x7ff);
  word[1] = b[1] << 11 | b[2] >> 11 | (word[1] & 0x400);
  memcpy(r, word, sizeof word);
}
/* Words that it takes on the side if it is packed there now, or 0: heat has r in blocks. */
static uint32_t packed_words(const both *t, const side *s, const array *a) {
  if (!s->gpu || a->planes < 3 || (t->heat && !strcmp(a->name, "cg_residual"))) return 0;
  return a->planes == 3 ? 4 : a->planes == 4 ? 2 : 3;
}
static void from_packed(const side *s, const array *a, const float *raw, uint32_t i, float *m) {
  if (a->planes == 3)
    unpack_six(raw + (size_t)i * 4, m);
  else if (a->planes == 4)
    unpack_turn(raw + (size_t)i * 2, m);
  else
    unpack_three(raw + (size_t)i * 2, m), m[3] = raw[2 * (size_t)s->f.stride + i];
}
static void to_packed(const side *s, const array *a, const float *m, uint32_t i, float *raw) {
  if (a->planes == 3)
    pack_six(m, raw + (size_t)i * 4);
  else if (a->planes == 4)
    pack_turn(m, raw + (size_t)i * 2);
  else
    pack_three(m, raw + (size_t)i * 2), raw[2 * (size_t)s->f.stride + i] = m[3];
}
static uint32_t record_words(const side *s, const array *a) {
  return strcmp(a->name, "A") ? a->words : s->gpu ? 4u : 12u;
}

/* Word c of particle i in a copy of the whole array. */
static size_t place(const side *s, const array *a, uint32_t i, uint32_t c) {
  const uint32_t together = s->gpu ? OZ_SHARE : OZ_PAD;
  if (a->planes >= 2) return ((size_t)(i / together) * a->words + c) * together + i % together;
  return (size_t)c * s->f.stride + i;
}

/* Where the side has it now: the GPU's multipliers are in `mult` until finish. */
static const array *as_it_lies(const both *t, const side *s, const array *a) {
  static const array mult = {AT(lam_packed), 6, 3, 0, 0};
  return s->gpu && t->multiplied && !strcmp(a->name, "lam") ? &mult : a;
}
/* One array by rank: out[rank * MOST + word]. */
static void read_array(const both *t, const side *s, const array *a, float *out) {
  a = as_it_lies(t, s, a);
  const float *p = pointer(&s->f, a->member);
  const uint32_t n = t->n, words = record_words(s, a), packed = packed_words(t, s, a),
                 all = packed ? packed : words;
  float *raw = malloc((size_t)s->f.stride * MOST * sizeof *raw);
  if (a->planes)
    get(s, raw, p, (size_t)s->f.stride * all * 4);
  else
    get(s, raw, p, (size_t)n * words * 4);
  for (uint32_t r = 0; r < n; r++) {
    const uint32_t i = s->at[r];
    float *to = out + (size_t)r * MOST;
    if (packed)
      from_packed(s, a, raw, i, to);
    else if (a->planes)
      for (uint32_t c = 0; c < words; c++) to[c] = raw[place(s, a, i, c)];
    else if (words != a->words)
      unpack(s, raw + (size_t)i * words, to);
    else
      memcpy(to, raw + (size_t)i * words, words * 4);
  }
  free(raw);
}
static void write_array(const both *t, const side *s, const array *a, const float *in) {
  a = as_it_lies(t, s, a);
  float *p = pointer(&s->f, a->member);
  const uint32_t n = t->n, words = record_words(s, a), packed = packed_words(t, s, a),
                 all = packed ? packed : words;
  float *raw = calloc((size_t)s->f.stride * MOST, sizeof *raw);
  if (a->planes) get(s, raw, p, (size_t)s->f.stride * all * 4); /* padding stays as it is */
  for (uint32_t r = 0; r < n; r++) {
    const uint32_t i = s->at[r];
    const float *from = in + (size_t)r * MOST;
    if (packed)
      to_packed(s, a, from, i, raw);
    else if (a->planes)
      for (uint32_t c = 0; c < words; c++) raw[place(s, a, i, c)] = from[c];
    else if (words != a->words)
      pack(s, from, raw + (size_t)i * words);
    else
      memcpy(raw + (size_t)i * words, from, words * 4);
  }
  if (a->planes)
    CHECK(s->copy(s->b, p, raw, (size_t)s->f.stride * all * 4));
  else
    CHECK(s->copy(s->b, p, raw, (size_t)n * words * 4));
  free(raw);
}
static int named(const array *a, const char *name) { return strcmp(a->name, name) == 0; }

enum { UNDECIDED = -1 };

/* Arrays of one stage or of the soft solve. */
static int live_by_stage(const both *t, const array *a) {
  if (a->when == 4) return t->summed;
  /* from density_bound to finish: heat and mixing work there */
  if (named(a, "density_step")) return t->position && t->bounded && t->multiplied;
  if (named(a, "density_push")) return t->pushed && t->a.f.momentum > 0.0f;
  if (a->when == 7) return t->near;
  if (a->when > 4) return t->other || t->no_matrices || (a->when == 6) == t->bounded;
  if (t->soft)
    return a->when == 3 || named(a, "y2") || named(a, "wall_term") || (!a->when && !named(a, "A"));
  return a->when == 3 ? 0 : UNDECIDED;
}

/* Arrays that a model or a search has another use for. */
static int live_by_model(const both *t, const array *a) {
  const int matrices = named(a, "A");
  if (t->keys && !t->other && matrices) return 0;
  /* the GPU's search has used them */
  if (t->scratch && (matrices || named(a, "dx"))) return 0;
  /* all their arrays are those of the position phase */
  if (t->other && a->when) return a->when == 2;
  if (t->other && matrices) return t->sent;
  if (t->no_matrices && matrices) return 0; /* holds what a search left there */
  /* that scheme has its own use for y2, which lies over them */
  if (t->paper && a->when == 1) return 0;
  return t->paper && named(a, "y2") ? 1 : UNDECIDED;
}

static int live(const both *t, const array *a) {
  int known = live_by_stage(t, a);
  if (known == UNDECIDED) known = live_by_model(t, a);
  if (known != UNDECIDED) return known;
  /* it lies over aq */
  if (t->tension && (named(a, "cg_applied") || named(a, "wall_term"))) return a->name[0] == 'w';
  /* its work array is r, under rot */
  if (t->heat && (named(a, "cg_residual") || named(a, "rotation"))) return named(a, "cg_residual");
  /* on the CPU it lies over r, pp and aq */
  if (named(a, "p")) return t->position || !t->velocity;
  return !a->when || (a->when == 1 ? t->velocity && !t->position : t->position);
}

/* ---- walls, by rank ---- */

typedef struct wall_copy {
  oz_load *load; /* zero where there are none */
  oz_wall *wall;
  uint32_t *planes;
  float *impulse;
} wall_copy;
static wall_copy read_walls(const side *s) {
  const size_t n = s->f.wall_count;
  wall_copy w = {calloc(n + 1, sizeof *w.load), calloc(n * OZ_PLANES + 1, sizeof *w.wall),
                 calloc(n + 1, 4), calloc(n * OZ_PLANES * 3 + 1, 4)};
  if (n) {
    get(s, w.wall, s->f.wall, n * s->f.contact_planes * sizeof *w.wall);
    get(s, w.planes, s->f.wall_planes, n * 4);
    get(s, w.impulse, s->f.wall_impulse, n * s->f.contact_planes * 12);
    if (s->f.has_loads) get(s, w.load, s->f.load, n * sizeof *w.load);
  }
  return w;
}
static void free_walls(wall_copy *w) {
  free(w->load), free(w->wall), free(w->planes), free(w->impulse);
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
    uint32_t near[4]; /* is about rows, which each has its own */
    memcpy(near, b.load[sb - 1].near, sizeof near);
    b.load[sb - 1] = a.load[sa - 1];
    memcpy(b.load[sb - 1].near, near, sizeof near);
  }
  const size_t n = t->b.f.wall_count;
  CHECK(t->b.copy(t->b.b, t->b.f.wall, b.wall, n * room * sizeof *b.wall));
  CHECK(t->b.copy(t->b.b, t->b.f.wall_planes, b.planes, n * 4));
  CHECK(t->b.copy(t->b.b, t->b.f.wall_impulse, b.impulse, n * room * 12));
  if (t->b.f.has_loads) CHECK(t->b.copy(t->b.b, t->b.f.load, b.load, n * sizeof *b.load));
  free_walls(&a), free_walls(&b);
}

/* ---- comparing ---- */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}
static void judge(both *t, oz_stage stage, const char *name, double *difference, uint32_t n,
                  double scale) {
  if (!n) return;
  qsort(difference, n, sizeof *difference, ascending);
  double worst = difference[n - 1] / scale, typical = difference[(size_t)((n - 1) * 0.995)] / scale;
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
  read_array(t, s, r, out);
  if (!named(r, "precond_eigenvalues")) return r->words;
  float *rotation = calloc((size_t)t->n * MOST, 4);
  read_array(t, s, r - 1, rotation);
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
  /* a translation is what is left of two positions: its roundings are theirs */
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

/* Planes and what they took; loads on walls, where a stage has them. */
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
        const double least = what ? 0.0 : 1.0;
        if (pass) difference[m++] = fmax(worst[0] / fmax(scale[0], least), worst[1] / scale[1]);
      }
    judge(t, stage, what ? "loads" : "walls", difference, m, 1.0);
  }
  free_walls(&wa), free_walls(&wb);
}

static void compare(both *t, oz_stage stage) {
  double *difference = malloc(((size_t)t->n + 1) * sizeof *difference);
  for (int k = 0; k < ARRAYS; k++) {
    const array *r = &arrays[k];
    if (!live(t, r) || named(r, "precond_rotation")) continue;
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
  if (s->f.wall_count) get(s, particle, s->f.wall_particle, (size_t)s->f.wall_count * 4);
  for (uint32_t k = 0; k < s->f.wall_count; k++) slot[particle[k]] = k + 1;
  for (uint32_t r = 0; r < t->n; r++) s->slot[r] = slot[s->at[r]];
  free(particle), free(slot);
}
static void give_arrays(both *t) {
  float *v = calloc((size_t)t->n * MOST, 4);
  double scalars[OZ_SCALAR_COUNT];
  for (int k = 0; k < ARRAYS; k++) {
    if (!live(t, &arrays[k]) || (t->own_gradients && arrays[k].sums)) continue;
    read_array(t, &t->a, &arrays[k], v);
    write_array(t, &t->b, &arrays[k], v);
  }
  get(&t->a, scalars, t->a.f.scalar, sizeof scalars);
  CHECK(t->b.copy(t->b.b, t->b.f.scalar, scalars, sizeof scalars));
  free(v);
  sync_walls(t);
}

static void both_frame(oz_backend *o, oz_frame *f) {
  T;
  ON(&t->a, frame)(t->a.b, &t->a.f);
  ON(&t->b, frame)(t->b.b, &t->b.f);
  t->n = t->a.f.count;
  t->velocity = t->position = t->ran_gradient = t->scratch = t->heat = t->soft = t->tension = 0;
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
  get(&t->a, a, t->a.f.neighbours, (size_t)t->n * 4);
  get(&t->b, b, t->b.f.neighbours, (size_t)t->n * 4);
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
  t->b.f.link_share = fresh.link_share, t->b.f.link_fused_length = fresh.link_fused_length;
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
