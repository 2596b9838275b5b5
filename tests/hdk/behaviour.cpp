// An artist's changes to a simulation that runs: edits at earlier frames, empty moments, nozzles
// that rest, forces, limits, transforms, and the cost of a cook. SPDX-License-Identifier:
// Apache-2.0
#include "kit.h"
using namespace kit;

static SOP_Node *emitter_of(OP_Node *shape, const char *emission = "once") {
  SOP_Node *s = node("ooze::source::1.0", {shape});
  s->set("particlesep", D);
  s->set_text("emission", emission);
  return s;
}
static void falling_box(GU_Detail &g, double) { box(g, 0, 0.3, 0, 0.2); }

OZ_CASE(an_edit_at_earlier_frames_shows_at_once) {
  fresh_world();
  double moved = 0;
  Make shape(falling_box);
  Make wall([&](GU_Detail &g, double f) { box(g, f >= 5 && f <= 8 ? moved : 0.0, 0.05, 0, 0.25); });
  SOP_Node *source = emitter_of(&shape);
  auto make = [&] { return coarse(node("ooze::solver::1.0", {source, &wall})); };
  SOP_Node *solver = make();
  CHECK(cook(solver, 12) != nullptr, "%s", said(solver).c_str());
  const uint64_t before = bits(solver->gdp);
  moved = 0.1;
  ++wall.version;
  CHECK(cook(solver, 12) != nullptr);
  SOP_Node *fresh = make();
  CHECK(cook(fresh, 12) != nullptr);
  CHECK(bits(solver->gdp) != before);
  CHECK_BITS(solver->gdp, fresh->gdp);
  // also where the frames that it shows at are no longer in memory
  SOP_Node *forgetful = make();
  forgetful->set("cachemem", 0);
  CHECK(cook(forgetful, 12) != nullptr);
  moved = 0.15;
  ++wall.version;
  SOP_Node *other = make();
  CHECK(cook(forgetful, 12) != nullptr && cook(other, 12) != nullptr);
  CHECK_BITS(forgetful->gdp, other->gdp);
  moved = 0; // back, and seen from another frame
  ++wall.version;
  CHECK(cook(solver, 13) != nullptr && cook(solver, 12) != nullptr);
  CHECK(bits(solver->gdp) == before);
  whole_world();
}

