// SPDX-License-Identifier: Apache-2.0
// THE file that meets TBB: chunks on its workers, inside an arena of our own.
#include <atomic>
#include <new>

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include "base/tasks.h"

namespace {

struct tbb_tasks {
  oz_tasks base; // first, so that a pointer to it is a pointer to this
  oz_memory *memory;
  tbb::task_arena arena;
};

// Bodies take the next chunk from the counter, so that each runs once even if TBB gives up half
// way.
struct job {
  std::atomic<uint32_t> next;
  uint32_t chunks;
  oz_chunk_fn fn;
  void *arg;
  void one() noexcept {
    uint32_t i = next.fetch_add(1, std::memory_order_relaxed);
    if (i < chunks) fn(arg, i);
  }
};

void run(oz_tasks *t, uint32_t chunks, oz_chunk_fn fn, void *arg) {
  tbb_tasks *self = reinterpret_cast<tbb_tasks *>(t);
  job j = {{0}, chunks, fn, arg};
  if (chunks > 1) {
    try {
      self->arena.execute([&j] {
        tbb::parallel_for(
            tbb::blocked_range<uint32_t>(0, j.chunks, 1),
            [&j](const tbb::blocked_range<uint32_t> &range) {
              for (uint32_t i = range.begin(); i < range.end(); ++i) j.one();
            },
            tbb::simple_partitioner());
      });
    } catch (...) { // out of memory for its tasks: the rest runs here
    }
  }
  while (j.next.load(std::memory_order_relaxed) < chunks) j.one();
}

void destroy(oz_tasks *t) {
  tbb_tasks *self = reinterpret_cast<tbb_tasks *>(t);
  oz_memory *memory = self->memory;
  self->~tbb_tasks();
  oz_free(memory, self);
}

} // namespace

extern "C" oz_tasks *oz_tasks_tbb_create(uint32_t threads, oz_memory *memory) {
  void *room = oz_alloc(memory, sizeof(tbb_tasks));
  if (!room) return nullptr;
  try {
    // more than the machine has would only make TBB print a warning
    int most = tbb::info::default_concurrency();
    int limit = threads && threads < static_cast<uint32_t>(most) ? static_cast<int>(threads) : most;
    tbb_tasks *self =
        new (room) tbb_tasks{{run, destroy, "tbb", 0}, memory, tbb::task_arena(limit)};
    self->arena.initialize();
    self->base.threads = static_cast<uint32_t>(self->arena.max_concurrency());
    return &self->base;
  } catch (...) {
    oz_free(memory, room);
    return nullptr;
  }
}
