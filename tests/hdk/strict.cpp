// The stand-in breaks where Houdini would, and nodes cook on several threads at once.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "kit.h"
using namespace kit;

// The breaches that f commits; the world is whole again afterwards.
template <class F> static int breaches(F f) {
  fresh_world();
  f();
  int found = world().failures;
  world().failures = 0;
  return found;
}

// A node that breaks a rule.
class Wrong : public SOP_Node {
public:
  using Act = std::function<void(Wrong &, OP_Context &)>;
  Wrong(OP_Operator *op, OP_Node *in, Act a) : SOP_Node(nullptr, "wrong", op), act(a) {
    wires = {in};
  }
  OP_ERROR cookMySop(OP_Context &context) override {
    act(*this, context);
    return error();
  }
  Act act;
};

static int acted(Wrong::Act act) {
  return breaches([&] {
    Make in([](GU_Detail &g, double) { block(g, 2, 0, 0, 0, D); });
    Wrong wrong(table().find("ooze::solver::1.0"), &in, act);
    cook(&wrong, 1);
  });
}

OZ_CASE(parameters_have_one_type) {
  CHECK_EQ(acted([](Wrong &n, OP_Context &c) { n.evalInt("substeps", 0, c.getTime()); }), 0);
  CHECK_EQ(acted([](Wrong &n, OP_Context &c) { n.evalFloat("substeps", 0, c.getTime()); }), 1);
  CHECK_EQ(acted([](Wrong &n, OP_Context &c) { n.evalInt("timescale", 0, c.getTime()); }), 1);
  CHECK_EQ(acted([](Wrong &n, OP_Context &c) { n.evalFloat("nothing", 0, c.getTime()); }), 1);
  SIM_Options options;
  options.values["x"] = {1};
  options.types["x"] = "integer";
  CHECK_EQ(breaches([&] { options.getOptionI("x"); }), 0);
  CHECK_EQ(breaches([&] { options.getOptionF("x"); }), 1);
  CHECK_EQ(breaches([&] { options.getOptionI("y"); }), 1);
}

OZ_CASE(locks_match_and_contexts_are_copied) {
  CHECK_EQ(acted([](Wrong &n, OP_Context &c) {
             OP_AutoLockInputs lock(&n);
             OP_Context then(c);
             then.setTime(c.getTime() + 1);
             lock.lockInput(0, then);
             n.inputGeo(0, then);
           }),
           0);
  CHECK_EQ(acted([](Wrong &n, OP_Context &c) {
             OP_Context bare(c.getTime());
             OP_AutoLockInputs lock(&n);
             lock.lockInput(0, bare);
           }),
           1);
  CHECK_EQ(acted([](Wrong &n, OP_Context &) { n.unlockInput(0); }), 1);
  CHECK_EQ(acted([](Wrong &n, OP_Context &c) { n.lockInput(0, c); }), 1); // still locked at the end
  CHECK_EQ(acted([](Wrong &n, OP_Context &c) { n.inputGeo(0, c); }), 1);
}

OZ_CASE(what_is_gone_or_empty_is_not_read) {
  const char *script =
      "{ name parameters parm { name \"x\" label \"X\" type float default { \"1\" } } }";
  PRM_Template *list = nullptr;
  CHECK_EQ(breaches([&] {
             PRM_TemplateBuilder builder("gone", script);
             list = builder.templates();
             SIM_DopDescription(true, "a", "A", "a", "a", list);
           }),
           0);
  CHECK_EQ(breaches([&] { SIM_DopDescription(true, "a", "A", "a", "a", list); }), 1);
  CHECK_EQ(breaches([] { GU_DetailHandle().gdp(); }), 1);
  CHECK_EQ(breaches([] {
             GU_Detail g;
             GA_ROHandleV3(g.getP()).get(0);
           }),
           1);
  CHECK_EQ(breaches([] {
             GU_Detail g;
             block(g, 2, 0, 0, 0, D);
             standin::check(g, "before");
             g.setPos3(0, UT_Vector3(1, 2, 3));
             standin::check(g, "after");
           }),
           1);
}

// Each thread has a network of its own, and the same bits as one alone.
OZ_CASE(networks_cook_on_several_threads_at_once) {
  fresh_world();
  auto play = [](uint64_t *out) {
    Make shape([](GU_Detail &g, double) { box(g, 0, 0.2, 0, 0.2); });
    Make wall([](GU_Detail &g, double f) { box(g, 0.01 * f, 0, 0, 0.2); });
    SOP_Node *source = node("ooze::source::1.0", {&shape});
    SOP_Node *solver = node("ooze::solver::1.0", {source, &wall});
    SOP_Node *surface = node("ooze::surface::1.0", {solver});
    source->set("particlesep", D);
    solver->set("particlesep", D);
    solver->set("substeps", 2);
    for (int f = 1; f <= 5; ++f) *out = cook(surface, f) ? ooze_hash(out, 8, bits(solver->gdp)) : 0;
    delete surface;
    delete solver;
    delete source;
  };
  uint64_t alone = 0, together[4] = {0, 0, 0, 0};
  play(&alone);
  CHECK(alone != 0);
  world().threads = true;
  std::vector<std::thread> threads;
  for (auto &t : together) threads.emplace_back(play, &t);
  for (auto &t : threads) t.join();
  world().threads = false;
  for (auto t : together) CHECK(t == alone);
  whole_world();
}
OZ_TEST_MAIN()
