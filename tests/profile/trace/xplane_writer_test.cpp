// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"

#include "base/utf8.h"
#include "profile/trace/profile_file.h"
#include "profile/trace/trace_builder.h"
#include "profile/trace/xplane/xplane_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kMainThread = 100;
constexpr std::int64_t kSecondThread = 101;
constexpr std::int64_t kStepsLine = 0;
constexpr std::int64_t kMemoryLine = -559038637;
constexpr std::int64_t kStepMarksLine = -559038636;
constexpr std::int64_t kDeviceStepsLine = -559038737;

/// Returns how the events of a line violate XProf's assumptions; empty if they do not.
std::string nestingError(const ProfileLine& line) {
  std::vector<std::int64_t> ends;
  std::int64_t last = 0;
  for (const ProfileEvent& event : line.events) {
    if (event.start < last) {
      return event.name + " comes late";
    }
    last = event.start;
    while (!ends.empty() && ends.back() <= event.start) {
      ends.pop_back();
    }
    if (!ends.empty() && event.end >= ends.back()) {
      return event.name + " ends with its parent or behind it";
    }
    ends.push_back(event.end);
  }
  return "";
}

TEST(XPlaneWriter, PutsAllThreadsOnOneHostPlane) {
  TraceBuilder builder;
  builder.span(0, "a", SpanKind::kZone, 0, 10);
  builder.span(1, "b", SpanKind::kZone, 5, 15);
  builder.trace().threads[0].name = "main";
  const ProfileFile file(builder.take());
  EXPECT_THAT(file.lines("/host:CPU"), SizeIs(2));
  EXPECT_EQ(file.line(kMainThread).name, "main");
  EXPECT_EQ(file.line(kSecondThread).name, "thread 101");
  EXPECT_THAT(file.line(kMainThread).names(), ElementsAre("a"));
  EXPECT_THAT(file.line(kSecondThread).names(), ElementsAre("b"));
  EXPECT_EQ(file.line(kSecondThread).events[0].start, 5000);
  EXPECT_EQ(file.line(kSecondThread).events[0].end, 15000);
}

TEST(XPlaneWriter, EndsChildrenBeforeTheirParents) {
  TraceBuilder builder;
  builder.span(0, "grandparent", SpanKind::kZone, 0, 10);
  builder.span(0, "parent", SpanKind::kZone, 2, 10);
  builder.span(0, "child", SpanKind::kZone, 4, 10);
  builder.span(0, "next", SpanKind::kZone, 10, 12);
  const std::vector<ProfileEvent> events = ProfileFile(builder.take()).line(kMainThread).events;
  ASSERT_THAT(events, SizeIs(4));
  EXPECT_EQ(events[0].end, 10000);
  EXPECT_EQ(events[1].end, 9999);
  EXPECT_EQ(events[2].end, 9998);
  EXPECT_EQ(events[3].start, 10000);
}

TEST(XPlaneWriter, PutsAnInstantAtTheEndOfASpanAfterIt) {
  TraceBuilder builder;
  builder.span(0, "outer", SpanKind::kZone, 0, 10);
  builder.span(0, "inner", SpanKind::kZone, 0, 5);
  builder.span(0, "instant", SpanKind::kZone, 5, 5);
  const std::vector<ProfileEvent> events = ProfileFile(builder.take()).line(kMainThread).events;
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[2].start, 5000);
  EXPECT_EQ(events[2].end, 5000);
}

TEST(XPlaneWriter, NestsAnySpans) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    TraceBuilder builder;
    for (int i = 0; i < 100; ++i) {
      const auto start = static_cast<std::int64_t>(random() % 50);
      const auto duration = static_cast<std::int64_t>(1 + random() % 10);
      TraceSpan& span =
          builder.span(random() % 2, "zone", SpanKind::kZone, start, start + duration);
      span.flags = random() % 4 == 0 ? kDetached : 0;
    }
    const ProfileFile file(builder.take());
    std::size_t events = 0;
    for (const ProfileLine& line : file.lines("/host:CPU")) {
      EXPECT_EQ(nestingError(line), "") << "round " << round << ", line " << line.id;
      events += line.events.size();
    }
    EXPECT_EQ(events, 100u);
  }
}

