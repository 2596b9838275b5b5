// Ooze Source: fills closed polygons, VDBs and volumes with particles of a material, or makes
// points into nozzles. SPDX-License-Identifier: Apache-2.0
#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>
#include <GEO/GEO_PrimPoly.h>
#include <GEO/GEO_Primitive.h>
#include <GU/GU_ConvertParms.h>
#include <GU/GU_PrimVDB.h>
#include <UT/UT_Assert.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "detail.h"
#include "nodes.h"
#include "sources.h"
#include "verb.h"

namespace {

class SourceCook : public oz::Cook {
public:
  static constexpr const char *node = "source";
  static constexpr SOP_NodeVerb::CookMode mode = SOP_NodeVerb::COOK_GENERATOR;

protected:
  void run(OP_Context &context, oz::Report &report) override {
    const oz::Parms parms(node, *this, context.getTime());
    const GU_Detail *in = inputGeo(0);
    std::string emission = parms.text("emission");
    ooze_material material;
    if (!in) {
      report.fail("the first input is missing: expected geometry to fill, or points that pour");
      return;
    }
    if (!choose(parms, material, report)) return;
    if (emission == "nozzle")
      nozzles(*in, parms, material, report);
    else
      fill(*in, parms, material, emission == "continuous" ? oz::CONTINUOUS : oz::ONCE, report);
    gdp->bumpAllDataIds();
  }

private:
  // The preset, or the numbers of the dialog.
  bool choose(const oz::Parms &parms, ooze_material &out, oz::Report &report) {
    std::string preset = parms.text("preset");
    ooze_material_default(&out);
    if (preset == "custom")
      return oz::read_group(node, parms, "material", "material", &out, report);
    ooze_preset p;
    ooze_preset_default(&p);
    if (ooze_preset_find(preset.c_str(), &p) < 0)
      return report.fail("there is no material preset %s", preset.c_str());
    out = p.material;
    return true;
  }

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
    // of the numbers by three only these are vectors, which transforms turn
    if (!std::strcmp(name, "v") || !std::strcmp(name, "rest")) a->setTypeInfo(GA_TYPE_VECTOR);
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

  // What every born particle carries: the material's numbers, by the schema's list. Points of a
  // ramp that has none are left out: there are many of them, and 0 is what a point without the
  // attribute has.
  void dress(const ooze_material &material, int emission, double separation) {
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
  }

  void nozzles(const GU_Detail &in, const oz::Parms &parms, const ooze_material &material,
               oz::Report &report) {
    gdp->replaceWith(in);
    if (in.getNumPoints() == 0) report.warn("the input has no points to pour from");
    tell("emitter", parms);
    double seed = parms.number("seed");
    constant("seed", 1, &seed, true);
    dress(material, oz::NOZZLE, parms.number("particlesep"));
  }

  // All of them, or those of one name.
  bool polygons(const GU_Detail &in, const std::string *only, oz::Mesh &mesh, oz::Report &report) {
    std::vector<uint32_t> triangles;
    GA_ROHandleS name(in.findAttribute(GA_ATTRIB_PRIMITIVE, "name"));
    for (GA_Iterator it(in.getPrimitiveRange()); !it.atEnd(); ++it) {
      const GEO_Primitive *prim = in.getGEOPrimitive(*it);
      if (prim->getTypeId() != GEO_PRIMPOLY ||
          !UTverify_cast<const GEO_PrimPoly *>(prim)->isClosed())
        continue;
      if (only && name.isValid() && *only != name.get(*it).c_str()) continue;
      for (GA_Size v = 2; v < prim->getVertexCount(); ++v)
        for (GA_Size c : {GA_Size(0), v - 1, v})
          triangles.push_back(uint32_t(in.pointIndex(prim->getPointOffset(c))));
    }
    ooze_message why = {""};
    if (!report.ok(
            ooze_mesh_allocate(&mesh.m, uint32_t(in.getNumPoints()), triangles.size() / 3, 0, &why),
            why, "polygons"))
      return false;
    GA_ROHandleV3 p(in.getP());
    p.getBlockFromIndices(GA_Index(0), in.getNumPoints(),
                          reinterpret_cast<UT_Vector3 *>(mesh.m.positions));
    std::copy(triangles.begin(), triangles.end(), mesh.m.triangles);
    if (!triangles.empty() && ooze_mesh_is_closed(&mesh.m) == 0)
      report.warn("the polygons have open edges; what is inside of them is a guess");
    return true;
  }

  struct Part { // what was filled, and the points until then
    std::string name;
    size_t end;
  };
  static std::set<std::string> names_of(const GU_Detail &in) { // of the polygons
    std::set<std::string> names;
    GA_ROHandleS name(in.findAttribute(GA_ATTRIB_PRIMITIVE, "name"));
    for (GA_Iterator it(in.getPrimitiveRange()); !it.atEnd(); ++it)
      if (in.getGEOPrimitive(*it)->getTypeId() == GEO_PRIMPOLY)
        names.insert(name.isValid() ? name.get(*it).c_str() : "");
    return names;
  }

