/* mutate COUNT [SEED]: whole files of every kind, each with a few bytes changed, cut or repeated,
 * through their readers and on to the work on their contents: points to a surface and into a
 * solver that steps, meshes to boundary points and to a level set, checkpoints into a solver that
 * steps. Each either works with finite results or is refused with a sentence; none crashes or takes
 * more than 20 s. SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700
#include "base/hash.h"
#include "ooze/ooze_io.h"
#include "ooze/ooze_surface.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/time.h>

enum { KINDS = 10, MOST_BYTES = 1 << 22, HEADER = 80 /* of core/checkpoint.c */ };
static const char *const names[KINDS] = {"p.bgeo", "p.bgeo.sc", "p.geo", "p.ply", "m.ply",
                                         "m.obj",  "m.bgeo",    "c.ozc", "state", "v.vdb"};
static uint8_t *seeds[KINDS];
static size_t sizes[KINDS];
static uint64_t random_state = 1;
static unsigned long long refused, used, now;

static uint32_t number(uint32_t most) { /* xorshift */
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)(random_state >> 32) % most;
}

static void must(int condition, const char *what, const char *more) {
  if (condition) return;
  fprintf(stderr, "mutate: number %llu: %s: %s\n", now, what, more);
  abort();
}

static ooze_solver *solver(void) {
  ooze_solver_desc d;
  ooze_solver *s = NULL;
  ooze_message why = {""};
  ooze_solver_desc_default(&d);
  d.backend = OOZE_BACKEND_CPU;
  d.tasks = OOZE_TASKS_SERIAL;
  d.particle_separation = 0.02f;
  d.max_particles = 100000;
  must(ooze_solver_create(&d, &s, &why) == OOZE_OK, "no solver", why.text);
  return s;
}

/* ---- Whole files ------------------------------------------------------------------------------
 */

static void slurp(int kind, const char *path) {
  ooze_message why = {""};
  void *bytes = NULL;
  must(ooze_file_read(path, MOST_BYTES, &bytes, &sizes[kind], &why) == OOZE_OK, path, why.text);
  seeds[kind] = bytes;
  remove(path);
}

static void make_seeds(void) {
  ooze_solver *s = solver();
  ooze_points *points = NULL;
  ooze_message why = {""};
  float x[64][3];
  ooze_particles p;
  ooze_collider_desc floor_desc;
  for (int i = 0; i < 64; i++)
    x[i][0] = 0.02f * (float)(i & 3), x[i][1] = 0.05f + 0.02f * (float)(i >> 2 & 3),
    x[i][2] = 0.02f * (float)(i >> 4);
  ooze_particles_default(&p);
  p.count = 64;
  p.positions = x;
  must(ooze_particles_add(s, &p, NULL) == OOZE_OK, "particles", ooze_solver_message(s));
  ooze_collider_desc_default(&floor_desc);
  must(ooze_collider_add(s, &floor_desc, NULL) == OOZE_OK, "floor", ooze_solver_message(s));
  must(ooze_step(s, 1.0 / 60.0) == OOZE_OK, "step", ooze_solver_message(s));
  must(ooze_points_from_solver(s, &points, &why) == OOZE_OK, "points", why.text);
  for (int k = 0; k < 4; k++) {
    must(ooze_points_write(names[k], points, NULL, &why) == OOZE_OK, names[k], why.text);
    slurp(k, names[k]);
  }
  if (ooze_surface_has_vdb()) {
    ooze_surface *surface = NULL;
    ooze_surface_desc d;
    ooze_surface_desc_default(&d);
    d.separation = 0.02f;
    must(ooze_surface_of_points(&d, points, 0, NULL, 0, &surface, &why) == OOZE_OK, "surface",
         why.text);
    must(ooze_surface_write_vdb(surface, names[9], NULL, &why) == OOZE_OK, names[9], why.text);
    slurp(9, names[9]);
    ooze_surface_destroy(surface);
  }
  ooze_points_destroy(points);

  ooze_mesh box;
  static const uint32_t faces[36] = {0, 1, 3, 0, 3, 2, 4, 7, 5, 4, 6, 7, 0, 4, 5, 0, 5, 1,
                                     2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3};
  ooze_mesh_default(&box);
  must(ooze_mesh_allocate(&box, 8, 12, 0, &why) == OOZE_OK, "mesh", why.text);
  for (int i = 0; i < 24; i++) box.positions[i] = 0.1f * (float)(i / 3 >> (2 - i % 3) & 1);
  memcpy(box.triangles, faces, sizeof faces);
  for (int k = 4; k < 7; k++) {
    must(ooze_mesh_write(names[k], &box, NULL, &why) == OOZE_OK, names[k], why.text);
    slurp(k, names[k]);
  }
  ooze_mesh_release(&box);

  must(ooze_checkpoint_size(s, &sizes[8]) == OOZE_OK, "size", ooze_solver_message(s));
  seeds[8] = malloc(sizes[8]);
  must(ooze_checkpoint_save(s, seeds[8], sizes[8], &sizes[8]) == OOZE_OK, "save",
       ooze_solver_message(s));
  if (ooze_checkpoint_write(names[7], seeds[8], sizes[8], "{\"frame\":1}", &why) == OOZE_OK)
    slurp(7, names[7]);
  ooze_solver_destroy(s);
}

