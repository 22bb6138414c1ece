// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "events/messages/wire_bytes.h"

namespace steptape {

// Parts of ONNX files that tests assemble by hand. Field numbers are those of onnx/onnx.proto.

/// Returns a ModelProto of IR version 8 and opset 17 with this GraphProto.
inline std::string onnxModel(std::string_view graph) {
  return numberField(1, 8) + bytesField(8, numberField(2, 17)) + bytesField(7, graph);
}

/// Returns a ValueInfoProto of a float tensor with this TensorShapeProto.
inline std::string onnxValueInfo(std::string_view name, std::string_view shape) {
  return bytesField(1, name) +
         bytesField(2, bytesField(1, numberField(1, 1) + bytesField(2, shape)));
}

inline std::string goldenModelPath(const std::string& name) {
  return STEPTAPE_SOURCE_DIR "/tests/golden/" + name;
}

}  // namespace steptape
