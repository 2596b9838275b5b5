/* Particle shifting (docs/theory/shifting.md): keeps the arrangement of particles isotropic where
 * material flows, so that no direction runs out of neighbours. Positions alone are shifted, never
 * velocities, and by the strain of the substep: nothing moves at rest, in free fall, or in an
 * elastic body that keeps its shape. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_SHIFT_H
#define OZ_PHYSICS_SHIFT_H

#include "physics/pairs.h"
#include "physics/random.h"
#include "physics/wall_row.h"

#define OZ_SHIFT_NEAR 1.15f /* d: closer pairs move apart */
/* d: inside, below the density at rest or in fast flow, particles differ by up to half of it in the
 * distance they keep. Among equal ones a lattice that is drawn out evenly stays one, because pairs
 * on both sides of a particle push alike, until its layers part. */
#define OZ_SHIFT_UNEVEN 0.2f
#define OZ_SHIFT_CLOSEST 0.3f /* d: overlap that one pair counts with at most */
#define OZ_SHIFT_PART 0.5f    /* of the overlap of a pair, closed by one substep at full strength */
#define OZ_SHIFT_DRIFT 0.3f   /* d: displacement for a sum of ghat of 1, at full strength */
#define OZ_SHIFT_MOST 0.1f    /* d: displacement of one substep at most */
/* Strength for a strain of 1. A quarter of the strain that makes it full, 1/40, still shifts enough
 * ten times over before neighbours are lost; a stronger one stirs fluid at rest. */
#define OZ_SHIFT_STRAIN 40.0f
/* Full strength times this inside, where a substep strains by more than 1/40 and the density is
 * below that at rest, wholly by a fiftieth: drawn out fast, particles need new places fast. Where
 * fluid is pressed together such moves would overshoot. */
#define OZ_SHIFT_FASTEST 2.0f
#define OZ_SHIFT_DRAWN 50.0f
#define OZ_SHIFT_STRETCHED \
  4.0f /* times that for strain of elastic material that is far stretched */
/* Part of that for strain of elastic fluid that is little stretched, inside, where density is above
 * the second by the third. It comes back, but not soon enough: layers in tension have parted. */
#define OZ_SHIFT_ELASTIC 0.7f
#define OZ_SHIFT_INSIDE 0.8f
#define OZ_SHIFT_INSIDE_FLANK 0.1f
/* Colour gradient, sum of (1 - r/h)^2 r_ij / r, from which on a particle belongs to a free surface;
 * a flat one has OZ_FILM_FLAT. Films swell with more, columns tear at 0.3 m/s with less. Below the
 * density of a sheet it is less in proportion: of few neighbours the sum is small, and with the
 * whole of it those left at a rim were pushed out, a tenth of d in each substep. */
#define OZ_SHIFT_SURFACE 0.48f
#define OZ_SHIFT_SHEET 0.6f  /* density of a sheet of one layer */
#define OZ_SHIFT_WALL 0.195f /* volume that a wall 0.6 d away fills of a kernel */
/* Colour gradient of boundary particles, over that of a flat surface, from which on nothing is
 * shifted: the first layer has about 1, the second 0.03. */
#define OZ_SHIFT_POINTS 0.3f

/* d: height up to which a particle may be of the second layer of a film */
#define OZ_SHIFT_ABOVE 1.8f
/* Densities in the second layer of a film of two layers, and of one and a half, of a simple lattice
 * whose layers stand d apart */
#define OZ_SHIFT_TWO 0.81f
#define OZ_SHIFT_HALF 0.60f

/* Yield stresses up to which a paste is not shifted, since it may rest, and how many more until it
 * is shifted as a flowing one */
#define OZ_SHIFT_YIELDS 1.75f
#define OZ_SHIFT_YIELDS_FLANK 0.25f

#define OZ_SHIFT_THIN 0.65f /* density below which a paste is not shifted */
#define OZ_SHIFT_THIN_FLANK 0.1f

/* 1 away from walls, 0 next to one, along which shifted particles would creep. */
OZ_FN oz_real oz_shift_clear(const oz_frame *f, uint32_t i, const oz_real wall[4]) {
  oz_real zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_real clear = oz_clamp(3.0f - wall[3] * (3.0f / OZ_SHIFT_WALL), zero, one);
  if (f->has_boundary && f->contact_of) {
    const float most = OZ_SHIFT_POINTS * OZ_FILM_FLAT * f->grad_norm * f->h2; /* below 0 */
    oz_v3 g;
    OZ_ROW_MEMBER(f, i, points_g[0], g.x);
    OZ_ROW_MEMBER(f, i, points_g[1], g.y);
    OZ_ROW_MEMBER(f, i, points_g[2], g.z);
    clear *= oz_clamp(one + oz_sqrt(oz_dot(g, g)) * (1.0f / most), zero, one);
  }
  return clear;
}

