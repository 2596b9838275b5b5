/* SPDX-License-Identifier: Apache-2.0 */
#include "core/bodies.h"

#include <math.h>
#include <stdlib.h>

#include "core/particles.h"
#include "core/poses.h"
#include "core/soft.h"
#include "core/links.h"
#include "base/schema.h"
#include "physics/rigid.h"

/* ---- The table ---- */

void oz_bodies_init(oz_bodies *b, oz_memory *memory) {
  memset(b, 0, sizeof *b);
  b->memory = memory;
  b->next_handle = 1;
  b->changed = 1;
}

void oz_bodies_destroy(oz_bodies *b) {
  oz_free(b->memory, b->body);
  oz_bodies_init(b, b->memory);
}

void oz_bodies_clear(oz_bodies *b) {
  b->count = b->members = 0;
  b->changed = 1;
}

static oz_body *find(const oz_bodies *b, uint32_t handle) {
  uint32_t lo = 0, hi = b->count;
  OZ_LOWER_BOUND(lo, hi, mid, b->body[mid].handle < handle)
  return lo < b->count && b->body[lo].handle == handle ? b->body + lo : NULL;
}

ooze_result oz_bodies_room(oz_bodies *b, uint32_t count, ooze_message *why) {
  if (count > OZ_BODIES_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "body: there are %u already, which is as many as there can be", b->count);
  size_t held = b->count * sizeof *b->body, need = count * sizeof *b->body;
  if (need <= b->capacity) return OOZE_OK;
  if (!oz_grow(b->memory, (void **)&b->body, &b->capacity, need + need / 2, held))
    return oz_fail(why, OOZE_ERROR_MEMORY, "body: no memory for %u of them", count);
  return OOZE_OK;
}

ooze_result oz_bodies_to_backend(ooze_solver *s) {
  oz_bodies *b = &s->bodies;
  if (!b->changed) return OOZE_OK;
  OZ_TRY(s->backend->table->bodies(s->backend, b->body, b->count, b->members, s->message));
  b->changed = 0;
  return OOZE_OK;
}

/* ---- Poses ---- */

static void pose_read(const float from[7], ooze_pose *out) {
  ooze_pose_default(out);
  memcpy(out->position, from, 3 * sizeof(float));
  memcpy(out->rotation, from + 3, 4 * sizeof(float));
}

static void pose_write(const ooze_pose *pose, float p[3], float q[4]) {
  memcpy(p, pose->position, 3 * sizeof(float));
  memcpy(q, pose->rotation, 4 * sizeof(float));
}

void oz_body_poses(const oz_body *body, ooze_pose *start, ooze_pose *end) {
  pose_read(body->step_start, start);
  pose_read(body->step_end, end);
}

static void pose_at(const oz_body *b, double fraction, float p[3], float q[4]) {
  ooze_pose start, end, now;
  oz_body_poses(b, &start, &end);
  oz_pose_between(&start, &end, fraction, &now);
  pose_write(&now, p, q);
}

void oz_bodies_frame(oz_bodies *b, double f0, double f1) {
  for (uint32_t i = 0; i < b->count; ++i) {
    oz_body *body = b->body + i;
    if (!body->driven) continue;
    pose_at(body, f0, body->p0, body->q0);
    pose_at(body, f1, body->p1, body->q1);
    b->changed = 1;
  }
}

void oz_bodies_end_step(oz_bodies *b, double fraction) {
  for (uint32_t i = 0; i < b->count; ++i) {
    oz_body *body = b->body + i;
    if (body->driven) pose_at(body, fraction, body->step_start, body->step_start + 3);
  }
}

/* ---- Adding ---- */

/* Centre of the points (they all weigh the same), and whether they span more than a line. */
static int span(const ooze_body_desc *d, double centre[3]) {
  double acc[OZ_BODY_SUMS] = {0};
  const float none[3] = {0, 0, 0};
  const double nowhere[3] = {0, 0, 0};
  oz_body_state state;
  memset(&state, 0, sizeof state);
  for (uint32_t i = 0; i < d->count; ++i) {
    float x[3];
    memcpy(x, (const unsigned char *)d->positions + i * d->position_stride, sizeof x);
    oz_body_add(acc, 1.0, x, none, nowhere);
  }
  if (!oz_body_solve(acc, &state)) return 0;
  memcpy(centre, state.c0, sizeof state.c0);
  return state.inverse[0] + state.inverse[1] + state.inverse[2] > 0;
}

