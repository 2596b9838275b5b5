/* How far one word is from another. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_BASE_EDITS_H
#define OZ_BASE_EDITS_H

#include <stddef.h>

/* Edit distance in which swapping two neighbours counts as one change. Words longer than 40
 * characters are never near. */
size_t oz_edits(const char *a, const char *b);

#endif
