/* MB/s of raw data, written and read: io_speed [points] [folder]. The bar is 300 MB/s for binary
 * caches on a RAM disk. SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "ooze/ooze_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A cache as the solver writes it: smooth fields with some noise, so that packing has honest work.
 */
static ooze_points *cache(uint64_t count, double *out_bytes) {
  static const struct {
    const char *name;
    uint32_t type, components;
  } list[] = {{"P", OOZE_FLOAT32, 3},          {"v", OOZE_FLOAT32, 3},
              {"id", OOZE_UINT64, 1},          {"pscale", OOZE_FLOAT32, 1},
              {"conform", OOZE_FLOAT32, 6},    {"relaxtime", OOZE_FLOAT32, 1},
              {"compliance", OOZE_FLOAT32, 1}, {"viscosity", OOZE_FLOAT32, 1},
              {"density", OOZE_FLOAT32, 1},    {"temperature", OOZE_FLOAT32, 1},
              {"force", OOZE_FLOAT32, 3},      {"material", OOZE_INT32, 1},
              {"source", OOZE_INT32, 1}};
  ooze_points *points;
  uint32_t seed = 1;
  *out_bytes = 0.0;
  if (ooze_points_create(count, &points, NULL) != OOZE_OK) exit(1);
  for (size_t a = 0; a < sizeof list / sizeof *list; a++) {
    void *data;
    if (ooze_points_add(points, list[a].name, list[a].type, list[a].components, 0, &data, NULL) !=
        OOZE_OK)
      exit(1);
    *out_bytes += (double)count * list[a].components * (list[a].type == OOZE_UINT64 ? 8 : 4);
    for (uint64_t i = 0; i < count * list[a].components; i++) {
      seed = seed * 1664525u + 1013904223u;
      if (list[a].type == OOZE_UINT64)
        ((uint64_t *)data)[i] = i;
      else if (list[a].type == OOZE_FLOAT32)
        ((float *)data)[i] = list[a].components > 1
                                 ? (float)(i / 3000) * 0.01f + (float)(seed >> 8) * 1e-9f
                                 : 1000.0f;
    }
  }
  return points;
}

/* Of several turns the best, by the clock on the wall and by the processor's: on a busy machine
 * only the second tells.
 */
typedef struct best {
  double wall[2], cpu[2];
} best;

static void begin(double t[2]) {
  t[0] = now(CLOCK_MONOTONIC);
  t[1] = now(CLOCK_PROCESS_CPUTIME_ID);
}
static void end(best *b, int which, const double t[2]) {
  b->wall[which] = fmin(b->wall[which], now(CLOCK_MONOTONIC) - t[0]);
  b->cpu[which] = fmin(b->cpu[which], now(CLOCK_PROCESS_CPUTIME_ID) - t[1]);
}
static void print(const char *name, const best *b, double bytes, const char *path) {
  struct stat about = {0};
  stat(path, &about);
  unlink(path);
  printf("%-12s %12.0f %12.0f %16.0f %16.0f %9.1f\n", name, bytes / b->wall[0] * 1e-6,
         bytes / b->wall[1] * 1e-6, bytes / b->cpu[0] * 1e-6, bytes / b->cpu[1] * 1e-6,
         (double)about.st_size * 1e-6);
}

int main(int argc, char **argv) {
  static const char *const endings[] = {"bgeo", "bgeo.sc", "ply", "ozc"};
  uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
  const char *folder = argc > 2 ? argv[2] : "/dev/shm";
  double bytes, t[2];
  ooze_points *points = cache(count, &bytes);
  ooze_points_attribute conform;
  ooze_points_attribute_default(&conform);
  if (ooze_points_find(points, "conform", &conform) != OOZE_OK) return 1;
  printf("%llu points, %.1f MB raw, %s\n%-12s %12s %12s %16s %16s %9s\n", (unsigned long long)count,
         bytes * 1e-6, folder, "MB/s", "write, wall", "read, wall", "write, a core", "read, a core",
         "file MB");
  for (int i = 0; i < 4; i++) {
    best b = {{1e30, 1e30}, {1e30, 1e30}};
    ooze_message why = {""};
    char path[1024];
    size_t block = (size_t)count * 24; /* the bulk of a checkpoint here: the conformation */
    snprintf(path, sizeof path, "%s/ooze_io_speed_%ld.%s", folder, (long)getpid(), endings[i]);
    for (int turn = 0; turn < 3 && !why.text[0]; turn++) {
      ooze_points *read = NULL;
      void *memory = NULL;
      size_t got;
      begin(t);
      ooze_result r = i == 3 ? ooze_checkpoint_write(path, conform.data, block, "{}", &why)
                             : ooze_points_write(path, points, NULL, &why);
      end(&b, 0, t);
      if (r != OOZE_OK) break;
      begin(t);
      r = i == 3 ? ooze_checkpoint_read(path, NULL, &memory, &got, NULL, &why)
                 : ooze_points_read(path, NULL, &read, &why);
      end(&b, 1, t);
      ooze_points_destroy(read);
      ooze_io_free(memory);
      if (r != OOZE_OK) break;
    }
    if (why.text[0]) printf("%s\n", why.text);
    print(endings[i], &b, i == 3 ? (double)block : bytes, path);
  }
  ooze_points_destroy(points);
  return 0;
}
