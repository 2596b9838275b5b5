/* SPDX-License-Identifier: Apache-2.0 */
#include "core/bytes.h"

#include <string.h>

void oz_bytes_take(oz_bytes *b, void *out, size_t bytes) {
  if (b->bad || bytes > b->left) {
    b->bad = 1;
    memset(out, 0, bytes);
    return;
  }
  memcpy(out, b->at, bytes);
  b->at += bytes;
  b->left -= bytes;
}

unsigned char *oz_bytes_put(unsigned char *at, const void *in, size_t bytes) {
  memcpy(at, in, bytes);
  return at + bytes;
}

ooze_result oz_saved_head_take(oz_bytes *from, uint32_t magic, uint32_t oldest, uint32_t newest,
                               size_t most, const char *things, oz_saved_head *head,
                               ooze_message *why) {
  oz_bytes_take(from, head, sizeof *head);
  if (from->bad || head->magic != magic || head->version < oldest || head->version > newest ||
      head->count > most)
    return oz_fail(why, OOZE_ERROR_FORMAT, "checkpoint: this is no list of %s of version %u",
                   things, (unsigned)newest);
  return OOZE_OK;
}

ooze_result oz_saved_handle(uint32_t handle, const oz_saved_head *head, uint32_t *last,
                            const char *label, ooze_message *why) {
  const uint32_t before = *last, next = head->next_handle;
  if (handle <= before || (next && handle >= next))
    return oz_fail(why, OOZE_ERROR_FORMAT, "%s follows %u and the next is %u: handles must rise",
                   label, (unsigned)before, (unsigned)next);
  *last = handle;
  return OOZE_OK;
}
