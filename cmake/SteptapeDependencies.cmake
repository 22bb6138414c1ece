# SPDX-License-Identifier: Apache-2.0
# Finds the libraries that Steptape links to. The order matters: Protocol Buffers comes before LibTorch. See
# SteptapeSystemProtobuf.cmake.

if(STEPTAPE_STATIC_TOOL)
  set(ZLIB_USE_STATIC_LIBS ON)
  set(Protobuf_USE_STATIC_LIBS ON)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
# Only src/profile/trace includes these headers, so the installed package does not need them.
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
    message(FATAL_ERROR "STEPTAPE_WITH_MPI: got ON, and no MPI was found; expected an installed MPI. "
                        "Install one (apt-get install libopenmpi-dev openmpi-bin), or set STEPTAPE_WITH_MPI to AUTO or OFF.")
  endif()
endif()
if(STEPTAPE_HAVE_MPI AND PROJECT_IS_TOP_LEVEL AND MPIEXEC_EXECUTABLE)
  include(SteptapeMpiexec)
  steptape_match_mpiexec()
endif()
add_feature_info(mpi STEPTAPE_HAVE_MPI "MpiCommunicator (STEPTAPE_WITH_MPI)")

# Only tests, examples and benchmarks compile the modules for Fortran; users compile them with their programs.
set(STEPTAPE_HAVE_FORTRAN FALSE)
set(STEPTAPE_HAVE_FORTRAN_MPI FALSE)
if(STEPTAPE_BUILD_C AND NOT STEPTAPE_SANITIZE AND NOT STEPTAPE_FUZZ
    AND (STEPTAPE_BUILD_TESTS OR STEPTAPE_BUILD_EXAMPLES OR STEPTAPE_BUILD_BENCHMARKS))
  include(CheckLanguage)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    set(STEPTAPE_HAVE_FORTRAN TRUE)
    if(STEPTAPE_HAVE_MPI)
      include(SteptapeFortran)
      steptape_check_fortran_mpi(STEPTAPE_FORTRAN_MPI_PROBLEM)
      if(NOT STEPTAPE_FORTRAN_MPI_PROBLEM)
        set(STEPTAPE_HAVE_FORTRAN_MPI TRUE)
      endif()
    endif()
  endif()
endif()
add_feature_info(fortran STEPTAPE_HAVE_FORTRAN "Tests and examples in Fortran")

# Sets STEPTAPE_TORCH_PROBLEM if no program links both libraries: PyPI's older wheels of LibTorch have another
# std::string than the Protocol Buffers of today's systems. Those that are built here have LibTorch's.
function(steptape_check_torch_abi)
  if(STEPTAPE_TORCH_CXX11_ABI OR NOT STEPTAPE_PROTOBUF_SOURCE STREQUAL "system")
    return()
  endif()
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/abi_check/main.cpp [[
    #include <google/protobuf/wrappers.pb.h>
    int main() {
      google::protobuf::StringValue value;
      value.set_value(std::string("text"));
      return value.SerializeAsString().empty();
    }]])
  try_compile(links ${CMAKE_CURRENT_BINARY_DIR}/abi_check ${CMAKE_CURRENT_BINARY_DIR}/abi_check/main.cpp
    COMPILE_DEFINITIONS -D_GLIBCXX_USE_CXX11_ABI=0
    LINK_LIBRARIES steptape::protobuf
    CXX_STANDARD 17)
  if(NOT links)
    string(CONCAT problem "the LibTorch ${STEPTAPE_TORCH_VERSION} in ${STEPTAPE_TORCH_ROOT} has the old C++ ABI "
      "(_GLIBCXX_USE_CXX11_ABI=0), and the system's Protocol Buffers have the new one. "
      "Use a newer LibTorch, or a build with the C++11 ABI")
    set(STEPTAPE_TORCH_PROBLEM "${problem}" PARENT_SCOPE)
  endif()
endfunction()

set(STEPTAPE_HAVE_TORCH FALSE)
if(NOT STEPTAPE_WITH_TORCH STREQUAL "OFF")
  include(SteptapeFindTorch)
  if(TARGET steptape::libtorch)
    steptape_check_torch_abi()
  endif()
  if(TARGET steptape::libtorch AND NOT STEPTAPE_TORCH_PROBLEM)
    set(STEPTAPE_HAVE_TORCH TRUE)
    message(STATUS "LibTorch ${STEPTAPE_TORCH_VERSION} in ${STEPTAPE_TORCH_ROOT}, C++${STEPTAPE_TORCH_CXX_STANDARD}")
  elseif(STEPTAPE_WITH_TORCH STREQUAL "ON")
    message(FATAL_ERROR "STEPTAPE_WITH_TORCH: got ON, and no LibTorch can be used: ${STEPTAPE_TORCH_PROBLEM}. "
                        "Or run tools/setup.sh, or set STEPTAPE_WITH_TORCH to AUTO or OFF.")
  else()
    message(STATUS "Building without LibTorch: ${STEPTAPE_TORCH_PROBLEM}")
    # Of a LibTorch that was found and is not used.
    unset(STEPTAPE_TORCH_CXX11_ABI)
    unset(STEPTAPE_TORCH_CXX_STANDARD)
    set(STEPTAPE_TORCH_CUDA FALSE)
  endif()
