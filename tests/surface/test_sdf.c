/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
/* SDF bricks from meshes and files, .vdb files out and back, and files that are damaged. */
#include "base/seconds.h"
#include "scenes.h"
#include "scratch.h"

#include <sys/stat.h>
#include <unistd.h>

static void needs_vdb(void) {
  if (!ooze_surface_has_vdb()) OZ_SKIP("built without OpenVDB");
}

static float box_distance(const float p[3], float h) {
  float q[3], out = 0.0f, in;
  int a;
  for (a = 0; a < 3; ++a) q[a] = fabsf(p[a]) - h;
  in = fmaxf(q[0], fmaxf(q[1], q[2]));
  for (a = 0; a < 3; ++a) out += fmaxf(q[a], 0.0f) * fmaxf(q[a], 0.0f);
  return sqrtf(out) + fminf(in, 0.0f);
}

/* The largest error over samples whose true distance is within `band`, and how many there were. */
static double worst(const ooze_sdf *sdf, float (*truth)(const float p[3], float h), float h,
                    float inner, float outer, uint32_t *count) {
  double most = 0.0;
  uint32_t i, n;
  *count = 0;
  for (i = 0; i < sdf->brick_count; ++i)
    for (n = 0; n < 512; ++n) {
      const ooze_sdf_brick *b = &sdf->bricks[i];
      float p[3] = {sdf->voxel * (float)(b->origin[0] + (int)(n >> 6)) + sdf->offset[0],
                    sdf->voxel * (float)(b->origin[1] + (int)(n >> 3 & 7)) + sdf->offset[1],
                    sdf->voxel * (float)(b->origin[2] + (int)(n & 7)) + sdf->offset[2]};
      float t = truth(p, h);
      if (t < -inner || t > outer) continue;
      ++*count;
      most = fmax(most, fabs((double)b->values[n] - t));
    }
  return most;
}

/* Bricks of a box 1 m wide, with its top or without, in voxels of 0.03 m. */
static ooze_sdf sdf_of_box(int open) {
  float points[24];
  uint32_t triangles[36];
  ooze_sdf_desc d;
  ooze_sdf sdf;
  ooze_message why;
  needs_vdb();
  const uint32_t n = box_mesh(0.5f, open, points, triangles);
  ooze_sdf_desc_default(&d);
  d.voxel = 0.03f;
  CHECK(ooze_sdf_from_mesh(&d, points, 8, triangles, n, &sdf, &why) == OOZE_OK, "%s", why.text);
  return sdf;
}

OZ_CASE(bricks_of_a_box_match_its_distance) {
  ooze_sdf sdf = sdf_of_box(0);
  uint32_t count;
  CHECK_EQ(sdf.closed, 1);
  CHECK_NEAR(worst(&sdf, box_distance, 0.5f, 5.5f * 0.03f, 2.5f * 0.03f, &count), 0.0, 0.001 * 0.03,
             "exact but for rounding: nearest points are on triangles");
  CHECK(count > 40000, "%u samples", count);
  ooze_sdf_free(&sdf);
}

/* a box without its top, the walls 2 * 0.045 thick */
static float shell_distance(const float p[3], float h) {
  float q[3] = {fabsf(p[0]), p[1], fabsf(p[2])}, sides, floor_, x, y;
  x = fmaxf(q[0] - h, 0.0f);
  y = fmaxf(q[2] - h, 0.0f);
  floor_ = sqrtf(x * x + y * y + (q[1] + h) * (q[1] + h));
  y = fmaxf(fabsf(q[1]) - h, 0.0f);
  x = fmaxf(q[2] - h, 0.0f);
  sides = sqrtf((q[0] - h) * (q[0] - h) + x * x + y * y);
  x = fmaxf(q[0] - h, 0.0f);
  sides = fminf(sides, sqrtf((q[2] - h) * (q[2] - h) + x * x + y * y));
  return fminf(floor_, sides) - 0.045f;
}

