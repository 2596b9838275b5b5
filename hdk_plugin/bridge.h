// Points to particles and back, page by page: attributes, ids, births and deaths.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "host.h"

namespace oz {

// The state of a detail by its data ids: equal stamps, equal particles.
struct Stamp {
  std::vector<GA_DataId> ids;
  bool operator==(const Stamp &o) const { return !ids.empty() && ids == o.ids; }
};

struct Output { // attributes beside the state
  bool stretch = false, stress = false, mass = false;
};

class Bridge {
public:
  // The points become the solver's particles, in place of its own. Points that lack an id, or
  // share one, get new ones.
  bool load(ooze_solver *s, GU_Detail &gdp, Report &report);
  // The particles become the points: those that are gone are destroyed, new ones are appended, all
  // else that a point carries stays with it. The solver must hold the particles of `load` or of the
  // last `store` on this detail, gone further.
  bool store(ooze_solver *s, GU_Detail &gdp, const Output &output, Report &report);
  // Memory for what the last `store` wrote, ahead of the next one: of a detail that shares its
  // pages with others. Any thread may do it while the solver steps.
  void make_room(GU_Detail &gdp) const;
  // The same detail with other objects: ids are read from the points again.
  bool adopt(const GU_Detail &gdp, Report &report);

  // Frees all that belongs to the solver, before the solver goes.
  void release();

  const std::vector<uint64_t> &ids() const { return myIds; }          // ascending
  const std::vector<GA_Offset> &offsets() const { return myOffsets; } // in that order

  // Those that the last `store` found in the solver alone: their numbers among the ids.
  const std::vector<size_t> &born() const { return myBorn; }

  static Stamp stamp(const GU_Detail &gdp);
  // Time, next id and nozzles, kept in a detail attribute. Empty if there are none.
  static std::vector<uint32_t> clock(const GU_Detail &gdp);
  static uint64_t next_id(const GU_Detail &gdp); // of the clock, or above every id

private:
  // An attribute on its way out: its values by rank, and where they go.
  struct Delivery {
    ooze_attribute_info info;
    GA_Attribute *to;
    const void *values;
  };
  // Values that a step seldom changes, and the attribute that has them.
  struct Kept {
    std::vector<uint32_t> values;
    GA_DataId id = -1;
  };

  bool read_ids(const GU_Detail &gdp, std::vector<int64> &out, Report &report) const;
  bool holds(const GU_Detail &gdp) const; // all that is known of the points' ids and order
  void order(const GU_Detail &gdp);
  bool place(ooze_solver *s, const GU_Detail &gdp, Report &report);
  bool take(ooze_solver *s, ooze_attribute a, const GU_Detail &gdp, Report &report);
  template <class T, class S>
  bool in(ooze_solver *s, ooze_attribute a, const ooze_attribute_info &info,
          const GA_Attribute *from, Report &report);

  bool update_points(ooze_solver *s, GU_Detail &gdp, Report &report);
  void replace_points(GU_Detail &gdp); // those of myIds by those of myNow
  bool capture(ooze_solver *s, const Output &output, Report &report);
  bool same_materials(Report &report); // as at the last store
  bool kept(ooze_attribute a, const ooze_attribute_info &info, const GU_Detail &gdp) const;
  const void *values(ooze_attribute a, const ooze_attribute_info &info, const GU_Detail &gdp,
                     bool absent_too, Report &report);
  void write(const Delivery &d, size_t first, size_t count) const;
  void write_all(const std::vector<Delivery> &all) const;
  bool write_stretch(GU_Detail &gdp, Report &report);

  std::vector<uint64_t> myIds;         // by rank
  std::vector<GA_Offset> myOffsets;    // by rank
  bool myStraight = true;              // ranks are indices
  bool myPlain = true;                 // and indices are offsets
  std::vector<size_t> myBorn;          // ranks
  ooze_capture *myCapture = nullptr;   // of the solver that is stored
  std::vector<uint64_t> myNow;         // ids of the solver, in memory that is used again
  std::vector<Kept> myKept;            // by attribute
  std::vector<const char *> myWritten; // attributes that the last store wrote
  std::vector<uint32_t>
      myMaterials; // of the particles at the last store, by rank; 0 behind its end
  bool mySameMaterials = false;
};

ooze_attribute_info attribute_info(int a);
extern const char *const CLOCK; // the detail attribute of time, next id and nozzles

// Names of attributes that a state carries.
const std::vector<std::string> &state_names();

} // namespace oz