// Names and contents that a change leaves the points' places alone with.
static void packed_box(GU_Detail &g, double turn, int corner) {
  auto inside = std::make_shared<GU_Detail>();
  box(*inside, 0, 0, 0, 1);
  std::swap(inside->prims[0]->points[0], inside->prims[0]->points[corner]); // 0: as it was
  const double c = 0.5 * std::cos(turn), s = 0.5 * std::sin(turn);
  GU_PrimPacked::build(g, inside, {c, s, 0, -s, c, 0, 0, 0, 0.5, 0, 0, 0});
}
static void named_boxes(GU_Detail &g, const char *second) {
  box(g, -0.15, 0.05, 0, 0.25);
  const size_t first = g.prims.size();
  box(g, 0.15, 0.05, 0, 0.25);
  GA_RWHandleS name(g.addStringTuple(GA_ATTRIB_PRIMITIVE, "name", 1));
  for (size_t i = 0; i < g.prims.size(); ++i) name.set(GA_Offset(i), i < first ? "a" : second);
}
static void named_piece(GU_Detail &g, const char *text) {
  packed_box(g, 0, 0);
  GA_RWHandleS(g.addStringTuple(GA_ATTRIB_POINT, "name", 1)).set(0, text);
}
static void rough_box(GU_Detail &g, double friction) {
  box(g, 0.1, 0.05, 0, 0.3);
  number(g, GA_ATTRIB_PRIMITIVE, "friction", friction);
}
OZ_CASE(edits_of_every_kind_show) {
  struct Kind {
    const char *what;
    int input;
    std::function<void(GU_Detail &, bool)> make;
  };
  const Kind kinds[] = {
      {"the turn of a packed piece", 1, [](GU_Detail &g, bool b) { packed_box(g, b * 0.4, 0); }},
      {"polygons of a packed piece", 1, [](GU_Detail &g, bool b) { packed_box(g, 0, b * 2); }},
      {"a VDB", 1,
       [](GU_Detail &g, bool b) { grids::sphere(g, "s", b ? 0.2f : 0.15f, D, 0, 0, 0); }},
      {"a volume", 1,
       [](GU_Detail &g, bool b) { grids::native_sphere(g, "s", 0.2f, 0.05f, -0.01f * b); }},
      {"the name of polygons", 1, [](GU_Detail &g, bool b) { named_boxes(g, b ? "b" : "a"); }},
      {"the name of a piece", 1, [](GU_Detail &g, bool b) { named_piece(g, b ? "b" : "a"); }},
      {"colours of the initial state", 2,
       [](GU_Detail &g, bool b) {
         block(g, 3, 0, 0.3, 0, D);
         number(g, GA_ATTRIB_POINT, "Cd", b);
       }},
      {"friction", 1, [](GU_Detail &g, bool b) { rough_box(g, b); }},
      {"a wind", 3, [](GU_Detail &g, bool b) { grids::uniform(g, "vel", b ? 3 : 2, 0, 0); }},
      {"the name of a force", 3,
       [](GU_Detail &g, bool b) { grids::uniform(g, b ? "force" : "vel", 2, 0, 0); }},
  };
  for (const Kind &kind : kinds) {
    fresh_world();
    bool edited = false;
    Make shape(falling_box), nothing([](GU_Detail &, double) {});
    Make input([&](GU_Detail &g, double f) { kind.make(g, edited && f < 5); });
    SOP_Node *source = emitter_of(&shape);
    auto made = [&] {
      SOP_Node *solver = coarse(node("ooze::solver::1.0", {source, &nothing, &nothing, &nothing}));
      solver->wires[2] = nullptr;
      solver->wires[size_t(kind.input)] = &input;
      solver->set("airresist", 1);
      solver->set("outload", 1);
      return solver;
    };
    SOP_Node *solver = made();
    CHECK(cook(solver, 6) != nullptr, "%s: %s", kind.what, said(solver).c_str());
    const uint64_t before = bits(solver->gdp);
    edited = true;
    ++input.version;
    SOP_Node *fresh = made();
    CHECK(cook(solver, 6) != nullptr && cook(fresh, 6) != nullptr, "%s", said(fresh).c_str());
    CHECK(bits(fresh->gdp) != before, "%s: the edit does nothing", kind.what);
    CHECK(bits(solver->gdp) == bits(fresh->gdp), "%s: %s", kind.what,
          first_difference(solver->gdp, fresh->gdp).c_str());
    whole_world();
  }
}

OZ_CASE(a_simulation_may_be_empty_at_any_frame) {
  fresh_world();
  Make nothing([](GU_Detail &, double) {});
  Make late([](GU_Detail &g, double f) {
    if (f >= 4) g.setPos3(g.appendPoint(), UT_Vector3(0, 0.5f, 0));
  });
  SOP_Node *step = coarse(node("ooze::step::1.0", {&nothing}));
  CHECK(cook(step, 2) != nullptr && step->gdp->getNumPoints() == 0, "%s", said(step).c_str());
  SOP_Node *source = emitter_of(&late, "nozzle");
  source->set("radius", 0.1);
  source->set("speed", 2);
  SOP_Node *solver = coarse(node("ooze::solver::1.0", {source}));
  for (int f = 1; f <= 8; ++f) {
    CHECK(cook(solver, f) != nullptr, "frame %d: %s", f, said(solver).c_str());
    CHECK((solver->gdp->getNumPoints() > 0) == (f >= 4), "frame %d", f);
  }
  SOP_Node *surface = node("ooze::surface::1.0", {solver});
  CHECK(cook(surface, 2) != nullptr && cook(surface, 8) != nullptr, "%s", said(surface).c_str());
  // everything leaves, and the nozzle goes on
  solver->set("limits", 1);
  for (int k = 0; k < 3; ++k)
    solver->animate(
        "limitsize", [](fpreal t) { return t > 5.5 / 24 && t < 6.5 / 24 ? 1e-3 : 50; }, k);
  CHECK(cook(solver, 7) != nullptr, "%s", said(solver).c_str());
  const GA_Size few = solver->gdp->getNumPoints();
  CHECK(cook(solver, 9) != nullptr && solver->gdp->getNumPoints() > few);
  whole_world();
}

