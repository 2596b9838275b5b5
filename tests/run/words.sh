#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# words.sh OOZE SOURCE: exit codes, outputs and refusals of run, info, convert and render.
ooze=$1 source=$2
# shellcheck source=/dev/null
. "$(dirname "$0")/begin.sh"
short="--set output.frames=[1,4] --quiet"

# shellcheck disable=SC2086
expect 0 '"frames":4' "$ooze" run "$small" -o a $short --json
expect 0 'P ' "$ooze" info a/points/small.0004.bgeo.sc
expect 0 'checkpoint' "$ooze" info a/checkpoints/small.0004.ozc
expect 0 'particles   216' "$ooze" info "$small"
expect 0 '1 fluid, 0 bodies, 1 emitter, 2 colliders' "$ooze" info "$small"
expect 0 '3 a frame of 1/180 s' "$ooze" info "$small" --set solver.time_scale=0.5
expect 0 '"particles_filled":216' "$ooze" info "$small" --json
expect 0 'about 100 more from 1 emitter' "$ooze" info "$small" --set emitters.tap.max_particles=100
expect 0 'points' "$ooze" convert a/points/small.0004.bgeo.sc b.ply
expect 0 'points' "$ooze" convert b.ply c.geo
expect 0 'points' "$ooze" convert c.geo d.bgeo.sc
cmp d.bgeo.sc a/points/small.0004.bgeo.sc >/dev/null || "$ooze" info d.bgeo.sc >/dev/null ||
  failed=1
expect 2 'No such file' "$ooze" convert nothing.ply e.ply
# the extension of a finished run, and one that changed
expect 0 '"last_frame":6' \
  "$ooze" run "$small" -o a --set 'output.frames=[1,6]' --quiet --json --resume
expect 2 'materials.thin.viscosity: 1 -> 2' "$ooze" run "$small" -o a \
  --set 'output.frames=[1,8]' --set materials.thin.viscosity=2 --resume
for accept in '' --accept-changes; do
  # shellcheck disable=SC2086
  expect 2 'which --accept-changes cannot change' "$ooze" run "$small" -o a \
    --set solver.particle_separation=0.02 --resume $accept
done
expect 0 '"last_frame":8' "$ooze" run "$small" -o a \
  --set 'output.frames=[1,8]' --set materials.thin.viscosity=2 --resume --accept-changes --json
# the same scene with two models: a row each, the picture, and a model that there is not
expect 0 '"stable_step"' \
  "$ooze" compare "$small" --models blend,springs -o both --frames 3 --no-stable-step --json
[ -s both/compare.png ] || { echo 'FAILED: no compare.png'; failed=1; }
expect 2 'expected one of conformation' \
  "$ooze" compare "$small" --models mud -o both --frames 3 --no-stable-step
# frames that are not there, and texts that are no range
expect 2 'render: of frames 1 to 8 none is from 90 to 95 in steps of 1' \
  "$ooze" render a --frames 90-95 -o nothing.png
expect 2 'surface: of frames 1 to 8 none is from 1 to 8 in steps of 20' \
  "$ooze" surface a --every 20 -o nothing.ply
expect 1 '--voxel: 1e-09 m is out of range; expected 1.5e-05 m or more' \
  "$ooze" surface a --voxel 1e-9 -o nothing.ply
for range in 3x 3- 3-4x 4-3; do
  expect 1 "--frames: '$range' is no range" "$ooze" render a --frames $range -o nothing.png
done
# frames of an earlier run behind the last of this one stay, and are told
expect 0 '"last_frame":6' "$ooze" run "$small" -o again --frames 1-6 --quiet --json
expect 0 'warning: frames 3 to 6 of an earlier run stay in again' \
  "$ooze" run "$small" -o again --frames 1-2 --quiet
[ -e again/points/small.0006.bgeo.sc ] || fail 'a frame of an earlier run is gone'
"$ooze" run "$small" -o again --frames 1-8 --quiet --resume >out 2>&1
grep -q 'earlier run' out && fail 'a run that goes on told of its own frames'
# a slip of the unit, a fluid half inside a wall, a number without its first digit
expect 0 'solver.particle_separation: 5 m makes particles of that size (was it in mm?' \
  "$ooze" info "$small" --set solver.particle_separation=5 --set emitters.tap.radius=12 \
  --set 'fluids.block.size=[60,60,60]'
cat >half.json <<'END'
{"fluids": {"f": {"material": "honey", "shape": "box", "size": [0.1, 0.1, 0.1]}},
 "solver": {"particle_separation": 0.01},
 "colliders": {"p": {"shape": "plane"}}, "output": {"frames": [1, 1]}}
