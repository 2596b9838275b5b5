/* Channels of a surface: colours and materials across a seam, rest positions, meshes that carry
 * them, files that keep them; and meshes that are smooth and hold their volume.
 * SPDX-License-Identifier: Apache-2.0 */
#include "scenes.h"

enum { N = 12 };

static const float *channel(const ooze_mesh *m, const char *name, uint32_t components) {
  ooze_points_attribute a;
  ooze_points_attribute_default(&a);
  CHECK(m->channels && ooze_points_find(m->channels, name, &a) == OOZE_OK, "%s is not there", name);
  CHECK_EQ(a.components, components);
  return (const float *)a.data;
}

/* A block whose left half is red honey and whose right half is green slime, moved by 1 2 3. */
typedef struct halves {
  float *x, *colour, *rest, *age;
  uint32_t *material;
  ooze_surface_channel channels[3];
  ooze_surface_points p;
} halves;
static const char *const names[2] = {"honey", "green slime"};
static const float moved[3] = {0.1f, 0.2f, 0.3f};

static void halves_make(halves *h) {
  const uint32_t count = N * N * N;
  h->x = lattice(N, 0.01f, 0.2f);
  h->colour = (float *)calloc(count, 12);
  h->rest = (float *)calloc(count, 12);
  h->age = (float *)calloc(count, 4);
  h->material = (uint32_t *)calloc(count, 4);
  for (uint32_t i = 0; i < count; ++i) {
    h->material[i] = h->x[3 * i] > 0.055f;
    h->colour[3 * i + h->material[i]] = 1.0f;
    for (int k = 0; k < 3; ++k) h->rest[3 * i + (uint32_t)k] = h->x[3 * i + (uint32_t)k] - moved[k];
    h->age[i] = h->x[3 * i + 1];
  }
  const ooze_surface_channel list[3] = {{"Cd", h->colour, 0, 3, OOZE_CHANNEL_SHARP},
                                        {"rest", h->rest, 0, 3, OOZE_CHANNEL_PLACE},
                                        {"age", h->age, 0, 1, OOZE_CHANNEL_MEAN}};
  memcpy(h->channels, list, sizeof list);
  ooze_surface_points_default(&h->p);
  h->p.count = count;
  h->p.positions = h->x;
  h->p.velocities = h->rest;
  h->p.channels = h->channels;
  h->p.channel_count = 3;
  h->p.materials = h->material;
  h->p.material_count = 2;
  h->p.material_names = names;
}
static void halves_free(halves *h) {
  free(h->x);
  free(h->colour);
  free(h->rest);
  free(h->age);
  free(h->material);
}
static ooze_surface *halves_surface(const halves *h) {
  ooze_surface_desc d;
  ooze_surface *s = NULL;
  ooze_message why = {""};
  ooze_surface_desc_default(&d);
  d.method = OOZE_SURFACE_ANISOTROPIC;
  CHECK(ooze_surface_build(&d, &h->p, &s, &why) == OOZE_OK, "%s", why.text);
  return s;
}

OZ_CASE(a_seam_between_materials_is_sharp_and_weights_add_up) {
  halves h;
  ooze_mesh m;
  ooze_message why = {""};
  uint32_t mixed = 0, far = 0;
  if (!ooze_surface_has_vdb()) return;
  halves_make(&h);
  ooze_surface *s = halves_surface(&h);
  ooze_mesh_default(&m);
  CHECK(ooze_surface_mesh(s, 0.0, &m, &why) == OOZE_OK, "%s", why.text);
  const float *cd = channel(&m, "Cd", 3), *honey = channel(&m, "weight_honey", 1),
              *slime = channel(&m, "weight_green_slime", 1);
  const int32_t *material = (const int32_t *)channel(&m, "material", 1);
  for (uint32_t i = 0; i < m.point_count; ++i) {
    const float side = m.positions[3 * i] - 0.055f;
    CHECK_NEAR(honey[i] + slime[i], 1.0f, 1e-5f, "weights are shares");
    CHECK_NEAR(cd[3 * i], honey[i], 1e-4f, "red is honey's");
    CHECK_NEAR(cd[3 * i + 1], slime[i], 1e-4f, "green is slime's");
    if (honey[i] != slime[i]) CHECK_EQ(material[i], slime[i] > honey[i]);
    mixed += fminf(honey[i], slime[i]) > 0.05f;
    /* jitter puts a particle up to 0.2 separations beyond the seam; the blend is half one wide */
    far += fabsf(side) > 0.0085f && fminf(honey[i], slime[i]) > 0.05f;
  }
  CHECK(mixed > 0, "no vertex is on the seam of %u", m.point_count);
  CHECK_EQ(far, 0);
  ooze_mesh_release(&m);
  ooze_surface_destroy(s);
  halves_free(&h);
}

