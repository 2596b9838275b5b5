// The first simulation of hdk_plugin/README.md, played through from its own words: nodes by their
// labels, parameters by theirs, values as they stand there. SPDX-License-Identifier: Apache-2.0
#include "kit.h"

#include <fstream>
#include <sstream>
using namespace kit;

static std::string between(const std::string &from, const std::string &to) {
  std::ifstream f(std::string(OZ_SOURCE_DIR) + "/hdk_plugin/README.md");
  std::stringstream all;
  all << f.rdbuf();
  const std::string text = all.str();
  const size_t a = text.find(from), b = text.find(to, a);
  CHECK(a != std::string::npos && b != std::string::npos, "README: no '%s' to '%s'", from.c_str(),
        to.c_str());
  return text.substr(a, b - a);
}

// The numbered steps, in order.
static std::vector<std::string> steps_of(const std::string &text) {
  std::vector<std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.size() > 3 && line[0] >= '1' && line[0] <= '9' && line[1] == '.')
      out.push_back(line.substr(3));
  return out;
}

static std::vector<double> numbers_after(const std::string &text, const std::string &word,
                                         size_t count) {
  const size_t at = text.find(word);
  CHECK(at != std::string::npos, "README: no '%s' in: %s", word.c_str(), text.c_str());
  std::istringstream rest(text.substr(at + word.size()));
  std::vector<double> out(count);
  for (double &x : out) CHECK(bool(rest >> x), "README: no number after '%s'", word.c_str());
  return out;
}

// _Ooze Source_ is the node of that label.
static std::string type_of(const std::string &step) {
  CHECK(step[0] == '_', "a step begins with a node: %s", step.c_str());
  const std::string label = step.substr(1, step.find('_', 1) - 1);
  for (uint32_t i = 0; i < ooze_node_count(); ++i) {
    ooze_node n;
    ooze_node_default(&n);
    CHECK_EQ(ooze_node_get(i, &n), OOZE_OK);
    if (label == n.label) return n.type_name;
  }
  CHECK(false, "there is no node %s", label.c_str());
  return "";
}

// Every "Label value" of the text, set on the node: a number, `on`, or the _Label_ of a menu's
// entry, after the parameter's label and perhaps `to`. "(folder _X_)" must be its folder.
static int follow(const std::string &text, const std::string &type, SOP_Node *node) {
  int found = 0;
  uint32_t index = 0;
  for (uint32_t i = 0; i < ooze_node_count(); ++i) {
    ooze_node n;
    ooze_node_default(&n);
    CHECK_EQ(ooze_node_get(i, &n), OOZE_OK);
    if (type == n.type_name) index = i;
  }
  ooze_node_parm p;
  ooze_node_parm_default(&p);
  for (uint32_t i = 0; ooze_node_parm_get(index, i, &p) == OOZE_OK; ++i) {
    const size_t at = text.find(std::string(p.label) + " ");
    if (at == std::string::npos) continue;
    std::string rest = text.substr(at + std::strlen(p.label) + 1);
    if (rest.compare(0, 3, "to ") == 0) rest = rest.substr(3);
    if (rest[0] == '_') {
      const std::string word = rest.substr(1, rest.find('_', 1) - 1),
                        menu = "|" + std::string(p.menu) + "|", key = "=" + word + "|";
      const size_t entry = menu.find(key);
      CHECK(entry != std::string::npos, "%s has no %s", p.label, word.c_str());
      const size_t begin = menu.rfind('|', entry) + 1;
      const std::string token = menu.substr(begin, entry - begin);
      node->set_text(p.token, token);
      if (!std::strcmp(p.token, "preset")) node->press("preset", 0);
    } else if (rest.compare(0, 2, "on") == 0) {
      node->set(p.token, 1);
    } else if ((rest[0] >= '0' && rest[0] <= '9') || rest[0] == '-') {
      node->set(p.token, std::atof(rest.c_str()));
    } else {
      continue; // spoken of, not set
    }
    const size_t folder = rest.find("(folder _");
    if (folder != std::string::npos && folder < 8)
      CHECK(rest.compare(folder + 9, std::strlen(p.folder), p.folder) == 0, "%s is in %s", p.label,
            p.folder);
    ++found;
  }
  return found;
}

static void ball(GU_Detail &g, double radius, const std::vector<double> &at) {
  const int rows = 13, columns = 24;
  const double pi = 3.14159265358979;
  const GA_Offset start = g.appendPointBlock(rows * columns + 2);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const double a = pi * (r + 1) / (rows + 1), b = 2 * pi * c / columns;
      g.setPos3(start + r * columns + c,
                UT_Vector3(float(at[0] + radius * std::sin(a) * std::cos(b)),
                           float(at[1] + radius * std::cos(a)),
                           float(at[2] + radius * std::sin(a) * std::sin(b))));
    }
  const int top = rows * columns, bottom = top + 1;
  g.setPos3(start + top, UT_Vector3(float(at[0]), float(at[1] + radius), float(at[2])));
  g.setPos3(start + bottom, UT_Vector3(float(at[0]), float(at[1] - radius), float(at[2])));
  std::vector<int> corners;
  for (int c = 0; c < columns; ++c) {
    const int d = (c + 1) % columns, last = (rows - 1) * columns;
    corners.insert(corners.end(), {top, c, d, bottom, last + d, last + c});
    for (int r = 0; r + 1 < rows; ++r) {
      const int a = r * columns + c, b = r * columns + d;
      corners.insert(corners.end(), {a, a + columns, b + columns, a, b + columns, b});
    }
  }
  GEO_PolyCounts counts;
  counts.append(3, GA_Size(corners.size() / 3));
  GU_PrimPoly::buildBlock(&g, start, rows * columns + 2, counts, corners.data());
}

