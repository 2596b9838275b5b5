/* Fluid that flows along a floor, by layers, and its closed form.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_PHYSICS_LAYERS_H
#define OZ_TESTS_PHYSICS_LAYERS_H

#include <math.h>
#include <stdint.h>

/* Second repeated integral of the complementary error function. */
static inline double i2erfc(double z) {
  return 0.25 * ((1.0 + 2.0 * z * z) * erfc(z) - 2.0 * z * exp(-z * z) / sqrt(3.14159265358979));
}

/* Mean speed along x and height of each layer of `high`, within 8 separations of the middle. */
static inline void layer_means(float (*x)[3], float (*v)[3], uint32_t count, int high, float d,
                               double *speed, double *where) {
  for (int l = 0; l < high; ++l) {
    double n = 0.0;
    speed[l] = where[l] = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
      if (x[i][1] < 0.0f || (int)(x[i][1] / d) != l || fabsf(x[i][0]) > 8.0f * d) continue;
      speed[l] += (double)v[i][0], where[l] += (double)x[i][1], n += 1.0;
    }
    speed[l] /= n, where[l] /= n;
  }
}

#endif