/* A film on a wall, as the particles of both of its layers see it. */
typedef struct oz_shift_film {
  oz_v3 n;       /* normal of the wall */
  oz_real first; /* 1 in the first layer of a film of one or two */
  oz_real above; /* 1 in the second layer, at the surface, where it is turned away from the wall */
} oz_shift_film;

/* normal: of the free surface, into the fluid; 0 elsewhere. */
OZ_FN oz_shift_film oz_shift_film_at(const oz_frame *f, uint32_t i, oz_v3 normal) {
  oz_real zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_shift_film film = {{zero, zero, zero}, zero, zero};
  float n[3][OZ_LANES], first[OZ_LANES], second[OZ_LANES], any = 0.0f;
  if (!f->contact_of) return film;
  for (uint32_t k = 0; k < OZ_LANES; k++) {
    const uint32_t slot = f->contact_of[i + k];
    const int on = slot && f->wall_planes[slot - 1] > 0;
    const oz_wall *w = f->wall + (on ? (size_t)(slot - 1) * f->contact_planes : 0);
    const float height = on ? (w->s + f->dt * oz_dot3f(w->n, w->u)) * f->inv_d : 0.0f;
    first[k] = on ? f->wall_row[slot - 1].film : 0.0f;
    second[k] = height > OZ_WALL_COAT && height < OZ_SHIFT_ABOVE ? 1.0f : 0.0f;
    any += first[k] + second[k];
    for (int c = 0; c < 3; c++) n[c][k] = on ? w->n[c] : 0.0f;
  }
  if (!(any > 0.0f)) return film;
  film.n.x = oz_ld(n[0], 0), film.n.y = oz_ld(n[1], 0), film.n.z = oz_ld(n[2], 0);
  oz_mask fluid = oz_relaxation_time(f, i) < oz_set(OZ_SOLID_TIME);
  film.first = oz_select(fluid, oz_ld(first, 0), zero);
  oz_real away = oz_clamp(-4.0f * oz_dot(normal, film.n) - 1.0f, zero, one);
  film.above = oz_select(fluid, away * oz_ld(second, 0), zero);
  return film;
}

/* Part of OZ_SHIFT_MOST by which the second layer of a film is levelled: 0 in two whole layers, 1
 * where a layer and a half or less is left. */
OZ_FN oz_real oz_shift_level(const oz_frame *f, uint32_t i, const oz_shift_film *film) {
  const float slope = 1.0f / (OZ_SHIFT_TWO - OZ_SHIFT_HALF);
  return film->above *
         oz_clamp(slope * (OZ_SHIFT_TWO - oz_ld(f->rho, i)), oz_set(0.0f), oz_set(1.0f));
}

/* Strain of the substep that does not come back: the dashpot's, dt |dev stress| / (2 viscosity);
 * the multiplier is the stress. film: the part of a film, which counts from its yield stress on.
 * flows: 0 of a paste that may rest, 1 of one that flows, and of all others. */
OZ_FN oz_real oz_flow_strain(const oz_frame *f, uint32_t i, oz_real a, oz_real film,
                             oz_real *flows) {
  oz_s3 lam = oz_lam_ld(f, i);
  oz_real mean = oz_s3_trace(&lam) * (1.0f / 3.0f);
  for (int c = 0; c < 3; c++) lam.s[c] -= mean;
  oz_real shear = oz_sqrt(0.5f * oz_s3_dot(&lam, &lam)), zero = oz_set(0.0f), one = oz_set(1.0f);
  *flows = one;
  if (f->has_yield) { /* matter beyond the yield stress flows */
    const float unit = f->V0 * f->dt * f->dt / (f->m_ref * f->d * f->d);
    oz_real yield = unit * oz_yield(f, i), yields = shear / oz_max(yield, oz_set(1e-20f));
    oz_real part = (yields - OZ_SHIFT_YIELDS) * (1.0f / OZ_SHIFT_YIELDS_FLANK);
    part = oz_max(oz_clamp(part, zero, one), film);
    *flows = oz_select(yield > zero, part, one);
    shear = *flows * oz_max(shear - yield, zero);
  }
  return 0.5f * a * shear * f->dt / (oz_relaxation_time(f, i) + f->dt);
}

