/* What prepares the velocity projection, in one kernel: bound, velocity_start and residual. bound and residual walk the same rows, so a pair is visited once and
 * not twice. Where nothing relaxes and no force comes in between, velocity_start has nothing to say that the end does not know (oz_prepare_end). Included by kinds.h, inside its namespace, after the
 * stages. */
#ifndef OZ_CUDA_VELOCITY_H
#define OZ_CUDA_VELOCITY_H

struct stage_prepare {
  static constexpr int KIND = KIND_C, SUMS = 15, REDS = stage_residual::REDS, STAGE = OZ_STAGE_residual;
  enum { BOUND = 9 }; /* from here on the sums of bound, which are linear in the length of a gradient */
  typedef oz_bound_self self;
  static OZ_D void begin(const oz_frame *f, uint32_t i, self *s) { oz_bound_begin(f, i, s); }
  static OZ_D void pair(const oz_frame *f, const self *s, const oz_group *n, oz_real *acc) {
    oz_outer(acc, f->u, n);
    oz_bound_pair(f, s, n, acc + BOUND);
  }
  static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) { oz_prepare_end(f, i, acc + BOUND, acc, red); }
};
#endif