static ooze_result check(ooze_solver *s, ooze_body_desc *d) {
  ooze_message *why = s->message;
  OZ_TRY(oz_schema_check(OZ_OWNER_body_desc, d, "body", why));
  if (d->material >= s->material_count)
    return oz_fail(why, OOZE_ERROR_NOT_FOUND, "body: material is %u; there are %u",
                   (unsigned)d->material, (unsigned)s->material_count);
  if (!d->positions || d->count == 0)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "body: it has no points; expected positions and count");
  if (d->count >= OZ_OWNER_HANDLE || s->bodies.members > UINT32_MAX - d->count)
    return oz_fail(why, OOZE_ERROR_LIMIT, "body: %u points are too many", (unsigned)d->count);
  OZ_TRY(oz_check_count(s, d->count, "body"));
  OZ_TRY(oz_check_stride(&d->position_stride, 12, "body: position_stride", why));
  if (d->has_first_id && d->first_id > (uint64_t)OZ_ID_MAX - d->count)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "body: first_id is %llu; expected at most %lld",
                   (unsigned long long)d->first_id, (long long)OZ_ID_MAX - d->count);
  return OOZE_OK;
}

/* Where its particles are and how they move: x and u, 3 floats each; rest as given. */
static ooze_result place(ooze_solver *s, const ooze_body_desc *d, const double centre[3], float *x,
                         float *u, float *rest) {
  double q[4], w[3], v[3], p[3], middle[3];
  for (int k = 0; k < 4; ++k) q[k] = (double)d->pose.rotation[k];
  for (int k = 0; k < 3; ++k)
    w[k] = (double)d->spin[k], v[k] = (double)d->velocity[k], p[k] = (double)d->pose.position[k];
  oz_turn3(q, centre, middle);
  for (uint32_t i = 0; i < d->count; ++i, x += 3, u += 3, rest += 3) {
    double r[3], t[3];
    memcpy(rest, (const unsigned char *)d->positions + i * d->position_stride, 12);
    for (int k = 0; k < 3; ++k) r[k] = (double)rest[k];
    oz_turn3(q, r, r);
    for (int k = 0; k < 3; ++k) x[k] = (float)(p[k] + r[k]), r[k] -= middle[k];
    oz_cross3(w, r, t);
    for (int k = 0; k < 3; ++k) u[k] = (float)(v[k] + t[k]);
    if (!oz_position_ok(s, x))
      return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                     "body: point %u is at %g %g %g; expected finite values of at most %g m",
                     (unsigned)i, (double)x[0], (double)x[1], (double)x[2],
                     fmin(OZ_FAR_METRES, OZ_FAR_SEPARATIONS * (double)s->separation));
  }
  return OOZE_OK;
}

static ooze_result append(ooze_solver *s, const ooze_body_desc *d, uint32_t owner,
                          const double centre[3]) {
  size_t n = d->count;
  float *x = oz_alloc(&s->memory, n * 36);
  uint64_t *ids = d->has_first_id ? oz_alloc(&s->memory, n * sizeof *ids) : NULL;
  ooze_result r = OOZE_OK;
  if (!x || (d->has_first_id && !ids))
    r = oz_fail(s->message, OOZE_ERROR_MEMORY, "body: no memory for %zu points", n);
  if (r >= 0) r = place(s, d, centre, x, x + 3 * n, x + 6 * n);
  if (r >= 0) {
    for (size_t i = 0; ids && i < n; ++i) ids[i] = d->first_id + i;
    oz_arrivals a = {d->count, x,    0,           x + 3 * n, 0,     ids,
                     NULL,     NULL, d->material, 0,         owner, x + 6 * n};
    r = oz_particles_append(s, &a);
  }
  oz_free(&s->memory, ids);
  oz_free(&s->memory, x);
  return r;
}

