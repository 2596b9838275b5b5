/* Whether a particle is near a wall. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_NEAR_WALLS_H
#define OZ_CUDA_NEAR_WALLS_H

#include "cuda/gpu.h"

#include "physics/boundary_particles.h"
#include "physics/wall.h"

namespace OZ_NAMESPACE {

struct near_item {
  oz_frame f;
  float reach;
  OZ_D bool operator()(uint32_t i) const {
    return near<false>(i) || (!oz_is_boundary(&f, i) && oz_load_near(&f, i));
  }
  template <bool PLANES> OZ_D bool near(uint32_t i) const {
    if (oz_is_boundary(&f, i)) return false;
    float x[4], p[4]; /* both loads are issued before either is used */
    oz_ld4(f.x, i, 4, 0, x);
    oz_ld4(f.p, i, 4, 0, p);
    return oz_wall_near_way(&f, x, p, reach, PLANES);
  }
};
inline near_item near_to(const oz_frame &f) { return {f, f.h + f.d}; } /* oz_wall_reach */

} // namespace OZ_NAMESPACE
#endif
