/* Stages as types: the functions of their physics text, the stages fused into their kernels, the
 * walk over their rows. Included by stage_kernels.cu. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_STAGE_TYPES_H
#define OZ_CUDA_STAGE_TYPES_H

#include "cuda/fusion.h"

#include "physics/lanes.h"

#include "physics/formulas.h"

#include <type_traits>

static_assert(OZ_OUTER_ACC == 9 && OZ_MATRIX_ACC == 3, "sums of one lane need no folding");

namespace OZ_NAMESPACE {
namespace {

/* ---- a type for each stage ---- */

#define OZ_TYPE_GATHER(type, name, kind, group, nsum, nred)                                        \
  struct stage_##type {                                                                            \
    static constexpr int KIND = kind, SUMS = nsum, REDS = nred, STAGE = OZ_STAGE_##name;           \
    typedef oz_##name##_self self;                                                                 \
    static OZ_D void begin(const oz_frame *f, uint32_t i, self *s) { oz_##name##_begin(f, i, s); } \
    static OZ_D void pair(const oz_frame *f, const self *s, const group *n, oz_real *acc) {        \
      oz_##name##_pair(f, s, n, acc);                                                              \
    }                                                                                              \
    static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {        \
      oz_##name##_end(f, i, acc, red);                                                             \
    }                                                                                              \
  };
#define OZ_TYPE_START(name, nsum, nred) OZ_TYPE_GATHER(name, name, KIND_START, oz_group, nsum, nred)
#define OZ_TYPE_DENSITY(name, nsum, nred) \
  OZ_TYPE_GATHER(name, name, KIND_DENSITY, oz_group, nsum, nred)
#define OZ_TYPE_LATE OZ_TYPE_DENSITY /* gather.h: density_only */
#define OZ_TYPE_LINK(name, nsum, nred) OZ_TYPE_GATHER(name, name, KIND_LINK, oz_links, nsum, nred)
#define OZ_TYPE_DENSITY_LINK(name, nsum, nred)                                                 \
  OZ_TYPE_GATHER(name##_near, name, KIND_DENSITY_LINK, oz_group, nsum, nred)                   \
  struct stage_##name : stage_##name##_near {                                                  \
    static OZ_D void link(const oz_frame *f, const self *s, const oz_links *n, oz_real *acc) { \
      oz_##name##_link(f, s, n, acc);                                                          \
    }                                                                                          \
  };
#define OZ_TYPE_OUTER OZ_TYPE_START /* one lane: plain sums */
/* the last sum is for oz_matrix_off */
#define OZ_TYPE_MATRIX(name, nsum, nred) OZ_TYPE_START(name, (nsum) + 1, nred)
#define OZ_TYPE_SPARE OZ_TYPE_MATRIX
#define OZ_TYPE_MAP(name, nsum, nred)                                           \
  struct stage_##name {                                                         \
    static constexpr int KIND = KIND_MAP, REDS = nred, STAGE = OZ_STAGE_##name; \
    static OZ_D void item(const oz_frame *f, uint32_t i, oz_real *red) {        \
      oz_##name##_item(f, i, red);                                              \
    }                                                                           \
  };
#define OZ_TYPE_EACH(name, kind)                                                                \
  struct stage_##name {                                                                         \
    static constexpr int KIND = kind, REDS = 0, STAGE = OZ_STAGE_##name;                        \
    static OZ_D void item(const oz_frame *f, uint32_t i, oz_real *) { oz_##name##_item(f, i); } \
  };
#define OZ_TYPE_ITEM(name, nsum, nred) OZ_TYPE_EACH(name, KIND_ITEM)
#define OZ_TYPE_WALL(name, nsum, nred) OZ_TYPE_EACH(name, KIND_WALL)
#define OZ_TYPE_MEMBER(name, nsum, nred) OZ_TYPE_EACH(name, KIND_MEMBER)
#define OZ_TYPE_BODY(name, nsum, nred)                                                     \
  struct stage_##name {                                                                    \
    static constexpr int KIND = KIND_BODY, SUMS = nsum, REDS = 0, STAGE = OZ_STAGE_##name; \
    static OZ_D void pair(const oz_frame *f, uint32_t b, uint32_t i, double *acc) {        \
      oz_##name##_pair(f, b, i, acc);                                                      \
    }                                                                                      \
    static OZ_D void end(const oz_frame *f, uint32_t b, const double *acc) {               \
      oz_##name##_end(f, b, acc);                                                          \
    }                                                                                      \
  };
