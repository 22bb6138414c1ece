// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/status.h"
#include "steptape/comm/communicator.h"

#include "checkpoint/checkpoint_archive.h"

namespace steptape::detail {

/// A checkpoint on the root's disk, for all ranks. All calls are collectives.
///
/// Not thread-safe: one thread at a time, the communicator's.
class CheckpointFile {
 public:
  CheckpointFile(std::string path, Communicator& world) : path_(std::move(path)), world_(world) {}

  /// Lets the root read and check the file.
  ///
  /// @return the same on every rank: kIoError with the system's words, or kDataLoss.
  Status open();

  /// On every rank, with its tensors after restore(). REQUIRES: open().
  const TrainingProgress& progress() const { return progress_; }

  /// Sends the file to all ranks and restores it there. REQUIRES: open().
  ///
  /// @throws Error(kInvalidArgument) on every rank if it does not fit what is to be restored.
  void restore(torch::nn::Module& module, torch::optim::Optimizer& optimizer,
               LearningRateSchedule* schedule);

 private:
  Status readOnThisRank();

  std::string path_;
  Communicator& world_;
  std::string bytes_;  ///< On the root, as is the archive at first.
  CheckpointArchive archive_;
  TrainingProgress progress_;
};

/// The root's status, on every rank. Collective.
Status shareRootsStatus(const Status& ofRoot, Communicator& world);

}  // namespace steptape::detail
