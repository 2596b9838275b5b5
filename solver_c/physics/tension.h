/* Surface tension and cohesion: an energy of missing density (docs/theory/tension.md).
 *
 *     E = sum_i k / 2 lack_i^2,     lack_i = max(0, 1 - rho_i),     rho_i = sum_j Vm W(x_ij)
 * (poly6, walls included). In the interior the density is 1, and no force acts. At a surface it is
 * less, so that energy is proportional to area; fluid under tension lacks density too. The force is
 * the gradient of E: pairs pull each other with k (lack_i + lack_j) grad W. It lies along the pair
 * and is opposite for both ends, so that momentum and angular momentum are kept to rounding, and as
 * it has an energy it does not stir the fluid. (Rejected: pair potentials freeze, a stress in the
 * surface clumps and stirs.)
 *
 * k of a tension sigma: k/2 times the sum of lack^2 over the layers of a lattice's flat surface is
 * the energy of an area d^2. The surface then contracts a little, which the lattice does not show:
 * the factor OZ_TENSION_SHARE is measured (ooze verify tension, the period of a drop). k of a
 * cohesion: 5.4 p d^3. Two halves of a lattice then bear 0.39 p before they part, at 0.3 d.
 *
 * Walls fill the half space behind them and count `adhesion` times, up to once; they pull as much
 * as they count, and up to twice that. So do particles of bodies, which are pulled back. Boundary
 * particles count as fluid.
 *
 * The force is explicit, the viscous solve that follows is not, so that the limit of a substep
 * grows with viscosity (OZ_TENSION_BEARS). Beyond it the force is reduced to the limit, particle by
 * particle, and these are counted. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_TENSION_H
#define OZ_PHYSICS_TENSION_H

#include "physics/stage_parts.h"

/* ---- tension_clear: no walls; wall_density fills them in where there are any ---- */

OZ_FN void oz_tension_clear_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_v3 none = {oz_set(0.0f), oz_set(0.0f), oz_set(0.0f)};
  oz_vec_st(f->wall_term, i, none, oz_set(0.0f));
}

/* ---- tension_start: (position, pull k lack dt^2 / (m_ref d^2)) to dx. red: number of reduced
 * particles ---- */

/* Adhesion of the pairs of a group of particle i: 1 but between fluid and a body, where it is the
 * fluid's, `most` at most. */
OZ_FN oz_real oz_pair_adhesion(const oz_frame *f, uint32_t i, const oz_group *n, float most) {
  float of[OZ_LANES];
  const uint32_t own = oz_word(f->owner, i);
  for (uint32_t k = 0; k < OZ_LANES; k++) {
    const uint32_t j = n->j[k], other = oz_word(f->owner, j), body = own ? own : other;
    const int meet = (own == 0) != (other == 0) && body >> OZ_OWNER_SHIFT != OZ_OWNER_BOUNDARY;
    of[k] = meet ? oz_minf(most, f->matter[oz_matter_of(f, own ? j : i)].adhesion) : 1.0f;
  }
  return oz_ld(of, 0);
}

typedef struct {
  oz_v3 x;
  uint32_t i;
} oz_tension_start_self;

OZ_FN void oz_tension_start_begin(const oz_frame *f, uint32_t i, oz_tension_start_self *s) {
  s->x = oz_vec_of(f->x, i);
  s->i = i;
}

OZ_FN void oz_tension_start_pair(const oz_frame *f, const oz_tension_start_self *s,
                                 const oz_group *n, oz_real *acc) {
  oz_v3 r = oz_sub(oz_vec_near(f->x, n), s->x);
  oz_real r2 = oz_dot(r, r), w = oz_kernel(f, r2);
  if (f->has_boundary) { /* a sheet of boundary particles stands for the wall behind it: each has a
                          * weight */
    oz_real v[4];
    oz_near4(f->p, n, v);
    w *= v[3];
  }
  if (f->body_adheres) w *= oz_pair_adhesion(f, s->i, n, 1.0f);
  /* padding is the particle itself */
  acc[0] += oz_select(r2 > oz_set(1e-10f * f->h2), w, oz_set(0.0f));
}

