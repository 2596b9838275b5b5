/* The conformation model: Algorithm 2 of Barreiro et al. 2017 (DC-PBD) with the scheme of
 * docs/theory/substep.md. It reads like the algorithm box: constraint-free state, project
 * velocities, project positions, velocity from positions, conformation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "models/common.h"

#include <math.h>

static void swap(float **a, float **b) {
  float *t = *a;
  *a = *b;
  *b = t;
}

/* One sweep of the filter on non-affine velocity, from p to u2. */
static ooze_result slip(oz_backend *b, oz_frame *f, ooze_message *why) {
  swap(&f->u, &f->p);
  RUN(filter_gradient);
  RUN(filter_move);
  swap(&f->u, &f->p);
  return OOZE_OK;
}

/* Velocity projection by preconditioned conjugate gradients. The multipliers are kept for the
 * position phase. */
static ooze_result project_velocities(oz_step *s, oz_backend *b, oz_frame *f, ooze_message *why) {
  const uint32_t iterations = s->velocity_iterations;
  const int carries = s->has_relaxation_time;
  if (carries) { /* start from the elastic stress that the particles carry */
    RUN(force);
    OZ_TRY(oz_bodies_filter(b, f, why));
    RUN(kick);
    if (s->has_yield) {
      RUN(slip_hold);
      f->filters_velocity = 0;
      OZ_TRY(slip(b, f, why));
      f->filters_velocity = 1;
      RUN(slip_push);
    }
  }
  WALLS(wall_hold);
  if (!carries) WALLS(wall_rows);
  if (s->draws && f->volume_split) RUN(resist);
  /* the host reads sums back only where it may stop early */
  const int looks = s->params->velocity_tolerance > 0.0f;
  double first = 0.0, sum[4] = {0.0};
  OZ_TRY(b->table->run(b, f, OZ_STAGE_residual, looks ? &first : NULL, why));
  RUN(cg_start);
  for (uint32_t k = 0; k < iterations && !f->last_iteration; k++) {
    RUN(force);
    WALLS(wall_filter);
    OZ_TRY(oz_bodies_filter(b, f, why));
    /* body filters do not report the work they remove, so cg_last cannot be used with bodies */
    if (k + 1 == iterations && !looks && !f->body_count)
      RUN(cg_last);
    else
      OZ_TRY(b->table->run(b, f, OZ_STAGE_cg_apply, looks ? sum : NULL, why));
    RUN(cg_steps);
    f->last_iteration = k + 1 == iterations;
    if (looks) { /* the residual after this step is known before the step is made */
      const double rz = sum[0] > 0.0 ? OZ_CG_NEXT(sum, sum[1] / sum[0]) : 0.0;
      s->residual = first > 0.0 ? sqrt(fmax(rz, 0.0) / first) : 0.0;
      if (s->residual <= s->params->velocity_tolerance) f->last_iteration = 1;
    }
    WALLS(wall_load);
    RUN(cg_update);
  }
  f->last_iteration = 0;
  WALLS(wall_clamp);
  return OOZE_OK;
}

/* Stores the part of the projected velocity, still in u, that the filter would remove (filter.h).
 * It runs at the end of the substep because it changes state, and a failed substep must leave none;
 * y2 is free by then, p is not. */
static ooze_result remember_slip(oz_backend *b, oz_frame *f, ooze_message *why) {
  swap(&f->p, &f->y2);
  RUN(slip_look);
  OZ_TRY(slip(b, f, why));
  RUN(slip_take);
  swap(&f->p, &f->y2);
  return OOZE_OK;
}

/* ask_density finds density and multiplier of every particle at its current position, in iteration
 * k; move_by_density makes the move that follows. */
static ooze_result ask_density(oz_backend *b, const oz_frame *f, uint32_t k, ooze_message *why) {
  if (k) WALLS(wall_density); /* already known in the first iteration */
  RUN(density_lambda);
  WALLS(wall_press);
  return OOZE_OK;
}

static ooze_result move_by_density(oz_backend *b, const oz_frame *f, ooze_message *why) {
  WALLS(wall_mirror);
  RUN(density_move);
  WALLS(wall_project);
  LOADS(load_density);
  return OOZE_OK;
}

