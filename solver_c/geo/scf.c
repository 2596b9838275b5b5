/* .bgeo.sc: a .bgeo cut into blocks of 1 MiB, each packed by Blosc, with an index at the
 * end: "scf1", i64 size of the metadata (0), chunks, index, i64 size of the index,
 * "1fcs"; numbers big endian. index: where chunk 2, 3, ... begin counted from the first, the block
 * size, the size of the last block. SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <stdlib.h>

#ifdef OOZE_HAVE_BLOSC
#include <blosc.h>
#endif

static void put_big64(uint8_t *at, uint64_t value) {
  for (int i = 7; i >= 0; i--, value >>= 8) at[i] = (uint8_t)value;
}

/* ---- Writing ----------------------------------------------------------------------------- */

/* Blocks that are packed side by side, while the batch before them is written: 32 MiB each. */
enum { BATCH = 32, PACKED = OZ_BLOCK + OZ_BLOSC_MORE };

/* Bytes that wait to be packed: the caller's, or a copy of some. */
typedef struct piece {
  const uint8_t *at;
  size_t count;
  uint8_t *own; /* to be freed, or NULL */
} piece;

/* Packed blocks. */
typedef struct batch {
  uint8_t *packed; /* PACKED bytes each */
  uint32_t room;   /* blocks that it holds */
  uint32_t count;
  size_t sizes[BATCH];
} batch;

typedef struct packer {
  ooze_write_options options;
  const oz_loop *loop;
  ooze_file *file;
  ooze_result result; /* of writing */
  ooze_message *why;
  piece *pieces;
  size_t piece_count, piece_room, waiting; /* waiting: bytes in all */
  batch *packs, *written, batches[2];      /* the one that is packed, and that before it */
  const uint8_t *from[BATCH];
  size_t lengths[BATCH]; /* of each block, plain */
  uint64_t *ends;        /* of each chunk, from the first chunk's beginning */
  uint64_t count, capacity, last;
} packer;

static void write_batch(packer *p, batch *b) {
  for (uint32_t i = 0; i < b->count && p->result == OOZE_OK; i++)
    p->result = ooze_file_put(p->file, b->packed + (size_t)i * PACKED, b->sizes[i], p->why);
  b->count = 0;
}

/* 0: the batch before is written. Others: LZ4 with bytes shuffled by fours, as Houdini packs. */
static void pack_blocks(void *arg, uint32_t begin, uint32_t end) {
  packer *p = arg;
  for (uint32_t i = begin; i < end; i++) {
    if (i == 0)
      write_batch(p, p->written);
    else
      p->packs->sizes[i - 1] =
          oz_blosc_pack(p->from[i - 1], p->lengths[i - 1], 4, p->options.compression,
                        p->packs->packed + (size_t)(i - 1) * PACKED);
  }
}

static ooze_result no_memory(oz_out *out) {
  return oz_fail(out->why, OOZE_ERROR_MEMORY, "out of memory for a .bgeo.sc");
}

static ooze_result make_room(oz_out *out, uint32_t blocks) {
  packer *p = out->packer;
  batch *b = p->packs;
  if (blocks > b->room) {
    uint8_t *packed = malloc((size_t)blocks * PACKED);
    if (!packed) return no_memory(out);
    free(b->packed);
    b->packed = packed;
    b->room = blocks;
  }
  if (p->count + blocks > p->capacity) {
    uint64_t capacity = 2 * p->capacity + BATCH;
    uint64_t *moved = realloc(p->ends, (size_t)capacity * sizeof *moved);
    if (!moved)
      return oz_fail(out->why, OOZE_ERROR_MEMORY, "out of memory for the index of a .bgeo.sc");
    p->ends = moved;
    p->capacity = capacity;
  }
  return OOZE_OK;
}

/* Of the first blocks, those that lie in several pieces are put together in `together`, which has
 * room for all such ones; NULL: they are counted. */
