// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"
#include "steptape/wire/xplane.pb.h"

#include "events/messages/xplane_encoder.h"
#include "profile/trace/overlapping_trace.h"
#include "profile/trace/trace_builder.h"
#include "profile/trace/xplane/xplane_trace.h"
#include "support/content_of.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace steptape {
namespace {

using test::expectError;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A span with its name and details as text.
struct Span {
  std::string name;
  SpanKind kind;
  std::int64_t start;
  std::int64_t duration;
  std::uint8_t flags;
  std::int64_t sequence;
  std::uint16_t forwardThread;
  double value;
  SpanDetails details;

  bool operator==(const Span& other) const {
    return name == other.name && kind == other.kind && start == other.start &&
           duration == other.duration && flags == other.flags && sequence == other.sequence &&
           forwardThread == other.forwardThread && value == other.value && details == other.details;
  }
};

void PrintTo(const Span& span, std::ostream* out) {
  *out << spanKindName(span.kind) << " " << span.name << " at " << span.start << " for "
       << span.duration << ", flags " << int{span.flags};
}

std::vector<Span> spansOf(const Trace& trace, std::size_t thread) {
  std::vector<Span> spans;
  for (const TraceSpan& span : trace.threads.at(thread).spans) {
    const TraceName& name = trace.names.at(span.name);
    spans.push_back({name.text, name.kind, span.start, span.duration, span.flags, span.sequence,
                     span.forwardThread, span.value, trace.details.at(span.details)});
  }
  return spans;
}

std::vector<std::string> namesOf(const Trace& trace, std::size_t thread) {
  std::vector<std::string> names;
  for (const Span& span : spansOf(trace, thread)) {
    names.push_back(std::string(spanKindName(span.kind)) + " " + span.name);
  }
  return names;
}

class XPlaneReader : public ::testing::Test {
 protected:
  std::string path() const { return dir_.string() + "/host.xplane.pb"; }

  Trace throughFile(const Trace& trace) const {
    detail::profile::writeXPlane(path(), trace).throwIfError();
    return detail::profile::readXPlane(path());
  }
  void write(const detail::events::XSpaceEncoder& space) const {
    std::ofstream file(path(), std::ios::binary);
    for (const std::string& piece : space.pieces()) {
      file << piece;
    }
  }

 private:
  testing::TempDir dir_;
};

TEST_F(XPlaneReader, GivesTheSpansBack) {
  TraceBuilder builder;
  SpanDetails details;
  details.shapes = "[[2, 3]]";
  details.types = R"(["float"])";
  details.module = "fc1";
  details.flops = 12;
  details.bytes = 24;
  details.arguments = R"("Group size": 2)";
  builder.trace().details.push_back(details);
  builder.step(1, 0, 1000);
  for (std::size_t thread = 0; thread < 2; ++thread) {
    std::int64_t time = 0;
    for (std::size_t i = 0; i < kSpanKinds; ++i) {
      const auto kind = static_cast<SpanKind>(i);
      // Each encloses the next one: all end at 100 minus the picoseconds that XProf needs.
      TraceSpan& span = builder.span(thread, "name: x", kind, time, 100);
      span.details = i % 2 == 0 ? 1 : 0;
      span.sequence = static_cast<std::int64_t>(i) - 1;
      span.forwardThread = static_cast<std::uint16_t>(i == 0 ? 0 : thread + 1);
      ++time;
    }
    TraceSpan& zone = builder.span(thread, "rows", SpanKind::kZone, 200, 300);
    zone.value = 2.5;
    zone.flags = kHasValue;
    builder.span(thread, "far", SpanKind::kZone, 50, 250).flags = kDetached;
    builder.span(thread, "within", SpanKind::kZone, 220, 230).flags = kDetached;
  }
  builder.trace().threads[0].name = "main";
  builder.trace().threads[1].name = "worker";
  const Trace trace = builder.take();
  const Trace read = throughFile(trace);
  ASSERT_THAT(read.threads, SizeIs(2));
  for (std::size_t thread = 0; thread < 2; ++thread) {
    EXPECT_EQ(read.threads[thread].id, trace.threads[thread].id);
    EXPECT_EQ(read.threads[thread].name, trace.threads[thread].name);
    EXPECT_EQ(spansOf(read, thread), spansOf(trace, thread));
  }
  EXPECT_THAT(read.details, SizeIs(2));
}

TEST_F(XPlaneReader, KeepsAnyOverlappingSpans) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Trace trace = overlappingTrace(seed);
    for (TraceThread& thread : trace.threads) {
      // A thread without spans is not in the file.
      thread.spans.emplace_back().start = kEndOfOverlappingTrace - 1;
    }
    const Trace read = throughFile(trace);
    std::filesystem::remove(path());
    ASSERT_THAT(read.threads, SizeIs(trace.threads.size()));
    for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
      EXPECT_EQ(ownersOf(read.threads[thread].spans), ownersOf(trace.threads[thread].spans));
    }
  }
}

