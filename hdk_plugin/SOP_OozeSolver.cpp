// Ooze Solver: simulates from the start frame to the current one. It cooks its inputs again for
// every frame that it steps over, and keeps frames in memory; a frame that is not there is stepped
// to from the nearest earlier one, with the same bits. SPDX-License-Identifier: Apache-2.0
#include <CH/CH_Manager.h>
#include <GA/GA_Handle.h>
#include <GU/GU_DetailHandle.h>
#include <OP/OP_AutoLockInputs.h>
#include <OP/OP_Context.h>
#include <OP/OP_Director.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "detail.h"
#include "nodes.h"
#include "simulation.h"
#include "verb.h"

namespace {

const char *const FIRST_FRAME = "ooze_firstframe"; // whose colliders rigid shapes are made of

// The inputs at one frame, copied, since cooking them at another time changes what is behind the
// pointers.
struct Inputs {
  GU_DetailHandle sources, colliders;
  uint64_t hash = 0;
};

// NULL where nothing is connected.
const GU_Detail *geometry(const GU_DetailHandle &handle) {
  return handle.isValid() ? handle.gdp() : nullptr;
}

struct Frame {
  GU_DetailHandle detail;
  uint64_t parms = 0, inputs = 0; // what it was made of
  int64 bytes = 0;
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
    oz::guarded(report, [&] { cook(context, report); });
    myContext = nullptr;
    oz::deliver(*this, report);
    return error();
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
    myFirst = Inputs();
    mySimulation.drop();
  }

  static fpreal time_of(int frame) {
    return OPgetDirector()->getChannelManager()->getTime(fpreal(frame));
  }

  // A copy of an input at a time; empty where nothing is connected. False where the input itself
  // failed.
  bool fetch(int index, fpreal time, GU_DetailHandle &out, oz::Report &report) {
    OP_Context then(*myContext);
    OP_AutoLockInputs lock(this);
    then.setTime(time);
    if (!getInput(OP_InputIdx(index))) return true;
    if (lock.lockInput(index, then) >= UT_ERROR_ABORT)
      return report.fail("input %d could not be cooked at frame %g", index + 1,
                         OPgetDirector()->getChannelManager()->getSample(time));
    const GU_Detail *in = inputGeo(OP_InputIdx(index), then);
    if (in) {
      out.allocateAndSet(new GU_Detail);
      out.gdpNC()->replaceWith(*in);
    }
    return true;
  }

  bool inputs_at(int frame, Inputs &out, oz::Report &report) {
    if (!fetch(0, time_of(frame), out.sources, report) ||
        !fetch(1, time_of(frame), out.colliders, report))
      return false;
    const uint64_t parts[3] = {oz::hash_of(geometry(out.sources), oz::source_names()),
                               oz::hash_of(geometry(out.colliders), oz::collider_names()),
                               oz::hash_of_solids(geometry(out.colliders))};
    out.hash = ooze_hash(parts, sizeof parts, 0);
    return true;
  }

  uint64_t parms_at(int frame) { return oz::Parms("solver", *this, time_of(frame)).hash(); }

  // Frames whose parameters are no longer what they were made with, and all after them.
  void drop_stale() {
    auto at = myFrames.begin();
    while (at != myFrames.end() && at->second.parms == parms_at(at->first)) ++at;
    myFrames.erase(at, myFrames.end());
  }

  void keep(int frame, const GU_Detail &state, uint64_t inputs, int start) {
    Frame f;
    f.detail.allocateAndSet(new GU_Detail);
    f.detail.gdpNC()->replaceWith(state);
    f.parms = parms_at(frame);
    f.inputs = inputs;
    f.bytes = int64(state.getMemoryUsage(true));
    myFrames[frame] = f;
    int64 room = evalInt("cachemem", 0, time_of(frame)) * 1024 * 1024, used = 0;
    for (auto &m : myFrames) used += m.second.bytes;
    for (auto at = myFrames.begin();
         at != myFrames.end() && used > room;) { // the oldest first, but not the start nor this one
      bool stays = at->first == start || at->first == frame;
      if (!stays) used -= at->second.bytes;
      at = stays ? std::next(at) : myFrames.erase(at);
    }
  }

