/* Ooze: viscoelastic particle fluids behind a small C interface.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Units are metres, kilograms, seconds, kelvins; Y is up. Every call that can fail returns an
 * ooze_result and leaves a sentence in ooze_solver_message(). Every struct begins with its own size
 * and is filled by its _default() function, so that a program built against an older header keeps
 * working with a newer library. A solver is used by one thread at a time; solvers are independent
 * of each other. Inputs are copied during the call. */
#ifndef OOZE_OOZE_H
#define OOZE_OOZE_H

#include "ooze/ooze_base.h"
#include "ooze/ooze_objects.h"
#include "ooze/ooze_particles.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OOZE_VERSION_MAJOR 0
#define OOZE_VERSION_MINOR 2
#define OOZE_VERSION_PATCH 0

/* ---- Creating a solver ------------------------------------------------------------------- */

enum { OOZE_BACKEND_AUTO = 0, OOZE_BACKEND_CPU = 1, OOZE_BACKEND_CUDA = 2 };
/* The vector build of the CPU stages. AUTO takes the widest that the machine has; SCALAR is the
 * plain twin, for tests. The same build of the library, the same isa (or the GPU) and the same
 * input give the same bits, whatever the threads and tasks; another isa, backend or compiler gives
 * other last digits. */
enum {
  OOZE_ISA_AUTO = 0,
  OOZE_ISA_SCALAR = 1,
  OOZE_ISA_NEON = 2,
  OOZE_ISA_SSE = 3,
  OOZE_ISA_AVX2 = 4,
  OOZE_ISA_AVX512 = 5
};
/* The scheduler of chunks. AUTO: the host's parallel_for if given, else TBB if built in, else the
 * pool.
 */
enum {
  OOZE_TASKS_AUTO = 0,
  OOZE_TASKS_HOST = 1,
  OOZE_TASKS_TBB = 2,
  OOZE_TASKS_POOL = 3,
  OOZE_TASKS_SERIAL = 4,
  OOZE_TASKS_SHUFFLED = 5
};

typedef struct ooze_solver_desc {
  uint32_t size;
  uint32_t backend; /* OOZE_BACKEND_*. Default AUTO. */
  uint32_t isa;     /* OOZE_ISA_*. Default AUTO. */
  uint32_t tasks;   /* OOZE_TASKS_*. Default AUTO. */
  /* 0: as many as the machine has. Default 0. Results do not depend on it. */
  uint32_t threads;
  /* CUDA device number; -1: OOZE_DEVICE in the environment, else the first. Default -1. */
  int32_t device;
  /* m, above 0: the spacing of particles at rest. Halving it makes eight times as many. Default
   * 0.01. */
  float particle_separation;
  uint32_t max_particles; /* refuse to hold more than this many. Default 1 << 30. */
  ooze_hooks hooks;
} ooze_solver_desc;

OOZE_API ooze_result ooze_solver_create(const ooze_solver_desc *desc, ooze_solver **out,
                                        ooze_message *why);
/* Not from a hook of a step: the solver stays then, with a line for the log. */
OOZE_API void ooze_solver_destroy(ooze_solver *s);
/* of the last call that failed or brought news; "" if none */
OOZE_API const char *ooze_solver_message(const ooze_solver *s);
/* "cpu neon", "cpu avx2", "cuda NVIDIA H200", ... */
OOZE_API const char *ooze_solver_backend(const ooze_solver *s);
OOZE_API float ooze_solver_separation(const ooze_solver *s);

/* ---- Parameters: may change before any step ---------------------------------------------- */

/* The systems of the five papers (docs/guide/models.md). A model that this build lacks is refused
 * by ooze_params_set. */
enum {
  OOZE_MODEL_CONFORMATION = 0, /* Barreiro et al. 2017 */
  OOZE_MODEL_LINKS = 1,        /* Takahashi et al. 2014 */
  OOZE_MODEL_BLEND = 2,        /* Takamatsu and Kanai 2011 */
  OOZE_MODEL_SPRINGS = 3,      /* Clavet et al. 2005 */
  OOZE_MODEL_CAUCHY = 4,       /* Mukai et al. */
  OOZE_MODEL_COUNT
};
enum { OOZE_CAUCHY_MIXED = 0, OOZE_CAUCHY_VISCOUS, OOZE_CAUCHY_ELASTIC, OOZE_CAUCHY_COMPLEX };
/* The conformation model's forms (Barreiro et al. 2017). OOZE: conjugate gradients on velocities,
 * corrected gradients, zero-energy control, bounded relaxation. PAPER: as printed. POSITION:
 * position projection alone. STRESS: the explicit stress of its section 3.1. The last three are for
 * comparison. */
