// SPDX-License-Identifier: Apache-2.0
// Trains a small network on real images, on every rank of a job, and logs it. Copy it to start
// from.
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <steptape/mpi.h>
#include <steptape/steptape.h>
#include <steptape/torch.h>
#include <steptape/trainer.h>

#include "evaluation.h"
#include "network.h"
#include "options.h"
#include "report.h"

#include <torch/torch.h>

namespace {

using World = std::shared_ptr<steptape::Communicator>;

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;
constexpr std::int64_t kTestBatchSize = 1000;
constexpr std::int64_t kShownImages = 64;
constexpr std::int64_t kProfiledSteps = 20;

struct Data {
  steptape::ImageDataset train;
  steptape::ImageDataset test;
};

/// The data set, or nothing on every rank if one of them cannot read it; the root says why.
std::optional<Data> loadOnAllRanks(const std::string& directory, steptape::Communicator& world) {
  std::optional<Data> data;
  std::string problem;
  try {
    data = Data{steptape::loadMnist(directory, steptape::Split::kTrain),
                steptape::loadMnist(directory, steptape::Split::kTest)};
  } catch (const steptape::Error& error) {
    problem = error.what();
  }
  for (const std::string& ofRank : world.allgather(problem)) {
    if (!ofRank.empty()) {
      steptape::logFromRoot(world, "fashion_mnist: " + ofRank + "\n", std::cerr);
      return std::nullopt;
    }
  }
  return data;
}

steptape::TrainerOptions trainerOptions(const Options& options) {
  steptape::TrainerOptions trainer;
  trainer.epochs = options.epochs;
  trainer.maxSteps = options.maxSteps;
  trainer.scaleLearningRate = true;
  trainer.checkpointDirectory = options.checkpointDir;
  trainer.resume = options.resume;
  trainer.progress = options.progress;
  trainer.histograms = options.log;
  trainer.profiledSteps = options.log ? kProfiledSteps : 0;
  return trainer;
}

steptape::DistributedWriter openWriter(const Options& options, const World& world) {
  steptape::DistributedWriterOptions writer;
  writer.writer.enabled = options.log;
  const std::string checkpoint = steptape::checkpointPath(options.checkpointDir);
  if (options.resume && steptape::checkpointExists(checkpoint, *world)) {
    // What the earlier run logged after its checkpoint is logged again, so TensorBoard forgets it.
    writer.writer.purgeStep = steptape::readCheckpointProgress(checkpoint, *world).step + 1;
  }
  return {options.logDir.empty() ? defaultLogDir() : options.logDir, world, writer};
}

/// What does not change during the run: its configuration, and the images it is judged by.
void logSetup(steptape::DistributedWriter& writer, const Options& options,
              const steptape::ImageDataset& test, steptape::Communicator& world) {
  steptape::DescriptionRows rows = steptape::describeRun(world);
  appendOptions(options, rows);
  writer.addText("configuration", steptape::markdownTable(rows), 0);
  writer.addImages("test_images", test.images().narrow(0, 0, std::min(kShownImages, test.size())),
                   0);
}

int run(const Options& options, const World& world) {
  steptape::ThreadOptions threads;
  threads.intraOp = options.threads;
  steptape::setThreads(threads, *world);
  steptape::keepFreedMemory();
  const std::optional<Data> data = loadOnAllRanks(options.data, *world);
  if (!data) {
    return kExitFailure;
  }

  // The same weights everywhere, then random numbers of its own for each rank's dropout.
  torch::manual_seed(options.seed);
  Network model;
  torch::manual_seed(options.seed + static_cast<std::uint64_t>(world->rank()));
  torch::optim::SGD optimizer(model->parameters(),
                              torch::optim::SGDOptions(options.lr).momentum(options.momentum));

  steptape::DistributedSamplerOptions shuffled;
  shuffled.seed = options.seed;
  steptape::ImageLoader train(data->train,
                              steptape::DistributedSampler(data->train.size(), *world, shuffled),
                              options.batchSize);
  steptape::DistributedSamplerOptions everyImageOnce;
  everyImageOnce.shuffle = false;
  everyImageOnce.evenShares = false;
  steptape::ImageLoader test(
      data->test, steptape::DistributedSampler(data->test.size(), *world, everyImageOnce),
      kTestBatchSize);

  steptape::DistributedWriter writer = openWriter(options, world);
  logSetup(writer, options, data->test, *world);
  writer.addGraph(model, torch::zeros({1, 1, 28, 28}));
  steptape::Trainer trainer(model, optimizer, world, writer, trainerOptions(options));
  const steptape::TrainingResult result = trainer.fit(train, test);
  logEvaluation(writer, model, data->test, result.step);
  logHyperparameters(writer, options, world->size(), result);

  writer.close().throwIfError();
  if (world->isRoot() && options.log) {
    writer.exportScalarsToJson(writer.logDir() + "/scalars.json").throwIfError();
  }
  if (options.json) {
    const std::string logDir = options.log ? writer.logDir() : "";
    steptape::logFromRoot(*world, resultJson(result, world->size(), logDir) + "\n", std::cout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  steptape::mpi::Environment mpi(argc, argv);
  const World world = steptape::mpi::world();
  try {
    const Options options = parseOptions(argc, argv);
    if (options.help) {
      steptape::logFromRoot(*world, usage(), std::cout);
      return 0;
    }
    return run(options, world);
  } catch (const UsageError& error) {
    // All ranks have the same command line and come here together.
    steptape::logFromRoot(*world, std::string("fashion_mnist: ") + error.what() + "; see --help\n",
                          std::cerr);
    return kExitUsage;
  } catch (const std::exception& error) {
    // Thrown on, so that the environment ends ranks that wait for this one.
    steptape::logFromRank(*world, error.what(), std::cerr);
    throw;
  }
}
