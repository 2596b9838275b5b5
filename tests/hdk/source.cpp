// Ooze Source: presets that fill in numbers, attributes from a shape, surfaces, groups.
// SPDX-License-Identifier: Apache-2.0
#include "kit.h"
using namespace kit;

static const double FINE = 0.02; // particle separation

static SOP_Node *plain_source(OP_Node *shape) {
  SOP_Node *s = node("ooze::source::1.0", {shape});
  s->set("particlesep", FINE);
  return s;
}
static void cube(GU_Detail &g, double) { box(g, 0, 0.5, 0, 0.2); }
static void ramp(GU_Detail &g, const char *name, int width, GA_TypeInfo type, bool whole) {
  GA_Attribute *a = whole ? g.addIntTuple(GA_ATTRIB_POINT, name, width)
                          : g.addFloatTuple(GA_ATTRIB_POINT, name, width);
  a->setTypeInfo(type);
  for (GA_Index i = 0; i < g.getNumPoints(); ++i)
    for (int k = 0; k < width; ++k) {
      const double y = double(g.getPos3(g.pointOffset(i))[1]);
      a->put(g.pointOffset(i), k, whole ? (y > 0.5 ? 7.0 : 3.0) : 10 * (y - 0.4) + k);
    }
}

OZ_CASE(a_preset_fills_in_numbers_that_may_be_changed) {
  fresh_world();
  Make shape(cube);
  SOP_Node *s = plain_source(&shape);
  ooze_preset honey, dough;
  ooze_preset_default(&honey);
  ooze_preset_default(&dough);
  CHECK_EQ(ooze_preset_find("honey", &honey), OOZE_OK);
  CHECK_EQ(ooze_preset_find("dough", &dough), OOZE_OK);
  // a new node is honey
  CHECK(cook(s, 1) != nullptr, "%s", said(s).c_str());
  CHECK_NEAR(mean(s->gdp, "viscosity"), double(honey.material.viscosity), 1e-5, "one value");
  CHECK_NEAR(mean(s->gdp, "density"), double(honey.material.density), 1e-3, "one value");
  preset(s, "dough");
  CHECK(cook(s, 1) != nullptr);
  CHECK_NEAR(s->evalFloat("viscosity", 0, 0), double(dough.material.viscosity),
             1e-6 * double(dough.material.viscosity), "seven digits");
  CHECK_NEAR(mean(s->gdp, "yieldstress"), double(dough.material.yield_stress), 1e-2, "one value");
  // the numbers that the dialog shows are those that count, whatever the menu says
  s->set("viscosity", 77);
  CHECK(cook(s, 1) != nullptr);
  CHECK_NEAR(mean(s->gdp, "viscosity"), 77, 1e-4, "one value");
  CHECK_NEAR(mean(s->gdp, "yieldstress"), double(dough.material.yield_stress), 1e-2, "unchanged");
  preset(s, "custom"); // leaves them
  CHECK_NEAR(s->evalFloat("viscosity", 0, 0), 77, 0, "left as it was");
  whole_world();
}

