// The plug-in's entry points: the check that this Houdini is the one it was built for, and
// registration. SPDX-License-Identifier: Apache-2.0
#include <SYS/SYS_Visibility.h>
#include <UT/UT_DSOVersion.h>
#include <UT/UT_ErrorLog.h>
#include <UT/UT_HDKVersion.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nodes.h"
#include "verb.h"

namespace oz {

const ooze_node &node_info(const char *node) {
  static std::map<std::string, ooze_node> all = [] {
    std::map<std::string, ooze_node> made;
    for (uint32_t i = 0; i < ooze_node_count(); ++i) {
      ooze_node n;
      ooze_node_default(&n);
      if (ooze_node_get(i, &n) >= 0) made[n.name] = n;
    }
    return made;
  }();
  return all.at(node);
}

PRM_TemplateBuilder &dialog_builder(const char *node) {
  static std::map<std::string, std::unique_ptr<PRM_TemplateBuilder>> builders;
  auto &builder = builders[node];
  if (!builder) {
    const std::string script = dialog_of(node), name = "ooze_" + std::string(node);
    builder.reset(new PRM_TemplateBuilder(UT_StringHolder(name.c_str()), script.c_str()));
  }
  return *builder;
}

void register_sop(OP_OperatorTable *table, const char *node, OP_Constructor construct,
                  PRM_Template *templates) {
  const ooze_node &n = node_info(node);
  // labels live as long as the operator
  static std::map<std::string, std::vector<std::string>> words;
  static std::map<std::string, std::vector<const char *>> labels;
  auto &w = words[node];
  auto &l = labels[node];
  w.clear();
  l.clear();
  for (const char *at = n.inputs; *at;) {
    size_t length = std::strcspn(at, "|");
    w.emplace_back(at, length);
    at += length + (at[length] == '|');
  }
  for (auto &word : w) l.push_back(word.c_str());
  l.push_back(nullptr);
  OP_Operator *op = new OP_Operator(n.type_name, n.label, construct, templates, n.min_inputs,
                                    n.max_inputs, nullptr, 0, l.data(), 1, "Ooze");
  op->setIconName(("SOP_ooze_" + std::string(node) + ".svg").c_str());
  table->addOperator(op);
}

// Houdini compares major and minor alone, so a library built for 21.0.440 also loads in 21.0.800.
// Its HDK version tells whether something changed underneath in between: then it is better not to
// run.
static bool fits() {
  long built = long(HDK_API_VERSION), here = long(UTgetHDKAPIVersion());
  static bool said = false;
  if (built == here) return true;
  if (!said) { // on the terminal, and in Houdini's log of errors
    char text[300];
    std::snprintf(
        text, sizeof text,
        "[ooze] not loaded: built for Houdini %s (HDK %ld); this one has HDK %ld. Install "
        "the build of Ooze for this Houdini.",
        SYS_VERSION_FULL, built, here);
    std::fprintf(stderr, "%s\n", text);
    UT_ErrorLog::error("{}", text);
  }
  said = true;
  return false;
}

} // namespace oz

extern "C" {
SYS_VISIBILITY_EXPORT void newSopOperator(OP_OperatorTable *table) {
  if (!oz::fits()) return;
  oz::add_step(table);
  oz::add_solver(table);
  oz::add_source(table);
  oz::add_collider(table);
  oz::add_loads(table);
  oz::add_surface(table);
}
SYS_VISIBILITY_EXPORT void initializeSIM(void *) {
  if (oz::fits()) oz::add_gas();
}
}
