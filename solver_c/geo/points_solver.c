/* All particles of a solver as points, and back, so that a cache file continues the simulation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <stdlib.h>

static ooze_result solver_failed(ooze_solver *s, ooze_result result, const char *name,
                                 ooze_message *why) {
  return oz_fail(why, result, "attribute '%s': %s", name, ooze_solver_message(s));
}

/* ---- Out --------------------------------------------------------------------------------- */

/* A solver as it is, or a capture of one. */
typedef struct source {
  ooze_solver *solver;
  ooze_capture *capture;
  uint32_t count;
  float separation;
  double time;
  const oz_loop *loop;
} source;

static ooze_result read_rows(const source *from, ooze_attribute which, uint32_t first,
                             uint32_t count, void *out) {
  return from->capture ? ooze_capture_read(from->capture, which, first, count, 0, out)
                       : ooze_attribute_read(from->solver, which, first, count, 0, out);
}
static ooze_result refused(const source *from, ooze_result result, const char *name,
                           ooze_message *why) {
  if (!from->capture) return solver_failed(from->solver, result, name, why);
  return oz_fail(why, result, "attribute '%s': %s", name, ooze_capture_message(from->capture));
}

/* A capture's own array stands for a copy of it, as long as the capture does. */
static ooze_result take_out(const source *from, ooze_attribute which,
                            const ooze_attribute_info *info, ooze_points *points,
                            ooze_message *why) {
  /* Houdini's integers are signed; an id is the only one of 64 bits. */
  uint32_t type = !info->is_integer ? (info->element_bytes == 8 ? OOZE_FLOAT64 : OOZE_FLOAT32)
                  : info->element_bytes == 8 ? OOZE_UINT64
                                             : OOZE_INT32;
  uint32_t count = (uint32_t)points->count;
  const void *own = NULL;
  void *data = NULL;
  ooze_result result =
      from->capture && count ? ooze_capture_array(from->capture, which, &own) : OOZE_OK;
  if (result != OOZE_OK) return refused(from, result, info->name, why);
  if (own) {
    OZ_TRY_OK(oz_points_borrow(points, info->name, type, info->components, own, why));
  } else {
    OZ_TRY_OK(ooze_points_add(points, info->name, type, info->components, OOZE_MEANING_NUMBER,
                              &data, why));
    result = count ? read_rows(from, which, 0, count, data) : OOZE_OK;
    if (result != OOZE_OK) return refused(from, result, info->name, why);
  }
  const int32_t *integers = own ? own : data;
  const uint64_t values = points->count * info->components;
  /* two at a time: the sign bits of both */
  if (type != OOZE_INT32 || !values ||
      (!(oz_or_words(own ? own : data, values / 2, from->loop) & UINT64_C(0x8000000080000000)) &&
       integers[values - 1] >= 0))
    return OOZE_OK;
  for (uint64_t i = 0; i < values; i++)
    if (integers[i] < 0)
      return oz_fail(why, OOZE_ERROR_UNSUPPORTED,
                     "attribute '%s' of particle %llu is above 2^31 - 1, which Houdini cannot hold",
                     info->name, (unsigned long long)(i / info->components));
  return OOZE_OK;
}

/* Attributes that only bodies, melting, shape memory and laws of flow use are left out where no
 * particle has them: reading then gives the same zeros. */
static bool all_zero(const source *from, ooze_attribute which, const ooze_attribute_info *info) {
  unsigned char page[256 * 24];
  const size_t row = (size_t)info->components * info->element_bytes;
  if (which != OOZE_OWNER && which != OOZE_REST && which != OOZE_MELT && which < OOZE_PRESSURE)
    return false;
  const void *own = NULL;
  if (from->capture && ooze_capture_array(from->capture, which, &own) == OOZE_OK && !own)
    return true;
  for (uint32_t first = 0; first < from->count; first += 256) {
    const uint32_t n = from->count - first < 256 ? from->count - first : 256;
    if (read_rows(from, which, first, n, page) != OOZE_OK) return false;
    for (size_t k = 0; k < n * row; k++)
      if (page[k]) return false;
  }
  return true;
}

