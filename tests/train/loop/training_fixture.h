// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"
#include <steptape/trainer.h>

#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape::test {

using World = std::shared_ptr<Communicator>;

/// Initially classifies every image as class 0.
struct SmallNet : torch::nn::Module {
  explicit SmallNet(double dropProbability = 0.25)
      : fc(register_module("fc", torch::nn::Linear(4, 2))), drop(dropProbability) {
    const torch::NoGradGuard noGradients;
    fc->weight.zero_();
    fc->bias.copy_(torch::tensor({0.5F, 0.0F}));
  }

  torch::Tensor forward(const torch::Tensor& images) {
    const torch::Tensor dropped = torch::dropout(images.view({-1, 4}), drop, is_training());
    return torch::log_softmax(fc->forward(dropped), 1);
  }

  torch::nn::Linear fc;
  double drop;
};

/// 22 images, every third one bright and of class 1, the others dark and of class 0; 11 batches per
/// epoch on one rank.
class Training : public ::testing::Test {
 protected:
  static constexpr std::int64_t kImages = 22;

  using MakeOptimizer =
      std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<torch::Tensor>)>;

  /// The parts of a run that a test changes.
  struct Run {
    TrainerOptions options;
    std::shared_ptr<SmallNet> net = std::make_shared<SmallNet>();
    MakeOptimizer optimizer = momentumSgd;
    std::int64_t batchSize = 2;
    bool evenShares = true;
    /// Adds callbacks, for example.
    std::function<void(Trainer&)> prepare;
    DistributedWriterOptions writer = silent();
  };

  static DistributedWriterOptions silent() {
    DistributedWriterOptions options;
    options.writer.enabled = false;
    return options;
  }

  static std::unique_ptr<torch::optim::Optimizer> momentumSgd(
      std::vector<torch::Tensor> parameters) {
    return std::make_unique<torch::optim::SGD>(std::move(parameters),
                                               torch::optim::SGDOptions(0.1).momentum(0.5));
  }

  static ImageDataset images() {
    const torch::Tensor labels = torch::arange(kImages).remainder(3).eq(0).to(torch::kLong);
    const torch::Tensor pixels = (labels * 200 + torch::arange(kImages)).view({kImages, 1, 1, 1});
    return {pixels.expand({kImages, 1, 2, 2}).to(torch::kByte), labels};
  }

  static DistributedSampler sampler(const Communicator& world, bool shuffle, bool evenShares) {
    DistributedSamplerOptions options;
    options.shuffle = shuffle;
    options.evenShares = evenShares;
    return {kImages, world, options};
  }

  TrainingResult fit(const World& world, Run run) {
    run.options.progress = ProgressStyle::kNone;
    const auto optimizer = run.optimizer(run.net->parameters());
    ImageLoader train(images(), sampler(*world, true, run.evenShares), run.batchSize);
    ImageLoader test(images(), sampler(*world, false, false), 4);
    DistributedWriter writer(logDir(), world, run.writer);
    Trainer trainer(run.net, *optimizer, world, writer, run.options);
    if (run.prepare) {
      run.prepare(trainer);
    }
    return trainer.fit(train, test);
  }

  TrainingResult fit(const World& world, const TrainerOptions& options) {
    Run run;
    run.options = options;
    return fit(world, run);
  }

  static World oneRank() { return std::make_shared<Communicator>(); }

  TrainerOptions withCheckpoints(std::int64_t epochs, bool resume = false) const {
    TrainerOptions options;
    options.epochs = epochs;
    options.checkpointDirectory = dir_.string() + "/checkpoints";
    options.resume = resume;
    return options;
  }

  std::string logDir() const { return dir_.string() + "/run"; }

  /// Ranks are threads, so records need a lock.
  void note(const std::string& line) {
    const std::lock_guard<std::mutex> lock(notesMutex_);
    notes_.push_back(line);
  }

  testing::TempDir dir_;
  std::vector<std::string> notes_;
  std::mutex notesMutex_;
};

}  // namespace steptape::test
