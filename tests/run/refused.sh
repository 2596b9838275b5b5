#!/bin/sh
# refused.sh OOZE SOURCE: impossible scenes are refused at the start in the scene's own words;
# omissions are told; stops are obeyed within two seconds whatever is done.
# SPDX-License-Identifier: Apache-2.0
ooze=$1 source=$2
# shellcheck source=/dev/null
. "$(dirname "$0")/begin.sh"
block='"materials": {"m": {"viscosity": 5}}, "output": {"frames": [1, 3], "points": "ply"}'

# values that the schema allows
expect 2 'output.fps: 0.5 is out of range; expected a number from 1 to 100000' \
  "$ooze" run "$small" -o a --set output.fps=0.5
expect 2 'emitters.tap.rate: 1000 m^3/s through a mouth of ' \
  "$ooze" run "$small" -o a --set emitters.tap.rate=1e3
cat >ball.json <<END
{"solver": {"particle_separation": 0.05, "substeps": 1}, $block,
"fluids": {"a": {"material": "m", "shape": "box", "size": [0.2, 0.2, 0.2], "position": [0, 1, 0]}},
"colliders": {"q": {"shape": "sphere", "radius": 0.012, "boundary": "particles"}}}
END
expect 0 particles "$ooze" run ball.json -o ball
for shape in '"box", "size": [0.01, 0.02, 0.01]' '"capsule", "radius": 0.01, "height": 0.03' \
  '"cylinder", "radius": 0.01, "height": 0.01'; do
  expect 0 particles "$ooze" run ball.json -o ball \
    --set "colliders.q={\"shape\": $shape, \"boundary\": \"particles\"}"
done
cat >tiny.json <<END
{"solver": {"particle_separation": 1e-6, "substeps": 1}, $block,
"fluids": {"a": {"material": "m", "shape": "box", "size": [4e-6, 4e-6, 4e-6],
                 "position": [0, 0.1, 0]}}}
END
expect 0 '64 particles' "$ooze" run tiny.json -o tiny
expect 2 'fluid a: particles: position' \
  "$ooze" run tiny.json -o tiny --set 'fluids.a.position=[0,2,0]'
expect 2 'output.surface: has voxels of 5e-07 m; expected 1.5e-05 m or more' \
  "$ooze" run tiny.json -o tiny --set output.surface=vdb
# a sliver of two million kilometres
printf 'v 0 0 0\nv 2e9 0 0\nv 0 0.1 0\nf 1 2 3\n' >sliver.obj
expect 2 'collider c: a mesh of 1e+08 m^2 needs about 4e+10 points 0.05 m apart' \
  timeout 20 "$ooze" run ball.json -o sliver \
  --set 'colliders={"c":{"shape":"mesh","file":"sliver.obj","boundary":"particles","shell":true}}'
# meshes without an area or an inside
printf 'v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n' >line.obj
printf 'v 0 0 0\nv 0 0 1\nv 1 0 0\nf 1 2 3\n' >sheet.obj
for boundary in sdf particles; do
  expect 2 'colliders.c.file: line.obj: has no triangle with an area' \
    "$ooze" run ball.json -o line \
    --set "colliders={\"c\":{\"shape\":\"mesh\",\"file\":\"line.obj\",\"boundary\":\"$boundary\"}}"
done
flat='"material": "m", "shape": "mesh", "file": "sheet.obj"'
expect 2 'fluids.a: is flat: no particle fits in; expected a shape with an inside, or "emit": ' \
  "$ooze" run ball.json -o flat --set "fluids.a={$flat}"
expect 0 'particles' "$ooze" run ball.json -o flat \
  --set "fluids.a={$flat, \"emit\": \"surface\", \"speed\": 1, \"position\": [0, 1, 0]}"
# more copies than fit, before they are filled
for part in fluids bodies; do
  item='{"material": "m", "shape": "box", "size": [0.2, 0.2, 0.2], "step": [1, 1, 1]'
  expect 2 "$part.c.count: 2000 x 1000 x 1000 are 2e+09 copies; expected 1073741824 at most" \
    timeout 20 "$ooze" info ball.json --set "$part.c=$item, \"count\": [2000, 1000, 1000]}"
  for command in info 'run -o copies'; do
    # shellcheck disable=SC2086
    expect 2 "$part.c.count: 1000 x 1000 x 100 copies of 64 particles are more than the 107374182" \
      timeout 20 "$ooze" $command ball.json --set "$part.c=$item, \"count\": [1000, 1000, 100]}"
  done
done
# words of the command line
for frames in 99999999999-999999999999 5-3 1-2-3 x; do
  expect 1 'is no range of frames' "$ooze" run "$small" -o f --frames $frames
done
expect 2 'cannot write what was to be printed: No space left on device' \
  sh -c "'$ooze' info '$small' --json >/dev/full"
