/* Memory for Jansson that outlasts a failed allocation. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_CLI_JSON_MEMORY_H
#define OOZE_CLI_JSON_MEMORY_H

#include <stddef.h>

/* Jansson takes its memory from here on; a program calls it first of all, a library never: Jansson
 * has one allocator for the whole process. `take` and `give` are malloc and free but in tests. */
void cli_json_memory(void *(*take)(size_t bytes), void (*give)(void *memory));

#endif
