// Ooze Surface: particles to a signed distance VDB with attributes, or to polygons.
// SPDX-License-Identifier: Apache-2.0
#include <GA/GA_AttributeDict.h>
#include <GA/GA_ElementGroup.h>
#include <GA/GA_Handle.h>
#include <GU/GU_PrimVDB.h>
#include <UT/UT_StringHolder.h>

#include <algorithm>
#include <string>
#include <vector>

#include "colliders.h"
#include "detail.h"
#include "nodes.h"
#include "polygons.h"
#include "verb.h"

namespace {

struct Surface {
  ooze_surface *s = nullptr;
  ~Surface() { ooze_surface_destroy(s); }
};

constexpr char SURFACE[] = "surface";
class SurfaceCook : public oz::Cook<SURFACE, SOP_NodeVerb::COOK_GENERATOR> {
protected:
  void run(const oz::Parms &parms, oz::Report &report) override {
    const GU_Detail *in = inputGeo(0);
    if (!in) {
      report.fail("the first input is missing: expected particles");
      return;
    }
    UT_AutoInterrupt boss("Ooze: surface");
    Surface surface;
    if (in->getNumPoints() == 0) return; // nothing has been born yet
    if (!build(*in, parms, surface, report)) return;
    std::string output = parms.text("output");
    double blend = 0;
    myBlends = oz::find_number(*in, "restblend", GA_INVALID_OFFSET, GA_INVALID_OFFSET, 1, &blend);
    myBlend = float(blend);
    if (output != "polygons" && !grids(surface, parms, report)) return;
    if (output != "vdb" && !polygons(surface, parms, report)) return;
    if (myBlends) oz::write_detail(*gdp, "restblend", 1, &myBlend);
    gdp->bumpAllDataIds();
  }

private:
  // A float attribute of the points, packed; empty where there is none of that width.
  static std::vector<float> read(const GU_Detail &in, const char *name, int width) {
    std::vector<float> out;
    const GA_Attribute *a = in.findPointAttribute(name);
    GA_ROHandleF h(a);
    if (!h.isValid() || a->getTupleSize() < width) return out;
    out.resize(size_t(in.getNumPoints()) * size_t(width));
    for (int k = 0; k < width; ++k)
      h.getBlockFromIndices(GA_Index(0), in.getNumPoints(), out.data() + k, width, k);
    return out;
  }

  static float separation_of(const GU_Detail &in, const oz::Parms &parms, oz::Report &report) {
    double found = parms.number("particlesep");
    if (found > 0 ||
        oz::find_number(in, "separation", GA_INVALID_OFFSET, GA_INVALID_OFFSET, 1, &found))
      return float(found);
    std::vector<float> pscale = read(in, "pscale", 1);
    for (float p : pscale) found += 2.0 * double(p) / double(pscale.size());
    if (!(found > 0))
      report.fail("the particles have neither the detail attribute separation nor pscale; expected "
                  "a Particle "
                  "Separation above 0");
    return float(found);
  }

