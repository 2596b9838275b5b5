// A stand-in of the few HDK classes that the plug-in uses, written for its tests from public
// descriptions of their behaviour; no text of SideFX is in it. It proves that the plug-in is
// consistent with itself, not that Houdini agrees: hdk_plugin/CHECKLIST.md lists the checks that
// are left for there. This part: numbers, strings, errors, interrupts, loops.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#ifndef STANDIN_SYNTAX_ONLY
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#endif

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Which release is imitated: set by the build, 20.5, 21.0 or 22.0.
#ifndef STANDIN_MAJOR
#define STANDIN_MAJOR 21
#define STANDIN_MINOR 0
#endif
#define SYS_VERSION_MAJOR_INT STANDIN_MAJOR
#define SYS_VERSION_MINOR_INT STANDIN_MINOR
#define SYS_VERSION_BUILD_INT 100
#define STANDIN_TEXT2(x) #x
#define STANDIN_TEXT(x) STANDIN_TEXT2(x)
#define SYS_VERSION_RELEASE STANDIN_TEXT(STANDIN_MAJOR) "." STANDIN_TEXT(STANDIN_MINOR)
#define SYS_VERSION_FULL SYS_VERSION_RELEASE ".100"
#define HDK_API_VERSION (STANDIN_MAJOR * 1000000 + STANDIN_MINOR * 10000 + 100)
#ifdef _MSC_VER
#define SYS_VISIBILITY_EXPORT __declspec(dllexport)
#else
#define SYS_VISIBILITY_EXPORT __attribute__((visibility("default")))
#endif

using fpreal = double;
using fpreal32 = float;
using fpreal64 = double;
using exint = int64_t;
using int64 = int64_t;
using int32 = int32_t;

namespace standin {
// Settings and counters of the tests.
struct World {
  int64 api_version = HDK_API_VERSION; // of the Houdini that loads the plug-in
  int64 trip = -1;                     // polls until Esc; -1 never
  int64 polls = 0, open = 0, starts = 0;
  double fps = 24;
  int64 next_id = 1; // data ids, of all details
  bool check_ids = true;
  std::map<int64, uint64_t> contents; // of each data id, as last seen
  int failures = 0;                   // contracts broken; each is printed
  bool drop_caches = false;           // a verb's cache does not outlive its cook
  bool compiled = false;              // verbs cook without a node
  bool versions_with_time = false;    // a node's version changes with the time, too
  int64 evaluations = 0;              // of parameters
  std::string log;                    // of errors that belong to no node
  bool threads = false;               // nodes cook on several threads at once
};
World &world();
std::recursive_mutex &gate();           // of state shared by nodes that cook on several threads
int64 new_id();                         // a data id
inline std::atomic<int64> &hardened() { // attributes with pages made their own
  static std::atomic<int64> count{0};
  return count;
}
void broken(const char *what, const std::string &about);
} // namespace standin

inline int UTgetHDKAPIVersion() { return int(standin::world().api_version); }

template <class T> class UT_Vector3T {
public:
  UT_Vector3T() : v{0, 0, 0} {}
  UT_Vector3T(T x, T y, T z) : v{x, y, z} {}
  template <class S> UT_Vector3T(const UT_Vector3T<S> &o) : v{T(o.x()), T(o.y()), T(o.z())} {}
  T x() const { return v[0]; }
  T y() const { return v[1]; }
  T z() const { return v[2]; }
  T &operator[](int i) { return v[i]; }
  T operator[](int i) const { return v[i]; }
  T *data() { return v; }
  const T *data() const { return v; }

private:
  T v[3];
};
using UT_Vector3 = UT_Vector3T<fpreal32>;
using UT_Vector3D = UT_Vector3T<fpreal64>;

// Rows, as Houdini multiplies: a point is a row before the matrix.
template <class T> class UT_Matrix4T {
public:
  UT_Matrix4T() {}
  explicit UT_Matrix4T(fpreal64 diagonal) {
    for (int i = 0; i < 4; ++i) rows[i][i] = T(diagonal);
  }
  T operator()(unsigned row, unsigned column) const { return rows[row][column]; }
  T &operator()(unsigned row, unsigned column) { return rows[row][column]; }
  void identity() { *this = UT_Matrix4T(1.0); }
  bool isIdentity() const {
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        if (rows[i][j] != T(i == j)) return false;
    return true;
  }
  UT_Matrix4T operator*(const UT_Matrix4T &o) const {
    UT_Matrix4T product;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        for (int k = 0; k < 4; ++k) product.rows[i][j] += rows[i][k] * o.rows[k][j];
    return product;
  }
  int invert() { // not 0 where there is no inverse
    UT_Matrix4T m(*this), out(1.0);
    for (int c = 0; c < 4; ++c) {
      int best = c;
      for (int r = c; r < 4; ++r)
        if (m.rows[r][c] * m.rows[r][c] > m.rows[best][c] * m.rows[best][c]) best = r;
      if (m.rows[best][c] == T(0)) return 1;
      std::swap(m.rows[c], m.rows[best]);
      std::swap(out.rows[c], out.rows[best]);
      const T by = m.rows[c][c];
      for (int k = 0; k < 4; ++k) m.rows[c][k] /= by, out.rows[c][k] /= by;
      for (int r = 0; r < 4; ++r) {
        const T f = m.rows[r][c];
        for (int k = 0; r != c && k < 4; ++k)
          m.rows[r][k] -= f * m.rows[c][k], out.rows[r][k] -= f * out.rows[c][k];
      }
    }
    *this = out;
    return 0;
  }

  // The stand-in's own.
  T rows[4][4] = {};
};
using UT_Matrix4D = UT_Matrix4T<fpreal64>;
using UT_DMatrix4 = UT_Matrix4D;

