// SPDX-License-Identifier: Apache-2.0
#include "events/framing/record_buffer.h"

#include "events/framing/golden_records.h"
#include "events/framing/record_format.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

TEST(RecordBuffer, FramesAPayloadAsTensorFlowDoes) {
  detail::events::RecordBuffer buffer;
  buffer.append(goldenVersionPayload());
  EXPECT_EQ(buffer.bytes(), goldenVersionRecord());
}

TEST(RecordBuffer, FramesAPayloadThatIsBuiltInPlace) {
  detail::events::RecordBuffer buffer;
  std::string* out = buffer.beginRecord();
  out->append(goldenVersionPayload().substr(0, 5));
  out->append(goldenVersionPayload().substr(5));
  buffer.endRecord();
  EXPECT_EQ(buffer.bytes(), goldenVersionRecord());
}

TEST(RecordBuffer, KeepsRecordsInOrder) {
  detail::events::RecordBuffer one;
  one.append("one");
  detail::events::RecordBuffer both;
  both.append("one");
  both.append(goldenVersionPayload());
  EXPECT_EQ(both.bytes(), std::string(one.bytes()) + goldenVersionRecord());
  EXPECT_EQ(both.records(), 2u);
}

TEST(RecordBuffer, AcceptsAnEmptyPayload) {
  detail::events::RecordBuffer buffer;
  buffer.append("");
  EXPECT_EQ(buffer.bytes().size(), detail::events::kFramingBytes);
  EXPECT_EQ(buffer.records(), 1u);
}

TEST(RecordBuffer, LeavesNoTraceOfACanceledRecord) {
  detail::events::RecordBuffer buffer;
  buffer.append(goldenVersionPayload());
  buffer.beginRecord()->append("half a payl");
  buffer.cancelRecord();
  EXPECT_EQ(buffer.bytes(), goldenVersionRecord());
  EXPECT_EQ(buffer.records(), 1u);
}

TEST(RecordBuffer, IsEmptyAfterClearAndUsableAgain) {
  detail::events::RecordBuffer buffer;
  buffer.append("something");
  buffer.clear();
  EXPECT_TRUE(buffer.bytes().empty());
  EXPECT_EQ(buffer.records(), 0u);
  buffer.append(goldenVersionPayload());
  EXPECT_EQ(buffer.bytes(), goldenVersionRecord());
}

TEST(RecordBuffer, KeepsItsMemoryWhenCleared) {
  detail::events::RecordBuffer buffer;
  buffer.append(std::string(1000, 'x'));
  const char* const memory = buffer.bytes().data();
  buffer.clear();
  buffer.append(std::string(1000, 'y'));
  EXPECT_EQ(buffer.bytes().data(), memory);
}

TEST(RecordBuffer, HandsOutItsRecords) {
  detail::events::RecordBuffer buffer;
  buffer.append(goldenVersionPayload());
  EXPECT_EQ(buffer.take(), goldenVersionRecord());
  EXPECT_TRUE(buffer.bytes().empty());
  EXPECT_EQ(buffer.records(), 0u);
}

}  // namespace
}  // namespace steptape
