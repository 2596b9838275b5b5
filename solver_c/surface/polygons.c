/* Triangles of a mesh from the triangles and quads of a mesher, facing out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

/* Corners, and the mesh that they go to; turned: the other way round. */
typedef struct polygon_job {
  const uint32_t *triangles, *quads;
  size_t triangle_count, quad_count;
  ooze_mesh *mesh;
  int turned;
} polygon_job;

static void put(const polygon_job *job, size_t n, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t *to = job->mesh->triangles + 3 * n;
  to[0] = a;
  to[1] = job->turned ? c : b;
  to[2] = job->turned ? b : c;
}

/* Polygons, first the triangles, then the quads, which make two each. */
static void put_body(void *arg, uint32_t begin, uint32_t end) {
  const polygon_job *job = (const polygon_job *)arg;
  const size_t count = job->triangle_count;
  for (size_t i = begin; i < end; ++i)
    if (i < count) {
      const uint32_t *t = job->triangles + 3 * i;
      put(job, i, t[0], t[1], t[2]);
    } else {
      const uint32_t *q = job->quads + 4 * (i - count);
      put(job, count + 2 * (i - count), q[0], q[1], q[2]);
      put(job, count + 2 * (i - count) + 1, q[0], q[2], q[3]);
    }
}

/* Twice the area of a triangle, times the cosine to the normal of its first corner: below 0 where
 * it runs the other way round. */
static double faces_along(const ooze_mesh *mesh, const uint32_t corner[3]) {
  const float *n = mesh->normals + 3 * (size_t)corner[0];
  const float *p[3];
  double u[3], v[3], sum = 0.0;
  for (int k = 0; k < 3; ++k) p[k] = mesh->positions + 3 * (size_t)corner[k];
  for (int a = 0; a < 3; ++a) {
    u[a] = (double)p[1][a] - (double)p[0][a];
    v[a] = (double)p[2][a] - (double)p[0][a];
  }
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    sum += (u[b] * v[c] - u[c] * v[b]) * (double)n[a];
  }
  return sum;
}

/* The winding differs between mesher's versions and is one way in a mesh: some polygons tell. */
static int winds_inwards(const polygon_job *job) {
  enum { ASKED = 4096 };
  double along = 0.0;
  for (size_t i = 0; i < job->triangle_count; i += job->triangle_count / ASKED + 1)
    along += faces_along(job->mesh, job->triangles + 3 * i);
  for (size_t i = 0; i < job->quad_count; i += job->quad_count / ASKED + 1)
    along += faces_along(job->mesh, job->quads + 4 * i);
  return along < 0.0;
}

void oz_polygons_put(ooze_mesh *mesh, const uint32_t *triangles, size_t triangle_count,
                     const uint32_t *quads, size_t quad_count, const oz_loop *loop) {
  polygon_job job = {triangles, quads, triangle_count, quad_count, mesh, 0};
  if (mesh->normals) job.turned = winds_inwards(&job);
  oz_loop_run(loop, (uint32_t)(triangle_count + quad_count), put_body, &job);
  if (!mesh->normals) ooze_mesh_face_out(mesh);
}
