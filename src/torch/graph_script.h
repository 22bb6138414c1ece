// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "torch/graph_draft.h"
#include "torch/model_tree.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace steptape {

/// forward() of a TorchScript module as one graph: what it calls is put in its place, and the scope
/// of each node names the module whose method it came from.
std::shared_ptr<torch::jit::Graph> flatGraph(const torch::jit::Module& module);

/// Runs a flat graph once, and notes the shapes of the tensors that pass. Returns the graph with
/// these notes.
std::shared_ptr<torch::jit::Graph> graphWithShapes(const std::shared_ptr<torch::jit::Graph>& graph,
                                                   const torch::jit::Module& module,
                                                   const std::vector<c10::IValue>& arguments);

/// Runs a flat graph as it stands: its operators are called one by one, in its order.
void runGraph(const std::shared_ptr<torch::jit::Graph>& graph, const torch::jit::Module& module,
              const std::vector<c10::IValue>& arguments);

/// Reads a flat graph.
GraphDraft scriptGraph(torch::jit::Graph& graph, const ModelTree& tree,
                       const std::vector<std::string>& argumentNames,
                       const std::vector<c10::IValue>& arguments);

}  // namespace steptape
