/* Copies in public order, sums over particles and their extremes, on the host loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda/host_block.h"
#include "physics/extremes.h"

#include "check.h"

enum { EDGE = 9, COUNT = EDGE * EDGE * EDGE, HIDDEN = 11 };
static const float D = 0.01f;
static float x[4 * COUNT], u[4 * COUNT], q[6 * COUNT];
static uint32_t rank[COUNT], material[COUNT];
static uint64_t id[COUNT];

static oz_backend *make(oz_memory *memory) {
  oz_backend *b = host_loops(memory);
  for (uint32_t i = 0; i < COUNT; i++) {
    const uint32_t c[3] = {i % EDGE, i / EDGE % EDGE, i / (EDGE * EDGE)};
    for (uint32_t k = 0; k < 3; k++)
      x[4 * i + k] = D * (float)c[k], u[4 * i + k] = 0.01f * (float)((7 * i + 3 * k) % 13);
    for (uint32_t k = 0; k < 6; k++) q[k * COUNT + i] = k < 3 ? 1.0f : 0.0f;
    rank[i] = (i * 5u) % COUNT, id[i] = rank[i] + 1; /* 5 and 729 have no common divisor */
  }
  const host_block block = {x, u, q, material, rank, id};
  const oz_matter matter = {.density = 900.0f, .viscosity = 1.0f};
  put_block(b, COUNT, &block, &matter);
  return b;
}

static void step(oz_backend *b) {
  ooze_message why = {""};
  ooze_params params;
  oz_step s;
  ooze_params_default(&params);
  memset(&s, 0, sizeof s);
  s.backend = b, s.params = &params, s.separation = D;
  s.velocity_iterations = 10, s.position_iterations = 5;
  CHECK(oz_models[OOZE_MODEL_CONFORMATION](&s, 1.0f / 240.0f, &why) >= 0, "%s", why.text);
}

OZ_CASE(a_copy_has_ranks_in_order_and_stays) {
  static float now[6 * COUNT];
  static uint32_t at[COUNT];
  oz_memory memory;
  ooze_message why = {""};
  oz_copy *copy = NULL;
  const void *words = NULL;
  oz_backend *b = make(&memory);
  step(b); /* sorts */
  const oz_copy_request request = {.fields = 1u << OZ_FIELD_X | 1u << OZ_FIELD_Q |
                                             1u << OZ_FIELD_ID | 1u << OZ_FIELD_NEIGHBOURS,
                                   .fetch = 1u << OZ_FIELD_X,
                                   .count = COUNT - HIDDEN,
                                   .results = COUNT / 2};
  CHECK(b->table->copy_take(b, &request, &copy, &why) >= 0, "%s", why.text);
  CHECK(b->table->download(b, OZ_FIELD_RANK, 0, COUNT, at, &why) >= 0, "%s", why.text);
  static const oz_field fields[] = {OZ_FIELD_X, OZ_FIELD_Q, OZ_FIELD_ID, OZ_FIELD_NEIGHBOURS};
  for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
    const int planes = fields[f] == OZ_FIELD_Q, records = fields[f] == OZ_FIELD_X;
    const uint32_t n = oz_copied_words(fields[f]), wide = records ? 4 : n;
    CHECK(b->table->download(b, fields[f], 0, COUNT, now, &why) >= 0, "%s", why.text);
    if (f == 0) step(b); /* the copy does not follow */
    CHECK(b->table->copy_words(copy, fields[f], &words, &why) >= 0, "%s", why.text);
    if (f) continue;
    for (uint32_t i = 0; i < COUNT; i++)
      for (uint32_t k = 0; k < n && at[i] < COUNT - HIDDEN; k++)
        CHECK(((const float *)words)[at[i] * n + k] == now[planes ? k * COUNT + i : i * wide + k],
              "field %d particle %u", (int)fields[f], i);
  }
  CHECK(b->table->copy_take(b, &request, &copy, &why) >= 0, "%s", why.text); /* again */
  CHECK(b->table->download(b, OZ_FIELD_RANK, 0, COUNT, at, &why) >= 0, "%s", why.text);
  for (size_t f = 1; f < sizeof fields / sizeof *fields; f++) {
    const int planes = fields[f] == OZ_FIELD_Q;
    const uint32_t n = oz_copied_words(fields[f]);
    CHECK(b->table->download(b, fields[f], 0, COUNT, now, &why) >= 0, "%s", why.text);
    CHECK(b->table->copy_words(copy, fields[f], &words, &why) >= 0, "%s", why.text);
    for (uint32_t i = 0; i < COUNT; i++)
      for (uint32_t k = 0; k < n && at[i] < COUNT - HIDDEN; k++) {
        uint32_t is, want;
        memcpy(&is, (const float *)words + at[i] * n + k, 4);
        memcpy(&want, now + (planes ? k * COUNT + i : i * n + k), 4);
        if (fields[f] == OZ_FIELD_NEIGHBOURS && i >= COUNT / 2) want = 0;
        CHECK(is == want, "field %d particle %u", (int)fields[f], i);
      }
  }
  CHECK(b->table->copy_words(copy, OZ_FIELD_LAM, &words, &why) >= 0 && !words,
        "a field that was not asked for");
  b->table->copy_drop(copy);
  b->table->destroy(b);
  CHECK_EQ(memory.bytes, 0);
}

