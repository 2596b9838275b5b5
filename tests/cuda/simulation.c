/* Whole simulations on the device, through ooze.h: the same statistics as the CPU's, the same bits
 * from run to run and after a checkpoint, errors that leave the solver usable.
 * SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* setenv */
#include "check.h"
#include "solver_kit.h"

#include <string.h>

static ooze_solver *open_solver(uint32_t backend, float separation) {
  ooze_solver_desc desc = cpu_desc(separation, OOZE_TASKS_AUTO);
  desc.backend = backend;
  return solver_of(&desc);
}
static int has_device(void) {
  for (uint32_t k = 0; k < ooze_backend_count(); k++) {
    ooze_backend_info b;
    ooze_backend_info_default(&b);
    if (ooze_backend_get(k, &b) >= 0 && b.backend == OOZE_BACKEND_CUDA && b.usable) return 1;
  }
  return 0;
}
#define NEED_DEVICE()                             \
  do {                                            \
    if (!has_device()) OZ_SKIP("no CUDA device"); \
  } while (0)

static uint32_t add_block(ooze_solver *s, int nx, int ny, int nz, const float low[3],
                          const ooze_material *m) {
  const float d = ooze_solver_separation(s);
  const uint32_t n = (uint32_t)(nx * ny * nz);
  float *x = malloc((size_t)n * 12);
  uint32_t index;
  CHECK_OK(ooze_material_add(s, m, &index), s);
  for (uint32_t i = 0; i < n; i++) {
    x[3 * i] = low[0] + d * (float)(i % (uint32_t)nx);
    x[3 * i + 1] = low[1] + d * (float)(i / (uint32_t)nx % (uint32_t)ny);
    x[3 * i + 2] = low[2] + d * (float)(i / (uint32_t)(nx * ny));
  }
  ooze_particles p;
  ooze_particles_default(&p);
  p.count = n, p.positions = x, p.material = index;
  CHECK_OK(ooze_particles_add(s, &p, NULL), s);
  free(x);
  return n;
}

/* A floor, a turning ball, a drain, a nozzle, two materials. */
static void fill(ooze_solver *s) {
  const float d = ooze_solver_separation(s), low[3] = {-8.0f * d, 0.5f * d, -8.0f * d},
              high[3] = {-6.0f * d, 20.0f * d, -6.0f * d};
  ooze_material m;
  ooze_collider_desc c;
  ooze_collider h;
  ooze_collider_desc_default(&c);
  CHECK_OK(ooze_collider_add(s, &c, &h), s);
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_SPHERE, c.half[0] = 3.0f * d, c.friction = 0.5f;
  c.start.position[0] = c.end.position[0] = 13.0f * d;
  c.start.position[1] = c.end.position[1] = 4.0f * d;
  CHECK_OK(ooze_collider_add(s, &c, &h), s);
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX, c.role = OOZE_ROLE_KILL;
  c.half[0] = c.half[1] = c.half[2] = 4.0f * d;
  c.start.position[0] = c.end.position[0] = -18.0f * d;
  CHECK_OK(ooze_collider_add(s, &c, &h), s);
  ooze_emitter_desc e;
  ooze_emitter emitter;
  ooze_material_default(&m);
  m.viscosity = 20.0f;
  add_block(s, 16, 16, 16, low, &m);
  ooze_material_default(&m);
  m.relaxation_time = 0.1f, m.compliance = 1e-4f;
  add_block(s, 10, 10, 10, high, &m);
  ooze_emitter_desc_default(&e);
  e.radius = 3.0f * d, e.speed = 0.5f, e.start.position[1] = e.end.position[1] = 45.0f * d,
  e.disturbance = 0.01f;
  CHECK_OK(ooze_emitter_add(s, &e, &emitter), s);
}

