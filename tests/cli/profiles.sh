#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# profiles.sh OOZE SCENE JSON_VALID: where the time of a run goes, by `bench --scene` and by
# `run --profile`.
ooze=$1 scene=$2 json_valid=$3 bad=0
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
fail() { echo "FAILED: $*"; bad=1; }
number() { sed -n "s/.*\"$1\": *\([0-9.e-]*\).*/\1/p" bench.json; }

"$ooze" bench --scene "$scene" -f 4 -o bench --json >bench.json || fail 'bench --scene'
"$json_valid" <bench.json >/dev/null 2>&1 || "$json_valid" bench.json || fail "$(cat bench.json)"
for key in scene wedge particles frames substeps last_substeps files first_frame_seconds \
  seconds_per_frame step_seconds_per_frame fill_seconds step_seconds capture_seconds \
  wait_seconds write_seconds checkpoint_seconds seconds state_hash; do
  grep -q "\"$key\":" bench.json || fail "bench --scene lacks $key"
done
[ "$(number frames)" = 4 ] && [ "$(number files)" = 4 ] || fail "frames, files: $(cat bench.json)"
# three frames are stepped, within the whole
echo "$(number step_seconds_per_frame) $(number step_seconds) $(number seconds)" |
  awk '{ off = 3 * $1 / $2 - 1; exit !($1 > 0 && off * off < 0.01 && $2 < $3) }' ||
  fail "times: $(cat bench.json)"
"$ooze" bench --scene "$scene" -f 3 -o table >out || fail 'bench --scene, a table'
for words in '216 particles, 3 frames, 3 files' 'of which simulation' 'ms a substep' 'state '; do
  grep -q "$words" out || fail "the table lacks '$words': $(cat out)"
done

"$ooze" run "$scene" -o run --quiet --set 'output.frames=[1,4]' --profile >out || fail '--profile'
for words in 'density .* s .*%' 'all stages .*of which bodies'; do
  grep -q "$words" out || fail "--profile lacks '$words': $(cat out)"
done
# slowest first, and the shares are of one whole
awk '$3 == "s" && $4 ~ /%/ { if (NR > 1 && $2 > last) bad = 1; last = $2; sum += $4 }
  END { exit bad || sum < 98 || sum > 102 }' out || fail "stages: $(cat out)"
exit $bad