#define OZ_TYPE_ONE(name, nsum, nred)                                        \
  struct stage_##name {                                                      \
    static constexpr int KIND = KIND_ONE, REDS = 0, STAGE = OZ_STAGE_##name; \
    static OZ_D void one(const oz_frame *f) { oz_##name##_item(f); }         \
  };
#define OZ_STAGE(name, kind, nsum, nred) OZ_TYPE_##kind(name, nsum, nred)
#include "physics/stages.def"
#undef OZ_STAGE

/* conform_update with finish behind it, which touches nothing that another particle's update reads.
 */
struct stage_conform_finish : stage_conform_update {
  static constexpr int REDS = stage_finish::REDS;
  static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
    stage_conform_update::end(f, i, acc, red);
    stage_finish::item(f, i, red);
  }
};
/* conform_update with shift_strength behind it, which neither. */
struct stage_conform_shift : stage_conform_update {
  static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
    stage_conform_update::end(f, i, acc, red);
    stage_shift_strength::item(f, i, red);
  }
};
/* Stages that end the substep: the next sort finds particles where they leave them. */
template <class S>
constexpr bool ends_substep =
    std::is_same<S, stage_finish>::value || std::is_same<S, stage_conform_finish>::value;

#include "cuda/fused_velocity.h"
#include "cuda/fused_position.h"

/* Stages of kind ONE, by number: in a kernel of their own, or in the last block of the stage
 * before. */
#define OZ_ONE_START(name)
#define OZ_ONE_DENSITY(name)
#define OZ_ONE_LATE(name)
#define OZ_ONE_OUTER(name)
#define OZ_ONE_MATRIX(name)
#define OZ_ONE_SPARE(name)
#define OZ_ONE_LINK(name)
#define OZ_ONE_DENSITY_LINK(name)
#define OZ_ONE_MAP(name)
#define OZ_ONE_ITEM(name)
#define OZ_ONE_WALL(name)
#define OZ_ONE_MEMBER(name)
#define OZ_ONE_BODY(name)
#define OZ_ONE_ONE(name) \
  if (stage == OZ_STAGE_##name) stage_##name::one(f);
OZ_FN void run_one(int stage, const oz_frame *f) {
#define OZ_STAGE(name, kind, nsum, nred) OZ_ONE_##kind(name)
#include "physics/stages.def"
#undef OZ_STAGE
}

/* Data of a gather's own particle that is loaded before the walk, where registers suffice to keep
 * it. */
template <class S> struct prefetched_own {
  static constexpr bool ANY = false;
  struct own {};
};
#define OZ_PREFETCHES_OWN(name)                                                                 \
  template <> struct prefetched_own<stage_##name> {                                             \
    static constexpr bool ANY = true;                                                           \
    typedef oz_##name##_own own;                                                                \
    static OZ_D void take(const oz_frame *f, uint32_t i, own *o) { oz_##name##_take(f, i, o); } \
    static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, const own *o) {     \
      oz_##name##_made(f, i, acc, o);                                                           \
    }                                                                                           \
  };
OZ_PREFETCHES_OWN(gradient)
OZ_PREFETCHES_OWN(bound_sums)
OZ_PREFETCHES_OWN(filter_gradient)
OZ_PREFETCHES_OWN(filter_move)
/* o: NULL, not loaded. */
template <class S>
OZ_D void end_of(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red,
                 const typename prefetched_own<S>::own *o) {
  if constexpr (prefetched_own<S>::ANY)
    if (o) return prefetched_own<S>::end(f, i, acc, o);
  S::end(f, i, acc, red);
}

/* Wall stages fused behind a gather (fusion.h), for contact `slot` of particle i; which: their
 * bits. */
