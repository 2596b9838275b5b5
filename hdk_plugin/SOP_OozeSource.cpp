// Ooze Source: fills closed polygons, VDBs and volumes with particles of a material, or makes
// points into nozzles. SPDX-License-Identifier: Apache-2.0
#include <GA/GA_ElementGroup.h>
#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "detail.h"
#include "driven.h"
#include "filling.h"
#include "guides.h"
#include "nodes.h"
#include "sources.h"
#include "verb.h"

namespace {

constexpr char SOURCE[] = "source";
class SourceCook : public oz::Cook<SOURCE, SOP_NodeVerb::COOK_GENERATOR> {
public:
  static void guide(const oz::Parms &, const GU_Detail &detail, GU_Detail &to, oz::Report &) {
    oz::draw_nozzles(detail, to);
  }

protected:
  void run(const oz::Parms &parms, oz::Report &report) override {
    const GU_Detail *in = inputGeo(0);
    std::string emission = parms.text("emission");
    ooze_material material;
    if (!in) {
      report.fail("the first input is missing: expected geometry to fill, or points that pour");
      return;
    }
    ooze_material_default(&material);
    if (!oz::read_group(node, parms, "material", "material", &material, report)) return;
    if (emission == "nozzle")
      nozzles(*in, parms, material, report);
    else
      fill(*in, parms, material, emission == "continuous" ? oz::CONTINUOUS : oz::ONCE, report);
    gdp->bumpAllDataIds();
  }

private:
  // One value on every point, unless the attribute is there already.
  void constant(const char *name, int width, const double *value, bool integer) {
    if (gdp->findPointAttribute(name)) return;
    if (integer)
      gdp->addIntTuple(GA_ATTRIB_POINT, name, width, GA_Defaults(value[0]));
    else
      gdp->addFloatTuple(GA_ATTRIB_POINT, name, width, GA_Defaults(width == 1 ? value[0] : 0));
    GA_Attribute *a = gdp->findPointAttribute(name);
    GA_RWHandleF h(a);
    for (GA_Index i = 0; i < gdp->getNumPoints(); ++i)
      for (int k = 0; k < width; ++k) h.set(gdp->pointOffset(i), k, float(value[k]));
    // of the numbers by three only these are vectors, which transforms turn, and places, which they
    // move
    if (!std::strcmp(name, "v") || !std::strcmp(name, "rest")) a->setTypeInfo(GA_TYPE_VECTOR);
    if (!std::strcmp(name, "anchor") || !std::strcmp(name, "holdat")) a->setTypeInfo(GA_TYPE_POINT);
  }

  // Numbers of the dialog as attributes.
  void tell(const char *group, const oz::Parms &parms) {
    for (auto &p : oz::parms_of(node)) {
      double value[4] = {0, 0, 0, 0};
      if (std::strcmp(p.group, group)) continue;
      for (uint32_t k = 0; k < p.components; ++k) value[k] = parms.number(p.token, int(k));
      constant(p.token, int(p.components), value, false);
    }
  }

  // Attributes of every born particle: the material's numbers, by the schema's list. Points of a
  // ramp that has none are left out: there are many of them, and a point without the attribute has
  // 0.
  void dress(const ooze_material &material, int emission, double separation, double life) {
    for (auto &p : oz::parms_of(node)) {
      double value[4] = {0, 0, 0, 0};
      if (std::strcmp(p.group, "material") ||
          ooze_schema_load("material", p.field, &material, value) < 0)
        continue;
      bool ramp = p.components == 3;
      if (!ramp || value[0] > 0) constant(p.token, int(p.components), value, false);
    }
    double half = 0.5 * separation, kind = emission;
    if (emission != oz::NOZZLE) constant("pscale", 1, &half, false);
    if (emission != oz::ONCE) constant("emission", 1, &kind, true);
    if (life > 0) constant("life", 1, &life, false);
  }

  bool choose_points(const std::string &pattern, oz::Report &report) {
    if (pattern.empty()) return true;
    const GA_PointGroup *group = parsePointGroups(pattern.c_str(), GroupCreator(gdp));
    if (!group) return report.fail("there is no group of points %s", pattern.c_str());
    auto gone = gdp->createDetachedPointGroup();
    for (GA_Iterator it(gdp->getPointRange()); !it.atEnd(); ++it)
      if (!group->containsOffset(*it)) gone->addOffset(*it);
    if (gone->entries()) gdp->destroyPointOffsets(GA_Range(*gone));
    return true;
  }