static int ascending(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* m^2: squared distance from the origin within which particles of a soft body are held. */
static ooze_result find_held(ooze_solver *s, const ooze_body_desc *d, oz_body *body) {
  const size_t held = (size_t)ceil((double)d->held * d->count);
  body->held2 = d->kind == OOZE_BODY_SOFT ? -1.0f : INFINITY;
  if (d->kind != OOZE_BODY_SOFT || !held) return OOZE_OK;
  float *r2 = oz_alloc(&s->memory, d->count * sizeof *r2);
  if (!r2) return oz_fail(s->message, OOZE_ERROR_MEMORY, "body: no memory for %u points", d->count);
  for (uint32_t i = 0; i < d->count; ++i) {
    float x[3];
    memcpy(x, (const unsigned char *)d->positions + i * d->position_stride, sizeof x);
    r2[i] = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  }
  qsort(r2, d->count, sizeof *r2, ascending);
  body->held2 = 1.0001f * r2[held - 1]; /* as the stage computes it, to rounding */
  oz_free(&s->memory, r2);
  return OOZE_OK;
}

/* A body of these points that is not in the table yet. */
static oz_body describe(const ooze_solver *s, const ooze_body_desc *d) {
  const uint32_t soft = d->kind == OOZE_BODY_SOFT;
  oz_body body;
  memset(&body, 0, sizeof body);
  body.handle = s->bodies.next_handle;
  body.kind = soft ? OZ_OWNER_SOFT : OZ_OWNER_RIGID;
  body.first_id = d->has_first_id ? d->first_id : s->particles.next_id;
  body.first = s->bodies.members;
  body.count = d->count;
  body.friction = d->friction;
  body.stick = d->stick;
  if (!soft) return body;
  body.young = 1.0f / fmaxf(d->stretch_compliance, OZ_SOFT_STIFFEST);
  body.bulk = d->keep_volume ? 1.0f / fmaxf(d->volume_compliance, OZ_SOFT_STIFFEST) : 0.0f;
  body.damping = d->damping;
  body.strain = d->strain_limit;
  return body;
}

/* Links of a soft body after its particles were added; if they fail, the particles are removed
 * again. */
static ooze_result tie(ooze_solver *s, const oz_body *body, oz_link_pair *pairs, uint64_t count,
                       uint64_t next_id) {
  uint32_t rank = 0;
  ooze_result r = oz_links_fetch(s);
  (void)oz_rank_of(s, body->first_id, &rank);
  /* ids in a row have ranks in a row */
  for (uint64_t k = 0; k < count; ++k) pairs[k].a += rank, pairs[k].b += rank;
  if (r >= 0) r = oz_links_merge(s, pairs, count);
  if (r >= 0) return r;
  if (oz_rank_map(s) < 0 || oz_particles_flags(s) < 0) return r;
  memset(s->particles.flags, 1, s->particles.count);
  for (uint32_t k = 0; k < body->count; ++k) s->particles.flags[s->particles.at[rank + k]] = 0;
  /* its ids have not been used */
  if (oz_particles_keep(s, s->particles.count - body->count) >= 0) s->particles.next_id = next_id;
  return r;
}

ooze_result ooze_body_add(ooze_solver *s, const ooze_body_desc *desc, ooze_body *out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_STRUCT_TAKE(ooze_body_desc, d, desc, "body", s->message);
  oz_bodies *b = &s->bodies;
  double centre[3];
  if (s->lost)
    return oz_fail(s->message, s->lost,
                   "the state is lost; clear the particles or load a checkpoint");
  OZ_TRY(check(s, &d));
  if (b->next_handle >= OZ_OWNER_HANDLE)
    return oz_fail(s->message, OOZE_ERROR_LIMIT, "body: all handles have been used");
  oz_pose_unit(&d.pose);
  if (!span(&d, centre) && d.kind == OOZE_BODY_RIGID)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                   "body: its %u points lie on one line or are no numbers; a rigid body needs more",
                   (unsigned)d.count);
  OZ_TRY(oz_bodies_room(b, b->count + 1, s->message));
  oz_body body = describe(s, &d);
  OZ_TRY(find_held(s, &d, &body));
  oz_link_pair *pairs = NULL;
  uint64_t links = 0;
  if (body.kind == OZ_OWNER_SOFT)
    OZ_TRY(oz_soft_links_make(&s->memory, &d, s->separation,
                              (double)s->materials[d.material].density, &body, &pairs, &links,
                              s->message));
  const uint64_t next_id = s->particles.next_id;
  ooze_result r = append(s, &d, body.kind << OZ_OWNER_SHIFT | body.handle, centre);
  if (r >= 0 && links) r = tie(s, &body, pairs, links, next_id);
  oz_free(&s->memory, pairs);
  if (r < 0) return r;
  b->body[b->count++] = body;
  b->next_handle++;
  b->members += d.count;
  b->changed = 1;
  if (out) *out = body.handle;
  return OOZE_OK;
}

static ooze_result not_found(const ooze_solver *s, uint32_t handle) {
  return oz_fail(s->message, OOZE_ERROR_NOT_FOUND, "body %u: there is none with this handle",
                 (unsigned)handle);
}

