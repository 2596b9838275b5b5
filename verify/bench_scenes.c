/* The timing scenes. SPDX-License-Identifier: Apache-2.0
 *
 * Steps and iterations of those that Barreiro et al. 2017 show are those of their Table 1; its
 * iteration count is split between the velocity and the position phase as the table here says, and
 * `ooze verify split` tells why. */
#include <math.h>
#include <string.h>

#include "bench_scenes.h"
#include "measure.h"

/* The side of a cube of `count` cells, at least 1. */
static uint32_t cube_side(double count) {
  double n = floor(cbrt(count) + 0.5);
  return n < 1.0 ? 1u : (uint32_t)n;
}

static void cube(kit *k, uint32_t n, double gap, uint32_t material) {
  const uint32_t size[3] = {n, n, n};
  const double low[3] = {-0.5 * n * k->separation, gap, -0.5 * n * k->separation};
  kit_floor(k, 0.0);
  kit_block(k, material, size, low);
}

static void drop24(kit *k, uint32_t particles) {
  cube(k, cube_side(particles), 0.01, kit_material(k, 0.1, 1e-5));
}
static void cube32(kit *k, uint32_t particles) {
  cube(k, cube_side(particles), 0.1, kit_material(k, 0.0, 0.0));
}

/* Figure 4: nine cubes, three relaxation times by three compliances. */
static void blocks(kit *k, uint32_t particles) {
  static const double tau[3] = {0.0, 0.1, 1e6}, alpha[3] = {0.0, 1e-5, 1e-4};
  uint32_t side = cube_side(particles / 9.0),
           tall = (uint32_t)floor(particles / 9.0 / (side * side) + 0.5);
  const uint32_t n[3] = {side, tall ? tall : 1, side};
  double d = k->separation, pitch = 2.5 * side * d;
  kit_floor(k, 0.5);
  for (int i = 0; i < 9; ++i) {
    const double low[3] = {(i % 3 - 1) * pitch - 0.5 * side * d, 0.25,
                           (i / 3 - 1) * pitch - 0.5 * side * d};
    kit_block(k, kit_material(k, tau[i / 3], alpha[i % 3]), n, low);
  }
}

/* A stream that stands on the mound it has poured, all of it there from the start: a cylinder on a
 * flat cone. */
typedef struct poured {
  double stream, height, mound;
} poured;
static int in_poured(const void *context, const double x[3]) {
  const poured *p = context;
  double r = sqrt(x[0] * x[0] + x[2] * x[2]);
  return r < p->stream || r < p->mound * (1.0 - x[1] / (1.2 * p->mound));
}
static void pour(kit *k, uint32_t particles, double radius, double height, uint32_t material) {
  double d = k->separation, volume = particles * d * d * d;
  /* few particles: half of them are the mound */
  height = fmin(height, 0.5 * volume / (MEASURE_PI * radius * radius));
  poured p = {radius, height, radius};
  /* The mound, pi m^2 (1.2 m) / 3, takes the particles that the stream above it leaves. */
  for (int round = 0; round < 8; ++round) {
    double buried = fmax(0.0, 1.2 * (p.mound - radius)),
           rest = volume - MEASURE_PI * radius * radius * (height - buried);
    if (rest > 0.0) p.mound = cbrt(3.0 * rest / (1.2 * MEASURE_PI));
  }
  double reach = fmax(p.mound, radius) + d;
  const double low[3] = {-reach, 0.0, -reach}, high[3] = {reach, height, reach};
  k->patch = 1.25 * reach; /* it spreads a little */
  kit_floor(k, 1.0);
  kit_fill(k, material, low, high, in_poured, &p);
}
static void coiling(kit *k, uint32_t particles) {
  pour(k, particles, 5.0 * k->separation, 0.25, kit_material(k, 0.15, 5e-4));
}
/* Figure 12, as examples/scenes/honey.json pours it; and at room temperature. */
static void honey(kit *k, uint32_t particles) {
  pour(k, particles, 5.0 * k->separation, 0.30, kit_fluid(k, 100.0, 0.0));
}
static void honey_warm(kit *k, uint32_t particles) {
  pour(k, particles, 5.0 * k->separation, 0.30, kit_fluid(k, 10.0, 0.0));
}

