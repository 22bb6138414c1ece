// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/event.h"
#include "steptape/events/graph.h"

namespace steptape::detail::events {

// An ONNX model without its weights, as plain structs. Fields have the meaning and the names of
// onnx/onnx.proto.

struct OnnxGraph;

/// A tensor that an operator reads or writes, or that the graph stores.
struct OnnxValue {
  std::string name;
  /// Also types of TensorFlow that TensorType does not name; kInvalid for those that TensorFlow
  /// does not have.
  event::TensorType type = event::TensorType::kInvalid;
  /// In elements, also if several share a byte. Unset if the rank is unknown.
  std::optional<event::GraphShape> shape = std::nullopt;
  std::string otherType = {};  ///< The name of a type that TensorFlow does not have.
};

/// A parameter of an operator.
struct OnnxAttribute {
  std::string name;
  /// The shape of a tensor as text, such as "(3, 4)". Of a string, the first 1024 bytes. Empty for
  /// graphs and types.
  event::GraphAttribute value;
  std::vector<OnnxGraph> graphs;  ///< Such as the branches of an If.
};

/// One operator.
struct OnnxNode {
  std::string name;                  ///< May be empty; need not be unique.
  std::string opType;                ///< Such as "Conv".
  std::string domain;                ///< Domain of the operator; empty for ONNX's own.
  std::vector<std::string> inputs;   ///< Names of values; empty if an input is omitted.
  std::vector<std::string> outputs;  ///< Names of values; empty if an output is omitted.
  std::vector<OnnxAttribute> attributes;
};

/// A model's graph, or a subgraph of an operator.
struct OnnxGraph {
  std::vector<OnnxNode> nodes;
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;
  std::vector<OnnxValue> initializers;  ///< Weights and other constants.
  std::vector<OnnxValue> valueInfos;    ///< Types and shapes of values between nodes.
};

/// The content of an ONNX file, without tensor elements.
struct OnnxModel {
  std::string source;  ///< Name in messages, such as the file's path.
  std::int64_t irVersion = 0;
  std::string producerName;
  std::string producerVersion;
  std::vector<std::pair<std::string, std::int64_t>> opsets;  ///< Domain and version.
  OnnxGraph graph;
};

/// Reads an ONNX file without the elements of its tensors.
///
/// Weights are skipped and never loaded, whatever their size. Doc strings, metadata and bodies of
/// functions are skipped too.
///
/// @throws  Error(kIoError) with the path and the operating system's error message if the file does
///          not exist, is not a file or cannot be read; Error(kInvalidArgument) with the path, the
///          value and its position if it is not an ONNX model or is truncated.
/// @threads Thread-safe.
/// @cost    Memory of a few times the structure's size; rejects a file that would need more than
///          about 1 GiB. One seek for each large tensor.
/// @source  onnx/onnx.proto; ONNX, "Open Neural Network Exchange Intermediate Representation".
STEPTAPE_EXPORT OnnxModel readOnnxModel(const std::string& path);

/// Like readOnnxModel(), for the bytes of a file. Messages call it `name`.
///
/// @cost    One more copy of `bytes`.
STEPTAPE_EXPORT OnnxModel parseOnnxModel(std::string_view bytes, const std::string& name);

}  // namespace steptape::detail::events
