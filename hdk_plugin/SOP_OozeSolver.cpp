// Ooze Solver: simulates from the start frame to the current one. It cooks its inputs again for
// every frame that it steps over, and keeps frames in memory; a frame that is not there is stepped
// to from the nearest earlier one, with the same bits. SPDX-License-Identifier: Apache-2.0
#include <CH/CH_Manager.h>
#include <GA/GA_Handle.h>
#include <GU/GU_DetailHandle.h>
#include <OP/OP_Context.h>
#include <OP/OP_Director.h>
#include <OP/OP_NodeInfoParms.h>
#include <PRM/PRM_ParmList.h>
#include <SYS/SYS_AtomicInt.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "detail.h"
#include "disk.h"
#include "forces.h"
#include "frame_cache.h"
#include "frames.h"
#include "guides.h"
#include "nodes.h"
#include "simulation.h"
#include "solver_inputs.h"
#include "verb.h"
#include "visual.h"

namespace {

class SolverNode : public oz::InputNode {
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
  SolverNode(OP_Network *net, const char *name, OP_Operator *op) : InputNode(net, name, op) {
    mySopFlags.setManagesDataIDs(true);
    mySopFlags.setNeedGuide1(true);
    flags().setTimeDep(true);
  }

  OP_ERROR cookMySop(OP_Context &context) override {
    oz::Report report;
    flags().setTimeDep(true);
    myContext = &context;
    myCache.begin();
    oz::guarded(report, [&] { cook(report); });
    myCache.end();
    myContext = nullptr;
    oz::deliver(*this, report);
    return error();
  }

  void getNodeSpecificInfoText(OP_Context &context, OP_NodeInfoParms &parms) override {
    SOP_Node::getNodeSpecificInfoText(context, parms);
    if (!myCache.take()) {
      parms.append("Ooze: simulating\n");
      return;
    }
    parms.append(
        mySimulation.info(myFrames.count(), myFrames.bytes(), myDisk.written, myDisk.read).c_str());
    myCache.give();
  }

  OP_ERROR cookMyGuide1(OP_Context &context) override {
    oz::Report quiet;
    myGuide1->clearAndDestroy();
    oz::guarded(quiet, [&] {
      const oz::Parms parms("solver", *this, context.getTime());
      oz::ColliderSettings settings;
      if (parms.on("showguide") && settings.read("solver", parms, parms.real("particlesep"), quiet))
        oz::draw_settings(settings, *myGuide1);
    });
    myGuide1->bumpAllDataIds();
    return error();
  }

private:
  static int reset(void *data, int, fpreal, const PRM_Template *) {
    auto *self = static_cast<SolverNode *>(data);
    self->myResimulate.store(1); // by the next cook: one may be running
    self->forceRecook();
    return 1;
  }
  void forget() {
    myFrames.clear();
    forget_inputs();
    mySimulation.drop();
  }

  oz::Parms parms_at(double frame) const {
    return oz::Parms("solver", *this, channels()->getTime(frame));
  }

  // ---- parts of the simulation ----

  // Drops frames made with other parameters or inputs than those of now.
  bool verify(int frame, const oz::Parms &now, oz::Report &report) {
    const bool keyed = getParmList()->getTimeDependent();
    const uint64_t constant = now.hash();
    return myFrames.verify(frame, look(), [&](int number, const oz::Frame &f) {
      if (f.parms != (keyed ? parms_at(number).hash() : constant)) return 0;
      oz::Inputs then;
      if (!inputs_at(number, then, report)) return -1;
      uint64_t hash = then.hash;
      if (number == myFrames.first() && !with_initial(number, hash, report)) return -1;
      return f.inputs == hash ? 1 : 0;
    });
  }

  // ---- simulating ----

  // The state at the start frame: the third input if there is one, else the particles of the
  // sources.
  bool begin(int start, const oz::Parms &parms, const oz::Inputs &inputs, GU_Detail &state,
             oz::Report &report) {
    GU_DetailHandle initial;
    if (!fetch(oz::INITIAL, start, initial, report)) return false;
    if (initial.isValid())
      state.replaceWith(*initial.gdp());
    else if (inputs.sources.isValid()) {
      if (!oz::first_particles(*inputs.sources.gdp(), state, report)) return false;
    } else
      return report.fail(
          "the first input is missing: expected sources, or an initial state on the third input");
    if (!state.findAttribute(GA_ATTRIB_DETAIL, oz::FIRST_FRAME))
      oz::write_detail(state, oz::FIRST_FRAME, start);
    double separation = double(parms.real("particlesep")), made = separation;
    if (oz::find_number(state, "separation", GA_INVALID_OFFSET, GA_INVALID_OFFSET, 1, &made) &&
        std::fabs(made - separation) > 1e-4 * made)
      report.warn("the particles stand %g m apart but Particle Separation is %g m", made,
                  separation);
    return true;
  }

