// Ooze Collider, its guide, height fields, and the guides of the other nodes.
// SPDX-License-Identifier: Apache-2.0
#include "kit.h"
using namespace kit;

static double extent(const GU_Detail *g, int k, bool most) {
  double found = most ? -1e9 : 1e9;
  for (GA_Offset o : g->order) {
    const double x = double(g->getPos3(o)[k]);
    found = most ? std::fmax(found, x) : std::fmin(found, x);
  }
  return found;
}

OZ_CASE(a_collider_is_what_the_node_says) {
  fresh_world();
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.3, 0, 0.2); });
  Make slope([](GU_Detail &g, double) { box(g, 0, -0.3, 0, 1.0, 0, 0.4); });
  SOP_Node *source = source_of(&shape, "dough");
  auto end = [&](const char *parm, double value) {
    SOP_Node *collider = node("ooze::collider::1.0", {&slope});
    collider->set("particlesep", D);
    if (parm) collider->set(parm, value);
    SOP_Node *solver = coarse(node("ooze::solver::1.0", {source, collider}), 3);
    CHECK(cook(solver, 10) != nullptr, "%s", said(solver).c_str());
    return std::make_pair(double(solver->gdp->getNumPoints()),
                          solver->gdp->getNumPoints() ? mean(solver->gdp, "P", 1) : 0.0);
  };
  const auto held = end(nullptr, 0);
  CHECK(held.first > 50 && held.second > 0.2, "%g at %g", held.first, held.second);
  CHECK(end("kill", 1).first < 0.7 * held.first); // particles that fell into it are gone
  const auto same = end("friction", 1), free = end("friction", 0);
  CHECK(same == held && free != held); // 1 is the default
  whole_world();
}

OZ_CASE(painted_values_and_names_stay_or_are_given) {
  fresh_world();
  Make painted([](GU_Detail &g, double) {
    box(g, 0, 0, 0, 1.0);
    number(g, GA_ATTRIB_POINT, "friction", 0.25);
  });
  SOP_Node *collider = node("ooze::collider::1.0", {&painted});
  collider->set("friction", 0.75);
  collider->set("stick", 3);
  collider->set("temperature", 350);
  collider->set_text("name", "bowl");
  CHECK(cook(collider, 1) != nullptr, "%s", said(collider).c_str());
  const GU_Detail &g = *collider->gdp;
  CHECK(g.findAttribute(GA_ATTRIB_PRIMITIVE, "friction") == nullptr);
  CHECK_NEAR(mean(&g, "friction"), 0.25, 1e-6, "as painted");
  CHECK_NEAR(g.findAttribute(GA_ATTRIB_PRIMITIVE, "stick")->number<double>(5, 0), 3, 0, "given");
  CHECK_NEAR(g.findAttribute(GA_ATTRIB_PRIMITIVE, "temperature")->number<double>(0, 0), 350, 0,
             "given");
  CHECK(GA_ROHandleS(g.findAttribute(GA_ATTRIB_PRIMITIVE, "name")).get(3) == "bowl");
  Make none([](GU_Detail &, double) {});
  CHECK(cook(node("ooze::collider::1.0", {&none}), 1) != nullptr);
  CHECK(cook(node("ooze::collider::1.0", {}), 1) == nullptr);
  whole_world();
}

OZ_CASE(the_guide_is_the_surface_that_the_solver_meets) {
  fresh_world();
  Make ball([](GU_Detail &g, double) { grids::sphere(g, "ball", 0.5f, 0.05f, 1, 2, 3); });
  Make cube([](GU_Detail &g, double) { box(g, 1, 2, 3, 0.5); });
  SOP_Node *round = node("ooze::collider::1.0", {&ball}),
           *square = node("ooze::collider::1.0", {&cube});
  round->set("particlesep", D);
  square->set("particlesep", D);
  const GU_Detail *g = round->guide(0);
  CHECK(g != nullptr && g->getNumPrimitives() > 500, "no guide");
  for (GA_Offset o : g->order) {
    const UT_Vector3 p = g->getPos3(o);
    CHECK_NEAR(std::sqrt(std::pow(p[0] - 1, 2) + std::pow(p[1] - 2, 2) + std::pow(p[2] - 3, 2)),
               0.5, 0.01, "on the ball");
  }
  g = square->guide(0);
  CHECK(g != nullptr && g->getNumPrimitives() > 100);
  CHECK_NEAR(extent(g, 0, true), 1.25, 0.02, "the box, to a part of a voxel");
  CHECK_NEAR(extent(g, 1, false), 1.75, 0.02, "the box, to a part of a voxel");
  square->set("collidervoxel", 0.2); // too coarse for it, and it shows
  const GA_Size fine = g->getNumPrimitives();
  CHECK(square->guide(0)->getNumPrimitives() < fine / 2);
  square->set("collidervoxel", 0);
  square->set("boundary", 1); // and the boundary's particles
  CHECK(square->guide(0)->getNumPoints() > g->getNumPrimitives() / 4);
  square->set("showguide", 0);
  CHECK(square->guide(0)->getNumPoints() == 0);
  whole_world();
}

