/* Fluids that go on coming: from the inside of a shape, or from the surface of a mesh.
 *
 * Particles come at the beginning of a frame, where there is room among those that are there. A
 * surface lets layers go one separation apart, at s = speed (t - t_k) from it, t_k = k separation /
 * speed: those that it let go in the frame before come at once, each where it would be by now. The
 * new particles depend on time and particles alone, so that a resumed run has the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"

#include <math.h>
#include <stdlib.h>

/* Places on a mesh and the normals there, 3 floats each. */
typedef struct places {
  float *x, *n;
  uint32_t count;
} places;

static ooze_result find_places(const oz_fluid *f, double separation, places *out,
                               ooze_message *why) {
  const ooze_mesh *m = &f->shape.mesh;
  ooze_mesh_samples samples;
  ooze_mesh_samples_default(&samples);
  OZ_TRY_OK(ooze_mesh_sample(m, separation, 0, &samples, why));
  const size_t count = samples.count;
  out->count = samples.count;
  out->x = malloc((count + 1) * 12);
  out->n = malloc((count + 1) * 12);
  if (!out->x || !out->n) {
    ooze_mesh_samples_release(&samples);
    return oz_fail(why, OOZE_ERROR_MEMORY, "out of memory");
  }
  (void)ooze_mesh_samples_place(&samples, m->positions, m->triangles, out->x);
  for (size_t i = 0; i < count; i++) {
    const uint32_t *t = m->triangles + 3 * (size_t)samples.triangle[i];
    const float *a = m->positions + 3 * (size_t)t[0], *b = m->positions + 3 * (size_t)t[1],
                *c = m->positions + 3 * (size_t)t[2];
    double u[3], v[3], n[3], size = 0.0;
    for (int k = 0; k < 3; k++)
      u[k] = (double)b[k] - (double)a[k], v[k] = (double)c[k] - (double)a[k];
    for (int k = 0; k < 3; k++) {
      const int p = (k + 1) % 3, q = (k + 2) % 3;
      n[k] = u[p] * v[q] - u[q] * v[p];
      size += n[k] * n[k];
    }
    for (int k = 0; k < 3; k++) out->n[3 * i + (size_t)k] = (float)(n[k] / sqrt(fmax(size, 1e-60)));
  }
  ooze_mesh_samples_release(&samples);
  return OOZE_OK;
}

/* Layers that the surface let go during the frame that ends at `time`. */
static ooze_result from_surface(const ooze_scene *s, const oz_fluid *f, double time,
                                double duration, const oz_fill *fill, const oz_solids *solids,
                                oz_cloud *out, ooze_message *why) {
  const double d = (double)s->separation, speed = (double)f->speed;
  const double low[3] = {-1e30, -1e30, -1e30}, high[3] = {1e30, 1e30, 1e30};
  const uint32_t layers = (uint32_t)ceil(speed * duration / d) + 1;
  places at = {NULL, NULL, 0};
  oz_near taken;
  memset(&taken, 0, sizeof taken);
  ooze_result result = find_places(f, d, &at, why);
  const size_t most = (size_t)at.count * layers;
  if (result >= 0) {
    out->x = malloc((most + 1) * sizeof *out->x);
    out->v = malloc((most + 1) * sizeof *out->v);
    if (!out->x || !out->v || !oz_near_build(&taken, fill, low, high))
      result = oz_fail(why, OOZE_ERROR_MEMORY, "out of memory");
  }
  const double phase = fmod(speed * time, d);
  for (uint32_t k = 0; result >= 0 && k < layers; k++) {
    const double way = phase + k * d;
    /* let go before; not yet */
    if (way > speed * duration || way > speed * (time - (double)f->from)) break;
    for (uint32_t i = 0; i < at.count; i++) {
      const float *x = at.x + 3 * (size_t)i, *n = at.n + 3 * (size_t)i;
      double local[3], ahead[3], world[3], tip[3];
      for (int c = 0; c < 3; c++) {
        local[c] = (double)x[c] + (0.5 * d + way) * (double)n[c];
        ahead[c] = local[c] + (double)n[c];
      }
      oz_pose_apply(&f->pose, local, world);
      oz_pose_apply(&f->pose, ahead, tip);
      if ((taken.count && oz_near_taken(&taken, world)) || (solids && oz_in_solid(solids, world)))
        continue;
      for (int c = 0; c < 3; c++) {
        out->x[out->count][c] = (float)world[c];
        out->v[out->count][c] = f->velocity[c] + (float)(speed * (tip[c] - world[c]));
      }
      out->count++;
    }
  }
  free(at.x);
  free(at.n);
  oz_near_release(&taken);
  return result;
}

