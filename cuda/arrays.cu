/* Memory layout of the particle arrays. All of them are cut from one block, `capacity` items each,
 * but for the optional fields, which have memory of their own.
 *
 * Sorting gathers state into work arrays that are dead between substeps, and then the two change
 * roles: there are two layouts (parities), each with the state where the other has work arrays of
 * the same size. So a sort costs one pass and no copy. Optional fields are gathered into other work
 * arrays and copied back; in small scenes, where a launch costs more than memory, they are
 * double-buffered (sort.cu). SPDX-License-Identifier: Apache-2.0 */
#include "cuda/gpu.h"

#include <cstddef>

namespace OZ_NAMESPACE {
namespace {

struct array {
  size_t member; /* offset in oz_frame */
  uint32_t words;
};
#define AT(m) offsetof(oz_frame, m)

/* Pairs of regions that swap places; the arrays of each in order. */
struct region {
  array a[2];
};
const region state_regions[] = {
    {{{AT(x), 4}}},  {{{AT(u), 4}}}, {{{AT(q), 6}}}, {{{AT(material), 1}, {AT(rank), 1}}},
    {{{AT(id), 2}}},
};
const region work_regions[] = {
    {{{AT(y), 4}}},
    {{{AT(lam_packed), 4}}}, /* p is no candidate: predict writes it while other particles are still
                          permuted (wall_contacts.cu) */
    {{{AT(cg_direction), 6}}},
    {{{AT(density_diagonal), 1}, {AT(zero_energy_gate), 1}}},
    {{{(size_t)-1, 2}}}, /* wall contact of each particle (4 bytes) and flags */
};
enum { REGIONS = sizeof state_regions / sizeof *state_regions };

/* Arrays with a fixed place. Results of a substep are among them, and are read until the next sort.
 * The order from K to cg_applied matters to spare_fields. The velocity phase uses 4 words
 * of pp and r: pp swaps places with q, density_near_sum lies in the rest of r, and static_cells.cu
 * uses the rest of pp. */
const array fixed[] = {
    {AT(lam), 6},
    {AT(rho), 1},
    {AT(a), 1},
    {AT(neighbours), 1},
    {AT(omega), 1},
    {AT(dilation), 1},
    {AT(gradient_sum), 3},
    {AT(K), 6},
    {AT(dx), 4},
    {AT(A), 4},
    {AT(B), 4},
    {AT(precond_rotation), 2},
    {AT(precond_eigenvalues), 3},
    {AT(cg_residual), 6},
    {AT(cg_applied), 4},
    {AT(p), 4},
    {(size_t)-1, 4}, /* velocity and source at the beginning of the substep; last but one */
    {(size_t)-1, 2}, /* packed start positions; last */
};
/* Arrays of the velocity phase are dead when the position phase begins; these lie over them. */
const struct {
  size_t member, over;
  uint32_t words;
} shared[] = {
    /* offset, in words */
    {AT(bound_sum), AT(cg_residual), 5},
    {AT(density_near_sum), AT(cg_residual), 4},
    {AT(density_step), AT(cg_residual), 4},
    {AT(density_push), AT(cg_residual), 5},
    {AT(density_relaxation), AT(density_diagonal), 0},
    {AT(density_row_sum), AT(rho), 0},
    {AT(rotation), AT(cg_residual), 0},
    {AT(soft_gradient), AT(cg_residual), 0},
    {AT(y2), AT(cg_direction), 0},
    {AT(wall_term), AT(cg_applied), 0},
    {AT(u2), AT(dx), 0},
};

void put(oz_frame *f, size_t member, float *p) {
  if (member != (size_t)-1) memcpy(reinterpret_cast<char *>(f) + member, &p, sizeof p);
}
float *take(const oz_frame *f, size_t member) {
  float *p;
  memcpy(&p, reinterpret_cast<const char *>(f) + member, sizeof p);
  return p;
}
uint32_t words_of(const region &r) {
  uint32_t n = 0;
  for (const array &a : r.a) n += a.words;
  return n;
}
void place(oz_frame *f, const region &r, float *at, uint32_t capacity) {
  for (const array &a : r.a)
    if (a.words) put(f, a.member, at), at += (size_t)a.words * capacity;
}

enum { RECORD = 0, PLANES = 1, WIDE = 0 };
enum {
#define OZ_FIELD(name, member, words, layout) +0
#define OZ_OPTIONAL(name, member, words, layout, fallback) +words
#define OZ_RESULT OZ_FIELD
  OPTIONAL_WORDS = 0
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
#undef OZ_RESULT
};
const field_array fields[OZ_FIELD_COUNT] = {
#define OZ_FIELD(name, member, words, layout) {AT(member), words, layout != 0, false, #member},
#define OZ_OPTIONAL(name, member, words, layout, fallback) \
  {AT(member), words, layout != 0, true, #member},
#define OZ_RESULT OZ_FIELD
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
#undef OZ_RESULT
};

} // namespace

const field_array *field_of(oz_field field) { return &fields[field]; }
float *array_of(const oz_frame *f, const field_array *a) { return take(f, a->member); }
void put_array(oz_frame *f, const field_array *a, float *p) { put(f, a->member, p); }

/* Points the optional fields of a frame, those that are set, at work arrays that are dead while
 * particles are sorted, K to cg_applied, which are adjacent. */
void spare_fields(oz_frame *f) {
  float *at = reinterpret_cast<float *>(f->K);
  uint32_t used = 0;
  for (const field_array &a : fields)
    if (a.optional && take(f, a.member))
      put(f, a.member, at + (size_t)used * f->stride), used += a.words;
  static_assert(OPTIONAL_WORDS <= 33, "these arrays are too small for all optional fields");
}

size_t words_per_particle() {
  size_t n = 0;
  for (int k = 0; k < REGIONS; k++) n += words_of(state_regions[k]) + words_of(work_regions[k]);
  for (const array &a : fixed) n += a.words;
  return n;
}

void lay_out(oz_frame *f, float *at, uint32_t capacity, uint32_t parity) {
  for (int k = 0; k < REGIONS; k++) {
    const size_t step = (size_t)words_of(state_regions[k]) * capacity;
    place(f, state_regions[k], parity ? at + step : at, capacity);
    place(f, work_regions[k], parity ? at : at + step, capacity);
    at += 2 * step;
  }
  for (const array &a : fixed) put(f, a.member, at), at += (size_t)a.words * capacity;
  for (const auto &s : shared) put(f, s.member, take(f, s.over) + (size_t)s.words * capacity);
  f->stride = capacity;
}

float *backup_of(float *at, uint32_t capacity) {
  return at + (words_per_particle() - 6) * capacity;
}
uint32_t *places_of(float *at, uint32_t capacity) {
  return reinterpret_cast<uint32_t *>(at + (words_per_particle() - 2) * capacity);
}

/* The two words beside the ids: wall contact of each particle. */
uint32_t *slots_of(float *at, uint32_t capacity, uint32_t parity) {
  for (int k = 0; k + 1 < REGIONS; k++) at += 2 * (size_t)words_of(state_regions[k]) * capacity;
  return reinterpret_cast<uint32_t *>(parity ? at : at + 2 * (size_t)capacity);
}

} // namespace OZ_NAMESPACE
