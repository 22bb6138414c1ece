# SPDX-License-Identifier: Apache-2.0
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
