// Kinds of geometry in the second input: polygons, packed primitives, VDBs and volumes; still,
// moving and bending. SPDX-License-Identifier: Apache-2.0
#include "kit.h"
using namespace kit;

// A block rests on a collider whose top is at y = 0.
static double height_on(Make::Function wall, std::string *words = nullptr, int frames = 8) {
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.13, 0, 0.2); }), under(wall);
  SOP_Node *source = node("ooze::source::1.0", {&shape});
  source->set("particlesep", D);
  preset(source, "dough");
  SOP_Node *solver = coarse(node("ooze::solver::1.0", {source, &under}), 4);
  const GU_Detail *g = cook(solver, frames);
  CHECK(g != nullptr, "%s", said(solver).c_str());
  if (words) *words = said(solver);
  double low = 1e9;
  for (GA_Offset o : g->order) low = std::fmin(low, (double)g->getPos3(o)[1]);
  return low;
}

OZ_CASE(polygons_vdbs_and_volumes_hold_the_fluid) {
  fresh_world();
  CHECK_NEAR(height_on([](GU_Detail &g, double) { box(g, 0, -0.5, 0, 1.0); }), 0.02, 0.03,
             "polygons");
  CHECK_NEAR(height_on([](GU_Detail &g, double) {
               grids::sphere(g, "surface", 2.0f, 0.05f, 0, -2.0f, 0);
             }),
             0.0, 0.04, "VDB");
  CHECK_NEAR(
      height_on([](GU_Detail &g, double) { grids::native_sphere(g, "ball", 0.8f, 0.05f, -0.8f); }),
      0.0, 0.06, "volume: its top is round");
  CHECK(height_on([](GU_Detail &, double) {}) < -0.05);
  whole_world();
}

OZ_CASE(moving_colliders_carry_and_bending_ones_follow) {
  fresh_world();
  std::string words;
  // it rises by 1 cm a frame, and turns
  double rigid = height_on(
      [](GU_Detail &g, double f) { box(g, 0, -0.5 + 0.01 * (f - 1), 0, 1.0, 0.02 * f); }, &words);
  CHECK_NEAR(rigid, 0.07 + 0.02, 0.03, "rigid");
  CHECK(words.empty(), "%s", words.c_str());
  double bent = height_on(
      [](GU_Detail &g, double f) { box(g, 0, -0.5 + 0.01 * (f - 1), 0, 1.0, 0, 0.02 * f); },
      &words);
  CHECK_NEAR(bent, 0.07 + 0.02, 0.03, "deforming");
  CHECK(words.empty(), "%s", words.c_str());
  double called = height_on(
      [](GU_Detail &g, double f) {
        box(g, 0, -0.5 + 0.01 * (f - 1), 0, 1.0, 0, 0.02 * f),
            whole(g, GA_ATTRIB_DETAIL, "collidertype", 2);
      },
      &words);
  CHECK(called > 0 && words.find("called rigid but bends") != std::string::npos, "%g %s", called,
        words.c_str());
  height_on([](GU_Detail &g,
               double f) { box(g, 0, -0.5, 0, 1.0), f > 3 ? box(g, 3, 0, 0, 0.2) : void(); },
            &words);
  CHECK(words.find("changes its number of points") != std::string::npos, "%s", words.c_str());
  whole_world();
}

