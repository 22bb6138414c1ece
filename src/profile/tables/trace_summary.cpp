// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/trace_summary.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profile/tables/span_context.h"
#include "profile/tables/span_stacks.h"
#include "profile/trace/thread_time.h"

namespace steptape {
namespace {

using detail::profile::endOf;
using detail::profile::OpenSpan;
using detail::profile::takesTimeOfThread;

constexpr const char* kNoModule = "(no module)";
constexpr const char* kNoOperator = "(no operator)";

/// Sums the spans of a trace by row of a table.
class SpanTally {
 public:
  SpanTally(const Trace& trace, OpGrouping grouping)
      : trace_(trace),
        grouping_(grouping),
        openCalls_(trace.names.size(), 0),
        outermostEnd_(trace.names.size(), 0) {
    if (grouping == OpGrouping::kModule) {
      modules_.emplace(trace);
    }
    if (grouping == OpGrouping::kStack) {
      stacks_.emplace(trace);
    }
    // Entries of the name table may differ in category and color only.
    std::map<std::pair<std::string_view, SpanKind>, std::uint32_t> firstOfRow;
    for (const TraceName& name : trace.names) {
      const auto number = static_cast<std::uint32_t>(sameRow_.size());
      const std::pair<std::string_view, SpanKind> key(name.text, name.kind);
      sameRow_.push_back(firstOfRow.emplace(key, number).first->second);
    }
  }

  OpProfile build() {
    for (thread_ = 0; thread_ < trace_.threads.size(); ++thread_) {
      const std::vector<TraceSpan>& spans = trace_.threads[thread_].spans;
      cover(spans);
      detail::profile::visitThread(spans, this);
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

  // For visitThread().
  void begin(std::size_t i, const std::vector<OpenSpan>& around) {
    const TraceSpan& span = spanAt(i);
    if (grouping_ == OpGrouping::kModule) {
      if (isOperator(i)) {
        beginInModule(i, around);
      }
      return;
    }
    const SpanDetails& details = trace_.details[span.details];
    OpStats& op = rowOf(i);
    ++op.calls;
    op.flops += details.flops;
    op.bytes += details.bytes;
    if (isOutermost(span)) {
      op.total += std::chrono::nanoseconds(span.duration);
    }
  }
  void pass(std::int64_t, std::int64_t, const std::vector<OpenSpan>&) {}
  void end(std::size_t i, std::int64_t self, const std::vector<OpenSpan>&) {
    if (grouping_ != OpGrouping::kModule) {
      --openCalls_[sameRow_[spanAt(i).name]];
      rowOf(i).self += std::chrono::nanoseconds(self);
    } else if (isOperator(i)) {
      moduleRow(i).self += std::chrono::nanoseconds(self);
    }
  }

 private:
  using Key = std::tuple<std::string, SpanKind, std::string>;

  const TraceSpan& spanAt(std::size_t i) const { return trace_.threads[thread_].spans[i]; }

  void cover(const std::vector<TraceSpan>& spans) {
    std::int64_t coveredUntil = INT64_MIN;
    for (const TraceSpan& span : spans) {
      if (endOf(span) > coveredUntil) {
        intervals_.emplace_back(std::max(span.start, coveredUntil), endOf(span));
        coveredUntil = endOf(span);
      }
    }
  }

  void beginInModule(std::size_t i, const std::vector<OpenSpan>& around) {
    OpStats& op = moduleRow(i);
    const TraceSpan& span = spanAt(i);
    const SpanDetails& details = trace_.details[span.details];
    op.module = modules_->of(thread_, i);
    op.flops += details.flops;
    const bool isInModule = !around.empty() && isOperator(around.back().index) &&
                            modules_->of(thread_, around.back().index) == op.module;
    if (!isInModule) {
      ++op.calls;
      op.bytes += details.bytes;
      op.total += std::chrono::nanoseconds(span.duration);
    }
  }

  /// Notes that a span begins. Returns whether no span of its row is around it.
  bool isOutermost(const TraceSpan& span) {
    const std::uint32_t row = sameRow_[span.name];
    const bool isFirst = openCalls_[row]++ == 0;
    if (!takesTimeOfThread(span)) {
      return true;
    }
    // A span may be over that is around another by a rounding.
    if (!isFirst && span.start < outermostEnd_[row]) {
      return false;
    }
    outermostEnd_[row] = endOf(span);
    return true;
  }

  bool isOperator(std::size_t i) const {
    const SpanKind kind = trace_.names[spanAt(i).name].kind;
    return kind == SpanKind::kOperator || kind == SpanKind::kBackward;
  }

  OpStats& moduleRow(std::size_t i) {
    const std::string& module = modules_->of(thread_, i);
    return row({module.empty() ? kNoModule : module, SpanKind::kOperator, ""});
  }

  /// Returns the row of a span. A search by text for each span would take most of the time.
  OpStats& rowOf(std::size_t i) {
    const TraceSpan& span = spanAt(i);
    const std::uint32_t part = stacks_                           ? stacks_->of(thread_, i)
                               : grouping_ == OpGrouping::kShape ? span.details
                                                                 : 0;
    OpStats*& known = known_[std::uint64_t{sameRow_[span.name]} << 32 | part];
    if (known == nullptr) {
      const TraceName& name = trace_.names[span.name];
      known = &row({stacks_ ? stacks_->pathOf(part, name) : name.text, name.kind,
                    grouping_ == OpGrouping::kShape ? trace_.details[part].shapes : std::string()});
    }
    return *known;
  }

  OpStats& row(const Key& key) {
    OpStats& op = operators_[key];
    op.name = std::get<0>(key);
    op.kind = std::get<1>(key);
    op.shapes = std::get<2>(key);
    return op;
  }

  /// Returns the time of the window in which any thread was in a span.
  std::int64_t covered() {
    std::sort(intervals_.begin(), intervals_.end());
    // Other profilers' spans may begin before their window, or end after it.
    const bool hasWindow = trace_.duration > 0;
    std::int64_t sum = 0;
    std::int64_t until = hasWindow ? 0 : INT64_MIN;
    for (const auto& [start, spanEnd] : intervals_) {
      const std::int64_t last = hasWindow ? std::min(spanEnd, trace_.duration) : spanEnd;
      if (last > until) {
        sum += last - std::max(start, until);
        until = last;
      }
    }
    return sum;
  }

  const Trace& trace_;
  const OpGrouping grouping_;
  std::optional<detail::profile::SpanModules> modules_;  // for kModule
  std::optional<detail::profile::SpanStacks> stacks_;    // for kStack
  std::map<Key, OpStats> operators_;
  std::unordered_map<std::uint64_t, OpStats*> known_;  // by name, and details or stack
  std::vector<std::uint32_t> sameRow_;                 // by name: the first one with its row
  std::vector<std::uint32_t> openCalls_;               // by name: open spans of its row
  std::vector<std::int64_t> outermostEnd_;             // by name: the end of the outermost of these
  std::size_t thread_ = 0;                             // being visited
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals_;
};

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

std::vector<MemorySummary> summarizeMemory(const Trace& trace) {
  const detail::profile::SpansAtTimes owners(trace);
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
