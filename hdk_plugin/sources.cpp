// SPDX-License-Identifier: Apache-2.0
#include "sources.h"

#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bridge.h"
#include "detail.h"

namespace oz {

static const char *const TABLE = "ooze_materials";
static const char *const BETWEEN = " ,;\t\n"; // numbers of a text

// Parameters of a material that a particle has as an attribute of the same name.
static bool of_particles(const char *token) {
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
    ooze_attribute_info info;
    ooze_attribute_info_default(&info);
    ooze_attribute_describe(ooze_attribute(a), &info);
    if (info.writable && !std::strcmp(info.name, token)) return true;
  }
  return false;
}

const std::vector<std::string> &source_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> n = {"P",    "v",    "id",     "N",      "orient", "emission", "seed",
                                  "rest", "body", "anchor", "driven", "holdat", "corners"};
    for (auto &p : parms_of("source"))
      if (!std::strcmp(p.group, "material") || !std::strcmp(p.group, "emitter") ||
          !std::strcmp(p.group, "body"))
        n.push_back(p.token);
    return n;
  }();
  return names;
}

static int emission_of(const GA_ROHandleI &h, GA_Offset o) {
  return h.isValid() ? h.get(o) : int(ONCE);
}

// ---- materials ----

// A material as numbers, in the order of the source's list.
static std::vector<float> numbers_of(const ooze_material &m) {
  std::vector<float> out(sizeof m / 4 - 1);
  std::memcpy(out.data(), reinterpret_cast<const char *>(&m) + 4, out.size() * 4);
  return out;
}
static std::string key_of(const ooze_material &m) {
  return std::string(reinterpret_cast<const char *>(&m) + 4, sizeof m - 4);
}

bool Materials::operator==(const Materials &o) const {
  if (myTable.size() != o.myTable.size()) return false;
  for (size_t i = 0; i < myTable.size(); ++i)
    if (numbers_of(myTable[i]) != numbers_of(o.myTable[i])) return false;
  return true;
}

void Materials::read(const GU_Detail &gdp) {
  myTable.clear();
  myNumbers.clear();
  const GA_Attribute *a = gdp.findAttribute(GA_ATTRIB_DETAIL, TABLE);
  const size_t width = sizeof(ooze_material) / 4 - 1;
  if (!a || a->getStorageClass() != GA_STORECLASS_INT || size_t(a->getTupleSize()) % width) return;
  GA_ROHandleI h(a);
  for (size_t i = 0; i < size_t(a->getTupleSize()) / width; ++i) {
    ooze_material m;
    ooze_material_default(&m);
    std::vector<int32> words(width);
    for (size_t k = 0; k < width; ++k) words[k] = h.get(GA_Offset(0), int(i * width + k));
    std::memcpy(reinterpret_cast<char *>(&m) + 4, words.data(), width * 4);
    myTable.push_back(m);
    myNumbers.emplace(key_of(m), uint32_t(myTable.size()));
  }
}

void Materials::write(GU_Detail &gdp) const {
  if (myTable.empty()) return;
  Materials had;
  had.read(gdp);
  if (had == *this) return;
  std::vector<int32> words;
  for (auto &m : myTable) {
    std::vector<float> n = numbers_of(m);
    for (float f : n) {
      int32 w;
      std::memcpy(&w, &f, 4);
      words.push_back(w);
    }
  }
  gdp.addIntTuple(GA_ATTRIB_DETAIL, TABLE, int(words.size()));
  GA_RWHandleI h(gdp.findAttribute(GA_ATTRIB_DETAIL, TABLE));
  for (size_t i = 0; i < words.size(); ++i) h.set(GA_Offset(0), int(i), words[i]);
  h.bumpDataId();
}

bool Materials::apply(ooze_solver *s, Report &report) const {
  for (auto &m : myTable) {
    uint32_t index = 0;
    if (ooze_material_add(s, &m, &index) < 0)
      return report.fail("material: %s", ooze_solver_message(s));
  }
  return true;
}

bool Materials::find(const GU_Detail &gdp, GA_Offset point, bool nozzle, uint32_t &out,
                     Report &report, const Paint *paint) {
  ooze_material m, plain;
  ooze_material_default(&m);
  ooze_material_default(&plain);
  for (auto &p : parms_of("source")) {
    double value[4] = {0, 0, 0, 0};
    ooze_message why = {""};
    if (std::strcmp(p.group, "material") || (!nozzle && of_particles(p.token)) ||
        !find_number(gdp, p.token, GA_INVALID_OFFSET, point, int(p.components), value))
      continue;
    if (paint) paint->round(p, gdp.pointIndex(point), value);
    if (!report.ok(ooze_schema_store("material", p.field, value, &m, &why), why,
                   "source attribute"))
      return false;
  }
  out = 0;
  if (numbers_of(m) == numbers_of(plain)) return true;
  const auto put = myNumbers.emplace(key_of(m), uint32_t(myTable.size()) + 1);
  out = put.first->second;
  if (put.second) myTable.push_back(m);
  return true;
}

