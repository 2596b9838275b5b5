/* SPDX-License-Identifier: Apache-2.0 */
#include "vdb.h"

#include <fstream>
#include <iomanip>
#include <sstream>
#include <openvdb/openvdb.h>

#include <algorithm>

namespace standin {
World &world() {
  static World w;
  return w;
}
std::recursive_mutex &gate() {
  static std::recursive_mutex m;
  return m;
}
int64 new_id() {
  std::lock_guard<std::recursive_mutex> lock(gate());
  return world().next_id++;
}
void broken(const char *what, const std::string &about) {
  std::lock_guard<std::recursive_mutex> lock(gate());
  std::fprintf(stderr, "stand-in: %s: %s\n", what, about.c_str());
  ++world().failures;
}

static std::map<const GA_Attribute *, const GA_Detail *> &owners() {
  static std::map<const GA_Attribute *, const GA_Detail *> m;
  return m;
}
const GA_Detail *detail_of(const GA_Attribute *a) {
  std::lock_guard<std::recursive_mutex> lock(gate());
  return owners().at(a);
}
static void own(const GA_Attribute *a, const GA_Detail *gdp) {
  std::lock_guard<std::recursive_mutex> lock(gate());
  if (gdp)
    owners()[a] = gdp;
  else
    owners().erase(a);
}

static uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  return h * 0xbf58476d1ce4e5b9u;
}

uint64_t contents_of(const GA_Detail &gdp, const GA_Attribute &a) {
  uint64_t h = mix(uint64_t(a.tuple), a.storage);
  std::vector<GA_Offset> all;
  if (a.owner == GA_ATTRIB_POINT)
    all = gdp.order.all();
  else
    for (size_t i = 0; i < gdp.count_of(a.owner); ++i) all.push_back(GA_Offset(i));
  for (GA_Offset off : all)
    for (int k = 0; k < a.tuple; ++k) {
      size_t at = size_t(off) * size_t(a.tuple) + size_t(k);
      uint64_t word = 0;
      if (a.storage == GA_STORE_INT32) word = uint64_t(uint32_t(a.data.i32.at(at)));
      if (a.storage == GA_STORE_INT64) word = uint64_t(a.data.i64.at(at));
      if (a.storage == GA_STORE_REAL32) std::memcpy(&word, &a.data.f32.at(at), 4);
      if (a.storage == GA_STORE_REAL64) std::memcpy(&word, &a.data.f64.at(at), 8);
      if (a.storage == GA_STORE_STRING) word = std::hash<std::string>()(a.data.text.at(at));
      h = mix(h, word);
    }
  return h;
}

static void see(GA_DataId id, uint64_t now, const char *where, const std::string &what) {
  auto at = world().contents.emplace(id, now).first;
  if (at->second != now)
    broken("contents changed but the data id did not", std::string(where) + ": " + what);
}

void check(const GA_Detail &gdp, const char *where) {
  if (!world().check_ids) return;
  std::lock_guard<std::recursive_mutex> lock(gate());
  for (auto &a : gdp.attributes) see(a->id, contents_of(gdp, *a), where, a->title);
  uint64_t h = mix(1, uint64_t(gdp.getNumPoints()));
  for (auto &p : gdp.prims) {
    h = mix(h, uint64_t(p->type));
    for (GA_Offset o : p->points) h = mix(h, uint64_t(gdp.pointIndex(o)));
    h = mix(h, p->contents());
  }
  see(gdp.topology, h, where, "topology");
}
} // namespace standin
using namespace standin;

void UT_ErrorLog::error(const char *format, const char *text) {
  std::string all = format;
  all.replace(all.find("{}"), 2, text);
  world().log += all + "\n";
}

static bool fits(const char *text, const char *pattern) {
  if (!*pattern) return !*text;
  if (*pattern == '*') return fits(text, pattern + 1) || (*text && fits(text + 1, pattern));
  return *text && (*pattern == '?' || *pattern == *text) && fits(text + 1, pattern + 1);
}
bool UT_StringRef::multiMatch(const char *pattern) const {
  bool in = false;
  std::istringstream words(pattern);
  for (std::string word; words >> word;) {
    const bool out = word[0] == '^';
    if (fits(text.c_str(), word.c_str() + out)) in = !out;
  }
  return in;
}

GA_Detail::GA_Detail() { position(); }
GA_Detail::~GA_Detail() {
  for (auto &a : attributes) standin::own(a.get(), nullptr);
}

