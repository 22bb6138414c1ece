// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "torch/graph_draft.h"

namespace steptape {

/// Which nodes of a draft those in `from` are, or read, directly or not.
std::vector<bool> ancestors(const GraphDraft& draft, const std::vector<std::size_t>& from);

/// Removes the nodes that are not in `kept`, which has whatever a kept one reads.
void keepNodes(const std::vector<bool>& kept, GraphDraft* draft);

}  // namespace steptape
