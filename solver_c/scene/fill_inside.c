/* The inside of a mesh, for filling it. SPDX-License-Identifier: Apache-2.0 */
#include "fill.h"

#include <math.h>
#include <stdlib.h>

static int by_row(const void *a, const void *b) {
  const oz_crossing *p = a, *q = b;
  if (p->row != q->row) return p->row < q->row ? -1 : 1;
  return p->x < q->x ? -1 : p->x > q->x;
}

int oz_rows_build(oz_rows *w, const ooze_mesh *m, const double origin[3], const double pitch[2],
                  const uint32_t n[3]) {
  memset(w, 0, sizeof *w);
  /* a row never goes through a vertex or an edge of a tidy mesh */
  double shift[2] = {1.2345e-5 * pitch[0], 2.3456e-5 * pitch[1]};
  for (uint64_t t = 0; t < m->triangle_count; t++) {
    double p[3][3];
    for (int v = 0; v < 3; v++)
      for (int k = 0; k < 3; k++)
        p[v][k] = (double)m->positions[3 * (size_t)m->triangles[3 * t + v] + k];
    double normal =
        (p[1][1] - p[0][1]) * (p[2][2] - p[0][2]) - (p[1][2] - p[0][2]) * (p[2][1] - p[0][1]);
    if (normal == 0.0) continue;
    double lo[2], hi[2];
    int64_t a[2], b[2];
    for (int k = 0; k < 2; k++) {
      lo[k] = fmin(p[0][k + 1], fmin(p[1][k + 1], p[2][k + 1]));
      hi[k] = fmax(p[0][k + 1], fmax(p[1][k + 1], p[2][k + 1]));
      double from = ceil((lo[k] - origin[k + 1] - shift[k]) / pitch[k]),
             to = floor((hi[k] - origin[k + 1] - shift[k]) / pitch[k]);
      a[k] = from < 0.0 ? 0 : (int64_t)fmin(from, 1e9);
      b[k] = to > (double)n[k + 1] - 1.0 ? (int64_t)n[k + 1] - 1 : (int64_t)fmax(to, -1.0);
    }
    for (int64_t j = a[0]; j <= b[0]; j++)
      for (int64_t k = a[1]; k <= b[1]; k++) {
        double y = origin[1] + (double)j * pitch[0] + shift[0],
               z = origin[2] + (double)k * pitch[1] + shift[1], u[3];
        int inside = 1;
        for (int v = 0; v < 3 && inside; v++) { /* barycentric, by the signs of areas */
          const double *q = p[(v + 1) % 3], *r = p[(v + 2) % 3];
          u[v] = ((q[1] - y) * (r[2] - z) - (q[2] - z) * (r[1] - y)) / normal;
          inside = u[v] >= 0.0;
        }
        if (!inside) continue;
        if (!oz_list_room((void **)&w->list, &w->room, w->count, sizeof *w->list, 1024)) return 0;
        oz_crossing *c = &w->list[w->count++];
        c->row = (uint32_t)((uint64_t)j * n[2] + (uint64_t)k);
        c->x = (float)(u[0] * p[0][0] + u[1] * p[1][0] + u[2] * p[2][0]);
        c->sign = normal > 0.0 ? 1 : -1;
      }
  }
  if (w->count) qsort(w->list, w->count, sizeof *w->list, by_row);
  w->first = malloc(((size_t)n[1] * n[2] + 1) * sizeof *w->first);
  if (!w->first) return 0;
  size_t at = 0;
  for (size_t row = 0; row <= (size_t)n[1] * n[2]; row++) {
    while (at < w->count && w->list[at].row < row) at++;
    w->first[row] = at;
  }
  return 1;
}

void oz_rows_release(oz_rows *w) {
  free(w->list);
  free(w->first);
}

int oz_winding(const oz_rows *w, size_t row, double x) {
  int turns = 0;
  for (size_t i = w->first[row]; i < w->first[row + 1] && (double)w->list[i].x < x; i++)
    turns += w->list[i].sign;
  return turns;
}
