# SPDX-License-Identifier: Apache-2.0
# For STEPTAPE_PRECOMPILE_HEADERS: two sets of headers are read once for all programs that use them. A precompiled header
# fits only sources with the same flags; where it does not, -Winvalid-pch fails.
#
# LibTorch's are most of what a program on it compiles: tests, examples and benchmarks that take 23 s of processor time
# take 9. All these are compiled without optimization, as tests are. The libraries are few, and keep their flags.
#
# Google Test's, and those of the standard library that most tests include, are a second of each test.

# steptape_add_headers(<target> HEADERS ... LINK ...)
function(steptape_add_headers target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;LINK")
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  file(GENERATE OUTPUT ${source} CONTENT "// The compiler's -include gives the headers.\n")
  add_library(${target} OBJECT ${source})
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  target_compile_options(${target} PRIVATE -O0)
  target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
endfunction()

# steptape_precompile(<folder>): each program of the folder, and below
function(steptape_precompile folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(NOT type MATCHES "EXECUTABLE|OBJECT_LIBRARY")
      continue()
    endif()
    if(libraries MATCHES "steptape::(libtorch|torch|trainer|train_(checkpoint|data|replicas|scaling))(;|$)")
      target_compile_options(${target} PRIVATE -O0)
      target_precompile_headers(${target} REUSE_FROM steptape_torch_headers)
    elseif(libraries MATCHES "GTest::gmock.*steptape_test_flags" AND NOT libraries MATCHES "steptape::c10d")
      target_precompile_headers(${target} REUSE_FROM steptape_test_headers)
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(folder IN LISTS folders)
    steptape_precompile(${folder})
  endforeach()
endfunction()

if(STEPTAPE_HAVE_TORCH)
  steptape_add_headers(steptape_torch_headers
    HEADERS <torch/torch.h>
    LINK steptape::libtorch steptape_build_flags)
endif()
find_package(GTest QUIET)
steptape_add_headers(steptape_test_headers
  HEADERS <chrono> <filesystem> <fstream> <functional> <map> <random> <sstream> <thread> <gmock/gmock.h>
  LINK GTest::gmock steptape_test_flags)
foreach(folder IN ITEMS benchmarks examples tests)
  if(EXISTS ${PROJECT_BINARY_DIR}/${folder})
    steptape_precompile(${PROJECT_SOURCE_DIR}/${folder})
  endif()
endforeach()
