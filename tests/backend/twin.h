/* A backend that runs every stage on two CPU backends, the vector build and the scalar one, and
 * compares their results. Part of stages.c; CUDA has its own (tests/cuda/compare.h), with two
 * layouts of the arrays. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_BACKEND_TWIN_H
#define OZ_TESTS_BACKEND_TWIN_H

#include "check.h"
#include "cpu/cpu.h"
#include "models/models.h"

#include "backend/stage_scenes.h"

/* ---- arrays to compare ------------------------------------------------------------------- */

typedef struct array {
  const char *name;
  size_t member; /* of oz_frame */
  uint32_t words;
  /* n floats a particle, n planes, or n times 16 floats every 16 */
  enum { RECORD, PLANES, BLOCKS } layout;
  enum { PURE, METRES, SPEED } unit;
  /* lies over another array of the other layout: padding of one is data of the other */
  int shared;
  double tolerance; /* of the array's own size; 0: bits that must be equal */
  const char *why;
} array;
#define AT(m) #m, offsetof(oz_frame, m)
#define SUMS 2e-3, "a stored gradient may round to the neighbouring half: 2^-11 of one of 30 terms"
#define INVERSE 5e-3, "such sums, times an inverse or a rotation that comes of them"
#define FEW 2e-6, "a few roundings"
#define BITS 0, ""
/* Some arrays share memory. Only words that the stage has changed count, so each of two shows its
 * own use. */
static const array arrays[] = {
    {AT(x), 4, RECORD, METRES, 0, FEW},
    {AT(u), 4, RECORD, SPEED, 0, SUMS},
    {AT(q), 6, PLANES, PURE, 0, INVERSE},
    {AT(source), 1, PLANES, PURE, 0, BITS},
    {AT(omega), 1, PLANES, PURE, 0, FEW},
    {AT(a), 1, PLANES, PURE, 0, FEW},
    {AT(y), 4, RECORD, METRES, 1, INVERSE},
    {AT(y2), 4, RECORD, METRES, 1, INVERSE},
    {AT(p), 4, RECORD, METRES, 1, SUMS},
    {AT(dx), 4, RECORD, METRES, 0, INVERSE},
    {AT(u2), 4, RECORD, SPEED, 0, INVERSE},
    {AT(A), 12, RECORD, METRES, 0, 1e-2,
     "strain asks for the difference of stress and stretch, which the velocity phase left small"},
    {AT(K), 6, BLOCKS, PURE, 0, SUMS},
    {AT(B), 6, BLOCKS, PURE, 0, INVERSE},
    {AT(gradient_sum), 3, BLOCKS, PURE, 0, SUMS},
    {AT(lam), 6, PLANES, PURE, 0, INVERSE},
    {AT(cg_residual), 6, BLOCKS, PURE, 1, INVERSE},
    {AT(cg_direction), 6, BLOCKS, PURE, 1, INVERSE},
    {AT(cg_applied), 6, BLOCKS, PURE, 1, INVERSE},
    {AT(rotation), 4, BLOCKS, PURE, 1, INVERSE},
    {AT(soft_gradient), 4, RECORD, PURE, 1, INVERSE},
    {AT(wall_term), 4, RECORD, PURE, 1, SUMS},
    {AT(density_relaxation), 1, PLANES, PURE, 0, SUMS},
    {AT(density_near_sum), 1, PLANES, PURE, 0, SUMS},
    {AT(bound_sum), 1, PLANES, PURE, 1, SUMS},
    {AT(rho), 1, PLANES, PURE, 0, SUMS},
    {AT(density_diagonal), 1, PLANES, PURE, 0, SUMS},
    {AT(density_row_sum), 1, PLANES, PURE, 0, SUMS},
    {AT(zero_energy_gate), 1, PLANES, PURE, 0, SUMS},
    {AT(dilation), 1, PLANES, PURE, 0, SUMS},
    {AT(precond_eigenvalues), 4, BLOCKS, PURE, 0, INVERSE},
    {AT(neighbours), 1, PLANES, PURE, 0, BITS},
    {AT(temperature), 1, PLANES, PURE, 0, 1e-5,
     "a hundredth of it is exchanged, by stored weights"},
    {AT(melt), 1, PLANES, PURE, 0, SUMS},
    {AT(pressure), 1, PLANES, PURE, 0, INVERSE},
    {AT(density_pressure), 1, PLANES, PURE, 0, INVERSE},
    {AT(reference), 3, PLANES, PURE, 0, INVERSE},
    {AT(relaxation_time), 1, PLANES, PURE, 0, SUMS},
    {AT(viscosity), 1, PLANES, PURE, 0, SUMS},
    {AT(density), 1, PLANES, PURE, 0, SUMS},
    {AT(compliance), 1, PLANES, PURE, 0, SUMS},
    {AT(shear_rate), 1, PLANES, PURE, 0, INVERSE},
    {AT(second_stretch), 6, PLANES, PURE, 0, INVERSE},
    {AT(carried), 6, PLANES, PURE, 0, INVERSE},
};
/* Moved from one build to the other, not compared as they are: precond_rotation and the first three
 * planes of precond_eigenvalues are compared as the matrix that they stand for; the others no stage
 * writes. */
