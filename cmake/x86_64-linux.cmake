# SPDX-License-Identifier: Apache-2.0
# amd64 Linux from another Debian, run under qemu: apt-get install gcc-x86-64-linux-gnu libc6-dev-amd64-cross qemu-user
#   cmake -B build-amd64 -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/x86_64-linux.cmake
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-linux-gnu-gcc)
find_program(OZ_AMD64_CXX x86_64-linux-gnu-g++)
if(OZ_AMD64_CXX)
  set(CMAKE_CXX_COMPILER ${OZ_AMD64_CXX})
else()
  set(CMAKE_CXX_COMPILER "") # not the host's
endif()
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-x86_64;-cpu;max;-L;/usr/x86_64-linux-gnu")
