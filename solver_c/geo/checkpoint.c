/* Checkpoints on disk, little endian:
 *   64 bytes of header: "OOZECKPT", u32 version, u32 chunk size, u64 bytes, u64 bytes of meta, u64
 * chunks, u64 bytes of the whole file, u64 XXH3 of meta, u64 XXH3 of the 56 bytes before; meta; per
 * chunk: u32 packed size (with the top bit: stored as it is), u32 raw size, u64 XXH3 of the bytes,
 * bytes; 16 bytes of trailer: u64 XXH3 of all chunk hashes in order, "OOZEDONE". Every hash is
 * checked before the bytes that it covers are used. SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef OOZE_HAVE_ZSTD
#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
  HEADER = 64,
  CHUNK_HEADER = 16,
  TRAILER = 16,
  CHUNK = 4 << 20,
  VERSION = 1,
  LEVEL = -1, /* a third faster than 1 for 4% more bytes */
  MAX_META = 16 << 20
};
#define STORED 0x80000000u

typedef struct header {
  char magic[8];
  uint32_t version, chunk_bytes;
  uint64_t bytes, meta_bytes, chunks, file_bytes, meta_hash, hash;
} header;
_Static_assert(sizeof(header) == HEADER, "the header is written as it lies in memory");

typedef struct chunk_header {
  uint32_t packed, raw;
  uint64_t hash;
} chunk_header;
_Static_assert(sizeof(chunk_header) == CHUNK_HEADER, "written as it lies in memory");

/* ---- Writing ----------------------------------------------------------------------------- */

/* The header holds the file's length, which is known only when all is packed: so chunks are packed
 * first. They are kept in memory; a checkpoint is at most a few gigabytes, and the packed form is
 * smaller than the block it comes from. */
typedef struct packed {
  uint8_t *at;
  size_t used, capacity;
} packed;

static bool room(packed *p, size_t more) {
  if (p->capacity - p->used >= more) return true;
  size_t capacity = p->capacity + p->capacity / 2 + more;
  uint8_t *moved = realloc(p->at, capacity);
  if (!moved) return false;
  p->at = moved;
  p->capacity = capacity;
  return true;
}

/* Chunks that are packed side by side: 128 MiB. */
enum { BATCH = 32 };
typedef struct batch {
  const uint8_t *memory;
  size_t bytes, bound; /* room for a packed chunk with its header */
  uint8_t *packed;
  size_t sizes[BATCH]; /* with the header; 0: no memory */
} batch;

static void pack_chunks(void *arg, uint32_t begin, uint32_t end) {
  batch *b = arg;
  ZSTD_CCtx *context = ZSTD_createCCtx();
  for (uint32_t i = begin; i < end; i++) {
    const size_t at = (size_t)i * CHUNK, raw = b->bytes - at < CHUNK ? b->bytes - at : CHUNK;
    uint8_t *here = b->packed + i * b->bound, *to = here + CHUNK_HEADER;
    b->sizes[i] = 0;
    if (!context) continue;
    size_t size =
        ZSTD_compressCCtx(context, to, b->bound - CHUNK_HEADER, b->memory + at, raw, LEVEL);
    chunk_header head = {(uint32_t)size, (uint32_t)raw, 0};
    if (ZSTD_isError(size) || size >= raw) { /* noise: store it, which also reads faster */
      memcpy(to, b->memory + at, raw);
      size = raw;
      head.packed = (uint32_t)raw | STORED;
    }
    head.hash = XXH3_64bits(to, size);
    memcpy(here, &head, sizeof head);
    b->sizes[i] = CHUNK_HEADER + size;
  }
  ZSTD_freeCCtx(context);
}