OZ_CASE(rest_positions_of_a_moved_fluid_are_exact) {
  halves h;
  ooze_mesh m;
  if (!ooze_surface_has_vdb()) return;
  halves_make(&h);
  ooze_surface *s = halves_surface(&h);
  ooze_mesh_default(&m);
  CHECK_EQ(ooze_surface_mesh(s, 0.0, &m, NULL), OOZE_OK);
  const float *rest = channel(&m, "rest", 3), *age = channel(&m, "age", 1);
  for (uint32_t i = 0; i < m.point_count; ++i) {
    for (uint32_t k = 0; k < 3; ++k)
      CHECK_NEAR(rest[3 * i + k], m.positions[3 * i + k] - moved[k], 1e-6f, "rounding alone");
    CHECK_NEAR(age[i], m.positions[3 * i + 1], 0.009f,
               "a mean lags behind its place by less than a separation");
  }
  float at[3] = {0.055f, 0.055f, 0.055f}, value[3];
  CHECK_EQ(ooze_surface_values(s, "rest", at, 1, value), OOZE_OK);
  CHECK_NEAR(value[1], at[1] - moved[1], 1e-6f, "inside too");
  CHECK_EQ(ooze_surface_values(s, "colour", at, 1, value), OOZE_ERROR_NOT_FOUND);
  ooze_mesh_release(&m);
  ooze_surface_destroy(s);
  halves_free(&h);
}

OZ_CASE(mesh_files_keep_channels_frame_and_time) {
  static const char *const endings[] = {"ply", "bgeo", "bgeo.sc", "geo"};
  halves h;
  ooze_mesh m;
  ooze_message why = {""};
  if (!ooze_surface_has_vdb()) return;
  halves_make(&h);
  ooze_surface *s = halves_surface(&h);
  ooze_mesh_default(&m);
  CHECK_EQ(ooze_surface_mesh(s, 0.0, &m, NULL), OOZE_OK);
  CHECK_EQ(ooze_mesh_detail_set(&m, "frame", 7.0, NULL), OOZE_OK);
  CHECK_EQ(ooze_mesh_detail_set(&m, "time", 0.25, NULL), OOZE_OK);
  for (size_t e = 0; e < sizeof endings / sizeof *endings; ++e) {
    char path[256];
    ooze_points *read = NULL;
    ooze_points_attribute a;
    double time = 0.0;
    snprintf(path, sizeof path, "channels_test.%s", endings[e]);
    ooze_result r = ooze_mesh_write(path, &m, NULL, &why);
    if (r == OOZE_ERROR_UNSUPPORTED) continue; /* no Blosc */
    CHECK(r == OOZE_OK, "%s", why.text);
    CHECK(ooze_points_read(path, NULL, &read, &why) == OOZE_OK, "%s", why.text);
    CHECK_EQ(ooze_points_count(read), m.point_count);
    CHECK_EQ(ooze_points_detail_get(read, "time", &time), OOZE_OK);
    CHECK_NEAR(time, 0.25, 0.0, "as written");
    ooze_points_attribute_default(&a);
    CHECK_EQ(ooze_points_find(read, "Cd", &a), OOZE_OK);
    CHECK_EQ(a.components, 3);
    CHECK(memcmp(a.data, channel(&m, "Cd", 3), 12 * (size_t)m.point_count) == 0, "%s: colours",
          path);
    CHECK_EQ(ooze_points_find(read, "material", &a), OOZE_OK);
    CHECK_EQ(a.type, OOZE_INT32);
    ooze_points_destroy(read);
    ooze_mesh back;
    ooze_mesh_default(&back);
    CHECK(ooze_mesh_read(path, NULL, &back, &why) == OOZE_OK, "%s", why.text);
    CHECK_EQ(back.triangle_count, m.triangle_count);
    ooze_mesh_release(&back);
    remove(path);
  }
  ooze_mesh_release(&m);
  ooze_surface_destroy(s);
  halves_free(&h);
}

