// SPDX-License-Identifier: Apache-2.0
#include "base/running_time.h"

#include <gtest/gtest.h>

namespace steptape::detail::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(RunningTime, AddsUpTheTimeBetweenLooks) {
  RunningTime time;
  const RunningTime::Clock::time_point start = RunningTime::Clock::now();
  time.restart(start);
  EXPECT_EQ(time.look(start + milliseconds(300)), milliseconds(300));
  EXPECT_EQ(time.look(start + milliseconds(900)), milliseconds(900));
  EXPECT_EQ(time.passed(), milliseconds(900));
  time.restart(start + seconds(2));
  EXPECT_EQ(time.look(start + seconds(2)), milliseconds(0));
}

TEST(RunningTime, CountsLittleOfAStopOfTheProcess) {
  RunningTime time;
  const RunningTime::Clock::time_point start = RunningTime::Clock::now();
  time.restart(start);
  time.look(start + milliseconds(500));
  EXPECT_EQ(time.look(start + minutes(11)), milliseconds(1500));
}

}  // namespace
}  // namespace steptape::detail::base