// The columns of the points' attributes that particles have no attribute for, rounded so that few
// materials stand for them, and the group of each point.
bool Paint::read(const GU_Detail &gdp, Report &report) {
  const GA_Size n = gdp.getNumPoints();
  std::vector<float *> columns;
  uint32_t groups = 0;
  ooze_message why = {""};
  for (auto &p : parms_of("source")) {
    const GA_Attribute *a = gdp.findPointAttribute(p.token);
    GA_ROHandleF h(a);
    if (std::strcmp(p.group, "material") || of_particles(p.token) || !h.isValid() ||
        a->getTupleSize() < int(p.components))
      continue;
    auto &values = myColumns[p.token];
    values.resize(size_t(n) * p.components);
    for (uint32_t k = 0; k < p.components && n; ++k) {
      float *column = values.data() + size_t(k) * size_t(n);
      h.getBlockFromIndices(GA_Index(0), n, column, 1, int(k));
      columns.push_back(column);
    }
  }
  myGroups.resize(size_t(n));
  if (columns.empty() || !n) return true;
  return report.ok(ooze_paint_group(columns.data(), uint32_t(columns.size()), nullptr, uint32_t(n),
                                    myGroups.data(), &groups, &why),
                   why, "point attributes of a material");
}

void Paint::round(const ooze_node_parm &p, GA_Index point, double *value) const {
  const auto found = myColumns.find(p.token);
  if (found == myColumns.end()) return;
  for (uint32_t k = 0; k < p.components; ++k)
    value[k] = double(found->second[size_t(k) * myGroups.size() + size_t(point)]);
}

bool number_materials(GU_Detail &gdp, Materials &materials, Report &report) {
  if (gdp.findPointAttribute("material")) return true;
  bool some = false;
  std::vector<int32> numbers;
  for (auto &p : parms_of("source"))
    some |= !std::strcmp(p.group, "material") && !of_particles(p.token) &&
            gdp.findPointAttribute(p.token);
  if (!some) return true;
  Paint paint;
  if (!paint.read(gdp, report)) return false;
  std::vector<int32> of_group;
  for (GA_Index i = 0; i < gdp.getNumPoints(); ++i) {
    const uint32_t group = paint.group(i);
    if (group == of_group.size()) { // groups come in the order of their first points
      uint32_t m = 0;
      if (!materials.find(gdp, gdp.pointOffset(i), false, m, report, &paint)) return false;
      of_group.push_back(int32(m));
    }
    numbers.push_back(of_group[group]);
  }
  gdp.addIntTuple(GA_ATTRIB_POINT, "material", 1);
  GA_RWHandleI h(gdp.findPointAttribute("material"));
  h.setBlockFromIndices(GA_Index(0), GA_Size(numbers.size()), numbers.data());
  h.bumpDataId();
  return true;
}

// ---- nozzles ----

// The corners of a polygon as text: pairs of numbers between blanks or commas.
static bool read_corners(const GU_Detail &gdp, GA_Offset o, ooze_emitter_desc &desc,
                         Report &report) {
  GA_ROHandleS h(gdp.findPointAttribute("corners"));
  if (desc.outline != OOZE_OUTLINE_POLYGON || !h.isValid()) return true;
  const std::string text = h.get(o).c_str();
  uint32_t count = 0;
  for (const char *at = text.c_str() + std::strspn(text.c_str(), BETWEEN); *at;) {
    char *end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at || count == 2 * OOZE_OUTLINE_CORNERS)
      return report.fail("corners of a nozzle: '%.40s' in \"%.80s\"; expected x and z of 3 to %d "
                         "corners, -1 to 1",
                         at, text.c_str(), int(OOZE_OUTLINE_CORNERS));
    desc.corners[count++] = float(value);
    at = end + std::strspn(end, BETWEEN);
  }
  if (count % 2)
    return report.fail("corners of a nozzle: %d numbers; expected x and z of each", int(count));
  desc.corner_count = count / 2;
  return true;
}

static void aim(const GU_Detail &gdp, GA_Offset o, ooze_pose &pose) {
  double q[4], n[3];
  ooze_pose_default(&pose);
  UT_Vector3 at = gdp.getPos3(o);
  for (int k = 0; k < 3; ++k) pose.position[k] = at[k];
  if (find_number(gdp, "orient", GA_INVALID_OFFSET, o, 4, q)) {
    for (int k = 0; k < 4; ++k) pose.rotation[k] = float(q[k]);
  } else if (find_number(gdp, "N", GA_INVALID_OFFSET, o, 3, n)) {
    const float direction[3] = {float(n[0]), float(n[1]), float(n[2])};
    ooze_pose_aim(direction, &pose);
  }
}

