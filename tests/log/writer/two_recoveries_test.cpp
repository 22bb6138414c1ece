// SPDX-License-Identifier: Apache-2.0
//
// Two processes that recover the same killed one at the same time, or one that starts meanwhile.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "log/writer/faulty_file_system.h"
#include "log/writer/killed_run.h"
#include "log/writer/recovery.h"
#include "process/blackbox/box_file.h"
#include "process/blackbox/box_folder.h"
#include "process/blackbox/process_box.h"
#include "support/traced_child.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::log::recoverRuns;
using detail::process::BoxName;
using detail::process::DeadBox;
using detail::process::listBoxes;
using detail::process::ProcessBox;
using ::testing::Each;

class TwoRecoveriesTest : public KilledRunTest {
 protected:
  /// Runs `body` in several children at the same time.
  /// @return their wait statuses.
  std::vector<int> together(int children, const std::function<void()>& body) {
    std::fflush(nullptr);
    noted_->ready = 0;
    for (int i = 0; i < children; ++i) {
      if (fork() == 0) {
        ++noted_->ready;
        while (noted_->ready < children) {
        }
        body();
        std::exit(0);
      }
    }
    std::vector<int> statuses(static_cast<std::size_t>(children));
    for (int& status : statuses) {
      wait(&status);
    }
    return statuses;
  }
};

TEST_F(TwoRecoveriesTest, TheSecondOneLeavesTheBoxToTheFirst) {
  leaveADeadWriter();
  std::fflush(nullptr);
  const pid_t first = fork();
  if (first == 0) {
    FaultyFileSystem disk;
    disk.stall();
    std::thread resumer([&] {
      while (disk.writes() == 0) {
        std::this_thread::yield();
      }
      noted_->isWriting = true;
      while (!noted_->mayGoOn) {
        std::this_thread::yield();
      }
      disk.resume();
    });
    const bool isDone = recoverRuns({run()}).processes.size() == 1;
    resumer.join();
    _exit(isDone ? 0 : 1);
  }
  while (!noted_->isWriting) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(recoverRuns({run()}).processes.empty());
  EXPECT_TRUE(recoverRuns({}).processes.empty());
  noted_->mayGoOn = true;
  int status = 0;
  waitpid(first, &status, 0);
  EXPECT_EQ(status, 0);
  expectNextWriterFindsEverything();
}

TEST_F(TwoRecoveriesTest, ByToolsBringEverythingOnce) {
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    std::filesystem::remove_all(run());
    new (&*noted_) Noted{};
    leaveADeadWriter();
    EXPECT_THAT(together(2, [this] { recoverRuns({run()}); }), Each(0));
    expectNextWriterFindsEverything();
  }
}

TEST_F(TwoRecoveriesTest, ByWritersThatStartTogetherBringEverythingOnce) {
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    std::filesystem::remove_all(run());
    new (&*noted_) Noted{};
    leaveADeadWriter();
    EXPECT_THAT(together(2,
                         [this] {
                           WriterOptions options;
                           options.occupied = OccupiedRun::kShare;
                           SummaryWriter writer(run(), options);
                           writer.addText("note " + std::to_string(getpid()), "together", 1);
                         }),
                Each(0));
    expectNextWriterFindsEverything();
  }
}

TEST_F(TwoRecoveriesTest, AStartThatARecoveryTakesForADeathBeginsAgain) {
  noted_->isCounting = true;
  int claims = 0;
  const auto claimBeforeTheHeader = [&](const test::CallStop& call) {
    const std::vector<BoxName> boxes = listBoxes(boxes_.folder());
    if (call.number == SYS_write && boxes.size() == 1 && claims == 0) {
      ++claims;
      EXPECT_EQ(DeadBox().claim(boxes.front()), DeadBox::State::kNothing);
    }
    return false;
  };
  const auto start = [] {
    Status why;
    const std::shared_ptr<ProcessBox> box = ProcessBox::acquire(&why);
    _exit(box != nullptr && hasBoxFile(box->name(), "id") ? 0 : 1);
  };
  const test::TracedEnd end =
      test::runAndKillAtStop(0, noted_->isCounting, claimBeforeTheHeader, start);
  if (end.isRefused || end.hasUnknownCalls) {
    GTEST_SKIP() << "the operating system does not let a process trace its children";
  }
  EXPECT_EQ(claims, 1);
  EXPECT_EQ(end.status, 0);
}

}  // namespace
}  // namespace steptape
