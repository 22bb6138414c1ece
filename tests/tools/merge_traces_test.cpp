// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "support/content_of.h"
#include "tools/steptape/traces/trace_alignment.h"
#include "tools/trace_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using tools::align;
using tools::TraceAlignment;
using tools::TraceSet;

class MergeTraces : public TraceFixture {
 protected:
  /// Returns two ranks of a job. By its clock, rank 1 starts 5 s later, and with a later step.
  static std::vector<Trace> ranksWithTheirOwnClocks() {
    Training training;
    training.worldSize = 2;
    std::vector<Trace> traces{traceOf(training)};
    training.rank = 1;
    training.firstStep = 11;
    training.origin += 5'000 * kMillisecond;
    traces.push_back(traceOf(training));
    return traces;
  }
  static TraceSet setOf(std::vector<Trace> traces) {
    TraceSet set;
    for (Trace& trace : traces) {
      set.files.push_back("rank" + std::to_string(trace.rank) + ".json");
      set.traces.push_back(std::move(trace));
    }
    return set;
  }
  void writeRanksWithTheirOwnClocks() const {
    const std::vector<Trace> traces = ranksWithTheirOwnClocks();
    writeProfile("0.xplane.pb", traces[0]);
    writeProfile("1.xplane.pb", traces[1]);
  }
};

TEST_F(MergeTraces, AlignsTheEndOfTheFirstStepThatAllHave) {
  TraceSet set = setOf(ranksWithTheirOwnClocks());
  // Step 11 ends 30 ms after the start of rank 0, and 15 ms after that of rank 1.
  EXPECT_THAT(align(&set, TraceAlignment::kStep, {}), ElementsAre(0, -4985 * kMillisecond));
  EXPECT_EQ(set.traces[0].originNanos, kOrigin);
  EXPECT_EQ(set.traces[1].originNanos, kOrigin + 15 * kMillisecond);
}

TEST_F(MergeTraces, AlignsTheEndOfTheGivenStep) {
  std::vector<Trace> traces = ranksWithTheirOwnClocks();
  traces[1].steps[1].duration += 2 * kMillisecond;
  TraceSet set = setOf(std::move(traces));
  EXPECT_THAT(align(&set, TraceAlignment::kStep, 12), ElementsAre(0, -4987 * kMillisecond));
}

// The clocks of a job's ranks differ by less than a microsecond.
TEST_F(MergeTraces, DoesNotPrintNegativeZero) {
  Training training;
  training.worldSize = 2;
  writeProfile("0.xplane.pb", traceOf(training));
  training.rank = 1;
  training.origin -= 200;
  writeProfile("1.xplane.pb", traceOf(training));
  const std::string table = steptape("merge-traces 0.xplane.pb 1.xplane.pb --output both.json").out;
  EXPECT_THAT(table, ContainsRegex("rank 1 .* 0.000 .* 0.000\n"));
  EXPECT_THAT(table, Not(HasSubstr("-0.000")));
}

TEST_F(MergeTraces, AlignsTheBeginningOfWindows) {
  TraceSet set = setOf(ranksWithTheirOwnClocks());
  EXPECT_THAT(align(&set, TraceAlignment::kStart, {}), ElementsAre(0, -5000 * kMillisecond));
}

TEST_F(MergeTraces, KeepsTheClocksByDefault) {
  TraceSet set = setOf(ranksWithTheirOwnClocks());
  EXPECT_THAT(align(&set, TraceAlignment::kNone, {}), ElementsAre(0, 0));
  EXPECT_EQ(set.traces[1].originNanos, kOrigin + 5'000 * kMillisecond);
}

TEST_F(MergeTraces, NamesTheRankWithoutTheStep) {
  TraceSet set = setOf(ranksWithTheirOwnClocks());
  try {
    align(&set, TraceAlignment::kStep, 10);
    FAIL() << "rank 1 has no step 10";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "cannot align rank 1 of rank1.json: got steps 11 to 13; expected step 10");
  }
  set.traces[1].steps.clear();
  try {
    align(&set, TraceAlignment::kStep, {});
    FAIL() << "there is no common step";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "cannot align: got no common step (rank 0 of rank0.json: 10 to 12; "
                 "rank 1 of rank1.json: none); expected one in all traces");
  }
}

