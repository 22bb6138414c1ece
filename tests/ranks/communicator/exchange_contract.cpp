// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "steptape/ranks/communicator.h"

#include "ranks/communicator/collective_contract.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::test {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;

/// Returns bytes that identify sender and receiver, of every size.
std::string message(int from, int to) {
  constexpr std::array<std::size_t, 4> kSizes{0, 3, 57, 20000};
  const std::size_t size = kSizes[static_cast<std::size_t>(from + 2 * to) % kSizes.size()];
  return std::string(size, static_cast<char>('a' + from)) +
         std::string(size, static_cast<char>('A' + to));
}

void broadcasts(Communicator& world) {
  for (int root = 0; root < world.size(); ++root) {
    std::string data =
        world.rank() == root ? message(root, 1) : std::string(message(root, 1).size(), '?');
    world.broadcast(data.data(), data.size(), root);
    EXPECT_EQ(data, message(root, 1));
  }
}

void objects(Communicator& world) {
  for (int root = 0; root < world.size(); ++root) {
    EXPECT_EQ(world.broadcastObject(world.rank() == root ? message(root, 0) : "mine", root),
              message(root, 0));
  }
}

void gathersAll(Communicator& world) {
  for (int shift = 0; shift < 4; ++shift) {
    const std::vector<std::string> all = world.allgather(message(world.rank(), shift));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(world.size()));
    for (int rank = 0; rank < world.size(); ++rank) {
      EXPECT_EQ(all[static_cast<std::size_t>(rank)], message(rank, shift));
    }
  }
}

void gathersNothing(Communicator& world) {
  EXPECT_THAT(world.allgather(""), Each(""));
  EXPECT_THAT(world.alltoall(std::vector<std::string>(static_cast<std::size_t>(world.size()))),
              Each(""));
}

void gathersToOne(Communicator& world) {
  for (int root = 0; root < world.size(); ++root) {
    const std::vector<std::string> all = world.gatherObject(message(world.rank(), 3), root);
    if (world.rank() != root) {
      EXPECT_THAT(all, IsEmpty());
      continue;
    }
    ASSERT_EQ(all.size(), static_cast<std::size_t>(world.size()));
    for (int rank = 0; rank < world.size(); ++rank) {
      EXPECT_EQ(all[static_cast<std::size_t>(rank)], message(rank, 3));
    }
  }
}

void exchanges(Communicator& world) {
  std::vector<std::string> toRank;
  for (int rank = 0; rank < world.size(); ++rank) {
    toRank.push_back(message(world.rank(), rank));
  }
  const std::vector<std::string> fromRank = world.alltoall(toRank);
  ASSERT_EQ(fromRank.size(), toRank.size());
  for (int rank = 0; rank < world.size(); ++rank) {
    EXPECT_EQ(fromRank[static_cast<std::size_t>(rank)], message(rank, world.rank()));
  }
}

void refusesWrongRoots(Communicator& world) {
  const std::string notARank = "got root " + std::to_string(world.size()) + "; expected 0 to " +
                               std::to_string(world.size() - 1);
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  expectError(invalid, "broadcast: " + notARank,
              [&] { world.broadcast(nullptr, 0, world.size()); });
  expectError(invalid, "broadcastObject: " + notARank,
              [&] { world.broadcastObject("", world.size()); });
  expectError(invalid, "gatherObject: " + notARank, [&] { world.gatherObject("", world.size()); });
  expectError(invalid, "broadcast: got root -1", [&] { world.broadcast(nullptr, 0, -1); });
  expectError(
      invalid,
      "alltoall: got " + std::to_string(world.size() + 1) + " entries; expected one per rank: ",
      [&] {
        world.alltoall(std::vector<std::string>(static_cast<std::size_t>(world.size()) + 1));
      });
  world.barrier();
}

/// One collective of each kind, all in flight at once.
struct Burst {
  explicit Burst(Communicator& world)
      : floats(1000, static_cast<float>(world.rank())),
        halves(33, 0x3C00),  // 1.0
        moments(2, MetricMoments::of(world.rank(), 1, world.rank())),
        from(static_cast<std::size_t>(world.size()), 1.0),
        toRank(static_cast<std::size_t>(world.size()), nameOfRank(world.rank())),
        text(world.isRoot() ? "root" : "????") {
    handles.push_back(world.allreduceAsync(floats, ReduceOp::kMax));
    handles.push_back(world.allgatherAsync(toRank.front(), gathered));
    handles.push_back(world.allreduceAsync(Elements(halves.data(), halves.size(), DType::kFloat16),
                                           ReduceOp::kAverage));
    handles.push_back(world.reduceScatterAsync(from, part, ReduceOp::kSum));
    handles.push_back(world.alltoallAsync(toRank, fromRank));
    handles.push_back(world.gatherObjectAsync(toRank.front(), onRoot, 0));
    handles.push_back(world.allreduceAsync(ArrayView<MetricMoments>(moments)));
    handles.push_back(world.broadcastAsync(text.data(), text.size(), 0));
    handles.push_back(world.allreduceGroupedAsync({pair, part2}, ReduceOp::kSum));
  }

  static std::string nameOfRank(int rank) {
    return std::string(100, static_cast<char>('a' + rank));
  }

