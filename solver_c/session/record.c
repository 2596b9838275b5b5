/* The files that a run has written, each with its length and a hash: kept in every checkpoint, so
 * that a resumed run can tell damaged frames from whole ones. SPDX-License-Identifier: Apache-2.0
 */
#include "session.h"

#include "base/hash.h"
#include "base/tasks.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1 << 20, MOST_FILES = 100000 /* contents of the text beside a checkpoint */ };

/* A file is read and hashed by blocks, which all cores take in turns: the hash of the blocks'
 * hashes. */
enum { GROUP = 32 };
typedef struct blocks {
  int fd;
  uint8_t *memory; /* BLOCK bytes each */
  uint64_t first;  /* of the file's bytes */
  size_t count;    /* bytes */
  uint64_t hash[GROUP];
  int error[GROUP], ended[GROUP]; /* the file has become shorter meanwhile */
} blocks;
static void hash_blocks(void *arg, uint32_t begin, uint32_t end) {
  blocks *b = arg;
  for (uint32_t i = begin; i < end; i++) {
    const size_t from = (size_t)i * BLOCK, left = b->count - from,
                 size = left < BLOCK ? left : BLOCK;
    size_t have = 0, more = 1;
    b->error[i] = 0;
    while (!b->error[i] && have < size && more) {
      b->error[i] =
          oz_os_read_at(b->fd, b->first + from + have, b->memory + from + have, size - have, &more);
      have += more;
    }
    b->ended[i] = have < size;
    b->hash[i] = oz_hash_of(b->memory + from, have);
  }
}

/* NOT_FOUND where there is no such file. */
static ooze_result digest(const char *path, uint64_t *out_bytes, uint64_t *out_hash,
                          ooze_message *why) {
  int fd;
  uint64_t bytes = 0, have = 0;
  oz_hash hash;
  int error = oz_os_open(path, &fd, &bytes);
  const int there = !error;
  const size_t room = bytes < (uint64_t)GROUP * BLOCK ? (size_t)bytes : (size_t)GROUP * BLOCK;
  uint8_t *memory = malloc(room + 1);
  blocks b = {.fd = there ? fd : -1, .memory = memory};
  oz_loop loop;
  int ended = 0;
  oz_loop_open(&loop, NULL, bytes > BLOCK ? 0 : 1);
  oz_hash_begin(&hash);
  while (!error && !ended && memory && have < bytes) {
    b.first = have;
    b.count = bytes - have < room ? (size_t)(bytes - have) : room;
    const uint32_t count = (uint32_t)((b.count - 1) / BLOCK + 1);
    oz_loop_run(&loop, count, hash_blocks, &b);
    for (uint32_t i = 0; i < count && !error; i++) error = b.error[i], ended |= b.ended[i];
    oz_hash_add(&hash, b.hash, count * sizeof *b.hash);
    have += ended ? 0 : b.count;
  }
  oz_loop_close(&loop);
  if (there) oz_os_close(fd);
  free(memory);
  if (!memory) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory to check it", path);
  if (error) {
    char reason[160];
    oz_os_reason(error, reason, sizeof reason);
    return oz_fail(why, there ? OOZE_ERROR_IO : OOZE_ERROR_NOT_FOUND, "%s: cannot read: %s", path,
                   reason);
  }
  *out_bytes = have;
  *out_hash = oz_hash_end(&hash);
  return OOZE_OK;
}

static oz_record *find(const oz_session *s, const char *name) {
  for (uint32_t i = s->record_count; i-- > 0;) /* the newest are asked for most */
    if (strcmp(s->records[i].name, name) == 0) return &s->records[i];
  return NULL;
}

static oz_record *add(oz_session *s, const char *name) {
  if (s->record_count == s->record_room) {
    uint32_t room = s->record_room ? 2 * s->record_room : 64;
    oz_record *grown = realloc(s->records, room * sizeof *grown);
    if (!grown) return NULL;
    s->records = grown;
    s->record_room = room;
  }
  oz_record *r = &s->records[s->record_count];
  memset(r, 0, sizeof *r);
  r->name = oz_copy_text(name, strlen(name));
  if (!r->name) return NULL;
  s->record_count++;
  return r;
}

