/* How the iterations of a step are best divided between its two phases. SPDX-License-Identifier:
 * Apache-2.0
 *
 * Table 1 of Barreiro et al. 2017 gives one number of iterations a step; how many of them project
 * velocities and how many positions is ours (bench_scenes.c). Here its scenes, with fewer
 * particles, are followed by a run that converges, and every few steps all divisions of the paper's
 * number start from one and the same state of it and take a few steps, so that they part from it by
 * their unsolved residual and not by chaos. Density errors may gather over many steps: each
 * division also goes on alone for a while, and there only densities are looked at. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_scenes.h"
#include "check.h"

enum {
  SPLITS = 5,
  VELOCITIES = SPLITS, /* velocities converged, half of all iterations for positions */
  POSITIONS,           /* the other way round: together they tell which phase lacks iterations */
  /* twice as many as in the reference: is that converged? One window, or all of the quick scene */
  TWICE,
  DIVISIONS,
  WINDOW = 4, /* steps */
  BETWEEN = 4,
  LOOKS = 6 /* of the divisions that go on alone, in the latter half of it */
};

typedef struct division_set {
  const char *name, *scene; /* the bench's, whose step and iterations it has */
  uint32_t particles;       /* of the bench's scene */
  /* Pa s; 0: the bench's scene. Else poured from a nozzle: a pile moves too little */
  double viscosity;
  double separation;      /* m, of the poured stream */
  uint32_t settle, alone; /* steps until it moves as it should; steps that each goes on alone */
  /* times the number of iterations, in each phase, to measure against */
  uint32_t many;
  /* positions go on moving a little up to the 1,000 iterations that there may be */
  int creeps;
  uint32_t velocity[SPLITS]; /* the divisions; the first is half of all */
} division_set;
static const division_set sets[] = {
    {"coiling", "coiling", 0, 300.0, 0.004, 150, 60, 8, 1, {20, 13, 24, 27, 30}},
    {"blocks", "blocks", 3087, 0.0, 0.0, 50, 60, 10, 0, {10, 7, 12, 13, 15}},
    {"honey", "honey", 0, 100.0, 0.003, 150, 60, 10, 0, {5, 3, 6, 7, 8}},
    {"honey-warm", "honey-warm", 0, 10.0, 0.004, 150, 60, 10, 0, {5, 3, 6, 7, 8}},
    {"interactive", "interactive", 3000, 0.0, 0.0, 80, 60, 10, 0, {4, 3, 5, 6, 7}},
};
/* 576 particles in two windows passed or failed by the step that they began with */
static const division_set quick = {"quick-blocks",     "blocks", 1536, 0.0, 0.0, 60, 48, 10, 0,
                                   {10, 7, 12, 13, 15}};

/* ---- the end of a window ---- */

typedef struct picture {
  uint32_t count, capacity;
  float (*x)[3], (*v)[3], (*q)[6], *compression;
} picture;

static int picture_grow(picture *p, uint32_t count) {
  if (count <= p->capacity) return 1;
  if (!kit_resize((void **)&p->x, count * sizeof *p->x) ||
      !kit_resize((void **)&p->v, count * sizeof *p->v) ||
      !kit_resize((void **)&p->q, count * sizeof *p->q) ||
      !kit_resize((void **)&p->compression, count * sizeof *p->compression))
    return 0;
  p->capacity = count;
  return 1;
}
static void picture_drop(picture *p) {
  free(p->x);
  free(p->v);
  free(p->q);
  free(p->compression);
}

/* Compression of particles that are not at a surface: mean over looks, and the greatest. */
typedef struct squeeze {
  double looks, sum, most;
} squeeze;
static void squeeze_add(squeeze *s, const picture *p) {
  measure_body b;
  measure((measure_points)p->x, (measure_points)p->v, p->compression, p->count, &b);
  s->sum += b.mean_compression;
  s->most = fmax(s->most, b.max_compression);
  s->looks += 1.0;
}

/* How far windows end from the converged ones, in sums over particles and windows. */
typedef struct division {
  double n, x2, x_max; /* m^2, m */
  double v2, speed2;   /* (m/s)^2: of the difference, of the converged velocity */
  double q2, strain2;  /* the same of the conformation, and of its difference from identity */
  squeeze windows, alone;
} division;

static void compare(division *d, const picture *p, const picture *truth) {
  for (uint32_t i = 0; i < p->count && p->count == truth->count; ++i) {
    double x2 = 0.0;
    for (int a = 0; a < 3; ++a) {
      x2 += pow((double)p->x[i][a] - (double)truth->x[i][a], 2);
      d->v2 += pow((double)p->v[i][a] - (double)truth->v[i][a], 2);
      d->speed2 += pow((double)truth->v[i][a], 2);
    }
    for (int a = 0; a < 6; ++a) {
      const double twice = a < 3 ? 1.0 : 2.0; /* xy stands for yx too */
      d->q2 += twice * pow((double)p->q[i][a] - (double)truth->q[i][a], 2);
      d->strain2 += twice * pow((double)truth->q[i][a] - (a < 3 ? 1.0 : 0.0), 2);
    }
    d->x2 += x2;
    d->x_max = fmax(d->x_max, sqrt(x2));
    d->n += 1.0;
  }
  squeeze_add(&d->windows, p);
}

