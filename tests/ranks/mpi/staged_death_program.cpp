// SPDX-License-Identifier: Apache-2.0
// A job of three ranks that dies in the way that the first argument names; the second one is the
// log directory. staged_deaths_test.py starts it and compares what `steptape autopsy` says.
//
// A rank dies when its state and those of the others are what the report shows: some launchers kill
// the others at once.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "steptape/mpi.h"
#include "steptape/process/zone.h"

#include "process/blackbox/box_folder.h"
#include "process/blackbox/rank_state.h"

namespace {

constexpr int kRanks = 3;
constexpr int kFailingRank = 1;
constexpr std::int64_t kFailingStep = 12;

using steptape::detail::process::RankState;

bool isInFlight(const RankState::Collective& collective) {
  return collective.phase != RankState::CollectivePhase::kCompleted &&
         collective.phase != RankState::CollectivePhase::kFailed;
}

bool waitsForGradients(const RankState& state) {
  return !state.collectives.empty() && isInFlight(state.collectives.back()) &&
         state.collectives.back().name.find("gradients") != std::string::npos;
}

bool waitsForNothing(const RankState& state) {
  return state.collectives.empty() || !isInFlight(state.collectives.back());
}

/// Waits until this holds for the states of so many ranks.
template <typename Predicate>
void waitForStates(int ranks, const Predicate& holds) {
  const auto count = [&] {
    int found = 0;
    for (const auto& box :
         steptape::detail::process::listBoxes(steptape::detail::process::boxFolder())) {
      RankState state;
      found += static_cast<int>(steptape::detail::process::readRankState(box, &state).ok() &&
                                holds(state));
    }
    return found;
  };
  while (count() < ranks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Waits until this holds for the states of all ranks but one.
template <typename Predicate>
void waitForTheOthers(int rank, const Predicate& holds) {
  waitForStates(kRanks - 1,
                [&](const RankState& state) { return state.rank != rank && holds(state); });
}

/// Waits until the background thread has noted the scalar of this step.
void waitForScalar(std::int64_t step) {
  waitForStates(1, [&](const RankState& state) {
    return !state.values.empty() && state.values.front().step == step;
  });
}

[[gnu::noinline]] void readPastTheEnd(volatile int* values) {
  *values = 1;
}

/// Takes memory until the kernel ends the process: the job has a control group with a limit.
void takeAllMemory() {
  std::vector<std::unique_ptr<char[]>> blocks;
  constexpr std::size_t kBytes = std::size_t{16} << 20;
  while (true) {
    blocks.push_back(std::make_unique<char[]>(kBytes));
    std::fill_n(blocks.back().get(), kBytes, 'x');
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // as a leak grows
  }
}

void failAs(const std::string& kind) {
  if (kind != "rank_that_never_comes" && kind != "mismatched_collectives" && kind != "full_disk") {
    waitForTheOthers(kFailingRank, waitsForGradients);
  }
  if (kind == "killed") {
    std::raise(SIGKILL);
  } else if (kind == "out_of_memory") {
    STEPTAPE_ZONE("augment");
    takeAllMemory();
  } else if (kind == "segmentation_fault") {
    STEPTAPE_ZONE("augment");
    readPastTheEnd(nullptr);
  } else if (kind == "exception") {
    throw std::runtime_error("shard 7 of the data is damaged");
  } else if (kind == "rank_that_never_comes") {
    STEPTAPE_ZONE("wait for the file server");
    std::this_thread::sleep_for(std::chrono::minutes(10));
  }
}

constexpr int kFirstToDie = 0;
std::terminate_handler terminateAsBefore = nullptr;

/// Of the ranks that find out together, only one dies of it, after the others have found out as
/// well. The launcher ends the others, so that the report is always the same.
template <typename Operation>
void dieAlone(const steptape::Communicator& world, const Operation& operation) {
  if (world.rank() == kFirstToDie) {
    // Not with a handler of the exception, before which the collective would end.
    terminateAsBefore = std::set_terminate([] {
      waitForTheOthers(kFirstToDie, waitsForNothing);
      terminateAsBefore();
    });
    operation();
    std::set_terminate(terminateAsBefore);
    return;
  }
  try {
    operation();
  } catch (const steptape::Error&) {
    std::this_thread::sleep_for(std::chrono::minutes(1));
    throw;
  }
}

void exchange(steptape::Communicator& world, bool isMismatched) {
  if (isMismatched) {
    dieAlone(world, [&] { world.barrier(); });
    return;
  }
  std::vector<float> gradients(1000, 1);
  steptape::CollectiveOptions named;
  named.name = "gradients";
  dieAlone(world, [&] { world.allreduce(gradients, steptape::ReduceOp::kSum, named); });
}

void train(const std::string& kind, const std::string& logDir) {
  const auto world = steptape::world();
  // Of the other deaths, the first sign must not be a timeout, however busy the machine is.
  world->setTimeout(std::chrono::seconds(kind == "rank_that_never_comes" ? 4 : 300));
  steptape::DistributedWriter writer(logDir, world);
  steptape::StragglerReport report(writer);
  for (std::int64_t step = 0; step < 1000; ++step) {
    {
      STEPTAPE_ZONE("next batch");
      const auto timer = report.time(steptape::StepPart::kInput);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (step == kFailingStep && world->rank() == kFailingRank) {
        failAs(kind);
      }
    }
    const auto timer = report.time(steptape::StepPart::kBackward);
    STEPTAPE_ZONE("exchange");
    exchange(*world, kind == "mismatched_collectives" && step == kFailingStep &&
                         world->rank() == kFailingRank);
    writer.addReduced("loss", 1.0F / static_cast<float>(step + 1), step);
    report.endStep(step);
    writer.reduce(step);
    if (world->isRoot() && step >= kFailingStep - 1) {
      waitForScalar(step);
    }
    if (kind == "full_disk" && step == kFailingStep) {
      if (world->isRoot()) {
        waitForTheOthers(world->rank(), waitsForGradients);
      }
      writer.addText("notes", std::string(std::size_t{1} << 20, 'x'), step);
      writer.flush().throwIfError();
    }
    if (step == kFailingStep - 2) {
      writer.flush().throwIfError();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const steptape::Environment environment(argc, argv);
  train(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
  return 0;
}