static const array carried[] = {{AT(precond_rotation), 4, BLOCKS, PURE, 0, BITS},
                                {AT(force), 3, PLANES, PURE, 0, BITS}};
enum { ARRAYS = sizeof arrays / sizeof *arrays, CARRIED = sizeof carried / sizeof *carried };
/* All pointers to particle arrays, to be translated from one build to the other. */
static const size_t pointers[] = {
#define P(m) offsetof(oz_frame, m)
    P(x),
    P(u),
    P(q),
    P(material),
    P(rank),
    P(id),
    P(omega),
    P(a),
    P(y),
    P(y2),
    P(p),
    P(dx),
    P(u2),
    P(A),
    P(K),
    P(B),
    P(gradient_sum),
    P(precond_rotation),
    P(precond_eigenvalues),
    P(lam),
    P(cg_residual),
    P(cg_direction),
    P(cg_applied),
    P(rotation),
    P(density_relaxation),
    P(density_near_sum),
    P(density_step),
    P(density_push),
    P(bound_sum),
    P(rho),
    P(density_diagonal),
    P(density_row_sum),
    P(zero_energy_gate),
    P(dilation),
    P(wall_term),
    P(neighbours),
    P(soft_gradient)};
/* Those of optional fields, which are not in the block and change places with none. */
static const size_t optional[] = {
#define OZ_FIELD(name, member, words, layout)
#define OZ_OPTIONAL(name, member, words, layout, fallback) P(member),
#define OZ_RESULT OZ_FIELD
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
#undef OZ_RESULT
};

static float *pointer(const oz_frame *f, size_t member) {
  float *p;
  memcpy(&p, (const char *)f + member, sizeof p);
  return p;
}

/* ---- the double backend ------------------------------------------------------------------ */

typedef struct twin {
  oz_backend base;
  oz_cpu *plain, *vector;
  oz_frame lists; /* the vector build's own lists */
  oz_wall *wall;
  float *impulse;
  oz_wall_row *row;
  oz_wall_slip *slip;
  uint32_t *planes, *particle;
  uint64_t ran[OZ_STAGE_COUNT];
  double worst[OZ_STAGE_COUNT]; /* difference over tolerance */
  /* share of values whose difference is more than a fiftieth of it */
  double coarse[OZ_STAGE_COUNT];
  float *before[ARRAYS]; /* the values with which both started the stage */
  const char *scene;
  uint32_t rebuilt, filtered; /* density lists */
  uint64_t links, loads;
  /* by which a single value may exceed its tolerance: 1 but for scenes of ill-conditioned cases */
  double slack;
} twin;
#define TWIN(b) ((twin *)(void *)(b))

/* f, as the vector build must see it: same constants and swaps, its own memory. */
static void translate(twin *t, const oz_frame *f, oz_frame *g) {
  *g = *f;
  for (size_t k = 0; k < sizeof pointers / sizeof *pointers; ++k) {
    ptrdiff_t offset = (char *)pointer(f, pointers[k]) - (char *)t->plain->block;
    char *there = (char *)t->vector->block + offset;
    memcpy((char *)g + pointers[k], &there, sizeof there);
  }
  for (size_t k = 0; k < sizeof optional / sizeof *optional; ++k)
    memcpy((char *)g + optional[k], (const char *)&t->vector->arrays + optional[k],
           sizeof(float *));
  if (f->carried && f->q == t->plain->arrays.carried) /* the projections of a law of flow */
    g->q = t->vector->arrays.carried, g->carried = t->vector->arrays.q;
  const oz_frame *own = &t->lists;
  g->start_list_x = f->start_list_x == f->A ? g->A : g->x;
  g->start = f->start == f->p ? g->p : g->x;
  g->start_entries = own->start_entries, g->start_row = own->start_row,
  g->start_length = own->start_length;
  for (int k = 0; k < 2; ++k)
    g->density_entries[k] = own->density_entries[k], g->density_row[k] = own->density_row[k],
    g->density_length[k] = own->density_length[k];
  g->pad_weight = own->pad_weight;
  oz_cpu_links_frame(t->vector, g);
  g->scalar = t->vector->scalar;
  g->body_state = t->vector->body_state, g->member = t->vector->member;
  g->wall = t->wall, g->wall_impulse = t->impulse, g->wall_planes = t->planes,
  g->wall_particle = t->particle, g->wall_row = t->row; /* contact_of: of both */
  g->wall_slip = t->plain->has_slip ? t->slip : NULL;
  g->load = t->vector->load;
}

