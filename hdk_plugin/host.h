// What a cook has to say, what the host lends to the solver, and parameters by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <GU/GU_Detail.h>
#include <UT/UT_Interrupt.h>

#include <cstdarg>
#include <string>
#include <vector>

#include "ooze/ooze_nodes.h"

namespace oz {

// Collected while a node cooks and handed to Houdini at its end. The first error counts.
struct Report {
  std::vector<std::string> warnings;
  std::string error;
  bool cancelled = false;
  bool failed() const { return !error.empty(); }
  __attribute__((format(printf, 2, 3))) bool fail(const char *format, ...); // returns false
  __attribute__((format(printf, 2, 3))) void warn(const char *format, ...);
  bool ok(ooze_result r, const ooze_message &why,
          const char *doing); // false and an error where r is a refusal
};

// The host's thread pool and Esc, for as long as a cook lasts. The solver keeps the address.
class Host {
public:
  void fill(ooze_hooks &hooks);
  UT_AutoInterrupt *boss = nullptr; // NULL: nobody asks
  double from = 0, to = 1;          // the part of the whole that the current step is
  bool broken = false;              // the pool threw: what was computed is not whole

private:
  static int progress(void *self, double fraction);
  static void parallel(void *self, uint32_t count, ooze_range_fn body, void *arg);
};

// One line for a farm's log, where OOZE_FARM is set, when the first solver of the process is made:
// versions and device.
void banner(const ooze_solver *s);

// Parameters of a node at the time of its cook, by token.
class Parms {
public:
  virtual ~Parms() {}
  virtual double number(const char *token, int k = 0) const = 0;
  virtual std::string text(const char *token) const = 0;
  bool on(const char *token) const { return number(token) != 0; }
  float real(const char *token) const { return float(number(token)); }
};

// The node's list, once for each node; and its dialog script.
const std::vector<ooze_node_parm> &parms_of(const char *node);
std::string dialog_of(const char *node);
// All parameters of a group, from a node's dialog into the struct that the schema calls `owner`.
bool read_group(const char *node, const Parms &parms, const char *group, const char *owner,
                void *object, Report &report);
// A hash of every value, to see that something was changed.
uint64_t hash_of(const char *node, const Parms &parms);

// A mesh that frees itself.
struct Mesh {
  ooze_mesh m;
  Mesh() { ooze_mesh_default(&m); }
  ~Mesh() { ooze_mesh_release(&m); }
  Mesh(const Mesh &) = delete;
};

// Runs a cook's body; whatever it throws becomes an error.
template <class Body> void guarded(Report &report, Body body) {
  try {
    body();
  } catch (const std::bad_alloc &) {
    report.fail("out of memory");
  } catch (const std::exception &e) {
    report.fail("%s", e.what());
  } catch (...) {
    report.fail("an exception of unknown type");
  }
}

} // namespace oz