static int ascending(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

typedef struct shape {
  double front, height, /* m: 98% of the particles are within; single drops go where they like */
      centre[3], energy, compression, load;
  uint32_t count;
  uint64_t hash;
} shape;
static shape measure(ooze_solver *s) {
  shape m;
  memset(&m, 0, sizeof m);
  ooze_stats t;
  ooze_stats_default(&t);
  m.count = ooze_particle_count(s);
  float *x = malloc((size_t)m.count * 12 + 12), force[3], torque[3];
  float *side = malloc((size_t)m.count * 4 + 4), *up = malloc((size_t)m.count * 4 + 4);
  CHECK_OK(ooze_stats_get(s, &t), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, m.count, 0, x), s);
  CHECK_OK(ooze_state_hash(s, &m.hash), s);
  CHECK_OK(ooze_collider_load(s, 1, force, torque), s);
  for (uint32_t i = 0; i < m.count; i++) {
    for (int k = 0; k < 3; k++) m.centre[k] += (double)x[3 * i + (uint32_t)k] / m.count;
    side[i] = fabsf(x[3 * i + 2]);
    up[i] = x[3 * i + 1];
  }
  qsort(side, m.count, sizeof *side, ascending);
  qsort(up, m.count, sizeof *up, ascending);
  m.front = (double)side[(size_t)(0.98 * (m.count - 1))];
  m.height = (double)up[(size_t)(0.98 * (m.count - 1))];
  free(side), free(up);
  m.energy = t.kinetic_energy, m.compression = t.mean_compression, m.load = (double)force[1];
  free(x);
  return m;
}
static shape simulate(uint32_t backend, int frames) {
  ooze_solver *s = open_solver(backend, 0.01f);
  fill(s);
  for (int k = 0; k < frames; k++) CHECK_OK(ooze_step(s, 1.0 / 30), s);
  shape m = measure(s);
  printf("  %-28s %u particles front %.4f height %.4f centre %.4f energy %.3e J compression %.4f "
         "floor %.3f N hash %016llx\n",
         ooze_solver_backend(s), m.count, m.front, m.height, m.centre[1], m.energy, m.compression,
         m.load, (unsigned long long)m.hash);
  ooze_solver_destroy(s);
  return m;
}

OZ_CASE(the_device_gives_the_statistics_of_the_cpu) {
  NEED_DEVICE();
  const int frames[] = {6, 15};
  for (int k = 0; k < 2; k++) {
    shape a = simulate(OOZE_BACKEND_CPU, frames[k]), b = simulate(OOZE_BACKEND_CUDA, frames[k]);
    /* the CPU rounds gradients to halves and flow amplifies it: one separation (0.01 m) of the
     * shape, a tenth of the motion */
    CHECK_NEAR(b.count, a.count, 0.01 * a.count, "a drain takes a few more or less");
    CHECK_NEAR(b.front, a.front, 0.01, "one separation");
    CHECK_NEAR(b.height, a.height, 0.02, "one drop more or less at the nozzle");
    CHECK_NEAR(b.centre[1], a.centre[1], 0.002,
               "a fifth of a separation for the mean of thousands");
    CHECK_NEAR(b.energy, a.energy, 0.1 * a.energy, "chaotic: within a tenth");
    CHECK_NEAR(b.compression, a.compression, 0.005, "half a percent of density");
    CHECK_NEAR(b.load, a.load, 0.2 * fabs(a.load) + 1.0, "momentary force of a splash");
  }
}

/* Values of particles' own decide how many substeps an automatic count takes, with a nozzle in the
 * scene: at time 0, where both have the same particles. */
