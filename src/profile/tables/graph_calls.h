// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

#include "steptape/events/graph.h"
#include "steptape/profile/trace.h"

#include "profile/tables/span_context.h"

namespace steptape::detail::profile {

/// A call of an operator in the forward part of a step.
struct ForwardCall {
  std::size_t span;  ///< Index into the spans of the step's thread.
  const std::string* name;
  const std::string* module;  ///< Empty: unknown.
  std::int64_t start;
  std::int64_t end;
};

/// @return by start; of nested calls, the outer one first.
std::vector<ForwardCall> forwardCalls(const Trace& trace, const TraceStep& step,
                                      const SpanModules& modules);

/// For each node of a graph: indices of its calls in order, one per forward pass.
using CallsOfNodes = std::vector<std::vector<std::size_t>>;

/// Finds the nodes of a graph in the calls of a step.
///
/// @threads Thread-compatible: const methods may run concurrently.
class GraphCallMatcher {
 public:
  /// @param graph Must outlive this object.
  /// @param model Name of the model itself in SpanDetails::module.
  GraphCallMatcher(const event::Graph& graph, const std::string& model);

  CallsOfNodes match(const std::vector<ForwardCall>& calls) const;

 private:
  void matchByModule(const std::vector<ForwardCall>& calls, CallsOfNodes* callsOfNode) const;
  void matchBetween(const std::vector<ForwardCall>& calls, CallsOfNodes* callsOfNode) const;
  std::size_t findCall(const std::vector<ForwardCall>& calls, std::size_t begin, std::size_t end,
                       const std::string& name) const;

  const event::Graph& graph_;
  std::vector<std::string> moduleOfNode_;
  std::unordered_set<std::string> modules_;
};

}  // namespace steptape::detail::profile
