/* The stretching test of Mukai, Matsui & Chang (figures 2 and 3) with the model cauchy, and the
 * spinnability that their paper still lacks with ours. SPDX-License-Identifier: Apache-2.0
 *
 * A column of fluid stands between two solids; the upper one is pulled up, its speed rising as a
 * sine over 100 of his steps. His solids are particles, and so are they here; ours holds on to
 * sticky walls. Particles do not stand on a lattice: level layers part one from the next before
 * they mix. */
#include <math.h>
#include <stdlib.h>

#include "check.h"

typedef struct pull {
  uint32_t model, stress;
  double viscosity, tau; /* Pa s, s */
  double radius, separation, dt, duration;
  /* half the lower solid's side over the radius; m: half of a solid's height */
  double lower, thick;
  double cut; /* s: when the fluid is cut in halves, or 0 */
} pull;
typedef struct pulled {
  double length;    /* m: from solid to solid when the fluid parts, or at the end */
  double dispersed; /* share of particles in pieces of less than 5% at the end */
  double parted_at; /* s, or 0 */
  double opening;   /* speed at which the gap opens in the next 0.05 s, over the pulling speed */
  /* speed of the upper half less the lower one's, over the pulling speed, 0.02 s after the cut */
  double apart;
  double quarter[4]; /* m: length of the connected part after each quarter of the run */
  uint32_t count;    /* particles */
} pulled;

static const double SPEED = 0.18, RAMP = 0.01; /* m/s, s: 100 steps of 0.1 ms (table 2) */

/* A solid as a box, whose surface at the fluid's side is at y. */
static ooze_collider solid(kit *k, const pull *p, double y, double side, double half) {
  ooze_collider_desc c;
  ooze_collider handle = 0;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX;
  c.friction = 1.0f;
  if (p->model == OOZE_MODEL_CAUCHY)
    c.boundary = OOZE_BOUNDARY_PARTICLES;
  else
    c.stick = 1e5f; /* m/s^2: does not let go */
  c.half[0] = c.half[2] = (float)half;
  c.half[1] = (float)p->thick;
  c.start.position[1] = (float)(y + p->thick * side);
  c.end = c.start;
  if (kit_good(k)) k->result = ooze_collider_add(k->solver, &c, &handle);
  return handle;
}
typedef struct column {
  double radius, height;
} column;
static int in_column(const void *context, const double x[3]) {
  const column *c = context;
  return x[0] * x[0] + x[2] * x[2] < c->radius * c->radius && x[1] > 0.0 && x[1] < c->height;
}

static int by_height(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}
/* m: the greatest step in height from the lower solid over all particles to the upper one. A thread
 * has none of more than a spacing and a half. */
static double widest_gap(const kit *k, double length) {
  float *y = malloc(((size_t)k->count + 1) * sizeof *y);
  double gap = 0.0, last = 0.0;
  if (!y) return (double)NAN;
  for (uint32_t i = 0; i < k->count; ++i) y[i] = k->x[i][1];
  qsort(y, k->count, sizeof *y, by_height);
  for (uint32_t i = 0; i < k->count; ++i) gap = fmax(gap, (double)y[i] - last), last = (double)y[i];
  free(y);
  return fmax(gap, length - last);
}
/* Two layers at half the height are taken out. */
static void cut(kit *k, double length) {
  uint64_t *id = malloc(((size_t)k->count + 1) * sizeof *id);
  uint32_t gone = 0;
  if (id && kit_good(k)) k->result = ooze_attribute_read(k->solver, OOZE_ID, 0, k->count, 0, id);
  for (uint32_t i = 0; id && i < k->count; ++i)
    if (fabs((double)k->x[i][1] - 0.5 * length) < k->separation) id[gone++] = id[i];
  if (!id) k->result = OOZE_ERROR_MEMORY;
  if (kit_good(k)) k->result = ooze_particles_remove(k->solver, id, gone);
  free(id);
}
/* m/s: mean speed of the upper half less the lower one's. It grows by force over mass, wherever the
 * ends tear. */
static double parting_speed(const kit *k, double length) {
  double sum[2] = {0.0, 0.0}, n[2] = {0.0, 0.0};
  for (uint32_t i = 0; i < k->count; ++i) {
    const int upper = (double)k->x[i][1] > 0.5 * length;
    sum[upper] += (double)k->v[i][1], n[upper] += 1.0;
  }
  return sum[1] / n[1] - sum[0] / n[0];
}
/* Mean speed from t to t + frame over the final one: the sine's integral while it rises. */
static double ramp(double t, double frame) {
  const double a = t / RAMP, b = (t + frame) / RAMP, quarter = 0.5 * MEASURE_PI;
  if (a >= 1.0) return 1.0;
  return (cos(quarter * a) - cos(quarter * fmin(b, 1.0))) / quarter / (b - a) +
         fmax(b - 1.0, 0.0) / (b - a);
}

