// Frames of a simulation on disk, in Houdini's own geometry files. SPDX-License-Identifier:
// Apache-2.0
#pragma once
#include <string>

#include "host.h"

namespace oz {

struct Disk {
  bool on = false;
  int every = 1, trail = 0; // of how many frames one is written, and how many are left there
  int64 written = 0, read = 0;
  void ask(const Parms &parms);
  // Whether a frame, so many after the start, is one to write.
  bool wants(int after) const { return on && after > 0 && after % every == 0; }
};

// The file is there when it is whole. `chain` goes into it: the hash of its origin.
bool save_frame(const std::string &path, const GU_Detail &state, uint64_t chain, Report &report);
enum class Loaded { NONE, WHOLE, STALE, DAMAGED };
// WHOLE: the file was made of that chain, and `out` is the saved detail.
Loaded load_frame(const std::string &path, uint64_t chain, GU_Detail &out);
void remove_frame(const std::string &path);

} // namespace oz
