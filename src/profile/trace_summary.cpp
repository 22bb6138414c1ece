// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/trace_summary.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profile/span_context.h"
#include "profile/span_stacks.h"
#include "profile/step_parts.h"

namespace steptape {
namespace {

constexpr const char* kNoModule = "(no module)";
constexpr const char* kNoOperator = "(no operator)";

bool isDetached(const TraceSpan& span) {
  return (span.flags & kDetached) != 0;
}

std::int64_t endOf(const TraceSpan& span) {
  return span.start + span.duration;
}

/// An enclosing span during the iteration over a thread's spans.
struct OpenSpan {
  std::size_t index;
  std::int64_t end;
  std::int64_t inChildren = 0;
};

/// Iterates over the spans of a thread as they open and close. Detached spans are reported without
/// enclosing spans.
///
/// @param onSpan Called when a span closes: its index, its time without its children's, and its
///               enclosing spans, the outermost first.
template <typename OnSpan>
void walk(const std::vector<TraceSpan>& spans, const OnSpan& onSpan) {
  std::vector<OpenSpan> open;
  const auto closeUntil = [&](std::int64_t time) {
    while (!open.empty() && open.back().end <= time) {
      const OpenSpan closed = open.back();
      open.pop_back();
      const std::int64_t duration = spans[closed.index].duration;
      if (!open.empty()) {
        open.back().inChildren += duration;
      }
      onSpan(closed.index, duration - closed.inChildren, open);
    }
  };
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (isDetached(spans[i])) {
      onSpan(i, 0, std::vector<OpenSpan>());
      continue;
    }
    closeUntil(spans[i].start);
    open.push_back({i, endOf(spans[i])});
  }
  closeUntil(INT64_MAX);
}

class SpanTally {
 public:
  SpanTally(const Trace& trace, OpGrouping grouping)
      : trace_(trace), grouping_(grouping), modules_(trace) {
    if (grouping == OpGrouping::kStack) {
      stacks_.emplace(trace);
    }
  }

  OpProfile build() {
    for (std::size_t thread = 0; thread < trace_.threads.size(); ++thread) {
      addThread(thread);
    }
    OpProfile profile;
    for (auto& [key, op] : operators_) {
      profile.operators.push_back(std::move(op));
    }
    std::sort(profile.operators.begin(), profile.operators.end(),
              [](const OpStats& a, const OpStats& b) {
                return a.self != b.self ? a.self > b.self : a.name < b.name;
              });
    profile.wall = std::chrono::nanoseconds(trace_.duration);
    profile.covered = std::chrono::nanoseconds(covered());
    profile.dropped = trace_.dropped;
    profile.steps = static_cast<std::int64_t>(trace_.steps.size());
    return profile;
  }

 private:
  using Key = std::tuple<std::string, SpanKind, std::string>;

  void addThread(std::size_t thread) {
    const std::vector<TraceSpan>& spans = trace_.threads[thread].spans;
    std::int64_t coveredUntil = INT64_MIN;
    for (const TraceSpan& span : spans) {
      if (endOf(span) > coveredUntil) {
        intervals_.emplace_back(std::max(span.start, coveredUntil), endOf(span));
        coveredUntil = endOf(span);
      }
    }
    walk(spans, [&](std::size_t i, std::int64_t self, const std::vector<OpenSpan>& around) {
      add(thread, i, self, around);
    });
  }

  void add(std::size_t thread, std::size_t i, std::int64_t self,
           const std::vector<OpenSpan>& around) {
    const std::vector<TraceSpan>& spans = trace_.threads[thread].spans;
    const TraceSpan& span = spans[i];
    const TraceName& name = trace_.names[span.name];
    const SpanDetails& details = trace_.details[span.details];
    if (grouping_ == OpGrouping::kModule) {
      if (name.kind == SpanKind::kOperator || name.kind == SpanKind::kBackward) {
        addToModule(thread, i, self, around);
      }
      return;
    }
    OpStats& op =
        row({stacks_ ? stacks_->pathOf(stacks_->of(thread, i), name) : name.text, name.kind,
             grouping_ == OpGrouping::kShape ? details.shapes : std::string()});
    ++op.calls;
    op.self += std::chrono::nanoseconds(self);
    op.flops += details.flops;
    op.bytes += details.bytes;
    const bool isNested = std::any_of(around.begin(), around.end(), [&](const OpenSpan& outer) {
      const TraceName& outerName = trace_.names[spans[outer.index].name];
      return outerName.kind == name.kind && outerName.text == name.text;
    });
    if (!isNested) {
      op.total += std::chrono::nanoseconds(span.duration);
    }
  }