static ooze_result pack_batches(const uint8_t *memory, size_t bytes, const oz_loop *loop,
                                packed *out, uint64_t *out_chunks, XXH3_state_t *hashes) {
  const size_t bound = CHUNK_HEADER + ZSTD_compressBound(CHUNK);
  const size_t all = (bytes + CHUNK - 1) / CHUNK, most = all < BATCH ? all : BATCH;
  batch b = {.bound = bound, .packed = malloc(most * bound + 1)};
  ooze_result result = b.packed ? OOZE_OK : OOZE_ERROR_MEMORY;
  for (size_t at = 0; at < bytes && result == OOZE_OK; at += (size_t)BATCH * CHUNK) {
    b.memory = memory + at;
    b.bytes = bytes - at < (size_t)BATCH * CHUNK ? bytes - at : (size_t)BATCH * CHUNK;
    const uint32_t chunks = (uint32_t)((b.bytes + CHUNK - 1) / CHUNK);
    oz_loop_run(loop, chunks, pack_chunks, &b);
    for (uint32_t i = 0; i < chunks && result == OOZE_OK; i++, ++*out_chunks) {
      chunk_header head;
      if (!b.sizes[i] || !room(out, b.sizes[i])) {
        result = OOZE_ERROR_MEMORY;
        break;
      }
      memcpy(&head, b.packed + i * bound, sizeof head);
      XXH3_64bits_update(hashes, &head.hash, 8);
      memcpy(out->at + out->used, b.packed + i * bound, b.sizes[i]);
      out->used += b.sizes[i];
    }
  }
  free(b.packed);
  return result;
}

static ooze_result pack_all(const char *path, const uint8_t *memory, size_t bytes, packed *out,
                            uint64_t *out_chunks, uint64_t *out_hash, ooze_message *why) {
  XXH3_state_t hashes;
  oz_loop loop;
  XXH3_64bits_reset(&hashes);
  *out_chunks = 0;
  oz_loop_open(&loop, NULL, bytes > CHUNK ? 0 : 1);
  ooze_result result = pack_batches(memory, bytes, &loop, out, out_chunks, &hashes);
  oz_loop_close(&loop);
  *out_hash = XXH3_64bits_digest(&hashes);
  return result == OOZE_OK
             ? OOZE_OK
             : oz_fail(why, result, "%s: out of memory for a checkpoint of %zu bytes", path, bytes);
}

ooze_result ooze_checkpoint_write(const char *path, const void *memory, size_t bytes,
                                  const char *meta, ooze_message *why) {
  if (!path || (!memory && bytes))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file name or no memory given");
  size_t meta_bytes = meta ? strlen(meta) : 0;
  if (meta_bytes > MAX_META)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%s: the text beside a checkpoint has more than 16 MiB",
                   path);
  packed body = {NULL, 0, 0};
  uint64_t chunks, hash;
  ooze_result result = pack_all(path, memory, bytes, &body, &chunks, &hash, why);
  oz_out out;
  if (result == OOZE_OK) result = oz_out_open(&out, path, why);
  if (result == OOZE_OK) {
    header h = {{'O', 'O', 'Z', 'E', 'C', 'K', 'P', 'T'},
                VERSION,
                CHUNK,
                bytes,
                meta_bytes,
                chunks,
                HEADER + meta_bytes + body.used + TRAILER,
                XXH3_64bits(meta ? meta : "", meta_bytes),
                0};
    h.hash = XXH3_64bits(&h, HEADER - 8);
    oz_out_put(&out, &h, sizeof h);
    oz_out_put(&out, meta ? meta : "", meta_bytes);
    oz_out_put(&out, body.at, body.used);
    oz_out_put(&out, &hash, 8);
    oz_out_put(&out, "OOZEDONE", 8);
    result = oz_out_close(&out, 1);
  }
  free(body.at);
  return result;
}

/* ---- Reading ----------------------------------------------------------------------------- */

/* A fuzzer cannot guess hashes and lengths; in its build they are taken as right, so that it
 * reaches the code behind them. */
static bool same_hash(uint64_t found, uint64_t expected) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  (void)found;
  (void)expected;
  return true;
