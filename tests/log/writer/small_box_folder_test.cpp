// SPDX-License-Identifier: Apache-2.0
//
// Folders for black boxes that have little room, none, or are read-only: logging goes on as without
// a box, no process ends by SIGBUS, and the loss of protection is reported once.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "log/writer/run_contents.h"
#include "support/content_of.h"
#include "support/own_black_boxes.h"
#include "support/own_mounts.h"
#include "support/shared_object.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;

constexpr int kThreads = 8;
constexpr std::int64_t kSteps = 3000;

/// What the child reports.
struct Reported {
  std::atomic<bool> isMounted;
  std::atomic<int> errors;
  char error[1024];
};

class SmallBoxFolderTest : public ::testing::Test {
 protected:
  std::string run() const { return logs_.string() + "/run"; }
  std::string printed() const { return test::contentOf(logs_.string() + "/stderr"); }

  /// Runs a program whose folder for black boxes is a tmpfs of its own.
  void log(const std::string& options, const std::function<void()>& afterMount,
           const std::function<void()>& afterStart) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      const bool isMounted = test::takeOwnMounts() && test::mountTmpfs(boxes_.folder(), options);
      reported_->isMounted = isMounted;
      if (isMounted) {
        static_cast<void>(!std::freopen((logs_.string() + "/stderr").c_str(), "w", stderr));
        afterMount();
        logFromThreads(afterStart);
      }
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0) << "signal " << WTERMSIG(status);
    if (!reported_->isMounted) {
      GTEST_SKIP() << "no right to mount a small tmpfs";
    }
    const Curves curves = scalarsIn(run());
    for (int t = 0; t < kThreads; ++t) {
      const auto& points = curves.at("thread" + std::to_string(t));
      ASSERT_EQ(points.size(), static_cast<std::size_t>(kSteps));
      for (std::int64_t step = 0; step < kSteps; ++step) {
        ASSERT_EQ(points[static_cast<std::size_t>(step)],
                  std::make_pair(step, static_cast<float>(step)));
      }
    }
  }

  void logFromThreads(const std::function<void()>& afterStart) {
    WriterOptions options;
    options.onError = [this](const Status& status) {
      if (reported_->errors++ == 0) {
        status.message().copy(reported_->error, sizeof(reported_->error) - 1);
      }
    };
    SummaryWriter writer(run(), options);
    std::vector<std::thread> threads;
    std::atomic<int> begun{0};
    std::atomic<bool> goOn{false};
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (std::int64_t step = 0; step < kSteps; ++step) {
          writer.addScalar("thread" + std::to_string(t), static_cast<float>(step), step);
          if (step == 0) {
            // All at once, so that each has a ring of its own.
            ++begun;
            while (!goOn) {
              std::this_thread::yield();
            }
          }
        }
      });
    }
    while (begun < kThreads || writer.stats().scalars == 0) {
      std::this_thread::yield();
    }
    afterStart();
    goOn = true;
    for (std::thread& thread : threads) {
      thread.join();
    }
    if (!writer.flush().ok()) {
      _exit(2);
    }
  }

  void expectOneReport() {
    EXPECT_EQ(reported_->errors, 1);
    EXPECT_THAT(std::string(reported_->error),
                HasSubstr("a process that is killed may now lose the scalars of the last second"));
    const std::string text = printed();
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 1) << text;
  }

  test::OwnBlackBoxes boxes_;
  testing::TempDir logs_;
  test::SharedObject<Reported> reported_;
};

void nothing() {}

TEST_F(SmallBoxFolderTest, With1MiBKeepsTheStateAndLogsFromAllThreads) {
  log("size=1m", nothing, nothing);
  if (!IsSkipped() && !HasFailure()) {
    expectOneReport();
    EXPECT_EQ(printed(), "");
  }
}

TEST_F(SmallBoxFolderTest, With64KiBLogsAsWithoutABox) {
  log("size=64k", nothing, nothing);
  if (!IsSkipped() && !HasFailure()) {
    expectOneReport();
    EXPECT_THAT(printed(), HasSubstr("the state of this process is not kept"));
  }
}

TEST_F(SmallBoxFolderTest, WithoutRoomLogsAsWithoutABox) {
  log(
      "size=64k", [this] { test::fillUp(boxes_.folder()); }, nothing);
  if (!IsSkipped() && !HasFailure()) {
    expectOneReport();
    EXPECT_THAT(reported_->error, HasSubstr("No space left on device"));
  }
}

TEST_F(SmallBoxFolderTest, WithoutRoomForAnotherFileLogsAsWithoutABox) {
  log("nr_inodes=1", nothing, nothing);
  if (!IsSkipped() && !HasFailure()) {
    expectOneReport();
  }
}

TEST_F(SmallBoxFolderTest, ThatIsReadOnlyLogsAsWithoutABox) {
  log(
      "size=64m",
      [this] {
        if (!test::makeReadOnly(boxes_.folder())) {
          _exit(3);
        }
      },
      nothing);
  if (!IsSkipped() && !HasFailure()) {
    expectOneReport();
    EXPECT_THAT(reported_->error, HasSubstr("Read-only file system"));
  }
}

TEST_F(SmallBoxFolderTest, ThatBecomesFullIsReportedOnceAndLoggingGoesOn) {
  log("size=16m", nothing, [this] { test::fillUp(boxes_.folder()); });
  if (!IsSkipped() && !HasFailure()) {
    expectOneReport();
    EXPECT_THAT(reported_->error, HasSubstr("No space left on device"));
  }
}

}  // namespace
}  // namespace steptape
