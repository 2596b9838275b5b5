# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: a temporary folder, which becomes the current one and goes at the
# end; `here`, the folder of the scripts; `small`, a small scene; `failed` and its setter.
failed=0
here=$(cd "$(dirname "$0")" && pwd)
small="$here/small.json"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() { echo "FAILED: $*"; failed=1; }

expect() { # expect CODE WORDS COMMAND...: the exit code, and the words somewhere in the output
  code=$1 words=$2
  shift 2
  "$@" >out 2>&1
  found=$?
  if [ $found != "$code" ] || ! grep -qF -- "$words" out; then
    echo "FAILED: $* -> $found, expected $code and '$words'; it said:"
    head -5 out
    failed=1
  fi
}
