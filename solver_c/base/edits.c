/* SPDX-License-Identifier: Apache-2.0 */
#include "edits.h"

#include <string.h>

size_t oz_edits(const char *a, const char *b) {
  enum { LONGEST = 40 };
  size_t table[LONGEST + 1][LONGEST + 1];
  size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST) return LONGEST;
  for (size_t i = 0; i <= n; ++i) table[i][0] = i;
  for (size_t j = 0; j <= m; ++j) table[0][j] = j;
  for (size_t i = 1; i <= n; ++i)
    for (size_t j = 1; j <= m; ++j) {
      size_t best = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (table[i - 1][j] + 1 < best) best = table[i - 1][j] + 1;
      if (table[i][j - 1] + 1 < best) best = table[i][j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          table[i - 2][j - 2] + 1 < best)
        best = table[i - 2][j - 2] + 1;
      table[i][j] = best;
    }
  return table[n][m];
}