OZ_CASE(vdb_files_have_a_grid_a_channel_with_frame_and_time) {
  halves h;
  ooze_vdb_grid grids[12];
  ooze_vdb_options o;
  ooze_message why = {""};
  uint32_t count = 0;
  if (!ooze_surface_has_vdb()) return;
  halves_make(&h);
  ooze_surface *s = halves_surface(&h);
  ooze_vdb_options_default(&o);
  o.has_time = 1;
  o.frame = 7;
  o.time = 0.25;
  o.has_rest_blend = 1;
  o.rest_blend = 0.75f;
  CHECK(ooze_surface_write_vdb(s, "channels_test.vdb", &o, &why) == OOZE_OK, "%s", why.text);
  CHECK(ooze_vdb_describe(NULL, "channels_test.vdb", grids, 12, &count, &why) == OOZE_OK, "%s",
        why.text);
  static const char *const expected[] = {
      "surface", "v", "Cd", "rest", "age", "material", "weight_honey", "weight_green_slime"};
  CHECK_EQ(count, 8);
  for (uint32_t i = 0; i < 8; ++i) {
    uint32_t k = 0;
    while (k < count && strcmp(grids[k].name, expected[i]) != 0) ++k;
    CHECK(k < count, "no grid %s", expected[i]);
    if (k == count) continue;
    CHECK_EQ(grids[k].has_time, 1);
    CHECK_EQ(grids[k].frame, 7);
    CHECK(grids[k].has_rest_blend == 1 && grids[k].rest_blend == 0.75f, "%s", expected[i]);
    if (strcmp(expected[i], "material") == 0)
      CHECK(strcmp(grids[k].type, "int32") == 0, "%s", grids[k].type);
    if (strncmp(expected[i], "weight", 6) == 0)
      CHECK(grids[k].minimum >= 0.0 && grids[k].maximum <= 1.00001, "%s", expected[i]);
  }
  remove("channels_test.vdb");
  ooze_surface_destroy(s);
  halves_free(&h);
}

/* The bar of a surface without facets: normals within a few degrees of the truth where cells meet,
 * and vertices on the surface to second order. */
OZ_CASE(mesh_of_a_ball_is_round_and_has_its_volume) {
  const float separation = 0.01f, radius = 0.06f;
  float *x = (float *)malloc(sizeof(float) * 3 * 4096);
  uint32_t count = 0;
  if (!ooze_surface_has_vdb()) return;
  for (int i = -7; i <= 7; ++i)
    for (int j = -7; j <= 7; ++j)
      for (int k = -7; k <= 7; ++k)
        if ((float)(i * i + j * j + k * k) * separation * separation < radius * radius) {
          x[3 * count] = separation * (float)i;
          x[3 * count + 1] = separation * (float)j;
          x[3 * count++ + 2] = separation * (float)k;
        }
  ooze_surface_desc d;
  ooze_mesh m;
  ooze_surface_info info;
  ooze_surface_desc_default(&d);
  d.method = OOZE_SURFACE_ANISOTROPIC;
  ooze_surface *s = build(&d, x, count);
  ooze_mesh_default(&m);
  CHECK_EQ(ooze_surface_mesh(s, 0.0, &m, NULL), OOZE_OK);
  ooze_surface_info_default(&info);
  ooze_surface_info_get(s, &info);
  CHECK_NEAR(mesh_volume(&m), info.volume, 0.01 * info.volume, "the bar: within 1 percent");
  ooze_mesh_release(&m);
  ooze_surface_destroy(s);
  free(x);
}

OZ_CASE(mesh_of_one_particle_has_its_volume_and_radial_normals) {
  float x[3] = {0.0013f, 0.0027f, -0.004f};
  for (int finer = 0; finer < 2; ++finer) {
    ooze_surface_desc d;
    ooze_mesh m;
    double worst = 0.0;
    if (!ooze_surface_has_vdb()) return;
    ooze_surface_desc_default(&d);
    d.voxel = finer ? 0.0025f : 0.005f;
    ooze_surface *s = build(&d, x, 1);
    ooze_mesh_default(&m);
    CHECK_EQ(ooze_surface_mesh(s, 0.0, &m, NULL), OOZE_OK);
    for (uint32_t i = 0; i < m.point_count; ++i) {
      double dot = 0.0, length = 0.0;
      for (uint32_t k = 0; k < 3; ++k) {
        const double r = (double)m.positions[3 * i + k] - (double)x[k];
        dot += r * (double)m.normals[3 * i + k];
        length += r * r;
      }
      worst = fmax(worst, acos(fmin(dot / sqrt(length), 1.0)) * 57.3);
    }
    CHECK(worst < (finer ? 4.0 : 12.0), "%g degrees at a radius of %g voxels", worst,
          finer ? 2.5 : 1.25);
    CHECK_NEAR(mesh_volume(&m), 1e-6, finer ? 0.03e-6 : 0.1e-6,
               "linear triangles on a ball of 2.5 and 1.25 voxels");
    ooze_mesh_release(&m);
    ooze_surface_destroy(s);
  }
}
OZ_TEST_MAIN()
