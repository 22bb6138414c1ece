// SPDX-License-Identifier: Apache-2.0
#include "base/loop_thread.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <future>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace steptape::detail::base {
namespace {

using Time = LoopThread::Time;

TEST(LoopThread, CallsItsBodyAgainAtTheTimeItAskedFor) {
  auto third = std::make_shared<std::promise<void>>();
  LoopThread thread("test", [third, calls = 0]() mutable {
    if (++calls == 3) {
      third->set_value();
    }
    return calls < 3 ? Time() : Time::max();
  });
  EXPECT_EQ(third->get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
}

TEST(LoopThread, LeavesRequestsToTheThreadsOfTheProgram) {
  auto mask = std::make_shared<std::promise<sigset_t>>();
  LoopThread thread("test", [mask] {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    mask->set_value(blocked);
    return Time::max();
  });
  const sigset_t blocked = mask->get_future().get();
  for (const int request : {SIGTERM, SIGINT, SIGUSR1, SIGCHLD}) {
    EXPECT_EQ(sigismember(&blocked, request), 1) << request;
  }
  EXPECT_EQ(sigismember(&blocked, SIGSEGV), 0);
  sigset_t own;
  pthread_sigmask(SIG_BLOCK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGTERM), 0);
}

TEST(LoopThread, EndsWhileItWaitsForTheNextCall) {
  auto called = std::make_shared<std::promise<void>>();
  LoopThread thread("test", [called] {
    called->set_value();
    return LoopThread::Time::clock::now() + std::chrono::hours(1);
  });
  called->get_future().wait();
  EXPECT_TRUE(thread.end(std::chrono::minutes(1)));
  EXPECT_TRUE(thread.end(std::chrono::minutes(1)));  // again
}

TEST(LoopThread, DoesNotWaitForeverForACallThatHangs) {
  auto begun = std::make_shared<std::promise<void>>();
  auto released = std::make_shared<std::promise<void>>();
  auto ended = std::make_shared<std::promise<void>>();
  {
    LoopThread thread("test", [begun, released, ended] {
      begun->set_value();
      released->get_future().wait();
      ended->set_value();
      return Time::max();
    });
    begun->get_future().wait();
    EXPECT_FALSE(thread.end(std::chrono::milliseconds(1)));
  }
  released->set_value();
  ended->get_future().wait();
}

TEST(LoopThread, IsNotWaitedForInAForkedChild) {
  auto called = std::make_shared<std::promise<void>>();
  auto thread = std::make_unique<LoopThread>("test", [called] {
    called->set_value();
    return LoopThread::Time::clock::now() + std::chrono::hours(1);
  });
  called->get_future().wait();
  EXPECT_FALSE(thread->isOfParent());
  const pid_t child = fork();
  if (child == 0) {
    const bool isOfParent = thread->isOfParent();
    thread.reset();
    _exit(isOfParent ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(LoopThread, CallsItsBodyWhenItIsWoken) {
  std::atomic<int> work{0};
  int done = 0;
  LoopThread thread({"test", 0, LoopThread::kUnlimited}, [&] {
    done += work.exchange(0);
    return LoopThread::kWhenWoken;
  });
  for (int i = 1; i <= 100; ++i) {
    ++work;
    thread.wake();
    thread.waitUntilIdle();
    EXPECT_EQ(done, i);
  }
}

TEST(LoopThread, DoesNotWaitForItself) {
  std::promise<LoopThread*> made;
  LoopThread thread({"test", 0, LoopThread::kUnlimited}, [&] {
    made.get_future().get()->waitUntilIdle();
    return LoopThread::kWhenWoken;
  });
  made.set_value(&thread);
  thread.waitUntilIdle();
}

TEST(LoopThread, WaitsForACallInProgressIfItsPatienceIsUnlimited) {
  std::promise<void> begun;
  bool hasEnded = false;
  {
    LoopThread thread({"test", 0, LoopThread::kUnlimited}, [&] {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      hasEnded = true;
      return LoopThread::kWhenWoken;
    });
    begun.get_future().wait();
  }
  EXPECT_TRUE(hasEnded);
}

TEST(LoopThread, HasItsPriority) {
  int niceness = 0;
  LoopThread thread({"test", 19, LoopThread::kUnlimited}, [&] {
    niceness = getpriority(PRIO_PROCESS, 0);
    return LoopThread::kWhenWoken;
  });
  thread.waitUntilIdle();
  EXPECT_EQ(niceness, 19);
}

TEST(LoopThread, IsWaitedForByExitIfItIsToBe) {
  const pid_t child = fork();
  if (child == 0) {
    std::promise<void> begun;
    LoopThread thread({"test", 0, LoopThread::kUnlimited, /*exitWaits=*/true}, [&] {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      _exit(7);
      return LoopThread::kWhenWoken;
    });
    begun.get_future().wait();
    std::exit(1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace steptape::detail::base
