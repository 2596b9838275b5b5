/* Heat: conduction and melting in a bar at rest against closed forms. SPDX-License-Identifier:
 * Apache-2.0
 *
 * The bar lies along x on a warm wall at x = 0. Nothing moves its particles: no gravity, no density
 * of the wall. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { CURVE = 20 }; /* points of a curve over time */
static const double d = 0.01, cold = 300.0, warm = 310.0, capacity = 2000.0, density = 1000.0;

static void still(kit *k) {
  for (int a = 0; a < 3; ++a) k->params.gravity[a] = 0.0f;
  k->params.rest_filter = 0;
  k->params.wall_density = 0;
  k->params.shifting = 0.0f;
  kit_iterations(k, 1, 1);
}

static uint32_t bar(kit *k, double diffusivity, double stefan, const uint32_t n[3]) {
  const double low[3] = {0.0, 0.0, 0.0};
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 1000.0f;
  m.temperature = (float)cold;
  m.heat_capacity = (float)capacity;
  m.conductivity = (float)(diffusivity * density * capacity);
  if (stefan > 0.0) {
    m.melting_point = (float)cold;
    m.latent_heat = (float)(capacity * (warm - cold) / stefan);
  }
  uint32_t index = kit_add(k, &m);
  kit_block(k, index, n, low);
  return index;
}

static void wall(kit *k, double temperature) {
  ooze_collider_desc c;
  ooze_collider out;
  const double point[3] = {0.0, 0.0, 0.0}, normal[3] = {1.0, 0.0, 0.0};
  ooze_collider_desc_default(&c);
  kit_pose_of_plane(&c.start, point, normal);
  c.end = c.start;
  c.temperature = (float)temperature;
  if (kit_good(k)) (void)ooze_collider_add(k->solver, &c, &out);
}

/* A plane that no heat goes through. */
static void insulate(kit *k, const double point[3], const double normal[3]) {
  ooze_collider_desc c;
  ooze_collider out;
  ooze_collider_desc_default(&c);
  kit_pose_of_plane(&c.start, point, normal);
  c.end = c.start;
  c.contact = 0.0f;
  (void)ooze_collider_add(k->solver, &c, &out);
}

static float *values(kit *k, ooze_attribute what) {
  float *out = kit_good(k) ? malloc(k->count * sizeof *out) : NULL;
  if (out && ooze_attribute_read(k->solver, what, 0, k->count, 0, out) != OOZE_OK)
    memset(out, 0xff, k->count * sizeof *out);
  return out;
}

/* Mean over all particles. */
static double mean_of(kit *k, ooze_attribute what) {
  kit_read(k);
  float *each = values(k, what);
  double sum = 0.0;
  for (uint32_t i = 0; each && i < k->count; ++i) sum += (double)each[i];
  free(each);
  return k->count ? sum / k->count : 0.0;
}

/* The half-infinite slab: T = warm - (warm - cold) erf(x / (2 sqrt(a t))); reach: sqrt(a t). */
static double slab_at(double x, double reach) {
  return warm - (warm - cold) * erf(x / (2.0 * reach));
}

static void slab(verify *v, uint32_t wide, uint32_t steps) {
  const double a = 1e-5, dt = 0.5;
  const uint32_t n[3] = {60, wide, wide};
  double sum[60] = {0.0};
  kit k;
  if (!verify_wants(v, "slab")) return;
  kit_open(&k, verify_machine(v), d);
  still(&k);
  wall(&k, warm);
  bar(&k, a, 0.0, n);
  for (uint32_t i = 0; kit_good(&k) && i < steps; ++i) kit_step(&k, dt, 1);
  kit_read(&k);
  float *T = values(&k, OOZE_TEMPERATURE);
  if (verify_ran(v, &k) && T) {
    double worst = 0.0, reach = sqrt(a * dt * steps);
    for (uint32_t i = 0; i < k.count; ++i) {
      const double expected = slab_at((double)k.x[i][0], reach);
      worst = fmax(worst, fabs((double)T[i] - expected) / (warm - cold));
      const double layer = floor((double)k.x[i][0] / d);
      if (layer >= 0.0 && layer < n[0]) sum[(int)layer] += (double)T[i] / (wide * wide);
    }
    for (uint32_t j = 0; j < n[0]; ++j)
      verify_point(v, "temperature, K (over depth, m)", (j + 0.5) * d, sum[j],
                   slab_at((j + 0.5) * d, reach));
    verify_at_most(v, worst, 0.02, "", "slab");
    verify_note(v,
                "largest difference from the error function, over the wall's; sqrt(a t) is %.1f d",
                reach / d);
  }
  free(T);
  kit_close(&k);
}

