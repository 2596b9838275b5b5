// Bodies through the nodes: born of a source or of a point attribute, afloat, written out, and gone
// on with from the geometry. SPDX-License-Identifier: Apache-2.0
#include "kit.h"
using namespace kit;

struct Tank { // fluid in a box, and two boxes that fall into it
  Make water, crates, walls;
  SOP_Node *fluid, *bodies, *solver;
  Make both;
  explicit Tank(double density = 400, int kind = OOZE_BODY_RIGID)
      : water([](GU_Detail &g, double) { box(g, 0, 0.15, 0, 0.3); }),
        crates([](GU_Detail &g, double) {
          box(g, -0.07, 0.42, 0, 0.16), box(g, 0.09, 0.4, 0, 0.1, 0.3);
          GA_RWHandleS name(g.addStringTuple(GA_ATTRIB_PRIMITIVE, "name", 1));
          for (GA_Offset o = 0; o < 12; ++o) name.set(o, o < 6 ? "big/crate" : "small");
        }),
        walls([](GU_Detail &g, double) {
          box(g, 0, 0.4, 0, 0.8);
          for (GA_Offset o = 0; o < 8; ++o) { // as wide as the fluid
            UT_Vector3 p = g.getPos3(o);
            g.setPos3(o, UT_Vector3(0.4375f * p[0], p[1], 0.4375f * p[2]));
          }
          whole(g, GA_ATTRIB_DETAIL, "invert", 1);
        }),
        both([this](GU_Detail &g, double f) {
          g.replaceWith(*fluid->cooked(time_of(f)));
          g.merge(*bodies->cooked(time_of(f)));
        }) {
    fluid = node("ooze::source::1.0", {&water});
    bodies = node("ooze::source::1.0", {&crates});
    fluid_and_body(fluid, bodies, kind);
    bodies->set("density", density);
    bodies->set("velocity", -1, 1);
    solver = make();
  }
  SOP_Node *make() {
    SOP_Node *n = node("ooze::solver::1.0", {&both, &walls});
    n->set("particlesep", D);
    n->set("substeps", 3);
    n->set("veliterations", 4);
    n->set("positerations", 3);
    return n;
  }
};

// orient and pivot take the places at birth to the particles' places.
static double worst_place(const GU_Detail *start, const GU_Detail *now, const char *name) {
  std::vector<double> q = detail(now, std::string("orient_") + name),
                      t = detail(now, std::string("pivot_") + name);
  double worst = 0, n = 0;
  GA_ROHandleS called(now->findPointAttribute("name"));
  for (GA_Index i = 0; i < now->getNumPoints(); ++i) { // the order of points has not changed
    GA_Offset o = now->pointOffset(i);
    if (std::string(called.get(o).c_str()) != (std::strcmp(name, "small") ? "big/crate" : "small"))
      continue;
    UT_Vector3 a = start->getPos3(start->pointOffset(i)), b = now->getPos3(o);
    double u[3] = {2 * (q[1] * a[2] - q[2] * a[1]), 2 * (q[2] * a[0] - q[0] * a[2]),
                   2 * (q[0] * a[1] - q[1] * a[0])};
    double w[3] = {q[1] * u[2] - q[2] * u[1], q[2] * u[0] - q[0] * u[2], q[0] * u[1] - q[1] * u[0]};
    for (int k = 0; k < 3; ++k)
      worst = std::fmax(worst, std::fabs(a[k] + q[3] * u[k] + w[k] + t[k] - b[k]));
    ++n;
  }
  CHECK(n > 5, "%g particles of %s", n, name);
  return worst;
}

