#!/bin/sh
# subjects.sh SOURCE: ./dev lint refuses a commit subject above 72 characters, and takes one of 72.
# SPDX-License-Identifier: Apache-2.0
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/tests/docs" && cp "$1/dev" "$folder" &&
  cp "$1/tests/docs/spdx.py" "$folder/tests/docs" && cd "$folder" || exit 1
: >tests/docs/house.py # its bars are for the whole tree
unset OOZE_LINT_BASE
git init -q -b work . || exit 1
commit() { git -c user.name=t -c user.email=t@t commit -q --allow-empty -m "$1"; }
commit 'Begin' || exit 1
commit 'Say in seventy-two characters, which is the most, what this one changes.' || exit 1
sh ./dev lint --format >out 2>&1 || { echo "FAILED: 72 characters were refused"; cat out; exit 1; }
commit 'Say in seventy-three characters, one more than the most, what one changes' || exit 1
if sh ./dev lint --format >out 2>&1; then echo "FAILED: 73 characters were taken"; exit 1; fi
grep -q 'a subject of 73 characters; expected 72 at most' out || {
  echo "FAILED: it said:"
  cat out
  exit 1
}
