/* Level sets from particles: radius, volume, flatness, thin strands, coarse voxels, threads,
 * attributes. SPDX-License-Identifier: Apache-2.0 */
#include "scenes.h"

static const float up[3] = {0, 1, 0};

OZ_CASE(one_particle_has_the_radius_of_its_volume) {
  float x[3] = {0.0013f, 0.0027f, -0.004f}, diagonal[3] = {0.57735f, 0.57735f, 0.57735f};
  ooze_surface_desc d;
  ooze_surface_info info;
  uint32_t method;
  ooze_surface_desc_default(&d);
  d.voxel = 0.0025f;
  for (method = 0; method < 2; ++method) {
    ooze_surface *s;
    d.method = method;
    s = build(&d, x, 1);
    ooze_surface_info_default(&info);
    ooze_surface_info_get(s, &info);
    CHECK_NEAR(distance_along(s, x, up, 0.0005f), 0.0062f, 0.0004f,
               "a tenth of a voxel of trilinear error and half of that in the sampled ray");
    CHECK_NEAR(distance_along(s, x, diagonal, 0.0005f), 0.0062f, 0.0004f, "as above");
    CHECK_NEAR(info.volume, 1e-6, 0.05e-6,
               "of one separation cubed; the volume is a sum over samples 2.5 to the radius");
    CHECK_NEAR(info.radius, 0.0062f, 1e-5f, "0.62 separations");
    ooze_surface_destroy(s);
  }
}

OZ_CASE(given_radius_is_the_radius) {
  float x[3] = {0};
  ooze_surface_desc d;
  ooze_surface *s;
  ooze_surface_desc_default(&d);
  d.radius = 0.01f;
  d.voxel = 0.0025f;
  s = build(&d, x, 1);
  CHECK_NEAR(distance_along(s, x, up, 0.0005f), 0.01f, 0.0004f, "a sixth of a voxel");
  ooze_surface_destroy(s);
}

/* Mean height of the top over the outermost layer, and its roughness (rms), both in separations. */
static void top_of(const ooze_surface *s, float separation, uint32_t n, double *mean,
                   double *rough) {
  double sum = 0.0, squares = 0.0;
  uint32_t count = 0;
  float u, v, from = 0.25f * (float)n, to = 0.75f * (float)n;
  for (u = from; u < to; u += 0.37f)
    for (v = from; v < to; v += 0.41f) {
      float p[3] = {u * separation, ((float)n - 3.0f) * separation, v * separation};
      double h = distance_along(s, p, up, 0.1f * separation) / separation - 2.0;
      sum += h;
      squares += h * h;
      ++count;
    }
  *mean = sum / count;
  *rough = sqrt(fmax(squares / count - *mean * *mean, 0.0));
}

OZ_CASE(block_keeps_its_volume_and_has_a_flat_top) {
  enum { N = 20 };
  float *x = lattice(N, 0.01f, 0.0f);
  double rough[2];
  uint32_t method;
  for (method = 0; method < 2; ++method) {
    ooze_surface_desc d;
    ooze_surface_info info;
    ooze_surface *s;
    double mean;
    ooze_surface_desc_default(&d);
    d.method = method;
    s = build(&d, x, N * N * N);
    ooze_surface_info_default(&info);
    ooze_surface_info_get(s, &info);
    CHECK_NEAR(info.volume, N * N * N * 1e-6, 0.01 * N * N * N * 1e-6,
               "the top within 0.03 separations is 0.9 percent of a side of 20");
    CHECK_NEAR(info.area, 6 * 0.2 * 0.2, 0.06 * 6 * 0.2 * 0.2,
               "edges are rounded off over half a separation");
    top_of(s, 0.01f, N, &mean, &rough[method]);
    CHECK_NEAR(mean, 0.5, 0.03, "half a separation beyond the last layer holds the volume");
    CHECK(rough[method] < 0.02, "%g separations rms: lumps of a lattice at rest must not show",
          rough[method]);
    ooze_surface_destroy(s);
  }
  CHECK(rough[1] < 0.25 * rough[0], "anisotropic %g, spheres %g", rough[1], rough[0]);
  free(x);
}

/* Particles 1 m apart. */
static ooze_surface *build_by(uint32_t method, const float *x, uint32_t count) {
  ooze_surface_desc d;
  ooze_surface_desc_default(&d);
  d.method = method;
  d.separation = 1.0f;
  return build(&d, x, count);
}

