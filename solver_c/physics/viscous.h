/* Takahashi, Nishita, Fujishiro 2014: position-based fluids with viscosity and elasticity by links
 * between particles (docs/theory/models/links.md).
 *
 * A link keeps two particles from separating further than its length (9). Viscous links are made
 * within h at the current distance, lengthen under tension (12)-(13), and are dropped beyond H =
 * 2h; links between two cold particles are elastic and do not change. Densities and links are
 * corrected side by side from the same positions (Algorithm 2).
 *
 * Where the paper is open, or printed with a mistake:
 *   (13) lengthens d by (beta_i + beta_j) / 2 times d; with its beta of 1.001 to 1.005 that would
 *        double it each step. Here the mean beta is the factor itself, for a step of links_time
 *        (9.06e-4 s, its fig. 6); other steps take it to the power dt / links_time, so that the
 * step does not change the material. (10) all links of a particle move it at once. A pair moves by
 * the average over the links of the end with more links (or less mass), times OZ_LINK_RELAX: below
 * 2 this converges for all directions, and it keeps momentum. (7)  the sum under the multiplier is
 * that of a step's first iteration: it changes little, and costs more than all other terms. (4)
 * pulls as well as pushes. links_cohesion is the part of the pull that is kept; it acts in the
 * first iteration only, for as many of them as there are would pull as often.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_VISCOUS_H
#define OZ_PHYSICS_VISCOUS_H

#include "physics/boundary_particles.h"
#include "physics/density.h"
#include "physics/links.h"
#include "physics/stage_parts.h"
#include "physics/wall_density.h"

#define OZ_LINK_RELAX 1.5f
#define OZ_LINK_HELD_SHARE 1e6f /* share of a held particle: the other end decides */
/* far above any multiplier: marks boundary particles, and keeps their weight to 1e-4 */
#define OZ_LINK_SOLID 1024.0f
#define OZ_LINK_DENSITY                                                     \
  0.6f /* part of a density correction, because the neighbours' corrections \
        * add to it */

/* ---- link_begin: values of each end for its pairs, once a substep. link_smoothing: weight in the
 * velocities of its neighbours; link_growth: its beta for a step of this length, 0 for particles
 * that are not fluid ---- */

/* Particles are elastic below T_c, viscous above: a link between two elastic ones does not
 * change. */
OZ_FN int oz_link_elastic(const oz_frame *f, uint32_t i) {
  return oz_temperature_of(f, i) < f->links.solid;
}

/* beta by temperature (the paper's section 3.6), or the material's own. */
OZ_FN float oz_link_beta(const oz_frame *f, uint32_t i) {
  const float own = f->matter ? f->matter[f->material[i]].links_beta : 0.0f;
  if (own > 0.0f) return own;
  const float t = (oz_temperature_of(f, i) - f->links.cold) * f->links.inv_range;
  return f->links.beta_cold +
         (f->links.beta_hot - f->links.beta_cold) * oz_minf(oz_maxf(t, 0.0f), 1.0f);
}

OZ_FN void oz_link_begin_item(const oz_frame *f, uint32_t i) {
  const uint32_t owner = oz_word(f->owner, i);
  const float weight = f->has_boundary && owner >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY
                           ? oz_boundary_weight_of(f, i)
                           : 1.0f;
  f->link_smoothing[i] = owner ? f->links.smooth_solid * weight : f->links.smooth;
  f->link_growth[i] = owner ? 0.0f : powf(oz_link_beta(f, i), f->links.steps);
}

/* ---- link_smooth: XSPH mixes in the velocities of neighbours, with epsilon_a from fluid,
 * epsilon_b from solids ---- */

OZ_SELF_VECTORS(link_smooth, x, x, u, u)

OZ_FN void oz_link_smooth_pair(const oz_frame *f, const oz_link_smooth_self *s, const oz_group *n,
                               oz_real *acc) {
  oz_v3 r = oz_sub(s->x, oz_vec_near(f->x, n)), u = oz_vec_near(f->u, n);
  oz_real w = oz_gather1(f->link_smoothing, n->j, 1) * (f->w_self * oz_kernel(f, oz_dot(r, r)));
  acc[0] += w * (u.x - s->u.x);
  acc[1] += w * (u.y - s->u.y);
  acc[2] += w * (u.z - s->u.z);
}