/* A bowl of thick fluid that a ball stirs. */
static int in_disc(const void *context, const double x[3]) {
  double r = *(const double *)context;
  return x[0] * x[0] + x[2] * x[2] < r * r;
}
static void interactive(kit *k, uint32_t particles) {
  /* as deep as its radius */
  double d = k->separation, radius = cbrt(particles * d * d * d / MEASURE_PI);
  const double low[3] = {-radius, 0.0, -radius}, high[3] = {radius, radius, radius},
               centre[3] = {0.0, 2.0 * radius, 0.0};
  const double ball[3] = {0.5 * radius, 1.4 * radius, 0.0};
  kit_bowl(k, centre, radius, 2.0 * radius, 0.5);
  kit_sphere(k, ball, 0.25 * radius, 0.5);
  double inner = radius - 0.25 * d;
  kit_fill(k, kit_material(k, 0.1, 1e-4), low, high, in_disc, &inner);
}
static void stir(kit *k, uint32_t particles, uint32_t step, double dt) {
  /* the ball, the second collider, sinks in and goes round once in two seconds */
  double radius = cbrt(particles * k->separation * k->separation * k->separation / MEASURE_PI);
  ooze_pose pose[2];
  if (!kit_good(k)) return;
  for (int i = 0; i < 2; ++i) {
    double t = (step + i) * dt, angle = MEASURE_PI * t, sink = fmin(t / 0.5, 1.0);
    ooze_pose_default(&pose[i]);
    pose[i].position[0] = (float)(0.5 * radius * cos(angle));
    pose[i].position[1] = (float)(radius * (1.4 - 0.8 * sink));
    pose[i].position[2] = (float)(0.5 * radius * sin(angle));
  }
  (void)ooze_collider_move(k->solver, 2, &pose[0], &pose[1]);
}

static void column(kit *k, uint32_t particles) {
  uint32_t side = cube_side(particles / 2.0);
  double d = k->separation;
  const uint32_t n[3] = {side, 2 * side, side};
  const double low[3] = {-0.5 * side * d, 0.0, -0.5 * side * d};
  const double half[3] = {0.5 * side * d, 1.5 * side * d, 0.5 * side * d},
               centre[3] = {0.0, 1.5 * side * d, 0.0};
  kit_container(k, centre, half, 0.0);
  kit_block(k, kit_fluid(k, 10.0, 0.0), n, low);
}

static void million(kit *k, uint32_t particles) {
  uint32_t n = cube_side(particles);
  cube(k, n, 0.0, kit_fluid(k, 100.0, 0.0));
}

/* Figure 11's kind of scene: soft giants that sit on a floor, and one that falls on another. */
static void giants(kit *k, uint32_t particles) {
  enum { FIGURES = 6 };
  const double fine = 0.03;
  kit_figure f = {kit_giant, kit_giant_parts, {0, 0, 0}, 1.0};
  double x[3], cells = 0.0;
  for (x[0] = -0.8; x[0] < 0.8; x[0] += fine)
    for (x[1] = 0.0; x[1] < 2.0; x[1] += fine)
      for (x[2] = -0.7; x[2] < 1.3; x[2] += fine) cells += kit_in_figure(&f, x);
  double d = k->separation, each = (double)particles / FIGURES * d * d * d;
  f.scale = cbrt(each / (cells * fine * fine * fine));
  uint32_t material = kit_material(k, 0.5, 1e-4);
  kit_floor(k, 0.5);
  for (int i = 0; i < FIGURES; ++i) {
    int above = i == FIGURES - 1;
    f.at[0] = above ? 0.0 : (i - 2) * 1.6 * f.scale;
    f.at[1] = above ? 2.2 * f.scale : 0.0;
    const double low[3] = {f.at[0] - 0.8 * f.scale, f.at[1], -0.7 * f.scale};
    const double high[3] = {f.at[0] + 0.8 * f.scale, f.at[1] + 2.0 * f.scale, 1.3 * f.scale};
    kit_fill(k, material, low, high, kit_in_figure, &f);
  }
}

static ooze_collider_desc wall_of_particles(uint32_t shape) {
  ooze_collider_desc c;
  ooze_collider_desc_default(&c);
  c.shape = shape;
  c.boundary = OOZE_BOUNDARY_PARTICLES;
  c.friction = 1.0f;
  return c;
}

/* Fig. 4 of Takahashi et al. 2014, at the size of its table 1: three lumps of fluid, 27.6k
 * particles, on a floor of 59.5k boundary particles. */
