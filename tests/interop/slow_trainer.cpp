// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <steptape/mpi.h>
#include <steptape/trainer.h>

#include "interop/training_program.h"

#include <torch/torch.h>

namespace steptape::test {
namespace {

/// So many batches of noise, each of which takes this many milliseconds.
class SlowLoader : public BatchLoader {
 public:
  SlowLoader(std::int64_t batches, int milliseconds)
      : batches_(batches), milliseconds_(milliseconds) {}

  std::int64_t batches() const override { return batches_; }
  std::uint64_t seed() const override { return 0; }
  void startEpoch(std::int64_t /*epoch*/, std::int64_t skippedBatches) override {
    done_ = skippedBatches;
  }
  bool next(Batch& batch) override {
    if (done_ == batches_) {
      return false;
    }
    ++done_;
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds_));
    batch.inputs = torch::rand({8, 64});
    batch.targets = torch::zeros({8}, torch::kLong);
    return true;
  }

 private:
  std::int64_t batches_;
  int milliseconds_;
  std::int64_t done_ = 0;
};

/// Trains with a rank that is slow in one part, "input" or "forward".
void train(const std::string& run, int slowRank, const std::string& slowPart,
           bool useSharedMemory) {
  const auto world = steptape::world();
  const bool isSlow = world->rank() == slowRank;
  const auto milliseconds = [&](const char* part) {
    // Far more than other programs on a busy machine delay a rank.
    return isSlow && slowPart == part ? 300 : 2;
  };
  torch::nn::Sequential model(torch::nn::Linear(64, 64), torch::nn::Tanh(),
                              torch::nn::Linear(64, 10));
  // LibTorch's first operators load libraries and start threads. On a busy machine, that takes
  // longer than the slow rank's delays, and differs between ranks.
  model->forward(torch::rand({8, 64})).sum().backward();
  model->zero_grad();
  torch::optim::SGD optimizer(model->parameters(), 0.01);
  DistributedWriter writer(run, world);
  TrainerOptions options;
  options.gradientSync.useSharedMemory = useSharedMemory;
  options.stragglerSteps = 3;
  options.progress = ProgressStyle::kNone;
  const auto forward = [&](const at::Tensor& input) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds("forward")));
    return model->forward(input);
  };
  Trainer trainer(model.ptr(), forward, optimizer, world, writer, options);
  SlowLoader batches(6, milliseconds("input"));
  SlowLoader test(1, 0);
  trainer.fit(batches, test);
  writer.close().throwIfError();
}

}  // namespace

void trainWithASlowRank(const std::vector<std::string>& arguments) {
  for (const char* const path : {"shared", "messages"}) {
    for (const char* const part : {"input", "forward"}) {
      train(arguments[0] + "/" + path + "_" + part, std::stoi(arguments[1]), part,
            std::string(path) == "shared");
    }
  }
}

}  // namespace steptape::test
