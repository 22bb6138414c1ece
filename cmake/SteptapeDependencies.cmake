# SPDX-License-Identifier: Apache-2.0
# Finds what the library links to. The order matters: see "Protocol Buffers before LibTorch" below.

if(STEPTAPE_STATIC_TOOL)
  set(ZLIB_USE_STATIC_LIBS ON)
  set(Protobuf_USE_STATIC_LIBS ON)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
# Headers that src/trace alone includes: what is installed needs them no more.
find_package(nlohmann_json REQUIRED)

# Protocol Buffers before LibTorch, and with every LibTorch prefix hidden: LibTorch's wheel ships
# google/protobuf headers of another version, and what protoc generated does not compile against them.
include(SteptapeFindProtobuf)
if(NOT Protobuf_FOUND OR NOT TARGET protobuf::protoc)
  message(FATAL_ERROR "Protocol Buffers was not found. Install it: apt-get install protobuf-compiler libprotobuf-dev")
endif()
# protoc counts its releases as 25.1 where the C++ headers of the same release say 4.25.1.
get_target_property(_steptape_protoc protobuf::protoc LOCATION)
execute_process(COMMAND ${_steptape_protoc} --version OUTPUT_VARIABLE _steptape_protoc_version)
if(NOT _steptape_protoc_version MATCHES "libprotoc ([0-9.]+)" OR NOT Protobuf_VERSION MATCHES "(^|\\.)${CMAKE_MATCH_1}$")
  string(STRIP "${_steptape_protoc_version}" _steptape_protoc_version)
  message(FATAL_ERROR
    "protoc and the headers of Protocol Buffers differ: ${_steptape_protoc} is '${_steptape_protoc_version}', "
    "the headers are ${Protobuf_VERSION} in ${Protobuf_INCLUDE_DIRS}. "
    "Name one installation in Protobuf_ROOT, and clear the CMake cache.")
endif()

set(STEPTAPE_HAVE_MPI FALSE)
if(NOT STEPTAPE_WITH_MPI STREQUAL "OFF")
  find_package(MPI COMPONENTS CXX)
  set(STEPTAPE_HAVE_MPI ${MPI_CXX_FOUND})
  if(STEPTAPE_WITH_MPI STREQUAL "ON" AND NOT STEPTAPE_HAVE_MPI)
    message(FATAL_ERROR "STEPTAPE_WITH_MPI is ON but no MPI was found. Install one: apt-get install libopenmpi-dev openmpi-bin")
  endif()
endif()
add_feature_info(mpi STEPTAPE_HAVE_MPI "MpiCommunicator (STEPTAPE_WITH_MPI)")

set(STEPTAPE_HAVE_TORCH FALSE)
if(NOT STEPTAPE_WITH_TORCH STREQUAL "OFF")
  include(SteptapeFindTorch)
  if(TARGET steptape::libtorch)
    set(STEPTAPE_HAVE_TORCH TRUE)
    message(STATUS "LibTorch ${STEPTAPE_TORCH_VERSION} in ${STEPTAPE_TORCH_ROOT}, C++${STEPTAPE_TORCH_CXX_STANDARD}")
  elseif(STEPTAPE_WITH_TORCH STREQUAL "ON")
    message(FATAL_ERROR "STEPTAPE_WITH_TORCH is ON but ${STEPTAPE_TORCH_PROBLEM}, or run tools/setup.sh")
  else()
    message(STATUS "Without LibTorch: ${STEPTAPE_TORCH_PROBLEM}")
  endif()
endif()
add_feature_info(torch STEPTAPE_HAVE_TORCH "LibTorch tensors, operator profiles and the trainer (STEPTAPE_WITH_TORCH)")
add_feature_info(cuda STEPTAPE_TORCH_CUDA "LibTorch's CUDA libraries (STEPTAPE_WITH_CUDA)")

set(STEPTAPE_HAVE_FIGURE FALSE)
if(NOT STEPTAPE_WITH_FIGURE STREQUAL "OFF")
  include(SteptapeFindCairo)
  if(TARGET steptape::cairo)
    set(STEPTAPE_HAVE_FIGURE TRUE)
  elseif(STEPTAPE_WITH_FIGURE STREQUAL "ON")
    message(FATAL_ERROR "STEPTAPE_WITH_FIGURE is ON but Cairo was not found. Install it: apt-get install libcairo2-dev pkg-config")
  endif()
endif()
add_feature_info(figure STEPTAPE_HAVE_FIGURE "Figures drawn by Cairo (STEPTAPE_WITH_FIGURE)")
