// SPDX-License-Identifier: Apache-2.0
//
// Counts what a job costs by its number of ranks: messages, bytes, requests to the store of a
// start, files and bytes in /dev/shm, threads and descriptors. No figure is a time. Prints a line
// of JSON for each phase; benchmarks/ranks.py runs it and prints tables.
//
//   build/release/bin/ranks_benchmark threads 512 8    ranks are threads; a transport counts
//   build/release/bin/ranks_benchmark store 512 8      the start without MPI, with a counting store
//   mpiexec -n 64 build/release/bin/ranks_benchmark mpi
//   torchrun --nproc-per-node=16 --no-python build/release/bin/ranks_benchmark gloo
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/metrics/distributed_writer.h"
#include "steptape/metrics/hang_watchdog.h"
#include "steptape/metrics/straggler_report.h"
#include "steptape/mpi.h"
#include "steptape/ranks/mpi_communicator.h"
#include "steptape/ranks/testing.h"

#ifdef STEPTAPE_HAS_C10D
#include "steptape/ranks/c10d_job.h"
#endif

#include "process/blackbox/box_folder.h"
#include "ranks/c10d/memory_store.h"
#include "ranks/c10d/rendezvous.h"
#include "ranks/c10d/store_transport.h"
#include "ranks/communicator/posix_node_memory.h"
#include "ranks/engine/engine_communicator.h"
#include "ranks/engine/node_transport.h"
#include "ranks/mpi/find_nodes.h"
#include "ranks/mpi/mpi_transport.h"
#include "support/counting_transport.h"

#include <mpi.h>

namespace {

using steptape::Communicator;
using steptape::DistributedWriter;
using steptape::detail::ranks::GroupMap;
using steptape::test::CountingTransport;
using steptape::test::TransportCounts;

constexpr int kMetrics = 100;

/// What a job does. Each part runs on every rank; `prepare` is not counted.
struct Phase {
  const char* name;
  std::function<void()> prepare;
  std::function<void()> run;
};

/// The writer of a job and what belongs to it.
class Job {
 public:
  Job(std::shared_ptr<Communicator> world, std::string logDir)
      : world_(std::move(world)), logDir_(std::move(logDir)) {}

  std::vector<Phase> phases() {
    const auto nothing = [] {};
    return {
        {"open a DistributedWriter", nothing, [this] { writer_.emplace(logDir_, world_); }},
        {"reduce() of 100 metrics", [this] { reduce({}); }, [this] { reduce({}); }},
        {"the same with percentiles", [this] { reduce({50}); }, [this] { reduce({50}); }},
        {"make a StragglerReport", nothing, [this] { makeReport(); }},
        {"a report of stragglers", nothing, [this] { report_->endStep(++step_); }},
        {"make a HangWatchdog", nothing, [this] { watchdog_.emplace(*writer_); }},
        {"addTextFromRanks() of 1000 bytes of each rank", nothing,
         [this] { writer_->addTextFromRanks("text", std::string(1000, 'x'), step_); }},
        {"allocateNodeMemory()", nothing, [this] { memory_ = world_->allocateNodeMemory(4096); }},
    };
  }

 private:
  void reduce(const std::vector<double>& percentiles) {
    steptape::ReducedOptions options;
    options.percentiles = percentiles;
    ++step_;
    for (int i = 0; i < kMetrics; ++i) {
      writer_->addReduced("metric/" + std::to_string(i), 0.5, step_, options);
    }
    writer_->reduce(step_);
  }

  void makeReport() {
    steptape::StragglerReportOptions options;
    options.everySteps = 1;
    options.mode = steptape::ReduceMode::kBlocking;
    report_.emplace(*writer_, options);
  }

