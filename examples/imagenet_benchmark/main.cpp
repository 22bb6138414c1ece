// SPDX-License-Identifier: Apache-2.0
// Measures how many images per second AlexNet or ResNet-50 learns from, on all ranks of a job, as
// the synthetic benchmarks of other frameworks do. The training loop uses the parts of Steptape,
// without Trainer.
//
//   mpiexec -n 4 imagenet_benchmark --model resnet50 --batch-size 32
//   mpiexec -n 4 imagenet_benchmark --data imagenet/train --workers 4    # class/name.jpg
//   tensorboard --logdir runs
//
// An iteration is a number of steps that are timed together. The result is the mean and the
// standard deviation over the iterations. With --data, `straggler/input` shows the time for
// reading.
#include <chrono>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include <steptape/base/json.h>
#include <steptape/distributed/straggler_report.h>
#include <steptape/mpi.h>
#include <steptape/torch.h>
#include <steptape/trainer.h>

#include "alexnet.h"
#include "command_line.h"
#include "input.h"
#include "on_ranks.h"
#include "options.h"
#include "resnet50.h"

#include <torch/torch.h>

namespace {

using example::World;
using steptape::StepPart;

torch::nn::AnyModule makeModel(const std::string& name) {
  if (name == "alexnet") {
    return torch::nn::AnyModule(AlexNet(kClasses));
  }
  if (name == "resnet50") {
    return torch::nn::AnyModule(ResNet50(kClasses));
  }
  throw example::UsageError("--model: got '" + name + "'; expected alexnet or resnet50");
}

/// Runs forward, backward, exchange and update, and times each of them.
class TrainingStep {
 public:
  TrainingStep(torch::nn::AnyModule model, const World& world, const Options& options)
      : model_(std::move(model)),
        optimizer_(model_.ptr()->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9)),
        sync_(model_.ptr()->named_parameters(), world, syncOptions(options)) {
    steptape::broadcastParameters(*model_.ptr(), *world);
  }

  /// @return the loss of this rank's batch.
  torch::Tensor run(Input& input, steptape::StragglerReport& straggler, std::int64_t step) {
    steptape::Batch batch;
    {
      const auto timer = straggler.time(StepPart::kInput);
      batch = input.next();
    }
    torch::Tensor loss;
    {
      const auto timer = straggler.time(StepPart::kForward);
      loss = torch::nn::functional::cross_entropy(model_.forward(batch.inputs), batch.targets);
    }
    {
      const auto timer = straggler.time(StepPart::kBackward);
      optimizer_.zero_grad();
      loss.backward();
      countWaiting(straggler);  // For buckets that were exchanged during backward().
    }
    {
      const auto timer = straggler.time(StepPart::kOptimizer);
      sync_.step(optimizer_);
      countWaiting(straggler);
    }
    straggler.endStep(step);
    return loss.detach();
  }

  std::string describe() const { return sync_.describe(); }

 private:
  static steptape::GradientSyncOptions syncOptions(const Options& options) {
    steptape::GradientSyncOptions sync;
    if (options.fp16Allreduce) {
      sync.compression = steptape::Compression::kFp16;
    }
    return sync;
  }

  void countWaiting(steptape::StragglerReport& straggler) {
    const double waited = sync_.stats().waitSeconds;
    straggler.add(StepPart::kWait, waited - waited_);
    waited_ = waited;
  }

  torch::nn::AnyModule model_;
  torch::optim::SGD optimizer_;
  steptape::GradientSync sync_;
  double waited_ = 0;
};

struct MeanAndStd {
  double mean = 0;
  double std = 0;
};

MeanAndStd meanAndStd(const std::vector<double>& values) {
  MeanAndStd result;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) {
    result.mean += value / count;
  }
  for (const double value : values) {
    result.std += (value - result.mean) * (value - result.mean) / count;
  }
  result.std = std::sqrt(result.std);
  return result;
}

