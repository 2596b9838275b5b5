// SPDX-License-Identifier: Apache-2.0
#include "solver_inputs.h"

#include <GA/GA_Handle.h>
#include <OP/OP_AutoLockInputs.h>

#include "bridge.h"
#include "detail.h"
#include "forces.h"
#include "frames.h"
#include "sources.h"

namespace oz {

const char *const FIRST_FRAME = "ooze_firstframe";

bool InputNode::fetch(int index, double frame, GU_DetailHandle &out, Report &report) {
  OP_Context then(*myContext);
  OP_AutoLockInputs lock(this);
  then.setTime(channels()->getTime(frame));
  if (!getInput(OP_InputIdx(index))) return true;
  if (lock.lockInput(index, then) >= UT_ERROR_ABORT)
    return report.fail("input %d could not be cooked at frame %g", index + 1, frame);
  const GU_Detail *in = inputGeo(OP_InputIdx(index), then);
  if (in) out = copy_of(*in);
  return true;
}

// Whether an input differs from frame to frame, as far as its last cook tells.
bool InputNode::moving() {
  for (int i : {int(SOURCES), int(COLLIDERS), int(FORCES)}) {
    OP_Node *in = getInput(OP_InputIdx(i));
    if (in && in->dataMicroNode().isTimeDependent()) return true;
  }
  return false;
}

bool InputNode::inputs_at(double frame, Inputs &out, Report &report) {
  if (myLast.look == myLook && (myLast.frame == frame || !moving())) {
    out = myLast;
    return true;
  }
  out = Inputs();
  if (!fetch(SOURCES, frame, out.sources, report) ||
      !fetch(COLLIDERS, frame, out.colliders, report) || !fetch(FORCES, frame, out.forces, report))
    return false;
  const GU_Detail *colliders = geometry(out.colliders), *forces = geometry(out.forces);
  out.shapes = std::make_shared<Shapes>(colliders);
  const GU_Detail *sources = geometry(out.sources);
  const double rate = channels()->getSamplesPerSec(); // a frame is as long as it says
  const uint64_t parts[6] = {hash_of_points(sources, hash_of(sources, source_names())),
                             hash_of(colliders, collider_names()),
                             out.shapes->hash(),
                             hash_of(forces, force_names()),
                             Shapes(forces).hash(),
                             ooze_hash(&rate, sizeof rate, 0)};
  out.hash = ooze_hash(parts, sizeof parts, 0);
  out.look = myLook;
  out.frame = frame;
  myLast = out;
  return true;
}

void InputNode::look_again() {
  std::vector<int64> versions = {int64(getVersionParms())};
  for (int i = 0; i < INPUTS; ++i) {
    OP_Node *in = getInput(OP_InputIdx(i));
    versions.push_back(in ? int64(in->getVersionParms()) : -1);
  }
  if (myLook == 0 || versions != myVersions || myContext->getTime() == myTime) ++myLook;
  myVersions = versions;
  myTime = myContext->getTime();
}

bool InputNode::with_initial(int start, uint64_t &hash, Report &report) {
  GU_DetailHandle initial;
  if (!fetch(INITIAL, start, initial, report)) return false;
  const GU_Detail *state = geometry(initial); // all that its points carry goes on with them
  const uint64_t own = hash_of_points(state, hash_of(state, state_names()));
  hash = ooze_hash(&own, sizeof own, hash);
  return true;
}

bool InputNode::first_colliders(const GU_Detail &state, Report &report) {
  GA_ROHandleI h(state.findAttribute(GA_ATTRIB_DETAIL, FIRST_FRAME));
  const double frame = h.isValid() ? h.get(GA_Offset(0)) : 0;
  if (myFirst.look == myLook && myFirst.frame == frame) return true;
  myFirst = Inputs();
  myFirst.look = myLook;
  myFirst.frame = frame;
  if (!fetch(COLLIDERS, frame, myFirst.colliders, report)) return false;
  myFirst.shapes = std::make_shared<Shapes>(geometry(myFirst.colliders));
  return true;
}

} // namespace oz
