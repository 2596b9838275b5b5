/* SPDX-License-Identifier: Apache-2.0 */
#include "scene_kit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/seconds.h"

static void fail(kit *k, ooze_result r, const char *what, const char *sentence) {
  if (k->result < 0) return;
  k->result = r;
  snprintf(k->message, sizeof k->message, "%s: %s", what,
           sentence && sentence[0] ? sentence : ooze_result_name(r));
}

static void took(kit *k, ooze_result r, const char *what) {
  if (r < 0) fail(k, r, what, ooze_solver_message(k->solver));
}

int kit_good(const kit *k) { return k->result >= 0; }
int kit_on_gpu(const kit *k) {
  return k->solver && strncmp(ooze_solver_backend(k->solver), "cuda", 4) == 0;
}

void kit_open(kit *k, const kit_machine *machine, double separation) {
  ooze_solver_desc desc;
  ooze_message why = {""};
  memset(k, 0, sizeof *k);
  k->separation = separation;
  ooze_params_default(&k->params);
  k->params.substeps = 1;
  ooze_solver_desc_default(&desc);
  desc.backend = machine->backend;
  desc.isa = machine->isa;
  desc.tasks = machine->tasks;
  desc.threads = machine->threads;
  desc.device = machine->device;
  desc.particle_separation = (float)separation;
  ooze_result r = ooze_solver_create(&desc, &k->solver, &why);
  if (r < 0) {
    k->solver = NULL;
    fail(k, r, "solver", why.text);
  }
  kit_apply(k);
}

void kit_open_model(kit *k, const kit_machine *machine, double separation, uint32_t model,
                    double gravity) {
  kit_open(k, machine, separation);
  k->params.model = model;
  k->params.gravity[1] = (float)gravity;
  k->params.position_iterations = 6;
  kit_apply(k);
}

void kit_close(kit *k) {
  if (k->solver) ooze_solver_destroy(k->solver);
  free(k->x);
  free(k->v);
  free(k->compression);
  k->solver = NULL;
  k->x = k->v = NULL;
  k->compression = NULL;
  k->count = k->capacity = 0;
}

void kit_apply(kit *k) {
  if (kit_good(k)) took(k, ooze_params_set(k->solver, &k->params), "parameters");
}

void kit_iterations(kit *k, uint32_t velocity, uint32_t position) {
  k->params.velocity_iterations = velocity;
  k->params.position_iterations = position;
  kit_apply(k);
}

/* ---- materials ---- */

uint32_t kit_add(kit *k, const ooze_material *m) {
  uint32_t index = 0;
  if (kit_good(k)) took(k, ooze_material_add(k->solver, m, &index), "material");
  return index;
}

static ooze_material relaxing(double tau) {
  ooze_material m;
  ooze_material_default(&m);
  m.relaxation_time = (float)tau;
  return m;
}

uint32_t kit_material(kit *k, double tau, double alpha) {
  ooze_material m = relaxing(tau);
  m.compliance = (float)alpha;
  return kit_add(k, &m);
}

uint32_t kit_fluid(kit *k, double viscosity, double tau) {
  ooze_material m = relaxing(tau);
  m.viscosity = (float)viscosity;
  return kit_add(k, &m);
}

uint32_t kit_solid(kit *k, double density) {
  ooze_material m;
  ooze_material_default(&m);
  m.density = (float)density;
  return kit_add(k, &m);
}

/* ---- particles ---- */

typedef struct cloud {
  float (*x)[3];
  size_t count, capacity;
} cloud;

static int cloud_push(cloud *c, const double x[3]) {
  if (c->count == c->capacity) {
    size_t capacity = c->capacity ? 2 * c->capacity : 4096;
    float(*grown)[3] = realloc(c->x, capacity * sizeof *grown);
    if (!grown) return 0;
    c->x = grown;
    c->capacity = capacity;
  }
  for (int a = 0; a < 3; ++a) c->x[c->count][a] = (float)x[a];
  ++c->count;
  return 1;
}