enum {
  OOZE_SCHEME_OOZE = 0,
  OOZE_SCHEME_PAPER = 1,
  OOZE_SCHEME_POSITION = 2,
  OOZE_SCHEME_STRESS = 3
};

/* Effects of springs: none; made within h, yielding, dropped beyond (the paper's Algorithm 4); kept
 * as they are, yielding; made at the distances that neighbours have now (its fig. 12: a mold is
 * filled, then springs are added). */
enum { OOZE_SPRINGS_OFF = 0, OOZE_SPRINGS_FLOW = 1, OOZE_SPRINGS_HOLD = 2, OOZE_SPRINGS_SET = 3 };

/* Every field is described, with unit and range, in schema.def; `ooze schema` prints it. */
typedef struct ooze_params {
  uint32_t size;
  uint32_t model;
  uint32_t scheme;
  float gravity[3]; /* m/s^2. Default 0 -9.81 0. */
  float time_scale; /* 1 is real time; scales dt. Default 1. */
  /* per ooze_step when cfl is 0. 0: automatic, one for each 1/192 s, more for fast motion, stiff
   * solids and surface tension. Default 0. */
  uint32_t substeps;
  /* 0: fixed substeps. Above 0: as many as keep a particle from moving further than cfl
   * separations. Default 0. */
  float cfl;
  uint32_t min_substeps; /* bounds of the adaptive count. Default 1. */
  uint32_t max_substeps; /* Default 64. */
  /* conjugate gradient iterations on velocities. 0: automatic, 4 to 80 by viscosity, layers of
   * fluid, emitters and moving walls. Default 0. */
  uint32_t velocity_iterations;
  /* density + conformation iterations on positions. 0: automatic, 5 to 20 by layers of fluid,
   * emitters and yield stress. Default 0. */
  uint32_t position_iterations;
  /* stop the velocity iterations when the residual has fallen by this factor. 0: never. Default 0.
   */
  float velocity_tolerance;
  uint32_t corotation;          /* 0 or 1. Default 1. */
  uint32_t gradient_correction; /* 0 or 1. Default 1. */
  float zero_energy;            /* strength of the zero-energy control, 0 to 1. Default 0.8. */
  /* sweeps of the filter on non-affine velocity; 2 do as much as 3 (which bodies get). Default 2.
   */
  uint32_t rest_filter;
  uint32_t wall_density; /* 0 or 1: walls count in the density. Default 1. */
  /* 0 or 1: compliance acts on the deviator only, so that streams neck. Default 1. */
  uint32_t split_compliance;
  /* m/s: faster particles are slowed to this. 0: no limit. Default 0. */
  float max_speed;
  /* Model links; position_iterations are its iterations (the paper takes six). */
  /* s: the step that beta is given for; 0: each substep. Default 9.06e-4, of the paper's fig. 6. */
  float links_time;
  /* beta_a: lengthening of a pulled link in one such step, where it is cold. Default 1.003. */
  float links_beta_cold;
  float links_beta_hot;         /* beta_b: where it is hot. Default 1.003. */
  float links_temperature_cold; /* K: T_a. Default 0. */
  float links_temperature_hot;  /* K: T_b. Default 0. */
  /* K: T_c, below which particles are elastic. Default 0: none are. */
  float links_temperature_solid;
  float links_slack;           /* alpha of (12). Default 0.05. */
  float links_stiffness;       /* s_v, 0 to 1. Default 1. */
  float links_pressure;        /* k_s of (8). Default 0.005. */
  float links_cohesion;        /* part of the pull of (4), 0 to 1. Default 0. */
  float links_smoothing;       /* epsilon_a of XSPH. Default 0.05. */
  float links_smoothing_solid; /* epsilon_b. Default 0.05. */
  /* Model springs, in the paper's units: time in springs_time, lengths in h. */
  /* s: the unit of time; the paper's is 1/30. 0: by similarity, sqrt(0.01 h / 9.81 m/s^2). Default
   * 0. */
  float springs_time;
  float springs_rest_density;   /* rho_0, with which h follows from the separation. Default 10. */
  float springs_stiffness;      /* k. Default 0.004. */
  float springs_near_stiffness; /* k_near. Default 0.01. */
  uint32_t springs_mode;        /* OOZE_SPRINGS_*. Default FLOW. */
  float springs_elasticity;     /* k_spring. Default 0.3. */
  float springs_plasticity_stretch, springs_plasticity_compress; /* alpha. Default 0.3. */
  /* gamma, of the rest length. Default 0.1. */
  float springs_yield_stretch, springs_yield_compress;
  float springs_viscosity;      /* sigma: linear in velocity. Default 0. */
  float springs_impact;         /* beta: quadratic in velocity. Default 0.2. */
  float springs_stick;          /* k_stick. Default 0. */
  float springs_stick_distance; /* d_stick, in separations. Default 0.5. */
  /* model blend (Takamatsu & Kanai 2011) */
  /* 0 elastic solid (shape matching) to 1 fluid (SPH). Default 0.7. */
  float blend_alpha;
  /* separations: radius of a neighbourhood, sigma^s; larger is stiffer. Default 2.2. */
  float blend_support;
  /* multiples of gravity: gamma_u, mean outside force at which a solid (alpha 0) takes a new shape.
   * Default 12. */
  float blend_yield;
  float blend_interval; /* s between looks at that: his m_u. Default 0.1. */
  /* s: his dt0; shorter pulls harder towards the shape. Default 0.005. */
  float blend_time;
  /* m^2/s^2: pressure coefficient k; as much of it as the step bears. Default 100. */
  float blend_stiffness;
  /* model cauchy (Mukai, Matsui & Chang) */
  /* OOZE_CAUCHY_MIXED (3)-(12), VISCOUS, ELASTIC, COMPLEX (15)-(21). Default MIXED. */
  uint32_t cauchy_stress;
  float cauchy_young;         /* Pa: E. Default 1050. */
  float cauchy_poisson;       /* nu. Default 0.5. */
  float cauchy_frequency;     /* rad/s: omega of the complex modulus. Default pi / 4. */
  float cauchy_tension;       /* N/m: surface tension, by potential (13). Default 0.03. */
  float cauchy_wetting;       /* degrees: contact angle. Default 30. */
  float cauchy_support;       /* separations: radius of influence r_e. Default 2.6. */
  uint32_t cauchy_iterations; /* conjugate gradient iterations for the pressure. Default 30. */
  /* strength of particle shifting, 0 to 1, which keeps flowing material whole (model conformation);
   * with it volume is held under tension, and sticky walls hold in both directions. Default 1. */
  float shifting;
  /* 0 or 1: particles remember when and where they came in (OOZE_BIRTH, OOZE_REST_1, OOZE_REST_2),
   * for shading; switched on, those that are there begin now. The motion does not depend on it.
   * Default 0. */
  uint32_t rest;
  /* s, 0 or more: after each period rest, and half a period later rest2, is set to where particles
   * are, so that textures do not stretch for ever; ooze_rest_blend says how to mix the two.
   * 0: rest stays. Default 0. */
  float rest_period;
  float ambient_temperature; /* K: of the air around the fluid. Default 293.15. */
} ooze_params;

