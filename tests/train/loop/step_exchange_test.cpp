// SPDX-License-Identifier: Apache-2.0
#include "train/loop/step_exchange.h"

#include <csignal>

#include "steptape/ranks/testing.h"

#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace steptape::detail::train {
namespace {

using testing::runRanksShared;

/// Checks what each of three ranks receives if rank r sends `wishes[r]`.
void exchange(const std::array<StepWish, 3>& wishes,
              const std::function<void(const StepWish&)>& check) {
  runRanksShared(3, [&](const std::shared_ptr<Communicator>& world) {
    StepExchange exchange(world);
    exchange.post(wishes[static_cast<std::size_t>(world->rank())], 7);
    check(exchange.read());
  });
}

TEST(StepExchange, ReturnsNoRequestIfNoRankHasOne) {
  exchange({}, [](const StepWish& agreed) {
    EXPECT_FALSE(agreed.stop);
    EXPECT_EQ(agreed.signal, 0);
    EXPECT_FALSE(agreed.checkpoint);
    EXPECT_FALSE(agreed.failed);
  });
}

TEST(StepExchange, SendsARanksRequestToAllRanks) {
  StepWish wish;
  wish.checkpoint = true;
  exchange({StepWish(), wish, StepWish()}, [](const StepWish& agreed) {
    EXPECT_TRUE(agreed.checkpoint);
    EXPECT_FALSE(agreed.stop);
  });
  wish.failed = true;
  exchange({StepWish(), StepWish(), wish},
           [](const StepWish& agreed) { EXPECT_TRUE(agreed.failed); });
}

TEST(StepExchange, AgreesOnTheGreatestReasonToStop) {
  StepWish time;
  time.stop = StopReason::kMaxDuration;
  StepWish signal;
  signal.stop = StopReason::kSignal;
  signal.signal = SIGTERM;
  exchange({time, signal, StepWish()}, [](const StepWish& agreed) {
    EXPECT_EQ(agreed.stop, StopReason::kSignal);
    EXPECT_EQ(agreed.signal, SIGTERM);
  });
  exchange({time, StepWish(), time}, [](const StepWish& agreed) {
    EXPECT_EQ(agreed.stop, StopReason::kMaxDuration);
    EXPECT_EQ(agreed.signal, 0);
  });
}

TEST(StepExchange, CombinesTheLossesByTheirSamples) {
  runRanksShared(3, [](const std::shared_ptr<Communicator>& world) {
    StepExchange exchange(world);
    const int rank = world->rank();
    exchange.post({}, 1, 1.0 + rank, rank);  // the root has no samples
    exchange.read();
    EXPECT_DOUBLE_EQ(exchange.loss().mean(), (2.0 * 1 + 3.0 * 2) / 3);
    EXPECT_EQ(exchange.loss().min, 2);
    EXPECT_EQ(exchange.loss().max, 3);
  });
}

TEST(StepExchange, FindsRanksInDifferentSteps) {
  runRanksShared(2, [](const std::shared_ptr<Communicator>& world) {
    StepExchange exchange(world);
    exchange.post({}, 10 + world->rank());
    test::expectError(ErrorCode::kRankMismatch, "got ranks in different steps, from 10 to 11",
                      [&] { exchange.read(); });
  });
}

TEST(StepExchange, ReportsWhetherSomeOrAllRanksHaveDataForAnotherStep) {
  for (const int ranksWithData : {0, 1, 2, 3}) {
    runRanksShared(3, [&](const std::shared_ptr<Communicator>& world) {
      StepExchange exchange(world);
      exchange.post({}, 7, 0, 0, world->rank() < ranksWithData);
      exchange.read();
      EXPECT_EQ(exchange.input().anyHasStep, ranksWithData > 0);
      EXPECT_EQ(exchange.input().allHaveStep, ranksWithData == 3);
    });
  }
}

TEST(StepExchange, AgreesWithItselfOnASingleRank) {
  StepExchange exchange(std::make_shared<Communicator>());
  StepWish wish;
  wish.stop = StopReason::kCallback;
  exchange.post(wish, 3, 0.5, 4);
  EXPECT_EQ(exchange.read().stop, StopReason::kCallback);
  EXPECT_EQ(exchange.loss().mean(), 0.5);
}

}  // namespace
}  // namespace steptape::detail::train