static void copy_array(const array *a, const oz_frame *from, const oz_frame *to) {
  float *dst = pointer(to, a->member);
  const float *src = pointer(from, a->member);
  memcpy(dst, src, (size_t)from->stride * a->words * sizeof *dst);
}
static void copy_state(twin *t, const oz_frame *f, const oz_frame *g) {
  for (int k = 0; k < ARRAYS; ++k) copy_array(&arrays[k], f, g);
  for (int k = 0; k < CARRIED; ++k) copy_array(&carried[k], f, g);
  memcpy(t->vector->scalar, t->plain->scalar, sizeof t->plain->scalar);
  if (f->body_count) memcpy(g->body_state, f->body_state, f->body_count * sizeof *f->body_state);
  if (f->member_count) memcpy(g->member, f->member, f->member_count * sizeof *f->member);
  if (!f->wall_count) return;
  memcpy(t->wall, f->wall, f->wall_count * f->contact_planes * sizeof *f->wall);
  memcpy(t->impulse, f->wall_impulse,
         f->wall_count * f->contact_planes * 3 * sizeof *f->wall_impulse);
  memcpy(t->planes, f->wall_planes, f->wall_count * sizeof *f->wall_planes);
  memcpy(t->row, f->wall_row, f->wall_count * sizeof *f->wall_row);
  if (f->wall_slip) memcpy(t->slip, f->wall_slip, f->wall_count * sizeof *f->wall_slip);
  memcpy(t->particle, f->wall_particle, f->wall_count * sizeof *f->wall_particle);
  /* but for the groups of rows, which each build has its own */
  for (uint32_t k = 0; f->has_loads && f->load && g->load && k < f->wall_count; ++k) {
    uint32_t own[4];
    memcpy(own, g->load[k].near, sizeof own);
    g->load[k] = f->load[k];
    memcpy(g->load[k].near, own, sizeof own);
  }
}

static void compare(twin *t, const char *stage, const char *name, uint32_t i, uint32_t c,
                    double one, double other, double size, double tolerance, const char *why,
                    double *worst) {
  double off = fabs(one - other) / (tolerance * size);
  if (off > *worst) *worst = off;
  CHECK(isfinite(one) && isfinite(other), "%s, %s: %s[%u].%u: scalar %.9g, vector %.9g", t->scene,
        stage, name, i, c, one, other);
  CHECK(off <= 1, "%s, %s: %s[%u].%u: scalar %.9g, vector %.9g, allowed %.3g of %.3g (%s)",
        t->scene, stage, name, i, c, one, other, tolerance, size, why);
}

static double block(const oz_block *a, int words, int c, uint32_t i) {
  return (double)a[(size_t)(i / OZ_PAD) * (size_t)words + (size_t)c].v[i % OZ_PAD];
}

