// SPDX-License-Identifier: Apache-2.0
// Details, attributes, handles. Points live at offsets, which have holes after a deletion; the
// dense order is the index. A data id changes only when it is bumped, and standin::check finds
// contents that changed under an unchanged id.
#pragma once
#include "ut.h"

using GA_Offset = exint;
using GA_Index = exint;
using GA_Size = exint;
using GA_DataId = int64;
constexpr GA_Offset GA_INVALID_OFFSET = -1;

enum GA_AttributeOwner {
  GA_ATTRIB_VERTEX,
  GA_ATTRIB_POINT,
  GA_ATTRIB_PRIMITIVE,
  GA_ATTRIB_GLOBAL,
  GA_ATTRIB_DETAIL = GA_ATTRIB_GLOBAL
};
enum GA_StorageClass {
  GA_STORECLASS_INT,
  GA_STORECLASS_REAL,
  GA_STORECLASS_FLOAT = GA_STORECLASS_REAL,
  GA_STORECLASS_STRING
};
enum GA_Storage {
  GA_STORE_INT32,
  GA_STORE_INT64,
  GA_STORE_REAL32,
  GA_STORE_REAL64,
  GA_STORE_STRING
};
enum GA_TypeInfo {
  GA_TYPE_VOID,
  GA_TYPE_POINT,
  GA_TYPE_VECTOR,
  GA_TYPE_NORMAL,
  GA_TYPE_COLOR,
  GA_TYPE_TEXTURE_COORD,
  GA_TYPE_TRANSFORM,
  GA_TYPE_NONARITHMETIC_INTEGER
};

class GA_Defaults {
public:
  GA_Defaults(double v = 0) : value(v) {}
  double value;
};

namespace standin {
// Values in pages that copies share until one of them is written, page by page as Houdini does.
// Threads may write to different pages at the same time.
template <class T> class Pages {
public:
  static constexpr size_t PAGE = 1024;
  using Page = std::array<T, PAGE>;
  size_t size() const { return count; }
  const T &at(size_t i) const {
    if (i >= count) throw std::out_of_range("a value of an attribute");
    return (*pages[i / PAGE])[i % PAGE];
  }
  Page &edit_page(size_t p) {
    if (pages.at(p).use_count() > 1) pages[p] = std::make_shared<Page>(*pages[p]);
    return *pages[p];
  }
  void edit_all() {
    for (size_t p = 0; p < pages.size(); ++p) edit_page(p);
  }
  T &edit(size_t i) {
    if (i >= count) throw std::out_of_range("a value of an attribute");
    return edit_page(i / PAGE)[i % PAGE];
  }
  void resize(size_t n, const T &value) { // new ones have the value
    pages.resize((n + PAGE - 1) / PAGE);
    for (auto &p : pages)
      if (!p) p = std::make_shared<Page>();
    for (size_t i = count; i < n; ++i) edit_page(i / PAGE)[i % PAGE] = value;
    count = n;
  }

private:
  std::vector<std::shared_ptr<Page>> pages;
  size_t count = 0;
};

// A list that copies share until one of them is written.
template <class T> class Shared {
public:
  auto begin() const { return list->begin(); }
  auto end() const { return list->end(); }
  size_t size() const { return list->size(); }
  const T &at(size_t i) const { return list->at(i); }
  const T &operator[](size_t i) const { return (*list)[i]; }
  const std::vector<T> &all() const { return *list; }
  std::vector<T> &edit() {
    if (list.use_count() > 1) list = std::make_shared<std::vector<T>>(*list);
    return *list;
  }

private:
  std::shared_ptr<std::vector<T>> list = std::make_shared<std::vector<T>>();
};
} // namespace standin