/// Runs one iteration. Returns the seconds that this rank needed.
double timeIteration(TrainingStep& training, Input& input, steptape::StragglerReport& straggler,
                     const Options& options, std::int64_t firstStep, torch::Tensor& loss) {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < options.steps; ++i) {
    loss = training.run(input, straggler, firstStep + i);
  }
  if (loss.is_cuda()) {
    torch::cuda::synchronize();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string resultText(const Options& options, const World& world, std::int64_t parameters,
                       const MeanAndStd& perRank, const MeanAndStd& total) {
  if (!options.json) {
    const auto text = [](const MeanAndStd& rate) {
      return std::to_string(rate.mean) + " +- " + std::to_string(rate.std) + "\n";
    };
    return "images per second on each rank:  " + text(perRank) + "on all ranks:  " + text(total);
  }
  std::string json = "{\"model\":\"" + options.model +
                     "\",\"ranks\":" + std::to_string(world->size()) +
                     ",\"parameters\":" + std::to_string(parameters);
  const auto append = [&json](const char* name, double value) {
    json += std::string(",\"") + name + "\":";
    steptape::appendJsonNumber(&json, value);
  };
  append("images_per_second_per_rank", perRank.mean);
  append("images_per_second_per_rank_std", perRank.std);
  append("images_per_second", total.mean);
  append("images_per_second_std", total.std);
  return json + "}\n";
}

void run(const Options& options, const World& world) {
  steptape::ThreadOptions threads;
  threads.intraOp = static_cast<int>(options.threads);
  steptape::setThreads(threads, *world);
  steptape::keepFreedMemory();
  const torch::Device device = steptape::deviceForLocalRank(*world);
  torch::nn::AnyModule model = makeModel(options.model);
  model.ptr()->to(device);
  std::int64_t parameters = 0;
  for (const torch::Tensor& parameter : model.ptr()->parameters()) {
    parameters += parameter.numel();
  }
  Input input(options, *world, device);

  steptape::DistributedWriter writer(options.logDir, world);
  TrainingStep training(std::move(model), world, options);
  steptape::DescriptionRows rows = steptape::describeRun(*world);
  rows.emplace_back("model", options.model);
  rows.emplace_back("parameters", std::to_string(parameters));
  rows.emplace_back("batch size per rank", std::to_string(options.batchSize));
  rows.emplace_back("image size", std::to_string(options.imageSize));
  rows.emplace_back("data", options.data.empty() ? "synthetic" : options.data);
  rows.emplace_back("gradients", training.describe());
  writer.addText("configuration", steptape::markdownTable(rows), 0);

  {
    steptape::StragglerReport untimed(writer, {options.warmup + 1});
    for (std::int64_t i = 0; i < options.warmup; ++i) {
      training.run(input, untimed, i);
    }
  }
  steptape::StragglerOptions stragglerOptions;
  stragglerOptions.everySteps = options.steps;
  stragglerOptions.detailScalars = true;  // scaling_study reads them.
  steptape::StragglerReport straggler(writer, stragglerOptions);
  std::vector<double> perRank;
  std::vector<double> total;
  for (std::int64_t i = 1; i <= options.iterations; ++i) {
    torch::Tensor loss;
    const double seconds =
        timeIteration(training, input, straggler, options, (i - 1) * options.steps + 1, loss);
    const std::int64_t step = i * options.steps;
    double rate[] = {static_cast<double>(options.batchSize * options.steps) / seconds};
    steptape::ReducedOptions spread;
    spread.min = spread.max = true;
    writer.addReduced("images_per_second_per_rank", rate[0], step, spread);
    writer.addReduced("loss", loss, step);
    writer.reduce(step);
    world->allreduce(rate, steptape::ReduceOp::kSum);
    writer.addScalar("images_per_second", rate[0], step);
    total.push_back(rate[0]);
    perRank.push_back(rate[0] / world->size());
    if (!options.json) {
      steptape::logFromRoot(*world,
                            "iteration " + std::to_string(i) + ": " +
                                std::to_string(perRank.back()) +
                                " images per second on each rank\n",
                            std::cout);
    }
  }
  straggler.finish();
  writer.close().throwIfError();
  steptape::logFromRoot(
      *world, resultText(options, world, parameters, meanAndStd(perRank), meanAndStd(total)),
      std::cout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  example::CommandLine line(
      "Measures the training of networks for ImageNet on all ranks of an MPI job.\n\n"
      "  mpiexec -n 4 imagenet_benchmark [options]\n");
  line.add("model", options.model, "NAME", "alexnet or resnet50");
  line.add("batch-size", options.batchSize, "N", "images per step on each rank", 1);
  line.add("image-size", options.imageSize, "N",
           "height and width in pixels; at least 63 for alexnet", 32);
  line.add("warmup", options.warmup, "N", "steps before the measurement");
  line.add("iterations", options.iterations, "N", "number of measurements", 1);
  line.add("steps", options.steps, "N", "steps per iteration", 1);
  line.add("fp16-allreduce", options.fp16Allreduce, "send gradients as float16");
  line.add("data", options.data, "DIR", "folder with class/name.jpg; empty: random images");
  line.add("workers", options.workers, "N",
           "threads that read images, on each rank; 0: none, the training thread reads them");
  line.add("threads", options.threads, "N",
           "LibTorch's threads per rank; 0: this rank's share of the cores");
  line.add("log-dir", options.logDir, "DIR", "log directory for TensorBoard");
  line.add("json", options.json, "print the result as one line of JSON");
  return example::runOnRanks(argc, argv, line, [&](const World& world) { run(options, world); });
}
