// SPDX-License-Identifier: Apache-2.0
#include "profile/span_context.h"

#include <algorithm>

namespace steptape::detail {

std::vector<std::uint32_t> parentsOf(const std::vector<TraceSpan>& spans) {
  std::vector<std::uint32_t> parents(spans.size(), kNoSpan);
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    if ((spans[i].flags & kDetached) != 0) {
      continue;
    }
    const auto isOver = [&](std::uint32_t outer) {
      return spans[outer].start + spans[outer].duration <= spans[i].start;
    };
    while (!open.empty() && isOver(open.back())) {
      open.pop_back();
    }
    parents[i] = open.empty() ? kNoSpan : open.back();
    open.push_back(i);
  }
  return parents;
}

SpanModules::SpanModules(const Trace& trace) : trace_(trace) {
  const bool hasModules = std::any_of(trace.details.begin(), trace.details.end(),
                                      [](const SpanDetails& d) { return !d.module.empty(); });
  if (!hasModules) {
    return;
  }
  for (const TraceThread& thread : trace.threads) {
    std::vector<std::uint32_t>& details = details_.emplace_back();
    details.reserve(thread.spans.size());
    for (const TraceSpan& span : thread.spans) {
      details.push_back(trace.details[span.details].module.empty() ? 0 : span.details);
    }
  }
  for (std::size_t thread = 0; thread < details_.size(); ++thread) {
    inherit(thread);
  }
  for (const TraceLink& link : linkBackward(trace)) {
    details_[link.toThread][link.toSpan] = details_[link.fromThread][link.fromSpan];
  }
  for (std::size_t thread = 0; thread < details_.size(); ++thread) {
    inherit(thread);
  }
}

void SpanModules::inherit(std::size_t thread) {
  const std::vector<std::uint32_t> parents = parentsOf(trace_.threads[thread].spans);
  std::vector<std::uint32_t>& details = details_[thread];
  for (std::size_t i = 0; i < details.size(); ++i) {
    if (details[i] == 0 && parents[i] != kNoSpan) {
      details[i] = details[parents[i]];
    }
  }
}

const std::string& SpanModules::of(std::size_t thread, std::size_t span) const {
  return trace_.details[details_.empty() ? 0 : details_[thread][span]].module;
}

SpansAtTimes::SpansAtTimes(const Trace& trace) : trace_(trace) {
  for (const TraceThread& thread : trace.threads) {
    parents_.push_back(parentsOf(thread.spans));
  }
}

const TraceSpan* SpansAtTimes::innermost(std::size_t thread, std::int64_t time) const {
  const std::vector<TraceSpan>& spans = trace_.threads[thread].spans;
  auto behind =
      std::upper_bound(spans.begin(), spans.end(), time,
                       [](std::int64_t t, const TraceSpan& span) { return t < span.start; });
  while (behind != spans.begin() && ((behind - 1)->flags & kDetached) != 0) {
    --behind;
  }
  if (behind == spans.begin()) {
    return nullptr;
  }
  auto candidate = static_cast<std::uint32_t>(behind - spans.begin() - 1);
  while (candidate != kNoSpan && spans[candidate].start + spans[candidate].duration < time) {
    candidate = parents_[thread][candidate];
  }
  return candidate == kNoSpan ? nullptr : &spans[candidate];
}

}  // namespace steptape::detail