OOZE_API ooze_result ooze_params_get(const ooze_solver *s, ooze_params *out);
OOZE_API ooze_result ooze_params_set(ooze_solver *s, const ooze_params *params);

/* ---- Materials --------------------------------------------------------------------------- */

/* Either SI (viscosity above 0, from which compliance = (relaxation_time + dt) / viscosity) or the
 * paper's parameters (viscosity 0; relaxation_time is its tau, compliance its alpha in 1/Pa). */
typedef struct ooze_material {
  uint32_t size;
  float density;   /* kg/m^3, 1 to 1e5. Default 1000. */
  float viscosity; /* Pa s, 0 or more; 0: use compliance. Default 0. */
  /* s, 0 or more: how long stretch is remembered. 0 is purely viscous, 1e6 elastic. Default 0. */
  float relaxation_time;
  /* 1/Pa, 0 or more: 1 over the elastic modulus. 0 is rigid, 0.01 splashes. Default 1e-4. */
  float compliance;
  float temperature; /* K, of new particles. Default 293.15. */
  /* model links: lengthening of a pulled link in one step of links_time, 1 to 2; 0: by temperature.
   * Default 0. */
  float links_beta;
  /* Pa, 0 or more: below it the material holds its shape, above it flows. Default 0. */
  float yield_stress;
  float conductivity;  /* W/(m K), 0 or more; 0: keeps its temperature. Default 0. */
  float heat_capacity; /* J/(kg K), above 0. Default 2000. */
  float latent_heat;   /* J/kg, 0 or more: taken up in melting. Default 0. */
  float melting_point; /* K; 0: does not melt. Default 0. */
  /* Viscosity and relaxation time by temperature: (K, Pa s, s), ascending; the first point at 0 K
   * ends the list. Particles then take both from here, every substep, between points by their
   * logarithms. Default none. */
  float ramp_1[3], ramp_2[3], ramp_3[3], ramp_4[3], ramp_5[3], ramp_6[3], ramp_7[3], ramp_8[3];
  /* m^2/s, 0 or more: how fast density, viscosity, relaxation time and compliance diffuse into
   * fluid that mixes too. Models conformation and links. Default 0. */
  float mixing;
  /* N/m, 0 or more: the excess over a substep's limit is held back (stats: tension_held). Default
   * 0. */
  float surface_tension;
  /* Pa, 0 or more: pull with which the fluid holds together where it is drawn apart. Default 0. */
  float cohesion;
  /* 0 to 2: pull of walls on such fluid; 0 beads, 1 neither, 2 wets. Default 1. */
  float adhesion;
  /* Laws of flow (docs/theory/rheology.md), model conformation. */
  /* Pa s, 0 or more: Newtonian part beside `viscosity`, which relaxes (Oldroyd-B). Default 0. */
  float solvent_viscosity;
  /* s, 0 or more: 1 over the rate from which on viscosity falls (Carreau-Yasuda); 0: never.
   * Default 0. */
  float thinning_time;
  /* 0.05 to 2: power of the rate that stress grows with; 1 is Newtonian. Default 1. */
  float flow_index;
  float thinning_sharpness; /* 0.1 to 10: Yasuda's exponent. Default 2 (Carreau). */
  float thinned_viscosity;  /* Pa s, 0 or more: at the greatest rates. Default 0. */
  /* Pa s^flow_index, 0 or more: stress beyond the yield stress at a rate of 1/s (Herschel-Bulkley,
   * or a power law); viscosity is then its upper bound. 0: none. Default 0. */
  float consistency;
  /* 0, or 2 to 50: most that material can be stretched to, over its length (FENE-P). 0: stretch is
   * cut off at 4.5. Default 0. */
  float extensibility;
  float second_viscosity;       /* Pa s, 0 or more: of a second mode. Default 0. */
  float second_relaxation_time; /* s, 0 or more: of a second mode. Default 0. */
  /* W/(m^2 K), 0 or more: heat that air of ambient_temperature takes from the free surface of
   * materials with a conductivity; still air 5 to 25, a draught 100. Default 0. */
  float film_coefficient;
  /* 0 to 1: radiation of the free surface, to surroundings of ambient_temperature; lava 0.9.
   * Default 0. */
  float emissivity;
} ooze_material;

