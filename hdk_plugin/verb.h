// Common parts of the verb nodes: a node that cooks by a verb, and parameters read by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <DEP/DEP_MicroNode.h>
#include <OP/OP_Context.h>
#include <OP/OP_Operator.h>
#include <OP/OP_OperatorTable.h>
#include <PRM/PRM_Callback.h>
#include <PRM/PRM_Include.h>
#include <PRM/PRM_TemplateBuilder.h>
#include <SOP/SOP_Node.h>
#include <SOP/SOP_NodeParmsOptions.h>
#include <SOP/SOP_NodeVerb.h>
#include <SYS/SYS_Version.h>
#include <UT/UT_StringHolder.h>

#include "host.h"

#if SYS_VERSION_MAJOR_INT < 21
using OP_InputIdx = unsigned; // 21.0 gave inputs a type of their own
#endif

namespace oz {

// The dialog of a node. The builder owns the list of templates, so it lives as long as the process.
PRM_TemplateBuilder &dialog_builder(const char *node);

const ooze_node &node_info(const char *node);
void register_sop(OP_OperatorTable *table, const char *node, OP_Constructor construct,
                  PRM_Template *templates);

// To the node: one error or many warnings.
template <class To> void deliver(To &node, const Report &report) {
  for (auto &w : report.warnings) node.addWarning(SOP_MESSAGE, w.c_str());
  if (report.failed()) node.addError(SOP_MESSAGE, report.error.c_str());
}

// A cook of the node NODE that reads parameters and inputs and writes gdp. Its caches must be of no
// consequence: Houdini may drop them.
template <const char *NODE, SOP_NodeVerb::CookMode MODE> class Cook : public SOP_NodeCacheOptions {
public:
  static constexpr const char *node = NODE;
  static constexpr SOP_NodeVerb::CookMode mode = MODE;

protected:
  virtual void run(const Parms &parms, Report &report) = 0;
  OP_ERROR cook(OP_Context &context) override {
    Report report;
    guarded(report, [&] { run(Parms(node, *this, context.getTime()), report); });
    deliver(*this, report);
    return report.failed()           ? UT_ERROR_ABORT
           : report.warnings.empty() ? UT_ERROR_NONE
                                     : UT_ERROR_WARNING;
  }
};

template <class CookType> class Verb : public SOP_NodeVerb {
public:
  SOP_NodeParms *allocParms() const override { return new SOP_NodeParmsOptions(templates()); }
  SOP_NodeCache *allocCache() const override { return new CookType; }
  UT_StringHolder name() const override { return node_info(CookType::node).type_name; }
  CookMode cookMode(const SOP_NodeParms *) const override { return CookType::mode; }
  void cook(const CookParms &parms) const override {
    static_cast<SOP_NodeCacheOptions *>(parms.cache())->doCook(this, parms);
  }
  static PRM_Template *templates() { // also from threads that cook
    static PRM_Template *const list = dialog_builder(CookType::node).templates();
    return list;
  }
};

template <class CookType> class VerbNode : public SOP_Node {
public:
  static OP_Node *construct(OP_Network *net, const char *name, OP_Operator *op) {
    return new VerbNode(net, name, op);
  }
  static void enlist(OP_OperatorTable *table, OP_Constructor make = construct) {
    register_sop(table, CookType::node, make, Verb<CookType>::templates());
  }

protected:
  VerbNode(OP_Network *net, const char *name, OP_Operator *op) : SOP_Node(net, name, op) {
    mySopFlags.setManagesDataIDs(true);
  }
  const SOP_NodeVerb *cookVerb() const override {
    static const SOP_NodeVerb::Register<Verb<CookType>> verb;
    return verb.get();
  }
  OP_ERROR cookMySop(OP_Context &context) override { return cookMyselfAsVerb(context); }
};

// The same with a guide, which CookType::guide draws where the node's `showguide` is on.
template <class CookType> class GuidedNode : public VerbNode<CookType> {
public:
  static OP_Node *construct(OP_Network *net, const char *name, OP_Operator *op) {
    return new GuidedNode(net, name, op);
  }

protected:
  GuidedNode(OP_Network *net, const char *name, OP_Operator *op)
      : VerbNode<CookType>(net, name, op) {
    this->mySopFlags.setNeedGuide1(true);
  }
  OP_ERROR cookMyGuide1(OP_Context &context) override {
    Report quiet; // the solver tells its faults
    GU_Detail &to = *this->myGuide1;
    to.clearAndDestroy();
    guarded(quiet, [&] {
      const Parms parms(CookType::node, *this, context.getTime());
      if (this->gdp && parms.on("showguide")) CookType::guide(parms, *this->gdp, to, quiet);
    });
    to.bumpAllDataIds();
    return this->error();
  }
};

} // namespace oz
