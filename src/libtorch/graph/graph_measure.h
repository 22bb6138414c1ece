// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "libtorch/graph/graph_draft.h"
#include "libtorch/graph/op_calls.h"

namespace steptape::detail::libtorch {

/// Adds the measured times of its operators to `graph`: matches calls of the same name in the same
/// order.
///
/// @param draft The draft from which `graph` was made.
/// @return a sentence for Graph::description if most operators have no matching call; else empty.
std::string addStats(const GraphDraft& draft, const std::vector<OpCall>& calls,
                     event::Graph* graph);

/// Does the same with the time of one call of each kind of operator.
std::string addStats(const GraphDraft& draft,
                     const std::map<std::string, std::chrono::nanoseconds>& times,
                     event::Graph* graph);

}  // namespace steptape::detail::libtorch
