/* One position iteration in two kernels: density_lambda with strain, then conform_move with
 * density_move. Both of a pair gather over the same positions, so a pair of particles is visited
 * twice and not four times. Included by stage_types.h, inside its namespace, after the stages.
 *
 * A position is here the start position and a displacement. dx carries the displacement y to the
 * neighbours, and as two halves the weight of the zero-energy control and the density's multiplier.
 * Each is rounded once, for the particle itself too, so that pair forces stay equal and opposite.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_FUSED_POSITION_H
#define OZ_CUDA_FUSED_POSITION_H

/* ---- two halves in a float ---- */

OZ_D float oz_two_halves(float a, float b) {
  uint16_t h[2];
  oz_st_half(h, a), oz_st_half(h + 1, b);
  return oz_float_of((uint32_t)h[0] | (uint32_t)h[1] << 16);
}
OZ_D float oz_first_half(float v) {
  const uint16_t h = (uint16_t)oz_bits_of(v);
  return oz_ld_half(&h);
}
OZ_D float oz_second_half(float v) {
  const uint16_t h = (uint16_t)(oz_bits_of(v) >> 16);
  return oz_ld_half(&h);
}

/* ---- density_lambda and strain ---- */

struct stage_density_strain {
  static constexpr int KIND = KIND_START, SUMS = 10, REDS = 0, STAGE = OZ_STAGE_density_lambda;
  struct self {
    oz_v3 y;
  };
  static OZ_D void begin(const oz_frame *f, uint32_t i, self *s) { s->y = oz_vec_of(f->y, i); }
  static OZ_D void pair(const oz_frame *f, const self *s, const oz_group *n, oz_real *acc) {
    oz_real v[4];
    oz_near4(f->y, n, v);
    oz_outer_add(acc, v, n->g.x, n->g.y, n->g.z);
    const oz_v3 r = {n->r.x + (s->y.x - v[0]), n->r.y + (s->y.y - v[1]), n->r.z + (s->y.z - v[2])};
    acc[9] += oz_kernel(f, oz_dot(r, r));
  }
  static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *) {
    oz_strain_own own;
    oz_strain_take(f, i, &own);
    oz_real rho;
    const float lam = oz_min(oz_density_multiplier(f, i, acc[9], &rho), 0.0f); /* 0 for NaN */
    const oz_real y[4] = {own.at.y[0], own.at.y[1], own.at.y[2], oz_two_halves(own.at.y[3], lam)};
    oz_strained(f, i, acc, lam, &own); /* the matrix includes the density's push */
    oz_st(f->rho, i, rho);
    oz_st4(f->dx, i, 4, 0, y);
  }
  /* rows that the density list adds */
  struct further {
    static constexpr int KIND = KIND_DENSITY;
    typedef oz_density_lambda_self self;
    static OZ_D void begin(const oz_frame *f, uint32_t i, self *s) {
      oz_density_lambda_begin(f, i, s);
    }
    static OZ_D void pair(const oz_frame *f, const self *s, const oz_group *n, oz_real *acc) {
      oz_density_lambda_pair(f, s, n, acc + 9);
    }
  };
};

/* ---- conform_move and density_move ---- */

