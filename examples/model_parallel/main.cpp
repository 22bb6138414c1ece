// SPDX-License-Identifier: Apache-2.0
// Trains a network whose parts are on different devices, for networks that are too large for one
// device. Each rank has a copy of the network, and the ranks average the gradients.
//
//   model_parallel --devices cuda:0,cuda:1 --micro-batches 4
//   model_parallel --devices cpu,cpu                             # runs without a GPU
//   mpiexec -n 2 model_parallel --devices cuda:0,cuda:1,cuda:2,cuda:3 --parts 2
//   tensorboard --logdir runs
//
// If there are more devices than parts, the ranks of a node divide them: the first rank takes the
// first devices.
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <steptape/metrics/straggler_report.h>
#include <steptape/steptape.h>
#include <steptape/torch.h>
#include <steptape/trainer.h>

#include "command_line.h"
#include "image_loader.h"
#include "on_ranks.h"
#include "part.h"

#include <torch/torch.h>

namespace {

using example::World;
using steptape::StepPart;

constexpr std::int64_t kLogEvery = 10;
constexpr std::int64_t kTestBatchSize = 500;
constexpr std::int64_t kSyntheticImages = 4096;

struct Options {
  std::string data = "/usr/share/datasets/fashion-mnist";
  bool synthetic = false;
  std::string devices = "cpu,cpu";
  std::int64_t parts = 0;
  std::int64_t microBatches = 1;
  std::int64_t batchSize = 64;
  double lr = 0.02;
  std::int64_t epochs = 1;
  std::int64_t workers = 0;
  std::int64_t maxSteps = 0;
  std::string logDir = "runs/model_parallel";
};

struct Data {
  steptape::ImageDataset train;
  steptape::ImageDataset test;
};

Data load(const Options& options) {
  if (!options.synthetic) {
    return {steptape::loadMnist(options.data, steptape::Split::kTrain),
            steptape::loadMnist(options.data, steptape::Split::kTest)};
  }
  const auto images = [](std::int64_t count) {
    // The label selects the rows that are bright, so there is something to learn.
    const torch::Tensor labels = torch::arange(count) % 10;
    torch::Tensor pixels = torch::zeros({count, 10, 2, 28});
    pixels.index_put_({torch::arange(count), labels}, 255);
    return steptape::ImageDataset(
        torch::constant_pad_nd(pixels.view({count, 20, 28}), {0, 0, 4, 4}).to(torch::kUInt8),
        labels);
  };
  return {images(kSyntheticImages), images(kSyntheticImages / 4)};
}

using Link = std::vector<torch::nn::AnyModule>;

/// A network for images of 28 x 28 pixels, as a chain that can be divided between any two links.
std::vector<Link> links() {
  using torch::nn::AnyModule;
  const auto convolution = [](std::int64_t in, std::int64_t out) {
    return AnyModule(torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1)));
  };
  const auto relu = [] { return AnyModule(torch::nn::ReLU()); };
  const auto pool = [] { return AnyModule(torch::nn::MaxPool2d(2)); };
  return {
      {convolution(1, 16), relu()},
      {convolution(16, 16), pool(), relu()},
      {convolution(16, 32), relu()},
      {convolution(32, 32), pool(), relu()},
      {AnyModule(torch::nn::Flatten()), AnyModule(torch::nn::Linear(32 * 7 * 7, 128)), relu()},
      {AnyModule(torch::nn::Linear(128, 10)), AnyModule(torch::nn::LogSoftmax(/*dim=*/1))},
  };
}

torch::Device parseDevice(const std::string& name) {
  try {
    const torch::Device device(name);
    const auto found = static_cast<c10::DeviceIndex>(torch::cuda::device_count());
    if (!device.is_cpu() && device.index() >= found) {
      throw example::UsageError("--devices: got '" + name +
                                "'; expected a device of this node, which has " +
                                std::to_string(found) + " CUDA devices");
    }
    return device;
  } catch (const c10::Error&) {
    throw example::UsageError("--devices: got '" + name +
                              "'; expected a device such as cpu or cuda:0");
  }
}

/// The devices of this rank's parts.
std::vector<torch::Device> devicesOfRank(const Options& options, const World& world) {
  const std::vector<std::string> names = example::splitList(options.devices);
  const std::size_t parts =
      options.parts == 0 ? names.size() : static_cast<std::size_t>(options.parts);
  if (names.empty() || names.size() % parts != 0 || parts > links().size()) {
    throw example::UsageError(
        "--devices: got " + std::to_string(names.size()) + " for " + std::to_string(parts) +
        " parts; expected a multiple of the number of parts, which is at most " +
        std::to_string(links().size()));
  }
  const std::size_t first = static_cast<std::size_t>(world->localRank()) * parts % names.size();
  std::vector<torch::Device> devices;
  for (std::size_t i = 0; i < parts; ++i) {
    devices.push_back(parseDevice(names[first + i]));
  }
  return devices;
}

std::vector<Part> makeParts(const Options& options, const World& world) {
  const std::vector<torch::Device> devices = devicesOfRank(options, world);
  torch::manual_seed(1);
  const std::vector<Link> chain = links();
  std::vector<Part> parts;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    torch::nn::Sequential layers;
    const std::size_t end = (i + 1) * chain.size() / devices.size();
    for (std::size_t link = i * chain.size() / devices.size(); link < end; ++link) {
      for (const torch::nn::AnyModule& module : chain[link]) {
        layers->push_back(module);
      }
    }
    parts.emplace_back(layers, devices[i], options.lr, world);
  }
  return parts;
}

