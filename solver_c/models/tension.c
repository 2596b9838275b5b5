/* Surface tension and cohesion within a substep of any model: forces onto velocities
 * (physics/tension.h). SPDX-License-Identifier: Apache-2.0 */
#include "models/common.h"

enum { LAYERS = 4 }; /* layers of the lattice within the widest kernel */

/* Sum of lack^2 over the layers of the simple cubic lattice's flat surface. */
static double lattice_lack(const oz_frame *f) {
  const double d2 = (double)f->d * (double)f->d;
  double lack[LAYERS] = {0.0}, sum = 0.0;
  for (int i = -LAYERS; i <= LAYERS; i++)
    for (int j = -LAYERS; j <= LAYERS; j++)
      for (int k = 1; k <= LAYERS; k++) {
        const double q = 1.0 - d2 * (i * i + j * j + k * k) / (double)f->h2;
        /* layer l lacks the layers further out */
        for (int l = 0; l < k && q > 0.0; l++) lack[l] += (double)f->w_self * q * q * q * q;
      }
  for (int l = 0; l < LAYERS; l++) sum += lack[l] * lack[l];
  return sum;
}

static void constants(oz_frame *f) {
  oz_tension *t = &f->tension;
  const double unit = (double)f->dt * (double)f->dt / (double)f->m_ref, d = (double)f->d;
  const double layers = 2.0 * (double)OZ_TENSION_SHARE / lattice_lack(f);
  t->per_sigma = (float)(layers * unit);   /* k = 2 share sigma d^2 / lack^2 */
  t->per_pascal = (float)(5.4 * d * unit); /* k = 5.4 p d^3 */
  t->layers = (float)layers;
  t->damped = f->is_conformation && f->projects_velocity;
}

ooze_result oz_tension_pull(oz_step *s, oz_frame *f, ooze_message *why) {
  oz_backend *b = s->backend;
  const int walls = s->walls_known && f->wall_count;
  if (!s->has_tension) return OOZE_OK;
  constants(f);
  f->body_adheres = f->is_conformation && f->body_count && s->has_adhesion;
  RUN(tension_clear);
  if (walls) RUN(wall_density);
  /* where no particle can be above the limit no count need be waited for */
  const int may_hold = s->tension_load > 0.99f;
  OZ_TRY(b->table->run(b, f, OZ_STAGE_tension_start, may_hold ? &s->tension_held : NULL, why));
  RUN(tension);
  if (s->walls_known) LOADS(load_tension);
  if (walls) RUN(tension_wall);
  return OOZE_OK;
}
