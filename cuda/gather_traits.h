/* Traits of gathers: the arrays that a stage gathers, and the factors of its sums. Included by
 * gather.h, inside its namespace. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_GATHER_TRAITS_H
#define OZ_CUDA_GATHER_TRAITS_H

/* ---- gathered arrays ---- */

/* Arrays that the pair function of a stage gathers: records of 16 bytes, and numbers. The frame
 * then points to copies of them in shared memory, and j is a place there. A stage that is not
 * listed gets particle numbers and gathers from global memory, which is right for every stage, and
 * slower. */
template <class S> struct gathered { static constexpr int RECORDS = 0, NUMBERS = 0; };
#define OZ_GATHERS_RECORD(stage, a)                             \
  template <> struct gathered<stage_##stage> {                  \
    static constexpr int RECORDS = 1, NUMBERS = 0;              \
    static OZ_D float *&array(oz_frame &f, int) { return f.a; } \
  };
#define OZ_GATHERS_RECORDS(stage, a, b)                                     \
  template <> struct gathered<stage_##stage> {                              \
    static constexpr int RECORDS = 2, NUMBERS = 0;                          \
    static OZ_D float *&array(oz_frame &f, int k) { return k ? f.b : f.a; } \
  };
#define OZ_GATHERS_NUMBER(stage, a)                             \
  template <> struct gathered<stage_##stage> {                  \
    static constexpr int RECORDS = 0, NUMBERS = 1;              \
    static OZ_D float *&array(oz_frame &f, int) { return f.a; } \
  };
#define OZ_GATHERS_BOTH(stage, a, b) /* a record and a number */            \
  template <> struct gathered<stage_##stage> {                              \
    static constexpr int RECORDS = 1, NUMBERS = 1;                          \
    static OZ_D float *&array(oz_frame &f, int k) { return k ? f.b : f.a; } \
  };
#define OZ_GATHERS_RECORDS_NUMBER(stage, a, b, c)                                          \
  template <> struct gathered<stage_##stage> {                                             \
    static constexpr int RECORDS = 2, NUMBERS = 1;                                         \
    static OZ_D float *&array(oz_frame &f, int k) { return k == 2 ? f.c : k ? f.b : f.a; } \
  };
OZ_GATHERS_RECORD(gradient, x)
OZ_GATHERS_BOTH(bound_sums, A, density_row_sum)
OZ_GATHERS_NUMBER(bound, bound_sum)
OZ_GATHERS_RECORD(force, A)
OZ_GATHERS_RECORD(force_last, A)
OZ_GATHERS_RECORD(force_kick, A)
OZ_GATHERS_RECORD(residual, u)
OZ_GATHERS_RECORD(resist, u)
OZ_GATHERS_RECORD(flow_rate, u)
OZ_GATHERS_RECORD(law_update, y)
OZ_GATHERS_RECORD(strain_send, y)
OZ_GATHERS_BOTH(sharpen, A, density_near_sum)
OZ_GATHERS_BOTH(bound_residual, u, bound_sum)
OZ_GATHERS_RECORD(cg_apply, dx)
OZ_GATHERS_RECORD(density_lambda, p)
OZ_GATHERS_RECORD(density_move, dx)
OZ_GATHERS_RECORD(strain, y)
OZ_GATHERS_RECORDS(conform_move, A, y)
OZ_GATHERS_RECORD(density_strain, y)
OZ_GATHERS_RECORDS(position_move, A, dx)
OZ_GATHERS_RECORD(conform_update, y)
OZ_GATHERS_RECORD(conform_finish, y)
OZ_GATHERS_RECORD(conform_shift, y)
OZ_GATHERS_RECORD(filter_gradient, u)
OZ_GATHERS_RECORDS(filter_move, A, u)
OZ_GATHERS_RECORD(tension_start, x)
OZ_GATHERS_RECORD(tension_begin, x)
OZ_GATHERS_RECORD(tension, dx)
OZ_GATHERS_RECORDS_NUMBER(shift, p, y2, density_relaxation)

/* Whether the copies are all that the pair function reads of a neighbour: otherwise the stage
 * gathers from global memory. */
template <class S> constexpr bool reads_more(const oz_frame &) { return false; }
#define OZ_READS_OWNERS(stage)                                              \
  template <> constexpr bool reads_more<stage_##stage>(const oz_frame &f) { \
    return f.has_boundary || f.body_adheres;                                \
  }
OZ_READS_OWNERS(tension_start)
OZ_READS_OWNERS(tension_begin)
OZ_READS_OWNERS(tension)
#undef OZ_READS_OWNERS
/* The same arguments without room for copies. */
inline stage_args without_copies(const stage_args &a) {
  stage_args none = a;
  none.block_room = 0;
  return none;
}

/* Stages that gather start positions unpacked: 16 bytes instead of 8, for five instructions a pair
 * less. That pays for a stage bound by instructions that gathers one record besides; x is the start
 * position until `finish`. */
template <class S> constexpr bool unpacked = false;
template <> constexpr bool unpacked<stage_force> = true;
template <> constexpr bool unpacked<stage_force_last> = true;
template <> constexpr bool unpacked<stage_force_kick> = true;
template <> constexpr bool unpacked<stage_bound_sums> = true;
template <> constexpr bool unpacked<stage_bound_residual> = true;
template <> constexpr bool unpacked<stage_gradient> = true;
/* Stages that gather start positions alone. */
template <class S> constexpr bool gathers_only_starts = false;
template <> constexpr bool gathers_only_starts<stage_gradient> = true;
/* Stages of kind START with pairs that read neither a gradient nor a start position. */
template <class S> constexpr bool ignores_starts = false;
template <> constexpr bool ignores_starts<stage_tension_start> = true;
template <> constexpr bool ignores_starts<stage_tension_begin> = true;
template <> constexpr bool ignores_starts<stage_tension> = true;
/* Start positions: the array that neighbours are read from, and the particle's own in the bits of
 * an oz_place. */