/* ---- a scene ---- */

typedef struct run {
  kit k;
  const bench_scene *scene;
  uint32_t particles, step; /* asked for; of the scene */
} run;

static void build(run *r, const verify *v, const division_set *set) {
  if (!(set->viscosity > 0.0)) {
    kit_open(&r->k, verify_machine(v), r->scene->separation);
    r->scene->build(&r->k, r->particles);
    return;
  }
  /* nozzle, speed and height of fig5; relaxation time of the bench's coiling */
  kit_open(&r->k, verify_machine(v), set->separation);
  kit_floor(&r->k, 1.0);
  uint32_t material =
      kit_fluid(&r->k, set->viscosity, strcmp(set->scene, "coiling") == 0 ? 0.15 : 0.0);
  kit_nozzle(&r->k, material, 0.25, 0.01, 0.5, 0.01, 0.0, 1);
}

static void advance(run *r, uint32_t velocity, uint32_t position, uint32_t steps) {
  kit_iterations(&r->k, velocity, position);
  for (uint32_t i = 0; i < steps && kit_good(&r->k); ++i, ++r->step) {
    if (r->scene->before_step) r->scene->before_step(&r->k, r->particles, r->step, r->scene->dt);
    kit_step(&r->k, r->scene->dt, 1);
  }
}

/* The solver tells densities as they were before its last iteration moved particles. A step of no
 * length that begins here tells them as they are; a run that goes on from here loads the state
 * again. */
static int look(run *r, picture *p) {
  kit_read(&r->k);
  if (!kit_good(&r->k)) return 0;
  if (!picture_grow(p, r->k.count)) {
    r->k.result = OOZE_ERROR_MEMORY;
    snprintf(r->k.message, sizeof r->k.message, "no memory for a copy of %u particles", r->k.count);
    return 0;
  }
  p->count = r->k.count;
  memcpy(p->x, r->k.x, p->count * sizeof *p->x);
  memcpy(p->v, r->k.v, p->count * sizeof *p->v);
  kit_attribute(&r->k, OOZE_CONFORMATION, p->q);
  const uint32_t scheme = r->k.params.scheme;
  r->k.params.scheme = OOZE_SCHEME_POSITION;
  kit_iterations(&r->k, 1, 1);
  kit_step(&r->k, 1e-9, 1);
  r->k.params.scheme = scheme;
  kit_attribute(&r->k, OOZE_COMPRESSION, p->compression);
  return kit_good(&r->k);
}

static void go_alone(run *r, uint32_t velocity, uint32_t position, uint32_t steps, kit_state *here,
                     picture *seen, squeeze *out) {
  advance(r, velocity, position, steps / 2);
  for (int i = 0; i < LOOKS; ++i) {
    advance(r, velocity, position, steps / 2 / LOOKS);
    kit_save(&r->k, here);
    if (!look(r, seen)) return;
    squeeze_add(out, seen);
    kit_load(&r->k, here);
  }
}

/* ---- the verdict ---- */

static double rms(const division *d) { return sqrt(d->x2 / d->n); }
static double mean(const squeeze *s) { return s->sum / s->looks; }

/* Mean compression up to this is none: volume is kept to 0.2%. */
static const double KEPT = 2e-3;
static double compressed(const squeeze *s) { return fmax(mean(s), KEPT); }

/* Half and half must have no reason to be left for more velocity iterations, which cost less time
 * (one of positions takes more than two of them): none of those may come nearer, or keep volume
 * better, by more than a tenth, which another size of the scene changes too. A division that comes
 * nearer at the price of a tenth more density error does not count. Any other choice is held
 * against half and half: nearer to the truth, and at most a tenth more density error. */
static void judge(verify *v, const division_set *set, const division *d, int chosen) {
  const division *own = &d[chosen];
  double distance = 0.0, compression = 0.0; /* the worst ratios to a rival */
  for (int i = 0; i < SPLITS; ++i) {
    const int rival = chosen ? i == 0 : set->velocity[i] > set->velocity[0];
    if (!rival) continue;
    const double inside = compressed(&own->windows) / compressed(&d[i].windows),
                 alone = compressed(&own->alone) / compressed(&d[i].alone);
    compression = fmax(compression, chosen ? fmax(inside, alone) : fmin(inside, alone));
    if (chosen || fmin(inside, alone) >= 1.0 / 1.1)
      distance = fmax(distance, rms(own) / rms(&d[i]));
  }
  if (!isfinite(rms(own)) || !isfinite(mean(&own->windows)) || !isfinite(mean(&own->alone)))
    distance = compression = (double)NAN;
  verify_at_most(v, distance, chosen ? 1.0 : 1.1, "", "%s.chosen.distance", set->name);
  verify_note(v, "%u velocity iterations, over %s", set->velocity[chosen],
              chosen           ? "half and half"
              : distance > 0.0 ? "the nearest of more that cost no density"
                               : "none: all with more cost density");
  verify_at_most(v, compression, 1.1, "", "%s.chosen.compression", set->name);
}

