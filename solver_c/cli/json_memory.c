/* Memory for Jansson that outlasts a failed allocation. SPDX-License-Identifier: Apache-2.0
 *
 * Jansson's lexer goes on where the text of a token cannot grow: it loses a letter and then writes
 * past the end of the string that it makes of the rest (lex_scan_string of 2.14 and before). Such a
 * text doubles from 16 bytes on, so that powers of two are kept in reserve: a token grows once to
 * each of them. Other sizes are not: their lack is looked at by Jansson and ends the reading. */
#include "json_memory.h"

#ifdef OOZE_HAVE_SCENE
#include <jansson.h>
#include <stdatomic.h>
#include <stdint.h>

/* Tokens of up to 128 KiB, several readers at a time. Pages of it exist once they are written. */
enum { SMALLEST = 32, ORDERS = 13, SLOTS = 4 };
static _Alignas(64) unsigned char reserve[SLOTS * SMALLEST * ((1 << ORDERS) - 1)];
static atomic_int taken[ORDERS][SLOTS];
static void *(*take_memory)(size_t);
static void (*give_memory)(void *);

/* Slots of one size follow those of all smaller ones. */
static size_t begin_of(int order) { return (size_t)SLOTS * SMALLEST * (((size_t)1 << order) - 1); }
static size_t size_of(int order) { return (size_t)SMALLEST << order; }

static void *take(size_t bytes) {
  void *memory = take_memory(bytes);
  for (int order = 0; !memory && order < ORDERS; order++)
    for (int k = 0; size_of(order) == bytes && k < SLOTS; k++)
      if (!atomic_exchange(&taken[order][k], 1))
        return reserve + begin_of(order) + (size_t)k * bytes;
  return memory;
}

static void give(void *memory) {
  const uintptr_t at = (uintptr_t)memory - (uintptr_t)reserve;
  if (at >= sizeof reserve) {
    give_memory(memory);
    return;
  }
  int order = 0;
  while (at >= begin_of(order + 1)) order++;
  atomic_store(&taken[order][(at - begin_of(order)) / size_of(order)], 0);
}

void cli_json_memory(void *(*take_from)(size_t), void (*give_to)(void *)) {
  take_memory = take_from;
  give_memory = give_to;
  json_set_alloc_funcs(take, give);
}
#else
void cli_json_memory(void *(*take_from)(size_t), void (*give_to)(void *)) {
  (void)take_from;
  (void)give_to;
}
#endif