ooze_result ooze_body_remove(ooze_solver *s, ooze_body handle) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  oz_bodies *b = &s->bodies;
  oz_body *body = find(b, handle);
  void *copy;
  if (!body) return not_found(s, handle);
  if (s->particles.count) {
    OZ_TRY(oz_particles_flags(s));
    OZ_TRY(oz_host_copy(s, OZ_FIELD_OWNER, &copy));
    const uint32_t *owner = copy, mine = body->kind << OZ_OWNER_SHIFT | handle;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->particles.count; ++i)
      kept += s->particles.flags[i] = owner[i] != mine;
    OZ_TRY(oz_particles_keep(s, kept));
  }
  uint32_t slots = body->count, at = (uint32_t)(body - b->body);
  memmove(body, body + 1, (b->count - at - 1) * sizeof *body);
  b->count--;
  for (uint32_t i = at; i < b->count; ++i) b->body[i].first -= slots;
  b->members -= slots;
  b->changed = 1;
  return OOZE_OK;
}

ooze_result ooze_body_drive(ooze_solver *s, ooze_body handle, const ooze_pose *start,
                            const ooze_pose *end) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  oz_body *body = find(&s->bodies, handle);
  if (!body) return not_found(s, handle);
  if (!start != !end)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                   "body %u: one pose of two is NULL; expected both, or none to let it go",
                   (unsigned)handle);
  if (start) { /* checked as those of a body that is added */
    const ooze_pose *given[2] = {start, end};
    float *to[2] = {body->step_start, body->step_end}, poses[2][7];
    for (int k = 0; k < 2; ++k) {
      ooze_body_desc d;
      ooze_body_desc_default(&d);
      d.pose = *given[k];
      OZ_TRY(oz_schema_check(OZ_OWNER_body_desc, &d, "body", s->message));
      oz_pose_unit(&d.pose);
      pose_write(&d.pose, poses[k], poses[k] + 3);
    }
    for (int k = 0; k < 2; ++k) memcpy(to[k], poses[k], sizeof poses[k]);
  }
  body->driven = start != NULL;
  s->bodies.changed = 1;
  return OOZE_OK;
}

uint32_t ooze_body_count(const ooze_solver *s) { return s ? s->bodies.count : 0; }
ooze_body ooze_body_at(const ooze_solver *s, uint32_t index) {
  return s && index < s->bodies.count ? s->bodies.body[index].handle : 0;
}

/* ---- State ---- */

ooze_result ooze_body_state_get(ooze_solver *s, ooze_body handle, ooze_body_state *out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  const oz_body *body = find(&s->bodies, handle);
  ooze_body_state full;
  oz_body_state state;
  double acc[OZ_BODY_SUMS] = {0};
  if (!body) return not_found(s, handle);
  ooze_body_state_default(&full);
  ooze_pose_default(&full.pose);
  memset(&state, 0, sizeof state);
  full.first_id = body->first_id;
  const uint32_t mine = body->kind << OZ_OWNER_SHIFT | handle;
  uint32_t rank = 0;
  (void)oz_rank_of(s, body->first_id, &rank); /* where its ids begin, or would */
  for (; rank < s->particles.count && s->particles.ids[rank] - body->first_id < body->count;
       ++rank) {
    uint32_t owner;
    float x[3], u[3], rest[3], mass;
    OZ_TRY(ooze_attribute_read(s, OOZE_OWNER, rank, 1, 0, &owner));
    if (owner != mine) continue;
    OZ_TRY(ooze_attribute_read(s, OOZE_POSITION, rank, 1, 0, x));
    OZ_TRY(ooze_attribute_read(s, OOZE_VELOCITY, rank, 1, 0, u));
    OZ_TRY(ooze_attribute_read(s, OOZE_REST, rank, 1, 0, rest));
    OZ_TRY(ooze_attribute_read(s, OOZE_MASS, rank, 1, 0, &mass));
    const double r[3] = {(double)rest[0], (double)rest[1], (double)rest[2]};
    oz_body_add(acc, (double)mass, x, u, r);
    full.particles++;
  }
  if (oz_body_solve(acc, &state)) {
    double t[3];
    oz_turn3(state.q0, state.rest_centre, t);
    full.mass = (float)state.mass;
    for (int k = 0; k < 3; ++k) {
      full.pose.position[k] = (float)(state.c0[k] - t[k]);
      full.velocity[k] = (float)state.v[k];
      full.spin[k] = (float)state.w[k];
      full.centre[k] = (float)state.c0[k];
    }
    for (int k = 0; k < 4; ++k) full.pose.rotation[k] = (float)state.q0[k];
    for (int k = 0; k < 6; ++k) full.inertia[k] = (float)state.inertia[k];
  }
  return oz_struct_write(out, &full, sizeof full, "body state", s->message);
}
