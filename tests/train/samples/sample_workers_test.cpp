// SPDX-License-Identifier: Apache-2.0
// Under ThreadSanitizer as well.
#include "train/samples/sample_workers.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/mutex.h"

#include <gtest/gtest.h>

namespace steptape::detail::train {
namespace {

constexpr std::int64_t kSamples = 500;

std::string failure(SampleWorkers& workers, std::int64_t end) {
  try {
    workers.waitFor(end);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(SampleWorkers, MakeEachSampleOnce) {
  for (const std::int64_t count : {0, 1, 2, 4}) {
    SampleWorkers workers(count);
    for (int sequence = 0; sequence < 3; ++sequence) {
      std::vector<int> made(kSamples);  // Not atomic: waitFor() synchronizes.
      workers.start([&](std::int64_t number) { ++made[static_cast<std::size_t>(number)]; });
      for (std::int64_t end = 10; end <= kSamples; end += 10) {
        workers.allow(std::min(kSamples, end + 20));
        workers.waitFor(end);
        for (std::int64_t i = end - 10; i < end; ++i) {
          EXPECT_EQ(made[static_cast<std::size_t>(i)], 1);
        }
      }
    }
  }
}

TEST(SampleWorkers, MakeNoSampleAtOrAboveTheLimit) {
  SampleWorkers workers(4);
  std::atomic<std::int64_t> highest{-1};
  workers.start([&](std::int64_t number) {
    std::int64_t seen = highest;
    while (seen < number && !highest.compare_exchange_weak(seen, number)) {
    }
  });
  for (std::int64_t limit = 1; limit <= kSamples; ++limit) {
    workers.allow(limit);
    workers.waitFor(limit);
    EXPECT_EQ(highest, limit - 1);
  }
}

TEST(SampleWorkers, WorkAtTheSameTime) {
  SampleWorkers workers(2);
  base::Mutex mutex;
  base::CondVar changed;
  int running = 0;
  workers.start([&](std::int64_t) {
    const base::MutexLock lock(mutex);
    ++running;
    changed.notifyAll();
    while (running < 2) {  // Each waits for the other.
      changed.waitUntil(mutex, std::chrono::steady_clock::now() + std::chrono::hours(1));
    }
  });
  workers.allow(2);
  workers.waitFor(2);
}

TEST(SampleWorkers, ThrowWhatTheFirstFailingSampleThrew) {
  for (const std::int64_t count : {0, 1, 4}) {
    SampleWorkers workers(count);
    for (int sequence = 0; sequence < 20; ++sequence) {
      workers.start([](std::int64_t number) {
        if (number >= 7) {
          throw std::runtime_error("sample " + std::to_string(number));
        }
      });
      workers.allow(kSamples);
      EXPECT_EQ(failure(workers, 7), "");
      EXPECT_EQ(failure(workers, 8), "sample 7");
      EXPECT_EQ(failure(workers, kSamples), "sample 7");
    }
  }
}

TEST(SampleWorkers, StopAfterASampleThatFails) {
  SampleWorkers workers(2);
  std::atomic<std::int64_t> made{0};
  workers.start([&](std::int64_t) {
    ++made;
    throw std::runtime_error("failed");
  });
  workers.allow(kSamples);
  EXPECT_EQ(failure(workers, kSamples), "failed");
  workers.stop();
  EXPECT_LE(made, 2);
}

TEST(SampleWorkers, FinishWhatTheyMakeBeforeStopReturns) {
  SampleWorkers workers(4);
  for (int sequence = 0; sequence < 50; ++sequence) {
    std::vector<std::int64_t> made(kSamples);
    workers.start([&](std::int64_t number) { made[static_cast<std::size_t>(number)] = number; });
    workers.allow(kSamples);
    workers.waitFor(sequence);
    workers.stop();  // Afterwards no worker writes to `made`, which ends here.
  }
}

TEST(SampleWorkers, EndInTheMiddleOfASequence) {
  for (int i = 0; i < 50; ++i) {
    std::vector<std::int64_t> made(kSamples);
    SampleWorkers workers(4);
    workers.start([&](std::int64_t number) { made[static_cast<std::size_t>(number)] = number; });
    workers.allow(kSamples);
  }
}

}  // namespace
}  // namespace steptape::detail::train
