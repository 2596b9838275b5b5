// SPDX-License-Identifier: Apache-2.0
#include "bridge.h"

#include <GA/GA_Handle.h>
#include <SYS/SYS_AtomicInt.h>
#include <UT/UT_ParallelUtil.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "detail.h"
#include "links.h"

namespace oz {

const char *const CLOCK = "ooze_clock";
enum {
  BLOCK = 2048
}; // points at a time: two of Houdini's pages, and small enough to stay in the nearest cache

ooze_attribute_info attribute_info(int a) {
  ooze_attribute_info info;
  ooze_attribute_info_default(&info);
  ooze_attribute_describe(ooze_attribute(a), &info);
  return info;
}

// ---- points and particles by id ----

bool Bridge::read_ids(const GU_Detail &gdp, std::vector<int64> &out, Report &report) const {
  GA_Size n = gdp.getNumPoints();
  const GA_Attribute *a = gdp.findPointAttribute("id");
  out.assign(size_t(n), -1);
  if (!a || n == 0) return true;
  if (a->getStorageClass() != GA_STORECLASS_INT)
    return report.fail("point attribute id is not an integer");
  GA_ROHandleID h(a);
  h.getBlockFromIndices(GA_Index(0), n, out.data());
  return true;
}

void Bridge::order(const GU_Detail &gdp) {
  myStraight = myPlain = true;
  for (size_t r = 0; r < myOffsets.size() && myStraight; ++r) {
    myStraight = myOffsets[r] == gdp.pointOffset(GA_Index(r));
    myPlain &= myOffsets[r] == GA_Offset(r);
  }
  myPlain &= myStraight;
}

bool Bridge::holds(const GU_Detail &gdp) const {
  GA_ROHandleID id(gdp.findPointAttribute("id"));
  SYS_AtomicInt32 differs(0);
  if (!myStraight || !id.isValid() || gdp.getNumPoints() != GA_Size(myIds.size())) return false;
  UTparallelFor(UT_BlockedRange<size_t>(0, (myIds.size() + BLOCK - 1) / BLOCK),
                [&](const UT_BlockedRange<size_t> &blocks) {
                  int64 there[BLOCK];
                  const size_t end = std::min(blocks.end() * BLOCK, myIds.size());
                  for (size_t first = blocks.begin() * BLOCK; first < end; first += BLOCK) {
                    const size_t n = std::min<size_t>(BLOCK, end - first);
                    id.getBlockFromIndices(GA_Index(first), GA_Size(n), there);
                    for (size_t i = 0; i < n; ++i)
                      if (uint64_t(there[i]) != myIds[first + i] ||
                          gdp.pointOffset(GA_Index(first + i)) != myOffsets[first + i])
                        differs.store(1);
                  }
                });
  return differs.load() == 0;
}

bool Bridge::adopt(const GU_Detail &gdp, Report &report) {
  if (holds(gdp)) return true;
  std::vector<int64> id;
  if (!read_ids(gdp, id, report)) return false;
  size_t n = id.size();
  std::vector<uint32_t> by(n);
  std::iota(by.begin(), by.end(), 0u);
  if (!std::is_sorted(id.begin(), id.end()))
    std::stable_sort(by.begin(), by.end(), [&](uint32_t a, uint32_t b) { return id[a] < id[b]; });
  myIds.resize(n);
  myOffsets.resize(n);
  for (size_t r = 0; r < n; ++r) {
    myIds[r] = uint64_t(id[by[r]]);
    myOffsets[r] = gdp.pointOffset(GA_Index(by[r]));
  }
  order(gdp);
  return true;
}

// New ids for points without one, and for all but the first of those that share one.
static void number_points(GU_Detail &gdp, std::vector<int64> &id, Report &report) {
  size_t n = id.size(), shared = 0;
  std::vector<uint32_t> by(n);
  std::iota(by.begin(), by.end(), 0u);
  std::stable_sort(by.begin(), by.end(), [&](uint32_t a, uint32_t b) { return id[a] < id[b]; });
  int64 next = int64(Bridge::next_id(gdp));
  std::vector<uint32_t> fresh;
  for (size_t r = 0; r < n; ++r) {
    bool twin = r && id[by[r]] >= 0 && id[by[r]] == id[by[r - 1]];
    if (id[by[r]] < 0 || twin) fresh.push_back(by[r]);
    shared += twin;
  }
  if (fresh.empty()) return;
  std::sort(fresh.begin(), fresh.end());
  for (uint32_t i : fresh) id[i] = next++;
  if (shared) report.warn("%zu points shared their id with another; they got new ones", shared);
  GA_RWHandleID h(gdp.addIntTuple(GA_ATTRIB_POINT, "id", 1, GA_Defaults(-1)));
  h.setBlockFromIndices(GA_Index(0), GA_Size(n), id.data());
  h.bumpDataId();
}

uint64_t Bridge::next_id(const GU_Detail &gdp) {
  std::vector<uint32_t> words = clock(gdp);
  uint64_t next = 0;
  if (words.size() > 5) std::memcpy(&next, &words[4], 8);
  GA_ROHandleID h(gdp.findPointAttribute("id"));
  for (GA_Index i = 0; h.isValid() && i < gdp.getNumPoints(); ++i) {
    int64 id = h.get(gdp.pointOffset(i));
    if (id >= 0 && uint64_t(id) >= next) next = uint64_t(id) + 1;
  }
  return next;
}

// ---- in ----

template <class T, class S>
bool Bridge::in(ooze_solver *s, ooze_attribute a, const ooze_attribute_info &info,
                const GA_Attribute *from, Report &report) {
  GA_ROHandleT<T> h(from);
  GA_ROHandleT<S> single(from);
  const int width = int(info.components), step = int(sizeof(T) / sizeof(S));
  S block[BLOCK * 6];
  uint32_t n = uint32_t(myIds.size());
  for (uint32_t first = 0; first < n; first += BLOCK) {
    uint32_t count = std::min<uint32_t>(BLOCK, n - first);
    if (myStraight && step == width)
      h.getBlockFromIndices(GA_Index(first), GA_Size(count), reinterpret_cast<T *>(block));
    else if (myStraight)
      for (int k = 0; k < width; ++k)
        single.getBlockFromIndices(GA_Index(first), GA_Size(count), block + k, width, k);
    else
      for (uint32_t r = 0; r < count; ++r)
        for (int k = 0; k < width; ++k)
          block[int(r) * width + k] = single.get(myOffsets[first + r], k);
    if (!solver_ok(s, ooze_attribute_write(s, a, first, count, 0, block), info.name, report))
      return false;
  }
  return true;
}

// Particles of the points' places and ids, in place of the solver's own.
bool Bridge::place(ooze_solver *s, const GU_Detail &gdp, Report &report) {
  const GA_Size n = gdp.getNumPoints();
  if (!solver_ok(s, ooze_particles_clear(s), "clear", report)) return false;
  if (n == 0) return true;
  std::vector<float> p(size_t(n) * 3);
  GA_ROHandleV3 position(gdp.getP());
  if (myStraight)
    position.getBlockFromIndices(GA_Index(0), n, reinterpret_cast<UT_Vector3 *>(p.data()));
  else
    for (size_t r = 0; r < size_t(n); ++r)
      std::memcpy(&p[3 * r], position.get(myOffsets[r]).data(), 12);
  ooze_particles add;
  ooze_particles_default(&add);
  add.count = uint32_t(n);
  add.positions = p.data();
  add.ids = myIds.data();
  return solver_ok(s, ooze_particles_add(s, &add, nullptr), "points", report);
}

// One attribute of the points, where they have it; else the material's value stays.
bool Bridge::take(ooze_solver *s, ooze_attribute a, const GU_Detail &gdp, Report &report) {
  const ooze_attribute_info info = attribute_info(a);
  const GA_Attribute *from = gdp.findPointAttribute(info.name);
  if (!info.is_state || !info.writable || a == OOZE_POSITION || !from) return true;
  const bool text = from->getStorageClass() == GA_STORECLASS_STRING;
  if (text || from->getTupleSize() < int(info.components))
    return report.fail("point attribute %s is %s; expected %u %s", info.name,
                       text ? "text" : "too short", info.components,
                       info.is_integer       ? "integer"
                       : info.components > 1 ? "floats"
                                             : "float");
  if (info.is_integer) return in<int32, int32>(s, a, info, from, report);
  if (info.components == 3) return in<UT_Vector3, fpreal32>(s, a, info, from, report);
  return in<fpreal32, fpreal32>(s, a, info, from, report);
}

bool Bridge::load(ooze_solver *s, GU_Detail &gdp, Report &report) {
  std::vector<int64> id;
  const GA_Size n = gdp.getNumPoints();
  if (n > GA_Size(UINT32_MAX))
    return report.fail("%lld points are more than a solver holds", (long long)n);
  for (auto &had : myKept) had.id = -1;
  if (!read_ids(gdp, id, report)) return false;
  bool rising = true;
  for (size_t i = 0; i < id.size() && rising; ++i)
    rising = id[i] >= 0 && (i == 0 || id[i] > id[i - 1]);
  if (!rising) number_points(gdp, id, report);
  if (!adopt(gdp, report) || !place(s, gdp, report)) return false;
  if (n == 0) return true;

  if (!take(s, OOZE_MATERIAL, gdp, report)) return false; // first: it brings values of its own
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a)
    if (a != OOZE_MATERIAL && !take(s, ooze_attribute(a), gdp, report)) return false;
  GA_Size links = 0;
  if (!load_links(s, gdp, links, report)) return false;
  const GA_Size others = gdp.getNumPrimitives() - links;
  if (others)
    report.warn(
        "%lld primitives among the particles are ignored; their points are taken as particles",
        (long long)others);
  return true;
}

