# Surfaces and pictures, as a part of ooze_io. OpenVDB where it is found and wanted (OOZE_OPENVDB); libpng for pictures.
# OpenVDB has no pkg-config file in Debian and its stock finder wants boost-iostreams: found by its parts instead.

target_sources(ooze_io PRIVATE
  surface.c surface_tasks.c surface_cells.c surface_kernels.c surface_field.c surface_density.c surface_distance.c surface_attributes.c
  surface_strain.c surface_sdf.c vdb_child.c image.c
  render.c render_text.c render_movie.c render_bvh.c render_setup.c render_scene.c render_march.c render_shade.c render_colour.c)
# The inner loops of surfaces and rays; no option here changes bits from run to run.
set_source_files_properties(surface_kernels.c surface_field.c surface_density.c surface_distance.c surface_attributes.c surface_strain.c render_bvh.c
  render_march.c render_shade.c PROPERTIES COMPILE_OPTIONS "-O3;-fno-math-errno;-fno-trapping-math")
target_link_libraries(ooze_io PUBLIC Threads::Threads)

set(oz_vdb OFF)
if(OOZE_OPENVDB AND OZ_HAVE_CXX)
  find_package(TBB CONFIG QUIET)
  find_path(OZ_OPENVDB_INCLUDE openvdb/openvdb.h)
  find_library(OZ_OPENVDB_LIBRARY openvdb)
  find_path(OZ_IMATH_INCLUDE Imath/half.h)
  find_library(OZ_IMATH_LIBRARY NAMES Imath Imath-3_1)
  find_path(OZ_BOOST_INCLUDE boost/version.hpp) # OpenVDB's headers include Boost
  mark_as_advanced(OZ_OPENVDB_INCLUDE OZ_OPENVDB_LIBRARY OZ_IMATH_INCLUDE OZ_IMATH_LIBRARY OZ_BOOST_INCLUDE)
  if(TARGET TBB::tbb AND OZ_OPENVDB_INCLUDE AND OZ_OPENVDB_LIBRARY AND OZ_IMATH_INCLUDE AND OZ_IMATH_LIBRARY AND OZ_BOOST_INCLUDE)
    set(oz_vdb ON)
  endif()
endif()
if(oz_vdb)
  # A target of its own: it is C++, takes most of a minute to compile, and its headers do not pass our warnings.
  add_library(ooze_vdb OBJECT vdb.cpp)
  target_include_directories(ooze_vdb PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/../include")
  target_include_directories(ooze_vdb SYSTEM PRIVATE "${OZ_OPENVDB_INCLUDE}" "${OZ_BOOST_INCLUDE}" "${OZ_IMATH_INCLUDE}" "${OZ_IMATH_INCLUDE}/Imath")
  target_compile_options(ooze_vdb PRIVATE -Wall -Wextra)
  target_link_libraries(ooze_vdb PRIVATE TBB::tbb)
  # OpenVDB's trees keep their type names in template statics that must be one object with the library's: hidden copies
  # crash in openvdb::initialize().
  set_target_properties(ooze_vdb PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
  if(OOZE_SANITIZE OR OOZE_FUZZ)
    target_compile_options(ooze_vdb PRIVATE -O1)
  endif()
  target_sources(ooze_io PRIVATE $<TARGET_OBJECTS:ooze_vdb>)
  target_link_libraries(ooze_io PUBLIC "${OZ_OPENVDB_LIBRARY}" TBB::tbb "${OZ_IMATH_LIBRARY}")
  set_target_properties(ooze_io PROPERTIES LINKER_LANGUAGE CXX)
else()
  target_sources(ooze_io PRIVATE surface_novdb.c)
endif()

find_package(PNG QUIET)
if(PNG_FOUND)
  target_compile_definitions(ooze_io PRIVATE OOZE_HAVE_PNG)
  target_link_libraries(ooze_io PUBLIC PNG::PNG)
endif()
message(STATUS "surfaces: OpenVDB ${oz_vdb}; pictures: PNG ${PNG_FOUND}")
