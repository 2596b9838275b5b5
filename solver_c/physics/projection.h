/* The velocity projection (docs/theory/velocity_projection.md): first multiplier, residual,
 * conjugate gradients. Its constraint, bounds and forces are in conformation.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_PROJECTION_H
#define OZ_PHYSICS_PROJECTION_H

#include "physics/conformation.h"

/* ---- viscosity that tension adds: of sheets by velocity_start, of threads by resist ---- */

#define OZ_DRAWN_THREAD 20.0f
#define OZ_DRAWN_TIME 0.25f /* s of tension, at most: soft threads fall nearly freely */
#define OZ_DRAWN_SHEET 3.0f
#define OZ_DRAWN_KEPT 0.5f  /* of the modulus, at least */
#define OZ_DRAWN_FROM 0.05f /* strain: less has no tension to speak of */

/* Tension of relaxing fluid over its modulus, and the share of a thread in it. */
typedef struct {
  oz_real pull;   /* 0 without tension or memory, and of pastes */
  oz_real thread; /* 1 where two directions are drawn in alike, 0 in shear, in sheets and at rest */
} oz_tensile;

/* s: viscosity over modulus, with all laws of flow. */
OZ_FN oz_real oz_drawn_time(const oz_frame *f, uint32_t i, oz_real a) {
  oz_real tau = oz_law_time(f, i, a, oz_set(1.0f));
  if (f->laws & OZ_LAW_SECOND)
    tau += oz_second_share(f, i, a) * oz_of_matter(f, i, &f->matter->second_relaxation_time);
  return tau;
}

/* w: eigenvalues of the tensor that makes the stress, Q where no law of flow makes another; a:
 * compliance without q; tau: viscosity over modulus. Pastes and thick fluid of brief memory hold
 * together without. */
OZ_FN oz_tensile oz_tensile_of(const oz_frame *f, uint32_t i, const oz_real w[3], oz_real a,
                               oz_real tau) {
  oz_real zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_real most = oz_max(w[0], oz_max(w[1], w[2])), least = oz_min(w[0], oz_min(w[1], w[2]));
  oz_real middle = oz_max(oz_min(w[0], w[1]), oz_min(oz_max(w[0], w[1]), w[2]));
  oz_real trace = w[0] + w[1] + w[2];
  /* a free thread has no stress across it, so that its tension is the difference */
  oz_real pull =
      oz_min(most - trace * (1.0f / 3.0f) - a * oz_start_pressure(f, i, one), most - least);
  oz_mask on = (tau > oz_set(OZ_BRIEF_TIME)) & oz_not(oz_yield(f, i) > zero) & (pull > zero);
  oz_tensile t;
  t.thread = oz_clamp(2.0f * (1.0f - middle) / oz_max(1.0f - least, oz_set(0.02f)), zero, one);
  t.pull = oz_select(on, pull, zero);
  return t;
}

typedef struct {
  oz_real thread, sheet; /* added to q: of a thread that is being drawn, and always */
  oz_real kept;          /* of the modulus: steady shear then has the viscosity that it had */
} oz_drawn;

OZ_FN oz_drawn oz_drawn_of(const oz_frame *f, uint32_t i, const oz_real w[3], oz_real a,
                           oz_real tau) {
  oz_real zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_tensile pulled = oz_tensile_of(f, i, w, a, tau);
  oz_real pull = pulled.pull, thread = pulled.thread;
  oz_real thick = oz_min(2.0f * oz_viscous_share(f, i, a), one);
  oz_mask solid = tau > oz_set(OZ_SOLID_TIME); /* and soft: its waves take many substeps */
  thick = oz_select(solid, one / (one + a), thick);
  oz_real om = oz_max(oz_ld(f->omega, i), oz_set(1e-3f));
  thick = oz_select(pull > zero, thick, zero); /* splashes are left alone */
  oz_drawn t;
  t.thread = thick * thread *
             oz_min(OZ_DRAWN_THREAD * oz_sqrt(pull * a / om), OZ_DRAWN_TIME * f->inv_dt * pull);
  t.sheet = OZ_DRAWN_SHEET * thick * (one - thread) * pull;
  t.kept =
      oz_max(one - t.sheet * f->dt / oz_max(tau, oz_set(OZ_BRIEF_TIME)), oz_set(OZ_DRAWN_KEPT));
  return t;
}