OZ_CASE(friction_by_attribute_and_forces_by_name) {
  fresh_world();
  auto slide = [](double friction) {
    Make shape([](GU_Detail &g, double) { box(g, 0, 0.13, 0, 0.2); });
    Make under([friction](GU_Detail &g, double) {
      box(g, 0, -0.5, 0, 1.0);
      number(g, GA_ATTRIB_PRIMITIVE, "friction", friction);
      GA_RWHandleS name(g.addStringTuple(GA_ATTRIB_PRIMITIVE, "name", 1));
      for (GA_Offset o = 0; o < 6; ++o) name.set(o, "my/plate");
    });
    SOP_Node *source = node("ooze::source::1.0", {&shape}),
             *solver = coarse(node("ooze::solver::1.0", {source, &under}), 4);
    source->set("particlesep", D);
    preset(source, "dough");
    source->set("velocity", 1, 0);
    const GU_Detail *g = cook(solver, 8);
    CHECK(g != nullptr, "%s", said(solver).c_str());
    const GA_Attribute *force = g->findAttribute(GA_ATTRIB_DETAIL, "force_my_plate"),
                       *torque = g->findAttribute(GA_ATTRIB_DETAIL, "torque_my_plate");
    CHECK(force && torque && g->findAttribute(GA_ATTRIB_DETAIL, "pivot_my_plate"));
    // 64 particles of 1200 kg/m^3 and 0.05 m stand on it
    double weight = 64 * 1200 * D * D * D * 9.81;
    CHECK_NEAR(force->number<double>(0, 1), -weight, 0.6 * weight,
               "its weight, on average over a frame in which it may still bounce");
    return mean(g, "P", 0);
  };
  double free = slide(0), held = slide(1);
  CHECK(free > held + 0.05, "%g and %g", free, held);
  whole_world();
}

// A slab of dough on a collider, after some frames.
struct Slab {
  Make shape, under;
  SOP_Node *source, *solver;
  Slab(Make::Function wall, int boundary, double size = 0.2, double y = 0.13)
      : shape([size, y](GU_Detail &g, double) { box(g, 0, y, 0, size); }), under(wall) {
    source = node("ooze::source::1.0", {&shape});
    source->set("particlesep", D);
    preset(source, "dough");
    solver = coarse(node("ooze::solver::1.0", {source, &under}), 4);
    solver->set("boundary", boundary);
  }
  ~Slab() {
    delete solver;
    delete source;
  }
  const GU_Detail *at(int frame) {
    const GU_Detail *g = cook(solver, frame);
    CHECK(g != nullptr, "%s", said(solver).c_str());
    return g;
  }
};

static double lowest(const GU_Detail *g) {
  double low = 1e9;
  for (GA_Offset o : g->order) low = std::fmin(low, (double)g->getPos3(o)[1]);
  return low;
}

static double force_on(const GU_Detail *g, const char *name, int k) {
  const GA_Attribute *a =
      g->findAttribute(GA_ATTRIB_DETAIL, (std::string("force_") + name).c_str());
  CHECK(a != nullptr, "no force on %s", name);
  return a->number<double>(0, k);
}

OZ_CASE(vdbs_move_by_velocity_grids_and_by_their_points_v) {
  fresh_world();
  auto ball = [](GU_Detail &g, double x = 0) {
    grids::sphere(g, "surface", 2.0f, 0.1f, float(x), -2.0f, 0);
  };
  auto speed = [&](Make::Function f, std::string *words = nullptr) {
    Slab s(f, OOZE_BOUNDARY_SDF);
    const GU_Detail *g = s.at(12); // when its swing is over
    if (words) *words = said(s.solver);
    return mean(g, "v", 0);
  };
  CHECK_NEAR(speed([&](GU_Detail &g, double) { ball(g); }), 0, 0.05, "it stands still");
  CHECK_NEAR(speed([&](GU_Detail &g, double f) {
               ball(g, f / 48), grids::flow(g, "v", 0.5f, 0, 0, 0, 0);
             }),
             0.5, 0.05, "carried along: friction 1");
  CHECK_NEAR(speed([&](GU_Detail &g, double f) {
               ball(g, f / 48), grids::flow(g, "surfacevel", 0.5f, 0, 0, 0, 0),
                   grids::flow(g, "v", -3, 0, 0, 0, 0);
             }),
             0.5, 0.05, "its own velocities go before others");
  // a turn about z at 0.25 rad/s moves the top, 2 m above the centre, at -0.5 m/s
  std::string words;
  CHECK_NEAR(
      speed([&](GU_Detail &g, double) { ball(g), grids::flow(g, "vel", 0, 0, 0.25f, -2.0f, 0); },
            &words),
      -0.5, 0.06, "carried round");
  CHECK(words.empty(), "%s", words.c_str());
  CHECK_NEAR(speed([&](GU_Detail &g, double f) {
               ball(g, f / 48);
               GA_Attribute *v = g.addFloatTuple(GA_ATTRIB_POINT, "v", 3);
               v->put(0, 0, 0.5);
             }),
             0.5, 0.15, "by its point's v");
  speed([&](GU_Detail &g, double) { ball(g), grids::flow(g, "v", 0, 0, 0, 0, 2.0f); }, &words);
  CHECK(words.find("bend it by") != std::string::npos, "%s", words.c_str());
  speed([&](GU_Detail &g, double) { ball(g), grids::native_sphere(g, "vel.x", 0.3f, 0.1f, 0); },
        &words);
  CHECK(words.find("vel.x is a component of vectors") != std::string::npos, "%s", words.c_str());
  whole_world();
}

