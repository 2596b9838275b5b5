// One user at a time of an object that several threads may ask for. SPDX-License-Identifier:
// Apache-2.0
#pragma once
#include <SYS/SYS_AtomicInt.h>

namespace oz {

class Turn {
public:
  Turn() {}
  Turn(const Turn &) = delete;
  bool take() { return myTaken.exchange(1) == 0; } // false where another has it; does not wait
  void give() { myTaken.store(0); }

private:
  SYS_AtomicInt32 myTaken;
};

} // namespace oz
