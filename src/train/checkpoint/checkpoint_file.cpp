// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint/checkpoint_file.h"

#include <utility>

#include "base/whole_file.h"
#include "train/replicas/model/rank_failures.h"

namespace steptape::detail::train {

Status CheckpointFile::open() {
  Status status;
  if (world_.isRoot()) {
    status = readOnThisRank();
  }
  status = shareRootsStatus(status, world_);
  if (status.ok()) {
    progress_ = decodeProgress(
        world_.broadcastObject(world_.isRoot() ? encodeProgress(archive_.progress()) : "", 0));
  }
  return status;
}

Status CheckpointFile::readOnThisRank() {
  if (Status status = base::readWholeFile(path_, bytes_); !status.ok()) {
    return status;
  }
  if (const std::string damage = archive_.open(bytes_); !damage.empty()) {
    return {ErrorCode::kDataLoss, "the checkpoint " + path_ + " is damaged: " + damage};
  }
  return {};
}

void CheckpointFile::restore(torch::nn::Module& module, torch::optim::Optimizer& optimizer,
                             LearningRateSchedule* schedule) {
  const std::string bytes = world_.broadcastObject(bytes_, 0);
  std::string difference;
  std::string failure = failureOf([&] {
    if (!world_.isRoot()) {
      difference = archive_.open(bytes);
    }
    if (difference.empty()) {
      difference = archive_.differenceFrom(module, optimizer, schedule);
    }
  });
  const std::string who = "the checkpoint " + path_ + " does not fit";
  throwIfAnyRankFailed(failure.empty() ? difference : failure, world_, ErrorCode::kInvalidArgument,
                       who);
  failure = failureOf([&] {
    progress_.tensors = archive_.tensors();
    archive_.restore(module, optimizer, schedule, world_.rank());
  });
  throwIfAnyRankFailed(failure, world_, ErrorCode::kInvalidArgument, who);
}

Status shareRootsStatus(const Status& ofRoot, Communicator& world) {
  std::string words;
  if (!ofRoot.ok()) {
    words = static_cast<char>(ofRoot.code()) + ofRoot.message();
  }
  words = world.broadcastObject(words, 0);
  return words.empty() ? Status() : Status(static_cast<ErrorCode>(words[0]), words.substr(1));
}

}  // namespace steptape::detail::train