OZ_CASE(a_nozzle_may_rest) {
  fresh_world();
  Make mouth([](GU_Detail &g, double) { g.setPos3(g.appendPoint(), UT_Vector3(0, 0.5f, 0)); });
  for (const char *parm : {"speed", "active"}) {
    SOP_Node *source = emitter_of(&mouth, "nozzle");
    source->set("radius", 0.1);
    source->set("speed", 2);
    const double on = std::strcmp(parm, "speed") ? 1 : 2;
    source->animate(parm, [on](fpreal t) { return t > 2.5 / 24 && t < 4.5 / 24 ? 0 : on; });
    SOP_Node *solver = coarse(node("ooze::solver::1.0", {source}));
    std::vector<GA_Size> count = {0};
    for (int f = 1; f <= 8; ++f) {
      CHECK(cook(solver, f) != nullptr, "%s, frame %d: %s", parm, f, said(solver).c_str());
      CHECK(solver->messages.empty(), "%s", said(solver).c_str());
      count.push_back(solver->gdp->getNumPoints());
    }
    CHECK(count[3] > 0 && count[5] == count[3] && count[8] > count[5], "%s", parm);
  }
  whole_world();
}

// From a file of frame `at` on, the bits are those of straight play to frame 8.
static void go_on_from(int at, const std::function<SOP_Node *()> &make, const char *what) {
  SOP_Node *straight = make();
  const std::map<int, uint64_t> play = played(straight, 8);
  CHECK(cook(straight, at) != nullptr, "%s", said(straight).c_str());
  GU_Detail file;
  file.replaceWith(*straight->gdp);
  Make read([&](GU_Detail &g, double) { g.replaceWith(file); }, "file");
  SOP_Node *resumed = make();
  resumed->wires.push_back(nullptr);
  resumed->wires.push_back(&read);
  resumed->set("startframe", at);
  for (int f = at + 1; f <= 8; ++f) {
    CHECK(cook(resumed, f) != nullptr, "%s", said(resumed).c_str());
    CHECK(bits(resumed->gdp) == play.at(f), "%s: frame %d of a run from %d", what, f, at);
  }
}

OZ_CASE(a_nozzle_pours_from_and_until) {
  fresh_world();
  Make mouth([](GU_Detail &g, double) { g.setPos3(g.appendPoint(), UT_Vector3(0, 0.5f, 0)); });
  SOP_Node *source = emitter_of(&mouth, "nozzle");
  source->set("radius", 0.1);
  source->set("speed", 5);
  source->set("from", 2.5 / 24); // frame 1 is at 0 s
  source->set("until", 7.5 / 24);
  auto make = [&] { return coarse(node("ooze::solver::1.0", {source})); };
  SOP_Node *solver = make();
  std::vector<GA_Size> count = {0};
  for (int f = 1; f <= 10; ++f) {
    CHECK(cook(solver, f) != nullptr, "frame %d: %s", f, said(solver).c_str());
    count.push_back(solver->gdp->getNumPoints());
    CHECK(!solver->gdp->findPointAttribute("until"), "an attribute of nozzles alone");
  }
  CHECK(count[3] == 0 && count[4] > 0 && count[5] > count[4], "it begins in frame 4");
  // three layers of the nozzle, 0.3 m, leave it in the last 0.06 s
  CHECK(count[7] > count[5] && count[10] == count[8], "it ends in frame 9");
  for (int at : {2, 3, 4, 6, 7}) go_on_from(at, make, "a span");
  source->set("until", 2.0 / 24);
  solver = make();
  CHECK(!cook(solver, 2) || !said(solver).empty(), "refused");
  CHECK(said(solver).find("expected more than from") != std::string::npos, "%s",
        said(solver).c_str());
  whole_world();
}