OZ_CASE(crates_fall_in_float_and_go_on_from_attributes) {
  fresh_world();
  Tank tank;
  GU_Detail start;
  std::map<int, uint64_t> play = played(tank.solver, 9, &start);
  const GU_Detail *g = tank.solver->gdp;
  CHECK(tank.solver->messages.empty(), "%s", said(tank.solver).c_str());
  CHECK_EQ(g->getNumPoints(), start.getNumPoints());
  CHECK_NEAR(worst_place(&start, g, "big_crate"), 0, 0.02 * D, "rigid, by its attributes");
  CHECK_NEAR(worst_place(&start, g, "small"), 0, 0.02 * D, "rigid, by its attributes");
  CHECK(detail(g, "mass_big_crate")[0] > detail(g, "mass_small")[0]);
  CHECK(detail(g, "centre_big_crate")[1] < 0.4 && detail(g, "centre_big_crate")[1] > 0.15);
  for (const char *name : {"v_small", "w_small"}) CHECK_EQ(detail(g, name).size(), 3);
  for (const char *name : {"owner", "bodyrest"})
    CHECK(g->findPointAttribute(name) != nullptr, "%s", name);
  check_jumps(tank.make(), {9, 4, 7, 2}, play);
  // a file at frame 5 in a node that knows nothing else
  GU_Detail file;
  CHECK(cook(tank.solver, 5) != nullptr);
  file.replaceWith(*tank.solver->gdp);
  Make read([&](GU_Detail &d, double) { d.replaceWith(file); }, "file");
  SOP_Node *resumed = tank.make();
  resumed->wires.push_back(&read);
  resumed->set("startframe", 5);
  CHECK(cook(resumed, 9) != nullptr, "%s", said(resumed).c_str());
  CHECK(bits(resumed->gdp) == play[9], "%s",
        first_difference(resumed->gdp, cook(tank.solver, 9)).c_str());
  whole_world();
}

OZ_CASE(soft_ones_give_way_and_go_on_from_their_links) {
  fresh_world();
  Tank tank(400, OOZE_BODY_SOFT);
  tank.bodies->set("stretchcompliance", 1e-3);
  GU_Detail start;
  std::map<int, uint64_t> play = played(tank.solver, 8, &start);
  const GU_Detail *g = tank.solver->gdp;
  size_t links = 0;
  const GA_Attribute *kind = g->findAttribute(GA_ATTRIB_PRIMITIVE, "linkkind");
  CHECK(kind != nullptr);
  for (size_t i = 0; i < g->prims.size(); ++i)
    links += kind->number<int>(GA_Offset(i), 0) == OOZE_LINK_SOFT;
  CHECK(links > 40, "%zu links", links);
  CHECK(worst_place(&start, g, "big_crate") > 0.02 * D, "it gives way");
  CHECK(worst_place(&start, g, "big_crate") < 2 * D, "and holds together");
  check_jumps(tank.make(), {8, 3, 6}, play);
  whole_world();
}

OZ_CASE(heavy_ones_sink_and_a_wrangle_can_make_them) {
  fresh_world();
  Tank light(300), heavy(6000);
  CHECK(cook(light.solver, 14) && cook(heavy.solver, 14), "%s", said(heavy.solver).c_str());
  CHECK(detail(light.solver->gdp, "centre_big_crate")[1] >
            detail(heavy.solver->gdp, "centre_big_crate")[1] + 0.04,
        "%g and %g", detail(light.solver->gdp, "centre_big_crate")[1],
        detail(heavy.solver->gdp, "centre_big_crate")[1]);
  // plain points with a number
  Make points([](GU_Detail &g, double) {
    block(g, 3, 0, 0.2, 0, D);
    block(g, 3, 0.5, 0.2, 0, D);
    GA_Attribute *body = g.addIntTuple(GA_ATTRIB_POINT, "body", 1);
    for (int i = 0; i < 54; ++i) body->put(i, 0, i < 27 ? 7 : 3);
    number(g, GA_ATTRIB_POINT, "density", 500);
    GA_Attribute *w = g.addFloatTuple(GA_ATTRIB_POINT, "w", 3);
    for (int i = 0; i < 27; ++i) w->put(i, 2, 4.0);
  });
  SOP_Node *step = node("ooze::step::1.0", {&points});
  step->set("particlesep", D);
  const GU_Detail *g = cook(step, 2);
  CHECK(g != nullptr, "%s", said(step).c_str());
  CHECK_NEAR(detail(g, "w_body1")[2], 4, 0.05, "spins freely");
  CHECK_NEAR(detail(g, "w_body2")[2], 0, 0.01, "does not");
  CHECK_NEAR(detail(g, "mass_body1")[0], 27 * 500 * D * D * D, 0.05,
             "its particles', each a little lighter than its cube");
  step->set("outbodies", 0);
  CHECK(!cook(step, 2)->findAttribute(GA_ATTRIB_DETAIL, "w_body1"));
  whole_world();
}

