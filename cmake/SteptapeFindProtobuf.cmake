# SPDX-License-Identifier: Apache-2.0
# Finds Protocol Buffers outside of any LibTorch, and declares steptape::protobuf. Installed with the package,
# because consumers have the same two problems:
#
# - LibTorch's wheel ships google/protobuf headers without the matching library, so the search for Protocol
#   Buffers hides every prefix that holds a TorchConfig.cmake;
# - LibTorch's package declares an empty protobuf::libprotobuf if there is none yet, so that target counts only
#   if it is a real library.

function(steptape_hide_torch_prefixes prefixes out)
  set(kept "")
  foreach(prefix IN LISTS prefixes)
    if(NOT EXISTS "${prefix}/share/cmake/Torch/TorchConfig.cmake"
       AND NOT EXISTS "${prefix}/Torch/TorchConfig.cmake")
      list(APPEND kept "${prefix}")
    endif()
  endforeach()
  set(${out} "${kept}" PARENT_SCOPE)
endfunction()

# A macro, so that FindProtobuf's variables reach the caller.
macro(steptape_find_protobuf)
  set(_steptape_prefix_path "${CMAKE_PREFIX_PATH}")
  set(_steptape_env_prefix_path "$ENV{CMAKE_PREFIX_PATH}")
  steptape_hide_torch_prefixes("${CMAKE_PREFIX_PATH}" CMAKE_PREFIX_PATH)
  string(REPLACE ":" ";" _steptape_env_prefixes "${_steptape_env_prefix_path}")
  steptape_hide_torch_prefixes("${_steptape_env_prefixes}" _steptape_env_prefixes)
  string(REPLACE ";" ":" ENV{CMAKE_PREFIX_PATH} "${_steptape_env_prefixes}")

  # From protobuf 22 on, only its own config links abseil. Debian's 3.21 has no config.
  find_package(Protobuf QUIET CONFIG)
  if(NOT Protobuf_FOUND)
    find_package(Protobuf QUIET MODULE)
  endif()

  set(CMAKE_PREFIX_PATH "${_steptape_prefix_path}")
  set(ENV{CMAKE_PREFIX_PATH} "${_steptape_env_prefix_path}")
endmacro()

if(NOT TARGET steptape::protobuf)
  set(_steptape_protobuf "")
  if(TARGET protobuf::libprotobuf)
    get_target_property(_steptape_protobuf_type protobuf::libprotobuf TYPE)
    if(_steptape_protobuf_type STREQUAL "INTERFACE_LIBRARY")
      # LibTorch's empty target, which also keeps find_package(Protobuf) from declaring the real one.
      find_library(STEPTAPE_PROTOBUF_LIBRARY protobuf)
      mark_as_advanced(STEPTAPE_PROTOBUF_LIBRARY)
      if(STEPTAPE_PROTOBUF_LIBRARY)
        set(_steptape_protobuf "${STEPTAPE_PROTOBUF_LIBRARY}")
      endif()
    else()
      set(_steptape_protobuf protobuf::libprotobuf)
    endif()
  else()
    steptape_find_protobuf()
    if(Protobuf_FOUND)
      set(_steptape_protobuf protobuf::libprotobuf)
    endif()
  endif()
  if(_steptape_protobuf)
    add_library(steptape::protobuf INTERFACE IMPORTED)
    target_link_libraries(steptape::protobuf INTERFACE "${_steptape_protobuf}")
  endif()
endif()