  std::shared_ptr<Communicator> world_;
  std::string logDir_;
  std::int64_t step_ = 0;
  std::shared_ptr<steptape::NodeMemory> memory_;
  std::optional<DistributedWriter> writer_;
  std::optional<steptape::StragglerReport> report_;
  std::optional<steptape::HangWatchdog> watchdog_;
};

std::vector<GroupMap::Place> placesOf(int ranks, int ranksPerNode) {
  std::vector<GroupMap::Place> places;
  for (int rank = 0; rank < ranks; ++rank) {
    places.push_back(steptape::detail::ranks::simulatedPlace("node", rank, ranksPerNode));
  }
  return places;
}

/// A rank that is a thread, whose transport counts.
class CountedRank final : public steptape::detail::ranks::EngineCommunicator {
 public:
  explicit CountedRank(const std::shared_ptr<CountingTransport>& transport)
      : EngineCommunicator(transport), transport_(transport) {}
  const TransportCounts& counts() const { return transport_->counts(); }
  std::shared_ptr<steptape::NodeMemory> allocateNodeMemory(std::size_t bytes,
                                                           std::string* why) override {
    return steptape::detail::ranks::PosixNodeMemory::tryMake(*this, map(), bytes, why, {});
  }

 private:
  std::shared_ptr<CountingTransport> transport_;
};

using Members = std::vector<std::pair<std::string, std::size_t>>;

void print(const std::string& phase, const Members& members) {
  std::string line = "{\"phase\": \"" + phase + "\"";
  for (const auto& [name, number] : members) {
    line += ", \"" + name + "\": " + std::to_string(number);
  }
  std::printf("%s}\n", line.c_str());
  std::fflush(stdout);
}

/// @param most Of the other ranks.
void print(const std::string& phase, const TransportCounts& root, const TransportCounts& most) {
  print(phase, {{"operations", root.operations},
                {"pairs", std::max(root.pairs, most.pairs)},
                {"sent", most.sentBytes},
                {"received", most.receivedBytes},
                {"sent by root", root.sentBytes},
                {"received by root", root.receivedBytes}});
}

void countThreads(int ranks, int ranksPerNode) {
  const steptape::testing::TempDir directory;
  const std::vector<GroupMap::Place> places = placesOf(ranks, ranksPerNode);
  std::vector<TransportCounts> byRank(static_cast<std::size_t>(ranks));
  steptape::testing::runRanks(
      ranks,
      [&](Communicator& threads) {
        const auto index = static_cast<std::size_t>(threads.rank());
        const auto rank = std::make_shared<CountedRank>(std::make_shared<CountingTransport>(
            std::make_shared<steptape::detail::ranks::NodeTransport>(
                threads.allocateNodeMemory(steptape::detail::ranks::NodeTransport::bytesFor(ranks)),
                GroupMap(places, threads.rank()))));
        Job job(rank, directory.string());
        for (const Phase& phase : job.phases()) {
          phase.prepare();
          const TransportCounts before = rank->counts();
          phase.run();
          byRank[index] = rank->counts() - before;
          threads.barrier();
          if (threads.isRoot()) {
            TransportCounts most;
            for (std::size_t other = 1; other < byRank.size(); ++other) {
              most.sentBytes = std::max(most.sentBytes, byRank[other].sentBytes);
              most.receivedBytes = std::max(most.receivedBytes, byRank[other].receivedBytes);
              most.pairs = std::max(most.pairs, byRank[other].pairs);
            }
            print(phase.name, byRank.front(), most);
          }
          threads.barrier();
        }
      },
      std::chrono::minutes(10));
}

/// The start of a job on several nodes without MPI, up to what gloo does: the ranks meet at the
/// store, and those of a node share a byte of memory, whose lock tells that a rank has ended.
void countStore(int ranks, int ranksPerNode) {
  namespace c10d = steptape::c10d::detail;
  const auto store = std::make_shared<c10d::MemoryStore>();
  const auto printSince = [&](const char* phase, std::size_t messages, std::size_t bytes) {
    print(phase, {{"requests", store->messages() - messages}, {"bytes", store->bytes() - bytes}});
  };
  std::vector<std::shared_ptr<c10d::Meeting>> meetings(static_cast<std::size_t>(ranks));
  const auto onRanks = [&](const std::function<void(int rank)>& work) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back(work, rank);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  };
  onRanks([&](int rank) {
    steptape::detail::ranks::Launch launch;
    launch.kind = steptape::detail::ranks::LaunchKind::kStore;
    launch.rank = rank;
    launch.size = ranks;
    meetings[static_cast<std::size_t>(rank)] = std::make_shared<c10d::Meeting>(
        c10d::meet(store, "node0:29500", launch, ranksPerNode, std::chrono::minutes(10)));
  });
  printSince("the ranks meet", 0, 0);
  const std::size_t messages = store->messages();
  const std::size_t bytes = store->bytes();
  onRanks([&](int rank) {
    const c10d::Meeting& meeting = *meetings[static_cast<std::size_t>(rank)];
    steptape::detail::ranks::EngineCommunicator setup(
        std::make_shared<c10d::StoreTransport>(meeting.store, meeting.map));
    if (!steptape::detail::ranks::PosixNodeMemory::tryMake(setup, meeting.map, 1, nullptr, {})) {
      std::abort();
    }
  });
  printSince("the ranks of each node share memory", messages, bytes);
  const std::size_t asks = store->asks();
  onRanks([&](int rank) {
    const c10d::Meeting& meeting = *meetings[static_cast<std::size_t>(rank)];
    c10d::StoreTransport waiting(meeting.store, meeting.map);
    int from = 0;
    steptape::detail::ranks::StallNote note;
    waiting.takeNote(from, note);
  });
  print("all ranks wait: a look for notes", {{"requests", store->asks() - asks}, {"bytes", 0}});
}

