// SPDX-License-Identifier: Apache-2.0
// Measures how many sequences per second an LSTM learns from, on all ranks of a job.
//
//   mpiexec -n 4 lstm_benchmark --hidden-size 1024 --batch-size 64
//   tensorboard --logdir runs
//
// The sequences are random numbers. The defaults are a size from the LSTM training set of
// DeepBench: 512 hidden units, 25 time steps, 16 sequences. Others of its sizes, as hidden units,
// time steps and batch size: 1024, 25, 64; 1536, 50, 32; 256, 150, 16.
//
// @source code/kernels/rnn_problems.h of github.com/baidu-research/DeepBench.
#include "benchmark.h"
#include "command_line.h"
#include "on_ranks.h"

#include <torch/torch.h>

namespace {

using example::World;

struct Options {
  example::BenchmarkOptions benchmark;
  std::int64_t inputSize = 512;
  std::int64_t hiddenSize = 512;
  std::int64_t layers = 1;
  std::int64_t timeSteps = 25;
  std::int64_t classes = 10;
};

/// Classifies sequences by the last output of an LSTM.
///
///     (n, time steps, inputs) -> (n, classes)
struct ClassifierImpl : torch::nn::Module {
  explicit ClassifierImpl(const Options& options)
      : lstm(register_module(
            "lstm", torch::nn::LSTM(torch::nn::LSTMOptions(options.inputSize, options.hiddenSize)
                                        .num_layers(options.layers)
                                        .batch_first(true)))),
        linear(register_module("linear", torch::nn::Linear(options.hiddenSize, options.classes))) {}

  torch::Tensor forward(const torch::Tensor& sequences) {
    const torch::Tensor outputs = std::get<0>(lstm->forward(sequences));
    return linear->forward(outputs.select(1, -1));
  }

  torch::nn::LSTM lstm;
  torch::nn::Linear linear;
};
TORCH_MODULE(Classifier);

void run(const Options& options, const World& world) {
  const torch::Device device = example::prepareRank(options.benchmark, world);
  const std::int64_t n = options.benchmark.batchSize;
  const steptape::Batch batch = {torch::randn({n, options.timeSteps, options.inputSize}).to(device),
                                 torch::randint(options.classes, {n}, torch::kLong).to(device)};

  example::BenchmarkTask task;
  task.model = "lstm";
  task.samples = "sequences";
  task.settings = {{"input size", std::to_string(options.inputSize)},
                   {"hidden size", std::to_string(options.hiddenSize)},
                   {"layers", std::to_string(options.layers)},
                   {"time steps", std::to_string(options.timeSteps)}};
  task.network = torch::nn::AnyModule(Classifier(options));
  task.network.ptr()->to(device);
  task.nextBatch = [&] { return batch; };
  task.loss = [](const torch::Tensor& output, const torch::Tensor& targets) {
    return torch::nn::functional::cross_entropy(output, targets);
  };
  example::runBenchmark(options.benchmark, world, std::move(task));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.benchmark.batchSize = 16;
  options.benchmark.logDir = "runs/lstm_benchmark";
  example::CommandLine line(
      "Measures the training of an LSTM on all ranks of a job.\n\n"
      "  mpiexec -n 4 lstm_benchmark [options]\n");
  line.add("input-size", options.inputSize, "N", "numbers per time step", 1);
  line.add("hidden-size", options.hiddenSize, "N", "hidden units of each layer", 1);
  line.add("layers", options.layers, "N", "layers of the LSTM", 1);
  line.add("time-steps", options.timeSteps, "N", "time steps of a sequence", 1);
  line.add("classes", options.classes, "N", "classes of the sequences", 1);
  example::addOptions(line, options.benchmark, "sequences");
  return example::runOnRanks(argc, argv, line, [&](const World& world) { run(options, world); });
}
