# amd64 Linux from another Debian, run under qemu: apt-get install g++-x86-64-linux-gnu
# libc6-dev-amd64-cross qemu-user
#   cmake/cross_libraries.sh amd64 build-libraries/amd64
#       (all that Ooze uses; without it the solver alone is built)
#   cmake -B build-amd64 -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/x86_64-linux.cmake
# SPDX-License-Identifier: Apache-2.0
set(oz_machine x86_64)
set(oz_qemu_words -cpu max)
include("${CMAKE_CURRENT_LIST_DIR}/other_linux.cmake")