bool find_nozzles(const GU_Detail *now, const GU_Detail *before, double dt, Materials &materials,
                  std::vector<Nozzle> &out, Report &report) {
  if (!now) return true;
  GA_ROHandleI emission(now->findPointAttribute("emission"));
  GA_ROHandleI ids(now->findPointAttribute("id"));
  bool same = before && before->getNumPoints() == now->getNumPoints();
  for (GA_Index i = 0; emission.isValid() && i < now->getNumPoints(); ++i) {
    GA_Offset o = now->pointOffset(i);
    if (emission_of(emission, o) != NOZZLE) continue;
    Nozzle n;
    bool rests = false;
    n.point = o;
    ooze_emitter_desc_default(&n.desc);
    for (auto &p : parms_of("source")) {
      double value[4] = {0, 0, 0, 0};
      ooze_message why = {""};
      if (std::strcmp(p.group, "emitter") ||
          !find_number(*now, p.token, GA_INVALID_OFFSET, o, int(p.components), value))
        continue;
      if (!std::strcmp(p.field, "speed") && value[0] == 0) { // a nozzle that rests pours nothing
        rests = true;
        continue;
      }
      if (!report.ok(ooze_schema_store("emitter_desc", p.field, value, &n.desc, &why), why,
                     "nozzle attribute"))
        return false;
    }
    if (rests) n.desc.active = 0;
    if (!read_corners(*now, o, n.desc, report)) return false;
    double seed = 0, v[3] = {0, 0, 0};
    if (find_number(*now, "seed", GA_INVALID_OFFSET, o, 1, &seed)) n.desc.seed = uint32_t(seed);
    if (!materials.find(*now, o, true, n.desc.material, report)) return false;
    aim(*now, o, n.desc.end);
    n.desc.start = n.desc.end;
    if (same)
      aim(*before, before->pointOffset(i), n.desc.start);
    else if (find_number(*now, "v", GA_INVALID_OFFSET, o, 3, v))
      for (int k = 0; k < 3; ++k) n.desc.start.position[k] -= float(dt * v[k]);
    n.handle = 1 + uint32_t(ids.isValid() && ids.get(o) >= 0 ? ids.get(o) : int32(out.size()));
    for (auto &other : out)
      if (other.handle == n.handle)
        n.handle = 1 + uint32_t(out.size()) + 0x40000000u; // a shared id: by its order instead
    out.push_back(n);
  }
  return true;
}

// ---- particles ----

static void keep_points(GU_Detail &gdp, const std::vector<uint8_t> &keep) {
  auto gone = gdp.createDetachedPointGroup();
  for (GA_Index i = 0; i < gdp.getNumPoints(); ++i)
    if (!keep[size_t(i)]) gone->addOffset(gdp.pointOffset(i));
  if (gone->entries() == 0) return;
  gdp.destroyPointOffsets(GA_Range(*gone));
  gdp.bumpDataIdsForAddOrRemove(true, false, false);
}

bool first_particles(const GU_Detail &source, GU_Detail &out, Report &report) {
  out.replaceWith(source);
  GA_ROHandleI emission(source.findPointAttribute("emission"));
  if (source.findPointAttribute("emission") && !emission.isValid())
    return report.fail(
        "point attribute emission is text; expected 0 once, 1 continuous or 2 nozzle");
  std::vector<uint8_t> keep(size_t(source.getNumPoints()), 1);
  size_t kept = keep.size();
  for (GA_Index i = 0; emission.isValid() && i < source.getNumPoints(); ++i)
    if (emission_of(emission, source.pointOffset(i)) == NOZZLE) keep[size_t(i)] = 0, --kept;
  keep_points(out, keep);
  if (kept == 0) { // later births have nothing to do with the attributes of the source's points
    double separation = 0;
    const bool told =
        find_number(source, "separation", GA_INVALID_OFFSET, GA_INVALID_OFFSET, 1, &separation);
    const float value = float(separation);
    out.clearAndDestroy();
    if (told) write_detail(out, "separation", 1, &value);
  }
  for (auto &p : parms_of("source")) // of nozzles, which particles are not
    if (!std::strcmp(p.group, "emitter")) out.destroyAttribute(GA_ATTRIB_POINT, p.token);
  out.destroyAttribute(GA_ATTRIB_POINT, "corners");
  return true;
}