OZ_CASE(particles_take_on_what_the_shape_carries) {
  fresh_world();
  Make shape([](GU_Detail &g, double) {
    cube(g, 0);
    ramp(g, "viscosity", 1, GA_TYPE_VOID, false);
    ramp(g, "Cd", 3, GA_TYPE_COLOR, false);
    ramp(g, "v", 3, GA_TYPE_VECTOR, false);
    ramp(g, "part", 1, GA_TYPE_VOID, true);
    ramp(g, "N", 3, GA_TYPE_NORMAL, false);
    GA_RWHandleS words(g.addStringTuple(GA_ATTRIB_POINT, "word", 1));
    for (GA_Index i = 0; i < g.getNumPoints(); ++i)
      words.set(g.pointOffset(i), g.getPos3(g.pointOffset(i))[1] > 0.5f ? "high" : "low");
  });
  SOP_Node *s = plain_source(&shape);
  s->set("velocity", 2, 0);
  s->set("inheritvel", 0.5);
  s->set_text("sourcename", "tap");
  CHECK(cook(s, 1) != nullptr, "%s", said(s).c_str());
  const GU_Detail &g = *s->gdp;
  GA_ROHandleF viscosity(g.findPointAttribute("viscosity")), cd(g.findPointAttribute("Cd")),
      v(g.findPointAttribute("v"));
  GA_ROHandleI part(g.findPointAttribute("part"));
  GA_ROHandleS word(g.findPointAttribute("word")), from(g.findPointAttribute("sourcename"));
  CHECK(viscosity.isValid() && cd.isValid() && part.isValid() && word.isValid());
  CHECK(g.findPointAttribute("N") == nullptr); // by the pattern
  CHECK(g.findPointAttribute("Cd")->getTypeInfo() == GA_TYPE_COLOR);
  double low = 1e9, high = -1e9;
  for (GA_Offset o : g.order) {
    const double y = double(g.getPos3(o)[1]), found = double(viscosity.get(o));
    low = std::min(low, found), high = std::max(high, found);
    CHECK_NEAR(double(cd.get(o, 2)), found + 2, 1e-4, "the same ramp, 2 higher");
    CHECK_NEAR(double(v.get(o, 0)), 0.5 * found + 2, 1e-4, "half of the shape's, and 2 m/s");
    CHECK_NEAR(double(v.get(o, 1)), 0.5 * (found + 1), 1e-4, "half of the shape's");
    if (std::fabs(y - 0.5) > 0.07) { // where no corner of the other end can be the nearest
      CHECK_EQ(part.get(o), y > 0.5 ? 7 : 3);
      CHECK(word.get(o) == (y > 0.5 ? "high" : "low"));
    }
    CHECK(from.get(o) == "tap");
  }
  CHECK(low >= 0 && high <= 2 + 1e-6 && low < 0.4 && high > 1.6, "%g to %g", low, high);
  s->set_text("attribs", ""); // nothing
  CHECK(cook(s, 1) != nullptr);
  CHECK(s->gdp->findPointAttribute("Cd") == nullptr);
  CHECK_NEAR(mean(s->gdp, "v", 0), 2, 1e-6, "the dialog's alone");
  whole_world();
}

OZ_CASE(a_surface_emits_along_its_normals) {
  fresh_world();
  Make shape(cube);
  Make sheet([](GU_Detail &g, double) { // open, seen from above: clockwise
    GA_Offset start = g.appendPointBlock(4);
    static const int quad[4] = {0, 1, 2, 3};
    for (int i = 0; i < 4; ++i)
      g.setPos3(start + i, UT_Vector3(i == 1 || i == 2 ? 0.2f : 0.f, 1.f, i < 2 ? 0.2f : 0.f));
    GEO_PolyCounts counts;
    counts.append(4, 1);
    GU_PrimPoly::buildBlock(&g, start, 4, counts, quad);
  });
  SOP_Node *s = plain_source(&shape), *open = plain_source(&sheet);
  for (SOP_Node *n : {s, open}) {
    n->set_text("emitfrom", "surface");
    n->set("normalspeed", 3);
    CHECK(cook(n, 1) != nullptr, "%s", said(n).c_str());
    CHECK(n->messages.empty(), "%s", said(n).c_str());
  }
  // a square of 0.2 m a side and 0.02 m apart: about 100 places a face
  CHECK(s->gdp->getNumPoints() > 400 && s->gdp->getNumPoints() < 1000, "%d",
        int(s->gdp->getNumPoints()));
  GA_ROHandleV3 v(s->gdp->findPointAttribute("v"));
  for (GA_Offset o : s->gdp->order) {
    const UT_Vector3 p = s->gdp->getPos3(o), u = v.get(o);
    double reach = 0, out = 0;
    const double middle[3] = {0, 0.5, 0};
    for (int k = 0; k < 3; ++k) {
      reach = std::max(reach, std::fabs(double(p[k]) - middle[k]));
      out += double(u[k]) * (double(p[k]) - middle[k]);
    }
    CHECK_NEAR(reach, 0.1, 1e-5, "on a face");
    CHECK_NEAR(out, 0.3, 1e-4, "3 m/s along the face's normal, 0.1 m from the middle");
  }
  CHECK_NEAR(std::fabs(mean(open->gdp, "v", 1)), 3, 1e-5, "straight up or down");
  CHECK_NEAR(mean(open->gdp, "P", 1), 1, 1e-6, "on the sheet");
  whole_world();
}

