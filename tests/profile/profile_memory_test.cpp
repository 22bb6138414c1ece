// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "steptape/process/zone.h"
#include "steptape/profile/profiler.h"

#include "profile/record_builder.h"
#include "support/allocations.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

TEST(ProfilerMemory, IsBoundedInAWindowOfAMillionSpans) {
  constexpr std::uint64_t kSpans = 1'000'000;
  constexpr std::size_t kKept = 1000;
  constexpr std::uint64_t kBetweenLooks = 10'000;
  // All records would take 32 MB; those between two passes take 0.3 MB, and the thread's ring 2 MB.
  constexpr std::size_t kBound = 8'000'000;
  ProfilerOptions options;
  options.maxTraceSpans = kKept;
  Trace trace;
  options.onTrace = [&](const Trace& made, SummaryWriter*, std::int64_t) { trace = made; };
  const std::size_t before = bytesInUse();
  forgetMostBytesInUse();
  Profiler profiler(options);
  for (std::uint64_t i = 0; i < kSpans; ++i) {
    if (i % kBetweenLooks == 0) {
      profiler.profile();  // drains the rings, so that none becomes full
    }
    STEPTAPE_ZONE("operator");
  }
  profiler.stop();
  ASSERT_TRUE(profiler.flush().ok());
  EXPECT_LT(mostBytesInUse() - before, kBound);
  const OpProfile profile = profiler.profile();
  EXPECT_EQ(find(profile, "operator").calls, kSpans);
  EXPECT_EQ(profile.dropped, 0U);
  ASSERT_EQ(trace.threads.size(), 1U);
  EXPECT_EQ(trace.threads[0].spans.size(), kKept);
  EXPECT_EQ(trace.dropped, kSpans - kKept);
}

TEST(ProfilerMemory, IsNotAllocatedByTheTrainingThread) {
  Profiler profiler;
  {
    STEPTAPE_ZONE("work");  // the thread's first one
  }
  std::uint64_t inSteps = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t before = allocationsOfThread();
    { STEPTAPE_ZONE("work"); }
    profiler.step();
    inSteps += allocationsOfThread() - before;
    if (i % 10 == 0) {
      profiler.profile();  // takes the records, like the profiler's thread
    }
  }
  EXPECT_EQ(inSteps, 0U);
}

}  // namespace
}  // namespace steptape
