# SPDX-License-Identifier: Apache-2.0
# Finds what the library links to. The order matters: Protocol Buffers comes before LibTorch; see
# SteptapeSystemProtobuf.cmake.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
# Headers that src/trace alone includes: what is installed needs them no more.
find_package(nlohmann_json REQUIRED)

if(STEPTAPE_PROTOBUF_SOURCE STREQUAL "system")
  include(SteptapeSystemProtobuf)
else()
  include(SteptapeBuildProtobuf)
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
  set(STEPTAPE_HAVE_TORCH ${Torch_FOUND})
  if(STEPTAPE_WITH_TORCH STREQUAL "ON" AND NOT STEPTAPE_HAVE_TORCH)
    message(FATAL_ERROR "STEPTAPE_WITH_TORCH is ON but LibTorch was not found. "
                        "Set Torch_DIR or CMAKE_PREFIX_PATH, or run tools/setup.sh")
  endif()
endif()
add_feature_info(torch STEPTAPE_HAVE_TORCH "LibTorch tensors, operator profiles and the trainer (STEPTAPE_WITH_TORCH)")

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