/* 0 is the default one */
OOZE_API ooze_result ooze_material_add(ooze_solver *s, const ooze_material *material,
                                       uint32_t *out_index);
/* re-applied to its particles */
OOZE_API ooze_result ooze_material_set(ooze_solver *s, uint32_t index,
                                       const ooze_material *material);
OOZE_API ooze_result ooze_material_get(const ooze_solver *s, uint32_t index, ooze_material *out);
OOZE_API uint32_t ooze_material_count(const ooze_solver *s);

/* ---- Stepping ---------------------------------------------------------------------------- */

/* dt in s, 0 to 1: one frame or any other stretch of time. 0 does nothing; a substep shorter than
 * 1e-9 s is refused, and so is a call from a hook of a step. When it is cancelled or
 * fails, time and state are those of the last whole substep. Particles further out than 1e6 m or
 * 1e6 separations are removed. */
OOZE_API ooze_result ooze_step(ooze_solver *s, double dt);
OOZE_API double ooze_time(const ooze_solver *s); /* s of simulated time: 0 at creation */
/* for a state that comes from a file; moves nothing */
OOZE_API ooze_result ooze_time_set(ooze_solver *s, double time);

typedef struct ooze_stats {
  uint32_t size;
  uint32_t particles;
  uint32_t substeps; /* of the last ooze_step */
  /* resets in the last ooze_step of particles that went non-finite, each substep's counted */
  uint32_t contained;
  uint64_t first_contained; /* id of the first of them */
  uint32_t born, killed;    /* in the last ooze_step */
  /* substeps whose density list was made anew because something moved further than list C or a
   * margin allows for */
  uint32_t list_rebuilds;
  double kinetic_energy;   /* J */
  double momentum[3];      /* kg m/s */
  double max_speed;        /* m/s */
  double mean_compression; /* of particles that are not at a free surface */
  double max_compression;
  double mean_neighbours;
  double residual; /* of the last velocity projection, relative to its start */
  uint64_t bytes;  /* held by this solver, on the host and on its device */
  uint64_t bytes_per_particle;
  /* particles whose tension or cohesion the last substep could not bear and held back */
  uint32_t tension_held;
  uint64_t device_bytes;   /* of `bytes`: on the device, particles and lists */
  uint64_t device_scratch; /* of `bytes`: on the device, for sorting and searching alone */
  uint32_t velocity_iterations, position_iterations; /* in each substep of the last ooze_step */
} ooze_stats;
OOZE_API ooze_result ooze_stats_get(ooze_solver *s, ooze_stats *out);
/* The same without the sums over particles (energy, momentum, speed, compression,
 * neighbours: 0), so that nothing is fetched from a device. */