class GA_Attribute {
public:
  GA_Attribute(GA_AttributeOwner o, const std::string &n, GA_Storage s, int size, double start)
      : owner(o), title(n), storage(s), tuple(size), first(start), id(standin::new_id()) {}
  int getTupleSize() const { return tuple; }
  GA_AttributeOwner getOwner() const { return owner; }
  UT_StringHolder getName() const { return UT_StringHolder(title.c_str()); }
  GA_StorageClass getStorageClass() const {
    return storage == GA_STORE_STRING   ? GA_STORECLASS_STRING
           : storage >= GA_STORE_REAL32 ? GA_STORECLASS_REAL
                                        : GA_STORECLASS_INT;
  }
  GA_DataId getDataId() const { return id; }
  void bumpDataId() { id = standin::new_id(); }
  void setTypeInfo(GA_TypeInfo t) { info = t; }
  // Every page its own, in place of one that is shared.
  void hardenAllPages() {
    data.i32.edit_all();
    data.i64.edit_all();
    data.f32.edit_all();
    data.f64.edit_all();
    data.text.edit_all();
    ++standin::hardened();
  }
  GA_TypeInfo getTypeInfo() const { return info; }

  // The stand-in's own.
  struct Data {
    standin::Pages<int32> i32;
    standin::Pages<int64> i64;
    standin::Pages<float> f32;
    standin::Pages<double> f64;
    standin::Pages<std::string> text;
  };
  bool holds(GA_Offset off, int components) const { // within the elements that there are
    return off >= 0 && off < elements && components <= tuple;
  }
  void resize(size_t offsets) {
    elements = GA_Offset(offsets);
    size_t n = offsets * size_t(tuple);
    Data &d = data;
    if (storage == GA_STORE_INT32) d.i32.resize(n, int32(first));
    if (storage == GA_STORE_INT64) d.i64.resize(n, int64(first));
    if (storage == GA_STORE_REAL32) d.f32.resize(n, float(first));
    if (storage == GA_STORE_REAL64) d.f64.resize(n, first);
    if (storage == GA_STORE_STRING) d.text.resize(n, "");
  }
  template <class T> T number(GA_Offset off, int c) const {
    size_t at = size_t(off) * size_t(tuple) + size_t(c);
    switch (storage) {
    case GA_STORE_INT32:
      return T(data.i32.at(at));
    case GA_STORE_INT64:
      return T(data.i64.at(at));
    case GA_STORE_REAL32:
      return T(data.f32.at(at));
    case GA_STORE_REAL64:
      return T(data.f64.at(at));
    default:
      return T();
    }
  }
  template <class T> void put(GA_Offset off, int c, T v) {
    size_t at = size_t(off) * size_t(tuple) + size_t(c);
    Data &d = data;
    if (storage == GA_STORE_INT32) d.i32.edit(at) = int32(v);
    if (storage == GA_STORE_INT64) d.i64.edit(at) = int64(v);
    if (storage == GA_STORE_REAL32) d.f32.edit(at) = float(v);
    if (storage == GA_STORE_REAL64) d.f64.edit(at) = double(v);
  }
  GA_AttributeOwner owner;
  std::string title;
  GA_Storage storage;
  int tuple;
  double first;
  GA_Offset elements = 0;
  Data data;
  GA_DataId id;
  GA_TypeInfo info = GA_TYPE_VOID;
};

class GA_Detail;
// Points or primitives, by offset in the order of their indices.
class GA_PointGroup {
public:
  void addOffset(GA_Offset o) { members.insert(o); }
  bool containsOffset(GA_Offset o) const { return members.count(o) > 0; }
  exint entries() const { return exint(members.size()); }
  std::set<GA_Offset> members;
};
class GA_PrimitiveGroup : public GA_PointGroup {};
class GA_Range {
public:
  GA_Range() {}
  explicit GA_Range(const GA_PointGroup &g) : list(g.members.begin(), g.members.end()) {}
  std::vector<GA_Offset> list;
};
class GA_Iterator {
public:
  explicit GA_Iterator(const GA_Range &r) : list(r.list) {}
  bool atEnd() const { return at >= list.size(); }
  GA_Iterator &operator++() {
    ++at;
    return *this;
  }
  GA_Offset operator*() const { return list[at]; }

private:
  std::vector<GA_Offset> list;
  size_t at = 0;
};

