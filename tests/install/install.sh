#!/bin/sh
# install.sh SOURCE BUILD CC: installs a build and makes three projects of others with it: C with
# find_package, C with pkg-config (shared and static), C++ with the file library.
# SPDX-License-Identifier: Apache-2.0
source=$1 build=$2 cc=$3 failed=0
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; failed=1; }
at=$folder/prefix
cmake --install "$build" --prefix "$at" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }

# everything is in place
lib=$(dirname "$(find "$at" -name ooze.pc)")/..
for file in bin/ooze include/ooze/ooze.h include/ooze/ooze_io.h share/doc/ooze/LICENSE \
  share/man/man1/ooze.1 share/bash-completion/completions/ooze \
  share/zsh/site-functions/_ooze share/ooze/scenes/honey.json; do
  [ -s "$at/$file" ] || fail "$file is not installed"
done
for file in libooze.so libooze_core.a libooze_io.a cmake/ooze/ooze-config.cmake \
  pkgconfig/ooze.pc; do
  [ -e "$lib/$file" ] || fail "lib/$file is not installed"
done
grep -rlF "$source" "$at/include" "$at/share/man" "$lib/cmake" "$lib/pkgconfig" &&
  fail 'a path of the source folder was installed'
bash -n "$at/share/bash-completion/completions/ooze" || fail 'completions for bash'
if command -v zsh >/dev/null; then
  zsh -n "$at/share/zsh/site-functions/_ooze" || fail 'completions for zsh'
fi
for command in $("$at/bin/ooze" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
  grep -q "ooze $command" "$at/share/man/man1/ooze.1" || fail "the manual page lacks $command"
  grep -q "^ *$command)" "$at/share/bash-completion/completions/ooze" ||
    fail "completions lack $command"
done
"$at/bin/ooze" info "$at/share/ooze/scenes/honey.json" >/dev/null || fail 'the installed program'

# find_package, shared and static, in C; and the file library from C++
for project in c_package cxx_scene; do
  cmake -S "$source/tests/install/$project" -B "$folder/$project" -DCMAKE_PREFIX_PATH="$at" \
    >"$folder/log" 2>&1 &&
    cmake --build "$folder/$project" >>"$folder/log" 2>&1 || {
    tail -20 "$folder/log"
    fail "$project does not build"
    continue
  }
  for program in "$folder/$project"/use_*; do
    "$program" >"$folder/out" 2>&1 || { cat "$folder/out"; fail "$program"; }
  done
done

# pkg-config
if command -v pkg-config >/dev/null; then
  PKG_CONFIG_PATH=$lib/pkgconfig
  export PKG_CONFIG_PATH
  drop=$source/examples/c_minimal/drop.c
  for package in ooze ooze-core; do
    # shellcheck disable=SC2046
    "$cc" -std=c11 "$drop" -o "$folder/$package" $(pkg-config --cflags --libs $package) \
      -Wl,-rpath,"$(realpath "$lib")" || fail "$package by pkg-config"
    "$folder/$package" | grep -q 'frame 24' || fail "$package by pkg-config does not run"
  done
else
  echo 'SKIPPED: no pkg-config here'
fi
exit $failed
