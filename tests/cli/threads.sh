#!/bin/sh
# threads.sh OOZE: one and two threads reach the same state, bit for bit.
# SPDX-License-Identifier: Apache-2.0
ooze=$1
hash() {
  "$ooze" bench blocks -n 2250 --frames 1 --warmup 0 --json "$@" |
    sed -n 's/.*"state_hash":"\([0-9a-f]*\)".*/\1/p'
}
one=$(hash --threads 1) two=$(hash --threads 2)
[ -n "$one" ] && [ "$one" = "$two" ] && exit 0
echo "state after one frame: $one with 1 thread, $two with 2"
exit 1
