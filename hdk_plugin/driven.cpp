// SPDX-License-Identifier: Apache-2.0
#include "driven.h"

#include <GA/GA_Handle.h>

#include <map>
#include <string>

namespace oz {

int32 driven_number(const Filling::Part &part, const std::string &source) {
  const ooze_mesh &m = part.mesh.m;
  uint64_t hash = ooze_hash(part.name.data(), part.name.size(), 0);
  hash = ooze_hash(source.data(), source.size(), hash);
  hash = ooze_hash(m.triangles, 3 * size_t(m.triangle_count) * sizeof *m.triangles, hash);
  return int32(1 + (hash & 0x3fffffff));
}

std::vector<float> anchors_of(const Filling::Part &part) {
  const ooze_mesh &m = part.mesh.m;
  std::vector<float> out;
  for (uint64_t i = 0; i < part.end - part.begin; ++i) {
    const uint64_t corner = ooze_hash(&i, sizeof i, 0) % (3 * m.triangle_count);
    const float *p = m.positions + 3 * size_t(m.triangles[corner]);
    out.insert(out.end(), p, p + 3);
  }
  return out;
}

namespace {

struct Anchors {
  std::map<uint64_t, UT_Vector3> at; // by the number of the particle within its body
  bool driven = false;
};

// Of a source: particles count from 0 on in the order of their points.
std::map<int, Anchors> of_source(const GU_Detail *gdp) {
  std::map<int, Anchors> out;
  if (!gdp) return out;
  GA_ROHandleI number(gdp->findPointAttribute("body")), driven(gdp->findPointAttribute("driven"));
  GA_ROHandleV3 anchor(gdp->findPointAttribute("anchor"));
  if (!number.isValid() || !driven.isValid() || !anchor.isValid()) return out;
  for (GA_Index i = 0; i < gdp->getNumPoints(); ++i) {
    const GA_Offset o = gdp->pointOffset(i);
    if (number.get(o) <= 0) continue;
    Anchors &a = out[number.get(o)];
    a.driven = driven.get(o) != 0;
    a.at[a.at.size()] = anchor.get(o);
  }
  return out;
}

struct Born {
  int number = 0;
  bool follows = false; // its source said so at birth
  std::string name;
  UT_Vector3 origin{0, 0, 0};
  ooze_body_state state;
  Anchors anchors;
};

// Of the state: bodies by their handles, with the anchors that they were born with.
std::map<ooze_body, Born> born_bodies(ooze_solver *s, const GU_Detail &gdp) {
  std::map<ooze_body, Born> out;
  std::map<uint64_t, ooze_body> first; // ids of a body follow each other
  GA_ROHandleI number(gdp.findPointAttribute("body")), driven(gdp.findPointAttribute("driven"));
  GA_ROHandleID id(gdp.findPointAttribute("id"));
  GA_ROHandleS name(gdp.findPointAttribute("name"));
  GA_ROHandleV3 anchor(gdp.findPointAttribute("anchor")), origin(gdp.findPointAttribute("holdat"));
  if (!number.isValid() || !id.isValid() || !anchor.isValid()) return out;
  for (uint32_t i = 0; i < ooze_body_count(s); ++i) {
    const ooze_body handle = ooze_body_at(s, i);
    Born b;
    ooze_body_state_default(&b.state);
    if (ooze_body_state_get(s, handle, &b.state) < 0 || b.state.particles == 0) continue;
    first[b.state.first_id] = handle;
    out[handle] = b;
  }
  for (GA_Index i = 0; i < gdp.getNumPoints(); ++i) {
    const GA_Offset o = gdp.pointOffset(i);
    auto of = first.upper_bound(uint64_t(id.get(o)));
    if (number.get(o) <= 0 || of == first.begin()) continue;
    --of;
    Born &b = out[of->second];
    if (b.anchors.at.empty()) {
      b.number = number.get(o);
      b.follows = driven.isValid() && driven.get(o) != 0;
      if (name.isValid()) b.name = name.get(o).c_str();
      if (origin.isValid()) b.origin = origin.get(o);
    }
    b.anchors.at[uint64_t(id.get(o)) - of->first] = anchor.get(o);
  }
  return out;
}

// The pose of the body's frame where its anchors are; false where they tell nothing.
bool frame_of(const Born &body, const Anchors &there, ooze_pose &out, float *error) {
  std::vector<float> from, to;
  for (auto &a : body.anchors.at) {
    auto same = there.at.find(a.first);
    if (same == there.at.end()) continue;
    from.insert(from.end(), a.second.data(), a.second.data() + 3);
    to.insert(to.end(), same->second.data(), same->second.data() + 3);
  }
  ooze_pose moved;
  if (from.size() < 9 ||
      ooze_pose_fit(from.data(), to.data(), uint32_t(from.size() / 3), &moved, error, nullptr) < 0)
    return false;
  ooze_pose_at(&moved, body.origin.data(), &out);
  return true;
}

} // namespace

bool drive_bodies(ooze_solver *s, const GU_Detail &gdp, const GU_Detail *now,
                  const GU_Detail *before, Report &report) {
  if (!gdp.findPointAttribute("anchor")) return true;
  const std::map<ooze_body, Born> bodies = born_bodies(s, gdp);
  const std::map<int, Anchors> ends = of_source(now), starts = of_source(before);
  for (auto &entry : bodies) {
    const Born &b = entry.second;
    if (b.anchors.at.empty()) continue;
    ooze_pose start = b.state.pose, end;
    float error = 0;
    auto to = ends.find(b.number), from = starts.find(b.number);
    const bool drives =
        to != ends.end() && to->second.driven && frame_of(b, to->second, end, &error);
    if (drives && from != starts.end()) frame_of(b, from->second, start, nullptr);
    const std::string name = b.name.empty() ? std::to_string(entry.first) : b.name;
    if (b.follows && !now)
      report.warn("body %s should follow its source, but no sources are connected; it is let go",
                  name.c_str());
    if (error > 0.05f * ooze_solver_separation(s))
      report.warn("the polygons of body %s bend by %g m; it follows them as one piece",
                  name.c_str(), double(error));
    if (!solver_ok(
            s, ooze_body_drive(s, entry.first, drives ? &start : nullptr, drives ? &end : nullptr),
            "body", report))
      return false;
  }
  return true;
}

} // namespace oz