OZ_CASE(open_mesh_becomes_a_shell) {
  ooze_sdf sdf = sdf_of_box(1);
  uint32_t count;
  CHECK_EQ(sdf.closed, 0);
  CHECK_NEAR(worst(&sdf, shell_distance, 0.5f, 1.0f, 2.5f * 0.03f, &count), 0.0, 0.001 * 0.03,
             "exact but for rounding");
  CHECK(count > 40000, "%u samples", count);
  ooze_sdf_free(&sdf);
}

OZ_CASE(repeated_seam_points_still_make_a_closed_mesh) {
  float points[24], soup[108];
  uint32_t triangles[36], all[36], i;
  ooze_sdf_desc d;
  ooze_sdf sdf;
  needs_vdb();
  box_mesh(0.2f, 0, points, triangles);
  for (i = 0; i < 36; ++i) {
    memcpy(soup + 3 * i, points + 3 * triangles[i], 3 * sizeof(float));
    all[i] = i;
  }
  ooze_sdf_desc_default(&d);
  d.voxel = 0.03f;
  CHECK_EQ(ooze_sdf_from_mesh(&d, soup, 36, all, 12, &sdf, NULL), OOZE_OK);
  CHECK_EQ(sdf.closed, 1);
  ooze_sdf_free(&sdf);
}

OZ_CASE(bad_meshes_are_refused_with_the_reason) {
  float points[24];
  uint32_t triangles[36], n;
  ooze_sdf_desc d;
  ooze_sdf sdf;
  ooze_message why;
  needs_vdb();
  n = box_mesh(0.5f, 0, points, triangles);
  ooze_sdf_desc_default(&d);
  d.voxel = 2e-5f; /* 4e9 samples on the walls */
  CHECK_EQ(ooze_sdf_from_mesh(&d, points, 8, triangles, n, &sdf, &why), OOZE_ERROR_LIMIT);
  CHECK(strstr(why.text, "1048576"), "%s", why.text);
  d.voxel = 0.05f;
  d.max_triangles = 11;
  CHECK_EQ(ooze_sdf_from_mesh(&d, points, 8, triangles, n, &sdf, &why), OOZE_ERROR_LIMIT);
  CHECK(strstr(why.text, "12") && strstr(why.text, "11"), "%s", why.text);
  d.max_triangles = 12;
  CHECK_EQ(ooze_sdf_from_mesh(&d, points, 7, triangles, n, &sdf, &why), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "point 7 of 7"), "%s", why.text);
  points[5] = NAN;
  CHECK_EQ(ooze_sdf_from_mesh(&d, points, 8, triangles, n, &sdf, &why), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "point 1"), "%s", why.text);
}

/* A ball of particles with velocity and temperature, written to a file. */
static ooze_surface *write_ball(const char *path) {
  enum { N = 12 };
  float *x = lattice(N, 0.01f, 0.0f), *v = (float *)malloc(N * N * N * 4 * sizeof *v);
  ooze_surface_scalar t;
  ooze_surface_desc d;
  ooze_surface_points p;
  ooze_surface *s = NULL;
  ooze_message why;
  uint32_t i, kept = 0;
  for (i = 0; i < N * N * N; ++i) {
    float q[3] = {x[3 * i] - 0.055f, x[3 * i + 1] - 0.055f, x[3 * i + 2] - 0.055f};
    if (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] > 0.055f * 0.055f) continue;
    memcpy(x + 3 * kept, q, sizeof q);
    v[4 * kept] = 1.0f;
    v[4 * kept + 1] = 2.0f;
    v[4 * kept + 2] = -3.0f;
    v[4 * kept++ + 3] = 300.0f;
  }
  ooze_surface_desc_default(&d);
  ooze_surface_points_default(&p);
  p.count = kept;
  p.positions = x;
  p.velocities = v;
  p.velocity_stride = 4 * sizeof(float);
  t.name = "temperature";
  t.values = v + 3;
  t.stride = 4 * sizeof(float);
  p.scalars = &t;
  p.scalar_count = 1;
  CHECK_EQ(ooze_surface_build(&d, &p, &s, &why), OOZE_OK);
  CHECK(ooze_surface_write_vdb(s, path, NULL, &why) == OOZE_OK, "%s", why.text);
  free(x);
  free(v);
  return s;
}