OZ_CASE(a_keyed_rate_goes_on_from_attributes) {
  fresh_world();
  Make mouth([](GU_Detail &g, double) { g.setPos3(g.appendPoint(), UT_Vector3(0, 0.5f, 0)); });
  SOP_Node *source = emitter_of(&mouth, "nozzle");
  source->set("radius", 0.1);
  source->animate("rate", [](fpreal t) { return t > 3.5 / 24 ? 0.09 : 0.03; });
  auto make = [&] { return coarse(node("ooze::solver::1.0", {source})); };
  for (int at : {2, 4, 5}) go_on_from(at, make, "a keyed rate");
  whole_world();
}

OZ_CASE(wind_and_forces_move_particles_and_leave_no_trace_in_the_state) {
  fresh_world();
  Make shape(falling_box);
  SOP_Node *source = emitter_of(&shape);
  auto play = [&](std::function<void(SOP_Node *)> with) {
    SOP_Node *n = coarse(node("ooze::solver::1.0", {source}));
    n->set("gravity", 0, 1);
    with(n);
    CHECK(cook(n, 7) != nullptr, "%s", said(n).c_str());
    CHECK(n->messages.empty(), "%s", said(n).c_str());
    CHECK(n->gdp->findPointAttribute("force") == nullptr); // all that pushed came from outside
    return n;
  };
  const double t = 6.0 / 24;
  SOP_Node *still = play([](SOP_Node *) {});
  CHECK_NEAR(mean(still->gdp, "v", 0), 0, 1e-4, "nothing pushes");
  SOP_Node *wind = play([](SOP_Node *n) { n->set("wind", 3), n->set("airresist", 4); });
  CHECK_NEAR(mean(wind->gdp, "v", 0), 3 * (1 - std::exp(-4 * t)), 0.02, "relaxes to the air");
  SOP_Node *stiff = play([](SOP_Node *n) { n->set("wind", 3), n->set("airresist", 1e5); });
  CHECK_NEAR(mean(stiff->gdp, "v", 0), 3, 0.03, "however fast, it does not overshoot");
  Make field([](GU_Detail &g, double) { grids::uniform(g, "force", 2, 0, 0); });
  SOP_Node *pushed = play([&](SOP_Node *n) { n->wires = {source, nullptr, nullptr, &field}; });
  CHECK_NEAR(mean(pushed->gdp, "v", 0), 2 * t, 0.02, "2 N/kg");
  Make air([](GU_Detail &g, double) { grids::uniform(g, "vel", 0, 0, 1); });
  SOP_Node *blown = play([&](SOP_Node *n) {
    n->wires = {source, nullptr, nullptr, &air};
    n->set("airresist", 4);
  });
  CHECK_NEAR(mean(blown->gdp, "v", 2), 1 - std::exp(-4 * t), 0.02, "relaxes to the field");
  // points with the ids of particles, keyed from frame to frame
  Make drive([](GU_Detail &g, double f) {
    GA_Offset start = g.appendPointBlock(64);
    GA_Attribute *id = g.addIntTuple(GA_ATTRIB_POINT, "id", 1);
    GA_Attribute *force = g.addFloatTuple(GA_ATTRIB_POINT, "force", 3);
    for (int i = 0; i < 64; ++i) id->put(start + i, 0, i), force->put(start + i, 1, f < 4 ? 8 : 0);
  });
  SOP_Node *driven = play([&](SOP_Node *n) { n->wires = {source, nullptr, nullptr, &drive}; });
  CHECK_NEAR(mean(driven->gdp, "v", 1), 8 * 2.0 / 24, 0.02, "for two frames");
  driven->set("cachemem", 0);
  const uint64_t seven = bits(driven->gdp);
  CHECK(cook(driven, 3) != nullptr && cook(driven, 7) != nullptr && bits(driven->gdp) == seven);
  whole_world();
}

