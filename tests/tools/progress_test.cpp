// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/terminal/progress.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <string>

#include "steptape/ranks/testing.h"

#include <gmock/gmock.h>

namespace steptape::tools {
namespace {

using std::chrono::milliseconds;
using steptape::testing::FakeClock;
using ::testing::HasSubstr;

constexpr std::uint64_t kMebibyte = 1024 * 1024;

/// Uses a file in place of the terminal.
class ProgressTest : public ::testing::Test {
 protected:
  ~ProgressTest() override { std::fclose(terminal_); }

  /// Returns the output since the last call.
  std::string drawn() {
    std::fflush(terminal_);
    std::fseek(terminal_, read_, SEEK_SET);
    std::string text;
    for (int c = std::fgetc(terminal_); c != EOF; c = std::fgetc(terminal_)) {
      text += static_cast<char>(c);
    }
    read_ = std::ftell(terminal_);
    return text;
  }

  std::FILE* terminal_ = std::tmpfile();
  FakeClock clock_;

 private:
  long read_ = 0;
};

TEST(ProgressLine, ShowsShareRateAndTimeLeft) {
  EXPECT_EQ(progressLine("reading", 50 * kMebibyte, 200 * kMebibyte, 2, 100),
            "reading [======>                 ]  25 %  25.0 MiB/s  6.0 s left");
}

TEST(ProgressLine, HasNoRateBeforeTheFirstByte) {
  EXPECT_EQ(progressLine("reading", 0, 200, 2, 100), "reading [>                       ]   0 %");
}

TEST(ProgressLine, StaysAtTheEndWhenAFileHasGrown) {
  EXPECT_EQ(progressLine("reading", 300, 200, 1, 100),
            "reading [========================] 100 %  300 B/s  0 ms left");
}

TEST(ProgressLine, ShrinksItsBarFirst) {
  EXPECT_EQ(progressLine("reading", 50 * kMebibyte, 200 * kMebibyte, 2, 48),
            "reading [==>     ]  25 %  25.0 MiB/s  6.0 s left");
}

TEST(ProgressLine, LeavesOutTheRateOnANarrowTerminal) {
  EXPECT_EQ(progressLine("reading", 50 * kMebibyte, 200 * kMebibyte, 2, 47),
            "reading [====>              ]  25 %  6.0 s left");
  EXPECT_EQ(progressLine("exporting", 200, 200, 2, 39), "exporting [==========] 100 %  0 ms left");
}

TEST(ProgressLine, ThenLeavesOutTheTime) {
  EXPECT_EQ(progressLine("reading", 1, 2, 1, 30), "reading [=======>      ]  50 %");
}

TEST(ProgressLine, IsNeverLongerThanTheLine) {
  EXPECT_EQ(progressLine("reading", 1, 2, 1, 20), "reading  50 %");
  EXPECT_EQ(progressLine("reading", 1, 2, 1, 5), "readi");
  EXPECT_EQ(progressLine("reading", 1, 2, 1, 0), "");
}

TEST_F(ProgressTest, AppearsAfterHalfASecond) {
  Progress progress("reading", 100, terminal_, clock_);
  clock_.advance(milliseconds(499));
  progress.set(10);
  EXPECT_EQ(drawn(), "");
  clock_.advance(milliseconds(1));
  progress.set(20);
  EXPECT_THAT(drawn(), HasSubstr("\r\033[Kreading [====>                   ]  20 %  40 B/s"));
}

TEST_F(ProgressTest, IsDrawnAtMostTenTimesASecond) {
  Progress progress("reading", 100, terminal_, clock_);
  clock_.advance(milliseconds(500));
  progress.set(20);
  drawn();
  clock_.advance(milliseconds(99));
  progress.set(30);
  EXPECT_EQ(drawn(), "");
  clock_.advance(milliseconds(1));
  progress.set(40);
  EXPECT_THAT(drawn(), HasSubstr(" 40 %"));
}

TEST_F(ProgressTest, AddsUpParts) {
  Progress progress("reading", 100, terminal_, clock_);
  progress.part()(30);
  const auto second = progress.part();
  clock_.advance(milliseconds(500));
  second(20);
  EXPECT_THAT(drawn(), HasSubstr(" 50 %"));
}

TEST_F(ProgressTest, ErasesItself) {
  {
    Progress progress("reading", 100, terminal_, clock_);
    clock_.advance(milliseconds(500));
    progress.set(20);
    drawn();
  }
  EXPECT_EQ(drawn(), "\r\033[K");
}

TEST_F(ProgressTest, ErasesOnlyADrawnBar) {
  {
    Progress progress("reading", 100, terminal_, clock_);
    progress.set(20);
    progress.clear();
  }
  EXPECT_EQ(drawn(), "");
}

TEST_F(ProgressTest, DrawsNothingWithoutATerminal) {
  Progress progress("reading", 100, nullptr, clock_);
  clock_.advance(milliseconds(5000));
  progress.set(20);
  progress.clear();
  EXPECT_EQ(drawn(), "");
}

}  // namespace
}  // namespace steptape::tools
