// Geometry through the nodes: materials by point, attributes that are not ours, holes, colliders
// of every kind, surfaces, dynamics. SPDX-License-Identifier: Apache-2.0
#include "kit.h"
using namespace kit;

OZ_CASE(the_plugin_registers_its_nodes_and_checks_its_houdini) {
  fresh_world();
  for (const char *type : {"ooze::step::1.0", "ooze::solver::1.0", "ooze::source::1.0",
                           "ooze::collider::1.0", "ooze::loads::1.0", "ooze::surface::1.0"}) {
    OP_Operator *op = table().find(type);
    CHECK(op != nullptr, "%s", type);
    CHECK(op->icon.size() > 4 && op->inputlabels[0] != nullptr);
  }
  initializeSIM(nullptr);
  CHECK(standin::factories().count("gasooze") == 1);
  OP_OperatorTable none;
  world().api_version = HDK_API_VERSION + 1; // another build, whose classes may have changed
  newSopOperator(&none);
  CHECK(none.operators.empty());
  CHECK(world().log.find("not loaded: built for Houdini") != std::string::npos, "%s",
        world().log.c_str());
  whole_world();
}

// Sorted, with holes, with a material for each point: every value comes out at the point that it
// went in at.
OZ_CASE(attributes_stay_with_their_points) {
  fresh_world();
  Make in([](GU_Detail &g, double) {
    block(g, 4, 0, 0, 0, D);
    whole(g, GA_ATTRIB_POINT, "id", 0);
    GA_Attribute *id = g.findPointAttribute("id");
    number(g, GA_ATTRIB_POINT, "viscosity", 0);
    number(g, GA_ATTRIB_POINT, "temperature", 0);
    number(g, GA_ATTRIB_POINT, "mine", 0);
    g.addFloatTuple(GA_ATTRIB_POINT, "uv", 3);
    g.addStringTuple(GA_ATTRIB_POINT, "label", 1);
    for (GA_Offset o = 0; o < 64; ++o) {
      id->put(o, 0, int((o * 37) % 64 + 10)); // neither ascending nor from 0
      g.findPointAttribute("viscosity")->put(o, 0, 1.0 + double(o));
      g.findPointAttribute("temperature")->put(o, 0, 300.0 + double(o));
      g.findPointAttribute("mine")->put(o, 0, 0.5 * double(o));
      g.findPointAttribute("uv")->put(o, 1, 0.1 * double(o));
      GA_RWHandleS(g.findPointAttribute("label"))
          .set(o, UT_StringHolder(std::to_string(o).c_str()));
    }
    auto gone = g.createDetachedPointGroup();
    for (GA_Offset o : {3, 4, 40}) gone->addOffset(o);
    g.destroyPointOffsets(GA_Range(*gone));
  });
  SOP_Node *step = coarse(node("ooze::step::1.0", {&in}));
  step->set("gravity", 0, 1);
  const GU_Detail *out = cook(step, 2);
  CHECK(out != nullptr, "%s", said(step).c_str());
  CHECK_EQ(out->getNumPoints(), 61);
  for (GA_Offset o : out->order) {
    CHECK_EQ(out->findPointAttribute("id")->number<int>(o, 0), (o * 37) % 64 + 10);
    CHECK_NEAR(out->findPointAttribute("viscosity")->number<double>(o, 0), 1.0 + double(o), 0,
               "as written");
    CHECK_NEAR(out->findPointAttribute("temperature")->number<double>(o, 0), 300.0 + double(o), 0.5,
               "conducts at most a little");
    CHECK_NEAR(out->findPointAttribute("mine")->number<double>(o, 0), 0.5 * double(o), 0,
               "not ours");
    CHECK(GA_ROHandleS(out->findPointAttribute("label")).get(o) ==
          UT_StringHolder(std::to_string(o).c_str()));
    CHECK_NEAR((double)out->getPos3(o)[0], D * double(o % 4), 0.2 * D, "hardly moves: no gravity");
  }
  // the same particles in ascending order have the same bits
  GU_Detail sorted;
  std::map<int, GA_Offset> by;
  const GU_Detail *from = cook(&in, 2);
  for (GA_Offset o : from->order) by[from->findPointAttribute("id")->number<int>(o, 0)] = o;
  sorted.appendPointBlock(61);
  for (const char *n : {"id"}) sorted.addIntTuple(GA_ATTRIB_POINT, n, 1);
  for (const char *n : {"viscosity", "temperature"}) sorted.addFloatTuple(GA_ATTRIB_POINT, n, 1);
  GA_Offset at = 0;
  for (auto &b : by) {
    sorted.setPos3(at, from->getPos3(b.second));
    for (const char *n : {"id", "viscosity", "temperature"})
      sorted.findPointAttribute(n)->put(at, 0,
                                        from->findPointAttribute(n)->number<double>(b.second, 0));
    ++at;
  }
  Make tidy([&](GU_Detail &g, double) { g.replaceWith(sorted); });
  SOP_Node *other = coarse(node("ooze::step::1.0", {&tidy}));
  other->set("gravity", 0, 1);
  const GU_Detail *second = cook(other, 2);
  CHECK(second != nullptr);
  at = 0;
  for (auto &b : by) {
    for (int k = 0; k < 3; ++k)
      CHECK(second->findPointAttribute("v")->number<float>(at, k) ==
                out->findPointAttribute("v")->number<float>(b.second, k),
            "id %d", b.first);
    ++at;
  }
  whole_world();
}