TEST_F(MergeTraces, PrintsTheShiftOfEachRank) {
  writeRanksWithTheirOwnClocks();
  const Outcome outcome =
      steptape("merge-traces 1.xplane.pb 0.xplane.pb --output all.json --align step");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.out,
            "all.json, 2 processes\n"
            "\n"
            "  process                                begins at ms  window ms  shifted by ms\n"
            "  rank 0 on node7, process 4242 (train)         0.000     45.000          0.000\n"
            "  rank 1 on node8, process 4243 (train)        15.000     45.000      -4985.000\n");
}

TEST_F(MergeTraces, NotesThatWindowsDoNotOverlap) {
  writeRanksWithTheirOwnClocks();
  const Outcome outcome = steptape("merge-traces 0.xplane.pb 1.xplane.pb --output all.json");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.error, HasSubstr("note: the windows never overlap"));
  EXPECT_THAT(outcome.out, ContainsRegex("rank 1 [^\n]* 5000.000 +45.000 +0.000\n"));
}

TEST_F(MergeTraces, WritesAProcessForEachRank) {
  writeJob("runs/demo");
  EXPECT_THAT(steptape("merge-traces runs/demo --output all.json.gz"), Exits(0, ""));
  const std::vector<Trace> merged = detail::profile::readChromeTrace(path("all.json.gz"));
  ASSERT_EQ(merged.size(), 3U);
  for (int rank = 0; rank < 3; ++rank) {
    const Trace& trace = merged[static_cast<std::size_t>(rank)];
    EXPECT_EQ(trace.rank, rank);
    ASSERT_EQ(trace.steps.size(), 3U);
    EXPECT_EQ(trace.originNanos + trace.steps[0].start, kOrigin);
  }
}

