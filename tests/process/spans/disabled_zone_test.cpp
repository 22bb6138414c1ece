// SPDX-License-Identifier: Apache-2.0
#define STEPTAPE_DISABLE_ZONES
#include "steptape/process/zone.h"

#include "process/spans/span_collector.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

// A static variable or a local type would not be allowed here: the macro expands to nothing.
constexpr int twice(int value) {
  STEPTAPE_ZONE("twice");
  return 2 * value;
}

TEST(DisabledZone, RecordsNothing) {
  static_assert(twice(2) == 4, "evaluated by the compiler");
  detail::process::SpanCollector collector;
  collector.startRecording();
  EXPECT_EQ(twice(3), 6);
  int batches = 0;
  collector.drain([&](const detail::process::SpanBatch&) { ++batches; });
  EXPECT_EQ(batches, 0);
}

}  // namespace
}  // namespace steptape
