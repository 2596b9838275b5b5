// The way out of the bridge: from a capture of the solver into the attributes, on all threads.
// SPDX-License-Identifier: Apache-2.0
#include <GA/GA_Handle.h>
#include <SYS/SYS_AtomicInt.h>
#include <UT/UT_ParallelUtil.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "bridge.h"
#include "detail.h"
#include "links.h"

namespace oz {

// Attributes that are 0 for every new particle: one that is 0 everywhere need not be written.
static bool quiet(ooze_attribute a) {
  return a == OOZE_FORCE || a == OOZE_MATERIAL || a == OOZE_SOURCE || a == OOZE_OWNER ||
         a == OOZE_REST || a >= OOZE_SOLVENT_VISCOSITY;
}

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

// ---- points ----

// Deaths and births: both lists of ids are in ascending order.
void Bridge::replace_points(GU_Detail &gdp) {
  const size_t n = myNow.size();
  auto dead = gdp.createDetachedPointGroup();
  std::vector<GA_Offset> at(n, GA_INVALID_OFFSET);
  for (size_t r = 0, k = 0; r < myIds.size() || k < n;) {
    if (k == n || (r < myIds.size() && myIds[r] < myNow[k]))
      dead->addOffset(myOffsets[r++]);
    else if (r == myIds.size() || myNow[k] < myIds[r])
      myBorn.push_back(k++);
    else
      at[k++] = myOffsets[r++];
  }
  const bool some = dead->entries() > 0;
  if (some) gdp.destroyPointOffsets(GA_Range(*dead));
  const GA_Offset fresh =
      myBorn.empty() ? GA_INVALID_OFFSET : gdp.appendPointBlock(GA_Size(myBorn.size()));
  for (size_t i = 0; i < myBorn.size(); ++i) at[myBorn[i]] = fresh + GA_Offset(i);
  if (some || !myBorn.empty()) gdp.bumpDataIdsForAddOrRemove(true, false, false);
  for (auto &had : myKept) had.id = -1;
  myIds = myNow;
  myOffsets = at;
  order(gdp);
}

// The points of the particles that there are now, with their ids.
bool Bridge::update_points(ooze_solver *s, GU_Detail &gdp, Report &report) {
  const uint32_t n = ooze_particle_count(s);
  ooze_stats stats;
  ooze_stats_default(&stats);
  myBorn.clear();
  // none was born or lost: they are those that the step began with
  if (n && n == myIds.size() && ooze_stats_counts(s, &stats) >= 0 && !stats.born && !stats.killed &&
      gdp.findPointAttribute("id") &&
      GA_ROHandleID(gdp.findPointAttribute("id")).get(myOffsets.back()) >= 0)
    return true;
  myNow.resize(n);
  if (n && !solver_ok(s, ooze_attribute_read(s, OOZE_ID, 0, n, 0, myNow.data()), "id", report))
    return false;
  if (n && myNow.back() > uint64_t(INT32_MAX))
    return report.fail(
        "id %llu does not fit Houdini's integers; start again from ids that begin at 0",
        (unsigned long long)myNow.back());
  GA_Attribute *id = attribute_for(gdp, attribute_info(OOZE_ID));
  const bool same = myNow == myIds,
             numbered = n == 0 || (same && GA_ROHandleID(id).get(myOffsets.back()) >= 0);
  if (!same) replace_points(gdp);
  if (same && numbered) return true;
  GA_RWHandleID h(id);
  for (size_t r = 0; r < n; ++r) h.set(myOffsets[r], int64(myNow[r]));
  id->bumpDataId();
  return true;
}

// ---- attributes ----

void Bridge::release() {
  ooze_capture_destroy(myCapture);
  myCapture = nullptr;
}

// The toggle Stress is for all results but the mass.
static bool wanted(const ooze_attribute_info &info, int a, const Output &output) {
  return a != OOZE_ID && (info.is_state || (a == OOZE_MASS ? output.mass : output.stress));
}

// On a GPU all that is wanted is on its way to the host when this returns.
bool Bridge::capture(ooze_solver *s, const Output &output, Report &report) {
  uint64_t bits = 0;
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a)
    if (wanted(attribute_info(a), a, output)) bits |= uint64_t(1) << a;
  if (!myCapture && !solver_ok(s, ooze_capture_create(s, &myCapture), "capture", report))
    return false;
  return solver_ok(s, ooze_capture_take(myCapture, bits), "capture", report);
}

// State that no step changes but by heat, mixing, births, or the host.
static bool steady(ooze_attribute a) {
  return (a >= OOZE_RELAXATION_TIME && a <= OOZE_TEMPERATURE) || a == OOZE_FORCE ||
         a == OOZE_MATERIAL || a == OOZE_SOURCE || a == OOZE_OWNER || a == OOZE_SOLVENT_VISCOSITY;
}