GA_Index GA_Detail::pointIndex(GA_Offset o) const {
  if (isPointMapTrivial()) return o;
  auto at = std::lower_bound(order.begin(), order.end(),
                             o); // the stand-in's order is ascending in offset
  return at != order.end() && *at == o ? at - order.begin() : -1;
}

GA_Attribute *GA_Detail::look(GA_AttributeOwner o, const std::string &name) {
  for (auto &a : attributes)
    if (a->owner == o && a->title == name) return a.get();
  return nullptr;
}

GA_Attribute *GA_Detail::add(GA_AttributeOwner o, const std::string &name, GA_Storage s, int size,
                             const GA_Defaults &d) {
  GA_Attribute *old = look(o, name);
  if (old && old->storage == s && old->tuple == size) return old;
  if (old) destroyAttribute(o, UT_StringRef(name.c_str()));
  attributes.push_back(std::make_unique<GA_Attribute>(o, name, s, size, d.value));
  standin::own(attributes.back().get(), this);
  attributes.back()->resize(count_of(o));
  return attributes.back().get();
}

bool GA_Detail::destroyAttribute(GA_AttributeOwner o, const UT_StringRef &name) {
  for (size_t i = 0; i < attributes.size(); ++i)
    if (attributes[i]->owner == o && attributes[i]->title == name.c_str()) {
      standin::own(attributes[i].get(), nullptr);
      attributes.erase(attributes.begin() + std::ptrdiff_t(i));
      return true;
    }
  return false;
}

static GA_AttributeDict of_owner(const GA_Detail &gdp, GA_AttributeOwner owner) {
  GA_AttributeDict d;
  for (auto &a : gdp.attributes)
    if (a->owner == owner) d.start.list.push_back(a.get());
  return d;
}
GA_AttributeDict GA_Detail::pointAttribs() const { return of_owner(*this, GA_ATTRIB_POINT); }
GA_AttributeDict GA_Detail::attribs() const { return of_owner(*this, GA_ATTRIB_DETAIL); }

GA_Offset GA_Detail::appendPointBlock(GA_Size n) {
  GA_Offset first = offsets;
  offsets += n;
  for (GA_Size i = 0; i < n; ++i) order.edit().push_back(first + i);
  for (auto &a : attributes)
    if (a->owner == GA_ATTRIB_POINT) a->resize(size_t(offsets));
  return first;
}

GA_Size GA_Detail::destroyPointOffsets(const GA_Range &r, GA_DestroyPointMode, bool) {
  std::set<GA_Offset> gone(r.list.begin(), r.list.end());
  size_t before = order.size();
  auto &list = order.edit();
  list.erase(
      std::remove_if(list.begin(), list.end(), [&](GA_Offset o) { return gone.count(o) > 0; }),
      list.end());
  for (auto &g : point_groups)
    for (GA_Offset o : gone) g.second.members.erase(o);
  return GA_Size(before - order.size());
}

// The stand-in's primitives have no holes: those behind move up, with their attributes.
GA_Size GA_Detail::destroyPrimitiveOffsets(const GA_Range &r, bool and_points) {
  if (and_points) broken("destroyPrimitiveOffsets", "the stand-in keeps points");
  std::set<GA_Offset> gone(r.list.begin(), r.list.end());
  size_t to = 0;
  for (size_t i = 0; i < prims.size(); ++i) {
    if (gone.count(GA_Offset(i))) continue;
    for (auto &a : attributes) {
      if (a->owner != GA_ATTRIB_PRIMITIVE || i == to) continue;
      for (int k = 0; k < a->tuple; ++k) {
        size_t from = i * size_t(a->tuple) + size_t(k), at = to * size_t(a->tuple) + size_t(k);
        auto &d = a->data;
        if (a->storage == GA_STORE_STRING) d.text.edit(at) = d.text.at(from);
        if (a->storage == GA_STORE_INT32) d.i32.edit(at) = d.i32.at(from);
        if (a->storage == GA_STORE_REAL32) d.f32.edit(at) = d.f32.at(from);
      }
    }
    if (i != to) prims[to] = std::move(prims[i]);
    prims[to]->place = GA_Offset(to);
    ++to;
  }
  prims.resize(to);
  primitive_groups.clear(); // their members have moved
  for (auto &a : attributes)
    if (a->owner == GA_ATTRIB_PRIMITIVE) a->resize(to);
  return GA_Size(gone.size());
}

GA_Range GA_Detail::getPrimitiveRange() const {
  GA_Range r;
  for (size_t i = 0; i < prims.size(); ++i) r.list.push_back(GA_Offset(i));
  return r;
}

void GA_Detail::bumpAllDataIds() {
  for (auto &a : attributes) a->bumpDataId();
  topology = new_id();
}