// The attributes of one owner, by name.
enum GA_AttributeScope { GA_SCOPE_INVALID, GA_SCOPE_PUBLIC, GA_SCOPE_PRIVATE, GA_SCOPE_GROUP };
struct standin_attributes {
  bool atEnd() const { return at >= list.size(); }
  standin_attributes &operator++() {
    ++at;
    return *this;
  }
  GA_Attribute *attrib() const { return list[at]; }
  std::vector<GA_Attribute *> list;
  size_t at = 0;
};
class GA_AttributeDict {
public:
  using iterator = standin_attributes;
  iterator begin(GA_AttributeScope) const { return start; }

  // The stand-in's own.
  iterator start;
};

class GEO_Primitive;
class GA_Detail {
public:
  enum GA_DestroyPointMode { GA_LEAVE_PRIMITIVES, GA_DESTROY_DEGENERATE };
  GA_Detail();
  virtual ~GA_Detail();
  GA_Detail(const GA_Detail &) = delete;
  GA_Detail &operator=(const GA_Detail &) = delete;

  GA_Size getNumPoints() const { return GA_Size(order.size()); }
  GA_Size getNumPointOffsets() const { return offsets; }
  GA_Size getNumPrimitives() const { return GA_Size(prims.size()); }
  GA_Offset pointOffset(GA_Index i) const { return order.at(size_t(i)); }
  GA_Index pointIndex(GA_Offset o) const;
  GA_Offset primitiveOffset(GA_Index i) const {
    return GA_Offset(i);
  } // primitives have no holes here
  GA_Offset appendPointBlock(GA_Size n);
  GA_Offset appendPoint() { return appendPointBlock(1); }
  GA_Size destroyPointOffsets(const GA_Range &r, GA_DestroyPointMode = GA_LEAVE_PRIMITIVES,
                              bool = false);
  std::unique_ptr<GA_PointGroup> createDetachedPointGroup() {
    return std::make_unique<GA_PointGroup>();
  }
  std::unique_ptr<GA_PrimitiveGroup> createDetachedPrimitiveGroup() {
    return std::make_unique<GA_PrimitiveGroup>();
  }
  GA_Size destroyPrimitiveOffsets(const GA_Range &r, bool and_points = false);
  GA_Range getPointRange() const {
    GA_Range r;
    r.list = order.all();
    return r;
  }
  GA_Range getPrimitiveRange() const;
  UT_Vector3 getPos3(GA_Offset o) const {
    return UT_Vector3(getP()->number<float>(o, 0), getP()->number<float>(o, 1),
                      getP()->number<float>(o, 2));
  }
  void setPos3(GA_Offset o, const UT_Vector3 &p) {
    for (int k = 0; k < 3; ++k) getP()->put(o, k, p[k]);
  }
  GA_Attribute *getP() const { return const_cast<GA_Detail *>(this)->look(GA_ATTRIB_POINT, "P"); }
  GA_Attribute *findAttribute(GA_AttributeOwner o, const UT_StringRef &name) {
    return look(o, name.c_str());
  }
  const GA_Attribute *findAttribute(GA_AttributeOwner o, const UT_StringRef &name) const {
    return const_cast<GA_Detail *>(this)->look(o, name.c_str());
  }
  GA_Attribute *findPointAttribute(const UT_StringRef &name) {
    return look(GA_ATTRIB_POINT, name.c_str());
  }
  const GA_Attribute *findPointAttribute(const UT_StringRef &name) const {
    return const_cast<GA_Detail *>(this)->look(GA_ATTRIB_POINT, name.c_str());
  }
  GA_Attribute *addFloatTuple(GA_AttributeOwner o, const UT_StringHolder &n, int size,
                              const GA_Defaults &d = GA_Defaults()) {
    return add(o, n.c_str(), GA_STORE_REAL32, size, d);
  }
  GA_Attribute *addIntTuple(GA_AttributeOwner o, const UT_StringHolder &n, int size,
                            const GA_Defaults &d = GA_Defaults()) {
    return add(o, n.c_str(), GA_STORE_INT32, size, d);
  }
  GA_Attribute *addStringTuple(GA_AttributeOwner o, const UT_StringHolder &n, int size) {
    return add(o, n.c_str(), GA_STORE_STRING, size, GA_Defaults());
  }
  GA_AttributeDict pointAttribs() const;
  GA_AttributeDict attribs() const; // of the detail
  GA_PointGroup *newPointGroup(const UT_StringHolder &name) { return &point_groups[name.c_str()]; }
  GA_PrimitiveGroup *newPrimitiveGroup(const UT_StringHolder &name) {
    return &primitive_groups[name.c_str()];
  }
  bool destroyAttribute(GA_AttributeOwner o, const UT_StringRef &name);
  void bumpAllDataIds();
  void bumpDataIdsForAddOrRemove(bool points, bool vertices, bool primitives);
  void clearAndDestroy();
  // Whole geometry to a file and back; the order of points stays, holes go.
  class IOStatus {
  public:
    explicit IOStatus(bool good) : ok(good) {}
    bool success() const { return ok; }
    bool ok;
  };
  IOStatus save(const char *path, const class GA_SaveOptions *options) const;
  IOStatus load(const char *path);
  void replaceWith(const GA_Detail &src);
  void merge(const GA_Detail &src);
  int64 getUniqueId() const { return unique; }
  // Points, attributes by their type, and the contents of primitives.
  void transform(const UT_Matrix4D &matrix);
  int64 getMemoryUsage(bool) const {
    int64 words = 0;
    for (auto &a : attributes) words += int64(count_of(a->owner)) * a->tuple;
    return 4 * words + 1024;
  }
  const GEO_Primitive *getGEOPrimitive(GA_Offset o) const { return prims.at(size_t(o)).get(); }
  GEO_Primitive *getGEOPrimitive(GA_Offset o) { return prims.at(size_t(o)).get(); }

