// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/torch/graph.h"

#include "torch/graph_draft.h"
#include "torch/model_tree.h"

namespace steptape {

/// Whether this LibTorch has a tracer.
bool hasTracer();

/// Whether the calling thread is being traced.
bool isTracing();

/// Runs an eager model once under LibTorch's tracer.
///
/// @param inputs Tensors of the forward pass, one for each of `model.inputs`.
/// @pre     hasTracer()
/// @throws  What forward() or the tracer throws.
/// @source  torch/csrc/jit/frontend/tracer.h of LibTorch.
GraphDraft tracedGraph(const detail::EagerModel& model, const ModelTree& tree,
                       const std::vector<at::Tensor>& inputs);

}  // namespace steptape