OZ_FN void oz_link_smooth_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real u[4], k = oz_select(oz_ld(f->omega, i) > oz_set(0.0f), oz_set(1.0f), oz_set(0.0f));
  oz_v3 du = {k * acc[0], k * acc[1], k * acc[2]};
  oz_ld4(f->u, i, 4, 0, u);
  oz_add_sane(u, du, OZ_SANE_SPEED);
  oz_st4(f->u2, i, 4, 0, u);
}

/* ---- link_share: most that a link of this particle may move, over its inverse mass, in
 * link_limit, and its mass in link_mass, where link_smoothing was. Boundary particles, which no
 * iteration moves, write their constant record (below)
 * ---- */

OZ_FN void oz_link_share_item(const oz_frame *f, uint32_t i) {
  const float share = f->links.stiffness *
                      oz_minf(0.5f, OZ_LINK_RELAX / (float)(f->link_len[i] ? f->link_len[i] : 1));
  f->link_limit[i] = f->omega[i] > 0.0f ? share / f->omega[i] : OZ_LINK_HELD_SHARE;
  f->link_mass[i] = f->omega[i] > 0.0f ? 1.0f / f->omega[i] : OZ_LINK_HELD_SHARE;
  if (!f->has_boundary || oz_word(f->owner, i) >> OZ_OWNER_SHIFT != OZ_OWNER_BOUNDARY) return;
  for (int c = 0; c < 3; c++) f->dx[4 * (size_t)i + c] = f->p[4 * (size_t)i + c];
  f->dx[4 * (size_t)i + 3] = OZ_LINK_SOLID + oz_boundary_weight_of(f, i);
}

/* link_weigh: share of each link, by the smaller limit of its ends; 0 for links of another kind.
 * The sum is unused. */
typedef struct {
  oz_real share;
} oz_link_weigh_self;

OZ_FN void oz_link_weigh_begin(const oz_frame *f, uint32_t i, oz_link_weigh_self *s) {
  s->share = oz_set(f->link_limit[i]);
}

OZ_FN void oz_link_weigh_pair(const oz_frame *f, const oz_link_weigh_self *s, const oz_links *n,
                              oz_real *acc) {
  (void)acc;
  oz_real w = oz_min(s->share, oz_gather1(f->link_limit, n->j, 1)) * f->inv_d;
  oz_st(n->share, 0, oz_select(oz_index_ne(n->kind, OZ_LINK_VISCOUS), oz_set(0.0f), w));
}

OZ_FN void oz_link_weigh_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)f;
  (void)i;
  (void)acc;
  (void)red;
}

/* ---- density (4)-(7). p.w is the weight of a particle: 1, for boundary particles 1 / delta_k
 * times the rest volume. dx gets (position, multiplier), for boundary particles OZ_LINK_SOLID +
 * weight instead of a multiplier ---- */

OZ_FN void oz_link_send(const oz_frame *f, uint32_t i, oz_real rho, float cohesion) {
  oz_v3 p = oz_vec_ld(f->p, i);
  if (f->has_slip) rho = oz_select(oz_at_boundary(f, i), oz_set(f->w_self), rho);
  oz_real C = rho - 1.0f, most = oz_set(0.25f * OZ_LINK_SOLID);
  C = oz_select(C > oz_set(0.0f), C, cohesion * C);
  oz_real lam = oz_max(oz_min(C * oz_ld(f->density_relaxation, i), most), -most);
  if (f->has_boundary)
    lam = oz_select(oz_at_boundary(f, i), OZ_LINK_SOLID + oz_boundary_weight(f, i), lam);
  oz_st(f->rho, i, rho);
  oz_vec_st(f->dx, i, p, lam);
}

/* link_bound: the sum under the multiplier (7), and with it the densities of the first iteration.
 * Multipliers are those of a fluid of one mass; link_move has the masses. */
OZ_SELF_VECTOR(link_bound, p, p)

OZ_FN void oz_link_bound_pair(const oz_frame *f, const oz_link_bound_self *s, const oz_group *n,
                              oz_real *acc) {
  oz_real v[4];
  oz_near4(f->p, n, v);
  oz_v3 r = {s->p.x - v[0], s->p.y - v[1], s->p.z - v[2]}, g = oz_density_gradient(f, r);
  g.x *= v[3];
  g.y *= v[3];
  g.z *= v[3];
  acc[0] += g.x;
  acc[1] += g.y;
  acc[2] += g.z;
  acc[3] += oz_dot(g, g);
  acc[4] += v[3] * oz_kernel(f, oz_dot(r, r));
}