OZ_CASE(vdb_comes_back_as_written) {
  ooze_sdf_desc d;
  ooze_sdf sdf;
  ooze_message why;
  ooze_surface_info info;
  ooze_surface *s;
  uint32_t i, n, off = 0;
  needs_vdb();
  s = write_ball(scratch_path("ball.vdb"));
  ooze_surface_info_default(&info);
  ooze_surface_info_get(s, &info);
  ooze_sdf_desc_default(&d);
  CHECK(ooze_sdf_from_vdb(&d, scratch_path("ball.vdb"), NULL, &sdf, &why) == OOZE_OK, "%s",
        why.text);
  CHECK_EQ(sdf.brick_count, info.bricks);
  CHECK_NEAR(sdf.voxel, 0.005f, 1e-8f, "a float");
  for (i = 0; i < sdf.brick_count; ++i)
    for (n = 0; n < 512; n += 7) {
      const ooze_sdf_brick *b = &sdf.bricks[i];
      float p[3] = {sdf.voxel * (float)(b->origin[0] + (int)(n >> 6)),
                    sdf.voxel * (float)(b->origin[1] + (int)(n >> 3 & 7)),
                    sdf.voxel * (float)(b->origin[2] + (int)(n & 7))},
            f;
      ooze_surface_sample(s, p, 1, &f);
      off += fabsf(f - b->values[n]) > 1e-5f;
    }
  CHECK_EQ(off, 0);
  ooze_sdf_free(&sdf);
  CHECK_EQ(ooze_sdf_from_vdb(&d, scratch_path("ball.vdb"), "surface", &sdf, &why), OOZE_OK);
  ooze_sdf_free(&sdf);
  CHECK_EQ(ooze_sdf_from_vdb(&d, scratch_path("ball.vdb"), "nosuch", &sdf, &why),
           OOZE_ERROR_NOT_FOUND);
  CHECK(strstr(why.text, "surface"), "it names what there is: %s", why.text);
  CHECK_EQ(ooze_sdf_from_vdb(&d, scratch_path("ball.vdb"), "v", &sdf, &why), OOZE_ERROR_FORMAT);
  CHECK_EQ(ooze_sdf_from_vdb(&d, scratch_path("missing.vdb"), NULL, &sdf, &why),
           OOZE_ERROR_NOT_FOUND);
  d.max_bricks = 3;
  CHECK_EQ(ooze_sdf_from_vdb(&d, scratch_path("ball.vdb"), NULL, &sdf, &why), OOZE_ERROR_LIMIT);
  CHECK(strstr(why.text, "limit is 3"), "%s", why.text);
  ooze_surface_destroy(s);
}

