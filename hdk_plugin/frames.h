// The frames of a simulation that are in memory, each with the hash of its origin.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <GU/GU_DetailHandle.h>

#include <map>

#include "host.h"

namespace oz {

struct Frame {
  // Empty where it had to make room: its hashes stay, since later frames were made by way of it.
  GU_DetailHandle detail;
  uint64_t parms = 0, inputs = 0; // hashes of the node's parameters and its inputs at that frame
  int64 bytes = 0;
  int64 checked = 0; // the look at the network that found both hashes to hold
};

// A copy of a detail, whose pages the two share until one is written.
GU_DetailHandle copy_of(const GU_Detail &gdp);
// NULL for an empty handle.
const GU_Detail *geometry(const GU_DetailHandle &handle);

class Frames {
public:
  void clear() { myFrames.clear(); }
  bool empty() const { return myFrames.empty(); }
  size_t count() const; // with a detail
  int64 bytes() const;
  int first() const { return myFrames.begin()->first; }
  // The last frame up to this one that has a detail, or NULL; its number in `found`.
  const Frame *before(int frame, int &found) const;
  void keep(int frame, const GU_Detail &state, uint64_t parms, uint64_t inputs, int64 look);
  // A frame that is to come, or on disk: the hash of its origin, without a detail.
  void expect(int frame, uint64_t parms, uint64_t inputs, int64 look);
  bool knows(int frame) const { return myFrames.count(frame) > 0; }
  void put(int frame, const GU_Detail &state); // of one that is known
  // Of all that a frame and those before it are made of: equal ones, equal frames.
  uint64_t chain(int frame) const;
  // The oldest go until the others fit, but neither the start nor this one.
  void trim(int start, int frame, int64 room);
  // Frames up to this one that the look has not seen yet: `holds(number, frame)` tells whether the
  // origin of one is still the same. The first that is not goes, with all after it. False where
  // `holds` could not tell, which is -1.
  template <class Holds> bool verify(int upto, int64 look, Holds holds) {
    for (auto at = myFrames.begin(); at != myFrames.end() && at->first <= upto; ++at) {
      if (at->second.checked == look) continue;
      const int told = holds(at->first, at->second);
      if (told < 0) return false;
      if (told == 0) {
        myFrames.erase(at, myFrames.end());
        return true;
      }
      at->second.checked = look;
    }
    return true;
  }

private:
  std::map<int, Frame> myFrames;
};

} // namespace oz
