// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <SYS/SYS_Version.h>
#include <UT/UT_HDKVersion.h>
#include <UT/UT_ParallelUtil.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>

namespace oz {

static std::string format_text(const char *format, va_list args) {
  char text[640];
  std::vsnprintf(text, sizeof text, format, args);
  return text;
}

bool Report::fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (error.empty()) error = format_text(format, args);
  va_end(args);
  return false;
}

void Report::warn(const char *format, ...) {
  va_list args;
  va_start(args, format);
  std::string text = format_text(format, args);
  va_end(args);
  for (auto &w : warnings)
    if (w == text) return;
  warnings.push_back(text);
}

bool Report::ok(ooze_result r, const ooze_message &why, const char *doing) {
  if (r >= 0) return true;
  return fail("%s%s%s", doing, doing[0] ? ": " : "", why.text[0] ? why.text : ooze_result_name(r));
}

bool solver_ok(ooze_solver *s, ooze_result r, const char *doing, Report &report) {
  return r >= 0 || report.fail("%s: %s", doing, ooze_solver_message(s));
}

// ---- hooks ----

int Host::progress(void *self, double fraction) {
  Host *h = static_cast<Host *>(self);
  if (!h->boss) return h->broken;
  double percent = 100.0 * (h->from + (h->to - h->from) * fraction);
  return h->broken || h->boss->wasInterrupted(percent < 0 ? 0 : percent > 100 ? 100 : int(percent));
}

void Host::parallel(void *self, uint32_t count, ooze_range_fn body, void *arg) {
  try { // an exception must not pass through the solver's C
    UTparallelFor(
        UT_BlockedRange<uint32_t>(0, count),
        [body, arg](const UT_BlockedRange<uint32_t> &r) { body(arg, r.begin(), r.end()); });
  } catch (...) {
    static_cast<Host *>(self)->broken = true;
  }
}

void Host::fill(ooze_hooks &hooks) {
  ooze_hooks_default(&hooks);
  hooks.user = this;
  hooks.progress = progress;
  hooks.parallel_for = parallel;
}

static bool print_banner(const ooze_solver *s) {
  const char *farm = std::getenv("OOZE_FARM");
  if (!farm || !*farm || !std::strcmp(farm, "0")) return false; // artists' consoles stay clean
  std::fprintf(stderr, "[ooze] Ooze %s (%s), built for Houdini %s (HDK %ld), device %s\n",
               ooze_version_text(), ooze_build_text(), SYS_VERSION_FULL, long(HDK_API_VERSION),
               ooze_solver_backend(s));
  return true;
}

void banner(const ooze_solver *s) {
  static const bool told = print_banner(s); // once, whichever thread comes first
  (void)told;
}

bool choose_device(uint32_t &backend, int32 &device, Report &report) {
  const char *text = std::getenv("OOZE_DEVICE");
  if (!text || !*text) return true;
  const bool cuda = !std::strncmp(text, "cuda", 4), cpu = !std::strcmp(text, "cpu");
  if (cuda || cpu) backend = cuda ? OOZE_BACKEND_CUDA : OOZE_BACKEND_CPU;
  if (cpu || !std::strcmp(text, "cuda")) return true;
  const char *number = cuda && text[4] == ':' ? text + 5 : text;
  char *end = nullptr;
  const long n = std::strtol(number, &end, 10);
  if (end == number || *end || n < 0 || n > 63)
    return report.fail("OOZE_DEVICE is %s; expected cpu, cuda, or cuda:0 to cuda:63", text);
  device = int32(n);
  return true;
}

// ---- parameters ----

const std::vector<ooze_node_parm> &parms_of(const char *node) {
  static const auto all = [] {
    std::map<std::string, std::vector<ooze_node_parm>> made;
    for (uint32_t n = 0; n < ooze_node_count(); ++n) {
      ooze_node info;
      ooze_node_default(&info);
      if (ooze_node_get(n, &info) < 0) continue;
      for (uint32_t i = 0; i < info.parm_count; ++i) {
        ooze_node_parm p;
        ooze_node_parm_default(&p);
        if (ooze_node_parm_get(n, i, &p) >= 0) made[info.name].push_back(p);
      }
    }
    return made;
  }();
  return all.at(node);
}

std::string dialog_of(const char *node) {
  uint32_t index = 0;
  char *text = nullptr;
  if (ooze_node_find(node, &index) < 0 || ooze_node_dialog(index, &text, nullptr) < 0) return "{ }";
  std::string out(text);
  ooze_io_free(text);
  return out;
}

bool read_group(const char *node, const Parms &parms, const char *group, const char *owner,
                void *object, Report &report) {
  for (auto &p : parms_of(node)) {
    if (std::strcmp(p.group, group) != 0) continue;
    double value[4] = {0, 0, 0, 0};
    ooze_message why = {""};
    for (uint32_t k = 0; k < p.components; ++k) value[k] = parms.number(p.token, int(k));
    ooze_result r = ooze_schema_store(owner, p.field, value, object, &why);
    if (r == OOZE_ERROR_NOT_FOUND) continue; // of another struct of the group: particle_separation
    if (!report.ok(r, why, "parameter")) return false;
  }
  return true;
}

Kind kind_of(const ooze_node_parm &p) {
  static const std::map<std::string, Kind> kinds = {
      {"float", Kind::FLOAT},   {"int", Kind::INTEGER},   {"menu", Kind::INTEGER},
      {"vector", Kind::VECTOR}, {"toggle", Kind::TOGGLE}, {"text", Kind::TEXT},
      {"choice", Kind::TEXT},   {"button", Kind::NONE}};
  return kinds.at(p.type);
}

const Parms::Value &Parms::value(const char *token) const {
  auto at = myValues.find(token);
  if (at == myValues.end())
    throw std::logic_error("node " + std::string(myNode) + " has no parameter " + token);
  return at->second;
}

uint64_t Parms::hash() const {
  uint64_t h = 0;
  for (auto &p : parms_of(myNode)) {
    // these change no frame
    static const std::set<std::string> shown = {"cachemem",   "cachedisk",  "cachefile",
                                                "cacheevery", "cachetrail", "showguide",
                                                "visualize",  "vismin",     "vismax"};
    if (shown.count(p.token)) continue;
    const Value &v = value(p.token);
    h = ooze_hash(v.text.data(), v.text.size(), h);
    h = ooze_hash(v.number, sizeof v.number, h);
  }
  return h;
}

} // namespace oz
