// Random sequences of an artist's actions: jumps, sub-frames, changed parameters, inputs edited at
// earlier frames, keyed nozzles, simulations that run empty, dropped caches, Esc. However it went,
// a frame has the bits of straight play. `test_hdk_sequences` plays a few; `test_hdk_sequences N
// [SEED]` plays N. SPDX-License-Identifier: Apache-2.0
#include "kit.h"

#include <unistd.h>
using namespace kit;

static const double WIDE = 0.1;
enum { FRAMES = 6, KINDS = 7 };

struct Random { // the same on every machine
  uint64_t state;
  uint32_t operator()(uint32_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return uint32_t(state >> 33) % n;
  }
};

// The settings of the network. Two networks of equal settings have equal frames.
struct Settings {
  // once, nozzle, continuous, body on boundary particles, springs, late nozzle, body that follows
  int kind = 0;
  int solver = 0; // gravity and friction
  int wall = 0;   // still; moved at frames 2 and 3; moved at frames 5 and 6; moving throughout
  int pour = 0;   // always; from frame 3; not at 3 and 4; speed 0 at 4
  int kill = 0;   // everything from frame 4 on
  int wind = 0;   // none; keyed
  int key() const { return ((((kind * 4 + solver) * 4 + wall) * 4 + pour) * 2 + kill) * 2 + wind; }
};

struct Network {
  Settings set;
  Make shape, wall;
  SOP_Node *source, *solver;
  explicit Network(const Settings &s)
      : set(s), shape([this](GU_Detail &g, double f) { make_shape(g, f); }),
        wall([this](GU_Detail &g, double f) { make_wall(g, f); }) {
    const int kind = set.kind;
    const bool nozzle = kind == 1 || kind == 5;
    source = node("ooze::source::1.0", {&shape});
    source->set("particlesep", WIDE);
    preset(source, "slime");
    source->set_text("emission", nozzle ? "nozzle" : kind == 2 ? "continuous" : "once");
    source->set("radius", 0.15);
    source->set("disturbance", 0.05);
    solver = node("ooze::solver::1.0", {source, &wall});
    solver->set("particlesep", WIDE);
    solver->set("substeps", 1);
    solver->set("veliterations", 1);
    solver->set("positerations", 1);
    solver->set("useground", 1);
    source->set("body", kind == 3 || kind == 6);
    source->set("driven", kind == 6);
    solver->set("boundary", kind == 3);
    solver->set("model", kind == 4 ? OOZE_MODEL_SPRINGS : OOZE_MODEL_CONFORMATION);
    source->animate("active", [this](fpreal t) {
      int f = frame_of(t);
      return (set.pour == 1 && f < 3) || (set.pour == 2 && (f == 3 || f == 4)) ? 0.0 : 1.0;
    });
    source->animate("speed",
                    [this](fpreal t) { return set.pour == 3 && frame_of(t) == 4 ? 0.0 : 3.0; });
    apply();
  }
  ~Network() {
    delete solver;
    delete source;
  }
  static int frame_of(fpreal t) { return int(std::floor(t * world().fps + 1 + 1e-4)); }

  void make_shape(GU_Detail &g, double f) {
    if (set.kind == 5 && f < 3) return; // nothing there yet
    if (set.kind == 1 || set.kind == 5)
      g.setPos3(g.appendPoint(), UT_Vector3(float(0.02 * f), 0.4f, 0));
    else
      box(g, set.wall ? 0.01 * f : 0, 0.35, 0, 0.25);
  }
  void make_wall(GU_Detail &g, double f) {
    const bool edited = (set.wall == 1 && f >= 2 && f < 4) || (set.wall == 2 && f >= 5 && f < 7);
    const double x = set.wall == 3 ? 0.03 * f : edited ? 0.1 : 0;
    box(g, x, -0.2, 0, 0.6, set.wall == 3 ? 0.04 * f : 0, set.kind == 2 ? 0.1 * x : 0);
  }
  // The settings as they are now, wherever they show.
  void apply() {
    solver->set("gravity", set.solver & 1 ? -5 : -9.81, 1);
    solver->set("friction", set.solver & 2 ? 0.2 : 1);
    solver->set("airresist", set.wind ? 2 : 0);
    if (set.wind)
      solver->animate("wind", [](fpreal t) { return 4 * t; });
    else
      solver->set("wind", 0);
    solver->set("limits", set.kill); // Delete Outside
    for (int k = 0; k < 3; ++k)
      if (set.kill)
        solver->animate(
            "limitsize", [](fpreal t) { return frame_of(t) < 4 ? 100 : 0.001; }, k);
      else
        solver->set("limitsize", 100, k);
    solver->keyed_ = set.wind || set.kill;
    wall.flags().setTimeDep(set.wall != 0);
    shape.flags().setTimeDep(set.wall || set.kind == 1 || set.kind == 5);
    source->keyed_ = set.pour != 0;
    ++shape.version;
    ++wall.version;
    ++source->version;
  }
};