static uint32_t cut(packer *p, uint32_t blocks, uint8_t *together) {
  const piece *at = p->pieces;
  size_t taken = 0; /* of that piece */
  uint32_t parted = 0;
  for (uint32_t i = 0; i < blocks; i++) {
    const size_t before = (size_t)i * OZ_BLOCK,
                 size = p->waiting - before < OZ_BLOCK ? p->waiting - before : OZ_BLOCK;
    uint8_t *to = together ? together + (size_t)parted * OZ_BLOCK : NULL;
    p->from[i] = at->at + taken;
    p->lengths[i] = size;
    const int whole = at->count - taken >= size;
    if (!whole) p->from[i] = to, parted++;
    for (size_t left = size; left;) {
      const size_t part = at->count - taken < left ? at->count - taken : left;
      if (!whole && to) memcpy(to, at->at + taken, part), to += part;
      left -= part;
      taken += part;
      if (taken == at->count && (left || i + 1 < blocks)) at++, taken = 0;
    }
  }
  return parted;
}

/* The pieces of that many bytes are done with. */
static void forget(packer *p, size_t count) {
  size_t done = 0;
  p->waiting -= count;
  for (; done < p->piece_count && count >= p->pieces[done].count; done++) {
    count -= p->pieces[done].count;
    free(p->pieces[done].own);
  }
  p->piece_count -= done;
  memmove(p->pieces, p->pieces + done, p->piece_count * sizeof *p->pieces);
  if (!p->piece_count) return;
  p->pieces[0].at += count;
  p->pieces[0].count -= count;
}

static ooze_result pack(oz_out *out, uint32_t blocks) {
  packer *p = out->packer;
  OZ_TRY_OK(make_room(out, blocks));
  const uint32_t parted = cut(p, blocks, NULL);
  uint8_t *together = parted ? malloc((size_t)parted * OZ_BLOCK) : NULL;
  if (parted && !together) return no_memory(out);
  if (parted) (void)cut(p, blocks, together);
  oz_loop_run(p->loop, blocks + 1, pack_blocks, p);
  free(together);
  batch *full = p->packs;
  size_t plain = 0;
  for (uint32_t i = 0; i < blocks; i++) {
    p->ends[p->count] = (p->count ? p->ends[p->count - 1] : 0) + (uint64_t)full->sizes[i];
    p->count++;
    p->last = p->lengths[i];
    plain += p->lengths[i];
  }
  full->count = blocks;
  p->packs = p->written;
  p->written = full;
  forget(p, plain);
  return p->result;
}

/* One more piece; whole batches are packed. */
static ooze_result add_piece(oz_out *out, const void *bytes, size_t count, uint8_t *own) {
  packer *p = out->packer;
  if (p->piece_count == p->piece_room) {
    const size_t room = 2 * p->piece_room + 64;
    piece *moved = realloc(p->pieces, room * sizeof *moved);
    if (!moved) {
      free(own);
      return no_memory(out);
    }
    p->pieces = moved;
    p->piece_room = room;
  }
  p->pieces[p->piece_count++] = (piece){bytes, count, own};
  p->waiting += count;
  while (p->waiting >= (size_t)BATCH * OZ_BLOCK) OZ_TRY_OK(pack(out, BATCH));
  return OOZE_OK;
}

static ooze_result take_lent(oz_out *out, const void *bytes, size_t count) {
  return add_piece(out, bytes, count, NULL);
}

static ooze_result take_copy(oz_out *out, const void *bytes, size_t count) {
  uint8_t *own = malloc(count);
  if (!own) return no_memory(out);
  memcpy(own, bytes, count);
  return add_piece(out, own, count, own);
}

ooze_result oz_scf_start(oz_out *out, const ooze_write_options *options, const oz_loop *loop) {
  static const uint8_t head[12] = {'s', 'c', 'f', '1'};
  packer *p = calloc(1, sizeof *p);
  if (!p) return no_memory(out);
  p->options = *options;
  p->loop = loop;
  p->file = out->file;
  p->why = out->why;
  p->packs = &p->batches[0];
  p->written = &p->batches[1];
  out->packer = p;
  out->block = take_copy;
  out->lend = take_lent;
  return ooze_file_put(out->file, head, sizeof head, out->why);
}

