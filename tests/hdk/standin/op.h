// SPDX-License-Identifier: Apache-2.0
// Operators, parameters (read from the dialog script that the plug-in builds), time, SOPs and
// verbs.
#pragma once
#include "ga.h"

using OP_ERROR = UT_ErrorSeverity;
#if STANDIN_MAJOR < 21
using standin_input = unsigned;
#else
using OP_InputIdx = int; // 21.0 changed the type of indices in virtuals
using standin_input = OP_InputIdx;
#endif
enum { SOP_MESSAGE = 1, SIM_MESSAGE = 2 };

class PRM_Template;
using PRM_Function = int (*)(void *data, int index, fpreal time, const PRM_Template *tplate);
class PRM_Callback {
public:
  PRM_Callback(PRM_Function f = nullptr) : call(f) {}

  // The stand-in's own.
  PRM_Function call;
};

// One parameter. A list ends with one that has no name.
class PRM_Template {
public:
  // The stand-in's own.
  std::string name, label, type, help;
  int size = 1;
  std::vector<double> numbers;
  std::vector<std::string> words, menu;
  PRM_Function call = nullptr;
};
// Owns its list: with the builder the list goes.
class PRM_TemplateBuilder {
public:
  PRM_TemplateBuilder(const UT_StringHolder &name, const char *script);
  ~PRM_TemplateBuilder();
  PRM_TemplateBuilder(const PRM_TemplateBuilder &) = delete;
  PRM_Template *templates() const { return list->data(); }
  bool justBuilt() { return true; }
  void setCallback(const UT_StringRef &name, PRM_Callback c);

  // The stand-in's own.
private:
  std::unique_ptr<std::vector<PRM_Template>> list;
};
namespace standin {
bool alive(const PRM_Template *list); // its builder is still there
}

// Beside the time it carries the purpose of the cook: inputs are cooked with a copy of the context
// that the cook was given, never with one made from nothing.
class OP_Context {
public:
  explicit OP_Context(fpreal t = 0) : time(t) {}
  fpreal getTime() const { return time; }
  void setTime(fpreal t) { time = t; }

  // The stand-in's own.
  int64 lineage = 0; // of the cook; 0: made from nothing
private:
  fpreal time;
};
class CH_Manager {
public:
  fpreal getSample(fpreal time) const { return time * standin::world().fps + 1; }
  fpreal getTime(fpreal frame) const { return (frame - 1) / standin::world().fps; }
  fpreal getSamplesPerSec() const { return standin::world().fps; }
};
class OP_Director {
public:
  CH_Manager *getChannelManager() { return &manager; }

  // The stand-in's own.
  CH_Manager manager;
};
OP_Director *OPgetDirector();
inline CH_Manager *CHgetManager() { return OPgetDirector()->getChannelManager(); }

class OP_Node;
class OP_Network;
class OP_Operator;
using OP_Constructor = OP_Node *(*)(OP_Network *, const char *, OP_Operator *);
struct CH_LocalVariable;
class OP_Operator {
public:
  OP_Operator(const char *name, const char *english, OP_Constructor make, PRM_Template *parms,
              unsigned low, unsigned high = 9999, CH_LocalVariable * = nullptr, unsigned flags = 0,
              const char **labels = nullptr, int outputs = 1, const char *submenu = nullptr)
      : type(name), title(english), construct(make), templates(parms), least(low), most(high),
        inputlabels(labels) {
    (void)flags, (void)outputs, (void)submenu;
  }
  virtual ~OP_Operator() {}
  void setIconName(const char *n) { icon = n; }
  void setOpTabSubMenuPath(const char *p) { menu = p; }

  // The stand-in's own.
  std::string type, title, icon, menu;
  OP_Constructor construct;
  PRM_Template *templates;
  unsigned least, most;
  const char **inputlabels;
};
class OP_OperatorTable {
public:
  bool addOperator(OP_Operator *op) {
    operators.emplace_back(op);
    return true;
  }

  // The stand-in's own.
  OP_Operator *find(const std::string &type) const;
  std::vector<std::unique_ptr<OP_Operator>> operators;
};

class OP_NodeFlags {
public:
  void setTimeDep(bool on) { timedep = on; }

  // The stand-in's own.
  bool timedep = false;
};

class DEP_MicroNode {
public:
  void setTimeDependent(bool on) { timedep = on; }
  bool isTimeDependent() const { return timedep; }

  // The stand-in's own.
  bool timedep = false;
};
class OP_NodeInfoParms {
public:
  void append(const char *text) { all += text; }

  // The stand-in's own.
  std::string all;
};
class PRM_ParmList {
public:
  bool getTimeDependent() const { return timedep; }

