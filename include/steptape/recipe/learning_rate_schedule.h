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

/// How learning rates change in the course of a run. As it is, they stay the same.
///
/// Epochs are counted from 0 and may be fractions: step 50 of 200 in the third epoch is 2.25.
struct LearningRateOptions {
  /// What the base rates are multiplied by once the warm-up is over: the number of ranks, by the
  /// linear scaling rule; times GradientSyncOptions::accumulationSteps, where that is used.
  double scale = 1;

  /// The rates rise from the base rates to `scale` times these in a straight line over so many
  /// epochs, because the first steps of a new model do not bear the scaled rates. 0: no warm-up.
  double warmUpEpochs = 0;

  /// Ascending. From each of these epochs on, rates are multiplied by milestoneFactor once more.
  std::vector<double> milestones;
  double milestoneFactor = 0.1;

  /// From the end of the warm-up to this epoch the rates fall along half a wave of the cosine to
  /// cosineFinalRate, and stay there. 0: they do not. Not together with milestones.
  double cosineEpochs = 0;
  double cosineFinalRate = 0;
};

/// Learning rates as a function of the epoch, group by group.
///
///     steptape::LearningRateOptions options;
///     options.scale = world->size();
///     options.warmUpEpochs = 5;
///     options.milestones = {30, 60, 80};
///     const steptape::LearningRateSchedule schedule(optimizer, options);
///     ...
///     schedule.apply(optimizer, epoch + static_cast<double>(batch) / batches);   // every step
///
/// The rates depend on the epoch alone and on no call before, so that a resumed run has the rates
/// it would have had.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  Goyal et al., "Accurate, Large Minibatch SGD", arXiv:1706.02677, sections 2.1 and 2.2
///          (scaling, gradual warm-up); the warm-up is Horovod's
///          1 / size * (epoch * (size - 1) / warmup + 1) of the scaled rate. Cosine: Loshchilov and
///          Hutter, arXiv:1608.03983, equation 5, without restarts.
class STEPTAPE_EXPORT LearningRateSchedule {
 public:
  /// @param baseRates One per parameter group, for one rank.
  /// @throws Error(kInvalidArgument) naming what is negative, not finite, not ascending or does not
  ///         go together.
  explicit LearningRateSchedule(std::vector<double> baseRates, LearningRateOptions options = {});
  /// Takes the rates that the optimizer has now for base rates.
  explicit LearningRateSchedule(const torch::optim::Optimizer& optimizer,
                                LearningRateOptions options = {});

  /// The rate of group `group` at `epoch`.
  ///
  /// @throws Error(kInvalidArgument) if `epoch` is negative or no number, or there is no such
  ///         group.
  double rate(double epoch, std::size_t group = 0) const;

  /// Gives every group of `optimizer` its rate.
  ///
  /// @throws Error(kInvalidArgument) as rate(), and if `optimizer` has another number of groups
  ///         than there are base rates.
  void apply(torch::optim::Optimizer& optimizer, double epoch) const;

  const std::vector<double>& baseRates() const { return baseRates_; }
  /// As a checkpoint has them. @throws Error(kInvalidArgument) if it is another number of rates.
  void setBaseRates(std::vector<double> baseRates);

  const LearningRateOptions& options() const { return options_; }

  /// Such as "0.1 x 8, warm-up over 5 epochs, x 0.1 at epochs 30, 60, 80", for logs.
  std::string describe() const;

 private:
  std::vector<double> baseRates_;
  LearningRateOptions options_;
};

}  // namespace steptape
