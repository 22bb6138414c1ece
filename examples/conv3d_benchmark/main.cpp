// SPDX-License-Identifier: Apache-2.0
// Measures how many three-dimensional images per second CosmoFlow learns from, on all ranks of a
// job.
//
//   mpiexec -n 4 conv3d_benchmark                                      # as MLPerf HPC has it
//   mpiexec -n 4 conv3d_benchmark --image-size 64 --batch-size 4
//   tensorboard --logdir runs
//
// The images are random numbers.
#include "benchmark.h"
#include "command_line.h"
#include "cosmoflow.h"
#include "on_ranks.h"

#include <torch/torch.h>

namespace {

using example::World;

void check(const CosmoFlowOptions& network) {
  const std::int64_t most = 20;
  if (network.layers > most || network.imageSize >> network.layers == 0) {
    throw example::UsageError("--image-size: got " + std::to_string(network.imageSize) +
                              "; expected at least 2 to the power of --layers, " +
                              std::to_string(network.layers) + ", which halve it");
  }
}

void run(const CosmoFlowOptions& network, const example::BenchmarkOptions& options,
         const World& world) {
  check(network);
  const torch::Device device = example::prepareRank(options, world);
  const std::int64_t size = network.imageSize;
  const steptape::Batch batch = {
      torch::randn({options.batchSize, network.inputChannels, size, size, size}).to(device),
      torch::rand({options.batchSize, CosmoFlowImpl::kTargets}).to(device)};

  example::BenchmarkTask task;
  task.model = "cosmoflow";
  task.samples = "images";
  task.settings = {{"image size", std::to_string(size)},
                   {"input channels", std::to_string(network.inputChannels)},
                   {"channels of the first layer", std::to_string(network.channels)},
                   {"layers", std::to_string(network.layers)},
                   {"kernel size", std::to_string(network.kernelSize)}};
  task.network = torch::nn::AnyModule(CosmoFlow(network));
  task.network.ptr()->to(device);
  task.nextBatch = [&] { return batch; };
  task.loss = [](const torch::Tensor& output, const torch::Tensor& targets) {
    return torch::nn::functional::mse_loss(output, targets);
  };
  example::runBenchmark(options, world, std::move(task));
}

}  // namespace

int main(int argc, char** argv) {
  CosmoFlowOptions network;
  example::BenchmarkOptions options;
  options.batchSize = 1;
  options.logDir = "runs/conv3d_benchmark";
  example::CommandLine line(
      "Measures the training of a network with 3-D convolutions on all ranks of a job.\n\n"
      "  mpiexec -n 4 conv3d_benchmark [options]\n");
  line.add("image-size", network.imageSize, "N", "depth, height and width", 1);
  line.add("input-channels", network.inputChannels, "N", "channels of the images", 1);
  line.add("channels", network.channels, "N", "channels of the first layer; the next ones double",
           1);
  line.add("layers", network.layers, "N", "convolutions", 1);
  line.add("kernel-size", network.kernelSize, "N", "depth, height and width of a kernel", 1);
  example::addOptions(line, options, "images");
  return example::runOnRanks(argc, argv, line,
                             [&](const World& world) { run(network, options, world); });
}
