/* The interface between core, models and a backend. A backend owns the particle arrays, keeps them
 * in its own order, builds neighbour lists, runs stages, reduces and moves bytes. It knows no
 * model. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_BASE_BACKEND_H
#define OZ_BASE_BACKEND_H

#include "ooze/ooze.h"
#include "physics/frame.h"

struct oz_memory;
struct oz_tasks;

/* Stage numbers come from the one list. */
typedef enum oz_stage {
#define OZ_STAGE(name, kind, sums, reductions) OZ_STAGE_##name,
#include "physics/stages.def"
#undef OZ_STAGE
  OZ_STAGE_COUNT
} oz_stage;
extern const char *const oz_stage_names[];

/* Numbers of the particle fields: state first, then results of the last substep. */
typedef enum oz_field {
#define OZ_FIELD(name, member, words, layout) OZ_FIELD_##name,
#define OZ_OPTIONAL(name, member, words, layout, fallback) OZ_FIELD_##name,
#define OZ_RESULT(name, member, words, layout)
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
#undef OZ_RESULT
  OZ_FIELD_STATE_COUNT,
  OZ_FIELD_BEFORE_RESULTS = OZ_FIELD_STATE_COUNT - 1,
#define OZ_FIELD(name, member, words, layout)
#define OZ_OPTIONAL(name, member, words, layout, fallback)
#define OZ_RESULT(name, member, words, layout) OZ_FIELD_##name,
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
#undef OZ_RESULT
  OZ_FIELD_COUNT
} oz_field;

/* Planes that one particle can touch among these colliders: one of each, of an inverted box or
 * cylinder several (oz_wall_planes_item). */
static inline uint32_t oz_planes_of(const oz_collider *c, uint32_t count) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < count; k++)
    if (c[k].role == OOZE_ROLE_COLLIDE)
      n += c[k].invert && (c[k].shape == OOZE_SHAPE_BOX || c[k].shape == OOZE_SHAPE_CYLINDER)
               ? OZ_PLANES
               : 1;
  return n < 1 ? 1 : n > OZ_PLANES ? OZ_PLANES : n;
}

typedef struct oz_backend oz_backend;
typedef struct oz_columns oz_columns;           /* physics/columns.h */
typedef struct oz_extreme_bits oz_extreme_bits; /* physics/extremes.h */

typedef struct oz_backend_desc {
  uint32_t isa, threads, tasks;
  int32_t device;
  const struct oz_memory *memory;
  const ooze_hooks *hooks;
} oz_backend_desc;

typedef struct oz_build_result {
  uint32_t rebuilt; /* 1 if the density list was made anew */
  double mean_neighbours;
} oz_build_result;

/* A link by the ranks of its ends, a < b. */
typedef struct oz_link_pair {
  uint32_t a, b;
  float rest;    /* m */
  uint32_t kind; /* OOZE_LINK_* */
  float spare;
} oz_link_pair;

/* A copy of fields in public order, apart from the particle arrays, so that another thread reads it
 * while the simulation goes on. The backend's own. */
typedef struct oz_copy oz_copy;
typedef struct oz_copy_request {
  uint64_t fields;  /* bits of oz_field: copied, where they are there */
  uint64_t fetch;   /* of these: brought to the host at once */
  uint32_t count;   /* ranks below it */
  uint32_t results; /* results of particles from this place on are 0 */
} oz_copy_request;
/* Words of a field in a copy: the fourth word of a record is no state. */
static inline uint32_t oz_copied_words(oz_field field) {
  static const uint8_t words[OZ_FIELD_COUNT] = {
#define OZ_FIELD(name, member, words, layout) words,
#define OZ_OPTIONAL(name, member, words, layout, fallback) words,
#define OZ_RESULT OZ_FIELD
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
#undef OZ_RESULT
  };
  return field == OZ_FIELD_X || field == OZ_FIELD_U ? 3 : words[field];
}

/* Sums over the particles that the host sees. Inner particles have `inner` neighbours or more. */
typedef struct oz_sums {
  double energy, momentum[3], speed2; /* J; kg m/s; the greatest, m^2/s^2 */
  double neighbours, compression, most_compression;
  uint32_t inner; /* particles that compression is summed over */
} oz_sums;

/* Result of a substep with a `restartable` frame that went on before the device had reported
 * whether lists and wall contacts had room, and they had not. There is room now: roll back, and run
 * it again. It never leaves the solver: no public result has this value. */
