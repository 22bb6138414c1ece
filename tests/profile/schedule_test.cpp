// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "steptape/base/status.h"
#include "steptape/profile/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ThrowsMessage;

/// Returns the first `steps` actions as letters: . none, w warm-up, r record, S record and save.
std::string actions(const ProfilerSchedule& schedule, std::int64_t steps) {
  std::string letters;
  for (std::int64_t step = 0; step < steps; ++step) {
    letters += ".wrS"[static_cast<int>(schedule.actionAt(step))];
  }
  return letters;
}

ProfilerSchedule schedule(std::int64_t skipFirst, std::int64_t wait, std::int64_t warmup,
                          std::int64_t active, std::int64_t repeat) {
  return {skipFirst, wait, warmup, active, repeat};
}

// The results of torch.profiler.schedule(wait=, warmup=, active=, repeat=, skip_first=) in PyTorch
// 2.13.
TEST(ProfilerSchedule, RepeatsItsCycleAsOftenAsAsked) {
  EXPECT_EQ(actions(schedule(0, 1, 1, 3, 2), 14), ".wrrS.wrrS....");
}

TEST(ProfilerSchedule, SkipsTheFirstStepsOnceOnly) {
  EXPECT_EQ(actions(schedule(3, 1, 1, 2, 2), 14), "....wrS.wrS...");
}

TEST(ProfilerSchedule, RepeatsForEverWithoutACount) {
  EXPECT_EQ(actions(schedule(0, 2, 0, 1, 0), 12), "..S..S..S..S");
}

TEST(ProfilerSchedule, RecordsEveryStepInWindowsOfOneWhenOnlyActiveIsSet) {
  EXPECT_EQ(actions(schedule(0, 0, 0, 1, 0), 5), "SSSSS");
}

TEST(ProfilerSchedule, RecordsOneEndlessWindowByDefault) {
  EXPECT_EQ(actions({}, 5), "rrrrr");
}

TEST(ProfilerSchedule, KeepsSkippingAndWarmingUpBeforeAnEndlessWindow) {
  EXPECT_EQ(actions(schedule(1, 2, 1, 0, 1), 8), "...wrrrr");
}

TEST(ProfilerSchedule, IsOverAfterItsLastCycle) {
  const ProfilerSchedule two = schedule(1, 1, 1, 2, 2);
  EXPECT_FALSE(two.isOverAt(0));
  EXPECT_FALSE(two.isOverAt(8));
  EXPECT_TRUE(two.isOverAt(9));
  EXPECT_FALSE(schedule(0, 0, 0, 1, 0).isOverAt(1000)) << "it repeats for ever";
  EXPECT_FALSE(ProfilerSchedule().isOverAt(1000)) << "its window has no end";
}

TEST(ProfilerSchedule, NamesTheFieldThatIsNegative) {
  EXPECT_THAT([] { schedule(0, 1, -2, 3, 0).check(); },
              ThrowsMessage<Error>("ProfilerSchedule::warmup: got -2; expected 0 or more"));
  EXPECT_THAT([] { schedule(0, 1, 2, 3, -1).check(); },
              ThrowsMessage<Error>("ProfilerSchedule::repeat: got -1; expected 0 or more"));
  EXPECT_NO_THROW(schedule(0, 1, 2, 3, 4).check());
}

}  // namespace
}  // namespace steptape
