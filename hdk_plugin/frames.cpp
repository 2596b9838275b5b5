// SPDX-License-Identifier: Apache-2.0
#include "frames.h"

#include <string>

namespace oz {

GU_DetailHandle copy_of(const GU_Detail &gdp) {
  GU_DetailHandle handle;
  handle.allocateAndSet(new GU_Detail);
  handle.gdpNC()->replaceWith(gdp);
  return handle;
}

const GU_Detail *geometry(const GU_DetailHandle &handle) {
  return handle.isValid() ? handle.gdp() : nullptr;
}

int64 Frames::bytes() const {
  int64 sum = 0;
  for (auto &f : myFrames) sum += f.second.bytes;
  return sum;
}

const Frame *Frames::before(int frame, int &found) const {
  for (auto at = myFrames.upper_bound(frame); at != myFrames.begin();) {
    --at;
    if (!at->second.detail.isValid()) continue;
    found = at->first;
    return &at->second;
  }
  return nullptr;
}

size_t Frames::count() const {
  size_t n = 0;
  for (auto &f : myFrames) n += f.second.detail.isValid();
  return n;
}

void Frames::expect(int frame, uint64_t parms, uint64_t inputs, int64 look) {
  Frame f;
  f.parms = parms;
  f.inputs = inputs;
  f.checked = look;
  myFrames[frame] = f;
}

void Frames::put(int frame, const GU_Detail &state) {
  Frame &f = myFrames[frame];
  f.detail = copy_of(state);
  f.bytes = int64(state.getMemoryUsage(true));
}

void Frames::keep(int frame, const GU_Detail &state, uint64_t parms, uint64_t inputs, int64 look) {
  expect(frame, parms, inputs, look);
  put(frame, state);
}

uint64_t Frames::chain(int frame) const {
  const std::string version = ooze_version_text();
  uint64_t h = ooze_hash(version.data(), version.size(), 0);
  for (auto &f : myFrames) {
    if (f.first > frame) break;
    const uint64_t made[3] = {uint64_t(f.first), f.second.parms, f.second.inputs};
    h = ooze_hash(made, sizeof made, h);
  }
  return h;
}

void Frames::trim(int start, int frame, int64 room) {
  int64 used = bytes();
  for (auto &f : myFrames) {
    if (used <= room) return;
    if (f.first == start || f.first == frame) continue;
    used -= f.second.bytes;
    f.second.bytes = 0;
    f.second.detail = GU_DetailHandle();
  }
}

} // namespace oz