OZ_CASE(statistics_are_the_sums_of_the_fields) {
  static float now[4 * COUNT], rho[COUNT];
  static uint32_t neighbours[COUNT];
  oz_memory memory;
  ooze_message why = {""};
  oz_sums sums;
  oz_backend *b = make(&memory);
  step(b);
  CHECK(b->table->statistics(b, D * D * D, COUNT, 27, &sums, &why) >= 0, "%s", why.text);
  CHECK(b->table->download(b, OZ_FIELD_U, 0, COUNT, now, &why) >= 0, "%s", why.text);
  CHECK(b->table->download(b, OZ_FIELD_RHO, 0, COUNT, rho, &why) >= 0, "%s", why.text);
  CHECK(b->table->download(b, OZ_FIELD_NEIGHBOURS, 0, COUNT, neighbours, &why) >= 0, "%s",
        why.text);
  const double mass = 900.0 * (double)(D * D * D);
  double energy = 0, momentum = 0, speed2 = 0, all = 0, most = -1, compression = 0;
  uint32_t inner = 0;
  for (uint32_t i = 0; i < COUNT; i++) {
    double v2 = 0;
    for (uint32_t k = 0; k < 3; k++) v2 += (double)now[4 * i + k] * (double)now[4 * i + k];
    energy += 0.5 * mass * v2, momentum += mass * (double)now[4 * i + 1];
    speed2 = v2 > speed2 ? v2 : speed2;
    all += neighbours[i];
    const double c = (double)rho[i] - 1.0;
    most = c > most ? c : most;
    if (neighbours[i] >= 27) compression += c, inner++;
  }
  CHECK_NEAR(sums.energy, energy, 1e-9 * energy, "sums in double");
  CHECK_NEAR(sums.momentum[1], momentum, 1e-9 * fabs(momentum), "sums in double");
  CHECK_NEAR(sums.speed2, speed2, 1e-12, "the greatest one is exact");
  CHECK_NEAR(sums.neighbours, all, 0.5, "whole numbers");
  CHECK_NEAR(sums.most_compression, most, 1e-12, "the greatest one is exact");
  CHECK_NEAR(sums.compression, compression, 1e-9, "sums in double");
  CHECK_EQ(sums.inner, inner);
  CHECK(inner > 0 && inner < COUNT, "%u inner particles tell nothing", inner);
  b->table->destroy(b);
}

OZ_CASE(positions_within_a_box_are_those_of_visible_particles) {
  static float out[3 * COUNT], now[4 * COUNT];
  static uint32_t at[COUNT];
  oz_memory memory;
  ooze_message why = {""};
  oz_backend *b = make(&memory);
  step(b); /* sorts */
  oz_within which = {{0.5f * D, 0.5f * D, -D}, {3.2f * D, 5.0f * D, 9.0f * D}, COUNT - HIDDEN, 40};
  CHECK(b->table->download(b, OZ_FIELD_X, 0, COUNT, now, &why) >= 0, "%s", why.text);
  CHECK(b->table->download(b, OZ_FIELD_RANK, 0, COUNT, at, &why) >= 0, "%s", why.text);
  uint32_t expected = 0, count = 0, hidden = 0;
  for (uint32_t i = 0; i < COUNT; i++) {
    int in = 1;
    for (int k = 0; k < 3; k++)
      in &= now[4 * i + k] >= which.low[k] && now[4 * i + k] <= which.high[k];
    expected += in && at[i] < which.visible, hidden += in && at[i] >= which.visible;
  }
  CHECK(hidden > 0 && expected > which.room, "%u and %u tell nothing", hidden, expected);
  out[3 * which.room] = 77.0f;
  CHECK(b->table->within(b, &which, out, &count, &why) >= 0, "%s", why.text);
  CHECK_EQ(count, expected);
  CHECK(out[3 * which.room] == 77.0f, "no more are written than there is room for");
  which.room = COUNT;
  CHECK(b->table->within(b, &which, out, &count, &why) >= 0, "%s", why.text);
  CHECK_EQ(count, expected);
  for (uint32_t n = 0; n < count; n++) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < COUNT; i++) found += !memcmp(out + 3 * n, now + 4 * i, 12);
    CHECK(found == 1, "place %u is that of %u particles", n, found);
    for (uint32_t m = 0; m < n; m++)
      CHECK(memcmp(out + 3 * n, out + 3 * m, 12), "place %u came twice", n);
  }
  b->table->destroy(b);
  CHECK_EQ(memory.bytes, 0);
}