static int run(verify *v, const pull *p, pulled *out) {
  const column c = {p->radius, p->separation * round(0.06 / p->separation)}; /* whole layers */
  const double frame = 0.01;
  kit k;
  out->length = out->dispersed = out->opening = out->apart = (double)NAN;
  for (int q = 0; q < 4; ++q) out->quarter[q] = (double)NAN;
  out->parted_at = 0.0;
  kit_open(&k, verify_machine(v), p->separation);
  k.params.model = p->model;
  k.params.cauchy_stress = p->stress;
  /* a fluid that flies apart is to disperse, not to blow up */
  if (p->model == OOZE_MODEL_CAUCHY) k.params.max_speed = (float)(10.0 * SPEED);
  kit_iterations(&k, 20, 20);
  k.jitter = p->model == OOZE_MODEL_CAUCHY ? 0.2 : 0.1;
  uint32_t material = 0;
  ooze_material m;
  ooze_material_default(&m);
  m.density = 1160.0f; /* table 2's */
  m.viscosity = (float)p->viscosity;
  m.relaxation_time = (float)p->tau;
  if (kit_good(&k)) k.result = ooze_material_add(k.solver, &m, &material);
  solid(&k, p, 0.0, -1.0, p->lower * c.radius);
  const ooze_collider upper = solid(&k, p, c.height, 1.0, c.radius);
  const double low[3] = {-c.radius, 0.0, -c.radius}, high[3] = {c.radius, c.height, c.radius};
  kit_fill(&k, material, low, high, in_column, &c);
  ooze_pose pose;
  ooze_pose_default(&pose);
  pose.position[1] = (float)(c.height + p->thick);
  double length = c.height, first_gap = 0.0;
  for (int n = 0; n < (int)lround(p->duration / frame) && kit_good(&k); ++n) {
    const double t = n * frame, up[3] = {0, SPEED * ramp(t, frame), 0};
    kit_move(&k, upper, &pose, up, frame);
    kit_step(&k, frame, (uint32_t)ceil(frame / p->dt - 1e-9));
    length += frame * up[1];
    kit_read(&k);
    if (!kit_good(&k)) break;
    out->count = k.count;
    uint32_t pieces = 0;
    double inside = 0.0;
    measure_pieces((measure_points)k.x, k.count, 1.5 * p->separation, -1.0, k.count / 20, &pieces,
                   &inside);
    out->dispersed = 1.0 - inside;
    if (p->cut > 0.0 && fabs(t + frame - p->cut) < 0.5 * frame) cut(&k, length);
    if (p->cut > 0.0 && fabs(t + frame - p->cut - 0.02) < 0.5 * frame)
      out->apart = parting_speed(&k, length) / SPEED;
    const double gap = widest_gap(&k, length);
    if (out->parted_at == 0.0 && !(gap < 1.5 * p->separation))
      out->parted_at = t + frame, out->length = length, first_gap = gap;
    if (out->parted_at > 0.0 && fabs(t + frame - out->parted_at - 0.05) < 0.5 * frame)
      out->opening = (gap - first_gap) / (0.05 * SPEED);
    for (int q = 0; q < 4; ++q)
      if (n + 1 == (int)lround(0.25 * (q + 1) * p->duration / frame))
        out->quarter[q] = out->parted_at > 0.0 ? out->length : length;
  }
  if (out->parted_at == 0.0) out->length = length;
  return verify_close(v, &k);
}

/* m: from solid to solid after so long a pull, as table 2 has it, whatever the fluid does. */
static double pulled_to(double height, double duration) {
  return height + SPEED * (duration - RAMP + RAMP * 2.0 / MEASURE_PI);
}

static void against_time(verify *v, const pulled *r) {
  const double *q = r->quarter;
  if (r->parted_at > 0.0)
    verify_note(v, "%.3f, %.3f, %.3f, %.3f m after each quarter; parted at %.2f s", q[0], q[1],
                q[2], q[3], r->parted_at);
  else
    verify_note(v, "%.3f, %.3f, %.3f, %.3f m after each quarter; whole to the end", q[0], q[1],
                q[2], q[3]);
}
static void stretched(verify *v, const char *name, const pulled *r) {
  verify_report(v, r->length, (double)NAN, "m", "%s.length", name);
  against_time(v, r);
}

/* The paper's findings are an order; it gives no number. Sims 1 and 2 are stretched without being
 * dispersed: to twice their length at least, here, and at most one particle in a hundred is alone;
 * whether they are whole to the end is told. Sims 3 and 4 disperse. That 1 does so a little more
 * than 2 is told as well: at his size it is a matter of five in thirty thousand particles. */
