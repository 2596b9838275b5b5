/* Runs stages. They are queued until the host needs a result, and launched then (stage_launch.cu).
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda/fusion.h"

namespace OZ_NAMESPACE {

/* Sums of a stage, from the last post. */
static ooze_result read_sums(gpu *g, int reductions, double *sums, ooze_message *why) {
  OZ_TRY(await_status(g, why));
  g->staging.used = 0;
  if (g->sorter.box_known == BOX_POSTED) {
    g->sorter.box_known = BOX_KNOWN;
    keep_box(g);
  }
  for (int r = 0; r < reductions; r++) sums[r] = g->mailbox.host->scalar[OZ_SCALAR_SUM + r];
  if (g->mailbox.counts_reset) sums[0] = (double)g->mailbox.host->reset;
  g->mailbox.counts_reset = false;
  return OOZE_OK;
}

/* Puts a stage on the queue, and its frame among the distinct ones. */
static ooze_result enqueue(gpu *g, const oz_frame *f, oz_stage stage, ooze_message *why) {
  /* an iteration is queued as a whole */
  const bool room = stage == OZ_STAGE_density_lambda
                        ? g->queue.count + 16 < QUEUE && g->queue.frame_count + 2 < FRAMES
                        : g->queue.count < QUEUE;
  if (!room) OZ_TRY(flush(g, why));
  /* of the stages behind `finish` only the rest filter leaves positions alone */
  const bool filter = stage == OZ_STAGE_filter_gradient || stage == OZ_STAGE_filter_move ||
                      stage == OZ_STAGE_settle || stage == OZ_STAGE_wall_drag ||
                      stage == OZ_STAGE_flow_rate || stage == OZ_STAGE_flow_rate_wall;
  if (!filter) {
    g->sorter.box_known = BOX_UNKNOWN;
    cancel_presort(g);
  }
  /* wall contacts, if any, have been searched for */
  if (stage == OZ_STAGE_velocity_start) OZ_TRY(post_pending(g, why));

  oz_frame copy = *f;
  copy.wall_count = rounded_launch(g, f->wall_count);
  if (stage_kind(stage) != KIND_ITEM) copy.time = 0.0f; /* read by counted random numbers alone */
  uint32_t k = 0;
  while (k < g->queue.frame_count && memcmp(&g->queue.frame[k], &copy, sizeof copy) != 0) k++;
  if (k == FRAMES) {
    OZ_TRY(flush(g, why));
    k = 0;
  }
  if (k == g->queue.frame_count) g->queue.frame[k] = copy, g->queue.frame_count = k + 1;
  g->queue.entry[g->queue.count++] = {(uint16_t)stage, (uint16_t)k};
  return OOZE_OK;
}
/* The queue up to finish. Its kernel finds the box for the next sort as well, and counts particles
 * by cell if the sort may follow at once. */
static ooze_result flush_finish(gpu *g, const oz_frame *f, bool may_sort, ooze_message *why) {
  const bool box = !disabled(g, DISABLE_STATUS_CARRIERS);
  if (box) OZ_TRY(clear_box(g, why));
  const bool presorts = may_sort && may_presort(g, f);
  OZ_EXPECT_STATE(g->sorter.presort == PRESORT_NONE);
  if (presorts) g->sorter.presort = PRESORT_ALLOWED;
  /* the cell table is cleared on a side stream */
  if (presorts && (g->streams.unjoined & (UNJOINED_CONTACTS | UNJOINED_LISTS)))
    OZ_TRY(join_streams(g, why));
  g->sorter.at_finish = !box ? FINISH_ONLY : presorts ? FINISH_BOX_AND_COUNT : FINISH_BOX;
  g->sorter.counted = false;
  const ooze_result flushed = flush(g, why);
  g->sorter.at_finish = FINISH_ONLY;
  OZ_TRY(flushed);
  if (!box) OZ_TRY(launch_box(g, f, why));
  /* deferred: by presort, or with the filter */
  OZ_TRY(box ? post_status_deferred(g, why) : post_status(g, why));
  g->sorter.box_known = g->sorter.cell > 0.0f ? BOX_POSTED : BOX_UNKNOWN;
  g->mailbox.counts_reset = box;
  return presorts ? record_finish(g, why) : OOZE_OK;
}

ooze_result run(oz_backend *b, const oz_frame *f, oz_stage stage, double *sums, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  if (g->lost_result)
    return oz_fail(why, g->lost_result, "cuda: the device failed before; make a new solver");
  const int reductions = stage_reductions(stage), kind = stage_kind(stage);
  const bool no_walls = kind == KIND_WALL && f->wall_count == 0,
             no_links = (kind == KIND_LINK || kind == KIND_DENSITY_LINK) && !f->link_row;
  if (f->count == 0 || no_walls || no_links) {
    for (int r = 0; sums && r < reductions; r++) sums[r] = 0.0;
    return OOZE_OK;
  }
  if (stage != OZ_STAGE_nozzle) g->lists.prebuilt = PREBUILT_NONE; /* it moves no particle */
  /* these change state that roll_back does not restore */
  const bool commits = stage == OZ_STAGE_slip_take || stage == OZ_STAGE_sharpen ||
                       stage == OZ_STAGE_conform_update || stage == OZ_STAGE_law_update ||
                       stage == OZ_STAGE_finish;
  if (g->mailbox.pending && commits) {
    OZ_TRY(flush(g, why));
    OZ_TRY(check_pending(g, why));
  }
  OZ_TRY(enqueue(g, f, stage, why));
  if (stage == OZ_STAGE_velocity_start) g->queue.starts = true;
  if (stage == OZ_STAGE_cg_update && g->queue.starts) {
    /* The first iteration and all before it: few particles are done with the kernels launched so
     * far before the host has queued the others. */
    g->queue.starts = false;
    if (!f->last_iteration && !sums && lanes_for(g) <= COMPUTED_GRADIENT_LANES)
      OZ_TRY(flush_stages(g, why));
  }
  if (stage == OZ_STAGE_finish) {
    OZ_TRY(flush_finish(g, f, !sums, why));
  } else if (sums) {
    if (g->sorter.presort == PRESORT_ALLOWED) g->sorter.presort = PRESORT_NONE;
    g->sorter.counted = false;
    OZ_TRY(flush(g, why));
    OZ_TRY(post_status(g, why));
    g->sorter.box_known = BOX_UNKNOWN;
    g->mailbox.counts_reset = false;
  }
  return sums ? read_sums(g, reductions, sums, why) : OOZE_OK;
}

/* Stages behind `finish` are launched before the host waits for its sums. */
ooze_result finished(oz_backend *b, double *sums, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  *sums = 0.0;
  if (!g->count) return OOZE_OK;
  if (g->sorter.presort == PRESORT_ALLOWED) OZ_TRY(presort(g, why));
  OZ_TRY(flush(g, why));
  OZ_TRY(join_sort(g, why));
  return read_sums(g, stage_reductions(OZ_STAGE_finish), sums, why);
}

} // namespace OZ_NAMESPACE