/* ---- velocity_start: compliance over q, first multiplier ---- */

OZ_FN void oz_velocity_start_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_s3 Q = oz_planes6_ld(f->q, f->stride, i), B = oz_six_ld(f->B, f->stride, i), lam,
        one = oz_s3_identity();
  oz_real a = oz_ld(f->a, i), q = oz_set(1.0f), far = oz_set(0.0f);
  oz_mask elastic = oz_solid(f, i);
  for (int c = 0; c < 6; c++) far = oz_max(far, oz_abs(Q.s[c] - one.s[c]));
  oz_mask stretched = elastic & (far > oz_set(0.05f));
  oz_real w[3] = {oz_set(1.0f), oz_set(1.0f), oz_set(1.0f)}, weight = oz_set(1.0f);
  if (f->volume_split && f->has_relaxation_time && !f->laws) { /* law_start has its own */
    weight = oz_end_weight(f, i, a);
    a *= oz_end_time(f, i, weight);
  }
  if (f->volume_split && oz_any(stretched)) {
    oz_m3 U;
    oz_s3_eigen(&Q, 4, w, &U);
    q = oz_select(stretched, oz_max(oz_max(q, w[0]), oz_max(w[1], w[2])), q);
  }
  q *= weight;
  /* The stress that particles already carry. Stiff particles start from the part min(1, 10 a) of
   * it, which keeps them stable. A yield stress limits it as well: particles that can yield start
   * from all of it, up to the yield stress. */
  oz_real yield = oz_yield(f, i), part = oz_min(oz_set(1.0f), 10.0f * a),
          unit = oz_set(1.0f / oz_pressure_unit(f));
  oz_s3 dev = oz_stretch(f, &Q, 1.0f / a);
  if (f->has_yield) {
    oz_real size = oz_sqrt(0.5f * oz_s3_dot(&dev, &dev)), most = yield * unit;
    oz_real held = oz_select(size > most, most / oz_max(size, oz_set(1e-20f)), oz_set(1.0f));
    oz_mask yields = yield > oz_set(0.0f);
    for (int c = 0; c < 6; c++) dev.s[c] *= oz_select(yields, held, part);
    part = oz_select(yields, oz_set(1.0f), part);
  } else
    for (int c = 0; c < 6; c++) dev.s[c] *= part;
  oz_real pressure = oz_start_pressure(f, i, part);
  oz_mask start =
      f->scheme == 3 ? oz_enough(f, i) : elastic & (oz_set((float)f->volume_split) > oz_set(0.5f));
  if (f->scheme == 3) /* explicit stress (the paper's section 3.1): all of (Q - I) / a at once */
    for (int c = 0; c < 6; c++) dev.s[c] = (Q.s[c] - one.s[c]) / a;
  for (int c = 0; c < 6; c++)
    lam.s[c] = oz_select(start, (c < 3 ? pressure : oz_set(0.0f)) - dev.s[c], oz_set(0.0f));
  oz_start_from_kept(f, i, &Q, a, &lam);
  oz_lam_st(f, i, &lam);
  oz_send(f, i, &lam, &B);
  if (f->volume_split && !f->laws && oz_any(stretched)) {
    oz_drawn t = oz_drawn_of(f, i, w, a, oz_relaxation_time(f, i));
    q = oz_select(stretched, (q + t.sheet) / t.kept, q);
    a = oz_select(stretched, a / t.kept, a);
  }
  oz_st(f->a, i, a / q);
  oz_st(oz_inv_q(f, i), 0, 1.0f / q);
}

/* ---- kick: velocities by the forces of the stress that particles carry ---- */

