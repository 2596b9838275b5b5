/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lattice.h"

#include "base/memory.h"

int oz_map_init(oz_map *m, uint32_t expected) {
  uint32_t capacity = 64, i;
  while (capacity < 0x40000000u && capacity / 2 < expected) capacity *= 2;
  m->keys = (uint64_t *)oz_allocate(capacity, sizeof *m->keys);
  m->values = (uint32_t *)oz_allocate(capacity, sizeof *m->values);
  m->mask = capacity - 1;
  m->used = 0;
  if (!m->keys || !m->values) {
    oz_map_free(m);
    return 0;
  }
  for (i = 0; i < capacity; ++i) m->keys[i] = ~(uint64_t)0;
  return 1;
}

void oz_map_free(oz_map *m) {
  oz_release(m->keys);
  oz_release(m->values);
  memset(m, 0, sizeof *m);
}

int oz_map_put(oz_map *m, uint64_t key, uint32_t value) {
  uint32_t i;
  for (i = oz_map_slot(m, key); m->keys[i] != ~(uint64_t)0; i = (i + 1) & m->mask)
    if (m->keys[i] == key) return 0;
  m->keys[i] = key;
  m->values[i] = value;
  if (++m->used > m->mask / 2) { /* half full: double, so that probes stay short */
    oz_map larger;
    uint32_t k;
    if (!oz_map_init(&larger, m->mask + 1)) return -1;
    for (k = 0; k <= m->mask; ++k)
      if (m->keys[k] != ~(uint64_t)0) oz_map_put(&larger, m->keys[k], m->values[k]);
    oz_map_free(m);
    *m = larger;
  }
  return 1;
}