  // The stand-in's own.
  bool isPointMapTrivial() const { return GA_Size(order.size()) == offsets; }
  GA_Attribute *add(GA_AttributeOwner o, const std::string &name, GA_Storage s, int size,
                    const GA_Defaults &d);
  GA_Attribute *look(GA_AttributeOwner o, const std::string &name);
  size_t count_of(GA_AttributeOwner o) const {
    return o == GA_ATTRIB_POINT       ? size_t(offsets)
           : o == GA_ATTRIB_PRIMITIVE ? prims.size()
           : o == GA_ATTRIB_GLOBAL    ? 1
                                      : 0;
  }
  void position() {
    add(GA_ATTRIB_POINT, "P", GA_STORE_REAL32, 3, GA_Defaults())->setTypeInfo(GA_TYPE_POINT);
  }
  std::vector<std::unique_ptr<GA_Attribute>> attributes;
  standin::Shared<GA_Offset> order; // index to offset
  GA_Size offsets = 0;
  std::vector<std::unique_ptr<GEO_Primitive>> prims;
  std::map<std::string, GA_PointGroup> point_groups;
  std::map<std::string, GA_PrimitiveGroup> primitive_groups;
  GA_DataId topology = standin::new_id();
  int64 unique = standin::new_id();
};
using GEO_Detail = GA_Detail;
class GU_Detail : public GA_Detail {
public:
  GU_Detail() {}
  explicit GU_Detail(bool) {}
};

// Shared ownership of a detail. An empty handle has no detail: asking is a breach.
class GU_DetailHandle {
public:
  void allocateAndSet(GU_Detail *g, bool own = true) {
    detail =
        own ? std::shared_ptr<GU_Detail>(g) : std::shared_ptr<GU_Detail>(g, [](GU_Detail *) {});
  }
  bool isValid() const { return detail != nullptr; }
  bool isNull() const { return !detail; }
  GU_Detail *gdpNC() const { return there(); }
  const GU_Detail *gdp() const { return there(); }
  void clear() { detail.reset(); }

  // The stand-in's own.

private:
  GU_Detail *there() const {
    if (!detail) standin::broken("the detail of an empty handle", "GU_DetailHandle");
    return detail.get();
  }
  std::shared_ptr<GU_Detail> detail;
};