void oz_scf_finish(oz_out *out) {
  packer *p = out->packer;
  if (p->waiting) {
    out->result = pack(out, (uint32_t)((p->waiting - 1) / OZ_BLOCK + 1));
    if (out->result != OOZE_OK) return;
  }
  write_batch(p, p->written);
  out->result = p->result;
  if (out->result != OOZE_OK) return;
  uint64_t entries = p->count + 1; /* count - 1 offsets and two sizes */
  uint8_t *index = malloc((size_t)entries * 8 + 12);
  if (!index) {
    out->result = oz_fail(out->why, OOZE_ERROR_MEMORY, "out of memory for the index of a .bgeo.sc");
    return;
  }
  for (uint64_t i = 0; i + 1 < p->count; i++) put_big64(index + i * 8, p->ends[i]);
  put_big64(index + (entries - 2) * 8, OZ_BLOCK);
  put_big64(index + (entries - 1) * 8, p->last);
  put_big64(index + entries * 8, entries * 8);
  memcpy(index + entries * 8 + 8, "1fcs", 4);
  out->result = ooze_file_put(out->file, index, (size_t)entries * 8 + 12, out->why);
  free(index);
}

void oz_scf_drop(oz_out *out) {
  packer *p = out->packer;
  if (!p) return;
  for (size_t k = 0; k < p->piece_count; k++) free(p->pieces[k].own);
  free(p->pieces);
  for (int k = 0; k < 2; k++) free(p->batches[k].packed);
  free(p->ends);
  free(p);
  out->packer = NULL;
}

/* ---- Reading ----------------------------------------------------------------------------- */

#ifdef OOZE_HAVE_BLOSC
static uint64_t big64(const uint8_t *at) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) value = value << 8 | at[i];
  return value;
}

static ooze_result bad(const oz_source *source, const char *reason) {
  return oz_fail(source->why, OOZE_ERROR_FORMAT, "%s: %s", source->name, reason);
}

/* Codecs other than LZ4 are left to Blosc. It crashes where there is no room for a block and a
 * shuffled one, and does not tell a lack of memory from damage: the room is tried before. */
static ooze_result unpack_chunk(const uint8_t *chunk, size_t count, uint8_t *out, size_t size) {
  const ooze_result result = oz_blosc_unpack(chunk, count, out, size);
  if (result != OOZE_ERROR_UNSUPPORTED) return result;
  size_t raw = 0, packed = 0, block = 0;
  blosc_cbuffer_sizes(chunk, &raw, &packed, &block);
  void *room = malloc(3 * block + (1 << 20));
  if (!room) return OOZE_ERROR_MEMORY;
  free(room);
  const int done = blosc_decompress_ctx(chunk, out, size, 1);
  return done >= 0 && (size_t)done == size ? OOZE_OK : OOZE_ERROR_FORMAT;
}

/* Chunks that are unpacked side by side; each tells its own result. */
typedef struct unpacker {
  const uint8_t *packed, *index; /* the first chunk; where the others begin, from there */
  uint64_t chunks, bytes, block, last;
  uint8_t *out;
  int8_t *results; /* ooze_result of each */
} unpacker;

static void unpack_chunks(void *arg, uint32_t begin, uint32_t end) {
  unpacker *u = arg;
  for (uint64_t i = begin; i < end; i++) {
    const uint64_t at = i ? big64(u->index + (i - 1) * 8) : 0,
                   stop = i + 1 < u->chunks ? big64(u->index + i * 8) : u->bytes;
    u->results[i] = (int8_t)unpack_chunk(u->packed + at, (size_t)(stop - at), u->out + i * u->block,
                                         (size_t)(i + 1 < u->chunks ? u->block : u->last));
  }
}

