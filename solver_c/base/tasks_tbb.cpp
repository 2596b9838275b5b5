// SPDX-License-Identifier: Apache-2.0
// THE file that meets TBB: chunks on its workers, inside an arena of our own.
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include "base/tasks.h"

namespace {

// How many of so many threads the system starts beside this one.
size_t threads_there(size_t wanted) noexcept {
  std::atomic<bool> go{false};
  std::vector<std::thread> probes;
  try {
    probes.reserve(wanted);
    while (probes.size() < wanted)
      probes.emplace_back([&go] {
        while (!go) std::this_thread::yield();
      });
  } catch (...) {
  }
  go = true;
  for (auto &probe : probes) probe.join();
  return probes.size();
}

// Until so many workers are at their tasks. Without them for a second (a busy machine, or a host
// whose own work has them) the answer is no.
bool arrived(const std::atomic<size_t> &workers, size_t wanted) noexcept {
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (workers < wanted) {
    if (std::chrono::steady_clock::now() > last) return false;
    std::this_thread::yield();
  }
  return true;
}

// Workers are started from here, one by one, before there is work for many. Left to itself TBB lets
// workers start each other, and a thread that cannot be started then ends the process. TBB is held
// to the threads that the system has at the first call, for as long as the process lives. Then each
// arena asks for one worker, which this thread starts, and keeps it until all are there. The next
// one is asked for when the last is at its task: a worker that begins looks for such requests and
// would start the next one itself.
void start_workers() {
  static std::mutex guard;
  static bool done;
  static std::unique_ptr<tbb::global_control> limit;
  const auto parallelism = tbb::global_control::max_allowed_parallelism;
  const std::lock_guard<std::mutex> lock(guard);
  if (done) return;
  const size_t most = tbb::global_control::active_value(parallelism),
               there = 1 + threads_there(most - 1);
  if (there < most) limit.reset(new tbb::global_control(parallelism, there));
  done = true;

  struct crew {
    std::atomic<bool> go{false};
    std::atomic<size_t> workers{0};
  };
  const auto all = std::make_shared<crew>();
  try {
    for (size_t k = 1; k < there && arrived(all->workers, k - 1); ++k) {
      tbb::task_arena one(1, 0);
      one.enqueue([all] {
        ++all->workers;
        while (!all->go) std::this_thread::yield();
      });
    }
  } catch (...) { // one is missing: without a limit workers would try to start it again
    const size_t begun = all->workers;
    all->go = true;
    limit.reset(new tbb::global_control(parallelism, 1 + begun));
  }
  all->go = true;
}

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

extern "C" int oz_tasks_tbb_start(void) {
  try {
    start_workers();
    return 1;
  } catch (...) {
    return 0;
  }
}

extern "C" oz_tasks *oz_tasks_tbb_create(uint32_t threads, oz_memory *memory) {
  void *room = oz_alloc(memory, sizeof(tbb_tasks));
  if (!room) return nullptr;
  try {
    // more than the machine has would only make TBB print a warning
    int most = tbb::info::default_concurrency();
    int limit = threads && threads < static_cast<uint32_t>(most) ? static_cast<int>(threads) : most;
    if (limit > 1) start_workers();
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