#define OZ_AGAIN ((ooze_result)INT32_MIN)

/* Particles that leave: further out than `limit` on an axis or, with `kill`, in a kill volume. */
typedef struct oz_leaving {
  float limit; /* m */
  int kill;
  uint32_t visible; /* ranks from here on stay: boundary particles */
} oz_leaving;

/* Particles within a box, borders too: ranks below `visible`, and no more than `room` of them. */
typedef struct oz_within {
  float low[3], high[3]; /* m */
  uint32_t visible, room;
} oz_within;

/* Each function returns a result; on failure it writes a sentence to `why` and leaves the particles
 * as they were. */
typedef struct oz_backend_table {
  const char *name;
  void (*destroy)(oz_backend *b);
  const char *(*describe)(const oz_backend *b);
  /* Room for `count` particles; keeps the existing ones. */
  ooze_result (*reserve)(oz_backend *b, uint32_t count, ooze_message *why);
  /* new particles are zero until written */
  ooze_result (*resize)(oz_backend *b, uint32_t count, ooze_message *why);
  /* The frame with all pointers set; constants are for the caller to fill in. Pointers are the
   * backend's own. */
  void (*frame)(oz_backend *b, oz_frame *f);
  /* Host copies of one field in internal order. Records keep their 4 floats; planes come one behind
   * the other, each `count` long: out[plane * count + k]. */
  ooze_result (*download)(oz_backend *b, oz_field field, uint32_t first, uint32_t count, void *out,
                          ooze_message *why);
  ooze_result (*upload)(oz_backend *b, oz_field field, uint32_t first, uint32_t count,
                        const void *in, ooze_message *why);
  /* Keeps particles with a non-zero flag, in order; returns the new count. */
  ooze_result (*compact)(oz_backend *b, const uint8_t *keep, uint32_t *out_count,
                         ooze_message *why);
  /* Sorts by (cell, id) and builds the start neighbour list within h, and the margin list for
   * density. */
  ooze_result (*sort)(oz_backend *b, oz_frame *f, ooze_message *why);
  ooze_result (*lists)(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why);
  /* Makes the density neighbour list valid at positions f->p: pairs within h at the start, and
   * pairs that have come within f->reach since and have moved by more than f->min_approach2
   * relative to each other. */
  ooze_result (*density_list)(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why);
  /* Fills the wall contacts: particles within reach of a collider, at positions f->p. */
  ooze_result (*walls)(oz_backend *b, oz_frame *f, ooze_message *why);
  ooze_result (*colliders)(oz_backend *b, const oz_collider *c, uint32_t count,
                           const uint64_t *keys, const float *values,
                           /* uploads; bricks NULL: unchanged */
                           uint32_t bricks, ooze_message *why);
  ooze_result (*nozzles)(oz_backend *b, const oz_nozzle *n, uint32_t count, ooze_message *why);
  /* the materials' table */
  ooze_result (*matter)(oz_backend *b, const oz_matter *m, uint32_t count, ooze_message *why);
  /* Bodies and their number of member slots; body states and slots belong to the backend. */
  ooze_result (*bodies)(oz_backend *b, const oz_body *body, uint32_t count, uint32_t members,
                        ooze_message *why);
  /* Links. update: keeps, changes, makes and drops them by a rule of physics/links.h, at positions
   * f->p and with the density list; on failure they are as before. put: all of them anew, ascending
   * by (a, b); at[rank] is a particle's index; without `at` only memory is made ready. get: in the
   * same order; without `out` only the count. */
  ooze_result (*links_update)(oz_backend *b, oz_frame *f, uint32_t rule, ooze_message *why);
  ooze_result (*links_put)(oz_backend *b, const uint32_t *at, const oz_link_pair *links,
                           uint64_t count, ooze_message *why);
  ooze_result (*links_get)(oz_backend *b, const uint32_t *at, oz_link_pair *out, uint64_t *count,
                           ooze_message *why);
  int (*has_links)(const oz_backend *b); /* 0: there are none */
  /* Runs one stage over all its items. One of kind LINK does nothing where there are no links.
   * `sums` (may be NULL) receives the stage's reductions on the host. */
  ooze_result (*run)(oz_backend *b, const oz_frame *f, oz_stage stage, double *sums,
                     ooze_message *why);
  /* bytes held; and of these, the bytes that only sorting and searching need */
  uint64_t (*bytes)(const oz_backend *b, uint64_t *out_scratch);
  /* stage OZ_STAGE_COUNT + k: sort, lists, ... */
  void (*profile)(oz_backend *b, oz_stage stage, double *seconds, uint64_t *calls);
  void (*profile_reset)(oz_backend *b);
  /* Times stages from now on, at the cost of their overlap; NULL: they always are timed. */
  void (*profile_start)(oz_backend *b);
  /* For backends with memory apart from the host's; NULL otherwise. lost: number of particles
   * that have left. remove_lost: those, of which there are `count`; their ranks in rising order to
   * `ranks`. The others close up in order, and so do their ranks and the results of the last
   * substep. wall_loads: after a substep without `out`, at the end with it: 6 numbers a collider,
   * impulse (kg m/s) and its moment about p1, of all those substeps. */
  ooze_result (*lost)(oz_backend *b, const oz_leaving *which, uint32_t *out, ooze_message *why);
  ooze_result (*remove_lost)(oz_backend *b, const oz_leaving *which, uint32_t count,
                             uint32_t *ranks, ooze_message *why);
  ooze_result (*wall_loads)(oz_backend *b, double *out, ooze_message *why);
  /* roll_back: restores velocities and sources from before the last sort, after a substep that
   * failed half way. fastest: the greatest speed, m/s. column_sums: OZ_COLUMN_SUMS of
   * physics/columns.h. */
  ooze_result (*roll_back)(oz_backend *b, ooze_message *why);
  ooze_result (*fastest)(oz_backend *b, double *out, ooze_message *why);
  ooze_result (*column_sums)(oz_backend *b, const oz_columns *columns, uint64_t *out,
                             ooze_message *why);
  /* The reductions of the stage `finish`, if it was run without sums: the device works on while the
   * host waits. */
  ooze_result (*finished)(oz_backend *b, double *sums, ooze_message *why);
  /* Friction and stick maps of all colliders: OZ_FRICTION_MAP_FLOATS a brick. After `colliders`,
   * when they changed. */
  ooze_result (*friction_maps)(oz_backend *b, const uint64_t *keys, const float *values,
                               uint32_t bricks, ooze_message *why);
  /* Optional fields. has: whether the field exists; download gives zeros where it does not.
   * provide: creates it, all zeros; upload to an absent field provides it. */
  int (*has)(const oz_backend *b, oz_field field);
  ooze_result (*provide)(oz_backend *b, oz_field field, ooze_message *why);
  /* Address of a field, for backends in the host's memory; NULL for others. Planes are as far apart
   * as in the frame. */
  const void *(*memory)(const oz_backend *b, oz_field field);
  /* Copies. take: *copy is made where it is NULL, and used again otherwise. words: a field of it on
   * the host, tightly packed, once it is there; NULL where the copy has no such field; from any
   * thread, one at a time. bytes: of the host, beside those that `bytes` counts. */
  ooze_result (*copy_take)(oz_backend *b, const oz_copy_request *request, oz_copy **copy,
                           ooze_message *why);
  ooze_result (*copy_words)(oz_copy *copy, oz_field field, const void **out, ooze_message *why);
  uint64_t (*copy_bytes)(const oz_copy *copy);
  void (*copy_drop)(oz_copy *copy);
  /* Statistics, for backends with memory apart from the host's; NULL otherwise. volume: m^3 of a
   * particle; of results, those of the first `results` places. */
  ooze_result (*statistics)(oz_backend *b, float volume, uint32_t results, uint32_t inner,
                            oz_sums *out, ooze_message *why);
  /* Positions of such particles, 3 floats each, in any order, and how many there are. NULL as
   * above. */
  ooze_result (*within)(oz_backend *b, const oz_within *which, float *out, uint32_t *out_count,
                        ooze_message *why);
  /* The worst values among particles of each of the first `materials` materials; NULL as above. */
  ooze_result (*extremes)(oz_backend *b, uint32_t materials, oz_extreme_bits *out,
                          ooze_message *why);
} oz_backend_table;

struct oz_backend {
  const oz_backend_table *table;
};

/* The backends that a build may have; core/registry.c alone calls these. */
ooze_result oz_cpu_backend_create(const oz_backend_desc *desc, oz_backend **out, ooze_message *why);

#endif