template <class S> struct walls_of {
  static constexpr bool ANY = false;
  static OZ_D void apply(const oz_frame *, uint32_t, uint32_t, uint32_t, uint32_t) {}
};
template <> struct walls_of<stage_force> { static constexpr bool ANY = true; };
template <> struct walls_of<stage_force_last> { static constexpr bool ANY = true; };
template <> struct walls_of<stage_force_kick> { static constexpr bool ANY = true; };
template <> struct walls_of<stage_tension_begin> { static constexpr bool ANY = true; };
template <> struct walls_of<stage_tension> {
  static constexpr bool ANY = true;
  static OZ_D void apply(const oz_frame *g, uint32_t slot, uint32_t, uint32_t, uint32_t) {
    oz_tension_wall_item(g, slot);
  }
};
template <> struct walls_of<stage_filter_move> {
  static constexpr bool ANY = true;
  static OZ_D void apply(const oz_frame *g, uint32_t slot, uint32_t i, uint32_t planes, uint32_t) {
    oz_wall_drag_of(g, slot, planes, i);
  }
};
template <> struct walls_of<stage_density_lambda> {
  static constexpr bool ANY = true;
  static OZ_D void apply(const oz_frame *g, uint32_t slot, uint32_t i, uint32_t, uint32_t) {
    oz_wall_press_of(g, slot, i);
  }
};
template <> struct walls_of<stage_density_strain> {
  static constexpr bool ANY = true;
  static OZ_D void apply(const oz_frame *g, uint32_t slot, uint32_t i, uint32_t planes, uint32_t) {
    oz_wall_pressed(g, slot, planes, i, oz_second_half(g->dx[4 * (size_t)i + 3]));
  }
};
struct walls_of_moves {
  static constexpr bool ANY = true;
  static OZ_D void apply(const oz_frame *g, uint32_t slot, uint32_t i, uint32_t, uint32_t which) {
    if (which & FUSE_PROJECT) oz_wall_project_of(g, slot, i);
    if (which & FUSE_DENSITY) oz_wall_density_of(g, slot, i);
  }
};
template <> struct walls_of<stage_density_move> : walls_of_moves {};
template <> struct walls_of<stage_conform_move> : walls_of_moves {};
template <> struct walls_of<stage_position_move> { static constexpr bool ANY = true; };
/* The end of a gather and its walls; slot: contact of particle i + 1, or 0; planes: of the contact.
 * Values of the end stay in registers, where that counts. */
template <class S>
OZ_D void end_with_walls(const oz_frame *f, const oz_frame *g, uint32_t i, uint32_t slot,
                         uint32_t planes, uint32_t which, const oz_real *acc, oz_real *red,
                         const typename prefetched_own<S>::own *o = nullptr) {
  if constexpr (std::is_same<S, stage_tension_begin>::value) {
    S::end_at(f, i, slot, acc, red);
  } else if constexpr (std::is_same<S, stage_force_kick>::value) {
    S::end(f, i, acc, red);
    if (slot && (which & FUSE_HOLD)) oz_wall_hold_of(f, slot - 1, i, 1); /* of flat colliders */
  } else if constexpr (S::STAGE == OZ_STAGE_force) {
    const auto walls = [&](float *v) {
      if (slot) oz_wall_filtered(g, slot - 1, planes, i, v);
    };
    if constexpr (S::REDS > 0)
      S::end_at(f, i, acc, red, walls);
    else
      (void)force_held(f, i, acc, walls);
  } else if constexpr (std::is_same<S, stage_position_move>::value) {
    S::end_at(f, i, acc, [&](float *y) {
      if (slot && (which & FUSE_PROJECT)) oz_wall_projected(g, slot - 1, planes, i, y);
      if (slot && (which & FUSE_DENSITY)) oz_wall_density_at(g, slot - 1, planes, i, y);
    });
  } else {
    end_of<S>(f, i, acc, red, o);
    if (slot) walls_of<S>::apply(g, slot - 1, i, planes, which);
  }
}
/* Moves with mirror pressure before their end, which adds to it. */
template <class S> constexpr bool mirrors = false;
template <> constexpr bool mirrors<stage_density_move> = true;
template <> constexpr bool mirrors<stage_position_move> = true;

/* Contacts of the wall layer, which alone have images of other particles (mirror_pressure.h), by
 * the wall's distance at the start. */
OZ_D bool in_wall_layer(const oz_frame *f, uint32_t slot, uint32_t planes) {
  bool some = false;
  for (uint32_t k = 0; k < planes; k++) {
    const oz_wall *w = f->wall + (size_t)slot * f->contact_planes + k;
    some |= w->dense && w->s < 0.6f * f->h;
  }
  return some;
}
OZ_D void find_planes(const oz_frame *f, uint32_t slot, uint32_t i, int flat) {
  oz_wall_planes_of(f, slot, i, flat);
  if (!in_wall_layer(f, slot, f->wall_planes[slot])) return;
  const uint32_t k = oz_atomic_add(f->near_wall_contacts, 1u); /* in any order */
  f->near_wall_contacts[1 + k] = slot;
}

/* Stages fused with a MAP: before or behind the particle's own item. FLAT: no collider is curved,
 * which saves calls and registers. */
