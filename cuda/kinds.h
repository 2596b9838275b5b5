/* What a stage is to the kernels: a type with the functions of its physics text, what may run
 * inside its kernel, and how it walks its rows. Included by stages.cu. */
#ifndef OZ_CUDA_KINDS_H
#define OZ_CUDA_KINDS_H

#include "cuda/gpu.h"

#include "physics/lanes.h"

#include "physics/arrive.h"
#include "physics/body.h"
#include "physics/boundary.h"
#include "physics/conformation.h"
#include "physics/density.h"
#include "physics/filter.h"
#include "physics/heat.h"
#include "physics/load.h"
#include "physics/mixing.h"
#include "physics/motion.h"
#include "physics/mps.h"
#include "physics/nozzle.h"
#include "physics/paper.h"
#include "physics/projection.h"
#include "physics/rules.h"
#include "physics/soft.h"
#include "physics/sph.h"
#include "physics/springs.h"
#include "physics/tension.h"
#include "physics/viscous.h"
#include "physics/wall.h"

#include <type_traits>

static_assert(OZ_OUTER_ACC == 9 && OZ_MATRIX_ACC == 3, "sums of one lane need no folding");

namespace OZ_NAMESPACE {
namespace {

/* ---- what a stage is, as a type ---- */

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
#define OZ_TYPE_C(name, nsum, nred) OZ_TYPE_GATHER(name, name, KIND_C, oz_group, nsum, nred)
#define OZ_TYPE_D(name, nsum, nred) OZ_TYPE_GATHER(name, name, KIND_D, oz_group, nsum, nred)
#define OZ_TYPE_LATE OZ_TYPE_D /* walk.h: late */
#define OZ_TYPE_LINK(name, nsum, nred) OZ_TYPE_GATHER(name, name, KIND_LINK, oz_links, nsum, nred)
#define OZ_TYPE_BOTH(name, nsum, nred)                                                         \
  OZ_TYPE_GATHER(name##_near, name, KIND_BOTH, oz_group, nsum, nred)                           \
  struct stage_##name : stage_##name##_near {                                                  \
    static OZ_D void link(const oz_frame *f, const self *s, const oz_links *n, oz_real *acc) { \
      oz_##name##_link(f, s, n, acc);                                                          \
    }                                                                                          \
  };
#define OZ_TYPE_OUTER OZ_TYPE_C /* one lane: plain sums */
/* the last is what oz_matrix_off takes off */
#define OZ_TYPE_MATRIX(name, nsum, nred) OZ_TYPE_C(name, (nsum) + 1, nred)
#define OZ_TYPE_SPARE OZ_TYPE_MATRIX
#define OZ_TYPE_MAP(name, nsum, nred)                                           \
  struct stage_##name {                                                         \
    static constexpr int KIND = KIND_MAP, REDS = nred, STAGE = OZ_STAGE_##name; \
    static OZ_D void item(const oz_frame *f, uint32_t i, oz_real *red) {        \
      oz_##name##_item(f, i, red);                                              \
    }                                                                           \
  };
#define OZ_TYPE_ITEM(name, nsum, nred)                                                          \
  struct stage_##name {                                                                         \
    static constexpr int KIND = KIND_ITEM, REDS = 0, STAGE = OZ_STAGE_##name;                   \
    static OZ_D void item(const oz_frame *f, uint32_t i, oz_real *) { oz_##name##_item(f, i); } \
  };
#define OZ_TYPE_WALL(name, nsum, nred)                                                          \
  struct stage_##name {                                                                         \
    static constexpr int KIND = KIND_WALL, REDS = 0, STAGE = OZ_STAGE_##name;                   \
    static OZ_D void item(const oz_frame *f, uint32_t i, oz_real *) { oz_##name##_item(f, i); } \
  };
#define OZ_TYPE_MEMBER(name, nsum, nred)                                                        \
  struct stage_##name {                                                                         \
    static constexpr int KIND = KIND_MEMBER, REDS = 0, STAGE = OZ_STAGE_##name;                 \
    static OZ_D void item(const oz_frame *f, uint32_t i, oz_real *) { oz_##name##_item(f, i); } \
  };
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
/* At whose end particles are where the next sort finds them. */
template <class S>
constexpr bool ends =
    std::is_same<S, stage_finish>::value || std::is_same<S, stage_conform_finish>::value;

#include "cuda/velocity.h"
#include "cuda/position.h"

/* Stages of kind ONE, by number: in a kernel of their own, or in the last block of the stage
 * before. */
#define OZ_ONE_C(name)
#define OZ_ONE_D(name)
#define OZ_ONE_LATE(name)
#define OZ_ONE_OUTER(name)
#define OZ_ONE_MATRIX(name)
#define OZ_ONE_SPARE(name)
#define OZ_ONE_LINK(name)
#define OZ_ONE_BOTH(name)
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

/* What the end of a gather asks of its own particle as soon as the kernel may, where there are
 * registers that keep it through the walk. */
template <class S> struct early_of {
  static constexpr bool ANY = false;
  struct own {};
};
#define OZ_TAKES_EARLY(name)                                                                    \
  template <> struct early_of<stage_##name> {                                                   \
    static constexpr bool ANY = true;                                                           \
    typedef oz_##name##_own own;                                                                \
    static OZ_D void take(const oz_frame *f, uint32_t i, own *o) { oz_##name##_take(f, i, o); } \
    static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, const own *o) {     \
      oz_##name##_made(f, i, acc, o);                                                           \
    }                                                                                           \
  };
