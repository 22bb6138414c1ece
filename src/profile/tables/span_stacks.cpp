// SPDX-License-Identifier: Apache-2.0
#include "profile/tables/span_stacks.h"

#include <algorithm>

#include "steptape/base/json.h"

#include "profile/tables/span_context.h"

namespace steptape::detail::profile {
namespace {

bool isFrame(SpanKind kind, SpanStacks::Frames frames) {
  return frames == SpanStacks::Frames::kAll || kind == SpanKind::kZone ||
         kind == SpanKind::kUserScope;
}

}  // namespace

std::string frameOf(std::string_view name) {
  std::string frame(name);
  std::replace(frame.begin(), frame.end(), ';', ',');
  std::replace(frame.begin(), frame.end(), '\n', ' ');
  std::replace(frame.begin(), frame.end(), '\r', ' ');
  return frame;
}

SpanStacks::SpanStacks(const Trace& trace, Frames frames) {
  for (const TraceThread& thread : trace.threads) {
    stacks_.emplace_back(thread.spans.size(), 0);
    isLinked_.emplace_back(thread.spans.size(), false);
  }
  const auto inheritAll = [&] {
    for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
      inherit(trace, thread, frames);
    }
  };
  inheritAll();
  for (const TraceLink& link : linkBackward(trace)) {
    stacks_[link.toThread][link.toSpan] = stacks_[link.fromThread][link.fromSpan];
    isLinked_[link.toThread][link.toSpan] = true;
  }
  inheritAll();
}

void SpanStacks::inherit(const Trace& trace, std::size_t thread, Frames frames) {
  const std::vector<TraceSpan>& spans = trace.threads[thread].spans;
  const std::vector<std::uint32_t> parents = parentsOf(spans);
  std::vector<std::uint32_t>& stacks = stacks_[thread];
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::uint32_t parent = parents[i];
    if (parent == kNoSpan || isLinked_[thread][i]) {
      continue;
    }
    const std::uint32_t name = spans[parent].name;
    stacks[i] = isFrame(trace.names[name].kind, frames) ? push(stacks[parent], name, trace)
                                                        : stacks[parent];
  }
}

std::uint32_t SpanStacks::push(std::uint32_t stack, std::uint32_t name, const Trace& trace) {
  const auto [known, isNew] =
      inner_.try_emplace({stack, name}, static_cast<std::uint32_t>(texts_.size()));
  if (isNew) {
    texts_.push_back(pathOf(stack, trace.names[name]));
  }
  return known->second;
}

std::string SpanStacks::pathOf(std::uint32_t stack, const TraceName& name) const {
  return stack == 0 ? frameOf(name.text) : texts_[stack] + ';' + frameOf(name.text);
}

void addCallStacks(Trace* trace) {
  const SpanStacks stacks(*trace);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> withStack;  // details, stack
  for (std::size_t thread = 0; thread < trace->threads.size(); ++thread) {
    std::vector<TraceSpan>& spans = trace->threads[thread].spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const std::uint32_t stack = stacks.of(thread, i);
      const SpanKind kind = trace->names[spans[i].name].kind;
      if (stack == 0 || (kind != SpanKind::kOperator && kind != SpanKind::kBackward)) {
        continue;
      }
      const auto [known, isNew] = withStack.try_emplace(
          {spans[i].details, stack}, static_cast<std::uint32_t>(trace->details.size()));
      if (isNew) {
        SpanDetails details = trace->details[spans[i].details];
        details.arguments += (details.arguments.empty() ? "" : ", ") + std::string(kCallStack);
        appendJsonString(&details.arguments, stacks.text(stack));
        trace->details.push_back(std::move(details));
      }
      spans[i].details = known->second;
    }
  }
}

}  // namespace steptape::detail::profile
