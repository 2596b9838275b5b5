// Points that say that they are a body become one, and poses of bodies are written out.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sources.h"

namespace oz {

// Points whose `body` is above 0 and that belong to none yet: those of one number are one body.
// The state of a body is in its particles (`owner`, `bodyrest`) and in ooze_clock.
class Births {
public:
  bool find(const GU_Detail &gdp, Materials &materials, Report &report);
  // In place of the particles that the solver has been given for them. The points get the ids of
  // the body's particles.
  bool add(ooze_solver *s, GU_Detail &gdp, Report &report) const;
  bool none() const { return myBodies.empty(); }

private:
  struct Body {
    int number;
    std::vector<GA_Offset> points;
    std::vector<float> positions; // 3 a point, from `holdat` as the world is at birth
    ooze_body_desc desc;
  };
  std::vector<Body> myBodies; // in the order of their first points
};

// Detail attributes of each: pivot_NAME and orient_NAME carry the body's pose at birth to its pose
// now, centre_NAME, v_NAME, w_NAME and mass_NAME are for rigid body solvers.
void write_bodies(ooze_solver *s, GU_Detail &gdp);
std::string plain_name(const std::string &name); // letters and digits, for the name of an attribute

} // namespace oz
