/* A checkpoint's bytes are believed in nothing: here the hash in front is made right again after
 * each change, so that the changed bytes reach the parts behind it. SPDX-License-Identifier:
 * Apache-2.0 */
#include "base/hash.h"
#include "check.h"
#include "solver_kit.h"

enum { HEADER = 88, HASH_AT = 24, BYTES_AT = 16 };

static ooze_solver *make(void) { return serial_solver(0.02f); }

/* A bit of everything: materials, a box, bricks, a nozzle, particles with ids of their own. */
static void fill(ooze_solver *s) {
  ooze_material m;
  ooze_collider_desc c;
  ooze_emitter_desc e;
  ooze_particles in;
  float p[27][3];
  uint64_t ids[27];
  static ooze_sdf_brick bricks[2];
  ooze_material_default(&m);
  m.relaxation_time = 0.2f;
  m.compliance = 1e-3f;
  CHECK_OK(ooze_material_add(s, &m, NULL), s);
  ooze_collider_desc_default(&c);
  CHECK_OK(ooze_collider_add(s, &c, NULL), s);
  c.shape = OOZE_SHAPE_SDF;
  c.voxel = 0.05f;
  c.brick_count = 2;
  c.bricks = bricks;
  bricks[1].origin[0] = 8;
  for (int i = 0; i < 512; ++i)
    bricks[0].values[i] = bricks[1].values[i] = 0.05f * (float)(i / 64 - 4);
  c.start.position[0] = c.end.position[0] = 2;
  CHECK_OK(ooze_collider_add(s, &c, NULL), s);
  ooze_emitter_desc_default(&e);
  e.material = 1;
  e.radius = 0.04f;
  e.start.position[1] = e.end.position[1] = 1;
  CHECK_OK(ooze_emitter_add(s, &e, NULL), s);
  for (int i = 0; i < 27; ++i) {
    p[i][0] = 0.02f * (float)(i % 3);
    p[i][1] = 0.1f + 0.02f * (float)(i / 3 % 3);
    p[i][2] = 0.02f * (float)(i / 9);
    ids[i] = 1000 - 3 * (uint64_t)i;
  }
  ooze_particles_default(&in);
  in.count = 27;
  in.positions = p;
  in.ids = ids;
  CHECK_OK(ooze_particles_add(s, &in, NULL), s);
  for (int i = 0; i < 3; ++i) CHECK_OK(ooze_step(s, 1.0 / 96), s);
}

static unsigned char *save(ooze_solver *s, size_t *bytes) {
  CHECK_OK(ooze_checkpoint_size(s, bytes), s);
  unsigned char *memory = (unsigned char *)malloc(*bytes);
  CHECK(memory != NULL);
  CHECK_OK(ooze_checkpoint_save(s, memory, *bytes, bytes), s);
  return memory;
}

static void seal(unsigned char *memory, size_t bytes) {
  uint64_t whole = bytes, hash = oz_hash_of(memory + HEADER, bytes - HEADER);
  memcpy(memory + BYTES_AT, &whole, 8);
  memcpy(memory + HASH_AT, &hash, 8);
}

OZ_CASE(what_is_saved_twice_is_the_same_and_goes_round) {
  ooze_solver *s = make(), *t = make();
  size_t bytes, again;
  fill(s);
  unsigned char *a = save(s, &bytes);
  CHECK_OK(ooze_checkpoint_load(t, a, bytes), t);
  unsigned char *b = save(t, &again);
  CHECK_EQ(again, bytes);
  CHECK(memcmp(a, b, bytes) == 0, "saving what was loaded gives other bytes");
  CHECK(ooze_time(t) == ooze_time(s));
  free(a);
  free(b);
  ooze_solver_destroy(t);
  ooze_solver_destroy(s);
}

