// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/status.h"
#include "steptape/ranks/communicator.h"

#include "train/checkpoint/checkpoint_archive.h"

namespace steptape::detail::train {

/// A checkpoint on the root's disk, for all ranks. All calls are collectives.
///
/// Not thread-safe: only the communicator's thread, one at a time.
class CheckpointFile {
 public:
  CheckpointFile(std::string path, Communicator& world) : path_(std::move(path)), world_(world) {}

  /// Lets the root read and check the file.
  ///
  /// @return the same on every rank: kIoError with the system's message, or kDataLoss.
  Status open();

  /// Valid on every rank; its tensors after restore(). REQUIRES: open().
  const TrainingProgress& progress() const { return progress_; }

  /// Sends the file to all ranks and restores it there. REQUIRES: open().
  ///
  /// @throws Error(kInvalidArgument) on every rank if it does not match the arguments.
  void restore(torch::nn::Module& module, torch::optim::Optimizer& optimizer,
               LearningRateSchedule* schedule);

 private:
  Status readOnThisRank();

  std::string path_;
  Communicator& world_;
  std::string bytes_;  ///< On the root only.
  CheckpointArchive archive_;
  TrainingProgress progress_;
};

/// Returns the root's status on every rank. Collective.
Status shareRootsStatus(const Status& ofRoot, Communicator& world);

}  // namespace steptape::detail::train
