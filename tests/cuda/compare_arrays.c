/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/compare_arrays.h"

#include "check.h"

#include <stddef.h>

#define AT(m) #m, offsetof(oz_frame, m)
const array compare_arrays[] = {
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
const int compare_array_count = sizeof compare_arrays / sizeof *compare_arrays;

static float *pointer(const oz_frame *f, size_t member) {
  float *p;
  memcpy(&p, (const char *)f + member, sizeof p);
  return p;
}
void side_get(const side *s, void *to, const void *from, size_t bytes) {
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
  for (int k = 8; k; k--) { /* each with regard to the planes below it */
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
void compare_read(const both *t, const side *s, const array *a, float *out) {
  a = as_it_lies(t, s, a);
  const float *p = pointer(&s->f, a->member);
  const uint32_t n = t->n, words = record_words(s, a), packed = packed_words(t, s, a),
                 all = packed ? packed : words;
  float *raw = malloc((size_t)s->f.stride * MOST * sizeof *raw);
  if (a->planes)
    side_get(s, raw, p, (size_t)s->f.stride * all * 4);
  else
    side_get(s, raw, p, (size_t)n * words * 4);
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
void compare_write(const both *t, const side *s, const array *a, const float *in) {
  a = as_it_lies(t, s, a);
  float *p = pointer(&s->f, a->member);
  const uint32_t n = t->n, words = record_words(s, a), packed = packed_words(t, s, a),
                 all = packed ? packed : words;
  float *raw = calloc((size_t)s->f.stride * MOST, sizeof *raw);
  if (a->planes) side_get(s, raw, p, (size_t)s->f.stride * all * 4); /* padding stays as it is */
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
  if (t->no_matrices && matrices) return 0; /* holds leftovers of a search */
  /* that scheme has its own use for y2, which lies over them */
  if (t->paper && a->when == 1) return 0;
  return t->paper && named(a, "y2") ? 1 : UNDECIDED;
}

int compare_live(const both *t, const array *a) {
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
