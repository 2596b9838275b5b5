// Frames on disk: a session that goes on from them ends in the bits of straight play, and from none
// that was made otherwise. SPDX-License-Identifier: Apache-2.0
#include "kit.h"

#include <dirent.h>
#include <unistd.h>
using namespace kit;

static std::string folder() {
  static std::string made;
  if (made.empty()) {
    char name[] = "/tmp/ooze_disk_XXXXXX";
    CHECK(mkdtemp(name) != nullptr);
    made = name;
  }
  return made;
}
static std::vector<std::string> files() {
  std::vector<std::string> names;
  DIR *d = opendir(folder().c_str());
  for (dirent *e; (e = readdir(d)) != nullptr;)
    if (std::strcmp(e->d_name, ".") && std::strcmp(e->d_name, "..")) names.push_back(e->d_name);
  closedir(d);
  std::sort(names.begin(), names.end());
  return names;
}
static void sweep() {
  for (auto &name : files()) unlink((folder() + "/" + name).c_str());
}

struct Network {
  Make shape{[](GU_Detail &g, double) { box(g, 0, 0.3, 0, 0.2); }};
  Make wall{[this](GU_Detail &g, double f) { box(g, f >= 4 ? moved : 0.0, 0.05, 0, 0.25); }};
  double moved = 0;
  SOP_Node *source = nullptr;
  Network() {
    source = node("ooze::source::1.0", {&shape});
    source->set("particlesep", D);
    preset(source, "slime");
  }
  SOP_Node *solver(bool disk, const char *model = nullptr) { // a session of its own
    SOP_Node *n = node("ooze::solver::1.0", {source, &wall});
    n->set("particlesep", D);
    n->set("substeps", 2);
    n->set("veliterations", 3);
    n->set("positerations", 2);
    if (model) n->set("model", std::atof(model));
    n->set("cachedisk", disk);
    n->set_text("cachefile", folder() + "/sim.$F4.bgeo.sc");
    return n;
  }
  int64 steps(SOP_Node *n) { // frames that it simulated and wrote, by the info text
    OP_NodeInfoParms parms;
    OP_Context context(0);
    n->getNodeSpecificInfoText(context, parms);
    const char *at = std::strstr(parms.all.c_str(), "disk: ");
    return at ? std::atoll(at + 6) : -1;
  }
};

OZ_CASE(a_new_session_goes_on_from_the_last_file) {
  fresh_world();
  for (const char *model : {"0", "3"}) { // and one with links between particles
    sweep();
    Network net;
    SOP_Node *straight = net.solver(false, model);
    CHECK(cook(straight, 10) != nullptr, "%s", said(straight).c_str());
    SOP_Node *first = net.solver(true, model);
    CHECK(cook(first, 6) != nullptr, "%s", said(first).c_str());
    CHECK_EQ(files().size(), 5); // 2 to 6
    SOP_Node *second = net.solver(true, model);
    CHECK(cook(second, 10) != nullptr, "%s", said(second).c_str());
    CHECK(second->messages.empty(), "%s", said(second).c_str());
    CHECK_BITS(second->gdp, straight->gdp);
    CHECK_EQ(net.steps(second), 4); // 7 to 10 were written; 6 was read
    CHECK_EQ(files().size(), 9);
    // all is there: nothing is simulated, whatever the order
    SOP_Node *third = net.solver(true, model);
    for (int f : {10, 3, 7, 10}) CHECK(cook(third, f) != nullptr);
    CHECK_BITS(third->gdp, straight->gdp);
    CHECK_EQ(net.steps(third), 0);
  }
  sweep();
  whole_world();
}

OZ_CASE(a_file_that_was_made_otherwise_is_made_anew) {
  fresh_world();
  sweep();
  Network net;
  CHECK(cook(net.solver(true), 8) != nullptr);
  net.moved = 0.1; // from frame 4 on
  ++net.wall.version;
  SOP_Node *straight = net.solver(false), *again = net.solver(true);
  CHECK(cook(straight, 8) != nullptr && cook(again, 8) != nullptr, "%s", said(again).c_str());
  CHECK(says(again, "other parameters or inputs"), "%s", said(again).c_str());
  CHECK_BITS(again->gdp, straight->gdp);
  CHECK_EQ(net.steps(again), 5); // 4 to 8; 3 was read
  SOP_Node *other = net.solver(true);
  other->set("gravity", -1, 1); // another simulation in the same files
  CHECK(cook(other, 8) != nullptr);
  CHECK_EQ(net.steps(other), 7);
  world().fps = 30; // frames are shorter
  SOP_Node *fast = net.solver(true);
  fast->set("gravity", -1, 1);
  CHECK(cook(fast, 8) != nullptr);
  CHECK_EQ(net.steps(fast), 7);
  world().fps = 24;
  sweep();
  whole_world();
}

OZ_CASE(checkpoints_leave_a_trail_and_damaged_ones_are_passed_over) {
  fresh_world();
  sweep();
  Network net;
  SOP_Node *straight = net.solver(false);
  CHECK(cook(straight, 14) != nullptr);
  auto session = [&] {
    SOP_Node *n = net.solver(true);
    n->set("cacheevery", 3);
    n->set("cachetrail", 2);
    return n;
  };
  SOP_Node *first = session();
  CHECK(cook(first, 12) != nullptr);
  const std::vector<std::string> expected = {"sim.0007.bgeo.sc", "sim.0010.bgeo.sc"};
  CHECK(files() == expected, "%s ...", files().empty() ? "nothing" : files()[0].c_str());
  CHECK(truncate((folder() + "/sim.0010.bgeo.sc").c_str(), 1000) == 0);
  SOP_Node *second = session();
  CHECK(cook(second, 14) != nullptr);
  CHECK(says(second, "cannot be read"), "%s", said(second).c_str());
  CHECK_BITS(second->gdp, straight->gdp);
  // a folder that is not there is told, and the simulation goes on
  SOP_Node *lost = net.solver(true);
  lost->set_text("cachefile", folder() + "/nowhere/sim.$F4.bgeo.sc");
  CHECK(cook(lost, 4) != nullptr && says(lost, "nowhere"), "%s", said(lost).c_str());
  sweep();
  CHECK(rmdir(folder().c_str()) == 0); // no temporary file is left
  whole_world();
}
OZ_TEST_MAIN()