void GA_Detail::bumpDataIdsForAddOrRemove(bool points, bool, bool primitives) {
  for (auto &a : attributes)
    if ((points && a->owner == GA_ATTRIB_POINT) || (primitives && a->owner == GA_ATTRIB_PRIMITIVE))
      a->bumpDataId();
  topology = new_id();
}

void GA_Detail::clearAndDestroy() {
  for (auto &a : attributes) standin::own(a.get(), nullptr);
  attributes.clear();
  order.edit().clear();
  prims.clear();
  point_groups.clear();
  primitive_groups.clear();
  offsets = 0;
  topology = new_id();
  position();
}

void GA_Detail::replaceWith(const GA_Detail &src) {
  if (&src == this) return;
  for (auto &a : attributes) standin::own(a.get(), nullptr);
  attributes.clear();
  for (auto &a : src.attributes) {
    attributes.push_back(std::make_unique<GA_Attribute>(*a));
    standin::own(attributes.back().get(), this);
  }
  order = src.order;
  offsets = src.offsets;
  topology = src.topology;
  prims.clear();
  for (auto &p : src.prims) prims.push_back(p->copy());
  point_groups = src.point_groups;
  primitive_groups = src.primitive_groups;
}

// ---- files ----
// Houdini goes by the ending of a name; so does the stand-in, whose format is its own.
static bool known_ending(const std::string &path) {
  for (const char *end : {".bgeo", ".bgeo.sc", ".geo"})
    if (path.size() > std::strlen(end) && path.substr(path.size() - std::strlen(end)) == end)
      return true;
  return false;
}
GA_Detail::IOStatus GA_Detail::save(const char *path, const GA_SaveOptions *) const {
  if (!known_ending(path)) broken("a file of unknown ending is saved", path);
  std::ofstream f(path, std::ios::binary);
  f << "standin " << order.size() << ' ' << prims.size() << ' ' << attributes.size() << '\n';
  f.precision(17);
  for (auto &p : prims) {
    if (p->type != GEO_PRIMPOLY) broken("save", "the stand-in saves polygons alone");
    f << static_cast<const GEO_PrimPoly &>(*p).closed << ' ' << p->points.size();
    for (GA_Offset o : p->points) f << ' ' << pointIndex(o);
    f << '\n';
  }
  for (auto &a : attributes) {
    f << a->title << ' ' << a->owner << ' ' << a->storage << ' ' << a->tuple << ' ' << a->first
      << ' ' << a->info << '\n';
    const size_t n = a->owner == GA_ATTRIB_POINT ? order.size() : count_of(a->owner);
    for (size_t i = 0; i < n; ++i)
      for (int k = 0; k < a->tuple; ++k) {
        const GA_Offset o = a->owner == GA_ATTRIB_POINT ? order[i] : GA_Offset(i);
        if (a->storage == GA_STORE_STRING)
          f << std::quoted(a->data.text.at(size_t(o) * size_t(a->tuple) + size_t(k))) << '\n';
        else
          f << a->number<double>(o, k) << '\n';
      }
  }
  f << "end\n";
  return IOStatus(f.good());
}
GA_Detail::IOStatus GA_Detail::load(const char *path) {
  std::ifstream f(path, std::ios::binary);
  std::string word;
  size_t points = 0, polygons = 0, count = 0;
  clearAndDestroy();
  if (!(f >> word >> points >> polygons >> count) || word != "standin") return IOStatus(false);
  appendPointBlock(GA_Size(points));
  for (size_t i = 0; i < polygons; ++i) {
    auto p = std::make_unique<GEO_PrimPoly>();
    size_t corners = 0;
    f >> p->closed >> corners;
    p->points.resize(corners);
    for (auto &o : p->points) f >> o;
    p->place = GA_Offset(i);
    prims.push_back(std::move(p));
  }
  for (size_t i = 0; i < count && f; ++i) {
    std::string title;
    int owner = 0, storage = 0, tuple = 0, info = 0;
    double first = 0;
    f >> title >> owner >> storage >> tuple >> first >> info;
    GA_Attribute *a = add(GA_AttributeOwner(owner), title, GA_Storage(storage), tuple, first);
    a->setTypeInfo(GA_TypeInfo(info));
    for (size_t e = 0; e < count_of(a->owner) && f; ++e)
      for (int k = 0; k < tuple; ++k) {
        double v = 0;
        if (a->storage == GA_STORE_STRING)
          f >> std::quoted(a->data.text.edit(e * size_t(tuple) + size_t(k)));
        else if (f >> v)
          a->put(GA_Offset(e), k, v);
      }
  }
  return IOStatus(bool(f >> word) && word == "end");
}