// Open polygons of a square sheet at y = 0, of n by n quads. x is stretched by `stretch` about the
// middle.
static void sheet(GU_Detail &g, int n, double size, double y, double stretch = 1) {
  GA_Offset start = g.appendPointBlock((n + 1) * (n + 1));
  std::vector<int> quads;
  for (int i = 0; i <= n; ++i)
    for (int k = 0; k <= n; ++k) {
      g.setPos3(start + i * (n + 1) + k, UT_Vector3(float(stretch * size * (double(i) / n - 0.5)),
                                                    float(y), float(size * (double(k) / n - 0.5))));
      int a = i * (n + 1) + k;
      if (i < n && k < n) quads.insert(quads.end(), {a, a + 1, a + n + 2, a + n + 1});
    }
  GEO_PolyCounts counts;
  counts.append(4, n * n);
  GU_PrimPoly::buildBlock(&g, start, (n + 1) * (n + 1), counts, quads.data());
}

OZ_CASE(a_sheet_of_boundary_particles_holds_the_fluid) {
  fresh_world();
  for (int by_attribute = 0; by_attribute < 2; ++by_attribute) {
    Slab s(
        [&](GU_Detail &g, double) {
          sheet(g, 4, 0.6, 0);
          if (by_attribute) whole(g, GA_ATTRIB_PRIMITIVE, "boundary", 1);
        },
        by_attribute ? OOZE_BOUNDARY_SDF : OOZE_BOUNDARY_PARTICLES);
    s.solver->set("outmass", 1);
    const GU_Detail *g = s.at(14);
    CHECK_NEAR(lowest(g), 1.1 * D, 0.5 * D, "a little more than one separation off the sheet");
    double weight = 0;
    for (GA_Offset o : g->order)
      weight += 9.81 * g->findPointAttribute("mass")->number<double>(o, 0);
    double force = 0; // it still swings a little
    for (int f = 14; f < 20; ++f) force += force_on(s.at(f), "collider0", 1) / 6;
    CHECK_NEAR(force / weight, -1, 0.1, "the sheet carries the fluid");
    CHECK(g->findAttribute(GA_ATTRIB_DETAIL, "torque_collider0") &&
          g->findAttribute(GA_ATTRIB_DETAIL, "pivot_collider0"));
    CHECK(s.solver->messages.empty(), "%s", said(s.solver).c_str());
  }
  // closed polygons are layers of points behind the surface, and move with it
  Slab rises([](GU_Detail &g, double f) { box(g, 0, -0.3 + 0.01 * (f - 1), 0, 0.6); },
             OOZE_BOUNDARY_PARTICLES);
  CHECK_NEAR(lowest(rises.at(8)), 0.07 + 0.5 * D, 0.5 * D, "on top of it");
  whole_world();
}

