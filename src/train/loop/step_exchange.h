// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "steptape/ranks/collective.h"
#include "steptape/ranks/communicator.h"
#include "steptape/train/trainer_options.h"

namespace steptape::detail::train {

/// A rank's request to all ranks after a step.
struct StepWish {
  std::optional<StopReason> stop;
  int signal = 0;  ///< The signal, for StopReason::kSignal.
  bool checkpoint = false;
  bool failed = false;  ///< A callback threw.
};

/// The data that ranks exchange in a step in addition to the gradients: their losses, and requests,
/// which all ranks follow after the same step, although a signal, a clock or a callback reaches
/// only one rank.
///
/// post() precedes the exchange of the gradients, and read() follows it: the data has then arrived,
/// and no rank waits a second time.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class StepExchange {
 public:
  explicit StepExchange(std::shared_ptr<Communicator> world) : world_(std::move(world)) {}

  /// Starts to send this rank's data. Collective.
  ///
  /// @param weight  Samples in `loss`; 0 on a rank without data.
  /// @param hasStep Whether this rank has data for another step.
  void post(const StepWish& wish, std::int64_t step, double loss = 0, double weight = 0,
            bool hasStep = false);

  /// Returns the request of any rank; of several reasons to stop, the largest. The same on every
  /// rank.
  ///
  /// @throws Error(kRankMismatch) if the ranks are in different steps.
  StepWish read();

  /// Returns the losses of all ranks. Valid after read().
  const MetricMoments& loss() const { return moments_[kLoss]; }

  /// Which ranks have data for another step.
  struct Input {
    bool anyHasStep = false;
    bool allHaveStep = false;
  };
  /// Valid after read().
  Input input() const;

 private:
  enum { kLoss, kStop, kDuty, kStep, kCount };

  std::shared_ptr<Communicator> world_;
  std::array<MetricMoments, kCount> moments_;
  CollectiveHandle pending_;
};

}  // namespace steptape::detail::train
