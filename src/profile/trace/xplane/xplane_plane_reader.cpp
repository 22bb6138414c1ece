// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/xplane/xplane_plane_reader.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "profile/trace/xplane/xplane_clock.h"

namespace steptape::detail::profile {
namespace {

constexpr std::int64_t kMaxMemoryBytes = std::int64_t{1} << 60;

/// Returns whether it is one of XProf's own lines; see xprof_names.h.
bool isDerivedLine(std::int64_t id) {
  return isIn(id, kFirstDerivedLineId, kLastDerivedLineId);
}

/// Returns the device of a plane such as "/device:GPU:0", or -1 for a host's plane.
int deviceOf(std::string_view plane) {
  if (!base::startsWith(plane, "/device:")) {
    return -1;
  }
  return std::atoi(std::string(plane.substr(plane.rfind(':') + 1)).c_str());
}

}  // namespace

XPlaneReader::XPlaneReader(const events::XPlane& plane, std::int64_t base, std::int64_t windowStart,
                           Trace* trace, PendingThreads* pending)
    : plane_(plane),
      base_(base),
      windowStart_(windowStart),
      device_(deviceOf(plane.name)),
      trace_(*trace),
      pending_(*pending),
      ids_(plane),
      spans_(plane, device_, ids_, trace) {}

template <typename Take>
void XPlaneReader::forEachEvent(const events::XLine& line, const Take& take) {
  events::XEvent event;
  for (const std::string_view bytes : line.events) {
    events::decodeXEvent(bytes, &event).throwIfError();
    if (isIn(timeOf(line), 0, kMaxXPlanePicos / 1000) &&
        isIn(event.offsetPicos, 0, kMaxXPlanePicos) &&
        isIn(event.durationPicos, 0, kMaxXPlanePicos)) {
      take(event, nanos(line, event.offsetPicos));
    } else {
      ++trace_.dropped;
    }
  }
}

/// XProf needs spans that end picoseconds earlier; rounding restores their end.
std::int64_t XPlaneReader::nanos(const events::XLine& line, std::int64_t picos) const {
  return timeOf(line) + (picos + 500) / 1000 - windowStart_;
}

/// Returns the time of a line since the start of the profile.
std::int64_t XPlaneReader::timeOf(const events::XLine& line) const {
  return line.timestampNanos < kMinUnixNanos ? line.timestampNanos : line.timestampNanos - base_;
}

void XPlaneReader::read() {
  for (const events::XLine& line : plane_.lines) {
    if (line.id == kMemoryLineId) {
      forEachEvent(line, [this](const events::XEvent& event, std::int64_t start) {
        addMemory(event, start);
      });
    } else if (line.name == kCountersLine) {
      forEachEvent(line, [this](const events::XEvent& event, std::int64_t start) {
        addCounter(event, start);
      });
    } else if (!isDerivedLine(line.id)) {
      addThread(line);
    }
  }
}

void XPlaneReader::addThread(const events::XLine& line) {
  TraceThread thread{static_cast<std::uint64_t>(line.id), line.name, device_, {}};
  bool hasOtherEvents = false;  // other than the thread's own
  forEachEvent(line, [&](const events::XEvent& event, std::int64_t start) {
    const std::int64_t end = nanos(line, event.offsetPicos + event.durationPicos);
    if (addStep(event, start, end - start, line)) {
      hasOtherEvents = true;
      return;
    }
    TraceSpan span = spans_.spanOf(event);
    span.start = start;
    span.duration = end - start;
    if (const auto from = statInteger(event, detachedFrom_)) {
      hasOtherEvents = true;
      if (findStat(event.stats, overlap_) == nullptr) {
        span.flags |= kDetached;
      }
      pending_.detached.push_back(
          {device_, static_cast<std::uint64_t>(*from), span, statInteger(event, twinsAround_)});
    } else {
      thread.spans.push_back(span);
    }
  });
  if (!thread.spans.empty() || !hasOtherEvents) {
    trace_.threads.push_back(std::move(thread));
  }
}

/// @return false if the event is not a step.
bool XPlaneReader::addStep(const events::XEvent& event, std::int64_t start, std::int64_t duration,
                           const events::XLine& line) {
  std::optional<std::int64_t> number = statInteger(event, stepNumber_);
  if (!number && findStat(event.stats, stepName_) != nullptr) {
    number = statInteger(event, group_);
  }
  if (!number || device_ >= 0) {
    return false;
  }
  trace_.steps.push_back({*number, start, duration, 0});
  pending_.stepThreads.push_back(
      static_cast<std::uint64_t>(statInteger(event, thread_).value_or(line.id)));
  return true;
}

void XPlaneReader::addMemory(const events::XEvent& event, std::int64_t time) {
  const auto name = plane_.eventNames.find(event.nameId);
  if (name == plane_.eventNames.end()) {
    return;
  }
  const auto number = [&](const char* stat) {
    return statInteger(event, ids_.of(stat)).value_or(0);
  };
  const auto bytes = [&](const char* stat) {
    return std::clamp(number(stat), -kMaxMemoryBytes, kMaxMemoryBytes);
  };
  TraceMemoryEvent memory;
  memory.time = time;
  memory.address = static_cast<std::uint64_t>(number(kAddressStat));
  memory.bytes = bytes(kAllocationStat);
  if (name->second.name == kDeallocation) {
    memory.bytes = -memory.bytes;
  }
  memory.totalAllocated = bytes(kAllocatedStat);
  const std::int64_t available = bytes(kAvailableStat);
  memory.totalReserved = available != 0 ? memory.totalAllocated + available : 0;
  memory.deviceType = static_cast<int>(number(kDeviceTypeStat));
  memory.deviceIndex = static_cast<int>(number(kDeviceIdStat));
  trace_.memory.push_back(memory);
  pending_.memoryThreads.push_back(static_cast<std::uint64_t>(number(kThreadStat)));
}

void XPlaneReader::addCounter(const events::XEvent& event, std::int64_t time) {
  const auto [known, isNew] = counters_.try_emplace(event.nameId, trace_.counters.size());
  if (isNew) {
    const auto name = plane_.eventNames.find(event.nameId);
    trace_.counters.push_back(
        {name != plane_.eventNames.end() ? name->second.name : std::string(), {}});
  }
  if (!event.stats.empty()) {
    trace_.counters[known->second].points.emplace_back(time, statNumber(event.stats[0].value));
  }
}

}  // namespace steptape::detail::profile
