// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "steptape/profile/trace.h"

#include "events/messages/xplane.h"
#include "profile/trace/xplane/xplane_span_reader.h"
#include "profile/trace/xplane/xplane_stats.h"
#include "profile/trace/xplane/xprof_names.h"

namespace steptape::detail::profile {

/// References to threads whose position in the trace is not yet known.
struct PendingThreads {
  struct Detached {
    int device;
    std::uint64_t thread;
    TraceSpan span;
    std::optional<std::int64_t> twinsAround;
  };
  std::vector<Detached> detached;
  std::vector<std::uint64_t> stepThreads;    // of each step
  std::vector<std::uint64_t> memoryThreads;  // of each memory event
};

/// Reads a plane of a host or a device: its threads, steps, memory events and counters.
class XPlaneReader {
 public:
  /// @param plane       Outlives this object, as `trace` and `pending` do.
  /// @param base        The Unix time of the profile's start, for lines with such times.
  /// @param windowStart Start of the window relative to the profile's start, in nanoseconds.
  XPlaneReader(const events::XPlane& plane, std::int64_t base, std::int64_t windowStart,
               Trace* trace, PendingThreads* pending);

  void read();

 private:
  template <typename Take>
  void forEachEvent(const events::XLine& line, const Take& take);
  std::int64_t nanos(const events::XLine& line, std::int64_t picos) const;
  std::int64_t timeOf(const events::XLine& line) const;
  void addThread(const events::XLine& line);
  bool addStep(const events::XEvent& event, std::int64_t start, std::int64_t duration,
               const events::XLine& line);
  void addMemory(const events::XEvent& event, std::int64_t time);
  void addCounter(const events::XEvent& event, std::int64_t time);

  const events::XPlane& plane_;
  const std::int64_t base_;
  const std::int64_t windowStart_;
  const int device_;
  Trace& trace_;
  PendingThreads& pending_;
  const StatIds ids_;
  XPlaneSpanReader spans_;
  std::unordered_map<std::int64_t, std::size_t> counters_;

  // Numbers that are compared for each event.
  const std::int64_t group_ = ids_.of(kGroupStat);
  const std::int64_t stepName_ = ids_.of(kStepNameStat);
  const std::int64_t stepNumber_ = ids_.of(kStepNumberStat);
  const std::int64_t thread_ = ids_.of(kThreadStat);
  const std::int64_t detachedFrom_ = ids_.of(kDetachedFromStat);
  const std::int64_t overlap_ = ids_.of(kOverlapStat);
  const std::int64_t twinsAround_ = ids_.of(kTwinsAroundStat);
};

}  // namespace steptape::detail::profile