  // The stand-in's own.
  bool timedep = false;
};
using OP_VERSION = int;

// A value that may change with time.
using standin_channel = std::function<double(fpreal)>;
class OP_Node {
public:
  OP_Node(OP_Network *, const char *name, OP_Operator *op) : op_(op), name_(name) {}
  virtual ~OP_Node() {}
  OP_NodeFlags &flags() { return flags_; }
  virtual DEP_MicroNode &dataMicroNode() { return micro_; }
  OP_VERSION getVersionParms();
  PRM_ParmList *getParmList();
  fpreal evalFloat(const char *parm, int k, fpreal t) const;
  exint evalInt(const char *parm, int k, fpreal t) const;
  void evalString(UT_String &out, const char *parm, int k, fpreal t) const;
  void setFloat(const char *parm, int k, fpreal t, fpreal value);
  void forceRecook() { ++version; }
  OP_ERROR error() const;
  virtual const char *inputLabel(standin_input) const { return ""; }
  virtual void getNodeSpecificInfoText(OP_Context &, OP_NodeInfoParms &) {}

  // The stand-in's own.
  void set(const std::string &parm, double v, int k = 0);
  void animate(const std::string &parm, standin_channel f, int k = 0);
  void set_text(const std::string &parm, const std::string &v);
  int press(const std::string &parm, fpreal t); // a button
  const PRM_Template *parameter(const std::string &name) const;
  void say(UT_ErrorSeverity s, const std::string &text) { messages.emplace_back(s, text); }
  virtual int64 cook_version() { return version; } // changes with all that it depends on but time
  OP_Operator *op_;
  std::string name_;
  OP_NodeFlags flags_;
  DEP_MicroNode micro_;
  PRM_ParmList list_;
  bool keyed_ = false; // some parameter is animated
  std::vector<OP_Node *> wires;
  int64 version = 0; // of its parameters
  std::map<std::string, std::map<int, standin_channel>> channels;
  std::map<std::string, std::string> texts;
  std::vector<std::pair<UT_ErrorSeverity, std::string>> messages;
};

class SOP_NodeFlags {
public:
  void setManagesDataIDs(bool on) { manages = on; }
  void setNeedGuide1(bool on) { guide = on; }

  // The stand-in's own.
  bool manages = false, guide = false;
};
class SOP_NodeVerb;
class SOP_Node : public OP_Node {
public:
  SOP_Node(OP_Network *net, const char *name, OP_Operator *op) : OP_Node(net, name, op) { fresh(); }
  virtual OP_ERROR cookMySop(OP_Context &context) = 0;
  virtual OP_ERROR cookMyGuide1(OP_Context &) { return error(); }
  virtual const SOP_NodeVerb *cookVerb() const { return nullptr; }
  OP_ERROR cookMyselfAsVerb(OP_Context &context);
  const GU_Detail *inputGeo(standin_input i, OP_Context &context);
  OP_Node *getInput(standin_input i) const {
    return size_t(i) < wires.size() ? wires[size_t(i)] : nullptr;
  }
  unsigned nInputs() const { return unsigned(wires.size()); }
  void addError(int, const char *text) { say(UT_ERROR_ABORT, text); }
  void addWarning(int, const char *text) { say(UT_ERROR_WARNING, text); }
  void addMessage(int, const char *text) { say(UT_ERROR_MESSAGE, text); }
  SOP_NodeFlags mySopFlags;
  GU_Detail *gdp = nullptr; // where cookMySop writes
  GU_Detail *myGuide1 = nullptr;

  // The stand-in's own.
  const GU_Detail *guide(fpreal t); // as the viewport asks for it, of the node that is selected
  OP_ERROR lockInput(standin_input i, OP_Context &context);
  void unlockInput(standin_input i);
  const GU_Detail *cooked(fpreal t); // null where it failed
  int64 cook_version() override;
  GU_DetailHandle handle, guide_handle;
  void fresh() {
    handle.allocateAndSet(new GU_Detail);
    guide_handle.allocateAndSet(new GU_Detail);
    gdp = handle.gdpNC();
    myGuide1 = guide_handle.gdpNC();
  }
  std::set<int> locked;
  int64 lineage = 0; // of the cook that runs
  bool have = false;
  fpreal have_time = 0;
  int64 have_version = -1;
  int cooks = 0;
  std::unique_ptr<class SOP_NodeCache> cache;
};

// Locks that end with it.
class OP_AutoLockInputs {
public:
  explicit OP_AutoLockInputs(OP_Node *n = nullptr) : node(static_cast<SOP_Node *>(n)) {}
  ~OP_AutoLockInputs() { unlock(); }
  OP_AutoLockInputs(const OP_AutoLockInputs &) = delete;
  OP_ERROR lock(OP_Context &context);
  OP_ERROR lockInput(exint input, OP_Context &context);
  void unlock();
  void unlockInput(exint input);