OZ_CASE(a_device_answers_what_the_cpu_looks_up) {
  NEED_DEVICE();
  const float low[3] = {-0.05f, 0.03f, -1.0f}, high[3] = {0.021f, 0.092f, 1.0f};
  uint32_t substeps[2], within[2];
  double sum[2][3] = {{0.0}, {0.0}};
  for (uint32_t k = 0; k < 2; k++) {
    ooze_solver *s = open_solver(k ? OOZE_BACKEND_CUDA : OOZE_BACKEND_CPU, 0.01f);
    ooze_stats t;
    ooze_stats_default(&t);
    fill(s);
    const uint32_t n = ooze_particle_count(s);
    float *x = malloc((size_t)n * 12);
    for (uint32_t i = 0; i < n; i += 7) { /* a stiff solid, here and there */
      const float tau = 2.0f, stiff = 1e5f + 3e3f * (float)(i % 101);
      CHECK_OK(ooze_attribute_write(s, OOZE_RELAXATION_TIME, i, 1, 0, &tau), s);
      CHECK_OK(ooze_attribute_write(s, OOZE_VISCOSITY, i, 1, 0, &stiff), s);
    }
    CHECK_OK(ooze_particles_within(s, low, high, n, x, &within[k]), s);
    for (uint32_t i = 0; i < within[k]; i++)
      for (uint32_t c = 0; c < 3; c++) sum[k][c] += (double)x[3 * i + c];
    CHECK_OK(ooze_step(s, 1.0 / 30), s);
    CHECK_OK(ooze_stats_counts(s, &t), s);
    substeps[k] = t.substeps;
    free(x);
    ooze_solver_destroy(s);
  }
  CHECK_EQ(substeps[0], substeps[1]);
  CHECK(substeps[0] > 8, "%u are no more than plain fluid takes", substeps[0]);
  CHECK(within[0] > 100 && within[0] == within[1], "%u and %u", within[0], within[1]);
  for (int c = 0; c < 3; c++) CHECK_NEAR(sum[1][c], sum[0][c], 1e-9, "sums in another order");
}

OZ_CASE(the_same_run_gives_the_same_bits) {
  NEED_DEVICE();
  shape a = simulate(OOZE_BACKEND_CUDA, 8), b = simulate(OOZE_BACKEND_CUDA, 8);
  CHECK(a.hash == b.hash, "%016llx and %016llx", (unsigned long long)a.hash,
        (unsigned long long)b.hash);
}

/* cg_update reads the sums of cg_apply's blocks, or the last of these does; images behind
 * walls are made beside the move, or before it; finish finds the box of the next sort, or a kernel
 * behind it; lists and walls are made beside other kernels, or after them: nothing of it can be
 * seen. */
OZ_CASE(ways_of_launching_make_no_difference) {
  NEED_DEVICE();
  static const char *const ways[] = {"deferred_sums", "overlap", "status_carriers", "side_streams",
                                     NULL};
  /* rows of places, as large scenes have them; with one thread a particle sums are left only where
   * there are more particles than here */
  for (int l = 0; l < 2; l++) {
    setenv("OOZE_CUDA_LANES", l ? "2" : "1", 1);
    shape a = simulate(OOZE_BACKEND_CUDA, 3);
    for (int k = 0; ways[k]; k++) {
      setenv("OOZE_CUDA_DEBUG_DISABLE", ways[k], 1);
      shape b = simulate(OOZE_BACKEND_CUDA, 3);
      unsetenv("OOZE_CUDA_DEBUG_DISABLE");
      CHECK(a.hash == b.hash, "without %s: %016llx and %016llx", ways[k],
            (unsigned long long)a.hash, (unsigned long long)b.hash);
    }
  }
  unsetenv("OOZE_CUDA_LANES");
}

OZ_CASE(a_checkpoint_goes_on_with_the_same_bits) {
  NEED_DEVICE();
  ooze_solver *s = open_solver(OOZE_BACKEND_CUDA, 0.01f),
              *r = open_solver(OOZE_BACKEND_CUDA, 0.01f);
  size_t bytes = 0;
  uint64_t one = 0, two = 0;
  fill(s);
  for (int k = 0; k < 3; k++) CHECK_OK(ooze_step(s, 1.0 / 30), s);
  CHECK_OK(ooze_checkpoint_size(s, &bytes), s);
  void *memory = malloc(bytes);
  CHECK_OK(ooze_checkpoint_save(s, memory, bytes, &bytes), s);
  CHECK_OK(ooze_checkpoint_load(r, memory, bytes), r);
  for (int k = 0; k < 3; k++) CHECK_OK(ooze_step(s, 1.0 / 30), s);
  for (int k = 0; k < 3; k++) CHECK_OK(ooze_step(r, 1.0 / 30), r);
  CHECK_OK(ooze_state_hash(s, &one), s);
  CHECK_OK(ooze_state_hash(r, &two), r);
  CHECK(one == two, "%016llx and %016llx", (unsigned long long)one, (unsigned long long)two);
  free(memory);
  ooze_solver_destroy(s);
  ooze_solver_destroy(r);
}