typedef struct age_job {
  float *to;
  const float *birth; /* NULL: 0 */
  double time;
} age_job;
static void fill_age(void *arg, uint32_t begin, uint32_t end) {
  const age_job *job = arg;
  for (uint32_t i = begin; i < end; i++)
    job->to[i] = (float)(job->time - (job->birth ? (double)job->birth[i] : 0.0));
}

/* age (s) and the detail restblend, where particles remember their birth. */
static ooze_result add_age(const source *from, ooze_points *points, ooze_message *why) {
  ooze_params params;
  float *age;
  ooze_params_default(&params);
  OZ_TRY_OK(from->capture ? ooze_capture_params(from->capture, &params)
                          : ooze_params_get(from->solver, &params));
  if (!params.rest) return OOZE_OK;
  OZ_TRY_OK(
      ooze_points_add(points, "age", OOZE_FLOAT32, 1, OOZE_MEANING_NUMBER, (void **)&age, why));
  /* left out where all began at 0 s */
  const oz_attribute *birth = oz_points_find(points, "birthtime", 9);
  const age_job job = {age, birth ? birth->data : NULL, from->time};
  oz_loop_run(from->loop, (uint32_t)points->count, fill_age, (void *)(uintptr_t)&job);
  return ooze_points_detail_set(points, "restblend",
                                ooze_rest_blend(from->time, (double)params.rest_period), why);
}

typedef struct scale_job {
  float *to, value;
} scale_job;
static void fill_scale(void *arg, uint32_t begin, uint32_t end) {
  const scale_job *job = arg;
  for (uint32_t i = begin; i < end; i++) job->to[i] = job->value;
}

static ooze_result fill(const source *from, uint64_t attributes, ooze_points *points,
                        ooze_message *why) {
  /* P first, as in every Houdini file; id is state in any case: without it a cache cannot be told
   * from another. */
  static const ooze_attribute head[3] = {OOZE_POSITION, OOZE_VELOCITY, OOZE_ID};
  ooze_attribute_info info;
  for (int i = 0; i < 3; i++) {
    ooze_attribute_info_default(&info);
    OZ_TRY_OK(ooze_attribute_describe(head[i], &info));
    if (attributes >> head[i] & 1) OZ_TRY_OK(take_out(from, head[i], &info, points, why));
  }
  float *scale;
  OZ_TRY_OK(ooze_points_add(points, "pscale", OOZE_FLOAT32, 1, OOZE_MEANING_NUMBER, (void **)&scale,
                            why));
  const scale_job job = {scale, 0.5f * from->separation};
  oz_loop_run(from->loop, (uint32_t)points->count, fill_scale, (void *)(uintptr_t)&job);
  for (int which = 0; which < OOZE_ATTRIBUTE_COUNT; which++) {
    if (which == OOZE_POSITION || which == OOZE_VELOCITY || which == OOZE_ID) continue;
    ooze_attribute_info_default(&info);
    OZ_TRY_OK(ooze_attribute_describe((ooze_attribute)which, &info));
    if (info.is_state && attributes >> which & 1 && !all_zero(from, (ooze_attribute)which, &info))
      OZ_TRY_OK(take_out(from, (ooze_attribute)which, &info, points, why));
  }
  OZ_TRY_OK(add_age(from, points, why));
  OZ_TRY_OK(ooze_points_detail_set(points, "time", from->time, why));
  return ooze_points_detail_set(points, "separation", (double)from->separation, why);
}

static ooze_result points_from(source *from, uint64_t attributes, uint32_t threads,
                               ooze_points **out, ooze_message *why) {
  enum { FEW = 20000 };
  *out = NULL;
  ooze_points *points = NULL;
  oz_loop loop;
  OZ_TRY_OK(ooze_points_create(from->count, &points, why));
  oz_loop_open(&loop, NULL, from->count < FEW ? 1 : threads);
  from->loop = &loop;
  ooze_result result = fill(from, attributes, points, why);
  oz_loop_close(&loop);
  if (result == OOZE_OK)
    *out = points;
  else
    ooze_points_destroy(points);
  return result;
}

