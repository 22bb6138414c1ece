// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "libtorch/graph/graph_draft.h"

namespace steptape::detail::libtorch {

/// Returns which nodes of a draft are in `from`, or are read by those directly or indirectly.
std::vector<bool> ancestors(const GraphDraft& draft, const std::vector<std::size_t>& from);

/// Removes the nodes that are not in `kept`, which must include everything that kept nodes read.
void keepNodes(const std::vector<bool>& kept, GraphDraft* draft);

}  // namespace steptape::detail::libtorch