/* Part of the last substep's pressure that the density's iterations start from. Stable below 2/3
 * for any number of layers, and up to 1/2 oscillations die away as fast as without (density.md). */
#define WARM_START 0.5f

/* Constants of the density's iterations (docs/theory/density.md). Each goes on with a part b of the
 * step before it, so that after all of them a push of 1 that the first one starts with has become
 * 1 + b + ... + b^(n-1). */
static void density_start(oz_frame *f, uint32_t iterations) {
  if (iterations < 2) return;
  const float n = (float)iterations, b = (n - 1.0f) / (n + 3.0f),
              sum = (1.0f - powf(b, n)) / (1.0f - b);
  f->momentum = b;
  f->warm_start = f->density_pressure ? WARM_START / sum : 0.0f;
}

/* Iterations that go on with the step before them. The last third is plain, where there are more
 * than five: momentum carries pressure far and stirs up neighbours, plain iterations calm them. */
static uint32_t density_accelerated(uint32_t iterations) {
  return iterations > 5 ? iterations - iterations / 3 : iterations;
}
#define NO_MOMENTUM 1e-20f /* above 0, so that pushes are still added up */

static ooze_result project_positions(oz_step *s, oz_backend *b, oz_frame *f, int conformation,
                                     int stressed, ooze_message *why) {
  oz_build_result built = {0, 0.0};
  WALLS(wall_density);
  WALLS(wall_project);
  RUN(density_bound);
  OZ_TRY(b->table->density_list(b, f, &built, why));
  s->rebuilt += built.rebuilt;
  /* the GPU counts neighbours only here */
  if (built.mean_neighbours > 0.0) s->mean_neighbours = built.mean_neighbours;
  if (f->has_slip && !f->projects_velocity) RUN(boundary_slide);
  LOADS(load_rows);
  if (stressed) LOADS(load_stress);
  OZ_TRY(oz_soft_tear(s, b, f, why));
  const uint32_t iterations = s->position_iterations;
  density_start(f, iterations);
  const float momentum = f->momentum;
  for (uint32_t k = 0; k < iterations; k++) {
    /* Both constraints evaluate the same positions and then move together. Where a backend fuses
     * them, this halves the passes over neighbours, and it converges as well (ooze verify fig6,
     * fig6-32, cauchy.conformation.spun.recoil). With bodies they run one after the other
     * (f->sequential), because bodies would float 0.6% of their draught higher otherwise
     * (floating). Without bodies and boundary particles conform_move makes most of the density's
     * move as well (f->fused_density: strain). */
    f->first_iteration = k == 0;
    if (k >= density_accelerated(iterations)) f->momentum = fminf(momentum, NO_MOMENTUM);
    OZ_TRY(ask_density(b, f, k, why));
    if (f->sequential) OZ_TRY(move_by_density(b, f, why));
    if (conformation) {
      RUN(strain);
      RUN(conform_move);
      swap(&f->y, &f->y2);
      if (f->sequential) WALLS(wall_project);
      LOADS(load_conform);
    }
    if (!f->sequential) OZ_TRY(move_by_density(b, f, why)); /* adds to the result of conform_move */
    OZ_TRY(oz_bodies_project(s, b, f, k, why));
  }
  return OOZE_OK;
}

/* `scheme: paper`: Algorithm 2 with the iterations of the paper's section 5 (paper.h). */
static ooze_result project_as_printed(oz_step *s, oz_backend *b, oz_frame *f, ooze_message *why) {
  oz_build_result built = {0, 0.0};
  OZ_TRY(b->table->density_list(b, f, &built, why)); /* neighbour search at x* */
  LOADS(load_rows);
  RUN(paper_volume);
  for (uint32_t k = 0; k < s->velocity_iterations; k++) {
    RUN(paper_strain_u);
    RUN(paper_force);
    LOADS(load_paper);
    OZ_TRY(oz_bodies_filter(b, f, why));
    RUN(kick);
  }
  RUN(advance);
  OZ_TRY(oz_bodies_drive(b, f, why));
  RUN(velocity_start); /* multipliers restart from zero */
  WALLS(wall_density);
  WALLS(wall_project);
  OZ_TRY(oz_find_density_neighbours(s, f, why));
  LOADS(load_rows);
  OZ_TRY(oz_soft_tear(s, b, f, why));
  RUN(density_bound);
  for (uint32_t k = 0; k < s->position_iterations; k++) {
    OZ_TRY(ask_density(b, f, k, why));
    OZ_TRY(move_by_density(b, f, why));
    RUN(paper_sync);
    RUN(paper_strain);
    RUN(paper_force);
    LOADS(load_paper);
    RUN(paper_shift);
    WALLS(wall_project);
    OZ_TRY(oz_bodies_project(s, b, f, k, why));
  }
  if (s->has_relaxation_time) {
    RUN(paper_sync);
    RUN(paper_update);
  }
  return OOZE_OK;
}

