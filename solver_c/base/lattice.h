/* Keys of lattice points, and a map from keys to numbers. A key is three signed 21-bit coordinates
 * in one 64-bit number that sorts by x, then y, then z. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_BASE_LATTICE_H
#define OZ_BASE_LATTICE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OZ_KEY_LIMIT (1 << 20)
static inline uint64_t oz_key(int x, int y, int z) {
  return (uint64_t)(uint32_t)(x + OZ_KEY_LIMIT) << 42 |
         (uint64_t)(uint32_t)(y + OZ_KEY_LIMIT) << 21 | (uint64_t)(uint32_t)(z + OZ_KEY_LIMIT);
}
static inline void oz_key_split(uint64_t key, int c[3]) {
  c[0] = (int)(key >> 42 & 0x1fffff) - OZ_KEY_LIMIT;
  c[1] = (int)(key >> 21 & 0x1fffff) - OZ_KEY_LIMIT;
  c[2] = (int)(key & 0x1fffff) - OZ_KEY_LIMIT;
}
static inline int oz_floor_int(float x) {
  int i = (int)x;
  return i - (x < (float)i);
}

/* From keys to numbers, by open addressing; all puts come before the first get. */
typedef struct oz_map {
  uint64_t *keys; /* ~0 is empty */
  uint32_t *values;
  uint32_t mask, used;
} oz_map;
int oz_map_init(oz_map *m, uint32_t expected); /* 0 on failure */
void oz_map_free(oz_map *m);
/* 1 new, 0 was there (left as is), -1 out of memory */
int oz_map_put(oz_map *m, uint64_t key, uint32_t value);
static inline uint32_t oz_map_slot(const oz_map *m, uint64_t key) {
  return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & m->mask;
}
#define OZ_NONE 0xffffffffu
static inline uint32_t oz_map_get(const oz_map *m, uint64_t key) {
  uint32_t i;
  if (!m->keys) return OZ_NONE;
  for (i = oz_map_slot(m, key); m->keys[i] != ~(uint64_t)0; i = (i + 1) & m->mask)
    if (m->keys[i] == key) return m->values[i];
  return OZ_NONE;
}

#ifdef __cplusplus
}
#endif
#endif