END
expect 0 'fluids.f: 500 of 1000 particles are left out, since they begin inside colliders' \
  "$ooze" run half.json -o half --quiet
expect 2 'is a text, since a number needs a digit before its point' \
  "$ooze" info "$small" --set solver.particle_separation=.0002
# no frame and no number dropped without a word
expect 0 'render: --frames 0-2: there are frames 1 to 8' \
  "$ooze" render a --frames 0-2 -o few.png --size 64x36 --spheres
expect 0 '--frames 0-2: the scene begins with frame 1' "$ooze" run "$small" -o zero --frames 0-2
expect 2 'a range of 0 to 1 is of no use where colours show materials' \
  "$ooze" render a --frames 8 -o range.png --size 64x36 --spheres --range 0,1
# one camera for all pictures of a command, other than that of a frame alone; bounds of the scene
# count for both
for bounds in '' '"picture": {"bounds": [-0.2, 0, -0.2, 0.2, 0.3, 0.2]},'; do
  rm -rf moves && mkdir moves && cp -r a/points moves
  sed "2s/^/$bounds/" "$small" >moves/scene.json
  tiny='--size 64x36 --samples 1 --spheres --quiet'
  # shellcheck disable=SC2086
  "$ooze" render moves --frames 1 -o alone.png $tiny && "$ooze" render moves -o all.png $tiny ||
    fail 'no pictures'
  cmp -s alone.png all.0001.png
  same=$?
  [ -n "$bounds" ] && [ $same != 0 ] && fail 'a scene with bounds has another camera in a film'
  [ -z "$bounds" ] && [ $same = 0 ] && fail 'each frame of a film has a camera of its own'
done
# refusals: one line each, with file, line, key, value and the range
expect 1 'which scene' "$ooze" run
expect 2 'small.json' "$ooze" run "$here/no/small.json"
sed 's/"viscosity": {/"viscocity": {/' "$small" >typo_small.json
expect 2 "small.json:5: materials.goo.viscocity: there is no such key; did you mean viscosity?" \
  "$ooze" run typo_small.json
refusal='solver.substeps: -1 is out of range; expected a whole number from 0 to 1000'
expect 2 "--set solver.substeps=-1: $refusal" "$ooze" run "$small" --set solver.substeps=-1
expect 1 'no range' "$ooze" run "$small" --frames x
expect 2 'no wedge table' "$ooze" run "$small" --wedge 3
# a refusal leaves nothing behind: neither folders nor files, and an old run keeps its checkpoints
mkdir clean && cd clean || exit 1
expect 2 'not in this build' \
  "$ooze" run "$small" --backend cuda --device 0 -o new/deeper 2>/dev/null
[ -e new ] && grep -q 'cuda' out && {
  echo 'FAILED: a run that was refused left folders'
  failed=1
}
expect 2 'memory allowed' "$ooze" run "$small" -o new --max-memory 0.0001
expect 2 'new/a.png: cannot create' "$ooze" render nothing.bgeo.sc -o new/a.png
expect 2 'cannot open' "$ooze" render nothing.bgeo.sc -o new.png
expect 2 'cannot open' "$ooze" render nothing.bgeo.sc -o new.mp4
expect 2 'nothing.json' "$ooze" compare nothing.json -o new
expect 2 'is not among the choices' "$ooze" compare "$small" --models mud -o new --frames 2
[ "$(ls -A)" = out ] || { echo "FAILED: what was refused left $(ls -A)"; failed=1; }
mkdir taken && : >taken/points
expect 2 'taken/points: a file is where a folder is to be' "$ooze" run "$small" -o taken --quiet
expect 2 'taken/points: a file is where a folder is to be' \
  "$ooze" run "$small" -o taken/points/new --quiet
if [ -d /sys/kernel ]; then # which takes no folders, from root neither: the first part is told
  expect 2 '/sys/ooze: cannot make the folder' "$ooze" run "$small" -o /sys/ooze/deeper --quiet