OZ_CASE(friction_may_differ_from_point_to_point) {
  fresh_world();
  for (int boundary = 0; boundary < 2; ++boundary) {
    auto speed = [&](double z, double *other) { // of the drops over z < 0 and z > 0
      Slab s(
          [&](GU_Detail &g, double) {
            sheet(g, 8, 1.6, 0);
            GA_Attribute *f = g.addFloatTuple(GA_ATTRIB_POINT, "friction", 1);
            for (GA_Offset o : g.order) f->put(o, 0, g.getPos3(o)[2] < -0.1f ? 0.0 : 1.0);
          },
          boundary);
      s.shape.change([&](GU_Detail &g, double) {
        box(g, 0, 0.1 + 0.06, -z, 0.2), box(g, 0, 0.1 + 0.06, z, 0.2);
      });
      s.solver->set("gravity", 2.0, 0);
      const GU_Detail *g = s.at(7);
      CHECK(s.solver->messages.empty(), "%s", said(s.solver).c_str());
      double sum[2] = {0, 0}, n[2] = {0, 0};
      for (GA_Offset o : g->order) {
        int right = g->getPos3(o)[2] > 0;
        if (g->getPos3(o)[1] > 2 * D) continue; // held fluid leans: the lowest layer tells
        sum[right] += g->findPointAttribute("v")->number<double>(o, 0), n[right] += 1;
      }
      CHECK(n[0] > 4 && n[1] > 4);
      *other = sum[1] / n[1];
      return sum[0] / n[0];
    };
    double held, slides = speed(0.5, &held);
    CHECK_NEAR(slides, 2.0 * 0.25, 0.1, "2 m/s^2 for six frames");
    CHECK(held < 0.4 * slides, "%g and %g m/s", held, slides);
  }
  whole_world();
}

OZ_CASE(every_vertex_of_a_bending_mesh_carries_the_fluid_its_own_way) {
  fresh_world();
  auto spread = [](int boundary) { // mean of v.x on the right minus that on the left
    Slab s([](GU_Detail &g, double f) { sheet(g, 6, 0.8, 0, 1 + 0.02 * f); }, boundary, 0.4, 0.13);
    s.source->set("velocity", 0, 0);
    s.shape.change(
        [](GU_Detail &g, double) { box(g, -0.25, 0.1, 0, 0.1), box(g, 0.25, 0.1, 0, 0.1); });
    const GU_Detail *g = s.at(10);
    double sum[2] = {0, 0}, n[2] = {0, 0};
    for (GA_Offset o : g->order) {
      int right = g->getPos3(o)[0] > 0;
      sum[right] += g->findPointAttribute("v")->number<double>(o, 0);
      n[right] += 1;
    }
    CHECK(n[0] > 3 && n[1] > 3);
    CHECK(lowest(g) > 0, "%g", lowest(g));
    return sum[1] / n[1] - sum[0] / n[0];
  };
  // 0.02 a frame at 24 frames a second: 0.48/s times 0.5 m between the two
  CHECK_NEAR(spread(OOZE_BOUNDARY_PARTICLES), 0.24, 0.08, "each half goes with the sheet below it");
  CHECK_NEAR(spread(OOZE_BOUNDARY_SDF), 0, 0.06, "the best rigid motion stands still");
  whole_world();
}

// Two boxes, each in a packed primitive: one rises, one turns.
static void pair(GU_Detail &g, double f) {
  static const auto inside = [] {
    auto d = std::make_shared<GU_Detail>();
    box(*d, 0, 0, 0, 1);
    return d;
  }();
  double c = std::cos(0.1 * f), s = std::sin(0.1 * f);
  GU_PrimPacked::build(g, inside,
                       {0.3, 0, 0, 0, 0.3, 0, 0, 0, 0.3, -0.3, -0.15 + 0.01 * (f - 1), 0});
  GU_PrimPacked::build(g, inside,
                       {0.5 * c, 0, 0.5 * s, 0, 0.3, 0, -0.5 * s, 0, 0.5 * c, 0.3, -0.15, 0});
  GA_RWHandleS name(g.addStringTuple(GA_ATTRIB_PRIMITIVE, "name", 1));
  name.set(0, "lift");
  name.set(1, "turn/table");
}