TEST(XPlaneWriter, PutsDetachedSpansOnAsFewLinesAsHoldThem) {
  TraceBuilder builder;
  builder.span(0, "a", SpanKind::kZone, 0, 10);
  for (const std::int64_t start : {1, 2, 4, 11}) {  // two at a time
    builder.span(0, "d" + std::to_string(start), SpanKind::kZone, start, start + 3).flags =
        kDetached;
  }
  builder.trace().threads[0].name = "main";
  const ProfileFile file(builder.take());
  const std::vector<ProfileLine>& lines = file.lines("/host:CPU");
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0].names(), ElementsAre("a"));
  EXPECT_THAT(lines[1].names(), ElementsAre("d1", "d4"));
  EXPECT_THAT(lines[2].names(), ElementsAre("d2", "d11"));
  EXPECT_EQ(lines[1].name, "main (detached)");
  EXPECT_GT(lines[1].id, 4'194'304) << "not above all threads that Linux can have";
  EXPECT_NE(lines[1].id, lines[2].id);
}

TEST(XPlaneWriter, TreatsSpansThatDoNotNestAsDetached) {
  TraceBuilder builder;
  builder.span(0, "a", SpanKind::kZone, 0, 10);
  builder.span(0, "b", SpanKind::kZone, 5, 11);
  builder.span(0, "c", SpanKind::kZone, 6, 10);
  const ProfileFile file(builder.trace());
  ASSERT_THAT(file.lines("/host:CPU"), SizeIs(2));
  EXPECT_THAT(file.lines("/host:CPU")[0].names(), ElementsAre("a", "c"));
  EXPECT_THAT(file.lines("/host:CPU")[1].names(), ElementsAre("b"));
}

TEST(XPlaneWriter, GivesThreadsWithTheSameNumberSeparateLines) {
  TraceBuilder builder;
  builder.span(0, "a", SpanKind::kZone, 0, 10);
  builder.span(1, "b", SpanKind::kZone, 0, 10);
  builder.trace().threads[1].id = builder.trace().threads[0].id;
  const ProfileFile file(builder.take());
  ASSERT_THAT(file.lines("/host:CPU"), SizeIs(2));
  EXPECT_NE(file.lines("/host:CPU")[0].id, file.lines("/host:CPU")[1].id);
}

TEST(XPlaneWriter, NamesEventsAsXprofExpects) {
  TraceBuilder builder;
  builder.span(0, "aten::mm", SpanKind::kOperator, 0, 1);
  builder.span(0, "MmBackward0", SpanKind::kBackward, 1, 2);
  builder.span(0, "allreduce", SpanKind::kCollective, 2, 3);
  builder.span(0, "allreduce: wait", SpanKind::kWait, 3, 4);
  builder.span(0, "load:batch", SpanKind::kZone, 4, 5);
  builder.span(0, "scope", SpanKind::kUserScope, 5, 6);
  builder.span(0, "read", SpanKind::kInput, 6, 7);
  const ProfileFile file(builder.take());
  std::vector<std::string> names;
  for (const ProfileEvent& event : file.line(kMainThread).events) {
    names.push_back(event.name);
  }
  EXPECT_THAT(names,
              ElementsAre("aten.mm:mm", "MmBackward0:MmBackward0", "allreduce:allreduce",
                          "allreduce/wait:wait", "zone::load:batch", "zone::scope", "zone::read"));
  EXPECT_THAT(file.line(kMainThread).names(),
              ElementsAre("aten::mm", "MmBackward0", "allreduce", "allreduce: wait", "load:batch",
                          "scope", "read"));
}

TEST(XPlaneWriter, DeclaresANameOncePerPlane) {
  TraceBuilder builder;
  for (int i = 0; i < 5; ++i) {
    builder.span(0, "aten::mm", SpanKind::kOperator, i, i + 1);
  }
  const ProfileFile file(builder.take());
  EXPECT_THAT(file.space().planes[0].eventNames, SizeIs(1));
}