static double width(const GU_Detail *g) {
  double most = 0;
  for (GA_Offset o : g->order) most = std::fmax(most, std::fabs(double(g->getPos3(o)[0])));
  return most;
}

OZ_CASE(the_first_simulation_of_the_readme_works_word_by_word) {
  fresh_world();
  const std::string text = between("By hand, in a new Geometry object:", "To pour instead:");
  const std::vector<std::string> steps = steps_of(text);
  CHECK_EQ(steps.size(), 5);
  // 1. a sphere of polygons
  CHECK(steps[0].find("_Sphere_") == 0 && steps[0].find("Polygon") != std::string::npos, "%s",
        steps[0].c_str());
  const double radius = numbers_after(steps[0], "radius ", 1)[0];
  const std::vector<double> centre = numbers_after(steps[0], "centre ", 3);
  Make sphere([&](GU_Detail &g, double) { ball(g, radius, centre); });
  // 2. the source after it
  SOP_Node *source = node(type_of(steps[1]).c_str(), {&sphere});
  CHECK_EQ(follow(steps[1], type_of(steps[1]), source), 2);
  CHECK(cook(source, 1) != nullptr && source->messages.empty(), "%s", said(source).c_str());
  const double d = source->evalFloat("particlesep", 0, 0);
  CHECK_NEAR(double(source->gdp->getNumPoints()) * d * d * d, 4.18879 * radius * radius * radius,
             0.04 * 4.18879 * radius * radius * radius, "its volume");
  // 3. the solver after it: the sphere falls and spreads
  SOP_Node *solver = node(type_of(steps[2]).c_str(), {source});
  CHECK_EQ(follow(steps[2], type_of(steps[2]), solver), 2);
  CHECK(steps[2].find("falls and spreads") != std::string::npos);
  for (int f = 1; f <= 10; ++f)
    CHECK(cook(solver, f) != nullptr && solver->messages.empty(), "frame %d: %s", f,
          said(solver).c_str());
  CHECK(mean(solver->gdp, "P", 1) < centre[1] - radius, "it did not fall");
  CHECK(width(solver->gdp) > 1.1 * radius, "it did not spread: %g", width(solver->gdp));
  for (GA_Offset o : solver->gdp->order) CHECK(solver->gdp->getPos3(o)[1] > -float(d));
  // 5. the surface after it
  SOP_Node *surface = node(type_of(steps[4]).c_str(), {solver});
  CHECK_EQ(follow(steps[4], type_of(steps[4]), surface), 1);
  CHECK(cook(surface, 10) != nullptr && surface->messages.empty(), "%s", said(surface).c_str());
  CHECK(surface->gdp->getNumPrimitives() > 1000);
  // 4. polygons in the second input hold the honey
  CHECK(steps[3].find("second input") != std::string::npos);
  CHECK(std::string(table().find(type_of(steps[2]))->inputlabels[1]) == "Colliders");
  Make plate([&](GU_Detail &g, double) { box(g, 0, 0.5 * centre[1] - 0.2, 0, 0.4); });
  solver->wires.push_back(&plate);
  ++solver->version;
  CHECK(cook(solver, 6) != nullptr && solver->messages.empty(), "%s", said(solver).c_str());
  CHECK(mean(solver->gdp, "P", 1) > 0.5 * centre[1], "it fell through the plate");
  whole_world();
}

OZ_CASE(the_pour_of_the_readme_works_word_by_word) {
  fresh_world();
  const std::string text = between("To pour instead:", "Everything is in metres");
  const size_t add = text.find("_Ooze Source_");
  CHECK(add != std::string::npos);
  const size_t vex = text.find("v@N = {");
  CHECK(vex != std::string::npos);
  double n[3];
  CHECK_EQ(std::sscanf(text.c_str() + vex, "v@N = {%lf,%lf,%lf}", &n[0], &n[1], &n[2]), 3);
  Make point([&](GU_Detail &g, double) {
    g.setPos3(g.appendPoint(), UT_Vector3(0, 0.1f, 0));
    GA_Attribute *a = g.addFloatTuple(GA_ATTRIB_POINT, "N", 3);
    for (int k = 0; k < 3; ++k) a->put(0, k, n[k]);
  });
  SOP_Node *source = node("ooze::source::1.0", {&point});
  CHECK_EQ(follow(text.substr(add), "ooze::source::1.0", source), 1);
  source->set("particlesep", 0.004); // of the steps above
  SOP_Node *solver = node("ooze::solver::1.0", {source});
  solver->set("particlesep", 0.004);
  CHECK(cook(solver, 8) != nullptr && solver->messages.empty(), "%s", said(solver).c_str());
  CHECK(solver->gdp->getNumPoints() > 100);
  CHECK(mean(solver->gdp, "P", 1) < 0.1, "it does not pour down");
  whole_world();
}
OZ_TEST_MAIN()
