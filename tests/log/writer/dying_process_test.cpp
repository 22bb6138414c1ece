// SPDX-License-Identifier: Apache-2.0
// A process that is killed keeps its black box until the kernel has freed its memory, and whoever
// recovers its run at once must neither miss it nor call the run complete.

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "log/writer/killed_run.h"
#include "log/writer/recovery.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::log::recoverRuns;
using detail::log::RecoveryReport;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DyingProcessTest : public KilledRunTest {
 protected:
  /// Starts a process that has logged two scalars, which are not in its file yet.
  /// @param bytes Of memory that the kernel frees before it ends the process.
  /// @param then What the process does when it has logged.
  pid_t startedWriter(
      std::size_t bytes, const std::function<void()>& then = [] {}) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      SummaryWriter writer(run(), lazy());
      addLoss(&writer, 2);
      // Small pages, which the kernel frees one by one.
      void* const memory =
          mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      madvise(memory, bytes, MADV_NOHUGEPAGE);
      std::memset(memory, 1, bytes);
      then();
      noted_->isWriting = true;
      while (true) {
        pause();
      }
    }
    while (!noted_->isWriting) {
      std::this_thread::yield();
    }
    return child;
  }

  /// Gives up the locks of this process: whoever closes a file loses all locks that it has of it.
  void closeBoxes() const {
    for (const auto& entry : std::filesystem::directory_iterator(boxes_.folder())) {
      close(open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    }
  }
};

TEST_F(DyingProcessTest, IsWaitedFor) {
  const pid_t child = startedWriter(std::size_t{256} << 20);
  const auto begin = std::chrono::steady_clock::now();
  kill(child, SIGKILL);
  RecoveryReport report = recoverRuns({run()});
  // A machine may need longer than the recovery waits; it says so then. And for a moment between
  // signal and end nothing tells that the process is killed.
  while (!report.living.empty() ||
         (report.processes.size() == 1 && report.processes.front().isKept)) {
    if (report.living.empty()) {
      EXPECT_THAT(report.processes.front().problems, Each(HasSubstr("has not ended yet")));
      EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
    }
    report = recoverRuns({run()});
  }
  ASSERT_THAT(report.processes, SizeIs(1));
  EXPECT_EQ(report.processes.front().values, 2U);
  waitpid(child, nullptr, 0);
}

TEST_F(DyingProcessTest, IsNotTakenForOneThatLives) {
  const pid_t child = startedWriter(4096);
  const RecoveryReport report = recoverRuns({run()});
  EXPECT_THAT(report.processes, IsEmpty());
  ASSERT_THAT(report.living, SizeIs(1));
  EXPECT_EQ(report.living.front().pid, static_cast<std::uint64_t>(child));
  EXPECT_THAT(report.living.front().program, HasSubstr("dying_process_test"));
  EXPECT_THAT(report.living.front().directories, ElementsAre(EndsWith("/run")));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_THAT(recoverRuns({run()}).living, IsEmpty());
}

// The last moment of a process: it has given up its locks and has not ended yet.
TEST_F(DyingProcessTest, IsSeenWithoutItsLock) {
  const pid_t child = startedWriter(4096, [this] { closeBoxes(); });
  const RecoveryReport report = recoverRuns({run()});
  EXPECT_THAT(report.processes, IsEmpty());
  EXPECT_THAT(report.living, SizeIs(1));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_THAT(recoverRuns({run()}).processes, SizeIs(1));
}

TEST_F(DyingProcessTest, ComesOnceIfTwoRecoveriesMetIt) {
  const pid_t child = startedWriter(4096);
  RecoveryReport report = recoverRuns({run()});
  report.add(recoverRuns({}));
  EXPECT_THAT(report.living, SizeIs(1));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace steptape
