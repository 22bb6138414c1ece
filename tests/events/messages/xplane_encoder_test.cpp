// SPDX-License-Identifier: Apache-2.0
#include "events/messages/xplane_encoder.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/wire/xplane.pb.h"

#include "events/messages/xplane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;

using Integers = std::numeric_limits<std::int64_t>;

// Varints become one byte longer at each of these.
std::vector<std::int64_t> numbersOfAllLengths() {
  std::vector<std::int64_t> numbers{0, -1, Integers::min(), Integers::max()};
  for (int bits = 7; bits < 63; bits += 7) {
    numbers.push_back((std::int64_t{1} << bits) - 1);
    numbers.push_back(std::int64_t{1} << bits);
  }
  return numbers;
}

std::string bytesOf(const detail::events::XSpaceEncoder& space) {
  std::string bytes;
  for (const std::string& piece : space.pieces()) {
    bytes += piece;
  }
  return bytes;
}

/// Returns a file with a plane that has only this line.
std::string fileOf(detail::events::XLineEncoder line) {
  detail::events::XPlaneEncoder plane(3, "/host:CPU");
  plane.addLine(std::move(line));
  detail::events::XSpaceEncoder space;
  space.addPlane(std::move(plane));
  return bytesOf(space);
}

std::string fileOf(const wire::XLine& line) {
  wire::XSpace space;
  wire::XPlane* plane = space.add_planes();
  plane->set_id(3);
  plane->set_name("/host:CPU");
  *plane->add_lines() = line;
  return space.SerializeAsString();
}

wire::XEvent* addEvent(std::int64_t name, std::int64_t offset, std::int64_t duration,
                       wire::XLine* line) {
  wire::XEvent* event = line->add_events();
  event->set_metadata_id(name);
  event->set_offset_ps(offset);
  event->set_duration_ps(duration);
  return event;
}

wire::XStat* addStat(std::int64_t id, wire::XEvent* event) {
  wire::XStat* stat = event->add_stats();
  stat->set_metadata_id(id);
  return stat;
}

TEST(XPlaneEncoder, EncodesLinesLikeProtobuf) {
  for (const std::int64_t id : numbersOfAllLengths()) {
    for (const std::string& name : {std::string(), std::string("main"), std::string(200, 'n')}) {
      wire::XLine line;
      line.set_id(id);
      line.set_name(name);
      EXPECT_EQ(fileOf(detail::events::XLineEncoder(id, name)), fileOf(line)) << id << " " << name;
    }
  }
}

TEST(XPlaneEncoder, EncodesTimesLikeProtobuf) {
  detail::events::XLineEncoder encoder(1, "main");
  wire::XLine line;
  line.set_id(1);
  line.set_name("main");
  for (const std::int64_t number : numbersOfAllLengths()) {
    for (const auto& [offset, duration] :
         {std::pair(number, std::int64_t{5}), std::pair(std::int64_t{5}, number)}) {
      encoder.beginEvent(7, offset, duration);
      encoder.endEvent();
      addEvent(7, offset, duration, &line);
    }
  }
  EXPECT_EQ(fileOf(std::move(encoder)), fileOf(line));
}

TEST(XPlaneEncoder, EncodesNumbersOfNamesAndStatsLikeProtobuf) {
  detail::events::XLineEncoder encoder(1, "main");
  wire::XLine line;
  line.set_id(1);
  line.set_name("main");
  for (const std::int64_t id : {1, 127, 128, 70000}) {
    encoder.beginEvent(id, 1, 2);
    encoder.addStat(id, std::int64_t{3});
    encoder.endEvent();
    addStat(id, addEvent(id, 1, 2, &line))->set_int64_value(3);
  }
  EXPECT_EQ(fileOf(std::move(encoder)), fileOf(line));
}

TEST(XPlaneEncoder, EncodesStatsOfEveryKindLikeProtobuf) {
  detail::events::XLineEncoder encoder(1, "main");
  wire::XLine line;
  line.set_id(1);
  line.set_name("main");
  for (const std::int64_t number : numbersOfAllLengths()) {
    encoder.beginEvent(1, 1, 2);
    wire::XEvent* event = addEvent(1, 1, 2, &line);
    encoder.addStat(1, number);
    addStat(1, event)->set_int64_value(number);
    encoder.addStat(2, static_cast<std::uint64_t>(number));
    addStat(2, event)->set_uint64_value(static_cast<std::uint64_t>(number));
    encoder.addStat(3, static_cast<double>(number));
    addStat(3, event)->set_double_value(static_cast<double>(number));
    encoder.addStat(4, detail::events::XStatReference{number});
    addStat(4, event)->set_ref_value(static_cast<std::uint64_t>(number));
    encoder.endEvent();
  }
  EXPECT_EQ(fileOf(std::move(encoder)), fileOf(line));
}

// 127 and 128 bytes: a length takes one byte, then two, at every level of nesting.
TEST(XPlaneEncoder, EncodesTextsOfEveryLengthLikeProtobuf) {
  detail::events::XLineEncoder encoder(1, "main");
  wire::XLine line;
  line.set_id(1);
  line.set_name("main");
  for (std::size_t length = 0; length < 300; ++length) {
    const std::string text(length, 't');
    encoder.beginEvent(1, 1, 2);
    encoder.addStat(1, text);
    encoder.endEvent();
    addStat(1, addEvent(1, 1, 2, &line))->set_str_value(text);
  }
  EXPECT_EQ(fileOf(std::move(encoder)), fileOf(line));
}

