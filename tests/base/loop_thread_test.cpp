// SPDX-License-Identifier: Apache-2.0
#include "base/loop_thread.h"

#include <atomic>
#include <future>
#include <sys/wait.h>
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

}  // namespace
}  // namespace steptape::detail::base