OZ_FN void oz_kick_by(const oz_frame *f, uint32_t i, oz_v3 dx) { /* u += dx / dt */
  oz_real u[4];
  oz_ld4(f->u, i, 4, 0, u);
  oz_v3 du = {f->inv_dt * dx.x, f->inv_dt * dx.y, f->inv_dt * dx.z};
  oz_add_sane(u, du, OZ_SANE_SPEED);
  oz_st4(f->u, i, 4, 0, u);
}

OZ_FN void oz_kick_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_kick_by(f, i, oz_vec_ld(f->dx, i));
}

/* ---- resist: viscosity that tension adds to relaxing fluid and to solids ----
 *
 * A thread resists a neck by twice its stress, as far as the gradient sees it, and loses its stress
 * once by growing thinner. Of a neck of three or four separations the gradient sees less than half:
 * it grew in a few substeps, and threads tore where they were four separations thick. With
 * OZ_DRAWN_THREAD d sqrt(density tension) such necks grow more slowly than the thread is drawn; it
 * vanishes with the separation. Only what is being drawn resists: a cut thread has to snap back.
 * Where one direction is drawn in, as in shear and in sheets on walls, or none, OZ_DRAWN_SHEET
 * times tension and substep is enough (docs/theory/velocity_projection.md, tension). */

OZ_SUM_OUTER(resist, u)

/* Cosine between the stretch and the strain that the velocities are about to make, both without
 * their means: 1 where the material is drawn as it is stretched, -1 where it recoils. */
OZ_FN oz_real oz_draws(const oz_frame *f, uint32_t i, const oz_real *acc, oz_s3 stretch) {
  oz_v3 u = oz_vec_ld(f->u, i);
  oz_s3 B = oz_six_ld(f->B, f->stride, i);
  oz_m3 M = oz_difference(acc, u, oz_block3_ld(f->gradient_sum, f->stride, i));
  oz_s3 e = oz_strain_of(f, i, &M, &B, u, 1.0f, 2.0f * f->dt);
  (void)oz_s3_take_mean(&e);
  oz_real size = oz_sqrt(oz_s3_dot(&e, &e) * oz_s3_dot(&stretch, &stretch));
  return oz_s3_dot(&e, &stretch) / oz_max(size, oz_set(1e-20f));
}

OZ_FN void oz_resist_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_s3 T = oz_planes6_ld(f->q, f->stride, i), dev = T;
  oz_real far = oz_set(0.0f), one = oz_set(1.0f);
  (void)oz_s3_take_mean(&dev);
  for (int c = 0; c < 6; c++) far = oz_max(far, oz_abs(dev.s[c]));
  oz_mask stretched = oz_solid(f, i) & (far > oz_set(OZ_DRAWN_FROM));
  if (!oz_any(stretched)) return;
  oz_real inv_q = oz_inv_q_ld(f, i), compliance = oz_ld(f->a, i), a = compliance / inv_q, w[3];
  oz_m3 U;
  oz_s3_eigen(&T, 4, w, &U);
  oz_drawn t = oz_drawn_of(f, i, w, a, oz_drawn_time(f, i, a));
  oz_real recoils = oz_clamp(-oz_draws(f, i, acc, dev), oz_set(0.0f), one);
  oz_real drawn = one - recoils * a / (one + a);
  oz_real q = one / inv_q + drawn * t.thread;
  stretched &= q < oz_set(1e20f); /* and no NaN */
  oz_st(f->a, i, oz_select(stretched, a / q, compliance));
  oz_st(oz_inv_q(f, i), 0, oz_select(stretched, one / q, inv_q));
}

/* ---- residual: r = -(C(u) + a Lam), and the first direction (7, 10, 11) ---- */

OZ_SUM_OUTER(residual, u)

/* Values of the particle itself that its residual needs: stretch, multiplier, compliance over q and
 * 1 / q (velocity_start), and the preconditioner. */
