/* What is launched for what waits: neighbours in the queue that become one kernel, and what goes to
 * another stream. Included by queue.cu, inside its namespace. */
#ifndef OZ_CUDA_PLAN_H
#define OZ_CUDA_PLAN_H

/* The bit of `next` if it may run inside `stage`'s kernel: it touches only the particle that the
 * thread has just finished. */
uint32_t joins(int stage, int next) {
  if (stage == OZ_STAGE_force)
    return next == OZ_STAGE_wall_filter ? 1u : next == OZ_STAGE_cg_last ? (uint32_t)JOIN_BOTH : 0u;
  if (stage == OZ_STAGE_density_lambda) return next == OZ_STAGE_wall_press ? 1u : 0u;
  if (stage == OZ_STAGE_density_move || stage == OZ_STAGE_conform_move)
    return next == OZ_STAGE_wall_project   ? (uint32_t)JOIN_PROJECT
           : next == OZ_STAGE_wall_density ? (uint32_t)JOIN_DENSITY
                                           : 0u;
  if (stage == OZ_STAGE_advance)
    return next == OZ_STAGE_wall_density    ? 2u
           : next == OZ_STAGE_wall_project  ? 4u
           : next == OZ_STAGE_density_bound ? 8u
                                            : 0u;
  if (stage == OZ_STAGE_velocity_start || stage == OZ_STAGE_kick)
    return next == OZ_STAGE_wall_hold ? 2u : 0u;
  if (stage == OZ_STAGE_filter_move) return next == OZ_STAGE_wall_drag ? 1u : 0u;
  if (stage == OZ_STAGE_conform_update) return next == OZ_STAGE_finish ? (uint32_t)JOIN_BOTH : 0u;
  if (stage == OZ_STAGE_material) return next == OZ_STAGE_predict ? 4u : 0u;
  return 0;
}

struct launch {
  int stage;
  uint32_t frame, wall_frame, walls, packed;
  int one;
  /* cg_apply leaves its sums to cg_update, residual to the first of these; wall_mirror and the move
   * run side by side */
  bool left, beside;
  /* it goes to the walls' stream; it comes after what went to either (ahead.cu) */
  bool aside, joins;
  bool first; /* cg_update, to which residual has left its sums */
};

/* Whether bound, velocity_start and residual are one kernel, where all of it waits. */
bool keeps_bound(const gpu *g) { return !g->no_join && lanes_for(g) <= STORED_ABOVE; }

/* With one thread a particle the further registers of walls cost more than their launch, unless all
 * are on the device at once. */
bool joins_walls(const gpu *g, int lanes) {
  return (lanes > 1 || even_memory(g, blocks_of(g), 0)) && !g->no_join;
}

/* Whether cg_update adds up what cg_apply, or cg_last that has joined force, at place `at` of the
 * queue, has summed: where both wait, and blocks are no more than there is room for at once. */
bool leaves(const gpu *g, uint32_t at, int lanes) {
  const waiting *q = g->queue;
  if (g->no_left || !g->frame[q[at].frame].near_c || !joins_walls(g, lanes) ||
      blocks_of(g) > 8 * g->processors)
    return false;
  if (at + 1 >= g->queued ||
      (q[at].stage != OZ_STAGE_cg_apply && q[at].stage != OZ_STAGE_cg_last) ||
      q[at + 1].stage != OZ_STAGE_cg_steps)
    return false;
  if (q[at].stage == OZ_STAGE_cg_last) {
    uint32_t k = at;
    if (k && q[k - 1].stage == OZ_STAGE_wall_filter) k--;
    if (!k || q[k - 1].stage != OZ_STAGE_force || q[k - 1].frame != q[at].frame) return false;
  }
  at += 2;
  if (at < g->queued && q[at].stage == OZ_STAGE_wall_load) at++;
  return at < g->queued && q[at].stage == OZ_STAGE_cg_update;
}

