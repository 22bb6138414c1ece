// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "torch/graph_draft.h"
#include "torch/op_calls.h"

namespace steptape {

/// Adds to `graph` what running its operators took: calls of the same name in the same order.
///
/// @param draft What `graph` was named from.
/// @return a sentence for Graph::description if most of the operators were not found among the
///         calls; else empty.
std::string addStats(const GraphDraft& draft, const std::vector<OpCall>& calls,
                     event::Graph* graph);

/// As above, with what one call takes of each kind of operator, one after the other.
std::string addStats(const GraphDraft& draft,
                     const std::map<std::string, std::chrono::nanoseconds>& times,
                     event::Graph* graph);

}  // namespace steptape
