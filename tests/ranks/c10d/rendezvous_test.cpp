// SPDX-License-Identifier: Apache-2.0
// The start of a job, by threads that share a store in memory.
#include "ranks/c10d/rendezvous.h"

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "steptape/base/status.h"

#include "ranks/c10d/guest.h"
#include "ranks/c10d/memory_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::c10d::detail {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kAddress = "node7:29500";

class Rendezvous : public ::testing::Test {
 protected:
  /// Returns what a launcher tells a rank.
  static steptape::detail::ranks::Launch launchOf(int rank, int size, const std::string& job = "") {
    steptape::detail::ranks::Launch launch;
    launch.kind = steptape::detail::ranks::LaunchKind::kStore;
    launch.rank = rank;
    launch.size = size;
    launch.job.name = job;
    launch.job.process = "process " + std::to_string(100 + rank) + " on node7";
    return launch;
  }

  /// A rank comes to the store, on a thread.
  std::future<Meeting> come(const steptape::detail::ranks::Launch& launch, int ranksPerNode = 0,
                            std::chrono::milliseconds timeout = std::chrono::minutes(2)) {
    return std::async(std::launch::async, [store = store_, launch, ranksPerNode, timeout] {
      return meet(store, kAddress, launch, ranksPerNode, timeout);
    });
  }

