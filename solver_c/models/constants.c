/* What follows from the particle separation, the parameters and the time step. */
#include "models/models.h"

#include <math.h>

enum { REACH = 3 }; /* lattice layers within the kernel: h = 2.2 d */
static const double PI = 3.14159265358979323846;

void oz_frame_constants(oz_frame *f, const ooze_params *params, float separation, float dt, double time) {
  const double d = separation, h = 2.2 * d, h3 = h * h * h;
  const double w_scale = 315.0 / (64.0 * PI * h3);   /* poly6: w_scale (1 - q^2)^3 */
  const double g_scale = -45.0 / (PI * h3 * h3);     /* spiky: g_scale (h - r)^2 r / |r| */
  const double V0 = d * d * d;

  /* sums over the simple cubic lattice, on which density is 1 and the operators have their reference diagonal */
  double sum_w = 0.0, sum_w_others = 0.0, sum_c = 0.0, t_ref = 0.0, d_ref = 0.0;
  for (int i = -REACH; i <= REACH; i++)
    for (int j = -REACH; j <= REACH; j++)
      for (int k = -REACH; k <= REACH; k++) {
        const double r2 = d * d * (i * i + j * j + k * k), r = sqrt(r2), q2 = r2 / (h * h);
        if (q2 >= 1.0) continue;
        const double w = w_scale * (1.0 - q2) * (1.0 - q2) * (1.0 - q2);
        sum_w += w;
        if (r == 0.0) continue;
        const double g = g_scale * (h - r) * (h - r), gx = g * i * d / r;
        sum_w_others += V0 * w;
        sum_c += (h - r) * (h - r) / r;
        t_ref += V0 * d * V0 * d * gx * gx;
        d_ref += g * g;
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
  f->V0 = (float)V0;
  f->Vm = (float)Vm;
  f->m_ref = (float)(1000.0 * Vm);
  f->grad_norm = (float)(V0 * d * g_scale);
  f->w_norm = (float)(Vm * w_scale / (h3 * h3));
  f->w_self = (float)(Vm * w_scale);
  f->dens_grad = (float)(Vm / V0);
  f->hour_norm = (float)(sum_w_others / sum_c); /* zero-energy weights of the lattice add up to those of poly6 */
  f->hour_arm = (float)(sum_w_others / sum_c / -(V0 * d * g_scale));
  f->t_ref = (float)t_ref;
  f->d_ref = (float)(d_ref * Vm * d * Vm * d);
  f->a_min = (float)(2e-5 * t_ref);
  for (int c = 0; c < 3; c++) f->gravity[c] = params->gravity[c];
  const float g = sqrtf(f->gravity[0] * f->gravity[0] + f->gravity[1] * f->gravity[1] + f->gravity[2] * f->gravity[2]);
  f->rest_speed = 0.5f * g * dt;
  f->max_speed = params->max_speed;
  f->wall_density = params->wall_density;
  f->wall_gap = (params->wall_density ? 0.25f : 0.5f) * f->d; /* a wall that counts in the density keeps its own distance */
  f->zero_energy = params->zero_energy;
  f->scheme = params->scheme;
  f->corotation = params->corotation;
  f->gradient_correction = params->gradient_correction;
  f->split = params->split_compliance;
  f->beta = 1.9f;
  f->time = (float)time;
}