// Every parameter of a material arrives from the source's dialog, and from a point attribute of its
// name.
OZ_CASE(every_parameter_of_a_material_reaches_the_particles) {
  fresh_world();
  uint32_t source_node = 0, tried = 0;
  ooze_node info;
  ooze_node_default(&info);
  CHECK_EQ(ooze_node_find("source", &source_node), OOZE_OK);
  CHECK_EQ(ooze_node_get(source_node, &info), OOZE_OK);
  for (uint32_t i = 0; i < info.parm_count; ++i) {
    ooze_node_parm p;
    ooze_node_parm_default(&p);
    CHECK_EQ(ooze_node_parm_get(source_node, i, &p), OOZE_OK);
    if (std::strcmp(p.group, "material")) continue;
    ooze_material expected;
    ooze_material_default(&expected);
    double value[4] = {float(0.25 * p.minimum + 0.75 * p.soft_maximum), 3, 0.5, 0};
    if (!std::strcmp(p.token, "linksbeta")) value[0] = 1.5; // 0, or 1 to 2
    CHECK_EQ(ooze_schema_store("material", p.field, value, &expected, nullptr), OOZE_OK);
    for (int dialog = 0; dialog < 2; ++dialog) {
      Make points([&](GU_Detail &g, double) {
        block(g, 2, 0, 0, 0, D);
        GA_Attribute *a = g.addFloatTuple(GA_ATTRIB_POINT, p.token, int(p.components));
        for (int o = 0; o < 8; ++o)
          for (int k = 0; k < int(p.components); ++k) a->put(o, k, value[k]);
      });
      Make shape([](GU_Detail &g, double) { box(g, 0, 0, 0, 0.1); });
      SOP_Node *source = node("ooze::source::1.0", {&shape});
      source->set("particlesep", D);
      plain(source);
      for (int k = 0; k < int(p.components) && dialog; ++k) source->set(p.token, value[k], k);
      SOP_Node *step =
          coarse(node("ooze::step::1.0", {dialog ? static_cast<OP_Node *>(source) : &points}), 1);
      const GU_Detail *out = cook(step, 2);
      CHECK(out != nullptr, "%s: %s", p.token, said(step).c_str());
      const GA_Attribute *table = out->findAttribute(GA_ATTRIB_DETAIL, "ooze_materials"),
                         *own = out->findPointAttribute(p.token);
      const bool particles_have_it = !table;
      if (particles_have_it) { // viscosity, ...: each particle has its own
        CHECK(own != nullptr, "%s", p.token);
        CHECK_NEAR(own->number<double>(out->order[0], 0), value[0], 1e-6 * value[0],
                   "the particle's own");
      } else {
        const float *words = reinterpret_cast<const float *>(&expected.density);
        CHECK_EQ(size_t(table->getTupleSize()) * 4 + 4, sizeof expected);
        for (int w = 0; w < table->getTupleSize(); ++w) {
          float word;
          int32 bits_of = table->number<int32>(0, w);
          std::memcpy(&word, &bits_of, 4);
          CHECK(word == words[w], "%s: number %d of the material is %g; expected %g", p.token, w,
                double(word), double(words[w]));
        }
        CHECK_EQ(out->findPointAttribute("material")->number<int>(out->order[0], 0), 1);
      }
      delete step;
      delete source;
    }
    ++tried;
  }
  CHECK(tried > 15);
  whole_world();
}