/* Whether the first cg_update adds up what residual, at place `at`, has summed: it does so for
 * cg_apply, and nobody else asks. */
bool leaves_start(const gpu *g, uint32_t at, int lanes) {
  const waiting *q = g->queue;
  const auto is = [&](uint32_t k, int stage) { return k < g->queued && q[k].stage == stage; };
  if (!is(at, OZ_STAGE_residual) || !is(at + 1, OZ_STAGE_cg_start) || !is(at + 2, OZ_STAGE_force))
    return false;
  return leaves(g, is(at + 3, OZ_STAGE_wall_filter) ? at + 4 : at + 3, lanes);
}
/* And whether it is the first, whose cg_apply is at place `at`. */
bool starts(const gpu *g, uint32_t at, int lanes) {
  const waiting *q = g->queue;
  if (at && q[at - 1].stage == OZ_STAGE_wall_filter) at--;
  return at >= 3 && leaves_start(g, at - 3, lanes);
}

/* A position iteration from place `at` on: density_lambda, wall_press, strain; conform_move,
 * wall_mirror, density_move. Where all of it waits, it becomes two kernels (position.h). */
struct iteration {
  /* places of strain, conform_move and density_move; 0: there is none */
  uint32_t strain, moves, density;
  bool press, mirror;
};
iteration iteration_at(const gpu *g, uint32_t at) {
  const waiting *q = g->queue;
  iteration it = {0, 0, 0, false, false};
  const auto is = [&](uint32_t k, int stage) { return k < g->queued && q[k].stage == stage; };
  if (!is(at, OZ_STAGE_density_lambda)) return it;
  const oz_frame &f = g->frame[q[at].frame];
  if (!f.carried || g->no_both) return it;
  uint32_t k = at + 1;
  it.press = is(k, OZ_STAGE_wall_press);
  k += it.press;
  if (!is(k, OZ_STAGE_strain) || !is(k + 1, OZ_STAGE_conform_move) || q[k].frame != q[at].frame ||
      q[k + 1].frame != q[at].frame)
    return it;
  const uint32_t strain = k, moves = k + 1;
  k += 2;
  it.mirror = is(k, OZ_STAGE_wall_mirror);
  k += it.mirror;
  if (is(k, OZ_STAGE_density_move)) it.strain = strain, it.moves = moves, it.density = k;
  return it;
}

/* The last cg_update takes advance along, with the walls before and after it and the bound of
 * densities; frames differ in that there is a last one. */
uint32_t join_advance(const gpu *g, uint32_t at, launch *l) {
  const waiting *q = g->queue;
  const auto is = [&](uint32_t k, int stage) { return k < g->queued && q[k].stage == stage; };
  const bool clamp = is(at, OZ_STAGE_wall_clamp);
  oz_frame f = g->frame[l->frame];
  if (!f.last || !is(at + clamp, OZ_STAGE_advance)) return at;
  const uint32_t frame = q[at + clamp].frame;
  f.last = 0;
  if (q[at].frame != frame || memcmp(&f, &g->frame[frame], sizeof f) != 0) return at;
  at += 1u + clamp;
  l->walls |= JOIN_ADVANCE | (clamp ? 1u << ADVANCE_BITS : 0u);
  for (uint32_t bit, last = 1; at < g->queued && q[at].frame == frame &&
                               (bit = joins(OZ_STAGE_advance, q[at].stage)) > last;
       at++)
    l->walls |= bit << ADVANCE_BITS, last = bit;
  return at;
}

