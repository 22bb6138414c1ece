// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "steptape/train/batch_loader.h"
#include "steptape/train/checkpoint.h"

namespace steptape::detail::train {

/// This rank's training batches, in equal numbers per step.
///
///     for (input.startEpoch(progress); input.hasStep();) {
///       for each batch of the step: input.next(batch);
///     }
///
/// If a loader does not know its length, only reading shows whether there is another step. If any
/// rank has such a loader, all ranks call readAhead(), after startEpoch() and after each step.
///
/// @threads Not thread-safe: one thread at a time.
class StepInput {
 public:
  StepInput(BatchLoader& train, std::int64_t batchesPerStep)
      : train_(train), batchesPerStep_(batchesPerStep) {}

  /// Moves to the position of `progress`.
  void startEpoch(const TrainingProgress& progress);

  bool lengthIsKnown() const { return batchesLeft_ >= 0; }
  /// Returns the number of batches left in the epoch at startEpoch(), if it is known.
  std::int64_t batchesLeft() const { return batchesLeft_; }

  /// Reads the batches of the next step now.
  void readAhead();
  bool readsAhead() const { return readsAhead_; }

  std::int64_t batchesAhead() const { return static_cast<std::int64_t>(ahead_.size()); }

  /// Returns whether there are batches for another step. REQUIRES: the length is known, or
  /// readAhead() was called.
  bool hasStep() const;

  /// @throws Error(kFailedPrecondition) if there are fewer batches than BatchLoader::batches().
  void next(Batch& batch);

 private:
  BatchLoader& train_;
  std::int64_t batchesPerStep_;
  std::int64_t batchesLeft_ = 0;
  std::int64_t epochBatches_ = 0;  ///< In complete steps, if known; includes those before a resume.
  std::int64_t batchesDone_ = 0;   ///< Batches of these that are done.
  bool readsAhead_ = false;
  std::deque<Batch> ahead_;
};

}  // namespace steptape::detail::train