OZ_CASE(groups_choose_what_emits) {
  fresh_world();
  Make two([](GU_Detail &g, double) {
    box(g, 0, 0.5, 0, 0.2);
    box(g, 1, 0.5, 0, 0.2);
    GA_PrimitiveGroup *right = g.newPrimitiveGroup("right");
    for (GA_Offset o = 6; o < 12; ++o) right->addOffset(o);
    GA_PointGroup *one = g.newPointGroup("one");
    one->addOffset(3);
  });
  SOP_Node *s = plain_source(&two);
  CHECK(cook(s, 1) != nullptr);
  const GA_Size both = s->gdp->getNumPoints();
  s->set_text("group", "right");
  CHECK(cook(s, 1) != nullptr, "%s", said(s).c_str());
  CHECK_EQ(2 * s->gdp->getNumPoints(), both);
  CHECK_NEAR(mean(s->gdp, "P", 0), 1, 1e-3, "the right one");
  s->set_text("group", "left");
  CHECK(cook(s, 1) == nullptr && says(s, "no group of primitives left"), "%s", said(s).c_str());
  s->set_text("emission", "nozzle");
  s->set_text("group", "one");
  CHECK(cook(s, 1) != nullptr, "%s", said(s).c_str());
  CHECK_EQ(s->gdp->getNumPoints(), 1);
  whole_world();
}
OZ_CASE(particles_grow_older_and_die) {
  fresh_world();
  Make shape(cube);
  Make mouths([](GU_Detail &g, double) {
    for (int i = 0; i < 2; ++i) g.setPos3(g.appendPoint(), UT_Vector3(float(i), 0.5f, 0));
    GA_Attribute *cd = g.addFloatTuple(GA_ATTRIB_POINT, "Cd", 3);
    cd->put(1, 0, 1.0); // the right one is red
    GA_RWHandleS word(g.addStringTuple(GA_ATTRIB_POINT, "word", 1));
    word.set(0, "left"), word.set(1, "right");
  });
  SOP_Node *filled = plain_source(&shape);
  filled->set("life", 4.5 / 24);
  SOP_Node *solver = coarse(node("ooze::solver::1.0", {filled}), 2, FINE);
  CHECK(cook(solver, 5) != nullptr, "%s", said(solver).c_str());
  const GA_Size all = filled->gdp->getNumPoints();
  CHECK_EQ(solver->gdp->getNumPoints(), all);
  CHECK_NEAR(mean(solver->gdp, "age"), 4.0 / 24, 1e-6, "four frames");
  CHECK(cook(solver, 6) != nullptr && solver->gdp->getNumPoints() == 0); // after 5 frames
  CHECK(cook(solver, 8) != nullptr, "%s", said(solver).c_str());
  // a nozzle's particles have its point's attributes, and die at the end of their life
  SOP_Node *nozzle = plain_source(&mouths);
  nozzle->set_text("emission", "nozzle");
  nozzle->set("radius", 0.06);
  nozzle->set("speed", 1.5);
  nozzle->set("life", 6.0 / 24);
  SOP_Node *pour = coarse(node("ooze::solver::1.0", {nozzle}), 2, FINE);
  GA_Size most = 0;
  std::map<int, uint64_t> play;
  for (int f = 1; f <= 16; ++f) {
    CHECK(cook(pour, f) != nullptr, "%s", said(pour).c_str());
    const GU_Detail &g = *pour->gdp;
    play[f] = bits(&g);
    most = std::max(most, g.getNumPoints());
    GA_ROHandleF age(g.findPointAttribute("age")), cd(g.findPointAttribute("Cd"));
    GA_ROHandleS word(g.findPointAttribute("word"));
    for (GA_Offset o : g.order) {
      const bool right = g.getPos3(o)[0] > 0.5f;
      CHECK(age.get(o) >= 0 && double(age.get(o)) < 6.0 / 24, "%g s", double(age.get(o)));
      CHECK_NEAR(double(cd.get(o, 0)), right ? 1 : 0, 0, "of its nozzle");
      CHECK(word.get(o) == (right ? "right" : "left"));
    }
  }
  CHECK(most > 200, "%d", int(most));
  CHECK(pour->gdp->getNumPoints() < GA_Size(1.2 * double(most)));
  SOP_Node *jumpy = coarse(node("ooze::solver::1.0", {nozzle}), 2, FINE);
  jumpy->set("cachemem", 0);
  for (int f : {9, 16, 5, 12})
    CHECK(cook(jumpy, f) != nullptr && bits(jumpy->gdp) == play[f], "frame %d", f);
  whole_world();
}

