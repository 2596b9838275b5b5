# A Houdini for find_package, of our own: it has the targets, definitions and functions that the
# public documentation tells of, with the headers of the tests' stand-in and this machine's OpenVDB
# and TBB in the place of Houdini's. FAKE_HOUDINI is the version that it says it is.
# SPDX-License-Identifier: Apache-2.0
if(NOT FAKE_HOUDINI)
  set(FAKE_HOUDINI 22.0.100)
endif()
string(REPLACE "." ";" numbers "${FAKE_HOUDINI}")
list(GET numbers 0 Houdini_VERSION_MAJOR)
list(GET numbers 1 Houdini_VERSION_MINOR)
list(GET numbers 2 Houdini_VERSION_PATCH)
set(Houdini_VERSION "${FAKE_HOUDINI}")

get_filename_component(fake_root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(fake_headers "${CMAKE_BINARY_DIR}/fake_houdini/toolkit/include")
set(fake_libraries "${CMAKE_BINARY_DIR}/fake_houdini/dsolib")
include("${fake_root}/../standin/headers.cmake")
standin_headers("${fake_headers}")

# Houdini's own libraries, by the names that they have there. The real ones are this machine's.
file(MAKE_DIRECTORY "${fake_libraries}")
foreach(pair IN ITEMS openvdb:openvdb_sesi tbb:tbb Imath:Imath_sidefx)
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 theirs)
  list(GET pair 1 ours)
  find_library(FAKE_${ours} NAMES ${theirs} ${theirs}-3_1)
  mark_as_advanced(FAKE_${ours})
  if(NOT FAKE_${ours})
    message(FATAL_ERROR "the stand-in of Houdini has no lib${theirs}")
  endif()
  file(CREATE_LINK "${FAKE_${ours}}" "${fake_libraries}/lib${ours}.so" SYMBOLIC)
endforeach()

add_library(Houdini INTERFACE IMPORTED)
set_target_properties(Houdini PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${fake_headers};/usr/include/Imath"
  INTERFACE_COMPILE_DEFINITIONS
  "VERSION=\"${FAKE_HOUDINI}\";SIZEOF_VOID_P=8;OPENVDB_ENABLED=1;SESI_LITTLE_ENDIAN;UT_ASSERT_LEVEL=0;_GNU_SOURCE;ENABLE_THREADS;USE_PTHREADS;_REENTRANT;_FILE_OFFSET_BITS=64;LINUX;MAKING_DSO;STANDIN_MAJOR=${Houdini_VERSION_MAJOR};STANDIN_MINOR=${Houdini_VERSION_MINOR}"
  INTERFACE_COMPILE_OPTIONS "-fPIC;-fno-strict-aliasing")
set(fake_third
    "${fake_libraries}/libopenvdb_sesi.so;${fake_libraries}/libtbb.so;${fake_libraries}/libImath_sidefx.so")
if("${Houdini_VERSION_MAJOR}.${Houdini_VERSION_MINOR}" VERSION_LESS 20.5)
  add_library(Houdini::Dep::openvdb_sesi INTERFACE IMPORTED)
  set_target_properties(Houdini::Dep::openvdb_sesi PROPERTIES INTERFACE_LINK_LIBRARIES
      "${fake_third}")
else()
  add_library(HoudiniThirdParty INTERFACE IMPORTED)
  set_target_properties(HoudiniThirdParty PROPERTIES INTERFACE_LINK_LIBRARIES "${fake_third}")
endif()

# houdini_configure_target(target [INSTDIR dir] [LIB_PREFIX prefix]): no "lib" before the name, and
# the folder that it goes to. Houdini's starts hython to ask for the user's folder where INSTDIR is
# not given, which takes a licence: here that is an error.
function(houdini_configure_target target)
  cmake_parse_arguments(T "" "INSTDIR;LIB_PREFIX" "" ${ARGN})
  if(NOT T_INSTDIR)
    message(FATAL_ERROR
        "houdini_configure_target without INSTDIR would start hython, and take a licence")
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "${T_LIB_PREFIX}" LIBRARY_OUTPUT_DIRECTORY
      "${T_INSTDIR}"
                                             RUNTIME_OUTPUT_DIRECTORY "${T_INSTDIR}"
                                             ARCHIVE_OUTPUT_DIRECTORY "${T_INSTDIR}")
endfunction()