ooze_result oz_session_record(oz_session *s, const char *path, int32_t frame, ooze_message *why) {
  const char *name = path + strlen(s->options.folder) + 1;
  uint64_t bytes, hash;
  if (s->record_count >= MOST_FILES) return OOZE_OK;
  /* read back: a disk that swallowed bytes shows now, not when the frame is used */
  OZ_TRY_OK(digest(path, &bytes, &hash, why));
  oz_record *r = find(s, name);
  if (!r) r = add(s, name);
  if (!r) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory for its record", path);
  r->frame = frame;
  r->bytes = bytes;
  r->hash = hash;
  return OOZE_OK;
}

/* NULL when memory is out. */
json_t *oz_session_records(const oz_session *s, int32_t frame) {
  json_t *list = json_array();
  for (uint32_t i = 0; list && i < s->record_count; i++) {
    const oz_record *r = &s->records[i];
    char hash[24];
    if (r->frame > frame) continue;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->hash);
    json_t *row =
        json_pack("[s,i,I,s]", r->name, (int)r->frame, (json_int_t)r->bytes, (const char *)hash);
    if (json_array_append_new(list, row) == 0) continue;
    json_decref(list);
    list = NULL;
  }
  return list;
}

ooze_result oz_session_records_load(oz_session *s, const json_t *list) {
  const size_t count = json_array_size(list);
  for (size_t i = 0; i < count; i++) {
    const json_t *row = json_array_get(list, i);
    const char *name = json_string_value(json_array_get(row, 0)),
               *hash = json_string_value(json_array_get(row, 3));
    if (!name || !hash) continue;
    oz_record *r = add(s, name);
    if (!r)
      return oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: out of memory for the list of its files",
                     s->options.folder);
    r->frame = (int32_t)json_integer_value(json_array_get(row, 1));
    r->bytes = (uint64_t)json_integer_value(json_array_get(row, 2));
    r->hash = strtoull(hash, NULL, 16);
  }
  return OOZE_OK;
}

void oz_session_records_release(oz_session *s) {
  for (uint32_t i = 0; i < s->record_count; i++) free(s->records[i].name);
  free(s->records);
  s->records = NULL;
  s->record_count = s->record_room = 0;
}

ooze_result oz_session_verify(oz_session *s, uint32_t *out_damaged) {
  uint32_t gone = 0;
  *out_damaged = 0;
  for (uint32_t i = 0; i < s->record_count; i++) {
    oz_record *r = &s->records[i];
    char path[3600];
    uint64_t bytes = 0, hash = 0;
    ooze_message reason = {""};
    r->damaged = 0;
    if (!oz_session_writes(s, r->name, r->frame)) continue; /* of an output no longer asked for */
    if (s->options.stop && s->options.stop(s->options.user))
      return oz_fail(s->why, OOZE_CANCELLED, "%s: stopped while its files were checked",
                     s->base->file);
    snprintf(path, sizeof path, "%s/%s", s->options.folder, r->name);
    const ooze_result result = digest(path, &bytes, &hash, &reason);
    if (result == OOZE_ERROR_MEMORY) return oz_fail(s->why, result, "%s", reason.text);
    if (result == OOZE_ERROR_NOT_FOUND) {
      gone++;
      continue;
    }
    if (result == OOZE_OK && bytes == r->bytes && hash == r->hash) continue;
    if (result != OOZE_OK)
      oz_session_say(s, "%s", reason.text);
    else if (bytes != r->bytes)
      oz_session_say(s, "%s: damaged: has %llu bytes of %llu", path, (unsigned long long)bytes,
                     (unsigned long long)r->bytes);
    else
      oz_session_say(s, "%s: damaged: its contents are not those that were written", path);
    r->damaged = 1;
    ++*out_damaged;
  }
  if (gone)
    oz_session_say(s,
                   "%s: %u file%s of earlier frames %s not there any more and will not be written "
                   "again; a run without --resume writes all",
                   s->options.folder, gone, gone == 1 ? "" : "s", gone == 1 ? "is" : "are");
  return OOZE_OK;
}

int oz_session_damaged_at(const oz_session *s, int32_t frame) {
  for (uint32_t i = 0; i < s->record_count; i++)
    if (s->records[i].damaged && s->records[i].frame == frame) return 1;
  return 0;
}