static int is_printed(const oz_frame *f) { return f->scheme == OOZE_SCHEME_PAPER; }

/* The paper's section 3.1: stress as a force. */
static int is_explicit(const oz_frame *f) { return f->scheme == OOZE_SCHEME_STRESS; }

/* Velocity iterations from which on thick fluid starts from its last stress. Fewer leave an error
 * so large that a start from it would feed it. */
#define STRESS_KEPT_FROM 4u

static uint16_t memory_of(const oz_step *s, const oz_frame *f) {
  if (!s->has_memory) return 0;
  const int keeps = f->volume_split && s->velocity_iterations >= STRESS_KEPT_FROM;
  return (uint16_t)(keeps ? OZ_MEMORY_LEAST | OZ_MEMORY_STRESS : OZ_MEMORY_LEAST);
}

/* The switches of the frame, from the scheme and from the solver's contents. */
static void set_switches(const oz_step *s, oz_frame *f) {
  const int printed = is_printed(f), explicit_stress = is_explicit(f),
            projects = f->scheme == OOZE_SCHEME_OOZE && s->velocity_iterations;
  f->has_relaxation_time = s->has_relaxation_time != 0;
  f->has_memory = memory_of(s, f);
  f->sequential = f->body_count != 0;
  f->fused_density = !f->sequential && !s->has_boundary && !explicit_stress && !printed;
  f->has_yield = s->has_yield;
  f->laws = printed || explicit_stress || !f->volume_split ? 0 : s->laws;
  f->projects_velocity = projects;
  f->shifting = projects ? s->params->shifting : 0.0f;
  f->dilates = f->shifting > 0.0f && f->volume_split;
  f->is_conformation = 1;
  f->has_boundary = s->has_boundary != 0;
  f->filters_velocity = 1;
  f->has_loads = s->has_loads;
  f->has_slip = s->has_slip && !printed;
  f->first_iteration = 1;
  f->last_iteration = 0;
  f->restartable = !printed && !s->has_soft && !s->has_boundary && !f->body_count;
  if (printed) {
    f->volume_split = 0;
    f->gradient_correction = 0;
  } else {
    /* The iterations correct positions by little; a cubic lattice has 24 more neighbours at
     * 2.236 d, just beyond. */
    f->reach = 1.01f * f->h;
    f->min_approach2 = OZ_MIN_APPROACH * OZ_MIN_APPROACH * f->h2;
  }
}

/* Velocities and positions under external forces alone, and the start values of the constraints. */
static ooze_result constraint_free_state(oz_step *s, oz_backend *b, oz_frame *f,
                                         ooze_message *why) {
  OZ_TRY(oz_heat_ramps(s, b, f, why));
  RUN(material);
  OZ_TRY(oz_bodies_hold(s, b, f, why));
  RUN(predict);
  OZ_TRY(oz_bodies_cling(s, b, f, why));
  if (f->has_slip && !f->projects_velocity) RUN(boundary_slip); /* else wall_slip.h */
  RUN(gradient);
  RUN(bound_sums);
  if (!is_explicit(f) && !is_printed(f)) RUN(bound);
  OZ_TRY(oz_find_walls(s, f, why));
  if (s->has_walls) {
    s->walls_known = 1;
    if (!f->projects_velocity || !f->wall_count) f->contact_of = NULL;
  }

  OZ_TRY(oz_tension_pull(s, f, why));
  OZ_TRY(oz_bodies_start(b, f, why));
  OZ_TRY(oz_soft_solve(s, b, f, 0, why));
  /* before the stress that particles carry is sent; project_velocities does it where there is none,
   * so that walls can be found beside gradients until then */
  if (f->contact_of && s->has_relaxation_time) RUN(wall_rows);
  RUN(velocity_start);
  return OOZE_OK;
}

