// The library that Houdini loads, as hdk_plugin/CMakeLists.txt builds it: its exports, its needs,
// that it refuses another HDK with a sentence, and that its nodes cook with the solver inside.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>

#include "kit.h"
using namespace kit;

static void *library() {
  static void *const handle = dlopen(OZ_DSO, RTLD_NOW | RTLD_LOCAL);
  CHECK(handle != nullptr, "%s", dlerror());
  return handle;
}
template <class F> static F entry(const char *name) {
  F f = reinterpret_cast<F>(dlsym(library(), name));
  CHECK(f != nullptr, "the library has no %s", name);
  return f;
}
void newSopOperator(OP_OperatorTable *t) {
  entry<void (*)(OP_OperatorTable *)>("newSopOperator")(t);
} // for kit::node
static int64 built() { return 22 * 1000000 + 100; } // HDK_API_VERSION of the stand-in's 22.0.100

static std::vector<std::string> lines_of(const std::string &command) {
  std::vector<std::string> lines;
  char line[4096];
  FILE *f = popen(command.c_str(), "r");
  CHECK(f != nullptr);
  while (std::fgets(line, sizeof line, f)) lines.emplace_back(line, std::strcspn(line, "\n"));
  CHECK_EQ(pclose(f), 0);
  return lines;
}

// Output to stderr meanwhile.
template <class F> static std::string told_by(F f) {
  char name[] = "hdk_dso_XXXXXX", text[2000] = "";
  int file = mkstemp(name), stderr_was = dup(2);
  CHECK(file >= 0 && stderr_was >= 0);
  dup2(file, 2);
  f();
  dup2(stderr_was, 2);
  close(stderr_was);
  CHECK(pread(file, text, sizeof text - 1, 0) >= 0);
  close(file);
  std::remove(name);
  return text;
}

OZ_CASE(only_the_entry_points_and_openvdbs_templates_are_visible) {
  std::set<std::string> wanted = {"HoudiniDSOVersion", "HoudiniCompilerVersion", "newSopOperator",
                                  "initializeSIM"};
  size_t inside = 0;
  for (auto &line : lines_of("nm -D --defined-only " OZ_DSO)) {
    std::string name = line.substr(line.rfind(' ') + 1);
    if (wanted.erase(name)) continue;
    CHECK(name.find("openvdb") != std::string::npos, "%s is visible", name.c_str());
  }
  for (auto &name : wanted) CHECK(false, "%s is not visible", name.c_str());
  for (auto &line : lines_of("nm " OZ_DSO))
    inside += line.size() > 12 && line.compare(line.size() - 12, 12, " t ooze_step") == 0;
  CHECK(inside == 1, "the solver is not inside");
}

OZ_CASE(it_needs_no_library_that_houdini_does_not_have) {
  // the compiler's, and those that the stand-in of Houdini names: this machine's OpenVDB, TBB and
  // Imath
  static const char *const fine[] = {"libc.",    "libm.",      "libstdc++.", "libgcc_s.",
                                     "ld-linux", "libopenvdb", "libtbb.",    "libImath"};
  size_t found = 0;
  for (auto &line : lines_of("readelf -d " OZ_DSO)) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    bool known = false;
    for (const char *name : fine) known |= line.find(std::string("[") + name) != std::string::npos;
    CHECK(known, "%s", line.c_str());
    ++found;
  }
  CHECK(found > 2);
}

OZ_CASE(it_says_what_it_was_built_for) {
  const char *version = nullptr;
  entry<void (*)(const char **)>("HoudiniDSOVersion")(&version);
  CHECK(version && !std::strcmp(version, "22.0"), "%s", version);
  CHECK_EQ(entry<unsigned (*)()>("HoudiniCompilerVersion")(), __GNUC__ * 100 + __GNUC_MINOR__);
}

OZ_CASE(another_hdk_is_refused_with_what_is_wanted) {
  fresh_world();
  world().api_version = built() + 7;
  OP_OperatorTable none;
  std::string told = told_by([&] {
    newSopOperator(&none);
    entry<void (*)(void *)>("initializeSIM")(nullptr);
  });
  const char *text = told.c_str();
  CHECK(none.operators.empty() && !standin::factories().count("gasooze"));
  for (const char *word : {"built for Houdini 22.0.100", "HDK 22000100",
                           "this one has HDK 22000107", "Install the build"})
    CHECK(std::strstr(text, word), "%s is not in: %s", word, text);
}

OZ_CASE(its_nodes_cook) {
  fresh_world();
  world().api_version = built();
  entry<void (*)(void *)>("initializeSIM")(nullptr);
  CHECK(standin::factories().count("gasooze") == 1);
  CHECK_EQ(table().operators.size(), 6);
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.2, 0, 0.2); });
  Make floor([](GU_Detail &g, double) { grids::sphere(g, "surface", 1.0f, 0.05f, 0, -1.0f, 0); });
  SOP_Node *source = node("ooze::source::1.0", {&shape}),
           *solver = node("ooze::solver::1.0", {source, &floor}),
           *surface = node("ooze::surface::1.0", {solver});
  source->set("particlesep", 0.05);
  solver->set("particlesep", 0.05);
  solver->set("substeps", 2);
  setenv("OOZE_FARM", "1", 1); // one line of versions and device for the farm's log
  const GU_Detail *out = nullptr;
  std::string told = told_by([&] { out = cook(surface, 3); });
  for (const char *word : {"[ooze] Ooze ", "Houdini 22.0.100 (HDK 22000100)", "device cpu"})
    CHECK(told.find(word) != std::string::npos, "%s is not in: %s", word, told.c_str());
  CHECK_EQ(std::count(told.begin(), told.end(), '\n'), 1);
  CHECK(out != nullptr, "%s%s", said(solver).c_str(), said(surface).c_str());
  CHECK_EQ(solver->gdp->getNumPoints(), 64);
  CHECK(mean(solver->gdp, "v", 1) < -0.3);
  CHECK_EQ(grids::names(*out).size(), 2);
  whole_world();
}
OZ_TEST_MAIN()