template <class S, bool FLAT = false> struct map_fusion {
  static constexpr bool ANY = false, WALLS = false, TWO = false;
};
struct map_walls {
  /* WALLS: only particles with a contact do more than their item; TWO: there is a kernel for flat
   * colliders */
  static constexpr bool ANY = true, WALLS = true, TWO = false;
  static OZ_D void before(const oz_frame *, uint32_t, uint32_t, uint32_t) {}
  static OZ_D void after(const oz_frame *, uint32_t, uint32_t, uint32_t) {}
  static OZ_D void then(const oz_frame *, uint32_t, uint32_t) {} /* for every particle */
};
template <bool FLAT> struct map_fusion<stage_kick, FLAT> : map_walls {
  static constexpr bool TWO = true;
  static OZ_D void after(const oz_frame *f, uint32_t slot, uint32_t i, uint32_t which) {
    if (which & FUSE_HOLD) oz_wall_hold_of(f, slot, i, FLAT);
  }
};
template <bool FLAT> struct map_fusion<stage_velocity_start, FLAT> : map_fusion<stage_kick, FLAT> {
  static OZ_D void before(const oz_frame *f, uint32_t slot, uint32_t i, uint32_t which) {
    if (which & FUSE_PLANES) find_planes(f, slot, i, FLAT);
    if (which & FUSE_ROWS) oz_wall_rows_item(f, slot);
  }
};
template <> struct map_fusion<stage_cg_update> : map_walls {
  static OZ_D void before(const oz_frame *f, uint32_t slot, uint32_t i, uint32_t) {
    oz_wall_load_of(f, slot, i);
  }
};
template <bool FLAT> struct map_fusion<stage_cg_advance, FLAT> : map_walls {};
template <> struct map_fusion<stage_advance> : map_walls {
  static OZ_D void before(const oz_frame *f, uint32_t slot, uint32_t i, uint32_t which) {
    if (which & FUSE_CLAMP) oz_wall_clamp_of(f, slot, i);
  }
  static OZ_D void after(const oz_frame *f, uint32_t slot, uint32_t i, uint32_t which) {
    if (which & FUSE_ADVANCE_DENSITY) oz_wall_density_of(f, slot, i);
    if (which & FUSE_ADVANCE_PROJECT) oz_wall_project_of(f, slot, i);
  }
  static OZ_D void then(const oz_frame *f, uint32_t i, uint32_t which) {
    if (which & FUSE_BOUND) oz_density_bound_item(f, i, nullptr);
  }
};
template <> struct map_fusion<stage_material> {
  static constexpr bool ANY = true, WALLS = false, TWO = false;
  static OZ_D void after(const oz_frame *f, uint32_t i, uint32_t) {
    oz_predict_item(f, i, nullptr);
  }
};
/* Stages of kind WALL with a variant for flat colliders. */
template <class S> struct flat_of { static constexpr bool ANY = false; };
template <> struct flat_of<stage_wall_planes> {
  static constexpr bool ANY = true;
  template <bool FLAT> struct stage : stage_wall_planes {
    static OZ_D void item(const oz_frame *f, uint32_t slot, oz_real *) {
      find_planes(f, slot, f->wall_particle[slot], FLAT);
    }
  };
  /* with wall_hold behind it, whose loads are in flight while planes are found */
  template <bool FLAT> struct with_hold : stage_wall_planes {
    static OZ_D void item(const oz_frame *f, uint32_t slot, oz_real *) {
      const uint32_t i = f->wall_particle[slot], length = f->start_length[i];
      oz_wall_inputs g;
      oz_wall_inputs_ld(f, i, &g);
      find_planes(f, slot, i, FLAT);
      oz_wall_held(f, slot, f->wall_planes[slot], i, length, g, FLAT);
    }
  };
};
template <> struct flat_of<stage_wall_hold> {
  static constexpr bool ANY = true;
  template <bool FLAT> struct stage : stage_wall_hold {
    static OZ_D void item(const oz_frame *f, uint32_t slot, oz_real *) {
      oz_wall_hold_of(f, slot, f->wall_particle[slot], FLAT);
    }
  };
};
/* slot: contact of particle i + 1, or 0. */
template <class S, bool FLAT = false>
OZ_D void map_fused(const stage_args &a, uint32_t i, uint32_t slot, oz_real *red) {
  if constexpr (std::is_same<S, stage_cg_advance>::value)
    S::item(&a.f, i, slot, a.fused);
  else if constexpr (map_fusion<S>::WALLS) {
    if (slot) map_fusion<S, FLAT>::before(&a.f, slot - 1, i, a.fused);
    S::item(&a.f, i, red);
    if (slot) map_fusion<S, FLAT>::after(&a.f, slot - 1, i, a.fused);
    map_fusion<S, FLAT>::then(&a.f, i, a.fused);
  } else if constexpr (map_fusion<S>::ANY) {
    S::item(&a.f, i, red);
    map_fusion<S>::after(&a.f, i, a.fused);
  }
}

#include "cuda/gather.h"
#include "cuda/mirror_pressure.h"

} // namespace
} // namespace OZ_NAMESPACE
#endif
