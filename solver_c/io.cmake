# SPDX-License-Identifier: Apache-2.0
# ooze_io: the rooms above the solver. geo: points and meshes in files; scene: scene files, presets
# and filling; surface: level sets and OpenVDB; render: pictures and films; session: runs. Each
# optional library adds its part where it is found; a missing one is named once, here and in
# ooze_io_build_text().

# ---- Parts without a library ----
file(GLOB oz_io_sources CONFIGURE_DEPENDS geo/*.c surface/*.c render/*.c)
list(FILTER oz_io_sources EXCLUDE REGEX "/no_vdb\\.c$")
set(oz_scene_sources
  scene/presets.c scene/words.c scene/nodes.c scene/nodes_dialog.c scene/fill_fluid.c
  scene/fill_pour.c scene/fill_inside.c scene/fill_mesh.c scene/fill_near.c scene/fill_rows.c
  scene/fill_spans.c scene/fill_shape.c scene/outline.c scene/forces.c
  scene/paint.c)
list(TRANSFORM oz_scene_sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
list(APPEND oz_io_sources ${oz_scene_sources})
# the Houdini plug-in compiles these again
set_property(GLOBAL PROPERTY OZ_PLUGIN_SOURCES ${oz_io_sources})

add_library(ooze_io STATIC ${oz_io_sources})
target_include_directories(ooze_io PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>"
    PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_options(ooze_io PRIVATE ${OZ_WARNINGS})
set_target_properties(ooze_io PROPERTIES POSITION_INDEPENDENT_CODE ON C_STANDARD 11)
target_link_libraries(ooze_io PUBLIC ooze_core Threads::Threads)
if(UNIX)
  target_link_libraries(ooze_io PUBLIC m)
endif()
if(OOZE_FUZZ)
  # The usual name of the switch that lets a fuzzer past hashes that it cannot guess.
  target_compile_definitions(ooze_io PRIVATE FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
endif()
# The inner loops of surfaces and rays; no option here changes bits from run to run.
set_source_files_properties(
  surface/kernels.c surface/field.c surface/density.c surface/distance.c surface/attributes.c
  surface/balance.c surface/strain.c
  render/bvh.c render/march.c render/shade.c PROPERTIES COMPILE_OPTIONS
  "-O3;-fno-math-errno;-fno-trapping-math")

# ---- geo: Blosc for .bgeo.sc, zstd and xxHash for checkpoints ----
find_path(OZ_BLOSC_INCLUDE blosc.h)
find_library(OZ_BLOSC_LIBRARY blosc)
find_path(OZ_ZSTD_INCLUDE zstd.h)
find_library(OZ_ZSTD_LIBRARY zstd)
find_path(OZ_XXHASH_INCLUDE xxhash.h)
mark_as_advanced(OZ_BLOSC_INCLUDE OZ_BLOSC_LIBRARY OZ_ZSTD_INCLUDE OZ_ZSTD_LIBRARY
    OZ_XXHASH_INCLUDE)

set(oz_io_parts "")
if(OZ_BLOSC_INCLUDE AND OZ_BLOSC_LIBRARY)
  target_compile_definitions(ooze_io PRIVATE OOZE_HAVE_BLOSC)
  target_include_directories(ooze_io SYSTEM PRIVATE "${OZ_BLOSC_INCLUDE}")
  target_link_libraries(ooze_io PUBLIC "${OZ_BLOSC_LIBRARY}")
  list(APPEND oz_io_parts ".bgeo.sc (Blosc)")
else()
  list(APPEND oz_io_parts "no .bgeo.sc (Blosc not found)")
endif()
if(OZ_ZSTD_INCLUDE AND OZ_ZSTD_LIBRARY AND OZ_XXHASH_INCLUDE) # xxHash is used as a header, inlined
  target_compile_definitions(ooze_io PRIVATE OOZE_HAVE_ZSTD)
  target_include_directories(ooze_io SYSTEM PRIVATE "${OZ_ZSTD_INCLUDE}" "${OZ_XXHASH_INCLUDE}")
  target_link_libraries(ooze_io PUBLIC "${OZ_ZSTD_LIBRARY}")
  list(APPEND oz_io_parts "checkpoints (zstd, xxHash)")
else()
  list(APPEND oz_io_parts "no checkpoints on disk (zstd or xxHash not found)")
endif()
if(OOZE_ALEMBIC AND OZ_HAVE_CXX)
  find_package(Alembic CONFIG QUIET) # Debian's package: libalembic-dev, where the release has it
endif()
if(TARGET Alembic::Alembic)
  # A target of its own: it is C++, and the library's headers do not pass our warnings.
  add_library(ooze_alembic OBJECT geo/alembic.cpp)
  target_include_directories(ooze_alembic PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/include")
  get_target_property(oz_alembic_include Alembic::Alembic INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(ooze_alembic SYSTEM PRIVATE ${oz_alembic_include})
  target_link_libraries(ooze_alembic PRIVATE Alembic::Alembic)
  target_compile_options(ooze_alembic PRIVATE -Wall -Wextra)
  set_target_properties(ooze_alembic PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(ooze_io PRIVATE OOZE_HAVE_ALEMBIC)
  target_sources(ooze_io PRIVATE $<TARGET_OBJECTS:ooze_alembic>)
  target_link_libraries(ooze_io PUBLIC Alembic::Alembic)
  set_target_properties(ooze_io PROPERTIES LINKER_LANGUAGE CXX)
  list(APPEND oz_io_parts ".abc (Alembic)")
else()
  list(APPEND oz_io_parts "no .abc (Alembic not found)")
endif()
list(JOIN oz_io_parts ", " oz_io_parts)
message(STATUS "files: .bgeo, .geo, .ply, .obj, ${oz_io_parts}")

# ---- surface: OpenVDB, where it is found and wanted (OOZE_OPENVDB) ----
# OpenVDB has no pkg-config file in Debian and its stock finder wants boost-iostreams: found by its
# parts instead.
set(oz_vdb OFF)
if(OOZE_OPENVDB AND OZ_HAVE_CXX)
  find_package(TBB CONFIG QUIET)
  find_path(OZ_OPENVDB_INCLUDE openvdb/openvdb.h)
  find_library(OZ_OPENVDB_LIBRARY openvdb)
  find_path(OZ_IMATH_INCLUDE Imath/half.h)
  find_library(OZ_IMATH_LIBRARY NAMES Imath Imath-3_1)
  find_path(OZ_BOOST_INCLUDE boost/version.hpp) # OpenVDB's headers include Boost
  mark_as_advanced(OZ_OPENVDB_INCLUDE OZ_OPENVDB_LIBRARY OZ_IMATH_INCLUDE OZ_IMATH_LIBRARY
      OZ_BOOST_INCLUDE)
  if(TARGET TBB::tbb AND OZ_OPENVDB_INCLUDE AND OZ_OPENVDB_LIBRARY AND OZ_IMATH_INCLUDE AND
      OZ_IMATH_LIBRARY AND OZ_BOOST_INCLUDE)
    set(oz_vdb ON)
  endif()
endif()
if(oz_vdb)
  # A target of its own: it is C++, takes most of a minute to compile, and its headers do not pass
  # our warnings.
  add_library(ooze_vdb OBJECT surface/vdb.cpp surface/vdb_grids.cpp)
  target_include_directories(ooze_vdb PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}"
      "${CMAKE_CURRENT_SOURCE_DIR}/include")
  target_include_directories(ooze_vdb SYSTEM PRIVATE "${OZ_OPENVDB_INCLUDE}" "${OZ_BOOST_INCLUDE}"
      "${OZ_IMATH_INCLUDE}" "${OZ_IMATH_INCLUDE}/Imath")
  target_compile_options(ooze_vdb PRIVATE -Wall -Wextra)
  target_link_libraries(ooze_vdb PRIVATE TBB::tbb)
  # OpenVDB's trees keep their type names in template statics that must be one object with the
  # library's: hidden copies crash in openvdb::initialize().
  set_target_properties(ooze_vdb PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN
      OFF)
  if(OOZE_SANITIZE OR OOZE_FUZZ)
    target_compile_options(ooze_vdb PRIVATE -O1)
  endif()
  target_sources(ooze_io PRIVATE $<TARGET_OBJECTS:ooze_vdb>)
  target_link_libraries(ooze_io PUBLIC "${OZ_OPENVDB_LIBRARY}" TBB::tbb "${OZ_IMATH_LIBRARY}")
  set_target_properties(ooze_io PROPERTIES LINKER_LANGUAGE CXX)
else()
  target_sources(ooze_io PRIVATE surface/no_vdb.c)
endif()

# ---- render: libpng ----
find_package(PNG QUIET)
if(PNG_FOUND)
  target_compile_definitions(ooze_io PRIVATE OOZE_HAVE_PNG)
  target_link_libraries(ooze_io PUBLIC PNG::PNG)
endif()
message(STATUS "surfaces: OpenVDB ${oz_vdb}; pictures: PNG ${PNG_FOUND}")

# ---- scene files and runs: Jansson ----
find_path(OZ_JANSSON_INCLUDE jansson.h)
find_library(OZ_JANSSON_LIBRARY jansson)
mark_as_advanced(OZ_JANSSON_INCLUDE OZ_JANSSON_LIBRARY)
if(OZ_JANSSON_INCLUDE AND OZ_JANSSON_LIBRARY)
  file(GLOB oz_run_sources CONFIGURE_DEPENDS scene/*.c session/*.c)
  list(REMOVE_ITEM oz_run_sources ${oz_scene_sources})
  target_sources(ooze_io PRIVATE ${oz_run_sources})
  target_include_directories(ooze_io SYSTEM PRIVATE "${OZ_JANSSON_INCLUDE}")
  target_link_libraries(ooze_io PUBLIC "${OZ_JANSSON_LIBRARY}")
  target_compile_definitions(ooze_io PUBLIC OOZE_HAVE_SCENE)
  message(STATUS "scenes: Jansson ON")
else()
  message(STATUS "scenes: Jansson not found, no scene files")
endif()

# ---- ooze_full: everything in one shared library, for the Python module and other languages ----
if(UNIX AND NOT APPLE AND NOT OOZE_SANITIZE AND NOT OOZE_FUZZ)
  add_library(ooze_full SHARED "${PROJECT_SOURCE_DIR}/python/full.c")
  target_link_libraries(ooze_full PRIVATE -Wl,--whole-archive ooze_io ooze_core
      -Wl,--no-whole-archive)
  set_target_properties(
    ooze_full PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}" LINKER_LANGUAGE CXX)
endif()