  void cook(oz::Report &report) {
    const oz::Parms now("solver", *this, myContext->getTime());
    const int start = int(now.number("startframe"));
    const double asked =
        std::max(double(channels()->getSample(myContext->getTime())), double(start));
    const int frame = int(std::floor(asked + 1e-4));
    const double part = std::max(asked - frame, 0.0); // of the frame after it
    UT_AutoInterrupt boss("Ooze: solver");
    look_again();
    if (myResimulate.exchange(0)) forget();
    if (!verify(frame, now, report)) return;
    GU_Detail state;
    int done = start;
    const oz::Frame *at = myFrames.before(frame, done);
    if (at && myFrames.first() == start) {
      state.replaceWith(*at->detail.gdp());
    } else {
      oz::Inputs first;
      forget();
      done = start;
      const oz::Parms parms = parms_at(start);
      if (!inputs_at(start, first, report) || !begin(start, parms, first, state, report)) return;
      if (!with_initial(start, first.hash, report)) return;
      myFrames.keep(start, state, parms.hash(), first.hash, look());
    }
    myDisk.ask(now);
    if (myDisk.on && !resume(frame, done, state, report)) return;
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
    if (report.failed()) return;
    gdp->replaceWith(state);
    oz::colour(now, *gdp, report); // the state that goes on keeps the colours of the sources
  }

  std::string file_of(int frame) const {
    UT_String path;
    evalString(path, "cachefile", 0, channels()->getTime(frame));
    return path.c_str() ? path.c_str() : "";
  }

  // The latest frame on disk up to this one, where its parameters and inputs are those of now.
  bool resume(int frame, int &done, GU_Detail &state, oz::Report &report) {
    int latest = frame;
    while (latest > done && !ooze_file_exists(file_of(latest).c_str())) --latest;
    for (int f = done + 1; f <= latest; ++f) {
      oz::Inputs then;
      if (myFrames.knows(f)) continue;
      if (!inputs_at(f, then, report)) return false;
      myFrames.expect(f, parms_at(f).hash(), then.hash, look());
    }
    for (; latest > done; --latest) {
      GU_Detail found;
      const std::string path = file_of(latest);
      const oz::Loaded how = oz::load_frame(path, myFrames.chain(latest), found);
      if (how == oz::Loaded::STALE)
        report.warn("%s was made with other parameters or inputs; it is simulated again",
                    path.c_str());
      if (how == oz::Loaded::DAMAGED)
        report.warn("%s cannot be read; it is simulated again", path.c_str());
      if (how != oz::Loaded::WHOLE) continue;
      myFrames.put(latest, found);
      state.replaceWith(found);
      done = latest;
      ++myDisk.read;
    }
    return true;
  }

  // One frame, or the first part of one, which no later frame goes on from.
  bool advance(int start, double from, double to, const oz::Parms &parms, GU_Detail &state,
               oz::Report &report) {
    oz::Inputs before, now;
    if (!first_colliders(state, report) || !inputs_at(from, before, report) ||
        !inputs_at(to, now, report))
      return false;
    oz::StepInput in;
    in.sources = oz::geometry(now.sources);
    in.sources_before = oz::geometry(before.sources);
    in.colliders.now = now.shapes.get();
    in.colliders.before = before.shapes.get();
    in.colliders.first = first_shapes();
    in.forces = oz::geometry(now.forces);
    in.dt = in.colliders.dt = (to - from) / channels()->getSamplesPerSec();
    if (!mySimulation.step("solver", parms, in, state, report)) return false;
    if (to != std::floor(to)) return true;
    myFrames.keep(int(to), state, parms.hash(), now.hash, look());
    if (myDisk.wants(int(to) - start) &&
        oz::save_frame(parms.text("cachefile"), state, myFrames.chain(int(to)), report)) {
      ++myDisk.written;
      const int old = int(to) - myDisk.every * myDisk.trail;
      if (myDisk.trail > 0 && old > start) oz::remove_frame(file_of(old));
    }
    myFrames.trim(start, int(to), int64(parms.number("cachemem")) * 1024 * 1024);
    return true;
  }

  SYS_AtomicInt32 myResimulate; // the button was pressed since the last cook
  oz::Frames myFrames;
  oz::FrameCache myCache{myFrames};
  oz::Disk myDisk;
  oz::Simulation mySimulation;
};

} // namespace

void oz::add_solver(OP_OperatorTable *table) {
  register_sop(table, "solver", SolverNode::construct, SolverNode::templates());
}
