# SPDX-License-Identifier: Apache-2.0
# The CUDA backend, included by solver_c/library.cmake where OOZE_CUDA is on. nvcc is called by
# plain commands, so that the rest of the project stays C: its objects join oz_objects, cudart is
# linked statically, and the library loads where there is no driver.

set(OOZE_CUDA_ARCHITECTURES "75;80;86;89;90" CACHE STRING
    "compute capabilities to compile for, or native; the last also as PTX")
find_program(OZ_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
if(NOT OZ_NVCC)
  message(FATAL_ERROR
      "OOZE_CUDA is on, but there is no nvcc (looked in PATH, CUDA_HOME and /usr/local/cuda)")
endif()
get_filename_component(oz_cuda_home "${OZ_NVCC}" REALPATH)
get_filename_component(oz_cuda_home "${oz_cuda_home}" DIRECTORY)
find_library(OZ_CUDART NAMES cudart_static libcudart_static.a
             HINTS ${oz_cuda_home}/../lib64 ${oz_cuda_home}/../lib
             ${oz_cuda_home}/../targets/x86_64-linux/lib
                   ${oz_cuda_home}/../targets/sbsa-linux/lib
                   ${oz_cuda_home}/../targets/aarch64-linux/lib /usr/local/cuda/lib64)
if(NOT OZ_CUDART)
  message(FATAL_ERROR "no libcudart_static.a beside ${OZ_NVCC}")
endif()

if(OOZE_CUDA_ARCHITECTURES STREQUAL "native")
  set(oz_arch -arch=native)
else()
  foreach(a IN LISTS OOZE_CUDA_ARCHITECTURES)
    list(APPEND oz_arch -gencode arch=compute_${a},code=sm_${a})
    set(oz_ptx ${a})
  endforeach()
  list(APPEND oz_arch -gencode arch=compute_${oz_ptx},code=compute_${oz_ptx})
endif()
# Divisions and roots to 2 ulp and denormals as zero: the formulas are good to 1e-6 at best, and
# speed counts.
set(oz_nvcc_flags -std=c++17 -O3 ${oz_arch} -ftz=true -prec-div=false -prec-sqrt=false -lineinfo
    -diag-suppress=177,186
    -Xcompiler=-fPIC,-fvisibility=hidden -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/solver_c
    -I${PROJECT_SOURCE_DIR}/solver_c/include)
find_program(OZ_CCACHE ccache)
if(OZ_CCACHE)
  set(oz_nvcc ${OZ_CCACHE} ${OZ_NVCC})
else()
  set(oz_nvcc ${OZ_NVCC})
endif()

# oz_nvcc(object source defines...)
function(oz_nvcc object source)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/cuda_${object}.o")
  add_custom_command(
    OUTPUT "${out}" DEPFILE "${out}.d" DEPENDS "${PROJECT_SOURCE_DIR}/cuda/${source}"
    COMMAND ${oz_nvcc} ${oz_nvcc_flags} ${ARGN} -MD -MF "${out}.d" -MT "${out}" -c
    "${PROJECT_SOURCE_DIR}/cuda/${source}" -o "${out}"
    COMMENT "nvcc ${object}" VERBATIM COMMAND_EXPAND_LISTS)
  set_source_files_properties("${out}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(oz_objects ${oz_objects} "${out}" PARENT_SCOPE)
  set(oz_cuda_objects ${oz_cuda_objects} "${out}" PARENT_SCOPE)
endfunction()

# the long ones first
set(OZ_CUDA_PARTS 8) # as in stage_launch.cu
oz_nvcc(cell_order cell_order.cu)
oz_nvcc(sort sort.cu)
oz_nvcc(permute permute.cu)
oz_nvcc(prefix_sum prefix_sum.cu)
oz_nvcc(streams streams.cu)
math(EXPR oz_last "${OZ_CUDA_PARTS} - 1")
foreach(part RANGE ${oz_last})
  oz_nvcc(stage_kernels_${part} stage_kernels.cu -DOZ_PARTS=${OZ_CUDA_PARTS} -DOZ_PART=${part})
endforeach()
oz_nvcc(neighbour_lists neighbour_lists.cu)
oz_nvcc(moved_cells moved_cells.cu)
oz_nvcc(cells cells.cu)
oz_nvcc(wall_contacts wall_contacts.cu)
oz_nvcc(wall_votes wall_votes.cu)
oz_nvcc(row_order row_order.cu)
oz_nvcc(static_cells static_cells.cu)
oz_nvcc(backend backend.cu)
oz_nvcc(memory memory.cu)
oz_nvcc(capacity capacity.cu)
oz_nvcc(shim shim.cu)
oz_nvcc(debug_options debug_options.cu)
oz_nvcc(mailbox mailbox.cu)
oz_nvcc(profile profile.cu)
oz_nvcc(device device.cu)
oz_nvcc(stage_launch stage_launch.cu)
oz_nvcc(stage_queue stage_queue.cu)
oz_nvcc(queries queries.cu)
oz_nvcc(removal removal.cu)
oz_nvcc(links links.cu)
oz_nvcc(arrays arrays.cu)
oz_nvcc(copies copies.cu)
oz_nvcc(births births.cu)
oz_nvcc(bricks bricks.cu)
add_custom_target(ooze_cuda DEPENDS ${oz_cuda_objects})

target_compile_definitions(ooze_objects PRIVATE OOZE_HAVE_CUDA)
list(APPEND oz_links "${OZ_CUDART}" ${CMAKE_DL_LIBS} stdc++)
if(UNIX AND NOT APPLE)
  list(APPEND oz_links rt)
endif()
message(STATUS "ooze: CUDA by ${OZ_NVCC}, architectures ${OOZE_CUDA_ARCHITECTURES}")
