#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# limits.sh OOZE: memory that is not given, disks that are full, colours and films of caches.
ooze=$1
# shellcheck source=/dev/null
. "$(dirname "$0")/begin.sh"
"$ooze" run "$small" -o a --set 'output.frames=[1,8]' --quiet || exit 1

# memory: a file's declared size is held against the limit before it is read; emitters stop at it,
# resumable
expect 2 'the limit is' "$ooze" info a/checkpoints/small.0008.ozc --max-memory 0.00001
expect 2 'the limit is' "$ooze" info a/points/small.0004.bgeo.sc --max-memory 0.00001
expect 2 'the limit is' "$ooze" render a/points/small.0004.bgeo.sc --max-memory 0.00001
expect 2 'the limit is' "$ooze" convert a/points/small.0004.bgeo.sc x.ply --max-memory 0.00001
expect 2 'the limit is' "$ooze" run "$small" -o a --set 'output.frames=[1,9]' --resume \
  --accept-changes --max-memory 0.00001
expect 2 'that the memory allowed holds' \
  "$ooze" run "$small" -o m --set 'fluids.block.size=[1,1,1]' --max-memory 0.01
expect 4 '--max-memory is' "$ooze" run "$small" -o m --max-memory 0.0005
expect 0 '"resumed":true' \
  "$ooze" run "$small" -o m --set 'output.frames=[1,12]' --resume --json --quiet
# a disk that is full: the file's name and the reason, nothing half-written, and the remedy; stale
# temporary files go
(
  ulimit -f 24
  expect 2 'cannot write: File too large' "$ooze" run "$small" -o u --quiet
  exit $failed
) || failed=1
(
  cp -r a again && ulimit -f 2
  expect 2 'the newest checkpoint is again/checkpoints/small.0008.ozc; --resume goes on from it' \
    "$ooze" run "$small" -o again --set 'output.frames=[1,12]' --resume --quiet
  exit $failed
) || failed=1
(
  ulimit -f 2
  expect 2 'cannot write: File too large' \
    "$ooze" convert a/points/small.0004.bgeo.sc u/x.ply
  exit $failed
) || failed=1
left=$(find u -name '.*' -type f | wc -l)
[ "$left" = 0 ] || { echo "FAILED: $left temporary files are left"; failed=1; }
for file in u/points/*; do
  "$ooze" info "$file" >/dev/null || { echo "FAILED: $file is not whole"; failed=1; }
done
# a divergence: code 3, the frame, the speeds, the remedy, and a checkpoint of the frame before it
cat >wild.json <<'END'
{"solver": {"particle_separation": 0.02, "scheme": "stress", "substeps": 1},
 "materials": {"stiff": {"relaxation_time": 10, "compliance": 1e-5}},
 "fluids": {"block": {"shape": "box", "size": [0.16, 0.16, 0.16], "position": [0, 0.08, 0],
                      "material": "stiff"}},
 "colliders": {"floor": {"shape": "plane"}}, "output": {"frames": [1, 40], "fps": 100}}
END
expect 3 'nozzles and elasticity explain' "$ooze" run wild.json -o w --quiet
told='wild.json: frame [0-9]*: step: [0-9]* of 512 particles.* explain .* m/s; take more substeps'
grep -q "$told" out || { echo "FAILED: the divergence is told as: $(cat out)"; failed=1; }
expect 0 'Ooze checkpoint' "$ooze" info w/checkpoints/wild.*.ozc
# colours by the attributes of caches, with a legend; and a film
for what in stretch compression temperature; do
  expect 0 "$what.png" \
    "$ooze" render a/points/small.0008.bgeo.sc -o $what.png --size 160x90 --colour-by $what
done
# before any cache is read
echo none >bad.ply
expect 2 'film.mp4: ffmpeg is not installed' env PATH=/none "$ooze" render bad.ply -o film.mp4
if command -v ffmpeg >/dev/null; then
  expect 0 film.mp4 \
    "$ooze" render a --frames 5-8 -o film.mp4 --size 160x90 --spheres --colour-by speed
  head -c 12 film.mp4 | grep -q ftyp || { echo "FAILED: film.mp4 is no mp4"; failed=1; }
else
  echo "SKIPPED: no ffmpeg here, films are not tried"
  expect 2 'ffmpeg is not installed' "$ooze" render a --frames 5-8 -o film.mp4 --size 160x90
fi
exit $failed
