// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/checkpoint/checkpoint.h"
#include "steptape/comm/communicator.h"

namespace steptape {

/// How a CheckpointStore keeps its checkpoints. The same on every rank.
struct CheckpointStoreOptions {
  /// How many to keep beside the best one; at least 1. With 2, a checkpoint that turns out to be
  /// damaged costs the steps since the one before, not the run.
  std::int64_t keep = 2;
};

/// What a CheckpointStore found.
struct FoundCheckpoint {
  std::string path;
  TrainingProgress progress;
  /// Why newer checkpoints were passed over, in a sentence each; empty as a rule.
  std::vector<std::string> passedOver;
};

/// The checkpoints of a run in a directory of their own:
///
///     checkpoint_1200.pt   after step 1200
///     checkpoint_1400.pt   after step 1400
///     checkpoint.pt        a symbolic link to the newest, see checkpointPath()
///     checkpoint_best.pt   the best so far, by what the caller thinks good
///
///     steptape::CheckpointStore store("runs/exp/checkpoints", world);
///     if (const auto found = store.loadNewest(*model, optimizer)) { progress = found->progress; }
///     ...
///     store.save(*model, optimizer, progress);
///
/// Each is a file of saveCheckpoint(), and appears whole or not at all: a job that dies while it
/// writes one leaves those before. A directory is one run's: where a run goes on from an earlier
/// step, or begins anew, its first checkpoint takes the place of those with later steps.
///
/// All calls but bestPath() are collectives, in which only the root touches the disk, and throw the
/// same on every rank.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class STEPTAPE_EXPORT CheckpointStore {
 public:
  /// @throws Error(kInvalidArgument) if `directory` is empty or `options.keep` is less than 1.
  CheckpointStore(std::string directory, std::shared_ptr<Communicator> world,
                  CheckpointStoreOptions options = {});

  /// Writes `checkpoint_<progress.step>.pt`, and then removes those that are too many.
  ///
  /// @return its path.
  /// @throws as saveCheckpoint(); what there was before is then still there.
  std::string save(const torch::nn::Module& module, const torch::optim::Optimizer& optimizer,
                   TrainingProgress progress, const LearningRateSchedule* schedule = nullptr);

  /// Replaces `checkpoint_best.pt`. @throws as saveCheckpoint().
  void saveBest(const torch::nn::Module& module, const torch::optim::Optimizer& optimizer,
                TrainingProgress progress, const LearningRateSchedule* schedule = nullptr);

  /// Restores the newest checkpoint, or, if it is damaged or cannot be read, the one before it.
  ///
  /// @return nothing if there is no checkpoint.
  /// @throws Error(kDataLoss) if there are checkpoints and none can be used, with what is wrong
  ///         with each; Error(kInvalidArgument) as loadCheckpoint(): an older one would fit no
  ///         better.
  std::optional<FoundCheckpoint> loadNewest(torch::nn::Module& module,
                                            torch::optim::Optimizer& optimizer,
                                            LearningRateSchedule* schedule = nullptr);

  /// What loadNewest() would restore, without doing so: for the writer, which is made before.
  std::optional<FoundCheckpoint> findNewest();

  /// Restores the best checkpoint. @return nothing if there is none. @throws as loadCheckpoint().
  std::optional<TrainingProgress> loadBest(torch::nn::Module& module,
                                           torch::optim::Optimizer& optimizer,
                                           LearningRateSchedule* schedule = nullptr);

  /// `<directory>/checkpoint_best.pt`. Not a collective.
  std::string bestPath() const;

  /// The checkpoints there are, newest first, as their names tell; the best one is not among them.
  std::vector<std::string> paths();

 private:
  template <typename Use>
  std::optional<FoundCheckpoint> firstUsable(const Use& use);

  std::string directory_;
  std::shared_ptr<Communicator> world_;
  CheckpointStoreOptions options_;
};

}  // namespace steptape
