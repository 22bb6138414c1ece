// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/xplane/xplane_clock.h"

#include <algorithm>

namespace steptape::detail::profile {

XPlaneClock::XPlaneClock(const Trace& trace, std::int64_t originNanos)
    : origin_(originNanos == 0 ? 0 : std::max(originNanos - trace.originNanos, -kMaxNanos)) {
  const auto include = [this](std::int64_t time) { origin_ = std::min(origin_, time); };
  for (const TraceThread& thread : trace.threads) {
    if (!thread.spans.empty()) {
      include(thread.spans.front().start);
    }
  }
  if (!trace.steps.empty()) {
    include(trace.steps.front().start);
  }
  if (!trace.memory.empty()) {
    include(trace.memory.front().time);
  }
  for (const TraceCounter& counter : trace.counters) {
    if (!counter.points.empty()) {
      include(counter.points.front().first);
    }
  }
}

}  // namespace steptape::detail::profile