typedef struct {
  oz_s3 Q, lam;
  oz_real a, inv_q, p[3];
  oz_q4 turn;
  oz_mask on;
} oz_residual_own;

/* The volume that this substep takes back of a solid, which knows how much it has gained: Q is F
 * F^T since the material was made, so that its determinant is the square of the volume's ratio. The
 * density's pushes and unconverged iterations open it, and density, which is one-sided, does not
 * close it. A fifth and more was never gained but given with Q, or before the material set: density
 * would push against it for ever. A law of flow keeps Q in `carried` meanwhile. */
#define OZ_DILATION_GAINED 10.0f /* 1 over the gain up to which all of it is taken back */
OZ_FN oz_real oz_dilation_solid(const oz_frame *f, uint32_t i, const oz_s3 *Q) {
  oz_s3 stretch = f->laws ? oz_planes6_ld(f->carried, f->stride, i) : *Q;
  oz_m3 full = oz_s3_full(&stretch);
  oz_real gain = 0.5f * (oz_det(&full) - 1.0f), zero = oz_set(0.0f), one = oz_set(1.0f);
  gain *= oz_clamp(2.0f - OZ_DILATION_GAINED * gain, zero, one);
  return oz_clamp(OZ_DILATION_RATE * gain, zero, oz_set(OZ_DILATION_MOST));
}

/* The volume that this substep takes back: where viscosity rules at the scale of particles, which
 * splashes lack, and no faster than the material is strained, so that nothing moves at rest. A
 * paste at rest keeps voids as it keeps its shape. Thick fluid of brief memory that the last
 * substep left under pressure was not opened by tension: K tells order as well as volume (a
 * body-centred lattice of the same density has 0.962 of its trace), so that what flows under its
 * own weight would be pressed together, and sank half as fast again. strain: 2 dt sym L of the
 * velocities to be projected. The value stays for the position phase. */
#define OZ_DILATION_YIELDS 10.0f /* yield stresses up to which a paste is left alone */
#define OZ_DILATION_BORE 1.5f    /* the same of the stress in Q, where there is a memory */
#define OZ_DILATION_STRAIN 1.0f  /* of the strain, taken back in a substep at most */
/* The same of fluid of brief memory next to a wall: shear opens nothing, and films lack much. */
#define OZ_DILATION_FORGETS 0.3f
/* 1 over the pressure, in terms of the shear stress, from which K's lack may be order: a column
 * under its own weight has 0.58, one that is drawn -0.58 */
#define OZ_DILATION_PRESSED 4.0f
OZ_FN oz_real oz_dilation_bound(const oz_frame *f, uint32_t i) {
  float bound[OZ_LANES];
  for (uint32_t k = 0; k < OZ_LANES; k++)
    bound[k] = f->contact_of && f->contact_of[i + k] ? OZ_DILATION_FORGETS : OZ_DILATION_STRAIN;
  return oz_ld(bound, 0);
}

/* The part of a strain by which a paste flows well beyond its yield stress: one at rest keeps its
 * shape. Before the solve gravity alone strains the layer next to a wall, the more the finer the
 * particles are; a paste with a memory knows its stress at the end of the last substep. */
OZ_FN oz_real oz_dilation_paste(const oz_frame *f, uint32_t i, const oz_residual_own *own,
                                oz_real whole) {
  oz_real yield = (1.0f / oz_pressure_unit(f)) * oz_yield(f, i) * own->a, zero = oz_set(0.0f);
  oz_real rate = oz_max(whole - OZ_DILATION_YIELDS * yield, zero);
  if (f->has_relaxation_time) {
    oz_s3 bore = own->Q;
    (void)oz_s3_take_mean(&bore);
    oz_real flows = oz_sqrt(0.5f * oz_s3_dot(&bore, &bore)) - OZ_DILATION_BORE * yield;
    flows = oz_max(oz_min(whole, flows), zero);
    oz_mask knows = oz_not(oz_relaxation_time(f, i) < oz_set(OZ_LEAST_MEMORY)) & (yield > zero);
    rate += oz_select(knows, oz_yield_share(f, i) * (flows - rate), zero);
  }
  return rate;
}