OZ_CASE(packed_primitives_are_rigid_colliders_of_their_own) {
  fresh_world();
  Slab s(pair, OOZE_BOUNDARY_SDF);
  s.source->set("secondviscosity", 0.0); // one that does not bounce
  s.shape.change(
      [](GU_Detail &g, double) { box(g, -0.3, 0.12, 0, 0.2), box(g, 0.3, 0.12, 0, 0.2); });
  const GU_Detail *g = s.at(8);
  CHECK(s.solver->messages.empty(), "%s", said(s.solver).c_str());
  double low[2] = {1e9, 1e9}, turn = 0, weight = 64 * 1200 * D * D * D * 9.81;
  for (GA_Offset o : g->order) {
    UT_Vector3 p = g->getPos3(o);
    low[p[0] > 0] = std::fmin(low[p[0] > 0], (double)p[1]);
    if (p[0] > 0)
      turn += (p[0] - 0.3) * g->findPointAttribute("v")->number<double>(o, 2) -
              p[2] * g->findPointAttribute("v")->number<double>(o, 0);
  }
  CHECK_NEAR(low[0], 0.07 + 0.02, 0.03, "lifted");
  CHECK_NEAR(low[1], 0.02, 0.03, "not lifted");
  CHECK(turn > 0.01, "carried round: %g", turn);
  CHECK_NEAR(force_on(g, "lift", 1), -weight, 0.6 * weight, "half of it each");
  CHECK_NEAR(force_on(g, "turn_table", 1), -weight, 0.6 * weight, "half of it each");
  CHECK(g->findAttribute(GA_ATTRIB_DETAIL, "torque_lift") &&
        g->findAttribute(GA_ATTRIB_DETAIL, "pivot_turn_table"));
  CHECK_NEAR(g->findAttribute(GA_ATTRIB_DETAIL, "pivot_lift")->number<double>(0, 1), -0.15 + 0.07,
             1e-5, "its middle");
  // another matrix is another input
  uint64_t was = bits(g);
  s.under.change([](GU_Detail &d, double f) { pair(d, 2 * f); });
  CHECK(bits(s.at(8)) != was);
  s.under.change(pair);
  CHECK(bits(s.at(8)) == was);
  // one step alone knows v and w of the packed points
  GU_Detail state;
  state.replaceWith(*s.at(8));
  Make now([&](GU_Detail &d, double) { d.replaceWith(state); }),
      still([](GU_Detail &d, double) { pair(d, 8); });
  auto stepped = [&](double v, double w) {
    Make under([&](GU_Detail &d, double) {
      pair(d, 8);
      d.addFloatTuple(GA_ATTRIB_POINT, "v", 3)->put(0, 1, v);
      d.addFloatTuple(GA_ATTRIB_POINT, "w", 3)->put(1, 1, w);
    });
    SOP_Node *step = coarse(node("ooze::step::1.0", {&now, &under}), 4);
    const GU_Detail *out = cook(step, 9);
    CHECK(out != nullptr, "%s", said(step).c_str());
    double f = force_on(out, "lift", 1);
    delete step;
    return f;
  };
  const double rising = stepped(1, 0), still_there = stepped(0, 0);
  CHECK(rising < still_there - 0.2 * weight, "a rise at 1 m/s pushes: %g against %g N, weight %g",
        rising, still_there, weight);
  whole_world();
}

OZ_CASE(boundary_particles_do_not_depend_on_how_a_frame_was_reached) {
  fresh_world();
  auto wall = [](GU_Detail &g, double f) {
    sheet(g, 4, 0.6, 0, 1 + 0.02 * f);
    box(g, 0.1, 0.03 * f - 0.4, 0.05, 0.3);
    GA_RWHandleS name(g.addStringTuple(GA_ATTRIB_PRIMITIVE, "name", 1));
    for (GA_Offset o = 0; o < 16; ++o) name.set(o, "sheet");
    for (GA_Offset o = 16; o < 22; ++o) name.set(o, "box");
    grids::sphere(g, "ball", 0.2f, 0.05f, -0.2f, 0.02f * float(f) - 0.2f, 0);
    grids::flow(g, "v", 0, 0.48f, 0, 0, 0);
  };
  Slab straight(wall, OOZE_BOUNDARY_PARTICLES), jumpy(wall, OOZE_BOUNDARY_PARTICLES);
  std::map<int, uint64_t> play;
  for (int f = 1; f <= 7; ++f) play[f] = bits(straight.at(f));
  jumpy.solver->set("cachemem", 0);
  for (int f : {7, 3, 6, 2}) CHECK(bits(jumpy.at(f)) == play[f], "frame %d", f);
  whole_world();
}
OZ_TEST_MAIN()
