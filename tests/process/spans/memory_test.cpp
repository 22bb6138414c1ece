// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "steptape/process/zone.h"

#include "process/spans/span_collector.h"
#include "process/spans/thread_recorder.h"
#include "support/allocations.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

void recordOneOfEach() {
  STEPTAPE_ZONE("zone");
  const int owner = 0;
  detail::process::beginSpan(SpanKind::kOperator, "aten::mm", 0, SpanRecord::kNoPayload, &owner);
  detail::process::endSpan(&owner);
}

TEST(Recording, AllocatesOnlyForTheFirstRecordOfAThread) {
  detail::process::SpanCollector collector(64);
  collector.startRecording();
  const std::uint64_t before = allocationsOfThread();
  recordOneOfEach();
  EXPECT_GT(allocationsOfThread(), before);

  const std::uint64_t afterFirst = allocationsOfThread();
  for (int i = 0; i < 1000; ++i) {
    recordOneOfEach();
  }
  EXPECT_EQ(allocationsOfThread(), afterFirst);
}

TEST(Recording, AllocatesNothingWhileNothingCollects) {
  const std::uint64_t before = allocationsOfThread();
  for (int i = 0; i < 1000; ++i) {
    recordOneOfEach();
  }
  EXPECT_EQ(allocationsOfThread(), before);
}

}  // namespace
}  // namespace steptape