/* 1 inside, 0 in streams and films of a few particles, which would swell. */
OZ_FN oz_real oz_shift_inside(const oz_frame *f, uint32_t i) {
  return oz_clamp((oz_ld(f->rho, i) - OZ_SHIFT_INSIDE) * (1.0f / OZ_SHIFT_INSIDE_FLANK),
                  oz_set(0.0f), oz_set(1.0f));
}

/* Part of a substep's strain in fluid that remembers its shape for less than a shot and has no
 * yield stress: pastes would be thinned out, solids keep their arrangement. Thin streams and films
 * are left alone, which would swell. */
OZ_FN oz_real oz_shift_elastic(const oz_frame *f, uint32_t i, oz_real inside) {
  oz_mask fluid = oz_relaxation_time(f, i) < oz_set(OZ_SOLID_TIME);
  if (f->has_yield) fluid &= oz_yield(f, i) <= oz_set(0.0f);
  return oz_select(fluid, OZ_SHIFT_ELASTIC * inside, oz_set(0.0f));
}

/* Sum of ghat, with the walls' side of the kernel filled: a wall is no free surface. */
OZ_FN oz_v3 oz_shift_gradient(const oz_frame *f, uint32_t i, const oz_real wall[4]) {
  const float k = 1.0f / f->dens_grad;
  oz_v3 g = oz_block3_ld(f->gradient_sum, f->stride, i);
  g.x += k * wall[0], g.y += k * wall[1], g.z += k * wall[2];
  return g;
}

/* -1/2 to 1/2, of each particle for good. */
OZ_FN oz_real oz_shift_uneven(const oz_frame *f, uint32_t i) {
  float part[OZ_LANES];
  for (uint32_t k = 0; k < OZ_LANES; k++) part[k] = oz_random(0, f->id[i + k], 0) - 0.5f;
  return oz_ld(part, 0);
}

/* ---- shift_strength: of each particle, 0 to 2, to the w of y2 (its unit normal, where it belongs
 * to a free surface, stands before it); omega to the w of p ---- */

OZ_FN void oz_shift_strength_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real zero = oz_set(0.0f), one = oz_set(1.0f), wall[4], a = oz_ld(f->a, i);
  oz_real om = oz_ld(f->omega, i), inside = oz_shift_inside(f, i);
  oz_v3 p = oz_vec_ld(f->p, i);
  oz_ld4(f->wall_term, i, 4, 0, wall);
  oz_v3 g = oz_shift_gradient(f, i, wall);
  oz_real surface = (OZ_SHIFT_SURFACE * f->grad_norm * f->h2) *
                    oz_min(oz_ld(f->rho, i) * (1.0f / OZ_SHIFT_SHEET), one);
  oz_real g2 = oz_dot(g, g), unit = oz_rsqrt(oz_max(g2, oz_set(1e-20f)));
  unit = oz_select(g2 > surface * surface, unit, zero);
  oz_v3 normal = {g.x * unit, g.y * unit, g.z * unit};
  oz_shift_film film = oz_shift_film_at(f, i, normal);
  oz_real flows, strain = oz_flow_strain(f, i, a, oz_max(film.first, film.above), &flows);

  if (f->has_relaxation_time) {
    const float *q = f->q;
    const size_t plane = f->stride;
    oz_real trace = oz_ld(q, i) + oz_ld(q + plane, i) + oz_ld(q + 2 * plane, i);
    oz_real stretched = oz_clamp(3.0f * (trace - 3.0f - OZ_STRETCH_FREE), zero, one);
    /* a solid's memory knows nothing of shifts, and a shifted solid swells */
    stretched = oz_select(oz_keeps_shape(f, i), zero, stretched);
    stretched = oz_max(stretched, oz_shift_elastic(f, i, inside));
    strain += OZ_SHIFT_STRETCHED * stretched * oz_ld(f->density_relaxation, i);
  }
  /* splashes are left alone: inertia keeps their particles apart */
  oz_real drawn = oz_clamp(OZ_SHIFT_DRAWN * (one - oz_ld(f->rho, i)), zero, one);
  oz_real fast = oz_clamp(f->shifting * OZ_SHIFT_STRAIN * strain - one, zero, one);
  oz_real most = one + (OZ_SHIFT_FASTEST - 1.0f) * inside * drawn;
  oz_real strength = oz_min(f->shifting * OZ_SHIFT_STRAIN * strain, most);
  strength *= oz_viscous_share(f, i, a);
  /* nothing pulls a paste together again: it is not thinned out, unless it flows */
  if (f->has_yield) {
    oz_real dense =
        oz_clamp((oz_ld(f->rho, i) - OZ_SHIFT_THIN) * (1.0f / OZ_SHIFT_THIN_FLANK), zero, one);
    dense = oz_max(oz_max(dense, flows), one - oz_yield_share(f, i));
    strength *= oz_select(oz_yield(f, i) > zero, dense, one);
  }
  oz_mask on = (om > zero) & oz_fluid(f, i) & oz_enough(f, i) & (strain < oz_set(1e6f));

  oz_vec_st(f->y2, i, normal, oz_select(on, strength, zero));
  oz_vec_st(f->p, i, p, om);
  oz_st(f->density_relaxation, i,
        oz_set(OZ_SHIFT_NEAR) +
            OZ_SHIFT_UNEVEN * inside * oz_max(drawn, fast) * oz_shift_uneven(f, i));
}