std::string describeParts(const std::vector<Part>& parts) {
  std::string table = "| part | device | parameters |\n|--:|---|--:|\n";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    table += "| " + std::to_string(i) + " | " + parts[i].device().str() + " | " +
             std::to_string(parts[i].parameters()) + " |\n";
  }
  return table;
}

/// @return the loss of this rank's batch.
torch::Tensor trainStep(std::vector<Part>& parts, const steptape::Batch& batch,
                        const Options& options, steptape::StragglerReport& straggler) {
  torch::Tensor loss;
  {
    const auto timer = straggler.time(StepPart::kForward);
    const torch::Tensor output = forwardThrough(parts, batch.inputs, options.microBatches);
    loss = torch::nll_loss(output, batch.targets.to(output.device()));
  }
  {
    const auto timer = straggler.time(StepPart::kBackward);
    for (Part& part : parts) {
      part.zeroGradients();
    }
    loss.backward();
  }
  const auto timer = straggler.time(StepPart::kOptimizer);
  for (Part& part : parts) {
    const double before = part.waitSeconds();
    part.step();
    straggler.add(StepPart::kWait, part.waitSeconds() - before);
  }
  return loss.detach();
}

double testAccuracy(std::vector<Part>& parts, steptape::BatchLoader& loader,
                    steptape::Communicator& world) {
  const torch::NoGradGuard noGrad;
  std::int64_t correct = 0;
  std::int64_t count = 0;
  loader.startEpoch(0);
  for (steptape::Batch batch; loader.next(batch); count += batch.size()) {
    const torch::Tensor predicted = forwardThrough(parts, batch.inputs, 1).argmax(1).cpu();
    correct += predicted.eq(batch.targets).sum().item<std::int64_t>();
  }
  return steptape::metricAverage(world, correct, count);
}

void run(const Options& options, const World& world) {
  steptape::setThreads({}, *world);
  const Data data = example::onAllRanks(*world, [&] { return load(options); });
  const auto train = example::imageLoader(data.train, {data.train.size(), *world},
                                          options.batchSize, options.workers);
  steptape::DistributedSamplerOptions inOrder;
  inOrder.shuffle = false;
  inOrder.evenShares = false;
  steptape::ImageLoader test(data.test, {data.test.size(), *world, inOrder}, kTestBatchSize);
  std::vector<Part> parts = makeParts(options, world);

  steptape::DistributedWriter writer(options.logDir, world);
  writer.addTextFromRanks("parts", describeParts(parts), 0);
  steptape::StragglerReportOptions stragglerOptions;
  stragglerOptions.everySteps = kLogEvery;
  stragglerOptions.detailScalars = true;  // scaling_study reads them.
  steptape::StragglerReport straggler(writer, stragglerOptions);
  std::int64_t step = 0;
  for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    train->startEpoch(epoch);
    steptape::Batch batch;
    const auto loadNext = [&] {
      const auto timer = straggler.time(StepPart::kInput);
      return train->next(batch);
    };
    while ((options.maxSteps == 0 || step < options.maxSteps) && loadNext()) {
      const torch::Tensor loss = trainStep(parts, batch, options, straggler);
      straggler.endStep(++step);
      steptape::ReducedOptions weight;
      weight.weight = static_cast<double>(batch.size());
      writer.addReduced("loss/train", loss, step, weight);
      writer.reduce(step);
    }
  }
  straggler.finish();
  const double accuracy = testAccuracy(parts, test, *world);
  writer.addScalar("accuracy/test", accuracy, step);
  writer.close().throwIfError();
  steptape::logFromRoot(*world,
                        describeParts(parts) + "steps " + std::to_string(step) + ", accuracy " +
                            std::to_string(accuracy) + "; tensorboard --logdir " + writer.logDir() +
                            "\n",
                        std::cout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  example::CommandLine line(
      "Trains a network whose parts are on different devices, with a copy on each rank.\n\n"
      "  mpiexec -n 2 model_parallel [options]\n");
  line.add("data", options.data, "DIR", "directory of the four files of MNIST or Fashion-MNIST");
  line.add("synthetic", options.synthetic, "train on generated images, which need no files");
  line.add("devices", options.devices, "LIST", "devices of the parts, such as cuda:0,cuda:1");
  line.add("parts", options.parts, "N", "number of parts of the network; 0: one for each device");
  line.add("micro-batches", options.microBatches, "N", "number of pieces of a batch", 1);
  line.add("batch-size", options.batchSize, "N", "images per step on each rank", 1);
  line.add("lr", options.lr, "X", "learning rate");
  line.add("epochs", options.epochs, "N", "passes over the training images", 1);
  line.add("workers", options.workers, "N",
           "threads that read images, on each rank; 0: none, the training thread reads them");
  line.add("max-steps", options.maxSteps, "N", "stop after N steps; 0: no limit");
  line.add("log-dir", options.logDir, "DIR", "log directory for TensorBoard");
  return example::runOnRanks(argc, argv, line, [&](const World& world) { run(options, world); });
}
