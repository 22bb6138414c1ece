// SPDX-License-Identifier: Apache-2.0
#include "profile/overhead_governor.h"

#include <gtest/gtest.h>

namespace steptape::detail {
namespace {

/// How many of `steps` steps of 1 ms are recorded, if each has `spans` spans of 100 ns.
int recordedOf(int steps, double maxShare, std::uint64_t spans, double extraNanos = 0.0) {
  OverheadGovernor governor(maxShare, 100.0);
  int recorded = 0;
  for (int i = 0; i < steps; ++i) {
    if (governor.recordsNext()) {
      governor.endRecorded(spans, 1e6, extraNanos);
      ++recorded;
    } else {
      governor.endUnrecorded(1e6);
    }
  }
  EXPECT_LE(governor.share(), maxShare + 1e-3) << "one step may be over, the first";
  return recorded;
}

TEST(OverheadGovernor, RecordsAllButEveryEighthStepWhileThatIsCheap) {
  EXPECT_NEAR(recordedOf(1000, 0.02, 100), 875, 15);
}

TEST(OverheadGovernor, RecordsEveryStepWithoutABound) {
  OverheadGovernor governor(1.0, 100.0);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(governor.recordsNext());
    governor.endRecorded(1000000, 1e6, 0.0);
  }
}

TEST(OverheadGovernor, NoticesThatRecordedStepsTakeLonger) {
  // 1 % as far as spans are counted, and 10 % in truth.
  OverheadGovernor governor(0.01, 100.0);
  int recorded = 0;
  for (int i = 0; i < 3000; ++i) {
    if (governor.recordsNext()) {
      governor.endRecorded(100, 1.1e6, 0.0);
      ++recorded;
    } else {
      governor.endUnrecorded(1e6);
    }
  }
  EXPECT_NEAR(recorded, 300, 30);
}

TEST(OverheadGovernor, RecordsAsManyStepsAsTheShareAllows) {
  // 300 spans of 100 ns are 3 % of a step.
  EXPECT_NEAR(recordedOf(3000, 0.01, 300), 1000, 2);
  EXPECT_NEAR(recordedOf(3000, 0.001, 300), 100, 2);
}

TEST(OverheadGovernor, CountsWhatElseRecordingCosts) {
  EXPECT_NEAR(recordedOf(3000, 0.01, 0, 30000), 1000, 2);
}

TEST(OverheadGovernor, AlwaysRecordsTheFirstStep) {
  EXPECT_TRUE(OverheadGovernor(1e-9, 100.0).recordsNext());
}

TEST(OverheadGovernor, FollowsStepsThatBecomeDearer) {
  OverheadGovernor governor(0.01, 100.0);
  for (int i = 0; i < 100; ++i) {
    governor.endRecorded(10, 1e6, 0.0);
    governor.endUnrecorded(1e6);
  }
  EXPECT_TRUE(governor.recordsNext());
  governor.endRecorded(50000, 1e6, 0.0);
  EXPECT_FALSE(governor.recordsNext());
}

}  // namespace
}  // namespace steptape::detail