  // The stand-in's own.
private:
  SOP_Node *node;
  std::set<exint> mine;
};

// ---- verbs ----
class SOP_NodeCache {
public:
  virtual ~SOP_NodeCache() {}
  virtual int64 getMemoryUsage(bool) const { return 0; }
};
class SOP_NodeParms {
public:
  virtual ~SOP_NodeParms() {}
};
class SOP_NodeVerb {
public:
  enum CookMode {
    COOK_INPLACE,
    COOK_DUPLICATE,
    COOK_GENERATOR,
    COOK_INSTANCE,
    COOK_GENERIC,
    COOK_PASSTHROUGH
  };
  class CookParms {
  public:
    GU_DetailHandle &gdh() const { return *dest; }
    SOP_Node *getNode() const { return node; }
    const OP_Context &getContext() const { return *context; }
    exint nInputs() const { return exint(inputs.size()); }
    bool hasInput(exint i) const { return inputGeo(i) != nullptr; }
    const GU_Detail *inputGeo(exint i) const {
      return size_t(i) < inputs.size() ? inputs[size_t(i)] : nullptr;
    }
    SOP_NodeCache *cache() const { return kept; }
    DEP_MicroNode *depnode() const { return dep; }
    void sopAddError(int, const char *text) const { said->emplace_back(UT_ERROR_ABORT, text); }
    void sopAddWarning(int, const char *text) const { said->emplace_back(UT_ERROR_WARNING, text); }
    template <class T> const T &parms() const { return static_cast<const T &>(*values); }

    // The stand-in's own.
    GU_DetailHandle *dest = nullptr;
    SOP_Node *node = nullptr;
    OP_Context *context = nullptr;
    std::vector<const GU_Detail *> inputs;
    SOP_NodeCache *kept = nullptr;
    DEP_MicroNode *dep = nullptr;
    SOP_NodeParms *values = nullptr;
    std::vector<std::pair<UT_ErrorSeverity, std::string>> *said = nullptr;
  };
  virtual ~SOP_NodeVerb() {}
  virtual SOP_NodeParms *allocParms() const = 0;
  virtual SOP_NodeCache *allocCache() const { return nullptr; }
  virtual UT_StringHolder name() const = 0;
  virtual CookMode cookMode(const SOP_NodeParms *) const { return COOK_GENERIC; }
  virtual void cook(const CookParms &) const = 0;
  template <class V> class Register {
  public:
    const V *get() const { return &verb; }

  private:
    V verb;
  };
};

// Parameters by name, evaluated when the verb is about to cook.
class SOP_NodeParmsOptions : public SOP_NodeParms {
public:
  explicit SOP_NodeParmsOptions(const PRM_Template *t) : templates(t) {}

  // The stand-in's own.
  void load(const OP_Node &node, fpreal t);
  const PRM_Template *templates;
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, std::string> texts;
};
class SOP_NodeCacheOptions : public SOP_NodeCache {
public:
  void doCook(const SOP_NodeVerb *verb, const SOP_NodeVerb::CookParms &parms);
  fpreal evalFloat(const char *parm, int k, fpreal) const;
  exint evalInt(const char *parm, int k, fpreal) const;
  void evalString(UT_String &out, const char *parm, int k, fpreal) const;
  const GU_Detail *inputGeo(exint i) const { return cp->inputGeo(i); }
  void addError(int code, const char *text) const { cp->sopAddError(code, text); }
  void addWarning(int code, const char *text) const { cp->sopAddWarning(code, text); }

protected:
  class GroupCreator {
  public:
    explicit GroupCreator(const GU_Detail *g) : detail(g) {}
    const GU_Detail *detail;
  };
  const GA_PrimitiveGroup *parsePrimitiveGroups(const char *pattern, const GroupCreator &of) const {
    auto at = of.detail->primitive_groups.find(pattern);
    return at == of.detail->primitive_groups.end() ? nullptr : &at->second;
  }
  const GA_PointGroup *parsePointGroups(const char *pattern, const GroupCreator &of) const {
    auto at = of.detail->point_groups.find(pattern);
    return at == of.detail->point_groups.end() ? nullptr : &at->second;
  }
  const SOP_NodeVerb::CookParms *cookparms() const { return cp; }
  virtual OP_ERROR cook(OP_Context &context) = 0;
  OP_ERROR error() const;
  GU_Detail *gdp = nullptr;

  // The stand-in's own.
private:
  double number(const char *parm, int k, const char *wanted) const;
  const SOP_NodeVerb::CookParms *cp = nullptr;
};
