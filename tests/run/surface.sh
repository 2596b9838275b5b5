#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# surface.sh OOZE: the channels of surfaces of a run, format by format.
ooze=$1
# shellcheck source=/dev/null
. "$(dirname "$0")/begin.sh"
"$ooze" run "$small" -o run --quiet --set 'output.frames=[1,3]' --set solver.rest_period=0.3 ||
  fail 'no run'
# into a folder that is not there, as its help has it; every channel, in every format
for ending in ply bgeo bgeo.sc geo vdb; do
  expect 0 "new/$ending/slime.0002.$ending" "$ooze" surface run -o "new/$ending/slime.$ending"
  [ -s "new/$ending/slime.0003.$ending" ] || fail "no new/$ending/slime.0003.$ending"
  "$ooze" info "new/$ending/slime.0003.$ending" >said
  for word in Cd rest rest2 age material weight_goo weight_thin v; do
    grep -qw "$word" said || fail "$ending: no $word: $(cat said)"
  done
  grep -qw temperature said && fail "$ending: a temperature that no material conducts"
  [ "$ending" = vdb ] && continue
  for word in 'frame *3' 'time *0.0666' 'restblend *0.'; do
    grep -q "$word" said || fail "$ending: no $word: $(cat said)"
  done
done
expect 0 'triangles' "$ooze" info new/ply/slime.0003.ply
expect 0 'o.obj' "$ooze" surface run/points/small.0003.bgeo.sc -o o.obj
expect 0 'triangles' "$ooze" info o.obj
# asked for, left out
expect 0 'all.ply' "$ooze" surface run/points/small.0003.bgeo.sc -o all.ply --temperature \
  --strainrate
expect 0 'strainrate' "$ooze" info all.ply
expect 0 'temperature' "$ooze" info all.ply
expect 0 'plain.ply' "$ooze" surface run/points/small.0003.bgeo.sc -o plain.ply --plain
"$ooze" info plain.ply | grep -qw 'Cd\|rest\|restblend\|weight_goo' && fail 'plain has channels'

# temperature by the scene beside the points, as for the meshes of the run itself
"$ooze" run "$small" -o hot --quiet --set 'output.frames=[1,2]' --set output.mesh=ply \
  --set materials.goo.conductivity=0.5 || fail 'no run'
expect 0 'temperature' "$ooze" info hot/mesh/small.0002.ply
expect 0 'hot.ply' "$ooze" surface hot/points/small.0002.bgeo.sc -o hot.ply
expect 0 'temperature' "$ooze" info hot.ply
exit $failed
