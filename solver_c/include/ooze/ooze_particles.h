/* Particles, their attributes and links. A part of ooze.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_PARTICLES_H
#define OOZE_PARTICLES_H

#include "ooze/ooze_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Particles --------------------------------------------------------------------------- */

/* Attributes are addressed by rank in ascending id, whatever order the solver keeps inside. */
typedef enum ooze_attribute {
  OOZE_ID = 0,          /* uint64; read only */
  OOZE_POSITION,        /* 3 float, m */
  OOZE_VELOCITY,        /* 3 float, m/s */
  OOZE_CONFORMATION,    /* 6 float, xx yy zz xy xz yz; identity at rest */
  OOZE_RELAXATION_TIME, /* float, s */
  OOZE_COMPLIANCE,      /* float, 1/Pa */
  OOZE_VISCOSITY,       /* float, Pa s */
  OOZE_DENSITY,         /* float, kg/m^3 at rest */
  OOZE_TEMPERATURE,     /* float, K */
  OOZE_FORCE,           /* 3 float, N/kg: an acceleration added each substep until changed */
  /* uint32; writing it gives the particle that material's values: write it before those */
  OOZE_MATERIAL,
  OOZE_SOURCE, /* uint32: emitter handle while inside its nozzle, else 0 */
  OOZE_MASS,   /* float, kg; read only */
  /* float: density over rest density minus 1, at the last substep; read only */
  OOZE_COMPRESSION,
  /* 6 float, Pa: the viscoelastic stress at the last substep (its deviator, with split_compliance);
     read only */
  OOZE_STRESS,
  OOZE_NEIGHBOURS, /* uint32: neighbours within the kernel at the last substep; read only */
  /* uint32: the body or boundary that the particle belongs to; 0 is free fluid */
  OOZE_OWNER,
  /* 3 float, m: its place in the owner's frame, or in the reference shape; of fluid with a yield
     stress, m/s^2: the acceleration that holds it where its stress alone does not (model
     conformation) */
  OOZE_REST,
  OOZE_MELT, /* float: latent heat taken up, 0 solid to 1 liquid */
  /* float, Pa: of the last substep, from which the next one starts; 0 in purely viscous fluid */
  OOZE_PRESSURE,
  OOZE_SOLVENT_VISCOSITY, /* float, Pa s */
  /* float, 1/s: mean over the last tenth of a second, from which the next substep takes its
     viscosity; 0 where no material has one that depends on it */
  OOZE_SHEAR_RATE,
  /* 6 float, xx yy zz xy xz yz: conformation of the second mode minus the identity */
  OOZE_SECOND_STRETCH,
  OOZE_BIRTH, /* float, s: when it came in, by ooze_time (with ooze_params.rest) */
  /* 3 float, m: where it was then, or at the last of the times that rest_period names; two that
     take turns, so that one is always at least half a period old */
  OOZE_REST_1,
  OOZE_REST_2,
  /* float, Pa: by which the density pushed in the last substep, from which the next one starts; in
     a fluid at rest its hydrostatic pressure */
  OOZE_DENSITY_PRESSURE,
  OOZE_ATTRIBUTE_COUNT
} ooze_attribute;

typedef struct ooze_attribute_info {
  uint32_t size;
  const char *name; /* as in caches and Houdini: "P", "v", "conform", ... */
  uint32_t components;
  uint32_t element_bytes; /* of one component: 4, or 8 for ids */
  uint32_t is_integer;
  uint32_t writable;
  uint32_t is_state; /* needed to go on from a file: saving all of these saves the simulation */
} ooze_attribute_info;
OOZE_API ooze_result ooze_attribute_describe(ooze_attribute attribute, ooze_attribute_info *out);

/* New particles. positions and velocities have 3 floats an element; a stride of 0 means tightly
 * packed. */
