// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/libtorch/graph.h"

#include "libtorch/graph/graph_draft.h"
#include "libtorch/graph/model_tree.h"

namespace steptape::detail::libtorch {

/// Returns whether this LibTorch has a tracer.
bool hasTracer();

/// Returns whether the calling thread is being traced.
bool isTracing();

/// Runs an eager model once under LibTorch's tracer.
///
/// @param inputs Tensors of the forward pass, one for each of `model.inputs`.
/// @pre     hasTracer()
/// @throws  exceptions of forward() or of the tracer.
/// @source  torch/csrc/jit/frontend/tracer.h of LibTorch.
GraphDraft tracedGraph(const EagerModel& model, const ModelTree& tree,
                       const std::vector<at::Tensor>& inputs);

}  // namespace steptape::detail::libtorch