// Handles: a vector handle binds to tuples of 3 or more, a scalar one to any numeric attribute, and
// both convert.
template <class T> struct standin_handle {
  using Scalar = T;
  static constexpr int size = 1;
};
template <class S> struct standin_handle<UT_Vector3T<S>> {
  using Scalar = S;
  static constexpr int size = 3;
};

template <class T> class GA_ROHandleT {
public:
  using S = typename standin_handle<T>::Scalar;
  static constexpr int N = standin_handle<T>::size;
  GA_ROHandleT() {}
  GA_ROHandleT(const GA_Attribute *attribute) { bind(attribute); }
  GA_ROHandleT(const GA_Detail *gdp, GA_AttributeOwner o, const UT_StringRef &name, int least = 1) {
    const GA_Attribute *attribute = gdp->findAttribute(o, name);
    if (attribute && attribute->getTupleSize() >= least) bind(attribute);
    detail = gdp;
  }
  bool isValid() const { return a != nullptr; }
  bool isInvalid() const { return a == nullptr; }
  const GA_Attribute *getAttribute() const { return a; }
  int getTupleSize() const { return a->getTupleSize(); }
  T get(GA_Offset off, int comp = 0) const {
    T out{};
    if (!a || !a->holds(off, comp + N)) {
      standin::broken("a handle reads what is not there", a ? a->title : "unbound");
      return out;
    }
    for (int k = 0; k < N; ++k) reinterpret_cast<S *>(&out)[k] = a->number<S>(off, comp + k);
    return out;
  }
  // dst[i * stride] for i in [0, n); of a scalar handle component comp.
  void getBlockFromIndices(GA_Index start, GA_Size n, T *dst, int stride = 1, int comp = 0) const;

protected:
  void bind(const GA_Attribute *attribute) {
    if (!attribute || attribute->getStorageClass() == GA_STORECLASS_STRING ||
        attribute->getTupleSize() < N)
      return;
    a = attribute;
  }
  const GA_Attribute *a = nullptr;
  const GA_Detail *detail = nullptr;
};

template <class T> class GA_RWHandleT : public GA_ROHandleT<T> {
public:
  using Base = GA_ROHandleT<T>;
  using S = typename Base::S;
  GA_RWHandleT() {}
  GA_RWHandleT(GA_Attribute *attribute) : Base(attribute) {}
  GA_RWHandleT(GA_Detail *gdp, GA_AttributeOwner o, const UT_StringRef &name, int least = 1)
      : Base(gdp, o, name, least) {}
  GA_Attribute *getAttribute() const { return const_cast<GA_Attribute *>(Base::a); }
  void set(GA_Offset off, const T &v) const { set(off, 0, v); }
  void set(GA_Offset off, int comp, const T &v) const {
    if (!Base::a || !Base::a->holds(off, comp + Base::N)) {
      standin::broken("a handle writes what is not there", Base::a ? Base::a->title : "unbound");
      return;
    }
    for (int k = 0; k < Base::N; ++k)
      getAttribute()->put(off, comp + k, reinterpret_cast<const S *>(&v)[k]);
  }
  void setBlockFromIndices(GA_Index start, GA_Size n, const T *src, int stride = 1,
                           int comp = 0) const;
  void bumpDataId() const { getAttribute()->bumpDataId(); }
};
using GA_ROHandleF = GA_ROHandleT<fpreal32>;
using GA_RWHandleF = GA_RWHandleT<fpreal32>;
using GA_ROHandleD = GA_ROHandleT<fpreal64>;
using GA_ROHandleI = GA_ROHandleT<int32>;
using GA_RWHandleI = GA_RWHandleT<int32>;
using GA_ROHandleID = GA_ROHandleT<int64>;
using GA_RWHandleID = GA_RWHandleT<int64>;
using GA_ROHandleV3 = GA_ROHandleT<UT_Vector3>;
using GA_RWHandleV3 = GA_RWHandleT<UT_Vector3>;