static float hill(float x, float z) { return 0.3f - 0.5f * (x * x + z * z); }
static float flat(float, float) { return 0.0f; }

OZ_CASE(height_fields_hold_the_fluid) {
  fresh_world();
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.45, 0, 0.2); });
  float lift = 0;
  Make ground([&](GU_Detail &g, double) {
    grids::heights(g, "height", 41, 1.0f, lift, hill);
    grids::heights(g, "mask", 41, 1.0f, 0, flat);
  });
  SOP_Node *source = source_of(&shape, "dough");
  SOP_Node *solver = coarse(node("ooze::solver::1.0", {source, &ground}), 3);
  CHECK(cook(solver, 10) != nullptr, "%s", said(solver).c_str());
  CHECK(solver->messages.empty(), "%s", said(solver).c_str());
  for (GA_Offset o : solver->gdp->order) {
    const UT_Vector3 p = solver->gdp->getPos3(o);
    CHECK(p[1] > hill(p[0], p[2]) - 0.03f, "%g under the hill", double(p[1]));
  }
  CHECK(extent(solver->gdp, 1, false) < 0.4); // it fell
  const uint64_t low = bits(solver->gdp);
  lift = -0.1f; // values alone, or the place alone: both are seen
  ++ground.version;
  CHECK(cook(solver, 10) != nullptr && bits(solver->gdp) != low);
  const GU_Detail *guide = node("ooze::collider::1.0", {&ground})->guide(0);
  CHECK(guide != nullptr && guide->getNumPrimitives() > 100);
  CHECK_NEAR(extent(guide, 1, true), 0.2, 0.02, "the top of the hill");
  whole_world();
}

OZ_CASE(guides_show_nozzles_ground_and_limits) {
  fresh_world();
  Make mouth([](GU_Detail &g, double) { g.setPos3(g.appendPoint(), UT_Vector3(1, 2, 3)); });
  SOP_Node *source = source_of(&mouth, "honey");
  CHECK(source->guide(0) != nullptr && source->guide(0)->getNumPoints() == 0);
  source->set_text("emission", "nozzle");
  source->set("radius", 0.1);
  source->set("speed", 2);
  const GU_Detail *g = source->guide(0);
  CHECK_NEAR(extent(g, 0, true), 1.1, 1e-5, "the mouth");
  CHECK_NEAR(extent(g, 1, true), 2, 1e-5, "the mouth");
  CHECK_NEAR(extent(g, 1, false), 2 - 0.2 - 0.1, 1e-5,
             "2 m/s in a tenth of a second, and a radius");
  SOP_Node *solver = coarse(node("ooze::solver::1.0", {source}), 3);
  CHECK(solver->guide(0) != nullptr && solver->guide(0)->getNumPoints() == 0);
  solver->set("useground", 1);
  solver->set("groundheight", -0.5);
  g = solver->guide(0);
  CHECK(g->getNumPoints() > 8);
  CHECK_NEAR(extent(g, 1, true), -0.5, 1e-6, "the ground");
  CHECK_NEAR(extent(g, 1, false), -0.5, 1e-6, "the ground");
  solver->set("limits", 2);
  for (int k = 0; k < 3; ++k) solver->set("limitsize", 4 + 2 * k, k);
  g = solver->guide(0);
  CHECK_NEAR(extent(g, 1, true), 3, 1e-6, "the box");
  CHECK_NEAR(extent(g, 2, false), -4, 1e-6, "the box");
  const uint64_t before = bits(solver->gdp);
  solver->set("showguide", 0);
  CHECK(solver->guide(0)->getNumPoints() == 0 && bits(solver->gdp) == before);
  whole_world();
}
// ---- taken out of the surface ----

