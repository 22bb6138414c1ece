// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/checkpoint.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <vector>

#include "steptape/base/error.h"

#include "trainer/broadcast_string.h"
#include "trainer/optimizer_archive.h"
#include "trainer/whole_file.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/nn/module.h>

namespace steptape {
namespace {

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

std::string randomState() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  const at::Tensor state = generator.get_state();
  return {static_cast<const char*>(state.data_ptr()), state.nbytes()};
}

void setRandomState(const at::Tensor& state) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state);
}

at::Tensor toTensor(const std::string& bytes) {
  const at::Tensor tensor = at::empty({static_cast<std::int64_t>(bytes.size())}, at::kByte);
  std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

at::Tensor toTensor(const TrainingProgress& progress) {
  return torch::tensor(
      {progress.epoch, progress.stepInEpoch, progress.step,
       static_cast<std::int64_t>(progress.seed), static_cast<std::int64_t>(progress.ranks)},
      at::kLong);
}

TrainingProgress toProgress(const at::Tensor& tensor) {
  const std::int64_t* values = tensor.data_ptr<std::int64_t>();
  TrainingProgress progress;
  progress.epoch = values[0];
  progress.stepInEpoch = values[1];
  progress.step = values[2];
  progress.seed = static_cast<std::uint64_t>(values[3]);
  progress.ranks = static_cast<int>(values[4]);
  return progress;
}

/// The root's outcome becomes every rank's: throws on all of them or on none.
void shareOutcome(const Status& ofRoot, Communicator& world) {
  std::string message = ofRoot.message();
  detail::broadcastString(message, world, 0);
  if (!message.empty()) {
    throw Error(ErrorCode::kIoError, message);
  }
}

/// The bytes of the root's file on every rank.
std::string readOnRoot(const std::string& path, Communicator& world) {
  std::string bytes;
  Status status;
  if (world.isRoot()) {
    status = detail::readWholeFile(path, bytes);
  }
  shareOutcome(status, world);
  detail::broadcastString(bytes, world, 0);
  return bytes;
}

/// LibTorch reports a file that it cannot read as a c10::Error with a stack trace in its text.
template <typename Function>
auto readingCheckpoint(const std::string& path, const char* what, Function&& function) {
  try {
    return function();
  } catch (const c10::Error& error) {
    throw Error(ErrorCode::kDataLoss,
                "the checkpoint " + path + " " + what + ": " + error.what_without_backtrace());
  }
}

void openArchive(InputArchive& archive, const std::string& path, const std::string& bytes) {
  readingCheckpoint(path, "is damaged", [&] {
    std::istringstream stream(bytes);
    archive.load_from(stream);
  });
}

TrainingProgress progressOf(InputArchive& archive, const std::string& path) {
  return readingCheckpoint(path, "is not one of a Trainer", [&] {
    at::Tensor progress;
    archive.read("progress", progress);
    return toProgress(progress);
  });
}

}  // namespace

void saveCheckpoint(const std::string& path, const torch::nn::Module& module,
                    const torch::optim::Optimizer& optimizer, TrainingProgress progress,
                    Communicator& world) {
  progress.ranks = world.size();
  const std::vector<std::string> randomStates = world.allgather(randomState());
  Status status;
  if (world.isRoot()) {
    OutputArchive archive;
    OutputArchive modelArchive(archive.compilation_unit());
    module.save(modelArchive);
    archive.write("model", modelArchive);
    OutputArchive optimizerArchive(archive.compilation_unit());
    detail::saveOptimizer(optimizer, optimizerArchive);
    archive.write("optimizer", optimizerArchive);
    archive.write("progress", toTensor(progress));
    OutputArchive randomArchive(archive.compilation_unit());
    for (std::size_t rank = 0; rank < randomStates.size(); ++rank) {
      randomArchive.write(std::to_string(rank), toTensor(randomStates[rank]));
    }
    archive.write("random", randomArchive);
    std::ostringstream stream;
    archive.save_to(stream);
    status = detail::replaceFile(path, stream.str());
  }
  shareOutcome(status, world);
}

TrainingProgress readCheckpointProgress(const std::string& path, Communicator& world) {
  InputArchive archive;
  openArchive(archive, path, readOnRoot(path, world));
  return progressOf(archive, path);
}

TrainingProgress loadCheckpoint(const std::string& path, torch::nn::Module& module,
                                torch::optim::Optimizer& optimizer, Communicator& world) {
  InputArchive archive;
  openArchive(archive, path, readOnRoot(path, world));
  const TrainingProgress progress = progressOf(archive, path);
  readingCheckpoint(path, "does not fit the model and optimizer", [&] {
    InputArchive modelArchive;
    archive.read("model", modelArchive);
    module.load(modelArchive);
    InputArchive optimizerArchive;
    archive.read("optimizer", optimizerArchive);
    detail::loadOptimizer(optimizer, optimizerArchive);
    InputArchive randomArchive;
    archive.read("random", randomArchive);
    at::Tensor state;
    if (randomArchive.try_read(std::to_string(world.rank()), state)) {
      setRandomState(state);
    }
  });
  return progress;
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