/* The first failure, by the order of chunks, is told. */
static ooze_result unpack_all(const oz_source *source, unpacker *u) {
  oz_loop loop;
  if (u->chunks > UINT32_MAX || !(u->results = malloc((size_t)u->chunks)))
    return oz_fail(source->why, OOZE_ERROR_MEMORY, "%s: out of memory for unpacking", source->name);
  oz_loop_open(&loop, NULL, u->chunks > 1 ? 0 : 1);
  oz_loop_run(&loop, (uint32_t)u->chunks, unpack_chunks, u);
  oz_loop_close(&loop);
  uint64_t bad_chunk = 0;
  while (bad_chunk < u->chunks && u->results[bad_chunk] >= 0) bad_chunk++;
  const ooze_result result = bad_chunk < u->chunks ? (ooze_result)u->results[bad_chunk] : OOZE_OK;
  free(u->results);
  if (result == OOZE_ERROR_MEMORY)
    return oz_fail(source->why, result, "%s: out of memory for unpacking", source->name);
  if (result < 0)
    return oz_fail(source->why, OOZE_ERROR_FORMAT,
                   "%s: chunk %llu of %llu does not unpack; it is damaged", source->name,
                   (unsigned long long)(bad_chunk + 1), (unsigned long long)u->chunks);
  return OOZE_OK;
}

ooze_result oz_scf_unpack(const oz_source *source, void **out, size_t *out_count) {
  const uint8_t *file = source->bytes;
  size_t count = source->count;
  *out = NULL;
  if (count < 12 || memcmp(file, "scf1", 4) != 0)
    return bad(source, "no .bgeo.sc: it does not begin with scf1");
  if (count < 40 || memcmp(file + count - 4, "1fcs", 4) != 0)
    return bad(source, "does not end with 1fcs; it is truncated");
  uint64_t meta = big64(file + 4), index_bytes = big64(file + count - 12);
  if (meta > count - 40) return bad(source, "its metadata is larger than the file; it is damaged");
  uint64_t begin = 12 + meta, room = count - 12 - begin;
  if (index_bytes > room || index_bytes < 16 || index_bytes % 8)
    return bad(source, "its index does not fit the file; it is damaged");
  uint64_t chunks = index_bytes / 8 - 1, packed = room - index_bytes;
  const uint8_t *index = file + begin + packed;
  uint64_t block = big64(index + index_bytes - 16), last = big64(index + index_bytes - 8), total;
  if (block < 1 || block > (UINT64_C(1) << 30) || last < 1 || last > block)
    return bad(source, "the block sizes in its index are out of range; it is damaged");
  if (!oz_mul(chunks - 1, block, &total) || total > source->limits.max_bytes ||
      last > source->limits.max_bytes - total)
    return oz_fail(source->why, OOZE_ERROR_LIMIT,
                   "%s: unpacks to more than the limit of %llu bytes", source->name,
                   (unsigned long long)source->limits.max_bytes);
  total += last;
  /* Every chunk must be whole and of its size before there is memory for any. */
  for (uint64_t i = 0, at = 0; i < chunks; i++) {
    uint64_t end = i + 1 < chunks ? big64(index + i * 8) : packed,
             size = i + 1 < chunks ? block : last;
    size_t raw = 0;
    if (end <= at || end > packed || end - at < BLOSC_MIN_HEADER_LENGTH ||
        blosc_cbuffer_validate(file + begin + at, (size_t)(end - at), &raw) < 0 || raw != size)
      return oz_fail(source->why, OOZE_ERROR_FORMAT, "%s: chunk %llu of %llu is damaged",
                     source->name, (unsigned long long)(i + 1), (unsigned long long)chunks);
    at = end;
  }
  uint8_t *memory = malloc((size_t)total + 1);
  if (!memory)
    return oz_fail(source->why, OOZE_ERROR_MEMORY, "%s: out of memory for %llu bytes", source->name,
                   (unsigned long long)total);
  unpacker all = {file + begin, index, chunks, packed, block, last, memory, NULL};
  const ooze_result done = unpack_all(source, &all);
  if (done < 0) {
    free(memory);
    return done;
  }
  memory[total] = 0;
  *out = memory;
  *out_count = (size_t)total;
  return OOZE_OK;
}

#else
ooze_result oz_scf_unpack(const oz_source *source, void **out, size_t *out_count) {
  *out = NULL;
  *out_count = 0;
  return oz_fail(source->why, OOZE_ERROR_UNSUPPORTED,
                 "%s: this build has no Blosc and so no .bgeo.sc", source->name);
}
#endif