static void tell(verify *v, const division_set *set, const bench_scene *s, const division *d,
                 double separation) {
  const uint32_t all = s->velocity_iterations + s->position_iterations,
                 take = s->velocity_iterations;
  int chosen = 0;
  for (int i = 0; i < SPLITS; ++i) {
    const division *q = &d[i];
    if (set->velocity[i] == take) chosen = i;
    verify_report(v, rms(q) / separation, (double)NAN, "d", "%s.%u+%u", set->name, set->velocity[i],
                  all - set->velocity[i]);
    verify_note(v,
                "greatest %.2f d; of velocities %.3f, conformation %.3f; compression %.2e, "
                "greatest %.3f; alone %.2e, %.3f",
                q->x_max / separation, sqrt(q->v2 / q->speed2),
                q->strain2 > 0.0 ? sqrt(q->q2 / q->strain2) : 0.0, mean(&q->windows),
                q->windows.most, mean(&q->alone), q->alone.most);
  }
  for (int i = VELOCITIES; i <= POSITIONS; ++i) {
    verify_report(v, rms(&d[i]) / separation, rms(&d[0]) / separation, "d", "%s.%s", set->name,
                  i == VELOCITIES ? "velocities-solved" : "positions-solved");
    verify_note(v, "compression %.2e", mean(&d[i].windows));
  }
  /* the reference errs by less than half of the measured difference */
  const double off = rms(&d[TWICE]) / rms(&d[chosen]);
  if (set->creeps)
    verify_report(v, off, 0.5, "", "%s.converged", set->name);
  else
    verify_at_most(v, off, 0.5, "", "%s.converged", set->name);
  verify_note(v, "twice as many iterations end %.4f d from it", rms(&d[TWICE]) / separation);
  judge(v, set, d, chosen);
}

static void one_scene(verify *v, const division_set *set, uint32_t windows) {
  const bench_scene *s = bench_find(set->scene);
  const uint32_t all = s->velocity_iterations + s->position_iterations, many = set->many * all;
  uint32_t velocity[DIVISIONS], position[DIVISIONS];
  run r = {.scene = s, .particles = set->particles};
  picture truth = {0}, seen = {0};
  kit_state before = {0}, after = {0};
  division d[DIVISIONS];
  if (!verify_wants(v, set->name)) return;
  memset(d, 0, sizeof d);
  for (int i = 0; i < SPLITS; ++i)
    velocity[i] = set->velocity[i], position[i] = all - set->velocity[i];
  velocity[VELOCITIES] = position[POSITIONS] = many;
  position[VELOCITIES] = velocity[POSITIONS] = all / 2;
  velocity[TWICE] = position[TWICE] = 2 * many;
  build(&r, v, set);
  const uint32_t usual = s->velocity_iterations;
  advance(&r, usual, all - usual, set->settle);
  for (uint32_t w = 0; w < windows && kit_good(&r.k); ++w) {
    advance(&r, all, all, BETWEEN);
    kit_save(&r.k, &before);
    const uint32_t step = r.step;
    for (int i = 0; i < SPLITS && w == 0; ++i) {
      kit_load(&r.k, &before);
      go_alone(&r, velocity[i], position[i], set->alone, &after, &seen, &d[i].alone);
      r.step = step;
    }
    kit_load(&r.k, &before);
    advance(&r, many, many, WINDOW);
    kit_save(&r.k, &after);
    if (!look(&r, &truth)) break;
    for (int i = 0; i < DIVISIONS; ++i) {
      if (i == TWICE && set != &quick && w != windows / 2) continue;
      kit_load(&r.k, &before);
      r.step = step;
      advance(&r, velocity[i], position[i], WINDOW);
      if (!look(&r, &seen)) break;
      compare(&d[i], &seen, &truth);
    }
    kit_load(&r.k, &after);
    r.step = step + WINDOW;
  }
  if (verify_ran(v, &r.k)) tell(v, set, s, d, r.k.separation);
  free(before.memory);
  free(after.memory);
  picture_drop(&truth);
  picture_drop(&seen);
  kit_close(&r.k);
}

void verify_split(verify *v) {
  if (verify_at(v) == VERIFY_QUICK) {
    one_scene(v, &quick, 4);
    return;
  }
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; ++i) one_scene(v, &sets[i], 3);
}
