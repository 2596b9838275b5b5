/* Parts of the scenes of the model links. SPDX-License-Identifier: Apache-2.0 */
#include "links.h"

uint32_t links_material(kit *k, double beta, double conductivity, double temperature) {
  ooze_material m;
  ooze_material_default(&m);
  m.links_beta = (float)beta;
  m.conductivity = (float)conductivity;
  m.heat_capacity = 1000.0f;
  m.temperature = (float)temperature;
  return kit_add(k, &m);
}
typedef struct ball {
  double centre[3], radius;
} ball;
static int in_ball(const void *context, const double x[3]) {
  const ball *b = context;
  double r2 = 0.0;
  for (int a = 0; a < 3; ++a) r2 += (x[a] - b->centre[a]) * (x[a] - b->centre[a]);
  return r2 < b->radius * b->radius;
}
uint32_t links_ball(kit *k, uint32_t material, const double centre[3], double radius) {
  const ball b = {{centre[0], centre[1], centre[2]}, radius};
  double low[3], high[3];
  const uint32_t before = k->solver ? ooze_particle_count(k->solver) : 0;
  for (int a = 0; a < 3; ++a) low[a] = centre[a] - radius, high[a] = centre[a] + radius;
  kit_fill(k, material, low, high, in_ball, &b);
  return (k->solver ? ooze_particle_count(k->solver) : 0) - before;
}
void links_layer(kit *k, uint32_t material, const uint32_t n[3], const double low[3], double speed,
                 double shift) {
  const uint32_t before = k->solver ? ooze_particle_count(k->solver) : 0;
  const double at[3] = {low[0] + shift, low[1], low[2]};
  kit_block(k, material, n, at);
  for (uint32_t i = 0; kit_good(k) && i < n[0] * n[1] * n[2]; ++i) {
    const float v[3] = {0.0f, (float)-speed, 0.0f};
    k->result = ooze_attribute_write(k->solver, OOZE_VELOCITY, before + i, 1, 0, v);
  }
}
