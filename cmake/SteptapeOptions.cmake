# SPDX-License-Identifier: Apache-2.0
# The oldest compilers, and every build option, with a prefix so that none collides when Steptape is embedded. Options
# for developers default to PROJECT_IS_TOP_LEVEL: a project that embeds Steptape builds only the libraries.

set(_steptape_oldest_GNU 10)
set(_steptape_oldest_Clang 12)
# Older ones fail in the middle of the build, far from the cause.
if(DEFINED _steptape_oldest_${CMAKE_CXX_COMPILER_ID} AND
    CMAKE_CXX_COMPILER_VERSION VERSION_LESS _steptape_oldest_${CMAKE_CXX_COMPILER_ID})
  message(FATAL_ERROR "compiler ${CMAKE_CXX_COMPILER}: got ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}; "
                      "expected GCC 10, Clang 12, or newer. Install one and name it in the environment: CXX=g++-10")
endif()

set(STEPTAPE_WITH_MPI AUTO CACHE STRING "Build the mpi component: AUTO, ON (an error without MPI) or OFF")
set(STEPTAPE_WITH_TORCH AUTO CACHE STRING "Build the torch and trainer components: AUTO, ON or OFF")
set(STEPTAPE_WITH_GLOO AUTO CACHE STRING "Build the component c10d for several nodes: AUTO (if gloo's headers are found), ON or OFF")
set(STEPTAPE_WITH_FIGURE AUTO CACHE STRING "Build the figure component: AUTO, ON (an error without Cairo) or OFF")
set(STEPTAPE_WITH_IMAGES AUTO CACHE STRING "Build the images component: AUTO, ON (an error without libjpeg-turbo and libpng) or OFF")
set(STEPTAPE_WITH_SERVER AUTO CACHE STRING "Build the data server for TensorBoard: AUTO, ON (an error without nghttp2) or OFF")
set(STEPTAPE_WITH_CUDA AUTO CACHE STRING "Link LibTorch's CUDA libraries: AUTO (if they can be loaded), ON or OFF")
set(STEPTAPE_BUILD_PYTHON OFF CACHE STRING "Build the Python package: AUTO (if nanobind is found), ON (an error without it) or OFF")
set(STEPTAPE_PROTOBUF_SOURCE system CACHE STRING
  "Protocol Buffers: system; or, to link a private copy, the folder that holds google/protobuf of a 3.21 release, or fetch (by pip)")
set(STEPTAPE_NGHTTP2_SOURCE system CACHE STRING
  "nghttp2: system; or, to link a private copy, the folder of a release of nghttp2, or fetch (by pip)")
set_property(CACHE STEPTAPE_WITH_MPI STEPTAPE_WITH_TORCH STEPTAPE_WITH_GLOO STEPTAPE_WITH_FIGURE STEPTAPE_WITH_IMAGES STEPTAPE_WITH_SERVER STEPTAPE_WITH_CUDA STEPTAPE_BUILD_PYTHON
  PROPERTY STRINGS AUTO ON OFF)

option(STEPTAPE_BUILD_TOOLS "Build the command-line tool" ${PROJECT_IS_TOP_LEVEL})
option(STEPTAPE_BUILD_C "Build the component c, a shared library for C and Fortran" ${PROJECT_IS_TOP_LEVEL})
option(STEPTAPE_FMT_HEADER_ONLY "Build {fmt} into the tool instead of linking its shared library" OFF)
option(STEPTAPE_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(STEPTAPE_GPU_TESTS "Run tests/gpu on this machine's CUDA devices (ctest label gpu); they fail without one" OFF)
option(STEPTAPE_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(STEPTAPE_BUILD_BENCHMARKS "Add the target `benchmarks`, which builds the benchmark programs" ${PROJECT_IS_TOP_LEVEL})
option(STEPTAPE_INSTALL "Generate the install rules" ${PROJECT_IS_TOP_LEVEL})
option(STEPTAPE_STATIC_TOOL "Link the tool without shared libraries; add STEPTAPE_FMT_HEADER_ONLY if {fmt} has no static library" OFF)
# Off by default, also at the top level: a compiler that is newer than this release warns about something, and that is
# not for users to mend. The presets of CI and developers turn it on.
option(STEPTAPE_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
set(STEPTAPE_SANITIZE "" CACHE STRING "Sanitizers for Steptape's targets, in the form of -fsanitize=: address,undefined or thread")
option(STEPTAPE_PRECOMPILE_HEADERS "Precompile headers for tests, and for programs on LibTorch, unoptimized; for builds without a compiler cache" OFF)
option(STEPTAPE_FUZZ "Build only the fuzz targets of the tests, with Clang's libFuzzer" OFF)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# One folder for all programs, which the scripts in tools/ and the documents name.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(STEPTAPE_CCACHE ccache)
  mark_as_advanced(STEPTAPE_CCACHE)
  if(STEPTAPE_CCACHE)
    # Every compiler call would fail with a cache that is not writable.
    file(WRITE ${PROJECT_BINARY_DIR}/CMakeFiles/ccache_probe.cpp "int probe;\n")
    execute_process(
      COMMAND ${STEPTAPE_CCACHE} ${CMAKE_CXX_COMPILER} -c ccache_probe.cpp -o ccache_probe.o
      WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/CMakeFiles
      RESULT_VARIABLE _steptape_ccache_status OUTPUT_QUIET ERROR_VARIABLE _steptape_ccache_error)
    if(_steptape_ccache_status EQUAL 0)
      set(CMAKE_CXX_COMPILER_LAUNCHER ${STEPTAPE_CCACHE})
    else()
      string(STRIP "${_steptape_ccache_error}" _steptape_ccache_error)
      message(STATUS "Building without ccache, which failed: ${_steptape_ccache_error}. Set CCACHE_DIR to a writable folder.")
    endif()
  endif()
endif()

# The default linker takes two seconds for a program on LibTorch, these take one.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_LINKER_TYPE AND NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-fuse-ld=")
  include(CheckLinkerFlag)
  foreach(linker IN ITEMS lld mold)
    check_linker_flag(CXX -fuse-ld=${linker} STEPTAPE_LINKS_WITH_${linker})
    if(STEPTAPE_LINKS_WITH_${linker})
      add_link_options(-fuse-ld=${linker})
      break()
    endif()
  endforeach()
endif()
