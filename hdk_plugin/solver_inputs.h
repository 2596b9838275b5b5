// A node that looks at its inputs at any frame. SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CH/CH_Manager.h>
#include <GU/GU_DetailHandle.h>
#include <OP/OP_Context.h>
#include <OP/OP_Director.h>

#include <memory>
#include <vector>

#include "colliders.h"
#include "verb.h"

namespace oz {

extern const char *const FIRST_FRAME; // detail attribute: whose colliders rigid shapes are made of
enum Input { SOURCES, COLLIDERS, INITIAL, FORCES, INPUTS };

// The inputs at one time, copied, since cooking them at another time changes the details behind the
// pointers.
struct Inputs {
  GU_DetailHandle sources, colliders, forces;
  std::shared_ptr<Shapes> shapes = std::make_shared<Shapes>(); // of the colliders
  uint64_t hash = 0;
  int64 look = 0; // under which they were cooked; 0: not at all
  double frame = 0;
};

class InputNode : public SOP_Node {
protected:
  InputNode(OP_Network *net, const char *name, OP_Operator *op) : SOP_Node(net, name, op) {}
  static CH_Manager *channels() { return OPgetDirector()->getChannelManager(); }

  // A copy of an input at a frame; empty where nothing is connected. False where the input itself
  // failed.
  bool fetch(int index, double frame, GU_DetailHandle &out, Report &report);
  // The inputs at a frame, those of the last cook where they are the same ones.
  bool inputs_at(double frame, Inputs &out, Report &report);
  // The start frame depends on the initial state as well.
  bool with_initial(int start, uint64_t &hash, Report &report);
  // Rigid colliders keep the shape that they had at the first frame, also where the simulation goes
  // on from a file.
  bool first_colliders(const GU_Detail &state, Report &report);
  const Shapes *first_shapes() const { return myFirst.shapes.get(); }
  // A new look at the network where something may have changed since the last cook: another version
  // of this node or of an input, or a second cook at the same time.
  void look_again();
  int64 look() const { return myLook; }
  void forget_inputs() { myFirst = myLast = Inputs(); }

  OP_Context *myContext = nullptr; // of the cook that runs; inputs are cooked with it

private:
  bool moving();
  Inputs myFirst, myLast;
  std::vector<int64> myVersions; // at the last cook
  fpreal myTime = 0;
  int64 myLook = 0;
};

} // namespace oz