OZ_CASE(deaths_and_births_keep_the_rest_of_the_points) {
  fresh_world();
  // a kill volume under falling particles, and a continuous source above
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.4, 0, 0.2); });
  Make drain(
      [](GU_Detail &g, double) { box(g, 0, -0.2, 0, 0.6), whole(g, GA_ATTRIB_DETAIL, "kill", 1); });
  SOP_Node *source = node("ooze::source::1.0", {&shape});
  source->set("particlesep", D);
  source->set_text("emission", "continuous");
  source->set("rest", 1);
  source->set("velocity", -2, 1);
  auto make = [&] { return coarse(node("ooze::solver::1.0", {source, &drain})); };
  SOP_Node *solver = make();
  std::map<int, uint64_t> play;
  std::map<int, UT_Vector3> rest;
  int most = 0, deaths = 0;
  for (int f = 1; f <= 10; ++f) {
    const GU_Detail *g = cook(solver, f);
    CHECK(g != nullptr, "%s", said(solver).c_str());
    play[f] = bits(g);
    std::set<int> here;
    for (GA_Offset o : g->order) {
      int id = g->findPointAttribute("id") ? g->findPointAttribute("id")->number<int>(o, 0) : -1;
      if (f == 1) continue; // numbered at the first step
      CHECK(here.insert(id).second, "id %d twice", id);
      UT_Vector3 r(g->findPointAttribute("rest")->number<float>(o, 0),
                   g->findPointAttribute("rest")->number<float>(o, 1),
                   g->findPointAttribute("rest")->number<float>(o, 2));
      if (rest.count(id))
        CHECK(rest[id][0] == r[0] && rest[id][1] == r[1] && rest[id][2] == r[2], "rest of id %d",
              id);
      CHECK(r[1] > 0.29f && r[1] < 0.51f);
      rest[id] = r;
      most = id > most ? id : most;
    }
    for (auto &r : rest) deaths += f == 10 && !here.count(r.first);
  }
  CHECK(most > 100, "%d were born", most);
  CHECK(deaths > 20, "%d died", deaths);
  CHECK(solver->gdp->getNumPointOffsets() >= solver->gdp->getNumPoints());
  check_jumps(make(), {10, 6, 9}, play);
  whole_world();
}

