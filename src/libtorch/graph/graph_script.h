// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "libtorch/graph/graph_draft.h"
#include "libtorch/graph/model_tree.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace steptape::detail::libtorch {

/// Returns forward() of a TorchScript module as one graph, with all calls inlined. The scope of
/// each node contains the module whose method it came from.
std::shared_ptr<torch::jit::Graph> flatGraph(const torch::jit::Module& module);

/// Runs a flat graph once. Returns the graph with the shapes of the tensors that were computed.
std::shared_ptr<torch::jit::Graph> graphWithShapes(const std::shared_ptr<torch::jit::Graph>& graph,
                                                   const torch::jit::Module& module,
                                                   const std::vector<c10::IValue>& arguments);

/// Runs a flat graph: calls its operators one by one, in order.
void runGraph(const std::shared_ptr<torch::jit::Graph>& graph, const torch::jit::Module& module,
              const std::vector<c10::IValue>& arguments);

/// Makes a draft of a flat graph.
GraphDraft scriptGraph(torch::jit::Graph& graph, const ModelTree& tree,
                       const std::vector<std::string>& argumentNames,
                       const std::vector<c10::IValue>& arguments);

}  // namespace steptape::detail::libtorch
