# SPDX-License-Identifier: Apache-2.0
# Shared by the build and by the installed package, which compiles the modules in its user's project: `.mod` files
# fit one compiler.

# steptape_add_fortran(<name> <source> <library>...): declares steptape::<name>, a module for Fortran.
function(steptape_add_fortran name source)
  set(target steptape_${name})
  set(modules ${CMAKE_CURRENT_BINARY_DIR}/${target}_modules)
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${source})
  add_library(steptape::${name} ALIAS ${target})
  target_link_libraries(${target} PUBLIC ${ARGN})
  target_include_directories(${target} INTERFACE ${modules})
  set_target_properties(${target} PROPERTIES
    Fortran_MODULE_DIRECTORY ${modules}
    POSITION_INDEPENDENT_CODE ON
    UNITY_BUILD OFF)
endfunction()

# steptape_check_fortran(<out>): sets <out> to why this project cannot compile the modules, or to nothing.
# steptape_check_fortran_mpi(<out>): the same for the module over MPI. Macros, because what they find must reach the
# caller.
macro(steptape_check_fortran out)
  set(${out} "")
  if(NOT CMAKE_Fortran_COMPILER_LOADED)
    set(${out} "it needs Fortran, which this project has not enabled. Add it: project(NAME LANGUAGES Fortran)")
  endif()
endmacro()

macro(steptape_check_fortran_mpi out)
  steptape_check_fortran(${out})
  if(NOT ${out})
    find_package(MPI QUIET COMPONENTS Fortran)
    if(NOT MPI_Fortran_FOUND OR NOT MPI_Fortran_HAVE_F08_MODULE)
      set(${out} "it needs MPI with the Fortran module mpi_f08, which was not found. Install one: apt-get install libopenmpi-dev")
    endif()
  endif()
endmacro()
