/* The smallest useful client: a 10 cm block of honey falls on a floor; its height is printed, a
 * line a frame. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "ooze/ooze.h"

enum { SIDE = 10, COUNT = SIDE * SIDE * SIDE, FRAMES = 24 };

static int complain(const char *what, ooze_result r, const char *sentence) {
  fprintf(stderr, "%s: %s: %s\n", what, ooze_result_name(r), sentence);
  return EXIT_FAILURE;
}

int main(void) {
  static float positions[COUNT][3];
  ooze_solver *s = NULL;
  ooze_message why = {""};
  ooze_result r;

  /* Every struct is filled with its defaults first. */
  ooze_solver_desc desc;
  ooze_solver_desc_default(&desc);
  desc.particle_separation = 0.01f;
  if ((r = ooze_solver_create(&desc, &s, &why)) < 0) return complain("create", r, why.text);
  printf("ooze %s on %s\n", ooze_version_text(), ooze_solver_backend(s));

  ooze_material honey;
  uint32_t material;
  ooze_material_default(&honey);
  honey.density = 1400.0f;
  honey.viscosity = 10.0f;
  if ((r = ooze_material_add(s, &honey, &material)) < 0)
    return complain("material", r, ooze_solver_message(s));

  ooze_collider_desc plane;
  ooze_collider floor_handle;
  ooze_collider_desc_default(&plane); /* a plane at y = 0 */
  if ((r = ooze_collider_add(s, &plane, &floor_handle)) < 0)
    return complain("floor", r, ooze_solver_message(s));

  for (int i = 0; i < COUNT; ++i) {
    positions[i][0] = 0.01f * (float)(i % SIDE);
    positions[i][1] = 0.01f * (float)(i / SIDE % SIDE) + 0.05f; /* 5 cm above the floor */
    positions[i][2] = 0.01f * (float)(i / (SIDE * SIDE));
  }
  ooze_particles block;
  ooze_particles_default(&block);
  block.count = COUNT;
  block.material = material;
  block.positions = positions;
  if ((r = ooze_particles_add(s, &block, NULL)) < 0)
    return complain("particles", r, ooze_solver_message(s));

  for (int frame = 1; frame <= FRAMES; ++frame) {
    float top = -1e30f, spread = -1e30f;
    if ((r = ooze_step(s, 1.0 / 24.0)) < 0) return complain("step", r, ooze_solver_message(s));
    if ((r = ooze_attribute_read(s, OOZE_POSITION, 0, COUNT, 0, positions)) < 0)
      return complain("read", r, ooze_solver_message(s));
    for (int i = 0; i < COUNT; ++i) {
      if (positions[i][1] > top) top = positions[i][1];
      if (positions[i][0] > spread) spread = positions[i][0];
    }
    printf("frame %2d  height %.3f m  front %.3f m\n", frame, (double)top, (double)spread);
  }
  ooze_solver_destroy(s);
  return EXIT_SUCCESS;
}