std::size_t over(MPI_Op op, std::size_t mine) {
  unsigned long long number = mine;
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_UNSIGNED_LONG_LONG, op, MPI_COMM_WORLD);
  return number;
}

std::size_t entriesOf(const char* folder) {
  const auto entries = std::filesystem::directory_iterator(folder);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

/// Returns the bytes of this process's mappings of memory that it shares by Communicator.
std::size_t sharedBytes() {
  std::ifstream maps("/proc/self/maps");
  std::size_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/dev/shm/steptape-") != std::string::npos &&
        line.find("(deleted)") != std::string::npos) {
      std::size_t first = 0;
      std::size_t end = 0;
      std::sscanf(line.c_str(), "%zx-%zx", &first, &end);
      bytes += end - first;
    }
  }
  return bytes;
}

/// Prints what the processes of this machine have, all together or one of them.
void printNode(const std::string& when) {
  MPI_Barrier(MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::size_t threads = entriesOf("/proc/self/task");
  const std::size_t descriptors = entriesOf("/proc/self/fd");
  const std::size_t threadsOfOther = over(MPI_MAX, rank == 0 ? 0 : threads);
  const std::size_t descriptorsOfOther = over(MPI_MAX, rank == 0 ? 0 : descriptors);
  const std::size_t shared = over(MPI_MAX, sharedBytes());
  std::size_t files = 0;
  std::size_t bytes = 0;
  std::size_t states = 0;
  const std::string folder = steptape::detail::process::boxFolder();
  if (!folder.empty()) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      struct stat facts {};
      if (entry.path().filename().string().rfind("steptape-", 0) == 0 &&
          ::stat(entry.path().c_str(), &facts) == 0 && S_ISREG(facts.st_mode)) {
        ++files;
        bytes += static_cast<std::size_t>(facts.st_blocks) * 512;
        states +=
            entry.path().extension() == ".state" ? static_cast<std::size_t>(facts.st_size) : 0;
      }
    }
  }
  if (rank == 0) {
    print(when, {{"files of boxes", files},
                 {"bytes of boxes", bytes},
                 {"bytes of states", states},
                 {"bytes of shared memory", shared},
                 {"threads of root", threads},
                 {"threads of another", threadsOfOther},
                 {"descriptors of root", descriptors},
                 {"descriptors of another", descriptorsOfOther}});
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Returns a rank whose messages MPI moves, also between ranks of this machine, and that counts.
std::shared_ptr<CountedRank> countedMpiRank() {
  namespace mpi = steptape::mpi::detail;
  const steptape::MpiCommunicatorOptions options;
  const MPI_Comm data = mpi::duplicate(MPI_COMM_WORLD, options.timeout);
  return std::make_shared<CountedRank>(std::make_shared<CountingTransport>(
      std::make_shared<mpi::MpiTransport>(data, mpi::findNodes(data, 0), options)));
}

void runWithinNode(const std::shared_ptr<Communicator>& world, const std::string& logDir) {
  Job job(world, logDir);
  for (const Phase& phase : job.phases()) {
    phase.prepare();
    phase.run();
  }
  printNode("node: all of the above open");
}

void countMpi(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  printNode("node: after MPI_Init()");
  {
    const steptape::Environment environment;
    const std::shared_ptr<Communicator> world = steptape::world();
    printNode("node: after world()");
    std::optional<steptape::testing::TempDir> directory;
    if (world->isRoot()) {
      directory.emplace();
    }
    const std::string logDir = world->broadcastObject(directory ? directory->string() : "", 0);
    runWithinNode(world, logDir + "/within");
    const std::shared_ptr<CountedRank> counted = countedMpiRank();
    Job job(counted, logDir + "/between");
    for (const Phase& phase : job.phases()) {
      phase.prepare();
      const TransportCounts before = counted->counts();
      phase.run();
      const TransportCounts mine = counted->counts() - before;
      const bool isRoot = world->isRoot();
      TransportCounts most;
      most.pairs = over(MPI_MAX, mine.pairs);
      most.sentBytes = over(MPI_MAX, isRoot ? 0 : mine.sentBytes);
      most.receivedBytes = over(MPI_MAX, isRoot ? 0 : mine.receivedBytes);
      if (isRoot) {
        print(phase.name, mine, most);
      }
    }
  }
  MPI_Finalize();
}

#ifdef STEPTAPE_HAS_C10D
/// Prints what a process has if gloo connects the ranks, each of which is a node of its own.
void countGloo() {
  steptape::EnvironmentOptions options;
  options.ranksPerNode = 1;
  const steptape::Environment environment(options);
  const std::shared_ptr<Communicator> world = steptape::world();
  std::vector<std::int64_t> counts{static_cast<std::int64_t>(entriesOf("/proc/self/task")),
                                   static_cast<std::int64_t>(entriesOf("/proc/self/fd"))};
  world->barrier();
  const bool isLast = world->rank() == world->size() - 1;
  if (!isLast) {
    counts.assign(2, 0);
  }
  world->allreduce(counts, steptape::ReduceOp::kMax);
  if (world->isRoot()) {
    print("between nodes by gloo",
          {{"threads of the last rank", counts[0]}, {"descriptors of the last rank", counts[1]}});
  }
}
#else
void countGloo() {
  throw std::invalid_argument("gloo needs a build with LibTorch and gloo's headers");
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 1 && arguments[0] == "mpi") {
      countMpi(argc, argv);
    } else if (arguments.size() == 1 && arguments[0] == "gloo") {
      countGloo();
    } else if (arguments.size() == 3 && arguments[0] == "threads") {
      countThreads(std::stoi(arguments[1]), std::stoi(arguments[2]));
    } else if (arguments.size() == 3 && arguments[0] == "store") {
      countStore(std::stoi(arguments[1]), std::stoi(arguments[2]));
    } else {
      throw std::invalid_argument(
          "expected mpi, gloo, threads RANKS RANKS_PER_NODE or store RANKS RANKS_PER_NODE");
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ranks_benchmark: %s\n", error.what());
    return 1;
  }
  return 0;
}
