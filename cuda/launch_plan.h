/* The launches for the queued stages: fused where the table of fusion.h says so, and on the stream
 * that they belong to. Included by stage_launch.cu, inside its namespace.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_LAUNCH_PLAN_H
#define OZ_CUDA_LAUNCH_PLAN_H

/* Blocks a multiprocessor. */
enum {
  ONE_WAVE_BLOCKS = 8, /* resident at once */
  MANY_WAVES = 16      /* above it a ticket would stall every block of a reduction */
};
/* Blocks of one thread a particle. */
uint32_t block_count(const gpu *g) { return (g->count + BLOCK_PARTICLES - 1) / BLOCK_PARTICLES; }
static_assert(BLOCK_PARTICLES == BLOCK, "gathers and maps have as many");
bool many_blocks(const gpu *g, int lanes) {
  return lanes == 1 && block_count(g) > MANY_WAVES * g->device.multiprocessors;
}

/* Shared memory that a block asks for, so that the multiprocessors are balanced: blocks of a
 * dependent launch take any room that the kernel before leaves, and some multiprocessors would get
 * eight, others three. 0: the blocks do not fit in one wave, or there are fewer than two a
 * multiprocessor. spare: blocks to leave room for; fixed: static shared memory of the kernel,
 * bytes. */
uint32_t balanced_shared_memory(const gpu *g, uint32_t spare, uint32_t fixed = 640) {
  enum { RESERVED = 1024 }; /* bytes a block that CUDA takes */
  const uint32_t processors = g->device.multiprocessors;
  const uint32_t each = processors ? (block_count(g) + processors - 1) / processors : 0;
  if (each < 2 || each > ONE_WAVE_BLOCKS) return 0;
  return (g->device.shared_memory / (each + spare) - RESERVED - fixed) & ~127u;
}