  // The state at the start frame: the third input if there is one, else the particles of the
  // sources.
  bool begin(int start, const Inputs &inputs, GU_Detail &state, oz::Report &report) {
    GU_DetailHandle initial;
    if (!fetch(2, time_of(start), initial, report)) return false;
    if (initial.isValid())
      state.replaceWith(*initial.gdp());
    else if (inputs.sources.isValid()) {
      if (!oz::first_particles(*inputs.sources.gdp(), state, report)) return false;
    } else
      return report.fail(
          "the first input is missing: expected sources, or an initial state on the third input");
    if (!state.findAttribute(GA_ATTRIB_DETAIL, FIRST_FRAME)) {
      state.addIntTuple(GA_ATTRIB_DETAIL, FIRST_FRAME, 1);
      GA_RWHandleI h(state.findAttribute(GA_ATTRIB_DETAIL, FIRST_FRAME));
      h.set(GA_Offset(0), start);
      h.bumpDataId();
    }
    float separation = float(evalFloat("particlesep", 0, time_of(start)));
    double made = separation;
    if (oz::find_number(state, "separation", GA_INVALID_OFFSET, GA_INVALID_OFFSET, 1, &made) &&
        std::fabs(made - double(separation)) > 1e-4 * made)
      report.warn("the particles stand %g m apart but Particle Separation is %g m", made,
                  double(separation));
    return true;
  }

  // Rigid colliders keep the shape that they had at the first frame, also where the simulation goes
  // on from a file.
  bool first_colliders(const GU_Detail &state, oz::Report &report) {
    GA_ROHandleI h(state.findAttribute(GA_ATTRIB_DETAIL, FIRST_FRAME));
    int frame = h.isValid() ? h.get(GA_Offset(0)) : 0;
    if (myFirst.colliders.isValid() && myFirstFrame == frame) return true;
    myFirstFrame = frame;
    myFirst = Inputs();
    return fetch(1, time_of(frame), myFirst.colliders, report);
  }

  void cook(OP_Context &context, oz::Report &report) {
    int frame = int(std::floor(OPgetDirector()->getChannelManager()->getSample(context.getTime()) +
                               1e-4)); // of a part of a frame, the whole one before
    int start = int(evalInt("startframe", 0, context.getTime()));
    frame = std::max(frame, start);
    UT_AutoInterrupt boss("Ooze: solver");
    Inputs now, before;
    if (!inputs_at(frame, now, report)) return;
    drop_stale();
    auto at = myFrames.upper_bound(frame);
    bool some = at != myFrames.begin();
    if (some) --at;
    if (some && at->first == frame && at->second.inputs == now.hash) {
      gdp->replaceWith(*at->second.detail.gdp());
      return;
    }
    // From the nearest earlier frame, provided that its inputs are still what they were.
    if (some && !inputs_at(at->first, before, report)) return;
    GU_Detail state;
    int done = start;
    if (some && at->first < frame && before.hash == at->second.inputs &&
        myFrames.begin()->first == start) {
      done = at->first;
      state.replaceWith(*at->second.detail.gdp());
    } else {
      forget();
      before = Inputs();
      if (!inputs_at(start, before, report) || !begin(start, before, state, report)) return;
      keep(start, state, before.hash, start);
    }
    advance(start, done, frame, before, now, state, boss, report);
    gdp->replaceWith(state);
  }

  void advance(int start, int done, int frame, Inputs before, const Inputs &last, GU_Detail &state,
               UT_AutoInterrupt &boss, oz::Report &report) {
    if (done < frame && !first_colliders(state, report)) return;
    int from = done;
    mySimulation.host.boss = &boss;
    for (; done < frame && !report.failed(); ++done) {
      Inputs next;
      if (done + 1 == frame)
        next = last;
      else if (!inputs_at(done + 1, next, report))
        break;
      oz::StepInput in;
      in.sources = geometry(next.sources);
      in.sources_before = geometry(before.sources);
      in.colliders.now = geometry(next.colliders);
      in.colliders.before = geometry(before.colliders);
      in.colliders.first = geometry(myFirst.colliders);
      in.dt = in.colliders.dt = 1.0 / OPgetDirector()->getChannelManager()->getSamplesPerSec();
      mySimulation.host.from = double(done - from) / (frame - from);
      mySimulation.host.to = double(done + 1 - from) / (frame - from);
      if (!mySimulation.step("solver", oz::Parms("solver", *this, time_of(done + 1)), in, state,
                             report))
        break;
      keep(done + 1, state, next.hash, start);
      before = next;
    }
    mySimulation.host.boss = nullptr;
    if (report.cancelled)
      report.warn("stopped: this is frame %d; the next cook goes on from it", done);
  }

  const OP_Context *myContext = nullptr; // of the cook that runs: what inputs are cooked with
  std::map<int, Frame> myFrames;
  Inputs myFirst;
  int myFirstFrame = 0;
  oz::Simulation mySimulation;
};

} // namespace

void oz::add_solver(OP_OperatorTable *table) {
  register_sop(table, "solver", SolverNode::construct, SolverNode::templates());
}
