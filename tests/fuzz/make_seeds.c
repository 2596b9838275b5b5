/* First inputs of the fuzzers: small whole files of each kind, made by our own writers, and a few
 * by hand for forms that they do not write. make_seeds FOLDER fills FOLDER/fuzz_<name>/.
 * SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "ooze/ooze_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char root[900];

static const char *place(const char *fuzzer, const char *file) {
  static char path[1200];
  snprintf(path, sizeof path, "%s/fuzz_%s", root, fuzzer);
  mkdir(path, 0777);
  snprintf(path, sizeof path, "%s/fuzz_%s/%s", root, fuzzer, file);
  return path;
}

static void need(ooze_result result, const ooze_message *why) {
  if (result == OOZE_OK || result == OOZE_ERROR_UNSUPPORTED) return;
  fprintf(stderr, "make_seeds: %s\n", why->text);
  exit(1);
}

static void text(const char *fuzzer, const char *file, const char *bytes) {
  FILE *out = fopen(place(fuzzer, file), "wb");
  if (!out || fputs(bytes, out) < 0 || fclose(out) != 0) exit(1);
}

static ooze_points *some_points(uint64_t count) {
  ooze_points *points;
  void *data;
  ooze_message why;
  need(ooze_points_create(count, &points, &why), &why);
  need(ooze_points_add(points, "P", OOZE_FLOAT32, 3, 0, &data, &why), &why);
  for (uint64_t i = 0; i < count * 3; i++) ((float *)data)[i] = (float)i * 0.25f;
  need(ooze_points_add(points, "id", OOZE_UINT64, 1, 0, &data, &why), &why);
  for (uint64_t i = 0; i < count; i++) ((uint64_t *)data)[i] = i << (count > 2 ? 33 : 0);
  need(ooze_points_add(points, "conform", OOZE_FLOAT32, 6, 0, NULL, &why), &why);
  need(ooze_points_add(points, "exact", OOZE_FLOAT64, 2, 0, NULL, &why), &why);
  need(ooze_points_detail_set(points, "time", 0.5, &why), &why);
  return points;
}

static const char paged[] = "[\"pointcount\",5,\"vertexcount\",4,\"primitivecount\",1,\"topology\","
                            "[\"pointref\",[\"indices\",[0,1,2,3]]],"
                            "\"attributes\",[\"pointattributes\",[[[\"scope\",\"public\",\"type\","
                            "\"numeric\",\"name\",\"P\",\"options\",{"
                            "\"type\":"
                            "{\"type\":\"string\",\"value\":\"hpoint\"}}],[\"size\",4,\"storage\","
                            "\"fpreal64\",\"values\",[\"size\",4,"
                            "\"storage\","
                            "\"fpreal64\",\"packing\",[3,1],\"pagesize\",2,\"constantpageflags\",[["
                            "],[true,true,false]],\"rawpagedata\","
                            "[1,2,3,4,5,6,1,1,2,3,4,5,6,1,1,2,3,1]]]]],\"globalattributes\",[[["
                            "\"scope\",\"public\",\"type\",\"numeric\","
                            "\"name\","
                            "\"frame\"],[\"values\",[\"size\",1,\"storage\",\"int16\",\"arrays\",[["
                            "7]]]]]]],\"primitives\",[[[\"type\","
                            "\"Poly\"],"
                            "[\"vertex\",[0,1,2,3],\"closed\",true]]]]";

int main(int argc, char **argv) {
  ooze_message why = {""};
  ooze_mesh mesh;
  if (argc != 2) {
    fprintf(stderr, "make_seeds FOLDER\n");
    return 1;
  }
  snprintf(root, sizeof root, "%s", argv[1]);
  mkdir(root, 0777);
  ooze_mesh_default(&mesh);
  need(ooze_mesh_allocate(&mesh, 4, 2, OOZE_MESH_NORMALS | OOZE_MESH_VELOCITIES, &why), &why);
  for (uint32_t i = 0; i < 12; i++) mesh.positions[i] = (float)(i * i % 7);
  for (uint32_t i = 0; i < 6; i++) mesh.triangles[i] = i * 3 % 4;

  static const struct {
    const char *fuzzer, *ending;
    int mesh;
  } list[] = {{"geo", "geo", 1},
              {"bgeo", "bgeo", 1},
              {"bgeo_sc", "bgeo.sc", 0},
              {"ply", "ply", 1},
              {"obj", "obj", 2}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    for (uint64_t count = 0; count < 4; count++) {
      char name[64];
      snprintf(name, sizeof name, "points%d.%s", (int)count, list[i].ending);
      if (list[i].mesh < 2) {
        ooze_points *points = some_points(count);
        need(ooze_points_write(place(list[i].fuzzer, name), points, NULL, &why), &why);
        ooze_points_destroy(points);
      }
      snprintf(name, sizeof name, "mesh.%s", list[i].ending);
      if (list[i].mesh) need(ooze_mesh_write(place(list[i].fuzzer, name), &mesh, NULL, &why), &why);
    }
  text("geo", "paged.geo", paged);
  text("bgeo", "paged.geo", paged);
  text("obj", "quad.obj",
       "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 .5\nf 1/1/1 2//2 3/3 -1\nf -4 \\\n-3 -2 # x\n");
  text("ply", "ascii.ply",
       "ply\nformat ascii 1.0\ncomment ooze detail time 0.5\nelement vertex 3\nproperty double "
       "x\nproperty double y\n"
       "property double z\nproperty uint id_lo\nproperty int id_hi\nelement face 1\nproperty list "
       "uchar int "
       "vertex_indices\nend_header\n0 0 0 1 2\n1 0 0 3 4\n0 1 0 5 6\n3 0 1 2\n");
  static char zeros[5000];
  need(ooze_checkpoint_write(place("checkpoint", "empty.ozc"), zeros, 0, "", &why), &why);
  need(ooze_checkpoint_write(place("checkpoint", "zeros.ozc"), zeros, sizeof zeros, "{\"frame\":1}",
                             &why),
       &why);
  need(ooze_checkpoint_write(place("checkpoint", "text.ozc"), paged, 60, "{}", &why), &why);
  ooze_mesh_release(&mesh);
  return 0;
}
