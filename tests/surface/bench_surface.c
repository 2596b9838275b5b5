/* Timing of surfaces and pictures: not a test, but built with them.
 *   bench_surface [particles] [threads]      default 1,000,000 and all
 * Prints wall and processor seconds; with one thread also how much of that can be shared; on a
 * machine that others use, the second over the number of cores is the time of an idle one.
 * Shapes: a block, and a coil of strands nine particles thick, where bricks are many and thinly
 * filled. SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "ooze/ooze_surface.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* With one thread: the loops are run here and timed, so that the serial part shows, whatever else
 * the machine does. */
static double shared;
static void timed_for(void *user, uint32_t count, ooze_range_fn body, void *arg) {
  double began = seconds(CLOCK_THREAD_CPUTIME_ID);
  (void)user;
  body(arg, 0, count);
  shared += seconds(CLOCK_THREAD_CPUTIME_ID) - began;
}
static void print_shares(double all) {
  if (shared > 0.0)
    printf("    %.0f %% of it in loops that share: %.2f s on two cores\n", 100.0 * shared / all,
           all - 0.5 * shared);
  shared = 0.0;
}

static void block(float *x, uint32_t count, float d) {
  uint32_t n = (uint32_t)ceil(cbrt((double)count)), i;
  for (i = 0; i < count; ++i) {
    x[3 * i] = d * (float)(i % n);
    x[3 * i + 1] = d * (float)(i / n % n);
    x[3 * i + 2] = d * (float)(i / n / n);
  }
}

static void coil(float *x, uint32_t count, float d) {
  uint32_t i = 0, step;
  for (step = 0; i < count; ++step) {
    float a = (float)step / 40.0f, turn = a / 6.2831853f;
    int u, v;
    for (u = -4; u <= 4; ++u)
      for (v = -4; v <= 4 && i < count; ++v) {
        float r = d * (40.0f + (float)u);
        if (u * u + v * v > 18) continue;
        x[3 * i] = r * cosf(a);
        x[3 * i + 1] = d * (12.0f * turn + (float)v);
        x[3 * i++ + 2] = r * sinf(a);
      }
  }
}

int main(int argc, char **argv) {
  uint32_t count = argc > 1 ? (uint32_t)atol(argv[1]) : 1000000u,
           threads = argc > 2 ? (uint32_t)atol(argv[2]) : 0, shape, method;
  float *x = (float *)malloc((size_t)count * 3 * sizeof *x), d = 0.01f;
  ooze_message why = {""};
  if (!x) return 1;
  for (shape = 0; shape < 2; ++shape) {
    (shape ? coil : block)(x, count, d);
    for (method = 0; method < 2; ++method) {
      ooze_surface_desc sd;
      ooze_surface_points p;
      ooze_surface_info info;
      ooze_surface *s = NULL;
      ooze_render_desc rd;
      ooze_look look;
      ooze_image image;
      ooze_hooks hooks;
      double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), used;
      ooze_hooks_default(&hooks);
      hooks.parallel_for = timed_for;
      ooze_surface_desc_default(&sd);
      ooze_surface_points_default(&p);
      sd.method = method;
      sd.separation = d;
      sd.threads = threads == 1 ? 0 : threads; /* with one, the loops come to us */
      if (threads == 1) sd.hooks = &hooks;
      p.count = count;
      p.positions = x;
      if (ooze_surface_build(&sd, &p, &s, &why)) return puts(why.text), 1;
      ooze_surface_info_default(&info);
      ooze_surface_info_get(s, &info);
      used = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
      printf("%s %u particles, %s: surface %.2f s wall, %.2f s processor; %u bricks, %.0f MB, "
             "volume error %.2f %%\n",
             shape ? "coil" : "block", count, method ? "anisotropic" : "spheres",
             seconds(CLOCK_MONOTONIC) - wall, used, info.bricks, (double)info.bytes / 1e6,
             100.0 * (info.volume / ((double)count * d * d * d) - 1.0));
      print_shares(used);
      ooze_render_desc_default(&rd);
      ooze_look_preset("honey", &look);
      rd.surface = method ? s : NULL; /* once as spheres, once as a surface */
      rd.looks = &look;
      rd.look_count = 1;
      rd.positions = x;
      rd.particle_count = count;
      rd.particle_radius = 0.5f * d;
      rd.threads = sd.threads;
      if (threads == 1) rd.hooks = &hooks;
      wall = seconds(CLOCK_MONOTONIC);
      cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
      if (ooze_render(&rd, &image, &why)) return puts(why.text), 1;
      used = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
      printf("  picture 960x540 of %s: %.2f s wall, %.2f s processor\n",
             method ? "the surface as honey" : "spheres", seconds(CLOCK_MONOTONIC) - wall, used);
      print_shares(used);
      if (argc > 3) {
        char path[512];
        snprintf(path, sizeof path, "%s_%u_%u.png", argv[3], shape, method);
        ooze_image_write_png(&image, path, NULL);
      }
      ooze_image_free(&image);
      ooze_surface_destroy(s);
    }
  }
  free(x);
  return 0;
}
