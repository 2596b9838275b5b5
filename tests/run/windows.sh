#!/bin/sh
# windows.sh OOZE: a program for Windows, run by Wine: folders are locked and damage is mended as
# elsewhere; names of the system's own kind work. SPDX-License-Identifier: Apache-2.0
ooze=$1
# shellcheck source=/dev/null
. "$(dirname "$0")/begin.sh"
hash_of() { sed -n 's/.*"state_hash":"\([0-9a-f]*\)".*/\1/p' "$1"; }
"$ooze" run "$small" -o whole --quiet --json >whole.json || fail 'no run'

# one run a folder, and no longer than it lives
"$ooze" run "$small" -o one --quiet --set output.frames=[1,3000] >/dev/null 2>&1 &
process=$!
until [ -s one/points/small.0003.bgeo.sc ] || [ $((tries = ${tries:-0} + 1)) -gt 300 ]; do
  sleep 0.1
done
expect 2 'another run' "$ooze" run "$small" -o one --quiet
kill -KILL $process
wait $process 2>/dev/null
expect 0 state_hash "$ooze" run "$small" -o one --quiet --json

# damage is found and mended
printf x | dd of=whole/points/small.0007.bgeo.sc bs=1 seek=100 conv=notrunc 2>/dev/null
expect 0 'small.0007.bgeo.sc' "$ooze" run "$small" -o whole --resume
for name in one/points/*; do
  cmp "$name" "whole/points/$(basename "$name")" || fail "$name differs"
done

# slashes of both kinds, names beyond ASCII, folders that are not there yet
expect 0 particles "$ooze" run "$small" -o 'new\deeper\Öl 油' --set output.frames=2
[ -f 'new/deeper/Öl 油/points/small.0002.bgeo.sc' ] ||
  fail "no file in a folder beyond ASCII: $(find new)"
expect 0 'attribute' "$ooze" info 'new\deeper\Öl 油\points\small.0002.bgeo.sc'
expect 0 points "$ooze" convert whole/points/small.0002.bgeo.sc s.geo
# lines end as in C, whatever the system's texts do
if grep -q "$(printf '\r')" s.geo whole/scene.json; then
  fail 'files have the line ends of texts'
fi
exit $failed