static void positions_of(const GU_Detail &gdp, std::vector<float> &out) {
  out.resize(size_t(gdp.getNumPoints()) * 3);
  GA_ROHandleV3 p(gdp.getP());
  if (!out.empty())
    p.getBlockFromIndices(GA_Index(0), gdp.getNumPoints(),
                          reinterpret_cast<UT_Vector3 *>(out.data()));
}

// Values of a new particle, attribute by attribute, asked of a solver that has a single one.
static const std::vector<std::vector<float>> &newborn() {
  static const auto values = [] {
    std::vector<std::vector<float>> made(OOZE_ATTRIBUTE_COUNT);
    ooze_solver_desc d;
    ooze_solver *s = nullptr;
    ooze_particles one;
    const float origin[3] = {0, 0, 0};
    ooze_solver_desc_default(&d);
    ooze_particles_default(&one);
    d.backend = OOZE_BACKEND_CPU;
    d.tasks = OOZE_TASKS_SERIAL;
    one.count = 1;
    one.positions = origin;
    if (ooze_solver_create(&d, &s, nullptr) < 0 || ooze_particles_add(s, &one, nullptr) < 0)
      return made;
    for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
      float real[16] = {0};
      int32 whole[16] = {0};
      ooze_attribute_info info;
      ooze_attribute_info_default(&info);
      ooze_attribute_describe(ooze_attribute(a), &info);
      if (!info.is_state || !info.writable ||
          ooze_attribute_read(s, ooze_attribute(a), 0, 1, 0,
                              info.is_integer ? static_cast<void *>(whole) : real) < 0)
        continue;
      for (uint32_t k = 0; k < info.components; ++k)
        made[size_t(a)].push_back(info.is_integer ? float(whole[k]) : real[k]);
    }
    ooze_solver_destroy(s);
    return made;
  }();
  return values;
}

// State that the particles have and the newcomers lack: without it they would get the attribute's
// default, which is 0.
static void complete(const GU_Detail &gdp, GU_Detail &fresh) {
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
    const std::vector<float> &value = newborn()[size_t(a)];
    ooze_attribute_info info;
    ooze_attribute_info_default(&info);
    ooze_attribute_describe(ooze_attribute(a), &info);
    if (value.empty() || !gdp.findPointAttribute(info.name) || fresh.findPointAttribute(info.name))
      continue;
    if (info.is_integer)
      fresh.addIntTuple(GA_ATTRIB_POINT, info.name, int(info.components));
    else
      fresh.addFloatTuple(GA_ATTRIB_POINT, info.name, int(info.components));
    GA_RWHandleF h(fresh.findPointAttribute(info.name));
    for (GA_Index i = 0; i < fresh.getNumPoints(); ++i)
      for (int k = 0; k < int(info.components); ++k)
        h.set(fresh.pointOffset(i), k, value[size_t(k)]);
    h.bumpDataId();
  }
}

bool add_particles(const GU_Detail &source, float separation, Materials &materials, GU_Detail &gdp,
                   Report &report) {
  GA_ROHandleI emission(source.findPointAttribute("emission"));
  GA_Size n = source.getNumPoints();
  std::vector<uint8_t> keep(size_t(n), 0), room(size_t(n), 0);
  bool some = false;
  for (GA_Index i = 0; emission.isValid() && i < n; ++i)
    some |= keep[size_t(i)] = emission_of(emission, source.pointOffset(i)) == CONTINUOUS;
  if (!some) return true;
  std::vector<float> there, come;
  ooze_fill_desc d;
  ooze_message why = {""};
  positions_of(gdp, there);
  positions_of(source, come);
  ooze_fill_desc_default(&d);
  d.separation = separation;
  d.occupied = there.data();
  d.occupied_count = uint32_t(there.size() / 3);
  if (!report.ok(ooze_fill_apart(&d, come.data(), uint32_t(n), room.data(), &why), why,
                 "continuous source"))
    return false;
  GA_Size born = 0;
  for (size_t i = 0; i < size_t(n); ++i) born += keep[i] = keep[i] && room[i];
  if (born == 0) return true;
  GU_Detail fresh;
  fresh.replaceWith(source);
  // of all points of the source, so that a ramp has the same steps in every frame
  if (!number_materials(fresh, materials, report)) return false;
  keep_points(fresh, keep);
  complete(gdp, fresh);
  int64 next = int64(Bridge::next_id(gdp));
  std::vector<int64> ids(size_t(born), 0);
  for (auto &id : ids) id = next++;
  fresh.addIntTuple(GA_ATTRIB_POINT, "id", 1, GA_Defaults(-1));
  GA_RWHandleID h(fresh.findPointAttribute("id"));
  h.setBlockFromIndices(GA_Index(0), born, ids.data());
  h.bumpDataId();
  gdp.merge(fresh);
  gdp.bumpDataIdsForAddOrRemove(true, false, false);
  return true;
}

} // namespace oz