ooze_result ooze_points_from_solver(ooze_solver *s, ooze_points **out, ooze_message *why) {
  if (!s || !out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no solver given");
  source from = {s, NULL, ooze_particle_count(s), ooze_solver_separation(s), ooze_time(s), NULL};
  return points_from(&from, UINT64_MAX, 1, out, why);
}

ooze_result ooze_points_from_capture(ooze_capture *c, uint64_t attributes, uint32_t threads,
                                     ooze_points **out, ooze_message *why) {
  if (!c || !out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no capture given");
  source from = {NULL, c, ooze_capture_count(c), ooze_capture_separation(c), ooze_capture_time(c),
                 NULL};
  return points_from(&from, attributes, threads, out, why);
}

/* ---- In ---------------------------------------------------------------------------------- */

enum { MOST_ROW = 64 }; /* bytes of one particle's values of one attribute */

typedef struct order {
  uint64_t id;
  uint32_t point, rank; /* in the file; in the solver */
} order;

static int by_id(const void *a, const void *b) {
  const order *x = a, *y = b;
  return x->id < y->id ? -1 : x->id > y->id;
}

static ooze_result ids_of(const ooze_points *points, order *list, bool *out_given,
                          ooze_message *why) {
  const oz_attribute *id = oz_points_find(points, "id", 2);
  *out_given = id && id->components == 1 && id->type >= OOZE_INT32;
  bool sorted = true;
  for (uint32_t i = 0; i < points->count; i++) {
    int64_t value = !*out_given              ? (int64_t)i
                    : id->type == OOZE_INT32 ? ((const int32_t *)id->data)[i]
                                             : ((const int64_t *)id->data)[i];
    if (value < 0 && !(*out_given && id->type == OOZE_UINT64))
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "point %u: id is %lld; expected 0 or more", i,
                     (long long)value);
    list[i] = (order){(uint64_t)value, i, i};
    sorted &= i == 0 || list[i - 1].id <= list[i].id;
  }
  if (!sorted) qsort(list, (size_t)points->count, sizeof *list, by_id);
  for (uint32_t i = 1; i < points->count; i++)
    if (list[i].id == list[i - 1].id)
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "points %u and %u have the same id %llu",
                     list[i - 1].point, list[i].point, (unsigned long long)list[i].id);
  return OOZE_OK;
}

/* One value of a point attribute, as the solver's type. */
static void convert(const oz_attribute *from, uint64_t at, const ooze_attribute_info *to,
                    void *out) {
  double real = from->type == OOZE_FLOAT32   ? (double)((const float *)from->data)[at]
                : from->type == OOZE_FLOAT64 ? ((const double *)from->data)[at]
                                             : 0.0;
  int64_t integer = from->type == OOZE_INT32   ? ((const int32_t *)from->data)[at]
                    : from->type >= OOZE_INT64 ? ((const int64_t *)from->data)[at]
                                               : 0;
  if (from->type <= OOZE_FLOAT64)
    integer = real > -1.0 && real < 9e18 ? (int64_t)real : 0;
  else
    real = (double)integer;
  float single = (float)real;
  uint32_t word = (uint32_t)integer;
  if (!to->is_integer)
    memcpy(out, to->element_bytes == 8 ? (const void *)&real : (const void *)&single,
           to->element_bytes);
  else
    memcpy(out, to->element_bytes == 8 ? (const void *)&integer : (const void *)&word,
           to->element_bytes);
}

/* The attribute in the order of ids, written in runs of ranks that follow each other: one run in an
 * empty solver. */
