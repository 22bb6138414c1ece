// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/base/export.h"
#include "steptape/distributed/communicator.h"

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace steptape {

/// How far a training run has come.
struct TrainingProgress {
  std::int64_t epoch = 0;        ///< The epoch to go on with, counted from 0.
  std::int64_t stepInEpoch = 0;  ///< Batches of that epoch which are done.
  std::int64_t step = 0;         ///< Steps done since the start of the run.
  std::uint64_t seed = 0;        ///< BatchLoader::seed() of the training data.
  int ranks = 1;                 ///< Size of the job, which a scaled learning rate depends on.
};

/// Writes a checkpoint: the module, the optimizer, `progress`, and every rank's random numbers.
///
/// Only the root touches the file. It writes to a temporary name, waits for the disk, and renames:
/// whenever the job dies, `path` holds either the previous checkpoint or this one, whole.
/// `progress.ranks` is set from `world`. Missing directories are created.
///
/// Collective: every rank calls it, and returns when the file is safe.
///
/// @throws Error(kIoError) on every rank, with the system's words, if the file cannot be written.
/// @threads Not thread-safe: one thread at a time, the communicator's.
/// @cost   The model's size in memory and on disk, and an fsync.
/// @source The file is an archive of torch::serialize with the entries `model`, `optimizer`,
///         `progress` and `random`.
STEPTAPE_EXPORT void saveCheckpoint(const std::string& path, const torch::nn::Module& module,
                                    const torch::optim::Optimizer& optimizer,
                                    TrainingProgress progress, Communicator& world);

/// Restores what saveCheckpoint() wrote, on every rank. Only the root reads the file.
///
/// Every rank gets its own random numbers back, so that dropout goes on as if the run had not
/// stopped. Ranks beyond those of the job that wrote the file keep theirs.
///
/// Collective.
///
/// @throws Error(kIoError) on every rank if there is no such file or it cannot be read;
///         Error(kDataLoss) if it is damaged, or holds another model or optimizer.
/// @threads Not thread-safe: one thread at a time, the communicator's.
STEPTAPE_EXPORT TrainingProgress loadCheckpoint(const std::string& path, torch::nn::Module& module,
                                                torch::optim::Optimizer& optimizer,
                                                Communicator& world);

/// How far the run had come that wrote the checkpoint at `path`, without restoring it: a writer of
/// the run that goes on takes `step + 1` as its WriterOptions::purgeStep.
///
/// Collective.
///
/// @throws as loadCheckpoint().
/// @threads Not thread-safe: one thread at a time, the communicator's.
STEPTAPE_EXPORT TrainingProgress readCheckpointProgress(const std::string& path,
                                                        Communicator& world);

/// The file in which a Trainer keeps its checkpoint: `<directory>/checkpoint.pt`.
STEPTAPE_EXPORT std::string checkpointPath(const std::string& directory);

/// Whether the root sees a file at `path`; the same answer on every rank. Collective.
STEPTAPE_EXPORT bool checkpointExists(const std::string& path, Communicator& world);

}  // namespace steptape
