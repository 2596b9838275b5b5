# ARM from Debian on x86-64: apt-get install g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
#   cmake/cross_libraries.sh arm64 build-libraries/arm64
#       (all that Ooze uses; without it the solver alone is built)
#   cmake -B build-arm64 -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux.cmake
# Programs run under qemu, so that ctest works as it is. SPDX-License-Identifier: Apache-2.0
set(oz_machine aarch64)
include("${CMAKE_CURRENT_LIST_DIR}/other_linux.cmake")
