// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/torch/graph.h"

#include "torch/graph_draft.h"
#include "torch/model_tree.h"

namespace steptape {

/// Runs an eager model once, and connects the operators that it calls by the tensors that they hand
/// on. For models that cannot be traced: what the tracer sees as one operator may be several here,
/// and what is computed without operators is missing.
///
/// @param inputs Tensors of the forward pass, one for each of `model.inputs`.
/// @throws What forward() throws.
GraphDraft recordedGraph(const detail::EagerModel& model, const ModelTree& tree,
                         const std::vector<at::Tensor>& inputs);

}  // namespace steptape