OZ_CASE(every_grid_of_a_vdb_is_described_with_its_values) {
  enum { N = 10, COUNT = N * N * N };
  float *x = lattice(N, 0.01f, 0.2f), v[3 * COUNT], rate[COUNT], heat[COUNT];
  ooze_surface_desc d;
  ooze_surface_points p;
  ooze_surface *s = NULL;
  ooze_vdb_grid grids[8];
  ooze_message why = {""};
  uint32_t count = 0;
  needs_vdb();
  for (int i = 0; i < COUNT; ++i) { /* a shear of 3 /s */
    v[3 * i] = 3.0f * x[3 * i + 1];
    v[3 * i + 1] = v[3 * i + 2] = 0.0f;
    heat[i] = 300.0f;
  }
  ooze_surface_desc_default(&d);
  ooze_surface_points_default(&p);
  p.count = COUNT;
  p.positions = x;
  p.velocities = v;
  CHECK_EQ(ooze_strain_rate(&d, &p, rate, &why), OOZE_OK);
  const ooze_surface_scalar scalars[2] = {{"strainrate", rate, 0}, {"temperature", heat, 0}};
  p.scalars = scalars;
  p.scalar_count = 2;
  CHECK(ooze_surface_build(&d, &p, &s, &why) == OOZE_OK, "%s", why.text);
  CHECK(ooze_surface_write_vdb(s, scratch_path("grids.vdb"), NULL, &why) == OOZE_OK, "%s",
        why.text);
  CHECK(ooze_vdb_describe(NULL, scratch_path("grids.vdb"), grids, 8, &count, &why) == OOZE_OK, "%s",
        why.text);
  CHECK_EQ(count, 4);
  for (uint32_t i = 0; i < count && i < 8; ++i) {
    const ooze_vdb_grid *g = &grids[i];
    CHECK(g->active > 100, "%s has %llu voxels", g->name, (unsigned long long)g->active);
    CHECK_NEAR(g->voxel, 0.005, 1e-6, "half the separation");
    if (strcmp(g->name, "strainrate") == 0) {
      CHECK_NEAR(g->minimum, 3.0, 0.01, "one shear everywhere, also at the surface");
      CHECK_NEAR(g->maximum, 3.0, 0.01, "as above");
    } else if (strcmp(g->name, "v") == 0) {
      CHECK_EQ(g->components, 3);
      CHECK_NEAR(g->maximum, 3.0 * 0.09, 0.02, "the top's speed, averaged over a kernel");
    } else if (strcmp(g->name, "temperature") == 0) {
      CHECK_NEAR(g->maximum - g->minimum, 0.0, 1e-3, "one temperature");
    } else {
      CHECK(strcmp(g->name, "surface") == 0 && strcmp(g->kind, "level set") == 0, "%s is a %s",
            g->name, g->kind);
      CHECK_NEAR(g->upper[1], 0.095, 0.02, "the top and the band above it");
    }
  }
  CHECK_EQ(ooze_vdb_describe(NULL, scratch_path("grids.vdb"), grids, 1, &count, &why), OOZE_OK);
  CHECK_EQ(count, 4);
  unlink(scratch_path("grids.vdb"));
  ooze_surface_destroy(s);
  free(x);
}

OZ_CASE(mesh_of_a_ball_is_closed_and_faces_outwards) {
  ooze_mesh m;
  ooze_message why;
  ooze_surface_info info;
  ooze_surface *s;
  double volume = 0.0;
  uint64_t i;
  needs_vdb();
  s = write_ball(scratch_path("ball.vdb"));
  ooze_mesh_default(&m);
  CHECK(ooze_surface_mesh(s, 0.0, &m, &why) == OOZE_OK, "%s", why.text);
  for (i = 0; i < m.triangle_count; ++i) {
    const float *a = m.positions + 3 * (size_t)m.triangles[3 * i],
                *b = m.positions + 3 * (size_t)m.triangles[3 * i + 1],
                *c = m.positions + 3 * (size_t)m.triangles[3 * i + 2];
    volume += (a[0] * ((double)b[1] * c[2] - (double)b[2] * c[1]) -
               a[1] * ((double)b[0] * c[2] - (double)b[2] * c[0]) +
               a[2] * ((double)b[0] * c[1] - (double)b[1] * c[0])) /
              6.0;
  }
  ooze_surface_info_default(&info);
  ooze_surface_info_get(s, &info);
  CHECK_NEAR(volume, info.volume, 0.02 * info.volume,
             "facets of half a separation on a ball of six");
  CHECK(m.velocities && m.normals);
  for (i = 0; i < m.point_count; ++i) {
    const float *p = m.positions + 3 * i, *n = m.normals + 3 * i, *v = m.velocities + 3 * i;
    CHECK(p[0] * n[0] + p[1] * n[1] + p[2] * n[2] > 0.0f, "point %u", (unsigned)i);
    CHECK_NEAR(v[2], -3.0, 1e-4, "a constant is kept by any mean");
  }
  ooze_mesh_release(&m);
  ooze_surface_destroy(s);
}