static void add_particles(kit *k, uint32_t material, size_t count, float (*x)[3], float (*v)[3]) {
  ooze_particles p;
  if (!kit_good(k) || !count) return;
  if (count > UINT32_MAX) {
    fail(k, OOZE_ERROR_LIMIT, "particles", "more than 4,294,967,295 in one scene");
    return;
  }
  ooze_particles_default(&p);
  p.count = (uint32_t)count;
  p.material = material;
  p.positions = x;
  p.velocities = v;
  took(k, ooze_particles_add(k->solver, &p, NULL), "particles");
}

void kit_spinning_block(kit *k, uint32_t material, const uint32_t n[3], const double low[3],
                        double omega) {
  size_t count = (size_t)n[0] * n[1] * n[2], at = 0;
  float(*x)[3] = malloc(count * sizeof *x);
  float(*v)[3] = omega != 0.0 ? malloc(count * sizeof *v) : NULL;
  double d = k->separation, middle[3];
  if (!x || (omega != 0.0 && !v)) {
    fail(k, OOZE_ERROR_MEMORY, "block", "no memory for its particles");
    goto done;
  }
  for (int a = 0; a < 3; ++a) middle[a] = low[a] + 0.5 * d * n[a];
  for (uint32_t j = 0; j < n[1]; ++j) /* layer by layer from below */
    for (uint32_t l = 0; l < n[2]; ++l)
      for (uint32_t i = 0; i < n[0]; ++i, ++at) {
        double p[3] = {low[0] + (i + 0.5) * d, low[1] + (j + 0.5) * d, low[2] + (l + 0.5) * d};
        for (int a = 0; a < 3; ++a) x[at][a] = (float)p[a];
        if (v) {
          v[at][0] = (float)(omega * (p[2] - middle[2]));
          v[at][1] = 0.0f;
          v[at][2] = (float)(-omega * (p[0] - middle[0]));
        }
      }
  add_particles(k, material, count, x, v);
done:
  free(x);
  free(v);
}

void kit_block(kit *k, uint32_t material, const uint32_t n[3], const double low[3]) {
  kit_spinning_block(k, material, n, low, 0.0);
}

/* x, off by up to k->jitter separations an axis; the same every time. */
static const double *jittered(kit *k, const double x[3], double out[3]) {
  for (int a = 0; a < 3; ++a) {
    k->seed = k->seed * 6364136223846793005u + 1442695040888963407u;
    out[a] =
        x[a] + k->jitter * k->separation * ((double)(k->seed >> 11) / 4503599627370496.0 - 1.0);
  }
  return out;
}
void kit_fill(kit *k, uint32_t material, const double low[3], const double high[3],
              kit_inside_fn inside, const void *context) {
  cloud c = {NULL, 0, 0};
  double d = k->separation, x[3], at[3];
  if (!kit_good(k)) return;
  for (x[1] = low[1] + 0.5 * d; x[1] < high[1]; x[1] += d)
    for (x[2] = low[2] + 0.5 * d; x[2] < high[2]; x[2] += d)
      for (x[0] = low[0] + 0.5 * d; x[0] < high[0]; x[0] += d)
        if (inside(context, x) && !cloud_push(&c, jittered(k, x, at))) {
          fail(k, OOZE_ERROR_MEMORY, "fill", "no memory for its particles");
          free(c.x);
          return;
        }
  add_particles(k, material, c.count, c.x, NULL);
  free(c.x);
}

/* A block of n particles, for the rest as `like` has it. */
ooze_body kit_body_like(kit *k, const ooze_body_desc *like, const uint32_t n[3],
                        const double centre[3]) {
  ooze_body_desc b = *like;
  ooze_body handle = 0;
  b.count = n[0] * n[1] * n[2];
  float(*x)[3] = malloc((size_t)b.count * sizeof *x);
  if (!x) {
    fail(k, OOZE_ERROR_MEMORY, "body", "no memory for its particles");
    return 0;
  }
  for (uint32_t i = 0; i < b.count; ++i) {
    const uint32_t at[3] = {i % n[0], i / (n[0] * n[2]), i / n[0] % n[2]};
    for (int a = 0; a < 3; ++a) x[i][a] = (float)((at[a] + 0.5 - 0.5 * n[a]) * k->separation);
  }
  b.positions = x;
  for (int a = 0; a < 3; ++a) b.pose.position[a] = (float)centre[a];
  if (kit_good(k)) took(k, ooze_body_add(k->solver, &b, &handle), "body");
  free(x);
  return handle;
}