/* Takes the next launch off the queue: a stage and what joins it. */
uint32_t next_launch(const gpu *g, uint32_t at, int lanes, launch *l) {
  const waiting *q = g->queue;
  l->stage = q[at].stage;
  l->frame = l->wall_frame = q[at].frame;
  l->walls = l->packed = 0;
  l->one = -1;
  l->beside = l->aside = l->joins = l->first = false;
  const bool adds = at >= 2 && (l->stage == OZ_STAGE_cg_update || l->stage == OZ_STAGE_wall_load) &&
                    leaves(g, at - 2, lanes);
  l->left = adds || leaves(g, at, lanes) || leaves_start(g, at, lanes);
  l->first = adds && starts(g, at - 2, lanes);
  at++;
  const bool join = joins_walls(g, lanes);
  const int host = l->stage == OZ_STAGE_wall_load    ? OZ_STAGE_cg_update
                   : l->stage == OZ_STAGE_wall_clamp ? OZ_STAGE_advance
                   : l->stage == OZ_STAGE_wall_mirror
                       ? OZ_STAGE_density_move
                       :
                       /* curved walls take 96 registers: not one wave of large scenes */
                       l->stage == OZ_STAGE_wall_planes && (lanes > 1 || g->flat)
                       ? OZ_STAGE_velocity_start
                       : -1;
  if (join && host >= 0 && at < g->queued && q[at].stage == host && q[at].frame == l->frame) {
    l->stage = host; /* does the particle's walls first */
    l->walls = 1;
    at++;
  }
  while (join && at < g->queued) {
    const uint32_t bit = joins(l->stage, q[at].stage);
    /* wants to be in the same frame */
    const bool same = info[l->stage].kind == KIND_MAP || bit == JOIN_BOTH;
    /* each once, in its order */
    if (!bit || bit <= l->walls || (same && q[at].frame != l->frame)) break;
    if (q[at].stage == OZ_STAGE_cg_last) l->left = leaves(g, at, lanes);
    l->walls |= bit;
    l->wall_frame = q[at++].frame;
  }
  if (join && l->stage == OZ_STAGE_cg_update) at = join_advance(g, at, l);
  const bool sums =
      info[l->stage].reductions || (l->stage == OZ_STAGE_force && (l->walls & JOIN_BOTH));
  if (sums && at < g->queued && info[q[at].stage].kind == KIND_ONE) l->one = q[at++].stage;
  return at;
}

/* The same of a whole iteration, as two launches and those of walls that do not join them. Returns
 * their number. */
uint32_t launch_iteration(const gpu *g, uint32_t *at, const iteration &it, int lanes, launch *out) {
  const waiting *q = g->queue;
  /* where blocks wait for the slowest, its further walk would be all of it */
  const bool join = joins_walls(g, lanes), shared = g->frame[q[*at].frame].near_c != nullptr,
             images = join && !shared;
  const uint32_t frame = q[*at].frame;
  uint32_t n = 0;
  out[n++] = {OZ_STAGE_density_lambda,
              frame,
              frame,
              JOIN_BOTH | (it.press && join ? 1u : 0u),
              1u,
              -1,
              false,
              false,
              false,
              false,
              false};
  if (it.press && !join)
    out[n++] = {OZ_STAGE_wall_press, frame, frame, 0u, 1u, -1, false, false, false, false, false};
  /* before the move, whose end adds to what it wrote; nobody gathers y there */
  if (it.mirror && !images)
    out[n++] = {OZ_STAGE_wall_mirror,    frame, frame, 0u,   1u, -1, false,
                shared && !g->no_beside, false, false, false};
  launch *move = &out[n++];
  *move = {OZ_STAGE_conform_move,
           frame,
           q[it.density].frame,
           JOIN_BOTH | (it.mirror && images ? (uint32_t)JOIN_MIRROR : 0u),
           1u,
           -1,
           false,
           it.mirror && shared && !g->no_beside,
           false,
           false,
           false};
  *at = it.density + 1;
  for (uint32_t bit; join && *at < g->queued &&
                     (bit = joins(OZ_STAGE_density_move, q[*at].stage)) > (move->walls & 7u);
       ++*at)
    move->walls |= bit, move->wall_frame = q[*at].frame;
  return n;
}
launch alone(int stage, uint32_t frame, bool aside) {
  return {stage, frame, frame, 0u, 0u, -1, false, false, aside, false, false};
}
/* wall_hold after wall_planes, the last of n launches: in its kernel, where one frame serves both.
 * Returns the number of launches. */