static bool same_words(const uint32_t *a, const uint32_t *b, size_t count) {
  enum { PART = 16384 };
  SYS_AtomicInt32 differs(0);
  UTparallelFor(UT_BlockedRange<size_t>(0, (count + PART - 1) / PART),
                [&](const UT_BlockedRange<size_t> &parts) {
                  const size_t first = parts.begin() * PART,
                               end = std::min<size_t>(parts.end() * PART, count);
                  if (!differs.load() && std::memcmp(a + first, b + first, 4 * (end - first)))
                    differs.store(1);
                });
  return differs.load() == 0;
}

// Particles have the materials that they had, with the same values, since other materials make
// another solver.
bool Bridge::same_materials(Report &report) {
  const void *array = nullptr;
  if (ooze_capture_array(myCapture, OOZE_MATERIAL, &array) < 0)
    return report.fail("material: %s", ooze_capture_message(myCapture));
  const size_t n = array ? myIds.size() : 0;
  const auto *now = static_cast<const uint32_t *>(array);
  mySameMaterials = n == myMaterials.size() && same_words(now, myMaterials.data(), n);
  if (!mySameMaterials) myMaterials.assign(now, now + n);
  return true;
}

// Whether the detail has the values that were written into it last.
bool Bridge::kept(ooze_attribute a, const ooze_attribute_info &info, const GU_Detail &gdp) const {
  const Kept &had = myKept[size_t(a)];
  const GA_Attribute *there = gdp.findPointAttribute(info.name);
  return there && had.id != -1 && there->getDataId() == had.id &&
         had.values.size() == myIds.size() * info.components;
}

// By rank, until the next capture. NULL where there are none, or where the detail has them already;
// those that the capture has no array of, the materials' or 0, only where they are asked for.
const void *Bridge::values(ooze_attribute a, const ooze_attribute_info &info, const GU_Detail &gdp,
                           bool absent_too, Report &report) {
  const void *array = nullptr;
  ooze_result r = info.is_state ? ooze_capture_array(myCapture, a, &array) : OOZE_OK;
  if (r >= 0 && (array ? steady(a) : absent_too)) {
    const size_t words = myIds.size() * info.components;
    const auto *now = static_cast<const uint32_t *>(array);
    Kept &had = myKept[size_t(a)];
    if (kept(a, info, gdp) && (array           ? same_words(now, had.values.data(), words)
                               : info.is_state ? mySameMaterials
                                               : false))
      return nullptr;
    had.id = -1;
    had.values.resize(words);
    if (array)
      std::copy(now, now + words, had.values.begin());
    else
      r = ooze_capture_read(myCapture, a, 0, uint32_t(myIds.size()), 0, had.values.data());
    array = had.values.data();
  }
  if (r >= 0) return array;
  report.fail("%s: %s", info.name, ooze_capture_message(myCapture));
  return nullptr;
}

static bool all_zero(const uint32_t *words, size_t count) { // or -0
  for (size_t first = 0; first < count; first += 4096) {
    uint32_t any = 0;
    const size_t end = std::min(first + 4096, count);
    for (size_t i = first; i < end; ++i) any |= words[i];
    if (any & 0x7fffffffu) return false;
  }
  return true;
}

template <class T, class S>
static void write_values(GA_Attribute *to, int width, const S *values, size_t first, size_t count,
                         const GA_Offset *offsets) {
  GA_RWHandleT<T> h(to);
  GA_RWHandleT<S> single(to);
  const S *from = values + first * size_t(width);
  if (offsets) {
    for (size_t r = 0; r < count; ++r)
      for (int k = 0; k < width; ++k)
        single.set(offsets[first + r], k, from[r * size_t(width) + size_t(k)]);
  } else if (sizeof(T) / sizeof(S) == size_t(width)) {
    h.setBlockFromIndices(GA_Index(first), GA_Size(count), reinterpret_cast<const T *>(from));
  } else {
    for (int k = 0; k < width; ++k)
      single.setBlockFromIndices(GA_Index(first), GA_Size(count), from + k, width, k);
  }
}

void Bridge::write(const Delivery &d, size_t first, size_t count) const {
  const int width = int(d.info.components);
  const GA_Offset *offsets = myStraight ? nullptr : myOffsets.data();
  auto *reals = static_cast<const fpreal32 *>(d.values);
  if (d.info.is_integer)
    write_values<int32>(d.to, width, static_cast<const int32 *>(d.values), first, count, offsets);
  else if (width == 3)
    write_values<UT_Vector3>(d.to, width, reals, first, count, offsets);
  else
    write_values<fpreal32>(d.to, width, reals, first, count, offsets);
}

