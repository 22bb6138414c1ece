// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint/checkpoint_output.h"

#include <map>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/process/zone.h"

#include "base/got_expected.h"
#include "base/replacement_file.h"
#include "base/whole_file.h"
#include "train/checkpoint/checkpoint_directory.h"
#include "train/checkpoint/random_state.h"
#include "train/replicas/model/rank_failures.h"

namespace steptape::detail::train {
namespace {

constexpr const char* kWho = "saveCheckpoint";

template <typename Value>
void checkNames(const std::map<std::string, Value>& named, const char* what) {
  for (const auto& [name, value] : named) {
    if (name.empty() || name.find('\n') != std::string::npos) {
      throw Error(ErrorCode::kInvalidArgument, std::string(kWho) + ": got a " + what +
                                                   " of the progress called '" + name +
                                                   "'; expected a name without line breaks");
    }
  }
}

/// Serializes into the file that `file` has opened.
void writeContent(CheckpointContent& content, base::ReplacementFile& file) {
  content.write([&file](std::string_view bytes) { file.write(bytes); });
}

}  // namespace

std::optional<CheckpointContent> collectContent(const torch::nn::Module& module,
                                                const torch::optim::Optimizer& optimizer,
                                                TrainingProgress progress, Communicator& world,
                                                const LearningRateSchedule* schedule,
                                                TensorCopies* copies) {
  progress.ranks = world.size();
  if (progress.writerStep < 0) {
    progress.writerStep = progress.step;
  }
  std::optional<CheckpointContent> content;
  std::string ownRandomState;
  const std::string failure = failureOf([&] {
    checkNames(progress.values, "value");
    checkNames(progress.tensors, "tensor");
    ownRandomState = randomState(module);
    if (world.isRoot()) {
      content.emplace(module, optimizer, schedule, progress);
    }
    if (content && copies != nullptr) {
      content->useCopies(module, *copies);
    }
  });
  throwIfAnyRankFailed(failure, world, ErrorCode::kInvalidArgument, kWho);
  std::vector<std::string> randomStates = world.gatherObject(ownRandomState, 0);
  if (content) {
    content->setRandomStates(std::move(randomStates));
  }
  return content;
}

Status writeCheckpoint(const std::string& path, CheckpointContent& content) {
  STEPTAPE_ZONE("checkpoint/write");
  if (Status status = base::createDirectoriesOf(path); !status.ok()) {
    return status;
  }
  base::ReplacementFile file(path);
  if (Status status = file.open(); !status.ok()) {
    return status;
  }
  const std::string failure = failureOf([&] {
    file.bypassPageCache();
    writeContent(content, file);
  });
  if (!failure.empty()) {
    return {ErrorCode::kInvalidArgument, std::string(kWho) + ": " + failure};
  }
  const Status status = file.finish();  // includes failures of write()
  return status.ok() ? file.appear(/*overwrite=*/true) : status;
}

namespace {

Status takeLock(const std::string& directory, std::shared_ptr<process::DirectoryLock>& lock) {
  if (lock != nullptr) {
    return {};
  }
  if (Status made = base::createDirectoriesOf(checkpointPath(directory)); !made.ok()) {
    return made;
  }
  // Without a lock file, two jobs cannot see each other; the checkpoint is as good.
  process::DirectoryLock::Result result = process::DirectoryLock::acquire(directory);
  lock = std::move(result.lock);
  if (result.holder.empty()) {
    return {};
  }
  return {ErrorCode::kFailedPrecondition,
          "CheckpointStore: " + base::gotExpected("the directory " + directory + ", in which " +
                                                      result.holder + " writes",
                                                  "one of its own for each job")};
}

}  // namespace

Status writeToStore(const std::string& directory, std::shared_ptr<process::DirectoryLock>& lock,
                    std::int64_t step, CheckpointRole role, std::int64_t keep,
                    CheckpointContent& content) {
  if (Status taken = takeLock(directory, lock); !taken.ok()) {
    return taken;
  }
  removeLeftovers(directory);
  const bool isBest = role != CheckpointRole::kNewest;
  Status status =
      writeCheckpoint(isBest ? bestPathOf(directory) : checkpointPathOf(directory, step), content);
  if (status.ok() && role == CheckpointRole::kNewestAndBest) {
    status = nameBestByStep(directory, step);
  }
  if (status.ok() && role != CheckpointRole::kBest) {
    status = nameNewest(directory, step);
    removeOthers(directory, step, keep);
  }
  return status;
}

}  // namespace steptape::detail::train
