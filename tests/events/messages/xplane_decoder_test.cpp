// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/wire/xplane.pb.h"

#include "events/messages/xplane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Returns a file with data in every field.
wire::XSpace makeSpace() {
  wire::XSpace space;
  space.add_errors("no device");
  space.add_warnings("dropped");
  space.add_hostnames("node1");
  wire::XPlane* plane = space.add_planes();
  plane->set_id(1);
  plane->set_name("/host:CPU");
  wire::XPlane::EventMetadataEntry* name = plane->add_event_metadata();
  name->set_key(5);
  name->mutable_value()->set_id(5);
  name->mutable_value()->set_name("aten.mm:mm");
  name->mutable_value()->set_display_name("aten::mm");
  name->mutable_value()->add_stats()->set_metadata_id(1);
  name->mutable_value()->mutable_stats(0)->set_ref_value(2);
  wire::XPlane::StatMetadataEntry* stat = plane->add_stat_metadata();
  stat->set_key(1);
  stat->mutable_value()->set_name("kind");
  stat = plane->add_stat_metadata();
  stat->set_key(2);
  stat->mutable_value()->set_name("operator");
  plane->add_stats()->set_metadata_id(1);
  plane->mutable_stats(0)->set_str_value("x");
  wire::XLine* line = plane->add_lines();
  line->set_id(42);
  line->set_name("main");
  line->set_timestamp_ns(1'700'000'000'000'000'000);
  wire::XEvent* event = line->add_events();
  event->set_metadata_id(5);
  event->set_offset_ps(1000);
  event->set_duration_ps(2000);
  event->add_stats()->set_double_value(0.5);
  event->add_stats()->set_uint64_value(~std::uint64_t{0});
  event->add_stats()->set_int64_value(-3);
  event->add_stats()->set_str_value("text");
  event->add_stats()->set_bytes_value("bytes");
  event->add_stats()->set_ref_value(2);
  event->add_stats()->set_metadata_id(9);
  line->add_events()->set_metadata_id(6);
  return space;
}

TEST(XPlaneDecoder, GivesEveryFieldOfAFile) {
  const std::string bytes = makeSpace().SerializeAsString();
  detail::events::XSpace space;
  ASSERT_TRUE(detail::events::decodeXSpace(bytes, &space).ok());
  EXPECT_THAT(space.errors, ElementsAre("no device"));
  EXPECT_THAT(space.warnings, ElementsAre("dropped"));
  EXPECT_THAT(space.hostNames, ElementsAre("node1"));
  ASSERT_EQ(space.planes.size(), 1u);
  const detail::events::XPlane& plane = space.planes[0];
  EXPECT_EQ(plane.id, 1);
  EXPECT_EQ(plane.name, "/host:CPU");
  const detail::events::XEventName& name = plane.eventNames.at(5);
  EXPECT_EQ(name.name, "aten.mm:mm");
  EXPECT_EQ(name.displayName, "aten::mm");
  EXPECT_EQ(plane.text(name.stats.at(0)), "operator");
  EXPECT_EQ(plane.statNames.at(1), "kind");
  EXPECT_EQ(plane.text(plane.stats.at(0)), "x");
  ASSERT_EQ(plane.lines.size(), 1u);
  EXPECT_EQ(plane.lines[0].id, 42);
  EXPECT_EQ(plane.lines[0].name, "main");
  EXPECT_EQ(plane.lines[0].timestampNanos, 1'700'000'000'000'000'000);
  EXPECT_EQ(plane.lines[0].events.size(), 2u);
}

TEST(XPlaneDecoder, GivesEveryFieldOfAnEvent) {
  const std::string bytes = makeSpace().SerializeAsString();
  detail::events::XSpace space;
  ASSERT_TRUE(detail::events::decodeXSpace(bytes, &space).ok());
  detail::events::XEvent event;
  ASSERT_TRUE(detail::events::decodeXEvent(space.planes[0].lines[0].events[0], &event).ok());
  EXPECT_EQ(event.nameId, 5);
  EXPECT_EQ(event.offsetPicos, 1000);
  EXPECT_EQ(event.durationPicos, 2000);
  ASSERT_EQ(event.stats.size(), 7u);
  EXPECT_EQ(event.stats[0].value, detail::events::XStatValue(0.5));
  EXPECT_EQ(event.stats[1].value, detail::events::XStatValue(~std::uint64_t{0}));
  EXPECT_EQ(event.stats[2].value, detail::events::XStatValue(std::int64_t{-3}));
  EXPECT_EQ(event.stats[3].value, detail::events::XStatValue(std::string("text")));
  EXPECT_EQ(event.stats[4].value, detail::events::XStatValue(detail::events::XStatBytes{"bytes"}));
  EXPECT_EQ(event.stats[5].value, detail::events::XStatValue(detail::events::XStatReference{2}));
  EXPECT_EQ(event.stats[6].id, 9);
  EXPECT_EQ(event.stats[6].value, detail::events::XStatValue(std::int64_t{0}));
}

TEST(XPlaneDecoder, ClearsAReusedEvent) {
  const std::string bytes = makeSpace().SerializeAsString();
  detail::events::XSpace space;
  ASSERT_TRUE(detail::events::decodeXSpace(bytes, &space).ok());
  detail::events::XEvent event;
  for (const std::string_view each : space.planes[0].lines[0].events) {
    ASSERT_TRUE(detail::events::decodeXEvent(each, &event).ok());
  }
  EXPECT_EQ(event.nameId, 6);
  EXPECT_EQ(event.offsetPicos, 0);
  EXPECT_EQ(event.durationPicos, 0);
  EXPECT_TRUE(event.stats.empty());
}

TEST(XPlaneDecoder, ReturnsNoTextForANumberOrAnUnknownName) {
  detail::events::XPlane plane;
  EXPECT_EQ(plane.text({1, std::int64_t{5}}), "");
  EXPECT_EQ(plane.text({1, detail::events::XStatReference{5}}), "");
}

TEST(XPlaneDecoder, RejectsOtherBytes) {
  detail::events::XSpace space;
  const Status text = detail::events::decodeXSpace("{\"traceEvents\": []}", &space);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.code(), ErrorCode::kDataLoss);
  EXPECT_EQ(text.message(), "xplane: got 19 other bytes; expected a message XSpace");

  const Status plane = detail::events::decodeXSpace(std::string("\x0a\x03\x1a\x09q", 5), &space);
  ASSERT_FALSE(plane.ok());
  EXPECT_THAT(plane.message(), HasSubstr("got 3 other bytes; expected a message XPlane"));

  detail::events::XEvent event;
  const Status status = detail::events::decodeXEvent(std::string("\x22\x09", 2), &event);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("expected a message XEvent"));
}

// The plane is the first field: cut anywhere, it is incomplete.
TEST(XPlaneDecoder, RejectsAFileTruncatedWithinAPlane) {
  wire::XSpace whole;
  *whole.add_planes() = makeSpace().planes(0);
  const std::string bytes = whole.SerializeAsString();
  detail::events::XSpace space;
  ASSERT_TRUE(detail::events::decodeXSpace(bytes, &space).ok());
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_FALSE(detail::events::decodeXSpace(bytes.substr(0, size), &space).ok()) << size;
  }
}

}  // namespace
}  // namespace steptape
