// SPDX-License-Identifier: Apache-2.0
// Primitives: polygons, VDBs (each of which adds a point to its detail) and volumes.
#pragma once
#include "ga.h"

enum {
  GEO_PRIMPOLY = 1,
  GEO_PRIMVDB = 2,
  GEO_PRIMVOLUME = 3,
  GEO_PRIMSPHERE = 4,
  GEO_PRIMPACKED = 5
};

class GEO_Primitive {
public:
  GEO_Primitive(int t, const char *n) : type(t), title(n) {}
  virtual ~GEO_Primitive() {}
  int getTypeId() const { return type; }
  const char *getTypeName() const { return title; }
  GA_Size getVertexCount() const { return GA_Size(points.size()); }
  GA_Offset getPointOffset(GA_Size i) const { return points.at(size_t(i)); }
  GA_Offset getMapOffset() const { return place; }

  // The stand-in's own.
  virtual std::unique_ptr<GEO_Primitive> copy() const {
    return std::make_unique<GEO_Primitive>(*this);
  }
  virtual uint64_t contents() const { return 0; }
  virtual void move(const UT_Matrix4D &) {}
  int type;
  const char *title;
  std::vector<GA_Offset> points;
  GA_Offset place = 0;
};

class GEO_PrimPoly : public GEO_Primitive {
public:
  GEO_PrimPoly() : GEO_Primitive(GEO_PRIMPOLY, "Poly") {}
  bool isClosed() const { return closed; }

  // The stand-in's own.
  std::unique_ptr<GEO_Primitive> copy() const override {
    return std::make_unique<GEO_PrimPoly>(*this);
  }
  bool closed = true;
};

class GEO_PolyCounts {
public:
  void append(GA_Size vertices, GA_Size polygons = 1) { runs.emplace_back(vertices, polygons); }
  std::vector<std::pair<GA_Size, GA_Size>> runs;
};
class GU_PrimPoly : public GEO_PrimPoly {
public:
  static GA_Offset buildBlock(GA_Detail *gdp, GA_Offset start, GA_Size npoints,
                              const GEO_PolyCounts &sizes, const int *numbers, bool closed = true);
};

template <class T> T UTverify_cast(const GEO_Primitive *p) { return static_cast<T>(p); }
template <class T> T UTverify_cast(GEO_Primitive *p) { return static_cast<T>(p); }

// Geometry inside one primitive, with a place of its own: the primitive's point, and a matrix
// (rows, as Houdini multiplies).
class GU_PrimPacked : public GEO_Primitive {
public:
  GU_PrimPacked() : GEO_Primitive(GEO_PRIMPACKED, "PackedGeometry") {}
  static bool isPackedPrimitive(const GEO_Primitive &p) { return p.type == GEO_PRIMPACKED; }
  bool unpackUsingPolygons(GU_Detail &to) const; // its geometry, where it is

  // The stand-in's own.
  std::unique_ptr<GEO_Primitive> copy() const override {
    return std::make_unique<GU_PrimPacked>(*this);
  }
  void move(const UT_Matrix4D &m) override;
  static GU_PrimPacked *build(GU_Detail &gdp, std::shared_ptr<GU_Detail> inside,
                              const double (&matrix)[12]);
  std::shared_ptr<GU_Detail> inside;
  double rows[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}; // x, y, z axes, and where it is
};
