// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <fstream>

#include "steptape/ranks/testing.h"

#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace steptape::testing {
namespace {

TEST(FakeClock, StandsStillUntilItIsMoved) {
  FakeClock clock(1700000000.5);
  EXPECT_EQ(clock.wallSeconds(), 1700000000.5);
  EXPECT_EQ(clock.wallSeconds(), 1700000000.5);
  EXPECT_EQ(clock.steadyNanos(), 0);
}

TEST(FakeClock, AdvancesBothTimes) {
  FakeClock clock(100);
  clock.advance(std::chrono::milliseconds(250));
  EXPECT_EQ(clock.wallSeconds(), 100.25);
  EXPECT_EQ(clock.steadyNanos(), 250000000);
}

TEST(FakeClock, MayBeSetBackWithoutTheSteadyTime) {
  FakeClock clock(100);
  clock.advance(std::chrono::seconds(1));
  clock.setWallSeconds(50);
  EXPECT_EQ(clock.wallSeconds(), 50);
  EXPECT_EQ(clock.steadyNanos(), 1000000000);
}

TEST(FakeClock, RefusesToTakeTheSteadyTimeBack) {
  FakeClock clock;
  test::expectError(ErrorCode::kInvalidArgument,
                    "FakeClock::advance: got -1 ns; expected 0 or more",
                    [&] { clock.advance(std::chrono::nanoseconds(-1)); });
}

TEST(TempDir, IsEmptyAndUnique) {
  const TempDir first;
  const TempDir second;
  EXPECT_NE(first.path(), second.path());
  EXPECT_TRUE(std::filesystem::is_empty(first.path()));
}

TEST(TempDir, IsRemovedWithItsContent) {
  std::filesystem::path path;
  {
    const TempDir directory;
    path = directory.path();
    std::filesystem::create_directories(path / "runs" / "a");
    std::ofstream(path / "runs" / "a" / "file") << "bytes";
    ASSERT_TRUE(std::filesystem::exists(directory.string() + "/runs/a/file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace steptape::testing
