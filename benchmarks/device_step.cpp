// SPDX-License-Identifier: Apache-2.0
// What logging costs a training step on a device: the ResNet-20 of examples/cifar10 with nothing
// logged, and with the loss and the norm of a gradient logged at every step, and histograms of
// all parameters and an image at every tenth. On the CPU if there is no CUDA device.
//
//   device_step_benchmark [rounds] [batch size]
#include <cstdint>
#include <cstdlib>
#include <string>

#include "steptape/libtorch/tensor_traits.h"
#include "steptape/log/summary_writer.h"
#include "steptape/ranks/communicator.h"
#include "steptape/ranks/testing.h"
#include "steptape/train/recipe.h"

#include "../examples/cifar10/resnet20.h"
#include "harness.h"

#include <torch/torch.h>

namespace {

using benchmark::nowNanos;
using benchmark::ratio;

constexpr int kStepsPerRound = 50;
constexpr int kHistogramEvery = 10;

class Training {
 public:
  Training(torch::Device device, std::int64_t batchSize)
      : device_(device),
        images_(torch::rand({batchSize, 3, 32, 32}, device)),
        labels_(torch::randint(10, {batchSize}, torch::TensorOptions(torch::kLong).device(device))),
        writer_(directory_.string()) {
    model_->to(device);
  }

  /// Time of a step, in ms.
  double time(bool isLogged) {
    waitForDevice();
    const double start = nowNanos();
    for (int i = 0; i < kStepsPerRound; ++i) {
      step(isLogged);
    }
    waitForDevice();
    return (nowNanos() - start) / kStepsPerRound / 1e6;
  }

 private:
  void step(bool isLogged) {
    optimizer_.zero_grad();
    const torch::Tensor loss = torch::nll_loss(model_->forward(images_), labels_);
    loss.backward();
    optimizer_.step();
    if (isLogged) {
      log(loss.detach());
    }
    ++steps_;
  }

  void log(const torch::Tensor& loss) {
    writer_.addScalar("loss", loss, steps_);
    const torch::Tensor gradient = (*parameters_.begin()).value().grad();
    writer_.addScalar("gradient_norm/stem", gradient.norm(), steps_);
    if (steps_ % kHistogramEvery == 0) {
      for (const auto& parameter : parameters_) {
        writer_.addHistogram(parameter.key(), parameter.value(), steps_);
      }
      writer_.addImage("image", images_[0], steps_);
    }
  }

  void waitForDevice() const {
    if (device_.is_cuda()) {
      torch::cuda::synchronize(device_.index());
    }
  }

  torch::Device device_;
  ResNet20 model_;
  torch::OrderedDict<std::string, torch::Tensor> parameters_ = model_->named_parameters();
  torch::optim::SGD optimizer_{model_->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9)};
  torch::Tensor images_;
  torch::Tensor labels_;
  std::int64_t steps_ = 0;
  steptape::testing::TempDir directory_;
  steptape::SummaryWriter writer_;
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 11;
  const std::int64_t batchSize = argc > 2 ? std::atoi(argv[2]) : 128;
  const torch::Device device = steptape::deviceForLocalRank(steptape::Communicator());
  torch::manual_seed(1);
  Training training(device, batchSize);
  const auto costs = benchmark::takeTurns({{"nothing", [&] { return training.time(false); }},
                                           {"nothing again", [&] { return training.time(false); }},
                                           {"everything", [&] { return training.time(true); }}},
                                          rounds);
  benchmark::printTitle("A step of ResNet-20 on " + device.str() + ", " +
                        std::to_string(batchSize) + " images");
  benchmark::printCosts("nothing logged", costs[0], "ms");
  benchmark::printCosts("everything logged", costs[2], "ms");
  benchmark::printControl("nothing / nothing", ratio(costs[1], costs[0]), 0.01);
  benchmark::printAtMost("everything / nothing", ratio(costs[2], costs[0]), 1.05);
}