OZ_CASE(limits_hold_or_delete) {
  fresh_world();
  Make shape(falling_box);
  SOP_Node *source = emitter_of(&shape);
  for (int limits : {1, 2}) {
    SOP_Node *solver = coarse(node("ooze::solver::1.0", {source}));
    solver->set("limits", limits);
    for (int k = 0; k < 3; ++k) solver->set("limitsize", 0.5, k);
    solver->set("limitcenter", 0.3, 1);
    CHECK(cook(solver, 14) != nullptr, "%s", said(solver).c_str());
    if (limits == 1) CHECK_EQ(solver->gdp->getNumPoints(), 0);
    if (limits == 2) {
      CHECK_EQ(solver->gdp->getNumPoints(), 64);
      for (GA_Offset o : solver->gdp->order) CHECK(solver->gdp->getPos3(o)[1] > 0.04f);
    }
  }
  whole_world();
}

OZ_CASE(a_cook_evaluates_parameters_once_and_cooks_inputs_once) {
  fresh_world();
  Make shape(falling_box);
  Make wall([](GU_Detail &g, double f) { box(g, 0.01 * f, 0, 0, 0.25); });
  SOP_Node *source = emitter_of(&shape);
  SOP_Node *solver = coarse(node("ooze::solver::1.0", {source, &wall}));
  CHECK(cook(solver, 10) != nullptr);
  int64 parms = 0;
  for (const PRM_Template *t = solver->op_->templates; !t->name.empty(); ++t) parms += t->size;
  int cooks = wall.cooks;
  world().evaluations = 0;
  CHECK(cook(solver, 11) != nullptr);
  CHECK_EQ(wall.cooks, cooks + 1); // at the new frame alone
  // its own, and the source's
  CHECK(world().evaluations < 2 * parms, "%lld for %lld", (long long)world().evaluations,
        (long long)parms);
  world().evaluations = 0;
  cooks = wall.cooks;
  CHECK(cook(solver, 5) != nullptr); // in memory
  CHECK_EQ(wall.cooks, cooks);
  CHECK(world().evaluations <= parms);
  OP_NodeInfoParms info;
  OP_Context context(0);
  solver->getNodeSpecificInfoText(context, info);
  for (const char *word : {"64 particles", "2 substeps", "11 in memory", "MB on c"})
    CHECK(info.all.find(word) != std::string::npos, "%s", info.all.c_str());
  // a keyed parameter has a value of its own at each frame, and frames stay in memory all the same
  solver->animate("wind", [](fpreal t) { return t; });
  CHECK(cook(solver, 8) != nullptr);
  const int64 polls = world().polls; // of Esc, at every substep
  ++wall.version;                    // nothing of it is other than before
  CHECK(cook(solver, 5) != nullptr && cook(solver, 8) != nullptr);
  CHECK_EQ(world().polls, polls);
  CHECK(cook(solver, 9) != nullptr && world().polls > polls);
  whole_world();
}

// ---- dynamics ----

OZ_CASE(the_microsolver_goes_on_through_the_copies_of_dops) {
  fresh_world();
  SIM_Engine engine;
  SIM_Object object;
  block(*data(object, "Geometry").gdh.gdpNC(), 4, 0, 0.1, 0, D);
  History history;
  history.record(*gas(D), object, 6);
  std::vector<std::unique_ptr<GAS_SubSolver>> solvers;
  // at every step the engine copies the solver's data and the geometry, and solves the copies;
  // now and then it goes on from an older pair
  solvers.push_back(gas(D));
  std::vector<int> steps = {0, 1, 2, 3, 1, 2, 3, 4, 5, 0, 1};
  for (int f : steps) {
    history.rewind(object, size_t(f));
    solvers.push_back(gas(D));
    solvers.back()->copy(solvers[solvers.size() - 2].get());
    CHECK(solvers.back()->solve(engine, &object, f / 24.0, 1.0 / 24));
    CHECK(bits(object.data["Geometry"]->gdh.gdp()) == history.play[size_t(f) + 1], "step %d", f);
  }
  CHECK(object.messages.empty());
  whole_world();
}

