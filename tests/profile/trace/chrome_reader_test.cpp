// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"

#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/overlapping_trace.h"
#include "profile/trace/sample_trace.h"
#include "support/content_of.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using test::errorOf;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class ChromeReader : public ::testing::Test {
 protected:
  std::vector<Trace> read(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return detail::profile::readChromeTrace(path_);
  }
  /// Returns the traces read from a file with these events.
  std::vector<Trace> readEvents(const std::string& events) {
    return read("{\"traceEvents\": [" + events + "]}");
  }
  /// Returns the trace of events that all belong to one process.
  Trace readProcess(const std::string& events) {
    std::vector<Trace> traces = readEvents(events);
    EXPECT_THAT(traces, SizeIs(1));
    return traces.empty() ? Trace() : traces[0];
  }
  std::vector<Trace> writtenAndRead(const std::vector<Trace>& processes, bool compress = true) {
    detail::profile::ChromeTraceOptions options;
    options.compress = compress;
    EXPECT_TRUE(detail::profile::writeChromeTrace(path_, processes, options).ok());
    return detail::profile::readChromeTrace(path_);
  }
  static std::map<std::string, std::int64_t> durationsOf(const Trace& trace) {
    std::map<std::string, std::int64_t> durations;
    for (const TraceSpan& span : trace.threads.at(0).spans) {
      durations[trace.names[span.name].text] = span.duration;
    }
    return durations;
  }
  void expectError(const std::string& bytes, ErrorCode code, const std::string& words) {
    SCOPED_TRACE(bytes.substr(0, 200));
    const Error error = errorOf([&] { read(bytes); });
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), AllOf(HasSubstr(path_), HasSubstr(words)));
  }

  const testing::TempDir dir_;
  const std::string path_ = dir_.string() + "/trace.json";
};

TEST_F(ChromeReader, GivesBackWhatWasWritten) {
  const Trace trace = trainingTrace().trace();
  for (const bool compress : {true, false}) {
    const std::vector<Trace> traces = writtenAndRead({trace}, compress);
    ASSERT_THAT(traces, SizeIs(1));
    EXPECT_THAT(wordsOf(traces[0]), ElementsAreArray(wordsOf(trace)));
  }
}

TEST_F(ChromeReader, GivesBackSeveralProcesses) {
  std::vector<Trace> processes;
  for (int rank = 0; rank < 3; ++rank) {
    Trace trace = trainingTrace().trace();
    trace.rank = rank % 2;
    trace.worldSize = 3;
    trace.hostName = "node" + std::to_string(rank);
    trace.originNanos += rank;
    trace.processId = 0;  // like another rank's device
    trace.dropped = static_cast<std::uint64_t>(rank);
    processes.push_back(trace);
  }
  const std::vector<Trace> traces = writtenAndRead(processes);
  ASSERT_THAT(traces, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_THAT(wordsOf(traces[i]), ElementsAreArray(wordsOf(processes[i])));
  }
}

TEST_F(ChromeReader, GivesBackAnEmptyTrace) {
  const std::vector<Trace> traces = writtenAndRead({Trace()});
  ASSERT_THAT(traces, SizeIs(1));
  EXPECT_THAT(wordsOf(traces[0]), ElementsAreArray(wordsOf(Trace())));
}

TEST_F(ChromeReader, GivesBackTimesToTheNanosecond) {
  SampleTrace sample;
  sample.thread(1);
  for (std::int64_t i = 0; i < 10'000; ++i) {
    sample.span("zone", SpanKind::kZone, i * 1'000'003, i * 97 % 1'000'003);
  }
  const std::vector<Trace> traces = writtenAndRead({sample.trace()});
  ASSERT_THAT(traces, SizeIs(1));
  EXPECT_TRUE(wordsOf(traces[0]) == wordsOf(sample.trace()));
}

TEST_F(ChromeReader, GivesBackNonFiniteValues) {
  SampleTrace sample;
  sample.thread(1);
  for (const double value : {std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(), -0.0, 1e-300, 0.1}) {
    TraceSpan& span = sample.span("zone", SpanKind::kZone, 0, 0);
    span.value = value;
    span.flags = kHasValue;
  }
  TraceSpan& none = sample.span("zone", SpanKind::kZone, 0, 0);
  none.value = std::numeric_limits<double>::quiet_NaN();
  none.flags = kHasValue;
  EXPECT_THAT(wordsOf(writtenAndRead({sample.trace()}).at(0)),
              ElementsAreArray(wordsOf(sample.trace())));
}

