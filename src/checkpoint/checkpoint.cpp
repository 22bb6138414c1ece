// SPDX-License-Identifier: Apache-2.0
#include "steptape/checkpoint/checkpoint.h"

#include <filesystem>
#include <vector>

#include "steptape/base/error.h"

#include "base/whole_file.h"
#include "checkpoint/checkpoint_archive.h"
#include "checkpoint/checkpoint_file.h"
#include "checkpoint/random_state.h"
#include "parallel/model/rank_outcome.h"

namespace steptape {
namespace {

template <typename Value>
void checkNames(const std::map<std::string, Value>& named, const char* what) {
  for (const auto& [name, value] : named) {
    if (name.empty() || name.find('\n') != std::string::npos) {
      throw Error(ErrorCode::kInvalidArgument, std::string("saveCheckpoint: a ") + what +
                                                   " of the progress is called '" + name +
                                                   "'; expected a name without line breaks");
    }
  }
}

}  // namespace

void saveCheckpoint(const std::string& path, const torch::nn::Module& module,
                    const torch::optim::Optimizer& optimizer, TrainingProgress progress,
                    Communicator& world, const LearningRateSchedule* schedule) {
  progress.ranks = world.size();
  if (progress.writerStep < 0) {
    progress.writerStep = progress.step;
  }
  std::string randomState;
  std::string failure = detail::failureOf([&] {
    checkNames(progress.values, "value");
    checkNames(progress.tensors, "tensor");
    randomState = detail::randomState(module);
  });
  detail::throwIfAnyRankFailed(failure, world, ErrorCode::kInvalidArgument, "saveCheckpoint");
  const std::vector<std::string> randomStates = world.gatherObject(randomState, 0);
  std::string bytes;
  failure = detail::failureOf([&] {
    if (world.isRoot()) {
      bytes = detail::encodeCheckpoint(module, optimizer, schedule, progress, randomStates);
    }
  });
  detail::throwIfAnyRankFailed(failure, world, ErrorCode::kInvalidArgument, "saveCheckpoint");
  Status status;
  if (world.isRoot()) {
    status = detail::replaceFile(path, bytes);
  }
  detail::shareRootsStatus(status, world).throwIfError();
}

TrainingProgress readCheckpointProgress(const std::string& path, Communicator& world) {
  detail::CheckpointFile file(path, world);
  file.open().throwIfError();
  return file.progress();
}

TrainingProgress loadCheckpoint(const std::string& path, torch::nn::Module& module,
                                torch::optim::Optimizer& optimizer, Communicator& world,
                                LearningRateSchedule* schedule) {
  detail::CheckpointFile file(path, world);
  file.open().throwIfError();
  file.restore(module, optimizer, schedule);
  return file.progress();
}

std::string checkpointPath(const std::string& directory) {
  return directory + "/checkpoint.pt";
}

bool checkpointExists(const std::string& path, Communicator& world) {
  std::uint8_t exists = world.isRoot() && std::filesystem::exists(path) ? 1 : 0;
  world.broadcast(&exists, sizeof(exists), 0);
  return exists != 0;
}

}  // namespace steptape
