// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "steptape/comm/communicator.h"
#include "steptape/comm/metric_moments.h"
#include "steptape/trainer/training_result.h"

namespace steptape::detail {

/// What a rank requests of all ranks after a step.
struct StepWish {
  std::optional<StopReason> stop;
  int signal = 0;  ///< Which one, with StopReason::kSignal.
  bool checkpoint = false;
  bool failed = false;  ///< A callback threw.
};

/// What the ranks tell each other in a step besides the gradients: their losses, and what makes all
/// of them do the same after the same step, although a signal, a clock or a callback reaches one
/// rank only.
///
/// post() comes before the gradients are exchanged and read() after: what was on its way is there
/// by then, and no rank waits a second time.
///
/// Not thread-safe: one thread at a time, the communicator's.
class StepExchange {
 public:
  explicit StepExchange(std::shared_ptr<Communicator> world) : world_(std::move(world)) {}

  /// Starts to tell the other ranks. Collective.
  ///
  /// @param weight  Samples in `loss`; 0 on a rank without data.
  /// @param hasStep Whether this rank has data for one more step.
  void post(const StepWish& wish, std::int64_t step, double loss = 0, double weight = 0,
            bool hasStep = false);

  /// What any rank wants; of several reasons to stop the greatest. The same on every rank.
  ///
  /// @throws Error(kRankMismatch) if the ranks are in different steps.
  StepWish read();

  /// The losses of all ranks. Valid after read().
  const MetricMoments& loss() const { return moments_[kLoss]; }

  /// Which ranks have data for one more step.
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

}  // namespace steptape::detail
