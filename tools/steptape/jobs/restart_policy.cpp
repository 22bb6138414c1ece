// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/restart_policy.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "tools/steptape/tables/human_text.h"

namespace steptape::tools {

RestartDecision RestartPolicy::judge(const FailedStart& start) {
  RestartDecision decision;
  decision.whyNot = start.finalReason;
  if (!decision.whyNot.empty()) {
    return decision;
  }
  if (start.wasStarted) {
    const bool madeProgress = start.madeProgress.value_or(start.seconds >= kEarlySeconds);
    startsWithoutProgress_ = madeProgress ? 0 : startsWithoutProgress_ + 1;
    if (madeProgress && start.seconds >= limits_.resetAfter) {
      restarts_ = 0;
    }
  }
  if (startsWithoutProgress_ > 0 && start.ranOutOfMemory) {
    // Nothing else than memory has to change: the same job would need as much again.
    decision.whyNot = "it ran out of memory before it made progress";
  } else if (limits_.maxRestarts == 0) {
    decision.whyNot = "--max-restarts is 0";
  } else if (startsWithoutProgress_ == kMostWithoutProgress) {
    decision.whyNot =
        fmt::format("it died {} times at the same place, without progress", kMostWithoutProgress);
  } else if (restarts_ == limits_.maxRestarts) {
    decision.whyNot =
        fmt::format("{} used, and it never ran for {}",
                    counted(static_cast<std::uint64_t>(limits_.maxRestarts), "restart"),
                    humanDuration(limits_.resetAfter));
  }
  // Doubling 64 times is beyond every limit.
  decision.pause =
      std::min(std::ldexp(limits_.pause, std::min(restarts_, 64)), limits_.longestPause);
  ++restarts_;
  decision.restartsLeft = limits_.maxRestarts - restarts_;
  return decision;
}

}  // namespace steptape::tools
