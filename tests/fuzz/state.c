/* Fuzzer of ooze_checkpoint_load: the input is a list of edits to a whole checkpoint, whose hash is
 * then made right, so that every edit reaches the code behind the check. SPDX-License-Identifier:
 * Apache-2.0 */
#include "base/hash.h"
#include "ooze/ooze.h"

#include <stdlib.h>

enum { HEADER = 88, BYTES_AT = 16, HASH_AT = 24 }; /* core/checkpoint.c */

static ooze_solver *solver;
static unsigned char *whole;
static size_t whole_bytes;

static void must(int condition) {
  if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static ooze_solver *make(void) {
  ooze_solver_desc desc;
  ooze_solver *s = NULL;
  ooze_solver_desc_default(&desc);
  desc.backend = OOZE_BACKEND_CPU;
  desc.tasks = OOZE_TASKS_SERIAL;
  desc.particle_separation = 0.02f;
  desc.max_particles = 1u << 16;
  must(ooze_solver_create(&desc, &s, NULL) == OOZE_OK);
  return s;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  static const float p[8][3] = {{0, 1, 0},         {0.02f, 1, 0},        {0, 1.02f, 0},
                                {0.02f, 1.02f, 0}, {0, 1, 0.02f},        {0.02f, 1, 0.02f},
                                {0, 1.02f, 0.02f}, {0.02f, 1.02f, 0.02f}};
  static ooze_sdf_brick brick;
  ooze_particles in;
  ooze_material m;
  ooze_collider_desc c;
  ooze_emitter_desc e;
  solver = make();
  ooze_material_default(&m);
  m.relaxation_time = 0.1f;
  must(ooze_material_add(solver, &m, NULL) == OOZE_OK);
  ooze_collider_desc_default(&c);
  must(ooze_collider_add(solver, &c, NULL) == OOZE_OK);
  c.shape = OOZE_SHAPE_SDF;
  c.voxel = 0.1f;
  c.brick_count = 1;
  c.bricks = &brick;
  must(ooze_collider_add(solver, &c, NULL) == OOZE_OK);
  ooze_emitter_desc_default(&e);
  e.radius = 0.03f;
  must(ooze_emitter_add(solver, &e, NULL) == OOZE_OK);
  ooze_particles_default(&in);
  in.count = 8;
  in.positions = p;
  must(ooze_particles_add(solver, &in, NULL) == OOZE_OK);
  must(ooze_step(solver, 0.01) >= 0);
  must(ooze_checkpoint_size(solver, &whole_bytes) == OOZE_OK);
  whole = (unsigned char *)malloc(whole_bytes);
  must(whole && ooze_checkpoint_save(solver, whole, whole_bytes, &whole_bytes) == OOZE_OK);
  return 0;
}

/* Byte 0: 0 leaves the length, otherwise it cuts. Then 7 bytes an edit: place (3, little-endian, in
 * words), value (4).
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint64_t before = 0, after = 0;
  if (size < 1) return 0;
  size_t bytes = data[0] ? HEADER + (whole_bytes - HEADER) * data[0] / 256 : whole_bytes;
  /* exact, so that one byte too many is seen */
  unsigned char *memory = (unsigned char *)malloc(bytes);
  must(memory != NULL);
  memcpy(memory, whole, bytes);
  for (size_t at = 1; at + 7 <= size; at += 7) {
    size_t word =
        ((size_t)data[at] | (size_t)data[at + 1] << 8 | (size_t)data[at + 2] << 16) % (bytes / 4);
    memcpy(memory + 4 * word, data + at + 3, 4);
  }
  uint64_t length = bytes, hash = oz_hash_of(memory + HEADER, bytes - HEADER);
  memcpy(memory + BYTES_AT, &length, 8);
  memcpy(memory + HASH_AT, &hash, 8);
  must(ooze_state_hash(solver, &before) == OOZE_OK);
  ooze_result r = ooze_checkpoint_load(solver, memory, bytes);
  free(memory);
  if (r < 0) {
    must(r > -100 && ooze_solver_message(solver)[0]);
    must(ooze_state_hash(solver, &after) == OOZE_OK && after == before);
    return 0;
  }
  r = ooze_step(solver, 1e-3);
  must(r >= 0 || ooze_solver_message(solver)[0]);
  must(ooze_checkpoint_load(solver, whole, whole_bytes) == OOZE_OK);
  return 0;
}