/// A trace as PyTorch writes it outside of a job.
std::string traceWithoutARank(std::int64_t microseconds) {
  return R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
      {"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python3"}},
      {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":)" +
         std::to_string(microseconds) + R"(,"dur":1000},
      {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":)" +
         std::to_string(microseconds) + R"(,"dur":300}]})";
}

constexpr char kFirst[] = "cont/w0_1.1700000000000000000.pt.trace.json";
constexpr char kSecond[] = "cont/w1_1.1700000000000001000.pt.trace.json";

TEST_F(MergeTraces, KeepsAllProcessesWithoutARank) {
  writeBytes(kFirst, traceWithoutARank(0));
  writeBytes(kSecond, traceWithoutARank(2));
  EXPECT_THAT(steptape("merge-traces cont --output all.json"), Exits(0, ""));
  EXPECT_EQ(detail::profile::readChromeTrace(path("all.json")).size(), 2U);
}

TEST_F(MergeTraces, NamesTheFilesOfProcessesThatAreElseEqual) {
  writeBytes(kFirst, traceWithoutARank(0));
  writeBytes(kSecond, traceWithoutARank(2));
  const Outcome outcome =
      steptape(std::string("merge-traces ") + kFirst + " " + kSecond + " --output all.json");
  EXPECT_THAT(outcome.out,
              HasSubstr("\n  process 1 (python3), w0_1.1700000000000000000.pt.trace.json "));
  EXPECT_THAT(outcome.out,
              HasSubstr("\n  process 1 (python3), w1_1.1700000000000001000.pt.trace.json "));
  TraceSet set = tools::readTraces({path(kFirst), path(kSecond)});
  EXPECT_THAT(set.labels(), ElementsAre("process 1, w0_1.1700000000000000000.pt.trace.json",
                                        "process 1, w1_1.1700000000000001000.pt.trace.json"));
  set.files = {"a/trace.json", "b/trace.json"};
  EXPECT_THAT(set.labels(), ElementsAre("process 1, trace.json, a/trace.json",
                                        "process 1, trace.json, b/trace.json"));
}

// The times of their lines are relative, and nearly equal.
TEST_F(MergeTraces, KeepsTheTimeBetweenTwoSessionsOfJax) {
  const std::string jax = test::contentOf(STEPTAPE_SOURCE_DIR "/tests/golden/jax.xplane.pb");
  writeBytes("a/plugins/profile/2026_11_28_03_34_42/n.xplane.pb", jax);
  writeBytes("tf/plugins/profile/2026_11_28_03_34_45/n.xplane.pb",
             test::contentOf(STEPTAPE_SOURCE_DIR "/tests/golden/tensorflow.xplane.pb"));
  const Outcome outcome = steptape("merge-traces a tf --output all.json");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  const std::vector<Trace> merged = detail::profile::readChromeTrace(path("all.json"));
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_GT(std::abs(merged[1].originNanos - merged[0].originNanos), 1'000 * kMillisecond);
  EXPECT_THAT(outcome.error, HasSubstr("note: the windows never overlap"));
}

TEST_F(MergeTraces, SaysThatNoFileHasAStart) {
  const std::string jax = test::contentOf(STEPTAPE_SOURCE_DIR "/tests/golden/jax.trace.json.gz");
  writeBytes("a.json.gz", jax);
  writeBytes("b.json.gz", jax);
  writeProfile("c.xplane.pb", Training());
  EXPECT_THAT(steptape("merge-traces a.json.gz b.json.gz --output all.json").error,
              HasSubstr("note: no file says when it began"));
  EXPECT_THAT(steptape("merge-traces a.json.gz c.xplane.pb --output all.json").error,
              HasSubstr("note: not all files say when they began: use --align start"));
  EXPECT_EQ(steptape("merge-traces a.json.gz c.xplane.pb --output all.json --align start").error,
            "");
}

TEST_F(MergeTraces, WritesAlignedTimes) {
  writeRanksWithTheirOwnClocks();
  EXPECT_EQ(
      steptape("merge-traces 0.xplane.pb 1.xplane.pb --output all.json --align step").exitCode, 0);
  const std::vector<Trace> merged = detail::profile::readChromeTrace(path("all.json"));
  ASSERT_EQ(merged.size(), 2U);
  const auto endOf = [&](std::size_t trace, std::size_t step) {
    const TraceStep& one = merged[trace].steps.at(step);
    return merged[trace].originNanos + one.start + one.duration;
  };
  EXPECT_EQ(endOf(0, 1), endOf(1, 0));  // of step 11
}

TEST_F(MergeTraces, ReadsJson) {
  Training training;
  training.worldSize = 2;
  writeChrome("0.json", traceOf(training));
  training.rank = 1;
  writeChrome("1.json.gz", traceOf(training));
  EXPECT_EQ(steptape("merge-traces 0.json 1.json.gz --output all.json").exitCode, 0);
  EXPECT_EQ(detail::profile::readChromeTrace(path("all.json")).size(), 2U);
}

TEST_F(MergeTraces, WritesNothingIfATraceIsDamaged) {
  writeProfile("0.xplane.pb", Training());
  writeBytes("1.xplane.pb", "\xff\xff\xff");
  writeBytes("all.json", "old");
  const Outcome outcome = steptape("merge-traces 0.xplane.pb 1.xplane.pb --output all.json");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.error, HasSubstr("problem: 1.xplane.pb is not an XProf profile: "));
  EXPECT_EQ(contentOf("all.json"), "old");
}

TEST_F(MergeTraces, NamesTheFileThatCannotBeWritten) {
  writeProfile("0.xplane.pb", Training());
  EXPECT_THAT(steptape("merge-traces 0.xplane.pb --output absent/all.json"),
              Exits(1, HasSubstr("absent/all.json")));
}

TEST_F(MergeTraces, WritesPerfettosFormat) {
  writeJob("runs/demo");
  EXPECT_EQ(steptape("merge-traces runs/demo --output all.pftrace.gz").exitCode, 0);
  EXPECT_THAT(contentOf("all.pftrace.gz"), ::testing::StartsWith("\x1f\x8b"));
  EXPECT_EQ(steptape("merge-traces runs/demo --output all.pftrace").exitCode, 0);
  EXPECT_THAT(contentOf("all.pftrace"), ::testing::StartsWith("\x0a"));
}

TEST_F(MergeTraces, RefusesConflictingOptions) {
  writeProfile("0.xplane.pb", Training());
  const std::pair<const char*, const char*> kCalls[] = {
      {"0.xplane.pb", "--output is required"},
      {"0.xplane.pb --output all.xplane.pb",
       "--output: got all.xplane.pb, which holds one process; expected a name that"},
      {"0.xplane.pb --output all.txt",
       "--output: got all.txt; expected a name that ends in .json, .json.gz, .pftrace or "
       ".pftrace.gz"},
      {"0.xplane.pb --output all.json --step 3", "--step: got --align none; expected --align step"},
      {"0.xplane.pb --output all.json --align clock",
       "--align: got clock; expected none, start or step"},
      {"absent.json --output all.json", "cannot find absent.json: No such file or directory"},
  };
  for (const auto& [arguments, message] : kCalls) {
    const Outcome outcome = steptape(std::string("merge-traces ") + arguments);
    EXPECT_EQ(outcome.exitCode, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_THAT(outcome.error, HasSubstr(message)) << arguments;
  }
}

}  // namespace
}  // namespace steptape
