/* MB/s of raw data, written and read: io_speed [points] [folder]. The bar is 300 MB/s for binary caches on a RAM disk.
 * SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "ooze/ooze_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A cache as the solver writes it: smooth fields with some noise, so that packing has honest work. */
static ooze_points *cache(uint64_t count, double *out_bytes) {
  static const struct {
    const char *name;
    uint32_t type, components;
  } list[] = {{"P", OOZE_FLOAT32, 3},           {"v", OOZE_FLOAT32, 3},         {"id", OOZE_UINT64, 1},
              {"pscale", OOZE_FLOAT32, 1},      {"conform", OOZE_FLOAT32, 6},   {"relaxtime", OOZE_FLOAT32, 1},
              {"compliance", OOZE_FLOAT32, 1},  {"viscosity", OOZE_FLOAT32, 1}, {"density", OOZE_FLOAT32, 1},
              {"temperature", OOZE_FLOAT32, 1}, {"force", OOZE_FLOAT32, 3},     {"material", OOZE_INT32, 1},
              {"source", OOZE_INT32, 1}};
  ooze_points *points;
  uint32_t seed = 1;
  *out_bytes = 0.0;
  if (ooze_points_create(count, &points, NULL) != OOZE_OK) exit(1);
  for (size_t a = 0; a < sizeof list / sizeof *list; a++) {
    void *data;
    if (ooze_points_add(points, list[a].name, list[a].type, list[a].components, 0, &data, NULL) != OOZE_OK) exit(1);
    *out_bytes += (double)count * list[a].components * (list[a].type == OOZE_UINT64 ? 8 : 4);
    for (uint64_t i = 0; i < count * list[a].components; i++) {
      seed = seed * 1664525u + 1013904223u;
      if (list[a].type == OOZE_UINT64)
        ((uint64_t *)data)[i] = i;
      else if (list[a].type == OOZE_FLOAT32)
        ((float *)data)[i] = list[a].components > 1 ? (float)(i / 3000) * 0.01f + (float)(seed >> 8) * 1e-9f : 1000.0f;
    }
  }
  return points;
}

int main(int argc, char **argv) {
  static const char *const endings[] = {"bgeo", "bgeo.sc", "ply"};
  uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
  const char *folder = argc > 2 ? argv[2] : "/dev/shm";
  double bytes;
  ooze_points *points = cache(count, &bytes);
  char path[1024];
  printf("%llu points, %.1f MB raw, %s\n%-12s %10s %10s %10s\n", (unsigned long long)count, bytes * 1e-6, folder, "",
         "write MB/s", "read MB/s", "file MB");
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    double best[2] = {1e30, 1e30};
    struct stat about = {0};
    ooze_message why = {""};
    snprintf(path, sizeof path, "%s/ooze_io_speed_%ld.%s", folder, (long)getpid(), endings[i]);
    for (int turn = 0; turn < 3; turn++) {
      ooze_points *read = NULL;
      double start = now();
      if (ooze_points_write(path, points, NULL, &why) != OOZE_OK) break;
      double middle = now();
      if (ooze_points_read(path, NULL, &read, &why) != OOZE_OK) break;
      double end = now();
      best[0] = fmin(best[0], middle - start);
      best[1] = fmin(best[1], end - middle);
      ooze_points_destroy(read);
    }
    if (why.text[0]) printf("%s\n", why.text);
    stat(path, &about);
    unlink(path);
    printf("%-12s %10.0f %10.0f %10.1f\n", endings[i], bytes / best[0] * 1e-6, bytes / best[1] * 1e-6,
           (double)about.st_size * 1e-6);
  }
  /* A checkpoint of that size. */
  ooze_points_attribute a;
  ooze_points_attribute_default(&a);
  size_t size = (size_t)count * 24;
  if (ooze_points_find(points, "conform", &a) == OOZE_OK) {
    double best[2] = {1e30, 1e30};
    struct stat about = {0};
    ooze_message why = {""};
    snprintf(path, sizeof path, "%s/ooze_io_speed_%ld.ozc", folder, (long)getpid());
    for (int turn = 0; turn < 3; turn++) {
      void *memory = NULL;
      size_t got;
      double start = now();
      if (ooze_checkpoint_write(path, a.data, size, "{}", &why) != OOZE_OK) break;
      double middle = now();
      if (ooze_checkpoint_read(path, NULL, &memory, &got, NULL, &why) != OOZE_OK) break;
      double end = now();
      best[0] = fmin(best[0], middle - start);
      best[1] = fmin(best[1], end - middle);
      ooze_io_free(memory);
    }
    if (why.text[0]) printf("%s\n", why.text);
    stat(path, &about);
    unlink(path);
    printf("%-12s %10.0f %10.0f %10.1f\n", "checkpoint", (double)size / best[0] * 1e-6, (double)size / best[1] * 1e-6,
           (double)about.st_size * 1e-6);
  }
  ooze_points_destroy(points);
  return 0;
}