OZ_CASE(vdbs_fogs_and_volumes_are_filled) {
  fresh_world();
  auto count = [](Make::Function f, const char *words = nullptr) {
    Make in(f);
    SOP_Node *source = node("ooze::source::1.0", {&in});
    source->set("particlesep", 0.1);
    const GU_Detail *g = cook(source, 1);
    CHECK(g != nullptr, "%s", said(source).c_str());
    if (words)
      CHECK(says(source, words), "%s: %s", words, said(source).c_str());
    else
      CHECK(source->messages.empty(), "%s", said(source).c_str());
    return double(g->getNumPoints());
  };
  double ball = 4.0 / 3 * M_PI * 0.125 * 1000; // of radius 0.5, in particles of 0.1
  CHECK_NEAR(count([](GU_Detail &g, double) { box(g, 0, 0, 0, 1); }), 1000, 0, "polygons");
  CHECK_NEAR(count([](GU_Detail &g, double) { grids::sphere(g, "surface", 0.5f, 0.05f, 1, 2, 3); }),
             ball, 0.09 * ball, "a lattice in a ball");
  CHECK_NEAR(count([](GU_Detail &g, double) { grids::fog(g, "density", 0.5f, 0.025f); }), ball,
             0.09 * ball, "a lattice in a ball");
  CHECK_NEAR(
      count([](GU_Detail &g, double) { grids::native_sphere(g, "surface", 0.5f, 0.05f, 0); }), ball,
      0.09 * ball, "a lattice in a ball");
  CHECK_NEAR(count([](GU_Detail &g, double) { box(g, 0, 0, 0, 1), box(g, 0, 0, 0, 1); }), 1000, 0,
             "twice the same has no more room");
  CHECK_NEAR(
      count([](GU_Detail &g, double) { box(g, 0, 0, 0, 1), g.prims.pop_back(); }, "open edges"),
      1000, 1000, "a guess");
  CHECK_NEAR(count([](GU_Detail &g, double) { block(g, 3, 0, 0, 0, 1); }, "nothing to fill"), 0, 0,
             "points");
  CHECK_NEAR(count([](GU_Detail &g, double) { box(g, 0, 0, 0, 0.01); }, nullptr), 1, 1,
             "smaller than a particle");
  CHECK_NEAR(count([](GU_Detail &g, double) { grids::vectors(g, "v"); }, "nothing to fill"), 0, 0,
             "vectors");
  whole_world();
}

// The surface of the same particles from the program.
OZ_CASE(surfaces_are_those_of_the_library) {
  fresh_world();
  Make shape([](GU_Detail &g, double) { box(g, 0, 0.3, 0, 0.3); });
  SOP_Node *source = node("ooze::source::1.0", {&shape}),
           *solver = coarse(node("ooze::solver::1.0", {source}));
  source->set("particlesep", D);
  solver->set("useground", 1);
  solver->set("outstress", 1);
  SOP_Node *surface = node("ooze::surface::1.0", {solver});
  surface->set_text("output", "both");
  surface->set("temperature", 1);
  surface->set("stress", 1);
  const GU_Detail *out = cook(surface, 5);
  CHECK(out != nullptr && surface->messages.empty(), "%s", said(surface).c_str());
  auto names = grids::names(*out);
  CHECK(names.size() == 4 && names[0] == "surface" && names[1] == "v" &&
        names[2] == "temperature" && names[3] == "stress");

  const GU_Detail *g = solver->gdp;
  std::vector<float> p, v, t, six, norm;
  for (GA_Offset o : g->order) {
    for (int k = 0; k < 3; ++k)
      p.push_back(g->getP()->number<float>(o, k)),
          v.push_back(g->findPointAttribute("v")->number<float>(o, k));
    for (int k = 0; k < 6; ++k) six.push_back(g->findPointAttribute("stress")->number<float>(o, k));
    t.push_back(g->findPointAttribute("temperature")->number<float>(o, 0));
  }
  norm.resize(t.size());
  ooze_tensor_norms(six.data(), uint32_t(norm.size()), norm.data());
  ooze_surface_desc d;
  ooze_surface_points points;
  ooze_surface *made = nullptr;
  ooze_message why;
  ooze_surface_desc_default(&d);
  ooze_surface_points_default(&points);
  d.separation = float(D);
  points.count = uint32_t(t.size());
  points.positions = p.data();
  points.velocities = v.data();
  const ooze_surface_scalar scalars[2] = {{"temperature", t.data(), 0}, {"stress", norm.data(), 0}};
  points.scalars = scalars;
  points.scalar_count = 2;
  CHECK_EQ(ooze_surface_build(&d, &points, &made, &why), OOZE_OK);
  std::string path = "hdk_surface_test.vdb", difference;
  CHECK_EQ(ooze_surface_write_vdb(made, path.c_str(), nullptr, &why), OOZE_OK);
  CHECK(grids::same(*out, path.c_str(), difference), "%s", difference.c_str());
  std::remove(path.c_str());
  ooze_mesh mesh;
  ooze_mesh_default(&mesh);
  CHECK_EQ(ooze_surface_mesh(made, 0, &mesh, &why), OOZE_OK);
  CHECK_EQ(out->getNumPoints(), mesh.point_count + 4); // each VDB has a point
  size_t faces = 0;
  for (auto &prim : out->prims) faces += prim->type == GEO_PRIMPOLY;
  CHECK_EQ(faces, mesh.triangle_count);
  for (uint32_t i = 0; i < mesh.point_count; ++i)
    CHECK(out->getPos3(out->pointOffset(i + 4))[1] == mesh.positions[3 * i + 1]);
  const std::pair<const char *, GA_TypeInfo> types[] = {
      {"P", GA_TYPE_POINT}, {"N", GA_TYPE_NORMAL}, {"v", GA_TYPE_VECTOR}};
  for (auto &type : types) // so that they go with the surface under a Transform
    CHECK_EQ(out->findPointAttribute(type.first)->getTypeInfo(), type.second);
  ooze_mesh_release(&mesh);
  ooze_surface_destroy(made);
  whole_world();
}

