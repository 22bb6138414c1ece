// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steptape/events/graph.h"

namespace steptape::detail::libtorch {

/// Levels of the module tree from the root, such as {"Net", "conv1[Conv2d]"}.
using Scope = std::vector<std::string>;

/// A STEPTAPE_ZONE that was open while an operator ran. Entering the same zone again gives another
/// OpenZone.
struct OpenZone {
  std::size_t entry = 0;  ///< Number of the entry; unique in a draft.
  std::string name;
};

/// Output `output` of node number `node`.
struct DraftEdge {
  std::size_t node = 0;
  std::size_t output = 0;
};

/// A node whose scope and name are not final.
struct DraftNode {
  enum class Kind { kInput, kOutput, kParameter, kOperator };

  Kind kind = Kind::kOperator;
  std::string op;    ///< GraphNode::op
  std::string leaf;  ///< Last part of the name; final for parameters, inputs and outputs.
  /// Unset for an operator that reads no parameters: its neighbors determine the scope.
  std::optional<Scope> scope;
  /// The zones around an operator, outermost first.
  std::vector<OpenZone> zones;
  std::vector<DraftEdge> inputs;
  std::vector<std::optional<event::GraphShape>> outputShapes;
  event::TensorType outputType = event::TensorType::kInvalid;
  std::string device;
  std::int64_t outputBytes = 0;
  std::vector<std::pair<std::string, event::GraphAttribute>> attributes;
};

/// A graph before its operators have scopes: the common result of TorchScript and recording. A node
/// comes after those that it reads.
struct GraphDraft {
  Scope root;  ///< The model itself.
  std::vector<DraftNode> nodes;
};

}  // namespace steptape::detail::libtorch
