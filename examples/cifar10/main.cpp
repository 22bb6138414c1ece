// SPDX-License-Identifier: Apache-2.0
// Trains ResNet-20 on CIFAR-10 as its paper does, with augmented images and weight decay. The
// learning rate is scaled by the number of ranks, warms up, and falls twice. The program writes
// checkpoints, stops at a time limit, and resumes where the last job ended.
//
//   tools/get_data.sh cifar10
//   mpiexec -n 2 cifar10 --checkpoint-dir checkpoints --log-dir runs/cifar10 --resume
//   tensorboard --logdir runs
//
// 164 epochs take a day on two cores. --synthetic needs no data: with --batch-size 16 --epochs 1
// the network learns those images in a minute. The scripts in ../jobs start this program.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <steptape/steptape.h>
#include <steptape/torch.h>
#include <steptape/trainer.h>

#include "command_line.h"
#include "on_ranks.h"
#include "resnet20.h"
#include "synthetic_images.h"

#include <torch/torch.h>

namespace {

using example::World;

constexpr std::int64_t kTestBatchSize = 500;
constexpr std::int64_t kShownImages = 32;
constexpr std::int64_t kSyntheticImages = 2000;
/// The batch size of the paper, to which --lr refers.
constexpr double kReferenceBatchSize = 128;

struct Options {
  std::string data = "data/cifar-10-batches-bin";
  bool synthetic = false;
  std::int64_t epochs = 164;
  std::int64_t maxSteps = 0;
  double maxSeconds = 0;
  std::int64_t batchSize = 128;
  double lr = 0.1;
  double warmUp = 5;
  double weightDecay = 1e-4;
  std::int64_t seed = 1;
  std::int64_t workers = 2;
  std::int64_t threads = 0;
  std::string logDir = "runs/cifar10";
  std::string checkpointDir;
  std::int64_t checkpointSteps = 0;
  bool resume = false;
  bool detailScalars = false;
  bool verbose = false;
};

struct Data {
  steptape::ImageDataset train;
  steptape::ImageDataset test;
};

Data load(const Options& options) {
  if (options.synthetic) {
    return {syntheticImages(kSyntheticImages, 1), syntheticImages(kSyntheticImages / 4, 2)};
  }
  return {steptape::loadCifar10(options.data, steptape::Split::kTrain),
          steptape::loadCifar10(options.data, steptape::Split::kTest)};
}

steptape::TrainerOptions trainerOptions(const Options& options, int ranks) {
  steptape::LearningRateScheduleOptions rate;
  rate.scale = ranks;
  rate.warmUpEpochs = options.warmUp;
  // As in the paper: after 32,000 and 48,000 of 64,000 steps.
  const auto epochs = static_cast<double>(options.epochs);
  rate.milestones = {epochs / 2, epochs * 3 / 4};

  steptape::TrainerOptions trainer;
  trainer.epochs = options.epochs;
  trainer.maxSteps = options.maxSteps;
  trainer.maxDuration = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::min(options.maxSeconds, 1e9)));
  trainer.learningRate = rate;
  trainer.metrics = {steptape::accuracyMetric()};
  trainer.monitor.metric = "accuracy";
  trainer.monitor.keepBest = !options.checkpointDir.empty();
  trainer.checkpointDirectory = options.checkpointDir;
  trainer.checkpointEverySteps = options.checkpointSteps;
  trainer.resume = options.resume;
  trainer.useDevices = true;
  trainer.detailScalars = options.detailScalars;
  trainer.verbose = options.verbose;
  trainer.configuration = {{"data", options.synthetic ? "synthetic" : options.data},
                           {"batch size per rank", std::to_string(options.batchSize)},
                           {"weight decay", std::to_string(options.weightDecay)}};
  return trainer;
}

/// The learning rate for the batch of one rank, by the linear scaling rule. With a small batch the
/// network diverges at the paper's rate.
double baseRate(const Options& options) {
  return options.lr * static_cast<double>(options.batchSize) / kReferenceBatchSize;
}

/// Returns the checkpoint to resume from, if there is one.
std::optional<steptape::FoundCheckpoint> findCheckpoint(const Options& options,
                                                        const World& world) {
  if (!options.resume) {
    return std::nullopt;
  }
  return steptape::CheckpointStore(options.checkpointDir, world).findNewest();
}

void logImages(steptape::DistributedWriter& writer, steptape::BatchLoader& loader) {
  steptape::Batch batch;
  loader.startEpoch(0);
  if (writer.isEnabled() && loader.next(batch)) {
    const torch::Tensor shown =
        batch.inputs.narrow(0, 0, std::min(kShownImages, batch.inputs.size(0)));
    const torch::Tensor lowest = shown.min();
    writer.addImages("augmented_images", (shown - lowest) / (shown.max() - lowest), 0);
  }
}

