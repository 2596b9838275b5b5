// Networks of the nodes, cooked as artists do. SPDX-License-Identifier: Apache-2.0
#include "kit.h"
using namespace kit;

OZ_CASE(a_drop_falls_on_the_ground) {
  fresh_world();
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.3, 0, 0.3); });
  SOP_Node *source = source_of(&shape), *solver = coarse(node("ooze::solver::1.0", {source}));
  solver->set("useground", 1);
  const GU_Detail *start = cook(solver, 1);
  CHECK(start != nullptr, "%s", said(solver).c_str());
  CHECK_EQ(start->getNumPoints(), 216);
  CHECK_NEAR(mean(start, "viscosity"), 10, 1e-6, "honey");
  CHECK_NEAR(mean(start, "density"), 1420, 1e-3, "honey");
  double y0 = mean(start, "P", 1);
  const GU_Detail *later = cook(solver, 4);
  CHECK(later != nullptr, "%s", said(solver).c_str());
  double t = 3.0 / 24;
  CHECK_NEAR(mean(later, "P", 1), y0 - 0.5 * 9.81 * t * t, 0.015,
             "falls freely; 6 substeps add a twelfth");
  later = cook(solver, 8);
  CHECK_EQ(later->getNumPoints(), 216);
  GA_Attribute *p = later->getP();
  for (GA_Offset o : later->order) CHECK(p->number<float>(o, 1) > -0.01f);
  CHECK(later->findAttribute(GA_ATTRIB_DETAIL, "force_ground")->number<float>(0, 1) <
        0.0f); // the fluid pushes down
  for (const char *name :
       {"v", "id", "conform", "relaxtime", "compliance", "temperature", "pscale"})
    CHECK(later->findPointAttribute(name) != nullptr, "%s", name);
  CHECK(solver->messages.empty(), "%s", said(solver).c_str());
  whole_world();
}

OZ_CASE(frames_in_any_order_have_the_bits_of_straight_play) {
  fresh_world();
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.3, 0, 0.2); });
  Make wall([](GU_Detail &g, double f) { box(g, 0.02 * f, 0, 0, 0.25, 0.05 * f); });
  SOP_Node *source = source_of(&shape);
  auto make = [&] { return coarse(node("ooze::solver::1.0", {source, &wall})); };
  SOP_Node *straight = make();
  std::map<int, uint64_t> play = played(straight, 8);
  CHECK(play[1] != play[8]);
  SOP_Node *jumpy = make();
  for (int f : {8, 3, 5, 1, 0, 7, 7, 2, 8}) {
    CHECK(cook(jumpy, f) != nullptr, "%s", said(jumpy).c_str());
    CHECK(bits(jumpy->gdp) == play[f < 1 ? 1 : f], "frame %d", f);
  }
  SOP_Node *forgetful = make();
  forgetful->set("cachemem", 0); // keeps the start and the last one
  for (int f : {4, 2, 8, 5, 6}) {
    CHECK(cook(forgetful, f) != nullptr);
    CHECK(bits(forgetful->gdp) == play[f], "frame %d", f);
  }
  jumpy->press("resimulate", 0);
  CHECK(cook(jumpy, 6) != nullptr);
  CHECK(bits(jumpy->gdp) == play[6]);
  CHECK(cook(jumpy, 6.5) != nullptr); // part of a frame: between the two, and of no consequence
  double half = mean(jumpy->gdp, "P", 1);
  CHECK(cook(jumpy, 6) != nullptr);
  CHECK(bits(jumpy->gdp) == play[6] && half < mean(jumpy->gdp, "P", 1));
  CHECK(cook(jumpy, 7) != nullptr);
  CHECK(bits(jumpy->gdp) == play[7] && half > mean(jumpy->gdp, "P", 1));
  whole_world();
}

OZ_CASE(a_changed_parameter_or_input_simulates_again) {
  fresh_world();
  double size = 0.2;
  Make shape([&](GU_Detail &g, double) { box(g, 0, 0.3, 0, size); });
  SOP_Node *source = source_of(&shape);
  auto make = [&] { return coarse(node("ooze::solver::1.0", {source})); };
  SOP_Node *changed = make();
  CHECK(cook(changed, 5) != nullptr);
  uint64_t before = bits(changed->gdp);
  changed->set("gravity", -3, 1);
  CHECK(cook(changed, 5) != nullptr);
  CHECK(bits(changed->gdp) != before);
  SOP_Node *fresh = make();
  fresh->set("gravity", -3, 1);
  CHECK(cook(fresh, 5) != nullptr);
  CHECK_BITS(changed->gdp, fresh->gdp);
  changed->set("gravity", -9.81, 1);
  CHECK(cook(changed, 5) != nullptr);
  CHECK(bits(changed->gdp) == before);
  size = 0.3;
  ++shape.version;
  CHECK(cook(changed, 5) != nullptr);
  CHECK_EQ(changed->gdp->getNumPoints(), 216);
  // animated: only frames from the change on are other ones
  changed->animate(
      "gravity", [](fpreal t) { return t < 0.1 ? -9.81 : -2; }, 1);
  CHECK(cook(changed, 5) != nullptr);
  uint64_t animated = bits(changed->gdp);
  SOP_Node *other = make();
  other->animate(
      "gravity", [](fpreal t) { return t < 0.1 ? -9.81 : -2; }, 1);
  CHECK(cook(other, 2) != nullptr && cook(other, 5) != nullptr);
  CHECK(bits(other->gdp) == animated);
  whole_world();
}

