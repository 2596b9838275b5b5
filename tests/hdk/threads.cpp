// Houdini may ask from one thread while another cooks: the Cache Manager, the info window, the
// button Resimulate, copies of a microsolver. SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include "kit.h"
#include "simulation.h"
using namespace kit;

// A second thread that does one thing over and over while the first runs `work`; returns how often.
template <class Other, class Work> static int64_t beside(Other other, Work work) {
  std::atomic<bool> done{false};
  std::atomic<int64_t> rounds{0};
  std::thread thread([&] {
    while (!done) {
      other();
      ++rounds;
      std::this_thread::yield();
    }
  });
  work();
  done = true;
  thread.join();
  return rounds;
}

struct Drop {
  Make shape;
  SOP_Node *source, *solver;
  UT_Cache *cache;
  Drop() : shape([](GU_Detail &g, double) { box(g, 0, 0.3, 0, 0.2); }) {
    source = node("ooze::source::1.0", {&shape});
    solver = node("ooze::solver::1.0", {source});
    for (SOP_Node *n : {source, solver}) n->set("particlesep", D);
    solver->set("substeps", 2);
    solver->set("useground", 1);
    cache = UT_Cache::all().back();
  }
};

static const int FRAMES = 8;

static std::vector<uint64_t> straight_play() {
  Drop drop;
  std::vector<uint64_t> play(1, 0);
  for (int f = 1; f <= FRAMES; ++f) {
    CHECK(cook(drop.solver, f) != nullptr, "%s", said(drop.solver).c_str());
    play.push_back(bits(drop.solver->gdp));
  }
  return play;
}

// Frames in an order that needs old ones again, each with the bits of straight play.
static void jump_about(Drop &drop, const std::vector<uint64_t> &play, int cooks) {
  for (int i = 0; i < cooks; ++i) {
    const int f = 1 + i * 5 % FRAMES;
    CHECK(cook(drop.solver, f) != nullptr, "%s", said(drop.solver).c_str());
    CHECK(bits(drop.solver->gdp) == play[size_t(f)], "frame %d", f);
  }
}

OZ_CASE(the_cache_manager_may_ask_on_another_thread_at_any_time) {
  fresh_world();
  const std::vector<uint64_t> play = straight_play();
  Drop drop;
  beside(
      [&] {
        const int64 size = drop.cache->utGetCurrentSize(),
                    now = drop.cache->utReduceCacheSizeBy(size / 2 + 1);
        CHECK(size >= 0 && now >= 0, "%lld of %lld", (long long)now, (long long)size);
      },
      [&] { jump_about(drop, play, 60); });
  for (int f = 1; f <= FRAMES; ++f) CHECK(cook(drop.solver, f) != nullptr);
  const int64 full = drop.cache->utGetCurrentSize();
  CHECK(drop.cache->utReduceCacheSizeBy(full) > 0, "between cooks it gets what it asks for");
  CHECK(drop.cache->utGetCurrentSize() < full);
  whole_world();
}

OZ_CASE(info_and_resimulate_do_not_wait_for_a_cook) {
  fresh_world();
  const std::vector<uint64_t> play = straight_play();
  Drop drop;
  std::atomic<int> busy{0}, idle{0};
  std::atomic<bool> cooking{false}, asked{false};
  // a cook that lasts until the other thread has asked in the middle of it
  drop.shape.change([&](GU_Detail &g, double) {
    cooking = true;
    while (!asked) std::this_thread::yield();
    box(g, 0, 0.3, 0, 0.2);
  });
  ++drop.source->version;
  beside(
      [&] {
        OP_Context context(0.0);
        OP_NodeInfoParms info;
        drop.solver->getNodeSpecificInfoText(context, info);
        (info.all.find("simulating") != std::string::npos ? busy : idle) += 1;
        if (cooking) {
          drop.solver->press("resimulate", 0);
          asked = true;
        }
      },
      [&] { jump_about(drop, play, 12); });
  CHECK(busy > 0, "it said that a cook runs");
  OP_Context context(0.0);
  OP_NodeInfoParms info;
  drop.solver->getNodeSpecificInfoText(context, info);
  CHECK(info.all.find("particles") != std::string::npos, "%s", info.all.c_str());
  whole_world();
}

OZ_CASE(copies_of_a_microsolver_may_solve_at_the_same_time) {
  fresh_world();
  const int steps = 5;
  auto run = [](GAS_SubSolver &solver, double height) {
    SIM_Engine engine;
    SIM_Object object;
    block(*data(object, "Geometry").gdh.gdpNC(), 4, 0, height, 0, D);
    for (int f = 0; f < steps; ++f)
      CHECK(solver.solve(engine, &object, f / 24.0, 1.0 / 24), "%s",
            object.messages.empty() ? "" : object.messages.back().second.c_str());
    return bits(object.data["Geometry"]->gdh.gdp());
  };
  auto alone = gas(D), first = gas(D);
  const uint64_t low = run(*alone, 0.1), high = run(*alone, 0.2);
  CHECK(run(*first, 0.1) == low);
  auto second = gas(D); // shares the first one's cache
  second->copy(first.get());
  world().threads = true;
  for (int round = 0; round < 4; ++round) {
    uint64_t found = 0;
    std::thread other([&] { found = run(*second, 0.2); });
    const uint64_t own = run(*first, 0.1);
    other.join();
    CHECK(own == low && found == high, "round %d", round);
  }
  world().threads = false;
  whole_world();
}

// Memory for the result is made on another thread while the solver steps, as beside a GPU. Neither
// the result shows it, nor the frame before with the same pages.
OZ_CASE(memory_made_during_a_step_does_not_show) {
  fresh_world();
  SOP_Node *solver = node("ooze::solver::1.0", {});
  solver->set("particlesep", D);
  solver->set("substeps", 2);
  uint64_t play[2][4] = {};
  for (int ahead = 0; ahead < 2; ++ahead) {
    oz::Simulation simulation;
    oz::Report report;
    oz::StepInput in;
    in.dt = 1.0 / 24;
    simulation.ahead = ahead != 0;
    GU_Detail state;
    block(state, 12, 0, 0.3, 0, D); // more than one page
    for (int f = 0; f < 4; ++f) {
      solver->set("limits", f == 3); // some are deleted then
      for (int k = 0; k < 3; ++k) solver->set("limitsize", 0.6, k);
      GU_Detail before;
      before.replaceWith(state);
      const uint64_t had = bits(&before);
      const int64 hardened = standin::hardened();
      CHECK(simulation.step("solver", oz::Parms("solver", *solver, 0), in, state, report), "%s",
            report.error.c_str());
      CHECK(bits(&before) == had, "step %d writes into the frame before", f);
      const bool some = standin::hardened() > hardened + 1; // P and v, once a step has written them
      CHECK_EQ(some, ahead && f > 0);
      play[ahead][f] = bits(&state);
    }
    CHECK(state.getNumPoints() > 0 && state.getNumPoints() < 12 * 12 * 12, "%lld",
          (long long)state.getNumPoints());
  }
  for (int f = 0; f < 4; ++f) CHECK(play[0][f] == play[1][f], "step %d", f);
  whole_world();
}
OZ_TEST_MAIN()