/* The preconditioner's matrix U diag(e) U^T: the frame alone is not unique. */
static double frame_matrix(const oz_frame *f, uint32_t i, int r, int c) {
  double q[4], e[3];
  for (int k = 0; k < 4; ++k) q[k] = block(f->precond_rotation, 4, k, i);
  for (int k = 0; k < 3; ++k) e[k] = block(f->precond_eigenvalues, 4, k, i);
  double x = q[0], y = q[1], z = q[2], w = q[3];
  double m[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                    {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                    {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
  double sum = 0;
  for (int k = 0; k < 3; ++k) sum += m[r][k] * e[k] * m[c][k];
  return sum;
}

/* A tensor that grew this far within one substep came through an inverse near its pole: nothing can
 * be said of it. */
static int stretched(const oz_frame *f, uint32_t i) {
  return f->q[i] + f->q[f->stride + i] + f->q[2 * (size_t)f->stride + i] > 9;
}

/* Where component c of particle i lies. */
static size_t word(const array *a, const oz_frame *f, uint32_t i, uint32_t c) {
  return a->layout == RECORD   ? (size_t)i * a->words + c
         : a->layout == BLOCKS ? ((size_t)(i / OZ_PAD) * a->words + c) * OZ_PAD + i % OZ_PAD
                               : (size_t)c * f->stride + i;
}

/* Whether another array's padding may lie at a word. */
static int in_padding(const array *a, const oz_frame *f, size_t at) {
  if (!a->shared) return 0;
  /* all that lies over r, pp and aq, in planes from r on (cpu/arrays.c) */
  static const struct {
    uint32_t first, words, blocks;
  } over[] = {{0, 1, 0}, {0, 6, 1}, {6, 6, 1},  {12, 6, 1}, {0, 4, 1},
              {0, 4, 0}, {6, 4, 0}, {10, 4, 0}, {14, 4, 0}};
  const float *from = (const float *)(const void *)f->cg_residual,
              *here = pointer(f, a->member) + at;
  /* y and y2 change places */
  if (here < from || here >= from + 18 * (size_t)f->stride) return 0;
  for (size_t k = 0; k < sizeof over / sizeof *over; ++k) {
    const size_t first = over[k].first * (size_t)f->stride, off = (size_t)(here - from) - first;
    if ((size_t)(here - from) < first || off >= over[k].words * (size_t)f->stride) continue;
    const size_t particle = over[k].blocks ? off / (over[k].words * OZ_PAD) * OZ_PAD + off % OZ_PAD
                                           : off / over[k].words;
    /* of passed-by boundary particles too */
    if (particle >= (f->skip_boundary ? f->fluid : f->count)) return 1;
  }
  return 0;
}
/* Vectors and their fourth component have sizes of their own. */
static int group(const array *a, uint32_t c) { return a->words == 4 && c == 3; }

static void compare_array(twin *t, const oz_frame *f, const oz_frame *g, int k, oz_stage stage) {
  const array by_strain = {AT(a), 1, PLANES, PURE, 0, INVERSE}; /* elsewhere no sum is in it */
  /* oz_drawn_of divides differences of eigenvalues by 0.02 */
  const array by_eigenvalues = {AT(a), 1, PLANES, PURE, 0, 1e-5, "a few roundings, over 0.02"};
  const array *a = arrays[k].member != by_strain.member ? &arrays[k]
                   : stage == OZ_STAGE_resist           ? &by_strain
                   : stage == OZ_STAGE_velocity_start   ? &by_eigenvalues
                                                        : &arrays[k];
  const char *name = oz_stage_names[stage];
  const float *p = pointer(f, a->member), *q = pointer(g, a->member), *was = t->before[k];
  /* root mean square: the largest would hide the rest */
  double size[2] = {1e-60, 1e-60};
  uint32_t written[2] = {0, 0}, coarse = 0;
  /* boundary particles that are passed by: the vector that holds the last of the fluid writes some
   * of them all the same */
  const uint32_t count = f->skip_boundary ? f->fluid : f->count;
  if (a->tolerance == 0) {
    for (uint32_t i = 0; i < f->count; ++i)
      CHECK(memcmp(p + i, q + i, 4) == 0, "%s, %s: %s[%u] differs", t->scene, name, a->name, i);
    return;
  }
  int frames = a->member == offsetof(oz_frame, precond_eigenvalues);
  int tensor = a->member == offsetof(oz_frame, q);
#define EACH_WRITTEN_WORD                                                                 \
  for (uint32_t c = frames ? 3 : 0; c < a->words; ++c)                                    \
    for (uint32_t i = 0; i < count; ++i) {                                                \
      const size_t at = word(a, f, i, c);                                                 \
      if (memcmp(p + at, was + at, 4) == 0 && memcmp(q + at, was + at, 4) == 0) continue; \
      if (in_padding(a, f, at)) continue;                                                 \
      if (tensor && stretched(f, i)) continue;                                            \
      double one = (double)p[at], other = (double)q[at];
  EACH_WRITTEN_WORD
  if (isfinite(one)) size[group(a, c)] += one * one;
  written[group(a, c)]++;
  (void)other;
}
/* an iteration that has converged leaves roundings of cancelled terms: nothing below 1e-7
 * separations matters */
double unit = a->unit == METRES ? (double)f->d : a->unit == SPEED ? (double)(f->d * f->inv_dt) : 1;
/* shape matching carries whole positions, not displacements */
double least = stage >= OZ_STAGE_blend_match && stage <= OZ_STAGE_blend_load ? 1e-2 : 1e-7;
for (int n = 0; n < 2; ++n)
  size[n] = fmax(least * unit, sqrt(size[n] / (written[n] ? written[n] : 1)));
EACH_WRITTEN_WORD
double scale = fmax(size[group(a, c)], fabs(one));
compare(t, name, a->name, i, c, one, other, scale, t->slack * a->tolerance, a->why,
        &t->worst[stage]);
coarse += fabs(one - other) > fmax(3e-7, (t->slack > 1 ? 1 : 0.02) * a->tolerance) * scale;
}
double share = (double)coarse / (written[0] + written[1] + 1.0);
if (share > t->coarse[stage]) t->coarse[stage] = share;
/* the printed method's second iteration is the remainder of C + a lam after the first has made them
 * cancel */
double most = f->scheme == OOZE_SCHEME_PAPER ? 0.3 : 0.03;
CHECK(share < most, "%s, %s: %s: %.3f of the values differ by more than a few roundings", t->scene,
      name, a->name, share);
}

static void compare_walls(twin *t, const oz_frame *f, const oz_frame *g, oz_stage stage) {
  static const char *const why =
      "scalar code in both, compiled for another machine, on sums that differ";
  const char *name = oz_stage_names[stage];
  double *worst = &t->worst[stage];
  if (stage < OZ_STAGE_wall_planes) return;
  for (uint32_t k = 0; k < f->wall_count; ++k) {
    if (stage == OZ_STAGE_wall_rows)
      for (uint32_t c = 0; c < 3; ++c) {
        const oz_wall_row *a = f->wall_row + k, *b = g->wall_row + k;
        compare(t, name, "row w", k, c, (double)a->w[c], (double)b->w[c], 1, 1e-3, why, worst);
        compare(t, name, "row b w", k, c, (double)(a->b * a->w[c]), (double)(b->b * b->w[c]), 1,
                1e-3, why, worst);
        compare(t, name, "row sucks", k, c, (double)(a->sucks * a->w[c]),
                (double)(b->sucks * b->w[c]), 1, 1e-3, why, worst);
        compare(t, name, "points ghat", k, c, (double)a->points_g[c], (double)b->points_g[c], 1,
                1e-3, why, worst);
        compare(t, name, "points u", k, c, (double)a->points_u[c], (double)b->points_u[c],
                fmax(0.01, fabs((double)a->points_u[c])), 1e-3, why, worst);
        compare(t, name, "points film", k, c, (double)(a->points_film * a->points_g[c]),
                (double)(b->points_film * b->points_g[c]), 1, 2e-2,
                "a film is told from deep fluid by a difference of sums", worst);
      }
    for (uint32_t c = 0; stage == OZ_STAGE_wall_rows && f->wall_slip && c < 6; ++c) {
      const oz_wall_slip *a = f->wall_slip + k, *b = g->wall_slip + k;
      CHECK((a->part > 0.0f) == (b->part > 0.0f), "contact %u slips in one build", k);
      if (!(a->part > 0.0f)) break;
      compare(t, name, "slip", k, c, (double)a->part, (double)b->part, 1, 1e-3, why, worst);
      compare(t, name, "slip N", k, c, (double)a->across[c], (double)b->across[c], 1, 1e-3, why,
              worst);
      compare(t, name, "slip B", k, c, (double)a->held[c], (double)b->held[c], 1, 1e-3, why, worst);
      compare(t, name, "free B", k, c, (double)a->free[c], (double)b->free[c], 1, 1e-3, why, worst);
    }
    CHECK(f->wall_planes[k] == g->wall_planes[k],
          "%s, %s: slot %u has %u walls, %u in the vector build", t->scene, name, k,
          f->wall_planes[k], g->wall_planes[k]);
    for (uint32_t m = k * f->contact_planes; m < k * f->contact_planes + f->wall_planes[k]; ++m) {
      const oz_wall *a = &f->wall[m], *b = &g->wall[m];
      CHECK(a->collider == b->collider && a->active == b->active && a->dense == b->dense,
            "%s, %s: slot %u: collider %u, active %u, dense %u; %u, %u, %u in the vector build",
            t->scene, name, k, a->collider, a->active, a->dense, b->collider, b->active, b->dense);
      for (uint32_t c = 0; c < 3; ++c) {
        const float *one = f->wall_impulse + 3 * (size_t)m, *two = g->wall_impulse + 3 * (size_t)m;
        compare(t, name, "wall n", k, c, (double)a->n[c], (double)b->n[c], 1, 1e-4, why, worst);
        compare(t, name, "wall u", k, c, (double)a->u[c], (double)b->u[c],
                fmax(0.01, fabs((double)a->u[c])), 1e-3, why, worst);
        compare(t, name, "wall t", k, c, (double)a->t[c], (double)b->t[c],
                fmax(0.01 * (double)f->d, fabs((double)a->t[c])), 1e-3, why, worst);
        compare(t, name, "wall impulse", k, c, (double)one[c], (double)two[c],
                fmax(1e-6,
                     fmax(fabs((double)one[0]), fmax(fabs((double)one[1]), fabs((double)one[2])))),
                1e-3, why, worst);
      }
      compare(t, name, "wall s", k, 0, (double)a->s, (double)b->s, (double)f->d, 1e-4, why, worst);
      compare(t, name, "wall keep", k, 0, (double)a->keep, (double)b->keep, 1, 1e-3, why, worst);
      compare(t, name, "wall press", k, 0, (double)a->press, (double)b->press,
              fmax(0.1, fabs((double)a->press)), 2e-3, why, worst);
    }
  }
}

/* Loads of boundary particles, and their sums: each within a part of the greatest.
 */
static void compare_loads(twin *t, const oz_frame *f, const oz_frame *g, oz_stage stage) {
  double most[OZ_LOAD_SUMS] = {0};
  if (!f->has_loads || stage < OZ_STAGE_load_start || stage > OZ_STAGE_load_mps_move) return;
  for (uint32_t k = 0; k < f->wall_count; ++k) {
    CHECK(f->load[k].count == g->load[k].count,
          "%s, %s: slot %u touches %u boundaries, %u in the vector build", t->scene,
          oz_stage_names[stage], k, f->load[k].count, g->load[k].count);
    for (uint32_t m = 0; m < f->load[k].count; ++m)
      for (int c = 0; c < OZ_LOAD_SUMS; ++c)
        most[c] = fmax(most[c], fabs((double)f->load[k].sum[m][c]));
  }
  for (uint32_t k = 0; k < f->wall_count; ++k)
    for (uint32_t m = 0; m < f->load[k].count; ++m) {
      CHECK_EQ(f->load[k].handle[m], g->load[k].handle[m]);
      t->loads += most[0] > 0;
      for (uint32_t c = 0; c < OZ_LOAD_SUMS; ++c)
        compare(t, oz_stage_names[stage], "load", k, c, (double)f->load[k].sum[m][c],
                (double)g->load[k].sum[m][c],
                fmax(most[c], c < 3 ? (stage == OZ_STAGE_load_link_pull ? 1e-2 : 1e-5) *
                                          (double)(f->m_ref * f->d * f->inv_dt)
                                    : 1e-9),
                1e-3, "sums of a few terms that differ by roundings", &t->worst[stage]);
    }
}

static void compare_all(twin *t, const oz_frame *f, const oz_frame *g, oz_stage stage) {
  const char *name = oz_stage_names[stage];
  double *worst = &t->worst[stage];
  for (int k = 0; k < ARRAYS; ++k) compare_array(t, f, g, k, stage);
  if (stage == OZ_STAGE_conform_update || stage == OZ_STAGE_law_update ||
      stage == OZ_STAGE_paper_update) {
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < f->count; ++i) left_out += (uint32_t)stretched(f, i);
    CHECK(left_out < f->count / (t->slack > 1 ? 3 : 8),
          "%s, scheme %u: %u of %u tensors are too stretched to compare", t->scene, f->scheme,
          left_out, f->count);
  }
  if (stage == OZ_STAGE_bound)
    for (uint32_t i = 0; i < f->count; ++i)
      for (int c = 0; c < 9; ++c) {
        double one = frame_matrix(f, i, c / 3, c % 3), other = frame_matrix(g, i, c / 3, c % 3);
        double size = fabs(block(f->precond_eigenvalues, 4, 0, i)) +
                      fabs(block(f->precond_eigenvalues, 4, 1, i)) +
                      fabs(block(f->precond_eigenvalues, 4, 2, i));
        compare(t, name, "precond_rotation precond_eigenvalues", i, (uint32_t)c, one, other,
                fmax(size, 0.04 * (double)f->t_ref), 1e-3, "a frame found by iteration", worst);
      }
  /* hundreds of particles on one point have their rows cut short, each build where its own order
   * says */
  int cut = t->slack > 1 && stage >= OZ_STAGE_mps_density && stage <= OZ_STAGE_mps_direction;
  for (int k = 0; k < OZ_SCALAR_COUNT && !cut; ++k)
    compare(t, name, "scalar", (uint32_t)k, 0, f->scalar[k], g->scalar[k],
            fmax(fabs(f->scalar[k]), 1e-20), 1e-4, "a sum over all particles", worst);
  compare_walls(t, f, g, stage);
  compare_loads(t, f, g, stage);
}

static ooze_result twin_run(oz_backend *b, const oz_frame *f, oz_stage stage, double *sums,
                            ooze_message *why) {
  twin *t = TWIN(b);
  oz_frame g;
  translate(t, f, &g);
  copy_state(t, f, &g);
  for (int k = 0; k < ARRAYS; ++k)
    memcpy(t->before[k], pointer(f, arrays[k].member),
           (size_t)f->stride * arrays[k].words * sizeof(float));
  OZ_TRY(t->plain->base.table->run(&t->plain->base, f, stage, sums, why));
  OZ_TRY(t->vector->base.table->run(&t->vector->base, &g, stage, NULL, why));
  t->ran[stage] += f->count;
  compare_all(t, f, &g, stage);
  return OOZE_OK;
}

static void twin_frame(oz_backend *b, oz_frame *f) {
  oz_cpu *plain = TWIN(b)->plain, *vector = TWIN(b)->vector;
  oz_frame g;
  plain->base.table->frame(&plain->base, f);
  vector->base.table->frame(&vector->base, &g);
  CHECK_EQ(f->count, g.count);
  CHECK_EQ(f->stride, g.stride);
}

static ooze_result twin_sort(oz_backend *b, oz_frame *f, ooze_message *why) {
  twin *t = TWIN(b);
  oz_frame g;
  translate(t, f, &g);
  copy_state(t, f, &g);
  memcpy(g.id, f->id, f->count * sizeof *f->id);
  memcpy(g.material, f->material, f->count * 4);
  OZ_TRY(t->plain->base.table->sort(&t->plain->base, f, why));
  OZ_TRY(t->vector->base.table->sort(&t->vector->base, &g, why));
  for (uint32_t i = 0; i < f->count; ++i) CHECK_EQ(f->id[i], g.id[i]);
  return OOZE_OK;
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}
/* The neighbours of one row without the padding, which repeats the particle itself. */
static uint32_t row(uint32_t i, const uint16_t *list, const uint32_t *rows, const uint16_t *lengths,
                    uint32_t *out, uint32_t n) {
  for (uint32_t k = 0; list && k < lengths[i]; ++k) {
    const oz_row r = oz_row_of(list, rows, i);
    oz_row_j(&r, k, 1, out + n);
    n += out[n] != i;
  }
  return n;
}
static void compare_rows(const char *name, uint32_t i, uint32_t *a, uint32_t na, uint32_t *b,
                         uint32_t nb) {
  qsort(a, na, sizeof *a, by_number);
  qsort(b, nb, sizeof *b, by_number);
  CHECK(na == nb && memcmp(a, b, na * sizeof *a) == 0,
        "%s of particle %u: %u entries, the vector build has %u or others", name, i, na, nb);
}

/* A pair that is at h to the last bits is in one build's list and not in the other's where only one
 * of them multiplies and adds in one rounding. Moves such a particle a little, and says so: the
 * lists are to be made again. */
static int move_off_the_edge(const oz_frame *f, const oz_frame *g) {
  uint32_t one[1024], two[1024];
  for (uint32_t i = 0; i < f->count; ++i) {
    if (f->neighbours[i] == g->neighbours[i]) continue;
    const uint32_t n = row(i, f->start_entries, f->start_row, f->start_length, one, 0),
                   m = row(i, g->start_entries, g->start_row, g->start_length, two, 0);
    uint32_t *more = n > m ? one : two, *less = n > m ? two : one, k = 0;
    qsort(one, n, sizeof *one, by_number);
    qsort(two, m, sizeof *two, by_number);
    /* the first that the shorter one lacks */
    while (k < (n < m ? n : m) && more[k] == less[k]) ++k;
    float *a = (float *)(uintptr_t)(f->start_list_x + 4 * (size_t)i);
    const float *c = f->start_list_x + 4 * (size_t)more[k];
    const double r2 = pow(a[0] - c[0], 2) + pow(a[1] - c[1], 2) + pow(a[2] - c[2], 2);
    CHECK(fabs(r2 / f->start_list_radius2 - 1.0) < 1e-5,
          "particles %u and %u are %g of the reach apart, and one build lists them", i, more[k],
          sqrt(r2 / f->start_list_radius2));
    a[0] += 1e-3f * f->d;
    return 1;
  }
  return 0;
}
static ooze_result twin_lists(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why) {
  twin *t = TWIN(b);
  oz_build_result other = {0, 0};
  uint32_t one[1024], two[1024];
  oz_frame g;
  int tries = 0;
  do {
    translate(t, f, &g);
    copy_state(t, f, &g);
    OZ_TRY(t->plain->base.table->lists(&t->plain->base, f, out, why));
    OZ_TRY(t->vector->base.table->lists(&t->vector->base, &g, &other, why));
  } while (tries++ < 8 && move_off_the_edge(f, &g));
  t->lists = g;
  for (uint32_t i = 0; i < f->count; ++i) {
    CHECK_EQ(f->neighbours[i], g.neighbours[i]);
    compare_rows("list", i, one, row(i, f->start_entries, f->start_row, f->start_length, one, 0),
                 two, row(i, g.start_entries, g.start_row, g.start_length, two, 0));
  }
  CHECK_NEAR(other.mean_neighbours, out->mean_neighbours, 0, "the same lists");
  return OOZE_OK;
}

/* Entries that one of two sorted rows has alone must be beyond h at p: rows reach a little further,
 * and a particle just there is rounded one way or the other. */
static void compare_reach(const oz_frame *f, uint32_t i, uint32_t *a, uint32_t na, uint32_t *b,
                          uint32_t nb) {
  qsort(a, na, sizeof *a, by_number);
  qsort(b, nb, sizeof *b, by_number);
  for (uint32_t m = 0, n = 0; m < na || n < nb;) {
    if (m < na && n < nb && a[m] == b[n]) {
      ++m, ++n;
      continue;
    }
    const uint32_t j = n >= nb || (m < na && a[m] < b[n]) ? a[m++] : b[n++];
    double r2 = 0;
    for (uint32_t c = 0; c < 3; ++c)
      r2 += pow((double)f->p[4 * (size_t)i + c] - (double)f->p[4 * (size_t)j + c], 2);
    CHECK(sqrt(r2) > 1.0001 * (double)f->h,
          "density list: only one build has %u beside %u, %g h away", j, i,
          sqrt(r2) / (double)f->h);
  }
}

static ooze_result twin_density_list(oz_backend *b, oz_frame *f, oz_build_result *out,
                                     ooze_message *why) {
  twin *t = TWIN(b);
  oz_build_result other = {0, 0};
  uint32_t one[1024], two[1024];
  oz_frame g;
  translate(t, f, &g);
  copy_state(t, f, &g);
  OZ_TRY(t->plain->base.table->density_list(&t->plain->base, f, out, why));
  OZ_TRY(t->vector->base.table->density_list(&t->vector->base, &g, &other, why));
  CHECK_EQ(out->rebuilt, other.rebuilt);
  t->rebuilt += out->rebuilt, t->filtered += !out->rebuilt;
  t->lists = g;
  for (uint32_t i = 0; i < f->count; ++i) {
    uint32_t na = row(i, f->density_entries[0], f->density_row[0], f->density_length[0], one, 0),
             nb = row(i, g.density_entries[0], g.density_row[0], g.density_length[0], two, 0);
    na = row(i, f->density_entries[1], f->density_row[1], f->density_length[1], one, na),
    nb = row(i, g.density_entries[1], g.density_row[1], g.density_length[1], two, nb);
    compare_reach(f, i, one, na, two, nb);
  }
  return OOZE_OK;
}

/* The same links in the same order; then the vector build gets the scalar one's lengths, so that
 * the next stage is judged by itself. */
static ooze_result twin_links(oz_backend *b, oz_frame *f, uint32_t rule, ooze_message *why) {
  twin *t = TWIN(b);
  oz_frame g;
  translate(t, f, &g);
  copy_state(t, f, &g);
  OZ_TRY(t->plain->base.table->links_update(&t->plain->base, f, rule, why));
  OZ_TRY(t->vector->base.table->links_update(&t->vector->base, &g, rule, why));
  for (uint32_t i = 0; i < f->count; ++i) {
    CHECK(f->link_len[i] == g.link_len[i], "%s: particle %u has %u links, %u in the vector build",
          t->scene, i, f->link_len[i], g.link_len[i]);
    for (uint32_t k = 0; k < f->link_len[i]; ++k) {
      const uint32_t e = f->link_row[i] + k, w = g.link_row[i] + k;
      CHECK(f->link_j[e] == g.link_j[w] && f->link_kind[e] == g.link_kind[w], "%s: link %u of %u",
            t->scene, k, i);
      CHECK_NEAR(g.link_rest[w], f->link_rest[e], 1e-6 * (double)f->h, "a few roundings");
      memcpy(&t->vector->links[t->vector->links_now].rest[w], &f->link_rest[e], 4);
    }
    t->links += f->link_len[i];
  }
  return OOZE_OK;
}

static ooze_result twin_walls(oz_backend *b, oz_frame *f, ooze_message *why) {
  twin *t = TWIN(b);
  oz_frame g;
  translate(t, f, &g);
  copy_state(t, f, &g);
  OZ_TRY(t->plain->base.table->walls(&t->plain->base, f, why));
  OZ_TRY(t->vector->base.table->walls(&t->vector->base, &g, why));
  CHECK_EQ(f->wall_count, g.wall_count);
  for (uint32_t k = 0; k < f->wall_count; ++k) CHECK_EQ(f->wall_particle[k], g.wall_particle[k]);
  return OOZE_OK;
}

static const oz_backend_table twin_table = {.name = "twin",
                                            .frame = twin_frame,
                                            .sort = twin_sort,
                                            .lists = twin_lists,
                                            .density_list = twin_density_list,
                                            .walls = twin_walls,
                                            .links_update = twin_links,
                                            .run = twin_run};

#endif
