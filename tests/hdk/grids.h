// VDBs and volumes for the tests, in a file of their own, since OpenVDB's headers take long.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "ga.h"

namespace grids {
void prepare();
void sphere(GU_Detail &gdp, const char *name, float radius, float voxel, float x, float y, float z,
            double turn = 0);
void fog(GU_Detail &gdp, const char *name, float radius,
         float voxel); // 1 inside a sphere at the origin
void vectors(GU_Detail &gdp, const char *name);
void uniform(GU_Detail &gdp, const char *name, float x, float y, float z); // within 3 m
// velocities: x and y everywhere, a turn (rad/s) about the z axis through (0, pivot), and a stretch
// (1/s) along x
void flow(GU_Detail &gdp, const char *name, float x, float y, float turn, float pivot,
          float stretch);
void native_sphere(GU_Detail &gdp, const char *name, float radius, float voxel,
                   float y); // a volume that holds a distance
// A field of heights over the square from -half to half: value(x, z) above y.
void heights(GU_Detail &gdp, const char *name, int side, float half, float y,
             float (*value)(float x, float z));
std::vector<std::string> names(const GU_Detail &gdp); // of the VDBs
void write(const GU_Detail &gdp, const char *path);   // all of them as a file
bool same(const GU_Detail &gdp, const char *path,
          std::string &difference); // values and activity, grid by grid
} // namespace grids
