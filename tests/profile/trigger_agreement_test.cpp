// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/trigger_agreement.h"

#include <atomic>
#include <thread>

#include "steptape/ranks/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::profile {
namespace {

using testing::RunRanksOptions;
using testing::runRanksShared;

using Ranks = std::shared_ptr<Communicator>;

/// On one node, whose ranks communicate through memory, and on two nodes, whose ranks cannot.
class TriggerAgreementTest : public ::testing::TestWithParam<int> {
 protected:
  static RunRanksOptions nodes() {
    RunRanksOptions options;
    options.ranksPerNode = GetParam();
    return options;
  }
};

/// Makes steps until a request is followed.
/// @return the step.
int stepsUntil(TriggerAgreement& agreement, TriggerWish wish, TriggerWish own) {
  int steps = 1;
  while (agreement.endStep(own) != wish) {
    ++steps;
    std::this_thread::yield();
  }
  return steps;
}

TEST_P(TriggerAgreementTest, FollowsARequestOfOneRankAfterTheSameStepOnAll) {
  std::array<int, 3> steps{};
  runRanksShared(
      3,
      [&](const Ranks& ranks) {
        TriggerAgreement agreement(ranks);
        const TriggerWish own = ranks->rank() == 2 ? TriggerWish::kBegin : TriggerWish::kNone;
        steps.at(static_cast<std::size_t>(ranks->rank())) =
            stepsUntil(agreement, TriggerWish::kBegin, own);
        ranks->barrier();
      },
      nodes());
  EXPECT_THAT(steps, ::testing::Each(steps[0]));
}

TEST_P(TriggerAgreementTest, FollowsEachRequestOnce) {
  runRanksShared(
      2,
      [&](const Ranks& ranks) {
        TriggerAgreement agreement(ranks);
        const bool wants = ranks->isRoot();
        stepsUntil(agreement, TriggerWish::kBegin,
                   wants ? TriggerWish::kBegin : TriggerWish::kNone);
        stepsUntil(agreement, TriggerWish::kEnd, wants ? TriggerWish::kNone : TriggerWish::kEnd);
        int followed = 0;
        for (int i = 0; i < 1000; ++i) {
          followed += agreement.endStep(TriggerWish::kNone) != TriggerWish::kNone ? 1 : 0;
        }
        EXPECT_EQ(followed, 0);
        ranks->barrier();
      },
      nodes());
}

TEST_P(TriggerAgreementTest, RequestsNothingWhileNoRankDoes) {
  runRanksShared(
      2,
      [&](const Ranks& ranks) {
        TriggerAgreement agreement(ranks);
        for (int i = 0; i < 10'000; ++i) {
          EXPECT_EQ(agreement.endStep(TriggerWish::kNone), TriggerWish::kNone);
        }
        EXPECT_FALSE(agreement.isOver());
        ranks->barrier();
      },
      nodes());
}

INSTANTIATE_TEST_SUITE_P(RanksPerNode, TriggerAgreementTest, ::testing::Values(0, 1));

TEST(TriggerAgreementOnANode, IsOverForTheOthersWhenARankLeaves) {
  std::array<int, 3> steps{};
  runRanksShared(3, [&](const Ranks& ranks) {
    {
      TriggerAgreement agreement(ranks);
      const bool leavesSoon = ranks->rank() == 1;
      for (int& step = steps.at(static_cast<std::size_t>(ranks->rank()));
           !agreement.isOver() && (!leavesSoon || step < 5); ++step) {
        agreement.endStep(TriggerWish::kNone);
        std::this_thread::yield();
      }
      EXPECT_EQ(agreement.isOver(), !leavesSoon);
      // The ranks no longer communicate.
      EXPECT_EQ(agreement.endStep(TriggerWish::kBegin), TriggerWish::kNone);
    }
    ranks->barrier();
  });
  EXPECT_EQ(steps[0], steps[2]) << "the ranks that stay know it behind the same step";
}

}  // namespace
}  // namespace steptape::detail::profile