/* Stefan's problem: at its melting point, molten from a wall St latent heats warmer; the front is
 * at 2 lambda sqrt(a t). */
static void stefan(verify *v, double number, double lambda, uint32_t wide, uint32_t steps) {
  const double a = 1e-5, dt = 0.5;
  const uint32_t n[3] = {60, wide, wide};
  char name[24], curve[48];
  kit k;
  snprintf(name, sizeof name, "stefan%g", number);
  if (!verify_wants(v, name)) return;
  kit_open(&k, verify_machine(v), d);
  still(&k);
  wall(&k, warm);
  bar(&k, a, number, n);
  snprintf(curve, sizeof curve, "molten, m (over s), St %g", number);
  for (uint32_t i = 1; kit_good(&k) && i <= steps; ++i) {
    kit_step(&k, dt, 1);
    if (i % (steps / CURVE)) continue;
    verify_point(v, curve, i * dt, mean_of(&k, OOZE_MELT) * n[0] * d,
                 2.0 * lambda * sqrt(a * dt * i));
  }
  kit_read(&k);
  float *melt = values(&k, OOZE_MELT);
  if (verify_ran(v, &k) && melt) {
    double molten = 0.0;
    for (uint32_t i = 0; i < k.count; ++i) molten += (double)melt[i];
    verify_within(v, molten / (wide * wide), 2.0 * lambda * sqrt(a * dt * steps) / d, 0.05, "d",
                  "%s.front", name);
  }
  free(melt);
  kit_close(&k);
}

/* A block of two materials, one of which melts, with temperatures at random: heat is kept, and none
 * gets hotter than the hottest was, at steps that are thousands of explicit ones. */
static void closed(verify *v, double diffusivity, const char *name) {
  const uint32_t n[3] = {8, 8, 8};
  const double low[3] = {0.0, 0.0, 0.0}, high[3] = {0.08, 0.0, 0.0};
  kit k;
  double heat[2] = {0.0, 0.0}, hottest = 0.0;
  uint32_t seed = 1, index[2];
  if (!verify_wants(v, name)) return;
  kit_open(&k, verify_machine(v), d);
  still(&k);
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 1000.0f;
  m.heat_capacity = (float)capacity;
  m.conductivity = (float)(diffusivity * density * capacity);
  index[0] = kit_add(&k, &m);
  m.melting_point = 300.0f;
  m.latent_heat = 20000.0f;
  m.conductivity *= 0.1f;
  index[1] = kit_add(&k, &m);
  kit_block(&k, index[0], n, low);
  kit_block(&k, index[1], n, high);
  kit_read(&k);
  float *T = values(&k, OOZE_TEMPERATURE);
  for (uint32_t i = 0; T && i < k.count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    T[i] = 280.0f + 40.0f * (float)(seed >> 8) / 16777216.0f;
    heat[0] += capacity * (double)T[i] + (i >= k.count / 2 && T[i] > 300.0f ? 20000.0 : 0.0);
    hottest = fmax(hottest, (double)T[i]);
  }
  if (T && kit_good(&k)) (void)ooze_attribute_write(k.solver, OOZE_TEMPERATURE, 0, k.count, 0, T);
  for (int i = 0; kit_good(&k) && i < 48; ++i) kit_step(&k, 1.0 / 24.0, 1);
  free(T);
  T = values(&k, OOZE_TEMPERATURE);
  float *melt = values(&k, OOZE_MELT);
  if (verify_ran(v, &k) && T && melt) {
    double after = 0.0;
    for (uint32_t i = 0; i < k.count; ++i) {
      heat[1] += capacity * (double)T[i] + (i >= k.count / 2 ? 20000.0 * (double)melt[i] : 0.0);
      after = fmax(after, (double)T[i]);
    }
    verify_at_most(v, fabs(heat[1] / heat[0] - 1.0), 1e-5, "", "%s.heat", name);
    verify_note(v, "relative change in 48 steps: roundings");
    verify_at_most(v, after, hottest, "K", "%s.hottest", name);
  }
  free(T);
  free(melt);
  kit_close(&k);
}