#define OZ_STAGE(name, kind, sums, reductions) \
  static_assert(reductions <= MAX_SUMS, #name ": blocks have no room for its sums");
#include "physics/stages.def"
#undef OZ_STAGE
const struct {
  uint8_t kind, reductions;
} info[] = {
#define OZ_STAGE(name, kind, sums, reductions) {KIND_##kind, reductions},
#include "physics/stages.def"
#undef OZ_STAGE
};

struct launch {
  int stage;
  uint32_t frame, wall_frame; /* of the stage; of the wall stages fused behind it */
  uint32_t fused;             /* FUSE_ bits */
  uint32_t packed;            /* dx holds displacements (fused_position.h) */
  int scalar_stage;           /* of kind ONE, by the last block; -1: none */
  bool defers_sums;           /* cg_apply to cg_update, residual to the first cg_update */
  bool first_update;          /* cg_update that adds up the sums of residual */
  bool overlaps;              /* mirror pressure runs beside the move */
  bool on_wall_stream;
  bool joins_streams; /* waits for both side streams */
};
launch one_stage(int stage, uint32_t frame) {
  launch l = {};
  l.stage = stage, l.frame = l.wall_frame = frame, l.scalar_stage = -1;
  return l;
}
/* Whether entry k of the queue is such a stage. */
bool queued(const gpu *g, uint32_t k, int stage) {
  return k < g->queue.count && g->queue.entry[k].stage == stage;
}

/* ---- conditions ---- */

/* Whether bound, velocity_start and residual become one kernel, where all three are queued. */
bool fuses_bound(const gpu *g) {
  return !disabled(g, DISABLE_FUSION) && lanes_for(g) <= COMPUTED_GRADIENT_LANES;
}
/* With one thread a particle the registers of wall stages cost more than their launches, unless all
 * blocks are resident at once. */
bool fuses_walls(const gpu *g, int lanes) {
  const bool one_wave = balanced_shared_memory(g, 0) != 0;
  return (lanes > 1 || one_wave) && !disabled(g, DISABLE_FUSION);
}

/* Whether cg_update adds up the sums of cg_apply, or of the cg_last that is fused with force, at
 * place `at` of the queue: where both are queued, and all blocks are resident at once. */
bool defers_sums(const gpu *g, uint32_t at, int lanes) {
  const queue_entry *q = g->queue.entry;
  if (!queued(g, at, OZ_STAGE_cg_apply) && !queued(g, at, OZ_STAGE_cg_last)) return false;
  if (!queued(g, at + 1, OZ_STAGE_cg_steps)) return false;
  if (disabled(g, DISABLE_DEFERRED_SUMS) || !g->queue.frame[q[at].frame].start_entries ||
      !fuses_walls(g, lanes) || block_count(g) > ONE_WAVE_BLOCKS * g->device.multiprocessors)
    return false;
  if (q[at].stage == OZ_STAGE_cg_last) {
    uint32_t k = at;
    if (k && q[k - 1].stage == OZ_STAGE_wall_filter) k--;
    if (!k || q[k - 1].stage != OZ_STAGE_force || q[k - 1].frame != q[at].frame) return false;
  }
  at += 2;
  if (queued(g, at, OZ_STAGE_wall_load)) at++;
  return queued(g, at, OZ_STAGE_cg_update);
}
/* Whether the first cg_update adds up the sums of residual, at place `at`: only if it does so for
 * cg_apply too, since no other stage reads them. */
bool defers_start_sums(const gpu *g, uint32_t at, int lanes) {
  if (!queued(g, at, OZ_STAGE_residual) || !queued(g, at + 1, OZ_STAGE_cg_start) ||
      !queued(g, at + 2, OZ_STAGE_force))
    return false;
  return defers_sums(g, queued(g, at + 3, OZ_STAGE_wall_filter) ? at + 4 : at + 3, lanes);
}
/* Whether the cg_apply at place `at` is that of the first iteration, and residual defers its sums.
 */
bool is_first_apply(const gpu *g, uint32_t at, int lanes) {
  if (at && g->queue.entry[at - 1].stage == OZ_STAGE_wall_filter) at--;
  return at >= 3 && defers_start_sums(g, at - 3, lanes);
}

/* ---- rows of the table that span more than two stages ---- */

/* WHEN_ITERATION: density_lambda, wall_press, strain; conform_move, wall_mirror, density_move.
 * Where all of it is queued, it becomes two gathers. */
struct iteration {
  uint32_t strain, moves, density; /* places of strain, conform_move and density_move; 0: none */
  bool press, mirror;
};
iteration iteration_at(const gpu *g, uint32_t at) {
  const queue_entry *q = g->queue.entry;
  iteration it = {0, 0, 0, false, false};
  if (!queued(g, at, OZ_STAGE_density_lambda)) return it;
  const oz_frame &f = g->queue.frame[q[at].frame];
  if (!f.fused_density || disabled(g, DISABLE_POSITION_FUSION)) return it;
  uint32_t k = at + 1;
  it.press = queued(g, k, OZ_STAGE_wall_press);
  k += it.press;
  if (!queued(g, k, OZ_STAGE_strain) || !queued(g, k + 1, OZ_STAGE_conform_move)) return it;
  if (q[k].frame != q[at].frame || q[k + 1].frame != q[at].frame) return it;
  const uint32_t strain = k, moves = k + 1;
  k += 2;
  it.mirror = queued(g, k, OZ_STAGE_wall_mirror);
  k += it.mirror;
  if (queued(g, k, OZ_STAGE_density_move)) it.strain = strain, it.moves = moves, it.density = k;
  return it;
}
/* Its two launches, and those of walls that are not fused with them. Returns their number. */
uint32_t launch_iteration(const gpu *g, uint32_t *at, const iteration &it, int lanes, launch *out) {
  const queue_entry *q = g->queue.entry;
  const uint32_t frame = q[*at].frame;
  const bool walls = fuses_walls(g, lanes), shared = g->queue.frame[frame].start_entries != nullptr,
             overlap = shared && !disabled(g, DISABLE_OVERLAP);
  /* with shared memory a block waits for its slowest particle, and mirror pressure is another walk
   * over its row: it has a kernel of its own */
  const bool mirror = it.mirror && walls && !shared;
  uint32_t n = 0;

  launch *l = &out[n++];
  *l = one_stage(OZ_STAGE_density_lambda, frame), l->packed = 1;
  l->fused = fuse_bit(OZ_STAGE_density_lambda, OZ_STAGE_strain);
  if (it.press && walls) l->fused |= fuse_bit(OZ_STAGE_density_lambda, OZ_STAGE_wall_press);
  if (it.press && !walls) {
    l = &out[n++];
    *l = one_stage(OZ_STAGE_wall_press, frame), l->packed = 1;
  }
  if (it.mirror && !mirror) { /* before the move, whose end adds to it; no kernel gathers y here */
    l = &out[n++];
    *l = one_stage(OZ_STAGE_wall_mirror, frame), l->packed = 1, l->overlaps = overlap;
  }

  launch *move = &out[n++];
  *move = one_stage(OZ_STAGE_conform_move, frame), move->packed = 1;
  move->wall_frame = q[it.density].frame;
  move->fused = fuse_bit(OZ_STAGE_conform_move, OZ_STAGE_density_move);
  if (mirror) move->fused |= fuse_bit(OZ_STAGE_wall_mirror, OZ_STAGE_density_move);
  move->overlaps = it.mirror && overlap;
  const uint32_t wall_bits = FUSE_MIRROR | FUSE_PROJECT | FUSE_DENSITY;
  for (*at = it.density + 1; walls && *at < g->queue.count; ++*at) {
    const uint32_t bit = fused_behind(OZ_STAGE_density_move, q[*at].stage);
    if (bit <= (move->fused & wall_bits)) break; /* each once, in its order */
    move->fused |= bit, move->wall_frame = q[*at].frame;
  }
  return n;
}

/* WHEN_LAST_UPDATE: advance, the walls before and behind it and the bound of densities. */
uint32_t fuse_advance(const gpu *g, uint32_t at, launch *l) {
  const queue_entry *q = g->queue.entry;
  const bool clamp = queued(g, at, OZ_STAGE_wall_clamp);
  oz_frame f = g->queue.frame[l->frame];
  if (!f.last_iteration || !queued(g, at + clamp, OZ_STAGE_advance)) return at;
  const uint32_t frame = q[at + clamp].frame;
  f.last_iteration = 0;
  if (q[at].frame != frame || memcmp(&f, &g->queue.frame[frame], sizeof f) != 0) return at;
  at += 1u + clamp;
  uint32_t bits = clamp ? fuse_bit(OZ_STAGE_wall_clamp, OZ_STAGE_advance) : 0u, last = 1;
  for (; at < g->queue.count && q[at].frame == frame; at++) {
    const uint32_t bit = fused_behind(OZ_STAGE_advance, q[at].stage);
    if (bit <= last) break;
    bits |= bit, last = bit;
  }
  l->fused |= fuse_bit(OZ_STAGE_cg_update, OZ_STAGE_advance) | bits << FUSE_ADVANCE_SHIFT;
  return at;
}

/* WHEN_ASIDE: wall_hold behind wall_planes, the last of n launches, in its kernel where one frame
 * serves both. Returns the number of launches. */
uint32_t add_hold(const gpu *g, uint32_t frame, bool on_wall_stream, launch *out, uint32_t n) {
  if (out[n - 1].frame == frame && !disabled(g, DISABLE_FUSION) && g->walls.flat) {
    out[n - 1].fused = fuse_bit(OZ_STAGE_wall_planes, OZ_STAGE_wall_hold);
    return n;
  }
  out[n] = one_stage(OZ_STAGE_wall_hold, frame), out[n].on_wall_stream = on_wall_stream;
  return n + 1;
}
bool walls_are_aside(const gpu *g) { return (g->streams.unjoined & UNJOINED_CONTACTS) != 0; }

/* Stages of surface tension: they read nothing that bound writes, nor does it of theirs. */
bool pulls_by_tension(int stage) {
  return stage == OZ_STAGE_tension_clear || stage == OZ_STAGE_wall_density ||
         stage == OZ_STAGE_tension_start || stage == OZ_STAGE_tension ||
         stage == OZ_STAGE_tension_wall;
}
/* The walls that the particle's own thread can take along, where `fuse`: those of missing density
 * in tension_start, the walls' pull in tension. Returns the number of launches; *k: behind them. */
uint32_t launch_tension(const gpu *g, uint32_t *k, bool fuse, bool joins, launch *out) {
  const queue_entry *q = g->queue.entry;
  uint32_t n = 0;
  while (*k < g->queue.count && pulls_by_tension(q[*k].stage)) {
    launch *l = &out[n];
    uint32_t next = *k + 1;
    *l = one_stage(q[*k].stage, q[*k].frame), l->joins_streams = joins && n == 0;
    if (l->stage == OZ_STAGE_tension_clear) {
      const bool walls = queued(g, next, OZ_STAGE_wall_density);
      if (queued(g, next + walls, OZ_STAGE_tension_start) && (fuse || !walls) &&
          q[next].frame == l->frame && q[next + walls].frame == l->frame) {
        l->stage = OZ_STAGE_tension_start;
        l->fused = fuse_bit(OZ_STAGE_tension_clear, OZ_STAGE_tension_start);
        if (walls) l->fused |= FUSE_WALLS;
        next += 1u + walls;
      }
    } else if (l->stage == OZ_STAGE_tension && queued(g, next, OZ_STAGE_tension_wall) && fuse &&
               q[next].frame == l->frame) {
      l->fused = fuse_bit(OZ_STAGE_tension, OZ_STAGE_tension_wall);
      next++;
    }
    *k = next, n++;
  }
  return n;
}
/* wall_rows, velocity_start, force, kick and wall_hold, where stress is carried: from place *k on.
 * Returns the number of launches; 0: the queue holds something else. */
uint32_t launch_carried(const gpu *g, uint32_t *k, bool fuse, bool planes, launch *out) {
  const queue_entry *q = g->queue.entry;
  uint32_t n = 0, at = *k;
  const bool rows = queued(g, at, OZ_STAGE_wall_rows);
  const uint32_t frame = q[at].frame;
  for (uint32_t m = at; m < at + 3u + rows; m++)
    if (m >= g->queue.count || q[m].frame != frame) return 0;
  if (rows && !fuse) out[n++] = one_stage(OZ_STAGE_wall_rows, frame);
  at += rows;
  if (!queued(g, at, OZ_STAGE_velocity_start) || !queued(g, at + 1, OZ_STAGE_force) ||
      !queued(g, at + 2, OZ_STAGE_kick) || queued(g, at + 3, OZ_STAGE_wall_hold) != planes)
    return 0;
  out[n] = one_stage(OZ_STAGE_velocity_start, frame);
  if (rows && fuse) out[n].fused = fuse_bit(OZ_STAGE_wall_rows, OZ_STAGE_velocity_start);
  n++, at += 3;
  launch *force = &out[n++];
  *force = one_stage(OZ_STAGE_force, frame);
  force->fused = fuse_bit(OZ_STAGE_force, OZ_STAGE_kick);
  if (planes && fuse && g->walls.flat && q[at].frame == frame)
    force->fused |= FUSE_HOLD;
  else if (planes)
    out[n++] = one_stage(OZ_STAGE_wall_hold, q[at].frame);
  *k = at + planes;
  return n;
}
/* WHEN_PREPARED: bound to residual from place `at` on, with walls and tension in between, which
 * need nothing of bound: so they come first, and then bound and residual in one kernel
 * (fused_velocity.h). Where no material relaxes or yields, velocity_start does nothing that walls
 * read, and that kernel does it as well. Returns the number of launches; 0: the queue holds
 * something else. */
uint32_t launch_prepared(const gpu *g, uint32_t *at, int lanes, launch *out) {
  const queue_entry *q = g->queue.entry;
  if (!queued(g, *at, OZ_STAGE_bound) || !fuses_bound(g)) return 0;
  const bool aside = walls_are_aside(g), fuse = fuses_walls(g, lanes);
  uint32_t k = *at + 1, n = 0;
  const bool apart = disabled(g, DISABLE_BOUND_FUSION);
  if (apart) out[n++] = one_stage(OZ_STAGE_bound, q[*at].frame);
  const bool planes = queued(g, k, OZ_STAGE_wall_planes);
  if (planes) {
    out[n] = one_stage(OZ_STAGE_wall_planes, q[k++].frame);
    out[n++].on_wall_stream = aside;
  }
  bool joins = aside;
  const uint32_t tension = launch_tension(g, &k, fuse, joins, out + n);
  if (tension) joins = false;
  n += tension;
  const uint32_t start = k + queued(g, k, OZ_STAGE_wall_rows);
  if (!queued(g, start, OZ_STAGE_velocity_start)) return 0;
  const uint32_t frame = q[start].frame;
  const oz_frame &f = g->queue.frame[frame];
  if (f.has_yield) return 0;
  if (f.has_relaxation_time) {
    const uint32_t carried = launch_carried(g, &k, fuse, planes, out + n);
    if (!carried) return 0;
    out[n].joins_streams = joins;
    joins = false;
    n += carried;
    if (queued(g, k, OZ_STAGE_resist)) out[n++] = one_stage(OZ_STAGE_resist, q[k++].frame);
  } else {
    if (apart || start != k || queued(g, ++k, OZ_STAGE_wall_hold) != planes) return 0;
    if (planes && tension) /* which changes the velocities that walls hold */
      out[n++] = one_stage(OZ_STAGE_wall_hold, q[k++].frame);
    else if (planes)
      n = add_hold(g, q[k++].frame, aside, out, n);
    if (queued(g, k, OZ_STAGE_wall_rows)) {
      out[n] = one_stage(OZ_STAGE_wall_rows, q[k++].frame);
      out[n++].joins_streams = joins;
      joins = false;
    }
  }
  if (!queued(g, k, OZ_STAGE_residual) || q[k++].frame != frame) return 0;
  launch *l = &out[n];
  *l = one_stage(OZ_STAGE_residual, frame), l->joins_streams = joins;
  if (!apart) l->fused = fuse_bit(OZ_STAGE_bound, OZ_STAGE_residual);
  l->defers_sums = defers_start_sums(g, k - 1, lanes);
  if (queued(g, k, OZ_STAGE_cg_start)) l->scalar_stage = q[k++].stage;
  *at = k;
  return n + 1;
}
/* Planes of walls that were found on the wall stream, there; and wall_hold, where velocity_start,
 * which would come before it, is an identity. Returns the number of launches. */
uint32_t launch_aside(const gpu *g, uint32_t *at, launch *out) {
  const queue_entry *q = g->queue.entry;
  const oz_frame &f = g->queue.frame[q[*at].frame];
  uint32_t n = 0;
  out[n] = one_stage(OZ_STAGE_wall_planes, q[*at].frame);
  out[n++].on_wall_stream = true;
  ++*at;
  if (!queued(g, *at, OZ_STAGE_velocity_start) || !queued(g, *at + 1, OZ_STAGE_wall_hold) ||
      f.has_relaxation_time || f.has_yield)
    return n;
  n = add_hold(g, q[*at + 1].frame, true, out, n);
  out[n++] = one_stage(OZ_STAGE_velocity_start, q[*at].frame);
  *at += 2;
  return n;
}

/* ---- the plan ---- */

/* The bit of a stage behind the owner of the kernel, or 0. Behind curved colliders several threads
 * hold a contact, in a kernel of their own (map_kernels.h). */
uint32_t bit_behind(const gpu *g, int owner, int next) {
  return next == OZ_STAGE_wall_hold && !g->walls.flat ? 0u : fused_behind(owner, next);
}
/* Fuses the stages from place `at` on that may follow in the kernel of l. walls: as fuses_walls.
 * Returns the place behind them. */
uint32_t fuse_behind(const gpu *g, uint32_t at, int lanes, bool walls, launch *l) {
  const queue_entry *q = g->queue.entry;
  for (; at < g->queue.count; at++) {
    const fusion *row = fusion_of(l->stage, q[at].stage);
    const uint32_t bit = bit_behind(g, l->stage, q[at].stage);
    if (bit <= l->fused) break; /* each once, in its order */
    const bool any_size = row->when == WHEN_ANY_SIZE && !disabled(g, DISABLE_FUSION);
    if (!walls && !any_size) break;
    if (row->when != WHEN_NEXT && q[at].frame != l->frame) break;
    if (q[at].stage == OZ_STAGE_cg_last) l->defers_sums = defers_sums(g, at, lanes);
    l->fused |= bit;
    l->wall_frame = q[at].frame;
  }
  return at;
}
/* The next launch: a stage, the one that is fused before it, those that are fused behind it.
 * Returns the place of the next stage in the queue. */
uint32_t next_launch(const gpu *g, uint32_t at, int lanes, launch *l) {
  const queue_entry *q = g->queue.entry;
  *l = one_stage(q[at].stage, q[at].frame);
  const bool adds = at >= 2 && (l->stage == OZ_STAGE_cg_update || l->stage == OZ_STAGE_wall_load) &&
                    defers_sums(g, at - 2, lanes);
  l->defers_sums = adds || defers_sums(g, at, lanes) || defers_start_sums(g, at, lanes);
  l->first_update = adds && is_first_apply(g, at - 2, lanes);
  at++;
  const bool fuse = fuses_walls(g, lanes);

  if (fuse && at < g->queue.count && q[at].frame == l->frame) {
    const fusion *row = fusion_of(l->stage, q[at].stage);
    const bool few = row && (row->when != WHEN_FEW_REGISTERS || lanes > 1 || g->walls.flat);
    if (row && is_local(*row) && row->owner == row->second && few) {
      l->stage = row->owner, l->fused = row->bit;
      at++;
    }
  }
  at = fuse_behind(g, at, lanes, fuse, l);
  if (fuse && l->stage == OZ_STAGE_cg_update) at = fuse_advance(g, at, l);

  const bool sums =
      info[l->stage].reductions || (l->stage == OZ_STAGE_force && (l->fused & FUSE_SECOND));
  if (sums && at < g->queue.count && info[q[at].stage].kind == KIND_ONE)
    l->scalar_stage = q[at++].stage;
  return at;
}

/* Of the whole queue; returns the number of launches. */
uint32_t plan(const gpu *g, int lanes, launch *out) {
  uint32_t n = 0;
  bool join = false; /* the next launch waits for the wall stream */
  for (uint32_t at = 0; at < g->queue.count;) {
    const uint32_t first = n;
    const iteration it = iteration_at(g, at);
    if (walls_are_aside(g) && queued(g, at, OZ_STAGE_wall_planes)) {
      n += launch_aside(g, &at, out + n);
      for (uint32_t k = first; k < n; k++) out[k].joins_streams = !out[k].on_wall_stream;
      join = out[n - 1].on_wall_stream;
      continue;
    }
    const uint32_t prepared = launch_prepared(g, &at, lanes, out + n);
    n += prepared;
    if (prepared) continue;
    if (it.density)
      n += launch_iteration(g, &at, it, lanes, out + n);
    else
      at = next_launch(g, at, lanes, &out[n++]);
    out[first].joins_streams = join;
    join = false;
  }
  return n;
}
#endif
