// SPDX-License-Identifier: Apache-2.0
// Trains a network whose parts lie on different devices, for networks that are too large for one;
// and several copies of it, one on each rank, whose gradients are averaged.
//
//   model_parallel --devices cuda:0,cuda:1 --micro-batches 4
//   model_parallel --devices cpu,cpu                             # shows that it works
//   mpiexec -n 2 model_parallel --devices cuda:0,cuda:1,cuda:2,cuda:3 --parts 2
//   tensorboard --logdir runs
//
// With more devices than parts the ranks of a node share them: the first rank takes the first
// devices.
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <steptape/distributed/straggler_report.h>
#include <steptape/mpi.h>
#include <steptape/torch.h>
#include <steptape/trainer.h>

#include "command_line.h"
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
    // Rows are brighter where the label says: something to learn.
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

/// A network for images of 28 x 28 as a chain, which may be cut between any two links.
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
      throw example::UsageError("--devices: got " + name + ", and this node has " +
                                std::to_string(found) + " CUDA devices");
    }
    return device;
  } catch (const c10::Error&) {
    throw example::UsageError("--devices: got '" + name + "', wanted such as cpu or cuda:0");
  }
}

/// The devices of this rank's parts.
std::vector<torch::Device> devicesOfRank(const Options& options, const World& world) {
  const std::vector<std::string> names = example::splitList(options.devices);
  const std::size_t parts =
      options.parts == 0 ? names.size() : static_cast<std::size_t>(options.parts);
  if (names.empty() || names.size() % parts != 0 || parts > links().size()) {
    throw example::UsageError("--devices: got " + std::to_string(names.size()) +
                              ", wanted one or several for each of up to " +
                              std::to_string(links().size()) + " parts");
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
  steptape::ImageLoader train(data.train, {data.train.size(), *world}, options.batchSize);
  steptape::DistributedSamplerOptions inOrder;
  inOrder.shuffle = false;
  inOrder.evenShares = false;
  steptape::ImageLoader test(data.test, {data.test.size(), *world, inOrder}, kTestBatchSize);
  std::vector<Part> parts = makeParts(options, world);

  steptape::DistributedWriter writer(options.logDir, world);
  writer.addTextFromRanks("parts", describeParts(parts), 0);
  steptape::StragglerOptions stragglerOptions;
  stragglerOptions.everySteps = kLogEvery;
  stragglerOptions.detailScalars = true;  // scaling_study reads them.
  steptape::StragglerReport straggler(writer, stragglerOptions);
  std::int64_t step = 0;
  for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    train.startEpoch(epoch);
    steptape::Batch batch;
    const auto loadNext = [&] {
      const auto timer = straggler.time(StepPart::kInput);
      return train.next(batch);
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
      "Trains a network whose parts lie on different devices, a copy on each rank.\n\n"
      "  mpiexec -n 2 model_parallel [options]\n");
  line.add("data", options.data, "DIR", "MNIST's or Fashion-MNIST's four files");
  line.add("synthetic", options.synthetic, "train on generated images, which need no files");
  line.add("devices", options.devices, "LIST", "such as cuda:0,cuda:1");
  line.add("parts", options.parts, "N", "of the network; 0: as many as devices");
  line.add("micro-batches", options.microBatches, "N", "into which a batch is cut", 1);
  line.add("batch-size", options.batchSize, "N", "images per step on each rank", 1);
  line.add("lr", options.lr, "X", "learning rate");
  line.add("epochs", options.epochs, "N", "passes over the training images", 1);
  line.add("max-steps", options.maxSteps, "N", "stop after N steps; 0: no limit");
  line.add("log-dir", options.logDir, "DIR", "where TensorBoard is to look");
  return example::runOnRanks(argc, argv, line, [&](const World& world) { run(options, world); });
}
