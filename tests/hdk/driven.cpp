// Bodies that follow the polygons of their source, in each node that steps.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kit.h"
using namespace kit;

// A box that goes sideways and turns, in fluid; from frame `until` on its source lets it go.
struct Spoon {
  Make water, wood;
  SOP_Node *fluid, *body, *solver;
  Make both;
  double until = 100;
  static double x(double f) { return -0.1 + 0.02 * f; }
  static double turn(double f) { return 0.1 * (f - 1); }
  explicit Spoon(int kind = OOZE_BODY_RIGID)
      : water([](GU_Detail &g, double) { box(g, 0, 0.15, 0, 0.3); }),
        wood([](GU_Detail &g, double f) { box(g, x(f), 0.42, 0.02, 0.2, turn(f)); }),
        both([this](GU_Detail &g, double f) {
          g.replaceWith(*fluid->cooked(time_of(f)));
          g.merge(*body->cooked(time_of(f)));
        }) {
    fluid = node("ooze::source::1.0", {&water});
    body = node("ooze::source::1.0", {&wood});
    fluid_and_body(fluid, body, kind);
    body->animate("driven", [this](fpreal t) { return t < time_of(until) - 1e-4 ? 1.0 : 0.0; });
    body->keyed_ = true;
    solver = make();
  }
  SOP_Node *make() {
    SOP_Node *n = node("ooze::solver::1.0", {&both});
    n->set("particlesep", D);
    n->set("substeps", 3);
    n->set("veliterations", 4);
    n->set("positerations", 3);
    n->set("useground", 1);
    return n;
  }
  // A fifth of a soft body is held, at its top.
  const double hold[3] = {x(1), 0.52, 0.02};
  void soften() {
    body->set("stretchcompliance", 1e-3);
    body->set("bodyheld", 0.2);
    for (int k = 0; k < 3; ++k) body->set("holdat", hold[k], k);
  }
  void check_held(const GU_Detail &start, const GU_Detail &now, double f) const;
};

// How far a body's particle is from where the motion of the polygons takes it.
static double strayed(const GU_Detail *start, const GU_Detail *now, GA_Index i, double f) {
  const UT_Vector3 a = start->getPos3(start->pointOffset(i)), b = now->getPos3(now->pointOffset(i));
  const double u = double(a[0]) - Spoon::x(1), w = double(a[2]) - 0.02,
               c = std::cos(Spoon::turn(f)), s = std::sin(Spoon::turn(f));
  const double off[3] = {Spoon::x(f) + c * u + s * w - double(b[0]), double(a[1]) - double(b[1]),
                         0.02 + c * w - s * u - double(b[2])};
  return std::sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2]);
}

void Spoon::check_held(const GU_Detail &start, const GU_Detail &now, double f) const {
  std::vector<std::pair<double, double>> found; // distance from the place, how far it strayed
  GA_ROHandleI number(now.findPointAttribute("body"));
  for (GA_Index i = 0; i < now.getNumPoints(); ++i) {
    if (number.get(now.pointOffset(i)) <= 0) continue;
    const UT_Vector3 a = start.getPos3(start.pointOffset(i));
    double r2 = 0;
    for (int k = 0; k < 3; ++k) r2 += std::pow(double(a[k]) - hold[k], 2);
    found.push_back({r2, strayed(&start, &now, i, f)});
  }
  std::sort(found.begin(), found.end());
  CHECK(found.size() > 30, "%zu", found.size());
  double far = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (i < found.size() / 5)
      CHECK(found[i].second < 1e-5, "a held one strayed by %g m", found[i].second);
    far = std::max(far, found[i].second);
  }
  CHECK(far > 1e-4, "the rest hangs on it: %g m", far);
  // its pose in the solver starts from the world at birth
  for (const char *name : {"orient_body1", "pivot_body1"}) CHECK(!detail(&now, name).empty());
}

