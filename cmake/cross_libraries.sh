#!/bin/sh
# cross_libraries.sh arm64|amd64|windows FOLDER: the libraries that Ooze uses, for another machine,
# in FOLDER, from Debian's archive. Of another processor: Debian's packages, unpacked beside the
# system, as a sysroot for compiler and qemu. Of Windows, for which Debian has none: Debian's
# sources of Jansson, zstd, lz4, Blosc and the header of xxHash, compiled by MinGW. Nothing is
# installed on this machine. SPDX-License-Identifier: Apache-2.0
set -eu
target=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
[ ! -f "$folder/whole" ] || exit 0
work=$folder/apt
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/sources"
: >"$work/status"

apt() { # with lists and a cache of its own, and as on a machine without any package
  apt-get -qq -o Dir::State::status="$work/status" -o Dir::State::Lists="$work/lists" \
    -o Dir::Cache="$work/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
    -o APT::Install-Recommends=0 "$@"
}

sysroot() {
  debian() { apt -o APT::Architecture="$target" -o APT::Architectures::="$target" "$@"; }
  debian update
  debian -y --download-only install libc6-dev libstdc++-12-dev libjansson-dev libblosc-dev \
    libzstd-dev libxxhash-dev libpng-dev libcmocka-dev libtbb-dev libopenvdb-dev libimath-dev \
    libboost-dev
  for package in "$work"/cache/archives/*.deb; do dpkg -x "$package" "$folder"; done
  # links that begin at the root would lead out of the folder
  find "$folder" -path "$work" -prune -o -type l -lname '/*' -print | while read -r link; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$folder$(readlink "$link")")" "$link"
  done
}

unpacked() { # unpacked NAME: the folder with the sources of a package
  mkdir -p "$work/sources/$1"
  tar -xf "$work/sources/$1"_*.orig.tar.?z -C "$work/sources/$1" --strip-components=1
  echo "$work/sources/$1"
}

by_cmake() { # by_cmake SOURCE ARGUMENTS...
  source=$1
  shift
  cmake -S "$source" -B "$source/build" -DCMAKE_TOOLCHAIN_FILE="$here/mingw-w64.cmake" \
    -DCMAKE_FIND_ROOT_PATH="$folder" -DCMAKE_PREFIX_PATH="$folder" \
    -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF "$@"
  cmake --build "$source/build" --parallel 2
  cmake --install "$source/build"
}

windows() {
  here=$(cd "$(dirname "$0")" && pwd)
  sed -n 's/^Signed-By: *//p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1 >"$work/key"
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  key=$(cat "$work/key")
  key=${key:-/usr/share/keyrings/debian-archive-keyring.gpg}
  echo "deb-src [signed-by=$key] http://deb.debian.org/debian $release main" >"$work/sources.list"
  debian() {
    apt -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null "$@"
  }
  debian update
  (cd "$work/sources" && debian --download-only source jansson libzstd lz4 c-blosc xxhash)
  by_cmake "$(unpacked jansson)" -DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF \
    -DJANSSON_WITHOUT_TESTS=ON
  by_cmake "$(unpacked libzstd)/build/cmake" -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_PROGRAMS=OFF \
    -DZSTD_BUILD_TESTS=OFF
  by_cmake "$(unpacked lz4)/build/cmake" -DLZ4_BUILD_CLI=OFF -DLZ4_BUILD_LEGACY_LZ4C=OFF \
    -DBUILD_STATIC_LIBS=ON
  by_cmake "$(unpacked c-blosc)" -DCMAKE_C_FLAGS="-I$folder/include -mxsave" -DBUILD_SHARED=OFF \
    -DBUILD_TESTS=OFF -DBUILD_FUZZERS=OFF -DBUILD_BENCHMARKS=OFF \
    -DPREFER_EXTERNAL_LZ4=ON -DPREFER_EXTERNAL_ZSTD=ON -DPREFER_EXTERNAL_ZLIB=ON \
    -DDEACTIVATE_ZLIB=ON -DDEACTIVATE_SNAPPY=ON
  # its codec goes into Blosc's library: a program that links that one needs no other
  (cd "$work" && x86_64-w64-mingw32-ar x "$folder/lib/liblz4.a" &&
    x86_64-w64-mingw32-ar rs "$folder/lib/libblosc.a" ./*.obj)
  cp "$(unpacked xxhash)/xxhash.h" "$folder/include"
}

case $target in
  windows) windows ;;
  *) sysroot ;;
esac
rm -rf "$work"
: >"$folder/whole"
