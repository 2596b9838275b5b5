// SPDX-License-Identifier: Apache-2.0
// Dynamics: data with options, objects that own data by name, geometry behind locks and with a
// transform, and microsolvers, which the engine copies at every step.
#pragma once
#include "op.h"

using SIM_Time = fpreal;
enum SIM_DataIdStrategy { SIM_DATA_ID_BUMP, SIM_DATA_ID_PRESERVE };
#define SIM_GEOMETRY_DATANAME "Geometry"
#define GAS_NAME_GEOMETRY "geo"

class SIM_DataFactory {};
class SIM_RootData {
public:
  // The stand-in's own.
  mutable std::vector<std::pair<UT_ErrorSeverity, std::string>> messages;
};

// Each option has the type that it was set with, and is read as that type alone.
class SIM_Options {
public:
  bool hasOption(const UT_StringRef &n) const { return types.count(n.c_str()) > 0; }
  fpreal64 getOptionF(const UT_StringRef &n) const { return get(n.c_str(), 0, "float"); }
  int64 getOptionI(const UT_StringRef &n) const { return int64(get(n.c_str(), 0, "integer")); }
  bool getOptionB(const UT_StringRef &n) const { return get(n.c_str(), 0, "toggle") != 0; }
  UT_Vector3D getOptionV3(const UT_StringRef &n) const {
    return UT_Vector3D(get(n.c_str(), 0, "vector"), get(n.c_str(), 1, "vector"),
                       get(n.c_str(), 2, "vector"));
  }
  UT_StringHolder getOptionS(const UT_StringRef &n) const {
    auto at = texts.find(n.c_str());
    if (at == texts.end()) standin::broken("there is no option", n.c_str());
    return UT_StringHolder(at == texts.end() ? "" : at->second.c_str());
  }

  // The stand-in's own.
  double get(const std::string &n, size_t k, const char *as) const {
    auto at = values.find(n);
    auto type = types.find(n);
    if (at == values.end() || k >= at->second.size() || type == types.end()) {
      standin::broken("there is no option", n);
      return 0;
    }
    if (type->second != as) {
      standin::broken("an option is read as another type", n);
      return 0;
    }
    return at->second[k];
  }
  std::map<std::string, std::vector<double>> values;
  std::map<std::string, std::string> texts, types;
};

class SIM_Data {
public:
  virtual ~SIM_Data() {}

  // The stand-in's own.
  void copy(const SIM_Data *from) { makeEqualSubclass(from); }

protected:
  virtual void initializeSubclass() {}
  virtual void makeEqualSubclass(const SIM_Data *) {}
};
class SIM_Geometry : public SIM_Data {
public:
  void getTransform(UT_DMatrix4 &out) const { out = transform; } // to the object's space

  // The stand-in's own.
  SIM_Geometry() { gdh.allocateAndSet(new GU_Detail); }
  GU_DetailHandle gdh;
  UT_DMatrix4 transform = UT_DMatrix4(1.0);
  mutable int locks = 0;
};
class SIM_GeometryCopy : public SIM_Geometry {
public:
  // The stand-in's own.
  void makeEqual(const SIM_Data *d) {
    auto *from = static_cast<const SIM_GeometryCopy *>(d);
    gdh.allocateAndSet(new GU_Detail);
    gdh.gdpNC()->replaceWith(*from->gdh.gdp());
    transform = from->transform;
  }
};
class SIM_GeometryAutoReadLock {
public:
  explicit SIM_GeometryAutoReadLock(const SIM_Geometry *g) : geo(g) {
    if (geo) ++geo->locks;
  }
  ~SIM_GeometryAutoReadLock() {
    if (geo) --geo->locks;
  }
  SIM_GeometryAutoReadLock(const SIM_GeometryAutoReadLock &) = delete;
  const GU_Detail *getGdp() const { return geo ? geo->gdh.gdp() : nullptr; }