OZ_CASE(a_step_node_fed_back_is_the_solver) {
  fresh_world();
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.3, 0, 0.2); });
  SOP_Node *source = source_of(&shape);
  GU_Detail state;
  CHECK(cook(source, 1) != nullptr, "%s", said(source).c_str());
  state.replaceWith(*source->gdp);
  Make feedback([&](GU_Detail &g, double) { g.replaceWith(state); }, "feedback");
  feedback.mySopFlags.setManagesDataIDs(true);
  SOP_Node *step = coarse(node("ooze::step::1.0", {&feedback}));
  step->set("useground", 1);
  SOP_Node *solver = coarse(node("ooze::solver::1.0", {source}));
  solver->set("useground", 1);
  for (int f = 2; f <= 6; ++f) {
    world().drop_caches = f > 3; // also without the verb's cache
    world().compiled = f > 4;
    ++feedback.version;
    CHECK(cook(step, f) != nullptr, "%s", said(step).c_str());
    state.replaceWith(*step->gdp);
    CHECK(cook(solver, f) != nullptr);
    GU_Detail same;
    same.replaceWith(*solver->gdp);
    same.destroyAttribute(GA_ATTRIB_DETAIL, "ooze_firstframe");
    CHECK_BITS(&state, &same);
  }
  whole_world();
}

OZ_CASE(a_nozzle_pours_under_a_moving_collider_and_goes_on_from_attributes) {
  fresh_world();
  Make mouth([](GU_Detail &g, double f) {
    g.setPos3(g.appendPoint(), UT_Vector3(float(0.01 * f), 0.5f, 0));
  });
  Make bowl([](GU_Detail &g, double f) { box(g, 0.05, 0.02 * f - 0.1, 0, 0.3); });
  SOP_Node *source = source_of(&mouth, "slime");
  source->set_text("emission", "nozzle");
  source->set("radius", 0.1);
  source->set("speed", 2);
  auto make = [&] { return coarse(node("ooze::solver::1.0", {source, &bowl})); };
  SOP_Node *straight = make();
  std::map<int, uint64_t> play = played(straight, 8);
  CHECK(straight->gdp->getNumPoints() > 50, "%d", int(straight->gdp->getNumPoints()));
  CHECK_NEAR(mean(straight->gdp, "relaxtime"), 0.5, 1e-6, "slime");
  CHECK(straight->gdp->findAttribute(GA_ATTRIB_DETAIL, "force_collider0") != nullptr);
  SOP_Node *jumpy = make();
  jumpy->set("cachemem", 0);
  for (int f : {8, 4, 7, 2}) {
    CHECK(cook(jumpy, f) != nullptr);
    CHECK(bits(jumpy->gdp) == play[f], "frame %d", f);
  }
  // a file cache as the initial state, at another start frame
  CHECK(cook(straight, 4) != nullptr);
  GU_Detail file;
  file.replaceWith(*straight->gdp);
  Make read([&](GU_Detail &g, double) { g.replaceWith(file); }, "file");
  SOP_Node *resumed = make();
  resumed->wires.push_back(&read);
  resumed->set("startframe", 4);
  for (int f : {8, 5}) {
    CHECK(cook(resumed, f) != nullptr, "%s", said(resumed).c_str());
    CHECK(bits(resumed->gdp) == play[f], "frame %d", f);
  }
  whole_world();
}

