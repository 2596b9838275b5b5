/* SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include <cmath>

using namespace standin;

OP_Director *OPgetDirector() {
  static OP_Director d;
  return &d;
}

OP_Operator *OP_OperatorTable::find(const std::string &type) const {
  for (auto &o : operators)
    if (o->type == type) return o.get();
  return nullptr;
}

// ---- dialog scripts ----
namespace {
struct Reader {
  const char *at;
  std::string token; // "" at the end
  bool quoted = false;
  void next() {
    token.clear();
    quoted = false;
    while (*at == ' ' || *at == '\n' || *at == '\t') ++at;
    if (*at == '"') {
      quoted = true;
      for (++at; *at && *at != '"'; ++at) token += *at == '\\' ? *++at : *at;
      if (*at) ++at;
    } else if (*at == '{' || *at == '}') {
      token = *at++;
    } else {
      while (*at && !strchr(" \n\t{}\"", *at)) token += *at++;
    }
  }
  bool is(const char *t) const { return !quoted && token == t; }
};

std::vector<std::string> list(Reader &r) { // from "{" to its "}"
  std::vector<std::string> out;
  if (!r.is("{")) broken("dialog script", "expected { and found " + r.token);
  for (r.next(); !r.is("}"); r.next()) {
    if (!*r.at) {
      broken("dialog script", "a list has no end");
      break;
    }
    out.push_back(r.token);
  }
  r.next();
  return out;
}

void parse(Reader &r, std::vector<PRM_Template> &out, bool parm) { // after "{"
  PRM_Template p;
  while (!r.is("}")) {
    if (r.token.empty() && !r.quoted) {
      broken("dialog script", "it ends early");
      return;
    }
    std::string key = r.token;
    r.next();
    if (key == "parm" || key == "group") {
      if (!r.is("{")) broken("dialog script", key + " without {");
      r.next();
      parse(r, out, key == "parm");
    } else if (key == "name") {
      p.name = r.token, r.next();
    } else if (key == "label") {
      p.label = r.token, r.next();
    } else if (key == "type") {
      static const std::set<std::string> known = {"float",  "integer", "toggle", "ordinal",
                                                  "string", "button",  "vector"};
      if (!known.count(r.token)) broken("dialog script", "type " + r.token);
      p.type = r.token, r.next();
    } else if (key == "size") {
      p.size = std::atoi(r.token.c_str()), r.next();
    } else if (key == "default") {
      p.words = list(r);
    } else if (key == "menu") {
      auto words = list(r);
      for (size_t i = 0; i < words.size(); i += 2) p.menu.push_back(words[i]);
    } else if (key == "range") {
      list(r);
    } else if (key == "help") {
      p.help = r.token, r.next();
    } else if (key == "disablewhen" || key == "hidewhen") {
      r.next();
    } else {
      broken("dialog script", "keyword " + key);
    }
  }
  r.next();
  if (!parm) return;
  if (int(p.words.size()) != p.size)
    broken("dialog script", p.name + " has a default of another size");
  for (auto &w : p.words) p.numbers.push_back(std::atof(w.c_str()));
  out.push_back(p);
}
} // namespace

static std::set<const PRM_Template *> &lists() {
  static auto *all = new std::set<const PRM_Template *>; // outlives every builder
  return *all;
}
bool standin::alive(const PRM_Template *list) { return lists().count(list) > 0; }

PRM_TemplateBuilder::~PRM_TemplateBuilder() { lists().erase(list->data()); }
PRM_TemplateBuilder::PRM_TemplateBuilder(const UT_StringHolder &, const char *script)
    : list(std::make_unique<std::vector<PRM_Template>>()) {
  Reader r{script, "", false};
  r.next();
  if (!r.is("{")) broken("dialog script", "no {");
  r.next();
  parse(r, *list, false);
  list->emplace_back();
  lists().insert(list->data());
}
void PRM_TemplateBuilder::setCallback(const UT_StringRef &name, PRM_Callback c) {
  for (auto &t : *list)
    if (t.name == name.c_str()) t.call = c.call;
}

// ---- nodes ----
const PRM_Template *OP_Node::parameter(const std::string &name) const {
  const PRM_Template *t = op_ ? op_->templates : nullptr;
  if (t && !alive(t)) {
    broken("the builder of the templates is gone", name_);
    return nullptr;
  }
  for (; t && !t->name.empty(); ++t)
    if (t->name == name) return t;
  return nullptr;
}

// Float, integer or string: a type of the dialog is evaluated as one of them and as no other.
static const char *evaluated_as(const std::string &type) {
  if (type == "float" || type == "vector") return "float";
  return type == "string" ? "string" : "integer";
}
static const PRM_Template *need(const OP_Node &n, const std::string &name, const char *as) {
  const PRM_Template *t = n.parameter(name);
  if (!t) broken("there is no parameter", n.name_ + "/" + name);
  if (t && as && std::strcmp(as, evaluated_as(t->type)))
    broken("a parameter is evaluated as another type", n.name_ + "/" + name);
  return t;
}
static double value_of(const OP_Node &n, const char *parm, int k, fpreal t, const char *as) {
  const PRM_Template *p = need(n, parm, as);
  {
    std::lock_guard<std::recursive_mutex> lock(gate());
    ++world().evaluations;
  }
  auto c = n.channels.find(parm);
  if (c != n.channels.end() && c->second.count(k)) return c->second.at(k)(t);
  return p ? p->numbers.at(size_t(k)) : 0;
}
fpreal OP_Node::evalFloat(const char *parm, int k, fpreal t) const {
  return value_of(*this, parm, k, t, "float");
}
exint OP_Node::evalInt(const char *parm, int k, fpreal t) const {
  return exint(std::floor(value_of(*this, parm, k, t, "integer")));
}
void OP_Node::evalString(UT_String &out, const char *parm, int, fpreal time) const {
  const PRM_Template *p = need(*this, parm, "string");
  auto t = texts.find(parm);
  std::string text = t != texts.end() ? t->second : p ? p->words.at(0) : "";
  const size_t at = text.find("$F4");
  if (at != std::string::npos) {
    char frame[16];
    std::snprintf(frame, sizeof frame, "%04d",
                  int(std::lround(OPgetDirector()->getChannelManager()->getSample(time))));
    text.replace(at, 3, frame);
  }
  out = text.c_str();
}
void OP_Node::setFloat(const char *parm, int k, fpreal, fpreal value) {
  if (need(*this, parm, "float")) set(parm, value, k);
}
void OP_Node::set(const std::string &parm, double v, int k) {
  need(*this, parm, nullptr);
  channels[parm][k] = [v](fpreal) { return v; };
  ++version;
}
void OP_Node::animate(const std::string &parm, standin_channel f, int k) {
  need(*this, parm, nullptr);
  channels[parm][k] = f;
  keyed_ = true;
  ++version;
}
OP_VERSION OP_Node::getVersionParms() {
  std::lock_guard<std::recursive_mutex> lock(gate());
  return OP_VERSION(cook_version() & 0x3fffffff);
}
PRM_ParmList *OP_Node::getParmList() {
  list_.timedep = keyed_;
  return &list_;
}
void OP_Node::set_text(const std::string &parm, const std::string &v) {
  need(*this, parm, "string");
  texts[parm] = v;
  ++version;
}
int OP_Node::press(const std::string &parm, fpreal t) {
  const PRM_Template *p = need(*this, parm, nullptr);
  if (!p || !p->call) {
    broken("the button does nothing", parm);
    return 0;
  }
  return p->call(this, 0, t, p);
}
OP_ERROR OP_Node::error() const {
  UT_ErrorSeverity worst = UT_ERROR_NONE;
  for (auto &m : messages) worst = m.first > worst ? m.first : worst;
  return worst;
}

int64 SOP_Node::cook_version() {
  int64 v = version;
  for (auto *i : wires)
    if (auto *s = dynamic_cast<SOP_Node *>(i)) v += 1000003 * s->cook_version();
  return v;
}

static bool time_dependent(OP_Node *n) {
  if (n->flags_.timedep || n->keyed_) return true;
  for (auto *i : n->wires)
    if (i && time_dependent(i)) return true;
  return false;
}

const GU_Detail *SOP_Node::cooked(fpreal t) {
  int64 v = cook_version();
  if (have && have_version == v && (have_time == t || !time_dependent(this)))
    return error() >= UT_ERROR_ABORT ? nullptr : gdp;
  messages.clear();
  ++cooks;
  int64 open = world().open; // another node's cook may have asked for this one
  OP_Context context(t);
  const int64 outer = lineage;
  context.lineage = lineage = new_id();
  try {
    cookMySop(context);
  } catch (const std::exception &e) {
    broken("an exception left the cook", name_ + ": " + e.what());
  } catch (...) {
    broken("an exception left the cook", name_);
  }
  lineage = outer;
  if (!locked.empty()) broken("inputs are still locked", name_);
  if (!world().threads && world().open != open) broken("opStart without opEnd", name_);
  micro_.timedep = time_dependent(this);
  if (world().versions_with_time && have_time != t) ++version, v = cook_version();
  if (!mySopFlags.manages) gdp->bumpAllDataIds();
  check(*gdp, name_.c_str());
  have = true;
  have_time = t;
  have_version = v;
  return error() >= UT_ERROR_ABORT ? nullptr : gdp;
}

OP_ERROR SOP_Node::lockInput(standin_input i, OP_Context &context) {
  auto *in = dynamic_cast<SOP_Node *>(getInput(i));
  if (!in) return UT_ERROR_NONE;
  if (locked.count(int(i))) broken("an input is locked twice", name_);
  if (context.lineage == 0 || context.lineage != lineage)
    broken("an input is cooked with a context that is no copy of the cook's", name_);
  if (!in->cooked(context.getTime())) {
    say(UT_ERROR_ABORT, "the input failed");
    return UT_ERROR_ABORT;
  }
  locked.insert(int(i));
  return UT_ERROR_NONE;
}
void SOP_Node::unlockInput(standin_input i) {
  if (!dynamic_cast<SOP_Node *>(getInput(i))) return;
  if (!locked.erase(int(i))) broken("an input is unlocked that was not locked", name_);
}
OP_ERROR OP_AutoLockInputs::lockInput(exint i, OP_Context &context) {
  if (node->locked.count(int(i)) && mine.count(i)) unlockInput(i);
  OP_ERROR r = node->lockInput(standin_input(i), context);
  if (r < UT_ERROR_ABORT && node->locked.count(int(i))) mine.insert(i);
  return r;
}
OP_ERROR OP_AutoLockInputs::lock(OP_Context &context) {
  for (unsigned i = 0; i < node->nInputs(); ++i)
    if (lockInput(exint(i), context) >= UT_ERROR_ABORT) return UT_ERROR_ABORT;
  return UT_ERROR_NONE;
}
void OP_AutoLockInputs::unlockInput(exint i) {
  if (mine.erase(i)) node->unlockInput(standin_input(i));
}
void OP_AutoLockInputs::unlock() {
  while (!mine.empty()) unlockInput(*mine.begin());
}
const GU_Detail *SOP_Node::inputGeo(standin_input i, OP_Context &) {
  auto *in = dynamic_cast<SOP_Node *>(getInput(i));
  if (!in) return nullptr;
  if (!locked.count(int(i))) broken("an input is read that is not locked", name_);
  return in->gdp;
}

const GU_Detail *SOP_Node::guide(fpreal t) {
  if (!mySopFlags.guide || !cooked(t)) return nullptr;
  OP_Context context(t);
  const int64 outer = lineage;
  context.lineage = lineage = new_id();
  const size_t said = messages.size();
  try {
    cookMyGuide1(context);
  } catch (const std::exception &e) {
    broken("an exception left the guide", name_ + ": " + e.what());
  }
  if (messages.size() != said) broken("a guide speaks", name_);
  if (!locked.empty()) broken("a guide leaves an input locked", name_);
  lineage = outer;
  return myGuide1;
}

// ---- verbs ----
OP_ERROR SOP_Node::cookMyselfAsVerb(OP_Context &context) {
  const SOP_NodeVerb *verb = cookVerb();
  OP_AutoLockInputs inputs(this);
  if (inputs.lock(context) >= UT_ERROR_ABORT) return error();
  std::unique_ptr<SOP_NodeParms> parms(verb->allocParms());
  if (auto *options = dynamic_cast<SOP_NodeParmsOptions *>(parms.get()))
    options->load(*this, context.getTime());
  if (!cache || world().drop_caches) cache.reset(verb->allocCache());
  SOP_NodeVerb::CookParms cp;
  GU_DetailHandle dest;
  DEP_MicroNode dep;
  for (auto *i : wires) cp.inputs.push_back(i ? static_cast<SOP_Node *>(i)->gdp : nullptr);
  auto mode = verb->cookMode(parms.get());
  if (mode == SOP_NodeVerb::COOK_GENERIC)
    dest = handle; // messages of the last cook
  else {
    dest.allocateAndSet(new GU_Detail);
    if ((mode == SOP_NodeVerb::COOK_DUPLICATE || mode == SOP_NodeVerb::COOK_INPLACE) &&
        !cp.inputs.empty() && cp.inputs[0])
      dest.gdpNC()->replaceWith(*cp.inputs[0]);
    if (mode == SOP_NodeVerb::COOK_INPLACE && !cp.inputs.empty()) cp.inputs[0] = nullptr;
  }
  for (auto *i : cp.inputs)
    if (i) check(*i, "input");
  cp.dest = &dest;
  cp.node = world().compiled ? nullptr : this;
  cp.context = &context;
  cp.kept = cache.get();
  cp.dep = &dep;
  cp.values = parms.get();
  cp.said = &messages;
  verb->cook(cp);
  for (auto *i : cp.inputs)
    if (i) check(*i, "input after the cook");
  handle = dest;
  gdp = handle.gdpNC();
  flags().setTimeDep(dep.timedep);
  return error();
}

void SOP_NodeParmsOptions::load(const OP_Node &node, fpreal t) {
  if (!alive(templates)) {
    broken("the builder of the templates is gone", node.name_);
    return;
  }
  for (const PRM_Template *p = templates; !p->name.empty(); ++p) {
    if (p->type == "string") {
      UT_String s;
      node.evalString(s, p->name.c_str(), 0, t);
      texts[p->name] = s.c_str();
    } else
      for (int k = 0; k < p->size; ++k)
        numbers[p->name].push_back(value_of(node, p->name.c_str(), k, t, evaluated_as(p->type)));
  }
}

void SOP_NodeCacheOptions::doCook(const SOP_NodeVerb *, const SOP_NodeVerb::CookParms &parms) {
  cp = &parms;
  gdp = parms.gdh().gdpNC();
  OP_Context context(parms.getContext());
  cook(context);
  cp = nullptr;
  gdp = nullptr;
}
OP_ERROR SOP_NodeCacheOptions::error() const {
  UT_ErrorSeverity worst = UT_ERROR_NONE;
  for (auto &m : *cp->said) worst = m.first > worst ? m.first : worst;
  return worst;
}
// Options keep their type: asked for as another they are not there, and 0 comes back.
double SOP_NodeCacheOptions::number(const char *parm, int k, const char *as) const {
  auto &options = cp->parms<SOP_NodeParmsOptions>();
  for (const PRM_Template *p = options.templates; !p->name.empty(); ++p)
    if (p->name == parm && std::strcmp(as, evaluated_as(p->type))) {
      broken("an option is evaluated as another type", parm);
      return 0;
    }
  auto at = options.numbers.find(parm);
  if (at == options.numbers.end() || size_t(k) >= at->second.size()) {
    broken("there is no parameter", parm);
    return 0;
  }
  return at->second[size_t(k)];
}
fpreal SOP_NodeCacheOptions::evalFloat(const char *parm, int k, fpreal) const {
  return number(parm, k, "float");
}
exint SOP_NodeCacheOptions::evalInt(const char *parm, int k, fpreal) const {
  return exint(std::floor(number(parm, k, "integer")));
}
void SOP_NodeCacheOptions::evalString(UT_String &out, const char *parm, int, fpreal) const {
  auto &all = cp->parms<SOP_NodeParmsOptions>().texts;
  auto at = all.find(parm);
  if (at == all.end()) broken("there is no text parameter", parm);
  out = at == all.end() ? "" : at->second.c_str();
}
