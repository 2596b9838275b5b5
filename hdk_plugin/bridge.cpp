// SPDX-License-Identifier: Apache-2.0
#include "bridge.h"

#include <GA/GA_Handle.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "detail.h"
#include "links.h"

namespace oz {

static const char *const CLOCK = "ooze_clock";
enum {
  BLOCK = 2048
}; // points at a time: two of Houdini's pages, and small enough to stay in the nearest cache

static ooze_attribute_info describe(int a) {
  ooze_attribute_info info;
  ooze_attribute_info_default(&info);
  ooze_attribute_describe(ooze_attribute(a), &info);
  return info;
}

// Attributes that are 0 for every new particle: one that is 0 everywhere need not be written.
static bool quiet(ooze_attribute a) {
  return a == OOZE_FORCE || a == OOZE_MATERIAL || a == OOZE_SOURCE || a == OOZE_OWNER ||
         a == OOZE_REST || a >= OOZE_SOLVENT_VISCOSITY;
}

// ---- who is who ----

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

// Ranks are indices where every id is above the one before.
void Bridge::order(const GU_Detail &gdp) {
  myStraight = true;
  for (size_t r = 0; r < myOffsets.size() && myStraight; ++r)
    myStraight = myOffsets[r] == gdp.pointOffset(GA_Index(r));
}

bool Bridge::adopt(const GU_Detail &gdp, Report &report) {
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

bool Bridge::load(ooze_solver *s, GU_Detail &gdp, Report &report) {
  std::vector<int64> id;
  GA_Size n = gdp.getNumPoints();
  if (n > GA_Size(UINT32_MAX))
    return report.fail("%lld points are more than a solver holds", (long long)n);
  if (!read_ids(gdp, id, report)) return false;
  bool rising = true;
  for (size_t i = 0; i < id.size() && rising; ++i)
    rising = id[i] >= 0 && (i == 0 || id[i] > id[i - 1]);
  if (!rising) number_points(gdp, id, report);
  if (!adopt(gdp, report) || !solver_ok(s, ooze_particles_clear(s), "clear", report)) return false;
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
  if (!solver_ok(s, ooze_particles_add(s, &add, nullptr), "points", report)) return false;
  for (int pass = 0; pass < 2; ++pass) // the material brings values of its own: first
    for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
      ooze_attribute_info info = describe(a);
      if (!info.is_state || !info.writable || a == OOZE_POSITION ||
          (a == OOZE_MATERIAL) != (pass == 0))
        continue;
      const GA_Attribute *from = gdp.findPointAttribute(info.name);
      if (!from) continue; // the material's value stays
      if (from->getStorageClass() == GA_STORECLASS_STRING ||
          from->getTupleSize() < int(info.components))
        return report.fail("point attribute %s is %s; expected %u %s", info.name,
                           from->getStorageClass() == GA_STORECLASS_STRING ? "text" : "too short",
                           info.components,
                           info.is_integer       ? "integer"
                           : info.components > 1 ? "floats"
                                                 : "float");
      bool done = info.is_integer ? in<int32, int32>(s, ooze_attribute(a), info, from, report)
                  : info.components == 3
                      ? in<UT_Vector3, fpreal32>(s, ooze_attribute(a), info, from, report)
                      : in<fpreal32, fpreal32>(s, ooze_attribute(a), info, from, report);
      if (!done) return false;
    }
  GA_Size links = 0, others = 0;
  if (!load_links(s, gdp, links, report)) return false;
  others = gdp.getNumPrimitives() - links;
  if (others)
    report.warn(
        "%lld primitives among the particles are ignored; their points are taken as particles",
        (long long)others);
  return true;
}

// ---- out ----

static GA_Attribute *attribute_for(GU_Detail &gdp, const ooze_attribute_info &info) {
  GA_Attribute *a = gdp.findPointAttribute(info.name);
  GA_StorageClass kind = info.is_integer ? GA_STORECLASS_INT : GA_STORECLASS_REAL;
  if (a && a->getStorageClass() == kind && a->getTupleSize() == int(info.components)) return a;
  if (info.is_integer) {
    gdp.addIntTuple(GA_ATTRIB_POINT, info.name, int(info.components),
                    GA_Defaults(info.element_bytes == 8 ? -1 : 0));
    a = gdp.findPointAttribute(info.name);
    if (info.element_bytes == 8) a->setTypeInfo(GA_TYPE_NONARITHMETIC_INTEGER);
    return a;
  }
  gdp.addFloatTuple(GA_ATTRIB_POINT, info.name, int(info.components), GA_Defaults(0.0));
  a = gdp.findPointAttribute(info.name);
  if (info.components == 3) a->setTypeInfo(GA_TYPE_VECTOR);
  return a;
}

template <class T, class S>
bool Bridge::out(ooze_solver *s, ooze_attribute a, const ooze_attribute_info &info, GU_Detail &gdp,
                 GA_Attribute *to, Report &report) {
  const int width = int(info.components), step = int(sizeof(T) / sizeof(S));
  S block[BLOCK * 6];
  uint32_t n = uint32_t(myIds.size()), first = 0;
  if (!to) { // only if there is something to tell
    bool any = false;
    for (; first < n && !any; first += any ? 0 : BLOCK) {
      uint32_t count = std::min<uint32_t>(BLOCK, n - first);
      if (!solver_ok(s, ooze_attribute_read(s, a, first, count, 0, block), info.name, report))
        return false;
      for (uint32_t i = 0; i < count * uint32_t(width); ++i) any |= block[i] != S(0);
    }
    if (!any) return true;
    to = attribute_for(gdp, info);
  }
  GA_RWHandleT<T> h(to);
  GA_RWHandleT<S> single(to);
  for (first = 0; first < n; first += BLOCK) {
    uint32_t count = std::min<uint32_t>(BLOCK, n - first);
    if (!solver_ok(s, ooze_attribute_read(s, a, first, count, 0, block), info.name, report))
      return false;
    if (myStraight && step == width)
      h.setBlockFromIndices(GA_Index(first), GA_Size(count), reinterpret_cast<const T *>(block));
    else if (myStraight)
      for (int k = 0; k < width; ++k)
        single.setBlockFromIndices(GA_Index(first), GA_Size(count), block + k, width, k);
    else
      for (uint32_t r = 0; r < count; ++r)
        for (int k = 0; k < width; ++k)
          single.set(myOffsets[first + r], k, block[int(r) * width + k]);
  }
  to->bumpDataId();
  return true;
}

// Deaths and births: both lists of ids are in ascending order.
static void update_points(GU_Detail &gdp, std::vector<uint64_t> &ids,
                          std::vector<GA_Offset> &offsets, const std::vector<uint64_t> &now) {
  auto dead = gdp.createDetachedPointGroup();
  std::vector<GA_Offset> at(now.size(), GA_INVALID_OFFSET);
  size_t born = 0, r = 0, k = 0;
  while (r < ids.size() || k < now.size()) {
    if (k == now.size() || (r < ids.size() && ids[r] < now[k]))
      dead->addOffset(offsets[r++]);
    else if (r == ids.size() || now[k] < ids[r])
      ++born, ++k;
    else
      at[k++] = offsets[r++];
  }
  bool some = dead->entries() > 0;
  if (some) gdp.destroyPointOffsets(GA_Range(*dead));
  GA_Offset fresh = born ? gdp.appendPointBlock(GA_Size(born)) : GA_INVALID_OFFSET;
  for (auto &o : at)
    if (o == GA_INVALID_OFFSET) o = fresh++;
  if (some || born) gdp.bumpDataIdsForAddOrRemove(true, false, false);
  ids = now;
  offsets = at;
}

// The six numbers of `conform` as a matrix, which VEX can read.
static bool write_stretch(ooze_solver *s, GU_Detail &gdp, const std::vector<GA_Offset> &offsets,
                          Report &report) {
  static const int from[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
  gdp.addFloatTuple(GA_ATTRIB_POINT, "stretch", 9, GA_Defaults(0.0));
  GA_Attribute *a = gdp.findPointAttribute("stretch");
  a->setTypeInfo(GA_TYPE_TRANSFORM);
  GA_RWHandleF h(a);
  float block[BLOCK * 6];
  uint32_t n = uint32_t(offsets.size());
  for (uint32_t first = 0; first < n; first += BLOCK) {
    uint32_t count = std::min<uint32_t>(BLOCK, n - first);
    if (!solver_ok(s, ooze_attribute_read(s, OOZE_CONFORMATION, first, count, 0, block), "stretch",
                   report))
      return false;
    for (uint32_t r = 0; r < count; ++r)
      for (int k = 0; k < 9; ++k) h.set(offsets[first + r], k, block[r * 6 + uint32_t(from[k])]);
  }
  a->bumpDataId();
  return true;
}

static void write_words(GU_Detail &gdp, const std::vector<uint32_t> &words) {
  gdp.addIntTuple(GA_ATTRIB_DETAIL, CLOCK, int(words.size()));
  GA_RWHandleI h(gdp.findAttribute(GA_ATTRIB_DETAIL, CLOCK));
  for (size_t i = 0; i < words.size(); ++i) h.set(GA_Offset(0), int(i), int32(words[i]));
  h.bumpDataId();
}

bool Bridge::store(ooze_solver *s, GU_Detail &gdp, const Output &output, Report &report) {
  uint32_t n = ooze_particle_count(s), words = 0;
  std::vector<uint64_t> now(n);
  if (n && !solver_ok(s, ooze_attribute_read(s, OOZE_ID, 0, n, 0, now.data()), "id", report))
    return false;
  if (n && now.back() > uint64_t(INT32_MAX))
    return report.fail(
        "id %llu does not fit Houdini's integers; start again from ids that begin at 0",
        (unsigned long long)now.back());
  float separation = ooze_solver_separation(s);
  if (!gdp.findPointAttribute("pscale"))
    gdp.addFloatTuple(GA_ATTRIB_POINT, "pscale", 1, GA_Defaults(0.5 * double(separation)));
  std::vector<uint64_t> before = myIds;
  remove_links(gdp);
  update_points(gdp, myIds, myOffsets, now);
  order(gdp);

  GA_Attribute *id = attribute_for(gdp, describe(OOZE_ID));
  const bool unnumbered = n && GA_ROHandleID(id).get(myOffsets.back()) < 0;
  if (before != now || unnumbered) {
    GA_RWHandleID h(id);
    for (uint32_t r = 0; r < n; ++r) h.set(myOffsets[r], int64(now[r]));
    id->bumpDataId();
  }
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
    ooze_attribute_info info = describe(a);
    bool asked =
        a == OOZE_MASS ? output.mass : output.stress; // the toggle Stress is for all other results
    if (a == OOZE_ID || (!info.is_state && !asked)) continue;
    GA_Attribute *to = quiet(ooze_attribute(a)) && !gdp.findPointAttribute(info.name)
                           ? nullptr
                           : attribute_for(gdp, info);
    bool done = info.is_integer ? out<int32, int32>(s, ooze_attribute(a), info, gdp, to, report)
                : info.components == 3
                    ? out<UT_Vector3, fpreal32>(s, ooze_attribute(a), info, gdp, to, report)
                    : out<fpreal32, fpreal32>(s, ooze_attribute(a), info, gdp, to, report);
    if (!done) return false;
  }
  if (!store_links(s, gdp, myIds, myOffsets, report)) return false;
  if (output.stretch && !write_stretch(s, gdp, myOffsets, report)) return false;
  ooze_clock_save(s, nullptr, 0, &words);
  std::vector<uint32_t> clock_words(words);
  if (!solver_ok(s, ooze_clock_save(s, clock_words.data(), words, &words), "clock", report))
    return false;
  write_words(gdp, clock_words);
  float time = float(ooze_time(s));
  write_detail(gdp, "time", 1, &time);
  write_detail(gdp, "separation", 1, &separation);
  return true;
}

// ---- details ----

const std::vector<std::string> &state_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> n = {CLOCK,        "ooze_materials", "ooze_firstframe", "separation",
                                  "restlength", "linkkind",       "linkspare"};
    for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a)
      if (describe(a).is_state) n.push_back(describe(a).name);
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
    if (ooze_attribute_info info = describe(a); info.is_state)
      add(gdp.findPointAttribute(info.name));
  add(gdp.findAttribute(GA_ATTRIB_DETAIL, CLOCK));
  add(gdp.findAttribute(GA_ATTRIB_DETAIL, "ooze_materials"));
  for (const char *name : {"restlength", "linkkind", "linkspare"})
    add(gdp.findAttribute(GA_ATTRIB_PRIMITIVE, name));
  for (GA_DataId id : s.ids)
    if (id == -1) s.ids.clear(); // somebody does not manage ids: nothing can be told from them
  if (!s.ids.empty())
    s.ids.insert(s.ids.end(), {GA_DataId(gdp.getNumPoints()), GA_DataId(gdp.getNumPrimitives())});
  return s;
}

} // namespace oz
