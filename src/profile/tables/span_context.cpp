// SPDX-License-Identifier: Apache-2.0
#include "profile/tables/span_context.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "profile/trace/thread_time.h"

namespace steptape::detail::profile {
namespace {

/// Begins the name of the span around the call of a module in traces of PyTorch with Python
/// functions, such as "nn.Module: Linear_0".
///
/// @source torch/csrc/profiler/collection.cpp of PyTorch
constexpr std::string_view kModulePrefix = "nn.Module: ";

}  // namespace

std::vector<std::uint32_t> parentsOf(const std::vector<TraceSpan>& spans) {
  struct : ThreadVisitor {
    std::vector<std::uint32_t> parents;
    void begin(std::size_t, const std::vector<OpenSpan>& around) {
      parents.push_back(around.empty() ? kNoSpan : static_cast<std::uint32_t>(around.back().index));
    }
  } visitor;
  visitor.parents.reserve(spans.size());
  visitThread(spans, &visitor);
  return std::move(visitor.parents);
}

SpanModules::SpanModules(const Trace& trace) : trace_(trace) {
  std::map<std::string_view, std::uint32_t> numbers{{"", 0}};
  const auto numberOf = [&](std::string_view module) {
    const auto [known, isNew] =
        numbers.try_emplace(module, static_cast<std::uint32_t>(modules_.size()));
    if (isNew) {
      modules_.emplace_back(module);
    }
    return known->second;
  };
  std::vector<std::uint32_t> ofDetails;
  for (const SpanDetails& details : trace.details) {
    ofDetails.push_back(numberOf(details.module));
  }
  std::vector<std::uint32_t> ofNames;
  for (const TraceName& name : trace.names) {
    const std::string_view text = name.text;
    ofNames.push_back(
        base::startsWith(text, kModulePrefix) ? numberOf(text.substr(kModulePrefix.size())) : 0);
  }
  if (modules_.size() == 1) {
    return;
  }
  for (const TraceThread& thread : trace.threads) {
    std::vector<std::uint32_t>& ofSpans = ofSpans_.emplace_back();
    ofSpans.reserve(thread.spans.size());
    for (const TraceSpan& span : thread.spans) {
      const std::uint32_t own = ofDetails[span.details];
      ofSpans.push_back(own != 0 ? own : ofNames[span.name]);
    }
  }
  inheritAll();
  for (const TraceLink& link : linkBackward(trace)) {
    ofSpans_[link.toThread][link.toSpan] = ofSpans_[link.fromThread][link.fromSpan];
  }
  inheritAll();
}

void SpanModules::inheritAll() {
  for (std::size_t thread = 0; thread < ofSpans_.size(); ++thread) {
    const std::vector<std::uint32_t> parents = parentsOf(trace_.threads[thread].spans);
    std::vector<std::uint32_t>& ofSpans = ofSpans_[thread];
    for (std::size_t i = 0; i < ofSpans.size(); ++i) {
      if (ofSpans[i] == 0 && parents[i] != kNoSpan) {
        ofSpans[i] = ofSpans[parents[i]];
      }
    }
  }
}

const std::string& SpanModules::of(std::size_t thread, std::size_t span) const {
  return modules_[ofSpans_.empty() ? 0 : ofSpans_[thread][span]];
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
  while (behind != spans.begin() && !takesTimeOfThread(*(behind - 1))) {
    --behind;
  }
  if (behind == spans.begin()) {
    return nullptr;
  }
  auto candidate = static_cast<std::uint32_t>(behind - spans.begin() - 1);
  while (candidate != kNoSpan && endOf(spans[candidate]) < time) {
    candidate = parents_[thread][candidate];
  }
  return candidate == kNoSpan ? nullptr : &spans[candidate];
}

}  // namespace steptape::detail::profile