ooze_body kit_body(kit *k, uint32_t material, const uint32_t n[3], const double centre[3],
                   const float rotation[4], const double velocity[3], const double spin[3],
                   double friction) {
  ooze_body_desc b;
  ooze_body_desc_default(&b);
  b.material = material;
  b.friction = (float)friction;
  for (int a = 0; a < 3; ++a) {
    if (velocity) b.velocity[a] = (float)velocity[a];
    if (spin) b.spin[a] = (float)spin[a];
  }
  if (rotation) memcpy(b.pose.rotation, rotation, sizeof b.pose.rotation);
  return kit_body_like(k, &b, n, centre);
}

void kit_body_read(kit *k, ooze_body body, ooze_body_state *out) {
  ooze_body_state_default(out);
  if (kit_good(k)) took(k, ooze_body_state_get(k->solver, body, out), "body");
}

/* ---- figures ---- */

const kit_capsule kit_giant[] = {
    {{0.00, 0.62, 0.00}, {0.00, 1.05, 0.02}, 0.34},   /* belly and chest */
    {{0.00, 1.58, 0.04}, {0.00, 1.62, 0.06}, 0.25},   /* head */
    {{0.00, 1.30, 0.02}, {0.00, 1.45, 0.03}, 0.12},   /* neck */
    {{-0.14, 0.22, 0.10}, {-0.20, 0.20, 0.62}, 0.18}, /* thighs */
    /* shins */
    {{0.14, 0.22, 0.10}, {0.20, 0.20, 0.62}, 0.18},
    {{-0.20, 0.16, 0.62}, {-0.22, 0.12, 1.05}, 0.12},
    /* arms */
    {{0.20, 0.16, 0.62}, {0.22, 0.12, 1.05}, 0.12},
    {{-0.36, 1.18, 0.02}, {-0.58, 0.80, 0.18}, 0.13},
    {{0.36, 1.18, 0.02}, {0.58, 0.80, 0.18}, 0.13},
    {{-0.58, 0.80, 0.18}, {-0.40, 0.52, 0.46}, 0.10},
    /* tail */
    {{0.58, 0.80, 0.18}, {0.40, 0.52, 0.46}, 0.10},
    {{0.00, 0.22, -0.10}, {0.00, 0.20, -0.50}, 0.14},
};
const uint32_t kit_giant_parts = (uint32_t)(sizeof kit_giant / sizeof kit_giant[0]);

int kit_in_figure(const void *context, const double x[3]) {
  const kit_figure *f = context;
  double y[3];
  for (int a = 0; a < 3; ++a) y[a] = (x[a] - f->at[a]) / f->scale;
  for (uint32_t i = 0; i < f->count; ++i) {
    const kit_capsule *c = &f->part[i];
    double along = 0.0, length2 = 0.0, distance2 = 0.0;
    for (int a = 0; a < 3; ++a) {
      along += (y[a] - c->a[a]) * (c->b[a] - c->a[a]);
      length2 += (c->b[a] - c->a[a]) * (c->b[a] - c->a[a]);
    }
    double t = length2 > 0.0 ? along / length2 : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    for (int a = 0; a < 3; ++a) {
      double e = y[a] - c->a[a] - t * (c->b[a] - c->a[a]);
      distance2 += e * e;
    }
    if (distance2 <= c->radius * c->radius) return 1;
  }
  return 0;
}

/* ---- colliders ---- */

void kit_boundary(kit *k, uint32_t boundary) { k->boundary = boundary; }
void kit_heat(kit *k, double temperature, double contact) {
  k->temperature = temperature, k->contact = contact;
}

/* The turn that carries +y onto the unit vector n. */
static void turn_from_y(const double n[3], float q[4]) {
  if (n[1] < -0.999999) { /* upside down: half a turn about x */
    q[0] = 1.0f;
    q[1] = q[2] = q[3] = 0.0f;
    return;
  }
  /* axis y x n = (n.z, 0, -n.x), angle acos(n.y): the half-angle form */
  double w = 1.0 + n[1], x = n[2], z = -n[0], s = 1.0 / sqrt(w * w + x * x + z * z);
  q[0] = (float)(x * s);
  q[1] = 0.0f;
  q[2] = (float)(z * s);
  q[3] = (float)(w * s);
}