  void nozzles(const GU_Detail &in, const oz::Parms &parms, const ooze_material &material,
               oz::Report &report) {
    gdp->replaceWith(in);
    if (!choose_points(parms.text("group"), report)) return;
    if (gdp->getNumPoints() == 0) report.warn("the input has no points to pour from");
    tell("emitter", parms);
    double seed = parms.number("seed");
    constant("seed", 1, &seed, true);
    const std::string corners = parms.text("corners");
    if (!corners.empty() && !gdp->findPointAttribute("corners")) {
      GA_RWHandleS h(gdp->addStringTuple(GA_ATTRIB_POINT, "corners", 1));
      for (GA_Index i = 0; i < gdp->getNumPoints(); ++i)
        h.set(gdp->pointOffset(i), corners.c_str());
    }
    dress(material, oz::NOZZLE, parms.number("particlesep"), parms.number("life"));
  }

  void fill(const GU_Detail &source, const oz::Parms &parms, const ooze_material &material,
            int emission, oz::Report &report) {
    GU_Detail in;
    in.replaceWith(source);
    if (!choose_primitives(in, parms.text("group"), report)) return;
    const bool body = parms.on("body");
    oz::Filling filling(in, parms, parms.text("emitfrom") == "surface" && !body, body);
    if (!filling.run(report) || !birth(filling, parms, report)) return;
    dress(material, emission, parms.number("particlesep"), parms.number("life"));
    float separation = parms.real("particlesep");
    oz::write_detail(*gdp, "separation", 1, &separation);
    if (body) embody(filling, parms, report);
  }

  // Others than those of the group go.
  bool choose_primitives(GU_Detail &in, const std::string &pattern, oz::Report &report) {
    if (pattern.empty()) return true;
    const GA_PrimitiveGroup *group = parsePrimitiveGroups(pattern.c_str(), GroupCreator(&in));
    if (!group) return report.fail("there is no group of primitives %s", pattern.c_str());
    auto gone = in.createDetachedPrimitiveGroup();
    for (GA_Iterator it(in.getPrimitiveRange()); !it.atEnd(); ++it)
      if (!group->containsOffset(*it)) gone->addOffset(*it);
    if (gone->entries()) in.destroyPrimitiveOffsets(GA_Range(*gone));
    return true;
  }

  // Which body each point is of. The number comes from where it is made, so that those of two
  // sources do not fall together.
  void embody(const oz::Filling &filling, const oz::Parms &parms, oz::Report &report) {
    const bool driven = parms.on("driven");
    gdp->addIntTuple(GA_ATTRIB_POINT, "body", 1, GA_Defaults(0));
    gdp->addStringTuple(GA_ATTRIB_POINT, "name", 1);
    GA_RWHandleI number(gdp->findPointAttribute("body"));
    GA_RWHandleS name(gdp->findPointAttribute("name"));
    for (auto &part : filling.parts()) {
      const size_t n = part->end - part->begin;
      const bool follows = driven && part->point == GA_INVALID_OFFSET;
      const uint64_t hash = ooze_hash(filling.places().data() + 3 * part->begin, n * 12, 0);
      const int32 which = follows ? oz::driven_number(*part, parms.text("sourcename"))
                                  : int32(1 + (hash & 0x3fffffff));
      if (driven && !follows)
        report.warn("VDB %s does not tell how it moves; expected polygons for a body that follows",
                    part->name.c_str());
      if (follows) anchor(*part, parms);
      for (size_t i = part->begin; i < part->end; ++i) {
        number.set(gdp->pointOffset(GA_Index(i)), which);
        name.set(gdp->pointOffset(GA_Index(i)), part->name.c_str());
      }
    }
    tell("body", parms);
  }

