// SPDX-License-Identifier: Apache-2.0
// `fault_program outlive`: a job whose training objects outlive MPI: mpi=foreign, if the program
// initializes and finalizes MPI itself, or mpi=own. `memory` and `dir` as for `train`. With
// use=yes, each rank then prints which calls fail, and "rank <r> is done" in any case.
// outliving_test.cpp starts it.

#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <steptape/mpi.h>

#include "faults/arguments.h"
#include "faults/fault_program.h"
#include "faults/mpi_world.h"
#include "faults/small_job.h"

namespace steptape::test {
namespace {

DistributedWriterOptions withoutWaiting() {
  DistributedWriterOptions options;
  options.reduceMode = ReduceMode::kNonBlocking;
  return options;
}

TrainerOptions twoSteps() {
  TrainerOptions options;
  options.maxSteps = 2;
  options.progress = ProgressStyle::kNone;
  return options;
}

GradientSyncOptions syncOptions(const Arguments& arguments) {
  GradientSyncOptions options;
  options.useSharedMemory = arguments.text("memory") != "messages";
  return options;
}

/// The objects of a training program after one step, with a reduction in flight.
struct Survivors {
  Survivors(const Arguments& arguments, const World& ranks)
      : world(ranks),
        net(std::make_shared<SmallNet>()),
        optimizer(net->parameters(), momentumOptions()),
        writer(arguments.text("dir") + "/run", world, withoutWaiting()),
        store(arguments.text("dir") + "/checkpoints", world),
        train(loader(*world)),
        test(testLoader(*world)),
        trainer(net, optimizer, world, writer, twoSteps()) {
    trainer.fit(train, test);
    sync = std::make_unique<GradientSync>(net->named_parameters(), world, syncOptions(arguments));
    backward();
    sync->step(optimizer);
    store.save(*net, optimizer, {});
    writer.addReduced("last", world->rank(), 3);
    writer.reduce(3);
    backward();  // messages for which nothing waits
  }

  void backward() { net->forward(torch::ones({2, 1, 2, 2})).sum().backward(); }

  /// Calls that need the other ranks report an error; nothing crashes.
  void useAfterTheEnd() {
    refuse("step", [this] { sync->step(optimizer); });
    refuse("save", [this] { store.save(*net, optimizer, {}); });
    refuse("fit", [this] { trainer.fit(train, test); });
    refuse("reduce", [this] { writer.reduce(4); });
    refuse("close", [this] { writer.close().throwIfError(); });
  }

  template <typename Use>
  void refuse(const std::string& name, const Use& use) {
    try {
      use();
    } catch (const Error& error) {
      logFromRank(*world, name + " refused: " + error.what(), std::cout);
    }
  }

  World world;
  std::shared_ptr<SmallNet> net;
  torch::optim::SGD optimizer;
  DistributedWriter writer;
  CheckpointStore store;
  ImageLoader train;
  ImageLoader test;
  Trainer trainer;
  std::unique_ptr<GradientSync> sync;
};

void trainAndOutlive(const Arguments& arguments, bool isForeign) {
  std::optional<Survivors> survivors;
  {
    const Environment environment;
    const World world = makeWorld(0);
    world->setTimeout(std::chrono::seconds(5));
    survivors.emplace(arguments, world);
  }
  if (isForeign) {
    finalizeMpi();
  }
  if (arguments.text("use") == "yes") {
    survivors->useAfterTheEnd();
  }
  const int rank = survivors->world->rank();
  survivors.reset();
  std::cout << "rank " << rank << " is done" << std::endl;
}

}  // namespace

void outlive(int argc, char** argv) {
  const Arguments arguments(argc, argv);
  const bool isForeign = arguments.text("mpi") == "foreign";
  if (isForeign) {
    initializeMpi();
  }
  trainAndOutlive(arguments, isForeign);
}

}  // namespace steptape::test