static void stretched_whole(verify *v, const char *name, const pull *p, const pulled *r) {
  const double height = p->separation * round(0.06 / p->separation),
               end = pulled_to(height, p->duration);
  verify_at_least(v, r->length / height, fmin(2.0, 0.999 * end / height), "of its length",
                  "%s.stretched", name);
  verify_note(v, "solids end %.3f m apart", end);
  verify_at_most(v, r->dispersed, 0.01, "", "%s.not-dispersed", name);
}
static void order(verify *v, const pulled r[4]) {
  verify_at_most(v, fmax(r[2].length, r[3].length) / fmin(r[0].length, r[1].length), 1.0 - 1e-6, "",
                 "order.length.elastic-shorter");
  verify_report(v, r[0].dispersed - r[1].dispersed, 0.0, "",
                "order.dispersed.mixed-more-than-viscous");
}

/* Spinnability: drawn long, and back at once when it parts; a viscous fluid is drawn as long, and
 * only parts. How fast a thread comes back is measured of one that is cut. Where one breaks by
 * itself is chance, and so is whether a piece falls off between two breaks: the gap of 24 threads
 * that differ in the seed of the jitter alone opened 0.9 to 5.0 times as fast as the pull
 * (mean 3.2, deviation 1.1), and that of a viscous fluid, which has nothing to come back with, 2.9
 * times. */
static void spinnability(verify *v, int quick) {
  const pull thread = {
      OOZE_MODEL_CONFORMATION, 0,   200.0, 0.2, 0.03, quick ? 0.0075 : 0.005, 0.0025,
      quick ? 0.5 : 1.0,       4.0, 0.01,  0.0};
  pull viscous = thread, halved = thread;
  pulled r;
  if (!run(v, &thread, &r)) return;
  stretched(v, "conformation.spun", &r);
  verify_at_least(v, r.length / 0.06, quick ? 1.3 : 1.8, "", "conformation.spun.stretch");
  verify_report(v, r.opening, (double)NAN, "", "conformation.spun.opening");
  verify_note(v, "speed of the opening gap over the pull's, 0.05 s from the break");
  halved.cut = 0.12, halved.duration = 0.14;
  if (!run(v, &halved, &r)) return;
  verify_at_least(v, r.apart, quick ? 1.8 : 2.0, "", "conformation.spun.recoil");
  verify_note(v, "speed of the halves of a cut thread over the pull's, after 0.02 s");
  viscous.viscosity = 500.0, viscous.tau = 0.0, viscous.duration = 1.5;
  halved.viscosity = viscous.viscosity, halved.tau = viscous.tau;
  if (!run(v, &halved, &r)) return;
  verify_at_most(v, r.apart, 1.5, "", "conformation.viscous.recoil");
  if (quick || !run(v, &viscous, &r)) return;
  stretched(v, "conformation.viscous", &r);
  verify_at_least(v, r.length / 0.06, 2.5, "", "conformation.viscous.stretch");
  verify_report(v, r.opening, (double)NAN, "", "conformation.viscous.opening");
}

void verify_cauchy(verify *v) {
  static const char *const name[] = {"mixed", "viscous", "elastic", "complex"};
  const int quick = verify_at(v) == VERIFY_QUICK, full = verify_at(v) == VERIFY_LONG;
  pull p = {OOZE_MODEL_CAUCHY, 0, 28.0, 0.0, 0.03, 0.005, 1.25e-4, 0.4, 4.0, 0.01, 0.0};
  /* his own: 30,000 particles of 3 mm, 5,000 and 12,000 of the solids; his step of 0.1 ms does not
   * bear his viscosity here */
  if (full)
    p.radius = 0.0656, p.separation = 0.003, p.dt = 4.5e-5, p.duration = 0.6, p.lower = 1.65,
    p.thick = 0.009;
  if (quick) p.separation = 0.01, p.dt = 5e-4, p.duration = 0.25;
  pulled r[4];
  int all = 1;
  for (uint32_t stress = 0; stress < 4; ++stress) {
    p.stress = stress;
    if (!verify_wants(v, name[stress]) && !verify_wants(v, "order")) {
      all = 0;
      continue;
    }
    if (!run(v, &p, &r[stress])) return;
    stretched(v, name[stress], &r[stress]);
    verify_report(v, r[stress].dispersed, (double)NAN, "", "%s.dispersed", name[stress]);
    verify_note(v, "%.0f of %u particles", r[stress].dispersed * r[stress].count,
                (unsigned)r[stress].count);
    /* at the small size too few particles are across for it to be drawn */
    if (stress < 2 && !quick) stretched_whole(v, name[stress], &p, &r[stress]);
  }
  if (all) {
    verify_at_most(v, fmax(r[0].dispersed, r[1].dispersed) / fmin(r[2].dispersed, r[3].dispersed),
                   1.0 - 1e-6, "", "order.dispersed.viscous-less-than-elastic");
    if (!quick) order(v, r);
  }

  if (verify_wants(v, "conformation")) spinnability(v, quick);
}