// Models whose particles are linked: links come out as constraint geometry and go on from there.
OZ_CASE(links_are_state_too) {
  fresh_world();
  ooze_solver_desc desc;
  ooze_solver *probe = nullptr;
  ooze_params params;
  ooze_solver_desc_default(&desc);
  ooze_params_default(&params);
  params.model = OOZE_MODEL_SPRINGS;
  CHECK_EQ(ooze_solver_create(&desc, &probe, nullptr), OOZE_OK);
  bool there = ooze_params_set(probe, &params) >= 0;
  ooze_solver_destroy(probe);
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.2, 0, 0.2); });
  SOP_Node *source = source_of(&shape);
  auto make = [&] {
    SOP_Node *n = coarse(node("ooze::solver::1.0", {source}));
    n->set("useground", 1);
    if (there) n->set("model", OOZE_MODEL_SPRINGS);
    return n;
  };
  GU_Detail linked; // the host's own links, as the initial state
  CHECK(cook(source, 1) != nullptr);
  linked.replaceWith(*source->gdp);
  GEO_PolyCounts counts;
  counts.append(2, 3);
  const int ends[6] = {0, 1, 1, 2, 5, 9};
  GU_PrimPoly::buildBlock(&linked, 0, linked.getNumPointOffsets(), counts, ends, false);
  number(linked, GA_ATTRIB_PRIMITIVE, "restlength", D);
  number(linked, GA_ATTRIB_PRIMITIVE, "linkspare", 0);
  whole(linked, GA_ATTRIB_PRIMITIVE, "linkkind", OOZE_LINK_HELD);
  Make initial([&](GU_Detail &g, double) { g.replaceWith(linked); });
  SOP_Node *straight = make(), *jumpy = make();
  straight->wires = jumpy->wires = {source, nullptr, &initial};
  std::map<int, uint64_t> play = played(straight, 6);
  CHECK(straight->gdp->getNumPrimitives() >= 3);
  check_jumps(jumpy, {6, 3, 5}, play);
  whole_world();
}

OZ_CASE(esc_stops_within_a_substep_and_the_next_cook_goes_on) {
  fresh_world();
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.3, 0, 0.2); });
  SOP_Node *source = source_of(&shape), *solver = coarse(node("ooze::solver::1.0", {source}), 4),
           *other = coarse(node("ooze::solver::1.0", {source}), 4);
  world().trip = 10; // polls: one before each of the 4 substeps of a frame, one at its end
  CHECK(cook(solver, 9) == nullptr); // an error: an earlier frame is not passed off as this one
  CHECK(says(solver, "stopped at frame 3"), "%s", said(solver).c_str());
  CHECK_EQ(world().polls, 11); // none after the one that said so
  world().trip = -1;
  CHECK(cook(other, 3) != nullptr && cook(solver, 3) != nullptr);
  CHECK_BITS(solver->gdp, other->gdp);
  CHECK(cook(solver, 9) != nullptr && cook(other, 9) != nullptr);
  CHECK(solver->messages.empty(), "%s", said(solver).c_str());
  CHECK_BITS(solver->gdp, other->gdp);
  // a step node fails rather than give back its input
  Make feedback([&](GU_Detail &g, double) { g.replaceWith(*other->gdp); });
  feedback.mySopFlags.setManagesDataIDs(true);
  SOP_Node *step = coarse(node("ooze::step::1.0", {&feedback}));
  world().trip = world().polls + 1;
  CHECK(cook(step, 10) == nullptr);
  CHECK(says(step, "stopped"), "%s", said(step).c_str());
  whole_world();
}