class GA_ROHandleS {
public:
  GA_ROHandleS(const GA_Attribute *attribute)
      : a(attribute && attribute->getStorageClass() == GA_STORECLASS_STRING ? attribute : nullptr) {
  }
  GA_ROHandleS(const GA_Detail *gdp, GA_AttributeOwner o, const UT_StringRef &name)
      : GA_ROHandleS(gdp->findAttribute(o, name)) {}
  bool isValid() const { return a != nullptr; }
  UT_StringHolder get(GA_Offset off) const {
    return UT_StringHolder(a->data.text.at(size_t(off)).c_str());
  }

protected:
  const GA_Attribute *a;
};
class GA_RWHandleS : public GA_ROHandleS {
public:
  GA_RWHandleS(GA_Attribute *attribute) : GA_ROHandleS(attribute) {}
  void set(GA_Offset off, const UT_StringHolder &s) const {
    const_cast<GA_Attribute *>(a)->data.text.edit(size_t(off)) = s.c_str();
  }
};

namespace standin {
// The detail that an attribute belongs to, for the block functions.
const GA_Detail *detail_of(const GA_Attribute *a);
void check(const GA_Detail &gdp, const char *where); // data ids against contents
uint64_t contents_of(const GA_Detail &gdp, const GA_Attribute &a);

// The values of the attribute's storage where it is that of S, so that a block is a plain loop.
template <class S> Pages<S> *plain(GA_Attribute::Data &d, GA_Storage s) {
  if constexpr (std::is_same_v<S, float>) return s == GA_STORE_REAL32 ? &d.f32 : nullptr;
  if constexpr (std::is_same_v<S, int32>) return s == GA_STORE_INT32 ? &d.i32 : nullptr;
  return nullptr;
}
} // namespace standin

template <class T>
void GA_ROHandleT<T>::getBlockFromIndices(GA_Index start, GA_Size n, T *dst, int stride,
                                          int comp) const {
  if (!a || n < 0) {
    standin::broken("a block is read through a handle that is not bound", "getBlockFromIndices");
    return;
  }
  const GA_Detail *gdp = standin::detail_of(a);
  auto *from = standin::plain<S>(const_cast<GA_Attribute *>(a)->data, a->storage);
  int tuple = a->getTupleSize();
  for (GA_Size i = 0; i < n; ++i) {
    GA_Offset off = gdp->pointOffset(start + i);
    S *to = reinterpret_cast<S *>(dst + i * stride);
    for (int k = 0; k < N; ++k)
      to[k] = from ? from->at(size_t(off * tuple + comp + k)) : a->number<S>(off, comp + k);
  }
}
template <class T>
void GA_RWHandleT<T>::setBlockFromIndices(GA_Index start, GA_Size n, const T *src, int stride,
                                          int comp) const {
  const GA_Detail *gdp = standin::detail_of(Base::a);
  GA_Attribute *mine = getAttribute();
  auto *to = standin::plain<S>(mine->data, mine->storage);
  int tuple = mine->getTupleSize();
  constexpr size_t PAGE = standin::Pages<S>::PAGE;
  size_t page = SIZE_MAX;
  S *values = nullptr; // of that page
  const bool trivial = gdp->isPointMapTrivial();
  if (to && trivial && stride == 1 && Base::N == tuple) { // page by page, as they lie
    const S *from = reinterpret_cast<const S *>(src);
    const size_t end = size_t((start + n) * tuple);
    for (size_t at = size_t(start * tuple), many; at < end; at += many, from += many) {
      many = std::min(end, (at / PAGE + 1) * PAGE) - at;
      std::memcpy(to->edit_page(at / PAGE).data() + at % PAGE, from, many * sizeof(S));
    }
    return;
  }
  for (GA_Size i = 0; i < n; ++i) {
    GA_Offset off = trivial ? GA_Offset(start + i) : gdp->pointOffset(start + i);
    const S *from = reinterpret_cast<const S *>(src + i * stride);
    for (int k = 0; k < Base::N; ++k) {
      const size_t at = size_t(off * tuple + comp + k);
      if (to && at / PAGE != page) {
        page = at / PAGE;
        values = to->edit_page(page).data();
      }
      if (to)
        values[at % PAGE] = from[k];
      else
        mine->put(off, comp + k, from[k]);
    }
  }
}
