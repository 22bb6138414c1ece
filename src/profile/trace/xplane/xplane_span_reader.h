// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "steptape/profile/trace.h"

#include "events/messages/xplane.h"
#include "profile/trace/xplane/xplane_stats.h"
#include "profile/trace/xplane/xprof_names.h"

namespace steptape::detail::profile {

/// Makes spans of the events of a plane, with the names and details that they share in the trace.
class XPlaneSpanReader {
 public:
  /// @param plane  Outlives this object, as the other two do.
  /// @param device Of the plane; -1: the host.
  XPlaneSpanReader(const events::XPlane& plane, int device, const StatIds& ids, Trace* trace)
      : plane_(plane), device_(device), ids_(ids), trace_(*trace) {}

  /// Returns the span, without its times.
  TraceSpan spanOf(const events::XEvent& event);

 private:
  std::uint32_t nameOf(std::int64_t id);
  TraceName traceNameOf(const events::XEventName& name) const;
  std::uint32_t detailsOf(const events::XEvent& event);

  const events::XPlane& plane_;
  const int device_;
  const StatIds& ids_;
  Trace& trace_;
  std::unordered_map<std::int64_t, std::uint32_t> names_;
  std::unordered_map<std::string, std::uint32_t> details_;

  // Numbers that are compared for each event.
  const std::int64_t value_ = ids_.of(kValueStat);
  const std::int64_t correlation_ = ids_.of(kCorrelationStat);
  const std::int64_t sequence_ = ids_.of(kSequenceStat);
  const std::int64_t forwardThread_ = ids_.of(kForwardThreadStat);
  const std::int64_t shapes_ = ids_.of(kShapesStat);
  const std::int64_t types_ = ids_.of(kTypesStat);
  const std::int64_t module_ = ids_.of(kModuleStat);
  const std::int64_t flops_ = ids_.of(kFlopsStat);
  const std::int64_t bytes_ = ids_.of(kBytesStat);
  const std::int64_t arguments_ = ids_.of(kArgumentsStat);
};

}  // namespace steptape::detail::profile
