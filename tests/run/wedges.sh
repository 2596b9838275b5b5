#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wedges.sh OOZE SOURCE: the examples' Table 1 wedges have the paper's particles within 15%, its
# steps and its iterations.
ooze=$1 source=$2 failed=0
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
get() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" "$out"; }
table1() { # table1 SCENE PARTICLES STEPS ITERATIONS, as the paper's Table 1 has them
  "$ooze" info "$source/examples/scenes/$1.json" --wedge table1 --json >"$out" 2>&1
  found=$(($(get particles_filled) + $(get particles_emitted)))
  if [ $found -lt $(($2 * 85 / 100)) ] || [ $found -gt $(($2 * 115 / 100)) ] ||
    [ "$(get substeps)" != "$3" ] ||
    [ $(($(get velocity_iterations) + $(get position_iterations))) != "$4" ]; then
    echo "FAILED: $1 --wedge table1: $found particles, $(get substeps) steps;" \
      "expected $2, $3, $4 iterations"
    failed=1
  fi
}
table1 blocks 10000 8 20
table1 coiling 89000 8 40
table1 ice_cream 15000 3 8
table1 bowl 15000 3 8
table1 waffle 80000 10 40
table1 honey 105000 10 10
exit $failed
