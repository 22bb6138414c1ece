// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/replacement_file.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "profile/trace/xplane/xplane_clock.h"
#include "profile/trace/xplane/xplane_lines.h"
#include "profile/trace/xplane/xplane_memory.h"
#include "profile/trace/xplane/xplane_spans.h"
#include "profile/trace/xplane/xplane_trace.h"
#include "profile/trace/xplane/xprof_names.h"

namespace steptape {
namespace {

using detail::base::startsWith;
using detail::profile::XPlaneClock;
using detail::profile::XPlaneFlow;
using detail::profile::XPlaneLineIds;
using detail::profile::XPlaneSpans;

/// Returns a name also for a thread without one: the trace viewer would show an empty row name.
std::string nameOf(const TraceThread& thread) {
  if (!thread.name.empty()) {
    return thread.name;
  }
  return (thread.device < 0 ? "thread " : "Stream #") + std::to_string(thread.id);
}

detail::events::XLineEncoder encodeSteps(const Trace& trace, const XPlaneClock& clock,
                                         std::int64_t lineId,
                                         detail::events::XPlaneEncoder* plane) {
  const std::int64_t group = plane->statId(detail::profile::kGroupStat);
  const std::int64_t stepName = plane->statId(detail::profile::kStepNameStat);
  const std::int64_t thread = plane->statId(detail::profile::kThreadStat);
  detail::events::XLineEncoder line(lineId, detail::profile::kStepsLine);
  for (const TraceStep& step : trace.steps) {
    const std::string number = std::to_string(step.number);
    const std::int64_t start = clock.picos(step.start);
    line.beginEvent(plane->addEventName({"ProfilerStep#" + number}), start,
                    clock.picos(step.start + step.duration) - start);
    line.addStat(group, step.number);
    line.addStat(stepName, number);
    line.addStat(thread, trace.threads[step.thread].id);
    line.endEvent();
  }
  return line;
}

/// XProf does not show a step that contains no events: an invisible picosecond is sufficient.
detail::events::XLineEncoder encodeStepMarks(const Trace& trace, const XPlaneClock& clock,
                                             detail::events::XPlaneEncoder* plane) {
  const std::int64_t group = plane->statId(detail::profile::kGroupStat);
  const std::int64_t name = plane->addEventName({detail::profile::kHiddenEvent});
  detail::events::XLineEncoder line(detail::profile::kStepMarksLineId, "Step marks");
  for (const TraceStep& step : trace.steps) {
    line.beginEvent(name, clock.picos(step.start), detail::profile::kShortestPicos);
    line.addStat(group, step.number);
    line.endEvent();
  }
  return line;
}

detail::events::XLineEncoder encodeCounters(const Trace& trace, const XPlaneClock& clock,
                                            std::int64_t id, detail::events::XPlaneEncoder* plane) {
  struct Point {
    std::int64_t time;
    std::int64_t name;
    double value;
  };
  std::vector<Point> points;
  for (const TraceCounter& counter : trace.counters) {
    const std::int64_t name = plane->addEventName({counter.name});
    for (const auto& [time, value] : counter.points) {
      points.push_back({time, name, value});
    }
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.time < b.time; });
  const std::int64_t value = plane->statId(detail::profile::kValueStat);
  detail::events::XLineEncoder line(id, detail::profile::kCountersLine);
  for (const Point& point : points) {
    line.beginEvent(point.name, clock.picos(point.time), 0);
    line.addStat(value, point.value);
    line.endEvent();
  }
  return line;
}

detail::events::XPlaneEncoder encodeHost(const Trace& trace, const XPlaneClock& clock,
                                         const std::vector<std::vector<XPlaneFlow>>& flows) {
  detail::events::XPlaneEncoder plane(1, detail::profile::kHostPlane);
  XPlaneSpans spans(trace, clock, /*isDevice=*/false, &plane);
  XPlaneLineIds ids;
  if (!trace.steps.empty()) {
    plane.addLine(encodeSteps(trace, clock, XPlaneLineIds::kSteps, &plane));
    plane.addLine(encodeStepMarks(trace, clock, &plane));
  }
  for (std::size_t i = 0; i < trace.threads.size(); ++i) {
    if (trace.threads[i].device < 0) {
      const TraceThread& thread = trace.threads[i];
      detail::profile::addXPlaneThread(thread, nameOf(thread), flows[i], clock, &spans, &ids,
                                       &plane);
    }
  }
  if (!trace.counters.empty()) {
    plane.addLine(encodeCounters(trace, clock, ids.next(), &plane));
  }
  if (!trace.memory.empty()) {
    plane.addLine(detail::profile::encodeMemoryLine(trace, clock, &plane));
  }
  return plane;
}

detail::events::XPlaneEncoder encodeDevice(const Trace& trace, int device, std::int64_t planeId,
                                           const XPlaneClock& clock) {
  detail::events::XPlaneEncoder plane(planeId,
                                      detail::profile::kDevicePlanePrefix + std::to_string(device));
  XPlaneSpans spans(trace, clock, /*isDevice=*/true, &plane);
  XPlaneLineIds ids;
  // If there is a device, XProf takes the steps from this line.
  plane.addLine(encodeSteps(trace, clock, detail::profile::kDeviceStepsLineId, &plane));
  for (const TraceThread& stream : trace.threads) {
    if (stream.device == device) {
      detail::profile::addXPlaneThread(stream, nameOf(stream), {}, clock, &spans, &ids, &plane);
    }
  }
  return plane;
}

/// Encodes the data of a Trace that are not events, for readXPlane().
detail::events::XPlaneEncoder encodeEnvironment(const Trace& trace, const XPlaneClock& clock,
                                                std::int64_t planeId) {
  detail::events::XPlaneEncoder plane(planeId, detail::profile::kEnvironmentPlane);
  const std::int64_t start = trace.originNanos + clock.origin();
  plane.addStat(detail::profile::kProfileStartStat, static_cast<std::uint64_t>(start));
  plane.addStat(detail::profile::kProfileStopStat,
                static_cast<std::uint64_t>(trace.originNanos + trace.duration));
  plane.addStat(detail::profile::kWindowStartStat, static_cast<std::uint64_t>(trace.originNanos));
  plane.addStat(detail::profile::kRankStat, std::int64_t{trace.rank});
  plane.addStat(detail::profile::kWorldSizeStat, std::int64_t{trace.worldSize});
  plane.addStat(detail::profile::kProcessIdStat, trace.processId);
  plane.addStat(detail::profile::kProcessNameStat, trace.processName);
  plane.addStat(detail::profile::kDroppedStat, trace.dropped);
  for (const auto& [key, value] : trace.metadata) {
    // A name of the stats above would replace what they state.
    if (key != detail::profile::kProfileStartStat && key != detail::profile::kProfileStopStat &&
        !startsWith(key, detail::profile::kOwnStatPrefix)) {
      plane.addStat(key, value);
    }
  }
  return plane;
}

std::string droppedMessage(const Trace& trace) {
  const std::string who = trace.worldSize > 1 ? "rank " + std::to_string(trace.rank) + ": " : "";
  return who + "dropped " + std::to_string(trace.dropped) +
         " spans: the profile does not show all that happened";
}

detail::events::XSpaceEncoder encodeTrace(const Trace& trace,
                                          const detail::profile::XPlaneOptions& options) {
  const XPlaneClock clock(trace, options.originNanos);
  detail::events::XSpaceEncoder space;
  space.addPlane(encodeHost(trace, clock, detail::profile::xplaneFlows(trace)));
  std::set<int> devices;
  for (const TraceThread& thread : trace.threads) {
    if (thread.device >= 0) {
      devices.insert(thread.device);
    }
  }
  std::int64_t planeId = 1;
  for (const int device : devices) {
    space.addPlane(encodeDevice(trace, device, ++planeId, clock));
  }
  space.addPlane(encodeEnvironment(trace, clock, ++planeId));
  if (trace.dropped != 0) {
    space.addWarning(droppedMessage(trace));
  }
  if (!trace.hostName.empty()) {
    space.addHostName(trace.hostName);
  }
  return space;
}

}  // namespace

Status detail::profile::writeXPlane(const std::string& path, const Trace& trace,
                                    const detail::profile::XPlaneOptions& options) {
  if (Status status = detail::base::createDirectoriesOf(path); !status.ok()) {
    return status;
  }
  detail::base::ReplacementFile file(path);
  if (Status status = file.open(); !status.ok()) {
    return status;
  }
  const detail::events::XSpaceEncoder space = encodeTrace(trace, options);
  for (const std::string& piece : space.pieces()) {
    file.write(piece);
  }
  if (Status status = file.finish(); !status.ok()) {
    return status;
  }
  return file.appear(/*overwrite=*/false);
}

}  // namespace steptape
