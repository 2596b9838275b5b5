/* Colliders whose mesh deforms: a file for each frame. SPDX-License-Identifier: Apache-2.0
 *
 * Points are found on the first frame's mesh once, as places in its triangles. For each step they
 * are placed on the meshes of the frame before and of the frame itself; the solver moves them from
 * there to there, each its own way. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct oz_follow {
  ooze_mesh_samples samples;
  float *from, *to; /* 3 a point, m, in the collider's frame */
  int32_t frame;    /* of `to` */
} oz_follow;

void oz_session_deform_release(oz_session *s) {
  for (uint32_t i = 0; s->follow && i < s->base->collider_count; i++) {
    ooze_mesh_samples_release(&s->follow[i].samples);
    free(s->follow[i].from);
    free(s->follow[i].to);
  }
  free(s->follow);
  s->follow = NULL;
}

static ooze_result place(oz_session *s, uint32_t i, int32_t frame, float *out, ooze_mesh *mesh) {
  OZ_TRY_OK(oz_sequence_mesh(s->base, &s->base->colliders[i].shape, frame, mesh, s->why));
  return ooze_mesh_samples_place(&s->follow[i].samples, mesh->positions, mesh->triangles, out);
}

static ooze_result follow_one(oz_session *s, uint32_t i) {
  const oz_collider_item *item = &s->base->colliders[i];
  oz_follow *f = &s->follow[i];
  ooze_mesh mesh;
  ooze_mesh_default(&mesh);
  if (!f->from) {
    ooze_mesh_samples_default(&f->samples);
    OZ_TRY_OK(ooze_mesh_sample(&item->shape.mesh, (double)s->base->separation, item->shell ? 0 : 2,
                               &f->samples, s->why));
    f->from = malloc(((size_t)f->samples.count + 1) * 12);
    f->to = malloc(((size_t)f->samples.count + 1) * 12);
    if (!f->from || !f->to)
      return oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: out of memory for collider %s", s->base->file,
                     item->name);
    OZ_TRY_OK(place(s, i, s->stepping - 1, f->to, &mesh));
    ooze_mesh_release(&mesh);
    f->frame = s->stepping - 1;
  }
  if (f->frame == s->stepping - 1) { /* the next step starts from the shape reached here */
    float *was = f->from;
    f->from = f->to;
    f->to = was;
    OZ_TRY_OK(place(s, i, s->stepping, f->to, &mesh));
    f->frame = s->stepping;
  }
  ooze_result result =
      ooze_collider_points(s->solver, s->colliders[i], f->samples.count, f->from, f->to);
  if (result < 0)
    oz_fail(s->why, result, "%s: collider %s: %s", s->base->file, item->name,
            ooze_solver_message(s->solver));
  ooze_mesh_release(&mesh);
  return result < 0 ? result : OOZE_OK;
}

ooze_result oz_session_deform(oz_session *s) {
  for (uint32_t i = 0; i < s->base->collider_count; i++) {
    if (!s->base->colliders[i].shape.sequence) continue;
    if (!s->follow) s->follow = calloc(s->base->collider_count, sizeof *s->follow);
    if (!s->follow) return oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: out of memory", s->base->file);
    OZ_TRY_OK(follow_one(s, i));
  }
  return OOZE_OK;
}
