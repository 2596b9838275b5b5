/* Stages that run in one kernel: the table that the planner (launch_plan.h) reads.
 *
 * A stage may be fused with the one before it if it touches nothing but the particle that the
 * thread has just finished, or if both gather over the same rows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_FUSION_H
#define OZ_CUDA_FUSION_H

#include "cuda/gpu.h"

namespace OZ_NAMESPACE {

/* Bits of stage_args.fused. Their meaning depends on the stage that owns the kernel, and they
 * ascend in the order in which the stages run. */
enum fuse_bits : uint32_t {
  FUSE_WALLS = 1,  /* force, density_lambda, filter_move: the wall stage behind it */
  FUSE_MIRROR = 1, /* moves: wall_mirror before their end */
  FUSE_PROJECT = 2,
  FUSE_DENSITY = 4,
  FUSE_SECOND = 8, /* gathers: the second stage of a fused type (stage_kernels.cu: fused_of) */
  FUSE_OTHER = 16, /* the same, of another type: other_of */
  FUSE_CLAMP = 1,  /* advance: wall_clamp before it */
  FUSE_ADVANCE_DENSITY = 2,
  FUSE_ADVANCE_PROJECT = 4,
  FUSE_BOUND = 8,
  FUSE_PLANES = 1, /* velocity_start: wall_planes before it */
  FUSE_HOLD = 2,
  FUSE_ROWS = 4, /* velocity_start: wall_rows before it */
  FUSE_PREDICT = 4,
  FUSE_LOAD = 1, /* cg_update: wall_load before it, */
  FUSE_ADVANCE = 2,
  FUSE_ADVANCE_SHIFT = 2 /* and then the bits of advance, so many places up */
};

/* Conditions, besides that the second stage follows the first in the queue. */
enum fuse_when {
  WHEN_NEXT,          /* none; the second stage may read another frame */
  WHEN_SAME_FRAME,    /* both read the same frame */
  WHEN_ANY_SIZE,      /* likewise, however many particles there are: no wall takes registers */
  WHEN_FEW_REGISTERS, /* and: several threads a particle, or no curved collider (96 registers) */
  WHEN_ITERATION,     /* a whole position iteration is queued (iteration_at) */
  WHEN_PREPARED,      /* between bound and residual no more stands than launch_prepared expects */
  WHEN_LAST_UPDATE,   /* the last cg_update; frames differ in `last` alone */
  WHEN_ASIDE          /* walls were found on the wall stream, or before bound */
};

struct fusion {
  int first, second;
  int owner; /* stage whose kernel runs both */
  uint32_t bit;
  fuse_when when;
};