OOZE_API ooze_result ooze_stats_counts(ooze_solver *s, ooze_stats *out);

/* Share of rest2 in a mix of two textures, one by rest and one by rest2, at a time of a simulation
 * with that rest_period: 0 when rest2 is set anew and 1 when rest is. 0 where the period is 0. */
OOZE_API double ooze_rest_blend(double time, double rest_period);

/* Time spent in each stage since the last reset, in calling order of first use. */
typedef struct ooze_stage_time {
  uint32_t size;
  const char *name;
  double seconds;
  uint64_t calls;
} ooze_stage_time;
OOZE_API uint32_t ooze_profile_count(const ooze_solver *s);
OOZE_API ooze_result ooze_profile_get(const ooze_solver *s, uint32_t index, ooze_stage_time *out);
OOZE_API void ooze_profile_reset(ooze_solver *s);
/* On a GPU stages are timed from here on, each alone: a step takes longer then. The CPU always
 * times them. */
OOZE_API void ooze_profile_start(ooze_solver *s);

/* ---- Checkpoints ------------------------------------------------------------------------- */

/* All state (particles, links, time, materials, parameters, colliders, emitters, bodies) as one
 * block that any solver of the same particle separation continues from: bit for bit with the same
 * build, backend and isa; another leaves a message, and a warning for the log, and goes on. */
OOZE_API ooze_result ooze_checkpoint_size(ooze_solver *s, size_t *out_bytes);
OOZE_API ooze_result ooze_checkpoint_save(ooze_solver *s, void *memory, size_t capacity,
                                          size_t *out_bytes);
OOZE_API ooze_result ooze_checkpoint_load(ooze_solver *s, const void *memory, size_t bytes);
/* of all particle state in id order, and of links */
OOZE_API ooze_result ooze_state_hash(ooze_solver *s, uint64_t *out_hash);

