// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <sstream>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"
#include "steptape/ranks/communicator.h"
#include "steptape/train/checkpoint.h"

#include "train/checkpoint/checkpoint_directory.h"
#include "train/checkpoint/checkpoint_file.h"
#include "train/checkpoint/checkpoint_output.h"
#include "train/checkpoint/checkpoint_thread.h"
#include "train/checkpoint/tensor_copies.h"

namespace steptape {
namespace {

double secondsSince(std::int64_t steadyNanos) {
  return static_cast<double>(Clock::system().steadyNanos() - steadyNanos) * 1e-9;
}

}  // namespace

/// The checkpoint of saveAsync() on the root. The next one reuses it.
struct CheckpointCopy::Pending {
  detail::train::TensorCopies copies;
  double stallSeconds = 0;  ///< In CheckpointCopy::wait().
};

CheckpointCopy::CheckpointCopy(std::string path, std::shared_ptr<Pending> pending)
    : path_(std::move(path)), pending_(std::move(pending)) {}

CheckpointCopy::CheckpointCopy(CheckpointCopy&& other) noexcept = default;

CheckpointCopy& CheckpointCopy::operator=(CheckpointCopy&& other) noexcept {
  wait();
  path_ = std::move(other.path_);
  pending_ = std::move(other.pending_);
  return *this;
}

CheckpointCopy::~CheckpointCopy() {
  wait();
}

void CheckpointCopy::wait() {
  if (pending_ != nullptr) {
    const std::int64_t start = Clock::system().steadyNanos();
    pending_->copies.wait();
    pending_->stallSeconds += secondsSince(start);
    pending_ = nullptr;
  }
}

struct CheckpointStore::Claim {
  std::shared_ptr<detail::process::DirectoryLock> lock;
};

/// What saveAsync() uses, from the first call on.
struct CheckpointStore::Background {
  std::shared_ptr<CheckpointCopy::Pending> pending = std::make_shared<CheckpointCopy::Pending>();
  std::optional<CheckpointTimes> underWay;  ///< The same on every rank, except for the times.
  detail::train::CheckpointThread thread;   ///< The root's. Ends before what its job uses.
};

CheckpointStore::CheckpointStore(std::string directory, std::shared_ptr<Communicator> world,
                                 CheckpointStoreOptions options)
    : directory_(std::move(directory)),
      world_(std::move(world)),
      options_(options),
      claim_(std::make_shared<Claim>()) {
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

CheckpointStore::CheckpointStore(CheckpointStore&& other) noexcept = default;

CheckpointStore::~CheckpointStore() {
  if (background_ != nullptr && background_->thread.isOfParent()) {
    // The thread is in the parent, and a condition that it waits for cannot be destroyed.
    static_cast<void>(background_.release());
  }
  if (background_ == nullptr || !background_->underWay) {
    return;
  }
  // Not collective, as the other ranks may have failed.
  if (const Status status = background_->thread.wait(); !status.ok()) {
    logFromRoot(*world_, "steptape: " + status.message() + "\n", std::cerr);
  }
}

std::string CheckpointStore::save(const torch::nn::Module& module,
                                  const torch::optim::Optimizer& optimizer,
                                  TrainingProgress progress, const LearningRateSchedule* schedule,
                                  CheckpointRole role) {
  wait();
  const std::int64_t step = progress.step;
  auto content =
      detail::train::collectContent(module, optimizer, std::move(progress), *world_, schedule);
  const Status status = content ? detail::train::writeToStore(directory_, claim_->lock, step, role,
                                                              options_.keep, *content)
                                : Status();
  detail::train::shareRootsStatus(status, *world_).throwIfError();
  return pathFor(role, step);
}

void CheckpointStore::saveBest(const torch::nn::Module& module,
                               const torch::optim::Optimizer& optimizer, TrainingProgress progress,
                               const LearningRateSchedule* schedule) {
  save(module, optimizer, std::move(progress), schedule, CheckpointRole::kBest);
}

CheckpointCopy CheckpointStore::saveAsync(const torch::nn::Module& module,
                                          const torch::optim::Optimizer& optimizer,
                                          TrainingProgress progress,
                                          const LearningRateSchedule* schedule,
                                          CheckpointRole role) {
  wait();
  const std::int64_t start = Clock::system().steadyNanos();
  if (background_ == nullptr) {
    background_ = std::make_unique<Background>();
  }
  const auto& pending = background_->pending;
  pending->copies.restart();
  pending->stallSeconds = 0;
  const std::int64_t step = progress.step;
  std::optional<detail::train::CheckpointContent> content = detail::train::collectContent(
      module, optimizer, std::move(progress), *world_, schedule, &pending->copies);
  const bool isWriter = content.has_value();
  if (isWriter) {
    pending->copies.start();
    // A std::function requires a copyable callable, and the content cannot be copied.
    auto shared = std::make_shared<detail::train::CheckpointContent>(*std::move(content));
    background_->thread.start([=, directory = directory_, claim = claim_, keep = options_.keep] {
      pending->copies.finish();
      return detail::train::writeToStore(directory, claim->lock, step, role, keep, *shared);
    });
  }
  background_->underWay = {step, secondsSince(start), 0};
  return CheckpointCopy(pathFor(role, step), isWriter ? pending : nullptr);
}

std::optional<CheckpointTimes> CheckpointStore::wait() {
  if (background_ == nullptr || !background_->underWay) {
    return std::nullopt;
  }
  const std::int64_t start = Clock::system().steadyNanos();
  const Status status = detail::train::shareRootsStatus(background_->thread.wait(), *world_);
  CheckpointTimes times = *std::exchange(background_->underWay, std::nullopt);
  times.stallSeconds += background_->pending->stallSeconds + secondsSince(start);
  times.writeSeconds = background_->thread.jobSeconds();
  status.throwIfError();
  return times;
}

std::optional<FoundCheckpoint> CheckpointStore::loadNewest(torch::nn::Module& module,
                                                           torch::optim::Optimizer& optimizer,
                                                           LearningRateSchedule* schedule) {
  return firstUsable(
      [&](detail::train::CheckpointFile& file) { file.restore(module, optimizer, schedule); });
}

std::optional<FoundCheckpoint> CheckpointStore::findNewest() {
  return firstUsable([](detail::train::CheckpointFile& /*file*/) {});
}

template <typename Use>
std::optional<FoundCheckpoint> CheckpointStore::firstUsable(const Use& use) {
  wait();
  FoundCheckpoint found;
  std::string reasons;
  for (const std::string& path : paths()) {
    detail::train::CheckpointFile file(path, *world_);
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
  wait();
  if (!checkpointExists(bestPath(), *world_)) {
    return std::nullopt;
  }
  return loadCheckpoint(bestPath(), module, optimizer, *world_, schedule);
}

std::string CheckpointStore::pathFor(CheckpointRole role, std::int64_t step) const {
  return role == CheckpointRole::kBest ? bestPath()
                                       : detail::train::checkpointPathOf(directory_, step);
}

std::string CheckpointStore::bestPath() const {
  return detail::train::bestPathOf(directory_);
}

std::vector<std::string> CheckpointStore::paths() {
  wait();
  std::vector<std::string> own;
  Status status;
  if (world_->isRoot()) {
    status = detail::train::listCheckpoints(directory_, own);
  }
  detail::train::shareRootsStatus(status, *world_).throwIfError();
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
