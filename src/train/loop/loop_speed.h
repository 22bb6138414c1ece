// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "train/loop/stopwatch.h"

namespace steptape::detail::train {

/// Floating-point operations of a sample, counted in some steps.
class FlopsPerSample {
 public:
  /// @param isFirst Of an epoch: a callback may have frozen or added layers.
  void beginStep(bool isFirst) {
    isCounting_ = isFirst || !perSample_;
    ofStep_ = 0;
  }
  bool isCounting() const { return isCounting_; }
  void add(double flops) { ofStep_ += flops; }
  void endStep(double samples) {
    if (isCounting_ && samples > 0) {
      perSample_ = ofStep_ / samples;
    }
  }
  /// 0 if none were counted.
  double value() const { return perSample_.value_or(0); }

 private:
  bool isCounting_ = false;
  double ofStep_ = 0;
  std::optional<double> perSample_;
};

/// The samples and the time of a loop's steps, of this process.
class LoopSpeed {
 public:
  struct Part {
    double samples;
    double seconds;
  };

  Stopwatch& time() { return time_; }
  double seconds() const { return time_.seconds(); }
  std::int64_t steps() const { return steps_; }

  void startEpoch() {
    epochStart_ = seconds();
    epochSamples_ = 0;
  }
  void endStep(double samples) {
    epochSamples_ += samples;
    ++steps_;
  }
  double epochSamples() const { return epochSamples_; }
  double epochSeconds() const { return seconds() - epochStart_; }

  /// Adds the samples of all ranks in a step.
  void addJobSamples(double samples) { jobSamples_ += samples; }
  /// Returns those since the last call, and the time.
  Part takeJobSamples() {
    const double now = seconds();
    return {std::exchange(jobSamples_, 0), now - std::exchange(takenAt_, now)};
  }
  bool hasJobSamples() const { return jobSamples_ > 0; }

 private:
  Stopwatch time_;
  std::int64_t steps_ = 0;
  double epochSamples_ = 0;
  double epochStart_ = 0;  // of time_, like takenAt_
  double jobSamples_ = 0;
  double takenAt_ = 0;
};

}  // namespace steptape::detail::train
