// SPDX-License-Identifier: Apache-2.0
#include "profile/tables/graph_calls.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "profile/tables/step_parts.h"
#include "profile/trace/thread_time.h"

namespace steptape::detail::profile {
namespace {

using Key = std::pair<std::string, std::string>;  // module and operator

/// Returns "features.0" for "Net/features[Sequential]/0[Conv2d]/convolution": levels without a type
/// are the model itself and zones.
std::string modulePath(const std::string& node) {
  std::string path;
  std::size_t start = 0;
  for (std::size_t slash; (slash = node.find('/', start)) != std::string::npos; start = slash + 1) {
    const std::string level = node.substr(start, slash - start);
    const std::size_t bracket = level.rfind('[');
    if (bracket != std::string::npos && level.back() == ']') {
      path += (path.empty() ? "" : ".") + level.substr(0, bracket);
    }
  }
  return path;
}

/// Returns for each node the next call of a node that is known, else `end`.
std::vector<std::size_t> limitsOf(const CallsOfNodes& known, std::size_t pass, std::size_t end) {
  std::vector<std::size_t> limits(known.size());
  for (std::size_t node = known.size(); node > 0; --node) {
    limits[node - 1] = end;
    if (pass < known[node - 1].size()) {
      end = known[node - 1][pass];
    }
  }
  return limits;
}

/// Finds calls inside another call of the same operator, such as one of an overload.
class CallsInThemselves {
 public:
  bool isRepeated(const ForwardCall& call) {
    std::int64_t& end = endByName_[*call.name];
    const bool isRepeated = call.start < end;
    end = std::max(end, call.end);
    return isRepeated;
  }

 private:
  std::map<std::string, std::int64_t> endByName_;
};

}  // namespace

std::vector<ForwardCall> forwardCalls(const Trace& trace, const TraceStep& step,
                                      const SpanModules& modules) {
  const std::vector<TraceSpan>& spans = trace.threads[step.thread].spans;
  const std::int64_t stepEnd = step.start + step.duration;
  const std::vector<StepPart> parts = ownPartsOf(trace.names);
  CallsInThemselves inThemselves;
  std::vector<ForwardCall> calls;
  std::int64_t otherPartUntil = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const TraceSpan& span = spans[i];
    const std::int64_t end = span.start + span.duration;
    if (span.start < step.start || end > stepEnd || !takesTimeOfThread(span) ||
        span.start < otherPartUntil) {
      continue;
    }
    const TraceName& name = trace.names[span.name];
    if (parts[span.name] != nullptr) {
      otherPartUntil = end;
    } else if (name.kind == SpanKind::kOperator) {
      const ForwardCall call{i, &name.text, &modules.of(step.thread, i), span.start, end};
      if (!inThemselves.isRepeated(call)) {
        calls.push_back(call);
      }
    }
  }
  return calls;
}

GraphCallMatcher::GraphCallMatcher(const event::Graph& graph, const std::string& model)
    : graph_(graph) {
  for (const event::GraphNode& node : graph.nodes) {
    const std::string path = modulePath(node.name);
    const bool isBoth = !model.empty() && !path.empty();
    moduleOfNode_.push_back(model + (isBoth ? "." : "") + path);
    modules_.insert(moduleOfNode_.back());
  }
  modules_.erase("");
}

CallsOfNodes GraphCallMatcher::match(const std::vector<ForwardCall>& calls) const {
  CallsOfNodes callsOfNode(graph_.nodes.size());
  matchByModule(calls, &callsOfNode);
  matchBetween(calls, &callsOfNode);
  return callsOfNode;
}

/// Assigns the calls of each operator in each module in turn.
void GraphCallMatcher::matchByModule(const std::vector<ForwardCall>& calls,
                                     CallsOfNodes* callsOfNode) const {
  std::map<Key, std::vector<std::size_t>> nodes;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    nodes[{moduleOfNode_[i], graph_.nodes[i].op}].push_back(i);
  }
  std::map<Key, std::vector<std::size_t>> callsByKey;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].module->empty()) {
      callsByKey[{*calls[i].module, *calls[i].name}].push_back(i);
    }
  }
  for (const auto& [key, ofKey] : callsByKey) {
    const auto found = nodes.find(key);
    if (found == nodes.end()) {
      continue;
    }
    const std::vector<std::size_t>& nodesOfKey = found->second;
    // A number of calls that is not a multiple of the nodes is not a number of complete passes: the
    // first ones may be right.
    const bool isWhole = ofKey.size() % nodesOfKey.size() == 0;
    const std::size_t count = isWhole ? ofKey.size() : std::min(ofKey.size(), nodesOfKey.size());
    for (std::size_t i = 0; i < count; ++i) {
      (*callsOfNode)[nodesOfKey[i % nodesOfKey.size()]].push_back(ofKey[i]);
    }
  }
}

/// Finds operators without parameters between operators whose module is known, pass by pass.
void GraphCallMatcher::matchBetween(const std::vector<ForwardCall>& calls,
                                    CallsOfNodes* callsOfNode) const {
  const CallsOfNodes known = *callsOfNode;
  std::size_t passes = 1;
  for (const std::vector<std::size_t>& ofNode : known) {
    passes = std::max(passes, ofNode.size());
  }
  std::size_t next = 0;  // the first call that the next node may be
  for (std::size_t pass = 0; pass < passes; ++pass) {
    const std::vector<std::size_t> limits = limitsOf(known, pass, calls.size());
    for (std::size_t node = 0; node < known.size(); ++node) {
      if (pass < known[node].size()) {
        next = std::max(next, known[node][pass] + 1);
      } else if (known[node].empty()) {
        const std::size_t call = findCall(calls, next, limits[node], graph_.nodes[node].op);
        if (call < limits[node]) {
          (*callsOfNode)[node].push_back(call);
          next = call + 1;
        }
      }
    }
  }
}

/// Returns the first such call in a range that may belong to any module; `end` if there is none.
std::size_t GraphCallMatcher::findCall(const std::vector<ForwardCall>& calls, std::size_t begin,
                                       std::size_t end, const std::string& name) const {
  while (begin < end && (*calls[begin].name != name || modules_.count(*calls[begin].module) != 0)) {
    ++begin;
  }
  return std::min(begin, end);
}

}  // namespace steptape::detail::profile
