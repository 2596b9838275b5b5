/* Colliders from meshes: the checks. SPDX-License-Identifier: Apache-2.0 */
#include "vdb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void ooze_sdf_free(ooze_sdf *sdf) {
  if (!sdf) return;
  free(sdf->bricks);
  ooze_sdf_default(sdf);
}

ooze_result oz_sdf_check(const ooze_sdf_desc *d, ooze_message *why) {
  if (!d || d->size != sizeof *d)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_sdf_desc: fill it with its _default()");
  if (!(d->voxel > 0.0f) || !isfinite(d->voxel))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "voxel is %g m; expected above 0", d->voxel);
  if (!(d->exterior_band >= 1.0f && d->exterior_band <= 100.0f) ||
      !(d->interior_band >= 1.0f && d->interior_band <= 100.0f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "bands are %g and %g voxels; expected 1 to 100",
                   d->exterior_band, d->interior_band);
  if (!(d->thickness >= 0.0f) || !isfinite(d->thickness))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "thickness is %g m; expected 0 or more", d->thickness);
  if (d->mode > OOZE_SDF_SHELL)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "mode is %u; expected OOZE_SDF_*", d->mode);
  return OOZE_OK;
}

typedef struct corner {
  float x[3];
  uint32_t index;
} corner;

static int corner_order(const void *a, const void *b) {
  const corner *p = (const corner *)a, *q = (const corner *)b;
  int i;
  for (i = 0; i < 3; ++i)
    if (p->x[i] != q->x[i]) return p->x[i] < q->x[i] ? -1 : 1;
  return p->index < q->index ? -1 : p->index > q->index;
}

/* Closed: every edge is shared by an even number of triangles. Points at one place count as one,
 * since many exporters repeat them along seams. Returns -1 without memory. */
static int is_closed(const float *points, uint32_t point_count, const uint32_t *triangles,
                     uint32_t triangle_count) {
  corner *corners = (corner *)oz_allocate(point_count, sizeof *corners);
  uint32_t *same = (uint32_t *)oz_allocate(point_count, sizeof *same), *dummy = NULL, i;
  uint64_t *edges = (uint64_t *)oz_allocate(triangle_count, 3 * sizeof *edges);
  size_t n = 0, k, run;
  int closed = -1, a;
  dummy = (uint32_t *)oz_allocate(triangle_count, 3 * sizeof *dummy);
  if (corners && same && edges && dummy && triangle_count < 0x40000000u) {
    for (i = 0; i < point_count; ++i) {
      /* -0 is 0 */
      for (a = 0; a < 3; ++a) corners[i].x[a] = points[3 * (size_t)i + (size_t)a] + 0.0f;
      corners[i].index = i;
    }
    qsort(corners, point_count, sizeof *corners, corner_order);
    for (i = 0; i < point_count; ++i)
      same[corners[i].index] = i && !memcmp(corners[i].x, corners[i - 1].x, sizeof corners[i].x)
                                   ? same[corners[i - 1].index]
                                   : corners[i].index;
    for (i = 0; i < triangle_count; ++i)
      for (a = 0; a < 3; ++a) {
        uint32_t p = same[triangles[3 * (size_t)i + (size_t)a]],
                 q = same[triangles[3 * (size_t)i + (size_t)((a + 1) % 3)]];
        if (p == q) continue; /* a triangle without area */
        edges[n++] = p < q ? (uint64_t)p << 32 | q : (uint64_t)q << 32 | p;
      }
    if (oz_sort_keys(edges, dummy, (uint32_t)n)) {
      closed = n > 0;
      for (k = 0; k < n && closed; k += run) {
        for (run = 1; k + run < n && edges[k + run] == edges[k]; ++run) {
        }
        closed = run % 2 == 0;
      }
    }
  }
  oz_release(corners);
  oz_release(same);
  oz_release(edges);
  oz_release(dummy);
  return closed;
}

int ooze_mesh_is_closed(const ooze_mesh *mesh) {
  uint64_t i;
  if (!mesh || mesh->triangle_count > 0x3fffffffu) return -1;
  for (i = 0; i < 3 * mesh->triangle_count; ++i)
    if (mesh->triangles[i] >= mesh->point_count) return -1;
  return is_closed(mesh->positions, mesh->point_count, mesh->triangles,
                   (uint32_t)mesh->triangle_count);
}

ooze_result oz_sdf_check_mesh(const ooze_sdf_desc *d, const float *points, uint32_t point_count,
                              const uint32_t *triangles, uint32_t triangle_count, int *out_closed,
                              ooze_message *why) {
  double area = 0.0, bricks, reach = 0.0;
  uint32_t i;
  int a;
  ooze_result r = oz_sdf_check(d, why);
  if (r) return r;
  if ((double)d->voxel < OOZE_SMALLEST_VOXEL)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "voxels of %g m; expected %g m or more, which is as fine as OpenVDB goes",
                   d->voxel, OOZE_SMALLEST_VOXEL);
  if (!points || !triangles || !point_count || !triangle_count)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "the mesh has %u points and %u triangles", point_count,
                   triangle_count);
  if (triangle_count > d->max_triangles)
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "the mesh has %u triangles; the limit is %u (max_triangles)", triangle_count,
                   d->max_triangles);
  for (i = 0; i < point_count; ++i)
    for (a = 0; a < 3; ++a) {
      float x = points[3 * (size_t)i + (size_t)a];
      if (!isfinite(x))
        return oz_fail(why, OOZE_ERROR_ARGUMENT, "point %u of the mesh is not finite", i);
      reach = fmax(reach, fabs(x));
    }
  if (reach / d->voxel > 1 << 23)
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "the mesh reaches %g m out, %g voxels of %g m; the limit is %d voxels", reach,
                   reach / d->voxel, d->voxel, 1 << 23);
  for (i = 0; i < triangle_count; ++i) {
    const uint32_t *t = triangles + 3 * (size_t)i;
    const float *p, *q, *s;
    double u[3], v[3], c[3];
    if (t[0] >= point_count || t[1] >= point_count || t[2] >= point_count)
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "triangle %u names point %u of %u", i,
                     t[0] >= point_count   ? t[0]
                     : t[1] >= point_count ? t[1]
                                           : t[2],
                     point_count);
    p = points + 3 * (size_t)t[0];
    q = points + 3 * (size_t)t[1];
    s = points + 3 * (size_t)t[2];
    for (a = 0; a < 3; ++a) {
      u[a] = (double)q[a] - p[a];
      v[a] = (double)s[a] - p[a];
    }
    for (a = 0; a < 3; ++a)
      c[a] = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
    area += 0.5 * sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
  }
  /* A brick covers at least 64 voxels of a surface; asking beforehand keeps a slip of the unit from
   * filling the memory.
   */
  bricks = area / ((double)d->voxel * d->voxel) / 64.0 *
           (1.0 + (d->exterior_band + d->interior_band) / 8.0);
  if (bricks > d->max_bricks)
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "the mesh of %g m^2 needs about %.0f bricks at a voxel of %g m; the "
                   "limit is %u (max_bricks)",
                   area, bricks, d->voxel, d->max_bricks);
  *out_closed = d->mode == OOZE_SDF_AUTO ? is_closed(points, point_count, triangles, triangle_count)
                                         : d->mode == OOZE_SDF_CLOSED;
  if (*out_closed < 0)
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the edges of %u triangles",
                   triangle_count);
  return OOZE_OK;
}