#define OZ_FUSE(first, second, owner, bit, when) \
  { OZ_STAGE_##first, OZ_STAGE_##second, OZ_STAGE_##owner, bit, when }
const fusion fusions[] = {
    /* A wall stage before its owner: the thread does the particle's walls first. */
    OZ_FUSE(wall_load, cg_update, cg_update, FUSE_LOAD, WHEN_SAME_FRAME),
    OZ_FUSE(wall_clamp, advance, advance, FUSE_CLAMP, WHEN_SAME_FRAME),
    OZ_FUSE(wall_mirror, density_move, density_move, FUSE_MIRROR, WHEN_SAME_FRAME),
    OZ_FUSE(wall_planes, velocity_start, velocity_start, FUSE_PLANES, WHEN_FEW_REGISTERS),
    OZ_FUSE(wall_rows, velocity_start, velocity_start, FUSE_ROWS, WHEN_SAME_FRAME),

    /* A wall stage behind a gather: the end of the gather has the particle in registers. */
    OZ_FUSE(force, wall_filter, force, FUSE_WALLS, WHEN_NEXT),
    OZ_FUSE(density_lambda, wall_press, density_lambda, FUSE_WALLS, WHEN_NEXT),
    OZ_FUSE(filter_move, wall_drag, filter_move, FUSE_WALLS, WHEN_NEXT),
    OZ_FUSE(density_move, wall_project, density_move, FUSE_PROJECT, WHEN_NEXT),
    OZ_FUSE(density_move, wall_density, density_move, FUSE_DENSITY, WHEN_NEXT),
    OZ_FUSE(tension, tension_wall, tension, FUSE_WALLS, WHEN_SAME_FRAME),
    OZ_FUSE(conform_move, wall_project, conform_move, FUSE_PROJECT, WHEN_NEXT),
    OZ_FUSE(conform_move, wall_density, conform_move, FUSE_DENSITY, WHEN_NEXT),

    /* A map behind a map, particle by particle. */
    OZ_FUSE(velocity_start, wall_hold, velocity_start, FUSE_HOLD, WHEN_SAME_FRAME),
    OZ_FUSE(kick, wall_hold, kick, FUSE_HOLD, WHEN_SAME_FRAME),
    OZ_FUSE(material, predict, material, FUSE_PREDICT, WHEN_SAME_FRAME),
    OZ_FUSE(advance, wall_density, advance, FUSE_ADVANCE_DENSITY, WHEN_SAME_FRAME),
    OZ_FUSE(advance, wall_project, advance, FUSE_ADVANCE_PROJECT, WHEN_SAME_FRAME),
    OZ_FUSE(advance, density_bound, advance, FUSE_BOUND, WHEN_SAME_FRAME),

    /* The end of the last force has the sums of cg_last: stage_force_last. */
    OZ_FUSE(force, cg_last, force, FUSE_SECOND, WHEN_SAME_FRAME),
    /* The force of carried stress moves its own particle alone: stage_force_kick. */
    OZ_FUSE(force, kick, force, FUSE_OTHER, WHEN_PREPARED),
    /* Walls of the particle itself in its missing density: stage_tension_begin. */
    OZ_FUSE(tension_clear, tension_start, tension_start, FUSE_SECOND, WHEN_PREPARED),
    /* Neither touches what another particle's update reads: stage_conform_shift, and
     * stage_conform_finish where nothing is shifted. */
    OZ_FUSE(conform_update, shift_strength, conform_update, FUSE_OTHER, WHEN_ANY_SIZE),
    OZ_FUSE(conform_update, finish, conform_update, FUSE_SECOND, WHEN_SAME_FRAME),

    /* Both constraints gather over the same positions: stage_density_strain. */
    OZ_FUSE(density_lambda, strain, density_lambda, FUSE_SECOND, WHEN_ITERATION),
    /* Both moves in one gather: stage_position_move. */
    OZ_FUSE(conform_move, density_move, conform_move, FUSE_SECOND, WHEN_ITERATION),
    /* bound and residual gather over the same rows: stage_bound_residual. */
    OZ_FUSE(bound, residual, residual, FUSE_SECOND, WHEN_PREPARED),
    /* The last step of the solver and the positions after it: stage_cg_advance. */
    OZ_FUSE(cg_update, advance, cg_update, FUSE_ADVANCE, WHEN_LAST_UPDATE),
    /* Planes of a contact and its friction_map, while the particle's record is on its way. */
    OZ_FUSE(wall_planes, wall_hold, wall_planes, FUSE_HOLD, WHEN_ASIDE),
};
#undef OZ_FUSE

/* The row of two stages, or NULL. */
inline const fusion *fusion_of(int first, int second) {
  for (const fusion &row : fusions)
    if (row.first == first && row.second == second) return &row;
  return nullptr;
}
/* Whether a row needs no more than its two neighbours in the queue. */
inline bool is_local(const fusion &row) {
  return row.when == WHEN_NEXT || row.when == WHEN_SAME_FRAME || row.when == WHEN_ANY_SIZE ||
         row.when == WHEN_FEW_REGISTERS;
}
/* The bit of a stage behind the owner of the kernel, or 0. */
inline uint32_t fused_behind(int owner, int next) {
  const fusion *row = fusion_of(owner, next);
  return row && row->owner == owner && is_local(*row) ? row->bit : 0u;
}
inline uint32_t fuse_bit(int first, int second) { return fusion_of(first, second)->bit; }

} // namespace OZ_NAMESPACE
#endif