void kit_pose_of_plane(ooze_pose *pose, const double point[3], const double normal[3]) {
  double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]), n[3];
  for (int a = 0; a < 3; ++a) {
    n[a] = normal[a] / length;
    pose->position[a] = (float)point[a];
  }
  turn_from_y(n, pose->rotation);
}

static ooze_collider add_collider(kit *k, ooze_collider_desc *c) {
  ooze_collider handle = 0;
  c->end = c->start;
  c->boundary = k->boundary;
  if (k->temperature > 0.0) c->temperature = (float)k->temperature, c->contact = (float)k->contact;
  if (kit_good(k)) took(k, ooze_collider_add(k->solver, c, &handle), "collider");
  return handle;
}

ooze_collider kit_plane(kit *k, const double point[3], const double normal[3], double friction) {
  ooze_collider_desc c;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_PLANE;
  c.friction = (float)friction;
  if (k->patch > 0.0) c.half[0] = c.half[2] = (float)k->patch;
  kit_pose_of_plane(&c.start, point, normal);
  return add_collider(k, &c);
}

ooze_collider kit_floor(kit *k, double friction) {
  const double origin[3] = {0, 0, 0}, up[3] = {0, 1, 0};
  return kit_plane(k, origin, up, friction);
}

static ooze_collider add_shape(kit *k, uint32_t shape, uint32_t invert, const double centre[3],
                               double a, double b, double c, double friction) {
  ooze_collider_desc desc;
  ooze_collider_desc_default(&desc);
  desc.shape = shape;
  desc.invert = invert;
  desc.friction = (float)friction;
  desc.half[0] = (float)a;
  desc.half[1] = (float)b;
  desc.half[2] = (float)c;
  for (int i = 0; i < 3; ++i) desc.start.position[i] = (float)centre[i];
  return add_collider(k, &desc);
}

ooze_collider kit_container(kit *k, const double centre[3], const double half[3], double friction) {
  return add_shape(k, OOZE_SHAPE_BOX, 1, centre, half[0], half[1], half[2], friction);
}
ooze_collider kit_bowl(kit *k, const double centre[3], double radius, double half_height,
                       double friction) {
  return add_shape(k, OOZE_SHAPE_CYLINDER, 1, centre, radius, half_height, 0.5, friction);
}
ooze_collider kit_sphere(kit *k, const double centre[3], double radius, double friction) {
  return add_shape(k, OOZE_SHAPE_SPHERE, 0, centre, radius, 0.5, 0.5, friction);
}

void kit_move(kit *k, ooze_collider collider, ooze_pose *from, const double velocity[3],
              double dt) {
  ooze_pose to = *from;
  if (!kit_good(k)) return;
  for (int a = 0; a < 3; ++a)
    to.position[a] = (float)((double)from->position[a] + dt * velocity[a]);
  took(k, ooze_collider_move(k->solver, collider, from, &to), "moving collider");
  *from = to;
}

/* ---- emitter ---- */

void kit_nozzle(kit *k, uint32_t material, double height, double radius, double speed, double tilt,
                double towards, uint32_t seed) {
  ooze_emitter_desc e;
  ooze_emitter handle;
  if (!kit_good(k)) return;
  ooze_emitter_desc_default(&e);
  e.material = material;
  e.radius = (float)radius;
  e.speed = (float)speed;
  e.seed = seed;
  e.start.position[1] = (float)height;
  /* the nozzle's +y leans away from `towards`, so that its -y, where the fluid goes, leans towards
   * it */
  double up[3] = {-sin(tilt) * cos(towards), cos(tilt), -sin(tilt) * sin(towards)};
  turn_from_y(up, e.start.rotation);
  e.end = e.start;
  took(k, ooze_emitter_add(k->solver, &e, &handle), "emitter");
}

/* ---- stepping and reading ---- */

void kit_step(kit *k, double dt, uint32_t substeps) {
  ooze_stats stats;
  if (!kit_good(k)) return;
  if (k->params.substeps != substeps) {
    k->params.substeps = substeps;
    kit_apply(k);
  }
  double start = oz_seconds();
  clock_t worked = clock();
  ooze_result r = ooze_step(k->solver, dt);
  k->step_processor += (double)(clock() - worked) / CLOCKS_PER_SEC;
  k->step_seconds += oz_seconds() - start;
  took(k, r, "step");
  ooze_stats_default(&stats);
  if (kit_good(k)) took(k, ooze_stats_get(k->solver, &stats), "stats");
  k->substeps += stats.substeps;
  k->contained += stats.contained;
}