TEST_F(ChromeReader, DrawsTheSameArrowsAgain) {
  const Trace trace = trainingTrace().trace();
  const Trace read = writtenAndRead({trace}).at(0);
  ASSERT_THAT(linkBackward(trace), SizeIs(2));
  EXPECT_THAT(linkBackward(read), SizeIs(2));
}

// Such spans are no slices in the file, but take time of their thread.
TEST_F(ChromeReader, KeepsSpansThatCrossAStepOnTheirThread) {
  SampleTrace sample;
  sample.thread(1).step(0, 1000, 1000);
  sample.span("out of the step", SpanKind::kZone, 1500, 1000);
  EXPECT_EQ(writtenAndRead({sample.trace()}).at(0).threads.at(0).spans.at(0).flags, 0);
}

TEST_F(ChromeReader, KeepsAnyOverlappingSpans) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Trace trace = overlappingTrace(seed);
    trace.steps.clear();
    const Trace read = writtenAndRead({trace}).at(0);
    ASSERT_EQ(read.threads.size(), trace.threads.size());
    for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
      EXPECT_EQ(ownersOf(read.threads[thread].spans), ownersOf(trace.threads[thread].spans));
    }
  }
}

TEST_F(ChromeReader, EndsAStepWhereTheNextBegins) {
  std::string events;
  for (int i = 1; i <= 4; ++i) {
    const std::string number = std::to_string(i);
    events += (i == 1 ? "" : ",") + std::string(R"({"ph":"X","cat":"user_annotation","pid":1,)") +
              R"("tid":1,"name":"ProfilerStep#)" + number + R"(","ts":)" + number +
              R"(000,"dur":1001})";
  }
  const Trace trace = readProcess(events);
  std::vector<std::int64_t> durations;
  for (const TraceStep& step : trace.steps) {
    durations.push_back(step.duration);
  }
  EXPECT_THAT(durations, ElementsAre(1'000'000, 1'000'000, 1'000'000, 1'001'000));
  EXPECT_EQ(trace.dropped, 0U);
}

TEST_F(ChromeReader, KeepsAStepInsideAnotherAsASpan) {
  const Trace trace = readProcess(R"(
      {"ph":"X","name":"ProfilerStep#1","cat":"user_annotation","pid":1,"tid":1,"ts":0,"dur":100},
      {"ph":"X","name":"ProfilerStep#7","cat":"user_annotation","pid":1,"tid":1,"ts":40,"dur":30},
      {"ph":"X","name":"ProfilerStep#7","cat":"user_annotation","pid":1,"tid":2,"ts":40,"dur":9})");
  ASSERT_EQ(trace.steps.size(), 2U);
  ASSERT_EQ(trace.threads.at(0).spans.size(), 1U);
  EXPECT_EQ(trace.names[trace.threads[0].spans[0].name].text, "ProfilerStep#7");
  EXPECT_EQ(trace.dropped, 0U);
}

