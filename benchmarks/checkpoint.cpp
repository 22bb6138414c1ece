// SPDX-License-Identifier: Apache-2.0
// What a checkpoint costs training:
//
//     checkpoint_benchmark [DIRECTORY [MEGABYTES [ROUNDS [THREADS]]]]
//
// Model and optimizer take MEGABYTES (default 1024) and are written to DIRECTORY (default: the
// current one). All variants take turns in one process. Compared are the time for which the
// training thread is held up, with the time of writing the checkpoint in place, and the time of a
// training step while a checkpoint is written, with that of a step without one. THREADS is the
// number of threads that train; the default leaves one core to the thread that writes.
#include "steptape/train/checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness.h"

#include <ATen/Parallel.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

namespace {

constexpr std::int64_t kWidth = 2048;
constexpr std::int64_t kBatch = 64;

double secondsOf(const std::function<void()>& work) {
  const double start = benchmark::nowNanos();
  work();
  return (benchmark::nowNanos() - start) * 1e-9;
}

/// Square layers, and SGD with momentum: the optimizer's state is as large as the parameters.
torch::nn::Sequential makeModel(std::int64_t megabytes) {
  constexpr std::int64_t kLayerMegabytes = 2 * kWidth * kWidth * sizeof(float) / (1 << 20);
  torch::nn::Sequential model;
  for (std::int64_t i = 0; i < std::max(megabytes / kLayerMegabytes, std::int64_t{1}); ++i) {
    model->push_back(torch::nn::Linear(torch::nn::LinearOptions(kWidth, kWidth).bias(false)));
  }
  return model;
}

class Training {
 public:
  Training(const std::string& directory, std::int64_t megabytes)
      : model_(makeModel(megabytes)),
        optimizer_(model_->parameters(), torch::optim::SGDOptions(1e-6).momentum(0.9)),
        store_(directory, std::make_shared<steptape::Communicator>()) {
    step();
  }

  void step(steptape::CheckpointCopy copy = {}) {
    backward();
    copy.wait();
    optimizer_.step();
  }

  /// The mean time of `steps` steps.
  double timeSteps(std::int64_t steps) {
    const double seconds = secondsOf([&] {
      for (std::int64_t i = 0; i < steps; ++i) {
        step();
      }
    });
    return seconds / static_cast<double>(steps);
  }

  double timeSave() {
    return secondsOf([this] { store_.save(*model_, optimizer_, nextProgress()); });
  }

  /// The CPU time of the same: what it takes from threads that train.
  double cpuSecondsOfSave() {
    const double start = benchmark::cpuSeconds();
    timeSave();
    return benchmark::cpuSeconds() - start;
  }

  /// The time of the calls that make training wait, around a forward and a backward pass.
  double timeStall() {
    steptape::CheckpointCopy copy;
    const double call = secondsOf([&] { copy = saveAsync(); });
    backward();
    const double wait = secondsOf([&] { copy.wait(); });
    optimizer_.step();
    store_.wait();
    return call + wait;
  }

  /// The same if the result is discarded.
  double timeStallWithoutOverlap() {
    const double call = secondsOf([this] { saveAsync(); });
    store_.wait();
    return call;
  }

  /// The mean time of the steps while a checkpoint is written, that which starts it included.
  double timeStepWhileWriting(std::int64_t steps) {
    steptape::CheckpointCopy copy;
    const double seconds = secondsOf([&] {
      copy = saveAsync();
      step(std::move(copy));
      for (std::int64_t i = 1; i < steps; ++i) {
        step();
      }
    });
    store_.wait();
    return seconds / static_cast<double>(steps);
  }

  /// How long the thread works on a checkpoint, in steps.
  std::int64_t stepsOfAWrite() {
    const double step = timeSteps(3);
    saveAsync();
    const double write = store_.wait()->writeSeconds;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(write / step));
  }

