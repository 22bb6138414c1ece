// SPDX-License-Identifier: Apache-2.0
// Measures the cost of a permanently running profiler in training the Fashion-MNIST example's
// network.
//
//   always_on_benchmark [rounds] [cnn|mlp]
//
// Steps with the profiler and steps that LibTorch hides from it alternate in one training, because
// a machine's speed drifts within seconds by more than the measured cost.
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <string>

#include "steptape/libtorch/op_profiler.h"
#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "../examples/fashion_mnist/network.h"
#include "harness.h"

#include <ATen/Parallel.h>
#include <ATen/record_function.h>

namespace {

using benchmark::Costs;
using benchmark::nowNanos;
using benchmark::ratio;

constexpr int kBatchSize = 64;
constexpr int kStepsPerRound = 100;  // of each kind

class Training {
 public:
  explicit Training(const std::string& model)
      : model_(makeClassifier(model)),
        optimizer_(model_->parameters(), torch::optim::SGDOptions(0.01).momentum(0.5)) {}

  void step() {
    optimizer_.zero_grad();
    torch::nll_loss(model_->forward(images_), labels_).backward();
    optimizer_.step();
  }

 private:
  std::shared_ptr<Classifier> model_;
  torch::optim::SGD optimizer_;
  torch::Tensor images_ = torch::rand({kBatchSize, 1, 28, 28});
  torch::Tensor labels_ = torch::randint(10, {kBatchSize}, torch::kLong);
};

struct Measured {
  Costs hidden;
  Costs hiddenAgain;
  Costs profiled;
};

template <typename F>
double millis(F step) {
  const double start = nowNanos();
  step();
  return (nowNanos() - start) / 1e6;
}

/// @param share See OpProfilerOptions::maxOverhead.
Measured measure(Training* training, int rounds, double share) {
  const steptape::testing::TempDir directory;
  steptape::SummaryWriter writer(directory.string());
  steptape::OpProfilerOptions options;
  options.writer = &writer;
  options.maxTraceSpans = 0;
  options.maxOverhead = share;
  options.schedule.active = 500;
  steptape::OpProfiler profiler(options);
  Measured measured;
  for (int round = -1; round < rounds; ++round) {  // the first round warms up
    double hidden = 0.0;
    double hiddenAgain = 0.0;
    double profiled = 0.0;
    const auto hiddenStep = [&] {
      const at::DisableRecordFunctionGuard guard;
      training->step();
    };
    for (int i = 0; i < kStepsPerRound; ++i) {
      hidden += millis(hiddenStep);
      hiddenAgain += millis(hiddenStep);
      profiled += millis([&] {
        training->step();
        profiler.step();
      });
    }
    if (round >= 0) {
      measured.hidden.push_back(hidden / kStepsPerRound);
      measured.hiddenAgain.push_back(hiddenAgain / kStepsPerRound);
      measured.profiled.push_back(profiled / kStepsPerRound);
    }
  }
  return measured;
}

void report(const char* title, double atMost, const Measured& measured) {
  benchmark::printTitle(title);
  benchmark::printCosts("no profiler", measured.hidden, "ms");
  benchmark::printCosts("profiler", measured.profiled, "ms");
  benchmark::printControl("none / none", ratio(measured.hiddenAgain, measured.hidden), 0.005);
  benchmark::printAtMost("profiler / none", ratio(measured.profiled, measured.hidden), atMost);
}

}  // namespace

int main(int argc, char** argv) {
  // Otherwise the C library returns memory to the operating system and requests it again within
  // steps, in some layouts of the heap and not in others: hundreds of page faults per step, up to 8
  // % of it.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);

  const int rounds = argc > 1 ? std::atoi(argv[1]) : 21;
  at::set_num_threads(1);
  torch::manual_seed(1);
  Training training(argc > 2 ? argv[2] : "cnn");
  report("Every step recorded: a training step", 1.10, measure(&training, rounds, 1.0));
  // Two of three steps count as time for the profiler, but it could not record them.
  report("At most 1 %: a training step", 1.01, measure(&training, rounds, 0.01 / 3));
}
