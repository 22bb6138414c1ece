// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "steptape/checkpoint/checkpoint.h"
#include "steptape/data/batch_loader.h"

#include "trainer/best_tracker.h"
#include "trainer/run_state.h"
#include "trainer/train_step.h"

namespace steptape::detail {

/// The checkpoints of a run: the latest ones to resume from, and the best one. Without a directory
/// nothing is written.
///
/// Not thread-safe: one thread at a time, the communicator's.
class RunCheckpoints {
 public:
  /// @throws Error(kInvalidArgument) if an option wants checkpoints and there is no directory.
  RunCheckpoints(RunState& state, BatchLoader& train, BestTracker& best);

  /// Goes on from the newest checkpoint, if there is one. Collective.
  ///
  /// @return a message for the user; empty if there is none.
  /// @throws Error(kInvalidArgument) if the run cannot resume with these data or ranks; otherwise
  ///         as CheckpointStore::loadNewest().
  std::string resume(TrainStep& step);

  /// Collective. @return the path; empty if none is written.
  std::string save(const TrainStep& step);

  void saveBest(const TrainStep& step);
  /// Restores the best model, but not where the run stood then. Collective.
  void loadBest();

 private:
  TrainingProgress progress(const TrainStep& step) const;
  void goTo(const FoundCheckpoint& found);
  LearningRateSchedule* schedule();

  RunState& state_;
  BatchLoader& train_;
  BestTracker& best_;
  std::optional<CheckpointStore> store_;
};

}  // namespace steptape::detail
