// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "steptape/checkpoint/checkpoint.h"
#include "steptape/data/batch_loader.h"

namespace steptape::detail {

/// This rank's training batches, the same number for each step.
///
///     for (input.startEpoch(progress); input.hasStep();) {
///       for each batch of the step: input.next(batch);
///     }
///
/// A loader that does not know its length shows only by reading whether there is another step:
/// where any rank has one, all ranks call readAhead(), after startEpoch() and after each step.
///
/// Not thread-safe: one thread at a time.
class StepInput {
 public:
  StepInput(BatchLoader& train, std::int64_t batchesPerStep)
      : train_(train), batchesPerStep_(batchesPerStep) {}

  /// Goes to where `progress` stands.
  void startEpoch(const TrainingProgress& progress);

  bool lengthIsKnown() const { return batchesLeft_ >= 0; }
  /// Batches that the epoch still had at startEpoch(), if that is known.
  std::int64_t batchesLeft() const { return batchesLeft_; }

  /// Reads the batches of the next step now.
  void readAhead();
  bool readsAhead() const { return readsAhead_; }

  std::int64_t batchesAhead() const { return static_cast<std::int64_t>(ahead_.size()); }

  /// Whether there are batches for one more step. REQUIRES: the length is known, or readAhead().
  bool hasStep() const;

  /// @throws Error(kFailedPrecondition) if there are fewer than BatchLoader::batches() says.
  void next(Batch& batch);

 private:
  BatchLoader& train_;
  std::int64_t batchesPerStep_;
  std::int64_t batchesLeft_ = 0;
  std::int64_t epochBatches_ = 0;  ///< In whole steps, if known; those before a resume included.
  std::int64_t batchesDone_ = 0;   ///< Of these.
  bool readsAhead_ = false;
  std::deque<Batch> ahead_;
};

}  // namespace steptape::detail