/* Whatever is done to a file, reading it ends soon, with an error or with bricks that are finite
 * and bounded. */
OZ_CASE(damaged_vdb_is_refused_quickly) {
  ooze_sdf_desc d;
  ooze_sdf sdf;
  ooze_message why;
  unsigned char *bytes, *bad;
  size_t size;
  FILE *f;
  double start, slowest = 0.0;
  int trial, refused = 0, truncated = 0;
  needs_vdb();
  ooze_surface_destroy(write_ball(scratch_path("ball.vdb")));
  f = fopen(scratch_path("ball.vdb"), "rb");
  CHECK(f != NULL);
  fseek(f, 0, SEEK_END);
  size = (size_t)ftell(f);
  rewind(f);
  bytes = (unsigned char *)malloc(size);
  bad = (unsigned char *)malloc(size);
  CHECK_EQ(fread(bytes, 1, size, f), size);
  fclose(f);
  ooze_sdf_desc_default(&d);
  d.max_seconds = 3.0f;
  d.max_memory = (uint64_t)1 << 30;
  scene_seed = 3;
  for (trial = 0; trial < 48; ++trial) {
    size_t length = size, k;
    ooze_result r;
    memcpy(bad, bytes, size);
    if (trial < 16)
      length = size * (size_t)trial / 16; /* cut off */
    else
      /* bits flipped: in the head for some, anywhere for others */
      for (k = 0; k < (trial < 32 ? 1u : 40u); ++k)
        bad[(size_t)((scene_noise() + 0.5f) * (float)(trial % 2 ? size - 1 : 1500))] ^=
            (unsigned char)(1u << (trial % 8));
    f = fopen(scratch_path("bad.vdb"), "wb");
    CHECK_EQ(fwrite(bad, 1, length, f), length);
    fclose(f);
    start = oz_seconds();
    why.text[0] = 0;
    r = ooze_sdf_from_vdb(&d, scratch_path("bad.vdb"), NULL, &sdf, &why);
    slowest = fmax(slowest, oz_seconds() - start);
    if (r != OOZE_OK) {
      CHECK(why.text[0] && !sdf.bricks, "trial %d: a refusal has a reason and leaves nothing",
            trial);
      ++refused;
      truncated += trial < 16;
    } else {
      uint32_t i, n;
      for (i = 0; i < sdf.brick_count; ++i)
        for (n = 0; n < 512; ++n)
          CHECK(fabsf(sdf.bricks[i].values[n]) < 10.0f, "trial %d brick %u: %g m", trial, i,
                sdf.bricks[i].values[n]);
      ooze_sdf_free(&sdf);
    }
  }
  printf("damaged files: %d of 48 refused, the slowest took %.2f s\n", refused, slowest);
  CHECK(truncated >= 12, "%d of 16 cut files refused: grids after the first may be missing unseen",
        truncated);
  CHECK(refused >= 24, "%d refused", refused);
  CHECK(slowest < 6.0, "%g s with a limit of 3", slowest);
  free(bytes);
  free(bad);
}

OZ_CASE(not_a_vdb_is_refused) {
  ooze_sdf_desc d;
  ooze_sdf sdf;
  ooze_message why;
  FILE *f = fopen(scratch_path("text.vdb"), "wb");
  needs_vdb();
  fputs("# not a vdb at all, though named so\n", f);
  fclose(f);
  ooze_sdf_desc_default(&d);
  CHECK_EQ(ooze_sdf_from_vdb(&d, scratch_path("text.vdb"), NULL, &sdf, &why), OOZE_ERROR_FORMAT);
  CHECK_EQ(ooze_sdf_from_vdb(&d, scratch_folder(), NULL, &sdf, &why), OOZE_ERROR_IO);
}

OZ_TEST_MAIN()