static size_t mutate(const uint8_t *from, size_t size, uint8_t *to) {
  static const char *const words[] = {"-1",  "0",   "1e38",       "nan",  "inf", "4294967295",
                                      "1e9", "2e9", "-1e-38",     "[[[[", "{",   "\"P\"",
                                      "f",   "v",   "0.00000001", "true"};
  memcpy(to, from, size);
  for (uint32_t n = 1 + number(number(8) ? 3 : 20); n && size; n--) {
    const size_t at = number((uint32_t)size);
    switch (number(8)) {
    case 0:
      to[at] ^= (uint8_t)(1u << number(8));
      break;
    case 1:
      to[at] = (uint8_t)number(256);
      break;
    case 2:
      to[at] = number(2) ? 0xff : 0;
      break;
    case 3: { /* a number of four bytes, out of any range */
      static const uint32_t odd[] = {0,          1,          0x7fffffff, 0x80000000,
                                     0xffffffff, 0x7f800000, 0x7fc00000};
      const uint32_t v = odd[number(7)];
      if (at + 4 <= size) memcpy(to + at, &v, 4);
      break;
    }
    case 4: { /* a word over another */
      const char *word = words[number(sizeof words / sizeof *words)];
      for (size_t k = 0; word[k] && at + k < size; k++) to[at + k] = (uint8_t)word[k];
      break;
    }
    case 5: /* a piece repeated elsewhere */
      if (size > 16) {
        const size_t piece = 1 + number(16), other = number((uint32_t)(size - piece));
        memmove(to + (at + piece > size ? size - piece : at), to + other, piece);
      }
      break;
    case 6: /* a piece taken out */
      if (number(4) == 0) {
        const size_t piece = 1 + number(64), end = at + piece < size ? at + piece : size;
        memmove(to + at, to + end, size - end);
        size -= end - at;
      }
      break;
    default:
      if (number(16) == 0) size = at; /* cut */
    }
  }
  return size;
}

/* ---- Work on the contents ----------------------------------------------------------------------
 */

static int finite_all(const float *v, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(v[i])) return 0;
  return 1;
}

