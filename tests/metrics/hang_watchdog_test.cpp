// SPDX-License-Identifier: Apache-2.0
#include "steptape/metrics/hang_watchdog.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "steptape/process/zone.h"

#include "metrics/hang_job.h"
#include "metrics/read_back.h"
#include "support/content_of.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::HangWatchdogTest;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(HangWatchdogTest, TellsWhereAStepHangs) {
  train(impatient(), noteStep, [&](HangWatchdog&) {
    STEPTAPE_ZONE("next batch");
    hang();
  });
  EXPECT_THAT(test::contentOf(told()),
              AllOf(StartsWith("no step has ended for "), HasSubstr("step 7, zone 'next batch'")));
}

TEST_F(HangWatchdogTest, WritesTheReportIntoTheRunAndAFile) {
  train(impatient(), noteStep, [&](HangWatchdog&) { hang(); });
  const std::string report = test::contentOf(told());
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(run() + "/black_box")) {
    files.push_back(entry.path().string());
  }
  ASSERT_THAT(files, ElementsAre(HasSubstr("/hang-")));
  EXPECT_EQ(test::contentOf(files.front()), report);
  const auto values = test::readValues(run());
  ASSERT_EQ(values.count("steptape/hang"), 1U);
  EXPECT_THAT(std::get<event::Tensor>(values.at("steptape/hang").front().data).strings,
              ElementsAre(AllOf(HasSubstr(report.substr(0, report.find('\n')) + "\n\n- process "),
                                Not(HasSubstr("\n  ")))));
}

TEST_F(HangWatchdogTest, SeesThatLoggedStepsStop) {
  train(
      impatient(),
      [](SummaryWriter& writer, std::int64_t step) {
        writer.addScalar("loss", 1, step);
        EXPECT_TRUE(writer.flush().ok());
      },
      [&](HangWatchdog&) { hang(); });
  EXPECT_THAT(test::contentOf(told()), StartsWith("no step has ended for "));
}

TEST_F(HangWatchdogTest, IsSilentBetweenPauseAndResume) {
  train(impatient(), noteStep, [&](HangWatchdog& watchdog) {
    watchdog.pause();
    std::this_thread::sleep_for(std::chrono::seconds(3));
    EXPECT_FALSE(std::filesystem::exists(told()));
    watchdog.resume();
    hang();
  });
  EXPECT_TRUE(std::filesystem::exists(told()));
}

TEST_F(HangWatchdogTest, WritesTheReportOfARunningJobIfAFileAsksForIt) {
  const std::string request = run() + "/dump_now";
  train(impatient(), noteStep, [&](HangWatchdog& watchdog) {
    watchdog.pause();
    STEPTAPE_ZONE("next batch");
    std::ofstream(request).put('\n');
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(50);
    while (std::filesystem::exists(request) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  EXPECT_FALSE(std::filesystem::exists(request));
  EXPECT_FALSE(std::filesystem::exists(told()));
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(run() + "/black_box")) {
    files.push_back(entry.path().string());
  }
  ASSERT_THAT(files, ElementsAre(HasSubstr("/dump-")));
  const std::string report = test::contentOf(files.front());
  EXPECT_THAT(report, AllOf(StartsWith("what the ranks of this node do, as "),
                            HasSubstr("/run/dump_now asks\n  process "),
                            HasSubstr(": step 7, zone 'next batch', for ")));
  const auto values = test::readValues(run());
  ASSERT_EQ(values.count("steptape/dump"), 1U);
  EXPECT_THAT(
      std::get<event::Tensor>(values.at("steptape/dump").front().data).strings,
      ElementsAre(AllOf(HasSubstr("/run/dump\\_now asks\n\n- process "), Not(HasSubstr("\n  ")))));
}

TEST_F(HangWatchdogTest, RefusesLimitsOutOfTheirRanges) {
  SummaryWriter writer(run());
  const auto refuses = [&](const HangWatchdogOptions& options, const std::string& message) {
    test::expectInvalidArgument([&] { HangWatchdog(writer, options); }, message);
  };
  HangWatchdogOptions options;
  options.minimum = std::chrono::milliseconds(9);
  refuses(options, "HangWatchdogOptions::minimum: got 9 ms; expected at least 10 ms");
  options = {};
  options.factor = 0.5;
  refuses(options, "HangWatchdogOptions::factor: got 0.500000; expected at least 1");
  options = {};
  options.firstLimit = std::chrono::seconds(10);
  refuses(options,
          "HangWatchdogOptions::firstLimit: got 10000 ms; expected at least `minimum`, 60000 ms");
}

}  // namespace
}  // namespace steptape
