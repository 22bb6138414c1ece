# SPDX-License-Identifier: Apache-2.0
# Builds the lite runtime of Protocol Buffers from STEPTAPE_PROTOBUF_SOURCE, as a static library whose symbols
# nothing else in the process sees, and declares steptape::protobuf and protobuf::protoc. A Python module cannot
# link a distribution's static libraries: they are not position-independent code.
#
# STEPTAPE_PROTOBUF_SOURCE is the folder that holds google/protobuf of release 21 (C++ 3.21), the last release
# that depends only on the standard library.

# Fetches that source with pip if the builder of a wheel named none. The source distribution of grpcio-tools
# contains all of it.
function(steptape_fetch_protobuf out)
  set(package grpcio-tools==1.51.3)
  set(folder ${PROJECT_BINARY_DIR}/protobuf_source)
  set(source ${folder}/grpcio-tools-1.51.3/third_party/protobuf/src)
  if(NOT EXISTS ${source})
    message(STATUS "Fetching the source of Protocol Buffers: pip download ${package}")
    find_package(Python QUIET COMPONENTS Interpreter)
    # pip runs the package's setup.py to learn its name, which needs an older setuptools.
    file(WRITE ${folder}/constraints.txt "setuptools<81\n")
    execute_process(
      COMMAND ${CMAKE_COMMAND} -E env PIP_CONSTRAINT=${folder}/constraints.txt
        PIP_BUILD_CONSTRAINT=${folder}/constraints.txt
        ${Python_EXECUTABLE} -m pip download --quiet --no-deps --no-binary :all: --dest ${folder} ${package}
      RESULT_VARIABLE result ERROR_VARIABLE error)
    file(GLOB archive ${folder}/grpcio*tools-*.tar.gz)
    if(NOT result EQUAL 0 OR NOT archive)
      message(FATAL_ERROR
        "Source of Protocol Buffers: pip download ${package}: got exit code ${result}; expected 0.\n${error}\n"
        "The wheel links a private copy. Either pass a folder that holds google/protobuf of a 3.21 release: "
        "pip wheel . -C cmake.define.STEPTAPE_PROTOBUF_SOURCE=FOLDER. Or link the shared library of this "
        "machine, for a wheel that works only here: -C cmake.define.STEPTAPE_PROTOBUF_SOURCE=system")
    endif()
    file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${folder} PATTERNS */third_party/protobuf/src/*)
  endif()
  set(${out} ${source} PARENT_SCOPE)
endfunction()

# steptape_protobuf_sources(<out> <folder> ...): the sources below google/protobuf, without tests
function(steptape_protobuf_sources out)
  set(found "")
  foreach(folder IN LISTS ARGN)
    file(GLOB sources ${STEPTAPE_PROTOBUF_SOURCE}/google/protobuf/${folder}/*.cc)
    list(FILTER sources EXCLUDE REGEX "(test|mock|benchmark|_tester)[a-z_0-9]*\\.cc$|/main\\.cc$")
    list(APPEND found ${sources})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

function(steptape_protobuf_library name)
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${ARGN})
  target_include_directories(${name} SYSTEM PUBLIC $<BUILD_INTERFACE:${STEPTAPE_PROTOBUF_SOURCE}>)
  target_compile_features(${name} PUBLIC cxx_std_17)
  target_compile_definitions(${name} PRIVATE HAVE_PTHREAD)
  target_compile_options(${name} PRIVATE -w -ffunction-sections -fdata-sections)
  target_link_libraries(${name} PUBLIC Threads::Threads)
  set_target_properties(${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD OFF)
endfunction()

function(steptape_find_protoc out)
  find_program(STEPTAPE_PROTOC protoc)
  mark_as_advanced(STEPTAPE_PROTOC)
  set(${out} FALSE PARENT_SCOPE)
  if(STEPTAPE_PROTOC)
    execute_process(COMMAND ${STEPTAPE_PROTOC} --version OUTPUT_VARIABLE version ERROR_QUIET)
    # Every protoc 3.21 fits every library 3.21.
    if(version MATCHES "libprotoc (3\\.)?21\\.")
      set(${out} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

if(STEPTAPE_PROTOBUF_SOURCE STREQUAL "fetch")
  steptape_fetch_protobuf(STEPTAPE_PROTOBUF_SOURCE)
endif()
set(header ${STEPTAPE_PROTOBUF_SOURCE}/google/protobuf/stubs/common.h)
if(NOT EXISTS ${header})
  message(FATAL_ERROR "STEPTAPE_PROTOBUF_SOURCE: got ${STEPTAPE_PROTOBUF_SOURCE}, without "
                      "google/protobuf/stubs/common.h; expected the folder src of Protocol Buffers 3.21")
endif()
file(STRINGS ${header} version REGEX "#define GOOGLE_PROTOBUF_VERSION 3021[0-9]+")
if(NOT version)
  message(FATAL_ERROR "STEPTAPE_PROTOBUF_SOURCE: got another release in ${STEPTAPE_PROTOBUF_SOURCE}; expected 3.21")
endif()

# Its license asks for its text beside a binary. Each source begins with it; the source distribution has no file of it.
file(READ ${header} text)
string(REGEX REPLACE "\n\n.*" "\n" text "${text}")
string(REGEX REPLACE "(^|\n)// ?" "\\1" text "${text}")
set(STEPTAPE_PROTOBUF_LICENSE ${PROJECT_BINARY_DIR}/protobuf_license.txt)
file(WRITE ${STEPTAPE_PROTOBUF_LICENSE} "${text}")

set(lite
  any_lite arena arenastring arenaz_sampler extension_set generated_enum_util generated_message_tctable_lite
  generated_message_util implicit_weak_message inlined_string_field io/coded_stream io/strtod
  io/zero_copy_stream io/zero_copy_stream_impl io/zero_copy_stream_impl_lite map message_lite parse_context
  repeated_field repeated_ptr_field stubs/bytestream stubs/common stubs/int128 stubs/status stubs/statusor
  stubs/stringpiece stubs/stringprintf stubs/structurally_valid stubs/strutil stubs/time wire_format_lite)
list(TRANSFORM lite REPLACE "(.+)" "${STEPTAPE_PROTOBUF_SOURCE}/google/protobuf/\\1.cc")
steptape_protobuf_library(steptape_protobuf_lite ${lite})
add_library(steptape::protobuf ALIAS steptape_protobuf_lite)
set_target_properties(steptape_protobuf_lite PROPERTIES EXPORT_NAME protobuf)
# Another namespace: a program that links this archive may link Protocol Buffers of any version besides. Neither the
# preprocessor's <google/...> nor a name in a text changes.
target_compile_definitions(steptape_protobuf_lite PUBLIC $<BUILD_INTERFACE:google=steptape_google>)

steptape_find_protoc(has_protoc)
if(has_protoc)
  add_executable(protobuf::protoc IMPORTED)
  set_target_properties(protobuf::protoc PROPERTIES IMPORTED_LOCATION ${STEPTAPE_PROTOC})
else()
  # Only the C++ generator: protoc's other generators would double the compile time.
  steptape_protobuf_sources(full . io stubs compiler compiler/cpp)
  steptape_protobuf_library(steptape_protobuf_full ${full})
  file(WRITE ${PROJECT_BINARY_DIR}/protoc_main.cpp [[
#include <google/protobuf/compiler/command_line_interface.h>
#include <google/protobuf/compiler/cpp/generator.h>
int main(int argc, char** argv) {
  google::protobuf::compiler::CommandLineInterface protoc;
  google::protobuf::compiler::cpp::CppGenerator cpp;
  protoc.RegisterGenerator("--cpp_out", &cpp, "Generate C++ code.");
  return protoc.Run(argc, argv);
}
]])
  add_executable(steptape_protoc EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/protoc_main.cpp)
  target_link_libraries(steptape_protoc PRIVATE steptape_protobuf_full)
  add_executable(protobuf::protoc ALIAS steptape_protoc)
endif()