OZ_FN void oz_tension_start_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  const oz_tension *t = &f->tension;
  oz_real zero = oz_set(0.0f), one = oz_set(1.0f), om = oz_ld(f->omega, i), w[4];
  oz_mask fluid = oz_fluid(f, i);
  oz_ld4(f->wall_term, i, 4, 0, w);
  oz_real wall = oz_min(oz_of_matter(f, i, &f->matter->adhesion), one) * w[3];
  oz_real lack = oz_max(one - (f->w_self * acc[0] + f->w_self + wall), zero);
  oz_real k = t->per_sigma * oz_of_matter(f, i, &f->matter->surface_tension) +
              t->per_pascal * oz_of_matter(f, i, &f->matter->cohesion);
  /* omega / a is the viscous number; a relaxation time makes it G dt^2 / (rho d^2) */
  oz_real most = oz_set(t->layers * OZ_TENSION_MOST);
  if (t->damped) {
    oz_real damping = om / oz_ld(f->a, i);
    most = t->layers * OZ_TENSION_BEARS(damping);
  }
  oz_mask over = fluid & (om * k > most);
  k = oz_select(over, most / oz_max(om, oz_set(1e-20f)), k);
  red[0] = oz_select(over, one, zero);
  oz_vec_st(f->dx, i, oz_vec_ld(f->x, i), oz_select(fluid, k * lack, zero));
}

/* m / s: d^2 / dt times the kernel's slope, 8 Vm W(0) (1 - r^2 / h^2)^3 r / h^2, without its power.
 */
OZ_FN float oz_tension_scale(const oz_frame *f) {
  return 8.0f * f->w_self * f->inv_h2 * f->d * f->d * f->inv_dt;
}

/* ---- tension: u_i += d / dt omega_i sum_j (pull_i + pull_j) d grad_i (Vm W) ---- */

typedef struct {
  oz_v3 x;
  float pull;
  uint32_t i;
} oz_tension_self;

OZ_FN void oz_tension_begin(const oz_frame *f, uint32_t i, oz_tension_self *s) {
  s->x = oz_vec_of(f->dx, i);
  s->pull = f->dx[4 * (size_t)i + 3];
  s->i = i;
}

OZ_FN void oz_tension_pair(const oz_frame *f, const oz_tension_self *s, const oz_group *n,
                           oz_real *acc) {
  oz_real v[4];
  oz_v3 r = oz_near_from(f->dx, n, s->x, v);
  oz_real q = oz_max(1.0f - oz_dot(r, r) * f->inv_h2, oz_set(0.0f)),
          k = (s->pull + v[3]) * (q * q * q);
  if (f->has_boundary) {
    oz_real w[4];
    oz_near4(f->p, n, w);
    k *= w[3];
  }
  if (f->body_adheres) k *= oz_pair_adhesion(f, s->i, n, 2.0f);
  acc[0] += k * r.x;
  acc[1] += k * r.y;
  acc[2] += k * r.z;
}

OZ_FN void oz_tension_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real u[4], k = oz_tension_scale(f) * oz_ld(f->omega, i);
  oz_ld4(f->u, i, 4, 0, u);
  oz_v3 du = {k * acc[0], k * acc[1], k * acc[2]};
  oz_add_sane(u, du, OZ_SANE_SPEED);
  oz_st4(f->u, i, 4, 0, u);
}

/* ---- tension_wall, after wall_density: walls pull particles that lack density (press is the
 * gradient of the part that walls fill) ---- */

OZ_FN void oz_tension_wall_item(const oz_frame *f, uint32_t contact) {
  const size_t i = f->wall_particle[contact];
  const oz_matter *m = f->matter + oz_matter_of(f, (uint32_t)i);
  const float pull = m->adhesion * f->dx[4 * i + 3], om = f->omega[i];
  if (!(om > 0.0f) || !(pull > 0.0f)) return;
  for (uint32_t k = 0; k < f->wall_planes[contact]; k++) {
    const oz_wall *w = f->wall + (size_t)contact * f->contact_planes + k;
    float *impulse = f->wall_impulse + ((size_t)contact * f->contact_planes + k) * 3;
    const float speed = f->d * f->inv_dt * pull * w->press; /* over omega */
    for (size_t c = 0; c < 3; c++) {
      f->u[4 * i + c] -= om * speed * w->n[c];
      impulse[c] += f->m_ref * speed * w->n[c];
    }
  }
}
#endif
