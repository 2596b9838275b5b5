// SPDX-License-Identifier: Apache-2.0
#include "bodies.h"

#include <GA/GA_Handle.h>

#include <cctype>
#include <cstring>
#include <map>
#include <string>

#include "detail.h"

namespace oz {

// The description that a point's attributes give: the source's parameters of bodies, by their
// names.
static bool describe(const GU_Detail &gdp, GA_Offset point, ooze_body_desc &out, Report &report) {
  ooze_body_desc_default(&out);
  for (auto &p : parms_of("source")) {
    double value[4] = {0, 0, 0, 0};
    ooze_message why = {""};
    if (std::strcmp(p.group, "body") ||
        !find_number(gdp, p.token, GA_INVALID_OFFSET, point, int(p.components), value))
      continue;
    if (!report.ok(ooze_schema_store("body_desc", p.field, value, &out, &why), why,
                   "body attribute"))
      return false;
  }
  return true;
}

bool Births::find(const GU_Detail &gdp, Materials &materials, Report &report) {
  const GA_Attribute *a = gdp.findPointAttribute("body");
  GA_ROHandleI number(a), owner(gdp.findPointAttribute("owner"));
  GA_ROHandleV3 v(gdp.findPointAttribute("v")), origin(gdp.findPointAttribute("holdat"));
  std::map<int, size_t> order;
  if (a && !number.isValid())
    return report.fail("point attribute body is text; expected a number: 0 fluid, else the body's");
  for (GA_Index i = 0; number.isValid() && i < gdp.getNumPoints(); ++i) {
    GA_Offset o = gdp.pointOffset(i);
    if (number.get(o) <= 0 || (owner.isValid() && owner.get(o) != 0)) continue;
    auto put = order.emplace(number.get(o), myBodies.size());
    if (put.second) myBodies.push_back(Body());
    Body &b = myBodies[put.first->second];
    b.number = number.get(o);
    if (b.points.empty() && (!describe(gdp, o, b.desc, report) ||
                             !materials.find(gdp, o, true, b.desc.material, report)))
      return false;
    if (b.points.empty() && origin.isValid())
      for (int k = 0; k < 3; ++k) b.desc.pose.position[k] = origin.get(o)[k];
    b.points.push_back(o);
    UT_Vector3 p = gdp.getPos3(o), u = v.isValid() ? v.get(o) : UT_Vector3(0, 0, 0);
    for (int k = 0; k < 3; ++k) {
      b.positions.push_back(p[k] - b.desc.pose.position[k]);
      b.desc.velocity[k] += u[k];
    }
  }
  for (auto &b : myBodies) {
    for (float &u : b.desc.velocity) u /= float(b.points.size());
    b.desc.count = uint32_t(b.points.size());
  }
  return true;
}

bool Births::add(ooze_solver *s, GU_Detail &gdp, Report &report) const {
  GA_RWHandleID id(gdp.findPointAttribute("id"));
  std::vector<uint64_t> old;
  for (auto &b : myBodies)
    for (GA_Offset o : b.points) old.push_back(uint64_t(id.get(o)));
  if (ooze_particles_remove(s, old.data(), uint32_t(old.size())) < 0)
    return report.fail("bodies: %s", ooze_solver_message(s));
  for (auto &b : myBodies) {
    ooze_body_desc d = b.desc;
    ooze_body made = 0;
    ooze_body_state state;
    ooze_body_state_default(&state);
    d.positions = b.positions.data();
    if (ooze_body_add(s, &d, &made) < 0 || ooze_body_state_get(s, made, &state) < 0)
      return report.fail("body %d: %s", b.number, ooze_solver_message(s));
    for (size_t i = 0; i < b.points.size(); ++i) id.set(b.points[i], int64(state.first_id + i));
  }
  id.bumpDataId();
  return true;
}

std::string plain_name(const std::string &name) {
  std::string out;
  for (char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

void write_bodies(ooze_solver *s, GU_Detail &gdp) {
  uint32_t n = ooze_body_count(s);
  if (!n) return;
  GA_ROHandleID id(gdp.findPointAttribute("id"));
  GA_ROHandleS name(gdp.findPointAttribute("name"));
  GA_ROHandleV3 origin(gdp.findPointAttribute("holdat"));
  std::map<uint64_t, GA_Offset> points;
  for (GA_Index i = 0; name.isValid() && i < gdp.getNumPoints(); ++i)
    points[uint64_t(id.get(gdp.pointOffset(i)))] = gdp.pointOffset(i);
  for (uint32_t i = 0; i < n; ++i) {
    ooze_body handle = ooze_body_at(s, i);
    ooze_body_state b;
    ooze_body_state_default(&b);
    if (ooze_body_state_get(s, handle, &b) < 0 || b.particles == 0) continue;
    auto first = points.find(b.first_id);
    std::string called = first != points.end() ? plain_name(name.get(first->second).c_str()) : "";
    if (called.empty()) called = "body" + std::to_string(handle);
    if (first != points.end() && origin.isValid()) {
      const UT_Vector3 at = origin.get(first->second), back(-at[0], -at[1], -at[2]);
      ooze_pose_at(&b.pose, back.data(), &b.pose); // from the body's frame to the world at birth
    }
    write_detail(gdp, ("pivot_" + called).c_str(), 3, b.pose.position);
    write_detail(gdp, ("orient_" + called).c_str(), 4, b.pose.rotation);
    write_detail(gdp, ("centre_" + called).c_str(), 3, b.centre);
    write_detail(gdp, ("v_" + called).c_str(), 3, b.velocity);
    write_detail(gdp, ("w_" + called).c_str(), 3, b.spin);
    write_detail(gdp, ("mass_" + called).c_str(), 1, &b.mass);
  }
}

} // namespace oz
