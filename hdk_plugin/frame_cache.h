// The frames of a solver as Houdini's Cache Manager sees them. SPDX-License-Identifier: Apache-2.0
#pragma once
#include <SYS/SYS_AtomicInt.h>
#include <UT/UT_Cache.h>

#include "frames.h"
#include "turn.h"

namespace oz {

// The manager asks for the size and for memory back at any time and from any thread, also from
// inside a cook. While a cook has the frames it gets none of them, and never waits.
class FrameCache : public UT_Cache {
public:
  explicit FrameCache(Frames &frames) : myFrames(frames) {}
  FrameCache(const FrameCache &) = delete;
  // A cook waits for the manager, which is done once it has freed a few frames.
  void begin() {
    while (!myTurn.take()) {
    }
  }
  void end() {
    myBytes.store(myFrames.bytes());
    myTurn.give();
  }
  // For a look at the frames from outside a cook: false while one runs.
  bool take() { return myTurn.take(); }
  void give() { myTurn.give(); }

  const char *utGetCacheName() const override { return "Ooze Solver Frames"; }
  int64 utGetCurrentSize() const override { return myBytes.load(); }
  int64 utReduceCacheSizeBy(int64 amount) override {
    if (!myTurn.take()) return 0;
    const int64 before = myFrames.bytes();
    // The start stays: without it a simulation would begin anew.
    if (!myFrames.empty()) myFrames.trim(myFrames.first(), myFrames.first(), before - amount);
    const int64 after = myFrames.bytes();
    myBytes.store(after);
    myTurn.give();
    return before - after;
  }

private:
  Frames &myFrames;
  Turn myTurn;
  SYS_AtomicInt64 myBytes;
};

} // namespace oz