OZ_CASE(anisotropic_is_flatter_on_a_disordered_block) {
  enum { N = 16 };
  float *x = lattice(N, 1.0f, 0.3f);
  double mean, rough[2];
  uint32_t method;
  for (method = 0; method < 2; ++method) {
    ooze_surface *s = build_by(method, x, N * N * N);
    top_of(s, 1.0f, N, &mean, &rough[method]);
    CHECK_NEAR(mean, 0.5, 0.05, "smoothing may not pull the surface in");
    ooze_surface_destroy(s);
  }
  CHECK(rough[1] < 0.7 * rough[0], "anisotropic %g, spheres %g", rough[1], rough[0]);
  free(x);
}

OZ_CASE(bulk_has_no_bubbles) {
  enum { N = 16 };
  float *x = lattice(N, 1.0f, 0.3f), p[3];
  uint32_t method, holes = 0;
  for (method = 0; method < 2; ++method) {
    ooze_surface *s = build_by(method, x, N * N * N);
    for (p[0] = 1.5f; p[0] < N - 2.5f; p[0] += 0.31f)
      for (p[1] = 1.5f; p[1] < N - 2.5f; p[1] += 0.31f)
        for (p[2] = 1.5f; p[2] < N - 2.5f; p[2] += 0.31f) {
          float f;
          ooze_surface_sample(s, p, 1, &f);
          holes += f > 0.0f;
        }
    ooze_surface_destroy(s);
  }
  CHECK_EQ(holes, 0);
  free(x);
}

/* A strand one particle wide, bent into a helix: it must be one piece, of the radius that holds its
 * volume (0.564). */
OZ_CASE(thin_strand_stays_whole_and_does_not_shrink) {
  enum { COUNT = 300 };
  float x[3 * COUNT];
  uint32_t i, method, smoothing;
  for (i = 0; i < COUNT; ++i) {
    float a = (float)i / 20.0f;
    x[3 * i] = 20.0f * cosf(a);
    x[3 * i + 1] = 0.6f * a;
    x[3 * i + 2] = 20.0f * sinf(a);
  }
  for (method = 0; method < 2; ++method)
    for (smoothing = 0; smoothing < 6; smoothing += 5) {
      ooze_surface_desc d;
      ooze_surface_info info;
      ooze_surface *s;
      float least = 9.0f, a;
      ooze_surface_desc_default(&d);
      d.method = method;
      d.separation = 1.0f;
      d.smoothing = smoothing;
      s = build(&d, x, COUNT);
      /* finer than the particles: gaps between them are seen */
      for (a = 0.2f; a < 14.5f; a += 0.011f) {
        float p[3] = {20.0f * cosf(a), 0.6f * a, 20.0f * sinf(a)},
              out[3] = {cosf(a), 0.0f, sinf(a)}, f, r;
        ooze_surface_sample(s, p, 1, &f);
        CHECK(f < 0.0f, "method %u smoothing %u: broken at angle %g", method, smoothing, a);
        r = fminf(distance_along(s, p, up, 0.05f), distance_along(s, p, out, 0.05f));
        least = fminf(least, r);
      }
      CHECK(least > 0.8f * 0.564f, "method %u smoothing %u: radius %g; one voxel is 0.5", method,
            smoothing, least);
      ooze_surface_info_default(&info);
      ooze_surface_info_get(s, &info);
      CHECK_NEAR(info.volume, COUNT, 0.12 * COUNT, "a radius of 1.1 voxels known to a fifteenth");
      ooze_surface_destroy(s);
    }
}

OZ_CASE(particles_below_the_voxel_still_appear) {
  static const float voxels[3] = {0.01f, 0.04f, 0.2f}; /* 1, 4 and 20 separations */
  uint32_t v, i, method;
  float x[3 * 60];
  scene_seed = 7;
  for (i = 0; i < 180; ++i) x[i] = 20.0f * scene_noise();
  for (method = 0; method < 2; ++method)
    for (v = 0; v < 3; ++v) {
      ooze_surface_desc d;
      ooze_surface *s;
      ooze_surface_desc_default(&d);
      d.method = method;
      d.voxel = voxels[v];
      s = build(&d, x, 60);
      for (i = 0; i < 60; ++i) {
        float f, best = 1.0f, p[3];
        int n;
        /* Inside at the nearest samples: the mesher's view. */
        for (n = 0; n < 8; ++n) {
          int a;
          for (a = 0; a < 3; ++a)
            p[a] = (floorf(x[3 * i + (uint32_t)a] / d.voxel) + (float)(n >> a & 1)) * d.voxel;
          ooze_surface_sample(s, p, 1, &f);
          best = fminf(best, f);
        }
        CHECK(best < 0.0f, "particle %u is not there at a voxel of %g m", i, d.voxel);
      }
      ooze_surface_destroy(s);
    }
}