// ---- details ----

const std::vector<std::string> &state_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> n = {CLOCK,        "ooze_materials", "ooze_firstframe", "separation",
                                  "restlength", "linkkind",       "linkspare"};
    for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a)
      if (attribute_info(a).is_state) n.push_back(attribute_info(a).name);
    return n;
  }();
  return names;
}

std::vector<uint32_t> Bridge::clock(const GU_Detail &gdp) {
  std::vector<uint32_t> words;
  const GA_Attribute *a = gdp.findAttribute(GA_ATTRIB_DETAIL, CLOCK);
  if (!a || a->getStorageClass() != GA_STORECLASS_INT) return words;
  GA_ROHandleI h(a);
  for (int i = 0; i < a->getTupleSize(); ++i) words.push_back(uint32_t(h.get(GA_Offset(0), i)));
  return words;
}

Stamp Bridge::stamp(const GU_Detail &gdp) {
  Stamp s;
  auto add = [&](const GA_Attribute *a) { s.ids.push_back(a ? a->getDataId() : GA_DataId(-2)); };
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a)
    if (ooze_attribute_info info = attribute_info(a); info.is_state)
      add(gdp.findPointAttribute(info.name));
  add(gdp.findAttribute(GA_ATTRIB_DETAIL, CLOCK));
  add(gdp.findAttribute(GA_ATTRIB_DETAIL, "ooze_materials"));
  for (const char *name : {"restlength", "linkkind", "linkspare"})
    add(gdp.findAttribute(GA_ATTRIB_PRIMITIVE, name));
  for (GA_DataId id : s.ids)
    if (id == -1) s.ids.clear(); // an attribute without managed ids: nothing can be told from them
  if (!s.ids.empty())
    s.ids.insert(s.ids.end(), {GA_DataId(gdp.getNumPoints()), GA_DataId(gdp.getNumPrimitives())});
  return s;
}

} // namespace oz