class UT_StringRef {
public:
  UT_StringRef() {}
  UT_StringRef(const char *s) : text(s ? s : "") {}
  const char *c_str() const { return text.c_str(); }
  const char *buffer() const { return text.c_str(); }
  bool isstring() const { return !text.empty(); }
  bool operator==(const char *s) const { return text == s; }
  bool operator==(const UT_StringRef &s) const { return text == s.text; }
  bool operator!=(const char *s) const { return text != s; }
  // Words with * and ?; one that begins with ^ takes out again names that those before it let in.
  bool multiMatch(const char *pattern) const;

  // The stand-in's own.
protected:
  std::string text;
};
class UT_StringHolder : public UT_StringRef {
public:
  UT_StringHolder() {}
  UT_StringHolder(const char *s) : UT_StringRef(s) {}
};
class UT_String {
public:
  UT_String() {}
  explicit UT_String(const char *s) : text(s ? s : "") {}
  UT_String &operator=(const char *s) {
    text = s ? s : "";
    return *this;
  }
  const char *c_str() const { return text.c_str(); }
  const char *buffer() const { return text.c_str(); }
  bool isstring() const { return !text.empty(); }

private:
  std::string text;
};

// Messages that belong to no node, in the log that artists see.
class UT_ErrorLog {
public:
  static void error(const char *format, const char *text);
};

enum UT_ErrorSeverity {
  UT_ERROR_NONE,
  UT_ERROR_MESSAGE,
  UT_ERROR_PROMPT,
  UT_ERROR_WARNING,
  UT_ERROR_ABORT,
  UT_ERROR_FATAL
};

// Registered with the Cache Manager for as long as it lives.
class UT_Cache {
public:
  UT_Cache() { all().push_back(this); }
  virtual ~UT_Cache() {
    for (size_t i = all().size(); i-- > 0;)
      if (all()[i] == this) all().erase(all().begin() + long(i));
  }
  virtual const char *utGetCacheName() const = 0;
  virtual int64 utGetCurrentSize() const = 0;
  virtual int64 utReduceCacheSizeBy(int64 amount) = 0; // returns the bytes freed

  // The stand-in's own.
  static std::vector<UT_Cache *> &all() {
    static auto *list = new std::vector<UT_Cache *>;
    return *list;
  }
};

template <typename T> class SYS_AtomicInt {
public:
  explicit SYS_AtomicInt(T value = 0) : held(value) {}
  SYS_AtomicInt(const SYS_AtomicInt &) = delete;
  T exchange(T value) { return held.exchange(value); } // returns the value before
  void store(T value) { held.store(value); }
  T load() const { return held.load(); }

  // The stand-in's own.
private:
  std::atomic<T> held;
};
using SYS_AtomicInt32 = SYS_AtomicInt<int32>;
using SYS_AtomicInt64 = SYS_AtomicInt<int64>;

// opStart and opEnd in pairs; trips after `trip` polls.
class UT_AutoInterrupt {
public:
  explicit UT_AutoInterrupt(const char *) {
    std::lock_guard<std::recursive_mutex> lock(standin::gate());
    ++standin::world().open;
    ++standin::world().starts;
  }
  ~UT_AutoInterrupt() {
    std::lock_guard<std::recursive_mutex> lock(standin::gate());
    --standin::world().open;
  }
  UT_AutoInterrupt(const UT_AutoInterrupt &) = delete;
  bool wasInterrupted(int percent = -1) {
    std::lock_guard<std::recursive_mutex> lock(standin::gate());
    auto &w = standin::world();
    if (percent < -1 || percent > 100) standin::broken("percent", std::to_string(percent));
    ++w.polls;
    return w.trip >= 0 && w.polls > w.trip;
  }
};

#ifdef STANDIN_SYNTAX_ONLY // where TBB's headers cannot be read (msvc.py)
template <class T> class UT_BlockedRange {
public:
  UT_BlockedRange(T b, T e) : from(b), to(e) {}
  T begin() const { return from; }
  T end() const { return to; }

private:
  T from, to;
};
template <class Range, class Body> void UTparallelFor(const Range &range, const Body &body) {
  body(range);
}
template <class F, class G> void UTparallelInvoke(bool, const F &f, const G &g) { f(), g(); }
#else
template <class T> using UT_BlockedRange = tbb::blocked_range<T>;
template <class Range, class Body> void UTparallelFor(const Range &range, const Body &body) {
  tbb::parallel_for(range, body);
}
// Both at the same time on any threads, or one after the other.
template <class F, class G> void UTparallelInvoke(bool parallel, const F &f, const G &g) {
  if (parallel)
    tbb::parallel_invoke(f, g);
  else
    f(), g();
}
#endif
