// Messages of a cook, hooks of the host for the solver, and parameters by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <GU/GU_Detail.h>
#include <UT/UT_Error.h>
#include <UT/UT_Interrupt.h>
#include <UT/UT_String.h>

#include <cstdarg>
#include <cstdint>
#include <exception>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "ooze/ooze_nodes.h"

// The compiler's check of printf-like arguments, where it has one: cl does not.
#if defined(__GNUC__) || defined(__clang__)
#define OZ_REPORT_FORMAT __attribute__((format(printf, 2, 3)))
#else
#define OZ_REPORT_FORMAT
#endif

namespace oz {

// Collected while a node cooks and handed to Houdini at its end. The first error counts.
struct Report {
  std::vector<std::string> warnings;
  std::string error;
  bool cancelled = false;
  bool failed() const { return !error.empty(); }
  OZ_REPORT_FORMAT bool fail(const char *format, ...); // returns false
  OZ_REPORT_FORMAT void warn(const char *format, ...);
  bool ok(ooze_result r, const ooze_message &why,
          const char *doing); // false and an error where r is a refusal
};

// False and an error with the solver's sentence where r is a refusal.
bool solver_ok(ooze_solver *s, ooze_result r, const char *doing, Report &report);

// The host's thread pool and Esc, for as long as a cook lasts. The solver keeps the address.
class Host {
public:
  void fill(ooze_hooks &hooks);
  UT_AutoInterrupt *boss = nullptr; // NULL: no progress is asked for
  double from = 0, to = 1;          // the part of the whole that the current step is
  bool broken = false;              // the pool threw: the result is not whole

private:
  static int progress(void *self, double fraction);
  static void parallel(void *self, uint32_t count, ooze_range_fn body, void *arg);
};

// One line for a farm's log, where OOZE_FARM is set, when the first solver of the process is made:
// versions and device.
void banner(const ooze_solver *s);

// OOZE_DEVICE of a farm's machine overrules a node's choice: cpu, cuda, cuda:1, or the number
// alone. False where it is something else.
bool choose_device(uint32_t &backend, int32 &device, Report &report);

// How a host keeps a parameter: no host converts one kind into another.
enum class Kind { NONE, FLOAT, INTEGER, TOGGLE, VECTOR, TEXT };
Kind kind_of(const ooze_node_parm &p);

// The node's list, once for each node; and its dialog script.
const std::vector<ooze_node_parm> &parms_of(const char *node);
std::string dialog_of(const char *node);

// The parameters of a node at one time, by token, each evaluated once and by its own type.
class Parms {
public:
  // `from` has evalFloat, evalInt and evalString.
  template <class From> Parms(const char *node, const From &from, double time) : Parms(node) {
    for (auto &p : parms_of(node)) {
      Value &v = myValues[p.token];
      for (uint32_t k = 0; k < p.components; ++k) switch (kind_of(p)) {
        case Kind::FLOAT:
        case Kind::VECTOR:
          v.number[k] = from.evalFloat(p.token, int(k), time);
          break;
        case Kind::INTEGER:
        case Kind::TOGGLE:
          v.number[k] = double(from.evalInt(p.token, int(k), time));
          break;
        case Kind::TEXT: {
          UT_String text;
          from.evalString(text, p.token, int(k), time);
          v.text = text.c_str() ? text.c_str() : "";
          break;
        }
        case Kind::NONE:
          break;
        }
    }
  }
  double number(const char *token, int k = 0) const { return value(token).number[k]; }
  std::string text(const char *token) const { return value(token).text; }
  bool on(const char *token) const { return number(token) != 0; }
  float real(const char *token) const { return float(number(token)); }
  // Of every value that changes the result: equal parameters, equal hash.
  uint64_t hash() const;
  ooze_pose world; // the world's axes in the space of the particles

protected:
  struct Value {
    double number[4] = {0, 0, 0, 0};
    std::string text;
  };
  explicit Parms(const char *node) : myNode(node) { ooze_pose_default(&world); }
  std::map<std::string, Value> myValues;

private:
  const Value &value(const char *token) const;
  const char *myNode;
};
// All parameters of a group, from a node's dialog into the struct that the schema calls `owner`.
bool read_group(const char *node, const Parms &parms, const char *group, const char *owner,
                void *object, Report &report);

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
