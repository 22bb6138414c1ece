// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"

#include "ranks/communicator/group_map.h"
#include "ranks/testing/thread_group.h"

namespace steptape::testing {
namespace {

void checkCounts(int count, const RunRanksOptions& options) {
  if (count < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "runRanks: got " + std::to_string(count) + " ranks; expected at least 1");
  }
  if (options.ranksPerNode < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "runRanks: got " + std::to_string(options.ranksPerNode) +
                    " ranks per node; expected 1 or more, or 0 for all on one node");
  }
}

std::vector<detail::ranks::GroupMap::Place> placesOf(int count, int ranksPerNode) {
  const std::string host = Communicator().nodeName();
  std::vector<detail::ranks::GroupMap::Place> places;
  places.reserve(static_cast<std::size_t>(count));
  for (int rank = 0; rank < count; ++rank) {
    places.push_back(detail::ranks::simulatedPlace(host, rank, ranksPerNode));
  }
  return places;
}

void leave(ThreadJob& job, int rank) {
  detail::base::MutexLock lock(job.mutex);
  job.hasLeft[static_cast<std::size_t>(rank)] = 1;
  job.changed.notifyAll();
}

/// Throws the cause before its consequences: first failures that are not explained by the end of
/// another rank.
void rethrowFirst(ThreadJob& job, const std::vector<std::exception_ptr>& failures) {
  detail::base::MutexLock lock(job.mutex);
  for (const char leftAlone : {char{0}, char{1}}) {
    for (std::size_t rank = 0; rank < failures.size(); ++rank) {
      if (failures[rank] && job.wasLeftAlone[rank] == leftAlone) {
        std::rethrow_exception(failures[rank]);
      }
    }
  }
}

}  // namespace

void runRanksShared(int count,
                    const std::function<void(const std::shared_ptr<Communicator>&)>& body,
                    const RunRanksOptions& options) {
  checkCounts(count, options);
  const auto job = std::make_shared<ThreadJob>(count);
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto group = std::make_shared<ThreadGroup>(job, ranks);
  const std::vector<detail::ranks::GroupMap::Place> places = placesOf(count, options.ranksPerNode);

  std::vector<std::exception_ptr> failures(ranks.size());
  std::vector<std::thread> threads;
  threads.reserve(ranks.size());
  for (const int rank : ranks) {
    threads.emplace_back([&, rank] {
      const auto communicator = std::make_shared<ThreadCommunicator>(
          group, std::make_shared<const detail::ranks::GroupMap>(places, rank));
      communicator->setTimeout(options.timeout);
      try {
        body(communicator);
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
      leave(*job, rank);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  rethrowFirst(*job, failures);
}

void runRanksShared(int count,
                    const std::function<void(const std::shared_ptr<Communicator>&)>& body,
                    std::chrono::milliseconds timeout) {
  RunRanksOptions options;
  options.timeout = timeout;
  runRanksShared(count, body, options);
}

void runRanks(int count, const std::function<void(Communicator&)>& body,
              const RunRanksOptions& options) {
  runRanksShared(
      count, [&body](const std::shared_ptr<Communicator>& world) { body(*world); }, options);
}

void runRanks(int count, const std::function<void(Communicator&)>& body,
              std::chrono::milliseconds timeout) {
  RunRanksOptions options;
  options.timeout = timeout;
  runRanks(count, body, options);
}

}  // namespace steptape::testing
