// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "steptape/base/status.h"
#include "steptape/train/checkpoint.h"

#include "process/blackbox/directory_lock.h"
#include "train/checkpoint/checkpoint_archive.h"
#include "train/checkpoint/tensor_copies.h"

namespace steptape::detail::train {

// From a model to a file, for saveCheckpoint() and CheckpointStore.

/// Collects what a checkpoint holds. Collective.
///
/// @param copies If not null, the content refers to copies, as CheckpointContent::useCopies().
/// @return       The content on the root, nothing on the other ranks.
/// @throws       Error(kInvalidArgument) on every rank as saveCheckpoint().
std::optional<CheckpointContent> collectContent(const torch::nn::Module& module,
                                                const torch::optim::Optimizer& optimizer,
                                                TrainingProgress progress, Communicator& world,
                                                const LearningRateSchedule* schedule,
                                                TensorCopies* copies = nullptr);

/// Writes the file, which appears complete or not at all.
///
/// @return kIoError with the operating system's message; kInvalidArgument if LibTorch cannot
///         serialize the content.
Status writeCheckpoint(const std::string& path, CheckpointContent& content);

/// Writes a checkpoint of a CheckpointStore, gives it its names, and removes the files that it
/// replaces.
///
/// @param lock Of the directory; taken if it is null.
/// @return also kFailedPrecondition: another process has the lock.
Status writeToStore(const std::string& directory, std::shared_ptr<process::DirectoryLock>& lock,
                    std::int64_t step, CheckpointRole role, std::int64_t keep,
                    CheckpointContent& content);

}  // namespace steptape::detail::train