  void expectResults(Communicator& world) const {
    EXPECT_THAT(floats, Each(static_cast<float>(world.size() - 1)));
    EXPECT_THAT(halves, Each(0x3C00));
    EXPECT_EQ(part[0], world.size());
    EXPECT_EQ(moments[1].maxRank, world.size() - 1);
    EXPECT_EQ(text, "root");
    EXPECT_THAT(pair, Each(world.size()));
    ASSERT_EQ(gathered.size(), static_cast<std::size_t>(world.size()));
    ASSERT_EQ(fromRank.size(), gathered.size());
    EXPECT_EQ(onRoot, world.isRoot() ? gathered : std::vector<std::string>());
    for (int rank = 0; rank < world.size(); ++rank) {
      EXPECT_EQ(gathered[static_cast<std::size_t>(rank)], nameOfRank(rank));
      EXPECT_EQ(fromRank[static_cast<std::size_t>(rank)], nameOfRank(rank));
    }
  }

  std::vector<float> floats;
  std::vector<std::uint16_t> halves;
  std::vector<MetricMoments> moments;
  std::vector<double> from;
  double part[1] = {0};
  std::vector<std::string> toRank;
  std::vector<std::string> fromRank;
  std::vector<std::string> gathered;
  std::vector<std::string> onRoot{"old"};
  std::string text;
  int pair[2] = {1, 1};
  int part2[1] = {1};
  std::vector<CollectiveHandle> handles;  // last: they end before the data is destroyed
};

void waitsInAnyOrder(Communicator& world) {
  Burst burst(world);
  // Each rank waits in a different order.
  for (std::size_t i = 0; i < burst.handles.size(); ++i) {
    const std::size_t last = burst.handles.size() - 1;
    burst.handles[world.rank() % 2 == 0 ? i : last - i].wait();
  }
  burst.expectResults(world);
}

void pollsOneForAll(Communicator& world) {
  Burst burst(world);
  // Polling the last one must advance the others, or it would never end.
  while (!burst.handles.back().isDone()) {
  }
  for (CollectiveHandle& handle : burst.handles) {
    handle.wait();
    EXPECT_TRUE(handle.isDone());
  }
  burst.expectResults(world);
}

/// The last rank finds everything that the others have sent at its first poll, and can complete the
/// first collective at once, while the others have advanced as far as possible in both.
void keepsTheOrderOfALateRank(Communicator& world) {
  const auto memory = world.allocateNodeMemory(64);
  ASSERT_NE(memory, nullptr);
  auto* looked = reinterpret_cast<std::atomic<int>*>(memory->data());
  for (int round = 1; round <= 5; ++round) {
    const std::string first(200, static_cast<char>('a' + world.rank()));
    const std::string second(300, static_cast<char>('A' + world.rank()));
    std::vector<std::string> firsts;
    std::vector<std::string> seconds;
    CollectiveHandle one = world.allgatherAsync(first, firsts);
    CollectiveHandle two = world.allgatherAsync(second, seconds);
    const bool isLast = world.rank() == world.size() - 1;
    for (int look = 0; look < 1000 && !isLast; ++look) {
      two.isDone();
    }
    *looked += isLast ? 0 : 1;
    const auto bound = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (isLast && *looked < round * (world.size() - 1) &&
           std::chrono::steady_clock::now() < bound) {
      std::this_thread::yield();
    }
    two.wait();
    one.wait();
    for (int rank = 0; rank < world.size(); ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      EXPECT_EQ(firsts.at(at), std::string(200, static_cast<char>('a' + rank)));
      EXPECT_EQ(seconds.at(at), std::string(300, static_cast<char>('A' + rank)));
    }
  }
}

void destructorWaits(Communicator& world) {
  double data[] = {1};
  { const CollectiveHandle handle = world.allreduceAsync(data, ReduceOp::kSum); }
  EXPECT_EQ(data[0], world.size());
  CollectiveHandle reused = world.allreduceAsync(data, ReduceOp::kSum);
  reused = CollectiveHandle();
  EXPECT_EQ(data[0], world.size() * world.size());
}

void uncompared(Communicator& world) {
  CollectiveOptions options;
  options.compareRanks = false;
  double data[] = {1};
  double more[] = {2};
  // Between two compared collectives, which its data must not overtake.
  CollectiveHandle first = world.allreduceAsync(data, ReduceOp::kSum);
  CollectiveHandle second = world.allreduceAsync(more, ReduceOp::kSum, options);
  world.barrier();
  second.wait();
  first.wait();
  EXPECT_EQ(data[0], world.size());
  EXPECT_EQ(more[0], 2 * world.size());
}

}  // namespace

std::string nameOf(Communicator& world, int rank) {
  return rankAndNode(rank, world.allgather(world.nodeName())[static_cast<std::size_t>(rank)]);
}

std::vector<ContractCase> exchangeContract() {
  return {{"BroadcastsFromEveryRank", &broadcasts},
          {"BroadcastsObjectsWhoseSizeOnlyTheRootKnows", &objects},
          {"GathersBytesOfDifferentSizes", &gathersAll},
          {"GathersNothing", &gathersNothing},
          {"GathersToOneRank", &gathersToOne},
          {"ExchangesBytesOfDifferentSizes", &exchanges},
          {"RefusesARootThatIsNotARank", &refusesWrongRoots}};
}

std::vector<ContractCase> asynchronousContract() {
  return {{"EndsCollectivesThatAreWaitedForInAnyOrder", &waitsInAnyOrder},
          {"MovesAllCollectivesWhenOneIsPolled", &pollsOneForAll},
          {"KeepsTheOrderOfARankThatLooksLate", &keepsTheOrderOfALateRank},
          {"EndsACollectiveWhenItsHandleGoes", &destructorWaits},
          {"KeepsTheOrderOfComparedAndUncompared", &uncompared}};
}

}  // namespace steptape::test
