// Networks of nodes for the tests: the plug-in's own, and sources of geometry that are functions of
// time. SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdarg>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#undef OZ_HAVE_CMOCKA // its macros are words that C++ libraries use
extern "C" {
#include "check.h"
}
#include "geo.h"
#include "grids.h"
#include "ooze/ooze_nodes.h"
#include "sim.h"

extern "C" void newSopOperator(OP_OperatorTable *table);
extern "C" void initializeSIM(void *);

namespace kit {
using standin::world;

// A node that makes geometry.
class Make : public SOP_Node {
public:
  using Function = std::function<void(GU_Detail &, double frame)>;
  explicit Make(Function f, const char *name = "make") : SOP_Node(nullptr, name, nullptr), make(f) {
    flags().setTimeDep(true);
  }
  OP_ERROR cookMySop(OP_Context &context) override {
    gdp->clearAndDestroy();
    make(*gdp, OPgetDirector()->getChannelManager()->getSample(context.getTime()));
    return error();
  }
  void change(Function f) {
    make = f;
    ++version;
  }
  Function make;
};

inline OP_OperatorTable &table() {
  static OP_OperatorTable t;
  if (t.operators.empty()) newSopOperator(&t);
  return t;
}

inline SOP_Node *node(const char *type, std::vector<OP_Node *> wires = {}) {
  OP_Operator *op = table().find(type);
  CHECK(op != nullptr, "no operator %s", type);
  // Houdini owns nodes; here they last as long as the process, and a leak checker can reach them.
  static auto *all = new std::vector<SOP_Node *>;
  auto *n = static_cast<SOP_Node *>(op->construct(nullptr, type, op));
  n->wires = wires;
  all->push_back(n);
  return n;
}

constexpr double D = 0.05; // particle separation of most scenes, m

// With few substeps and iterations: tests compare, they do not look.
inline SOP_Node *coarse(SOP_Node *n, int substeps = 2, double separation = D) {
  n->set("particlesep", separation);
  n->set("substeps", substeps);
  n->set("veliterations", 3);
  n->set("positerations", 2);
  return n;
}

// The menu of materials, as an artist chooses from it: the node's callback fills in the numbers.
inline void preset(SOP_Node *n, const std::string &name) {
  n->set_text("preset", name);
  n->press("preset", 0);
}

// A source that fills a shape.
inline SOP_Node *source_of(OP_Node *shape, const char *material = "honey") {
  SOP_Node *s = node("ooze::source::1.0", {shape});
  s->set("particlesep", D);
  preset(s, material);
  return s;
}

// A material of the library's defaults.
inline void plain(SOP_Node *n) {
  ooze_material m;
  uint32_t source = 0;
  ooze_node_parm p;
  ooze_material_default(&m);
  ooze_node_parm_default(&p);
  CHECK_EQ(ooze_node_find("source", &source), OOZE_OK);
  for (uint32_t i = 0; ooze_node_parm_get(source, i, &p) == OOZE_OK; ++i) {
    double value[4] = {0, 0, 0, 0};
    if (std::strcmp(p.group, "material") ||
        ooze_schema_load("material", p.field, &m, value) != OOZE_OK)
      continue;
    for (uint32_t k = 0; k < p.components; ++k) n->set(p.token, value[k], int(k));
  }
}
// Sources of fluid and of a body of a kind, both of plain matter.
inline void fluid_and_body(SOP_Node *fluid, SOP_Node *body, int kind) {
  for (SOP_Node *n : {fluid, body}) n->set("particlesep", D), plain(n);
  fluid->set("viscosity", 5);
  body->set("body", 1);
  body->set("bodykind", kind);
}

inline double time_of(double frame) { return OPgetDirector()->getChannelManager()->getTime(frame); }
inline const GU_Detail *cook(SOP_Node *n, double frame) { return n->cooked(time_of(frame)); }

inline std::string said(const OP_Node *n) {
  std::string all;
  for (auto &m : n->messages) all += m.second + "\n";
  return all;
}
inline bool says(const OP_Node *n, const char *words) {
  return said(n).find(words) != std::string::npos;
}

// Everything in a detail: names, sizes and bits, in the order of the indices.
inline uint64_t bits(const GU_Detail *gdp) {
  if (!gdp) return 0;
  std::map<std::string, uint64_t> parts;
  for (auto &a : gdp->attributes)
    parts[std::to_string(a->owner) + a->title] = standin::contents_of(*gdp, *a);
  uint64_t h = uint64_t(gdp->getNumPoints());
  for (auto &p : parts) h = ooze_hash(p.first.data(), p.first.size(), ooze_hash(&p.second, 8, h));
  return h;
}
inline std::string first_difference(const GU_Detail *a, const GU_Detail *b) {
  if (!a || !b) return "one of them failed";
  if (a->getNumPoints() != b->getNumPoints())
    return "points: " + std::to_string(a->getNumPoints()) + " and " +
           std::to_string(b->getNumPoints());
  for (auto &x : a->attributes) {
    auto *y = b->findAttribute(x->owner, x->title.c_str());
    if (!y) return x->title + " is missing";
    if (standin::contents_of(*a, *x) != standin::contents_of(*b, *y)) return x->title + " differs";
  }
  return a->attributes.size() == b->attributes.size() ? "" : "more attributes";
}
#define CHECK_BITS(a, b) \
  CHECK(kit::bits(a) == kit::bits(b), "%s", kit::first_difference(a, b).c_str())

// The bits of frames 1 to `last`, played in order without a message; *start is a copy of the first.
inline std::map<int, uint64_t> played(SOP_Node *n, int last, GU_Detail *start = nullptr) {
  std::map<int, uint64_t> out;
  for (int f = 1; f <= last; ++f) {
    CHECK(cook(n, f) != nullptr && n->messages.empty(), "frame %d: %s", f, said(n).c_str());
    out[f] = bits(n->gdp);
    if (f == 1 && start) start->replaceWith(*n->gdp);
  }
  return out;
}
// A node without memory for frames comes to the same bits, in whatever order they are asked for.
inline void check_jumps(SOP_Node *n, std::vector<int> frames, std::map<int, uint64_t> &play) {
  n->set("cachemem", 0);
  for (int f : frames) {
    CHECK(cook(n, f) != nullptr, "frame %d: %s", f, said(n).c_str());
    CHECK(bits(n->gdp) == play[f], "frame %d", f);
  }
}

// Polygons of a box.
inline void box(GU_Detail &gdp, double x, double y, double z, double size, double turn = 0,
                double bend = 0) {
  static const int quads[24] = {0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1,
                                2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3};
  GA_Offset start = gdp.appendPointBlock(8);
  for (int i = 0; i < 8; ++i) {
    double p[3] = {(i & 1) - 0.5, ((i >> 1) & 1) - 0.5, ((i >> 2) & 1) - 0.5};
    p[0] += bend * p[1];
    double c = std::cos(turn), s = std::sin(turn);
    gdp.setPos3(start + i,
                UT_Vector3(float(x + size * (c * p[0] + s * p[2])), float(y + size * p[1]),
                           float(z + size * (c * p[2] - s * p[0]))));
  }
  GEO_PolyCounts counts;
  counts.append(4, 6);
  GU_PrimPoly::buildBlock(&gdp, start, 8, counts, quads);
}

// A block of particles without attributes.
inline void block(GU_Detail &gdp, int side, double x, double y, double z, double d) {
  GA_Offset start = gdp.appendPointBlock(side * side * side);
  for (int i = 0; i < side * side * side; ++i)
    gdp.setPos3(start + i, UT_Vector3(float(x + d * (i % side)), float(y + d * (i / side % side)),
                                      float(z + d * (i / side / side))));
}
inline void number(GU_Detail &gdp, GA_AttributeOwner owner, const char *name, double value) {
  GA_Attribute *a = gdp.addFloatTuple(owner, name, 1, GA_Defaults(value));
  for (size_t i = 0; i < gdp.count_of(owner); ++i) a->put(GA_Offset(i), 0, value);
}
inline void whole(GU_Detail &gdp, GA_AttributeOwner owner, const char *name, int value) {
  GA_Attribute *a = gdp.addIntTuple(owner, name, 1, GA_Defaults(value));
  for (size_t i = 0; i < gdp.count_of(owner); ++i) a->put(GA_Offset(i), 0, value);
}
inline double mean(const GU_Detail *gdp, const char *name, int k = 0) {
  const GA_Attribute *a = gdp->findPointAttribute(name);
  CHECK(a != nullptr, "no attribute %s", name);
  double sum = 0;
  for (GA_Offset o : gdp->order) sum += a->number<double>(o, k);
  return sum / double(gdp->getNumPoints());
}

inline std::vector<double> detail(const GU_Detail *g, const std::string &name) {
  const GA_Attribute *a = g->findAttribute(GA_ATTRIB_DETAIL, name.c_str());
  CHECK(a != nullptr, "no %s", name.c_str());
  std::vector<double> out;
  for (int k = 0; k < a->getTupleSize(); ++k) out.push_back(a->number<double>(0, k));
  return out;
}

// A microsolver with few iterations, as DOPs make it, and a geometry of an object.
inline std::unique_ptr<GAS_SubSolver> gas(double separation) {
  if (!standin::factories().count("gasooze")) initializeSIM(nullptr);
  auto &f = standin::factories().at("gasooze");
  std::unique_ptr<GAS_SubSolver> g(static_cast<GAS_SubSolver *>(f.make(nullptr).release()));
  g->defaults(f.description->templates);
  g->options.values["particlesep"] = {separation};
  g->options.values["substeps"] = {2};
  g->options.values["veliterations"] = {3};
  g->options.values["positerations"] = {2};
  g->options.values["useground"] = {1};
  return g;
}
inline SIM_GeometryCopy &data(SIM_Object &o, const char *name) {
  o.data[name] = std::make_unique<SIM_GeometryCopy>();
  return *o.data[name];
}
// The geometry of an object as it was after each step, as DOPs keep it.
struct History {
  std::vector<std::unique_ptr<SIM_GeometryCopy>> states;
  std::vector<uint64_t> play; // their bits
  void keep(SIM_Object &o) {
    states.push_back(std::make_unique<SIM_GeometryCopy>());
    states.back()->makeEqual(o.data["Geometry"].get());
    play.push_back(bits(o.data["Geometry"]->gdh.gdp()));
  }
  void record(GAS_SubSolver &solver, SIM_Object &o, int steps) {
    SIM_Engine engine;
    keep(o);
    for (int f = 0; f < steps; ++f) {
      CHECK(solver.solve(engine, &o, f / 24.0, 1.0 / 24), "%s",
            o.messages.empty() ? "" : o.messages.back().second.c_str());
      keep(o);
    }
  }
  // The object stands where it was after so many steps.
  void rewind(SIM_Object &o, size_t step) const {
    o.data["Geometry"]->makeEqual(states[step].get());
  }
};
// Turned about z, then moved.
inline UT_DMatrix4 turned(double angle, double x, double y, double z) {
  UT_DMatrix4 m(1.0);
  m.rows[0][0] = m.rows[1][1] = std::cos(angle);
  m.rows[0][1] = std::sin(angle);
  m.rows[1][0] = -std::sin(angle);
  m.rows[3][0] = x, m.rows[3][1] = y, m.rows[3][2] = z;
  return m;
}

// No contract of the HDK was broken.
inline void whole_world() {
  CHECK(world().failures == 0, "%d contracts were broken", world().failures);
}
inline void fresh_world() {
  grids::prepare();
  world() = standin::World();
}
} // namespace kit
