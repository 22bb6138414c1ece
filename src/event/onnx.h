// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"
#include "steptape/event/graph.h"

namespace steptape {

// An ONNX model without its weights, as plain structs. Field meanings are ONNX's, onnx/onnx.proto;
// names are as in the file.

struct OnnxGraph;

/// A tensor that flows through a graph, or is stored in it.
struct OnnxValue {
  std::string name;
  event::TensorType type =
      event::TensorType::kInvalid;  ///< Also for types that TensorFlow does not number.
  std::optional<event::GraphShape> shape = std::nullopt;  ///< Unset if not even the rank is known.
};

/// A parameter of an operator.
struct OnnxAttribute {
  std::string name;
  /// A tensor is here as the text of its shape, such as "(3, 4)"; of a text it is the first 1024
  /// bytes. Empty for graphs and types.
  event::GraphAttribute value;
  std::vector<OnnxGraph> graphs;  ///< Such as the branches of an If.
};

/// One operator.
struct OnnxNode {
  std::string name;                  ///< May be empty, and need not be unique.
  std::string opType;                ///< Such as "Conv".
  std::string domain;                ///< Of the operator; empty for ONNX's own.
  std::vector<std::string> inputs;   ///< Names of values; an empty one stands for none.
  std::vector<std::string> outputs;  ///< Likewise.
  std::vector<OnnxAttribute> attributes;
};

/// A graph, or one that an operator runs.
struct OnnxGraph {
  std::vector<OnnxNode> nodes;
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;
  std::vector<OnnxValue> initializers;  ///< Weights and other constants.
  std::vector<OnnxValue> valueInfos;    ///< Types and shapes of what flows between nodes.
};

/// What an ONNX file holds.
struct OnnxModel {
  std::string source;  ///< What messages call it, such as the file's path.
  std::int64_t irVersion = 0;
  std::string producerName;
  std::string producerVersion;
  std::vector<std::pair<std::string, std::int64_t>> opsets;  ///< Domain and version.
  OnnxGraph graph;
};

/// Reads an ONNX file, all but the elements of its tensors.
///
/// Weights are skipped and never loaded, whatever their size; neither are doc
/// strings, metadata and the bodies of functions.
///
/// @throws  Error(kIoError) with the path and the system's reason if there is no such file, or it
///          is none or cannot be read; Error(kInvalidArgument) with the path and what was found
///          where if it is no ONNX model, or one that is cut off.
/// @threads Thread-safe.
/// @cost    Memory of a few times the structure's size; a file that would need more than about 1
///          GiB for it is refused. One seek for each large tensor.
/// @source  onnx/onnx.proto; ONNX, "Open Neural Network Exchange Intermediate Representation".
STEPTAPE_EXPORT OnnxModel readOnnxModel(const std::string& path);

/// As readOnnxModel(), of the bytes of a file. `name` is what messages call it.
///
/// @cost    A copy of `bytes` as well.
STEPTAPE_EXPORT OnnxModel parseOnnxModel(std::string_view bytes, const std::string& name);

}  // namespace steptape
