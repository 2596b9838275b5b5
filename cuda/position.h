/* One position iteration in two kernels: what both constraints ask for (density_lambda and strain),
 * and the move by both (conform_move and density_move). They look at the same positions, so a pair
 * is visited twice and not four times. Included by kinds.h, inside its namespace, after the stages.
 *
 * What the stages one by one read as positions is the start position and the displacement here;
 * what goes to the neighbours in dx is the displacement y, and as two halves the weight of the
 * zero-energy control and the density's multiplier. Each is rounded once, for its own particle too,
 * so that what two do to each other stays equal and opposite. */
#ifndef OZ_CUDA_POSITION_H
#define OZ_CUDA_POSITION_H

/* ---- two numbers in one ---- */

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

struct stage_measure {
  static constexpr int KIND = KIND_C, SUMS = 10, REDS = 0, STAGE = OZ_STAGE_density_lambda;
  struct self {
    oz_v3 y;
  };
  static OZ_D void begin(const oz_frame *f, uint32_t i, self *s) { s->y = oz_vec_of(f->y, i); }
  static OZ_D void pair(const oz_frame *f, const self *s, const oz_group *n, oz_real *acc) {
    oz_real v[4];
    oz_near4(f->y, n, v);
    oz_outer_add(acc, v, n->g.x, n->g.y, n->g.z);
    const oz_v3 r = {n->r.x + (s->y.x - v[0]), n->r.y + (s->y.y - v[1]), n->r.z + (s->y.z - v[2])};
    acc[9] += oz_density_weight(f, r);
  }
  static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *) {
    oz_strain_own own;
    oz_strain_take(f, i, &own);
    oz_real rho;
    const float lam = oz_min(oz_density_multiplier(f, i, acc[9], &rho), 0.0f); /* and a number */
    const oz_real y[4] = {own.at.y[0], own.at.y[1], own.at.y[2], oz_two_halves(own.at.y[3], lam)};
    oz_strained(f, i, acc, lam, &own); /* whose matrix pushes for the density, too */
    oz_st(f->rho, i, rho);
    oz_st4(f->dx, i, 4, 0, y);
  }
  /* rows of what has come near since the start */
  struct further {
    static constexpr int KIND = KIND_D;
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

struct stage_shift {
  static constexpr int KIND = KIND_C, SUMS = 7, REDS = 0, STAGE = OZ_STAGE_conform_move;
  struct self {
    float y[3], w, pull;
  }; /* pull: what n->c lacks (walk.h); w has it */
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
  /* walls(y): what walls make of the displacement before it is written */
  template <class WALLS>
  static OZ_D void end_at(const oz_frame *f, uint32_t i, const oz_real *acc, const WALLS &walls) {
    const float c = oz_density_scale(f);
    const oz_real sum[3] = {c * acc[3], c * acc[4], c * acc[5]};
    oz_real y[4];
    const oz_v3 dx = oz_force_total(f, i, acc), x = oz_vec_ld(f->x, i);
    const float lam = oz_second_half(f->dx[4 * (size_t)i + 3]);
    oz_ld4(f->y, i, 4, 0, y); /* with what wall_mirror has added */
    oz_add_sane(y, dx, OZ_SANE_MOVE * f->d);
    oz_density_shift(f, i, sum, lam, y);
    walls(y);
    oz_st4(f->y2, i, 4, 0, y);
    const oz_v3 p = {x.x + y[0], x.y + y[1], x.z + y[2]};
    oz_vec_st(f->p, i, p, oz_weight(f, i));
  }
  struct further { /* positions p are being written: those of before are made anew */
    static constexpr int KIND = KIND_D;
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
      if (!(k < 0.0f)) return; /* nobody here is compressed */
      const oz_v3 x = oz_vec_near(f->x, n),
                  r = {s->p.x - (x.x + v[0]), s->p.y - (x.y + v[1]), s->p.z - (x.z + v[2])};
      k *= oz_density_slope(f, r);
      acc[3] += k * r.x, acc[4] += k * r.y, acc[5] += k * r.z;
    }
  };
};

/* Stages whose n->c lacks place_units.pull where linear (walk.h); they are told of it by `told`,
 * after begin. */
template <class S> constexpr bool pulls = false;
template <> constexpr bool pulls<stage_shift> = true;
/* The same where what lacks it has sums of its own, from this one on: the factor comes in the end.
 */
template <class S> constexpr int pulled_from = 0;
template <> constexpr int pulled_from<stage_filter_move> = 6;
template <class S> OZ_D void told(typename S::self *s, float pull) {
  if constexpr (pulls<S>) s->pull = pull, s->w *= pull;
}
/* Moves for which dx has displacements and halves: images are to read it so (mirror.h). */
template <class S> constexpr bool displaced = false;
template <> constexpr bool displaced<stage_shift> = true;
/* What the joined stages say beyond their pairs: whether they ask for oz_group.r, and what walks
 * the further rows. */
template <class S> constexpr bool apart = false;
template <> constexpr bool apart<stage_measure> = true;
template <> constexpr bool apart<stage_gradient> = true;
template <class S> struct further_of {
  static constexpr bool OTHER = false;
  typedef S stage;
};
template <> struct further_of<stage_measure> {
  static constexpr bool OTHER = true;
  typedef stage_measure::further stage;
};
template <> struct further_of<stage_shift> {
  static constexpr bool OTHER = true;
  typedef stage_shift::further stage;
};
#endif