OZ_FN oz_real oz_dilation_now(const oz_frame *f, uint32_t i, const oz_s3 *strain,
                              const oz_residual_own *own) {
  oz_s3 e = *strain;
  oz_real mean = oz_s3_trace(&e) * (1.0f / 3.0f), share = oz_viscous_share(f, i, own->a);
  if (f->has_relaxation_time) share *= oz_flow_share(f, i, oz_s3_trace(&own->Q));
  for (int c = 0; c < 3; c++) e.s[c] -= mean;
  oz_real rate = 0.5f * oz_sqrt(0.5f * oz_s3_dot(&e, &e));
  if (f->has_yield) rate = oz_dilation_paste(f, i, own, rate);
  oz_s3 carried = own->lam;
  oz_real pressure = oz_s3_take_mean(&carried), zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_mask forgets = oz_forgets(f, i);
  oz_real shear = oz_sqrt(0.5f * oz_s3_dot(&carried, &carried));
  oz_real opened =
      oz_clamp(1.0f - OZ_DILATION_PRESSED * pressure / oz_max(shear, oz_set(1e-20f)), zero, one);
  oz_mask brief = oz_relaxation_time(f, i) < oz_set(OZ_BRIEF_TIME);
  /* Bound for thick fluid of the least memory: the strain by the stress that it starts from. */
  if (f->has_memory & OZ_MEMORY_STRESS) {
    oz_real was = (0.5f * f->dt) * own->a * shear / (oz_relaxation_time(f, i) + f->dt);
    oz_mask knows = oz_keeps_stress(f, i) & oz_enough(f, i) & forgets;
    rate = oz_select(knows, oz_min(rate, was), rate);
  }
  /* The strain before the solve is also that of a fluid's own contraction: what thins remembers how
   * fast it flows. */
  if (f->laws & OZ_LAW_RATE) {
    oz_real was = (0.5f * f->dt) * oz_ld_or_none(f->shear_rate, i);
    rate = oz_select(brief & oz_thins(f, i), oz_min(rate, was), rate);
  }
  oz_real order = oz_select(brief, OZ_DILATION_ORDER * (one - opened), zero);
  oz_real excess = oz_clamp(oz_ld(f->dilation, i) - order, zero, oz_set(OZ_DILATION_MOST));
  oz_real bound = oz_select(forgets, oz_dilation_bound(f, i), oz_set(OZ_DILATION_STRAIN));
  oz_real now = oz_min(f->dilation_pace * excess * share, rate * bound);
  if (f->has_relaxation_time)
    now = oz_select(oz_keeps_shape(f, i), f->dilation_pace * oz_dilation_solid(f, i, &own->Q), now);
  oz_st(f->dilation, i, now);
  return now;
}

OZ_FN void oz_residual_of(const oz_frame *f, uint32_t i, const oz_real *acc, oz_v3 u,
                          const oz_s3 *B, const oz_residual_own *own, oz_real *red) {
  oz_m3 M = oz_difference(acc, u, oz_block3_ld(f->gradient_sum, f->stride, i)),
        U = oz_q4_matrix(own->turn);
  oz_s3 r = oz_strain_of(f, i, &M, B, u, 1.0f, 2.0f * f->dt),
        stretch = oz_stretch(f, &own->Q, own->inv_q);
  if (f->dilates) {
    oz_real source = (2.0f / 3.0f) * oz_dilation_now(f, i, &r, own);
    for (int c = 0; c < 3; c++) r.s[c] += source;
  }
  for (int c = 0; c < 6; c++) r.s[c] = -(r.s[c] + stretch.s[c]);
  oz_comply(f, own->a, &own->lam, oz_set(-1.0f), &r);
  /* A held particle among held ones, as in a nozzle beside a moving wall, has a strain that no
   * multiplier can change. */
  oz_mask on = own->on & (own->p[0] + own->p[1] + own->p[2] > oz_set(1e-3f * f->t_ref));
  for (int c = 0; c < 6; c++) r.s[c] = oz_select(on, r.s[c], oz_set(0.0f));
  oz_metric m = oz_metric_of(f, own->p, own->a);
  oz_s3 e = oz_to_frame(r, &U), z = oz_metric_solve(f, &m, e);
  for (int c = 0; c < 6; c++) z.s[c] = oz_select(on, z.s[c], oz_set(0.0f));
  oz_six_st(f->cg_residual, f->stride, i, &z);
  red[0] = oz_s3_dot(&e, &z);
  z = oz_from_frame(z, &U);
  oz_six_st(f->cg_direction, f->stride, i, &z);
  oz_send(f, i, &z, B);
}

