// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/overhead_governor.h"

#include <gtest/gtest.h>

namespace steptape::detail::profile {
namespace {

struct Steps {
  std::uint64_t spans = 0;      ///< In each recorded step.
  double recordedNanos = 1e6;   ///< Duration of a recorded step; others take 1 ms.
  double besideRecorded = 0.0;  ///< Additional cost per recorded step.
  double besideAny = 0.0;       ///< Additional cost per step.
};

/// Returns how many of `count` steps are recorded.
int record(int count, const Steps& steps, OverheadGovernor* governor) {
  int recorded = 0;
  for (int i = 0; i < count; ++i) {
    governor->addCost(steps.besideAny);
    if (governor->recordsNext()) {
      governor->addCost(steps.besideRecorded);
      governor->endRecorded(steps.spans, steps.recordedNanos);
      ++recorded;
    } else {
      governor->endUnrecorded(1e6);
    }
  }
  return recorded;
}

/// Returns the same for spans of 100 ns, and checks the share.
int recordedOf(int count, double maxShare, const Steps& steps) {
  OverheadGovernor governor(maxShare, 100.0);
  const int recorded = record(count, steps, &governor);
  EXPECT_LE(governor.share(), maxShare + 1e-3) << "one step may be over, the first";
  return recorded;
}

TEST(OverheadGovernor, RecordsAllButEveryEighthStepWhileRecordingIsCheap) {
  EXPECT_NEAR(recordedOf(1000, 0.02, {100}), 875, 15);
}

TEST(OverheadGovernor, RecordsEveryStepWithoutABound) {
  OverheadGovernor governor(1.0, 100.0);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(governor.recordsNext());
    governor.endRecorded(1000000, 1e6);
  }
}

TEST(OverheadGovernor, NoticesThatRecordedStepsTakeLonger) {
  // 1 % by the count of spans, but 10 % in fact.
  EXPECT_NEAR(recordedOf(3000, 0.01, {100, 1.1e6}), 240, 30);
}

TEST(OverheadGovernor, RecordsAsManyStepsAsFourFifthsOfTheShareAllow) {
  // 300 spans of 100 ns are 3 % of a step.
  EXPECT_NEAR(recordedOf(3000, 0.01, {300}), 800, 2);
  EXPECT_NEAR(recordedOf(3000, 0.001, {300}), 80, 2);
}

TEST(OverheadGovernor, CountsOtherCostsOfRecording) {
  EXPECT_NEAR(recordedOf(3000, 0.01, {0, 1e6, 30000}), 800, 2);
}

TEST(OverheadGovernor, CountsTheCostOfUnrecordedSteps) {
  // 3 % of each recorded step, and 0.5 % of all: with a tenth of them it is 0.8 %.
  EXPECT_NEAR(recordedOf(3000, 0.01, {300, 1e6, 0.0, 5000}), 300, 2);
}

TEST(OverheadGovernor, ChargesTheFirstStepsOnceItKnowsWhatTheyCost) {
  // The first 15 comparisons need 30 steps, half of them recorded at 10 %: 150 steps without a
  // record are needed to compensate.
  OverheadGovernor governor(0.01, 1.0);
  EXPECT_NEAR(record(150, {1, 1.1e6}, &governor), 16, 1);
  EXPECT_NEAR(governor.share(), 16 * 1e5 / (150 * 1e6 + 16 * 1e5), 1e-3);
}

TEST(OverheadGovernor, AlwaysRecordsTheFirstStep) {
  EXPECT_TRUE(OverheadGovernor(1e-9, 100.0).recordsNext());
}

TEST(OverheadGovernor, FollowsStepsThatBecomeMoreExpensive) {
  OverheadGovernor governor(0.01, 100.0);
  for (int i = 0; i < 100; ++i) {
    governor.endRecorded(10, 1e6);
    governor.endUnrecorded(1e6);
  }
  EXPECT_TRUE(governor.recordsNext());
  governor.endRecorded(50000, 1e6);
  EXPECT_FALSE(governor.recordsNext());
}

}  // namespace
}  // namespace steptape::detail::profile
