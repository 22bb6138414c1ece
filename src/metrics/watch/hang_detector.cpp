// SPDX-License-Identifier: Apache-2.0
#include "metrics/watch/hang_detector.h"

#include <algorithm>

namespace steptape::detail::metrics {

/// Returns the phase if it has a time of its own, else kUnknown: it is a part of a step.
process::RunPhase HangDetector::ownTimeOf(process::RunPhase phase) {
  const bool hasOwn = phase == process::RunPhase::kSetup ||
                      phase == process::RunPhase::kCheckpoint ||
                      phase == process::RunPhase::kValidation;
  return hasOwn ? phase : process::RunPhase::kUnknown;
}

double HangDetector::usualOf(const Sight& sight) const {
  // The first steps are longer than others, and say little.
  constexpr std::uint64_t kKnownSteps = 3;
  const double longest = longest_[static_cast<std::size_t>(kind_)];
  if (kind_ != process::RunPhase::kUnknown) {
    return longest;
  }
  if (sight.usualStep > 0) {
    return sight.steps >= kKnownSteps ? sight.usualStep : 0;
  }
  return changes_ >= kKnownSteps ? longest : 0;
}

std::optional<HangDetector::Hang> HangDetector::look(const Sight& sight) {
  const double passed = hasLooked_ ? std::min(sight.now - last_, limits_.longestGap) : 0;
  last_ = sight.now;
  const process::RunPhase kind = ownTimeOf(sight.phase);
  if (!hasLooked_ || kind != kind_ || sight.steps != steps_) {
    double& longest = longest_[static_cast<std::size_t>(kind_)];
    if (kind_ != process::RunPhase::kUnknown || steps_ > 0) {  // not the time before the first step
      longest = std::max(longest, waited_);
    }
    changes_ += sight.steps != steps_ ? 1 : 0;
    hasLooked_ = true;
    kind_ = kind;
    steps_ = sight.steps;
    activity_ = sight.activity;
    waited_ = 0;
    idle_ = 0;
    nextReport_ = 0;
    return std::nullopt;
  }
  if (sight.activity != activity_) {
    activity_ = sight.activity;
    idle_ = 0;
  }
  if (!sight.counts) {
    return std::nullopt;
  }
  waited_ += passed;
  idle_ += passed;
  const bool countsSteps = sight.steps > 0 || kind_ != process::RunPhase::kUnknown;
  const double usual = usualOf(sight);
  const double limit =
      usual > 0 ? std::max(limits_.minimum, limits_.factor * usual) : limits_.first;
  const double limitAtWork = std::max(limit, limits_.first);
  const bool isOver = idle_ >= limit || waited_ >= limitAtWork;
  if (!countsSteps || !isOver || waited_ < nextReport_) {
    return std::nullopt;
  }
  nextReport_ = 2 * waited_;
  return Hang{waited_, usual, idle_ >= limit ? limit : limitAtWork, idle_, kind_};
}

}  // namespace steptape::detail::metrics
