// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libtorch/graph/graph_draft.h"

namespace steptape::detail::libtorch {

/// Names the nodes of a draft whose operators have scopes, in order: node i of the result is node i
/// of `draft`.
///
/// Inputs are in the scope "input", outputs in "output". Several operators of one kind in one scope
/// are numbered from 1: "relu_1", "relu_2", ..., which TensorBoard folds into a series. It expects
/// no other digits in these names, so "max_pool2d" becomes "max_pool_1". A single operator of its
/// kind has no number.
event::Graph namedGraph(const GraphDraft& draft);

}  // namespace steptape::detail::libtorch