TEST(XPlaneWriter, GroupsComputationOfAllThreadsBySteps) {
  TraceBuilder builder;
  builder.step(7, 10, 20);
  builder.step(8, 20, 30);
  for (std::size_t thread = 0; thread < 2; ++thread) {
    builder.span(thread, "aten::mm", SpanKind::kOperator, 5, 9);
    builder.span(thread, "aten::mm", SpanKind::kOperator, 10, 20);
    builder.span(thread, "MmBackward0", SpanKind::kBackward, 20, 25);
    builder.span(thread, "read", SpanKind::kInput, 29, 40);
    builder.span(thread, "aten::mm", SpanKind::kOperator, 40, 41);
  }
  const ProfileFile file(builder.take());
  for (const std::int64_t thread : {kMainThread, kSecondThread}) {
    const std::vector<ProfileEvent>& events = file.line(thread).events;
    ASSERT_THAT(events, SizeIs(5));
    EXPECT_FALSE(events[0].has("group_id"));
    EXPECT_EQ(events[1].integer("group_id"), 7);
    EXPECT_EQ(events[2].integer("group_id"), 8);
    EXPECT_EQ(events[3].integer("group_id"), 8);
    EXPECT_FALSE(events[4].has("group_id"));
  }
}

TEST(XPlaneWriter, GroupsCollectivesAndWaitsOfAllThreadsBySteps) {
  TraceBuilder builder;
  builder.step(7, 10, 20);
  builder.step(8, 20, 30);
  for (std::size_t thread = 0; thread < 2; ++thread) {
    builder.span(thread, "allreduce", SpanKind::kCollective, 5, 9);
    builder.span(thread, "allreduce", SpanKind::kCollective, 10, 15);
    builder.span(thread, "wait for ranks", SpanKind::kWait, 11, 13);
    builder.span(thread, "broadcast", SpanKind::kCollective, 29, 40);
    builder.span(thread, "barrier", SpanKind::kCollective, 40, 41);
  }
  const ProfileFile file(builder.take());
  for (const std::int64_t thread : {kMainThread, kSecondThread}) {
    const std::vector<ProfileEvent>& events = file.line(thread).events;
    ASSERT_THAT(events, SizeIs(5));
    EXPECT_FALSE(events[0].has("group_id"));
    EXPECT_EQ(events[1].integer("group_id"), 7);
    EXPECT_EQ(events[2].integer("group_id"), 7);
    EXPECT_EQ(events[3].integer("group_id"), 8);
    EXPECT_FALSE(events[4].has("group_id"));
  }
}

TEST(XPlaneWriter, GroupsCollectivesThatEndOnAnotherThread) {
  TraceBuilder builder;
  builder.step(7, 10, 20);
  builder.span(0, "aten::mm", SpanKind::kOperator, 10, 15);
  builder.span(0, "allreduce", SpanKind::kCollective, 12, 19).flags = kDetached;
  const ProfileFile file(builder.take());
  ASSERT_THAT(file.lines("/host:CPU"), SizeIs(4));  // steps, their marks, and these two
  const ProfileLine& detached = file.lines("/host:CPU").back();
  ASSERT_THAT(detached.names(), ElementsAre("allreduce"));
  EXPECT_EQ(detached.events[0].integer("group_id"), 7);
}

TEST(XPlaneWriter, GroupsNoZones) {
  TraceBuilder builder;
  builder.step(7, 0, 100);
  builder.span(0, "zone", SpanKind::kZone, 0, 10);
  builder.span(0, "scope", SpanKind::kUserScope, 10, 20);
  const ProfileFile file(builder.take());
  ASSERT_THAT(file.line(kMainThread).events, SizeIs(2));
  for (const ProfileEvent& event : file.line(kMainThread).events) {
    EXPECT_FALSE(event.has("group_id")) << event.name;
  }
}

// XProf counts everything after them in the step as computation.
TEST(XPlaneWriter, KeepsOperatorsWithoutALengthOutOfTheirStep) {
  TraceBuilder builder;
  builder.step(7, 0, 100);
  builder.span(0, "aten::detach", SpanKind::kOperator, 10, 10);
  builder.span(0, "aten::mm", SpanKind::kOperator, 20, 30);
  const ProfileFile file(builder.take());
  const std::vector<ProfileEvent>& events = file.line(kMainThread).events;
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_FALSE(events[0].has("group_id"));
  EXPECT_EQ(events[1].integer("group_id"), 7);
}

