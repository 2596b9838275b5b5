#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill.sh OOZE COUNT [SCENE]: kills `ooze run` COUNT times at random moments (half SIGKILL, half
# SIGTERM) and resumes it each time. Every run must end with the state and with every point file of
# a run that was never killed, byte for byte.
ooze=$1 wanted=$2
scene=${3:-$(dirname "$0")/small.json}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

hash_of() { sed -n 's/.*"state_hash":"\([0-9a-f]*\)".*/\1/p' "$1"; }

began=$(date +%s%N)
"$ooze" run "$scene" -o "$folder/whole" --quiet --json >"$folder/whole.json" || exit 1
took=$((($(date +%s%N) - began) / 1000000)) # ms
expected=$(hash_of "$folder/whole.json")
[ -n "$expected" ] || { echo "no state_hash"; exit 1; }
names=$(ls "$folder/whole/points")

seed=${OOZE_KILL_SEED:-$$}
random() { # random MOST: 0 to MOST - 1, by a small generator, so that a failure can be run again
  seed=$(((seed * 1103515245 + 12345) % 2147483648))
  echo $((seed / 65536 % $1))
}

kills=0 runs=0 stops=0 used=$seed
while [ "$kills" -lt "$wanted" ]; do
  rm -rf "$folder/broken"
  resume= done=0 tries=0
  while [ $done = 0 ]; do
    tries=$((tries + 1))
    [ $tries -lt 2000 ] || { echo "a run did not get on"; exit 1; }
    # without --json a stop does not wait for the substep
    if [ $(((kills + tries) % 2)) = 0 ]; then json=; else json=--json; fi
    # shellcheck disable=SC2086
    "$ooze" run "$scene" -o "$folder/broken" --quiet $json $resume \
      >"$folder/broken.json" 2>"$folder/broken.err" &
    process=$!
    if [ "$kills" -lt "$wanted" ]; then
      sleep "$(awk "BEGIN { print $(random $((took + took / 3))) / 1000 }")"
      random 2 >"$folder/coin"
      if [ "$(cat "$folder/coin")" = 0 ]; then signal=KILL; else signal=TERM; fi
      kill -s $signal $process 2>/dev/null && kills=$((kills + 1))
    fi
    wait $process 2>/dev/null
    code=$?
    resume=--resume
    case $code in
      0) done=1 ;;
      75) stops=$((stops + 1)) ;;
      137 | 143) ;; # killed; TERM may come before the program listens
      *) echo "ended with $code:"; cat "$folder/broken.err"; exit 1 ;;
    esac
  done
  runs=$((runs + 1))
  [ -n "$json" ] || "$ooze" run "$scene" -o "$folder/broken" --quiet --json --resume \
    >"$folder/broken.json" 2>"$folder/broken.err" || exit 1
  found=$(hash_of "$folder/broken.json")
  [ "$found" = "$expected" ] || {
    echo "state $found after kills, $expected without (OOZE_KILL_SEED=$used)"
    exit 1
  }
  for name in $names; do
    cmp "$folder/whole/points/$name" "$folder/broken/points/$name" || {
      echo "OOZE_KILL_SEED=$used"
      exit 1
    }
  done
  left=$(find "$folder/broken" -name '.*tmp*' | wc -l)
  [ "$left" = 0 ] || { echo "$left temporary files are left after a whole run"; exit 1; }
done
echo "$kills kills, $stops clean stops, $runs runs, each with state $expected and the same files"
