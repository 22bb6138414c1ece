# SPDX-License-Identifier: Apache-2.0
# steptape_add_test(<name> SOURCES ... [LINK ...] [ONE_PROCESS] [OPTIMIZED]
#                   [COUNTS_ALLOCATIONS] [PROCESS_PER_CASE])
#   A Google Test program. Each TEST is one ctest, named <name>.<Suite>.<Case>.
#   ONE_PROCESS: the whole program is one ctest. For programs that take longer to start than a test takes
#   (LibTorch: 0.4 s). So is each program with sanitizers, which take half of the tests' time to start.
#   PROCESS_PER_CASE: not this one, whose tests leave something behind in their process.
#   OPTIMIZED: compiles the test's own code optimized, because it takes long.
#   COUNTS_ALLOCATIONS: replaces operator new with that of tests/support/allocations.h. Builds with sanitizers,
#   which have their own, omit the program.
# steptape_add_mpi_test(<name> RANKS <n> ... SOURCES ... [LINK ...])
#   Runs the program under mpiexec once per rank count, oversubscribed if needed. Its main() is
#   tests/ranks/mpi/mpi_test_main.cpp: if one rank fails, the test fails.
# steptape_discover_job_tests(<name> <label> ...)
#   Each TEST of a Google Test program that starts jobs of two ranks or more with mpiexec is one ctest. The jobs
#   wait most of their time, for ranks that do not come, and take no more of a machine than one process.
# steptape_add_c10d_test(<name> RANKS <n> ... SOURCES ... [LINK ...])
#   The same for ranks that tests/support/start_ranks.cpp starts, as torchrun does.

find_package(GTest QUIET)
if(NOT GTest_FOUND)
  include(FetchContent)
  FetchContent_Declare(googletest URL https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz)
  FetchContent_MakeAvailable(googletest)
endif()
include(GoogleTest)

# By default Open MPI rejects root and more ranks than cores. Other MPIs ignore these variables. Each release has a
# name of its own for the latter, and 6 warns of that of 5.
set(STEPTAPE_MPI_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1)
if(MPIEXEC_EXECUTABLE)
  execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE version ERROR_QUIET)
  if(version MATCHES "Open MPI\\) ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 6)
    list(APPEND STEPTAPE_MPI_ENVIRONMENT PRTE_MCA_mapby=:oversubscribe)
  else()
    list(APPEND STEPTAPE_MPI_ENVIRONMENT PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)
  endif()
endif()

# ctest starts tests with a higher cost first: jobs of several ranks, which need several free cores at once, and
# then tests that mostly wait, for a browser or for late ranks, and can run next to the jobs.
set(STEPTAPE_COST_OF_JOB 2000)
set(STEPTAPE_COST_OF_WAITING 1000)

# Builds what tests without the label `slow` need, and every program that ctest runs to discover its tests.
# tools/test.sh --quick builds only this target.
add_custom_target(quick_tests)
if(TARGET steptape)
  add_dependencies(quick_tests steptape)
endif()

# Builds what tests with the label `mpi` need: those that start ranks with mpiexec. tools/test.sh --mpi builds only this
# target.
add_custom_target(mpi_tests)

# Test code usually runs once per compilation, so optimizing it takes longer than it saves. The libraries under
# test keep the flags of the build type.
add_library(steptape_test_flags INTERFACE)
target_link_libraries(steptape_test_flags INTERFACE steptape_build_flags steptape_test_checks)
target_compile_options(steptape_test_flags INTERFACE -O0)

# UndefinedBehaviorSanitizer looks at each access through a pointer: a third of what a test takes to compile. In tests'
# own code AddressSanitizer finds the null pointers, and the libraries under test keep all checks. It follows the flags
# that it changes.
add_library(steptape_test_checks INTERFACE)
if(STEPTAPE_SANITIZE MATCHES undefined)
  target_compile_options(steptape_test_checks INTERFACE -fno-sanitize=null,alignment,vptr)
endif()

# Options of the configuration of another project on LibTorch, which then uses the headers that SteptapePrecompile.cmake
# precompiles: half of what it compiles. Where its flags do not fit, the compiler reads the headers themselves.
set(STEPTAPE_TORCH_HEADERS_OPTIONS)
if(STEPTAPE_PRECOMPILE_HEADERS AND STEPTAPE_HAVE_TORCH)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  set(precompiled ${PROJECT_BINARY_DIR}/CMakeFiles/steptape_torch_headers.dir/cmake_pch.hxx)
  file(WRITE ${PROJECT_BINARY_DIR}/torch_headers.cmake
    "add_compile_options(${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} -O0 -include \"${precompiled}\")\n")
  set(STEPTAPE_TORCH_HEADERS_OPTIONS -DCMAKE_PROJECT_INCLUDE=${PROJECT_BINARY_DIR}/torch_headers.cmake)
endif()

function(steptape_test_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED" "" "SOURCES;LINK")
  set(flags steptape_test_flags)
  if(arg_OPTIMIZED)
    set(flags steptape_build_flags steptape_test_checks)
  endif()
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LINK} GTest::gmock ${flags})
  # src/ too: internals such as rings and encoders have their own tests.
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE
    STEPTAPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" STEPTAPE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_dependencies(quick_tests ${target})
