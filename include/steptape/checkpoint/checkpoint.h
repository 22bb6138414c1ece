// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace steptape {

class LearningRateSchedule;

/// How far a training run has come.
struct TrainingProgress {
  std::int64_t epoch = 0;        ///< The epoch to go on with, counted from 0.
  std::int64_t stepInEpoch = 0;  ///< Steps of that epoch which are done.
  std::int64_t step = 0;         ///< Steps done since the start of the run.
  std::uint64_t seed = 0;        ///< BatchLoader::seed() of the training data.
  int ranks = 1;                 ///< Size of the job, which a scaled learning rate depends on.

  /// Samples of that epoch which all ranks together have used, for BatchLoader::resumeEpoch();
  /// -1: the loader does not know.
  std::int64_t samplesDone = -1;

  /// The last step that was logged: a writer of the run that goes on takes `writerStep + 1` as its
  /// WriterOptions::purgeStep. -1 when saved: `step`. Who saves what was loaded sets it anew, or to
  /// -1: purging from an earlier step would hide points.
  std::int64_t writerStep = -1;

  /// Numbers of the caller's by name, such as the best accuracy so far.
  std::map<std::string, double> values;
};

/// Writes a checkpoint: the module, the optimizer, `progress`, the schedule's base rates, and every
/// rank's random numbers, those of the devices that the module lies on included.
///
/// Only the root touches the file. It writes to a temporary name, waits for the disk, and renames:
/// whenever the job dies, `path` holds either the previous checkpoint or this one, whole.
/// `progress.ranks` is set from `world`. Missing directories are created.
///
/// Collective: every rank calls it, and returns when the file is safe.
///
/// @param schedule May be null.
/// @throws Error(kIoError) on every rank, with the system's words, if the file cannot be written;
///         Error(kInvalidArgument) on every rank if the module or the optimizer cannot be saved, or
///         a name in `progress.values` is empty or has a line break.
/// @threads Not thread-safe: one thread at a time, the communicator's.
/// @cost   The model's size in memory, twice, and on disk, and an fsync.
/// @source The file is an archive of torch::serialize with the entries `model`, `optimizer`,
///         `progress`, `schedule` and `random`, and behind it a line with the CRC-32C of the
///         archive, since LibTorch does not check those that its format has.
STEPTAPE_EXPORT void saveCheckpoint(const std::string& path, const torch::nn::Module& module,
                                    const torch::optim::Optimizer& optimizer,
                                    TrainingProgress progress, Communicator& world,
                                    const LearningRateSchedule* schedule = nullptr);

/// Restores what saveCheckpoint() wrote, on every rank. Only the root reads the file.
///
/// Parameters and buffers stay where they are in memory and on which device. Every rank gets its
/// own random numbers back, so that dropout goes on as if the run had not stopped; ranks beyond
/// those of the job that wrote the file are given a seed made of the run's seed, their rank and the
/// step. A schedule gets its base rates back, if the checkpoint has any; its options are the
/// caller's.
///
/// Collective. Nothing is changed if there is no such file, or it is damaged or does not fit.
///
/// @param schedule May be null.
/// @throws Error(kIoError) on every rank if there is no such file or it cannot be read;
///         Error(kDataLoss) if it is damaged; Error(kInvalidArgument) if it holds another model,
///         optimizer or number of base rates, naming the first difference.
/// @threads Not thread-safe: one thread at a time, the communicator's.
STEPTAPE_EXPORT TrainingProgress loadCheckpoint(const std::string& path, torch::nn::Module& module,
                                                torch::optim::Optimizer& optimizer,
                                                Communicator& world,
                                                LearningRateSchedule* schedule = nullptr);

/// How far the run had come that wrote the checkpoint at `path`, without restoring it.
///
/// Collective.
///
/// @throws as loadCheckpoint().
/// @threads Not thread-safe: one thread at a time, the communicator's.
STEPTAPE_EXPORT TrainingProgress readCheckpointProgress(const std::string& path,
                                                        Communicator& world);

/// The name of the newest checkpoint of a directory, `<directory>/checkpoint.pt`: what
/// saveCheckpoint() writes where there is one checkpoint only, and what CheckpointStore lets point
/// to the newest of several.
STEPTAPE_EXPORT std::string checkpointPath(const std::string& directory);

/// Whether the root sees a file at `path`; the same answer on every rank. Collective.
STEPTAPE_EXPORT bool checkpointExists(const std::string& path, Communicator& world);

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