template <class S> OZ_D const uint32_t *places_of(const stage_args &a) {
  return unpacked<S> ? reinterpret_cast<const uint32_t *>(a.f.x) : a.place;
}
template <class S> OZ_D oz_place place_of(const stage_args &a, uint32_t i) {
  if constexpr (!unpacked<S>) return oz_place_ld(a.place, i);
  oz_real v[4];
  oz_ld4(a.f.x, i, 4, 0, v);
  const oz_place p = {oz_bits_of(v[0]), oz_bits_of(v[1]), oz_bits_of(v[2])};
  return p;
}
/* A block's copies: records, then start positions, then numbers; `room` of each. */
template <class S> struct shared_copies {
  static constexpr int ARRAYS = gathered<S>::RECORDS + gathered<S>::NUMBERS;
  static constexpr bool SHARES = ARRAYS > 0, PLACED = S::KIND == KIND_START &&
                                                      !gathers_only_starts<S> && !ignores_starts<S>;
  static constexpr int PLACE = !PLACED ? 0 : unpacked<S> ? 4 : 2; /* words of a start position */
  /* bytes a neighbour */
  static constexpr uint32_t EACH = 16 * gathered<S>::RECORDS + 4 * gathered<S>::NUMBERS + 4 * PLACE;
  float *at;
  uint32_t room;
  OZ_D uint32_t *places() const {
    return reinterpret_cast<uint32_t *>(
        gathers_only_starts<S> ? at : at + 4 * (size_t)gathered<S>::RECORDS * room);
  }
  static OZ_D constexpr int words(int k) { return k < gathered<S>::RECORDS ? 4 : 1; }
  OZ_D float *copy(int k) const {
    return k < gathered<S>::RECORDS
               ? at + 4 * (size_t)room * k
               : at +
                     (4 * gathered<S>::RECORDS + PLACE + (k - gathered<S>::RECORDS)) * (size_t)room;
  }
};

/* ---- factors of the sums ---- */

/* Number of leading sums that are linear in gradients and zero-energy weights, and ignore both at
 * zero distance. Their pairs omit the factor grad_norm, which finish_sums applies. */
template <class S> constexpr int linear = 0;
template <> constexpr int linear<stage_gradient> = 12;
template <> constexpr int linear<stage_bound_sums> = 2;
template <> constexpr int linear<stage_bound> = 6;
template <> constexpr int linear<stage_force> = 3;
template <> constexpr int linear<stage_force_last> = 3;
template <> constexpr int linear<stage_force_kick> = 3;
template <> constexpr int linear<stage_residual> = 9;
template <> constexpr int linear<stage_bound_residual> = 15;
template <> constexpr int linear<stage_cg_apply> = 9;
template <> constexpr int linear<stage_strain> = 9;
template <> constexpr int linear<stage_conform_move> = 3;
template <> constexpr int linear<stage_conform_update> = 9;
template <> constexpr int linear<stage_conform_finish> = 9;
template <> constexpr int linear<stage_conform_shift> = 9;
template <> constexpr int linear<stage_filter_gradient> = 9;
template <> constexpr int linear<stage_filter_move> = 9;
template <> constexpr int linear<stage_density_strain> = 9;
template <> constexpr int linear<stage_position_move> = 3;
/* First sum that is even in the gradient: its factor is positive. */
template <class S> constexpr int even_from = linear<S>;
template <> constexpr int even_from<stage_gradient> = 10;
template <> constexpr int even_from<stage_bound_sums> = 0;
template <> constexpr int even_from<stage_bound> = 0;
template <> constexpr int even_from<stage_bound_residual> = stage_bound_residual::BOUND;
/* First sum that is quadratic in the gradient. */
template <class S> constexpr int square_from = linear<S>;
template <> constexpr int square_from<stage_gradient> = 11;
/* Stages that sum weights, and must not count padding, which has zero distance. */
template <class S> constexpr bool counts = false;
template <> constexpr bool counts<stage_gradient> = true;
/* Stages with a sum of A_j ghat: their last sum is for oz_matrix_off. */
template <class S> constexpr bool matrix = false;
template <> constexpr bool matrix<stage_force> = true;
template <> constexpr bool matrix<stage_force_last> = true;
template <> constexpr bool matrix<stage_force_kick> = true;
template <> constexpr bool matrix<stage_conform_move> = true;
template <> constexpr bool matrix<stage_filter_move> = true;
template <> constexpr bool matrix<stage_position_move> = true;
/* shared: the pairs have omitted the factors of `linear`. */
template <class S> OZ_D void finish_sums(const stage_args &a, bool shared, oz_real *acc) {
  if constexpr (matrix<S>) oz_matrix_off(acc, acc[S::SUMS - 1]);
  const float norm = unpacked<S> ? a.f.grad_norm : a.units.grad_norm; /* negative */
  for (int s = 0; s < linear<S>; s++)
    acc[s] *= !shared ? 1.0f : s < even_from<S> ? norm : s < square_from<S> ? -norm : norm * norm;
  if constexpr (pull_scaled_from < S >> 0)
    for (int s = pull_scaled_from<S>; s < linear<S>; s++) acc[s] *= shared ? a.units.pull : 1.0f;
}
#endif
