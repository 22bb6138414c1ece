# SPDX-License-Identifier: Apache-2.0
# Finds Protocol Buffers before LibTorch, with every LibTorch prefix hidden: LibTorch's wheel ships
# google/protobuf headers of another version, against which protoc's output does not compile.
include(SteptapeFindProtobuf)
if(NOT Protobuf_FOUND OR NOT TARGET protobuf::protoc)
  message(FATAL_ERROR "Protocol Buffers: got none; expected the library and protoc. "
                      "Install them: apt-get install protobuf-compiler libprotobuf-dev")
endif()
# protoc calls a release 25.1 that the C++ headers call 4.25.1.
get_target_property(_steptape_protoc protobuf::protoc LOCATION)
execute_process(COMMAND ${_steptape_protoc} --version OUTPUT_VARIABLE _steptape_protoc_version)
if(NOT _steptape_protoc_version MATCHES "libprotoc ([0-9.]+)" OR NOT Protobuf_VERSION MATCHES "(^|\\.)${CMAKE_MATCH_1}$")
  string(STRIP "${_steptape_protoc_version}" _steptape_protoc_version)
  message(FATAL_ERROR
    "Protocol Buffers: got '${_steptape_protoc_version}' from ${_steptape_protoc} and headers of "
    "${Protobuf_VERSION} in ${Protobuf_INCLUDE_DIRS}; expected one version. "
    "Set Protobuf_ROOT to one installation and configure with cmake --fresh.")
endif()
