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

/// Batches of noise, each of which takes this many milliseconds.
class SlowLoader : public BatchLoader {
 public:
  explicit SlowLoader(int milliseconds) : milliseconds_(milliseconds) {}

  std::int64_t batches() const override { return kBatches; }
  std::uint64_t seed() const override { return 0; }
  void startEpoch(std::int64_t /*epoch*/, std::int64_t skippedBatches) override {
    done_ = skippedBatches;
  }
  bool next(Batch& batch) override {
    if (done_ == kBatches) {
      return false;
    }
    ++done_;
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds_));
    batch.inputs = torch::rand({8, 64});
    batch.targets = torch::zeros({8}, torch::kLong);
    return true;
  }

 private:
  static constexpr std::int64_t kBatches = 10;
  int milliseconds_;
  std::int64_t done_ = 0;
};

}  // namespace

void trainWithASlowRank(const std::vector<std::string>& arguments) {
  const auto world = steptape::world();
  const bool isSlow = world->rank() == std::stoi(arguments[1]);
  const auto milliseconds = [&](const char* part) {
    // Far more than other programs on a busy machine delay a rank.
    return isSlow && arguments[2] == part ? 300 : 2;
  };
  torch::nn::Sequential model(torch::nn::Linear(64, 64), torch::nn::Tanh(),
                              torch::nn::Linear(64, 10));
  // LibTorch's first operators load libraries and start threads. On a busy machine, that takes
  // longer than the slow rank's delays, and differs between ranks.
  model->forward(torch::rand({8, 64})).sum().backward();
  model->zero_grad();
  torch::optim::SGD optimizer(model->parameters(), 0.01);
  DistributedWriter writer(arguments[0], world);
  TrainerOptions options;
  options.gradientSync.useSharedMemory = arguments[3] == "shared";
  options.stragglerSteps = 5;
  options.progress = ProgressStyle::kNone;
  const auto forward = [&](const at::Tensor& input) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds("forward")));
    return model->forward(input);
  };
  Trainer trainer(model.ptr(), forward, optimizer, world, writer, options);
  SlowLoader batches(milliseconds("input"));
  SlowLoader test(0);
  trainer.fit(batches, test);
  writer.close().throwIfError();
}

}  // namespace steptape::test