  // The stand-in's own.
private:
  const SIM_Geometry *geo;
};
class SIM_GeometryAutoWriteLock {
public:
  SIM_GeometryAutoWriteLock(SIM_GeometryCopy *g, SIM_DataIdStrategy s = SIM_DATA_ID_BUMP)
      : geo(g), strategy(s) {
    if (geo->locks++) standin::broken("geometry is locked for writing while it is locked", "SIM");
  }
  ~SIM_GeometryAutoWriteLock() {
    if (strategy == SIM_DATA_ID_BUMP) geo->gdh.gdpNC()->bumpAllDataIds();
    standin::check(*geo->gdh.gdp(), "SIM");
    --geo->locks;
  }
  SIM_GeometryAutoWriteLock(const SIM_GeometryAutoWriteLock &) = delete;
  GU_Detail &getGdp() { return *geo->gdh.gdpNC(); }

  // The stand-in's own.
private:
  SIM_GeometryCopy *geo;
  SIM_DataIdStrategy strategy;
};

class SIM_Position : public SIM_Data {
public:
  void getTransform(UT_DMatrix4 &out) const { out = matrix; }

  // The stand-in's own.
  UT_DMatrix4 matrix = UT_DMatrix4(1.0);
};

class SIM_Object;
class SIM_ObjectArray {
public:
  exint entries() const { return exint(all.size()); }
  SIM_Object *operator()(exint i) const { return all.at(size_t(i)); }

  // The stand-in's own.
  std::vector<SIM_Object *> all;
};
class SIM_Object : public SIM_RootData {
public:
  void getAffectors(SIM_ObjectArray &out, const char *relationship) const {
    out.all.clear();
    if (!std::strcmp(relationship, "SIM_RelationshipCollide")) out.all = affectors;
  }
  // The argument is the data's name. Objects need not have a position.
  const SIM_Position *getPositionForGeometry(const char *name) const {
    if (!data.count(name)) standin::broken("the position of data that is not there", name);
    return position.get();
  }

  // The stand-in's own.
  std::map<std::string, std::unique_ptr<SIM_GeometryCopy>> data;
  std::unique_ptr<SIM_Position> position = std::make_unique<SIM_Position>(); // in the world
  std::vector<SIM_Object *> affectors;
};
class SIM_Engine {};

class SIM_DopDescription {
public:
  SIM_DopDescription(bool make, const char *dop, const char *title, const char *dataname,
                     const char *datatype, const PRM_Template *t)
      : createdop(make), name(dop), label(title), data(dataname), type(datatype), templates(t) {
    if (!standin::alive(t)) standin::broken("the builder of the templates is gone", dop);
  }

  // The stand-in's own.
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
  // The argument is the parameter that names the data. Unless it is silent, data that is not there
  // is told on the object at every solve.
  SIM_GeometryCopy *getGeometryCopy(SIM_Object *o, const char *parm, bool silent = false);
  const SIM_Geometry *getGeometry(const SIM_Object *o, const char *parm, bool silent = false) {
    return getGeometryCopy(const_cast<SIM_Object *>(o), parm, silent);
  }

  // The stand-in's own.
  bool solve(SIM_Engine &e, SIM_Object *o, SIM_Time t, SIM_Time dt);
  SIM_Options options;
  void defaults(const PRM_Template *t);

protected:
  virtual bool solveGasSubclass(SIM_Engine &e, SIM_Object *o, SIM_Time t, SIM_Time dt) = 0;
  void makeEqualSubclass(const SIM_Data *from) override {
    options = static_cast<const GAS_SubSolver *>(from)->options;
  }
  static void setGasDescription(SIM_DopDescription &) {}
  void addError(const SIM_RootData *root, int, const char *text, UT_ErrorSeverity s) const {
    root->messages.emplace_back(s, text);
  }
};

#define SIM_DATA_CASTCONST(Data, DataClass) (dynamic_cast<const DataClass *>(Data))
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