  /// The floor: all bytes to memory that is there.
  double timeCopy() {
    std::vector<at::Tensor> live = model_->parameters();
    copies_.resize(2 * live.size());
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      if (!copies_[i].defined()) {
        copies_[i] = live[i % live.size()].detach().clone();
      }
    }
    return secondsOf([&] {
      for (std::size_t i = 0; i < copies_.size(); ++i) {
        std::memcpy(copies_[i].data_ptr(), live[i % live.size()].data_ptr(), copies_[i].nbytes());
      }
    });
  }

 private:
  void backward() {
    optimizer_.zero_grad();
    model_->forward(input_).square().mean().backward();
  }

  steptape::TrainingProgress nextProgress() {
    steptape::TrainingProgress progress;
    progress.step = ++checkpoints_;
    return progress;
  }

  steptape::CheckpointCopy saveAsync() {
    return store_.saveAsync(*model_, optimizer_, nextProgress());
  }

  torch::nn::Sequential model_;
  torch::optim::SGD optimizer_;
  steptape::CheckpointStore store_;
  at::Tensor input_ = torch::rand({kBatch, kWidth});
  std::vector<at::Tensor> copies_;
  std::int64_t checkpoints_ = 0;
};

std::string argumentOr(int argc, char** argv, int index, const char* otherwise) {
  return argc > index ? argv[index] : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argumentOr(argc, argv, 1, ".") + "/checkpoint_benchmark";
  const std::int64_t megabytes = std::atol(argumentOr(argc, argv, 2, "1024").c_str());
  const int rounds = std::atoi(argumentOr(argc, argv, 3, "11").c_str());
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int threads = std::atoi(argumentOr(argc, argv, 4, "0").c_str());
  at::set_num_threads(threads > 0 ? threads : std::max(1, cores - 1));

  Training training(directory, megabytes);
  const std::int64_t steps = training.stepsOfAWrite();
  const auto timeSteps = [&] { return training.timeSteps(steps); };
  const std::vector<benchmark::Costs> costs = benchmark::takeTurns(
      {
          {"save", [&] { return training.timeSave(); }},
          {"save", [&] { return training.timeSave(); }},
          {"stall", [&] { return training.timeStall(); }},
          {"stall without overlap", [&] { return training.timeStallWithoutOverlap(); }},
          {"copy", [&] { return training.timeCopy(); }},
          {"step", timeSteps},
          {"step", timeSteps},
          {"step while writing", [&] { return training.timeStepWhileWriting(steps); }},
          {"CPU time of save", [&] { return training.cpuSecondsOfSave(); }},
      },
      rounds);

  benchmark::printTitle("a checkpoint of " + std::to_string(megabytes) + " MB, " +
                        std::to_string(at::get_num_threads()) + " threads train on " +
                        std::to_string(cores) + " cores");
  benchmark::printCosts("save()", costs[0], "s");
  benchmark::printCosts("save(), CPU time", costs[8], "s");
  benchmark::printCosts("one memcpy of all bytes", costs[4], "s");
  benchmark::printCosts("saveAsync() and wait() around a pass", costs[2], "s");
  benchmark::printCosts("saveAsync(), result discarded", costs[3], "s");
  benchmark::printControl("save() / save()", benchmark::ratio(costs[1], costs[0]), 0.1);
  benchmark::printAtMost("CPU time of save() / memcpy", benchmark::ratio(costs[8], costs[4]), 6);
  benchmark::printAtMost("stall / save()", benchmark::ratio(costs[2], costs[0]), 0.01);
  benchmark::printAtMost("stall of a discarded result / save()",
                         benchmark::ratio(costs[3], costs[0]), 0.2);
  benchmark::printTitle("a training step, over the " + std::to_string(steps) +
                        " steps of a checkpoint");
  benchmark::printCosts("step", costs[5], "s");
  benchmark::printControl("step / step", benchmark::ratio(costs[6], costs[5]), 0.03);
  benchmark::printAtMost("step while a checkpoint is written / step",
                         benchmark::ratio(costs[7], costs[5]), 1.01);
  std::filesystem::remove_all(directory);
}
