// SPDX-License-Identifier: Apache-2.0
// A job whose last rank fails in the way that the first argument names, while the others wait in
// the operation that the third one names; the second one is the log directory.
// The tests rank_failure and c10d_failure start it, under mpiexec and without MPI, and check how it
// ends.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/environment.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/profile/profiler.h"

#include "ranks/communicator/device_exchange.h"
#include "ranks/communicator/node_barrier.h"

#ifdef STEPTAPE_HAS_MPI
#include "steptape/ranks/mpi_communicator.h"
#endif

namespace {

volatile int* noMemory = nullptr;

/// Takes memory until the kernel ends the process, which has a limit.
void takeAllMemory() {
  std::vector<std::vector<char>> blocks;
  while (true) {
    blocks.emplace_back(std::size_t{16} << 20, 'x');
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // as a leak grows
  }
}

void failAs(const std::string& kind, const steptape::Environment& environment) {
  if (kind == "killed") {
    std::raise(SIGKILL);
  } else if (kind == "killed with a child") {
    if (fork() == 0) {
      // Outlives the rank, with all that it inherited; the end of the job or the alarm ends it.
      alarm(120);
      while (true) {
        pause();
      }
    }
    std::raise(SIGKILL);
  } else if (kind == "killed within") {
    // Returns, to a collective that cannot end before the others come.
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      std::raise(SIGKILL);
    }).detach();
  } else if (kind == "exits") {
    _exit(0);
  } else if (kind == "exit(0)" || kind == "exit(3)") {
    std::exit(kind == "exit(0)" ? 0 : 3);
  } else if (kind == "stops") {
    std::raise(SIGSTOP);
  } else if (kind == "faults") {
    *noMemory = 1;
  } else if (kind == "calls abort()") {
    std::abort();
  } else if (kind == "takes all memory") {
    takeAllMemory();
  } else if (kind == "throws") {
    throw std::runtime_error("this rank fails");
  } else if (kind == "aborts") {
    environment.abort("this rank gives up");
  } else if (kind == "hangs briefly") {
    // Longer than the others wait. Nothing but its end ends this process.
    std::this_thread::sleep_for(std::chrono::seconds(3));
    _exit(0);
  } else if (kind == "hangs") {
    // Far longer than the others wait; the end of the job ends it.
    std::this_thread::sleep_for(std::chrono::seconds(120));
  }
}

struct Arguments {
  std::string kind;
  std::string logDir;
  std::string place;  // where the others wait
};

/// Exchanges main memory as if it were that of GPUs.
class GpuRanks {
 public:
#ifdef STEPTAPE_HAS_MPI
  GpuRanks() {
    steptape::MpiCommunicatorOptions options;
    options.assumeGpuAware = true;
    options.timeout = std::chrono::milliseconds(500);
    world_ = std::make_unique<steptape::MpiCommunicator>(MPI_COMM_WORLD, options);
    exchange_ = world_->makeDeviceExchange();
    exchange();
  }
#endif
  void exchange() {
    const auto ranks = static_cast<std::size_t>(world_->size());
    std::vector<float> gradients(1000);
    std::vector<float> arrived(1000);
    exchange_
        ->start("gradients of bucket 0", {ranks, {gradients.data(), 4000}},
                {ranks, {arrived.data(), 4000}})
        ->wait();
  }

 private:
  std::unique_ptr<steptape::Communicator> world_;
  std::unique_ptr<steptape::detail::ranks::DeviceExchange> exchange_;
};