TEST_F(XPlaneReader, KeepsTheOrderOfSpansOfTheSameTimes) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Trace trace = overlappingTrace(seed);
    for (TraceThread& thread : trace.threads) {
      std::vector<TraceSpan> spans = thread.spans;
      for (int twins = 0; twins < 3; ++twins) {
        for (const TraceSpan& span : spans) {
          TraceSpan& twin = thread.spans.emplace_back(span);
          twin.name = (span.name + static_cast<std::uint32_t>(twins) + 1) %
                      static_cast<std::uint32_t>(trace.names.size());
          twin.flags = twins == 1 ? kDetached : 0;
        }
      }
      nestSpans(&thread.spans);
      // A thread without spans is not in the file.
      thread.spans.emplace_back().start = kEndOfOverlappingTrace - 1;
    }
    const Trace read = throughFile(trace);
    std::filesystem::remove(path());
    ASSERT_THAT(read.threads, SizeIs(trace.threads.size()));
    for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
      EXPECT_EQ(namesOf(read, thread), namesOf(trace, thread));
    }
  }
}

TEST_F(XPlaneReader, PutsASpanWithAnInvalidPlaceAmongItsTwinsAnywhere) {
  detail::events::XSpaceEncoder space;
  detail::events::XPlaneEncoder plane(1, "/host:CPU");
  detail::events::XLineEncoder line(1, "thread");
  for (const std::int64_t place : {INT64_MIN, std::int64_t{-1}, std::int64_t{7}, INT64_MAX}) {
    line.beginEvent(plane.addEventName({"twin"}), 1000, 1000);
    line.addStat(plane.statId("detached from thread"), std::uint64_t{1});
    line.addStat(plane.statId("equal spans around it"), place);
    line.endEvent();
  }
  plane.addLine(std::move(line));
  space.addPlane(std::move(plane));
  write(space);
  EXPECT_THAT(detail::profile::readXPlane(path()).threads.at(0).spans, SizeIs(4));
}

TEST_F(XPlaneReader, RecognizesCollectivesOfOtherWriters) {
  detail::events::XSpaceEncoder space;
  detail::events::XPlaneEncoder plane(1, "/host:CPU");
  detail::events::XLineEncoder line(1, "tf_XLAPjRtCpuClient/1");
  for (const char* const name : {"psum_invariant.22", "cpu-all-reduce-combiner", "dot"}) {
    line.beginEvent(plane.addEventName({name}), 1000, 1000);
    line.endEvent();
  }
  plane.addLine(std::move(line));
  space.addPlane(std::move(plane));
  write(space);
  const Trace trace = detail::profile::readXPlane(path());
  ASSERT_THAT(trace.names, SizeIs(3));
  EXPECT_EQ(trace.names[0].kind, SpanKind::kCollective);
  EXPECT_EQ(trace.names[1].kind, SpanKind::kZone);
  EXPECT_EQ(trace.names[2].kind, SpanKind::kZone);
}

