// Every model through the nodes: it moves fluid, its state is in the geometry, its parameters
// arrive, and a missing feature is told. SPDX-License-Identifier: Apache-2.0
#include "kit.h"
using namespace kit;

static const char *const NAMES[OOZE_MODEL_COUNT] = {
#define OZ_MODEL(number, name) #name,
#include "models/models.def"
#undef OZ_MODEL
};

struct Scene {
  Make shape, wall;
  SOP_Node *source;
  Scene()
      : shape([](GU_Detail &g, double) { box(g, 0, 0.18, 0, 0.2); }),
        wall([](GU_Detail &g, double f) { box(g, 0.01 * f, -0.15, 0, 0.4, 0.02 * f); }) {
    source = node("ooze::source::1.0", {&shape});
    source->set("particlesep", D);
    preset(source, "slime");
  }
  SOP_Node *make(int model) {
    SOP_Node *n = node("ooze::solver::1.0", {source, &wall});
    n->set("particlesep", D);
    n->set("substeps", 4);
    n->set("veliterations", 3);
    n->set("positerations", 3);
    n->set("cauchyiterations", 10);
    n->set("model", model);
    return n;
  }
};

static size_t links_of(const GU_Detail *g) {
  size_t n = 0;
  for (auto &p : g->prims) n += p->type == GEO_PRIMPOLY && p->points.size() == 2;
  return n;
}

OZ_CASE(every_model_plays_the_same_however_a_frame_is_reached) {
  fresh_world();
  Scene scene;
  uint64_t last[OOZE_MODEL_COUNT];
  for (int m = 0; m < OOZE_MODEL_COUNT; ++m) {
    SOP_Node *straight = scene.make(m), *jumpy = scene.make(m), *resumed = scene.make(m);
    std::map<int, uint64_t> play;
    GU_Detail file;
    for (int f = 1; f <= 6; ++f) {
      const GU_Detail *g = cook(straight, f);
      CHECK(g != nullptr, "%s: %s", NAMES[m], said(straight).c_str());
      play[f] = bits(g);
      if (f == 3) file.replaceWith(*g);
    }
    last[m] = play[6];
    const GU_Detail *g = straight->gdp;
    CHECK(straight->messages.empty(), "%s: %s", NAMES[m], said(straight).c_str());
    CHECK_EQ(g->getNumPoints(), 64);
    double t = 5.0 / 24;
    CHECK(mean(g, "P", 1) < 0.17 && mean(g, "P", 1) > 0.18 - 0.5 * 9.81 * t * t - 0.02,
          "%s: it fell to %g", NAMES[m], mean(g, "P", 1));
    for (GA_Offset o : g->order)
      CHECK(g->getPos3(o)[1] > 0.02f, "%s: through the wall at %g", NAMES[m],
            double(g->getPos3(o)[1]));
    // links are constraint geometry: out, and in again below
    CHECK((links_of(g) > 0) == (m == OOZE_MODEL_LINKS || m == OOZE_MODEL_SPRINGS),
          "%s has %zu links", NAMES[m], links_of(g));
    jumpy->set("cachemem", 0);
    for (int f : {6, 3, 5})
      CHECK(cook(jumpy, f) && bits(jumpy->gdp) == play[f], "%s, frame %d: %s", NAMES[m], f,
            first_difference(jumpy->gdp, cook(straight, f)).c_str());
    Make read([&](GU_Detail &d, double) { d.replaceWith(file); }, "file");
    resumed->wires.push_back(&read);
    resumed->set("startframe", 3);
    CHECK(cook(resumed, 6) && bits(resumed->gdp) == play[6], "%s from a file: %s", NAMES[m],
          first_difference(resumed->gdp, cook(straight, 6)).c_str());
    for (int k = 0; k < m; ++k) CHECK(last[k] != last[m], "%s is %s", NAMES[m], NAMES[k]);
    for (SOP_Node *n : {straight, jumpy, resumed}) delete n;
  }
  whole_world();
}

