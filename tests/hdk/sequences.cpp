// Random sequences of what artists do: jumps, changed parameters, dropped caches, Esc. However it
// went, a frame has the bits of straight play. `test_hdk_sequences` plays a few;
// `test_hdk_sequences N [SEED]` plays N. SPDX-License-Identifier: Apache-2.0
#include "kit.h"
using namespace kit;

static const double D = 0.1;
enum { FRAMES = 6, KINDS = 5 };

struct Random { // the same on every machine
  uint64_t state;
  uint32_t operator()(uint32_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return uint32_t(state >> 33) % n;
  }
};

// A network of one of five kinds (once, nozzle, continuous, a body on boundary particles, linked
// springs), with the parameters that sequences change.
struct Network {
  Make shape, wall;
  SOP_Node *source, *solver;
  explicit Network(int kind)
      : shape([kind](GU_Detail &g, double f) {
          if (kind == 1)
            g.setPos3(g.appendPoint(), UT_Vector3(float(0.02 * f), 0.4f, 0));
          else
            box(g, 0.01 * f, 0.35, 0, 0.25);
        }),
        wall([kind](GU_Detail &g, double f) {
          box(g, 0.03 * f, -0.2, 0, 0.6, 0.04 * f, kind == 2 ? 0.03 * f : 0.0);
          if (kind == 2) box(g, 0, -1, 0, 0.4), whole(g, GA_ATTRIB_DETAIL, "kill", 0);
        }) {
    source = node("ooze::source::1.0", {&shape});
    source->set("particlesep", D);
    source->set_text("preset", "slime");
    source->set_text("emission", kind == 1 ? "nozzle" : kind == 2 ? "continuous" : "once");
    source->set("radius", 0.15);
    source->set("speed", 3);
    source->set("disturbance", 0.05);
    solver = node("ooze::solver::1.0", {source, &wall});
    solver->set("particlesep", D);
    solver->set("substeps", 1);
    solver->set("veliterations", 1);
    solver->set("positerations", 1);
    solver->set("useground", 1);
    source->set("body", kind == 3);
    solver->set("boundary", kind == 3);
    solver->set("model", kind == 4 ? OOZE_MODEL_SPRINGS : OOZE_MODEL_CONFORMATION);
  }
  ~Network() {
    delete solver;
    delete source;
  }
  void change(int to) { // one of four settings
    solver->set("gravity", to & 1 ? -5 : -9.81, 1);
    solver->set("friction", to & 2 ? 0.2 : 1);
  }
};

static void play(uint64_t count, uint64_t seed) {
  fresh_world();
  world().check_ids = count < 1000; // the checker keeps a hash of every id
  std::map<int, uint64_t> straight[KINDS][4];
  for (int kind = 0; kind < KINDS; ++kind)
    for (int to = 0; to < 4; ++to) {
      Network n(kind);
      n.change(to);
      for (int f = 1; f <= FRAMES; ++f) {
        CHECK(cook(n.solver, f) != nullptr, "%s", said(n.solver).c_str());
        straight[kind][to][f] = bits(n.solver->gdp);
      }
    }
  CHECK(straight[0][0][FRAMES] != straight[0][1][FRAMES] &&
        straight[1][0][FRAMES] != straight[1][2][FRAMES]);
  uint64_t cooks = 0, stopped = 0, changes = 0, drops = 0;
  for (uint64_t s = 0; s < count; ++s) {
    Random random{seed + s * 7919};
    int kind = int(random(KINDS)), to = 0, steps = 3 + int(random(6));
    Network n(kind);
    n.change(to);
    for (int i = 0; i < steps; ++i) {
      int frame = int(random(FRAMES + 1)); // 0 is before the start
      switch (random(6)) {
      case 0:
        n.change(to = int(random(4)));
        ++changes;
        break;
      case 1:
        n.solver->set("cachemem", random(2) ? 0 : 5000);
        ++drops;
        break;
      case 2:
        n.solver->press("resimulate", 0);
        break;
      case 3:
        world().trip = world().polls + int64_t(random(8));
        break;
      case 4:
        n.wall.forceRecook(); // the same geometry under other data ids
        break;
      default:
        break;
      }
      n.solver->forceRecook();
      const GU_Detail *g = cook(n.solver, frame);
      ++cooks;
      CHECK(g != nullptr, "sequence %llu: %s", (unsigned long long)s, said(n.solver).c_str());
      int is = frame < 1 ? 1 : frame;
      if (says(n.solver, "stopped")) { // it says which frame it is
        ++stopped;
        size_t at = said(n.solver).find("this is frame ");
        CHECK(at != std::string::npos);
        is = std::atoi(said(n.solver).c_str() + at + 14);
        CHECK(is < frame);
      }
      world().trip = -1;
      CHECK(bits(g) == straight[kind][to][is],
            "sequence %llu, kind %d, cook %d, frame %d, setting %d", (unsigned long long)s, kind, i,
            is, to);
    }
  }
  std::printf("%llu sequences, %llu cooks, %llu stopped by Esc, %llu changes of parameters, %llu "
              "of memory: all as in "
              "straight play\n",
              (unsigned long long)count, (unsigned long long)cooks, (unsigned long long)stopped,
              (unsigned long long)changes, (unsigned long long)drops);
  CHECK(count < 20 || (stopped > 0 && changes > 0 && drops > 0));
  whole_world();
}

static uint64_t wanted = 60, seed = 1;
OZ_CASE(random_sequences_end_in_the_bits_of_straight_play) { play(wanted, seed); }

oz_case *oz_case_list;
OZ_CASE_END_
int main(int argc, char **argv) {
  if (argc > 1) wanted = uint64_t(std::atoll(argv[1]));
  if (argc > 2) seed = uint64_t(std::atoll(argv[2]));
  char *name = argv[0];
  return oz_run_cases(1, &name);
}
