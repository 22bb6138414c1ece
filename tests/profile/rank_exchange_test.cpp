// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/rank_exchange.h"

#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::profile::RankExchange;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::runRanksShared;

/// Returns the result of `rank` for the window at `step`.
std::string foundBy(int rank, std::int64_t step) {
  return "rank " + std::to_string(rank) + " at " + std::to_string(step);
}

void announce(RankExchange& exchange, const Communicator& world, std::int64_t step) {
  exchange.expect(step);
  exchange.provide(foundBy(world.rank(), step));
}

/// Advances until a window arrives at the root.
std::vector<RankExchange::Window> advance(RankExchange& exchange, int steps) {
  std::vector<RankExchange::Window> all;
  for (int i = 0; i < steps; ++i) {
    for (RankExchange::Window& window : exchange.advance()) {
      all.push_back(std::move(window));
    }
  }
  return all;
}

TEST(RankExchange, SendsTheProfileOfEachRankToTheRoot) {
  runRanksShared(3, [](const std::shared_ptr<Communicator>& world) {
    RankExchange exchange(world);
    announce(exchange, *world, 7);
    const auto windows = advance(exchange, 3);
    if (!world->isRoot()) {
      EXPECT_THAT(windows, IsEmpty());
      return;
    }
    ASSERT_EQ(windows.size(), 1U);
    EXPECT_EQ(windows[0].step, 7);
    EXPECT_THAT(windows[0].byRank, ElementsAre(foundBy(0, 7), foundBy(1, 7), foundBy(2, 7)));
  });
}

TEST(RankExchange, DoesNotWaitForARankThatIsNotReady) {
  runRanksShared(2, [](const std::shared_ptr<Communicator>& world) {
    RankExchange exchange(world);
    exchange.expect(1);
    if (world->isRoot()) {
      exchange.provide(foundBy(0, 1));
    }
    EXPECT_THAT(advance(exchange, 10), IsEmpty());
    if (!world->isRoot()) {
      exchange.provide(foundBy(1, 1));
    }
    EXPECT_EQ(advance(exchange, 4).size(), world->isRoot() ? 1U : 0U);
  });
}

TEST(RankExchange, SendsSeveralWindowsInOrder) {
  runRanksShared(2, [](const std::shared_ptr<Communicator>& world) {
    RankExchange exchange(world);
    std::vector<RankExchange::Window> windows;
    for (std::int64_t step = 0; step < 20; ++step) {
      announce(exchange, *world, step);
      for (RankExchange::Window& window : exchange.advance()) {
        windows.push_back(std::move(window));
      }
    }
    for (RankExchange::Window& window : exchange.finish()) {
      windows.push_back(std::move(window));
    }
    if (!world->isRoot()) {
      return;
    }
    ASSERT_EQ(windows.size(), 20U);
    for (std::int64_t step = 0; step < 20; ++step) {
      const RankExchange::Window& window = windows[static_cast<std::size_t>(step)];
      EXPECT_EQ(window.step, step);
      EXPECT_THAT(window.byRank, ElementsAre(foundBy(0, step), foundBy(1, step)));
    }
  });
}

TEST(RankExchange, KeepsItsOrderAmongOtherOperationsOfTheJob) {
  runRanksShared(2, [](const std::shared_ptr<Communicator>& world) {
    RankExchange exchange(world);
    std::size_t windows = 0;
    for (std::int64_t step = 0; step < 10; ++step) {
      std::vector<double> gradient{1.0};
      world->allreduce(gradient, ReduceOp::kSum);
      EXPECT_EQ(gradient[0], 2.0);
      exchange.expect(step);
      // The ranks are ready in different steps.
      if (world->isRoot()) {
        exchange.provide("");
      } else if (step % 2 == 1) {
        exchange.provide("");
        exchange.provide("");
      }
      windows += exchange.advance().size();
    }
    windows += exchange.finish().size();
    EXPECT_EQ(windows, world->isRoot() ? 10U : 0U);
  });
}

TEST(RankExchange, DoesNothingWhileNoWindowIsMissing) {
  runRanksShared(2, [](const std::shared_ptr<Communicator>& world) {
    RankExchange exchange(world);
    if (world->isRoot()) {
      // A collective would wait for the other rank, which has left.
      EXPECT_THAT(advance(exchange, 5), IsEmpty());
      EXPECT_THAT(exchange.finish(), IsEmpty());
    }
  });
}

TEST(RankExchange, ThrowsIfARankDoesNotArrive) {
  runRanksShared(2, [](const std::shared_ptr<Communicator>& world) {
    RankExchange exchange(world);
    announce(exchange, *world, 1);
    if (world->isRoot()) {
      try {
        exchange.finish();
        FAIL() << "the other rank never came";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
      }
    }
  });
}

}  // namespace
}  // namespace steptape
