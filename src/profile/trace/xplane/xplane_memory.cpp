// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/xplane/xplane_memory.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/trace/thread_time.h"
#include "profile/trace/xplane/xprof_names.h"

namespace steptape::detail::profile {
namespace {

/// Finds the operator that a thread runs at a time; times must not decrease.
class RunningOperator {
 public:
  RunningOperator(const Trace& trace, const TraceThread& thread) : trace_(trace), thread_(thread) {}

  /// Returns the innermost operator; nullptr if none runs.
  const TraceName* at(std::int64_t time) {
    for (; next_ < thread_.spans.size() && thread_.spans[next_].start <= time; ++next_) {
      const TraceSpan& span = thread_.spans[next_];
      const SpanKind kind = trace_.names[span.name].kind;
      if ((kind == SpanKind::kOperator || kind == SpanKind::kBackward) && takesTimeOfThread(span)) {
        open_.push_back(&span);
      }
    }
    while (!open_.empty() && open_.back()->start + open_.back()->duration <= time) {
      open_.pop_back();
    }
    return open_.empty() ? nullptr : &trace_.names[open_.back()->name];
  }

 private:
  const Trace& trace_;
  const TraceThread& thread_;
  std::size_t next_ = 0;
  std::vector<const TraceSpan*> open_;  // the last one, or those that ended within it
};

class MemoryLine {
 public:
  MemoryLine(const Trace& trace, const XPlaneClock& clock, events::XPlaneEncoder* plane)
      : trace_(trace),
        clock_(clock),
        plane_(*plane),
        line_(kMemoryLineId, "Memory"),
        allocation_(plane->addEventName({kAllocation})),
        deallocation_(plane->addEventName({kDeallocation})) {
    for (const TraceThread& thread : trace.threads) {
      operators_.emplace_back(trace, thread);
    }
  }

  void add(const TraceMemoryEvent& event) {
    const bool isAllocation = event.bytes >= 0;
    line_.beginEvent(isAllocation ? allocation_ : deallocation_, clock_.picos(event.time),
                     kShortestPicos);
    addText(kAllocatorStat, deviceName(event.deviceType, event.deviceIndex));
    add(kAllocatedStat, event.totalAllocated);
    add(kAllocationStat, std::abs(event.bytes));
    add(kRequestedStat, std::abs(event.bytes));
    add(kAddressStat, static_cast<std::int64_t>(event.address));
    std::int64_t& peak = peaks_[{event.deviceType, event.deviceIndex}];
    peak = std::max(peak, event.totalAllocated);
    add(kPeakStat, peak);
    add(kAvailableStat, std::max<std::int64_t>(0, event.totalReserved - event.totalAllocated));
    if (const std::int64_t step = stepAt(trace_, event.time); step >= 0) {
      add(kGroupStat, step);
    }
    const TraceName* const running = operators_[event.thread].at(event.time);
    if (isAllocation && running != nullptr) {
      addText(kOperatorStat, running->text);
    }
    add(kDeviceTypeStat, event.deviceType);
    add(kDeviceIdStat, event.deviceIndex);
    line_.addStat(plane_.statId(kThreadStat), trace_.threads[event.thread].id);
    line_.endEvent();
  }

  events::XLineEncoder take() { return std::move(line_); }

 private:
  void add(const char* stat, std::int64_t value) { line_.addStat(plane_.statId(stat), value); }
  void addText(const char* stat, const std::string& text) {
    line_.addStat(plane_.statId(stat), events::XStatReference{plane_.statId(text)});
  }

  const Trace& trace_;
  const XPlaneClock& clock_;
  events::XPlaneEncoder& plane_;
  events::XLineEncoder line_;
  const std::int64_t allocation_;
  const std::int64_t deallocation_;
  std::vector<RunningOperator> operators_;             // of each thread
  std::map<std::pair<int, int>, std::int64_t> peaks_;  // by device
};

}  // namespace

events::XLineEncoder encodeMemoryLine(const Trace& trace, const XPlaneClock& clock,
                                      events::XPlaneEncoder* plane) {
  MemoryLine line(trace, clock, plane);
  for (const TraceMemoryEvent& event : trace.memory) {
    line.add(event);
  }
  return line.take();
}

}  // namespace steptape::detail::profile
