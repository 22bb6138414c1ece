# SPDX-License-Identifier: Apache-2.0
# Sets MPIEXEC_EXECUTABLE to a launcher of the MPI that find_package(MPI) has found. The first one on PATH may be that
# of another MPI, such as a Python environment's: each process that it starts would be rank 0 of 1.
#
# Sets STEPTAPE_MPIEXEC_PROBLEM (in the cache) to one sentence if there is none, and else to nothing.

# Sets <out> to "Open MPI" or "MPICH" (also for Intel MPI, whose launchers are interchangeable with MPICH's), or nothing.
function(steptape_mpi_family out)
  set(family "")
  unset(header)  # a caller's variable of this name would end the search before it begins
  find_file(header mpi.h PATHS ${MPI_CXX_INCLUDE_DIRS} NO_DEFAULT_PATH NO_CACHE)
  if(header)
    file(STRINGS ${header} names REGEX "#[ ]*define +(OPEN_MPI|OMPI_MAJOR_VERSION|MPICH_NAME|MPICH_VERSION|I_MPI_VERSION)")
    if(names MATCHES "OPEN_MPI|OMPI_")
      set(family "Open MPI")
    elseif(names)
      set(family MPICH)
    endif()
  endif()
  set(${out} "${family}" PARENT_SCOPE)
endfunction()

function(_steptape_mpiexec_family mpiexec out)
  set(family "")
  execute_process(COMMAND ${mpiexec} --version OUTPUT_VARIABLE version ERROR_VARIABLE version)
  if(version MATCHES "Open MPI|OpenRTE|PRRTE")
    set(family "Open MPI")
  elseif(version MATCHES "HYDRA|Intel")
    set(family MPICH)
  endif()
  set(${out} "${family}" PARENT_SCOPE)
endfunction()

function(steptape_match_mpiexec)
  set(STEPTAPE_MPIEXEC_PROBLEM "" CACHE INTERNAL "Why MPIEXEC_EXECUTABLE cannot start ranks")
  steptape_mpi_family(expected)
  # An MPI or a launcher that is neither: nothing is known about it.
  _steptape_mpiexec_family("${MPIEXEC_EXECUTABLE}" got)
  if(expected STREQUAL "" OR got STREQUAL "" OR got STREQUAL expected)
    return()
  endif()
  get_filename_component(folder "${MPI_CXX_COMPILER}" DIRECTORY)
  string(TOLOWER "${expected}" suffix)
  string(REPLACE " " "" suffix "${suffix}")
  foreach(name IN ITEMS mpiexec mpiexec.${suffix} mpiexec.hydra)
    find_program(other ${name} HINTS ${folder} NO_CACHE)
    if(other)
      _steptape_mpiexec_family(${other} family)
      if(family STREQUAL expected)
        message(STATUS "${MPIEXEC_EXECUTABLE} is of ${got}, and the MPI that was found is ${expected}: using ${other}")
        set(MPIEXEC_EXECUTABLE ${other} CACHE FILEPATH "Executable for running MPI programs." FORCE)
        return()
      endif()
    endif()
    unset(other)
  endforeach()
  string(CONCAT problem "MPIEXEC_EXECUTABLE: got ${MPIEXEC_EXECUTABLE}, which is of ${got}; expected one of ${expected}, "
    "which ${MPI_CXX_COMPILER} compiles for. Put that first on PATH, or set MPIEXEC_EXECUTABLE")
  set(STEPTAPE_MPIEXEC_PROBLEM "${problem}" CACHE INTERNAL "Why MPIEXEC_EXECUTABLE cannot start ranks")
  message(WARNING "${problem}. Until then, programs of several ranks do not work.")
endfunction()
