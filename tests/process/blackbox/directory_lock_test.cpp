// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/directory_lock.h"

#include <array>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/ranks/testing.h"

#include "process/blackbox/job_identity.h"
#include "support/saying_child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::process {
namespace {

namespace fs = std::filesystem;
using test::SayingChild;
using ::testing::StartsWith;

class DirectoryLockTest : public ::testing::Test {
 protected:
  /// Tries to take the lock, and keeps it to the end of the test.
  /// @return "taken" or who has it.
  std::string take(const DirectoryLock::Times& times = {}) {
    DirectoryLock::Result result = DirectoryLock::acquire(directory_.string(), "", times);
    kept_.push_back(result.lock);
    return result.lock != nullptr ? "taken" : result.holder + result.problem.message();
  }

  /// Leaves the file of a process of another machine.
  void leaveFileOfAnotherMachine() const {
    JobIdentity job;
    job.process = "process 7 on node9";
    job.job = "job 41 of Slurm";
    job.user = "1000";
    std::ofstream(file_) << "steptape owner 1\nanother boot\n" << job.encode();
  }

  const testing::TempDir directory_;
  const std::string file_ = directory_.string() + "/.steptape_owner";
  std::vector<std::shared_ptr<DirectoryLock>> kept_;
  const DirectoryLock::Times fast_{std::chrono::milliseconds(20), std::chrono::milliseconds(500)};
};

TEST_F(DirectoryLockTest, TellsAnotherProcessWhoHasIt) {
  const DirectoryLock::Result mine = DirectoryLock::acquire(directory_.string());
  ASSERT_NE(mine.lock, nullptr) << mine.problem.message();
  EXPECT_TRUE(mine.holder.empty());
  const SayingChild other([&] { return take(); });
  EXPECT_THAT(other.said(), StartsWith("process " + std::to_string(::getpid()) + " on "));
}

TEST_F(DirectoryLockTest, IsSeenByALookThatDoesNotTakeIt) {
  EXPECT_FALSE(DirectoryLock::look(directory_.string()));
  EXPECT_FALSE(DirectoryLock::look(directory_.string() + "/missing"));
  SayingChild other([&] { return take(); });
  ASSERT_EQ(other.said(), "taken");
  const auto sign = DirectoryLock::look(directory_.string());
  ASSERT_TRUE(sign);
  EXPECT_THAT(sign->owner, StartsWith("process " + std::to_string(other.pid()) + " on "));
  EXPECT_TRUE(sign->isFresh({}));
  EXPECT_EQ(SayingChild([&] { return take(); }).said(), sign->owner);
}

TEST_F(DirectoryLockTest, LooksOldIfItsProcessHasNotRenewedIt) {
  leaveFileOfAnotherMachine();
  fs::last_write_time(file_, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  const auto sign = DirectoryLock::look(directory_.string());
  ASSERT_TRUE(sign);
  EXPECT_THAT(sign->owner, StartsWith("process 7 on node9"));
  EXPECT_FALSE(sign->isFresh({}));
}

TEST_F(DirectoryLockTest, IsOneForAllOfAProcess) {
  DirectoryLock::Result one = DirectoryLock::acquire(directory_.string());
  DirectoryLock::Result two = DirectoryLock::acquire(directory_.string() + "/.");
  EXPECT_EQ(one.lock, two.lock);
  one.lock.reset();
  EXPECT_TRUE(fs::exists(file_));
  two.lock.reset();
  EXPECT_TRUE(fs::is_empty(directory_.string()));
  const SayingChild other([&] { return take(); });
  EXPECT_EQ(other.said(), "taken");
}

TEST_F(DirectoryLockTest, IsNeverRefusedToItsOwnProcess) {
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 300; ++k) {
        const DirectoryLock::Result result = DirectoryLock::acquire(directory_.string());
        refused += result.lock == nullptr ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(refused, 0);
}

TEST_F(DirectoryLockTest, WithAnotherSuffixIsAnotherOne) {
  const DirectoryLock::Result mine = DirectoryLock::acquire(directory_.string(), ".eval");
  const SayingChild other([&] { return take(); });
  EXPECT_EQ(other.said(), "taken");
}

TEST_F(DirectoryLockTest, IsFreeAfterItsProcessWasKilled) {
  SayingChild other([&] { return take(); });
  EXPECT_EQ(other.said(), "taken");
  EXPECT_NE(take(), "taken");
  other.kill();
  EXPECT_EQ(take(), "taken");
}

TEST_F(DirectoryLockTest, IsNotKeptByAChildOfItsProcess) {
  SayingChild parent([&] {
    std::string said = take();
    std::array<int, 2> begun{};
    EXPECT_EQ(::pipe(begun.data()), 0);
    const pid_t child = ::fork();
    char byte = 0;
    if (child == 0) {
      static_cast<void>(!::write(begun[1], &byte, 1));
      while (true) {
        ::pause();
      }
    }
    EXPECT_EQ(::read(begun[0], &byte, 1), 1) << "until the child has left fork()";
    return said + " " + std::to_string(child);
  });
  parent.kill();
  EXPECT_EQ(take(), "taken");
  ::kill(std::stoi(parent.said().substr(parent.said().find(' '))), SIGKILL);
}

TEST_F(DirectoryLockTest, IsTakenByOneOfManyThatComeAtOnce) {
  leaveFileOfAnotherMachine();
  // Long ago.
  const std::array<timespec, 2> times{};
  ::utimensat(AT_FDCWD, file_.c_str(), times.data(), 0);
  std::array<int, 2> start{};
  std::array<int, 2> results{};
  ASSERT_EQ(::pipe(start.data()), 0);
  ASSERT_EQ(::pipe(results.data()), 0);
  constexpr int kProcesses = 8;
  std::vector<pid_t> pids;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(start[1]);
      char result = 0;
      static_cast<void>(!::read(start[0], &result, 1));  // until the parent closes its end
      result = take() == "taken" ? 1 : 0;
      static_cast<void>(!::write(results[1], &result, 1));
      while (true) {
        ::pause();
      }
    }
    pids.push_back(pid);
  }
  ::close(start[1]);
  int owners = 0;
  for (int i = 0; i < kProcesses; ++i) {
    char result = 0;
    EXPECT_EQ(::read(results[0], &result, 1), 1);
    owners += result;
  }
  for (const pid_t pid : pids) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  for (const int end : {start[0], results[0], results[1]}) {
    ::close(end);
  }
  EXPECT_EQ(owners, 1);
}

