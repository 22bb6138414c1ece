// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/checkpoint.h"

#include <filesystem>
#include <utility>

#include "train/checkpoint/checkpoint_file.h"
#include "train/checkpoint/checkpoint_output.h"

namespace steptape {

void saveCheckpoint(const std::string& path, const torch::nn::Module& module,
                    const torch::optim::Optimizer& optimizer, TrainingProgress progress,
                    Communicator& world, const LearningRateSchedule* schedule) {
  auto content =
      detail::train::collectContent(module, optimizer, std::move(progress), world, schedule);
  const Status status = content ? detail::train::writeCheckpoint(path, *content) : Status();
  detail::train::shareRootsStatus(status, world).throwIfError();
}

TrainingProgress readCheckpointProgress(const std::string& path, Communicator& world) {
  detail::train::CheckpointFile file(path, world);
  file.open().throwIfError();
  return file.progress();
}

TrainingProgress loadCheckpoint(const std::string& path, torch::nn::Module& module,
                                torch::optim::Optimizer& optimizer, Communicator& world,
                                LearningRateSchedule* schedule) {
  detail::train::CheckpointFile file(path, world);
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