OZ_CASE(heap_in_one_spot_and_bad_numbers_are_handled) {
  enum { COUNT = 20000 };
  float *x = (float *)calloc(3 * COUNT, sizeof *x);
  ooze_surface_desc d;
  ooze_surface_info info;
  ooze_surface *s;
  x[3] = NAN;
  x[7] = INFINITY;
  ooze_surface_desc_default(&d);
  d.method = OOZE_SURFACE_ANISOTROPIC;
  s = build(&d, x, COUNT);
  ooze_surface_info_default(&info);
  ooze_surface_info_get(s, &info);
  CHECK_EQ(info.skipped, 2);
  CHECK_EQ(info.merged, 1);
  CHECK(info.seconds < 5.0, "%g s: the square of a heap of 20,000", info.seconds);
  CHECK_NEAR(distance_along(s, x, up, 0.001f), 0.0062f, 0.001f,
             "a heap in one point is one particle to look at; voxel 0.005");
  ooze_surface_destroy(s);
  s = build(&d, x, 0);
  ooze_surface_info_get(s, &info);
  CHECK_EQ(info.bricks, 0);
  ooze_surface_destroy(s);
  free(x);
}

/* As Takamatsu & Kanai extract it: balls about particles of low density, the inside filled. */
OZ_CASE(density_makes_balls_about_the_outermost_particles) {
  enum { N = 14 };
  float *x = lattice(N, 0.01f, 0.2f), *even = lattice(N, 0.01f, 0.0f),
        middle[3] = {0.065f, 0.065f, 0.065f}, f;
  float above[3] = {0.06f, 0.12f, 0.06f}; /* a particle under the top layer's */
  ooze_surface_desc d;
  ooze_surface_info info;
  ooze_surface *s;
  ooze_surface_desc_default(&d);
  d.method = OOZE_SURFACE_DENSITY;
  s = build(&d, even, N * N * N);
  CHECK_NEAR(distance_along(s, above, up, 0.0005f), 0.019f, 0.0008f,
             "a separation and a ball of 0.9; voxel 0.005");
  ooze_surface_info_default(&info);
  ooze_surface_info_get(s, &info);
  CHECK_NEAR(info.radius, 0.009f, 1e-6f, "0.9 separations");
  CHECK_NEAR(cbrt(info.volume), 0.13 + 2 * 0.0085, 0.003,
             "balls of 9 mm about 13 cm, less what lies between them");
  ooze_surface_destroy(s);
  /* below a threshold of 0 nothing is at the surface: balls of 1.2 all over */
  d.threshold = 0.0f;
  s = build(&d, even, N * N * N);
  CHECK_NEAR(distance_along(s, above, up, 0.0005f), 0.022f, 0.0008f, "1.2 separations");
  ooze_surface_destroy(s);
  /* disorder leaves no void: from the middle to half a separation below the faces all is inside */
  d.threshold = 0.85f;
  s = build(&d, x, N * N * N);
  for (uint32_t i = 0; i < 1000; ++i) {
    float p[3] = {0.006f + 0.013f * (float)(i % 10), 0.006f + 0.013f * (float)(i / 10 % 10),
                  0.006f + 0.013f * (float)(i / 100)};
    for (int a = 0; a < 3; ++a) p[a] = fminf(p[a], 0.124f);
    ooze_surface_sample(s, p, 1, &f);
    CHECK(f < 0.0f, "a void at %g %g %g", p[0], p[1], p[2]);
  }
  ooze_surface_sample(s, middle, 1, &f);
  CHECK_NEAR(f, -0.015f, 1e-6f, "deep inside: the whole band of three voxels");
  ooze_surface_destroy(s);
  free(x);
  free(even);
}