// Without the stat, XProf would search for steps itself.
TEST(XPlaneWriter, DeclaresGroupsEvenIfThereAreNone) {
  TraceBuilder builder;
  builder.span(0, "a", SpanKind::kZone, 0, 10);
  const ProfileFile file(builder.take());
  const std::map<std::int64_t, std::string>& names = file.space().planes[0].statNames;
  EXPECT_TRUE(std::any_of(names.begin(), names.end(),
                          [](const auto& name) { return name.second == "group_id"; }));
}

TEST(XPlaneWriter, ShowsStepsInASeparateRow) {
  TraceBuilder builder;
  builder.step(7, 10, 20);
  builder.step(1'000'000'000'000, 20, 35);
  const ProfileFile file(builder.take());
  const ProfileLine& line = file.line(kStepsLine);
  EXPECT_EQ(line.name, "Steps");
  EXPECT_THAT(line.names(), ElementsAre("ProfilerStep#7", "ProfilerStep#1000000000000"));
  EXPECT_EQ(line.events[1].start, 20000);
  EXPECT_EQ(line.events[1].end, 35000);
  EXPECT_EQ(line.events[1].integer("group_id"), 1'000'000'000'000);
  EXPECT_EQ(line.events[1].text("step_name"), "1000000000000");
}

// XProf shows no step without another event of its group that takes time.
TEST(XPlaneWriter, MarksEachStepByAHiddenEvent) {
  TraceBuilder builder;
  builder.step(7, 10, 20);
  builder.step(8, 20, 35);
  const ProfileFile file(builder.take());
  const std::vector<ProfileEvent>& marks = file.line(kStepMarksLine).events;
  ASSERT_THAT(marks, SizeIs(2));
  EXPECT_EQ(marks[1].integer("group_id"), 8);
  EXPECT_EQ(marks[1].start, 20000);
  EXPECT_EQ(marks[1].end, 20001);
  EXPECT_FALSE(marks[1].has("step_name"));
}

TEST(XPlaneWriter, MarksDataLoading) {
  TraceBuilder builder;
  builder.step(7, 0, 100);
  builder.span(0, "load batch", SpanKind::kInput, 0, 10);
  const ProfileFile file(builder.take());
  const ProfileEvent& event = file.line(kMainThread).events.at(0);
  EXPECT_EQ(event.text("_ipl_stage_name"), "load batch");
  EXPECT_EQ(event.text("tf_op"), "Iterator::load batch");
  EXPECT_EQ(event.integer("group_id"), 7);
}

TEST(XPlaneWriter, DrawsArrowsFromForwardToBackward) {
  TraceBuilder builder;
  for (const std::int64_t sequence : {5, 6}) {
    builder.span(0, "aten::mm", SpanKind::kOperator, sequence, sequence + 1).sequence = sequence;
    builder.span(1, "MmBackward0", SpanKind::kBackward, 20 + sequence, 21 + sequence).sequence =
        sequence;
  }
  for (TraceThread& thread : builder.trace().threads) {
    for (TraceSpan& span : thread.spans) {
      span.forwardThread = 1;
    }
  }
  const ProfileFile file(builder.take());
  std::set<std::uint64_t> arrows;
  for (std::size_t i = 0; i < 2; ++i) {
    const detail::events::XStatValue& from = file.line(kMainThread).events.at(i).stats.at("flow");
    const detail::events::XStatValue& to = file.line(kSecondThread).events.at(i).stats.at("flow");
    EXPECT_EQ(std::get<std::uint64_t>(from) % 4, 2u);
    EXPECT_EQ(std::get<std::uint64_t>(to) % 4, 1u);
    EXPECT_EQ(std::get<std::uint64_t>(from) / 4, std::get<std::uint64_t>(to) / 4);
    arrows.insert(std::get<std::uint64_t>(from));
  }
  EXPECT_THAT(arrows, SizeIs(2));
}