static float float_of(uint32_t bits) {
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

OZ_CASE(extremes_are_those_of_each_material) {
  static const oz_field own[] = {OZ_FIELD_DENSITY, OZ_FIELD_VISCOSITY, OZ_FIELD_RELAXATION_TIME,
                                 OZ_FIELD_COMPLIANCE};
  enum { MATERIALS = 3, OWN = sizeof own / sizeof *own };
  static float value[OWN][COUNT];
  static uint32_t number[COUNT];
  oz_memory memory;
  ooze_message why = {""};
  oz_backend *b = make(&memory);
  oz_matter matter[MATERIALS] = {{.density = 900.0f, .viscosity = 3.0f}};
  for (uint32_t k = 1; k < MATERIALS; k++) matter[k] = matter[0];
  oz_extreme_bits bits[MATERIALS];
  CHECK(b->table->matter(b, matter, MATERIALS, &why) >= 0, "%s", why.text);
  for (uint32_t i = 0; i < COUNT; i++) {
    number[i] = i % 5; /* 3 and 4 are none of the table's, as those of boundary particles; */
    if (number[i] == 2) number[i] = 4; /* and of the last one there are no particles */
    const float r = (float)((i * 37u) % 101u);
    value[0][i] = 800.0f + r, value[1][i] = i % 7 ? r : -0.0f, value[2][i] = 0.02f * r;
    value[3][i] = 1e-5f * (1.0f + r);
  }
  CHECK(b->table->upload(b, OZ_FIELD_MATERIAL, 0, COUNT, number, &why) >= 0, "%s", why.text);
  CHECK(b->table->extremes(b, MATERIALS, bits, &why) >= 0, "%s", why.text);
  CHECK(float_of(~bits[1].value[OZ_LEAST_VISCOSITY]) == 3.0f, "the material's, without own ones");
  for (uint32_t v = 0; v < OWN; v++)
    CHECK(b->table->upload(b, own[v], 0, COUNT, value[v], &why) >= 0, "%s", why.text);
  CHECK(b->table->extremes(b, MATERIALS, bits, &why) >= 0, "%s", why.text);
  for (uint32_t k = 0; k < 2; k++) {
    float least = INFINITY, most = 0.0f, thin = INFINITY, thick = 0.0f, tau = 0.0f;
    double stiff = 0.0;
    for (uint32_t i = 0; i < COUNT; i++) {
      if (number[i] != k) continue;
      least = fminf(least, value[0][i]), most = fmaxf(most, value[0][i]);
      thin = fminf(thin, value[1][i]), thick = fmaxf(thick, value[1][i]);
      tau = fmaxf(tau, value[2][i]);
      if (!(value[2][i] >= 1.0f)) continue;
      const double modulus = value[1][i] > 0.0f ? (double)value[1][i] / (double)value[2][i]
                                                : 1.0 / (double)value[3][i];
      stiff = fmax(stiff, modulus / (double)value[0][i]);
    }
    double stiffness;
    memcpy(&stiffness, &bits[k].stiffness, sizeof stiffness);
    CHECK(float_of(~bits[k].value[OZ_LEAST_DENSITY]) == least, "material %u", k);
    CHECK(float_of(bits[k].value[OZ_MOST_DENSITY]) == most, "material %u", k);
    CHECK(float_of(~bits[k].value[OZ_LEAST_VISCOSITY]) == thin, "material %u", k);
    CHECK(float_of(bits[k].value[OZ_MOST_VISCOSITY]) == thick, "material %u", k);
    CHECK(float_of(bits[k].value[OZ_MOST_RELAXATION_TIME]) == tau, "material %u", k);
    CHECK(stiff > 0.0 && stiffness == stiff, "material %u: %g and %g", k, stiffness, stiff);
  }
  CHECK(!bits[2].value[OZ_LEAST_DENSITY] && !bits[2].stiffness, "there are no particles");
  b->table->destroy(b);
  CHECK_EQ(memory.bytes, 0);
}

OZ_TEST_MAIN()
