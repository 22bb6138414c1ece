// SPDX-License-Identifier: Apache-2.0
// Groups whose ranks are threads that share a store in memory.
#include "ranks/c10d/store_transport.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "steptape/base/status.h"

#include "ranks/c10d/memory_store.h"
#include "ranks/engine/engine_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::c10d::detail {
namespace {

using steptape::detail::ranks::EngineCommunicator;
using steptape::detail::ranks::GroupMap;
using ::testing::ElementsAre;

void onRanks(int ranks, const std::shared_ptr<MemoryStore>& store,
             const std::function<void(Communicator&)>& work) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&store, &work, ranks, rank] {
      const std::vector<GroupMap::Place> places(static_cast<std::size_t>(ranks), {0, "node7"});
      EngineCommunicator world(std::make_shared<StoreTransport>(store, GroupMap(places, rank)));
      work(world);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(StoreTransport, MovesTheDataOfEachCollective) {
  constexpr int kRanks = 3;
  onRanks(kRanks, std::make_shared<MemoryStore>(), [](Communicator& world) {
    const std::string mine(static_cast<std::size_t>(world.rank()) * 100, 'x');
    const std::vector<std::string> all = world.allgather(mine);
    EXPECT_THAT(all, ElementsAre("", std::string(100, 'x'), std::string(200, 'x')));
    const std::vector<std::string> toOne = world.gatherObject(mine, 1);
    EXPECT_EQ(toOne, world.rank() == 1 ? all : std::vector<std::string>());
    EXPECT_EQ(world.broadcastObject(mine, 2), all.back());
    const std::string from = std::to_string(world.rank());
    EXPECT_THAT(world.alltoall({from + "0", from + "1", from + "2"}),
                ElementsAre("0" + from, "1" + from, "2" + from));
    std::vector<float> few{1, 2};
    world.allreduce(few, ReduceOp::kSum);
    EXPECT_THAT(few, ElementsAre(3, 6));
    std::vector<float> many(1000, 1);
    world.allreduce(many, ReduceOp::kSum);
    EXPECT_EQ(many, std::vector<float>(1000, 3));
    world.barrier();
  });
}

TEST(StoreTransport, TellsAllRanksWhichOneDiffers) {
  onRanks(3, std::make_shared<MemoryStore>(), [](Communicator& world) {
    CollectiveOptions options;
    options.name = world.rank() == 2 ? "b" : "a";
    try {
      world.barrier(options);
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kRankMismatch);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("rank 2 (node7) is in barrier 'b'"));
    }
    world.barrier();
  });
}

TEST(StoreTransport, AsksTheStoreAFewTimesForEachRankAndNotForEachPair) {
  const auto costOf = [](int ranks) {
    const auto store = std::make_shared<MemoryStore>();
    onRanks(ranks, store, [](Communicator& world) {
      for (int i = 0; i < 4; ++i) {
        world.barrier();
      }
    });
    return store->messages();
  };
  EXPECT_LE(costOf(8), std::size_t{4} * 8 * 5);
  EXPECT_LE(costOf(64), std::size_t{4} * 64 * 5);
}

TEST(StoreTransport, LeavesNoMoreThanOneAnswerInTheStore) {
  const auto store = std::make_shared<MemoryStore>();
  onRanks(4, store, [](Communicator& world) {
    for (int i = 0; i < 10; ++i) {
      world.barrier();
    }
  });
  EXPECT_EQ(store->size(), 1U);
}

TEST(StoreTransport, LooksForNotesWithOneQuestion) {
  constexpr int kRanks = 50;
  const auto store = std::make_shared<MemoryStore>();
  const std::vector<GroupMap::Place> places(kRanks, {0, "node7"});
  StoreTransport looking(store, GroupMap(places, 0));
  StoreTransport telling(store, GroupMap(places, 7));
  int rank = -1;
  steptape::detail::ranks::StallNote note;
  EXPECT_FALSE(looking.takeNote(rank, note));
  EXPECT_EQ(store->asks(), 1U);

  note.latest = 5;
  telling.postNote(note);
  note = {};
  while (!looking.takeNote(rank, note)) {
    std::this_thread::yield();
  }
  EXPECT_EQ(rank, 7);
  EXPECT_EQ(note.latest, 5U);
}

}  // namespace
}  // namespace steptape::c10d::detail
