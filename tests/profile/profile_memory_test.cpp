// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

#include "steptape/profile/profiler.h"
#include "steptape/recorder/zone.h"

#include "profile/record_builder.h"

#include <gtest/gtest.h>

namespace {

std::atomic<std::size_t> bytesInUse{0};
std::atomic<std::size_t> peak{0};
thread_local std::size_t allocations = 0;

}  // namespace

// Counts what this program has allocated. Never inlined: GCC would see one half of a pair and take
// it for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  ++allocations;
  const std::size_t now = bytesInUse += malloc_usable_size(memory);
  for (std::size_t known = peak; known < now && !peak.compare_exchange_weak(known, now);) {
  }
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  bytesInUse -= malloc_usable_size(memory);
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace steptape {
namespace {

TEST(ProfilerMemory, IsBoundedInAWindowOfAMillionSpans) {
  constexpr std::uint64_t kSpans = 1'000'000;
  constexpr std::size_t kKept = 1000;
  constexpr std::uint64_t kBetweenLooks = 10'000;
  // All records would take 32 MB; those between two looks take 0.3 MB, and the thread's ring 2 MB.
  constexpr std::size_t kBound = 8'000'000;
  ProfilerOptions options;
  options.maxTraceSpans = kKept;
  Trace trace;
  options.onTrace = [&](const Trace& made, SummaryWriter*, std::int64_t) { trace = made; };
  const std::size_t before = bytesInUse;
  peak = before;
  Profiler profiler(options);
  for (std::uint64_t i = 0; i < kSpans; ++i) {
    if (i % kBetweenLooks == 0) {
      profiler.profile();  // looks at the rings, so that none gets full
    }
    STEPTAPE_ZONE("operator");
  }
  profiler.stop();
  ASSERT_TRUE(profiler.flush().ok());
  EXPECT_LT(peak - before, kBound);
  const OpProfile profile = profiler.profile();
  EXPECT_EQ(find(profile, "operator").calls, kSpans);
  EXPECT_EQ(profile.dropped, 0U);
  ASSERT_EQ(trace.threads.size(), 1U);
  EXPECT_EQ(trace.threads[0].spans.size(), kKept);
  EXPECT_EQ(trace.dropped, kSpans - kKept);
}

TEST(ProfilerMemory, IsNotTakenByTheThreadThatTrains) {
  Profiler profiler;
  {
    STEPTAPE_ZONE("work");  // the thread's first one
  }
  std::size_t inSteps = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::size_t before = allocations;
    { STEPTAPE_ZONE("work"); }
    profiler.step();
    inSteps += allocations - before;
    if (i % 10 == 0) {
      profiler.profile();  // takes what was recorded, as the profiler's thread does
    }
  }
  EXPECT_EQ(inSteps, 0U);
}

}  // namespace
}  // namespace steptape