// The files of a session have one origin; the windows of the ranks start later.
TEST_F(XPlaneReader, FindsTheStartOfTheWindow) {
  TraceBuilder builder;
  builder.step(7, 5, 100);
  builder.span(0, "a", SpanKind::kZone, 10, 20);
  Trace trace = builder.take();
  trace.originNanos = 1'767'225'600'000'002'000;
  trace.duration = 300;
  detail::profile::XPlaneOptions options;
  options.originNanos = trace.originNanos - 1500;
  detail::profile::writeXPlane(path(), trace, options).throwIfError();
  const Trace read = detail::profile::readXPlane(path());
  EXPECT_EQ(read.originNanos, trace.originNanos);
  EXPECT_EQ(read.duration, 300);
  EXPECT_EQ(read.steps.at(0).start, 5);
  EXPECT_EQ(spansOf(read, 0), spansOf(trace, 0));
}

TEST_F(XPlaneReader, GivesTheRestOfATraceBack) {
  TraceBuilder builder;
  builder.step(7, 0, 100);
  builder.span(1, "a", SpanKind::kZone, 0, 10);
  builder.step(8, 100, 250);
  Trace trace = builder.take();
  trace.hostName = "node1";
  trace.processId = 4711;
  trace.processName = "train";
  trace.rank = 2;
  trace.worldSize = 4;
  trace.originNanos = 1'767'225'600'123'456'789;
  trace.duration = 300;
  trace.dropped = 5;
  trace.steps[1].thread = 1;
  trace.names[0].category = "cuda_runtime";
  trace.names[0].color = 0xff8000;
  trace.metadata = {{"rank", "17"}, {"library", "\"steptape\""}};
  trace.memory = {{3, 0x7fff00001000, 64, 164, 0, 0, -1, 1}, {4, 16, -8, 8, 32, 1, 2, 0}};
  trace.counters = {{"memory", {{1, 0.5}, {9, 1.5}}}, {"depth", {{4, 7.0}}}};
  const Trace read = throughFile(trace);
  EXPECT_EQ(read.hostName, "node1");
  EXPECT_EQ(read.processId, 4711);
  EXPECT_EQ(read.processName, "train");
  EXPECT_EQ(read.rank, 2);
  EXPECT_EQ(read.worldSize, 4);
  EXPECT_EQ(read.originNanos, 1'767'225'600'123'456'789);
  EXPECT_EQ(read.duration, 300);
  EXPECT_EQ(read.dropped, 5u);
  EXPECT_EQ(read.metadata, trace.metadata);
  EXPECT_EQ(read.names.at(0).category, "cuda_runtime");
  EXPECT_EQ(read.names.at(0).color, 0xff8000u);
  ASSERT_THAT(read.threads, SizeIs(2));
  ASSERT_THAT(read.steps, SizeIs(2));
  EXPECT_EQ(read.steps[1].number, 8);
  EXPECT_EQ(read.steps[1].start, 100);
  EXPECT_EQ(read.steps[1].duration, 150);
  EXPECT_EQ(read.steps[0].thread, 0u);
  EXPECT_EQ(read.steps[1].thread, 1u);
  ASSERT_THAT(read.memory, SizeIs(2));
  EXPECT_EQ(read.memory[0].time, 3);
  EXPECT_EQ(read.memory[0].address, 0x7fff00001000u);
  EXPECT_EQ(read.memory[0].bytes, 64);
  EXPECT_EQ(read.memory[0].totalAllocated, 164);
  EXPECT_EQ(read.memory[0].totalReserved, 0);
  EXPECT_EQ(read.memory[0].deviceType, 0);
  EXPECT_EQ(read.memory[0].deviceIndex, -1);
  EXPECT_EQ(read.memory[0].thread, 1u);
  EXPECT_EQ(read.memory[1].bytes, -8);
  EXPECT_EQ(read.memory[1].totalReserved, 32);
  EXPECT_EQ(read.memory[1].deviceType, 1);
  EXPECT_EQ(read.memory[1].deviceIndex, 2);
  ASSERT_THAT(read.counters, SizeIs(2));
  EXPECT_EQ(read.counters[0].name, "memory");
  EXPECT_EQ(read.counters[0].points, trace.counters[0].points);
  EXPECT_EQ(read.counters[1].points, trace.counters[1].points);
}

