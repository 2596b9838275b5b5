// Ooze Solver: simulates from the start frame to the current one. It cooks its inputs again for
// every frame that it steps over, and keeps frames in memory; a frame that is not there is stepped
// to from the nearest earlier one, with the same bits. SPDX-License-Identifier: Apache-2.0
#include <CH/CH_Manager.h>
#include <GA/GA_Handle.h>
#include <GU/GU_DetailHandle.h>
#include <OP/OP_AutoLockInputs.h>
#include <OP/OP_Context.h>
#include <OP/OP_Director.h>
#include <OP/OP_NodeInfoParms.h>
#include <PRM/PRM_ParmList.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "detail.h"
#include "forces.h"
#include "frames.h"
#include "nodes.h"
#include "simulation.h"
#include "verb.h"

namespace {

const char *const FIRST_FRAME = "ooze_firstframe"; // whose colliders rigid shapes are made of
enum Input { SOURCES, COLLIDERS, INITIAL, FORCES, INPUTS };

// The inputs at one time, copied, since cooking them at another time changes what is behind the
// pointers.
struct Inputs {
  GU_DetailHandle sources, colliders, forces;
  uint64_t hash = 0;
  int64 look = 0; // under which they were cooked; 0: not at all
  double frame = 0;
};

class SolverNode : public SOP_Node {
public:
  static OP_Node *construct(OP_Network *net, const char *name, OP_Operator *op) {
    return new SolverNode(net, name, op);
  }
  static PRM_Template *templates() {
    PRM_TemplateBuilder &builder = oz::dialog_builder("solver");
    builder.setCallback("resimulate", PRM_Callback(reset));
    return builder.templates();
  }

protected:
  SolverNode(OP_Network *net, const char *name, OP_Operator *op) : SOP_Node(net, name, op) {
    mySopFlags.setManagesDataIDs(true);
    flags().setTimeDep(true);
  }

  OP_ERROR cookMySop(OP_Context &context) override {
    oz::Report report;
    flags().setTimeDep(true);
    myContext = &context;
    oz::guarded(report, [&] { cook(report); });
    myContext = nullptr;
    oz::deliver(*this, report);
    return error();
  }

  void getNodeSpecificInfoText(OP_Context &context, OP_NodeInfoParms &parms) override {
    SOP_Node::getNodeSpecificInfoText(context, parms);
    parms.append(mySimulation.info(myFrames.count(), myFrames.bytes()).c_str());
  }

private:
  static int reset(void *data, int, fpreal, const PRM_Template *) {
    auto *self = static_cast<SolverNode *>(data);
    self->forget();
    self->forceRecook();
    return 1;
  }
  void forget() {
    myFrames.clear();
    myFirst = myLast = Inputs();
    mySimulation.drop();
  }

  static CH_Manager *channels() { return OPgetDirector()->getChannelManager(); }
  oz::Parms parms_at(double frame) const {
    return oz::Parms("solver", *this, channels()->getTime(frame));
  }

  // ---- what the simulation is made of ----

  // A copy of an input at a frame; empty where nothing is connected. False where the input itself
  // failed.
  bool fetch(int index, double frame, GU_DetailHandle &out, oz::Report &report) {
    OP_Context then(*myContext);
    OP_AutoLockInputs lock(this);
    then.setTime(channels()->getTime(frame));
    if (!getInput(OP_InputIdx(index))) return true;
    if (lock.lockInput(index, then) >= UT_ERROR_ABORT)
      return report.fail("input %d could not be cooked at frame %g", index + 1, frame);
    const GU_Detail *in = inputGeo(OP_InputIdx(index), then);
    if (in) out = oz::copy_of(*in);
    return true;
  }

  // Whether an input differs from frame to frame, as far as its last cook tells.
  bool moving() {
    for (int i : {int(SOURCES), int(COLLIDERS), int(FORCES)}) {
      OP_Node *in = getInput(OP_InputIdx(i));
      if (in && in->dataMicroNode().isTimeDependent()) return true;
    }
    return false;
  }