  // Anchors by which the solver finds the motion of a body's polygons.
  void anchor(const oz::Filling::Part &part, const oz::Parms &parms) {
    const double zero[3] = {0, 0, 0}, at[3] = {parms.number("holdat", 0), parms.number("holdat", 1),
                                               parms.number("holdat", 2)};
    constant("anchor", 3, zero, false);
    constant("driven", 1, zero, true);
    constant("holdat", 3, zero, false);
    GA_RWHandleV3 anchors(gdp->findPointAttribute("anchor")),
        origin(gdp->findPointAttribute("holdat"));
    GA_RWHandleI driven(gdp->findPointAttribute("driven"));
    const std::vector<float> places = oz::anchors_of(part);
    for (size_t i = part.begin; i < part.end; ++i) {
      const GA_Offset o = gdp->pointOffset(GA_Index(i));
      const float *p = places.data() + 3 * (i - part.begin);
      anchors.set(o, UT_Vector3(p[0], p[1], p[2]));
      origin.set(o, UT_Vector3(float(at[0]), float(at[1]), float(at[2])));
      driven.set(o, 1);
    }
  }

  bool birth(const oz::Filling &filling, const oz::Parms &parms, oz::Report &report) {
    const std::vector<float> &x = filling.places();
    const GA_Size n = GA_Size(x.size() / 3);
    const double zero[3] = {0, 0, 0};
    if (n) {
      gdp->appendPointBlock(n);
      GA_RWHandleV3(gdp->getP())
          .setBlockFromIndices(GA_Index(0), n, reinterpret_cast<const UT_Vector3 *>(x.data()));
    }
    if (!filling.transfer(parms.text("attribs"), *gdp, report)) return false;
    constant("v", 3, zero, false);
    move(filling, parms);
    if (parms.on("rest")) {
      gdp->destroyAttribute(GA_ATTRIB_POINT, "rest");
      constant("rest", 3, zero, false);
      if (n)
        GA_RWHandleV3(gdp->findPointAttribute("rest"))
            .setBlockFromIndices(GA_Index(0), n, reinterpret_cast<const UT_Vector3 *>(x.data()));
    }
    const std::string source = parms.text("sourcename");
    if (source.empty()) return true;
    gdp->addStringTuple(GA_ATTRIB_POINT, "sourcename", 1);
    GA_RWHandleS h(gdp->findPointAttribute("sourcename"));
    for (GA_Index i = 0; i < n; ++i) h.set(gdp->pointOffset(i), source.c_str());
    return true;
  }

  // The velocity of the shape, that of the dialog, and that along the surface's normal.
  void move(const oz::Filling &filling, const oz::Parms &parms) {
    const double inherit = parms.number("inheritvel"), out = parms.number("normalspeed");
    const std::vector<float> &normals = filling.normals();
    GA_RWHandleF v(gdp->findPointAttribute("v"));
    for (GA_Index i = 0; i < gdp->getNumPoints(); ++i)
      for (int k = 0; k < 3; ++k) {
        const GA_Offset o = gdp->pointOffset(i);
        double value = inherit * double(v.get(o, k)) + parms.number("velocity", k);
        if (!normals.empty()) value += out * double(normals[3 * size_t(i) + size_t(k)]);
        v.set(o, k, float(value));
      }
  }
};

// The numbers of a preset, into the parameters of the node, where they may be changed. A float has
// seven digits, and more are hard to read.
int fill_in(void *data, int, fpreal time, const PRM_Template *) {
  auto *node = static_cast<OP_Node *>(data);
  UT_String name;
  ooze_preset preset;
  node->evalString(name, "preset", 0, time);
  ooze_preset_default(&preset);
  if (!name.c_str() || ooze_preset_find(name.c_str(), &preset) < 0) return 0; // custom
  for (auto &p : oz::parms_of("source")) {
    double value[4] = {0, 0, 0, 0};
    if (std::strcmp(p.group, "material") ||
        ooze_schema_load("material", p.field, &preset.material, value) < 0)
      continue;
    for (uint32_t k = 0; k < p.components; ++k) {
      char text[32];
      std::snprintf(text, sizeof text, "%.7g", value[k]);
      node->setFloat(p.token, int(k), time, std::strtod(text, nullptr));
    }
  }
  return 1;
}

} // namespace

void oz::add_source(OP_OperatorTable *table) {
  using Node = GuidedNode<SourceCook>;
  dialog_builder("source").setCallback("preset", PRM_Callback(fill_in));
  Node::enlist(table, Node::construct);
}
