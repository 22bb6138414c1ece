// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/train/trainer_options.h"

#include "train/loop/throughput.h"

namespace steptape::detail::train {

/// The progress of an epoch.
struct EpochStatus {
  std::int64_t epoch = 0;   ///< Counted from 1.
  std::int64_t epochs = 0;  ///< Number of epochs.
  std::int64_t step = 0;    ///< Steps done of this epoch.
  std::int64_t steps = 0;   ///< Steps in an epoch; 0: unknown.
  double loss = 0;          ///< Of the latest step that has one, over all ranks.
  double seconds = 0;       ///< Since this process began the epoch.
  Throughput speed;
  double secondsLeft = 0;  ///< Of this epoch.
};

/// "epoch 1/3 [=====>    ]  52% loss 0.8123  25974 samples/s  0:02 left", or if the number of
/// steps is unknown "epoch 1/3  step 52  loss 0.8123  25974 samples/s".
std::string barText(const EpochStatus& status);

/// "epoch 1/3: train loss 0.8123, test loss 0.6512, test accuracy 0.7441, 2.53 s, 23715 samples/s,
/// 0.0213 TFLOP/s"
///
/// @param metrics Of the evaluation after the epoch; empty if there was none.
std::string epochLine(const EpochStatus& status, const std::vector<MetricValue>& metrics);

/// Prints the progress of a Trainer on the root; prints nothing on other ranks.
///
/// Not thread-safe: one thread at a time.
class ProgressReport {
 public:
  ProgressReport(ProgressStyle style, bool isRoot);

  /// Whether step() should be called now: at most ten times a second.
  bool wantsStep();
  void step(const EpochStatus& status);
  void epoch(const EpochStatus& status, const std::vector<MetricValue>& metrics);
  void message(const std::string& text);

 private:
  void clearBar();

  ProgressStyle style_;
  std::int64_t nextDrawNanos_ = 0;
  bool barIsDrawn_ = false;
};

}  // namespace steptape::detail::train
