#!/bin/sh
# damage.sh OOZE: files that were damaged after they were written, and folders that two runs want.
# SPDX-License-Identifier: Apache-2.0
ooze=$1
# shellcheck source=/dev/null
. "$(dirname "$0")/begin.sh"
set -- --set output.surface=vdb --set output.points=ply --quiet
go() { "$ooze" run "$small" "$@"; }

go -o whole --set 'output.frames=[1,8]' "$@" || exit 1
go -o again --set 'output.frames=[1,8]' "$@" || exit 1
diff -r -x ooze.log whole again || fail 'two runs differ'

# a cut file, a flipped byte and an empty file of frames before the checkpoint: each is written
# again
go -o a --set 'output.frames=[1,6]' "$@" || exit 1
head -c 100 whole/surface/small.0003.vdb >a/surface/small.0003.vdb
printf 'x' | dd of=a/points/small.0005.ply bs=1 seek=700 conv=notrunc 2>/dev/null
: >a/points/small.0001.ply
expect 0 '3 damaged files: stepping again from frame 1 to 5' \
  go -o a --set 'output.frames=[1,8]' --resume "$@"
for part in points surface; do
  diff -r whole/$part a/$part || fail "$part: --resume left damaged files"
done
# from a checkpoint before the damage, where there is one
head -c 100 whole/surface/small.0007.vdb >a/surface/small.0007.vdb
expect 0 'stepping again from frame 6 to 7' go -o a --set 'output.frames=[1,8]' --resume "$@"
for part in points surface; do
  diff -r whole/$part a/$part || fail "$part: --resume left damaged files"
done
# a moved file is told of and left alone
rm a/points/small.0002.ply
expect 0 '1 file of earlier frames is not there any more' \
  go -o a --set 'output.frames=[1,8]' --resume "$@"
[ ! -e a/points/small.0002.ply ] || fail 'a file that was moved away came back'

# another vector width goes on, and says so
expect 0 'other last digits' go -o a --set 'output.frames=[1,9]' --resume --isa scalar "$@"
# two runs into one folder: the second is refused and changes nothing; a killed run leaves no lock
"$ooze" run "$small" -o b --set 'output.frames=[1,3000]' "$@" &
process=$!
tries=0
while [ -z "$(ls b/checkpoints/*.ozc 2>/dev/null)" ] && [ $tries -lt 100 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
expect 2 "b: another run (process $process on $(hostname)) writes into this folder" go -o b "$@"
expect 2 'another run' go -o b --resume "$@"
kill -KILL $process
wait $process 2>/dev/null
expect 0 'resuming at frame' go -o b --set 'output.frames=[1,3]' --resume "$@"
[ ! -e b/.lock ] || fail 'a finished run left its lock'
exit $failed