/* A cube in air, small enough to have one temperature: by a film coefficient
 * T - Ta = (T0 - Ta) exp(-h A t / (rho c V)), by radiation into the cold
 * T^-3 = T0^-3 + 3 eps sigma A t / (rho c V), and both on a floor that conducts nothing, which
 * takes one of six faces. */
static void lumped(verify *v, double film, double emissivity, int floor, const char *name) {
  const uint32_t side = 10, n[3] = {side, side, side};
  const double low[3] = {0.0, 0.0, 0.0}, hot = 1000.0, air = emissivity > 0.0 ? 1.0 : 300.0;
  const double area = (floor ? 5.0 : 6.0) / (side * d); /* over volume */
  const double flow = film + emissivity * 5.670374e-8 * hot * hot * hot;
  const double time = density * capacity / (area * flow), dt = 0.01 * time;
  double T = hot, mean = 0.0;
  char curve[48];
  ooze_material m;
  kit k;
  if (!verify_wants(v, name)) return;
  kit_open(&k, verify_machine(v), d);
  k.params.ambient_temperature = (float)air; /* still applies it */
  still(&k);
  ooze_material_default(&m);
  m.viscosity = 1000.0f;
  m.temperature = (float)hot;
  m.heat_capacity = (float)capacity;
  m.conductivity = (float)(100.0 * flow * side * d); /* Biot number 0.01 */
  m.film_coefficient = (float)film;
  m.emissivity = (float)emissivity;
  if (floor && kit_good(&k)) {
    const double point[3] = {0.0, 0.0, 0.0}, normal[3] = {0.0, 1.0, 0.0};
    insulate(&k, point, normal);
  }
  kit_block(&k, kit_add(&k, &m), n, low);
  /* steps of a second at most, as ooze_step takes them */
  const uint32_t cuts = (uint32_t)ceil(dt);
  snprintf(curve, sizeof curve, "temperature, K (over s), %s", name);
  for (int i = 1; i <= 100; ++i) {
    for (uint32_t c = 0; kit_good(&k) && c < cuts; ++c) kit_step(&k, dt / cuts, 1);
    /* by small steps, which hold for both together */
    for (int j = 0; j < 1000; ++j)
      T -= 1e-5 * time * area / (density * capacity) *
           (film * (T - air) + emissivity * 5.670374e-8 * (pow(T, 4.0) - pow(air, 4.0)));
    if (i % (100 / CURVE) == 0) verify_point(v, curve, i * dt, mean_of(&k, OOZE_TEMPERATURE), T);
  }
  kit_read(&k);
  float *each = values(&k, OOZE_TEMPERATURE);
  if (verify_ran(v, &k) && each) {
    for (uint32_t i = 0; i < k.count; ++i) mean += (double)each[i] / k.count;
    verify_within(v, (hot - mean) / (hot - T), 1.0, 0.05, "", "%s", name);
    verify_note(v, "heat lost until %.0f K, over the closed form's", T);
  }
  free(each);
  kit_close(&k);
}

/* Stefan's problem with air: at its melting point, frozen from a surface that the air cools. With
 * little sensible heat the crust has s^2 / 2 + (k / h) s = k (Tm - Ta) t / (rho L). */