static ooze_result put_in(ooze_solver *s, ooze_attribute which, const ooze_attribute_info *info,
                          const ooze_points *points, const order *list, void *scratch,
                          ooze_message *why) {
  const oz_attribute *from = oz_points_find(points, info->name, strlen(info->name));
  if (!from) return OOZE_OK; /* a file from elsewhere: the material's value stays */
  if (from->components != info->components)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "attribute '%s' has %u components; expected %u",
                   info->name, from->components, info->components);
  uint32_t count = (uint32_t)points->count;
  size_t row = (size_t)info->components * info->element_bytes;
  if (row > MOST_ROW)
    return oz_fail(why, OOZE_ERROR_UNSUPPORTED, "attribute '%s' is wider than %d bytes", info->name,
                   MOST_ROW);
  bool same = oz_type_bytes(from->type) == info->element_bytes &&
              (from->type >= OOZE_INT32) == (info->is_integer != 0);
  for (uint32_t i = 0; i < count; i++) {
    char *to = (char *)scratch + i * row;
    if (same)
      memcpy(to, (const char *)from->data + list[i].point * row, row);
    else
      for (uint32_t k = 0; k < info->components; k++)
        convert(from, (uint64_t)list[i].point * info->components + k, info,
                to + k * info->element_bytes);
  }
  for (uint32_t first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && list[end].rank == list[end - 1].rank + 1; end++) {
    }
    ooze_result result = ooze_attribute_write(s, which, list[first].rank, end - first, 0,
                                              (char *)scratch + first * row);
    if (result != OOZE_OK) return solver_failed(s, result, info->name, why);
  }
  return OOZE_OK;
}

static ooze_result put_all(ooze_solver *s, const ooze_points *points, const order *list,
                           void *scratch, ooze_message *why) {
  /* The material first: it brings values of its own, which the file's then replace. Position and
   * velocity are set. */
  for (int pass = 0; pass < 2; pass++)
    for (int which = 0; which < OOZE_ATTRIBUTE_COUNT; which++) {
      ooze_attribute_info info;
      if (which == OOZE_ID || which == OOZE_POSITION || (which == OOZE_MATERIAL) != (pass == 0))
        continue;
      ooze_attribute_info_default(&info);
      OZ_TRY_OK(ooze_attribute_describe((ooze_attribute)which, &info));
      if (info.is_state && info.writable)
        OZ_TRY_OK(put_in(s, (ooze_attribute)which, &info, points, list, scratch, why));
    }
  return OOZE_OK;
}

ooze_result ooze_points_to_solver(const ooze_points *points, ooze_solver *s, ooze_message *why) {
  if (!points || !s) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no points or no solver given");
  const oz_attribute *position = oz_points_find(points, "P", 1);
  if (!position || position->type != OOZE_FLOAT32 || position->components != 3)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "the points have no P of 3 floats");
  if (points->count > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%llu points are more than a solver holds",
                   (unsigned long long)points->count);
  uint32_t count = (uint32_t)points->count;
  if (count == 0) return OOZE_OK;
  order *list = malloc(count * sizeof *list);
  uint64_t *ids = malloc((size_t)count * 8);
  float *scratch = malloc((size_t)count * MOST_ROW);
  ooze_result result = list && ids && scratch
                           ? OOZE_OK
                           : oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for %u points", count);
  bool given = false, added = false;
  if (result == OOZE_OK) result = ids_of(points, list, &given, why);
  if (result == OOZE_OK) {
    bool alone = ooze_particle_count(s) == 0;
    for (uint32_t i = 0; i < count; i++) {
      ids[i] = list[i].id;
      memcpy(scratch + (size_t)i * 3, (const float *)position->data + (size_t)list[i].point * 3,
             12);
    }
    ooze_particles particles;
    uint64_t first_id = 0;
    ooze_particles_default(&particles);
    particles.count = count;
    particles.positions = scratch;
    particles.ids = given ? ids : NULL;
    result = ooze_particles_add(s, &particles, &first_id);
    if (result != OOZE_OK)
      oz_fail(why, result, "the points could not be added: %s", ooze_solver_message(s));
    added = result == OOZE_OK;
    for (uint32_t i = 0; i < count && added; i++) {
      if (!given) ids[i] = first_id + i;
      if (!alone && result == OOZE_OK)
        result = ooze_particle_find(s, ids[i], &list[i].rank);
      else
        list[i].rank = i;
    }
    if (result == OOZE_OK) result = put_all(s, points, list, scratch, why);
    if (result != OOZE_OK && added) ooze_particles_remove(s, ids, count); /* all of it or nothing */
  }
  free(list);
  free(ids);
  free(scratch);
  return result;
}
