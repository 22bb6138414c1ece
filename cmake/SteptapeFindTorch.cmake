# SPDX-License-Identifier: Apache-2.0
# Finds LibTorch, proves that its headers and libraries belong together, and sets
# STEPTAPE_TORCH_CXX11_ABI. Installed with the package. Link the target `torch`: TORCH_LIBRARIES also
# holds paths of this machine, which an installed package must not name.
#
# Where only <torch>/share/cmake is on the prefix path, TorchConfig.cmake's find_library may take a
# system libtorch.so under the wheel's headers. So <torch> itself goes on the path as well, and the
# result is checked.

set(_steptape_prefix_path "${CMAKE_PREFIX_PATH}")
string(REPLACE ":" ";" _steptape_env_prefixes "$ENV{CMAKE_PREFIX_PATH}")
set(_steptape_torch_roots "")
foreach(_steptape_prefix IN LISTS Torch_DIR CMAKE_PREFIX_PATH _steptape_env_prefixes)
  foreach(_steptape_up IN ITEMS "." "../.." "../../..")
    if(_steptape_prefix AND EXISTS "${_steptape_prefix}/${_steptape_up}/share/cmake/Torch/TorchConfig.cmake")
      get_filename_component(_steptape_root "${_steptape_prefix}/${_steptape_up}" ABSOLUTE)
      list(APPEND _steptape_torch_roots "${_steptape_root}")
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES _steptape_torch_roots)
list(PREPEND CMAKE_PREFIX_PATH ${_steptape_torch_roots})
# The wheel's package warns, for every user, that it lacks the static kineto that it does not need.
set(_steptape_log_level "${CMAKE_MESSAGE_LOG_LEVEL}")
set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
find_package(Torch QUIET)
set(CMAKE_MESSAGE_LOG_LEVEL "${_steptape_log_level}")
set(CMAKE_PREFIX_PATH "${_steptape_prefix_path}")

if(Torch_FOUND)
  list(GET TORCH_INCLUDE_DIRS 0 _steptape_torch_include)
  get_filename_component(_steptape_torch_root "${_steptape_torch_include}/.." REALPATH)
  get_filename_component(_steptape_torch_library "${TORCH_LIBRARY}" REALPATH)
  string(FIND "${_steptape_torch_library}" "${_steptape_torch_root}/" _steptape_torch_at)
  if(NOT _steptape_torch_at EQUAL 0)
    message(FATAL_ERROR
      "LibTorch's headers and libraries come from two installations: headers ${_steptape_torch_include}, "
      "library ${_steptape_torch_library}. Name one of them in Torch_DIR, and clear the CMake cache.")
  endif()

  # A build without the C++11 ABI would break every std::string in our interface.
  if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=([01])")
    set(STEPTAPE_TORCH_CXX11_ABI ${CMAKE_MATCH_1})
  else()
    set(STEPTAPE_TORCH_CXX11_ABI 1)
  endif()
endif()