  bool build(const GU_Detail &in, const oz::Parms &parms, Surface &out, oz::Report &report) {
    ooze_surface_desc d;
    ooze_surface_points points;
    ooze_surface_scalar scalars[3];
    std::vector<Channel> channels;
    std::vector<ooze_surface_channel> listed;
    std::vector<uint32_t> materials;
    std::vector<ooze_collider_desc> solids;
    std::vector<uint8_t> gone;
    ooze_hooks hooks;
    ooze_message why = {""};
    ooze_surface_desc_default(&d);
    ooze_surface_points_default(&points);
    d.separation = separation_of(in, parms, report);
    if (report.failed()) return false;
    d.method = uint32_t(parms.number("method"));
    d.voxel = parms.real("voxelsize");
    d.radius = parms.real("radius");
    d.smoothing = uint32_t(parms.number("smoothing"));
    d.position_smoothing = parms.real("possmoothing");
    d.max_stretch = parms.real("maxstretch");
    d.half_width = parms.real("halfwidth");
    d.threshold = parms.real("threshold");
    myHost.fill(hooks);
    d.hooks = &hooks;
    if (!find_solids(parms, d, solids, report)) return false;
    d.solids = solids.data();
    d.solid_count = uint32_t(solids.size());
    d.solid_gap = parms.real("collidergap");

    std::vector<float> p = read(in, "P", 3), v, temperature, tensor, stress, rates;
    points.count = uint32_t(in.getNumPoints());
    points.positions = p.data();
    if (!leave_out(in, parms, gone, report)) return false;
    points.left_out = gone.data();
    points.scalars = scalars;
    if (parms.on("velocity")) {
      v = read(in, "v", 3);
      if (v.empty()) report.warn("the particles have no velocity v; the surface has none either");
      points.velocities = v.empty() ? nullptr : v.data();
    }
    if (parms.on("temperature")) {
      temperature = read(in, "temperature", 1);
      if (temperature.empty())
        report.warn("the particles have no temperature");
      else
        scalars[points.scalar_count++] = ooze_surface_scalar{"temperature", temperature.data(), 0};
    }
    if (parms.on("stress")) {
      tensor = read(in, "stress", 6);
      if (tensor.empty())
        report.warn("the particles have no stress; switch on Stress in the solver's Output folder");
      stress.resize(tensor.size() / 6);
      ooze_tensor_norms(tensor.data(), uint32_t(stress.size()), stress.data());
      if (!stress.empty())
        scalars[points.scalar_count++] = ooze_surface_scalar{"stress", stress.data(), 0};
    }
    if (parms.on("strainrate") && !strain(in, d, points, rates, report)) return false;
    if (!rates.empty())
      scalars[points.scalar_count++] = ooze_surface_scalar{"strainrate", rates.data(), 0};
    find_channels(in, parms.text("attribs"), parms.on("strainrate"), channels, report);
    for (auto &c : channels)
      listed.push_back({c.name.c_str(), c.values.data(), 0, c.components, c.kind});
    points.channels = listed.data();
    points.channel_count = uint32_t(listed.size());
    if (parms.on("material")) points.material_count = find_materials(in, materials, report);
    points.materials = materials.data();
    return report.ok(ooze_surface_build(&d, &points, &out.s, &why), why, "surface");
  }

  // How fast the fluid shears at each point, by the velocities of its neighbours.
  static bool strain(const GU_Detail &in, const ooze_surface_desc &d, ooze_surface_points points,
                     std::vector<float> &out, oz::Report &report) {
    const std::vector<float> v = read(in, "v", 3);
    ooze_message why = {""};
    if (v.empty()) {
      report.warn("the particles have no velocity v; the surface has no strain rate");
      return true;
    }
    points.velocities = v.data();
    out.resize(points.count);
    return report.ok(ooze_strain_rate(&d, &points, out.data(), &why), why, "strain rate");
  }

  // Points that have no part in the surface.
  bool leave_out(const GU_Detail &in, const oz::Parms &parms, std::vector<uint8_t> &out,
                 oz::Report &report) {
    const std::string pattern = parms.text("group");
    const GA_PointGroup *group = nullptr;
    if (!pattern.empty() && !(group = parsePointGroups(pattern.c_str(), GroupCreator(&in))))
      return report.fail("there is no group of points %s", pattern.c_str());
    const uint32_t bits = ooze_surface_of_bits(uint32_t(parms.number("surfaceof")));
    GA_ROHandleI owner(in.findPointAttribute("owner")), body(in.findPointAttribute("body"));
    for (GA_Index i = 0; i < in.getNumPoints(); ++i) {
      const GA_Offset o = in.pointOffset(i);
      // a body has an owner from its first step on
      const bool of_body =
          (owner.isValid() && owner.get(o) != 0) || (body.isValid() && body.get(o) > 0);
      out.push_back((bits & (of_body ? OOZE_WITHOUT_BODIES : OOZE_WITHOUT_FLUID)) != 0 ||
                    (group && !group->containsOffset(o)));
    }
    return true;
  }

  // Colliders at the size of the surface's voxels, so that both have edges alike.
  bool find_solids(const oz::Parms &parms, const ooze_surface_desc &d,
                   std::vector<ooze_collider_desc> &out, oz::Report &report) {
    oz::ColliderSettings settings;
    oz::ColliderInput input;
    const oz::Shapes shapes(inputGeo(1));
    ooze_collider_desc_default(&settings.desc);
    settings.solids = true;
    settings.separation = d.separation;
    settings.voxel = d.voxel > 0 ? d.voxel : 0.5f * d.separation;
    settings.band = d.half_width;
    settings.ground = parms.on("useground");
    settings.ground_height = parms.real("groundheight");
    settings.world = parms.world;
    input.now = &shapes;
    return myColliders.solids(settings, input, out, report);
  }

