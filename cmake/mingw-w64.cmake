# SPDX-License-Identifier: Apache-2.0
# Windows from Debian: apt-get install gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64
#   cmake/cross_libraries.sh windows build-libraries/windows
#       (scenes, checkpoints, .bgeo.sc; without it the solver alone)
#   cmake -B build-mingw -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/mingw-w64.cmake
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static) # no libraries of the compiler beside a program
set(CMAKE_FIND_ROOT_PATH "${CMAKE_CURRENT_LIST_DIR}/../build-libraries/windows"
    /usr/x86_64-w64-mingw32)
# Debian's `wine` asks for 32-bit parts on standard error, which nothing here needs
find_program(OZ_WINE NAMES wine64 wine PATHS /usr/lib/wine)
if(OZ_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${OZ_WINE})
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
