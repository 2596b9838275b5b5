/* Times of stages and of the other parts of a substep (ooze_profile_start, OOZE_PROFILE=1).
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda/gpu.h"

namespace OZ_NAMESPACE {

#if defined(OZ_CUDA_HOST)
timer::timer(gpu *gg, int w) : g(gg), which(w) { g->profile.calls[w]++; }
timer::~timer() {}
#else
timer::timer(gpu *gg, int w) : g(gg), which(w) {
  if (g->profile.on) cudaEventRecord(static_cast<cudaEvent_t>(g->profile.event[0]), g->stream);
}
timer::~timer() {
  float ms = 0.0f;
  if (!g->profile.on) return;
  cudaEventRecord(static_cast<cudaEvent_t>(g->profile.event[1]), g->stream);
  if (cudaEventSynchronize(static_cast<cudaEvent_t>(g->profile.event[1])) != cudaSuccess) return;
  cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(g->profile.event[0]),
                       static_cast<cudaEvent_t>(g->profile.event[1]));
  g->profile.seconds[which] += 1e-3 * (double)ms;
  g->profile.calls[which]++;
}
#endif

void profile(oz_backend *b, oz_stage stage, double *seconds, uint64_t *calls) {
  gpu *g = GPU(b);
  const uint32_t k = (uint32_t)stage;
  *seconds = k < TIMER_COUNT ? g->profile.seconds[k] : 0.0;
  *calls = k < TIMER_COUNT ? g->profile.calls[k] : 0;
}
void profile_start(oz_backend *b) {
  gpu *g = GPU(b);
  on_device here(g);
  if (flush(g, nullptr) >= 0) g->profile.on = 1;
}
void profile_reset(oz_backend *b) {
  gpu *g = GPU(b);
  memset(g->profile.seconds, 0, sizeof g->profile.seconds);
  memset(g->profile.calls, 0, sizeof g->profile.calls);
}

} // namespace OZ_NAMESPACE
