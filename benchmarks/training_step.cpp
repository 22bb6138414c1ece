// SPDX-License-Identifier: Apache-2.0
// What averages, norms and the count of operations cost a training step of the network (cnn or mlp)
// of examples/fashion_mnist, on one rank.
//
//   training_step_benchmark [cnn|mlp] [rounds]
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "steptape/libtorch/op_profiler.h"
#include "steptape/train/trainer_callback.h"

#include "../examples/fashion_mnist/network.h"
#include "harness.h"
#include "train/loop/parameter_norms.h"

#include <torch/torch.h>

namespace {

using benchmark::Costs;
using benchmark::ratio;

constexpr int kSteps = 50;
constexpr std::int64_t kBatchSize = 64;

class TrainingLoop {
 public:
  explicit TrainingLoop(const std::string& model)
      : model_(makeClassifier(model)),
        optimizer_(model_->parameters(), torch::optim::SGDOptions(0.01).momentum(0.5)),
        writer_("unused", std::make_shared<steptape::Communicator>(), silent()),
        context_(*model_, optimizer_, writer_, *writer_.communicator()) {
    average_.beforeFit(context_);
  }

  /// CPU time of a step that begins and ends with what the variant adds, in µs.
  double time(bool countsFlops, const std::function<void()>& atEnd) {
    const double start = benchmark::cpuSeconds();
    for (int i = 0; i < kSteps; ++i) {
      optimizer_.zero_grad();
      std::unique_ptr<steptape::FlopCounter> counter;
      if (countsFlops) {
        counter = std::make_unique<steptape::FlopCounter>();
      }
      torch::nll_loss(model_->forward(images_), classes_).backward();
      counter.reset();
      optimizer_.step();
      atEnd();
    }
    return (benchmark::cpuSeconds() - start) / kSteps * 1e6;
  }

  void updateAverage() { average_.afterStep(context_); }
  void norms() { benchmark::keep(steptape::detail::train::RequestedNorms(*model_).take()); }

 private:
  static steptape::DistributedWriterOptions silent() {
    steptape::DistributedWriterOptions options;
    options.writer.enabled = false;
    return options;
  }

  std::shared_ptr<Classifier> model_;
  torch::optim::SGD optimizer_;
  steptape::DistributedWriter writer_;
  steptape::TrainingContext context_;
  steptape::ExponentialMovingAverage average_;
  torch::Tensor images_ = torch::rand({kBatchSize, 1, 28, 28});
  torch::Tensor classes_ = torch::randint(10, {kBatchSize}, at::kLong);
};

void measure(const std::string& model, int rounds) {
  TrainingLoop loop(model);
  const auto nothing = [] {};
  const auto costs = benchmark::takeTurns(
      {{"plain", [&] { return loop.time(false, nothing); }},
       {"averages", [&] { return loop.time(false, [&] { loop.updateAverage(); }); }},
       {"norms", [&] { return loop.time(false, [&] { loop.norms(); }); }},
       {"operations", [&] { return loop.time(true, nothing); }},
       {"plain again", [&] { return loop.time(false, nothing); }}},
      rounds);
  benchmark::printTitle("a training step of the network " + model + ", CPU time");
  benchmark::printCosts("plain", costs[0], "µs");
  benchmark::printControl("plain / plain", ratio(costs[4], costs[0]), 0.02);
  benchmark::printAtMost("with averages of the parameters", ratio(costs[1], costs[0]), 1.20);
  benchmark::printAtMost("with the norms of all parameters and gradients",
                         ratio(costs[2], costs[0]), 1.25);
  benchmark::printAtMost("with its operations counted", ratio(costs[3], costs[0]), 1.30);
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  measure(argc > 1 ? argv[1] : "cnn", argc > 2 ? std::atoi(argv[2]) : 11);
}
