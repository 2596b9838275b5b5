/* Constants that follow from the particle separation, the parameters and the time step.
 * SPDX-License-Identifier: Apache-2.0 */
#include "models/models.h"

#include <math.h>

enum { REACH = 4 }; /* lattice layers within the widest kernel, h = 3.6 d */

/* Substeps of at least this much of the time sqrt(d / g), in which gravity moves a particle by half
 * a separation, take an excess of density back at once, shorter ones by the square of their share.
 * The push of a substep becomes velocity, which would grow as 1 / dt otherwise: with the square a
 * short substep sees a spring of constant stiffness. */
static const float DENSITY_TIME = 0.05f;

/* The volume that tension has opened (oz_dilation_now) is taken back at a rate: shorter substeps
 * than the first take their share, and than the second see a spring as well. */
static const float DILATION_TIME = 0.05f, DILATION_SHORT = 0.03f;

/* The rest filter removes non-affine motion at a rate, too: every substep, it would be a viscosity
 * that grows as 1 / dt. */
static const float FILTER_TIME = 0.05f;

static const double PI = 3.14159265358979323846;

/* Kernel support over the separation. */
static double support(const ooze_params *p) {
  switch (p->model) {
  case OOZE_MODEL_BLEND:
    return (double)p->blend_support;
  case OOZE_MODEL_CAUCHY:
    return (double)p->cauchy_support;
  default:
    return 2.2;
  }
}

/* Cells of the lattice within the support, to each side: a GPU waits while a substep's sums over
 * them are made. */
static int reach_of(const ooze_params *p) {
  const int whole = (int)support(p);
  return whole < REACH ? whole : REACH;
}

static void blend_constants(oz_frame *f, const ooze_params *p) {
  /* stability limits of an explicit step: sound crosses 0.3 h in a step, and viscosity moves 0.1 d
   */
  const float fastest = 0.3f * f->h * f->inv_dt;
  f->blend.alpha = p->blend_alpha;
  f->blend.k = fminf(p->blend_stiffness, fastest * fastest);
  f->blend.most_viscous = 0.1f * 1000.0f * f->d * f->d * f->inv_dt;
  /* (13) of Takamatsu and Kanai 2011, with dt^SM = dt0^SPH = blend_time; a time shorter than the
   * substep would throw particles beyond their places */
  const float time = fmaxf(p->blend_time, f->dt);
  f->blend.pull = f->dt / time / time;
}

static void cauchy_constants(oz_frame *f, const ooze_params *p) {
  const double d = (double)f->d, h = (double)f->h;
  const int reach = reach_of(p);
  double n0 = 0.0, square = 0.0, across = 0.0;
  for (int i = -reach; i <= reach; i++)
    for (int j = -reach; j <= reach; j++)
      for (int k = -reach; k <= reach; k++) {
        const double r = d * sqrt((double)(i * i + j * j + k * k));
        if (r == 0.0 || r >= h) continue;
        n0 += h / r - 1.0;
        square += (h / r - 1.0) * r * r;
        /* (13) of Mukai et al. over the pairs that a cut between two layers separates: k of them in
         * each column */
        if (k > 0) across += k * (r - 1.5 * d + 0.5 * h) * (r - h) * (r - h) / 3.0;
      }
  f->cauchy.stress = p->cauchy_stress;
  f->cauchy.n0 = (float)n0;
  f->cauchy.lambda = (float)(square / n0);
  f->cauchy.young = p->cauchy_young;
  f->cauchy.shear = p->cauchy_young / (2.0f * (1.0f + p->cauchy_poisson));
  f->cauchy.omega = p->cauchy_frequency;
  f->cauchy.most_viscous = 0.15f * 1000.0f * f->d * f->d * f->inv_dt;
  /* Koshizuka: separating two columns of area d^2 makes two surfaces, 2 sigma d^2; Young: towards
   * solids (1 + cos) / 2 of it */
  f->cauchy.pair = (float)(-2.0 * (double)p->cauchy_tension * d * d / across);
  f->cauchy.wetting = 0.5f * (1.0f + cosf(p->cauchy_wetting * (float)(PI / 180.0)));
  f->cauchy.density_pull = 0.2f;
}