/* The checkpoint of a capture, made after the device has gone on, is that of its moment. */
OZ_CASE(a_capture_keeps_its_moment) {
  NEED_DEVICE();
  ooze_solver *s = open_solver(OOZE_BACKEND_CUDA, 0.01f);
  ooze_capture *c = NULL;
  fill(s);
  CHECK_OK(ooze_capture_create(s, &c), s);
  for (int k = 0; k < 4; k++) {
    size_t bytes = 0, same = 0;
    CHECK_OK(ooze_step(s, 1.0 / 30), s);
    CHECK_OK(ooze_capture_take(c, k % 2 ? UINT64_C(1) << OOZE_POSITION : 0), s);
    CHECK_OK(ooze_checkpoint_size(s, &bytes), s);
    unsigned char *was = malloc(bytes), *is = malloc(bytes);
    CHECK_OK(ooze_checkpoint_save(s, was, bytes, &bytes), s);
    CHECK_OK(ooze_step(s, 1.0 / 30), s);
    CHECK(ooze_capture_save(c, is, bytes, &same) == OOZE_OK, "%s", ooze_capture_message(c));
    CHECK(same == bytes && memcmp(was, is, bytes) == 0, "frame %d", k);
    free(was), free(is);
  }
  ooze_capture_destroy(c);
  ooze_solver_destroy(s);
}

OZ_CASE(running_out_of_device_memory_is_an_error_that_says_how_much) {
  NEED_DEVICE();
  setenv("OOZE_CUDA_MEMORY", "64", 1); /* MiB */
  ooze_solver *s = open_solver(OOZE_BACKEND_CUDA, 0.01f);
  unsetenv("OOZE_CUDA_MEMORY");
  const float low[3] = {0.0f, 0.005f, 0.0f}, beside[3] = {5.0f, 0.005f, 0.0f};
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 10.0f;
  add_block(s, 10, 10, 10, low, &m);
  CHECK_OK(ooze_step(s, 0.01), s);
  const uint32_t n = 100 * 100 * 100;
  float *x = calloc((size_t)n * 3, 4);
  for (uint32_t i = 0; i < n; i++)
    x[3 * i] = beside[0] + 0.01f * (float)(i % 100), x[3 * i + 1] = 0.01f * (float)(i / 100 % 100),
          x[3 * i + 2] = 0.01f * (float)(i / 10000);
  ooze_particles p;
  ooze_particles_default(&p);
  p.count = n, p.positions = x;
  CHECK_RESULT(ooze_particles_add(s, &p, NULL), OOZE_ERROR_MEMORY, s);
  printf("  %s\n", ooze_solver_message(s));
  CHECK(strstr(ooze_solver_message(s), "bytes") && strstr(ooze_solver_message(s), "free"));
  CHECK_EQ(ooze_particle_count(s), 1000);
  CHECK_OK(ooze_step(s, 0.01), s);
  free(x);
  ooze_solver_destroy(s);
}

OZ_CASE(particles_come_and_go) {
  NEED_DEVICE();
  ooze_solver *a = open_solver(OOZE_BACKEND_CUDA, 0.01f);
  const float low[3] = {0.0f, 0.005f, 0.0f}, beside[3] = {0.3f, 0.005f, 0.0f};
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 10.0f;
  uint32_t n = add_block(a, 10, 10, 10, low, &m);
  CHECK_OK(ooze_step(a, 0.01), a);
  n += add_block(a, 20, 20, 20, beside, &m);
  CHECK_OK(ooze_step(a, 0.01), a);
  uint64_t gone[500];
  for (int k = 0; k < 500; k++) gone[k] = (uint64_t)(3 * k + 1);
  CHECK_OK(ooze_particles_remove(a, gone, 500), a);
  CHECK_EQ(ooze_particle_count(a), n - 500);
  CHECK_OK(ooze_step(a, 0.01), a);
  uint32_t rank;
  CHECK_EQ(ooze_particle_find(a, 1, &rank), OOZE_ERROR_NOT_FOUND);
  CHECK_OK(ooze_particles_clear(a), a);
  CHECK_OK(ooze_step(a, 0.01), a);
  ooze_solver_destroy(a);
}

OZ_TEST_MAIN()