OZ_FN void oz_residual_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  oz_residual_own own;
  oz_v3 u = oz_vec_ld(f->u, i);
  oz_s3 B = oz_six_ld(f->B, f->stride, i);
  own.Q = oz_planes6_ld(f->q, f->stride, i), own.lam = oz_lam_ld(f, i);
  own.a = oz_ld(f->a, i), own.inv_q = oz_inv_q_ld(f, i);
  own.on = oz_preconditioner_eigenvalues(f, i, own.p);
  own.turn = oz_turn_ld(f->precond_rotation, f->stride, i);
  oz_residual_of(f, i, acc, u, &B, &own, red);
}

/* bound and residual of a particle fused; where no particle carries stress, velocity_start with
 * them, which is an identity then. Values that are stored rounded are read back rounded. */
OZ_FN void oz_prepare_end(const oz_frame *f, uint32_t i, const oz_real *acc_bound,
                          const oz_real *acc, oz_real *red) {
  oz_residual_own own;
  oz_v3 u = oz_vec_ld(f->u, i); /* all loads come before the first store: a GPU waits for memory
                                 * once */
  oz_s3 B = oz_six_ld(f->B, f->stride, i);
  own.Q = oz_planes6_ld(f->q, f->stride, i);
  own.a = oz_ld(f->a, i), own.inv_q = oz_set(1.0f);
  for (int c = 0; c < 6; c++) own.lam.s[c] = oz_set(0.0f);
  const int carries = f->has_relaxation_time != 0;
  if (carries) own.lam = oz_lam_ld(f, i), own.inv_q = oz_inv_q_ld(f, i);
  oz_q4 turn = oz_bound_eigen(f, i, acc_bound, &B, own.p);
  oz_preconditioner_st(f, i, own.p, turn);
  own.on = oz_preconditioner_eigenvalues(f, i, own.p);
  own.turn = oz_turn_ld(f->precond_rotation, f->stride, i);
  if (!carries) {
    oz_lam_st(f, i, &own.lam);
    oz_st(oz_inv_q(f, i), 0, own.inv_q);
  }
  oz_residual_of(f, i, acc, u, &B, &own, red);
}

/* ---- conjugate gradients: one application of A, and the vector updates. The scalars stay with the
 * backend. The stored vectors are z = M^-1 r and w = M^-1 A p, both in the preconditioner's frame,
 * and the direction p. So M^-1 is applied once an iteration, beside A p, and the sums for alpha and
 * beta are made there: for z' = z - alpha w, r'.z' = r.z - 2 alpha z.Ap + alpha^2 w.Ap. ---- */

OZ_FN void oz_cg_start_item(const oz_frame *f) {
  f->scalar[OZ_SCALAR_RZ] = f->scalar[OZ_SCALAR_RZ0] = f->scalar[OZ_SCALAR_SUM];
}

OZ_SUM_OUTER(cg_apply, dx)