void oz_frame_constants(oz_frame *f, const ooze_params *params, float separation, float dt,
                        double time) {
  const double d = separation, h = support(params) * d, h3 = h * h * h;
  const double w_scale = 3465.0 / (512.0 * PI * h3); /* W: w_scale (1 - q^2)^4 */
  const double g_scale = -45.0 / (PI * h3 * h3);     /* spiky: g_scale (h - r)^2 r / |r| */
  const double V0 = d * d * d;

  /* sums over the simple cubic lattice, on which density is 1 and the operators have their
   * reference diagonal */
  double sum_w = 0.0, sum_w_others = 0.0, sum_c = 0.0, sum_cr2 = 0.0, t_ref = 0.0, d_ref = 0.0;
  double k_ref = 0.0, g_ref = 0.0, sum_c_above = 0.0;
  const int reach = reach_of(params);
  for (int i = -reach; i <= reach; i++)
    for (int j = -reach; j <= reach; j++)
      for (int k = -reach; k <= reach; k++) {
        const double r2 = d * d * (i * i + j * j + k * k), r = sqrt(r2), q2 = r2 / (h * h);
        if (q2 >= 1.0) continue;
        const double w = w_scale * pow(1.0 - q2, 4.0);
        sum_w += w;
        if (r == 0.0) continue;
        const double g = g_scale * (h - r) * (h - r), gx = g * i * d / r;
        sum_w_others += V0 * w;
        sum_c += (h - r) * (h - r) / r;
        if (k > 0) sum_c_above += (h - r) * (h - r) / r;
        sum_cr2 += (h - r) * (h - r) * r / (d * d);
        t_ref += V0 * d * V0 * d * gx * gx;
        d_ref += g * g;
        k_ref -= V0 * r * g;
        if (j < 0) g_ref += V0 * d * g * j * d / r;
      }
  const double Vm = 1.0 / sum_w;
  f->dt = dt;
  f->inv_dt = 1.0f / dt;
  f->d = (float)d;
  f->inv_d = (float)(1.0 / d);
  f->h = (float)h;
  f->h2 = (float)(h * h);
  f->margin = (float)(0.08 * h);
  f->cell = (float)(1.08 * h);
  f->reach = (float)(1.02 * h);
  f->min_approach2 = 0.0f; /* a model that needs none clears it */
  f->V0 = (float)V0;
  f->Vm = (float)Vm;
  f->m_ref = (float)(1000.0 * Vm);
  f->grad_norm = (float)(V0 * d * g_scale);
  f->inv_h2 = (float)(1.0 / (h * h));
  f->w_self = (float)(Vm * w_scale);
  f->dens_grad = (float)(Vm / V0);
  /* normalised so that the zero-energy weights of the lattice sum to those of W */
  f->zero_energy_norm = (float)(sum_w_others / sum_c);
  f->zero_energy_arm = (float)(sum_w_others / sum_c / -(V0 * d * g_scale));
  /* c (T_j - T_i) of a square: sum of c x^2 / d^2 is a third of the moment, and the second
   * derivative is 2 */
  f->heat_sum = (float)sum_w_others;
  f->heat_moment = (float)(sum_w_others / sum_c * sum_cr2);
  f->heat_norm = 6.0f / f->heat_moment;
  f->heat_lack = (float)(sum_c_above / sum_c);
  f->ambient = params->ambient_temperature;
  f->t_ref = (float)t_ref;
  f->k_ref = (float)k_ref;
  f->g_ref = (float)g_ref;
  const float fall = sqrtf(f->d / 9.81f), pace = dt / (DENSITY_TIME * fall);
  f->density_pace = fminf(1.0f, pace * pace);
  f->dilation_pace =
      fminf(1.0f, dt / (DILATION_TIME * fall)) * fminf(1.0f, dt / (DILATION_SHORT * fall));
  f->filter_pace = fminf(1.0f, dt / (FILTER_TIME * fall));
  f->momentum = f->warm_start = 0.0f;
  f->shifting = 0.0f; /* models that shift say so */
  f->dilates = 0;
  f->contact_of = NULL;
  f->d_ref = (float)(d_ref * Vm * d * Vm * d);
  f->a_min = (float)(2e-5 * t_ref);
  /* 500 in a substep, and in shorter ones than 1/768 s the modulus of that: beyond it a solid
   * bursts (195 m/s with 256 substeps in a frame) */
  f->a_elastic = OZ_STIFFEST_FLOOR * fmaxf(1.0f, 1.0f / (768.0f * 768.0f * dt * dt));
  for (int c = 0; c < 3; c++) f->gravity[c] = params->gravity[c];
  const float g = sqrtf(f->gravity[0] * f->gravity[0] + f->gravity[1] * f->gravity[1] +
                        f->gravity[2] * f->gravity[2]);
  f->rest_speed = 0.5f * g * dt;
  f->max_speed = params->max_speed;
  f->wall_density = params->wall_density;
  /* a wall that counts in the density keeps its distance by pressure */
  f->wall_gap = (params->wall_density ? 0.25f : 0.5f) * f->d;
  f->filter_factor = OZ_FILTER_SWEEP;
  f->zero_energy = params->zero_energy;
  f->scheme = params->scheme;
  f->corotation = params->corotation;
  f->gradient_correction = params->gradient_correction;
  f->volume_split = params->split_compliance;
  f->beta = 1.9f;
  f->time = (float)time;
  f->single_search = 0;
  /* a model that runs the stages of boundary.h sets both */
  f->has_boundary = f->filters_velocity = 0;
  f->rows_without_gradients = 0;
  blend_constants(f, params);
  memset(&f->cauchy, 0, sizeof f->cauchy);
  if (params->model == OOZE_MODEL_CAUCHY) cauchy_constants(f, params);
}