// Longer than the chunks in which a line is kept, like one of its events.
TEST(XPlaneEncoder, EncodesLongLinesLikeProtobuf) {
  detail::events::XLineEncoder encoder(1, "main");
  wire::XLine line;
  line.set_id(1);
  line.set_name("main");
  for (int i = 0; i < 50'000; ++i) {
    const std::string text(i == 25'000 ? 1'000'000 : i % 7, 't');
    encoder.beginEvent(1, i, 2);
    encoder.addStat(1, text);
    encoder.endEvent();
    addStat(1, addEvent(1, i, 2, &line))->set_str_value(text);
  }
  EXPECT_TRUE(fileOf(std::move(encoder)) == fileOf(line));
}

TEST(XPlaneEncoder, EncodesWholeFilesLikeProtobuf) {
  detail::events::XSpaceEncoder space;
  for (std::int64_t id = 1; id <= 2; ++id) {
    detail::events::XPlaneEncoder plane(id, "plane");
    const std::int64_t rank = plane.statId("rank");
    detail::events::XEventName name;
    name.name = "aten.mm:mm";
    name.displayName = "aten::mm";
    name.stats = {{rank, std::int64_t{1}},
                  {rank, detail::events::XStatReference{rank}},
                  {rank, std::string("x")}};
    for (int i = 0; i < 200; ++i) {
      detail::events::XLineEncoder line(i, "line");
      line.beginEvent(plane.addEventName(name), i, i);
      line.endEvent();
      plane.addLine(std::move(line));
    }
    plane.addStat("rank", 0.5);
    plane.addStat("size", std::uint64_t{4});
    space.addPlane(std::move(plane));
  }
  space.addWarning("dropped");
  space.addHostName("node1");
  const std::string bytes = bytesOf(space);

  wire::XSpace proto;
  ASSERT_TRUE(proto.ParseFromString(bytes));
  EXPECT_EQ(proto.SerializeAsString(), bytes);
  EXPECT_EQ(proto.planes_size(), 2);
  EXPECT_EQ(proto.planes(1).id(), 2);
  EXPECT_EQ(proto.planes(1).lines_size(), 200);
  EXPECT_EQ(proto.planes(1).event_metadata(199).value().id(), 200);
  EXPECT_EQ(proto.planes(1).stat_metadata_size(), 2);
}

TEST(XPlaneEncoder, NumbersEachStatNameOnceAndEachEventNameEachTime) {
  detail::events::XPlaneEncoder plane(1, "plane");
  EXPECT_EQ(plane.statId("a"), 1);
  EXPECT_EQ(plane.statId("b"), 2);
  EXPECT_EQ(plane.statId("a"), 1);
  EXPECT_EQ(plane.addEventName({"a"}), 1);
  EXPECT_EQ(plane.addEventName({"a"}), 2);
}

TEST(XPlaneEncoder, ReplacesInvalidUtf8) {
  const std::string bad = "a\xff";
  const std::string good = "a\xef\xbf\xbd";
  detail::events::XPlaneEncoder plane(1, bad);
  detail::events::XLineEncoder line(1, bad);
  line.beginEvent(plane.addEventName({bad, bad, {{1, bad}}}), 0, 0);
  line.addStat(plane.statId(bad), bad);
  line.endEvent();
  plane.addLine(std::move(line));
  plane.addStat(bad, bad);
  detail::events::XSpaceEncoder encoder;
  encoder.addPlane(std::move(plane));
  encoder.addWarning(bad);
  encoder.addHostName(bad);
  const std::string bytes = bytesOf(encoder);
  EXPECT_EQ(bytes.find('\xff'), std::string::npos);

  detail::events::XSpace space;
  ASSERT_TRUE(detail::events::decodeXSpace(bytes, &space).ok());
  EXPECT_EQ(space.planes[0].name, good);
  EXPECT_EQ(space.planes[0].lines[0].name, good);
  EXPECT_EQ(space.planes[0].eventNames[1].name, good);
  EXPECT_EQ(space.planes[0].eventNames[1].displayName, good);
  EXPECT_EQ(space.planes[0].statNames[1], good);
  EXPECT_THAT(space.warnings, ElementsAre(good));
  EXPECT_THAT(space.hostNames, ElementsAre(good));
}

TEST(XPlaneEncoder, NeedsAtMost28BytesForAnOperatorOfAStep) {
  detail::events::XLineEncoder line(1, "main");
  const std::size_t before = fileOf(line).size();
  constexpr int kEvents = 100;
  for (int i = 0; i < kEvents; ++i) {
    // The second minute of a profile, in picoseconds.
    line.beginEvent(200 + i, 60'000'000'000'000 + i, 25'000'000);
    line.addStat(2, std::int64_t{1000});
    line.endEvent();
  }
  EXPECT_LE(fileOf(line).size() - before, 28u * kEvents);
}

}  // namespace
}  // namespace steptape