void callCollective(const std::string& name, steptape::Communicator& world) {
  std::vector<float> data(1000 * static_cast<std::size_t>(world.size()));
  std::vector<float> part(1000);
  const std::vector<std::string> texts(static_cast<std::size_t>(world.size()), "text");
  if (name == "allreduce") {
    world.allreduce(data, steptape::ReduceOp::kSum);
  } else if (name == "allreduceGrouped") {
    world.allreduceGrouped({data, part}, steptape::ReduceOp::kSum);
  } else if (name == "reduceScatter") {
    world.reduceScatter(data, part, steptape::ReduceOp::kSum);
  } else if (name == "broadcast") {
    world.broadcast(data.data(), data.size() * sizeof(float), 1);
  } else if (name == "allgather") {
    world.allgather("text");
  } else if (name == "alltoall") {
    world.alltoall(texts);
  } else if (name == "worldBarrier") {
    world.barrier();
  } else if (name == "split") {
    world.split(0, 0);
  } else if (name == "allocateNodeMemory") {
    world.allocateNodeMemory(4096);
  } else {
    throw std::invalid_argument("no collective is called " + name);
  }
}

void waitForAll(const std::string& place, steptape::Communicator& world,
                steptape::detail::ranks::NodeBarrier& barrier, std::optional<GpuRanks>& gpus) {
  if (place == "barrier") {
    barrier.arriveAndWait(std::chrono::milliseconds(500), "gradients");
  } else if (place == "patient barrier") {
    // Ends in time only if the ranks notice that one has ended.
    barrier.arriveAndWait(std::chrono::minutes(10), "gradients");
  } else if (place == "asynchronous" || place == "patient") {
    if (place == "patient") {
      world.setTimeout(std::chrono::minutes(10));
    }
    std::vector<float> data(100000);
    steptape::CollectiveOptions options;
    options.name = "gradients";
    world.allreduceAsync(data, steptape::ReduceOp::kSum, options).wait();
  } else if (place == "device memory") {
    gpus->exchange();
  } else if (place != "reduce" && place != "profile") {  // the ranks meet in these anyway
    callCollective(place, world);
  }
}

void train(const Arguments& arguments, const steptape::Environment& environment) {
  const auto world = steptape::world();
  const auto memory = world->allocateNodeMemory(4096);
  steptape::detail::ranks::NodeBarrier barrier(*memory, 0, world->localRank(), world->localSize());
  steptape::DistributedWriterOptions options;
  options.rankPolicy = steptape::RankPolicy::kPerRank;
  steptape::DistributedWriter writer(arguments.logDir, world, options);
  for (int step = 0; step < 3; ++step) {
    writer.addReduced("loss", world->rank(), step);
    writer.reduce(step);
  }
  writer.flush().throwIfError();
  world->barrier();  // everything from here on is after the flush
  // Only now: opening the files on a busy machine may take longer.
  world->setTimeout(std::chrono::milliseconds(500));

  std::optional<steptape::Profiler> profiler;
  if (arguments.place == "profile") {
    // A window of one step, so that the ranks' profiles are in flight after it.
    steptape::ProfilerOptions profiling;
    profiling.schedule.active = 1;
    profiling.schedule.repeat = 1;
    profiling.communicator = world;
    profiling.writer = world->isRoot() ? &writer.localWriter() : nullptr;
    profiler.emplace(profiling).step();
  }
  std::optional<GpuRanks> gpus;
  if (arguments.place == "device memory") {
    gpus.emplace();
  }
  if (world->rank() == world->size() - 1) {
    failAs(arguments.kind, environment);
  }
  if (arguments.kind == "killed within") {
    // Only the death of the rank ends the wait.
    world->setTimeout(std::chrono::minutes(10));
    if (world->rank() != world->size() - 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
    }
  }
  waitForAll(arguments.place, *world, barrier, gpus);
  writer.addReduced("loss", world->rank(), 3);
  writer.reduce(3);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    steptape::Environment environment(argc, argv);
    Arguments arguments{argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : ""};
    if (arguments.kind != "caught hang") {
      train(arguments, environment);
      return 0;
    }
    // Here the program continues after the timeout, up to MPI_Finalize().
    arguments.kind = "hangs";
    try {
      train(arguments, environment);
    } catch (const steptape::Error& error) {
      // In one piece: another rank prints at the same time.
      std::cerr << std::string("caught: ") + error.what() + '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << "failed: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