static void crust(verify *v, uint32_t wide, uint32_t steps) {
  const double a = 1e-5, dt = 0.5, number = 0.05, film = 1000.0;
  const uint32_t n[3] = {40, wide, wide};
  const double low[3] = {0.0, 0.0, 0.0}, conductivity = a * density * capacity;
  const double latent = capacity * (warm - cold) / number;
  ooze_material m;
  kit k;
  if (!verify_wants(v, "crust")) return;
  kit_open(&k, verify_machine(v), d);
  k.params.ambient_temperature = (float)cold;
  still(&k);
  ooze_material_default(&m);
  m.viscosity = 1000.0f;
  m.temperature = (float)warm;
  m.heat_capacity = (float)capacity;
  m.conductivity = (float)conductivity;
  m.melting_point = (float)warm;
  m.latent_heat = (float)latent;
  m.film_coefficient = (float)film;
  /* walls that conduct nothing on all sides but one */
  for (int side = 0; side < 5 && kit_good(&k); ++side) {
    double point[3] = {0.0, 0.0, 0.0}, normal[3] = {0.0, 0.0, 0.0};
    const int axis = side == 0 ? 0 : 1 + (side - 1) / 2, far = side > 0 && (side - 1) % 2;
    point[axis] = far ? wide * d : 0.0;
    normal[axis] = far ? -1.0 : 1.0;
    insulate(&k, point, normal);
  }
  kit_block(&k, kit_add(&k, &m), n, low);
  float *melt = NULL;
  if (kit_good(&k) && (melt = malloc(n[0] * wide * wide * sizeof *melt))) {
    for (uint32_t i = 0; i < n[0] * wide * wide; ++i) melt[i] = 1.0f;
    (void)ooze_attribute_write(k.solver, OOZE_MELT, 0, n[0] * wide * wide, 0, melt);
  }
  free(melt);
  const double slow = conductivity / film, rate = conductivity * (warm - cold) / (density * latent);
  for (uint32_t i = 1; kit_good(&k) && i <= steps; ++i) {
    kit_step(&k, dt, 1);
    if (i % (steps / CURVE)) continue;
    verify_point(v, "crust, m (over s)", i * dt, (1.0 - mean_of(&k, OOZE_MELT)) * n[0] * d,
                 sqrt(slow * slow + 2.0 * rate * dt * i) - slow);
  }
  kit_read(&k);
  melt = values(&k, OOZE_MELT);
  if (verify_ran(v, &k) && melt) {
    double frozen = 0.0;
    const double expected = (sqrt(slow * slow + 2.0 * rate * dt * steps) - slow) / d;
    for (uint32_t i = 0; i < k.count; ++i) frozen += 1.0 - (double)melt[i];
    verify_within(v, frozen / (wide * wide), expected, 0.05, "d", "crust");
    verify_note(v, "thickness of the crust; the air's resistance is that of %.1f d", slow / d);
  }
  free(melt);
  kit_close(&k);
}

/* The slab whose lower side conducts nothing, by small steps: heat lost in `time` through an area,
 * J/m^2. */
static double slab_loss(double depth, double conductivity, double volumetric, double film,
                        double over, double time) {
  enum { CELLS = 60 };
  const double dx = depth / CELLS, dt = 0.25 * dx * dx * volumetric / conductivity;
  double T[CELLS + 1], flow[CELLS + 1], lost = 0.0; /* above the air */
  for (int i = 0; i < CELLS; ++i) T[i] = over;
  for (double t = 0.0; t < time; t += dt) {
    flow[0] = T[0] / (0.5 * dx / conductivity + 1.0 / film), flow[CELLS] = 0.0;
    for (int i = 1; i < CELLS; ++i) flow[i] = conductivity / dx * (T[i] - T[i - 1]);
    for (int i = 0; i < CELLS; ++i) T[i] += dt / (volumetric * dx) * (flow[i + 1] - flow[i]);
    lost += dt * flow[0];
  }
  return lost;
}

static int everywhere(const void *context, const double x[3]) {
  (void)context, (void)x;
  return 1;
}

static int by_size(const void *a, const void *b) {
  const float *p = a, *q = b;
  return (*p > *q) - (*p < *q);
}

/* A pool that has settled in a tank which conducts nothing: heat that its top loses, and how evenly
 * the top layer, a sixth of the particles, cools. */