TEST_F(DirectoryLockTest, OfAnotherMachineIsRefusedWhileItIsRenewed) {
  leaveFileOfAnotherMachine();
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends) {
      ::utimensat(AT_FDCWD, file_.c_str(), nullptr, 0);
      std::this_thread::sleep_for(fast_.renewal);
    }
  });
  const std::string said = take({fast_.renewal, std::chrono::minutes(1)});
  ends = true;
  other.join();
  EXPECT_EQ(said, "process 7 on node9 of job 41 of Slurm, user 1000");
}

TEST_F(DirectoryLockTest, OfAnotherMachineIsTakenOnceItIsNotRenewed) {
  leaveFileOfAnotherMachine();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(take(fast_), "taken");
  EXPECT_GE(std::chrono::steady_clock::now() - start, fast_.staleAfter / 2);
}

TEST_F(DirectoryLockTest, IsRenewed) {
  const DirectoryLock::Result mine = DirectoryLock::acquire(directory_.string(), "", fast_);
  const fs::file_time_type first = fs::last_write_time(file_);
  while (fs::last_write_time(file_) == first) {
    std::this_thread::sleep_for(fast_.renewal);
  }
}

TEST_F(DirectoryLockTest, SaysWhyThereIsNone) {
  const DirectoryLock::Result none = DirectoryLock::acquire(directory_.string() + "/missing");
  EXPECT_EQ(none.lock, nullptr);
  EXPECT_TRUE(none.holder.empty());
  EXPECT_THAT(none.problem.message(), ::testing::HasSubstr("/missing"));
}

}  // namespace
}  // namespace steptape::detail::process