OZ_CASE(what_cannot_be_a_body_is_named) {
  fresh_world();
  struct {
    Make::Function make;
    const char *words;
    int model;
  } const cases[] = {
      {[](GU_Detail &g, double) { // two points are on one line
         block(g, 3, 0, 0, 0, D);
         GA_Attribute *b = g.addIntTuple(GA_ATTRIB_POINT, "body", 1);
         b->put(0, 0, 5), b->put(1, 0, 5);
       },
       "body 5: body: its 2 points lie on one line", 0},
      {[](GU_Detail &g, double) {
         block(g, 3, 0, 0, 0, D), g.addStringTuple(GA_ATTRIB_POINT, "body", 1);
       },
       "point attribute body is text", 0},
      {[](GU_Detail &g, double) {
         block(g, 3, 0, 0, 0, D), whole(g, GA_ATTRIB_POINT, "body", 1),
             number(g, GA_ATTRIB_POINT, "bodyfriction", -1);
       },
       "Friction is -1", 0},
      {[](GU_Detail &g, double) { block(g, 3, 0, 0, 0, D), whole(g, GA_ATTRIB_POINT, "body", 1); },
       "bod", OOZE_MODEL_CAUCHY}};
  for (auto &c : cases) {
    Make in(c.make);
    SOP_Node *step = node("ooze::step::1.0", {&in});
    step->set("particlesep", D);
    step->set("model", c.model);
    CHECK(cook(step, 2) == nullptr, "%s", c.words);
    CHECK(says(step, c.words), "expected %s: %s", c.words, said(step).c_str());
    delete step;
  }
  whole_world();
}
// A rigid body simulation beside the fluid's, as DOPs have it: pieces are where its last step left
// them, and its next one takes the forces that Ooze Loads gives it.
struct Floating {
  double y = 0.2, v = 0, density;
  Make pieces, walls, state;
  GU_Detail fluid;
  SOP_Node *step, *loads;
  static constexpr double size = 0.2;
  explicit Floating(double d)
      : density(d), pieces([this](GU_Detail &g, double) {
          auto inside = std::make_shared<GU_Detail>();
          box(*inside, 0, 0, 0, size);
          const double rows[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, y, 0};
          GU_PrimPacked::build(g, inside, rows);
          GA_RWHandleS(g.addStringTuple(GA_ATTRIB_PRIMITIVE, "name", 1)).set(0, "crate/1");
          GA_Attribute *velocity = g.addFloatTuple(GA_ATTRIB_POINT, "v", 3);
          velocity->put(0, 1, v);
        }),
        walls([this](GU_Detail &g, double f) {
          box(g, 0, 0.4, 0, 0.8);
          for (GA_Offset o = 0; o < 8; ++o) {
            UT_Vector3 p = g.getPos3(o);
            g.setPos3(o, UT_Vector3(0.5f * p[0], p[1], 0.5f * p[2]));
          }
          number(g, GA_ATTRIB_PRIMITIVE, "invert", 1);
          GA_RWHandleS name(g.addStringTuple(GA_ATTRIB_PRIMITIVE, "name", 1));
          for (GA_Offset o = 0; o < 6; ++o) name.set(o, "tank");
          GU_Detail crate;
          pieces.make(crate, f);
          number(crate, GA_ATTRIB_PRIMITIVE, "invert", 0);
          g.merge(crate);
        }),
        state([this](GU_Detail &g, double) { g.replaceWith(fluid); }) {
    for (int i = 0; i < 8 * 8 * 8; ++i) { // 0.4 m of fluid, around the crate
      const double x = D * (i % 8 - 3.5), h = D * (i / 8 % 8 + 0.5), z = D * (i / 64 - 3.5);
      if (std::fabs(x) < 0.12 && std::fabs(h - y) < 0.12 && std::fabs(z) < 0.12) continue;
      fluid.setPos3(fluid.appendPoint(), UT_Vector3(float(x), float(h), float(z)));
    }
    number(fluid, GA_ATTRIB_POINT, "viscosity", 1);
    number(fluid, GA_ATTRIB_POINT, "density", 1000);
    number(fluid, GA_ATTRIB_POINT, "relaxtime", 0);
    step = node("ooze::step::1.0", {&state, &walls});
    step->set("particlesep", D);
    step->set("substeps", 6);
    step->set("veliterations", 6);
    step->set("positerations", 6);
    loads = node("ooze::loads::1.0", {step, &pieces});
  }
  double push() { // N, upwards, of one frame
    ++state.version, ++walls.version, ++pieces.version;
    CHECK(loads->cooked(0) != nullptr, "%s%s", said(loads).c_str(), said(step).c_str());
    CHECK(loads->messages.empty(), "%s", said(loads).c_str());
    fluid.replaceWith(*step->gdp);
    return loads->gdp->findPointAttribute("force")->number<double>(0, 1);
  }
  void frame() {
    const double mass = density * size * size * size;
    v += (push() / mass - 9.81) / 24;
    v *= 0.8; // as heavy fluid that goes along would
    y += v / 24;
  }
};