#else
  return found == expected;
#endif
}

static ooze_result damaged(const char *name, ooze_message *why, const char *reason) {
  return oz_fail(why, OOZE_ERROR_FORMAT, "%s: %s", name, reason);
}

static ooze_result unpack_all(const char *name, const uint8_t *at, const uint8_t *end,
                              const header *h, uint8_t *memory, ooze_message *why) {
  XXH3_state_t hashes;
  XXH3_64bits_reset(&hashes);
  uint64_t done = 0;
  for (uint64_t i = 0; i < h->chunks; i++) {
    chunk_header head;
    uint64_t raw = h->bytes - done < h->chunk_bytes ? h->bytes - done : h->chunk_bytes;
    if ((uint64_t)(end - at) < CHUNK_HEADER)
      return damaged(name, why, "ends too early; it is truncated");
    memcpy(&head, at, sizeof head);
    at += CHUNK_HEADER;
    uint32_t size = head.packed & ~STORED;
    bool stored = (head.packed & STORED) != 0;
    if (size > (uint64_t)(end - at) || head.raw != raw || (stored && size != raw) ||
        !same_hash(XXH3_64bits(at, size), head.hash))
      return oz_fail(why, OOZE_ERROR_FORMAT, "%s: chunk %llu of %llu is damaged", name,
                     (unsigned long long)(i + 1), (unsigned long long)h->chunks);
    const size_t unpacked = stored ? size : ZSTD_decompress(memory + done, (size_t)raw, at, size);
    if (stored) memcpy(memory + done, at, size);
    if (ZSTD_getErrorCode(unpacked) == ZSTD_error_memory_allocation)
      return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory for unpacking", name);
    if (unpacked != raw)
      return oz_fail(why, OOZE_ERROR_FORMAT,
                     "%s: chunk %llu of %llu does not unpack; it is damaged", name,
                     (unsigned long long)(i + 1), (unsigned long long)h->chunks);
    XXH3_64bits_update(&hashes, &head.hash, 8);
    at += size;
    done += raw;
  }
  uint64_t hash;
  if (end - at != TRAILER || memcmp(at + 8, "OOZEDONE", 8) != 0)
    return damaged(name, why, "its end is damaged");
  memcpy(&hash, at, 8);
  return same_hash(XXH3_64bits_digest(&hashes), hash)
             ? OOZE_OK
             : damaged(name, why, "its chunks are not those that were written");
}

/* The header, with sizes that fit the file's and the limits. */
static ooze_result read_header(const char *name, const void *file, size_t count, uint64_t max_bytes,
                               header *out, ooze_message *why) {
  header h;
  if (count < 8 || memcmp(file, "OOZECKPT", 8) != 0)
    return damaged(name, why, "no checkpoint: it does not begin with OOZECKPT");
  if (count < HEADER + TRAILER)
    return damaged(name, why, "ends within its header; it is truncated");
  memcpy(&h, file, sizeof h);
  if (h.version != VERSION)
    return oz_fail(why, OOZE_ERROR_UNSUPPORTED,
                   "%s: a checkpoint of version %u; this program reads %d", name, h.version,
                   VERSION);
  if (!same_hash(XXH3_64bits(&h, HEADER - 8), h.hash))
    return damaged(name, why, "its header is damaged");
  if (!same_hash(h.file_bytes, count))
    return oz_fail(why, OOZE_ERROR_FORMAT, "%s: has %zu bytes of %llu; it is truncated or damaged",
                   name, count, (unsigned long long)h.file_bytes);
  if (h.meta_bytes > MAX_META || h.meta_bytes > count - HEADER - TRAILER || h.chunk_bytes == 0 ||
      h.chunk_bytes > (64u << 20))
    return damaged(name, why, "the sizes in its header are out of range; it is damaged");
  uint64_t chunks = h.bytes / h.chunk_bytes + (h.bytes % h.chunk_bytes != 0),
           body = count - HEADER - TRAILER - h.meta_bytes;
  if (h.chunks != chunks || chunks > body / CHUNK_HEADER)
    return damaged(name, why, "it cannot hold the chunks that it declares; it is damaged");
  if (h.bytes > max_bytes || h.bytes >= SIZE_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%s: unpacks to %llu bytes; the limit is %llu", name,
                   (unsigned long long)h.bytes, (unsigned long long)max_bytes);
  *out = h;
  return OOZE_OK;
}

