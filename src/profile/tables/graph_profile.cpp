// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/graph_profile.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include "profile/tables/graph_calls.h"
#include "profile/tables/span_context.h"

namespace steptape {
namespace {

using detail::profile::CallsOfNodes;
using detail::profile::ForwardCall;
using std::chrono::nanoseconds;

/// The sums of a node over the steps.
struct NodeTotals {
  std::int64_t firstStart = 0;  ///< As all times of a trace.
  std::int64_t nanos = 0;
  std::int64_t bytes = 0;  ///< The maximum that a call allocated and kept.
  bool isFound = false;

  /// REQUIRES: calls arrive in the order of their starts.
  void add(std::int64_t start, std::int64_t duration, std::int64_t kept) {
    firstStart = isFound ? firstStart : start;
    nanos += duration;
    bytes = std::max(bytes, kept);
    isFound = true;
  }
};

/// Returns the size of a node's output according to the graph; 0 if it is unknown.
std::int64_t outputBytesOf(const event::GraphNode& node) {
  std::int64_t bytes = 0;
  for (const std::optional<event::GraphShape>& shape : node.outputShapes) {
    std::int64_t elements = shape ? 1 : 0;
    for (const std::int64_t size : shape.value_or(event::GraphShape())) {
      elements *= std::max<std::int64_t>(0, size);
    }
    bytes += elements * static_cast<std::int64_t>(event::bytesPerElement(node.outputType));
  }
  return bytes;
}

/// Memory events of a thread, by time.
class ThreadMemory {
 public:
  ThreadMemory(const Trace& trace, std::size_t thread) {
    for (const TraceMemoryEvent& event : trace.memory) {
      if (event.thread == thread) {
        events_.push_back(&event);
      }
    }
  }

  /// Returns the bytes that were allocated and not freed in a time interval.
  std::int64_t keptBy(std::int64_t start, std::int64_t end) const {
    std::unordered_map<std::uint64_t, std::int64_t> bytesByAddress;
    auto event = std::lower_bound(
        events_.begin(), events_.end(), start,
        [](const TraceMemoryEvent* each, std::int64_t time) { return each->time < time; });
    for (; event != events_.end() && (*event)->time <= end; ++event) {
      if ((*event)->bytes >= 0) {
        bytesByAddress[(*event)->address] = (*event)->bytes;
      } else {
        bytesByAddress.erase((*event)->address);
      }
    }
    std::int64_t kept = 0;
    for (const auto& [address, bytes] : bytesByAddress) {
      kept += bytes;
    }
    return kept;
  }

 private:
  std::vector<const TraceMemoryEvent*> events_;
};

/// Sums the steps of a trace for each node of a graph.
class NodeTally {
 public:
  NodeTally(const event::Graph& graph, const Trace& trace, const std::string& model)
      : graph_(graph),
        trace_(trace),
        modules_(trace),
        matcher_(graph, model),
        nodeOfSpan_(trace.threads.size()),
        steps_(graph.nodes.size()),
        forward_(graph.nodes.size()),
        backward_(graph.nodes.size()) {
    for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
      nodeOfSpan_[thread].resize(trace.threads[thread].spans.size(), kNoNode);
    }
  }

  GraphProfile build() {
    for (const TraceStep& step : trace_.steps) {
      addForward(step);
    }
    addBackward();
    return {statsOf(forward_, /*withMemory=*/true), statsOf(backward_, /*withMemory=*/false)};
  }

 private:
  static constexpr std::size_t kNoNode = ~std::size_t{0};

  void addForward(const TraceStep& step) {
    const std::vector<ForwardCall> calls = detail::profile::forwardCalls(trace_, step, modules_);
    const CallsOfNodes callsOfNode = matcher_.match(calls);
    const ThreadMemory memory(trace_, step.thread);
    for (std::size_t node = 0; node < callsOfNode.size(); ++node) {
      steps_[node] += callsOfNode[node].empty() ? 0 : 1;
      for (const std::size_t i : callsOfNode[node]) {
        const ForwardCall& call = calls[i];
        forward_[node].add(call.start, call.end - call.start, memory.keptBy(call.start, call.end));
        nodeOfSpan_[step.thread][call.span] = node;
      }
    }
  }

  void addBackward() {
    std::vector<std::vector<std::uint32_t>> parents;
    for (const TraceThread& thread : trace_.threads) {
      parents.push_back(detail::profile::parentsOf(thread.spans));
    }
    for (const TraceLink& link : linkBackward(trace_)) {
      const std::size_t node = nodeAt(link.fromThread, link.fromSpan, parents[link.fromThread]);
      if (node != kNoNode) {
        const TraceSpan& span = trace_.threads[link.toThread].spans[link.toSpan];
        backward_[node].add(span.start, span.duration, 0);
      }
    }
  }

  /// Returns the node of a span, of an enclosing span, or else of the first span inside that has
  /// one: the graph may know an operator only by the operators that it calls.
  std::size_t nodeAt(std::size_t thread, std::size_t span,
                     const std::vector<std::uint32_t>& parents) const {
    const std::vector<std::size_t>& nodes = nodeOfSpan_[thread];
    for (auto i = static_cast<std::uint32_t>(span); i != detail::profile::kNoSpan; i = parents[i]) {
      if (nodes[i] != kNoNode) {
        return nodes[i];
      }
    }
    const std::vector<TraceSpan>& spans = trace_.threads[thread].spans;
    const std::int64_t end = spans[span].start + spans[span].duration;
    for (std::size_t i = span + 1; i < spans.size() && spans[i].start < end; ++i) {
      if (nodes[i] != kNoNode) {
        return nodes[i];
      }
    }
    return kNoNode;
  }

  std::vector<event::GraphNodeStats> statsOf(const std::vector<NodeTotals>& totals,
                                             bool withMemory) const {
    std::vector<event::GraphNodeStats> stats;
    for (std::size_t i = 0; i < totals.size(); ++i) {
      const NodeTotals& total = totals[i];
      if (!total.isFound) {
        continue;
      }
      const bool isRecorded = !trace_.memory.empty();
      const std::int64_t bytes = isRecorded ? total.bytes : outputBytesOf(graph_.nodes[i]);
      stats.push_back(
          event::graphNodeStats(graph_.nodes[i], (trace_.originNanos + total.firstStart) / 1000,
                                nanoseconds(total.nanos / steps_[i]), withMemory ? bytes : 0));
    }
    return stats;
  }

  const event::Graph& graph_;
  const Trace& trace_;
  const detail::profile::SpanModules modules_;
  const detail::profile::GraphCallMatcher matcher_;
  std::vector<std::vector<std::size_t>> nodeOfSpan_;  // by thread and span
  std::vector<std::int64_t> steps_;                   // by node: steps with a call
  std::vector<NodeTotals> forward_;                   // by node, like backward_
  std::vector<NodeTotals> backward_;
};

}  // namespace

GraphProfile profileGraph(const event::Graph& graph, const Trace& trace,
                          const GraphProfileOptions& options) {
  return NodeTally(graph, trace, options.model).build();
}

void writeGraphProfile(SummaryWriter& writer, const event::Graph& graph, const Trace& trace,
                       std::int64_t step, const GraphProfileOptions& options) {
  GraphProfile profile = profileGraph(graph, trace, options);
  const std::string run = "profile step " + std::to_string(step);
  writer.addGraphStats(std::move(profile.forward), run);
  writer.addGraphStats(std::move(profile.backward), run + " backward");
}

}  // namespace steptape