OZ_CASE(same_bits_for_any_number_of_threads) {
  enum { N = 22 };
  float *x = lattice(N, 0.01f, 0.4f);
  uint32_t method, threads;
  for (method = 0; method < 3; ++method) {
    uint64_t hash[4];
    for (threads = 0; threads < 4; ++threads) {
      ooze_surface_desc d;
      ooze_surface_points p;
      ooze_surface_scalar t = {"temperature", x + 1, 3 * sizeof(float)};
      ooze_surface *s = NULL;
      ooze_surface_desc_default(&d);
      d.method = method;
      d.smoothing = 1;
      d.threads = threads;
      ooze_surface_points_default(&p);
      p.count = N * N * N;
      p.positions = p.velocities = x;
      p.scalar_count = 1;
      p.scalars = &t;
      CHECK_EQ(ooze_surface_build(&d, &p, &s, NULL), OOZE_OK);
      hash[threads] = ooze_surface_hash(s);
      ooze_surface_destroy(s);
    }
    CHECK(hash[0] == hash[1] && hash[1] == hash[2] && hash[2] == hash[3], "method %u", method);
  }
  free(x);
}

OZ_CASE(distance_is_a_distance_in_the_band) {
  enum { N = 16 };
  float *x = lattice(N, 1.0f, 0.0f), t, f;
  ooze_surface_desc d;
  ooze_surface *s;
  ooze_surface_desc_default(&d);
  d.separation = 1.0f;
  d.half_width = 5.0f;
  s = build(&d, x, N * N * N);
  for (t = -2.0f; t < 2.0f; t += 0.25f) { /* along the normal at the middle of the top */
    float p[3] = {7.6f, N - 0.5f + t, 7.4f};
    ooze_surface_sample(s, p, 1, &f);
    CHECK_NEAR(
        f, t, 0.12,
        "first-order distance: 0.03 for where the top is, and a sixth of a voxel over five voxels");
  }
  ooze_surface_destroy(s);
  free(x);
}

OZ_CASE(strain_rate_of_linear_flow_is_exact_up_to_the_surface) {
  enum { N = 12 };
  float *x = lattice(N, 0.01f, 0.4f), *v = (float *)malloc(3 * N * N * N * sizeof *v),
        *rate = (float *)malloc(N * N * N * sizeof *rate), worst;
  /* shear of 3 /s with a spin of its own, a pure spin, and a stretch of 2 /s along x that keeps
   * volume */
  static const struct {
    float l[9], expected;
  } flows[3] = {{{0, 3, 0, 0, 0, 0, 0, 0, 0}, 3.0f},
                {{0, 5, 0, -5, 0, 0, 0, 0, 0}, 0.0f},
                {{2, 0, 0, 0, -1, 0, 0, 0, -1}, 3.4641f}}; /* sqrt(2 (4 + 1 + 1)) */
  for (int f = 0; f < 3; ++f) {
    ooze_surface_desc d;
    ooze_surface_points p;
    ooze_surface_desc_default(&d);
    ooze_surface_points_default(&p);
    for (int i = 0; i < N * N * N; ++i)
      for (int a = 0; a < 3; ++a)
        v[3 * i + a] = 7.0f + flows[f].l[3 * a] * x[3 * i] + flows[f].l[3 * a + 1] * x[3 * i + 1] +
                       flows[f].l[3 * a + 2] * x[3 * i + 2];
    p.count = N * N * N;
    p.positions = x;
    p.velocities = v;
    CHECK_EQ(ooze_strain_rate(&d, &p, rate, NULL), OOZE_OK);
    worst = 0.0f;
    for (int i = 0; i < N * N * N; ++i) worst = fmaxf(worst, fabsf(rate[i] - flows[f].expected));
    CHECK(worst < 0.01f,
          "flow %d: off by %g 1/s; the fit's lift is a thousandth, and less at corners", f,
          (double)worst);
  }
  { /* one particle, and a thread of them that is stretched along itself */
    ooze_surface_desc d;
    ooze_surface_points p;
    ooze_surface_desc_default(&d);
    ooze_surface_points_default(&p);
    for (int i = 0; i < 10; ++i) {
      x[3 * i] = x[3 * i + 2] = 0.0f;
      x[3 * i + 1] = 0.01f * (float)i;
      v[3 * i] = v[3 * i + 2] = 0.0f;
      v[3 * i + 1] = 4.0f * x[3 * i + 1];
    }
    p.positions = x;
    p.velocities = v;
    p.count = 1;
    CHECK_EQ(ooze_strain_rate(&d, &p, rate, NULL), OOZE_OK);
    CHECK_NEAR(rate[0], 0.0f, 0.0f, "a lone particle is not strained");
    p.count = 10;
    CHECK_EQ(ooze_strain_rate(&d, &p, rate, NULL), OOZE_OK);
    CHECK_NEAR(rate[4], 4.0 * sqrt(2.0), 0.02, "what it knows is the stretch along the thread");
    p.velocities = NULL;
    CHECK_EQ(ooze_strain_rate(&d, &p, rate, NULL), OOZE_ERROR_ARGUMENT);
  }
  free(x);
  free(v);
  free(rate);
}