static void step(ooze_solver *s) {
  const ooze_result r = ooze_step(s, 1.0 / 60.0);
  must(r >= 0 || ooze_solver_message(s)[0], "a step failed", "without a word");
  const uint32_t n = ooze_particle_count(s);
  float *x = malloc(((size_t)n + 1) * 12);
  if (r >= 0 && n) {
    must(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, x) == OOZE_OK, "positions", "not read");
    must(finite_all(x, 3 * (size_t)n), "a step", "positions are not finite");
    must(ooze_attribute_read(s, OOZE_VELOCITY, 0, n, 0, x) == OOZE_OK, "velocities", "not read");
    must(finite_all(x, 3 * (size_t)n), "a step", "velocities are not finite");
  }
  free(x);
}

static void use_points(ooze_points *points) {
  ooze_message why = {""};
  ooze_surface_desc d;
  ooze_surface_points in;
  ooze_points_attribute p;
  ooze_surface *surface = NULL;
  const uint64_t count = ooze_points_count(points);
  ooze_points_attribute_default(&p);
  if (count > 100000 || ooze_points_find(points, "P", &p) != OOZE_OK || p.type != OOZE_FLOAT32)
    return;
  ooze_surface_desc_default(&d);
  ooze_surface_points_default(&in);
  d.separation = 0.02f;
  d.threads = 1;
  d.max_voxels = 4000000;
  in.count = (uint32_t)count;
  in.positions = p.data;
  if (count && ooze_surface_build(&d, &in, &surface, &why) < 0)
    must(why.text[0] != 0, "a surface was refused", "without a word");
  ooze_surface_destroy(surface);
  ooze_solver *s = solver();
  if (ooze_points_to_solver(points, s, &why) >= 0)
    step(s);
  else
    must(why.text[0] != 0, "points were refused", "without a word");
  ooze_solver_destroy(s);
}

static void use_mesh(const ooze_mesh *mesh) {
  ooze_message why = {""};
  ooze_mesh_samples samples;
  ooze_mesh_samples_default(&samples);
  double size = 0.0;
  for (size_t i = 0; i < 3 * (size_t)mesh->point_count; i++)
    size = fmax(size, fabs((double)mesh->positions[i]));
  /* the finer is refused by the area, or takes its time by right */
  if (ooze_mesh_sample(mesh, size > 4.0 ? 0.005 * size : 0.02, number(3), &samples, &why) < 0)
    must(why.text[0] != 0, "points on a mesh were refused", "without a word");
  ooze_mesh_samples_release(&samples);
  if (ooze_surface_has_vdb() && mesh->triangle_count < 100000) {
    ooze_sdf_desc d;
    ooze_sdf sdf;
    ooze_sdf_desc_default(&d);
    d.voxel = 0.02f;
    d.max_bricks = 4096;
    ooze_sdf_default(&sdf);
    if (ooze_sdf_from_mesh(&d, mesh->positions, mesh->point_count, mesh->triangles,
                           (uint32_t)mesh->triangle_count, &sdf, &why) < 0)
      must(why.text[0] != 0, "a level set was refused", "without a word");
    ooze_sdf_free(&sdf);
  }
}

static void use_state(const void *memory, size_t bytes) {
  ooze_solver *s = solver();
  if (ooze_checkpoint_load(s, memory, bytes) >= 0) {
    used++;
    step(s);
  } else {
    must(ooze_solver_message(s)[0] != 0, "a state was refused", "without a word");
    refused++;
  }
  ooze_solver_destroy(s);
}

/* As a wall that fluid falls on. */
static void use_sdf(const ooze_sdf *sdf) {
  ooze_solver *s = solver();
  ooze_collider_desc wall;
  ooze_particles p;
  const float x[2][3] = {{0, 0.1f, 0}, {0.02f, 0.1f, 0}};
  ooze_collider_desc_default(&wall);
  wall.shape = OOZE_SHAPE_SDF;
  wall.voxel = sdf->voxel;
  wall.bricks = sdf->bricks;
  wall.brick_count = sdf->brick_count;
  ooze_particles_default(&p);
  p.count = 2;
  p.positions = x;
  must(ooze_particles_add(s, &p, NULL) == OOZE_OK, "particles", ooze_solver_message(s));
  if (ooze_collider_add(s, &wall, NULL) >= 0)
    step(s);
  else
    must(ooze_solver_message(s)[0] != 0, "a wall was refused", "without a word");
  ooze_solver_destroy(s);
}