OZ_FN void oz_cg_apply_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  oz_v3 dx = oz_vec_ld(f->dx, i);
  oz_m3 M = oz_difference(acc, dx, oz_block3_ld(f->gradient_sum, f->stride, i));
  oz_s3 B = oz_six_ld(f->B, f->stride, i), p = oz_six_ld(f->cg_direction, f->stride, i),
        z = oz_six_ld(f->cg_residual, f->stride, i);
  oz_real e[3], a = oz_ld(f->a, i), zero = oz_set(0.0f);
  oz_mask on = oz_preconditioner_eigenvalues(f, i, e);
  oz_m3 U = oz_q4_matrix(oz_turn_ld(f->precond_rotation, f->stride, i));
  oz_metric m = oz_metric_of(f, e, a);
  oz_s3 q = oz_strain_of(f, i, &M, &B, dx, 0.0f, 2.0f), w;
  oz_comply(f, a, &p, oz_set(1.0f), &q);
  for (int c = 0; c < 6; c++) q.s[c] = oz_select(on, q.s[c], zero);
  red[0] = oz_s3_dot(&p, &q);
  red[1] =
      oz_metric_square(&m, &z); /* z and q are 0 where there is no constraint, and w with them */
  q = oz_to_frame(q, &U);
  w = oz_metric_solve(f, &m, q);
  oz_six_st(f->cg_applied, f->stride, i, &w);
  red[2] = oz_s3_dot(&z, &q);
  red[3] = oz_s3_dot(&w, &q);
}

/* The last iteration needs the length of its step but no further direction, so A p is not needed: p
 * . A p = p . C(dx) + p . (a p), and since C is the transpose of the operator that made dx, the
 * first term is the work of dx on its own forces, without a gather. */
typedef struct {
  oz_s3 p, z;
  oz_real e[3], a;
} oz_cg_last_own;

OZ_FN void oz_cg_last_take(const oz_frame *f, uint32_t i, oz_cg_last_own *o) {
  o->p = oz_six_ld(f->cg_direction, f->stride, i), o->z = oz_six_ld(f->cg_residual, f->stride, i);
  o->a = oz_ld(f->a, i);
  (void)oz_preconditioner_eigenvalues(f, i, o->e); /* p and z are 0 where there is no constraint */
}

OZ_FN void oz_cg_last_of(const oz_frame *f, const oz_cg_last_own *o, oz_real work, oz_real *red) {
  oz_metric m = oz_metric_of(f, o->e, o->a);
  oz_s3 q = {{oz_set(0.0f), oz_set(0.0f), oz_set(0.0f), oz_set(0.0f), oz_set(0.0f), oz_set(0.0f)}};
  oz_comply(f, o->a, &o->p, oz_set(1.0f), &q);
  red[0] = (2.0f * f->inv_d * f->inv_d) * work + oz_s3_dot(&o->p, &q);
  red[1] = oz_metric_square(&m, &o->z);
  red[2] = red[3] = oz_set(0.0f); /* sums of cg_apply for a next direction */
}

OZ_FN void oz_cg_last_item(const oz_frame *f, uint32_t i, oz_real *red) {
  oz_cg_last_own own;
  oz_real dx[4];
  oz_ld4(f->dx, i, 4, 0, dx);
  oz_cg_last_take(f, i, &own);
  oz_cg_last_of(f, &own, dx[3], red);
}

OZ_FN void oz_cg_steps_item(const oz_frame *f) { /* a converged or broken-down iteration does
                                                  * nothing */
  const double *sum = f->scalar + OZ_SCALAR_SUM;
  double pq = sum[0], rz = sum[1];
  int go = rz > 1e-12 * f->scalar[OZ_SCALAR_RZ0] && rz > 1e-300 && pq > 0.0;
  double alpha = go ? rz / pq : 0.0, next = OZ_CG_NEXT(sum, alpha);
  f->scalar[OZ_SCALAR_ALPHA] = alpha;
  f->scalar[OZ_SCALAR_BETA] = go && next > 0.0 ? next / rz : 0.0;
}

/* Step along p for u and the multiplier and, except in the last iteration, the next direction. The
 * loads are separate functions, because they depend neither on cg_apply nor on the step length. */
