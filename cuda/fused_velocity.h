/* Fused kernels around the velocity projection. Included by stage_types.h, inside its namespace,
 * after the stages.
 *
 * Before it: bound and residual, which gather over the same rows, so a pair is visited once and not
 * twice; where no material relaxes or yields, velocity_start is an identity (oz_prepare_end), and
 * where one does, force and kick are one kernel. Surface tension with its walls is two. In the last
 * iteration: force and cg_last. After it: the last cg_update, advance and the maps behind it, which
 * touch their own particle alone.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_FUSED_VELOCITY_H
#define OZ_CUDA_FUSED_VELOCITY_H

/* The end of force; walls change the displacement before it is written. Returns dx.w. */
template <class WALLS>
OZ_D float force_held(const oz_frame *f, uint32_t i, const oz_real *acc, const WALLS &walls) {
  const oz_v3 given = oz_force_total(f, i, acc);
  float v[3] = {given.x, given.y, given.z};
  walls(v);
  const oz_v3 dx = {v[0], v[1], v[2]};
  const float work = oz_force_work(dx, given, oz_ld(f->omega, i));
  oz_vec_st(f->dx, i, dx, work);
  return work;
}

struct stage_bound_residual {
  static constexpr int KIND = KIND_START, SUMS = 15, REDS = stage_residual::REDS,
                       STAGE = OZ_STAGE_residual;
  /* first sum of bound; its sums are linear in the length of a gradient */
  enum { BOUND = 9 };
  typedef oz_bound_self self;
  static OZ_D void begin(const oz_frame *f, uint32_t i, self *s) { oz_bound_begin(f, i, s); }
  static OZ_D void pair(const oz_frame *f, const self *s, const oz_group *n, oz_real *acc) {
    oz_outer(acc, f->u, n);
    oz_bound_pair(f, s, n, acc + BOUND);
  }
  static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
    oz_prepare_end(f, i, acc + BOUND, acc, red);
  }
};

/* force by the stress that particles carry, kick, and wall_hold behind it (walls_of): u is gathered
 * by neither, and the displacement is of no further use. */
struct stage_force_kick : stage_force {
  static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *) {
    oz_kick_by(f, i, oz_force_total(f, i, acc));
  }
};

/* tension_clear and wall_density before the end of tension_start, which alone reads their result:
 * that of its own particle. */
struct stage_tension_begin : stage_tension_start {
  static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
    oz_tension_clear_item(f, i, red);
    stage_tension_start::end(f, i, acc, red);
  }
  static OZ_D void end_at(const oz_frame *f, uint32_t i, uint32_t slot, const oz_real *acc,
                          oz_real *red) {
    oz_tension_clear_item(f, i, red);
    if (slot) oz_wall_density_of(f, slot - 1, i);
    stage_tension_start::end(f, i, acc, red);
  }
};

/* The last force and cg_last, which reads nothing but the end's registers. */
struct stage_force_last : stage_force {
  static constexpr int REDS = stage_cg_last::REDS;
  static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
    end_at(f, i, acc, red, [](float *) {});
  }
  /* walls(v): the part of a displacement that walls let through */
  template <class WALLS>
  static OZ_D void end_at(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red,
                          const WALLS &walls) {
    oz_cg_last_own own;
    oz_cg_last_take(f, i, &own); /* all loads at once */
    oz_cg_last_of(f, &own, force_held(f, i, acc, walls), red);
  }
};

struct stage_cg_advance : stage_cg_update {
  struct own {
    oz_cg_own cg;
    oz_advance_own at;
    oz_density_own density;
  };
  /* neither cg_apply nor force writes any of it */
  static OZ_D void take(const oz_frame *f, uint32_t i, own *o) {
    oz_cg_take(f, i, &o->cg);
    oz_advance_take(f, i, &o->at);
    oz_density_bound_take(f, i, &o->density);
  }
  /* slot: contact of particle i + 1, or 0; which: stage_args.fused */
  static OZ_D void go(const oz_frame *f, uint32_t i, uint32_t slot, uint32_t which, own *o) {
    const uint32_t then = which >> FUSE_ADVANCE_SHIFT;
    /* no walls: the slot was not written */
    if (!(which & FUSE_LOAD) &&
        !(then & (FUSE_CLAMP | FUSE_ADVANCE_DENSITY | FUSE_ADVANCE_PROJECT)))
      slot = 0;
    const uint32_t planes = slot ? f->wall_planes[slot - 1] : 0u;
    oz_real *u = o->cg.u, *y = o->at.y, term[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    if (slot && (which & FUSE_LOAD)) oz_wall_load_of(f, slot - 1, i);
    oz_cg_step(f, i, &o->cg);
    if (slot && (then & FUSE_CLAMP) && oz_wall_clamped(f, slot - 1, planes, i, u))
      oz_st4(f->u, i, 4, 0, u);
    oz_advance_by(f, i, u, y);
    oz_advance_begin(f, i);
    if (slot && (then & FUSE_ADVANCE_DENSITY)) {
      oz_wall_density_at(f, slot - 1, planes, i, y);
      oz_ld4(f->wall_term, i, 4, 0, term);
    }
    if (slot && (then & FUSE_ADVANCE_PROJECT)) oz_wall_projected(f, slot - 1, planes, i, y);
    oz_advance_to(f, i, &o->at);
    if (then & FUSE_BOUND) oz_density_bound_of(f, i, &o->density, term);
  }
  static OZ_D void item(const oz_frame *of, uint32_t i, uint32_t slot, uint32_t which) {
    oz_frame f = *of;
    own o;
    f.last_iteration = 1; /* a constant for the compiler */
    take(&f, i, &o);
    oz_cg_answer(&f, i, &o.cg);
    go(&f, i, slot, which, &o);
  }
};
#endif