OZ_CASE(unusable_inputs_are_named) {
  fresh_world();
  SOP_Node *solver = coarse(node("ooze::solver::1.0"));
  CHECK(cook(solver, 1) == nullptr);
  CHECK(says(solver, "first input is missing"), "%s", said(solver).c_str());
  SOP_Node *surface = node("ooze::surface::1.0");
  CHECK(cook(surface, 1) == nullptr);
  CHECK(says(surface, "first input is missing"));
  SOP_Node *source = node("ooze::source::1.0");
  CHECK(cook(source, 1) == nullptr);

  struct Try {
    const char *words;
    bool fails;
    Make::Function make;
  };
  const Try particles[] = {
      {"viscosity is text", true,
       [](GU_Detail &g, double) {
         block(g, 3, 0, 0, 0, D), g.addStringTuple(GA_ATTRIB_POINT, "viscosity", 1);
       }},
      {"id is not an integer", true,
       [](GU_Detail &g, double) { block(g, 3, 0, 0, 0, D), number(g, GA_ATTRIB_POINT, "id", 1); }},
      {"conform is too short", true,
       [](GU_Detail &g, double) {
         block(g, 3, 0, 0, 0, D), number(g, GA_ATTRIB_POINT, "conform", 1);
       }},
      {"viscosity of id 0 is -1", true,
       [](GU_Detail &g, double) {
         block(g, 3, 0, 0, 0, D), number(g, GA_ATTRIB_POINT, "viscosity", -1);
       }},
      {"position", true,
       [](GU_Detail &g, double) { block(g, 3, 0, 0, 0, D), g.setPos3(1, UT_Vector3(NAN, 0, 0)); }},
      {"shared their id", false,
       [](GU_Detail &g, double) { block(g, 3, 0, 0, 0, D), whole(g, GA_ATTRIB_POINT, "id", 7); }},
      {"primitives among the particles", false, [](GU_Detail &g, double) { box(g, 0, 0, 0, 1); }},
      {"ooze_clock", true,
       [](GU_Detail &g, double) {
         block(g, 3, 0, 0, 0, D), whole(g, GA_ATTRIB_DETAIL, "ooze_clock", 3);
       }},
  };
  for (auto &t : particles) {
    Make in(t.make);
    SOP_Node *step = coarse(node("ooze::step::1.0", {&in}));
    CHECK((cook(step, 2) == nullptr) == t.fails, "%s: %s", t.words, said(step).c_str());
    CHECK(says(step, t.words), "expected %s: %s", t.words, said(step).c_str());
  }
  const Try walls[] = {
      {"Friction is 7", true,
       [](GU_Detail &g, double) { box(g, 0, 0, 0, 1), number(g, GA_ATTRIB_POINT, "friction", 7); }},
      {"not finite", true,
       [](GU_Detail &g, double) { box(g, 0, 0, 0, 1), g.setPos3(0, UT_Vector3(INFINITY, 0, 0)); }},
      {"no polygons", false, [](GU_Detail &g, double) { block(g, 3, 0, 0, 0, D); }},
      {"type Sphere", false,
       [](GU_Detail &g, double) {
         auto p = std::make_unique<GEO_Primitive>(GEO_PRIMSPHERE, "Sphere");
         p->points.push_back(g.appendPoint());
         g.prims.push_back(std::move(p));
       }},
      {"open curves", false,
       [](GU_Detail &g, double) {
         box(g, 0, 0, 0, 1);
         static_cast<GEO_PrimPoly *>(g.prims[0].get())->closed = false;
       }},
      {"fog volume", false, [](GU_Detail &g, double) { grids::fog(g, "smoke", 0.3f, 0.1f); }},
      {"not a signed distance", false, [](GU_Detail &g, double) { grids::vectors(g, "vel"); }},
      {"turned or not cubes", false,
       [](GU_Detail &g, double) { grids::sphere(g, "turned", 0.5f, 0.1f, 0, 0, 0, 0.5); }},
  };
  for (auto &t : walls) {
    Make in([](GU_Detail &g, double) { block(g, 3, 0, 2, 0, D); }), wall(t.make);
    SOP_Node *step = coarse(node("ooze::step::1.0", {&in, &wall}));
    CHECK((cook(step, 2) == nullptr) == t.fails, "%s: %s", t.words, said(step).c_str());
    CHECK(says(step, t.words), "expected %s: %s", t.words, said(step).c_str());
  }
  Make in([](GU_Detail &g, double) { block(g, 3, 0, 2, 0, D); });
  SOP_Node *step = coarse(node("ooze::step::1.0", {&in}));
  step->set("timescale", -1);
  CHECK(cook(step, 2) == nullptr);
  CHECK(says(step, "Time Scale is -1"), "%s", said(step).c_str());
  whole_world();
}

// OOZE_DEVICE in the environment of a farm's machine, whatever the scene says.
OZ_CASE(a_machine_overrules_the_device) {
  fresh_world();
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.3, 0, 0.2); });
  SOP_Node *source = node("ooze::source::1.0", {&shape}),
           *solver = node("ooze::solver::1.0", {source});
  for (SOP_Node *n : {source, solver}) n->set("particlesep", D);
  solver->set("substeps", 1);
  const auto cooks = [&](const char *device, uint32_t backend) {
    setenv("OOZE_DEVICE", device, 1);
    solver->set("backend", backend);
    const bool done = cook(solver, 2) != nullptr;
    unsetenv("OOZE_DEVICE");
    return done;
  };
  CHECK(cooks("cpu", OOZE_BACKEND_CUDA), "%s", said(solver).c_str());
  OP_NodeInfoParms info;
  OP_Context context(0.0);
  solver->getNodeSpecificInfoText(context, info);
  CHECK(info.all.find(" on cpu") != std::string::npos, "%s", info.all.c_str());
  CHECK(!cooks("cuda:63", OOZE_BACKEND_CPU) && says(solver, "cuda"), "%s", said(solver).c_str());
  for (const char *wrong : {"gpu", "cuda1", "cuda:", "cuda:-1", "cuda:64"})
    CHECK(!cooks(wrong, OOZE_BACKEND_CPU) && says(solver, "expected cpu, cuda"), "%s: %s", wrong,
          said(solver).c_str());
  CHECK(cooks("", OOZE_BACKEND_CPU), "%s", said(solver).c_str());
  whole_world();
}
OZ_TEST_MAIN()
