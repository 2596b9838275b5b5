/* Coats and sheets of one layer whose particles have drawn apart: whole where a gap is no wider
 * than a sheet, dry where it is, and as voluminous as their particles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "scenes.h"

enum { MOST = 4000 };
static float x[3 * MOST];

/* A layer of side by side particles, `apart` separations (of 1) from each other and off their
 * places by up to 0.15 of that, without those that are `bare`. */
typedef int (*bare_fn)(float u, float v, uint32_t n);
static uint32_t layer(int side, float apart, bare_fn bare) {
  uint32_t n = 0;
  scene_seed = 3;
  for (int i = 0; i < side * side; ++i) {
    const float u = apart * ((float)(i / side) + 0.3f * scene_noise()),
                v = apart * ((float)(i % side) + 0.3f * scene_noise()), w = 0.3f * scene_noise();
    if (bare && bare(u, v, (uint32_t)i)) continue;
    x[3 * n] = u;
    x[3 * n + 1] = w;
    x[3 * n + 2] = v;
    ++n;
  }
  return n;
}

static ooze_surface *surface_of(uint32_t count, uint32_t threads) {
  ooze_surface_desc d;
  ooze_surface_desc_default(&d);
  d.method = OOZE_SURFACE_ANISOTROPIC;
  d.separation = 1.0f;
  d.threads = threads;
  return build(&d, x, count);
}

/* Whether no fluid lies over a place of the layer's plane. */
static int is_open(const ooze_surface *s, float u, float v) {
  float least = 9.0f;
  for (float y = -0.4f; y <= 0.41f; y += 0.1f) {
    const float p[3] = {u, y, v};
    float f;
    ooze_surface_sample(s, p, 1, &f);
    least = fminf(least, f);
  }
  return least > 0.0f;
}

/* Places that are open, of those at least `rim` within a square from 0 to side. */
static uint32_t open_places(const ooze_surface *s, float side, float rim, uint32_t *all) {
  uint32_t open = 0;
  *all = 0;
  for (float u = rim; u < side - rim; u += 0.23f)
    for (float v = rim; v < side - rim; v += 0.23f, ++*all) open += (uint32_t)is_open(s, u, v);
  return open;
}

static double volume_of(const ooze_surface *s, uint32_t count) {
  ooze_mesh m;
  ooze_message why = {""};
  double volume;
  ooze_mesh_default(&m);
  CHECK(ooze_surface_mesh(s, 0.0, &m, &why) == OOZE_OK, "%s", why.text);
  volume = mesh_volume(&m) / (double)count;
  ooze_mesh_release(&m);
  return volume;
}

/* One gap of two by two particles in each field of six by six, of a layer of 40 by 40. */
static int is_missing(float u, float v, uint32_t n) {
  const uint32_t i = n / 40, k = n % 40;
  (void)u, (void)v;
  return i % 6 >= 4 && (k + 2 * (i / 6)) % 6 >= 4;
}

OZ_CASE(a_layer_drawn_apart_is_whole_and_has_its_volume) {
  static const float apart[4] = {1.0f, 1.2f, 1.3f, 1.4f};
  for (int i = 0; i < 4; ++i) {
    const uint32_t n = layer(40, apart[i], NULL);
    ooze_surface *s = surface_of(n, 0);
    uint32_t all, open = open_places(s, 39.0f * apart[i], 2.0f, &all);
    CHECK(open == 0, "%u of %u places are open at %g separations", open, all, (double)apart[i]);
    if (ooze_surface_has_vdb()) CHECK_NEAR(volume_of(s, n), 1.0, 0.02, "the look-book's bar");
    ooze_surface_destroy(s);
  }
}

/* Lace, as of a coat that has run down: gaps of 2.1 and 2.5 separations, from rim to rim. */
OZ_CASE(gaps_of_single_particles_are_bridged) {
  static const float apart[2] = {1.0f, 1.1f};
  for (int i = 0; i < 2; ++i) {
    const uint32_t n = layer(40, apart[i], is_missing);
    ooze_surface *s = surface_of(n, 0);
    uint32_t all, open = open_places(s, 39.0f * apart[i], 2.0f, &all);
    CHECK(open * 200 <= all, "%u of %u places are open at %g separations; at most half a percent",
          open, all, (double)apart[i]);
    if (ooze_surface_has_vdb()) CHECK_NEAR(volume_of(s, n), 1.0, 0.02, "the look-book's bar");
    ooze_surface_destroy(s);
  }
}