/* By single precision, as the scene's values are kept: at 30 frames a second 0.1 s is frame 3. */
static int pours(const oz_fluid *f, double time) {
  const float now = (float)time;
  return f->emit && now >= f->from && (!(f->until > 0.0f) || now < f->until);
}

static ooze_result emit_one(const ooze_scene *s, const oz_fluid *f, double time, double duration,
                            oz_fill *fill, const oz_solids *solids, ooze_solver *solver,
                            ooze_message *why) {
  oz_cloud cloud;
  uint64_t cut = 0;
  memset(&cloud, 0, sizeof cloud);
  ooze_result result =
      f->emit == OZ_EMIT_SURFACE
          ? from_surface(s, f, time, duration, fill, solids, &cloud, why)
          : oz_fill_fluid(fill, f, solids ? oz_in_solid : NULL, solids, &cloud, &cut, why);
  if (result >= 0 && cloud.count) {
    ooze_particles p;
    ooze_particles_default(&p);
    p.count = cloud.count;
    p.material = f->material + 1;
    p.positions = cloud.x;
    p.velocities = cloud.v;
    result = ooze_particles_add(solver, &p, NULL);
    if (result < 0)
      result =
          oz_fail(why, result, "%s: fluids.%s: %s", s->file, f->name, ooze_solver_message(solver));
  }
  oz_cloud_release(&cloud);
  return result;
}

/* Particles that stand where a fluid may come, or so near that it must keep its distance: a GPU
 * sends no others. x: room for all. */
static ooze_result reserve_near(const ooze_scene *s, const oz_fluid *f, double duration,
                                oz_fill *fill, ooze_solver *solver, float *x, ooze_message *why) {
  const double d = (double)s->separation, out = f->emit == OZ_EMIT_SURFACE ? 1.0 : 0.0,
               /* the nearest ones count to 2 d (fill_fluid.c); layers fly by */
      margin = 3.0 * d + out * (double)f->speed * duration;
  float low[3] = {-INFINITY, -INFINITY, -INFINITY}, high[3] = {INFINITY, INFINITY, INFINITY};
  double box[2][3];
  uint32_t count = 0;
  if (oz_fluid_bounds(f, margin, box[0], box[1]))
    for (int k = 0; k < 3; k++) low[k] = (float)box[0][k], high[k] = (float)box[1][k];
  if (ooze_particles_within(solver, low, high, ooze_particle_count(solver), x, &count) < 0)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: %s", s->file, ooze_solver_message(solver));
  return oz_fill_reserve(fill, x, count, why);
}

ooze_result oz_scene_emit(const ooze_scene *s, double time, double duration, ooze_solver *solver,
                          const oz_fill_host *host, ooze_message *why) {
  uint32_t emitting = 0;
  for (uint32_t i = 0; i < s->fluid_count; i++) emitting += (uint32_t)pours(&s->fluids[i], time);
  if (!emitting) return OOZE_OK;
  uint64_t most = 1u << 30;
  if (s->max_memory) OZ_TRY_OK(oz_scene_most_particles(s, &most, why));
  const uint32_t count = ooze_particle_count(solver);
  oz_fill *fill = oz_fill_create((double)s->separation, most, host);
  oz_solids *solids = s->collider_count ? oz_solids_create(s, 0.25 * (double)s->separation) : NULL;
  float *x = malloc(((size_t)count + 1) * 12);
  ooze_result result = OOZE_OK;
  if (!fill || !x || (s->collider_count && !solids))
    result = oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", s->file);
  for (uint32_t i = 0; result >= 0 && i < s->fluid_count; i++)
    if (pours(&s->fluids[i], time))
      result = reserve_near(s, &s->fluids[i], duration, fill, solver, x, why);
  for (uint32_t i = 0; result >= 0 && i < s->fluid_count; i++) {
    const oz_fluid *f = &s->fluids[i];
    if (pours(f, time)) result = emit_one(s, f, time, duration, fill, solids, solver, why);
  }
  free(x);
  oz_solids_destroy(solids);
  oz_fill_destroy(fill);
  return result;
}
