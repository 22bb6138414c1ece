// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "torch/graph_draft.h"

namespace steptape {

/// Names the nodes of a draft whose operators have scopes, in its order: node i of the result is
/// node i of `draft`.
///
/// Inputs lie in "input", outputs in "output". Operators of one kind in one scope are numbered from
/// 1, "relu_1", "relu_2", ..., which is what TensorBoard folds into a series; it wants no other
/// digits in such a name, so "max_pool2d" becomes "max_pool_1". One of its kind has no number.
event::Graph namedGraph(const GraphDraft& draft);

}  // namespace steptape