ooze_result ooze_checkpoint_read_memory(const char *name, const void *file, size_t count,
                                        const ooze_io_limits *limits, void **out_memory,
                                        size_t *out_bytes, char **out_meta, ooze_message *why) {
  ooze_io_limits full = oz_limits_of(limits);
  header h = {0};
  if (out_memory) *out_memory = NULL;
  if (out_meta) *out_meta = NULL;
  if (out_bytes) *out_bytes = 0;
  if (!name || (!file && count)) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no bytes to read");
  OZ_TRY_OK(read_header(name, file, count, full.max_bytes, &h, why));
  const uint8_t *at = (const uint8_t *)file + HEADER, *end = (const uint8_t *)file + count;
  if (!same_hash(XXH3_64bits(at, (size_t)h.meta_bytes), h.meta_hash))
    return damaged(name, why, "the text in it is damaged");
  uint8_t *memory = malloc(h.bytes ? (size_t)h.bytes : 1);
  char *meta = malloc((size_t)h.meta_bytes + 1);
  ooze_result result = memory && meta
                           ? OOZE_OK
                           : oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory for %llu bytes",
                                     name, (unsigned long long)h.bytes);
  if (result == OOZE_OK) {
    memcpy(meta, at, (size_t)h.meta_bytes);
    meta[h.meta_bytes] = 0;
    result = unpack_all(name, at + h.meta_bytes, end, &h, memory, why);
  }
  if (result == OOZE_OK && out_bytes) *out_bytes = (size_t)h.bytes;
  if (result == OOZE_OK && out_memory) {
    *out_memory = memory;
    memory = NULL;
  }
  if (result == OOZE_OK && out_meta) {
    *out_meta = meta;
    meta = NULL;
  }
  free(memory);
  free(meta);
  return result;
}

#else
ooze_result ooze_checkpoint_write(const char *path, const void *memory, size_t bytes,
                                  const char *meta, ooze_message *why) {
  (void)memory, (void)bytes, (void)meta;
  return oz_fail(why, OOZE_ERROR_UNSUPPORTED,
                 "%s: this build has no zstd and xxHash and so no checkpoints on disk",
                 path ? path : "");
}
ooze_result ooze_checkpoint_read_memory(const char *name, const void *file, size_t count,
                                        const ooze_io_limits *limits, void **out_memory,
                                        size_t *out_bytes, char **out_meta, ooze_message *why) {
  (void)file, (void)count, (void)limits, (void)out_memory, (void)out_bytes, (void)out_meta;
  return oz_fail(why, OOZE_ERROR_UNSUPPORTED,
                 "%s: this build has no zstd and xxHash and so no checkpoints on disk",
                 name ? name : "");
}
#endif

ooze_result ooze_checkpoint_read(const char *path, const ooze_io_limits *limits, void **out_memory,
                                 size_t *out_bytes, char **out_meta, ooze_message *why) {
  ooze_io_limits full = oz_limits_of(limits);
  void *file;
  size_t count;
  if (out_memory) *out_memory = NULL;
  if (out_meta) *out_meta = NULL;
  OZ_TRY_OK(ooze_file_read(path, full.max_bytes, &file, &count, why));
  ooze_result result =
      ooze_checkpoint_read_memory(path, file, count, &full, out_memory, out_bytes, out_meta, why);
  ooze_io_free(file);
  return result;
}
