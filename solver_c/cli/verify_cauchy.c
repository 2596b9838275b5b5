/* The stretching test of Mukai, Matsui & Chang (figures 2 and 3) with the model cauchy, and the same with ours.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A column of table 2's fluid stands between two plates; the upper one is pulled up, its speed rising as a sine over
 * 100 of his steps. His solids are particles, ours here are walls that the fluid's outermost layer sticks to. Pressures
 * only push in both models, so that nothing but viscosity holds the column to that layer: it parts there early, and the
 * long threads of his figure 2 are not reached. What each stress does to the rest is told by how much of it disperses. */
#include <math.h>
#include <stdlib.h>

#include "verify.h"

typedef struct pull {
  uint32_t model, stress;
  double separation, dt, duration;
} pull;
typedef struct pulled {
  double length;    /* m: from plate to plate when the column parts, or at the end */
  double dispersed; /* share of particles in pieces of less than 5% at the end */
  double parted_at; /* s, or 0 */
} pulled;

static ooze_collider plate(kit *k, double y, double up) {
  const double point[3] = {0, y, 0}, normal[3] = {0, up, 0};
  ooze_collider_desc c;
  ooze_collider handle = 0;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_PLANE;
  c.friction = 1.0f;
  c.stick = 1e5f; /* m/s^2: he does not let go */
  kit_pose_of_plane(&c.start, point, normal);
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

static int run(verify *v, const pull *p, pulled *out) {
  const column c = {0.03, 0.06};
  const double speed = 0.18, ramp = 0.01; /* m/s, s: 100 steps of 0.1 ms */
  kit k;
  out->length = out->dispersed = (double)NAN;
  out->parted_at = 0.0;
  kit_open(&k, verify_machine(v), p->separation);
  k.params.model = p->model;
  k.params.cauchy_stress = p->stress;
  kit_apply(&k);
  uint32_t material = 0;
  ooze_material m;
  ooze_material_default(&m);
  m.density = 1160.0f;
  m.viscosity = 28.0f;
  /* the conformation model's elasticity relaxes: E / 3 is its modulus, eta over that its time */
  if (p->model == OOZE_MODEL_CONFORMATION) m.relaxation_time = 28.0f / (1050.0f / 3.0f);
  if (kit_good(&k)) k.result = ooze_material_add(k.solver, &m, &material);
  /* the outermost particles touch the plates: they stand half a separation inside, and walls keep a quarter */
  const double touch = 0.25 * p->separation;
  plate(&k, touch, 1.0);
  ooze_collider upper = plate(&k, c.height - touch, -1.0);
  const double low[3] = {-c.radius, 0.0, -c.radius}, high[3] = {c.radius, c.height, c.radius};
  kit_fill(&k, material, low, high, in_column, &c);
  ooze_pose pose;
  const double top[3] = {0, c.height - touch, 0}, down[3] = {0, -1, 0};
  ooze_pose_default(&pose);
  kit_pose_of_plane(&pose, top, down);
  const double frame = 0.01;
  double length = c.height;
  for (double t = 0.0; t < p->duration - 1e-9 && kit_good(&k); t += frame) {
    /* mean speed over the step: the sine's integral while it rises */
    double a = t / ramp, b = (t + frame) / ramp, quarter = 0.5 * MEASURE_PI, mean;
    mean = a >= 1.0 ? 1.0 : (cos(quarter * a) - cos(quarter * fmin(b, 1.0))) / quarter / (b - a) + fmax(b - 1.0, 0.0) / (b - a);
    const double up[3] = {0, speed * mean, 0};
    kit_move(&k, upper, &pose, up, frame);
    kit_step(&k, frame, (uint32_t)ceil(frame / p->dt - 1e-9));
    length += frame * speed * mean;
    kit_read(&k);
    if (!kit_good(&k)) break;
    /* one piece from plate to plate? */
    uint32_t pieces = 0;
    double inside = 0.0, highest = 0.0;
    measure_pieces((measure_points)k.x, k.count, 1.5 * p->separation, -1.0, k.count / 20, &pieces, &inside);
    for (uint32_t i = 0; i < k.count; ++i) highest = fmax(highest, (double)k.x[i][1]);
    out->dispersed = 1.0 - inside;
    if (out->parted_at == 0.0 && (pieces != 1 || highest < length - 2.0 * p->separation))
      out->parted_at = t + frame, out->length = length;
  }
  if (out->parted_at == 0.0) out->length = length;
  int ran = verify_ran(v, &k);
  kit_close(&k);
  return ran;
}

void verify_cauchy(verify *v) {
  static const char *const name[] = {"mixed", "viscous", "elastic", "complex"};
  pull p = {OOZE_MODEL_CAUCHY, 0, 0.005, 2e-4, 0.6};
  if (verify_at(v) == VERIFY_LONG) p.separation = 0.003, p.dt = 1e-4, p.duration = 1.0; /* his own */
  if (verify_at(v) == VERIFY_QUICK) p.separation = 0.007, p.dt = 4e-4, p.duration = 0.3;
  pulled r[4];
  int all = 1;
  for (uint32_t stress = 0; stress < 4; ++stress) {
    p.stress = stress;
    if (!verify_wants(v, name[stress]) && !verify_wants(v, "dispersed")) {
      all = 0;
      continue;
    }
    if (!run(v, &p, &r[stress])) return;
    verify_report(v, r[stress].length, (double)NAN, "m", "%s.length", name[stress]);
    if (r[stress].parted_at > 0.0) verify_note(v, "parted at %.2f s", r[stress].parted_at);
    verify_report(v, r[stress].dispersed, (double)NAN, "", "%s.dispersed", name[stress]);
  }
  /* his finding: 1 and 2 keep together, 3 and 4 disperse */
  if (all)
    verify_at_most(v, fmax(r[0].dispersed, r[1].dispersed), 0.5 * fmin(r[2].dispersed, r[3].dispersed), "", "dispersed.viscous-against-elastic");
  if (!verify_wants(v, "conformation")) return;
  pulled ours;
  p.model = OOZE_MODEL_CONFORMATION;
  p.dt = 0.0025; /* twenty-five of his steps */
  if (!run(v, &p, &ours)) return;
  verify_report(v, ours.length, (double)NAN, "m", "conformation.length");
  if (ours.parted_at > 0.0) verify_note(v, "parted at %.2f s", ours.parted_at);
  verify_at_most(v, ours.dispersed, 0.02, "", "conformation.dispersed");
}