// Steps as torch 2.5.1 writes them: of 100 us each, and with a begin in the call that ends them.
TEST_F(ChromeReader, BeginsAStepWhereTheOneBeforeEndedIfItBeginsWithTheCallThatEndsIt) {
  const Trace trace = readProcess(R"(
      {"ph":"X","name":"train.py(3): main","cat":"python_function","pid":1,"tid":1,
       "ts":0,"dur":300},
      {"ph":"X","name":"profiler.py(766): step","cat":"python_function","pid":1,"tid":1,
       "ts":90,"dur":20},
      {"ph":"X","name":"ProfilerStep#1","cat":"user_annotation","pid":1,"tid":1,
       "ts":90.001,"dur":10},
      {"ph":"X","name":"profiler.py(766): step","cat":"python_function","pid":1,"tid":1,
       "ts":190,"dur":20},
      {"ph":"X","name":"ProfilerStep#2","cat":"user_annotation","pid":1,"tid":1,
       "ts":190.001,"dur":10})");
  ASSERT_EQ(trace.steps.size(), 2U);
  EXPECT_EQ(trace.steps[0].start, 0);
  EXPECT_EQ(trace.steps[0].duration, 100'001);
  EXPECT_EQ(trace.steps[1].start, 100'001);
  EXPECT_EQ(trace.steps[1].duration, 100'000);
}

TEST_F(ChromeReader, KeepsTheBeginOfAStepThatEndsWithTheCallItBeginsWith) {
  const Trace trace = readProcess(R"(
      {"ph":"X","name":"first","cat":"python_function","pid":1,"tid":1,"ts":0,"dur":5},
      {"ph":"X","name":"forward","cat":"python_function","pid":1,"tid":1,"ts":10,"dur":90},
      {"ph":"X","name":"ProfilerStep#1","cat":"user_annotation","pid":1,"tid":1,"ts":10,"dur":90},
      {"ph":"X","name":"crossing","cat":"cpu_op","pid":1,"tid":1,"ts":200,"dur":50},
      {"ph":"X","name":"ProfilerStep#2","cat":"user_annotation","pid":1,"tid":1,
       "ts":200,"dur":40})");
  ASSERT_EQ(trace.steps.size(), 2U);
  EXPECT_EQ(trace.steps[0].start, 10'000);
  EXPECT_EQ(trace.steps[1].start, 200'000);
}

// The address is that of the first object that the method was called on, whichever this one is.
TEST_F(ChromeReader, LeavesOutTheAddressInNamesOfPythonCalls) {
  const Trace trace = readProcess(R"(
      {"ph":"X","name":"<built-in method wait of PyCapsule object at 0x7f60bbf952f0>",
       "cat":"python_function","pid":1,"tid":1,"ts":0,"dur":1},
      {"ph":"X","name":"<built-in method wait of PyCapsule object at 0x7fb25c19d320>",
       "cat":"python_function","pid":1,"tid":1,"ts":2,"dur":1},
      {"ph":"X","name":"load at 0x7f","cat":"python_function","pid":1,"tid":1,"ts":4,"dur":1},
      {"ph":"X","name":"<at 0x7f>","cat":"cpu_op","pid":1,"tid":1,"ts":6,"dur":1})");
  std::vector<std::string> names;
  for (const TraceName& name : trace.names) {
    names.push_back(name.text);
  }
  EXPECT_THAT(names, ElementsAre("<built-in method wait of PyCapsule object>", "load at 0x7f",
                                 "<at 0x7f>"));
}

TEST_F(ChromeReader, RecognizesTheCollectivesAndTheLoaderOfTorch) {
  const Trace trace = readProcess(R"(
      {"ph":"X","name":"c10d::allreduce_","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1},
      {"ph":"X","name":"gloo:all_reduce","cat":"user_annotation","pid":1,"tid":2,"ts":2,"dur":1},
      {"ph":"X","name":"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
       "cat":"user_annotation","pid":1,"tid":1,"ts":3,"dur":1})");
  const auto kindOf = [&](std::size_t thread, std::size_t span) {
    return trace.names[trace.threads.at(thread).spans.at(span).name].kind;
  };
  EXPECT_EQ(kindOf(0, 0), SpanKind::kCollective);
  EXPECT_EQ(kindOf(0, 1), SpanKind::kInput);
  EXPECT_EQ(kindOf(1, 0), SpanKind::kCollective);
}

TEST_F(ChromeReader, IsStableAfterTheFirstRoundTrip) {
  const std::vector<Trace> once = writtenAndRead({trainingTrace().trace()});
  const std::vector<Trace> twice = writtenAndRead(once);
  ASSERT_THAT(twice, SizeIs(1));
  EXPECT_THAT(wordsOf(twice[0]), ElementsAreArray(wordsOf(once[0])));
}

TEST_F(ChromeReader, ReadsTimesHoweverTheyAreWritten) {
  const Trace trace = readProcess(R"(
      {"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1000,"dur":1},
      {"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":1001.5,"dur":0.25},
      {"ph":"X","name":"c","cat":"c","pid":1,"tid":1,"ts":1.002e3,"dur":25e-2},
      {"ph":"X","name":"d","cat":"c","pid":1,"tid":1,"ts":"1003.001","dur":"1.0009"},
      {"ph":"X","name":"e","cat":"c","pid":1,"tid":1,"ts":1052.927999999999997,"dur":3.0019999999})");
  std::vector<std::int64_t> times;
  for (const TraceSpan& span : trace.threads.at(0).spans) {
    times.push_back(span.start);
    times.push_back(span.duration);
  }
  EXPECT_THAT(times, ElementsAre(0, 1000, 1500, 250, 2000, 250, 3001, 1001, 52'928, 3002));
  EXPECT_EQ(trace.originNanos, 1'000'000);
}

TEST_F(ChromeReader, OrdersSpansThatTheFileDoesNot) {
  const Trace trace = readProcess(R"(
      {"ph":"X","name":"inner","cat":"c","pid":1,"tid":1,"ts":5,"dur":1},
      {"ph":"X","name":"outer","cat":"c","pid":1,"tid":1,"ts":5,"dur":10},
      {"ph":"X","name":"first","cat":"c","pid":1,"tid":1,"ts":1,"dur":1},
      {"ph":"X","name":"crossing","cat":"c","pid":1,"tid":1,"ts":10,"dur":10})");
  std::vector<std::string> names;
  for (const TraceSpan& span : trace.threads.at(0).spans) {
    names.push_back(trace.names[span.name].text + ((span.flags & kDetached) != 0 ? "!" : ""));
  }
  EXPECT_THAT(names, ElementsAre("first", "outer", "inner", "crossing!"));
}

TEST_F(ChromeReader, SharesTheDetailsOfEqualCalls) {
  std::string events;
  for (int i = 0; i < 100; ++i) {
    events += (i == 0 ? "" : ",") +
              (R"({"ph":"X","name":"aten::add","cat":"cpu_op","pid":1,"tid":1,"ts":)" +
               std::to_string(i) + R"(,"dur":1,"args":{"External id":)" + std::to_string(i) +
               R"(,"Ev Idx":)" + std::to_string(i) + R"(,"Input Dims":[[)" + std::to_string(i % 2) +
               "]]}}");
  }
  const Trace trace = readProcess(events);
  EXPECT_THAT(trace.names, SizeIs(1));
  ASSERT_THAT(trace.details, SizeIs(3));
  EXPECT_EQ(trace.details[1].shapes, "[[0]]");
  EXPECT_EQ(trace.details[2].shapes, "[[1]]");
}

TEST_F(ChromeReader, CountsSpansThatATraceCannotHold) {
  const Trace trace = readProcess(R"(
      {"ph":"X","name":"good","cat":"c","pid":1,"tid":1,"ts":1,"dur":1},
      7, [],
      {"ph":"B","name":"of another form","cat":"c","pid":1,"tid":1,"ts":1},
      {"ph":"X","name":"no time","cat":"c","pid":1,"tid":1,"dur":1},
      {"ph":"X","name":"no number","cat":"c","pid":1,"tid":1,"ts":"x","dur":1},
      {"ph":"X","name":"beyond all times","cat":"c","pid":1,"tid":1,"ts":1e300,"dur":1},
      {"ph":"X","name":"no duration","cat":"c","pid":1,"tid":1,"ts":1},
      {"ph":"X","name":"negative","cat":"c","pid":1,"tid":1,"ts":1,"dur":-1},
      {"ph":"b","name":"without an end","cat":"c","id":1,"pid":1,"tid":1,"ts":1},
      {"ph":"e","name":"without a begin","cat":"c","id":2,"pid":1,"tid":1,"ts":1})");
  EXPECT_THAT(trace.threads.at(0).spans, SizeIs(1));
  EXPECT_EQ(trace.dropped, 10u);
}

TEST_F(ChromeReader, NotesEventsThatAreNoSpansAndTakesThemForNoLoss) {
  std::ofstream(path_) << R"([
      {"ph":"X","name":"good","cat":"c","pid":1,"tid":1,"ts":1,"dur":1},
      {"ph":"i","name":"[memory]","cat":"c","pid":1,"tid":1,"ts":1,"args":{"Addr":1}},
      {"ph":"i","name":"unknown","pid":1,"tid":1,"ts":1},
      {"ph":"R","name":"a mark","pid":1,"tid":1,"ts":1},
      {"ph":"N","name":"an object","pid":1,"tid":1,"ts":1,"id":"0x1"},
      {"ph":"C","name":"no numbers","pid":1,"ts":1,"args":{"a":"b"}}])";
  std::vector<std::string> notes;
  EXPECT_EQ(detail::profile::readChromeTrace(path_, &notes).at(0).dropped, 0u);
  EXPECT_THAT(notes, ElementsAre(path_ + " has 5 events besides spans, memory, counters and "
                                         "flows, such as instants; left out"));
}

// XLA ends its list of events with an empty object.
TEST_F(ChromeReader, MissesNothingInAnEmptyObject) {
  EXPECT_EQ(readProcess(R"({"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"a"},{})").dropped, 0u);
}

TEST_F(ChromeReader, FindsTheStepsOfJax) {
  const Trace trace = readProcess(R"(
      {"ph":"X","name":"train","pid":1,"tid":7,"ts":1,"dur":5,"args":{"step_num":"12"}},
      {"ph":"X","name":"dot","pid":1,"tid":7,"ts":2,"dur":1,"args":{"step":"12"}},
      {"ph":"X","name":"train","pid":1,"tid":7,"ts":8,"dur":4,"args":{"step_num":13}},
      {"ph":"X","name":"x","pid":1,"tid":7,"ts":20,"dur":1,"args":{"step_num":"none"}})");
  ASSERT_THAT(trace.steps, SizeIs(2));
  EXPECT_EQ(trace.steps[0].number, 12);
  EXPECT_EQ(trace.steps[1].number, 13);
  EXPECT_EQ(trace.steps[1].start, 7000);
  EXPECT_EQ(trace.steps[1].duration, 4000);
  EXPECT_EQ(trace.threads.at(trace.steps[1].thread).id, 7u);
  EXPECT_THAT(trace.threads.at(0).spans, SizeIs(2));
}

TEST_F(ChromeReader, PairsBeginningsAndEndsOfAThread) {
  const Trace trace = readProcess(R"(
      {"ph":"B","name":"outer","cat":"c","pid":1,"tid":1,"ts":1,"args":{"a":7}},
      {"ph":"B","name":"inner","cat":"c","pid":1,"tid":1,"ts":2},
      {"ph":"B","name":"beside","cat":"c","pid":1,"tid":2,"ts":3},
      {"ph":"E","pid":1,"tid":1,"ts":4},
      {"ph":"E","name":"outer","pid":1,"tid":1,"ts":6},
      {"ph":"E","pid":1,"tid":2,"ts":9})");
  EXPECT_EQ(trace.dropped, 0u);
  ASSERT_THAT(trace.threads, SizeIs(2));
  const std::vector<TraceSpan>& spans = trace.threads[0].spans;
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(trace.names[spans[0].name].text, "outer");
  EXPECT_EQ(spans[0].duration, 5000);
  EXPECT_EQ(trace.details[spans[0].details].arguments, "\"a\": 7");
  EXPECT_EQ(spans[1].duration, 2000);
  EXPECT_EQ(trace.threads[1].spans.at(0).duration, 6000);
}

TEST_F(ChromeReader, PairsBeginningsAndEndsThatStandInAnyOrder) {
  const Trace trace = readProcess(R"(
      {"ph":"E","pid":1,"tid":1,"ts":9},
      {"ph":"i","name":"instant","pid":1,"tid":1,"ts":9},
      {"ph":"B","name":"second","pid":1,"tid":1,"ts":7},
      {"ph":"E","pid":1,"tid":1,"ts":6},
      {"ph":"B","name":"first","pid":1,"tid":1,"ts":1},
      {"ph":"E","pid":1,"tid":1,"ts":4},
      {"ph":"B","name":"inner","pid":1,"tid":1,"ts":2},
      {"ph":"X","name":"whole","pid":1,"tid":1,"ts":3,"dur":0.5},
      {"ph":"E","pid":1,"tid":2,"ts":5},
      {"ph":"B","name":"lost","pid":1,"tid":2,"ts":8})");
  EXPECT_EQ(trace.dropped, 2u) << "an end without a begin, and the reverse";
  EXPECT_THAT(durationsOf(trace), UnorderedElementsAre(Pair("first", 5000), Pair("inner", 2000),
                                                       Pair("whole", 500), Pair("second", 2000)));
}

TEST_F(ChromeReader, EndsABeginBeforeALaterOneOfTheSameTime) {
  const Trace trace = readProcess(R"(
      {"ph":"B","name":"last","pid":1,"tid":1,"ts":8},{"ph":"E","pid":1,"tid":1,"ts":9},
      {"ph":"B","name":"a","pid":1,"tid":1,"ts":1},{"ph":"E","pid":1,"tid":1,"ts":4},
      {"ph":"B","name":"b","pid":1,"tid":1,"ts":4},{"ph":"E","pid":1,"tid":1,"ts":6})");
  EXPECT_EQ(trace.dropped, 0u);
  EXPECT_THAT(durationsOf(trace),
              UnorderedElementsAre(Pair("a", 3000), Pair("b", 2000), Pair("last", 1000)));
}

TEST_F(ChromeReader, PairsAsynchronousSpansThatStandInAnyOrder) {
  const Trace trace = readProcess(R"(
      {"ph":"e","name":"a","cat":"c","id":1,"pid":1,"tid":1,"ts":10},
      {"ph":"b","name":"a","cat":"c","id":1,"pid":1,"tid":1,"ts":1},
      {"ph":"e","name":"b","cat":"c","id":1,"pid":1,"tid":1,"ts":30},
      {"ph":"b","name":"b","cat":"c","id":1,"pid":1,"tid":1,"ts":20},
      {"ph":"b","name":"other","cat":"c","id":2,"pid":1,"tid":1,"ts":5},
      {"ph":"e","name":"other","cat":"c","id":2,"pid":1,"tid":1,"ts":6})");
  EXPECT_EQ(trace.dropped, 0u);
  EXPECT_THAT(durationsOf(trace),
              UnorderedElementsAre(Pair("a", 9000), Pair("b", 10'000), Pair("other", 1000)));
}

TEST_F(ChromeReader, NotesAFactOfAFileInAnyOrderOnce) {
  std::ofstream(path_) << R"([{"ph":"E","pid":1,"tid":1,"ts":9},{"ph":"i","pid":1,"ts":NaN},
      {"ph":"B","name":"a","pid":1,"tid":1,"ts":7},{"ph":"i","pid":1,"ts":2})";
  std::vector<std::string> notes;
  detail::profile::readChromeTrace(path_, &notes);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("has 1 number such as NaN"), HasSubstr("has 2 events")));
}

TEST_F(ChromeReader, RefusesAFifoThatItMustReadTwice) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream(path_) << R"([{"ph":"E","pid":1,"tid":1,"ts":9},
        {"ph":"B","name":"a","pid":1,"tid":1,"ts":7}])";
  });
  const Error error = errorOf([&] { detail::profile::readChromeTrace(path_); });
  writer.join();
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr(path_ + " must be read twice"), HasSubstr("got a FIFO")));
}

