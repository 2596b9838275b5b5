/* Rows through shapes: the parts of a row that are inside, and the volume that rows sweep.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fill.h"

#include <math.h>
#include <stdlib.h>

enum { ENOUGH_ROWS = 32 }; /* across a shape, to know its volume within some tenths of a per cent */

void oz_row_frame_of(oz_row_frame *f, const oz_shape *shape, const double low[3],
                     const double high[3], const uint32_t n[2]) {
  memset(f, 0, sizeof *f);
  f->shape = shape;
  for (int k = 0; k < 3; k++) f->low[k] = low[k], f->high[k] = high[k];
  for (int k = 0; k < 2; k++) {
    f->n[k] = n[k];
    f->pitch[k] = (high[k + 1] - low[k + 1]) / n[k];
  }
}

/* Rows of a mesh are looked up in its crossings. 0: no memory. */
int oz_row_frame_open(oz_row_frame *f) {
  if (f->shape->kind != OZ_SHAPE_MESH) return 1;
  const double first[3] = {f->low[0], f->low[1] + 0.5 * f->pitch[0], f->low[2] + 0.5 * f->pitch[1]};
  const uint32_t n[3] = {1, f->n[0], f->n[1]};
  return oz_rows_build(&f->crossings, &f->shape->mesh, first, f->pitch, n);
}

void oz_row_frame_close(oz_row_frame *f) { oz_rows_release(&f->crossings); }

static uint32_t mesh_spans(const oz_row_frame *f, size_t row, double span[][2]) {
  const oz_rows *w = &f->crossings;
  uint32_t count = 0;
  int turns = 0;
  for (size_t i = w->first[row]; i < w->first[row + 1]; i++) {
    const int before = turns;
    turns += w->list[i].sign;
    if (!before && turns && count < OZ_SPANS) span[count][0] = (double)w->list[i].x;
    if (before && !turns && count < OZ_SPANS) span[count++][1] = (double)w->list[i].x;
  }
  return count;
}

/* The distance is a safe step: no surface is nearer. */
static uint32_t traced_spans(const oz_row_frame *f, double y, double z, double least,
                             double span[][2]) {
  double x[3] = {f->low[0] - least, y, z}, before = x[0];
  const double end = f->high[0] + least;
  uint32_t count = 0;
  int inside = 0;
  while (before < end && count < OZ_SPANS) {
    x[0] = before;
    const double step = fmax(fabs(oz_shape_distance(f->shape, x)), least);
    double next = fmin(before + step, end);
    x[0] = next;
    if ((oz_shape_distance(f->shape, x) <= 0.0) != inside) {
      double a = before, b = next;
      for (int k = 0; k < 30; k++) {
        x[0] = 0.5 * (a + b);
        if ((oz_shape_distance(f->shape, x) <= 0.0) != inside)
          b = x[0];
        else
          a = x[0];
      }
      if (inside)
        span[count++][1] = b;
      else
        span[count][0] = b;
      inside = !inside;
    }
    before = next;
  }
  return count;
}

double oz_row_spans(const oz_row_frame *f, uint32_t j, uint32_t k, double least, double span[][2],
                    uint32_t *out_count) {
  const double y = f->low[1] + (j + 0.5) * f->pitch[0], z = f->low[2] + (k + 0.5) * f->pitch[1];
  if (f->shape->kind == OZ_SHAPE_MESH)
    *out_count = mesh_spans(f, (size_t)j * f->n[1] + k, span);
  else
    *out_count = traced_spans(f, y, z, least, span);
  double length = 0.0;
  for (uint32_t s = 0; s < *out_count; s++) length += span[s][1] - span[s][0];
  return length;
}

typedef struct volume_job {
  const oz_row_frame *frame;
  double least, *length; /* of each row of one j */
  uint32_t j;
} volume_job;

static void measure(void *arg, uint32_t begin, uint32_t end) {
  const volume_job *job = arg;
  double span[OZ_SPANS][2];
  uint32_t count;
  for (uint32_t k = begin; k < end; k++)
    job->length[k] = oz_row_spans(job->frame, job->j, k, job->least, span, &count);
}

double oz_shape_volume(const oz_shape *shape, double d, const oz_loop *loop) {
  double low[3], high[3], sum = 0.0;
  if (!oz_shape_bounds(shape, low, high)) return 0.0;
  if (shape->kind == OZ_SHAPE_BOX)
    return (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]);
  uint32_t n[2];
  for (int k = 0; k < 2; k++)
    n[k] = (uint32_t)fmax(fmin(ceil((high[k + 1] - low[k + 1]) / d), 1e5), ENOUGH_ROWS);
  oz_row_frame f;
  oz_row_frame_of(&f, shape, low, high, n);
  volume_job job = {&f, d / 16.0, malloc(n[1] * sizeof(double)), 0};
  if (!job.length || !oz_row_frame_open(&f)) {
    oz_row_frame_close(&f);
    free(job.length);
    return -1.0;
  }
  for (; job.j < n[0]; job.j++) {
    oz_loop_run(loop, n[1], measure, &job);
    for (uint32_t k = 0; k < n[1]; k++) sum += job.length[k] * f.pitch[0] * f.pitch[1];
  }
  free(job.length);
  oz_row_frame_close(&f);
  return sum;
}
