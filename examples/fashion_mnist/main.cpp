// SPDX-License-Identifier: Apache-2.0
// Trains a small network on real images, on every rank of a job, and logs the training. Copy it as
// a starting point.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <steptape/environment.h>
#include <steptape/steptape.h>
#include <steptape/torch.h>
#include <steptape/trainer.h>

#if defined(FASHION_MNIST_WITH_FIGURES)
#include <steptape/profile_figure.h>
#endif

#include "evaluation.h"
#include "image_loader.h"
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
constexpr std::int64_t kProfiledSteps = 3;

struct Data {
  steptape::ImageDataset train;
  steptape::ImageDataset test;
};

/// Loads the data set. Returns nothing on every rank if one of them cannot read it; the root prints
/// the reason.
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
  trainer.maxDuration = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::min(options.maxSeconds, 1e9)));
  trainer.scaleLearningRate = true;
  trainer.gradientSync.accumulationSteps = options.accumulate;
  trainer.gradientSync.maxNorm = options.clip;
  trainer.gradientSync.compression = options.compression;
  trainer.metrics = {steptape::accuracyMetric()};
  trainer.evaluateEverySteps = options.evaluateSteps;
  trainer.monitor.metric = options.patience > 0 ? "accuracy" : "";
  trainer.monitor.patience = options.patience;
  trainer.checkpointDirectory = options.checkpointDir;
  trainer.checkpointEverySteps = options.checkpointSteps;
  trainer.resume = options.resume;
  trainer.progress = options.progress;
  trainer.verbose = options.verbose;
  trainer.logConfiguration = options.log;
  trainer.configuration = describeOptions(options);
  trainer.histograms = options.log;
  trainer.detailScalars = options.detailScalars;
  if (options.machineSeconds > 0) {
    trainer.machineMetrics.emplace().period =
        std::chrono::milliseconds(std::llround(1000 * std::min(options.machineSeconds, 1e9)));
  }
  trainer.profiledSteps = options.log ? kProfiledSteps : 0;
  trainer.profilingShare = options.profilingShare;
  if (options.log) {
    trainer.profileTrigger.signal = SIGUSR2;
    trainer.profileTrigger.file = options.profileFile;
  }
  return trainer;
}

/// Logs what a profile shows besides its tables: the time of each layer on the model's graph, and
/// figures.
void logProfile(const steptape::event::Graph& graph, const steptape::Trace& trace,
                steptape::SummaryWriter* writer, std::int64_t step) {
  if (writer != nullptr) {
    steptape::writeGraphProfile(*writer, graph, trace, step);
  }
#if defined(FASHION_MNIST_WITH_FIGURES)
  steptape::drawProfile(trace, writer, step);
#endif
}

/// Returns the progress of the run from which this one resumes; nothing if it starts from scratch.
std::optional<steptape::TrainingProgress> findProgress(const Options& options, const World& world) {
  if (options.resume) {
    if (const auto found = steptape::CheckpointStore(options.checkpointDir, world).findNewest()) {
      return found->progress;
    }
  }
  return std::nullopt;
}

steptape::DistributedWriter openWriter(const Options& options, const World& world,
                                       const std::optional<steptape::TrainingProgress>& resumed) {
  steptape::DistributedWriterOptions writer;
  writer.writer.enabled = options.log;
  if (options.resume) {
    // This run logs again what an earlier one logged after its last checkpoint, or from its start;
    // TensorBoard discards the older points.
    writer.writer.purgeStep = resumed ? resumed->writerStep + 1 : 0;
  }
  return {options.logDir.empty() ? defaultLogDir() : options.logDir, world, writer};
}

/// Logs the images on which the network is evaluated, once per run, and its graph.
steptape::event::Graph logSetup(steptape::DistributedWriter& writer,
                                const std::shared_ptr<Classifier>& model,
                                const steptape::ImageDataset& test, bool isResumed) {
  if (!writer.isEnabled()) {
    return {};
  }
  if (!isResumed) {
    writer.addImages("test_images", test.images().narrow(0, 0, std::min(kShownImages, test.size())),
                     0);
  }
  steptape::event::Graph graph = steptape::modelGraph(model, torch::zeros({1, 1, 28, 28}));
  writer.addGraph(graph);
  return graph;
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

  // The same weights on all ranks, then different random numbers for the dropout of each rank.
  torch::manual_seed(options.seed);
  const std::shared_ptr<Classifier> model = makeClassifier(options.model);
  steptape::seedRank(options.seed, *world);
  torch::optim::SGD optimizer(model->parameters(),
                              torch::optim::SGDOptions(options.lr).momentum(options.momentum));

  steptape::DistributedSamplerOptions shuffled;
  shuffled.seed = options.seed;
  const auto train = example::imageLoader(
      data->train, steptape::DistributedSampler(data->train.size(), *world, shuffled),
      options.batchSize, options.workers);
  steptape::DistributedSamplerOptions everyImageOnce;
  everyImageOnce.shuffle = false;
  everyImageOnce.evenShares = false;
  steptape::ImageLoader test(
      data->test, steptape::DistributedSampler(data->test.size(), *world, everyImageOnce),
      kTestBatchSize);

  const std::optional<steptape::TrainingProgress> resumed = findProgress(options, world);
  steptape::DistributedWriter writer = openWriter(options, world, resumed);
  const steptape::event::Graph graph = logSetup(writer, model, data->test, resumed.has_value());
  steptape::TrainerOptions configured = trainerOptions(options);
  configured.onTrace = [graph](const steptape::Trace& trace, steptape::SummaryWriter* ofProfile,
                               std::int64_t step) { logProfile(graph, trace, ofProfile, step); };
  steptape::Trainer trainer(model, optimizer, world, writer, configured);
  const steptape::TrainingResult result = trainer.fit(*train, test);
  const bool isTrained = result.step > (resumed ? resumed->step : 0);
  // After a signal there is no time left; without a new step the values are in the log already.
  if (isTrained && result.stoppedBy != steptape::StopReason::kSignal) {
    logEvaluation(writer, *model, data->test, result.step);
    logHyperparameters(writer, options, world->size(), result);
  }

  writer.close().throwIfError();
  if (world->isRoot() && options.log) {
    // Next to the run's directory: HolisticTraceAnalysis treats every .json file in it as a trace.
    writer.exportScalarsToJson(writer.logDir() + ".json").throwIfError();
  }
  if (options.json) {
    const std::string logDir = options.log ? writer.logDir() : "";
    const std::string json = resultJson(result, world->size(), logDir, parametersChecksum(*model));
    steptape::logFromRoot(*world, json + "\n", std::cout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  steptape::Environment environment(argc, argv);  // Of mpiexec, torchrun, srun, or none.
  const World world = steptape::world();
  try {
    const Options options = parseOptions(argc, argv);
    if (options.help) {
      steptape::logFromRoot(*world, usage(), std::cout);
      return 0;
    }
    if (!options.json) {
      steptape::logFromRoot(*world, environment.describe() + "\n", std::cout);
    }
    return run(options, world);
  } catch (const UsageError& error) {
    // All ranks have the same command line, so all of them get here.
    steptape::logFromRoot(*world, std::string("fashion_mnist: ") + error.what() + "; see --help\n",
                          std::cerr);
    return kExitUsage;
  } catch (const std::exception& error) {
    environment.abort(error.what());  // Ends the ranks that wait for this one.
  }
} catch (const std::exception& error) {
  std::cerr << "fashion_mnist: " << error.what() << std::endl;  // The ranks did not meet.
  return kExitFailure;
}