TEST_F(ChromeReader, PairsIdsThatAreUniqueWithinTheirScope) {
  const Trace trace = readProcess(R"(
      {"ph":"b","name":"a","cat":"c","id2":{"local":"0x1"},"pid":1,"tid":1,"ts":1},
      {"ph":"b","name":"b","cat":"c","id2":{"local":"0x2"},"pid":1,"tid":1,"ts":2},
      {"ph":"e","name":"a","cat":"c","id2":{"local":"0x1"},"pid":1,"tid":1,"ts":10},
      {"ph":"e","name":"b","cat":"c","id2":{"local":"0x2"},"pid":1,"tid":1,"ts":20})");
  const std::vector<TraceSpan>& spans = trace.threads.at(0).spans;
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].duration, 9000);
  EXPECT_EQ(spans[1].duration, 18'000);
}

TEST_F(ChromeReader, NestsAsynchronousSpansOfOneId) {
  const Trace trace = readProcess(R"(
      {"ph":"b","name":"outer","cat":"c","id":1,"pid":1,"tid":1,"ts":1},
      {"ph":"b","name":"inner","cat":"c","id":1,"pid":1,"tid":1,"ts":2},
      {"ph":"e","cat":"c","id":1,"pid":1,"tid":1,"ts":10},
      {"ph":"b","name":"longer","cat":"c","id":1,"pid":1,"tid":1,"ts":12},
      {"ph":"e","name":"outer","cat":"c","id":1,"pid":1,"tid":1,"ts":20},
      {"ph":"e","name":"longer","cat":"c","id":1,"pid":1,"tid":1,"ts":30})");
  EXPECT_EQ(trace.dropped, 0u);
  EXPECT_THAT(durationsOf(trace), UnorderedElementsAre(Pair("outer", 19'000), Pair("inner", 8000),
                                                       Pair("longer", 18'000)));
}

// The other form of the format, whose list need not end.
TEST_F(ChromeReader, ReadsAListOfEventsAlone) {
  const std::string event = R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1})";
  for (const char* end : {"]", "]\n", "", "\n", ",", ",\n"}) {
    std::ofstream(path_) << "[" << event << ",\n" << event << end;
    std::vector<std::string> notes;
    const std::vector<Trace> traces = detail::profile::readChromeTrace(path_, &notes);
    ASSERT_THAT(traces, SizeIs(1)) << end;
    EXPECT_THAT(traces[0].threads.at(0).spans, SizeIs(2)) << end;
    EXPECT_THAT(notes, IsEmpty()) << end;
  }
  EXPECT_THAT(read("[]"), IsEmpty());
  EXPECT_THAT(read("[" + event + "]"), SizeIs(1));
  expectError("[" + event, ErrorCode::kInvalidArgument, "of its text: ");
  expectError("[" + event + "] more", ErrorCode::kInvalidArgument, "of its text: ");
}

TEST_F(ChromeReader, ReadsTheNonFiniteNumbersOfPython) {
  std::ofstream(path_) << R"({"loss":NaN,"traceEvents":[
      {"ph":"C","name":"n","pid":1,"ts":1,"args":{"value":-Infinity}},
      {"ph":"C","name":"n","pid":1,"ts":2,"args":{"value": Infinity }},
      {"ph":"C","name":"n","pid":1,"ts":3,"args":{"value":-1}},
      {"ph":"X","name":"NaN","pid":1,"tid":1,"ts":1,"dur":1,"args":{"a":[NaN,-Infinity,1]}},
      {"ph":"X","name":"no end","pid":1,"tid":1,"ts":1,"dur":NaN}]})";
  std::vector<std::string> notes;
  const Trace trace = detail::profile::readChromeTrace(path_, &notes).at(0);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(trace.counters.at(0).points,
              ElementsAre(std::make_pair(0, -infinity), std::make_pair(1000, infinity),
                          std::make_pair(2000, -1.0)));
  EXPECT_EQ(trace.details.at(1).arguments, R"("a": ["NaN", "-Infinity", 1])");
  EXPECT_EQ(trace.metadata.at(0).second, "\"NaN\"");
  EXPECT_EQ(trace.dropped, 1u);
  EXPECT_THAT(notes, ElementsAre(AllOf(StartsWith(path_ + " has 6 numbers"), HasSubstr("NaN"))));
  EXPECT_THAT(wordsOf(writtenAndRead({trace}).at(0)), SizeIs(wordsOf(trace).size() - 2));
}