static int is_in_disc(float u, float v, uint32_t n) {
  (void)n;
  return hypotf(u - 19.5f, v - 19.5f) < 2.2f;
}
static int is_in_large_disc(float u, float v, uint32_t n) {
  (void)n;
  return hypotf(u - 19.5f, v - 19.5f) < 4.0f;
}

/* Whole up to half a separation beyond the particles at its rim, as at any edge, and dry within. */
OZ_CASE(a_dry_patch_stays_dry) {
  static const bare_fn bare[2] = {is_in_disc, is_in_large_disc};
  static const float radius[2] = {2.2f, 4.0f};
  for (int i = 0; i < 2; ++i) {
    ooze_surface *s = surface_of(layer(40, 1.0f, bare[i]), 0);
    uint32_t open = 0, all = 0;
    for (float u = -4.0f; u <= 4.0f; u += 0.1f)
      for (float v = -4.0f; v <= 4.0f; v += 0.1f) {
        if (hypotf(u, v) > radius[i] - 0.8f) continue;
        ++all;
        open += (uint32_t)is_open(s, 19.5f + u, 19.5f + v);
      }
    CHECK(open * 100 >= 98 * all, "%u of %u places are open in a patch of %g", open, all,
          (double)radius[i]);
    ooze_surface_destroy(s);
  }
}

/* Two strands of one particle, or of two, that run beside each other. */
OZ_CASE(strands_side_by_side_stay_apart) {
  for (int wide = 1; wide <= 2; ++wide) {
    const float gap = 3.3f; /* from particle to particle: 2.2 between their surfaces */
    uint32_t n = 0, open = 0, all = 0;
    scene_seed = 9;
    for (int i = 0; i < 50; ++i)
      for (int k = 0; k < 2 * wide; ++k, ++n) {
        x[3 * n] = (float)i + 0.2f * scene_noise();
        x[3 * n + 1] = 0.2f * scene_noise();
        x[3 * n + 2] = (float)k + (k >= wide ? gap - 1.0f : 0.0f) + 0.2f * scene_noise();
      }
    ooze_surface *s = surface_of(n, 0);
    for (float u = 4.0f; u < 45.0f; u += 0.1f, ++all)
      open += (uint32_t)is_open(s, u, (float)(wide - 1) + 0.5f * gap);
    CHECK(open == all, "%u of %u places between strands of %d are open", open, all, wide);
    ooze_surface_destroy(s);
  }
}

/* No sheet, nothing to bridge: the same distances as a drop by itself has. */
OZ_CASE(drops_apart_are_left_alone) {
  for (uint32_t n = 0; n < 25; ++n) {
    x[3 * n] = 2.2f * (float)(n / 5);
    x[3 * n + 1] = 0.0f;
    x[3 * n + 2] = 3.6f * (float)(n % 5);
  }
  ooze_surface *s = surface_of(25, 0);
  for (float v = 1.8f; v < 14.0f; v += 3.6f)
    for (float u = 0.0f; u < 8.8f; u += 0.2f)
      CHECK(is_open(s, u, v), "closed at %g, %g between rows of drops", (double)u, (double)v);
  ooze_surface_destroy(s);
}

OZ_CASE(bridges_have_the_same_bits_for_any_number_of_threads) {
  const uint32_t n = layer(40, 1.1f, is_missing);
  uint64_t hash = 0;
  for (uint32_t threads = 1; threads <= 4; ++threads) {
    ooze_surface *s = surface_of(n, threads);
    ooze_mesh m;
    ooze_message why = {""};
    uint64_t now = ooze_surface_hash(s);
    ooze_mesh_default(&m);
    if (ooze_surface_has_vdb()) {
      CHECK(ooze_surface_mesh(s, 0.0, &m, &why) == OOZE_OK, "%s", why.text);
      for (size_t k = 0; k < 3 * (size_t)m.point_count; ++k) {
        uint32_t bits;
        memcpy(&bits, m.positions + k, sizeof bits);
        now = (now ^ bits) * 0x100000001b3ull;
      }
      ooze_mesh_release(&m);
    }
    if (threads == 1) hash = now;
    CHECK(now == hash, "with %u threads", threads);
    ooze_surface_destroy(s);
  }
}

OZ_TEST_MAIN()