// ---- dynamics ----

OZ_CASE(the_microsolver_goes_on_from_any_copy) {
  fresh_world();
  SIM_Engine engine;
  SIM_Object object;
  auto solver = gas(D);
  CHECK(!solver->solve(engine, &object, 0, 1.0 / 24));
  CHECK(object.messages.size() == 1 && object.messages[0].first == UT_ERROR_ABORT);
  block(*data(object, "Geometry").gdh.gdpNC(), 5, 0, 0.1, 0, D);
  grids::sphere(*data(object, "ColliderGeometry").gdh.gdpNC(), "ball", 0.1f, 0.05f, 0.1f, 0.05f,
                0.1f);
  History history;
  history.record(*solver, object, 6);
  const std::vector<uint64_t> &play = history.play;
  CHECK(play[1] != play[6] && play[0] != play[1]);
  // rewind to frame 2 and simulate again, with the same solver and with a fresh one
  for (int fresh = 0; fresh < 2; ++fresh) {
    if (fresh) solver = gas(D);
    history.rewind(object, 2);
    for (size_t f = 2; f < 6; ++f) {
      CHECK(solver->solve(engine, &object, double(f) / 24.0, 1.0 / 24));
      CHECK(bits(object.data["Geometry"]->gdh.gdp()) == play[f + 1], "step %d", int(f));
    }
  }
  // and on to a surface
  const GU_Detail *last = object.data["Geometry"]->gdh.gdp();
  CHECK(last->findPointAttribute("ispbd") != nullptr);
  Make read([last](GU_Detail &g, double) { g.replaceWith(*last); });
  SOP_Node *surface = node("ooze::surface::1.0", {&read});
  const GU_Detail *vdb = cook(surface, 1);
  CHECK(vdb != nullptr && grids::names(*vdb).size() == 2, "%s", said(surface).c_str());
  // Esc: the geometry is as it was
  uint64_t before = bits(last);
  world().trip = world().polls + 1;
  CHECK(solver->solve(engine, &object, 1, 1.0 / 24));
  CHECK(bits(object.data["Geometry"]->gdh.gdp()) == before);
  whole_world();
}
OZ_CASE(surfaces_carry_what_particles_have) {
  fresh_world();
  Make two([](GU_Detail &g, double) {
    block(g, 6, 0, 0, 0, D);
    GA_Attribute *cd = g.addFloatTuple(GA_ATTRIB_POINT, "Cd", 3),
                 *rest = g.addFloatTuple(GA_ATTRIB_POINT, "rest", 3),
                 *m = g.addIntTuple(GA_ATTRIB_POINT, "material", 1);
    for (GA_Offset o : g.order) {
      const UT_Vector3 p = g.getPos3(o);
      const bool right = p[0] > 2.5 * D;
      cd->put(o, right ? 0 : 2, 1.0);
      m->put(o, 0, right ? 1 : 0);
      for (int k = 0; k < 3; ++k) rest->put(o, k, double(p[k]) + 10);
    }
  });
  SOP_Node *s = node("ooze::surface::1.0", {&two});
  s->set("particlesep", D);
  s->set("velocity", 0);
  s->set("material", 1);
  s->set_text("output", "both");
  CHECK(cook(s, 1) != nullptr && s->messages.empty(), "%s", said(s).c_str());
  const std::vector<std::string> names = grids::names(*s->gdp);
  for (const char *wanted : {"surface", "Cd", "rest", "material", "weight_0", "weight_1"})
    CHECK(std::find(names.begin(), names.end(), wanted) != names.end(), "no grid %s", wanted);
  GA_ROHandleF cd(s->gdp->findPointAttribute("Cd")), rest(s->gdp->findPointAttribute("rest"));
  GA_ROHandleI m(s->gdp->findPointAttribute("material"));
  CHECK(cd.isValid() && rest.isValid() && m.isValid());
  CHECK(s->gdp->findPointAttribute("Cd")->getTypeInfo() == GA_TYPE_COLOR);
  size_t seen = 0;
  for (GA_Index i = GA_Index(names.size()); i < s->gdp->getNumPoints();
       ++i) { // after the grids' own
    const GA_Offset o = s->gdp->pointOffset(i);
    const double x = double(s->gdp->getPos3(o)[0]);
    for (int k = 0; k < 3; ++k)
      CHECK_NEAR(double(rest.get(o, k)), double(s->gdp->getPos3(o)[k]) + 10, 1e-3, "it went along");
    if (std::fabs(x - 2.5 * D) < 1.5 * D) continue; // the seam
    ++seen;
    CHECK_EQ(m.get(o), x > 2.5 * D ? 1 : 0);
    CHECK_NEAR(double(cd.get(o, x > 2.5 * D ? 0 : 2)), 1, 0.05, "the colour of its side");
  }
  CHECK(seen > 50, "%zu", seen);
  whole_world();
}
OZ_CASE(surfaces_are_those_of_the_fluid_or_of_a_group) {
  fresh_world();
  Make two([](GU_Detail &g, double) { // fluid, and a body to the right of it
    block(g, 5, 0, 0, 0, D);
    block(g, 5, 10 * D, 0, 0, D);
    GA_Attribute *body = g.addIntTuple(GA_ATTRIB_POINT, "body", 1);
    GA_PointGroup &low = g.point_groups["low"];
    for (GA_Offset o : g.order) {
      body->put(o, 0, g.getPos3(o)[0] > 8 * float(D) ? 7 : 0);
      if (g.getPos3(o)[1] < 1.5f * float(D)) low.addOffset(o);
    }
  });
  auto ends = [&](const char *of, const char *group, int k) {
    SOP_Node *s = node("ooze::surface::1.0", {&two});
    s->set("particlesep", D);
    s->set("velocity", 0);
    s->set("surfaceof", !std::strcmp(of, "fluid") ? 0 : !std::strcmp(of, "all") ? 1 : 2);
    s->set_text("group", group);
    s->set_text("output", "polygons");
    CHECK(cook(s, 1) != nullptr && s->messages.empty(), "%s", said(s).c_str());
    std::pair<double, double> found(1e9, -1e9);
    for (GA_Offset o : s->gdp->order) {
      const double x = double(s->gdp->getPos3(o)[k]);
      found = {std::fmin(found.first, x), std::fmax(found.second, x)};
    }
    return found;
  };
  CHECK(ends("fluid", "", 0).second < 6 * D && ends("fluid", "", 0).first < 0);
  CHECK(ends("bodies", "", 0).first > 8 * D && ends("bodies", "", 0).second > 14 * D);
  CHECK(ends("all", "", 0).first < 0 && ends("all", "", 0).second > 14 * D);
  CHECK(ends("all", "low", 1).second < 2.5 * D && ends("all", "", 1).second > 4 * D);
  SOP_Node *wrong = node("ooze::surface::1.0", {&two});
  wrong->set("particlesep", D);
  wrong->set_text("group", "high");
  CHECK(cook(wrong, 1) == nullptr && says(wrong, "no group of points high"));
  whole_world();
}
OZ_TEST_MAIN()