  void addToModule(std::size_t thread, std::size_t i, std::int64_t self,
                   const std::vector<OpenSpan>& around) {
    const std::string& module = modules_.of(thread, i);
    OpStats& op = row({module.empty() ? kNoModule : module, SpanKind::kOperator, ""});
    const TraceSpan& span = trace_.threads[thread].spans[i];
    const SpanDetails& details = trace_.details[span.details];
    op.module = module;
    op.self += std::chrono::nanoseconds(self);
    op.flops += details.flops;
    const bool isInside = !around.empty() && modules_.of(thread, around.back().index) == module &&
                          isOperator(thread, around.back().index);
    if (!isInside) {
      ++op.calls;
      op.bytes += details.bytes;
      op.total += std::chrono::nanoseconds(span.duration);
    }
  }

  bool isOperator(std::size_t thread, std::size_t i) const {
    const SpanKind kind = trace_.names[trace_.threads[thread].spans[i].name].kind;
    return kind == SpanKind::kOperator || kind == SpanKind::kBackward;
  }

  OpStats& row(const Key& key) {
    OpStats& op = operators_[key];
    op.name = std::get<0>(key);
    op.kind = std::get<1>(key);
    op.shapes = std::get<2>(key);
    return op;
  }

  /// Returns the time in which any thread was in a span.
  std::int64_t covered() {
    std::sort(intervals_.begin(), intervals_.end());
    std::int64_t sum = 0;
    std::int64_t until = INT64_MIN;
    for (const auto& [start, end] : intervals_) {
      if (end > until) {
        sum += end - std::max(start, until);
        until = end;
      }
    }
    return sum;
  }

  const Trace& trace_;
  const OpGrouping grouping_;
  const detail::SpanModules modules_;
  std::optional<detail::SpanStacks> stacks_;  // for kStack
  std::map<Key, OpStats> operators_;
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals_;
};

bool isInOperator(const Trace& trace, const std::vector<TraceSpan>& spans,
                  const std::vector<OpenSpan>& around) {
  return std::any_of(around.begin(), around.end(), [&](const OpenSpan& outer) {
    return trace.names[spans[outer.index].name].kind == SpanKind::kOperator;
  });
}

/// Returns the part to which the self time of a span belongs.
std::int64_t* partOf(StepSummary& step, const Trace& trace, const std::vector<TraceSpan>& spans,
                     std::size_t i, const std::vector<OpenSpan>& around) {
  const TraceName& name = trace.names[spans[i].name];
  if (const auto part = detail::ownPartOf(name)) {
    return &(step.*part);
  }
  for (auto outer = around.rbegin(); outer != around.rend(); ++outer) {
    if (const auto part = detail::ownPartOf(trace.names[spans[outer->index].name])) {
      return &(step.*part);
    }
  }
  const bool isForward = name.kind == SpanKind::kOperator ||
                         (name.kind == SpanKind::kRuntime && isInOperator(trace, spans, around));
  return isForward ? &step.forward : &step.other;
}

/// Returns the step that contains a span on the thread that makes steps; null if there is none.
const TraceStep* stepAround(const Trace& trace, std::size_t thread, const TraceSpan& span) {
  const auto behind =
      std::upper_bound(trace.steps.begin(), trace.steps.end(), span.start,
                       [](std::int64_t time, const TraceStep& step) { return time < step.start; });
  if (behind == trace.steps.begin()) {
    return nullptr;
  }
  const TraceStep& step = *(behind - 1);
  const bool isAround = step.thread == thread && endOf(span) <= step.start + step.duration;
  return isAround ? &step : nullptr;
}

/// Sums the memory of one device.
class MemoryTally {
 public:
  void add(const TraceMemoryEvent& event, const std::string& operatorName) {
    const std::size_t op = opNamed(operatorName);
    inUseByOp_.resize(summary_.operators.size());
    if (event.bytes >= 0) {
      allocate(event, op);
    } else {
      free(event, op);
    }
    summary_.inUse.emplace_back(event.time, inUse_);
    if (inUse_ > summary_.peak) {
      notePeak(event.time);
    }
  }