/* ---- shift: displacement, to dx, that finish adds to the position. Close pairs move apart, mass
 * by mass, and all drift down the gradient of the density of particles; not out of a free surface,
 * and not next to a wall, along which they would creep, but for the pairs of a film, whose second
 * layer is levelled into the first as it drains ---- */

typedef struct {
  oz_v3 p;
  oz_real strength, om, near;
} oz_shift_self;
OZ_FN void oz_shift_begin(const oz_frame *f, uint32_t i, oz_shift_self *s) {
  s->p = oz_vec_of(f->p, i);
  s->strength = oz_set(f->y2[4 * (size_t)i + 3]), s->om = oz_set(f->p[4 * (size_t)i + 3]);
  s->near = oz_set(f->density_relaxation[i]);
}
OZ_FN void oz_shift_pair(const oz_frame *f, const oz_shift_self *s, const oz_group *n,
                         oz_real *acc) {
  oz_real v[4], m[4], zero = oz_set(0.0f), tiny = oz_set(1e-6f * f->d * f->d);
  oz_near4(f->p, n, v);
  oz_near4(f->y2, n, m);
  oz_v3 r = {s->p.x - v[0], s->p.y - v[1], s->p.z - v[2]};
  oz_real r2 = oz_dot(r, r), inv = oz_rsqrt(oz_max(r2, tiny));
  oz_real near = s->near + oz_gather1(f->density_relaxation, n->j, 1);
  oz_real overlap = oz_max(0.5f * f->d * near - r2 * inv, zero);
  overlap = oz_min(overlap, oz_set(OZ_SHIFT_CLOSEST * f->d));
  oz_real share = s->om / oz_max(s->om + v[3], oz_set(1e-6f));
  oz_real k = oz_min(s->strength, m[3]) * share * overlap * inv;
  acc[0] += k * r.x, acc[1] += k * r.y, acc[2] += k * r.z;
}
OZ_FN void oz_shift_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real own[4], wall[4], zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_ld4(f->y2, i, 4, 0, own);
  oz_ld4(f->wall_term, i, 4, 0, wall);
  oz_v3 g = oz_shift_gradient(f, i, wall), normal = {own[0], own[1], own[2]};
  oz_shift_film film = oz_shift_film_at(f, i, normal);
  oz_real clear = oz_shift_clear(f, i, wall), k = oz_max(clear, film.first);
  oz_real drift = -(OZ_SHIFT_DRIFT * f->d) * own[3];
  drift *= oz_select(k > clear, clear / oz_max(k, oz_set(1e-6f)), one);
  oz_v3 s = {OZ_SHIFT_PART * acc[0] + drift * g.x, OZ_SHIFT_PART * acc[1] + drift * g.y,
             OZ_SHIFT_PART * acc[2] + drift * g.z};
  oz_real out = oz_dot(normal, s);
  s.x -= out * normal.x, s.y -= out * normal.y, s.z -= out * normal.z;
  out = film.first * oz_dot(film.n, s) +
        (OZ_SHIFT_MOST * f->d) * oz_min(own[3], one) * oz_shift_level(f, i, &film);
  s.x -= out * film.n.x, s.y -= out * film.n.y, s.z -= out * film.n.z;

  oz_real most = (OZ_SHIFT_MOST * f->d) * oz_max(own[3], one), l2 = oz_dot(s, s);
  k *= oz_select(l2 > most * most, most * oz_rsqrt(oz_max(l2, most * most)), one);
  oz_mask on = (own[3] > zero) & (l2 < oz_set(1e20f));
  s.x = oz_select(on, k * s.x, zero);
  s.y = oz_select(on, k * s.y, zero);
  s.z = oz_select(on, k * s.z, zero);
  oz_vec_st(f->dx, i, s, zero);
}
#endif