OZ_FN void oz_link_bound_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real w[4];
  oz_ld4(f->wall_term, i, 4, 0, w);
  oz_v3 own = {acc[0] + w[0], acc[1] + w[1], acc[2] + w[2]};
  oz_real D = oz_max(acc[3] + oz_dot(own, own), oz_set(0.2f * f->d_ref));
  oz_st(f->density_relaxation, i, -OZ_LINK_DENSITY / D);
  oz_link_send(f, i, f->w_self * acc[4] - oz_pad_weight(f, i) + f->w_self + w[3],
               f->links.cohesion);
}

/* link_lambda: densities and multipliers of the other iterations. */
OZ_SELF_VECTOR(link_lambda, p, p)

OZ_FN void oz_link_lambda_pair(const oz_frame *f, const oz_link_lambda_self *s, const oz_group *n,
                               oz_real *acc) {
  oz_real v[4];
  oz_near4(f->p, n, v);
  oz_v3 r = {s->p.x - v[0], s->p.y - v[1], s->p.z - v[2]};
  acc[0] += v[3] * oz_kernel(f, oz_dot(r, r));
}

OZ_FN void oz_link_lambda_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real w[4];
  oz_ld4(f->wall_term, i, 4, 0, w);
  oz_link_send(f, i, f->w_self * acc[0] - oz_pad_weight(f, i) + f->w_self + w[3], 0.0f);
}

/* link_press: load of the density constraint on the wall. */
OZ_FN void oz_link_press_item(const oz_frame *f, uint32_t contact) {
  const size_t i = f->wall_particle[contact];
  oz_wall_pressed(f, contact, f->wall_planes[contact], i, f->dx[4 * i + 3] * f->link_mass[i]);
}

/* ---- link_move: densities and links side by side, from the same positions (lines 14 to 19 of
 * Algorithm 2). All terms of a pair act along its direction, so they are one factor of the
 * difference of positions. A density correction acts between the two of a pair with the mass of
 * the lighter one: this keeps momentum, and the lighter one moves as far as in a fluid of one mass.
 * With the multipliers' own masses a light particle among heavy ones would get the whole
 * correction of each of these, and fly off. ---- */

OZ_SELF_RECORD_SCALAR(link_move, dx, p, lam, link_mass, mass)

typedef struct {
  oz_v3 r;
  oz_real lam, r2, ir;
} oz_link_apart;

OZ_FN oz_link_apart oz_link_apart_from(const oz_frame *f, const oz_link_move_self *s,
                                       const oz_real v[4]) {
  oz_link_apart a;
  a.r.x = s->p.x - v[0];
  a.r.y = s->p.y - v[1];
  a.r.z = s->p.z - v[2];
  a.lam = v[3];
  a.r2 = a.r.x * a.r.x + oz_set(1e-10f * f->h2); /* so that coincident particles have a distance */
  a.r2 += a.r.y * a.r.y;
  a.r2 += a.r.z * a.r.z;
  a.ir = oz_rsqrt_fast(a.r2);
  return a;
}

OZ_FN oz_link_apart oz_link_apart_of(const oz_frame *f, const oz_link_move_self *s,
                                     const uint32_t *j) {
  oz_real v[4];
  oz_gather4(f->dx, j, 4, 0, v);
  return oz_link_apart_from(f, s, v);
}

/* Density: dx = d omega sum m (lambda_i + lambda_j + s_corr) grad C, with the artificial pressure
 * (8) against clustering; boundary particles answer with the particle's own multiplier, weight (2
 * lambda_i + s_corr). */
OZ_FN oz_real oz_link_push(const oz_frame *f, const oz_link_move_self *s, const oz_link_apart *a,
                           const uint32_t *j) {
  oz_real q = oz_max(f->h2 * f->links.inv_q - a->r2 * f->links.inv_q, oz_set(0.0f)), q2 = q * q,
          q4 = q2 * q2;
  /* W is the cube, (8) the fourth power of W */
  oz_real t = oz_max(f->h - a->r2 * a->ir, oz_set(0.0f)),
          press = f->links.pressure * (q4 * q4 * q4);
  oz_real k = s->lam + a->lam - press;
  if (f->has_boundary) {
    oz_real weight = a->lam - OZ_LINK_SOLID;
    k = oz_select(a->lam > oz_set(0.5f * OZ_LINK_SOLID), weight * (2.0f * s->lam - press), k);
  }
  oz_real mass = s->mass;
  if (f->links.unlike) mass = oz_min(mass, oz_gather1(f->link_mass, j, 1));
  return mass * k * ((f->grad_norm * f->dens_grad) * (t * t * a->ir));
}

