/* What comes before the velocity projection and after it, in fewer kernels. Included by kinds.h,
 * inside its namespace, after the stages.
 *
 * In its last iteration cg_last and force are one. Before it bound, velocity_start and residual are
 * one. bound and residual walk the same rows, so a pair is visited once and not twice. Where
 * nothing relaxes and no force comes in between, velocity_start has nothing to say that the end
 * does not know (oz_prepare_end).
 *
 * After it the last cg_update, advance and what follows that: all touch their own particle alone.
 */
#ifndef OZ_CUDA_VELOCITY_H
#define OZ_CUDA_VELOCITY_H

/* The end of force, and what is made of it before it is written; returns dx.w. */
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

struct stage_prepare {
  static constexpr int KIND = KIND_C, SUMS = 15, REDS = stage_residual::REDS,
                       STAGE = OZ_STAGE_residual;
  /* from here on the sums of bound, which are linear in the length of a gradient */
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

/* The last force and cg_last, which asks for nothing but what that has at hand. */
struct stage_force_last : stage_force {
  static constexpr int REDS = stage_cg_last::REDS;
  static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
    end_at(f, i, acc, red, [](float *) {});
  }
  /* walls(v): what walls let through of a displacement */
  template <class WALLS>
  static OZ_D void end_at(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red,
                          const WALLS &walls) {
    oz_cg_last_own own;
    oz_cg_last_take(f, i, &own); /* all is read at once */
    oz_cg_last_of(f, &own, force_held(f, i, acc, walls), red);
  }
};

struct stage_cg_advance : stage_cg_update {
  struct own {
    oz_cg_own cg;
    oz_advance_own at;
    oz_density_own density;
  };
  /* none of it is written by cg_apply or force */
  static OZ_D void take(const oz_frame *f, uint32_t i, own *o) {
    oz_cg_take(f, i, &o->cg);
    oz_advance_take(f, i, &o->at);
    oz_density_bound_take(f, i, &o->density);
  }
  /* slot: that of particle i and one more, 0: it has none; which: as stage_args.walls */
  static OZ_D void go(const oz_frame *f, uint32_t i, uint32_t slot, uint32_t which, own *o) {
    const uint32_t then = which >> ADVANCE_BITS;
    /* there are no walls: nobody has written it */
    if (!(which & JOIN_LOAD) && !(then & 7u)) slot = 0;
    const uint32_t planes = slot ? f->wall_planes[slot - 1] : 0u;
    oz_real *u = o->cg.u, *y = o->at.y, term[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    if (slot && (which & JOIN_LOAD)) oz_wall_load_of(f, slot - 1, i);
    oz_cg_step(f, i, &o->cg);
    if (slot && (then & 1u) && oz_wall_clamped(f, slot - 1, planes, i, u)) oz_st4(f->u, i, 4, 0, u);
    oz_advance_by(f, i, u, y);
    oz_advance_begin(f, i);
    if (slot && (then & 2u)) {
      oz_wall_density_at(f, slot - 1, planes, i, y);
      oz_ld4(f->wall_term, i, 4, 0, term);
    }
    if (slot && (then & 4u)) oz_wall_projected(f, slot - 1, planes, i, y);
    oz_advance_to(f, i, &o->at);
    if (then & 8u) oz_density_bound_of(f, i, &o->density, term);
  }
  static OZ_D void item(const oz_frame *of, uint32_t i, uint32_t slot, uint32_t which) {
    oz_frame f = *of;
    own o;
    f.last = 1; /* as the compiler is to know */
    take(&f, i, &o);
    oz_cg_answer(&f, i, &o.cg);
    go(&f, i, slot, which, &o);
  }
};
#endif