OZ_TAKES_EARLY(gradient)
OZ_TAKES_EARLY(bound_sums)
OZ_TAKES_EARLY(filter_gradient)
OZ_TAKES_EARLY(filter_move)
/* o: NULL, it has not asked. */
template <class S>
OZ_D void end_of(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red,
                 const typename early_of<S>::own *o) {
  if constexpr (early_of<S>::ANY)
    if (o) return early_of<S>::end(f, i, acc, o);
  S::end(f, i, acc, red);
}

/* Wall stages that may follow a gather in the same kernel, since they touch nothing but their own
 * particle, i (queue.cu knows the same pairs). */
template <class S> struct walls_of {
  static constexpr bool ANY = false;
  static OZ_D void apply(const oz_frame *, uint32_t, uint32_t, uint32_t) {}
};
template <> struct walls_of<stage_force> { static constexpr bool ANY = true; };
template <> struct walls_of<stage_force_last> { static constexpr bool ANY = true; };
template <> struct walls_of<stage_filter_move> {
  static constexpr bool ANY = true;
  static OZ_D void apply(const oz_frame *g, uint32_t slot, uint32_t planes, uint32_t i) {
    oz_wall_drag_of(g, slot, planes, i);
  }
};
template <> struct walls_of<stage_density_lambda> {
  static constexpr bool ANY = true;
  static OZ_D void apply(const oz_frame *g, uint32_t slot, uint32_t i, uint32_t) {
    oz_wall_press_of(g, slot, i);
  }
};
template <> struct walls_of<stage_measure> {
  static constexpr bool ANY = true;
  static OZ_D void apply(const oz_frame *g, uint32_t slot, uint32_t planes, uint32_t i) {
    oz_wall_pressed(g, slot, planes, i, oz_second_half(g->dx[4 * (size_t)i + 3]));
  }
};
struct walls_of_moves {
  static constexpr bool ANY = true;
  static OZ_D void apply(const oz_frame *g, uint32_t slot, uint32_t i, uint32_t which) {
    if (which & JOIN_PROJECT) oz_wall_project_of(g, slot, i);
    if (which & JOIN_DENSITY) oz_wall_density_of(g, slot, i);
  }
};
template <> struct walls_of<stage_density_move> : walls_of_moves {};
template <> struct walls_of<stage_conform_move> : walls_of_moves {};
template <> struct walls_of<stage_shift> { static constexpr bool ANY = true; };
/* The end of a gather and its walls; slot: that of particle i and one more, 0: it has none; planes:
 * that the slot has. What the end has just made is not written and read again, where that counts.
 */
template <class S>
OZ_D void end_with_walls(const oz_frame *f, const oz_frame *g, uint32_t i, uint32_t slot,
                         uint32_t planes, uint32_t which, const oz_real *acc, oz_real *red,
                         const typename early_of<S>::own *o = nullptr) {
  if constexpr (S::STAGE == OZ_STAGE_force) {
    const auto walls = [&](float *v) {
      if (slot) oz_wall_filtered(g, slot - 1, planes, i, v);
    };
    if constexpr (S::REDS > 0)
      S::end_at(f, i, acc, red, walls);
    else
      (void)force_held(f, i, acc, walls);
  } else if constexpr (std::is_same<S, stage_shift>::value) {
    S::end_at(f, i, acc, [&](float *y) {
      if (slot && (which & JOIN_PROJECT)) oz_wall_projected(g, slot - 1, planes, i, y);
      if (slot && (which & JOIN_DENSITY)) oz_wall_density_at(g, slot - 1, planes, i, y);
    });
  } else {
    end_of<S>(f, i, acc, red, o);
    if constexpr (std::is_same<S, stage_measure>::value ||
                  std::is_same<S, stage_filter_move>::value) {
      if (slot) walls_of<S>::apply(g, slot - 1, planes, i);
    } else if (slot)
      walls_of<S>::apply(g, slot - 1, i, which);
  }
}
/* wall_mirror comes before the end of a move, which adds to what it wrote. */
template <class S> constexpr bool mirrors = false;
template <> constexpr bool mirrors<stage_density_move> = true;
template <> constexpr bool mirrors<stage_shift> = true;

/* Slots of the layer next to a wall, which alone have images of others (mirror.h), by where the
 * wall is at the start; what comes so near within the substep is none of them. */