static void links(kit *k, uint32_t particles) {
  static const float beta[3] = {1.005f, 1.003f, 1.001f};
  const uint32_t side = cube_side(particles / 3.0), n[3] = {side, side, side};
  const double d = k->separation, points = 59500.0 / 27600.0 * particles;
  k->params.model = OOZE_MODEL_LINKS;
  kit_apply(k);
  ooze_collider handle = 0;
  ooze_collider_desc c = wall_of_particles(OOZE_SHAPE_PLANE);
  c.half[0] = c.half[2] = (float)(0.5 * d * (sqrt(points) - 1.0));
  if (kit_good(k)) k->result = ooze_collider_add(k->solver, &c, &handle);
  for (int i = 0; i < 3; ++i) {
    ooze_material m;
    const double low[3] = {((i - 1) * 2.0 - 0.5) * side * d, 0.0, -0.5 * side * d};
    ooze_material_default(&m);
    m.links_beta = beta[i];
    kit_block(k, kit_add(k, &m), n, low);
  }
}

/* The stretching test of Mukai et al. at its size: a column between two solids of particles, 30,000
 * and 17,000 of them. */
static int in_column(const void *context, const double x[3]) {
  const double *radius = context;
  return x[0] * x[0] + x[2] * x[2] < radius[0] * radius[0];
}
static void cauchy(kit *k, uint32_t particles) {
  const double d = k->separation, height = 20.0 * d,
               radius = d * sqrt(particles / (20.0 * MEASURE_PI)), thick = 3.0 * d;
  const double low[3] = {-radius, 0.0, -radius}, high[3] = {radius, height, radius};
  k->params.model = OOZE_MODEL_CAUCHY;
  kit_apply(k);
  for (int upper = 0; upper < 2; ++upper) {
    ooze_collider handle = 0;
    ooze_collider_desc c = wall_of_particles(OOZE_SHAPE_BOX);
    c.half[0] = c.half[2] = (float)(upper ? radius : 1.65 * radius);
    c.half[1] = (float)thick;
    c.start.position[1] = (float)(upper ? height + thick : -thick);
    c.end = c.start;
    if (kit_good(k)) k->result = ooze_collider_add(k->solver, &c, &handle);
  }
  ooze_material m;
  ooze_material_default(&m);
  m.density = 1160.0f;
  m.viscosity = 28.0f;
  kit_fill(k, kit_add(k, &m), low, high, in_column, &radius);
}

const bench_scene bench_scenes[] = {
    {"drop24", "a viscoelastic 24^3 cube that lands: the prototype's drop", 13824, 0.05, 1.0 / 240,
     8, 10, 5, 3, 0, 0, drop24, NULL},
    {"blocks", "nine cubes of nine materials (Fig. 4)", 9900, 0.05, 1.0 / 240, 8, 10, 10, 3, 0.16,
     0, blocks, NULL},
    {"cube32", "a fully viscous 32^3 cube at 5 ms: the peer's cube", 32768, 0.05, 0.005, 8, 10, 5,
     3, 0, 0, cube32, NULL},
    {"coiling", "a viscoelastic stream on its mound (Fig. 5)", 89000, 0.002, 1.0 / 240, 8, 20, 20,
     1, 1.08, 0, coiling, NULL},
    {"interactive", "a bowl of cream that a ball stirs (Figs. 8, 10)", 15000, 0.01, 1.0 / 200, 3, 4,
     4, 5, 0.03, 0, interactive, stir},
    {"honey", "a viscous stream on its mound (Fig. 12)", 105000, 0.002, 1.0 / 300, 10, 7, 3, 1,
     0.15, 0, honey, NULL},
    {"honey-warm", "the same at 10 Pa s instead of 100", 105000, 0.002, 1.0 / 300, 10, 5, 5, 1,
     0.15, 0, honey_warm, NULL},
    {"column", "a column in a container", 250000, 0.01, 1.0 / 240, 8, 10, 5, 1, 0, 0, column, NULL},
    {"links", "model links: three lumps on a floor of 59.5k boundary particles (its Fig. 4)", 27600,
     0.01, 9.06e-4, 10, 0, 6, 2, 0, 0, links, NULL},
    {"cauchy",
     "model cauchy: the stretching test of Mukai et al., 30k fluid and 17k solid particles", 30000,
     0.003, 4.5e-5, 10, 0, 0, 2, 0, 0, cauchy, NULL},
    {"million", "a block of a million that collapses", 1000000, 0.01, 1.0 / 240, 8, 10, 5, 1, 0, 1,
     million, NULL},
    {"giants", "six soft giants, twelve million particles (Fig. 11)", 12000000, 0.01, 1.0 / 150, 5,
     10, 5, 1, 19, 1, giants, NULL},
};
const uint32_t bench_scene_count = (uint32_t)(sizeof bench_scenes / sizeof bench_scenes[0]);

const bench_scene *bench_find(const char *name) {
  for (uint32_t i = 0; i < bench_scene_count; ++i)
    if (strcmp(bench_scenes[i].name, name) == 0) return &bench_scenes[i];
  return NULL;
}