void GA_Detail::transform(const UT_Matrix4D &m) {
  for (auto &a : attributes) {
    const bool point = a->info == GA_TYPE_POINT, vector = a->info == GA_TYPE_VECTOR;
    if (a->owner != GA_ATTRIB_POINT || a->tuple != 3 || (!point && !vector)) continue;
    for (GA_Offset o : order) {
      double in[3], out[3];
      for (int k = 0; k < 3; ++k) in[k] = a->number<double>(o, k);
      for (int c = 0; c < 3; ++c) {
        out[c] = point ? m.rows[3][c] : 0;
        for (int r = 0; r < 3; ++r) out[c] += in[r] * m.rows[r][c];
      }
      for (int k = 0; k < 3; ++k) a->put(o, k, out[k]);
    }
    a->bumpDataId();
  }
  for (auto &p : prims)
    if (p->type != GEO_PRIMPOLY) p->move(m);
  topology = new_id();
}

void GA_Detail::merge(const GA_Detail &src) {
  GA_Offset first = appendPointBlock(src.getNumPoints());
  size_t prim = prims.size();
  std::map<GA_Offset, GA_Offset> moved;
  for (GA_Size i = 0; i < src.getNumPoints(); ++i) moved[src.pointOffset(i)] = first + i;
  for (auto &p : src.prims) {
    prims.push_back(p->copy());
    for (auto &o : prims.back()->points) o = moved.at(o);
    prims.back()->place = GA_Offset(prims.size() - 1);
  }
  for (auto &a : attributes)
    if (a->owner == GA_ATTRIB_PRIMITIVE) a->resize(prims.size());
  for (auto &from : src.attributes) {
    if (from->owner == GA_ATTRIB_GLOBAL && look(from->owner, from->title)) continue;
    GA_Attribute *to = look(from->owner, from->title);
    if (!to) {
      to = add(from->owner, from->title, from->storage, from->tuple, GA_Defaults(from->first));
      to->info = from->info;
    }
    if (to->storage != from->storage || to->tuple != from->tuple) continue;
    std::vector<std::pair<GA_Offset, GA_Offset>> pairs;
    if (from->owner == GA_ATTRIB_POINT)
      for (auto &m : moved) pairs.emplace_back(m.first, m.second);
    else
      for (size_t i = 0; i < src.count_of(from->owner); ++i)
        pairs.emplace_back(GA_Offset(i), GA_Offset(from->owner == GA_ATTRIB_GLOBAL ? 0 : prim + i));
    for (auto &m : pairs)
      for (int k = 0; k < from->tuple; ++k) {
        if (from->storage == GA_STORE_STRING)
          to->data.text.edit(size_t(m.second) * size_t(to->tuple) + size_t(k)) =
              from->data.text.at(size_t(m.first) * size_t(to->tuple) + size_t(k));
        else if (from->getStorageClass() == GA_STORECLASS_INT)
          to->put<int64>(m.second, k, from->number<int64>(m.first, k));
        else
          to->put<double>(m.second, k, from->number<double>(m.first, k));
      }
  }
  bumpAllDataIds();
}

GA_Offset GU_PrimPoly::buildBlock(GA_Detail *gdp, GA_Offset start, GA_Size npoints,
                                  const GEO_PolyCounts &sizes, const int *numbers, bool closed) {
  GA_Offset first = GA_Offset(gdp->prims.size());
  for (auto &run : sizes.runs)
    for (GA_Size i = 0; i < run.second; ++i) {
      auto p = std::make_unique<GEO_PrimPoly>();
      p->closed = closed;
      p->place = GA_Offset(gdp->prims.size());
      for (GA_Size v = 0; v < run.first; ++v) {
        if (*numbers < 0 || *numbers >= npoints)
          broken("buildBlock", "a point number is out of range");
        p->points.push_back(start + *numbers++);
      }
      gdp->prims.push_back(std::move(p));
    }
  for (auto &a : gdp->attributes)
    if (a->owner == GA_ATTRIB_PRIMITIVE) a->resize(gdp->prims.size());
  return first;
}

GU_PrimPacked *GU_PrimPacked::build(GU_Detail &gdp, std::shared_ptr<GU_Detail> inside,
                                    const double (&matrix)[12]) {
  auto p = std::make_unique<GU_PrimPacked>();
  GU_PrimPacked *made = p.get();
  made->inside = inside;
  std::copy(matrix, matrix + 12, made->rows);
  made->place = GA_Offset(gdp.prims.size());
  made->points.push_back(gdp.appendPoint());
  gdp.setPos3(made->points[0], UT_Vector3(float(matrix[9]), float(matrix[10]), float(matrix[11])));
  gdp.prims.push_back(std::move(p));
  for (auto &a : gdp.attributes)
    if (a->owner == GA_ATTRIB_PRIMITIVE) a->resize(gdp.prims.size());
  return made;
}

