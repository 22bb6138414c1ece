// SPDX-License-Identifier: Apache-2.0
// Trains with Trainer on ranks of which one is slow, for all_ranks_test.py.
//
//   mpiexec -n 3 slow_trainer <run> <slow rank> input|forward shared|messages
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <steptape/mpi.h>
#include <steptape/trainer.h>

#include <torch/torch.h>

namespace {

/// Batches of noise, each of which takes so many milliseconds.
class SlowLoader : public steptape::BatchLoader {
 public:
  explicit SlowLoader(int milliseconds) : milliseconds_(milliseconds) {}

  std::int64_t batches() const override { return kBatches; }
  std::uint64_t seed() const override { return 0; }
  void startEpoch(std::int64_t /*epoch*/, std::int64_t skippedBatches) override {
    done_ = skippedBatches;
  }
  bool next(steptape::Batch& batch) override {
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

void train(const std::vector<std::string>& arguments) {
  const auto world = steptape::mpi::world();
  const bool isSlow = world->rank() == std::stoi(arguments[1]);
  const auto milliseconds = [&](const char* part) {
    return isSlow && arguments[2] == part ? 50 : 2;
  };
  torch::nn::Sequential model(torch::nn::Linear(64, 64), torch::nn::Tanh(),
                              torch::nn::Linear(64, 10));
  torch::optim::SGD optimizer(model->parameters(), 0.01);
  steptape::DistributedWriter writer(arguments[0], world);
  steptape::TrainerOptions options;
  options.gradientSync.useSharedMemory = arguments[3] == "shared";
  options.stragglerSteps = 5;
  options.progress = steptape::ProgressStyle::kNone;
  const auto forward = [&](const at::Tensor& input) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds("forward")));
    return model->forward(input);
  };
  steptape::Trainer trainer(model.ptr(), forward, optimizer, world, writer, options);
  SlowLoader batches(milliseconds("input"));
  SlowLoader test(0);
  trainer.fit(batches, test);
  writer.close().throwIfError();
}

}  // namespace

int main(int argc, char** argv) {
  const steptape::mpi::Environment environment(argc, argv);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 4) {
    std::cerr << "slow_trainer <run> <slow rank> input|forward shared|messages\n";
    return 2;
  }
  try {
    train(arguments);
  } catch (const std::exception& error) {
    environment.abort(error.what());
  }
  return 0;
}