OZ_CASE(loads_drive_a_rigid_body_without_a_wrangle) {
  fresh_world();
  Floating still(1000);
  double sum = 0;
  for (int f = 0; f < 24; ++f) sum += still.push() * (f >= 12) / 12;
  const double weight = 1000 * 9.81 * std::pow(Floating::size, 3);
  CHECK_NEAR(sum, weight, 0.15 * weight, "buoyancy, with four particles across");
  const GA_Attribute *torque = still.loads->gdp->findPointAttribute("torque");
  CHECK(torque != nullptr && torque->getTypeInfo() == GA_TYPE_VECTOR);
  for (int k = 0; k < 3; ++k)
    CHECK(std::fabs(torque->number<double>(0, k)) < 0.1 * 78.5 * 0.2, "it is level");
  // lighter than the fluid, and heavier than the fluid that moves along with it: taken in turns,
  // the two do not swing up
  Floating light(800), heavy(4000);
  for (int f = 0; f < 16; ++f) light.frame();
  for (int f = 0; f < 5; ++f) heavy.frame(); // then it presses the last layer to the floor
  CHECK(light.y > 0.205, "%g", light.y);
  CHECK(heavy.y < 0.18, "%g", heavy.y);
  // twice the force where it is asked for
  const double once = still.loads->gdp->findPointAttribute("force")->number<double>(0, 1);
  still.loads->set("scale", 2);
  CHECK(still.loads->cooked(0) != nullptr);
  CHECK_NEAR(still.loads->gdp->findPointAttribute("force")->number<double>(0, 1), 2 * once, 1e-3,
             "scaled");
  // a point for each collider; names that nothing has are told
  SOP_Node *points = node("ooze::loads::1.0", {still.step});
  CHECK(points->cooked(0) != nullptr, "%s", said(points).c_str());
  CHECK_EQ(points->gdp->getNumPoints(), 2);
  GA_ROHandleS name(points->gdp->findPointAttribute("name"));
  CHECK(name.get(0) == "crate_1" && name.get(1) == "tank");
  CHECK_NEAR(double(points->gdp->getPos3(0)[1]), 0.2, 1e-5, "its middle");
  Make others([](GU_Detail &g, double) {
    g.appendPoint();
    GA_RWHandleS(g.addStringTuple(GA_ATTRIB_POINT, "name", 1)).set(0, "nothing");
  });
  SOP_Node *lost = node("ooze::loads::1.0", {still.step, &others});
  CHECK(lost->cooked(0) != nullptr && says(lost, "no piece has the name"), "%s",
        said(lost).c_str());
  whole_world();
}
// ---- packed pieces, as rigid body simulations have them ----

