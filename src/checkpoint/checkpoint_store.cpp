// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <utility>

#include "steptape/base/error.h"
#include "steptape/checkpoint/checkpoint.h"

#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/checkpoint_file.h"

namespace steptape {

CheckpointStore::CheckpointStore(std::string directory, std::shared_ptr<Communicator> world,
                                 CheckpointStoreOptions options)
    : directory_(std::move(directory)), world_(std::move(world)), options_(options) {
  if (directory_.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "CheckpointStore: got an empty directory name; expected a path");
  }
  if (options_.keep < 1) {
    throw Error(ErrorCode::kInvalidArgument, "CheckpointStoreOptions::keep: got " +
                                                 std::to_string(options_.keep) +
                                                 "; expected at least 1");
  }
}

std::string CheckpointStore::save(const torch::nn::Module& module,
                                  const torch::optim::Optimizer& optimizer,
                                  TrainingProgress progress, const LearningRateSchedule* schedule) {
  const std::int64_t step = progress.step;
  std::string path = detail::checkpointPathOf(directory_, step);
  saveCheckpoint(path, module, optimizer, std::move(progress), *world_, schedule);
  Status status;
  if (world_->isRoot()) {
    status = detail::nameNewest(directory_, step);
    detail::removeOthers(directory_, step, options_.keep);
  }
  detail::shareRootsStatus(status, *world_).throwIfError();
  return path;
}

void CheckpointStore::saveBest(const torch::nn::Module& module,
                               const torch::optim::Optimizer& optimizer, TrainingProgress progress,
                               const LearningRateSchedule* schedule) {
  saveCheckpoint(bestPath(), module, optimizer, std::move(progress), *world_, schedule);
}

std::optional<FoundCheckpoint> CheckpointStore::loadNewest(torch::nn::Module& module,
                                                           torch::optim::Optimizer& optimizer,
                                                           LearningRateSchedule* schedule) {
  return firstUsable(
      [&](detail::CheckpointFile& file) { file.restore(module, optimizer, schedule); });
}

std::optional<FoundCheckpoint> CheckpointStore::findNewest() {
  return firstUsable([](detail::CheckpointFile& /*file*/) {});
}

template <typename Use>
std::optional<FoundCheckpoint> CheckpointStore::firstUsable(const Use& use) {
  FoundCheckpoint found;
  std::string reasons;
  for (const std::string& path : paths()) {
    detail::CheckpointFile file(path, *world_);
    const Status status = file.open();
    if (status.ok()) {
      use(file);
      found.path = path;
      found.progress = file.progress();
      return found;
    }
    found.passedOver.push_back(status.message());
    reasons += "; " + status.message();
  }
  if (!reasons.empty()) {
    throw Error(ErrorCode::kDataLoss, "no checkpoint in " + directory_ + " can be used" + reasons);
  }
  return std::nullopt;
}

std::optional<TrainingProgress> CheckpointStore::loadBest(torch::nn::Module& module,
                                                          torch::optim::Optimizer& optimizer,
                                                          LearningRateSchedule* schedule) {
  if (!checkpointExists(bestPath(), *world_)) {
    return std::nullopt;
  }
  return loadCheckpoint(bestPath(), module, optimizer, *world_, schedule);
}

std::string CheckpointStore::bestPath() const {
  return directory_ + "/checkpoint_best.pt";
}

std::vector<std::string> CheckpointStore::paths() {
  std::vector<std::string> own;
  Status status;
  if (world_->isRoot()) {
    status = detail::listCheckpoints(directory_, own);
  }
  detail::shareRootsStatus(status, *world_).throwIfError();
  std::string lines;
  for (const std::string& path : own) {
    lines += path + '\n';
  }
  std::vector<std::string> paths;
  std::istringstream ofRoot(world_->broadcastObject(lines, 0));
  for (std::string path; std::getline(ofRoot, path);) {
    paths.push_back(path);
  }
  return paths;
}

}  // namespace steptape
