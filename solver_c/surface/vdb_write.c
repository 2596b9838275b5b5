/* Surfaces to .vdb files, without OpenVDB: its writer does not survive a failed allocation (Blosc's
 * and its own destructors end the process), packs every leaf twice and tags files with a random
 * number. Here every byte is made in memory that was asked for first, and equal surfaces are equal
 * files. SPDX-License-Identifier: Apache-2.0
 *
 * The format is that of OpenVDB's file version 224: a header; metadata; for each grid its name,
 * type, three offsets, metadata, transform, the tree's topology and its values. A tree is a root
 * with nodes of 32^3 children, each with 16^3 children or tiles, each a leaf of 8^3 values. Of
 * values only the active ones are kept; inactive ones follow from a mask and the background. */
#include "vdb.h"

#include "geo/geo_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  LEAF = 512,   /* values */
  NODE4 = 4096, /* children of the lower nodes, and of the upper ones: */
  NODE5 = 32768,
  MOST_COMPONENTS = 3
};

/* How the inactive values of a node are kept. */
enum {
  INACTIVE_BACKGROUND = 0,
  INACTIVE_MINUS_BACKGROUND = 1,
  INACTIVE_MASK = 3, /* which of them are +background */
  ALL_VALUES = 6
};

/* ---- Bytes --------------------------------------------------------------------------------- */

typedef struct bytes {
  uint8_t *at;
  size_t used, room;
  int failed; /* no memory; further calls are ignored */
} bytes;

static uint8_t *claim(bytes *b, size_t count) {
  if (b->failed) return NULL;
  if (count > b->room - b->used) {
    const size_t room = b->room + b->room / 2 + count + 4096;
    uint8_t *moved = realloc(b->at, room);
    if (!moved) {
      b->failed = 1;
      return NULL;
    }
    b->at = moved;
    b->room = room;
  }
  b->used += count;
  return b->at + b->used - count;
}

static void put(bytes *b, const void *from, size_t count) {
  uint8_t *to = claim(b, count);
  if (to && count) memcpy(to, from, count);
}

static void put_zeros(bytes *b, size_t count) {
  uint8_t *to = claim(b, count);
  if (to) memset(to, 0, count);
}

static void put_byte(bytes *b, int value) {
  const uint8_t byte = (uint8_t)value;
  put(b, &byte, 1);
}
static void put_u32(bytes *b, uint32_t value) { put(b, &value, 4); }
static void put_i64(bytes *b, int64_t value) { put(b, &value, 8); }
static void put_text(bytes *b, const char *text) {
  put_u32(b, (uint32_t)strlen(text));
  put(b, text, strlen(text));
}

/* ---- Metadata ------------------------------------------------------------------------------ */

static void meta(bytes *b, const char *name, const char *type, const void *value, size_t count) {
  put_text(b, name);
  put_text(b, type);
  put_u32(b, (uint32_t)count);
  put(b, value, count);
}
static void meta_text(bytes *b, const char *name, const char *value) {
  meta(b, name, "string", value, strlen(value));
}

/* ---- Values -------------------------------------------------------------------------------- */