OZ_CASE(colours_show_what_particles_do_and_leave_the_state_alone) {
  fresh_world();
  Make shape([](GU_Detail &g, double) {
    cube(g, 0);
    GA_Attribute *cd = g.addFloatTuple(GA_ATTRIB_POINT, "Cd", 3);
    for (int i = 0; i < 8; ++i) cd->put(i, 2, 0.5);
    ramp(g, "temperature", 1, GA_TYPE_VOID, false);
  });
  SOP_Node *source = plain_source(&shape),
           *plain_one = coarse(node("ooze::solver::1.0", {source}), 2, FINE);
  preset(source, "slime"); // which stretches
  CHECK(cook(plain_one, 6) != nullptr, "%s", said(plain_one).c_str());
  CHECK_NEAR(mean(plain_one->gdp, "Cd", 2), 0.5, 1e-6, "the shape's");
  for (int kind = 1; kind <= 5; ++kind) {
    SOP_Node *solver = coarse(node("ooze::solver::1.0", {source}), 2, FINE);
    solver->set("visualize", kind);
    solver->set("outstress", kind == 3);
    solver->set("useground", 1);
    solver->set("groundheight", 0.39);
    plain_one->set("useground", 1);
    plain_one->set("groundheight", 0.39);
    CHECK(cook(solver, 6) != nullptr, "%s", said(solver).c_str());
    CHECK(solver->messages.empty(), "%s", said(solver).c_str());
    const GA_Attribute *cd = solver->gdp->findPointAttribute("Cd");
    CHECK(cd != nullptr && cd->getTypeInfo() == GA_TYPE_COLOR);
    double low = 1e9, high = -1e9;
    for (GA_Offset o : solver->gdp->order) {
      const double green = cd->number<double>(o, 1);
      low = std::min(low, green), high = std::max(high, green);
    }
    CHECK(low >= 0 && high <= 1 && (kind == 5 || high > low + 0.3), "%d: %g to %g", kind, low,
          high);
    // the same simulation beneath
    solver->set("visualize", 0);
    CHECK(cook(solver, 8) != nullptr && cook(plain_one, 8) != nullptr);
    if (kind != 3) CHECK_BITS(solver->gdp, plain_one->gdp);
  }
  SOP_Node *none = coarse(node("ooze::solver::1.0", {source}), 2, FINE);
  none->set("visualize", 3);
  CHECK(cook(none, 3) != nullptr && says(none, "no stress to show"), "%s", said(none).c_str());
  whole_world();
}
// Yield stress is no attribute of particles: it comes with materials, few of them for a whole ramp.
OZ_CASE(a_painted_law_is_what_particles_have) {
  fresh_world();
  Make shape([](GU_Detail &g, double) {
    cube(g, 0);
    GA_Attribute *a = g.addFloatTuple(GA_ATTRIB_POINT, "yieldstress", 1);
    for (GA_Index i = 0; i < g.getNumPoints(); ++i) { // 0 to 2 Pa, along no axis
      const UT_Vector3 p = g.getPos3(g.pointOffset(i));
      const double x = double(p[0]) + 0.1, y = double(p[1]) - 0.4, z = double(p[2]) + 0.1;
      a->put(g.pointOffset(i), 0, (5 * x + 3.3 * y + 1.7 * z));
    }
  });
  for (const char *when : {"once", "continuous"}) {
    SOP_Node *s = plain_source(&shape);
    preset(s, "honey");
    s->set("jitter", 0.2);
    s->set_text("emission", when);
    SOP_Node *solver = coarse(node("ooze::solver::1.0", {s}), 2, FINE);
    const int last = std::strcmp(when, "once") ? 8 : 3; // until more has come
    CHECK(cook(solver, last) != nullptr, "%s", said(solver).c_str());
    CHECK(solver->messages.empty(), "%s", said(solver).c_str());
    const GU_Detail &g = *solver->gdp;
    GA_ROHandleI material(g.findPointAttribute("material")),
        table(g.findAttribute(GA_ATTRIB_DETAIL, "ooze_materials"));
    GA_ROHandleF painted(g.findPointAttribute("yieldstress"));
    CHECK(material.isValid() && table.isValid() && painted.isValid());
    const size_t width = sizeof(ooze_material) / 4 - 1,
                 field = offsetof(ooze_material, yield_stress) / 4 - 1;
    const size_t rows =
        size_t(g.findAttribute(GA_ATTRIB_DETAIL, "ooze_materials")->getTupleSize()) / width;
    CHECK(rows > 200 && rows <= 256, "%d materials of %d points", int(rows), int(g.getNumPoints()));
    double most = 0;
    for (GA_Offset o : g.order) {
      const int m = material.get(o);
      CHECK(m >= 1 && size_t(m) <= rows, "point %d: material %d", int(o), m);
      const int32 word = table.get(GA_Offset(0), int((size_t(m) - 1) * width + field));
      float value;
      std::memcpy(&value, &word, 4);
      most = std::max(most, std::fabs(double(value) - double(painted.get(o))));
    }
    CHECK(most < 0.51 * 2 / 255, "%g Pa from what was painted: half a step of 2 Pa over 255", most);
  }
  whole_world();
}
OZ_CASE(particles_and_surfaces_tell_how_rest_positions_are_mixed) {
  fresh_world();
  Make shape(cube);
  SOP_Node *s = plain_source(&shape), *solver = coarse(node("ooze::solver::1.0", {s}), 2, FINE),
           *surface = node("ooze::surface::1.0", {solver});
  double told = 0;
  const auto detail = [&told](const SOP_Node *n) {
    GA_ROHandleF h(n->gdp->findAttribute(GA_ATTRIB_DETAIL, "restblend"));
    if (h.isValid()) told = double(h.get(GA_Offset(0)));
    return h.isValid();
  };
  CHECK(cook(surface, 3) != nullptr, "%s", said(surface).c_str());
  CHECK(!detail(solver) && !detail(surface)); // without rest positions
  solver->set("rest", 1);
  solver->set("restperiod", 0.5);
  const double blend = ooze_rest_blend(4.0 / 24, 0.5);
  for (const char *output : {"vdb", "polygons"}) {
    surface->set_text("output", output);
    CHECK(cook(surface, 5) != nullptr, "%s", said(surface).c_str());
    CHECK(detail(solver));
    CHECK_NEAR(told, blend, 1e-5, "after 4 frames");
    CHECK(detail(surface));
    CHECK_NEAR(told, blend, 1e-5, "the particles'");
  }
  whole_world();
}
static void one_point(GU_Detail &g, double) { g.setPos3(g.appendPoint(), UT_Vector3(0, 1, 0)); }