/* Projects velocities, then positions. */
static ooze_result project(oz_step *s, oz_backend *b, oz_frame *f, ooze_message *why) {
  if (is_printed(f)) return project_as_printed(s, b, f, why);
  if (is_explicit(f)) {
    RUN(force);
    OZ_TRY(oz_bodies_filter(b, f, why));
    RUN(kick);
  } else if (f->projects_velocity)
    OZ_TRY(project_velocities(s, b, f, why));
  RUN(advance);
  if (f->has_slip && !f->projects_velocity) RUN(boundary_hold);
  OZ_TRY(oz_bodies_drive(b, f, why));
  const int stressed = is_explicit(f) || f->projects_velocity;
  return project_positions(s, b, f, !is_explicit(f), stressed, why);
}

/* Sweeps of the rest filter. Bodies take no part in it: they float 0.3% of their draught higher
 * beside a fluid filtered by two sweeps than by three (floating). */
static uint32_t filter_sweeps(const oz_step *s, const oz_frame *f) {
  if (is_printed(f)) return 0;
  return s->params->rest_filter == 2 && f->body_count ? 3 : s->params->rest_filter;
}

/* Velocities at the end of the substep, filtered. */
static ooze_result finish_velocities(oz_step *s, oz_backend *b, oz_frame *f, ooze_message *why) {
  const uint32_t sweeps = filter_sweeps(s, f);
  /* Boundary particles and bodies take no part in the filter, so sweeps would not bring their
   * velocities back to u. */
  f->finish_to_u2 = sweeps % 2 && !s->has_boundary && !f->body_count;
  OZ_TRY(b->table->run(b, f, OZ_STAGE_finish, b->table->finished ? NULL : &s->bad, why));
  if (f->finish_to_u2) swap(&f->u, &f->u2);
  f->start = f->p;
  if (s->has_boundary && !s->boundary_still) RUN(boundary_end);
  OZ_TRY(oz_bodies_finish(b, f, why));
  for (uint32_t k = 0; k < sweeps; k++) { /* from u to u2, and back with the next sweep */
    f->filter_factor = f->filter_pace * OZ_FILTER_FACTOR(k, sweeps);
    RUN(filter_gradient);
    RUN(filter_move);
    swap(&f->u, &f->u2);
    WALLS(wall_drag);
  }
  if (sweeps % 2 && !f->finish_to_u2) {
    swap(&f->u, &f->u2);
    RUN(settle);
  }
  return OOZE_OK;
}

ooze_result oz_conformation_substep(oz_step *s, float dt, ooze_message *why) {
  oz_backend *b = s->backend;
  oz_frame frame, *f = &frame;
  if (!oz_open_frame(s, f, dt)) return OOZE_OK;
  set_switches(s, f);

  OZ_TRY(oz_find_neighbours(s, f, why));
  OZ_TRY(constraint_free_state(s, b, f, why));

  /* a law of flow makes its own tensor of q, which the projections read in its place */
  const int lawful = f->laws && s->has_relaxation_time;
  if (lawful) {
    RUN(law_start);
    swap(&f->q, &f->carried);
  }
  OZ_TRY(project(s, b, f, why));

  /* conformation and velocity at the end of the step */
  if (s->has_yield && f->projects_velocity) OZ_TRY(remember_slip(b, f, why));
  if (lawful) swap(&f->q, &f->carried);
  if (s->draws && f->volume_split && f->projects_velocity) {
    RUN(strain_send);
    RUN(sharpen);
  }
  if (lawful)
    RUN(law_update);
  else if (s->has_relaxation_time && !is_printed(f))
    RUN(conform_update);
  if (f->shifting > 0.0f) {
    RUN(shift_strength);
    RUN(shift);
  }
  OZ_TRY(finish_velocities(s, b, f, why));
  if (f->laws & OZ_LAW_RATE) {
    RUN(flow_rate);
    WALLS(flow_rate_wall);
    RUN(flow_rate_keep);
  }

  if (b->table->finished) OZ_TRY(b->table->finished(b, &s->bad, why));
  OZ_TRY(oz_heat_conduct(s, b, f, why));
  return oz_fluids_mix(s, b, f, why);
}