void train(const Options& options, const World& world) {
  if (options.resume && options.checkpointDir.empty()) {
    throw example::UsageError("--resume needs --checkpoint-dir");
  }
  steptape::ThreadOptions threads;
  threads.intraOp = static_cast<int>(options.threads);
  steptape::setThreads(threads, *world);
  steptape::keepFreedMemory();
  const Data data = example::onAllRanks(*world, [&] { return load(options); });

  const steptape::Normalization normalization{{0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}};
  steptape::DistributedSamplerOptions shuffled;
  shuffled.seed = static_cast<std::uint64_t>(options.seed);
  const steptape::ImageTransforms augmentation{steptape::RandomCrop{32, 4},
                                               steptape::RandomHorizontalFlip{}};
  steptape::PrefetchLoaderOptions prefetch;
  prefetch.workers = options.workers;
  steptape::PrefetchLoader trainLoader(
      std::make_shared<steptape::DatasetSource>(data.train, augmentation, normalization),
      {data.train.size(), *world, shuffled}, options.batchSize, prefetch);
  steptape::DistributedSamplerOptions inOrder;
  inOrder.shuffle = false;
  inOrder.evenShares = false;
  steptape::ImageLoader testLoader(data.test, {data.test.size(), *world, inOrder}, kTestBatchSize,
                                   normalization);

  torch::manual_seed(static_cast<std::uint64_t>(options.seed));
  const ResNet20 model;
  torch::optim::SGD optimizer(
      model->parameters(),
      torch::optim::SGDOptions(baseRate(options)).momentum(0.9).weight_decay(options.weightDecay));

  const auto checkpoint = findCheckpoint(options, world);
  steptape::DistributedWriterOptions writerOptions;
  if (options.resume) {
    // This job logs again what an earlier one logged after its last checkpoint, or from its start;
    // TensorBoard discards the older points.
    writerOptions.writer.purgeStep = checkpoint ? checkpoint->progress.writerStep + 1 : 0;
  }
  steptape::DistributedWriter writer(options.logDir, world, writerOptions);
  if (!checkpoint) {
    logImages(writer, trainLoader);
    writer.addGraph(model, torch::zeros({1, 3, 32, 32}));  // On every rank; the root traces it.
  }
  steptape::Trainer trainer(model, optimizer, world, writer,
                            trainerOptions(options, world->size()));
  const steptape::TrainingResult result = trainer.fit(trainLoader, testLoader);
  writer.close().throwIfError();
  const std::string best = std::isnan(result.bestValue)
                               ? "no evaluation yet"
                               : "best accuracy " + std::to_string(result.bestValue);
  steptape::logFromRoot(*world,
                        std::string("stopped at step ") + std::to_string(result.step) + " by " +
                            steptape::stopReasonText(result.stoppedBy) + "; " + best +
                            "; tensorboard --logdir " + writer.logDir() + "\n",
                        std::cout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  example::CommandLine line(
      "Trains ResNet-20 on CIFAR-10, on every rank of a job.\n\n"
      "  mpiexec -n 2 cifar10 [options]\n");
  line.add("data", options.data, "DIR", "directory of CIFAR-10's binary files");
  line.add("synthetic", options.synthetic, "train on generated images, which need no files");
  line.add("epochs", options.epochs, "N", "passes over the training images", 1);
  line.add("max-steps", options.maxSteps, "N",
           "stop after N steps since the start of the run; 0: no limit");
  line.add("max-seconds", options.maxSeconds, "X", "stop after X seconds; 0: no limit");
  line.add("batch-size", options.batchSize, "N", "images per step on each rank", 1);
  line.add("lr", options.lr, "X",
           "learning rate for a step of 128 images; scaled by the images per step of all ranks");
  line.add("warm-up", options.warmUp, "X",
           "epochs in which the learning rate rises to its full value");
  line.add("weight-decay", options.weightDecay, "X", "weight decay of all parameters");
  line.add("seed", options.seed, "N", "seed of initial weights, order and augmentation");
  line.add("workers", options.workers, "N",
           "threads that read images, on each rank; 0: none, the training thread reads them");
  line.add("threads", options.threads, "N",
           "LibTorch's threads per rank; 0: this rank's share of the cores");
  line.add("log-dir", options.logDir, "DIR", "log directory for TensorBoard");
  line.add("checkpoint-dir", options.checkpointDir, "DIR",
           "write checkpoints here after every epoch and at the end");
  line.add("checkpoint-steps", options.checkpointSteps, "N",
           "also write checkpoints after every N steps; 0: off");
  line.add("resume", options.resume, "resume from the newest checkpoint, if there is one");
  line.add("detail-scalars", options.detailScalars,
           "also log as curves the tables of the ranks' times, and the seconds of epochs and "
           "checkpoints");
  line.add("verbose", options.verbose, "print from every rank, with its number");
  return example::runOnRanks(argc, argv, line, [&](const World& world) { train(options, world); });
}