// Widest |x| and |z| of poured particles.
static void spread(SOP_Node *solver, double out[2]) {
  out[0] = out[1] = 0;
  CHECK(cook(solver, 4) != nullptr, "%s", said(solver).c_str());
  CHECK(solver->messages.empty(), "%s", said(solver).c_str());
  CHECK(solver->gdp->getNumPoints() > 20, "%d", int(solver->gdp->getNumPoints()));
  CHECK(!solver->gdp->findPointAttribute("corners"), "an attribute of nozzles alone");
  for (GA_Offset o : solver->gdp->order)
    for (int k = 0; k < 2; ++k)
      out[k] = std::max(out[k], std::fabs(double(solver->gdp->getPos3(o)[2 * k])));
}

OZ_CASE(a_mouth_has_the_outline_that_is_asked_for) {
  fresh_world();
  Make mouth(one_point);
  SOP_Node *s = plain_source(&mouth), *solver = coarse(node("ooze::solver::1.0", {s}), 2, FINE);
  double wide[2];
  preset(s, "dough"); // keeps its form in the air
  s->set_text("emission", "nozzle");
  s->set("radius", 0.1);
  s->set("speed", 1);
  spread(solver, wide);
  CHECK_NEAR(wide[0], wide[1], 0.01, "round");
  s->set("outline", 2); // a slot
  s->set("outlineinner", 0.3);
  spread(solver, wide);
  CHECK(wide[0] > 0.07 && wide[1] < 0.045, "%g by %g: along x", wide[0], wide[1]);
  s->set("outline", 4);
  s->set("outlinepoints", 3);
  s->set_text("corners", "-1 -0.3, 1 -0.3,  1 0.3  -1 0.3");
  spread(solver, wide);
  CHECK(wide[0] > 0.07 && wide[1] < 0.045, "%g by %g: the corners', not a triangle", wide[0],
        wide[1]);
  // painted, on the point
  mouth.change([](GU_Detail &g, double) {
    one_point(g, 0);
    GA_RWHandleS(g.addStringTuple(GA_ATTRIB_POINT, "corners", 1))
        .set(0, "-0.3 -1 0.3 -1 0.3 1 -0.3 1");
  });
  spread(solver, wide);
  CHECK(wide[0] < 0.045 && wide[1] > 0.07, "%g by %g: the point's", wide[0], wide[1]);
  mouth.change(one_point);
  static const char *const wrong[3][2] = {{"0 0 1 0 1", "5 numbers"},
                                          {"0 0 1 0", "2 corners; expected 3 to 32"},
                                          {"0 0 1 0 wide 1", "'wide 1' in"}};
  for (auto &w : wrong) {
    s->set_text("corners", w[0]);
    SOP_Node *n = coarse(node("ooze::solver::1.0", {s}), 2, FINE);
    CHECK((!cook(n, 2) || !said(n).empty()) && says(n, w[1]), "%s: %s", w[0], said(n).c_str());
  }
  whole_world();
}