/* To 16 bits, to the nearest and of two such to the even one. */
static uint16_t half_of(float value) {
  uint32_t word;
  memcpy(&word, &value, 4);
  const uint32_t sign = word >> 16 & 0x8000u, size = word & 0x7fffffffu;
  if (size > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
  if (size >= 0x47800000u) return (uint16_t)(sign | 0x7c00u); /* 65536 and more */
  if (size < 0x33000000u) return (uint16_t)sign;              /* below half of the least */
  const uint32_t exponent = size >> 23, digits = (size & 0x7fffffu) | 0x800000u;
  const uint32_t drop = exponent < 113 ? 126 - exponent : 13; /* subnormal below 2^-14 */
  const uint32_t kept = digits >> drop, rest = digits & ((1u << drop) - 1),
                 middle = 1u << (drop - 1);
  const uint32_t up = rest > middle || (rest == middle && (kept & 1));
  const uint32_t base = exponent < 113 ? 0 : (exponent - 113) << 10;
  return (uint16_t)(sign | (base + kept + up)); /* a carry goes on into the exponent */
}

static float of_half(uint16_t h) {
  const int exponent = h >> 10 & 31, digits = h & 1023;
  const double size = exponent ? ldexp(1024 + digits, exponent - 25) : ldexp(digits, -24);
  return (float)(h & 0x8000 ? -size : size);
}

typedef struct leaf_values {
  uint32_t components;
  uint32_t half;
} leaf_values;

/* `count` elements, packed where that is shorter. */
static void put_values(bytes *b, const leaf_values *l, const float *values, uint32_t count) {
  const size_t numbers = (size_t)count * l->components,
               element = l->components * (l->half ? 2u : 4u), raw = count * element;
  uint16_t halves[LEAF * MOST_COMPONENTS];
  const void *from = values;
  if (l->half) {
    for (size_t i = 0; i < numbers; i++) halves[i] = half_of(values[i]);
    from = halves;
  }
  uint8_t packed[LEAF * MOST_COMPONENTS * 4 + OZ_BLOSC_MORE];
  const size_t size = raw ? oz_blosc_pack(from, raw, element, 9, packed) : 0;
  if (size && size < raw) {
    put_i64(b, (int64_t)size);
    put(b, packed, size);
  } else {
    put_i64(b, -(int64_t)raw);
    put(b, from, raw);
  }
}

/* ---- Trees --------------------------------------------------------------------------------- */

typedef struct place {
  uint64_t order; /* root, upper and lower node, as a reader walks through them */
  uint32_t brick;
  uint32_t tile; /* all of it inside: no leaf */
} place;

typedef struct grid {
  const ooze_surface *surface;
  leaf_values leaf;
  const float *values;   /* components each, 512 a brick; NULL: the distance */
  const uint64_t *masks; /* 8 a brick: active values; NULL: by the distance */
  float background;
  place *places;
  uint32_t count, leaves;
  int32_t low[3], high[3]; /* of active voxels */
  uint64_t active;
  uint32_t integers; /* the words of `values` are integers */
  uint32_t velocity; /* turns and scales with the object, and does not move with it */
  const ooze_vdb_options *options;
} grid;

enum { ROOT_BITS = 12, ROOT_SHIFT = 27 }; /* 15 bits of the upper node, 12 of the lower */

static uint64_t order_of(const int c[3]) {
  uint64_t root = 0, upper = 0, lower = 0;
  for (int a = 0; a < 3; a++) {
    root = root << ROOT_BITS | (uint64_t)((c[a] >> 9) + (1 << (ROOT_BITS - 1)));
    upper = upper << 5 | (uint64_t)(c[a] >> 4 & 31);
    lower = lower << 4 | (uint64_t)(c[a] & 15);
  }
  return root << ROOT_SHIFT | upper << 12 | lower;
}

static int by_order(const void *a, const void *b) {
  const place *x = a, *y = b;
  return x->order < y->order ? -1 : x->order > y->order;
}

static void mask_of(const grid *g, uint32_t brick, uint64_t out[8]) {
  if (g->masks) {
    memcpy(out, g->masks + 8 * (size_t)brick, 64);
    return;
  }
  const float *v = g->values + LEAF * (size_t)brick;
  memset(out, 0, 64);
  for (int n = 0; n < LEAF; n++) out[n >> 6] |= (uint64_t)(fabsf(v[n]) < g->background) << (n & 63);
}

static void measure(grid *g, const int c[3], const uint64_t mask[8]) {
  for (int n = 0; n < LEAF; n++) {
    if (!(mask[n >> 6] >> (n & 63) & 1)) continue;
    const int32_t at[3] = {8 * c[0] + (n >> 6), 8 * c[1] + (n >> 3 & 7), 8 * c[2] + (n & 7)};
    for (int a = 0; a < 3; a++) {
      if (!g->active || at[a] < g->low[a]) g->low[a] = at[a];
      if (!g->active || at[a] > g->high[a]) g->high[a] = at[a];
    }
    g->active++;
  }
}

/* Leaves and tiles in a reader's order. A brick without active values is a tile, or nothing. */
static int find_places(grid *g, uint32_t bricks, uint32_t inside) {
  const ooze_surface *s = g->surface;
  g->places = malloc(((size_t)bricks + inside + 1) * sizeof *g->places);
  if (!g->places) return 0;
  for (uint32_t i = 0; i < bricks + inside; i++) {
    uint64_t mask[8] = {0}, any = 0;
    int c[3];
    /* bricks of the inside lie behind all others */
    const uint32_t brick = i < bricks ? i : s->brick_count + (i - bricks);
    oz_key_split(s->keys[brick], c);
    if (i < bricks) mask_of(g, brick, mask);
    for (int k = 0; k < 8; k++) any |= mask[k];
    const uint32_t tile = i >= bricks || (!any && !g->masks && g->values[LEAF * (size_t)brick] < 0);
    if (!any && !tile) continue;
    if (any) measure(g, c, mask);
    g->leaves += any != 0;
    place at = {order_of(c), brick, tile};
    g->places[g->count++] = at;
  }
  qsort(g->places, g->count, sizeof *g->places, by_order);
  return 1;
}

/* The end of the places that begin as the one at `first` does. */
static uint32_t end_of(const grid *g, uint32_t first, uint32_t end, int shift) {
  uint32_t i = first;
  while (i < end && g->places[i].order >> shift == g->places[first].order >> shift) i++;
  return i;
}

static void set(uint64_t *mask, uint32_t bit) { mask[bit >> 6] |= UINT64_C(1) << (bit & 63); }

/* A lower node: which of its children are leaves, and which tiles are inside. */
static void put_lower(bytes *b, const grid *g, uint32_t first, uint32_t end) {
  uint64_t leaves[NODE4 / 64], outside[NODE4 / 64];
  uint32_t tiles = 0, rest = 0;
  memset(leaves, 0, sizeof leaves);
  memset(outside, 0xff, sizeof outside);
  for (uint32_t i = first; i < end; i++) {
    const uint32_t n = (uint32_t)(g->places[i].order & (NODE4 - 1));
    outside[n >> 6] &= ~(UINT64_C(1) << (n & 63));
    if (!g->places[i].tile) set(leaves, n);
    tiles += g->places[i].tile;
  }
  rest = NODE4 - (end - first); /* neither leaf nor tile: +background */
  put(b, leaves, sizeof leaves);
  put_zeros(b, sizeof leaves); /* no tile is active */
  put_byte(b, !tiles ? INACTIVE_BACKGROUND : rest ? INACTIVE_MASK : INACTIVE_MINUS_BACKGROUND);
  if (tiles && rest) put(b, outside, sizeof outside);
  put_i64(b, 0); /* no active value */
  for (uint32_t i = first; i < end; i++) {
    uint64_t mask[8];
    if (g->places[i].tile) continue;
    mask_of(g, g->places[i].brick, mask);
    put(b, mask, sizeof mask);
  }
}

static void put_topology(bytes *b, const grid *g) {
  const float background = g->leaf.half ? of_half(half_of(g->background)) : g->background;
  uint32_t roots = 0;
  put_u32(b, 1); /* buffers of a leaf */
  for (uint32_t k = 0; k < g->leaf.components; k++) put(b, &background, 4);
  for (uint32_t i = 0; i < g->count; i = end_of(g, i, g->count, ROOT_SHIFT)) roots++;
  put_u32(b, 0); /* tiles */
  put_u32(b, roots);
  for (uint32_t i = 0, end; i < g->count; i = end) {
    uint64_t lower[NODE5 / 64];
    int32_t origin[3];
    end = end_of(g, i, g->count, ROOT_SHIFT);
    for (int a = 0; a < 3; a++) {
      const uint64_t root = g->places[i].order >> (ROOT_SHIFT + ROOT_BITS * (2 - a));
      origin[a] = ((int32_t)(root & ((1u << ROOT_BITS) - 1)) - (1 << (ROOT_BITS - 1))) * 4096;
    }
    put(b, origin, sizeof origin);
    memset(lower, 0, sizeof lower);
    for (uint32_t k = i; k < end; k++)
      set(lower, (uint32_t)(g->places[k].order >> 12 & (NODE5 - 1)));
    put(b, lower, sizeof lower);
    put_zeros(b, sizeof lower);
    put_byte(b, INACTIVE_BACKGROUND);
    put_i64(b, 0);
    for (uint32_t k = i, stop; k < end; k = stop) {
      stop = end_of(g, k, end, 12);
      put_lower(b, g, k, stop);
    }
  }
}

static void put_leaf(bytes *b, const grid *g, uint32_t brick) {
  const uint32_t m = g->leaf.components;
  const float *v = g->values + (size_t)brick * LEAF * m;
  float kept[LEAF * MOST_COMPONENTS];
  uint64_t mask[8], above[8] = {0};
  uint32_t count = 0, plus = 0, minus = 0, other = 0;
  mask_of(g, brick, mask);
  put(b, mask, sizeof mask);
  for (uint32_t n = 0; n < LEAF; n++) {
    if (mask[n >> 6] >> (n & 63) & 1) {
      memcpy(kept + m * count++, v + (size_t)m * n, 4 * m);
    } else if (g->masks || v[n] == g->background) { /* attributes are 0 where there is none */
      plus++;
      set(above, n);
    } else if (v[n] == -g->background) {
      minus++;
    } else {
      other++;
    }
  }
  if (other) {
    put_byte(b, ALL_VALUES);
    put_values(b, &g->leaf, v, LEAF);
    return;
  }
  put_byte(b, !minus ? INACTIVE_BACKGROUND : plus ? INACTIVE_MASK : INACTIVE_MINUS_BACKGROUND);
  if (minus && plus) put(b, above, sizeof above);
  put_values(b, &g->leaf, kept, count);
}

/* ---- Grids --------------------------------------------------------------------------------- */

static void put_transform(bytes *b, double voxel) {
  const double parts[5] = {voxel, fabs(voxel), 1.0 / voxel, 1.0 / voxel * (1.0 / voxel),
                           1.0 / voxel / 2.0};
  put_text(b, "UniformScaleMap");
  for (int k = 0; k < 5; k++)
    for (int a = 0; a < 3; a++) put(b, &parts[k], 8);
}

static void put_grid(bytes *b, const grid *g, const char *name) {
  const uint32_t distance = !g->masks, vector = g->leaf.components == 3,
                 timed = g->options->has_time != 0, blends = g->options->has_rest_blend != 0;
  const uint8_t half = (uint8_t)g->leaf.half;
  const int64_t memory = (int64_t)g->leaves * (LEAF * 4 * g->leaf.components + 64 + 16),
                active = (int64_t)g->active;
  char type[40];
  snprintf(type, sizeof type, "Tree_%s_5_4_3%s",
           vector        ? "vec3s"
           : g->integers ? "int32"
                         : "float",
           half ? "_HalfFloat" : "");
  put_text(b, name);
  put_text(b, type);
  put_text(b, ""); /* no grid shares its tree */
  const size_t offsets = b->used;
  int64_t where[3];
  put_zeros(b, sizeof where);
  where[0] = (int64_t)b->used;
  put_u32(b, 2 | 4); /* active values alone, packed as Blosc does */
  put_u32(b, 7 + (distance || g->velocity) + 2 * timed + blends);
  if (distance) meta_text(b, "class", "level set"); /* by name */
  meta(b, "file_bbox_max", "vec3i", g->high, sizeof g->high);
  meta(b, "file_bbox_min", "vec3i", g->low, sizeof g->low);
  meta_text(b, "file_compression", "blosc + active values");
  meta(b, "file_mem_bytes", "int64", &memory, 8);
  meta(b, "file_voxel_count", "int64", &active, 8);
  if (timed) meta(b, "frame", "int32", &g->options->frame, 4);
  meta(b, "is_saved_as_half_float", "bool", &half, 1);
  meta_text(b, "name", name);
  if (blends) meta(b, "restblend", "float", &g->options->rest_blend, 4);
  if (timed) meta(b, "time", "double", &g->options->time, 8);
  if (g->velocity) meta_text(b, "vector_type", "contravariant relative");
  put_transform(b, (double)g->surface->voxel);
  put_topology(b, g);
  where[1] = (int64_t)b->used;
  for (uint32_t i = 0; i < g->count; i++)
    if (!g->places[i].tile) put_leaf(b, g, g->places[i].brick);
  where[2] = (int64_t)b->used;
  if (!b->failed) memcpy(b->at + offsets, where, sizeof where);
}

/* The unique tag, from the contents: 122 bits of our own (version 8 of RFC 9562). */
static void tag(bytes *b, size_t at) {
  char text[37];
  if (b->failed) return;
  const uint64_t x = ooze_hash(b->at, b->used, 0), y = ooze_hash(b->at, b->used, x);
  snprintf(text, sizeof text, "%08x-%04x-8%03x-%04x-%012llx", (unsigned)(x >> 32),
           (unsigned)(x >> 16 & 0xffff), (unsigned)(x & 0xfff),
           (unsigned)(0x8000 | (y >> 48 & 0x3fff)), (unsigned long long)(y & 0xffffffffffffull));
  memcpy(b->at + at, text, 36);
}

/* Numbers of materials are kept as floats that are whole. */
static uint32_t *integers_of(const float *values, size_t count) {
  uint32_t *out = malloc(count * sizeof *out + 4);
  for (size_t i = 0; out && i < count; i++) out[i] = (uint32_t)values[i];
  return out;
}

/* Grid 0 is the distance, the others are the channels. */
static int put_channel(bytes *b, const ooze_surface *s, uint32_t k,
                       const ooze_vdb_options *options) {
  const oz_carried *channel = k ? &s->channels[k - 1] : NULL;
  uint32_t *integers = NULL;
  grid g;
  memset(&g, 0, sizeof g);
  g.surface = s;
  g.options = options;
  g.leaf.components = channel ? channel->components : 1;
  g.leaf.half = options->half_precision != 0;
  g.masks = channel ? s->kept : NULL;
  g.background = channel ? 0.0f : s->band;
  g.values = channel ? channel->grid : s->values;
  g.velocity = channel && channel == s->velocity;
  if (channel && channel->kind == OZ_CARRIED_MATERIAL) {
    integers = integers_of(channel->grid, LEAF * (size_t)s->attribute_bricks);
    if (!integers) return 0;
    g.values =
        (const float *)(const void *)integers; /* words that are moved, never computed with */
    g.integers = 1;
    g.leaf.half = 0;
  }
  const char *name = !channel     ? options->surface_name
                     : g.velocity ? options->velocity_name
                                  : channel->name;
  const int found = find_places(&g, channel ? s->attribute_bricks : s->brick_count,
                                channel ? 0 : s->inside_count);
  if (found) put_grid(b, &g, name);
  free(g.places);
  free(integers);
  return found;
}

static int put_file(bytes *b, const ooze_surface *s, const ooze_vdb_options *options) {
  const uint32_t grids = 1 + (s->attribute_bricks ? s->channel_count : 0);
  static const char no_tag[37] = "00000000-0000-8000-8000-000000000000";
  put_i64(b, 0x56444220);
  put_u32(b, 224);
  put_u32(b, 10); /* OpenVDB 10.0 */
  put_u32(b, 0);
  put_byte(b, 1); /* with offsets */
  const size_t at = b->used;
  put(b, no_tag, 36);
  put_u32(b, 1 + (options->has_time ? 2 : 0) + (options->has_rest_blend ? 1 : 0));
  meta_text(b, "creator", "Ooze");
  if (options->has_time) meta(b, "frame", "int32", &options->frame, 4);
  if (options->has_rest_blend) meta(b, "restblend", "float", &options->rest_blend, 4);
  if (options->has_time) meta(b, "time", "double", &options->time, 8);
  put_u32(b, grids);
  for (uint32_t k = 0; k < grids && !b->failed; k++)
    if (!put_channel(b, s, k, options)) return 0;
  tag(b, at);
  return !b->failed;
}

ooze_result ooze_surface_write_vdb(const ooze_surface *s, const char *path,
                                   const ooze_vdb_options *options, ooze_message *why) {
  ooze_vdb_options defaults;
  ooze_vdb_options_default(&defaults);
  if (!s || !path)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_surface_write_vdb: a pointer is NULL");
  if (!options) options = &defaults;
  if (options->size != sizeof *options || !options->surface_name || !options->velocity_name)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_vdb_options: fill it with its _default()");
  if ((double)s->voxel < OOZE_SMALLEST_VOXEL)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "%s: voxels of %g m; expected %g m or more, which is as fine as OpenVDB goes",
                   path, (double)s->voxel, OOZE_SMALLEST_VOXEL);
  bytes b = {NULL, 0, 0, 0};
  ooze_file *file = NULL;
  ooze_result result = put_file(&b, s, options)
                           ? OOZE_OK
                           : oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", path);
  if (result == OOZE_OK) result = ooze_file_create(path, &file, why);
  if (result == OOZE_OK) result = ooze_file_put(file, b.at, b.used, why);
  if (result == OOZE_OK)
    result = ooze_file_commit(file, 1, why);
  else
    ooze_file_discard(file);
  free(b.at);
  return result;
}