/* OpenVDB reads files alone. */
static int try_vdb(const uint8_t *data, size_t size, ooze_message *why) {
  ooze_sdf_desc d;
  ooze_sdf sdf;
  FILE *file = fopen(names[9], "wb");
  must(file && fwrite(data, 1, size, file) == size && fclose(file) == 0, names[9], "not written");
  ooze_sdf_desc_default(&d);
  d.max_bricks = 4096;
  d.max_memory = 1u << 30;
  d.max_seconds = 10;
  ooze_sdf_default(&sdf);
  const ooze_result result = ooze_sdf_from_vdb(&d, names[9], NULL, &sdf, why);
  if (result == OOZE_OK) use_sdf(&sdf);
  ooze_sdf_free(&sdf);
  remove(names[9]);
  return result == OOZE_OK;
}

static void try_one(int kind, const uint8_t *data, size_t size) {
  ooze_message why = {""};
  ooze_io_limits limits;
  ooze_io_limits_default(&limits);
  limits.max_bytes = 8u << 20;
  if (kind < 4) {
    ooze_points *points = NULL;
    if (ooze_points_read_memory(names[kind], data, size, &limits, &points, &why) == OOZE_OK) {
      used++;
      use_points(points);
      ooze_points_destroy(points);
      return;
    }
  } else if (kind < 7) {
    ooze_mesh mesh;
    ooze_mesh_default(&mesh);
    if (ooze_mesh_read_memory(names[kind], data, size, &limits, &mesh, &why) == OOZE_OK) {
      used++;
      use_mesh(&mesh);
      ooze_mesh_release(&mesh);
      return;
    }
  } else if (kind == 7) {
    void *memory = NULL;
    char *meta = NULL;
    size_t bytes = 0;
    if (ooze_checkpoint_read_memory(names[kind], data, size, &limits, &memory, &bytes, &meta,
                                    &why) == OOZE_OK) {
      use_state(memory, bytes);
      ooze_io_free(memory);
      ooze_io_free(meta);
      return;
    }
  } else if (kind == 8) {
    use_state(data, size);
    return;
  } else if (try_vdb(data, size, &why)) {
    used++;
    return;
  }
  must(why.text[0] != 0, names[kind], "refused without a word");
  refused++;
}

/* of this process's own time: a busy machine is no hang */
static void limit(int seconds) {
  struct itimerval t;
  memset(&t, 0, sizeof t);
  t.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &t, NULL);
}
static void on_limit(int signal_number) {
  (void)signal_number;
  must(0, "hangs", "20 s");
}

int main(int argc, char **argv) {
  const unsigned long long count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
  random_state = argc > 2 ? strtoull(argv[2], NULL, 10) | 1 : 0x9e3779b97f4a7c15u;
  signal(SIGPROF, on_limit);
  make_seeds();
  uint8_t *bytes = malloc(MOST_BYTES);
  for (now = 1; now <= count; now++) {
    const int kind = (int)number(KINDS);
    if (!seeds[kind]) continue;
    const size_t size = mutate(seeds[kind], sizes[kind], bytes);
    if (kind == 8 && size > HEADER && number(4)) { /* sealed: the damage gets past the hash */
      const uint64_t whole = size, hash = oz_hash_of(bytes + HEADER, size - HEADER);
      memcpy(bytes + 16, &whole, 8);
      memcpy(bytes + 24, &hash, 8);
    }
    limit(20);
    try_one(kind, bytes, size);
    limit(0);
  }
  printf("%llu files: %llu refused, %llu used\n", count, refused, used);
  free(bytes);
  for (int k = 0; k < KINDS; k++) free(seeds[k]);
  return refused && used ? 0 : 1;
}
