/* Scenes built through ooze.h, without scene files, for verify and bench.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls do nothing once one has failed; `result` and `message` keep the first failure, so that a
 * scene is written straight down and looked at once. */
#ifndef OOZE_VERIFY_SCENE_KIT_H
#define OOZE_VERIFY_SCENE_KIT_H

#include "ooze/ooze.h"

/* The machine of a run, as the command line chooses it for any scene. */
typedef struct kit_machine {
  uint32_t backend, isa, tasks, threads;
  int32_t device;
} kit_machine;

typedef struct kit {
  ooze_solver *solver;
  ooze_params params; /* change, then kit_apply */
  double separation;
  uint32_t boundary; /* of colliders */
  double patch;      /* m: half the side of planes made of boundary particles; 0: as they come */
  double temperature, contact; /* of colliders, K and W/(m^2 K); 0: as they come */
  double jitter;               /* separations: kit_fill moves each particle by up to that */
  uint64_t seed;
  ooze_result result; /* of the first call that failed, or OOZE_OK */
  char message[640];
  double step_seconds; /* wall time inside ooze_step since kit_open */
  /* processor time of all threads inside ooze_step, s: fit to compare on a machine that is not idle
   */
  double step_processor;
  uint64_t substeps;  /* taken since kit_open */
  uint32_t contained; /* particles that went non-finite since kit_open */
  /* the state that kit_read brought, in id order */
  uint32_t count, capacity;
  float (*x)[3], (*v)[3];
  float *compression;
} kit;

void kit_open(kit *k, const kit_machine *machine, double separation);
/* The same with a model (OOZE_MODEL_*), a gravity along y and six position iterations. */
void kit_open_model(kit *k, const kit_machine *machine, double separation, uint32_t model,
                    double gravity);
void kit_close(kit *k);
/* realloc; 0, and the array as it was, when memory is out. */
int kit_resize(void **array, size_t bytes);
int kit_good(const kit *k);   /* 1 while nothing failed */
int kit_on_gpu(const kit *k); /* whatever was asked for: `auto` may have taken one */
void kit_apply(kit *k);       /* hands params to the solver */
void kit_iterations(kit *k, uint32_t velocity, uint32_t position);

/* Materials: the paper's parameters (tau in s, alpha in 1/Pa), or SI (viscosity in Pa s). Each
 * returns an index. */
uint32_t kit_material(kit *k, double tau, double alpha);
uint32_t kit_fluid(kit *k, double viscosity, double tau);
/* Processor time of one step of a block on a floor that has stood for four, s, of all threads. */
double kit_time_block(kit *k, const uint32_t n[3], double dt);
uint32_t kit_solid(kit *k, double density); /* for bodies; kg/m^3 */
uint32_t kit_add(kit *k, const ooze_material *m);

/* Particles on the simple cubic lattice of the separation. `low` is the low corner of the first
 * particle's cell. */
void kit_block(kit *k, uint32_t material, const uint32_t n[3], const double low[3]);
/* The same, spinning about the vertical axis through the block's middle at `omega` (rad/s). */
void kit_spinning_block(kit *k, uint32_t material, const uint32_t n[3], const double low[3],
                        double omega);
/* Every lattice cell between low and high whose middle `inside` accepts. */
typedef int (*kit_inside_fn)(const void *context, const double x[3]);
void kit_fill(kit *k, uint32_t material, const double low[3], const double high[3],
              kit_inside_fn inside, const void *context);

/* A rigid block of n[0] n[1] n[2] particles about `centre`, turned by `rotation` (x y z w; NULL:
 * not). */
ooze_body kit_body_like(kit *k, const ooze_body_desc *like, const uint32_t n[3],
                        const double centre[3]);
ooze_body kit_body(kit *k, uint32_t material, const uint32_t n[3], const double centre[3],
                   const float rotation[4], const double velocity[3], const double spin[3],
                   double friction);
void kit_body_read(kit *k, ooze_body body, ooze_body_state *out);

/* Rounded figures: capsules, of which a sphere is one without length. */
typedef struct kit_capsule {
  double a[3], b[3], radius;
} kit_capsule;
typedef struct kit_figure {
  const kit_capsule *part;
  uint32_t count;
  double at[3], scale;
} kit_figure;
int kit_in_figure(const void *figure, const double x[3]);
extern const kit_capsule kit_giant[]; /* a sitting figure, 1.9 high, feet at y = 0; scale it */
extern const uint32_t kit_giant_parts;

/* Colliders. `normal` points out of the solid, into the fluid. */
ooze_collider kit_plane(kit *k, const double point[3], const double normal[3], double friction);
ooze_collider kit_floor(kit *k, double friction); /* solid below y = 0 */
/* The next colliders are of this kind: OOZE_BOUNDARY_*. */
void kit_boundary(kit *k, uint32_t boundary); /* planes are then a patch of k->patch to each side */
/* The next colliders are as warm (K) and conduct so well to fluid (W/(m^2 K)). */
void kit_heat(kit *k, double temperature, double contact);
ooze_collider kit_container(kit *k, const double centre[3], const double half[3], double friction);
ooze_collider kit_bowl(kit *k, const double centre[3], double radius, double half_height,
                       double friction);
ooze_collider kit_sphere(kit *k, const double centre[3], double radius, double friction);
/* Moves by `velocity` (m/s) over the next step of length dt. `from` is where it stands now;
 * updated. */
void kit_move(kit *k, ooze_collider collider, ooze_pose *from, const double velocity[3], double dt);
void kit_pose_of_plane(ooze_pose *pose, const double point[3], const double normal[3]);

/* A nozzle at height H that pours down, tilted by `tilt` (rad) towards the horizontal direction
 * `towards` (rad). */
void kit_nozzle(kit *k, uint32_t material, double height, double radius, double speed, double tilt,
                double towards, uint32_t seed);

void kit_step(kit *k, double dt, uint32_t substeps);
void kit_read(kit *k); /* positions, velocities, compression */
double kit_max_speed(kit *k);
void kit_attribute(kit *k, ooze_attribute attribute, void *out); /* of all particles, in id order */

/* A state to come back to, as often as one likes. Parameters are the kit's, not the state's: params
 * stay as they are. */
typedef struct kit_state {
  void *memory; /* free() it */
  size_t bytes, capacity;
} kit_state;
void kit_save(kit *k, kit_state *to);
void kit_load(kit *k, const kit_state *from);

/* Of the state that kit_read brought: from end to end along an axis, m; root mean square distance
 * from the middle along it, m; mean compression. */
double kit_extent(const kit *k, int axis);
double kit_spread(const kit *k, int axis);
double kit_compression(const kit *k);

#endif