typedef struct {
  oz_real u[4];
  oz_v3 dx;
  oz_s3 lam, p, z, w, B;
  oz_q4 turn;
} oz_cg_own;

/* loads all but the result of the previous stage: that of cg_apply, or of force in the last step */
OZ_FN void oz_cg_take(const oz_frame *f, uint32_t i, oz_cg_own *o) {
  oz_ld4(f->u, i, 4, 0, o->u);
  o->lam = oz_lam_ld(f, i), o->p = oz_six_ld(f->cg_direction, f->stride, i);
  if (f->last_iteration) { /* the last step needs no more */
    const oz_q4 none = {oz_set(0.0f), oz_set(0.0f), oz_set(0.0f), oz_set(1.0f)};
    o->z = o->w = o->B = o->p, o->turn = none;
    return;
  }
  o->dx = oz_vec_ld(f->dx, i);
  o->z = oz_six_ld(f->cg_residual, f->stride, i), o->B = oz_six_ld(f->B, f->stride, i);
  o->turn = oz_turn_ld(f->precond_rotation, f->stride, i);
}

OZ_FN void oz_cg_answer(const oz_frame *f, uint32_t i, oz_cg_own *o) {
  if (f->last_iteration)
    o->dx = oz_vec_ld(f->dx, i);
  else
    o->w = oz_six_ld(f->cg_applied, f->stride, i);
}

OZ_FN void oz_cg_step(const oz_frame *f, uint32_t i, oz_cg_own *o) {
  float al = (float)f->scalar[OZ_SCALAR_ALPHA], be = (float)f->scalar[OZ_SCALAR_BETA],
        ku = al * f->inv_dt;
  if (al == 0.0f) return; /* converged or broken down: 0 times a non-finite value would be NaN */
  o->u[0] += ku * o->dx.x;
  o->u[1] += ku * o->dx.y;
  o->u[2] += ku * o->dx.z;
  for (int c = 0; c < 6; c++) o->lam.s[c] += al * o->p.s[c];
  oz_st4(f->u, i, 4, 0, o->u);
  oz_lam_st(f, i, &o->lam);
  if (f->last_iteration) return;
  oz_m3 U = oz_q4_matrix(o->turn);
  oz_s3 z = o->z, p;
  for (int c = 0; c < 6; c++) z.s[c] -= al * o->w.s[c];
  oz_six_st(f->cg_residual, f->stride, i, &z);
  z = oz_from_frame(z, &U);
  for (int c = 0; c < 6; c++) p.s[c] = z.s[c] + be * o->p.s[c];
  oz_six_st(f->cg_direction, f->stride, i, &p);
  oz_send(f, i, &p, &o->B);
}

OZ_FN void oz_cg_update_item(const oz_frame *f, uint32_t i, oz_real *red) {
  oz_cg_own own;
  (void)red;
  if ((float)f->scalar[OZ_SCALAR_ALPHA] == 0.0f) return;
  oz_cg_take(f, i, &own);
  oz_cg_answer(f, i, &own);
  oz_cg_step(f, i, &own);
}

/* The same scalars for a solver that sums r.z by itself, after the step: the pressure solve of
 * mps.h. */
OZ_FN void oz_cg_alpha_item(const oz_frame *f) {
  double rz = f->scalar[OZ_SCALAR_RZ], pq = f->scalar[OZ_SCALAR_SUM];
  int go = rz > 1e-12 * f->scalar[OZ_SCALAR_RZ0] && rz > 1e-300 && pq > 0.0;
  f->scalar[OZ_SCALAR_ALPHA] = go ? rz / pq : 0.0;
}

OZ_FN void oz_cg_beta_item(const oz_frame *f) {
  double old = f->scalar[OZ_SCALAR_RZ], now = f->scalar[OZ_SCALAR_SUM];
  f->scalar[OZ_SCALAR_BETA] = old > 0.0 && f->scalar[OZ_SCALAR_ALPHA] != 0.0 ? now / old : 0.0;
  f->scalar[OZ_SCALAR_RZ] = now;
}

#endif