expect 2 'cannot write what was to be printed' \
  sh -c "'$ooze' run '$small' -o full --set output.frames=2 --quiet --json >/dev/full"
# wedge rows whose names a script could trip over
for name in 'a]b' 'a,b' 'a"b'; do
  python3 - "$name" <<'END' >wedge.json
import json, sys
names = (sys.argv[1], "two", "three")
rows = [{"name": n, "set": {"materials.m.viscosity": 1}} for n in names]
print(json.dumps(json.load(open("ball.json")) | {"wedge": rows}))
END
  mkdir -p bin && printf '#!/bin/sh\necho "$@"\n' >bin/sbatch && chmod +x bin/sbatch
  expect 0 'array=0-2 ' env PATH="$folder/bin:$PATH" OOZE="$ooze" \
    sh "$source/examples/farm/slurm/submit.sh" wedge.json rows
done
# conversions that lose something
"$ooze" run "$small" -o m --set output.frames=2 --set output.mesh=ply --quiet || fail 'no mesh'
expect 2 'has no polygons' "$ooze" convert m/points/small.0002.bgeo.sc x.obj
[ ! -e x.obj ] || fail 'an empty mesh was written'
expect 0 'polygons are left out; --mesh keeps them' "$ooze" convert m/mesh/small.0002.ply x.bgeo.sc
triangles=$("$ooze" info m/mesh/small.0002.ply --json | sed -n 's/.*"triangles":\([0-9]*\).*/\1/p')
[ "${triangles:-0}" -gt 0 ] || fail 'info sees no triangles in a mesh'
expect 0 triangles "$ooze" convert --mesh m/mesh/small.0002.ply x.obj
head -c "$(($(wc -c <x.obj) * 9 / 10))" x.obj | sed '$d' >cut.obj
expect 2 'it is truncated' "$ooze" info cut.obj
# a frame without particles has its files, empty, so that sequences have no holes
cat >tap.json <<END
{"solver": {"particle_separation": 0.02, "substeps": 1}, "materials": {"m": {"viscosity": 5}},
"output": {"frames": [1, 2]},
"emitters": {"e": {"material": "m", "radius": 0.06, "speed": 1, "position": [0, 0.5, 0]}}}
END
for ending in ply obj bgeo bgeo.sc; do
  "$ooze" run tap.json -o tap --quiet --set output.mesh=$ending --set output.surface=vdb ||
    fail "a run without particles at first"
  expect 0 "tap.0001.$ending" "$ooze" info "tap/mesh/tap.0001.$ending"
done
expect 0 '0 active' "$ooze" info tap/surface/tap.0001.vdb
# the schema names keys that scenes take
for group in emitter collider body; do
  "$ooze" schema $group | grep -E '^  (start|end|pose)\.' && fail "schema $group: names of C"
  expect 0 $group "$ooze" schema "$group"
done
expect 0 yield_stress "$ooze" schema presets
# a link inside the folder would lead out of it
mkdir -p l elsewhere && ln -s ../elsewhere l/points
expect 2 'l/points: is a link, and a run writes within its own folder' \
  "$ooze" run "$small" -o l --quiet
mkdir -p g && echo kept >mine && ln -s ../mine g/ooze.log
expect 2 'g/ooze.log: is a link, and a run writes within its own folder' \
  "$ooze" run "$small" -o g --quiet
[ "$(cat mine)" = kept ] || fail "a log was written through a link"
# the folder itself may be a link, to a folder that is there
mkdir -p real && ln -s real there && ln -s nowhere dead && ln -s loop loop
expect 0 '"frames"' "$ooze" run "$small" -o there --set 'output.frames=[1,2]' --quiet --json
[ -f real/points/small.0002.bgeo.sc ] || fail "nothing is where the link leads"
expect 2 'dead: is a link to a folder that is not there' "$ooze" run "$small" -o dead --quiet
expect 2 'loop: is a link to a folder that is not there' "$ooze" run "$small" -o loop/o --quiet
if command -v ffmpeg >/dev/null; then
  expect 0 'a:b.mp4' \
    "$ooze" render m/points/small.0002.bgeo.sc -o a:b.mp4 --size 64x64 --spheres
fi
# things that begin within each other, and walls that leak, are told of at the start
expect 0 'emitters.tap: begins inside collider floor: what it pours into the wall' \
  "$ooze" info "$small" \
  --set 'emitters.tap={"material":"thin","radius":0.02,"position":[0,-0.05,0]}'
expect 0 'emitters.tap: begins inside fluid block: its particles come where others are' \
  "$ooze" info "$small" \
  --set 'emitters.tap={"material":"thin","radius":0.02,"position":[0,0.08,0]}'
expect 0 'bodies.b: begins inside collider floor: the wall throws it out' "$ooze" info "$small" \
  --set 'bodies={"b":{"material":"goo","shape":"sphere","radius":0.05,"position":[0.5,0,0]}}'
