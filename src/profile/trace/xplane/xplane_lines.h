// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/profile/trace.h"

#include "events/messages/xplane_encoder.h"
#include "profile/trace/xplane/xplane_clock.h"
#include "profile/trace/xplane/xplane_spans.h"

namespace steptape::detail::profile {

/// Numbers of a plane's lines, by which XProf distinguishes and sorts them.
class XPlaneLineIds {
 public:
  static constexpr std::int64_t kSteps = 0;  ///< Above all threads.

  /// Returns the thread's own number, if no other line has it.
  std::int64_t ofThread(std::uint64_t thread);

  /// Returns a number that sorts after all threads.
  std::int64_t next();

 private:
  std::set<std::int64_t> taken_{kSteps};
  std::int64_t last_ = std::int64_t{1} << 30;  // larger than Linux's thread numbers
};

/// A span of a thread, and the number by which XProf draws an arrow from or to it.
using XPlaneFlow = std::pair<std::size_t, std::uint64_t>;

/// Returns the arrows of each thread, by span.
std::vector<std::vector<XPlaneFlow>> xplaneFlows(const Trace& trace);

/// Adds the line of a thread, and lines for those of its spans that do not nest.
void addXPlaneThread(const TraceThread& thread, const std::string& name,
                     ArrayView<const XPlaneFlow> flows, const XPlaneClock& clock,
                     XPlaneSpans* spans, XPlaneLineIds* ids, events::XPlaneEncoder* plane);

}  // namespace steptape::detail::profile
