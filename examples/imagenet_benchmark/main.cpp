// SPDX-License-Identifier: Apache-2.0
// Measures how many images per second AlexNet or ResNet-50 learns from, on all ranks of a job, as
// the synthetic benchmarks of other frameworks do. The training loop, in common/benchmark.cpp, uses
// the parts of Steptape, without Trainer.
//
//   mpiexec -n 4 imagenet_benchmark --model resnet50 --batch-size 32
//   mpiexec -n 4 imagenet_benchmark --model alexnet --batch-size 128
//   mpiexec -n 4 imagenet_benchmark --data imagenet/train --workers 4    # class/name.jpg
//   tensorboard --logdir runs
//
// With --data, `straggler/input` shows the time for reading.
#include <string>

#include "alexnet.h"
#include "benchmark.h"
#include "command_line.h"
#include "input.h"
#include "on_ranks.h"
#include "options.h"
#include "resnet.h"

#include <torch/torch.h>

namespace {

using example::World;

torch::nn::AnyModule makeModel(const std::string& name) {
  if (name == "alexnet") {
    return torch::nn::AnyModule(AlexNet(kClasses));
  }
  if (name == "resnet50") {
    return torch::nn::AnyModule(example::ResNet(example::resnet50(kClasses)));
  }
  throw example::UsageError("--model: got '" + name + "'; expected alexnet or resnet50");
}

void run(const Options& options, const World& world) {
  const torch::Device device = example::prepareRank(options.benchmark, world);
  example::BenchmarkTask task;
  task.model = options.model;
  task.samples = "images";
  task.settings = {{"image size", std::to_string(options.imageSize)},
                   {"data", options.data.empty() ? "synthetic" : options.data}};
  task.network = makeModel(options.model);
  task.network.ptr()->to(device);
  Input input(options, *world, device);
  task.nextBatch = [&] { return input.next(); };
  task.loss = [](const torch::Tensor& output, const torch::Tensor& targets) {
    return torch::nn::functional::cross_entropy(output, targets);
  };
  example::runBenchmark(options.benchmark, world, std::move(task));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.benchmark.logDir = "runs/imagenet_benchmark";
  example::CommandLine line(
      "Measures the training of networks for ImageNet on all ranks of a job.\n\n"
      "  mpiexec -n 4 imagenet_benchmark [options]\n");
  line.add("model", options.model, "NAME", "alexnet or resnet50");
  line.add("image-size", options.imageSize, "N",
           "height and width in pixels; at least 63 for alexnet", 32);
  line.add("data", options.data, "DIR", "folder with class/name.jpg; empty: random images");
  line.add("workers", options.workers, "N",
           "threads that read images, on each rank; 0: none, the training thread reads them");
  example::addOptions(line, options.benchmark, "images");
  return example::runOnRanks(argc, argv, line, [&](const World& world) { run(options, world); });
}