TEST_F(ChromeReader, RefusesWhatOnlyBeginsLikeANumber) {
  for (const char* text : {"N", "Na", "Nan", "NaNs", "nan", "Inf", "-Inf", "-I", "-", "-NaN",
                           "+Infinity", "1Infinity", "-Infinity5", "Infini\"ty\""}) {
    expectError(std::string("{\"a\": ") + text + ", \"traceEvents\": []}",
                ErrorCode::kInvalidArgument, "of its text: ");
  }
}

TEST_F(ChromeReader, FindsNumbersThatAreNotJsonAtTheEdgesOfItsBuffer) {
  const std::string head = "{\"a\":\"";
  for (std::size_t size = 65'536 - 20; size < 65'536; ++size) {
    const std::string text = head + std::string(size - head.size(), 'x') +
                             "\",\"b\":-Infinity,\"traceEvents\":[{\"ph\":\"C\",\"name\":\"n\","
                             "\"pid\":1,\"ts\":1,\"args\":{\"value\":1}}]}";
    EXPECT_EQ(read(text).at(0).metadata.at(1).second, "\"-Infinity\"") << size;
  }
}

TEST_F(ChromeReader, ReadsCountersOfAnyShape) {
  const Trace trace = readProcess(R"(
      {"ph":"C","name":"queue","pid":1,"ts":2,"args":{"value":2}},
      {"ph":"C","name":"queue","pid":1,"ts":1,"args":{"value":1.5}},
      {"ph":"C","name":"bytes","pid":1,"ts":1,"args":{"read":7,"written":8,"by":"disk"}})");
  ASSERT_THAT(trace.counters, SizeIs(3));
  EXPECT_EQ(trace.counters[0].name, "queue");
  EXPECT_THAT(trace.counters[0].points,
              ElementsAre(std::make_pair(0, 1.5), std::make_pair(1000, 2.0)));
  EXPECT_EQ(trace.counters[1].name, "bytes read");
  EXPECT_EQ(trace.counters[2].name, "bytes written");
}

