// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/graph_measure.h"

#include <algorithm>

#include "steptape/base/clock.h"

namespace steptape::detail::libtorch {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

/// Returns the time on the system clock, by which TensorBoard places operators, instead of the
/// steady clock.
microseconds sinceEpoch(std::chrono::steady_clock::time_point time) {
  const std::chrono::duration<double> now(Clock::system().wallSeconds());
  return duration_cast<microseconds>(now - (std::chrono::steady_clock::now() - time));
}

void add(const DraftNode& node, const event::GraphNode& named, microseconds start,
         std::chrono::nanoseconds duration, event::Graph* graph) {
  graph->stats.push_back(event::graphNodeStats(named, start.count(), duration, node.outputBytes));
}

bool isOperator(const DraftNode& node) {
  return node.kind == DraftNode::Kind::kOperator;
}

std::string noteIfFewFound(const GraphDraft& draft, const event::Graph& graph) {
  const auto operators =
      static_cast<std::size_t>(std::count_if(draft.nodes.begin(), draft.nodes.end(), &isOperator));
  if (graph.stats.size() * 2 >= operators) {
    return "";
  }
  return "Times are known of " + std::to_string(graph.stats.size()) + " of " +
         std::to_string(operators) + " operators: the others were not called by these names.";
}

}  // namespace

std::string addStats(const GraphDraft& draft, const std::vector<OpCall>& calls,
                     event::Graph* graph) {
  const microseconds origin = calls.empty() ? microseconds() : sinceEpoch(calls.front().start);
  auto next = calls.begin();
  for (std::size_t i = 0; i < draft.nodes.size(); ++i) {
    const DraftNode& node = draft.nodes[i];
    const auto call = isOperator(node)
                          ? std::find_if(next, calls.end(),
                                         [&](const OpCall& each) { return each.name == node.op; })
                          : calls.end();
    if (call != calls.end()) {  // else the next node may still be found from here on
      next = call + 1;
      const auto start = origin + duration_cast<microseconds>(call->start - calls.front().start);
      add(node, graph->nodes[i], start, call->duration, graph);
    }
  }
  return noteIfFewFound(draft, *graph);
}

std::string addStats(const GraphDraft& draft,
                     const std::map<std::string, std::chrono::nanoseconds>& times,
                     event::Graph* graph) {
  microseconds start = sinceEpoch(std::chrono::steady_clock::now());
  for (std::size_t i = 0; i < draft.nodes.size(); ++i) {
    const auto time = times.find(draft.nodes[i].op);
    if (time != times.end()) {
      add(draft.nodes[i], graph->nodes[i], start, time->second, graph);
      start += microseconds(graph->stats.back().durationMicros);
    }
  }
  return noteIfFewFound(draft, *graph);
}

}  // namespace steptape::detail::libtorch