  /// Returns the error of one who comes; empty if it joins.
  static std::string errorOf(std::future<Meeting>& meeting) {
    try {
      meeting.get();
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  std::vector<Meeting> startJob(int size, int ranksPerNode = 0) {
    std::vector<std::future<Meeting>> ranks;
    for (int rank = size - 1; rank >= 0; --rank) {
      ranks.push_back(come(launchOf(rank, size), ranksPerNode));
    }
    std::vector<Meeting> meetings;
    for (auto rank = ranks.rbegin(); rank != ranks.rend(); ++rank) {
      meetings.push_back(rank->get());
    }
    return meetings;
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

TEST_F(Rendezvous, TellsEachRankWhereAllAre) {
  const std::vector<Meeting> ranks = startJob(5, /*ranksPerNode=*/2);
  for (int rank = 0; rank < 5; ++rank) {
    const steptape::detail::ranks::GroupMap& map = ranks[static_cast<std::size_t>(rank)].map;
    EXPECT_EQ(map.rank(), rank);
    EXPECT_EQ(map.size(), 5);
    EXPECT_EQ(map.crossSize(), 3);
    EXPECT_EQ(map.crossRank(), rank / 2);
    EXPECT_EQ(ranks[static_cast<std::size_t>(rank)].prefix, ranks[0].prefix);
  }
  EXPECT_THAT(ranks[3].map.ranksOfNode(), ElementsAre(2, 3));
}

TEST_F(Rendezvous, RefusesARankOfAnotherJobAndGoesOn) {
  auto stranger = come(launchOf(1, 2, "B"));
  auto zero = come(launchOf(0, 2, "A"));
  EXPECT_THAT(errorOf(stranger),
              AllOf(StartsWith("the store at node7:29500 (MASTER_ADDR:MASTER_PORT): got process "
                               "100 on node7 of STEPTAPE_JOB=A, whose job is another one"),
                    HasSubstr("expected rank 0 of the job of rank 1, process 101 on node7 of "
                              "STEPTAPE_JOB=B"),
                    HasSubstr("Give each job a MASTER_PORT of its own")));
  auto one = come(launchOf(1, 2, "A"));
  EXPECT_EQ(zero.get().prefix, one.get().prefix);
}

TEST_F(Rendezvous, RefusesASecondProcessOfARank) {
  auto zero = come(launchOf(0, 3));
  auto first = come(launchOf(1, 3));
  auto second = come(launchOf(1, 3));
  while (first.wait_for(std::chrono::seconds(0)) != std::future_status::ready &&
         second.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  auto two = come(launchOf(2, 3));
  zero.get();
  two.get();
  const std::string errors = errorOf(first) + errorOf(second);
  EXPECT_THAT(errors, StartsWith("the store at node7:29500 (MASTER_ADDR:MASTER_PORT): got a second "
                                 "rank 1, process 101 on node7; expected one, which is process 101 "
                                 "on node7. If they are of two jobs"));
  EXPECT_EQ(errors.find("expected", errors.find("expected") + 1), std::string::npos) << errors;
}

TEST_F(Rendezvous, RefusesThoseWhoComeAfterAllRanks) {
  startJob(2);
  auto again = come(launchOf(1, 2));
  EXPECT_THAT(errorOf(again), HasSubstr("got a second rank 1, process 101 on node7"));
  auto stranger = come(launchOf(1, 2, "B"));
  EXPECT_THAT(errorOf(stranger), HasSubstr("node7:29500"));
}

TEST_F(Rendezvous, AtTheStoreOfALauncherBeginsAgainAfterAStart) {
  const auto served = [](int rank) {
    steptape::detail::ranks::Launch launch = launchOf(rank, 2);
    launch.isServedByAgent = true;
    return launch;
  };
  std::string last;
  for (int start = 0; start < 3; ++start) {
    auto one = come(served(1));
    // Longer than rank 1 takes to look whether the store is closed.
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    auto zero = come(served(0));
    const std::string prefix = one.get().prefix;
    EXPECT_EQ(zero.get().prefix, prefix);
    EXPECT_NE(prefix, last);
    last = prefix;
  }
}

TEST_F(Rendezvous, EndsOnAllRanksIfOneHasAnotherNumberOfRanks) {
  auto zero = come(launchOf(0, 2));
  auto two = come(launchOf(2, 3));
  const std::string expected = "the start of the job: rank 2 (";
  EXPECT_THAT(errorOf(zero), AllOf(StartsWith(expected),
                                   HasSubstr("got a job of 3 ranks; expected a job of 2 ranks")));
  EXPECT_THAT(errorOf(two), StartsWith(expected));
}

TEST_F(Rendezvous, SaysForWhomItWaits) {
  ::testing::internal::CaptureStderr();
  auto zero = come(launchOf(0, 3), 0, std::chrono::milliseconds(400));
  EXPECT_THAT(errorOf(zero), HasSubstr("ranks 1, 2 of 3 did not come to the store within 0.4 s"));
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      AllOf(StartsWith("[rank 0/3 "),
            HasSubstr("] the start of the job waits for 0.2 s for ranks 1, 2 to come to the "
                      "store at node7:29500\n")));
}

TEST_F(Rendezvous, TellsTheNodesInALineForEachAndNotForEachRank) {
  std::vector<Guest> guests(64);
  for (std::size_t rank = 0; rank < guests.size(); ++rank) {
    guests[rank].rank = static_cast<int>(rank);
    guests[rank].host = "node" + std::to_string(rank / 16);
    guests[rank].memory = guests[rank].host;
  }
  guests[40].memory = guests[40].host = "node0";  // a rank that is elsewhere
  const std::vector<steptape::detail::ranks::GroupMap::Place> places = placesOf(guests, 0);
  const std::string text = encodePlaces(places);
  EXPECT_EQ(text, "4\n0 node0\n1 node1\n2 node2\n3 node3\n16 0\n16 1\n8 2\n1 0\n7 2\n16 3\n");
  const std::vector<steptape::detail::ranks::GroupMap::Place> decoded = decodePlaces(text);
  ASSERT_EQ(decoded.size(), places.size());
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    EXPECT_EQ(decoded[rank].nodeId, places[rank].nodeId);
    EXPECT_EQ(decoded[rank].nodeName, places[rank].nodeName);
  }
}

TEST_F(Rendezvous, CostsEachRankAFewMessages) {
  const auto costOf = [this](int ranks) {
    store_ = std::make_shared<MemoryStore>();
    startJob(ranks);
    return store_->messages();
  };
  const std::size_t ofFew = costOf(8);
  const std::size_t ofMany = costOf(64);
  EXPECT_LE(ofMany, 10 * ofFew);
  EXPECT_LE(ofMany, std::size_t{64} * 12);
}

}  // namespace
}  // namespace steptape::c10d::detail
