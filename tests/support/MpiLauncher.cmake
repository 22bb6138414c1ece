# SPDX-License-Identifier: Apache-2.0
# What mpiexec of each MPI does when a rank fails. Tests of failing jobs expect this of the launcher, and no more.
#
#   STEPTAPE_LAUNCHER_SAYS_KILLED     a regular expression for what it prints when SIGKILL ends a rank
#   STEPTAPE_LAUNCHER_NAMES_KILLED    the same for rank 1 of 2, with its number if the launcher tells it
#   STEPTAPE_LAUNCHER_NAMES_LEAVER    what it prints when rank 1 of 2 ends by _exit(0) before MPI_Finalize()
#   STEPTAPE_LAUNCHER_REPORTS_LEAVER  whether its exit code is an error then: 1 or 0
#   STEPTAPE_LAUNCHER_WARNS           whether the other ranks of a dead one get SIGTERM first, and so have the time to
#                                     find out who it is: 1 or 0
#   STEPTAPE_LAUNCHER_NEEDS_MPI       whether the other ranks of a dead one live on if it has not called MPI_Init(), and
#                                     mpiexec waits for them: 1 or 0
if(MPIEXEC_EXECUTABLE)
  execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE version ERROR_VARIABLE version)
endif()
if(version MATCHES "Intel")
  # It kills the others within 5 ms, and then names all that a signal has ended, in the order of ranks.
  set(STEPTAPE_LAUNCHER_SAYS_KILLED "SIGNAL: 9")
  set(STEPTAPE_LAUNCHER_NAMES_KILLED "RANK 1 PID .*SIGNAL: 9")
  set(STEPTAPE_LAUNCHER_NAMES_LEAVER "RANK 0 PID .*SIGNAL: 9")
  set(STEPTAPE_LAUNCHER_REPORTS_LEAVER 1)
  set(STEPTAPE_LAUNCHER_WARNS 0)
  set(STEPTAPE_LAUNCHER_NEEDS_MPI 1)
elseif(version MATCHES "HYDRA")
  # MPICH. It kills the others within 5 ms, and names no rank. Its exit code is that of any of them: 0 or 9 if one leaves.
  set(STEPTAPE_LAUNCHER_SAYS_KILLED "signal 9")
  set(STEPTAPE_LAUNCHER_NAMES_KILLED "signal 9")
  set(STEPTAPE_LAUNCHER_NAMES_LEAVER "")
  set(STEPTAPE_LAUNCHER_REPORTS_LEAVER 0)
  set(STEPTAPE_LAUNCHER_WARNS 0)
  set(STEPTAPE_LAUNCHER_NEEDS_MPI 0)
else()
  # Open MPI. SIGTERM after 0.25 to 1 s, then SIGKILL.
  set(STEPTAPE_LAUNCHER_SAYS_KILLED "signal 9")
  set(STEPTAPE_LAUNCHER_NAMES_KILLED "rank 1 .*signal 9")
  set(STEPTAPE_LAUNCHER_NAMES_LEAVER "rank 1|Process name: .*,1.,1.")
  set(STEPTAPE_LAUNCHER_REPORTS_LEAVER 1)
  set(STEPTAPE_LAUNCHER_WARNS 1)
  set(STEPTAPE_LAUNCHER_NEEDS_MPI 0)
endif()

# The same for C++. No brackets in these: CMake would take them for a part of its list.
add_library(mpi_launcher INTERFACE)
foreach(name IN ITEMS SAYS_KILLED NAMES_KILLED NAMES_LEAVER)
  target_compile_definitions(mpi_launcher INTERFACE STEPTAPE_LAUNCHER_${name}="${STEPTAPE_LAUNCHER_${name}}")
endforeach()
foreach(name IN ITEMS REPORTS_LEAVER NEEDS_MPI)
  target_compile_definitions(mpi_launcher INTERFACE STEPTAPE_LAUNCHER_${name}=${STEPTAPE_LAUNCHER_${name}})
endforeach()