  // An attribute of the particles that the surface takes on.
  struct Channel {
    std::string name;
    uint32_t components, kind;
    std::vector<float> values;
  };
  static void find_channels(const GU_Detail &in, const std::string &pattern, bool strained,
                            std::vector<Channel> &out, oz::Report &report) {
    enum { MOST = 8 };
    for (GA_AttributeDict::iterator it = in.pointAttribs().begin(GA_SCOPE_PUBLIC); !it.atEnd();
         ++it) {
      const GA_Attribute *a = it.attrib();
      const UT_StringHolder name(a->getName());
      const int width = a->getTupleSize();
      const bool known = name == "P" || name == "v" || name == "temperature" || name == "stress" ||
                         (strained && name == "strainrate");
      if (known || a->getStorageClass() != GA_STORECLASS_REAL || (width != 1 && width != 3) ||
          !name.multiMatch(pattern.c_str()))
        continue;
      if (out.size() == MOST) {
        report.warn("a surface takes %d attributes; %s is left out", int(MOST), name.c_str());
        continue;
      }
      const bool place = width == 3 && (name == "rest" || name == "rest2");
      const uint32_t kind = place          ? OOZE_CHANNEL_PLACE
                            : name == "Cd" ? OOZE_CHANNEL_SHARP
                                           : OOZE_CHANNEL_MEAN;
      out.push_back({name.c_str(), uint32_t(width), kind, read(in, name.c_str(), width)});
    }
  }

  // How many materials there are; 0 where it is not told.
  static uint32_t find_materials(const GU_Detail &in, std::vector<uint32_t> &out,
                                 oz::Report &report) {
    enum { MOST = 16 };
    GA_ROHandleI h(in.findPointAttribute("material"));
    uint32_t most = 0;
    for (GA_Index i = 0; i < in.getNumPoints(); ++i) { // without the attribute all are of the first
      const int number = h.isValid() ? h.get(in.pointOffset(i)) : 0;
      out.push_back(uint32_t(std::max(number, 0)));
      most = std::max(most, out.back());
    }
    if (most < MOST) return most + 1;
    report.warn("a surface tells %d materials apart; the particles have %u", int(MOST), most + 1);
    return 0;
  }

  bool grids(const Surface &surface, const oz::Parms &parms, oz::Report &report) {
    std::string surface_name = parms.text("surfacename"),
                velocity_name = parms.text("velocityname");
    ooze_vdb_options o;
    ooze_message why = {""};
    ooze_vdb_options_default(&o);
    o.surface_name = surface_name.c_str();
    o.velocity_name = velocity_name.c_str();
    o.has_rest_blend = myBlends;
    o.rest_blend = myBlend;
    for (uint32_t i = 0;; ++i) {
      openvdb::GridBase::Ptr grid;
      ooze_result r = ooze_surface_grid(surface.s, i, &o, &grid, &why);
      if (r == OOZE_ERROR_NOT_FOUND) return true;
      if (!report.ok(r, why, "VDB")) return false;
      GU_PrimVDB::buildFromGrid(*gdp, grid, nullptr, grid->getName().c_str());
    }
  }

  bool polygons(const Surface &surface, const oz::Parms &parms, oz::Report &report) {
    oz::Mesh mesh;
    ooze_message why = {""};
    if (!report.ok(ooze_surface_mesh(surface.s, parms.number("adaptivity"), &mesh.m, &why), why,
                   "polygons"))
      return false;
    oz::write_polygons(mesh.m, *gdp);
    return true;
  }

  bool myBlends = false; // the particles tell the share of rest2 beside rest
  float myBlend = 0;
  oz::Host myHost;
  oz::Colliders myColliders; // shapes of the last cook, for those that stay
};

} // namespace

void oz::add_surface(OP_OperatorTable *table) { VerbNode<SurfaceCook>::enlist(table); }
