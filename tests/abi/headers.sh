#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh INCLUDE_DIR CC [CXX]: every public header stands alone as C99, C11 and C++17 without a
# warning.
include=$1 cc=$2 cxx=$3 bad=0 count=0
strict="-pedantic -Wall -Wextra -Wshadow -Werror -fsyntax-only -I $include"
for header in "$include"/ooze/*.h; do
  for std in c99 c11; do
    count=$((count + 1))
    echo "#include \"$header\"" | "$cc" -x c -std=$std $strict - || {
      echo "$header does not compile as $std"
      bad=1
    }
  done
  [ -n "$cxx" ] || continue
  count=$((count + 1))
  echo "#include \"$header\"" | "$cxx" -x c++ -std=c++17 $strict - || {
    echo "$header does not compile as c++17"
    bad=1
  }
done
echo "$count compilations"
[ "$count" -gt 0 ] && exit $bad
exit 1
