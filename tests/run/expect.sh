# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: `expect`, which sets failed=1 where a command does not do what it should.
expect() { # expect CODE WORDS COMMAND...: the exit code, and the words somewhere in what is said
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