  bool pour(const oz::Mesh &mesh, const oz::Parms &parms, std::vector<float> &out,
            oz::Report &report) {
    ooze_fill_desc d;
    ooze_message why = {""};
    float *x = nullptr;
    uint32_t n = 0;
    ooze_fill_desc_default(&d);
    d.separation = parms.real("particlesep");
    d.jitter = parms.real("jitter");
    d.seed = uint32_t(parms.number("seed"));
    d.occupied = out.data();
    d.occupied_count = uint32_t(out.size() / 3);
    if (!report.ok(ooze_fill_mesh(&d, &mesh.m, &x, &n, &why), why, "fill")) return false;
    out.insert(out.end(), x, x + 3 * size_t(n));
    ooze_io_free(x);
    return true;
  }

  void fill(const GU_Detail &source, const oz::Parms &parms, const ooze_material &material,
            int emission, oz::Report &report) {
    GU_Detail in;
    GU_ConvertParms convert;
    std::vector<float> x;
    std::vector<Part> parts;
    size_t used = 0, strange = 0;
    in.replaceWith(source);
    GU_PrimVDB::convertVolumesToVDBs(in, in, convert, false, false, 0.0, false);
    std::set<std::string> names = {""};
    if (parms.on("body")) names = names_of(in);
    for (auto &name : names) {
      oz::Mesh polygon;
      if (!polygons(in, parms.on("body") ? &name : nullptr, polygon, report)) return;
      if (polygon.m.triangle_count == 0) continue;
      ++used;
      if (!pour(polygon, parms, x, report)) return;
      parts.push_back({name, x.size() / 3});
    }
    for (GA_Iterator it(in.getPrimitiveRange()); !it.atEnd(); ++it) {
      const GEO_Primitive *prim = in.getGEOPrimitive(*it);
      strange += prim->getTypeId() != GEO_PRIMPOLY && prim->getTypeId() != GEO_PRIMVDB;
      if (prim->getTypeId() != GEO_PRIMVDB) continue;
      auto *vdb = UTverify_cast<const GEO_PrimVDB *>(prim);
      if (!vdb->hasGrid() || vdb->getStorageType() != UT_VDB_FLOAT) {
        report.warn("VDB %s does not hold floats; it is not filled", vdb->getGridName());
        continue;
      }
      oz::Mesh mesh;
      ooze_message why = {""};
      bool fog = vdb->getConstGridPtr()->getGridClass() == openvdb::GRID_FOG_VOLUME;
      if (!report.ok(ooze_grid_mesh(vdb->getConstGridPtr().get(),
                                    fog ? parms.number("isovalue") : 0.0, &mesh.m, &why),
                     why, vdb->getGridName()))
        return;
      ++used;
      if (!pour(mesh, parms, x, report)) return;
      parts.push_back({vdb->getGridName(), x.size() / 3});
    }
    if (strange)
      report.warn("%zu primitives are neither polygons nor volumes; they are not filled", strange);
    if (!used)
      report.warn("the input has nothing to fill: expected closed polygons, VDBs or volumes");
    else if (x.empty())
      report.warn("nothing is as large as a particle; expected a smaller Particle Separation");
    birth(x, parms, material, emission);
    if (parms.on("body")) embody(x, parts, parms);
  }

  // Which body each point is of. The number comes from where it is made, so that those of two
  // sources do not fall together.
  void embody(const std::vector<float> &x, const std::vector<Part> &parts, const oz::Parms &parms) {
    gdp->addIntTuple(GA_ATTRIB_POINT, "body", 1, GA_Defaults(0));
    gdp->addStringTuple(GA_ATTRIB_POINT, "name", 1);
    GA_RWHandleI number(gdp->findPointAttribute("body"));
    GA_RWHandleS name(gdp->findPointAttribute("name"));
    size_t i = 0;
    for (auto &part : parts) {
      uint64_t hash = ooze_hash(x.data() + 3 * i, (part.end - i) * 12, 0);
      for (; i < part.end; ++i) {
        number.set(gdp->pointOffset(GA_Index(i)), int32(1 + (hash & 0x3fffffff)));
        name.set(gdp->pointOffset(GA_Index(i)), part.name.c_str());
      }
    }
    tell("body", parms);
  }

  void birth(const std::vector<float> &x, const oz::Parms &parms, const ooze_material &material,
             int emission) {
    GA_Size n = GA_Size(x.size() / 3);
    double v[3] = {parms.number("velocity", 0), parms.number("velocity", 1),
                   parms.number("velocity", 2)};
    if (n) {
      gdp->appendPointBlock(n);
      GA_RWHandleV3(gdp->getP())
          .setBlockFromIndices(GA_Index(0), n, reinterpret_cast<const UT_Vector3 *>(x.data()));
    }
    constant("v", 3, v, false);
    if (parms.on("rest")) {
      const double zero[3] = {0, 0, 0};
      constant("rest", 3, zero, false);
      if (n)
        GA_RWHandleV3(gdp->findPointAttribute("rest"))
            .setBlockFromIndices(GA_Index(0), n, reinterpret_cast<const UT_Vector3 *>(x.data()));
    }
    dress(material, emission, parms.number("particlesep"));
    float separation = parms.real("particlesep");
    oz::write_detail(*gdp, "separation", 1, &separation);
  }
};

} // namespace

void oz::add_source(OP_OperatorTable *table) { VerbNode<SourceCook>::enlist(table); }
