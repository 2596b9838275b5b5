# SPDX-License-Identifier: Apache-2.0
# ooze_core and ooze_shared from oz_sources, the stage builds and whatever backends there are.

add_library(ooze_objects OBJECT ${oz_sources})
set(oz_parts ooze_objects) # the object libraries that make up the solver
set(oz_links Threads::Threads)
if(NOT WIN32)
  list(APPEND oz_links m)
endif()

if(TARGET TBB::tbb)
  target_sources(ooze_objects PRIVATE base/tasks_tbb.cpp)
  target_compile_definitions(ooze_objects PRIVATE OOZE_HAVE_TBB)
  target_link_libraries(ooze_objects PRIVATE TBB::tbb)
  list(APPEND oz_links TBB::tbb)
  # A static library does not tell that it holds C++: a client in C has to be handed C++'s own
  # libraries by name.
  set(oz_cxx_links ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
  list(REMOVE_ITEM oz_cxx_links ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
  list(APPEND oz_links ${oz_cxx_links})
endif()
add_subdirectory(cpu) # the stage builds: append to oz_parts
if(OOZE_CUDA)
  include("${PROJECT_SOURCE_DIR}/cuda/cuda.cmake") # objects into oz_objects, and links
endif()

foreach(part IN LISTS oz_parts)
  target_include_directories(${part} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${part} PRIVATE ooze_headers)
  target_compile_definitions(${part} PRIVATE OOZE_BUILDING)
  target_compile_options(${part} BEFORE PRIVATE ${OZ_WARNINGS}) # before: a part may turn one off
  # one set of objects serves both libraries; an export marked in a static library is harmless
  if(WIN32)
    target_compile_definitions(${part} PRIVATE OOZE_SHARED)
  endif()
  list(APPEND oz_objects $<TARGET_OBJECTS:${part}>)
endforeach()

add_library(ooze_core STATIC ${oz_objects})
if(TARGET ooze_cuda)
  add_dependencies(ooze_core ooze_cuda)
endif()
target_link_libraries(ooze_core PUBLIC ooze_headers ${oz_links})

add_library(ooze_shared SHARED ${oz_objects})
if(TARGET ooze_cuda) # both libraries take the same objects: they are made once
  add_dependencies(ooze_shared ooze_cuda)
endif()
target_link_libraries(ooze_shared PUBLIC ooze_headers PRIVATE ${oz_links})
target_compile_definitions(ooze_shared INTERFACE OOZE_SHARED)
set_target_properties(
  ooze_shared PROPERTIES OUTPUT_NAME ooze LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}"
                         RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}" ARCHIVE_OUTPUT_DIRECTORY
                         "${PROJECT_BINARY_DIR}"
                         VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
if(UNIX AND NOT APPLE) # libstdc++'s templates have default visibility; the script keeps them in
  target_link_options(ooze_shared PRIVATE
      "LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/ooze.map" LINKER:--no-undefined)
  set_target_properties(ooze_shared PROPERTIES LINK_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/ooze.map")
  if(OOZE_SANITIZE OR OOZE_FUZZ) # the sanitizer run-time is in the program
    target_link_options(ooze_shared PRIVATE LINKER:-z,undefs)
  endif()
endif()