OZ_CASE(refusals_name_what_is_wrong) {
  float x[6] = {0, 0, 0, 1e9f, 0, 0};
  ooze_surface_desc d;
  ooze_surface_points p;
  ooze_surface *s = NULL;
  ooze_message why;
  ooze_surface_desc_default(&d);
  ooze_surface_points_default(&p);
  p.count = 2;
  p.positions = x;
  CHECK_EQ(ooze_surface_build(&d, &p, &s, &why), OOZE_ERROR_LIMIT);
  CHECK(strstr(why.text, "particle 1"), "%s", why.text);
  x[3] = 1.0f;
  d.max_voxels = 1000;
  CHECK_EQ(ooze_surface_build(&d, &p, &s, &why), OOZE_ERROR_LIMIT);
  CHECK(strstr(why.text, "1000"), "%s", why.text);
  d.max_voxels = 1000000000;
  d.separation = -1.0f;
  CHECK_EQ(ooze_surface_build(&d, &p, &s, &why), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "separation"), "%s", why.text);
  d.separation = 0.01f;
  d.threshold = 1.5f;
  CHECK_EQ(ooze_surface_build(&d, &p, &s, &why), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "threshold is 1.5"), "%s", why.text);
  CHECK(s == NULL);
}

/* Films and threads of one particle that are drawn out until particles lie `apart` separations
 * away, with their places off by up to a fifth of that. */
OZ_CASE(drawn_films_and_threads_are_closed) {
  enum { SIDE = 24, LONG = 60 };
  float apart;
  for (apart = 1.0f; apart < 2.1f; apart += 0.25f) {
    float film[3 * SIDE * SIDE], thread[3 * LONG], u, v;
    ooze_surface_desc d;
    ooze_surface_info info;
    ooze_surface *s;
    uint32_t i, holes = 0, all = 0;
    scene_seed = 1;
    for (i = 0; i < SIDE * SIDE; ++i) {
      film[3 * i] = apart * ((float)(i % SIDE) + 0.4f * scene_noise());
      film[3 * i + 1] = 0.3f * scene_noise();
      film[3 * i + 2] = apart * ((float)(i / SIDE) + 0.4f * scene_noise());
    }
    for (i = 0; i < LONG; ++i) {
      thread[3 * i] = apart * ((float)i + 0.3f * scene_noise());
      thread[3 * i + 1] = 0.2f * scene_noise();
      thread[3 * i + 2] = 0.2f * scene_noise();
    }
    ooze_surface_desc_default(&d);
    d.method = OOZE_SURFACE_ANISOTROPIC;
    d.separation = 1.0f;
    s = build(&d, film, SIDE * SIDE);
    for (u = 4 * apart; u < (SIDE - 5) * apart; u += 0.23f)
      for (v = 4 * apart; v < (SIDE - 5) * apart; v += 0.23f) {
        float least = 9.0f, y;
        for (y = -0.3f; y <= 0.31f; y += 0.15f) {
          float p[3] = {u, y, v}, f;
          ooze_surface_sample(s, p, 1, &f);
          least = fminf(least, f);
        }
        holes += least > 0.0f;
        ++all;
      }
    CHECK(holes <= all / 200, "film at %g separations: %u of %u places are open", apart, holes,
          all);
    ooze_surface_destroy(s);
    s = build(&d, thread, LONG);
    holes = 0;
    for (u = 2 * apart; u < (LONG - 3) * apart; u += 0.1f) {
      float least = 9.0f, y, z;
      for (y = -0.3f; y <= 0.31f; y += 0.1f)
        for (z = -0.3f; z <= 0.31f; z += 0.1f) {
          float p[3] = {u, y, z}, f;
          ooze_surface_sample(s, p, 1, &f);
          least = fminf(least, f);
        }
      holes += least > 0.0f;
    }
    CHECK_EQ(holes, 0);
    ooze_surface_info_default(&info);
    ooze_surface_info_get(s, &info);
    CHECK_NEAR(info.volume, LONG, 0.06 * LONG,
               "a thread is as thin as its particles say; its radius is one voxel");
    ooze_surface_destroy(s);
  }
}

