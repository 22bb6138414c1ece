// SPDX-License-Identifier: Apache-2.0
#include "base/mutex.h"

#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace steptape {
namespace {

std::chrono::steady_clock::time_point fromNow(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

TEST(Mutex, LetsOneThreadInAtATime) {
  detail::base::Mutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 10'000; ++j) {
        const detail::base::MutexLock lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(count, 40'000);
}

TEST(CondVar, WakesAWaitingThread) {
  detail::base::Mutex mutex;
  detail::base::CondVar changed;
  bool isReady = false;
  std::thread setter([&] {
    const detail::base::MutexLock lock(mutex);
    isReady = true;
    changed.notifyAll();
  });
  {
    const detail::base::MutexLock lock(mutex);
    const auto deadline = fromNow(std::chrono::seconds(30));
    while (!isReady && changed.waitUntil(mutex, deadline)) {
    }
    EXPECT_TRUE(isReady);
  }
  setter.join();
}

TEST(CondVar, StopsWaitingAtItsDeadline) {
  detail::base::Mutex mutex;
  detail::base::CondVar never;
  const auto deadline = fromNow(std::chrono::milliseconds(1));
  const detail::base::MutexLock lock(mutex);
  while (never.waitUntil(mutex, deadline)) {
  }
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
}

}  // namespace
}  // namespace steptape
