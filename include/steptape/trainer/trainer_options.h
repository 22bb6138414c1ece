// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "steptape/trainer/gradient_sync.h"

#include <ATen/core/Tensor.h>

namespace steptape {

/// What a Trainer prints on the root.
enum class ProgressStyle {
  kAuto,   ///< kBar if stderr is a terminal, else kLines. Under a launcher it rarely is one.
  kBar,    ///< A bar with samples/s, loss and time left on stderr, and a line per epoch on stdout.
  kLines,  ///< A line per epoch on stdout.
  kNone,   ///< Nothing.
};

/// The loss of a batch, averaged over its samples, as a tensor to call backward() on.
using LossFunction = std::function<at::Tensor(const at::Tensor& output, const at::Tensor& targets)>;

/// How a Trainer trains. The same on every rank.
struct TrainerOptions {
  std::int64_t epochs = 1;

  /// Stop after this many steps since the start of the run, in the middle of an epoch if need be.
  /// 0: no limit.
  std::int64_t maxSteps = 0;

  /// Unset: the negative log-likelihood, for a model that ends in log_softmax.
  LossFunction loss;

  /// Multiply the optimizer's learning rate by the number of ranks, as scaleLearningRate().
  bool scaleLearningRate = false;

  GradientSyncOptions gradientSync;

  /// Where to write `checkpoint.pt` after every epoch and after the last step. Empty: nowhere.
  std::string checkpointDirectory;

  /// Go on from that checkpoint, at the step where it was written. Where there is none yet, start.
  bool resume = false;

  /// Write histograms of every parameter and gradient after every epoch.
  bool histograms = true;

  /// Time this many steps of the first epoch operator by operator, on the root, and write the table
  /// of the slowest. They begin after kStepsBeforeProfile. 0: none.
  std::int64_t profiledSteps = 0;

  ProgressStyle progress = ProgressStyle::kAuto;
};

/// Steps that a profile leaves out, because the first ones pay for allocations.
inline constexpr std::int64_t kStepsBeforeProfile = 10;

/// What came out of Trainer::fit(); the same on every rank but for the times.
struct TrainingResult {
  std::int64_t epochs = 0;      ///< Epochs that were finished, those before a resume included.
  std::int64_t step = 0;        ///< Steps done since the start of the run.
  double testLoss = 0;          ///< Of the last evaluation, over all ranks' samples.
  double testAccuracy = 0;      ///< Fraction of all test samples that were classified correctly.
  double trainingSeconds = 0;   ///< Time in training steps, logging included, evaluation not.
  double secondsPerEpoch = 0;   ///< trainingSeconds, scaled to one whole epoch.
  double samplesPerSecond = 0;  ///< Training samples of all ranks per second of trainingSeconds.
  double loggingSeconds = 0;    ///< Part of all time that this thread spent in the writer's calls.
};

}  // namespace steptape
