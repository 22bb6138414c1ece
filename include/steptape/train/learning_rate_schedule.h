// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"

namespace torch::optim {
class Optimizer;
}

namespace steptape {

/// How learning rates change during a run. By default they stay constant.
///
/// Epochs are counted from 0 and may be fractions: step 50 of 200 in the third epoch is 2.25.
struct LearningRateScheduleOptions {
  /// Factor on the base rates after the warm-up. Linear scaling rule: the number of ranks, times
  /// GradientSyncOptions::accumulationSteps if that is used.
  double scale = 1;

  /// Number of epochs over which the rates rise linearly from the base rates to `scale` times the
  /// base rates; a new model may diverge at the scaled rates. 0: no warm-up.
  double warmUpEpochs = 0;

  /// Epochs, ascending. From each of them on, the rates are multiplied by milestoneFactor once
  /// more.
  std::vector<double> milestones;
  double milestoneFactor = 0.1;

  /// Epoch at which the rates reach cosineFinalRate, along half a cosine wave from the end of the
  /// warm-up; then they stay there. 0: off. Cannot be combined with milestones.
  double cosineEpochs = 0;
  double cosineFinalRate = 0;
};

/// Learning rates as a function of the epoch, group by group.
///
///     steptape::LearningRateScheduleOptions options;
///     options.scale = world->size();
///     options.warmUpEpochs = 5;
///     options.milestones = {30, 60, 80};
///     const steptape::LearningRateSchedule schedule(optimizer, options);
///     ...
///     schedule.apply(optimizer, epoch + static_cast<double>(batch) / batches);   // every step
///
/// The rates depend on the epoch alone, not on earlier calls, so a resumed run gets the same rates.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source Goyal et al., "Accurate, Large Minibatch SGD", arXiv:1706.02677, sections 2.1 and 2.2
///         (scaling, gradual warm-up); the warm-up is Horovod's 1 / size * (epoch * (size - 1) /
///         warmup + 1) of the scaled rate. Cosine: Loshchilov and Hutter, arXiv:1608.03983,
///         equation 5, without restarts.
///          Hutter, arXiv:1608.03983, equation 5, without restarts.
class STEPTAPE_EXPORT LearningRateSchedule {
 public:
  /// @param baseRates One per parameter group, for one rank.
  /// @param options   See LearningRateScheduleOptions.
  /// @throws Error(kInvalidArgument) naming the option that is negative, not finite or not
  ///         ascending, or the options that cannot be combined.
  explicit LearningRateSchedule(std::vector<double> baseRates,
                                LearningRateScheduleOptions options = {});
  /// Takes the optimizer's current rates as base rates.
  explicit LearningRateSchedule(const torch::optim::Optimizer& optimizer,
                                LearningRateScheduleOptions options = {});

  /// Returns the rate of group `group` at `epoch`.
  ///
  /// @throws Error(kInvalidArgument) if `epoch` is negative or NaN, or there is no such group.
  double rate(double epoch, std::size_t group = 0) const;

  /// Sets the rate of every group of `optimizer`.
  ///
  /// @throws Error(kInvalidArgument) as for rate(), and if the number of groups of `optimizer`
  ///         differs from the number of base rates.
  void apply(torch::optim::Optimizer& optimizer, double epoch) const;

  const std::vector<double>& baseRates() const { return baseRates_; }
  /// Replaces the base rates, for example with those of a checkpoint.
  ///
  /// @throws Error(kInvalidArgument) if the number of rates differs.
  void setBaseRates(std::vector<double> baseRates);

  const LearningRateScheduleOptions& options() const { return options_; }

  /// Returns a description for logs, such as "0.1 x 8, warm-up over 5 epochs, x 0.1 at epochs 30,
  /// 60, 80".
  std::string describe() const;

 private:
  std::vector<double> baseRates_;
  LearningRateScheduleOptions options_;
};

}  // namespace steptape
