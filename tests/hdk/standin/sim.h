// Dynamics: data with options, objects that own data by name, geometry behind locks, and
// microsolvers.
#pragma once
#include "op.h"

using SIM_Time = fpreal;
enum { SIM_DATA_ID_PRESERVE = 1, SIM_DATA_ID_BUMP = 2 };
#define SIM_GEOMETRY_DATANAME "Geometry"
#define GAS_NAME_GEOMETRY "geo"

class SIM_DataFactory {};
class SIM_RootData {
public:
  mutable std::vector<std::pair<UT_ErrorSeverity, std::string>> messages;
};
class SIM_Options {
public:
  bool hasOption(const UT_StringRef &n) const {
    return values.count(n.c_str()) || texts.count(n.c_str());
  }
  fpreal getOptionF(const UT_StringRef &n) const { return get(n.c_str(), 0); }
  exint getOptionI(const UT_StringRef &n) const { return exint(get(n.c_str(), 0)); }
  bool getOptionB(const UT_StringRef &n) const { return get(n.c_str(), 0) != 0; }
  UT_Vector3D getOptionV3(const UT_StringRef &n) const {
    return UT_Vector3D(get(n.c_str(), 0), get(n.c_str(), 1), get(n.c_str(), 2));
  }
  UT_StringHolder getOptionS(const UT_StringRef &n) const {
    auto at = texts.find(n.c_str());
    if (at == texts.end()) standin::broken("there is no option", n.c_str());
    return UT_StringHolder(at == texts.end() ? "" : at->second.c_str());
  }
  double get(const std::string &n, size_t k) const {
    auto at = values.find(n);
    if (at == values.end() || k >= at->second.size()) {
      standin::broken("there is no option", n);
      return 0;
    }
    return at->second[k];
  }
  std::map<std::string, std::vector<double>> values;
  std::map<std::string, std::string> texts;
};

class SIM_Data {
public:
  virtual ~SIM_Data() {}
  virtual void makeEqual(const SIM_Data *) {}
};
class SIM_Geometry : public SIM_Data {
public:
  SIM_Geometry() { gdh.allocateAndSet(new GU_Detail); }
  GU_DetailHandle gdh;
  mutable int locks = 0;
};
class SIM_GeometryCopy : public SIM_Geometry {
public:
  void makeEqual(const SIM_Data *d) override {
    auto *from = static_cast<const SIM_GeometryCopy *>(d);
    gdh.allocateAndSet(new GU_Detail);
    gdh.gdpNC()->replaceWith(*from->gdh.gdp());
  }
};
class SIM_GeometryAutoReadLock {
public:
  explicit SIM_GeometryAutoReadLock(const SIM_Geometry *g) : geo(g) { ++geo->locks; }
  ~SIM_GeometryAutoReadLock() { --geo->locks; }
  const GU_Detail *getGdp() const { return geo->gdh.gdp(); }

private:
  const SIM_Geometry *geo;
};
class SIM_GeometryAutoWriteLock {
public:
  SIM_GeometryAutoWriteLock(SIM_GeometryCopy *g, int s = SIM_DATA_ID_BUMP) : geo(g), strategy(s) {
    if (geo->locks++) standin::broken("geometry is locked for writing while it is locked", "SIM");
  }
  ~SIM_GeometryAutoWriteLock() {
    if (strategy == SIM_DATA_ID_BUMP) geo->gdh.gdpNC()->bumpAllDataIds();
    standin::check(*geo->gdh.gdp(), "SIM");
    --geo->locks;
  }
  GU_Detail &getGdp() { return *geo->gdh.gdpNC(); }

private:
  SIM_GeometryCopy *geo;
  int strategy;
};

class SIM_Object : public SIM_RootData {
public:
  std::map<std::string, std::unique_ptr<SIM_GeometryCopy>> data;
  int getObjectId() const { return id; }
  int id = 0;
};
class SIM_Engine {};

class SIM_DopDescription {
public:
  SIM_DopDescription(bool make, const char *dop, const char *title, const char *dataname,
                     const char *datatype, const PRM_Template *t)
      : createdop(make), name(dop), label(title), data(dataname), type(datatype), templates(t) {}
  bool createdop;
  std::string name, label, data, type;
  const PRM_Template *templates;
};

namespace standin {
struct Registered {
  const SIM_DopDescription *description;
  std::function<std::unique_ptr<class SIM_Data>(const SIM_DataFactory *)> make;
};
std::map<std::string, Registered> &factories();
} // namespace standin

class GAS_SubSolver : public SIM_Data {
public:
  using BaseClass = SIM_Data;
  explicit GAS_SubSolver(const SIM_DataFactory *) {}
  const SIM_Options &getOptions() const { return options; }
  bool solve(SIM_Engine &e, SIM_Object *o, SIM_Time t, SIM_Time dt);
  // The stand-in's own.
  SIM_Options options;
  void defaults(const PRM_Template *t);

protected:
  virtual bool solveGasSubclass(SIM_Engine &e, SIM_Object *o, SIM_Time t, SIM_Time dt) = 0;
  virtual void initializeSubclass() {}
  virtual void makeEqualSubclass(const SIM_Data *) {}
  static void setGasDescription(SIM_DopDescription &) {}
  // The argument is the parameter that names the data.
  SIM_GeometryCopy *getGeometryCopy(SIM_Object *o, const char *parm) const;
  const SIM_Geometry *getGeometry(const SIM_Object *o, const char *parm) const {
    return getGeometryCopy(const_cast<SIM_Object *>(o), parm);
  }
  void addError(const SIM_RootData *root, int, const char *text, UT_ErrorSeverity s) const {
    root->messages.emplace_back(s, text);
  }
};

#define DECLARE_STANDARD_GETCASTTOTYPE() using standin_cast = void
#define DECLARE_DATAFACTORY(Class, Super, Title, Description)                                    \
public:                                                                                          \
  static const char *classname() { return #Class; }                                              \
  static void standin_register() {                                                               \
    const SIM_DopDescription *d = Description;                                                   \
    standin::factories()[d->name] = {d,                                                          \
                                     [](const SIM_DataFactory *f) -> std::unique_ptr<SIM_Data> { \
                                       return std::unique_ptr<SIM_Data>(new Class(f));           \
                                     }};                                                         \
  }                                                                                              \
                                                                                                 \
private:                                                                                         \
  using BaseClass = Super
#define IMPLEMENT_DATAFACTORY(Class) Class::standin_register()
