// The frames of a solver as Houdini's Cache Manager sees them. SPDX-License-Identifier: Apache-2.0
#pragma once
#include <UT/UT_Cache.h>

#include "frames.h"

namespace oz {

// The manager shows its size and may ask for memory back at any time: not while a cook runs, whose
// frames they are.
class FrameCache : public UT_Cache {
public:
  explicit FrameCache(Frames &frames) : myFrames(frames) {}
  FrameCache(const FrameCache &) = delete;
  void begin() { myBusy = true; }
  void end() {
    myBytes = myFrames.bytes();
    myBusy = false;
  }

  const char *utGetCacheName() const override { return "Ooze Solver Frames"; }
  int64 utGetCurrentSize() const override { return myBytes; }
  int64 utReduceCacheSizeBy(int64 amount) override {
    const int64 before = myBytes;
    if (myBusy || myFrames.empty()) return 0;
    // The start stays: without it a simulation would begin anew.
    myFrames.trim(myFrames.first(), myFrames.first(), before - amount);
    myBytes = myFrames.bytes();
    return before - myBytes;
  }

private:
  Frames &myFrames;
  int64 myBytes = 0;
  bool myBusy = false;
};

} // namespace oz