TEST_F(XPlaneReader, GivesStreamsOfDevicesBack) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.trace().threads[0].id = 7;
  const std::size_t stream = builder.stream(2, 7);
  builder.span(stream, "sgemm", SpanKind::kDevice, 10, 50);
  builder.span(stream, "Memcpy DtoH (Device -> Pageable)", SpanKind::kDevice, 60, 70);
  builder.span(stream, "overlapping", SpanKind::kDevice, 20, 65);
  builder.trace().threads[stream].name = "Stream #7(Compute)";
  const Trace trace = builder.take();
  const Trace read = throughFile(trace);
  ASSERT_THAT(read.threads, SizeIs(2));
  EXPECT_EQ(read.threads[1].device, 2);
  EXPECT_EQ(read.threads[1].id, 7u);
  EXPECT_EQ(read.threads[1].name, "Stream #7(Compute)");
  EXPECT_EQ(spansOf(read, 1), spansOf(trace, 1));
}

TEST_F(XPlaneReader, GivesBackWhatBeganBeforeTheWindow) {
  TraceBuilder builder;
  builder.trace().originNanos = 5000;
  builder.span(0, "a", SpanKind::kZone, -10, 20);
  const Trace read = throughFile(builder.take());
  EXPECT_EQ(read.originNanos, 5000);
  EXPECT_EQ(read.threads.at(0).spans.at(0).start, -10);
}

wire::XEvent* addEvent(std::int64_t name, std::int64_t offset, std::int64_t duration,
                       wire::XLine* line) {
  wire::XEvent* event = line->add_events();
  event->set_metadata_id(name);
  event->set_offset_ps(offset);
  event->set_duration_ps(duration);
  return event;
}

// In the form of JAX and TensorFlow: lines with times since 1970, steps that XProf finds itself.
TEST_F(XPlaneReader, ReadsFilesOfOtherWriters) {
  constexpr std::int64_t kStep = 1;
  constexpr std::int64_t kCall = 2;
  constexpr std::int64_t kNameless = 3;
  constexpr std::int64_t kStart = 1'700'000'000'000'000'000;
  wire::XSpace space;
  wire::XPlane* plane = space.add_planes();
  plane->set_name("/host:CPU");
  wire::XPlane::EventMetadataEntry* name = plane->add_event_metadata();
  name->set_key(kStep);
  name->mutable_value()->set_name("train");
  name = plane->add_event_metadata();
  name->set_key(kCall);
  name->mutable_value()->set_name("zone::Execute");
  for (const auto& [id, text] : {std::pair(1, "step_num"), std::pair(2, "thread")}) {
    wire::XPlane::StatMetadataEntry* stat = plane->add_stat_metadata();
    stat->set_key(id);
    stat->mutable_value()->set_name(text);
  }
  wire::XLine* late = plane->add_lines();
  late->set_id(43);
  late->set_timestamp_ns(kStart + 1'000'000);
  wire::XStat* number = addEvent(kStep, 0, 5'000'000, late)->add_stats();
  number->set_metadata_id(1);
  number->set_uint64_value(13);
  wire::XLine* line = plane->add_lines();
  line->set_id(42);
  line->set_name("python");
  line->set_timestamp_ns(kStart);
  number = addEvent(kStep, 2'000'499, 5'000'000, line)->add_stats();
  number->set_metadata_id(1);
  number->set_int64_value(12);
  wire::XStat* thread = addEvent(kCall, 3'000'000, 1'000'000, line)->add_stats();
  thread->set_metadata_id(2);
  thread->set_int64_value(1);
  addEvent(kNameless, 4'000'000, 1, line);
  wire::XLine* timeless = plane->add_lines();
  timeless->set_id(44);
  addEvent(kCall, 7'000'000, 1, timeless);
  std::ofstream(path(), std::ios::binary) << space.SerializeAsString();

  const Trace read = detail::profile::readXPlane(path());
  EXPECT_EQ(read.originNanos, kStart);
  ASSERT_THAT(read.steps, SizeIs(2));
  EXPECT_EQ(read.steps[0].number, 12);
  EXPECT_EQ(read.steps[0].start, 2000);
  EXPECT_EQ(read.steps[1].number, 13);
  EXPECT_EQ(read.steps[1].start, 1'000'000);
  const TraceThread& python = read.threads.at(read.steps[0].thread);
  EXPECT_EQ(python.name, "python");
  EXPECT_EQ(python.id, 42u);
  ASSERT_THAT(python.spans, SizeIs(2));
  EXPECT_EQ(read.names.at(python.spans[0].name).text, "Execute");
  EXPECT_EQ(read.names.at(python.spans[0].name).kind, SpanKind::kZone);
  EXPECT_EQ(python.spans[0].start, 3000);
  EXPECT_EQ(python.spans[0].duration, 1000);
  EXPECT_EQ(read.names.at(python.spans[1].name).text, "");
  const auto without = std::find_if(read.threads.begin(), read.threads.end(),
                                    [](const TraceThread& each) { return each.id == 44; });
  ASSERT_NE(without, read.threads.end());
  EXPECT_EQ(without->spans.at(0).start, 7000) << "of a line without a time of its own";
}