/* Links (9)-(11): only a link beyond its length pulls. */
OZ_FN oz_real oz_link_pull(const oz_link_apart *a, oz_real rest, oz_real share) {
  return share * oz_max(1.0f - rest * a->ir, oz_set(0.0f));
}

OZ_FN void oz_link_along(const oz_link_apart *a, oz_real k, oz_real *acc) {
  acc[0] += k * a->r.x;
  acc[1] += k * a->r.y;
  acc[2] += k * a->r.z;
}

OZ_FN void oz_link_move_pair(const oz_frame *f, const oz_link_move_self *s, const oz_group *n,
                             oz_real *acc) {
  oz_link_apart a = oz_link_apart_of(f, s, n->j);
  oz_link_along(&a, oz_link_push(f, s, &a, n->j), acc);
}

OZ_FN void oz_link_move_link(const oz_frame *f, const oz_link_move_self *s, const oz_links *n,
                             oz_real *acc) {
  oz_link_apart a = oz_link_apart_of(f, s, n->j);
  oz_link_along(&a, -oz_link_pull(&a, n->rest, oz_ld(n->share, 0)), acc);
}

OZ_FN const float *oz_link_move_records(const oz_frame *f) { return f->dx; }

OZ_FN void oz_link_move_fused(const oz_frame *f, const oz_link_move_self *s, const oz_real v[4],
                              const oz_links *n, oz_real *acc) {
  oz_link_apart a = oz_link_apart_from(f, s, v);
  oz_link_along(&a, oz_link_push(f, s, &a, n->j) - oz_link_pull(&a, n->rest, oz_ld(n->share, 0)),
                acc);
}

OZ_FN void oz_link_move_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real y[4], q[4];
  oz_ld4(f->dx, i, 4, 0, q);
  oz_ld4(f->y, i, 4, 0, y);
  oz_density_shift(f, i, acc, oz_ld(f->link_mass, i) * q[3], y);
  oz_density_placed(f, i, y);
}

/* ---- constraint control (Algorithm 1), the basis of OZ_RULE_LINKS ---- */

/* A group of links of particle i with ends at the squared distance r2: returns the lanes to drop,
 * and updates the length of the others. The factor (13) is the mean of both ends; a particle that
 * is not fluid takes that of the fluid it is linked to. */
OZ_FN oz_mask oz_viscous_drop(const oz_frame *f, uint32_t i, const uint32_t *j,
                              const uint32_t *kind, oz_real r2, oz_real *rest) {
  const oz_real zero = oz_set(0.0f), one = oz_set(1.0f), a = oz_set(f->link_growth[i]),
                b = oz_gather1(f->link_growth, j, 1), sum = a + b;
  /* a particle that is not fluid has 0 */
  const oz_real factor = oz_select(a * b > zero, 0.5f * sum, oz_select(sum > zero, sum, one));
  const oz_real weak = (1.0f - f->links.slack) * *rest;
  const oz_mask other = oz_index_ne(kind, OZ_LINK_VISCOUS);
  oz_mask fixed = other;
  if (oz_temperature_of(f, i) < f->links.solid)
    fixed |= oz_gather1(f->temperature, j, 1) < oz_set(f->links.solid);
  *rest = oz_select(oz_not(fixed) & (r2 > weak * weak), *rest * factor, *rest);
  return oz_not(fixed) & (r2 >= oz_set(4.0f * f->h2));
}

/* Elastic bodies get their links at creation: while none of their particles has one. */
OZ_FN int oz_viscous_make(const oz_frame *f, uint32_t i, oz_link *l, float r2) {
  if (oz_word(f->owner, i) && oz_word(f->owner, l->j)) return 0;
  /* fluid that slips is not linked */
  if (f->has_slip && oz_maxf(oz_slip(f, i), oz_slip(f, l->j)) > 0.5f) return 0;
  if (oz_link_elastic(f, i) && oz_link_elastic(f, l->j) && (f->link_len[i] || f->link_len[l->j]))
    return 0;
  l->kind = OZ_LINK_VISCOUS;
  l->rest = sqrtf(r2);
  l->spare = 0.0f;
  return 1;
}
#endif