uint32_t add_hold(const gpu *g, uint32_t frame, bool aside, launch *out, uint32_t n) {
  if (out[n - 1].frame == frame && !g->no_join)
    out[n - 1].walls = JOIN_HOLD;
  else
    out[n++] = alone(OZ_STAGE_wall_hold, frame, aside);
  return n;
}
/* bound, velocity_start and residual from place `at` on, with walls in between: where nothing
 * relaxes, velocity_start does nothing that walls ask for, so that these come first, and then all
 * three in one kernel (velocity.h). Returns the number of launches; 0: something else waits. */
uint32_t launch_prepared(const gpu *g, uint32_t *at, int lanes, launch *out) {
  const waiting *q = g->queue;
  const auto is = [&](uint32_t k, int stage) { return k < g->queued && q[k].stage == stage; };
  if (!is(*at, OZ_STAGE_bound) || !keeps_bound(g)) return 0;
  uint32_t k = *at + 1, n = 0;
  const bool planes = is(k, OZ_STAGE_wall_planes);
  if (planes) out[n++] = alone(OZ_STAGE_wall_planes, q[k++].frame, g->walls_aside);
  if (!is(k, OZ_STAGE_velocity_start)) return 0;
  const uint32_t frame = q[k++].frame;
  const oz_frame &f = g->frame[frame];
  if (f.relaxing || f.yielding || is(k, OZ_STAGE_wall_hold) != planes) return 0;
  if (planes) n = add_hold(g, q[k++].frame, g->walls_aside, out, n);
  if (!is(k, OZ_STAGE_residual) || q[k++].frame != frame) return 0;
  out[n] = alone(OZ_STAGE_residual, frame, false);
  out[n].walls = JOIN_BOTH, out[n].joins = g->walls_aside,
  out[n].left = leaves_start(g, k - 1, lanes);
  if (is(k, OZ_STAGE_cg_start)) out[n].one = q[k++].stage;
  *at = k;
  return n + 1;
}
/* Planes of walls that were found aside, there; and what they hold, where velocities are by now
 * what the projection begins with, and velocity_start, which would come before, does nothing that
 * this asks for. Returns the number of launches. */
uint32_t launch_aside(const gpu *g, uint32_t *at, launch *out) {
  const waiting *q = g->queue;
  const oz_frame &f = g->frame[q[*at].frame];
  const auto is = [&](uint32_t k, int stage) { return k < g->queued && q[k].stage == stage; };
  uint32_t n = 0;
  out[n++] = alone(OZ_STAGE_wall_planes, q[*at].frame, true);
  ++*at;
  if (!is(*at, OZ_STAGE_velocity_start) || !is(*at + 1, OZ_STAGE_wall_hold) || f.relaxing ||
      f.yielding)
    return n;
  n = add_hold(g, q[*at + 1].frame, true, out, n);
  out[n++] = alone(OZ_STAGE_velocity_start, q[*at].frame, false);
  *at += 2;
  return n;
}
/* All that waits. */
uint32_t plan(const gpu *g, int lanes, launch *out) {
  uint32_t n = 0;
  bool waits = false;
  for (uint32_t at = 0; at < g->queued;) {
    const uint32_t first = n;
    const iteration it = iteration_at(g, at);
    if (g->walls_aside && g->queue[at].stage == OZ_STAGE_wall_planes) {
      n += launch_aside(g, &at, out + n);
      for (uint32_t k = first; k < n; k++) out[k].joins = !out[k].aside;
      waits = out[n - 1].aside;
      continue;
    }
    const uint32_t prepared = launch_prepared(g, &at, lanes, out + n);
    n += prepared;
    if (prepared) continue;
    if (it.density)
      n += launch_iteration(g, &at, it, lanes, out + n);
    else
      at = next_launch(g, at, lanes, &out[n++]);
    out[first].joins = waits;
    waits = false;
  }
  return n;
}
#endif