OZ_CASE(packed_pieces_are_filled_and_lead_their_bodies) {
  fresh_world();
  Make pieces([](GU_Detail &g, double f) {
    auto inside = std::make_shared<GU_Detail>();
    box(*inside, 0, 0, 0, 0.2);
    GU_PrimPacked::build(g, inside, {1, 0, 0, 0, 1, 0, 0, 0, 1, -0.2, 0.3 + 0.01 * f, 0});
    GU_PrimPacked::build(g, inside, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0.2, 0.3, 0.01 * f});
    GA_RWHandleS name(g.addStringTuple(GA_ATTRIB_PRIMITIVE, "name", 1));
    name.set(0, "left");
    name.set(1, "right");
    GA_Attribute *v = g.addFloatTuple(GA_ATTRIB_POINT, "v", 3);
    v->put(1, 2, 0.24);
  });
  Make loose([](GU_Detail &g, double) {
    box(g, -0.2, 0.31, 0, 0.2);
    box(g, 0.2, 0.3, 0.01, 0.2);
  });
  SOP_Node *filled = node("ooze::source::1.0", {&pieces}),
           *same = node("ooze::source::1.0", {&loose}),
           *body = node("ooze::source::1.0", {&pieces});
  for (SOP_Node *n : {filled, same, body}) n->set("particlesep", D), plain(n);
  CHECK(cook(filled, 1) != nullptr && filled->messages.empty(), "%s", said(filled).c_str());
  CHECK(cook(same, 1) != nullptr && same->gdp->getNumPoints() > 100);
  CHECK_EQ(filled->gdp->getNumPoints(), same->gdp->getNumPoints());
  for (GA_Index i = 0; i < same->gdp->getNumPoints(); ++i) {
    const GA_Offset o = filled->gdp->pointOffset(i);
    const UT_Vector3 a = filled->gdp->getPos3(o), b = same->gdp->getPos3(same->gdp->pointOffset(i));
    for (int k = 0; k < 3; ++k) CHECK_NEAR(a[k], b[k], 1e-6, "it is where its piece puts it");
    const double v = filled->gdp->findPointAttribute("v")->number<double>(o, 2);
    CHECK_NEAR(v, filled->gdp->getPos3(o)[0] > 0 ? 0.24 : 0.0, 1e-6, "what its point carries");
  }
  body->set("body", 1);
  body->set("driven", 1);
  SOP_Node *solver = node("ooze::solver::1.0", {body});
  solver->set("particlesep", D);
  solver->set("substeps", 2);
  CHECK(cook(solver, 1) != nullptr);
  GU_Detail start;
  start.replaceWith(*solver->gdp);
  CHECK(cook(solver, 5) != nullptr && solver->messages.empty(), "%s", said(solver).c_str());
  GA_ROHandleS name(solver->gdp->findPointAttribute("name"));
  for (GA_Index i = 0; i < start.getNumPoints(); ++i) {
    const GA_Offset o = solver->gdp->pointOffset(i);
    const bool left = !std::strcmp(name.get(o).c_str(), "left");
    const UT_Vector3 a = start.getPos3(start.pointOffset(i)), b = solver->gdp->getPos3(o);
    CHECK_NEAR(double(b[1]) - double(a[1]), left ? 0.04 : 0.0, 1e-5, "with its piece");
    CHECK_NEAR(double(b[2]) - double(a[2]), left ? 0.0 : 0.04, 1e-5, "with its piece");
  }
  whole_world();
}
OZ_TEST_MAIN()