// Several threads may write to one attribute where each has whole pages of it, of 1,024 offsets.
void Bridge::write_all(const std::vector<Delivery> &all) const {
  const size_t n = myIds.size(), part = myPlain ? 16 * 1024 : std::max<size_t>(n, 1),
               parts = (n + part - 1) / part;
  UTparallelFor(UT_BlockedRange<size_t>(0, all.size() * parts),
                [&](const UT_BlockedRange<size_t> &jobs) {
                  for (size_t job = jobs.begin(); job < jobs.end(); ++job) {
                    const size_t first = job % parts * part;
                    write(all[job / parts], first, std::min(part, n - first));
                  }
                });
  for (auto &d : all) d.to->bumpDataId();
}

void Bridge::make_room(GU_Detail &gdp) const {
  std::vector<GA_Attribute *> there;
  for (const char *name : myWritten)
    if (GA_Attribute *a = gdp.findPointAttribute(name)) there.push_back(a);
  UTparallelFor(UT_BlockedRange<size_t>(0, there.size()), [&](const UT_BlockedRange<size_t> &some) {
    for (size_t i = some.begin(); i < some.end(); ++i) there[i]->hardenAllPages();
  });
}

// The six numbers of `conform` as a matrix, which VEX can read.
bool Bridge::write_stretch(GU_Detail &gdp, Report &report) {
  static const size_t from[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
  gdp.addFloatTuple(GA_ATTRIB_POINT, "stretch", 9, GA_Defaults(0.0));
  GA_Attribute *a = gdp.findPointAttribute("stretch");
  a->setTypeInfo(GA_TYPE_TRANSFORM);
  const auto *conform = static_cast<const fpreal32 *>(
      values(OOZE_CONFORMATION, attribute_info(OOZE_CONFORMATION), gdp, true, report));
  if (!conform) return myIds.empty();
  std::vector<fpreal32> matrices(9 * myIds.size());
  for (size_t r = 0; r < myIds.size(); ++r)
    for (size_t k = 0; k < 9; ++k) matrices[9 * r + k] = conform[6 * r + from[k]];
  Delivery d = {attribute_info(OOZE_CONFORMATION), a, matrices.data()};
  d.info.components = 9;
  write_all({d});
  return true;
}

static void write_words(GU_Detail &gdp, const std::vector<uint32_t> &words) {
  gdp.addIntTuple(GA_ATTRIB_DETAIL, CLOCK, int(words.size()));
  GA_RWHandleI h(gdp.findAttribute(GA_ATTRIB_DETAIL, CLOCK));
  for (size_t i = 0; i < words.size(); ++i) h.set(GA_Offset(0), int(i), int32(words[i]));
  h.bumpDataId();
}

bool Bridge::store(ooze_solver *s, GU_Detail &gdp, const Output &output, Report &report) {
  float separation = ooze_solver_separation(s);
  if (!capture(s, output, report)) return false;
  if (!gdp.findPointAttribute("pscale"))
    gdp.addFloatTuple(GA_ATTRIB_POINT, "pscale", 1, GA_Defaults(0.5 * double(separation)));
  remove_links(gdp);
  myKept.resize(OOZE_ATTRIBUTE_COUNT);
  if (!update_points(s, gdp, report) || !same_materials(report)) return false;

  std::vector<Delivery> all;
  for (int i = 0; i < OOZE_ATTRIBUTE_COUNT; ++i) {
    const ooze_attribute a = ooze_attribute(i);
    Delivery d = {attribute_info(i), nullptr, nullptr};
    if (!wanted(d.info, i, output)) continue;
    // of the quiet ones only this one can be the materials'
    const bool untold = quiet(a) && !gdp.findPointAttribute(d.info.name);
    d.values = values(a, d.info, gdp, !untold || a == OOZE_SOLVENT_VISCOSITY, report);
    if (report.failed()) return false;
    const auto *words = static_cast<const uint32_t *>(d.values);
    if (untold && (!words || all_zero(words, myIds.size() * d.info.components))) continue;
    d.to = attribute_for(gdp, d.info);
    if (d.values) all.push_back(d);
  }
  write_all(all);
  myWritten.clear();
  for (auto &d : all) myWritten.push_back(d.info.name);
  for (auto &d : all)
    for (auto &had : myKept)
      if (d.values == had.values.data()) had.id = d.to->getDataId();
  if (!store_links(s, gdp, myIds, myOffsets, report)) return false;
  if (output.stretch && !write_stretch(gdp, report)) return false;

  uint32_t words = 0;
  ooze_clock_save(s, nullptr, 0, &words);
  std::vector<uint32_t> clock_words(words);
  if (!solver_ok(s, ooze_clock_save(s, clock_words.data(), words, &words), "clock", report))
    return false;
  write_words(gdp, clock_words);
  float time = float(ooze_time(s));
  write_detail(gdp, "time", 1, &time);
  write_detail(gdp, "separation", 1, &separation);
  ooze_params params;
  ooze_params_default(&params);
  if (ooze_params_get(s, &params) >= 0 && params.rest) {
    const float blend = float(ooze_rest_blend(ooze_time(s), double(params.rest_period)));
    write_detail(gdp, "restblend", 1, &blend);
  }
  return true;
}

} // namespace oz