  // The inputs at a frame, those of the last cook where they are the same ones.
  bool inputs_at(double frame, Inputs &out, oz::Report &report) {
    if (myLast.look == myLook && (myLast.frame == frame || !moving())) {
      out = myLast;
      return true;
    }
    out = Inputs();
    if (!fetch(SOURCES, frame, out.sources, report) ||
        !fetch(COLLIDERS, frame, out.colliders, report) ||
        !fetch(FORCES, frame, out.forces, report))
      return false;
    const GU_Detail *colliders = oz::geometry(out.colliders), *forces = oz::geometry(out.forces);
    const uint64_t parts[5] = {oz::hash_of(oz::geometry(out.sources), oz::source_names()),
                               oz::hash_of(colliders, oz::collider_names()),
                               oz::hash_of_solids(colliders),
                               oz::hash_of(forces, oz::force_names()), oz::hash_of_solids(forces)};
    out.hash = ooze_hash(parts, sizeof parts, 0);
    out.look = myLook;
    out.frame = frame;
    myLast = out;
    return true;
  }

  // A new look at the network where something may have changed since the last cook: another version
  // of this node or of an input, or a second cook at the same time.
  void look() {
    std::vector<int64> versions = {int64(getVersionParms())};
    for (int i = 0; i < INPUTS; ++i) {
      OP_Node *in = getInput(OP_InputIdx(i));
      versions.push_back(in ? int64(in->getVersionParms()) : -1);
    }
    if (myLook == 0 || versions != myVersions || myContext->getTime() == myTime) ++myLook;
    myVersions = versions;
    myTime = myContext->getTime();
  }

  // Drops frames whose parameters or inputs are no longer what they were made with.
  bool verify(int frame, const oz::Parms &now, oz::Report &report) {
    const bool keyed = getParmList()->getTimeDependent();
    const uint64_t constant = now.hash();
    return myFrames.verify(frame, myLook, [&](int number, const oz::Frame &f) {
      if (f.parms != (keyed ? parms_at(number).hash() : constant)) return 0;
      Inputs then;
      if (!inputs_at(number, then, report)) return -1;
      uint64_t hash = then.hash;
      if (number == myFrames.first() && !with_initial(number, hash, report)) return -1;
      return f.inputs == hash ? 1 : 0;
    });
  }

  // The start frame depends on the initial state as well.
  bool with_initial(int start, uint64_t &hash, oz::Report &report) {
    GU_DetailHandle initial;
    if (!fetch(INITIAL, start, initial, report)) return false;
    const uint64_t own = oz::hash_of(oz::geometry(initial), oz::state_names());
    hash = ooze_hash(&own, sizeof own, hash);
    return true;
  }

  // ---- simulating ----

  // The state at the start frame: the third input if there is one, else the particles of the
  // sources.
  bool begin(int start, const oz::Parms &parms, const Inputs &inputs, GU_Detail &state,
             oz::Report &report) {
    GU_DetailHandle initial;
    if (!fetch(INITIAL, start, initial, report)) return false;
    if (initial.isValid())
      state.replaceWith(*initial.gdp());
    else if (inputs.sources.isValid()) {
      if (!oz::first_particles(*inputs.sources.gdp(), state, report)) return false;
    } else
      return report.fail(
          "the first input is missing: expected sources, or an initial state on the third input");
    if (!state.findAttribute(GA_ATTRIB_DETAIL, FIRST_FRAME))
      oz::write_detail(state, FIRST_FRAME, start);
    double separation = double(parms.real("particlesep")), made = separation;
    if (oz::find_number(state, "separation", GA_INVALID_OFFSET, GA_INVALID_OFFSET, 1, &made) &&
        std::fabs(made - separation) > 1e-4 * made)
      report.warn("the particles stand %g m apart but Particle Separation is %g m", made,
                  separation);
    return true;
  }

