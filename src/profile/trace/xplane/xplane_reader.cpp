// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "base/got_expected.h"
#include "base/gzip_file.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "events/messages/xplane.h"
#include "profile/trace/thread_time.h"
#include "profile/trace/xplane/xplane_clock.h"
#include "profile/trace/xplane/xplane_environment.h"
#include "profile/trace/xplane/xplane_plane_reader.h"
#include "profile/trace/xplane/xplane_trace.h"

namespace steptape::detail::profile {
namespace {

/// Returns the earliest Unix time of a line, as profilers had them before 2024; 0 if there is none.
std::int64_t earliestUnixTime(const events::XSpace& space) {
  std::int64_t earliest = 0;
  for (const events::XPlane& plane : space.planes) {
    for (const events::XLine& line : plane.lines) {
      if (isIn(line.timestampNanos, kMinUnixNanos, kMaxUnixNanos) &&
          (earliest == 0 || line.timestampNanos < earliest)) {
        earliest = line.timestampNanos;
      }
    }
  }
  return earliest;
}

/// Returns the index of the thread with this number, and adds the thread if it is new.
std::size_t threadOf(int device, std::uint64_t id, Trace* trace) {
  const auto found = std::find_if(
      trace->threads.begin(), trace->threads.end(),
      [&](const TraceThread& thread) { return thread.device == device && thread.id == id; });
  if (found != trace->threads.end()) {
    return static_cast<std::size_t>(found - trace->threads.begin());
  }
  trace->threads.push_back({id, "", device, {}});
  return trace->threads.size() - 1;
}

/// A span, and how many of those with the same times come first.
using PlacedSpan = std::pair<TraceSpan, std::int64_t>;

/// Inserts spans whose place among those of the same times is known, in O(n log n).
void insertPlaced(std::vector<PlacedSpan>* placed, std::vector<TraceSpan>* spans) {
  std::stable_sort(spans->begin(), spans->end(), detail::profile::comesFirst);
  std::stable_sort(placed->begin(), placed->end(), [](const auto& a, const auto& b) {
    return areTwins(a.first, b.first) ? a.second < b.second
                                      : detail::profile::comesFirst(a.first, b.first);
  });
  std::vector<TraceSpan> all;
  all.reserve(spans->size() + placed->size());
  auto next = spans->begin();
  std::int64_t twins = 0;  // at the end of `all`
  for (const auto& [span, twinsAround] : *placed) {
    for (; next != spans->end() && detail::profile::comesFirst(*next, span); ++next) {
      all.push_back(*next);
    }
    twins = !all.empty() && areTwins(all.back(), span) ? twins : 0;
    for (; twins < twinsAround && next != spans->end() && areTwins(*next, span); ++next) {
      all.push_back(*next);
      ++twins;
    }
    all.push_back(span);
    ++twins;
  }
  all.insert(all.end(), next, spans->end());
  *spans = std::move(all);
}

void resolve(const PendingThreads& pending, Trace* trace) {
  constexpr int kHost = -1;
  std::map<std::size_t, std::vector<PlacedSpan>> placed;  // by thread
  for (const PendingThreads::Detached& each : pending.detached) {
    const std::size_t thread = threadOf(each.device, each.thread, trace);
    if (each.twinsAround) {
      placed[thread].emplace_back(each.span, *each.twinsAround);
    } else {
      trace->threads[thread].spans.push_back(each.span);
    }
  }
  for (auto& [thread, spans] : placed) {
    insertPlaced(&spans, &trace->threads[thread].spans);
  }
  for (std::size_t i = 0; i < trace->steps.size(); ++i) {
    trace->steps[i].thread = threadOf(kHost, pending.stepThreads[i], trace);
  }
  for (std::size_t i = 0; i < trace->memory.size(); ++i) {
    trace->memory[i].thread = threadOf(kHost, pending.memoryThreads[i], trace);
  }
  for (TraceThread& thread : trace->threads) {
    nestSpans(&thread.spans);
  }
  std::stable_sort(trace->steps.begin(), trace->steps.end(),
                   [](const TraceStep& a, const TraceStep& b) { return a.start < b.start; });
}

/// Returns the last end of anything in the trace.
std::int64_t endOf(const Trace& trace) {
  std::int64_t end = 0;
  const auto include = [&](std::int64_t time) { end = std::max(end, time); };
  for (const TraceThread& thread : trace.threads) {
    for (const TraceSpan& span : thread.spans) {
      include(span.start + span.duration);
    }
  }
  for (const TraceStep& step : trace.steps) {
    include(step.start + step.duration);
  }
  if (!trace.memory.empty()) {
    include(trace.memory.back().time);
  }
  return end;
}

Trace traceOf(const events::XSpace& space) {
  Trace trace;
  PendingThreads pending;
  StatedXPlaneTimes times;
  for (const events::XPlane& plane : space.planes) {
    if (plane.name == kEnvironmentPlane) {
      times = readXPlaneEnvironment(plane, &trace);
    }
  }
  // Where lines have Unix times, nothing may begin before the profile, whatever it states.
  const std::int64_t earliest = earliestUnixTime(space);
  const bool isStated =
      times.profileStart >= kMinUnixNanos &&
      (earliest == 0 || isIn(earliest - times.profileStart, 0, kMaxXPlanePicos / 1000));
  const std::int64_t base = isStated || earliest == 0 ? times.profileStart : earliest;
  const bool hasWindow = times.windowStart != 0 &&
                         isIn(times.windowStart - times.profileStart, 0, kMaxXPlanePicos / 1000);
  trace.originNanos = hasWindow ? times.windowStart : base;
  for (const events::XPlane& plane : space.planes) {
    if (plane.name != kEnvironmentPlane) {
      XPlaneReader(plane, base, trace.originNanos - base, &trace, &pending).read();
    }
  }
  if (!space.hostNames.empty()) {
    trace.hostName = space.hostNames[0];
  }
  resolve(pending, &trace);
  trace.duration = std::max<std::int64_t>(0, times.profileStop - trace.originNanos);
  if (!hasWindow) {
    // Others note the time at which they were told to stop, and record until they have stopped.
    trace.duration = std::max(trace.duration, endOf(trace));
  }
  return trace;
}

/// Reads a file, and inflates it if it is gzipped: no profile begins like that.
std::string contentOf(const std::string& path) {
  std::string bytes;
  base::readWholeFile(path, bytes).throwIfError();
  if (!base::startsWith(bytes, "\x1f\x8b")) {
    return bytes;
  }
  bytes.clear();
  base::GzipFile file(path);
  std::vector<char> block(std::size_t{1} << 16);
  while (const std::size_t size = file.readSome(block.data(), block.size())) {
    bytes.append(block.data(), size);
  }
  return bytes;
}

}  // namespace

Trace readXPlane(const std::string& path) {
  const std::string bytes = contentOf(path);
  events::XSpace space;
  try {
    events::decodeXSpace(bytes, &space).throwIfError();
    if (space.planes.empty()) {
      throw Error(ErrorCode::kDataLoss, base::gotExpected("no planes", "at least one"));
    }
    return traceOf(space);
  } catch (const Error& error) {
    throw Error(ErrorCode::kInvalidArgument, path + " is not an XProf profile: " + error.what());
  }
}

}  // namespace steptape::detail::profile
