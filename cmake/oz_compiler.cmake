# Language level, warnings and sanitizers of every target of this project. SPDX-License-Identifier:
# Apache-2.0

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# C++ is needed by the TBB, OpenVDB and HDK files and by the header test alone, so its absence is no
# error.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  set(OZ_HAVE_CXX ON)
else()
  set(OZ_HAVE_CXX OFF)
  message(STATUS "no C++ compiler: without TBB, OpenVDB and the plug-in")
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
if(OOZE_TBB AND OZ_HAVE_CXX)
  find_package(TBB CONFIG QUIET)
endif()

# On Windows with Microsoft's libraries (the Houdini plug-in) the C files are clang-cl's, which
# takes GCC's options behind /clang:, and C++ may stay with cl. Vector types are asked for by GCC's
# version number.
set(OZ_GNU_OPTION "")
if(MSVC)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR
        "The solver's vector types are Clang's and GCC's: configure with "
        "-DCMAKE_C_COMPILER=clang-cl (C++ may stay cl)")
  endif()
  set(OZ_GNU_OPTION "/clang:")
  add_compile_options("$<$<COMPILE_LANGUAGE:C>:/clang:-fgnuc-version=4.2.1>")
endif()

# Contraction stays off outside the stages, so that host-side formulas give the same bits with every
# compiler.
if(MSVC)
  add_compile_options("$<$<COMPILE_LANGUAGE:C>:/clang:-ffp-contract=off>")
else()
  add_compile_options(-ffp-contract=off)
endif()

set(OZ_WARNINGS
    -Wall -Wextra -Wshadow -Wpointer-arith -Wwrite-strings -Wvla -Wundef -Wformat=2
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
    $<$<COMPILE_LANGUAGE:C>:-Wold-style-definition>)
# lane masks are vectors: & and | are right for them, and && is not to be had
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  list(APPEND OZ_WARNINGS $<$<COMPILE_LANGUAGE:C>:-Wno-unknown-warning-option>
      $<$<COMPILE_LANGUAGE:C>:-Wno-bitwise-instead-of-logical>)
endif()
if(MINGW) # C's own printf (%zu, %lld) instead of Microsoft's; the Linux build checks the formats
  add_compile_definitions(__USE_MINGW_ANSI_STDIO=1)
  list(APPEND OZ_WARNINGS -Wno-format)
endif()
if(MSVC)
  set(OZ_WARNINGS /W3)
endif()
if(OOZE_WERROR)
  list(APPEND OZ_WARNINGS $<IF:$<BOOL:${MSVC}>,/WX,-Werror>)
endif()

if(OOZE_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
      -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
elseif(OOZE_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=thread)
elseif(OOZE_SANITIZE)
  message(FATAL_ERROR "OOZE_SANITIZE is '${OOZE_SANITIZE}'; expected address, thread or nothing")
endif()
if(OOZE_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "OOZE_FUZZ needs clang: configure with CC=clang CXX=clang++")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
