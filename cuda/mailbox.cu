/* The mailbox: posts of the device status, and the host's wait for them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda/mailbox.h"

#include <atomic>

namespace OZ_NAMESPACE {

status_post next_post(gpu *g) {
  return status_post{as<uint32_t>(g->mailbox.device), reinterpret_cast<uint32_t *>(g->mailbox.host),
                     ++g->mailbox.number};
}
#if defined(OZ_CUDA_HOST)
ooze_result post_status(gpu *g, ooze_message *) {
  memcpy(g->mailbox.host, g->mailbox.device.at, sizeof(device_status));
  return OOZE_OK;
}
ooze_result post_status_on_stream(gpu *g, ooze_message *why) { return post_status(g, why); }
ooze_result post_status_deferred(gpu *g, ooze_message *why) { return post_status(g, why); }
ooze_result await_status(gpu *, ooze_message *) { return OOZE_OK; }
#else
namespace {
__global__ void post_kernel(const __grid_constant__ status_post t) { post_status(t); }
} // namespace
/* A kernel writes the status into the host's memory: a few microseconds less than a copy and a
 * synchronisation. */
ooze_result post_status(gpu *g, ooze_message *why) {
  /* the status has results of both side streams */
  if (g->streams.unjoined & (UNJOINED_CONTACTS | UNJOINED_LISTS)) OZ_TRY(join_streams(g, why));
  return post_status_on_stream(g, why);
}
ooze_result post_status_on_stream(gpu *g, ooze_message *why) {
  if (g->mailbox.post == POST_DEFERRED) g->mailbox.post = POST_NONE;
  post_kernel<<<1, 32, 0, g->stream>>>(next_post(g));
  OZ_CUDA(cudaGetLastError(), "reading results");
  return OOZE_OK;
}
/* A recorded graph has no post numbers of its own, so small scenes post at once. */
ooze_result post_status_deferred(gpu *g, ooze_message *why) {
  OZ_EXPECT_STATE(g->mailbox.post != POST_OWED);
  if (lanes_for(g) > COMPUTED_GRADIENT_LANES || g->profile.on ||
      disabled(g, DISABLE_STATUS_CARRIERS))
    return post_status(g, why);
  g->mailbox.post = POST_DEFERRED;
  return OOZE_OK;
}
ooze_result await_status(gpu *g, ooze_message *why) {
  if (g->mailbox.post == POST_DEFERRED) OZ_TRY(post_status(g, why));
  const uint32_t number = g->mailbox.number;
  const volatile uint32_t *now =
      reinterpret_cast<uint32_t *>(g->mailbox.host) + sizeof(device_status) / 4;
  for (uint32_t n = 1; *now != number; n++)
    if (n % 1024 == 0) {
      /* the stream cannot be idle before the kernel that posts is done; join_sort orders posts of
       * the wall stream */
      const cudaError_t e = cudaStreamQuery(g->stream);
      if (e != cudaErrorNotReady && *now != number)
        return fail_cuda(g, e == cudaSuccess ? cudaErrorUnknown : e, "a substep", why);
    }
  std::atomic_thread_fence(std::memory_order_acquire);
  return OOZE_OK;
}
#endif
/* The status, once all kernels so far are done. */
ooze_result fetch_status(gpu *g, ooze_message *why) {
  OZ_TRY(post_status(g, why));
  OZ_TRY(await_status(g, why));
  g->staging.used = 0;
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