endfunction()

function(steptape_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ONE_PROCESS;OPTIMIZED;COUNTS_ALLOCATIONS;PROCESS_PER_CASE" "" "SOURCES;LINK")
  if(arg_COUNTS_ALLOCATIONS AND STEPTAPE_SANITIZE)
    return()
  endif()
  if(arg_COUNTS_ALLOCATIONS)
    list(APPEND arg_SOURCES ${PROJECT_SOURCE_DIR}/tests/support/allocations.cpp)
  endif()
  set(optimized)
  if(arg_OPTIMIZED)
    set(optimized OPTIMIZED)
  endif()
  steptape_test_program(${name} SOURCES ${arg_SOURCES} LINK ${arg_LINK} GTest::gtest_main ${optimized})
  # Tests fork while threads run and start threads in the child, which TSan rejects by default.
  set(properties ENVIRONMENT "TSAN_OPTIONS=halt_on_error=1:die_after_fork=0")
  # These tests visit every allocation, or data larger than memory.
  if(arg_COUNTS_ALLOCATIONS)
    list(APPEND properties LABELS slow)
  endif()
  if(arg_ONE_PROCESS OR (STEPTAPE_SANITIZE AND NOT arg_PROCESS_PER_CASE))
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties})
  else()
    gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 600 PROPERTIES ${properties})
  endif()
endfunction()

# steptape_cores_of_job(<out> <ranks>): what ctest keeps free for a job. A job that asks for more than there is would wait
# for the end of all other tests, and run alone.
function(steptape_cores_of_job out ranks)
  if(ranks GREATER 2)
    set(ranks 2)
  endif()
  set(${out} ${ranks} PARENT_SCOPE)
endfunction()

function(steptape_add_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "RANKS;SOURCES;LINK;LABELS")
  steptape_test_program(${name} SOURCES ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/tests/ranks/mpi/mpi_test_main.cpp LINK ${arg_LINK})
  add_dependencies(mpi_tests ${name})
  foreach(ranks IN LISTS arg_RANKS)
    steptape_cores_of_job(cores ${ranks})
    add_test(NAME ${name}.${ranks}_ranks
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS} $<TARGET_FILE:${name}> ${MPIEXEC_POSTFLAGS})
    set_tests_properties(${name}.${ranks}_ranks PROPERTIES
      PROCESSORS ${cores}
      COST ${STEPTAPE_COST_OF_JOB}
      LABELS "mpi;${arg_LABELS}"
      ENVIRONMENT "${STEPTAPE_MPI_ENVIRONMENT};OMP_NUM_THREADS=1")
  endforeach()
endfunction()

function(steptape_discover_job_tests name)
  # gtest_discover_tests cannot pass a list on. ctest adds up the labels.
  list(TRANSFORM ARGN PREPEND "LABELS;" OUTPUT_VARIABLE labels)
  gtest_discover_tests(${name}
    TEST_PREFIX ${name}.
    PROPERTIES COST ${STEPTAPE_COST_OF_WAITING} ${labels})
  add_dependencies(mpi_tests ${name})
endfunction()

function(steptape_add_c10d_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "RANKS;SOURCES;LINK;LABELS")
  steptape_test_program(${name} SOURCES ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/tests/ranks/c10d/c10d_test_main.cpp LINK ${arg_LINK})
  foreach(ranks IN LISTS arg_RANKS)
    steptape_cores_of_job(cores ${ranks})
    add_test(NAME ${name}.${ranks}_ranks COMMAND start_ranks ${ranks} $<TARGET_FILE:${name}>)
    set_tests_properties(${name}.${ranks}_ranks PROPERTIES
      PROCESSORS ${cores}
      COST ${STEPTAPE_COST_OF_JOB}
      LABELS "c10d;${arg_LABELS}"
      ENVIRONMENT "OMP_NUM_THREADS=1")
  endforeach()
endfunction()

# steptape_add_script_test(<name> <script> [ARGUMENTS ...] [MODULES ...] [PACKAGES <folder>])
#   Runs a Python script of this directory as one ctest. Without Python, TensorBoard or MODULES the test fails and
#   RunPython.cmake prints what to install, so that no one skips these tests unnoticed. The packages in the folder
#   PACKAGES precede those of Python, and it must exist.
function(steptape_add_script_test name script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ARGUMENTS;MODULES;PACKAGES")
  add_test(NAME ${name}
    COMMAND ${CMAKE_COMMAND}
      -DVENV=${PROJECT_SOURCE_DIR}/.venv -DSCRIPT=${CMAKE_CURRENT_SOURCE_DIR}/${script}
      "-DARGUMENTS=${arg_ARGUMENTS}" "-DMODULES=${arg_MODULES}" "-DPACKAGES=${arg_PACKAGES}"
      -P ${PROJECT_SOURCE_DIR}/tests/support/RunPython.cmake)
endfunction()