TEST_F(ChromeReader, ReadsAFileWithoutEvents) {
  EXPECT_THAT(readEvents(""), IsEmpty());
}

TEST_F(ChromeReader, ReportsTheOffsetOfInvalidJson) {
  expectError("", ErrorCode::kInvalidArgument, "is not a Chrome trace: at byte 1 of its text: ");
  expectError("{\"traceEvents\": [{]}", ErrorCode::kInvalidArgument, "byte 19 of its text: ");
  expectError("{\"traceEvents\": [], \"x\": \"\xff\"}", ErrorCode::kInvalidArgument,
              "byte 27 of its text: ");
  expectError("{\"traceEvents\": [1e999]}", ErrorCode::kInvalidArgument, "of its text: ");
  expectError("{\"traceEvents\": []} more", ErrorCode::kInvalidArgument, "of its text: ");
}

TEST_F(ChromeReader, ReportsMissingTraceEvents) {
  for (const char* text : {"{}", "7", "{\"traceEvents\": {}}", "{\"a\": {\"traceEvents\": []}}"}) {
    expectError(text, ErrorCode::kInvalidArgument, "got no array \"traceEvents\"");
  }
}

TEST_F(ChromeReader, KeepsErrorMessagesShort) {
  const Error error = errorOf([&] { read("{\"traceEvents\": [\"" + std::string(1'000'000, 'x')); });
  EXPECT_LT(std::string(error.what()).size(), path_.size() + 400);
}