// Deepest vertex of the polygons in a box of this size about x, turned about y; and how many lie on
// it.
static double deepest(const GU_Detail *g, double x, double y, double z, double size, double turn,
                      int *touching) {
  double most = -1;
  *touching = 0;
  for (GA_Offset o : g->order) {
    const UT_Vector3 p = g->getPos3(o);
    const double u = double(p[0]) - x, v = double(p[1]) - y, w = double(p[2]) - z,
                 c = std::cos(turn), s = std::sin(turn);
    const double out = std::max({std::fabs(c * u - s * w), std::fabs(v), std::fabs(s * u + c * w)});
    most = std::max(most, 0.5 * size - out);
    *touching += std::fabs(0.5 * size - out) < 0.02 * D;
  }
  return most;
}

static SOP_Node *surface_of(Make &fluid, Make *colliders) {
  SOP_Node *s = node("ooze::surface::1.0", {&fluid, colliders});
  s->set("particlesep", D);
  s->set("velocity", 0);
  s->set_text("output", "polygons");
  return s;
}

OZ_CASE(surfaces_end_at_colliders_that_move) {
  fresh_world();
  Make fluid([](GU_Detail &g, double) { block(g, 10, 0, 0, 0, D); });
  Make wall([](GU_Detail &g, double frame) { box(g, 0.2, 0.5 * frame, 0.2, 0.3, 0.3); });
  SOP_Node *s = surface_of(fluid, &wall), *whole = surface_of(fluid, nullptr);
  int on = 0;
  CHECK(cook(whole, 1) != nullptr);
  for (double frame : {1.0, 0.9}) {
    CHECK(deepest(whole->gdp, 0.2, 0.5 * frame, 0.2, 0.3, 0.3, &on) > D, "something to cut");
    const GU_Detail *g = cook(s, frame);
    CHECK(g != nullptr && s->messages.empty(), "%s", said(s).c_str());
    const double deep = deepest(g, 0.2, 0.5 * frame, 0.2, 0.3, 0.3, &on);
    CHECK(deep < 0.15 * D, "%g m: a quarter of a voxel, half a separation, at its edges", deep);
    CHECK(on > 50, "%d vertices lie on it", on);
  }
  // room
  s->set("collidergap", 0.5 * D);
  CHECK(cook(s, 1) != nullptr);
  CHECK(deepest(s->gdp, 0.2, 0.5, 0.2, 0.3, 0.3, &on) < -0.27 * D,
        "0.5 over the root of 3 at its corners");
  // the floor, with no collider at all
  whole->set("useground", 1);
  whole->set("groundheight", 2.5 * D);
  CHECK(cook(whole, 1) != nullptr);
  double low = 1;
  for (GA_Offset o : whole->gdp->order) low = std::min(low, double(whole->gdp->getPos3(o)[1]));
  CHECK_NEAR(low, 2.5 * D, 1e-6, "flat walls are met exactly");
  whole_world();
}

OZ_CASE(surfaces_end_at_vdbs_and_keep_what_only_deletes) {
  fresh_world();
  Make fluid([](GU_Detail &g, double) { block(g, 10, 0, 0, 0, D); });
  Make ball(
      [](GU_Detail &g, double) { grids::sphere(g, "ball", 0.15f, 0.02f, 0.2f, 0.45f, 0.2f); });
  Make killer([](GU_Detail &g, double) {
    box(g, 0.2, 0.5, 0.2, 0.3, 0.3);
    whole(g, GA_ATTRIB_PRIMITIVE, "kill", 1);
  });
  SOP_Node *s = surface_of(fluid, &ball), *all = surface_of(fluid, nullptr),
           *kept = surface_of(fluid, &killer);
  CHECK(cook(s, 1) != nullptr && s->messages.empty(), "%s", said(s).c_str());
  double nearest = 1;
  for (GA_Offset o : s->gdp->order) {
    const UT_Vector3 p = s->gdp->getPos3(o);
    nearest = std::min(nearest, std::sqrt(std::pow(double(p[0]) - 0.2, 2) +
                                          std::pow(double(p[1]) - 0.45, 2) +
                                          std::pow(double(p[2]) - 0.2, 2)));
  }
  CHECK_NEAR(nearest, 0.15, 0.02 * D, "the ball's own voxels");
  CHECK(cook(all, 1) != nullptr && cook(kept, 1) != nullptr);
  CHECK_BITS(all->gdp, kept->gdp);
  // VDBs are cut too
  s->set_text("output", "vdb");
  all->set_text("output", "vdb");
  CHECK(cook(s, 1) != nullptr && cook(all, 1) != nullptr);
  CHECK(grids::names(*s->gdp).size() == 1);
  whole_world();
}
OZ_TEST_MAIN()
