// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "steptape/metrics/straggler_report.h"

#include "process/blackbox/state_page.h"

namespace steptape {
namespace {

/// Tells the state of the process which part of a step runs. Waiting does not change the phase.
void notePart(std::size_t part) {
  detail::process::StatePage* const page = detail::process::StatePage::current();
  if (page == nullptr || part == static_cast<std::size_t>(StepPart::kWait)) {
    return;
  }
  switch (static_cast<StepPart>(part)) {
    case StepPart::kInput:
      page->setPhase(detail::process::RunPhase::kLoad);
      break;
    case StepPart::kForward:
      page->setPhase(detail::process::RunPhase::kForward);
      break;
    case StepPart::kBackward:
      page->setPhase(detail::process::RunPhase::kBackward);
      break;
    default:
      page->setPhase(detail::process::RunPhase::kStep);
  }
}

}  // namespace

const char* stepPartName(StepPart part) {
  switch (part) {
    case StepPart::kInput:
      return "input";
    case StepPart::kForward:
      return "forward";
    case StepPart::kBackward:
      return "backward";
    case StepPart::kOptimizer:
      return "optimizer";
    case StepPart::kWait:
      return "wait";
  }
  return "unknown";
}

detail::process::ZoneSite& StepTimes::Timer::zoneSite(StepPart part) {
  static detail::process::ZoneSite sites[kStepParts] = {
      detail::process::ZoneSite("input", SpanKind::kInput), detail::process::ZoneSite("forward"),
      detail::process::ZoneSite("backward"), detail::process::ZoneSite("optimizer"),
      detail::process::ZoneSite("wait for ranks", SpanKind::kWait)};
  return sites[static_cast<std::size_t>(part)];
}

StepTimes::StepTimes(std::shared_ptr<const Clock> clock)
    : ownedClock_(std::move(clock)),
      clock_(ownedClock_ ? ownedClock_.get() : &Clock::system()),
      since_(clock_->steadyNanos()) {}

void StepTimes::add(StepPart part, double seconds) {
  const std::int64_t nanos = std::llround(seconds * 1e9);
  nanos_[static_cast<std::size_t>(part)] += nanos;
  nanos_[running_] -= nanos;
}

StepTimes::Nanos StepTimes::take() {
  switchTo(running_);
  Nanos taken{};
  std::copy_n(nanos_.begin(), kStepParts, taken.begin());
  nanos_.fill(0);
  return taken;
}

std::size_t StepTimes::switchTo(std::size_t part) {
  const std::int64_t now = clock_->steadyNanos();
  nanos_[running_] += now - since_;
  since_ = now;
  if (part != running_) {
    notePart(part);
  }
  return std::exchange(running_, part);
}

}  // namespace steptape