  // Rigid colliders keep the shape that they had at the first frame, also where the simulation goes
  // on from a file.
  bool first_colliders(const GU_Detail &state, oz::Report &report) {
    GA_ROHandleI h(state.findAttribute(GA_ATTRIB_DETAIL, FIRST_FRAME));
    const double frame = h.isValid() ? h.get(GA_Offset(0)) : 0;
    if (myFirst.look == myLook && myFirst.frame == frame) return true;
    myFirst = Inputs();
    myFirst.look = myLook;
    myFirst.frame = frame;
    return fetch(COLLIDERS, frame, myFirst.colliders, report);
  }

  void cook(oz::Report &report) {
    const oz::Parms now("solver", *this, myContext->getTime());
    const int start = int(now.number("startframe"));
    const double asked =
        std::max(double(channels()->getSample(myContext->getTime())), double(start));
    const int frame = int(std::floor(asked + 1e-4));
    const double part = std::max(asked - frame, 0.0); // of the frame after it
    UT_AutoInterrupt boss("Ooze: solver");
    look();
    if (!verify(frame, now, report)) return;
    GU_Detail state;
    int done = start;
    const oz::Frame *at = myFrames.before(frame, done);
    if (at && myFrames.first() == start) {
      state.replaceWith(*at->detail.gdp());
    } else {
      Inputs first;
      forget();
      done = start;
      const oz::Parms parms = parms_at(start);
      if (!inputs_at(start, first, report) || !begin(start, parms, first, state, report)) return;
      if (!with_initial(start, first.hash, report)) return;
      myFrames.keep(start, state, parms.hash(), first.hash, myLook);
    }
    mySimulation.host.boss = &boss;
    const double end = part > 1e-3 ? asked : frame;
    const int from = done;
    for (double reached = done; reached < end && !report.failed() && !report.cancelled;) {
      const double next = std::min(std::floor(reached) + 1, end);
      mySimulation.host.from = (reached - from) / (end - from);
      mySimulation.host.to = (next - from) / (end - from);
      const oz::Parms parms = next == asked ? now : parms_at(next);
      if (!advance(start, reached, next, parms, state, report)) break;
      reached = next;
      done = int(std::floor(reached));
    }
    mySimulation.host.boss = nullptr;
    if (report.cancelled) report.fail("stopped at frame %d; cook again to go on from it", done);
    if (!report.failed()) gdp->replaceWith(state);
  }

  // One frame, or the first part of one, which no later frame goes on from.
  bool advance(int start, double from, double to, const oz::Parms &parms, GU_Detail &state,
               oz::Report &report) {
    Inputs before, now;
    if (!first_colliders(state, report) || !inputs_at(from, before, report) ||
        !inputs_at(to, now, report))
      return false;
    oz::StepInput in;
    in.sources = oz::geometry(now.sources);
    in.sources_before = oz::geometry(before.sources);
    in.colliders.now = oz::geometry(now.colliders);
    in.colliders.before = oz::geometry(before.colliders);
    in.colliders.first = oz::geometry(myFirst.colliders);
    in.forces = oz::geometry(now.forces);
    in.dt = in.colliders.dt = (to - from) / channels()->getSamplesPerSec();
    if (!mySimulation.step("solver", parms, in, state, report)) return false;
    if (to != std::floor(to)) return true;
    myFrames.keep(int(to), state, parms.hash(), now.hash, myLook);
    myFrames.trim(start, int(to), int64(parms.number("cachemem")) * 1024 * 1024);
    return true;
  }

  OP_Context *myContext = nullptr; // of the cook that runs: what inputs are cooked with
  oz::Frames myFrames;
  Inputs myFirst, myLast;
  std::vector<int64> myVersions; // at the last cook
  fpreal myTime = 0;
  int64 myLook = 0;
  oz::Simulation mySimulation;
};

} // namespace

void oz::add_solver(OP_OperatorTable *table) {
  register_sop(table, "solver", SolverNode::construct, SolverNode::templates());
}