// A parameter of a model that the node shows changes the result in that model, and in no other.
OZ_CASE(parameters_of_a_model_count_in_it_alone) {
  fresh_world();
  Scene scene;
  struct {
    int model;
    const char *token;
    double value;
  } const cases[] = {{OOZE_MODEL_LINKS, "linksbetahot", 1.5},
                     {OOZE_MODEL_BLEND, "blendalpha", 0.2},
                     {OOZE_MODEL_SPRINGS, "springselasticity", 0.05},
                     {OOZE_MODEL_CAUCHY, "cauchyyoung", 100},
                     {OOZE_MODEL_CONFORMATION, "zeroenergy", 0.1}};
  auto play = [&](int model, const char *token, double value) {
    SOP_Node *n = scene.make(model);
    if (token) n->set(token, value);
    const GU_Detail *g = cook(n, 5);
    CHECK(g != nullptr, "%s", said(n).c_str());
    uint64_t b = bits(g);
    delete n;
    return b;
  };
  uint64_t plain[OOZE_MODEL_COUNT];
  for (int m = 0; m < OOZE_MODEL_COUNT; ++m) plain[m] = play(m, nullptr, 0);
  for (auto &c : cases) {
    CHECK(play(c.model, c.token, c.value) != plain[c.model], "%s has no effect in %s", c.token,
          NAMES[c.model]);
    int other = (c.model + 1) % OOZE_MODEL_COUNT;
    CHECK(play(other, c.token, c.value) == plain[other], "%s has an effect in %s", c.token,
          NAMES[other]);
  }
  whole_world();
}

// The host's links hold in every model that has any, and in none they get lost.
OZ_CASE(held_links_go_through_every_model) {
  fresh_world();
  Scene scene;
  GU_Detail linked;
  CHECK(cook(scene.source, 1) != nullptr);
  linked.replaceWith(*scene.source->gdp);
  GEO_PolyCounts counts;
  counts.append(2, 2);
  const int ends[4] = {0, 1, 5, 9};
  GU_PrimPoly::buildBlock(&linked, 0, linked.getNumPointOffsets(), counts, ends, false);
  number(linked, GA_ATTRIB_PRIMITIVE, "restlength", D);
  number(linked, GA_ATTRIB_PRIMITIVE, "linkspare", 0);
  whole(linked, GA_ATTRIB_PRIMITIVE, "linkkind", OOZE_LINK_HELD);
  for (int m = 0; m < OOZE_MODEL_COUNT; ++m) {
    Make initial([&](GU_Detail &g, double) { g.replaceWith(linked); });
    SOP_Node *n = scene.make(m);
    n->wires.push_back(&initial);
    const GU_Detail *g = cook(n, 3);
    CHECK(g != nullptr, "%s: %s", NAMES[m], said(n).c_str());
    size_t held = 0;
    const GA_Attribute *kind = g->findAttribute(GA_ATTRIB_PRIMITIVE, "linkkind");
    CHECK(kind != nullptr, "%s lost them", NAMES[m]);
    for (size_t i = 0; i < g->prims.size(); ++i)
      held += kind->number<int>(GA_Offset(i), 0) == OOZE_LINK_HELD;
    CHECK(held == 2, "%s kept %zu of them", NAMES[m], held);
    delete n;
  }
  whole_world();
}

OZ_CASE(what_a_model_does_not_have_is_said) {
  fresh_world();
  Scene scene;
  SOP_Node *n = scene.make(OOZE_MODEL_BLEND);
  n->set("boundary", OOZE_BOUNDARY_PARTICLES);
  const GU_Detail *g = cook(n, 5);
  CHECK(g != nullptr &&
            says(n, "knows no boundary particles: collider collider0 is met by contact"),
        "%s", said(n).c_str());
  for (GA_Offset o : g->order) CHECK(g->getPos3(o)[1] > 0.02f, "through the wall");
  delete n;
  for (int m : {OOZE_MODEL_BLEND, OOZE_MODEL_CAUCHY}) { // bodies are an error
    SOP_Node *solid = scene.make(m), *source = node("ooze::source::1.0", {&scene.shape});
    source->set("particlesep", D);
    source->set("body", 1);
    solid->wires[0] = source;
    CHECK(cook(solid, 2) == nullptr && says(solid, "bod"), "%s: %s", NAMES[m], said(solid).c_str());
    delete solid;
    delete source;
  }
  whole_world();
}
OZ_TEST_MAIN()