OZ_CASE(a_driven_body_goes_where_its_polygons_go) {
  fresh_world();
  Spoon spoon;
  GU_Detail start;
  std::map<int, uint64_t> play;
  for (int f = 1; f <= 8; ++f) {
    const GU_Detail *g = cook(spoon.solver, f);
    CHECK(g != nullptr && spoon.solver->messages.empty(), "%s", said(spoon.solver).c_str());
    play[f] = bits(g);
    if (f == 1) start.replaceWith(*g);
    GA_ROHandleI number(g->findPointAttribute("body"));
    size_t n = 0;
    for (GA_Index i = 0; i < g->getNumPoints(); ++i)
      if (number.get(g->pointOffset(i)) > 0) {
        ++n;
        CHECK(strayed(&start, g, i, f) < 1e-5, "frame %d: %g m", f, strayed(&start, g, i, f));
      }
    CHECK(n > 30, "%zu particles", n);
  }
  // by any order of frames, and from a file
  check_jumps(spoon.make(), {8, 3, 6}, play);
  GU_Detail file;
  CHECK(cook(spoon.solver, 4) != nullptr);
  file.replaceWith(*spoon.solver->gdp);
  Make read([&](GU_Detail &d, double) { d.replaceWith(file); }, "file");
  SOP_Node *resumed = spoon.make();
  resumed->wires = {&spoon.both, nullptr, &read};
  resumed->set("startframe", 4);
  CHECK(cook(resumed, 8) != nullptr, "%s", said(resumed).c_str());
  CHECK(bits(resumed->gdp) == play[8], "%s",
        first_difference(resumed->gdp, cook(spoon.solver, 8)).c_str());
  // let go, it flies on and falls
  spoon.until = 5;
  ++spoon.body->version;
  ++spoon.both.version;
  SOP_Node *freed = spoon.make();
  CHECK(cook(freed, 8) != nullptr, "%s", said(freed).c_str());
  double drop = 0, n = 0;
  GA_ROHandleI number(freed->gdp->findPointAttribute("body"));
  for (GA_Index i = 0; i < freed->gdp->getNumPoints(); ++i) {
    const GA_Offset o = freed->gdp->pointOffset(i);
    if (number.get(o) <= 0) continue;
    drop += double(start.getPos3(start.pointOffset(i))[1]) - double(freed->gdp->getPos3(o)[1]);
    ++n;
  }
  CHECK(drop / n > 0.02, "it fell by %g m in four frames", drop / n);
  whole_world();
}

OZ_CASE(a_driven_soft_body_is_held_where_the_artist_says) {
  fresh_world();
  Spoon spoon(OOZE_BODY_SOFT);
  spoon.soften();
  GU_Detail start;
  CHECK(cook(spoon.solver, 1) != nullptr);
  start.replaceWith(*spoon.solver->gdp);
  CHECK(cook(spoon.solver, 8) != nullptr, "%s", said(spoon.solver).c_str());
  spoon.check_held(start, *spoon.solver->gdp, 8);
  whole_world();
}

// ---- Ooze Step and Gas Ooze: the sources stand beside the state ----

// Which points are of the body, and how far each strayed from where the polygons take it.
static double worst_stray(const GU_Detail *start, const GU_Detail *now, double f) {
  GA_ROHandleI number(now->findPointAttribute("body"));
  double worst = 0, n = 0;
  for (GA_Index i = 0; i < now->getNumPoints(); ++i) {
    if (number.get(now->pointOffset(i)) <= 0) continue;
    worst = std::fmax(worst, strayed(start, now, i, f));
    ++n;
  }
  CHECK(n > 30, "%g particles", n);
  return worst;
}

static double body_height(const GU_Detail *g) {
  GA_ROHandleI number(g->findPointAttribute("body"));
  double sum = 0, n = 0;
  for (GA_Offset o : g->order)
    if (number.get(o) > 0) sum += double(g->getPos3(o)[1]), ++n;
  return sum / n;
}

// A step node in a loop of its own, as in a SOP Solver: its first input is its last output.
struct Loop {
  GU_Detail last;
  Make previous;
  SOP_Node *step;
  explicit Loop(Spoon &spoon, bool sources = true)
      : previous([this](GU_Detail &g, double) { g.replaceWith(last); }, "previous") {
    last.replaceWith(*cook(&spoon.both, 1));
    step = node("ooze::step::1.0", {&previous, nullptr, sources ? &spoon.both : nullptr});
    step->set("particlesep", D);
    step->set("substeps", 3);
    step->set("veliterations", 4);
    step->set("positerations", 3);
    step->set("useground", 1);
  }
  const GU_Detail *frame(int f) {
    ++previous.version;
    CHECK(cook(step, f) != nullptr, "frame %d: %s", f, said(step).c_str());
    last.replaceWith(*step->gdp);
    return &last;
  }
};