fi
[ "$(ls -A taken)" = points ] || { echo "FAILED: what was refused left $(ls -A taken)"; failed=1; }
cp -r ../a old && sum=$(cat old/checkpoints/* | cksum)
expect 2 'memory allowed' "$ooze" run "$small" -o old --max-memory 0.0001
[ "$(cat old/checkpoints/* | cksum)" = "$sum" ] || {
  echo 'FAILED: a run that was refused removed the checkpoints before it'
  failed=1
}
cd .. || exit 1
# farm and PDG lines
"$ooze" run "$small" -o f --set 'output.frames=[1,5]' --farm --output-lines >out 2>&1
grep -q '^ALF_PROGRESS [0-9]*%$' out || { echo "no ALF_PROGRESS line"; failed=1; }
percents=$(sed -n 's/^ALF_PROGRESS \([0-9]*\)%$/\1/p' out)
[ "$percents" = "$(echo "$percents" | sort -n)" ] || fail "the progress goes back:" $percents
grep -q '^OUTPUT_FILE:f/points/small.0005.bgeo.sc;$' out || {
  echo "no OUTPUT_FILE line"
  failed=1
}
# an object a line for programs: every line is JSON, and run, render and surface count alike
"$ooze" run "$small" -o j --set 'output.frames=[1,3]' --progress json >lines 2>/dev/null ||
  fail "no run: $(cat lines)"
"$ooze" render j -o j.png --size 64x36 --spheres --samples 1 --progress json >rendered ||
  fail 'no pictures'
"$ooze" surface j -o j.ply --progress json >surfaced || fail 'no surfaces'
for file in lines rendered surfaced; do
  grep -qv '^{"event":.*}$' $file && fail "$file has lines that are no objects: $(cat $file)"
  for k in 1 2 3; do
    grep -q "^{\"event\":\"frame\",\"frame\":$k,.*\"done\":$k,\"all\":3[,}]" $file ||
      fail "$file: frame $k is not $k of 3: $(cat $file)"
  done
done
for key in first last fraction particles substeps frame_seconds seconds left; do
  grep '"event":"frame"' lines | grep -qv "\"$key\":" && fail "a frame of run lacks $key"
done
for key in seconds left file; do
  cat rendered surfaced | grep -qv "\"$key\":" && fail "render or surface lacks $key"
done
grep -q '"event":"file","path":"j/points/small.0003.bgeo.sc"' lines || fail 'no file is told'
tail -1 lines | grep -q '"event":"done","folder":"j"' || fail "the last line is $(tail -1 lines)"
# the log goes on behind the one before, with messages from before the folder
expect 0 'no whole checkpoint' "$ooze" run "$small" -o log/new --set 'output.frames=[1,2]' --resume
expect 0 'log' "$ooze" run "$small" -o log/new --set 'output.frames=[1,3]' --resume
[ "$(grep -c '^ooze .*, scene ' log/new/ooze.log)" = 2 ] || fail "$(cat log/new/ooze.log)"
[ "$(grep -c '^$' log/new/ooze.log)" = 1 ] || fail "no empty line: $(cat log/new/ooze.log)"
for text in 'no whole checkpoint' 'frame 2/2' 'resuming at frame 2' 'frame 3/3' '  done'; do
  grep -q "^20.*Z  .*$text" log/new/ooze.log || grep -q "^20.*Z$text" log/new/ooze.log ||
    fail "the log lacks '$text': $(cat log/new/ooze.log)"
done
# a stop by signal at once
"$ooze" run "$small" -o s --quiet --set 'output.frames=[1,3000]' >out 2>&1 &
process=$!
sleep 1
kill -TERM $process
wait $process
code=$?
[ $code = 75 ] || { echo "SIGTERM: ended with $code, expected 75"; failed=1; }
[ -n "$(ls s/checkpoints 2>/dev/null)" ] || { echo "SIGTERM: no checkpoint"; failed=1; }
# the schema knows both lists; every example loads
for scene in "$source"/examples/scenes/*.json; do expect 0 'particles' "$ooze" info "$scene"; done
# a picture of a run and of a file
expect 0 'pic.png' "$ooze" render a/points/small.0004.bgeo.sc -o pic.png --size 160x90
expect 0 'speed' "$ooze" render a --frames 8 -o speed.png --size 160x90 --colour-by speed --spheres
# fluid behind a screen, which is told, and from the other side
screen='"screen": {"shape": "box", "size": [2, 2, 0.02], "position": [0, 0.5, 0.4]}'
sed "s|\"colliders\": {|&$screen,|" "$small" >screen.json
expect 0 'none of the fluid is seen' \
  "$ooze" render a --frames 8 --scene screen.json -o hidden.png --size 160x90
"$ooze" render a --frames 8 --scene screen.json -o seen.png --size 160x90 --azimuth 205 2>said
[ -s seen.png ] && [ ! -s said ] || fail "behind the screen: $(cat said)"
# a camera for each scene of a command
mkdir wide && cp -r a/points wide && cp screen.json wide/scene.json
two='points/small.0004.bgeo.sc points/small.0008.bgeo.sc'
tiny='--size 64x36 --samples 1 --spheres --quiet'
# shellcheck disable=SC2046,SC2086
"$ooze" render $(printf 'a/%s ' $two) -o two.png $tiny &&
  "$ooze" render $(printf 'wide/%s ' $two) $(printf 'a/%s ' $two) -o four.png $tiny 2>/dev/null
cmp two.0004.png four.0004.png || fail 'a scene has another camera beside another scene'
exit $failed