bool GU_PrimPacked::unpackUsingPolygons(GU_Detail &to) const {
  if (!inside) return false;
  GA_Offset first = to.getNumPointOffsets();
  to.merge(*inside);
  for (GA_Offset o = first; o < to.getNumPointOffsets(); ++o) {
    UT_Vector3 p = to.getPos3(o), q;
    for (int k = 0; k < 3; ++k)
      q[k] = float(p[0] * rows[k] + p[1] * rows[3 + k] + p[2] * rows[6 + k] + rows[9 + k]);
    to.setPos3(o, q);
  }
  return true;
}

void GU_PrimPacked::move(const UT_Matrix4D &m) {
  double old[12];
  std::copy(rows, rows + 12, old);
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 3; ++c) {
      rows[3 * r + c] = r == 3 ? m.rows[3][c] : 0;
      for (int k = 0; k < 3; ++k) rows[3 * r + c] += old[3 * r + k] * m.rows[k][c];
    }
}

void GEO_PrimVDB::move(const UT_Matrix4D &m) {
  auto copy = grid->deepCopyGrid();
  openvdb::Mat4d matrix;
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c) matrix(r, c) = m.rows[r][c];
  copy->transform().postMult(matrix);
  grid = copy;
}

UT_VDBType GEO_PrimVDB::getStorageType() const {
  if (!grid) return UT_VDB_INVALID;
  return grid->isType<openvdb::FloatGrid>()   ? UT_VDB_FLOAT
         : grid->isType<openvdb::Vec3SGrid>() ? UT_VDB_VEC3F
                                              : UT_VDB_OTHER;
}

GU_PrimVDB *GU_PrimVDB::buildFromGrid(GU_Detail &gdp, openvdb::GridBase::Ptr grid,
                                      const GEO_PrimVDB *, const char *name) {
  auto p = std::make_unique<GU_PrimVDB>();
  p->grid = grid;
  p->title_of = name ? name : grid->getName();
  p->place = GA_Offset(gdp.prims.size());
  p->points.push_back(gdp.appendPoint());
  GU_PrimVDB *made = p.get();
  gdp.prims.push_back(std::move(p));
  for (auto &a : gdp.attributes)
    if (a->owner == GA_ATTRIB_PRIMITIVE) a->resize(gdp.prims.size());
  GA_RWHandleS(gdp.add(GA_ATTRIB_PRIMITIVE, "name", GA_STORE_STRING, 1, GA_Defaults()))
      .set(made->place, UT_StringHolder(made->title_of.c_str()));
  return made;
}

void GU_PrimVDB::convertVolumesToVDBs(GU_Detail &dst, const GU_Detail &src, GU_ConvertParms &, bool,
                                      bool, fpreal, bool keep_original, bool) {
  if (&dst != &src || keep_original)
    broken("convertVolumesToVDBs", "the stand-in converts in place alone");
  for (size_t i = 0; i < dst.prims.size(); ++i) {
    if (dst.prims[i]->type != GEO_PRIMVOLUME) continue;
    auto &v = static_cast<GEO_PrimVolume &>(*dst.prims[i]);
    auto grid = openvdb::FloatGrid::create(v.sdf ? 3 * v.voxel : 0.0f);
    auto space = openvdb::math::Transform::createLinearTransform(v.voxel);
    space->postTranslate(openvdb::Vec3d(v.origin[0], v.origin[1], v.origin[2]));
    grid->setTransform(space);
    grid->setGridClass(v.sdf ? openvdb::GRID_LEVEL_SET : openvdb::GRID_FOG_VOLUME);
    grid->setName(v.name_of);
    auto access = grid->getAccessor();
    for (int x = 0; x < v.res[0]; ++x)
      for (int y = 0; y < v.res[1]; ++y)
        for (int z = 0; z < v.res[2]; ++z)
          access.setValue(openvdb::Coord(x, y, z),
                          v.values.at(size_t((x * v.res[1] + y) * v.res[2] + z)));
    auto p = std::make_unique<GU_PrimVDB>();
    p->grid = grid;
    p->title_of = v.name_of;
    p->points = v.points;
    p->place = GA_Offset(i);
    dst.prims[i] = std::move(p);
  }
}