OZ_CASE(a_step_takes_the_body_along) {
  fresh_world();
  Spoon spoon;
  Loop loop(spoon);
  GU_Detail start, fourth;
  start.replaceWith(loop.last);
  for (int f = 2; f <= 8; ++f) {
    const GU_Detail *g = loop.frame(f);
    CHECK(loop.step->messages.empty(), "%s", said(loop.step).c_str());
    CHECK(worst_stray(&start, g, f) < 1e-5, "frame %d: %g m", f, worst_stray(&start, g, f));
    if (f == 4) fourth.replaceWith(*g);
  }
  // a node that knows nothing goes on from the attributes of frame 4, to the same bits
  Loop again(spoon);
  again.last.replaceWith(fourth);
  for (int f = 5; f <= 8; ++f) again.frame(f);
  CHECK_BITS(&again.last, &loop.last);
  // keyed off, the body falls
  spoon.until = 5;
  ++spoon.body->version, ++spoon.both.version;
  Loop freed(spoon);
  for (int f = 2; f <= 8; ++f) freed.frame(f);
  CHECK(body_height(&start) - body_height(&freed.last) > 0.02, "it fell by %g m",
        body_height(&start) - body_height(&freed.last));
  // without its source it falls too, and the node says so
  Loop alone(spoon, false);
  for (int f = 2; f <= 4; ++f) alone.frame(f);
  CHECK(says(alone.step, "should follow its source"), "%s", said(alone.step).c_str());
  whole_world();
}

OZ_CASE(a_step_holds_the_share_of_a_soft_body) {
  fresh_world();
  Spoon spoon(OOZE_BODY_SOFT);
  spoon.soften();
  Loop loop(spoon);
  GU_Detail start;
  start.replaceWith(loop.last);
  for (int f = 2; f <= 8; ++f) loop.frame(f);
  CHECK(loop.step->messages.empty(), "%s", said(loop.step).c_str());
  spoon.check_held(start, loop.last, 8);
  whole_world();
}

// The object of the microsolver stands elsewhere than its sources, as DOP objects may.
static void dops(int kind, bool moved) {
  SIM_Engine engine;
  SIM_Object object;
  Spoon spoon(kind);
  if (kind == OOZE_BODY_SOFT) spoon.soften();
  UT_DMatrix4 m = moved ? turned(0.7, 1, 2, 3) : UT_DMatrix4(1.0), back = m;
  CHECK_EQ(back.invert(), 0);
  GU_Detail start;
  start.replaceWith(*cook(&spoon.both, 1));
  data(object, "Geometry").gdh.gdpNC()->replaceWith(start);
  object.data["Geometry"]->gdh.gdpNC()->transform(back); // the same place in the world
  object.data["Geometry"]->transform = m;
  auto solver = gas(D);
  for (int f = 2; f <= 8; ++f) {
    data(object, "SourceGeometry").gdh.gdpNC()->replaceWith(*cook(&spoon.both, f));
    CHECK(solver->solve(engine, &object, (f - 2) / 24.0, 1.0 / 24), "%s",
          object.messages.empty() ? "" : object.messages.back().second.c_str());
    auto next = gas(D); // a copy at every step
    next->copy(solver.get());
    solver = std::move(next);
    GU_Detail now;
    now.replaceWith(*object.data["Geometry"]->gdh.gdp());
    now.transform(m);
    if (kind == OOZE_BODY_RIGID)
      CHECK(worst_stray(&start, &now, f) < 1e-5, "frame %d: %g m", f, worst_stray(&start, &now, f));
    else if (f == 8)
      spoon.check_held(start, now, f);
  }
  CHECK(object.messages.empty(), "%s", object.messages[0].second.c_str());
}

OZ_CASE(the_microsolver_takes_bodies_along_wherever_its_object_stands) {
  fresh_world();
  for (int kind : {int(OOZE_BODY_RIGID), int(OOZE_BODY_SOFT)})
    for (bool moved : {false, true}) dops(kind, moved);
  whole_world();
}

OZ_CASE(a_moved_source_leads_its_body_from_there) {
  fresh_world();
  Spoon spoon;
  const UT_DMatrix4 m = turned(0.3, 0.5, 0.2, 0);
  Make there([&](GU_Detail &g, double f) { // a Transform SOP after the source
    g.replaceWith(*spoon.body->cooked(time_of(f)));
    g.transform(m);
  });
  SOP_Node *plain_one = node("ooze::solver::1.0", {spoon.body}),
           *moved = node("ooze::solver::1.0", {&there});
  for (SOP_Node *n : {plain_one, moved}) n->set("particlesep", D), n->set("substeps", 2);
  GU_Detail expected;
  CHECK(cook(plain_one, 6) != nullptr && cook(moved, 6) != nullptr, "%s", said(moved).c_str());
  expected.replaceWith(*plain_one->gdp);
  expected.transform(m);
  CHECK_EQ(expected.getNumPoints(), moved->gdp->getNumPoints());
  for (GA_Index i = 0; i < expected.getNumPoints(); ++i)
    for (int k = 0; k < 3; ++k)
      CHECK_NEAR(double(moved->gdp->getPos3(moved->gdp->pointOffset(i))[k]),
                 double(expected.getPos3(expected.pointOffset(i))[k]), 1e-5, "rounding");
  whole_world();
}
OZ_TEST_MAIN()