OZ_CASE(left_out_particles_have_no_part) {
  enum { N = 8, M = N * N * N };
  float *x = lattice(N, 0.01f, 0.2f), *both = (float *)malloc(2 * M * 3 * sizeof *both);
  uint8_t out[2 * M];
  for (uint32_t i = 0; i < 2 * M; ++i) { /* every other one stands beside and is left out */
    memcpy(both + 3 * (size_t)i, x + 3 * (size_t)(i / 2), 3 * sizeof *x);
    out[i] = i % 2;
    if (out[i]) both[3 * (size_t)i] += 0.05f;
  }
  for (int coarse = 0; coarse < 2; ++coarse) { /* the second merges particles */
    ooze_surface_desc d;
    ooze_surface_points p;
    ooze_surface *s = NULL, *alone;
    ooze_message why = {""};
    ooze_surface_desc_default(&d);
    if (coarse) d.voxel = 0.02f;
    ooze_surface_points_default(&p);
    p.count = 2 * M;
    p.positions = both;
    p.left_out = out;
    CHECK(ooze_surface_build(&d, &p, &s, &why) == OOZE_OK, "%s", why.text);
    alone = build(&d, x, M);
    CHECK(ooze_surface_hash(s) == ooze_surface_hash(alone), "coarse %d", coarse);
    ooze_surface_info info;
    ooze_surface_info_default(&info);
    ooze_surface_info_get(s, &info);
    CHECK_EQ(info.skipped, 0);
    ooze_surface_destroy(s);
    ooze_surface_destroy(alone);
  }
  free(x);
  free(both);
}

OZ_CASE(bodies_or_fluid_are_left_out_by_their_owner) {
  enum { N = 6, M = N * N * N };
  float *x = lattice(N, 0.01f, 0.0f), *p = NULL;
  int32_t *owner = NULL;
  ooze_points *points = NULL;
  ooze_message why = {""};
  double volume[3];
  CHECK(ooze_points_create(2 * M, &points, &why) == OOZE_OK, "%s", why.text);
  CHECK_EQ(ooze_points_add(points, "P", OOZE_FLOAT32, 3, OOZE_MEANING_POINT, (void **)&p, &why),
           OOZE_OK);
  for (uint32_t i = 0; i < 2 * M; ++i) {
    memcpy(p + 3 * (size_t)i, x + 3 * (size_t)(i % M), 3 * sizeof *x);
    if (i >= M) p[3 * (size_t)i] += 0.5f; /* a body of half the size */
    if (i >= M + M / 2) p[3 * (size_t)i + 1] = NAN;
  }
  for (int told = 0; told < 2; ++told) {
    if (told)
      CHECK_EQ(ooze_points_add(points, "owner", OOZE_INT32, 1, OOZE_MEANING_NUMBER, (void **)&owner,
                               &why),
               OOZE_OK);
    for (uint32_t i = 0; told && i < 2 * M; ++i) owner[i] = i < M ? 0 : 0x10000001;
    for (uint32_t of = 0; of < 3; ++of) {
      ooze_surface_desc d;
      ooze_surface_info info;
      ooze_surface *s = NULL;
      ooze_surface_desc_default(&d);
      ooze_surface_info_default(&info);
      CHECK(ooze_surface_of_points(&d, points, ooze_surface_of_bits(of), NULL, 0, &s, &why) ==
                OOZE_OK,
            "%s", why.text);
      ooze_surface_info_get(s, &info);
      volume[of] = info.volume;
      ooze_surface_destroy(s);
    }
    const double all = volume[OOZE_SURFACE_OF_ALL], body = volume[OOZE_SURFACE_OF_BODIES];
    if (told) {
      CHECK(body > 0.2 * all && body < 0.45 * all, "%g of %g", body, all);
      CHECK_NEAR(volume[OOZE_SURFACE_OF_FLUID] + body, all, 1e-6 * all, "they do not touch");
    } else {
      CHECK(volume[OOZE_SURFACE_OF_FLUID] == all && body == 0.0, "all is fluid");
    }
  }
  ooze_points_destroy(points);
  free(x);
}

OZ_TEST_MAIN()
