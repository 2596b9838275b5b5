#!/bin/sh
# cook_hbatch.sh HIP ROP SOLVER FILE FIRST LAST: renders a geometry ROP with hbatch, for farms that
# have no hython.
#   cook_hbatch.sh honey.hip /obj/honey/farm /obj/honey/sim '/shared/honey/sim.$F4.bgeo.sc' 1 240
# FILE is where that ROP writes. A file that is there already is taken as done: the Ooze Solver goes
# on from it. A ROP writes in place, so a task that was killed may have left half a file: the newest
# is only trusted if `ooze info` can read it (OOZE names the program); without the program the one
# before it is taken. hbatch's own exit code tells little: this one is 0 if every file is there at
# the end, 1 for usage, 3 if not. SPDX-License-Identifier: Apache-2.0
set -u
[ $# -eq 6 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 1; }
hip=$1 rop=$2 solver=$3 file=$4 first=$5 last=$6
ooze=${OOZE:-ooze}
hbatch=${HBATCH:-hbatch}

name() { # name FRAME: the file of a frame
  n=$1
  for width in 1 2 3 4 5 6 7 8 9; do
    n=$(printf "%0${width}d" "$1")
    case $file in *"\$F$width"*) printf '%s\n' "$file" | sed "s|\\\$F$width|$n|" && return ;; esac
  done
  printf '%s\n' "$file" | sed "s|\\\$F|$1|"
}

frame=$last
while [ "$frame" -ge "$first" ] && [ ! -s "$(name "$frame")" ]; do frame=$((frame - 1)); done
if [ "$frame" -ge "$first" ]; then
  if command -v "$ooze" >/dev/null 2>&1; then
    while [ "$frame" -ge "$first" ] && ! "$ooze" info "$(name "$frame")" >/dev/null 2>&1; do
      echo "[ooze] $(name "$frame") cannot be read: going on from an earlier frame"
      frame=$((frame - 1))
    done
  elif [ "$frame" -lt "$last" ]; then
    frame=$((frame - 1))
  fi
fi

printf '%s, %s, %s, %s\n' "[ooze] cook_hbatch: $(command -v "$hbatch" || echo "$hbatch")" \
  "Ooze ${OOZE_VERSION:-of this package unknown}" "$(hostname)" \
  "device ${OOZE_DEVICE:-as the node says}"
export OOZE_FARM=1 # the plug-in adds a line with its build and the device that it really runs on
parent=${solver%/*}
{
  if [ "$frame" -ge "$first" ]; then
    echo "opcf $parent"
    echo "opadd -n file ooze_resume"
    echo "opparm ooze_resume file ( \"$(name "$frame")\" )"
    echo "opwire -n ooze_resume -2 ${solver##*/}"
    echo "opparm $solver startframe ( $frame )"
  fi
  if [ "$frame" -lt "$last" ]; then
    next=$((frame + 1))
    [ "$next" -ge "$first" ] || next=$first
    echo "opparm $rop alfprogress ( 1 )"
    echo "render -V -f $next $last $rop"
  fi
  echo "quit"
} | if [ "$frame" -lt "$last" ]; then "$hbatch" -R "$hip"; else cat >/dev/null; fi

frame=$first
while [ "$frame" -le "$last" ]; do
  [ -s "$(name "$frame")" ] || {
    echo "[ooze] Error: frame $frame is missing: $(name "$frame")"
    exit 3
  }
  frame=$((frame + 1))
done
echo "[ooze] frames $first-$last are done"
