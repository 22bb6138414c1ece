// SPDX-License-Identifier: Apache-2.0
#include "steptape/trace/trace.h"

#include <algorithm>
#include <unordered_map>

namespace steptape {
namespace {

bool comesFirst(const TraceSpan& a, const TraceSpan& b) {
  return a.start != b.start ? a.start < b.start : a.duration > b.duration;
}

/// A forward operator by what its backward node knows of it.
struct ForwardKey {
  std::uint16_t thread;
  std::int64_t sequence;
  bool operator==(const ForwardKey& other) const {
    return thread == other.thread && sequence == other.sequence;
  }
};
struct ForwardHash {
  std::size_t operator()(const ForwardKey& key) const {
    return std::hash<std::int64_t>()(key.sequence << 16 | key.thread);
  }
};

struct Place {
  std::int64_t start;
  std::size_t thread;
  std::size_t span;
};

}  // namespace

void nestSpans(std::vector<TraceSpan>* spans) {
  if (!std::is_sorted(spans->begin(), spans->end(), comesFirst)) {
    std::stable_sort(spans->begin(), spans->end(), comesFirst);
  }
  std::vector<std::int64_t> openEnds;
  for (TraceSpan& span : *spans) {
    if ((span.flags & kDetached) != 0) {
      continue;
    }
    while (!openEnds.empty() && openEnds.back() <= span.start) {
      openEnds.pop_back();
    }
    const std::int64_t end = span.start + span.duration;
    if (!openEnds.empty() && end > openEnds.back()) {
      span.flags |= kDetached;
    } else {
      openEnds.push_back(end);
    }
  }
}

std::vector<TraceLink> linkBackward(const Trace& trace) {
  std::vector<Place> backward;
  std::unordered_map<ForwardKey, std::vector<Place>, ForwardHash> forward;
  for (std::size_t t = 0; t < trace.threads.size(); ++t) {
    const std::vector<TraceSpan>& spans = trace.threads[t].spans;
    for (std::size_t s = 0; s < spans.size(); ++s) {
      const TraceSpan& span = spans[s];
      const SpanKind kind = trace.names[span.name].kind;
      if (span.sequence < 0) {
        continue;
      }
      if (kind == SpanKind::kBackward) {
        backward.push_back({span.start, t, s});
      } else if (kind == SpanKind::kOperator) {
        forward[{span.forwardThread, span.sequence}].push_back({span.start, t, s});
      }
    }
  }
  const auto earlier = [](const Place& a, const Place& b) { return a.start < b.start; };
  std::sort(backward.begin(), backward.end(), earlier);
  std::vector<TraceLink> links;
  for (const Place& to : backward) {
    const TraceSpan& node = trace.threads[to.thread].spans[to.span];
    const auto found = forward.find({node.forwardThread, node.sequence});
    if (found == forward.end()) {
      continue;
    }
    const Place* from = nullptr;
    for (const Place& candidate : found->second) {
      if (candidate.start < to.start && (from == nullptr || candidate.start >= from->start)) {
        from = &candidate;
      }
    }
    if (from != nullptr) {
      links.push_back({from->thread, from->span, to.thread, to.span});
      forward.erase(found);
    }
  }
  return links;
}

std::int64_t stepAt(const Trace& trace, std::int64_t time) {
  const auto behind =
      std::upper_bound(trace.steps.begin(), trace.steps.end(), time,
                       [](std::int64_t t, const TraceStep& step) { return t < step.start; });
  if (behind == trace.steps.begin()) {
    return -1;
  }
  const TraceStep& step = *(behind - 1);
  return time < step.start + step.duration ? step.number : -1;
}

}  // namespace steptape
