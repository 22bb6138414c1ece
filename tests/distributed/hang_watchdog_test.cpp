// SPDX-License-Identifier: Apache-2.0
#include "steptape/distributed/hang_watchdog.h"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <variant>
#include <vector>

#include "steptape/span/zone.h"
#include "steptape/testing/temp_dir.h"

#include "blackbox/state_child.h"
#include "blackbox/state_page.h"
#include "blackbox/state_queries.h"
#include "distributed/read_back.h"
#include "support/content_of.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Trains in a child process, which may hang and die.
class HangWatchdogTest : public test::StateTest {
 protected:
  std::string run() const { return logs_.string() + "/run"; }
  std::string told() const { return logs_.string() + "/told.txt"; }

  /// Limits that a test can wait for.
  HangWatchdogOptions impatient() const {
    HangWatchdogOptions options;
    options.minimum = std::chrono::milliseconds(300);
    options.onHang = [path = told()](const std::string& report) {
      std::ofstream(path + ".part") << report;
      std::filesystem::rename(path + ".part", path);
    };
    return options;
  }

  /// Takes steps in a child, each of which calls `step`, and then does `last`.
  ///
  /// @return the wait status.
  int train(const HangWatchdogOptions& options,
            const std::function<void(SummaryWriter&, std::int64_t)>& step,
            const std::function<void(HangWatchdog&)>& last) {
    test::StateChild child([&](const test::StateChild::Ready&) {
      SummaryWriter writer(run());
      HangWatchdog watchdog(writer, options);
      for (std::int64_t i = 0; i < 8; ++i) {
        step(writer, i);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
      last(watchdog);
    });
    return child.end();
  }

  static void noteStep(SummaryWriter&, std::int64_t step) {
    detail::StatePage::current()->noteStep(step);
  }

  /// Hangs until the watchdog has told, but not for more than a bound.
  void hang() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(50);
    while (!std::filesystem::exists(told()) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  const testing::TempDir logs_;
};

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
              ElementsAre(HasSubstr(report)));
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

TEST_F(HangWatchdogTest, EndsTheJobAtTheThreadThatHangs) {
  HangWatchdogOptions options = impatient();
  options.endJob = true;
  const int status = train(options, noteStep, [&](HangWatchdog&) {
    std::thread([] {
      STEPTAPE_ZONE("waits for ever");
      std::this_thread::sleep_for(std::chrono::seconds(50));
    }).join();
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  EXPECT_THAT(test::contentOf(told()), HasSubstr("the job ends now"));
  const detail::RankState last = state();
  EXPECT_EQ(last.death.signal, SIGABRT);
  EXPECT_THAT(last.lastError, StartsWith("no step has ended for "));
  ASSERT_FALSE(last.threads.empty());
  EXPECT_EQ(last.death.tid, detail::mainThread(last)->tid);
  EXPECT_NE(last.death.tid, last.process.pid);
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