/* A capture is the state of one moment, to be read while the simulation goes on. Taking it costs a
 * copy within the backend's memory; `attributes` (bits: 1 << OOZE_POSITION ...) are on their way to
 * the host when the call returns, other state comes when it is asked for; results that are no state
 * (stress, compression, neighbours) can only be read where they are among these bits. A capture can
 * be taken again: its memory is used again. Create, take and destroy count as calls on the solver,
 * and a capture goes before its solver. All other calls may come from any thread, one at a time. */
typedef struct ooze_capture ooze_capture;
OOZE_API ooze_result ooze_capture_create(ooze_solver *s, ooze_capture **out);
OOZE_API ooze_result ooze_capture_take(ooze_capture *c, uint64_t attributes);
OOZE_API void ooze_capture_destroy(ooze_capture *c);
/* As ooze_attribute_read. */
OOZE_API ooze_result ooze_capture_read(ooze_capture *c, ooze_attribute attribute, uint32_t first,
                                       uint32_t count, size_t stride, void *out);
/* The capture's own values of a state attribute, tightly packed, until it is taken again; NULL
 * where it has none: ooze_capture_read then gives those of the materials, or 0. */
OOZE_API ooze_result ooze_capture_array(ooze_capture *c, ooze_attribute attribute,
                                        const void **out);
/* The checkpoint of that moment; memory NULL: only counts. */
OOZE_API ooze_result ooze_capture_save(ooze_capture *c, void *memory, size_t capacity,
                                       size_t *out_bytes);
OOZE_API uint32_t ooze_capture_count(const ooze_capture *c); /* particles */
OOZE_API double ooze_capture_time(const ooze_capture *c);    /* s */
OOZE_API float ooze_capture_separation(const ooze_capture *c);
OOZE_API ooze_result ooze_capture_params(const ooze_capture *c, ooze_params *out);
/* on the host, beyond the count of ooze_stats */
OOZE_API uint64_t ooze_capture_bytes(const ooze_capture *c);
OOZE_API const char *ooze_capture_message(const ooze_capture *c); /* of the last refusal to read */

/* State that belongs to no particle (time, next id, how far each emitter has poured, the list of
 * bodies) as 32-bit words, for hosts that keep the particles' attributes themselves. Adding the
 * same particles, parameters, materials, colliders and emitters (under their handles) and then
 * loading the words continues bit for bit. words NULL: only counts. Emitters that are not there, or
 * that have another speed or activity, keep their values. */
OOZE_API ooze_result ooze_clock_save(ooze_solver *s, uint32_t *words, uint32_t capacity,
                                     uint32_t *out_count);
OOZE_API ooze_result ooze_clock_load(ooze_solver *s, const uint32_t *words, uint32_t count);
/* A hash of bytes, to tell inputs that are the same; begin with seed 0, or with the hash of the
 * bytes before. */
OOZE_API uint64_t ooze_hash(const void *bytes, size_t count, uint64_t seed);

/* ---- Devices and builds ------------------------------------------------------------------ */

typedef struct ooze_schema_entry {
  uint32_t size;
  const char *group; /* "solver", "material", "collider", "emitter", "body" */
  const char *name;  /* the field's name in its struct: "viscosity", "start.position" */
  const char *type;  /* "float", "int", "bool", "menu", "vector" (3 numbers), "quaternion" (4) */
  const char *unit;  /* "" if none */
  const char *label; /* for a dialog */
  const char *help;  /* a sentence */
  const char *menu;  /* "a|b|c" for menus, else "" */
  double default_value[4];
  double minimum, maximum; /* refused outside */
  double soft_maximum;     /* a slider's end */
} ooze_schema_entry;
OOZE_API uint32_t ooze_schema_count(void);
OOZE_API ooze_result ooze_schema_get(uint32_t index, ooze_schema_entry *out);
/* Stores the value of one parameter in a struct that its _default() has filled, by names: "params",
 * "velocity_iterations". `owner` is the struct's name without ooze_: solver_desc, params, material,
 * collider_desc, emitter_desc, body_desc. A number for menus and switches; 3 or 4 numbers for
 * vectors and quaternions. Out of range is refused with a sentence in why (may be NULL). */
OOZE_API ooze_result ooze_schema_store(const char *owner, const char *field, const double *value,
                                       void *object, ooze_message *why);