int kit_resize(void **array, size_t bytes) {
  void *moved = realloc(*array, bytes);
  if (moved) *array = moved;
  return moved != NULL;
}

static int grow(kit *k, uint32_t count) {
  if (count <= k->capacity) return 1;
  uint32_t capacity = count + count / 4 + 64;
  if (!kit_resize((void **)&k->x, capacity * sizeof *k->x) ||
      !kit_resize((void **)&k->v, capacity * sizeof *k->v) ||
      !kit_resize((void **)&k->compression, capacity * sizeof *k->compression)) {
    fail(k, OOZE_ERROR_MEMORY, "reading", "no memory for a copy of the particles");
    return 0;
  }
  k->capacity = capacity;
  return 1;
}

void kit_read(kit *k) {
  if (!kit_good(k)) return;
  uint32_t n = ooze_particle_count(k->solver);
  if (!grow(k, n)) return;
  k->count = n;
  if (!n) return;
  took(k, ooze_attribute_read(k->solver, OOZE_POSITION, 0, n, 0, k->x), "positions");
  took(k, ooze_attribute_read(k->solver, OOZE_VELOCITY, 0, n, 0, k->v), "velocities");
  took(k, ooze_attribute_read(k->solver, OOZE_COMPRESSION, 0, n, 0, k->compression), "compression");
}

void kit_attribute(kit *k, ooze_attribute attribute, void *out) {
  if (kit_good(k))
    took(k, ooze_attribute_read(k->solver, attribute, 0, ooze_particle_count(k->solver), 0, out),
         "attribute");
}

void kit_save(kit *k, kit_state *to) {
  size_t bytes = 0;
  if (kit_good(k)) took(k, ooze_checkpoint_size(k->solver, &bytes), "checkpoint");
  if (!kit_good(k)) return;
  if (bytes > to->capacity) {
    void *memory = realloc(to->memory, bytes);
    if (!memory) {
      fail(k, OOZE_ERROR_MEMORY, "checkpoint", "no memory for it");
      return;
    }
    to->memory = memory;
    to->capacity = bytes;
  }
  took(k, ooze_checkpoint_save(k->solver, to->memory, to->capacity, &to->bytes), "checkpoint");
}

void kit_load(kit *k, const kit_state *from) {
  if (kit_good(k))
    took(k, ooze_checkpoint_load(k->solver, from->memory, from->bytes), "checkpoint");
  kit_apply(k);
}

double kit_max_speed(kit *k) {
  ooze_stats stats;
  ooze_stats_default(&stats);
  if (kit_good(k)) took(k, ooze_stats_get(k->solver, &stats), "stats");
  return stats.max_speed;
}

double kit_extent(const kit *k, int axis) {
  double low = 1e9, high = -1e9;
  for (uint32_t i = 0; i < k->count; ++i)
    low = fmin(low, (double)k->x[i][axis]), high = fmax(high, (double)k->x[i][axis]);
  return high - low;
}

double kit_spread(const kit *k, int axis) {
  double mean = 0.0, sum = 0.0;
  for (uint32_t i = 0; i < k->count; ++i) mean += (double)k->x[i][axis] / k->count;
  for (uint32_t i = 0; i < k->count; ++i) sum += pow((double)k->x[i][axis] - mean, 2) / k->count;
  return sqrt(sum);
}

double kit_compression(const kit *k) {
  double sum = 0.0;
  for (uint32_t i = 0; i < k->count; ++i) sum += (double)k->compression[i] / k->count;
  return sum;
}

double kit_time_block(kit *k, const uint32_t n[3], double dt) {
  const double low[3] = {0.0, 0.0, 0.0};
  kit_floor(k, 1.0);
  kit_block(k, kit_fluid(k, 0.0, 0.0), n, low);
  for (int step = 0; step < 4; ++step) kit_step(k, dt, 1);
  const double before = k->step_processor;
  for (int step = 0; step < 8; ++step) kit_step(k, dt, 1);
  return (k->step_processor - before) / 8;
}