endif()

set(STEPTAPE_HAVE_GLOO FALSE)
if(STEPTAPE_HAVE_TORCH AND NOT STEPTAPE_WITH_GLOO STREQUAL "OFF")
  include(SteptapeFindGloo)
  if(NOT STEPTAPE_HAVE_GLOO AND STEPTAPE_WITH_GLOO STREQUAL "ON")
    message(FATAL_ERROR "STEPTAPE_WITH_GLOO: got ON, and gloo/algorithm.h was not found. "
                        "Install gloo's headers (apt-get install libgloo-dev), or set STEPTAPE_WITH_GLOO to AUTO or OFF.")
  endif()
endif()
add_feature_info(gloo STEPTAPE_HAVE_GLOO
  "Jobs of several nodes without MPI (STEPTAPE_WITH_GLOO); needs gloo's headers: apt-get install libgloo-dev")
add_feature_info(torch STEPTAPE_HAVE_TORCH "LibTorch tensors, operator profiles and the trainer (STEPTAPE_WITH_TORCH)")
add_feature_info(cuda STEPTAPE_TORCH_CUDA "LibTorch's CUDA libraries (STEPTAPE_WITH_CUDA)")

set(STEPTAPE_HAVE_FIGURE FALSE)
if(NOT STEPTAPE_WITH_FIGURE STREQUAL "OFF")
  include(SteptapeFindCairo)
  if(TARGET steptape::cairo)
    set(STEPTAPE_HAVE_FIGURE TRUE)
  elseif(STEPTAPE_WITH_FIGURE STREQUAL "ON")
    message(FATAL_ERROR "STEPTAPE_WITH_FIGURE: got ON, and Cairo was not found; expected Cairo 1.10 or later. "
                        "Install it (apt-get install libcairo2-dev pkg-config), or set STEPTAPE_WITH_FIGURE to AUTO or OFF.")
  endif()
endif()
add_feature_info(figure STEPTAPE_HAVE_FIGURE "Figures drawn by Cairo (STEPTAPE_WITH_FIGURE)")

set(STEPTAPE_HAVE_IMAGES FALSE)
if(NOT STEPTAPE_WITH_IMAGES STREQUAL "OFF")
  include(SteptapeFindImageLibraries)
  if(TARGET steptape::image_libraries)
    set(STEPTAPE_HAVE_IMAGES TRUE)
  elseif(STEPTAPE_WITH_IMAGES STREQUAL "ON")
    message(FATAL_ERROR "STEPTAPE_WITH_IMAGES: got ON, and ${STEPTAPE_IMAGES_PROBLEM}. "
                        "Install them (apt-get install libjpeg-dev libpng-dev), or set STEPTAPE_WITH_IMAGES to AUTO or OFF.")
  else()
    message(STATUS "Building without the component images: ${STEPTAPE_IMAGES_PROBLEM}")
  endif()
endif()
add_feature_info(images STEPTAPE_HAVE_IMAGES
  "Folders of JPEG and PNG files (STEPTAPE_WITH_IMAGES); needs libjpeg-turbo and libpng: apt-get install libjpeg-dev libpng-dev")

set(STEPTAPE_HAVE_SERVER FALSE)
if(NOT STEPTAPE_WITH_SERVER STREQUAL "OFF")
  if(STEPTAPE_NGHTTP2_SOURCE STREQUAL "system")
    include(SteptapeFindNghttp2)
  else()
    include(SteptapeBuildNghttp2)
  endif()
  if(TARGET steptape::nghttp2)
    set(STEPTAPE_HAVE_SERVER TRUE)
  elseif(STEPTAPE_WITH_SERVER STREQUAL "ON")
    message(FATAL_ERROR "STEPTAPE_WITH_SERVER: got ON, and ${STEPTAPE_NGHTTP2_PROBLEM}. "
                        "Install it (apt-get install libnghttp2-dev), or set STEPTAPE_WITH_SERVER to AUTO or OFF.")
  else()
    message(STATUS "Building without the data server for TensorBoard: ${STEPTAPE_NGHTTP2_PROBLEM}")
  endif()
endif()
add_feature_info(server STEPTAPE_HAVE_SERVER
  "Data server for TensorBoard (STEPTAPE_WITH_SERVER); needs nghttp2: apt-get install libnghttp2-dev")