// The bits of a frame, or of a half one, in straight play.
static uint64_t straight(const Settings &set, double frame) {
  static std::map<int, std::map<int, uint64_t>> known;
  auto &frames = known[set.key()];
  if (!frames.count(int(2 * frame))) {
    Network n(set);
    for (int f = 1; f <= FRAMES; ++f) {
      CHECK(cook(n.solver, f) != nullptr, "settings %d, frame %d: %s", set.key(), f,
            said(n.solver).c_str());
      frames[2 * f] = bits(n.solver->gdp);
    }
    Network halves(set);
    for (int f = 1; f < FRAMES; ++f) {
      CHECK(cook(halves.solver, f + 0.5) != nullptr, "%s", said(halves.solver).c_str());
      frames[2 * f + 1] = bits(halves.solver->gdp);
    }
  }
  return frames.at(int(2 * frame));
}

static std::string file_at(const std::string &folder, int frame) {
  char path[128];
  std::snprintf(path, sizeof path, "%s/sim.%04d.bgeo.sc", folder.c_str(), frame);
  return path;
}

static void play(uint64_t count, uint64_t seed) {
  fresh_world();
  world().check_ids = count < 1000; // the checker keeps a hash of every id
  uint64_t cooks = 0, stopped = 0, changes = 0, drops = 0, empty = 0, parts = 0, disks = 0,
           damaged = 0;
  char name[] = "/tmp/ooze_sequences_XXXXXX";
  CHECK(mkdtemp(name) != nullptr);
  const std::string folder = name;
  for (uint64_t s = 0; s < count; ++s) {
    Random random{ooze_hash(&s, sizeof s, seed)};
    Settings set;
    set.kind = int(random(KINDS));
    Network n(set);
    const int steps = 3 + int(random(6));
    world().versions_with_time = random(4) == 0;
    for (int i = 0; i < steps; ++i) {
      double frame = int(random(FRAMES + 1)); // 0 is before the start
      if (frame >= 1 && frame < FRAMES && random(4) == 0) frame += 0.5, ++parts;
      switch (random(12)) {
      case 0:
        n.set.solver = int(random(4));
        break;
      case 1:
        n.set.wall = int(random(4)); // mostly at frames before the one that is shown
        break;
      case 2:
        n.set.pour = int(random(4));
        break;
      case 3:
        n.set.kill = int(random(2));
        break;
      case 4:
        n.set.wind = int(random(2));
        break;
      case 5:
        n.solver->set("cachemem", random(2) ? 0 : 5000);
        ++drops;
        break;
      case 6:
        n.solver->press("resimulate", 0);
        break;
      case 7:
        world().trip = world().polls + int64_t(random(8));
        break;
      case 8:
        n.wall.forceRecook(); // the same geometry under other data ids
        break;
      case 9: // all sequences share the files, so that most of them are another's
        n.solver->set_text("cachefile", folder + "/sim.$F4.bgeo.sc");
        n.solver->set("cachedisk", double(random(3) > 0));
        n.solver->set("cacheevery", double(1 + random(2)));
        n.solver->set("cachetrail", double(random(3)));
        ++disks;
        break;
      case 10:
        damaged += truncate(file_at(folder, 1 + int(random(FRAMES))).c_str(), 700) == 0;
        break;
      default:
        break;
      }
      if (set.key() != n.set.key()) {
        n.apply();
        set = n.set;
        ++changes;
      } else if (random(2)) {
        n.solver->forceRecook();
      }
      const GU_Detail *g = cook(n.solver, frame);
      ++cooks;
      const double is = frame < 1 ? 1 : frame;
      if (says(n.solver, "stopped at frame")) { // no frame is passed off as another
        ++stopped;
        CHECK(g == nullptr);
        world().trip = -1;
        n.solver->forceRecook();
        g = cook(n.solver, frame);
      }
      world().trip = -1;
      CHECK(g != nullptr, "sequence %llu: %s", (unsigned long long)s, said(n.solver).c_str());
      empty += g->getNumPoints() == 0;
      CHECK(bits(g) == straight(set, is), "sequence %llu, settings %d, cook %d, frame %g",
            (unsigned long long)s, set.key(), i, is);
    }
    world().versions_with_time = false;
  }
  std::printf("%llu sequences, %llu cooks, %llu of parts of a frame, %llu of nothing, %llu stopped "
              "by Esc, %llu changes, %llu of memory, %llu of disk, %llu damaged files: all as in "
              "straight play\n",
              (unsigned long long)count, (unsigned long long)cooks, (unsigned long long)parts,
              (unsigned long long)empty, (unsigned long long)stopped, (unsigned long long)changes,
              (unsigned long long)drops, (unsigned long long)disks, (unsigned long long)damaged);
  CHECK(count < 20 || (stopped > 0 && changes > 0 && drops > 0 && empty > 0 && parts > 0 &&
                       disks > 0 && damaged > 0));
  for (int f = 1; f <= FRAMES; ++f) unlink(file_at(folder, f).c_str());
  CHECK(rmdir(name) == 0, "something is left in %s", name);
  whole_world();
}

OZ_CASE(settings_show) { // else the sequences would compare nothing
  fresh_world();
  Settings a;
  for (int k = 0; k < 5; ++k) {
    Settings b = a;
    a.kind = b.kind = k == 2 ? 1 : 0;
    (k == 0 ? b.solver : k == 1 ? b.wall : k == 2 ? b.pour : k == 3 ? b.kill : b.wind) = 1;
    CHECK(straight(a, FRAMES) != straight(b, FRAMES), "%d", k);
  }
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