OZ_D bool next_to_wall(const oz_frame *f, uint32_t slot, uint32_t planes) {
  bool some = false;
  for (uint32_t k = 0; k < planes; k++) {
    const oz_wall *w = f->wall + (size_t)slot * f->slot_planes + k;
    some |= w->dense && w->s < 0.6f * f->h;
  }
  return some;
}
OZ_D void planes_noted(const oz_frame *f, uint32_t slot, uint32_t i, int flat) {
  oz_wall_planes_of(f, slot, i, flat);
  if (!next_to_wall(f, slot, f->wall_planes[slot])) return;
  const uint32_t k = oz_atomic_add(f->wall_near, 1u); /* in any order */
  f->wall_near[1 + k] = slot;
}

/* The same for stages of kind MAP: what comes before or after the particle's own item. FLAT: no
 * collider is curved, so that nothing is called, and fewer registers do. */
template <class S, bool FLAT = false> struct maps_of {
  static constexpr bool ANY = false, WALLS = false, TWO = false;
};
struct map_walls {
  /* WALLS: only what has a slot does more than its item; TWO: there is a kernel for flat ones */
  static constexpr bool ANY = true, WALLS = true, TWO = false;
  static OZ_D void before(const oz_frame *, uint32_t, uint32_t, uint32_t) {}
  static OZ_D void after(const oz_frame *, uint32_t, uint32_t, uint32_t) {}
  static OZ_D void then(const oz_frame *, uint32_t, uint32_t) {} /* of every particle */
};
template <bool FLAT> struct maps_of<stage_kick, FLAT> : map_walls {
  static constexpr bool TWO = true;
  static OZ_D void after(const oz_frame *f, uint32_t slot, uint32_t i, uint32_t which) {
    if (which & 2u) oz_wall_hold_of(f, slot, i, FLAT);
  }
};
template <bool FLAT> struct maps_of<stage_velocity_start, FLAT> : maps_of<stage_kick, FLAT> {
  static OZ_D void before(const oz_frame *f, uint32_t slot, uint32_t i, uint32_t which) {
    if (which & 1u) planes_noted(f, slot, i, FLAT);
  }
};
template <> struct maps_of<stage_cg_update> : map_walls {
  static OZ_D void before(const oz_frame *f, uint32_t slot, uint32_t i, uint32_t) {
    oz_wall_load_of(f, slot, i);
  }
};
template <bool FLAT> struct maps_of<stage_cg_advance, FLAT> : map_walls {};
template <> struct maps_of<stage_advance> : map_walls {
  static OZ_D void before(const oz_frame *f, uint32_t slot, uint32_t i, uint32_t which) {
    if (which & 1u) oz_wall_clamp_of(f, slot, i);
  }
  static OZ_D void after(const oz_frame *f, uint32_t slot, uint32_t i, uint32_t which) {
    if (which & 2u) oz_wall_density_of(f, slot, i);
    if (which & 4u) oz_wall_project_of(f, slot, i);
  }
  static OZ_D void then(const oz_frame *f, uint32_t i, uint32_t which) {
    if (which & 8u) oz_density_bound_item(f, i, nullptr);
  }
};
template <> struct maps_of<stage_material> {
  static constexpr bool ANY = true, WALLS = false, TWO = false;
  static OZ_D void after(const oz_frame *f, uint32_t i, uint32_t) {
    oz_predict_item(f, i, nullptr);
  }
};
/* Stages of kind WALL that know whether any collider is curved. */
template <class S> struct flat_of { static constexpr bool ANY = false; };
template <> struct flat_of<stage_wall_planes> {
  static constexpr bool ANY = true;
  template <bool FLAT> struct stage : stage_wall_planes {
    static OZ_D void item(const oz_frame *f, uint32_t slot, oz_real *) {
      planes_noted(f, slot, f->wall_particle[slot], FLAT);
    }
  };
  /* and wall_hold behind it: what that asks of its particle is on the way while planes are found */
  template <bool FLAT> struct holding : stage_wall_planes {
    static OZ_D void item(const oz_frame *f, uint32_t slot, oz_real *) {
      const uint32_t i = f->wall_particle[slot], length = f->len_c[i];
      oz_gripped g;
      oz_gripped_ld(f, i, &g);
      planes_noted(f, slot, i, FLAT);
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
/* slot: that of particle i and one more, 0: it has none. */
template <class S, bool FLAT = false>
OZ_D void map_joined(const stage_args &a, uint32_t i, uint32_t slot, oz_real *red) {
  if constexpr (std::is_same<S, stage_cg_advance>::value)
    S::item(&a.f, i, slot, a.walls);
  else if constexpr (maps_of<S>::WALLS) {
    if (slot) maps_of<S, FLAT>::before(&a.f, slot - 1, i, a.walls);
    S::item(&a.f, i, red);
    if (slot) maps_of<S, FLAT>::after(&a.f, slot - 1, i, a.walls);
    maps_of<S, FLAT>::then(&a.f, i, a.walls);
  } else if constexpr (maps_of<S>::ANY) {
    S::item(&a.f, i, red);
    maps_of<S>::after(&a.f, i, a.walls);
  }
}

#include "cuda/walk.h"
#include "cuda/mirror.h"

} // namespace
} // namespace OZ_NAMESPACE
#endif