TEST_F(ChromeReader, RejectsDeepNestingInsteadOfCrashing) {
  expectError("{\"traceEvents\": " + std::string(1'000'000, '['), ErrorCode::kInvalidArgument,
              "of its text: ");
}

TEST_F(ChromeReader, ReportsATruncatedFile) {
  ASSERT_TRUE(detail::profile::writeChromeTrace(path_, trainingTrace().trace()).ok());
  const std::string whole = test::contentOf(path_);
  for (const std::size_t size : {std::size_t{3}, whole.size() / 2, whole.size() - 20}) {
    EXPECT_THROW(read(whole.substr(0, size)), Error) << size;
  }
}

TEST_F(ChromeReader, ReadsATruncatedFileUpToItsEndIfTheCallerIsTold) {
  const std::string event = R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1})";
  const std::string whole = "{\"traceEvents\": [" + event + ", " + event + "]}";
  for (std::size_t size = whole.find('}') + 1; size < whole.size(); ++size) {
    std::ofstream(path_) << whole.substr(0, size);
    std::vector<std::string> notes;
    const std::vector<Trace> traces = detail::profile::readChromeTrace(path_, &notes);
    ASSERT_THAT(traces, SizeIs(1)) << size;
    EXPECT_EQ(traces[0].threads.at(0).spans.size(), size < whole.size() - 2 ? 1u : 2u) << size;
    EXPECT_THAT(notes, ElementsAre(AllOf(StartsWith(path_ + " ends in the middle, at byte "),
                                         HasSubstr("what follows is missing"))))
        << size;
  }
}

