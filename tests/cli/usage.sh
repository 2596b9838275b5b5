#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage.sh OOZE alembic|no-alembic: messages and exit codes of the program, for right and wrong
# command lines.
ooze=$1 alembic=$2
bad=0
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

# expect CODE WORDS ARGUMENTS...: the exit code, and words that the output (both streams) must
# contain
expect() {
  code=$1 words=$2
  shift 2
  "$ooze" "$@" >"$out" 2>&1
  got=$?
  if [ $got != "$code" ]; then
    echo "ooze $*: left with $got, expected $code"
    cat "$out"
    bad=1
  fi
  if ! grep -q -e "$words" "$out"; then
    echo "ooze $*: says nothing of '$words':"
    cat "$out"
    bad=1
  fi
}

expect 0 'usage: ooze COMMAND' --help
expect 1 'usage: ooze COMMAND'
expect 0 '^ooze [0-9]' --version
for command in run render convert verify bench schema info; do
  expect 0 "usage: ooze $command" $command --help
  expect 0 "usage: ooze $command" help $command
  expect 1 "there is no option '--qwertyuiop'" $command --qwertyuiop
done
expect 1 'did you mean `ooze verify`' verfy
expect 1 'did you mean `ooze bench`' becnh
expect 1 'lists them' xyzzyxyzzy
expect 1 'did you mean --quick' verify --quik
expect 1 'did you mean --frames' bench --frame=2
expect 1 'did you mean fig6' verify fgi6
expect 1 'did you mean blocks' bench block
expect 1 'exclude each other' verify --quick --long
expect 1 'whole number' bench blocks --frames 1.5
expect 1 'is out of range; 1 to' bench blocks --frames 0
expect 1 'needs a value' bench blocks --frames
expect 1 'auto|cpu|cuda' bench blocks --backend gpu
expect 1 'takes no value' bench blocks --json=1
expect 1 'needs --output DIR' bench --scene nothing.json
expect 1 'too many' schema solver material
expect 1 'there is no group' schema nothing
expect 1 'at a time' schema --json --ds
expect 2 '/nonexistent' info /nonexistent.ply
expect 0 'fig7' verify --list
expect 0 'giants' bench --list
expect 0 'particle' schema --markdown
expect 0 'parm {' schema --ds
expect 0 'startframe' schema --ds solver
expect 1 'there is no node' schema --ds nothing
expect 0 'ooze::surface' schema nodes
expect 0 'cpu' info
# outputs that cannot be written come before inputs that cannot be read: nothing is computed in vain
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$out" "$folder"' EXIT
mkdir "$folder/made.ply"
for command in surface convert; do
  flag= && [ $command = surface ] && flag=-o
  expect 2 "x.stl: unknown ending; expected .*\.ply" $command /nothing.ply $flag "$folder/x.stl"
  [ $command = convert ] && # a folder is made for a surface, where one can be
    expect 2 "x.ply: cannot create.*expected a folder" $command /nothing.ply /nonexistent/x.ply
  expect 2 "made.ply: is a folder" $command /nothing.ply $flag "$folder/made.ply"
  expect 2 "nothing.ply: cannot open" $command /nothing.ply $flag "$folder/X.PLY"
  if [ "$alembic" = no-alembic ]; then
    expect 2 "x.abc: this build writes no Alembic" $command /nothing.ply $flag "$folder/x.abc"
  fi
done
expect 2 "or .vdb" surface /nothing.ply -o "$folder/x"
expect 2 "/x.stl: unknown" surface /nothing.1.ply /nothing.2.ply -o "$folder/x.stl"
expect 2 "nothing.ply: cannot open" surface /nothing.ply -o "$folder/new/deeper/x.vdb"
[ -e "$folder/new" ] && { echo 'FAILED: a refusal left a folder'; bad=1; }
: >"$folder/file"
for ending in vdb ply; do
  expect 2 "file: a file is where" surface /nothing.ply -o "$folder/file/x.$ending"
done
expect 2 "x.png: cannot create" render /nothing.ply -o /nonexistent/x.png
exit $bad
