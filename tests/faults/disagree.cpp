// SPDX-License-Identifier: Apache-2.0
// `fault_program disagree`: a job whose last rank trains differently from the others, in each
// possible way, one after the other. For each, every rank prints "<way>: <its error>";
// disagreement_test.cpp checks the lines. The ranks stay in step after an error on which all agree.
// With an argument, the root has a callback that waits for the others.

#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <steptape/mpi.h>

#include "faults/fault_program.h"
#include "faults/mpi_world.h"
#include "faults/small_job.h"

namespace steptape::test {
namespace {

/// The components of a rank's training.
struct Setup {
  TrainerOptions options;
  std::int64_t hidden = 3;
  std::int64_t images = 80;
  std::int64_t batchSize = 2;
  std::uint64_t seed = 0;
  double rate = 0.1;
  bool usesAdam = false;
};

using Change = std::function<void(Setup&)>;

std::vector<std::pair<std::string, Change>> changes() {
  return {
      {"model", [](Setup& setup) { setup.hidden = 5; }},
      {"data", [](Setup& setup) { setup.images = 60; }},
      {"batch size", [](Setup& setup) { setup.batchSize = 5; }},
      {"seed", [](Setup& setup) { setup.seed = 7; }},
      {"steps", [](Setup& setup) { setup.options.maxSteps = 8; }},
      {"schedule",
       [](Setup& setup) {
         setup.options.learningRate->milestones = {2, 3};
       }},
      {"clipping", [](Setup& setup) { setup.options.gradientSync.maxNorm = 1; }},
      {"bucket", [](Setup& setup) { setup.options.gradientSync.bucketBytes = 1024; }},
      {"checkpoints", [](Setup& setup) { setup.options.checkpointEverySteps = 5; }},
      {"monitor", [](Setup& setup) { setup.options.monitor.metric = "no such metric"; }},
      {"rate", [](Setup& setup) { setup.rate = 0.2; }},
      {"optimizer", [](Setup& setup) { setup.usesAdam = true; }},
  };
}

void fit(const World& world, const Setup& setup) {
  const auto net = std::make_shared<SmallNet>(setup.hidden);
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  if (setup.usesAdam) {
    optimizer = std::make_unique<torch::optim::Adam>(net->parameters(), setup.rate);
  } else {
    optimizer = std::make_unique<torch::optim::SGD>(net->parameters(), momentumOptions(setup.rate));
  }
  DistributedWriterOptions silent;
  silent.writer.enabled = false;
  DistributedWriter writer("run", world, silent);
  ImageLoader train = loader(*world, setup.images, setup.batchSize, setup.seed);
  ImageLoader test = testLoader(*world);
  Trainer(net, *optimizer, world, writer, setup.options).fit(train, test);
}

Setup setupOfAll() {
  Setup setup;
  setup.options.maxSteps = 2;
  setup.options.learningRate = LearningRateScheduleOptions();
  setup.options.learningRate->milestones = {1, 3};
  setup.options.progress = ProgressStyle::kNone;
  return setup;
}

void disagreeInEachWay(const World& world) {
  for (const auto& [way, change] : changes()) {
    Setup setup = setupOfAll();
    if (world->rank() == world->size() - 1) {
      change(setup);
    }
    try {
      fit(world, setup);
      logFromRank(*world, way + ": no error", std::cout);
    } catch (const Error& error) {
      logFromRank(*world, way + ": " + error.what(), std::cout);
    }
  }
}

/// Callbacks, and with them a rank's own work, may differ; the collective work may not.
void disagreeInCallbacks(const World& world) {
  const auto net = std::make_shared<SmallNet>();
  torch::optim::SGD optimizer(net->parameters(), momentumOptions());
  DistributedWriterOptions silent;
  silent.writer.enabled = false;
  DistributedWriter writer("run", world, silent);
  ImageLoader train = loader(*world);
  ImageLoader test = testLoader(*world);
  Trainer trainer(net, optimizer, world, writer, setupOfAll().options);
  if (world->isRoot()) {
    trainer.on(TrainerEvent::kAfterBatch, [](TrainingContext& context) {
      CollectiveOptions options;
      options.name = "of a callback";
      context.world.setTimeout(std::chrono::milliseconds(1500));
      context.world.barrier(options);
    });
  }
  trainer.fit(train, test);
}

}  // namespace

void disagree(int argc, char** argv) {
  const Environment environment(argc, argv);
  try {
    const auto world = makeWorld(0);
    if (argc > 1) {
      disagreeInCallbacks(world);
    } else {
      disagreeInEachWay(world);
    }
  } catch (const std::exception& error) {
    environment.abort(error.what());
  }
}

}  // namespace steptape::test
