// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "steptape/train/batch_loader.h"
#include "steptape/train/checkpoint.h"

#include "train/loop/best_tracker.h"
#include "train/loop/run_state.h"
#include "train/loop/train_step.h"

namespace steptape::detail::train {

/// Writes the checkpoints of a run: the newest ones, to resume from, and the best one. Without a
/// directory it writes nothing.
///
/// Not thread-safe: only the communicator's thread, one at a time.
class RunCheckpoints {
 public:
  /// @throws Error(kInvalidArgument) if an option needs checkpoints and there is no directory.
  RunCheckpoints(RunState& state, BatchLoader& train, BestTracker& best);

  /// Resumes from the newest checkpoint, if there is one. Collective.
  ///
  /// @return a message for the user; empty if there is none.
  /// @throws Error(kInvalidArgument) if the run cannot resume with these data or ranks; otherwise
  ///         as CheckpointStore::loadNewest().
  std::string resume(TrainStep& step);

  /// Writes or starts a checkpoint, which is also the best one after setBest(). Collective.
  void save(const TrainStep& step);
  /// Returns whether save() was called at this step.
  bool isSaved() const { return savedStep_ == state_.progress.step; }
  /// The path of what save() has written last; empty if it has written nothing.
  const std::string& latest() const { return latest_; }

  /// Makes the next checkpoint of save() or saveBest() the best one.
  void setBest() { isBest_ = true; }
  /// Writes or starts the best checkpoint, if no save() has since setBest(). Collective.
  void saveBest(const TrainStep& step);

  /// Waits until all are on disk. Collective.
  void finish();
  /// Returns the times of a checkpoint that is on disk, once.
  std::optional<CheckpointTimes> takeTimes() { return std::exchange(times_, std::nullopt); }

  /// Restores the best model, but not the progress at that time. Collective.
  void loadBest();

 private:
  std::string write(const TrainStep& step, CheckpointRole role);
  TrainingProgress progress(const TrainStep& step) const;
  void goTo(const FoundCheckpoint& found);
  LearningRateSchedule* schedule();

  RunState& state_;
  BatchLoader& train_;
  BestTracker& best_;
  std::optional<CheckpointStore> store_;
  std::optional<CheckpointTimes> times_;
  bool isBest_ = false;
  std::int64_t savedStep_ = -1;
  std::string latest_;
};

}  // namespace steptape::detail::train