typedef struct ooze_particles {
  uint32_t size;
  uint32_t count;
  uint32_t material; /* index: the particles get its values. Default 0. */
  uint32_t reserved;
  const void *positions;  /* required */
  size_t position_stride; /* bytes */
  const void *velocities; /* NULL: at rest */
  size_t velocity_stride;
  /* NULL: numbered on from the largest id so far. Otherwise unused and distinct. */
  const uint64_t *ids;
} ooze_particles;

OOZE_API ooze_result ooze_particles_add(ooze_solver *s, const ooze_particles *particles,
                                        uint64_t *out_first_id);
OOZE_API ooze_result ooze_particles_remove(ooze_solver *s, const uint64_t *ids, uint32_t count);
OOZE_API ooze_result ooze_particles_clear(ooze_solver *s);
OOZE_API uint32_t ooze_particle_count(const ooze_solver *s);
OOZE_API ooze_result ooze_particle_find(const ooze_solver *s, uint64_t id, uint32_t *out_rank);
/* Positions of the particles within a box, 3 floats each, in any order. out_count: how many there
 * are, of which the first `room` are written. A GPU sends those alone. */
OOZE_API ooze_result ooze_particles_within(ooze_solver *s, const float low[3], const float high[3],
                                           uint32_t room, float *out, uint32_t *out_count);
OOZE_API ooze_result ooze_attribute_read(ooze_solver *s, ooze_attribute attribute, uint32_t first,
                                         uint32_t count, size_t stride, void *out);
OOZE_API ooze_result ooze_attribute_write(ooze_solver *s, ooze_attribute attribute, uint32_t first,
                                          uint32_t count, size_t stride, const void *in);

/* ---- Links ------------------------------------------------------------------------------- */

/* Pairs of particles that know each other from step to step, each with a rest length. The models
 * springs and links make and drop their own; the host may add others. They follow their particles
 * through sorting, removal and checkpoints. */
enum {
  OOZE_LINK_HELD = 1,   /* the host's: no model changes or drops it */
  OOZE_LINK_SPRING = 2, /* the model springs' (Clavet et al. 2005) */
  /* the model links' (Takahashi et al. 2014); elastic while both ends are cold */
  OOZE_LINK_VISCOUS = 3,
  /* of a soft body: both ends are its particles; spare: stiffness over Young's modulus, m */
  OOZE_LINK_SOFT = 4
};
typedef struct ooze_links {
  uint32_t size;
  uint32_t reserved;
  uint64_t count;
  const uint64_t *pairs; /* two ids a link, in either order */
  const float *rest;     /* m, 0 or more. NULL: the distance now. */
  const uint32_t *kind;  /* OOZE_LINK_*, or another number of the host's. NULL: HELD. */
  const float *spare;    /* one more number, for the model. NULL: 0. */
} ooze_links;

/* Each call moves all links: add many at once. A particle has at most 512. */
OOZE_API ooze_result ooze_links_add(ooze_solver *s, const ooze_links *links);
/* two ids a link */
OOZE_API ooze_result ooze_links_remove(ooze_solver *s, const uint64_t *pairs, uint64_t count);
OOZE_API ooze_result ooze_links_clear(ooze_solver *s);
OOZE_API ooze_result ooze_links_count(ooze_solver *s, uint64_t *out_count);
/* In ascending (lower id, higher id). Any of the four may be NULL. */
OOZE_API ooze_result ooze_links_read(ooze_solver *s, uint64_t first, uint64_t count,
                                     uint64_t *pairs, float *rest, uint32_t *kind, float *spare);

/* ---- Defaults ---------------------------------------------------------------------------- */

static inline void ooze_particles_default(ooze_particles *p) { OOZE_CLEAR(p); }
static inline void ooze_links_default(ooze_links *l) { OOZE_CLEAR(l); }
static inline void ooze_attribute_info_default(ooze_attribute_info *a) { OOZE_CLEAR(a); }

#ifdef __cplusplus
}
#endif
#endif