static void pool(verify *v, double viscosity, const char *name) {
  const uint32_t wide = 12, deep = 6;
  const double film = 100.0, conductivity = 50.0, air = 300.0, hot = 1000.0, dt = 1.0 / 24.0;
  const double low[3] = {0.0, 0.0, 0.0}, high[3] = {wide * d, deep * d, wide * d};
  const uint32_t settle = 60, cool = 24;
  ooze_material m;
  kit k;
  if (!verify_wants(v, name)) return;
  kit_open(&k, verify_machine(v), d);
  k.params.ambient_temperature = (float)air;
  kit_apply(&k);
  k.jitter = 0.15;
  ooze_material_default(&m);
  m.viscosity = (float)viscosity;
  m.temperature = (float)hot;
  m.heat_capacity = (float)capacity;
  m.conductivity = (float)conductivity; /* Biot number of a particle 0.02 */
  m.film_coefficient = (float)film;
  for (int side = 0; side < 5 && kit_good(&k); ++side) {
    const int axis = side == 0 ? 1 : side < 3 ? 0 : 2, far = side > 0 && side % 2 == 0;
    double point[3] = {0.0, 0.0, 0.0}, normal[3] = {0.0, 0.0, 0.0};
    point[axis] = far ? wide * d : 0.0;
    normal[axis] = far ? -1.0 : 1.0;
    insulate(&k, point, normal);
  }
  kit_fill(&k, kit_add(&k, &m), low, high, everywhere, NULL);
  for (uint32_t i = 0; kit_good(&k) && i < settle; ++i) kit_step(&k, dt, 4);
  kit_read(&k);
  float *T = kit_good(&k) ? malloc(k.count * sizeof *T) : NULL,
        *heights = kit_good(&k) ? malloc(k.count * sizeof *heights) : NULL;
  for (uint32_t i = 0; T && i < k.count; ++i) T[i] = (float)hot;
  if (T) (void)ooze_attribute_write(k.solver, OOZE_TEMPERATURE, 0, k.count, 0, T);
  free(T);
  for (uint32_t i = 0; kit_good(&k) && i < cool; ++i) kit_step(&k, dt, 4);
  kit_read(&k);
  T = values(&k, OOZE_TEMPERATURE);
  if (verify_ran(v, &k) && T && heights) {
    const double area = wide * d * wide * d, cell = d * d * d, depth = k.count * cell / area;
    const double expected =
        slab_loss(depth, conductivity, density * capacity, film, hot - air, cool * dt);
    double lost = 0.0, mean = 0.0, square = 0.0;
    uint32_t top = 0;
    for (uint32_t i = 0; i < k.count; ++i) {
      lost += density * capacity * cell * (hot - (double)T[i]);
      heights[i] = k.x[i][1];
    }
    qsort(heights, k.count, sizeof *heights, by_size);
    for (uint32_t i = 0; i < k.count; ++i)
      if (k.x[i][1] >= heights[k.count - k.count / deep]) mean += hot - (double)T[i], ++top;
    mean /= top;
    for (uint32_t i = 0; i < k.count; ++i)
      if (k.x[i][1] >= heights[k.count - k.count / deep])
        square += pow(hot - (double)T[i] - mean, 2.0) / top;
    verify_within(v, lost / (area * expected), 1.0, 0.05, "", "%s", name);
    verify_note(v, "heat lost over the closed form's, after %.1f s of settling", settle * dt);
    verify_at_most(v, sqrt(square) / mean, 0.25, "", "%s.spread", name);
    verify_note(v, "of the top layer's cooling, which is %.1f K", mean);
  }
  free(T);
  free(heights);
  kit_close(&k);
}

void verify_heat(verify *v) {
  /* Carslaw & Jaeger, 11.2 */
  static const double numbers[] = {0.1, 0.5, 1.0}, lambdas[] = {0.2200, 0.4648, 0.6201};
  const int quick = verify_at(v) == VERIFY_QUICK;
  const uint32_t wide = quick ? 4 : 8, steps = quick ? 200 : 800;
  slab(v, wide, steps / 2);
  for (int i = quick ? 1 : 0; i < (quick ? 2 : 3); ++i)
    stefan(v, numbers[i], lambdas[i], wide, steps);
  lumped(v, 50.0, 0.0, 0, "air");
  lumped(v, 0.0, 0.9, 0, "radiation");
  lumped(v, 50.0, 0.9, 1, "air-on-floor");
  pool(v, 1.0, "pool1");
  pool(v, 100.0, "pool100");
  crust(v, wide, 1600); /* to a crust of 1.5 separations */
  closed(v, 1e-6, "closed");
  closed(v, 0.4, "closed-fast");
}