struct stage_position_move {
  static constexpr int KIND = KIND_START, SUMS = 7, REDS = 0, STAGE = OZ_STAGE_conform_move;
  struct self {
    float y[3], w, pull;
  }; /* pull: factor that n->c lacks (gather.h); w includes it */
  static OZ_D void begin(const oz_frame *f, uint32_t i, self *s) {
    oz_real v[4];
    oz_ld4(f->dx, i, 4, 0, v);
    s->y[0] = v[0], s->y[1] = v[1], s->y[2] = v[2];
    s->w = oz_first_half(v[3]);
  }
  static OZ_D void pair(const oz_frame *f, const self *s, const oz_group *n, oz_real *acc) {
    oz_real v[4];
    oz_near4(f->dx, n, v);
    oz_matrix(acc, f->A, n);
    const oz_v3 e = {v[0] - s->y[0], v[1] - s->y[1], v[2] - s->y[2]};
    const float pull = n->c * (s->w + s->pull * oz_first_half(v[3]));
    acc[0] += pull * e.x, acc[1] += pull * e.y, acc[2] += pull * e.z;
  }
  static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *) {
    end_at(f, i, acc, [](float *) {});
  }
  /* walls(y): the wall stages, on the displacement before it is written */
  template <class WALLS>
  static OZ_D void end_at(const oz_frame *f, uint32_t i, const oz_real *acc, const WALLS &walls) {
    const float c = oz_density_scale(f);
    const oz_real sum[3] = {c * acc[3], c * acc[4], c * acc[5]};
    oz_real y[4];
    const oz_v3 dx = oz_force_total(f, i, acc), x = oz_vec_ld(f->x, i);
    const float lam = oz_second_half(f->dx[4 * (size_t)i + 3]);
    oz_ld4(f->y, i, 4, 0, y); /* includes mirror pressure */
    oz_add_sane(y, dx, OZ_SANE_MOVE * f->d);
    oz_density_shift(f, i, sum, lam, y);
    walls(y);
    oz_st4(f->y2, i, 4, 0, y);
    const oz_v3 p = {x.x + y[0], x.y + y[1], x.z + y[2]};
    oz_vec_st(f->p, i, p, oz_weight(f, i));
  }
  struct further { /* p is being written: old positions come from x and dx */
    static constexpr int KIND = KIND_DENSITY;
    struct self {
      oz_v3 p;
      float lam;
    };
    static OZ_D void begin(const oz_frame *f, uint32_t i, self *s) {
      oz_real v[4];
      oz_ld4(f->dx, i, 4, 0, v);
      const oz_v3 x = oz_vec_ld(f->x, i);
      s->p.x = x.x + v[0], s->p.y = x.y + v[1], s->p.z = x.z + v[2];
      s->lam = oz_second_half(v[3]);
    }
    static OZ_D void pair(const oz_frame *f, const self *s, const oz_group *n, oz_real *acc) {
      oz_real v[4];
      oz_near4(f->dx, n, v);
      float k = s->lam + oz_second_half(v[3]);
      if (!(k < 0.0f)) return; /* no compression here */
      const oz_v3 x = oz_vec_near(f->x, n),
                  r = {s->p.x - (x.x + v[0]), s->p.y - (x.y + v[1]), s->p.z - (x.z + v[2])};
      k *= oz_density_slope(f, r);
      acc[3] += k * r.x, acc[4] += k * r.y, acc[5] += k * r.z;
    }
  };
};

/* Stages whose n->c lacks the factor place_units.pull where sums are linear (gather.h); set_pull
 * sets it, after begin. */
template <class S> constexpr bool scales_pull = false;
template <> constexpr bool scales_pull<stage_position_move> = true;
/* The same with sums of their own, from this one on: the factor is applied at the end. */
template <class S> constexpr int pull_scaled_from = 0;
template <> constexpr int pull_scaled_from<stage_filter_move> = 6;
template <class S> OZ_D void set_pull(typename S::self *s, float pull) {
  if constexpr (scales_pull<S>) s->pull = pull, s->w *= pull;
}
/* Moves that send displacements and halves in dx (mirror_pressure.h reads them). */
template <class S> constexpr bool sends_displacements = false;
template <> constexpr bool sends_displacements<stage_position_move> = true;
/* Traits of the fused stages: whether they read oz_group.r, and the type that walks the density
 * list's added rows. */
template <class S> constexpr bool needs_separation = false;
template <> constexpr bool needs_separation<stage_density_strain> = true;
template <> constexpr bool needs_separation<stage_gradient> = true;
template <class S> struct density_rows_of {
  static constexpr bool OTHER = false;
  typedef S stage;
};
template <> struct density_rows_of<stage_density_strain> {
  static constexpr bool OTHER = true;
  typedef stage_density_strain::further stage;
};
template <> struct density_rows_of<stage_position_move> {
  static constexpr bool OTHER = true;
  typedef stage_position_move::further stage;
};
#endif
