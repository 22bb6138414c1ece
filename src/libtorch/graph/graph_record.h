// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/libtorch/module_graph.h"

#include "libtorch/graph/graph_draft.h"
#include "libtorch/graph/model_tree.h"

namespace steptape::detail::libtorch {

/// Runs an eager model once, and connects the operators that it calls by the elements that they
/// read and write.
///
/// @param inputs Tensors of the forward pass, one for each of `model.inputs`.
/// @throws exceptions of forward().
GraphDraft recordedGraph(const EagerModel& model, const ModelTree& tree,
                         const std::vector<at::Tensor>& inputs);

}  // namespace steptape::detail::libtorch