OZ_CASE(the_microsolver_honours_transforms_and_affectors) {
  fresh_world();
  SIM_Engine engine;
  UT_Vector3 where[3];
  for (int moved = 0; moved < 3; ++moved) { // by its position, or without one by its geometry's
    SIM_Object object, ball;
    UT_DMatrix4 m = moved ? turned(0.7, 1, 2, 3) : UT_DMatrix4(1.0), back = m;
    CHECK_EQ(back.invert(), 0);
    GU_Detail &gdp = *data(object, "Geometry").gdh.gdpNC();
    block(gdp, 4, 0, 0.25, 0, D);
    gdp.transform(back); // the same place in the world
    if (moved < 2) {
      object.position->matrix = m;
    } else {
      object.position.reset();
      object.data["Geometry"]->transform = m;
    }
    object.affectors = {&object, &ball};
    box(*data(ball, "Geometry").gdh.gdpNC(), 0.3, 0, 0, 0.2);
    ball.position->matrix.rows[3][0] = -0.25; // from 0.3 to 0.05
    auto solver = gas(D);
    solver->options.values["groundheight"] = {-0.3};
    for (int f = 0; f < 12; ++f)
      CHECK(solver->solve(engine, &object, f / 24.0, 1.0 / 24), "%s",
            object.messages.empty() ? "" : object.messages.back().second.c_str());
    GU_Detail world_detail;
    world_detail.replaceWith(*object.data["Geometry"]->gdh.gdp());
    world_detail.transform(m);
    for (int k = 0; k < 3; ++k) where[moved][k] = float(mean(&world_detail, "P", k));
    GA_Attribute *p = world_detail.getP();
    for (GA_Offset o : world_detail.order) CHECK(p->number<float>(o, 1) > -0.32f); // the ground
    CHECK(object.messages.empty(), "%s", object.messages[0].second.c_str());
  }
  for (int moved : {1, 2})
    for (int k = 0; k < 3; ++k)
      CHECK_NEAR((double)where[0][k], (double)where[moved][k], 0.02, "the same but for rounding");
  CHECK(where[0][1] > -0.1f, "the affector holds some of it: %g", double(where[0][1]));
  SIM_Object scaled;
  block(*data(scaled, "Geometry").gdh.gdpNC(), 3, 0, 0, 0, D);
  scaled.position->matrix.rows[0][0] = 2;
  auto solver = gas(D);
  CHECK(!solver->solve(engine, &scaled, 0, 1.0 / 24));
  CHECK(scaled.messages[0].second.find("scales") != std::string::npos);
  whole_world();
}
OZ_CASE(the_cache_manager_sees_frames_and_may_drop_them) {
  fresh_world();
  const size_t before = UT_Cache::all().size();
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.3, 0, 0.2); });
  SOP_Node *source = node("ooze::source::1.0", {&shape}),
           *solver = node("ooze::solver::1.0", {source});
  for (SOP_Node *n : {source, solver}) n->set("particlesep", 0.05);
  CHECK_EQ(UT_Cache::all().size(), before + 1);
  UT_Cache *cache = UT_Cache::all().back();
  CHECK(std::strstr(cache->utGetCacheName(), "Ooze") != nullptr);
  CHECK_EQ(cache->utGetCurrentSize(), 0);
  CHECK_EQ(cache->utReduceCacheSizeBy(1000), 0);
  std::map<int, uint64_t> play = played(solver, 6);
  const int64 full = cache->utGetCurrentSize();
  CHECK(full > 1000, "%lld bytes", (long long)full);
  const int64 freed = cache->utReduceCacheSizeBy(full);
  CHECK(freed > full / 2 && cache->utGetCurrentSize() == full - freed, "%lld of %lld",
        (long long)freed, (long long)full);
  for (int f : {6, 3, 5}) { // they are made again, with the same bits
    CHECK(cook(solver, f) != nullptr);
    CHECK(bits(solver->gdp) == play[f], "frame %d", f);
  }
  // while a cook runs its frames are its own
  int64 then = -1;
  shape.change([&](GU_Detail &g, double) {
    then = cache->utReduceCacheSizeBy(full);
    box(g, 0, 0.35, 0, 0.2);
  });
  ++source->version;
  CHECK(cook(solver, 4) != nullptr, "%s", said(solver).c_str());
  CHECK_EQ(then, 0);
  delete solver;
  CHECK_EQ(UT_Cache::all().size(), before);
  whole_world();
}
OZ_TEST_MAIN()