OZ_CASE(surfaces_carry_the_strain_rate) {
  fresh_world();
  Make shape([](GU_Detail &g, double) {
    cube(g, 0);
    ramp(g, "v", 3, GA_TYPE_VECTOR, false);
  });
  SOP_Node *s = plain_source(&shape), *surface = node("ooze::surface::1.0", {s});
  surface->set_text("output", "polygons");
  surface->set("strainrate", 1);
  CHECK(cook(surface, 1) != nullptr, "%s", said(surface).c_str());
  CHECK(surface->gdp->findPointAttribute("strainrate") != nullptr, "%s", said(surface).c_str());
  // all three velocities rise by 10 m/s a metre of y: D has yy 10, xy 5 and yz 5
  CHECK_NEAR(mean(surface->gdp, "strainrate"), 20, 2, "sqrt(2 D:D), less exact at the edges");
  surface->set("strainrate", 0);
  CHECK(cook(surface, 1) != nullptr && !surface->gdp->findPointAttribute("strainrate"));
  whole_world();
}

OZ_CASE(air_warms_what_conducts_heat) {
  fresh_world();
  Make shape(cube);
  SOP_Node *s = plain_source(&shape), *solver = coarse(node("ooze::solver::1.0", {s}), 2, FINE);
  s->set("conductivity", 50);
  s->set("filmcoefficient", 2000);
  s->set("temperature", 300);
  for (double air : {300.0, 600.0}) {
    solver->set("ambienttemperature", air);
    CHECK(cook(solver, 6) != nullptr, "%s", said(solver).c_str());
    const double now = mean(solver->gdp, "temperature");
    CHECK(air > 300 ? now > 300.5 : std::fabs(now - 300) < 1e-3, "air of %g K: %g K", air, now);
  }
  whole_world();
}

// Thin fluid under a body that is held: it falls off, or hangs on it.
OZ_CASE(a_body_holds_on_to_fluid_with_stick) {
  fresh_world();
  Make above([](GU_Detail &g, double) { box(g, 0, 0.6, 0, 0.2); }),
      below([](GU_Detail &g, double) { box(g, 0, 0.48, 0, 0.04); });
  double height[2];
  for (int k = 0; k < 2; ++k) {
    SOP_Node *body = plain_source(&above), *fluid = plain_source(&below);
    plain(body), plain(fluid);
    body->set("particlesep", FINE), fluid->set("particlesep", FINE);
    fluid->set("viscosity", 0.05);
    body->set("body", 1);
    body->set("driven", 1);
    body->set("bodyfriction", 1);
    body->set("bodystick", k ? 1000 : 0);
    Make both([&](GU_Detail &g, double frame) {
      g.replaceWith(*cook(body, frame));
      g.merge(*cook(fluid, frame));
    });
    SOP_Node *solver = coarse(node("ooze::solver::1.0", {&both}), 4, FINE);
    CHECK(cook(solver, 5) != nullptr, "%s", said(solver).c_str());
    GA_ROHandleI number(solver->gdp->findPointAttribute("body"));
    CHECK(number.isValid());
    double sum = 0;
    int count = 0;
    for (GA_Offset o : solver->gdp->order)
      if (number.get(o) == 0) sum += double(solver->gdp->getPos3(o)[1]), ++count;
    height[k] = sum / count;
  }
  // 4 frames of free fall are 0.136 m
  CHECK(height[0] < 0.48 - 0.1, "%g m: it falls off", height[0]);
  CHECK(height[1] > height[0] + 0.05, "%g and %g m: it hangs", height[0], height[1]);
  whole_world();
}
OZ_TEST_MAIN()