/// A profile as JAX 0.10 writes it: lines with times since the profile's start, which is a stat.
detail::events::XSpaceEncoder profileOfJax(std::uint64_t startNanos, std::uint64_t stopNanos) {
  detail::events::XPlaneEncoder plane(1, "/host:CPU");
  const std::int64_t name = plane.addEventName({"dot"});
  detail::events::XLineEncoder line(42, "python");
  line.beginEvent(name, 3'000'000, 5'000'000);
  line.endEvent();
  plane.addLine(std::move(line));
  detail::events::XPlaneEncoder facts(2, "Task Environment");
  facts.addStat("profile_start_time", startNanos);
  facts.addStat("profile_stop_time", stopNanos);
  facts.addStat("profile_options",
                detail::events::XStatBytes{std::string("\x08\x01\x10\x02\xff", 5)});
  facts.addStat("retries", std::int64_t{-3});
  facts.addStat("ratio", std::numeric_limits<double>::quiet_NaN());
  facts.addStat("version", std::string("0.10"));
  detail::events::XSpaceEncoder space;
  space.addPlane(std::move(plane));
  space.addPlane(std::move(facts));
  return space;
}

TEST_F(XPlaneReader, TakesTheStartFromTheProfile) {
  constexpr std::uint64_t kStart = 1'795'749'211'985'930'854;
  write(profileOfJax(kStart, kStart + 20'000));
  const Trace read = detail::profile::readXPlane(path());
  EXPECT_EQ(read.originNanos, static_cast<std::int64_t>(kStart));
  EXPECT_EQ(read.duration, 20'000);
  EXPECT_EQ(read.threads.at(0).spans.at(0).start, 3000);
}

// The recording goes on for a moment after the time that the profile states as its end.
TEST_F(XPlaneReader, ShowsAllSpansInTheWindow) {
  constexpr std::uint64_t kStart = 1'795'749'211'985'930'854;
  write(profileOfJax(kStart, kStart + 4000));
  EXPECT_EQ(detail::profile::readXPlane(path()).duration, 8000);
}

TEST_F(XPlaneReader, MakesJsonOfFactsOfAnyType) {
  write(profileOfJax(0, 0));
  const Trace read = detail::profile::readXPlane(path());
  EXPECT_THAT(read.metadata,
              ::testing::ElementsAre(std::pair("profile_options", "\"CAEQAv8=\""),
                                     std::pair("retries", "-3"), std::pair("ratio", "\"NaN\""),
                                     std::pair("version", "\"0.10\"")));
}

TEST_F(XPlaneReader, MakesJsonOfDetailsOfAnyText) {
  detail::events::XPlaneEncoder plane(1, "/host:CPU");
  const std::int64_t name = plane.addEventName({"dot"});
  detail::events::XLineEncoder line(42, "python");
  line.beginEvent(name, 0, 1000);
  line.addStat(plane.statId("Input Dims"), "2x3");
  line.addStat(plane.statId("Input type"), "[\"float\"]");
  line.addStat(plane.statId("Arguments"), "lr=0.1");
  line.endEvent();
  plane.addLine(std::move(line));
  detail::events::XSpaceEncoder space;
  space.addPlane(std::move(plane));
  write(space);
  const Trace read = detail::profile::readXPlane(path());
  EXPECT_EQ(read.details.at(1).shapes, "\"2x3\"");
  EXPECT_EQ(read.details.at(1).types, "[\"float\"]");
  EXPECT_EQ(read.details.at(1).arguments, R"("Arguments": "lr=0.1")");
}

TEST_F(XPlaneReader, IsNotMisledByFactsOfAnotherFormat) {
  TraceBuilder builder;
  builder.span(0, "a", SpanKind::kZone, 0, 10);
  Trace trace = builder.take();
  trace.rank = 2;
  trace.worldSize = 4;
  trace.originNanos = 1'767'225'600'123'456'789;
  trace.metadata = {{"steptape.rank", "3"}, {"profile_start_time", "7"}, {"kept", "1"}};
  const Trace read = throughFile(trace);
  EXPECT_EQ(read.rank, 2);
  EXPECT_EQ(read.originNanos, trace.originNanos);
  EXPECT_THAT(read.metadata, ::testing::ElementsAre(std::pair("kept", "1")));
}

TEST_F(XPlaneReader, IgnoresInvalidTimes) {
  detail::events::XSpaceEncoder space;
  detail::events::XPlaneEncoder plane(1, "/host:CPU");
  const std::int64_t name = plane.addEventName({"a"});
  detail::events::XLineEncoder line(42, "main");
  for (const std::int64_t number :
       {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(), std::int64_t{5000}}) {
    line.beginEvent(name, number, 0);
    line.endEvent();
    line.beginEvent(name, 0, number);
    line.endEvent();
  }
  plane.addLine(std::move(line));
  space.addPlane(std::move(plane));
  write(space);
  const Trace read = detail::profile::readXPlane(path());
  EXPECT_EQ(read.dropped, 4u);
  EXPECT_THAT(read.threads.at(0).spans, SizeIs(2));
}

TEST_F(XPlaneReader, ReadsACompressedFile) {
  TraceBuilder builder;
  builder.span(0, "a", SpanKind::kZone, 0, 10);
  const Trace trace = builder.take();
  const Trace plain = throughFile(trace);
  const std::string bytes = test::contentOf(path());
  const gzFile file = gzopen(path().c_str(), "wb");
  EXPECT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
            static_cast<int>(bytes.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  EXPECT_EQ(spansOf(detail::profile::readXPlane(path()), 0), spansOf(plain, 0));
}

TEST_F(XPlaneReader, RefusesOtherFiles) {
  std::ofstream(path()) << R"({"traceEvents": []})";
  expectError(
      ErrorCode::kInvalidArgument,
      path() + " is not an XProf profile: xplane: got 19 other bytes; expected a message XSpace",
      [&] { detail::profile::readXPlane(path()); });
}

TEST_F(XPlaneReader, RefusesAnEmptyFile) {
  std::ofstream(path()) << "";
  expectError(ErrorCode::kInvalidArgument,
              path() + " is not an XProf profile: got no planes; expected at least one",
              [&] { detail::profile::readXPlane(path()); });
}

TEST_F(XPlaneReader, RejectsAnInvalidEvent) {
  const std::string event = "\x22\x01\xff";  // a line's event of one bad byte
  const std::string line = "\x1a\x03" + event;
  const std::string plane = "\x0a\x05" + line;
  std::ofstream(path()) << plane;
  expectError(ErrorCode::kInvalidArgument, "got 1 other bytes; expected a message XEvent",
              [&] { detail::profile::readXPlane(path()); });
}

TEST_F(XPlaneReader, SkipsEventsMeantForXprofOnly) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.span(0, "a", SpanKind::kZone, 0, 10);
  builder.span(builder.stream(0, 7), "sgemm", SpanKind::kDevice, 10, 50);
  const Trace read = throughFile(builder.take());
  EXPECT_THAT(read.threads, SizeIs(2));
  EXPECT_THAT(read.steps, SizeIs(1));
}

TEST_F(XPlaneReader, ReportsWhyItCannotRead) {
  expectError(ErrorCode::kIoError, "cannot read " + path() + ": No such file or directory",
              [&] { detail::profile::readXPlane(path()); });
}

}  // namespace
}  // namespace steptape