expect 0 'particles' "$ooze" info "$small" \
  --set 'bodies={"b":{"material":"goo","shape":"sphere","radius":0.05,"position":[0.5,0.05,0]}}'
grep -q 'begins inside' out && fail "a body on the floor is told of: $(cat out)"
# plates of 0.6 and of 2 separations
for plate in thin:0.003 thick:0.01; do
  half=${plate#*:}
  for x in -0.1 0.1; do
    for y in -$half $half; do
      for z in -0.1 0.1; do echo "v $x $y $z"; done
    done
  done >"${plate%:*}.obj"
  for face in '1 2 4 3' '5 7 8 6' '1 5 6 2' '3 4 8 7' '1 3 7 5' '2 6 8 4'; do
    echo "f $face"
  done >>"${plate%:*}.obj"
done
expect 0 '% of its surface the wall is thinner than a particle_separation' "$ooze" info "$small" \
  --set "colliders={\"c\":{\"shape\":\"mesh\",\"file\":\"$folder/thin.obj\",\"position\":[0,1,0]}}"
expect 0 particles "$ooze" info "$small" \
  --set "colliders={\"c\":{\"shape\":\"mesh\",\"file\":\"$folder/thick.obj\",\"position\":[0,1,0]}}"
grep -q 'thinner than' out && fail "a wall of two separations is told of: $(cat out)"
expect 2 'particles that a solver holds' "$ooze" info "$small" \
  --set solver.particle_separation=0.00001 \
  --set 'fluids.blob={"material":"goo","shape":"box","size":[0.04,0.04,0.04]}'
printf 'v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 1 4 3 2\n' >open.obj
expect 0 'colliders.c: the mesh is open, and becomes a wall' "$ooze" info "$small" \
  --set "colliders={\"c\":{\"shape\":\"mesh\",\"file\":\"$folder/open.obj\",\"position\":[0,-1,0]}}"
ball='"material":"goo","shape":"sphere","radius":0.05'
expect 0 'bodies.b: overlaps bodies before it' "$ooze" run "$small" -o overlap -f 1 -q \
  --set "bodies={\"a\":{$ball,\"position\":[0.5,0.1,0]},\"b\":{$ball,\"position\":[0.53,0.1,0]}}"
expect 0 apart "$ooze" run "$small" -o apart -f 1 \
  --set "bodies={\"a\":{$ball,\"position\":[0.5,0.1,0]},\"b\":{$ball,\"position\":[0.61,0.1,0]}}"
grep -q overlaps out && fail "bodies that are apart are told of: $(cat out)"
# terminate WHEN MILLISECONDS: stops $process, which must obey by then and be resumable
terminate() {
  began=$(date +%s%N)
  kill -TERM $process
  wait $process
  code=$?
  took=$((($(date +%s%N) - began) / 1000000))
  [ $code = 75 ] || fail "SIGTERM $1: $code, expected 75: $(cat out)"
  [ $took -lt $2 ] || fail "SIGTERM $1: took $took ms"
}
# long work before the first frame: a stop is obeyed at once
cat >long.json <<END
{"solver": {"particle_separation": 0.002, "substeps": 1}, $block,
"fluids": {"a": {"material": "m", "shape": "sphere", "radius": 0.35, "position": [0, 1, 0]}}}
END
# Filling takes a second, claiming memory for 22 million particles behind it some more, the first
# substep minutes.
for after in 0.5 2 5; do
  "$ooze" run long.json -o long >out 2>&1 &
  process=$!
  sleep $after
  terminate "after $after s" 2000
  grep -q 'stopped' out || fail "SIGTERM after $after s: no word"
done
# A substep of seconds after the first frame: its stop waits for a checkpoint alone, and a resumed
# run has the same bits.
cat >heavy.json <<END
{"solver": {"particle_separation": 0.02, "substeps": 1, "velocity_iterations": 250,
            "position_iterations": 250},
"materials": {"m": {"viscosity": 5}}, "output": {"frames": [1, 3], "points": "none"},
"colliders": {"p": {"shape": "plane"}},
"fluids": {"a": {"material": "m", "shape": "box", "size": [0.4, 0.4, 0.4],
                 "position": [0, 0.2, 0]}}}
END
for report in --quiet --json; do
  rm -rf heavy
  "$ooze" run heavy.json -o heavy -t 2 $report >out 2>&1 &
  process=$!
  tries=0
  until grep -q 'frame 2/3' heavy/ooze.log 2>/dev/null || [ $tries -gt 600 ]; do
    sleep 0.1 && tries=$((tries + 1))
  done
  terminate "in a substep, $report" 1500
done
expect 0 '"resumed":true' "$ooze" run heavy.json -o heavy --resume --quiet --json
hash=$(sed -n 's/.*"state_hash":"\([0-9a-f]*\)".*/\1/p' out)
expect 0 "\"state_hash\":\"${hash:-none}\"" "$ooze" run heavy.json -o whole --quiet --json
exit $failed