  MemorySummary build() && {
    std::sort(summary_.operators.begin(), summary_.operators.end(),
              [](const OpMemory& a, const OpMemory& b) {
                return std::tie(b.atPeak, b.allocated, a.name) <
                       std::tie(a.atPeak, a.allocated, b.name);
              });
    return std::move(summary_);
  }

 private:
  struct Block {
    std::int64_t bytes;
    std::size_t op;
  };

  std::size_t opNamed(const std::string& name) {
    const auto [known, isNew] = indexByName_.emplace(name, summary_.operators.size());
    if (isNew) {
      summary_.operators.push_back({name});
    }
    return known->second;
  }

  void allocate(const TraceMemoryEvent& event, std::size_t op) {
    ++summary_.operators[op].allocations;
    summary_.operators[op].allocated += event.bytes;
    blocks_[event.address] = {event.bytes, op};
    inUseByOp_[op] += event.bytes;
    inUse_ += event.bytes;
  }

  void free(const TraceMemoryEvent& event, std::size_t op) {
    summary_.operators[op].freed -= event.bytes;
    const auto block = blocks_.find(event.address);
    if (block != blocks_.end()) {  // else it was allocated before the window
      inUseByOp_[block->second.op] -= block->second.bytes;
      inUse_ -= block->second.bytes;
      blocks_.erase(block);
    }
  }

  void notePeak(std::int64_t time) {
    summary_.peak = inUse_;
    summary_.peakTime = time;
    for (std::size_t i = 0; i < inUseByOp_.size(); ++i) {
      summary_.operators[i].atPeak = inUseByOp_[i];
    }
  }

  MemorySummary summary_;
  std::unordered_map<std::string, std::size_t> indexByName_;
  std::unordered_map<std::uint64_t, Block> blocks_;
  std::int64_t inUse_ = 0;
  std::vector<std::int64_t> inUseByOp_;
};

}  // namespace

OpProfile summarize(const Trace& trace, OpGrouping grouping) {
  return SpanTally(trace, grouping).build();
}

std::vector<StepSummary> summarizeSteps(const Trace& trace) {
  std::vector<StepSummary> steps;
  for (const TraceStep& step : trace.steps) {
    StepSummary& summary = steps.emplace_back();
    summary.number = step.number;
    summary.total = step.duration;
  }
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
    const std::vector<TraceSpan>& spans = trace.threads[thread].spans;
    walk(spans, [&](std::size_t i, std::int64_t self, const std::vector<OpenSpan>& around) {
      const TraceStep* const step = stepAround(trace, thread, spans[i]);
      if (step == nullptr || isDetached(spans[i])) {
        return;
      }
      StepSummary& summary = steps[static_cast<std::size_t>(step - trace.steps.data())];
      *partOf(summary, trace, spans, i, around) += self;
    });
  }
  for (StepSummary& step : steps) {
    step.other = step.total - step.input - step.forward - step.backward - step.optimizer -
                 step.transfer - step.wait;
  }
  return steps;
}

std::vector<MemorySummary> summarizeMemory(const Trace& trace) {
  const detail::SpansAtTimes owners(trace);
  std::map<std::pair<int, int>, MemoryTally> devices;
  for (const TraceMemoryEvent& event : trace.memory) {
    const TraceSpan* const owner = owners.innermost(event.thread, event.time);
    const int index = event.deviceType == 0 ? -1 : event.deviceIndex;  // there is one CPU
    devices[{event.deviceType, index}].add(
        event, owner == nullptr ? kNoOperator : trace.names[owner->name].text);
  }
  std::vector<MemorySummary> summaries;
  for (auto& [device, tally] : devices) {
    summaries.push_back(std::move(tally).build());
    summaries.back().device = deviceName(device.first, device.second);
  }
  return summaries;
}

}  // namespace steptape