TEST_F(ChromeReader, ReadsTruncatedGzipDataUpToItsEndIfTheCallerIsTold) {
  SampleTrace sample;
  sample.thread(1);
  for (std::int64_t i = 0; i < 20'000; ++i) {
    sample.span("zone " + std::to_string(i * i), SpanKind::kZone, i * 1000, 500);
  }
  ASSERT_TRUE(detail::profile::writeChromeTrace(path_, sample.trace()).ok());
  const std::string whole = test::contentOf(path_);
  std::ofstream(path_, std::ios::binary) << whole.substr(0, whole.size() / 2);
  std::vector<std::string> notes;
  const Trace read = detail::profile::readChromeTrace(path_, &notes).at(0);
  EXPECT_GT(read.threads.at(0).spans.size(), 1000u);
  EXPECT_LT(read.threads.at(0).spans.size(), 20'000u);
  EXPECT_THAT(notes, SizeIs(1));
}

TEST_F(ChromeReader, RefusesDamageThatIsNotAtTheEnd) {
  std::ofstream(path_) << R"({"traceEvents": [{"ph": X}, {"ph":"C"}]})";
  std::vector<std::string> notes;
  EXPECT_THROW(detail::profile::readChromeTrace(path_, &notes), Error);
}

TEST_F(ChromeReader, ReportsDamagedGzipData) {
  ASSERT_TRUE(detail::profile::writeChromeTrace(path_, trainingTrace().trace()).ok());
  std::string bytes = test::contentOf(path_);
  bytes[bytes.size() - 8] ^= 1;  // of the checksum
  expectError(bytes, ErrorCode::kDataLoss, "incorrect data check");
}

TEST_F(ChromeReader, ReportsAMissingFile) {
  const Error error = errorOf([&] { detail::profile::readChromeTrace(dir_.string() + "/none"); });
  EXPECT_EQ(error.code(), ErrorCode::kIoError);
  EXPECT_THAT(error.what(), AllOf(StartsWith("cannot open " + dir_.string() + "/none"),
                                  HasSubstr("No such file")));
}

}  // namespace
}  // namespace steptape
