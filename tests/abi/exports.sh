#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exports.sh HEADER LIBRARY NM: the library exports the functions marked OOZE_API in the header and
# its parts, and nothing else.
library=$2 nm=${3:-nm}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
header=$folder/whole.h
cp "$1" "$header" || exit 1
for part in $(sed -n 's,^#include "ooze/\(.*\)"$,\1,p' "$1"); do
  cat "$(dirname "$1")/$part" >>"$header" || exit 1
done

# Declarations may span lines: comments and directives out, one declaration a line, then the name
# before the first "(".
sed -e 's,/\*[^*]*\*/,,g' "$header" | grep -v '^#' | tr '\n' ' ' | tr ';{}' '\n\n\n' |
  sed -n 's/.*OOZE_API[^(]*[ *]\(ooze_[a-z0-9_]*\)(.*/\1/p' | sort >"$folder/declared"
"$nm" -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | sort >"$folder/exported"

marks=$(grep -c '^OOZE_API' "$header")
declared=$(wc -l <"$folder/declared")
if [ "$marks" -ne "$declared" ]; then
  echo "the header has $marks OOZE_API lines but $declared names were found in it:" \
    "this script misreads it"
  exit 1
fi
if ! diff "$folder/declared" "$folder/exported" >"$folder/difference"; then
  echo "'<': declared in the header but not exported; '>': exported but not declared"
  cat "$folder/difference"
  exit 1
fi
echo "$declared functions, declared and exported"
