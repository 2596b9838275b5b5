// Points that are born: which of a source's points become particles, nozzles, and their materials.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "host.h"

#include <unordered_map>

namespace oz {

enum Emission {
  ONCE = 0,
  CONTINUOUS = 1,
  NOZZLE = 2
}; // the point attribute `emission`; without it ONCE

// Values of a material painted on points: a ramp of them is rounded to steps (ooze_paint_group), so
// that few materials stand for all.
class Paint {
public:
  bool read(const GU_Detail &gdp, Report &report);
  uint32_t group(GA_Index point) const { return myGroups[size_t(point)]; }
  void round(const ooze_node_parm &p, GA_Index point, double *value) const;

private:
  std::map<std::string, std::vector<float>> myColumns; // by token, component by component
  std::vector<uint32_t> myGroups;                      // by point; in order of their first points
};

// The materials beside 0, the default one. They are state: they live in the detail attribute
// `ooze_materials`, and the points' `material` counts into them.
class Materials {
public:
  void read(const GU_Detail &gdp);
  void write(GU_Detail &gdp) const;
  bool apply(ooze_solver *s, Report &report) const; // adds them; the solver has none yet
  bool operator==(const Materials &o) const;
  // Index of the material that a source's point asks for, added if it is new. Values that particles
  // have of their own (viscosity, ...) count for a nozzle alone.
  bool find(const GU_Detail &gdp, GA_Offset point, bool nozzle, uint32_t &out, Report &report,
            const Paint *paint = nullptr);

private:
  std::vector<ooze_material> myTable;
  std::unordered_map<std::string, uint32_t> myNumbers; // of those in the table, by their values
};

struct Nozzle {
  ooze_emitter handle = 0;
  GA_Offset point = GA_INVALID_OFFSET; // of the source at the end of the step
  ooze_emitter_desc desc;
};

// The nozzles among a source's points at the end (now) and beginning (before, or NULL: from `v`) of
// a step.
bool find_nozzles(const GU_Detail *now, const GU_Detail *before, double dt, Materials &materials,
                  std::vector<Nozzle> &out, Report &report);

// The particles that a source has at the start.
bool first_particles(const GU_Detail &source, GU_Detail &out, Report &report);
// Particles of continuous sources, where there is room; true and nothing done if there are none.
bool add_particles(const GU_Detail &source, float separation, Materials &materials, GU_Detail &gdp,
                   Report &report);
// `material` of points that have attributes of a material but no number of it.
bool number_materials(GU_Detail &gdp, Materials &materials, Report &report);

const std::vector<std::string> &source_names(); // of attributes that count

} // namespace oz
