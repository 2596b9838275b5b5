/* Buffered output into a file that is whole or not there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

ooze_result oz_out_open(oz_out *out, const char *path, ooze_message *why) {
  memset(out, 0, sizeof *out);
  out->why = why;
  out->buffer = malloc(OZ_BLOCK);
  if (!out->buffer) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", path);
  ooze_result result = ooze_file_create(path, &out->file, why);
  if (result != OOZE_OK) {
    free(out->buffer);
    out->buffer = NULL;
  }
  return result;
}

static void block(oz_out *out, const void *bytes, size_t count) {
  if (out->result != OOZE_OK || count == 0) return;
  out->result =
      out->block ? out->block(out, bytes, count) : ooze_file_put(out->file, bytes, count, out->why);
}

void oz_out_flush(oz_out *out) {
  block(out, out->buffer, out->used);
  out->used = 0;
}

void oz_out_put(oz_out *out, const void *bytes, size_t count) {
  const uint8_t *at = bytes;
  while (count > 0 && out->result == OOZE_OK) {
    if (out->used == 0 && count >= OZ_BLOCK) {
      const size_t part = count - count % OZ_BLOCK; /* all whole blocks at once */
      block(out, at, part);
      at += part;
      count -= part;
      continue;
    }
    size_t part = OZ_BLOCK - out->used < count ? OZ_BLOCK - out->used : count;
    memcpy(out->buffer + out->used, at, part);
    out->used += part;
    at += part;
    count -= part;
    if (out->used == OZ_BLOCK) oz_out_flush(out);
  }
}

void oz_out_lend(oz_out *out, const void *bytes, size_t count) {
  if (!out->lend || count < OZ_BLOCK / 16) {
    oz_out_put(out, bytes, count);
    return;
  }
  oz_out_flush(out);
  if (out->result == OOZE_OK) out->result = out->lend(out, bytes, count);
}

void oz_out_give(oz_out *out, void *memory) {
  void **more = memory ? realloc(out->given, (out->given_count + 1) * sizeof *more) : NULL;
  if (!memory) return;
  if (more) {
    out->given = more;
    out->given[out->given_count++] = memory;
    return;
  }
  if (out->result == OOZE_OK) out->result = oz_fail(out->why, OOZE_ERROR_MEMORY, "out of memory");
  free(memory); /* nothing is read behind a failure */
}

void oz_out_text(oz_out *out, const char *format, ...) {
  char text[1024];
  va_list list;
  va_start(list, format);
  int length = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (length < 0 || length >= (int)sizeof text) {
    if (out->result == OOZE_OK)
      out->result = oz_fail(out->why, OOZE_ERROR_LIMIT, "a line of text is too long to write");
    return;
  }
  oz_out_put(out, text, (size_t)length);
}

ooze_result oz_out_close(oz_out *out, uint32_t sync) {
  oz_out_flush(out);
  if (out->packer) {
    if (out->result == OOZE_OK) oz_scf_finish(out);
    oz_scf_drop(out);
  }
  for (size_t k = 0; k < out->given_count; k++) free(out->given[k]);
  free(out->given);
  free(out->buffer);
  out->buffer = NULL;
  if (out->result != OOZE_OK)
    ooze_file_discard(out->file);
  else
    out->result = oz_file_commit(out->file, sync, out->ready, out->user, out->why);
  out->file = NULL;
  return out->result;
}