TEST(XPlaneWriter, WritesDetailsOfACallAsArguments) {
  TraceBuilder builder;
  SpanDetails details;
  details.shapes = "[[2, 3]]";
  details.types = R"(["float"])";
  details.module = "fc1";
  details.flops = 12;
  details.bytes = 24;
  details.arguments = R"("Group size": 2)";
  builder.trace().details.push_back(details);
  TraceSpan& call = builder.span(0, "aten::mm", SpanKind::kOperator, 0, 10);
  call.details = 1;
  call.sequence = 4'000'000'000;
  call.forwardThread = 3;
  TraceSpan& zone = builder.span(0, "rows", SpanKind::kZone, 10, 20);
  zone.value = 2.5;
  zone.flags = kHasValue;
  const ProfileFile file(builder.take());
  const std::vector<ProfileEvent>& events = file.line(kMainThread).events;
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_THAT(events[0].stats,
              UnorderedElementsAre(
                  Pair("Sequence number", detail::events::XStatValue(std::int64_t{4'000'000'000})),
                  Pair("Fwd thread id", detail::events::XStatValue(std::int64_t{3})),
                  Pair("Input Dims", detail::events::XStatValue(details.shapes)),
                  Pair("Input type", detail::events::XStatValue(details.types)),
                  Pair("Module", detail::events::XStatValue(details.module)),
                  Pair("FLOPs", detail::events::XStatValue(12.0)),
                  Pair("Bytes", detail::events::XStatValue(std::int64_t{24})),
                  Pair("Arguments", detail::events::XStatValue(details.arguments))));
  EXPECT_THAT(events[1].stats,
              UnorderedElementsAre(Pair("value", detail::events::XStatValue(2.5))));
}

TEST(XPlaneWriter, CountsFromTheOriginThatAllRanksShare) {
  TraceBuilder builder;
  builder.trace().originNanos = 5000;
  builder.span(0, "a", SpanKind::kZone, 10, 20);
  detail::profile::XPlaneOptions options;
  options.originNanos = 4000;
  const ProfileFile file(builder.take(), options);
  EXPECT_EQ(file.line(kMainThread).events.at(0).start, 1'010'000);
  EXPECT_EQ(file.planeText("Task Environment", "profile_start_time"), "4000u");
}

TEST(XPlaneWriter, CountsTimesFromTheEarliestSpan) {
  TraceBuilder builder;
  builder.trace().originNanos = 5000;
  builder.step(1, -30, 20);
  builder.span(0, "a", SpanKind::kZone, -10, 20);
  detail::profile::XPlaneOptions options;
  for (const std::int64_t origin : {std::int64_t{0}, std::int64_t{6000}}) {
    options.originNanos = origin;
    const ProfileFile file(builder.trace(), options);
    EXPECT_EQ(file.line(kStepsLine).events.at(0).start, 0);
    EXPECT_EQ(file.line(kMainThread).events.at(0).start, 20'000);
    EXPECT_EQ(file.planeText("Task Environment", "profile_start_time"), "4970u");
  }
}

// 64 bits of picoseconds are some months.
TEST(XPlaneWriter, ClampsTimesThatAreTooLate) {
  TraceBuilder builder;
  builder.step(1, 0, 4'000'000'000'000'000'000);
  builder.span(0, "a", SpanKind::kZone, 0, 4'000'000'000'000'000'000);
  builder.trace().originNanos = 1'700'000'000'000'000'000;
  detail::profile::XPlaneOptions options;
  options.originNanos = 1;
  const ProfileFile file(builder.take(), options);
  constexpr std::int64_t kWeekPicos = std::int64_t{7} * 24 * 3600 * 1'000'000'000'000;
  for (const std::int64_t line : {kStepsLine, kMainThread}) {
    EXPECT_GT(file.line(line).events.at(0).start, 3 * kWeekPicos);
    EXPECT_EQ(file.line(line).events.at(0).end, file.line(line).events.at(0).start);
  }
}

TEST(XPlaneWriter, CountsFromMemoryAndCountersToo) {
  TraceBuilder builder;
  builder.span(0, "a", SpanKind::kZone, 0, 20);
  builder.trace().memory = {{-10, 1, 8, 8, 0, 0, -1, 0}};
  EXPECT_EQ(ProfileFile(builder.trace()).line(kMainThread).events.at(0).start, 10'000);
  builder.trace().counters = {{"memory", {{-30, 1}}}};
  EXPECT_EQ(ProfileFile(builder.trace()).line(kMainThread).events.at(0).start, 30'000);
}

TEST(XPlaneWriter, WritesCountersInOneLineByTime) {
  TraceBuilder builder;
  builder.trace().counters = {{"memory", {{1, 0.5}, {9, 1.5}}}, {"depth", {{4, 7.0}}}};
  const ProfileFile file(builder.take());
  ASSERT_THAT(file.lines("/host:CPU"), SizeIs(1));
  const ProfileLine& line = file.lines("/host:CPU")[0];
  EXPECT_EQ(line.name, "_counters_");
  EXPECT_THAT(line.names(), ElementsAre("memory", "depth", "memory"));
  EXPECT_THAT(line.events[1].stats, ElementsAre(Pair("value", detail::events::XStatValue(7.0))));
  EXPECT_EQ(line.events[1].start, 4000);
}

TEST(XPlaneWriter, WritesMemoryEventsForTheMemoryPage) {
  TraceBuilder builder;
  builder.step(7, 0, 100);
  builder.span(0, "zone", SpanKind::kZone, 0, 50);
  builder.span(0, "aten::linear", SpanKind::kOperator, 0, 40);
  builder.span(0, "aten::mm", SpanKind::kOperator, 10, 20);
  builder.trace().memory = {{15, 0xfff0, 64, 164, 0, 0, -1, 0},
                            {30, 0xfff0, -64, 100, 0, 0, -1, 0}};
  const ProfileFile file(builder.take());
  const std::vector<ProfileEvent>& events = file.line(kMemoryLine).events;
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].name, "MemoryAllocation");
  EXPECT_EQ(events[0].start, 15'000);
  EXPECT_EQ(events[0].end, 15'001);
  EXPECT_EQ(events[0].text("allocator_name"), "cpu");
  EXPECT_EQ(events[0].integer("bytes_allocated"), 164);
  EXPECT_EQ(events[0].integer("allocation_bytes"), 64);
  EXPECT_EQ(events[0].integer("requested_bytes"), 64);
  EXPECT_EQ(events[0].integer("addr"), 0xfff0);
  EXPECT_EQ(events[0].integer("peak_bytes_in_use"), 164);
  EXPECT_EQ(events[0].integer("bytes_available"), 0);
  EXPECT_EQ(events[0].integer("group_id"), 7);
  EXPECT_EQ(events[0].text("tf_op"), "aten::mm");

  EXPECT_EQ(events[1].name, "MemoryDeallocation");
  EXPECT_EQ(events[1].integer("bytes_allocated"), 100);
  EXPECT_EQ(events[1].integer("allocation_bytes"), 64);
  EXPECT_EQ(events[1].integer("peak_bytes_in_use"), 164);
  EXPECT_FALSE(events[1].has("tf_op"));
}

TEST(XPlaneWriter, KeepsTheMemoryOfDevicesApart) {
  TraceBuilder builder;
  builder.span(0, "zone", SpanKind::kZone, 0, 50);
  builder.trace().memory = {
      {1, 1, 500, 500, 0, 0, -1, 0}, {2, 2, 8, 8, 32, 1, 0, 0}, {3, 3, 8, 8, 32, 1, 1, 0}};
  const ProfileFile file(builder.take());
  const std::vector<ProfileEvent>& events = file.line(kMemoryLine).events;
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[1].text("allocator_name"), "cuda:0");
  EXPECT_EQ(events[1].integer("peak_bytes_in_use"), 8);
  // The allocator's additional memory: the sum of both is the capacity that XProf shows.
  EXPECT_EQ(events[1].integer("bytes_available"), 24);
  EXPECT_EQ(events[2].text("allocator_name"), "cuda:1");
}

TEST(XPlaneWriter, GivesEachAllocationTheInnermostOperatorAroundIt) {
  TraceBuilder builder;
  builder.span(0, "outer", SpanKind::kBackward, 0, 100);
  builder.span(0, "first", SpanKind::kOperator, 10, 20);
  builder.span(0, "second", SpanKind::kOperator, 20, 30);
  builder.span(0, "detached", SpanKind::kOperator, 40, 50).flags = kDetached;
  builder.span(1, "other", SpanKind::kOperator, 0, 100);
  for (const std::int64_t time : {5, 10, 20, 30, 45, 100}) {
    builder.trace().memory.push_back({time, 1, 8, 8, 0, 0, -1, 0});
  }
  builder.trace().memory.push_back({150, 1, 8, 8, 0, 0, -1, 1});
  const ProfileFile file(builder.take());
  std::vector<std::string> operators;
  for (const ProfileEvent& event : file.line(kMemoryLine).events) {
    operators.push_back(event.text("tf_op"));
  }
  EXPECT_THAT(operators,
              ElementsAre("outer", "first", "second", "outer", "outer", "(none)", "(none)"));
}

TEST(XPlaneWriter, GivesEachDeviceAPlaneWithItsSteps) {
  TraceBuilder builder;
  builder.step(7, 0, 100);
  builder.step(8, 100, 200);
  const std::size_t second = builder.stream(1, 7);
  builder.span(second, "sgemm", SpanKind::kDevice, 10, 50);
  builder.span(second, "sgemm", SpanKind::kDevice, 60, 90);
  builder.span(second, "Memcpy HtoD (Pageable -> Device)", SpanKind::kDevice, 110, 130);
  const std::size_t first = builder.stream(0, 20);
  builder.span(first, "train", SpanKind::kDevice, 10, 120);
  const ProfileFile file(builder.take());

  const std::string plane = "/device:GPU:1";
  const ProfileLine& stream = file.line(7, plane);
  EXPECT_EQ(stream.name, "Stream #7");
  ASSERT_THAT(stream.events, SizeIs(3));
  EXPECT_EQ(stream.events[0].name, "sgemm");
  EXPECT_EQ(stream.events[0].text("tf_op"), "sgemm:sgemm");
  EXPECT_EQ(stream.events[0].integer("group_id"), 7);
  EXPECT_NE(stream.events[0].integer("correlation_id"), stream.events[1].integer("correlation_id"));
  EXPECT_EQ(stream.events[2].name, "MemcpyHToD");
  EXPECT_EQ(stream.events[2].displayName, "Memcpy HtoD (Pageable -> Device)");

  const ProfileLine& steps = file.line(kDeviceStepsLine, plane);
  EXPECT_EQ(steps.name, "Steps");
  ASSERT_THAT(steps.events, SizeIs(2));
  EXPECT_EQ(steps.events[1].integer("group_id"), 8);
  EXPECT_EQ(steps.events[1].start, 100'000);
  EXPECT_EQ(steps.events[1].end, 200'000);

  EXPECT_THAT(file.line(20, "/device:GPU:0").events, SizeIs(1));
  std::set<std::int64_t> planes;
  for (const detail::events::XPlane& each : file.space().planes) {
    planes.insert(each.id);
  }
  EXPECT_THAT(planes, SizeIs(file.space().planes.size()));
  EXPECT_THAT(file.lines("/host:CPU"), SizeIs(3)) << "steps, marks and the thread of the steps";
}

TEST(XPlaneWriter, StatesDroppedSpansAndTheRank) {
  TraceBuilder builder;
  builder.span(0, "a", SpanKind::kZone, 0, 10);
  Trace trace = builder.take();
  EXPECT_THAT(ProfileFile(trace).space().warnings, IsEmpty());
  trace.dropped = 3;
  EXPECT_THAT(ProfileFile(trace).space().warnings,
              ElementsAre("dropped 3 spans: the profile does not show all that happened"));
  trace.worldSize = 4;
  trace.rank = 2;
  EXPECT_THAT(ProfileFile(trace).space().warnings,
              ElementsAre("rank 2: dropped 3 spans: the profile does not show all that happened"));
}

TEST(XPlaneWriter, NamesOneHostOrNone) {
  Trace trace;
  EXPECT_THAT(ProfileFile(trace).space().hostNames, IsEmpty());
  trace.hostName = "node1";
  EXPECT_THAT(ProfileFile(trace).space().hostNames, ElementsAre("node1"));
}

// Because of one bad byte, XProf would reject the whole file.
TEST(XPlaneWriter, WritesValidUtf8OnlyWhateverTheNames) {
  const std::string bad = "bad \xff name";
  TraceBuilder builder;
  SpanDetails details;
  details.shapes = details.types = details.module = details.arguments = bad;
  builder.trace().details.push_back(details);
  builder.step(1, 0, 100);
  std::int64_t time = 0;
  for (std::size_t i = 0; i < kSpanKinds; ++i) {
    builder.span(0, bad, static_cast<SpanKind>(i), time, time + 1).details = 1;
    ++time;
  }
  builder.span(builder.stream(0, 7), bad, SpanKind::kDevice, 0, 10);
  Trace& trace = builder.trace();
  trace.hostName = trace.processName = trace.threads[0].name = trace.threads[1].name = bad;
  trace.names[0].category = bad;
  trace.counters = {{bad, {{0, 1}}}};
  trace.metadata = {{bad, bad}};
  trace.memory = {{0, 1, 8, 8, 0, 0, -1, 0}};
  const ProfileFile file(builder.take());
  EXPECT_EQ(file.bytes().find("bad \xff"), std::string::npos);
  EXPECT_THAT(file.line(kMainThread).names(), SizeIs(kSpanKinds));
  EXPECT_TRUE(detail::base::isValidUtf8(file.line(kMainThread).names()[0]));
}

TEST(XPlaneWriter, MakesTheFoldersOfASession) {
  const testing::TempDir dir;
  const std::string path = detail::profile::xplanePath(dir.string() + "/run", "session", Trace());
  ASSERT_TRUE(detail::profile::writeXPlane(path, Trace()).ok());
  EXPECT_TRUE(std::filesystem::exists(dir.path() / "run/plugins/profile/session"));
}

TEST(XPlaneWriter, NeverReplacesAFile) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/host.xplane.pb";
  ASSERT_TRUE(detail::profile::writeXPlane(path, Trace()).ok());
  const Status again = detail::profile::writeXPlane(path, Trace());
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.code(), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(again.message(), "cannot write " + path + ": the file exists");
  const std::filesystem::directory_iterator files(dir.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "something is left behind";
}

TEST(XPlaneWriter, ReportsWhyItCannotWrite) {
  const testing::TempDir dir;
  const std::string file = dir.string() + "/file";
  ASSERT_TRUE(detail::profile::writeXPlane(file, Trace()).ok());
  const Status status = detail::profile::writeXPlane(file + "/host.xplane.pb", Trace());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_EQ(status.message(), "cannot create the directory " + file + ": Not a directory");
}

TEST(XPlanePath, NamesTheHostAndTheRankOfAJobOfSeveral) {
  Trace trace;
  trace.hostName = "node1.example.org";
  EXPECT_EQ(detail::profile::xplanePath("runs/a", "s", trace),
            "runs/a/plugins/profile/s/node1.example.org.xplane.pb");
  trace.worldSize = 16;
  trace.rank = 3;
  EXPECT_EQ(detail::profile::xplanePath("runs/a", "s", trace),
            "runs/a/plugins/profile/s/node1.example.org_rank00003.xplane.pb");
}

TEST(XPlanePath, ReplacesCharactersAtWhichXprofSplits) {
  Trace trace;
  trace.hostName = "a,b/c d";
  EXPECT_EQ(detail::profile::xplanePath("r", "s", trace), "r/plugins/profile/s/a_b_c_d.xplane.pb");
  trace.hostName = "";
  EXPECT_EQ(detail::profile::xplanePath("r", "s", trace),
            "r/plugins/profile/s/localhost.xplane.pb");
}

TEST(ProfileSessionName, SortsByTime) {
  EXPECT_EQ(detail::profile::profileSessionName(1'767'225'600'000'000'000).size(),
            std::string("2026_01_01_00_00_00").size());
  EXPECT_LT(detail::profile::profileSessionName(1'767'225'600'000'000'000),
            detail::profile::profileSessionName(1'767'225'601'000'000'000));
}

}  // namespace
}  // namespace steptape