/* The other way: one number, or 3 or 4 for vectors and quaternions. */
OOZE_API ooze_result ooze_schema_load(const char *owner, const char *field, const void *object,
                                      double out[4]);

typedef struct ooze_backend_info {
  uint32_t size;
  uint32_t backend;
  uint32_t isa;    /* CPU only */
  uint32_t usable; /* 0 if this machine lacks it */
  const char *name;
  const char *detail; /* why it is not usable, or its description */
} ooze_backend_info;
OOZE_API uint32_t ooze_backend_count(void);
OOZE_API ooze_result ooze_backend_get(uint32_t index, ooze_backend_info *out);
/* Memory of a CUDA device that so many particles need, about; 0 where the build has no CUDA. */
OOZE_API uint64_t ooze_device_bytes(uint64_t particles);

/* The conformation update alone: q (6) carried through one step by the velocity gradient grad_u (9,
 * row major, d u_a / d x_b), with relaxation time tau. The model's rule for one particle; for
 * rheometry. */
OOZE_API void ooze_conformation_advance(const float q[6], const float grad_u[9], float tau,
                                        float dt, float out[6]);

/* ---- Defaults ---------------------------------------------------------------------------- */

static inline void ooze_solver_desc_default(ooze_solver_desc *d) {
  OOZE_CLEAR(d);
  d->device = -1;
  d->particle_separation = 0.01f;
  d->max_particles = 1u << 30;
  ooze_hooks_default(&d->hooks);
}
static inline void ooze_params_default(ooze_params *p) {
  OOZE_CLEAR(p);
  p->gravity[1] = -9.81f;
  p->time_scale = 1.0f;
  p->min_substeps = 1;
  p->max_substeps = 64;
  p->corotation = 1;
  p->gradient_correction = 1;
  p->zero_energy = 0.8f;
  p->rest_filter = 2;
  p->shifting = 1.0f;
  p->wall_density = 1;
  p->split_compliance = 1;
  p->links_time = 9.06e-4f;
  p->links_beta_cold = p->links_beta_hot = 1.003f;
  p->links_slack = 0.05f;
  p->links_stiffness = 1.0f;
  p->links_pressure = 0.005f;
  p->links_smoothing = p->links_smoothing_solid = 0.05f;
  p->springs_rest_density = 10.0f;
  p->springs_stiffness = 0.004f;
  p->springs_near_stiffness = 0.01f;
  p->springs_mode = OOZE_SPRINGS_FLOW;
  p->springs_elasticity = 0.3f;
  p->springs_plasticity_stretch = p->springs_plasticity_compress = 0.3f;
  p->springs_yield_stretch = p->springs_yield_compress = 0.1f;
  p->springs_impact = 0.2f;
  p->springs_stick_distance = 0.5f;
  p->blend_alpha = 0.7f;
  p->blend_support = 2.2f;
  p->blend_yield = 12.0f;
  p->blend_interval = 0.1f;
  p->blend_time = 0.005f;
  p->blend_stiffness = 100.0f;
  p->cauchy_young = 1050.0f;
  p->cauchy_poisson = 0.5f;
  p->cauchy_frequency = 0.7853982f;
  p->cauchy_tension = 0.03f;
  p->cauchy_wetting = 30.0f;
  p->cauchy_support = 2.6f;
  p->cauchy_iterations = 30;
  p->ambient_temperature = 293.15f;
}
static inline void ooze_material_default(ooze_material *m) {
  OOZE_CLEAR(m);
  m->density = 1000.0f;
  m->compliance = 1e-4f;
  m->temperature = 293.15f;
  m->heat_capacity = 2000.0f;
  m->adhesion = 1.0f;
  m->flow_index = 1.0f;
  m->thinning_sharpness = 2.0f;
}
static inline void ooze_stats_default(ooze_stats *t) { OOZE_CLEAR(t); }
static inline void ooze_stage_time_default(ooze_stage_time *t) { OOZE_CLEAR(t); }
static inline void ooze_schema_entry_default(ooze_schema_entry *e) { OOZE_CLEAR(e); }
static inline void ooze_backend_info_default(ooze_backend_info *b) { OOZE_CLEAR(b); }

#ifdef __cplusplus
}
#endif
#endif