OZ_CASE(any_alignment_of_the_memory_will_do) {
  ooze_solver *s = make(), *t = make();
  size_t bytes;
  fill(s);
  unsigned char *a = save(s, &bytes), *odd = (unsigned char *)malloc(bytes + 3);
  CHECK(odd != NULL);
  memcpy(odd + 3, a, bytes);
  CHECK_OK(ooze_checkpoint_load(t, odd + 3, bytes), t);
  CHECK_EQ(hash_of(t), hash_of(s));
  CHECK_OK(ooze_checkpoint_save(t, odd + 1, bytes, &bytes), t);
  CHECK(memcmp(odd + 1, a, bytes) == 0);
  free(a);
  free(odd);
  ooze_solver_destroy(t);
  ooze_solver_destroy(s);
}

OZ_CASE(sealed_cuts_are_refused_and_change_nothing) {
  ooze_solver *s = make(), *t = make();
  size_t bytes;
  fill(s);
  fill(t);
  unsigned char *a = save(s, &bytes);
  uint64_t before = hash_of(t);
  for (size_t cut = HEADER; cut < bytes; cut += 64) {
    /* exact, so that ASan sees one byte too many */
    unsigned char *part = (unsigned char *)malloc(cut);
    CHECK(part != NULL);
    memcpy(part, a, cut);
    seal(part, cut);
    ooze_result r = ooze_checkpoint_load(t, part, cut);
    free(part);
    CHECK(r < 0 && r > -100, "cut to %zu: %s", cut, ooze_result_name(r));
    CHECK_EQ(hash_of(t), before);
  }
  free(a);
  ooze_solver_destroy(t);
  ooze_solver_destroy(s);
}

/* Flips of one bit, and words set to the values that break arithmetic. */
OZ_CASE(sealed_damage_is_refused_or_harmless) {
  static const uint32_t words[] = {0,           0xffffffffu, 0x7fffffffu, 0x80000000u,
                                   0x7fc00000u, 0x7f800000u, 0xff7fffffu, 1};
  ooze_solver *s = make(), *t = make();
  size_t bytes, refused = 0, taken = 0;
  fill(s);
  unsigned char *a = save(s, &bytes), *b = (unsigned char *)malloc(bytes);
  CHECK(b != NULL);
  uint32_t random = 99;
  for (size_t turn = 0; turn < 6000; ++turn) {
    memcpy(b, a, bytes);
    random = random * 1664525u + 1013904223u;
    size_t at = turn < bytes / 4 && turn < 3000 ? turn : (size_t)(random >> 4) % (bytes / 4);
    uint32_t word;
    memcpy(&word, b + 4 * at, 4);
    word = turn % 2 ? words[(turn / 2) % 8] : word ^ (1u << (random >> 27));
    memcpy(b + 4 * at, &word, 4);
    seal(b, bytes);
    uint64_t before = hash_of(t);
    ooze_result r = ooze_checkpoint_load(t, b, bytes);
    CHECK(r == OOZE_OK || (r < 0 && r > -100), "word %zu: %s", at, ooze_result_name(r));
    if (r < 0) {
      refused++;
      CHECK(ooze_solver_message(t)[0], "word %zu: no message", at);
      CHECK_EQ(hash_of(t), before);
    } else {
      taken++;
      if (taken % 16 == 0) (void)ooze_step(t, 1e-4); /* whatever it is, it can be stepped */
    }
  }
  CHECK(refused > 500 && taken > 500, "%zu refused, %zu taken", refused, taken);
  free(a);
  free(b);
  ooze_solver_destroy(t);
  ooze_solver_destroy(s);
}

OZ_CASE(another_separation_is_refused) {
  ooze_solver_desc desc;
  ooze_solver *s = make(), *t = NULL;
  size_t bytes;
  fill(s);
  unsigned char *a = save(s, &bytes);
  ooze_solver_desc_default(&desc);
  desc.backend = OOZE_BACKEND_CPU;
  CHECK_EQ(ooze_solver_create(&desc, &t, NULL), OOZE_OK);
  CHECK_RESULT(ooze_checkpoint_load(t, a, bytes), OOZE_ERROR_ARGUMENT, t);
  CHECK(strstr(ooze_solver_message(t), "particle_separation is 0.02 m"), "%s",
        ooze_solver_message(t));
  free(a);
  ooze_solver_destroy(t);
  ooze_solver_destroy(s);
}

OZ_TEST_MAIN()
