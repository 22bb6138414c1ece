// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <new>

#include "steptape/recorder/collector.h"
#include "steptape/recorder/zone.h"

#include "recorder/thread_recorder.h"

#include <gtest/gtest.h>

namespace {

thread_local std::size_t allocations = 0;

}  // namespace

// Counts what this program allocates. Never inlined: GCC would see one half of a pair and take it
// for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) {
    return memory;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace steptape {
namespace {

void recordOneOfEach() {
  STEPTAPE_ZONE("zone");
  const int owner = 0;
  detail::beginSpan(SpanKind::kOperator, "aten::mm", 0, SpanRecord::kNoPayload, &owner);
  detail::endSpan(&owner);
}

TEST(Recording, AllocatesForTheFirstRecordOfAThreadOnly) {
  SpanCollector collector(64);
  collector.startRecording();
  const std::size_t before = allocations;
  recordOneOfEach();
  EXPECT_GT(allocations, before);

  const std::size_t afterFirst = allocations;
  for (int i = 0; i < 1000; ++i) {
    recordOneOfEach();
  }
  EXPECT_EQ(allocations, afterFirst);
}

TEST(Recording, AllocatesNothingWhileNothingCollects) {
  const std::size_t before = allocations;
  for (int i = 0; i < 1000; ++i) {
    recordOneOfEach();
  }
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace steptape
