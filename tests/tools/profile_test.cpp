// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/traces/profile_diff_text.h"
#include "tools/steptape/traces/profile_text.h"
#include "tools/trace_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Profile : public TraceFixture {
 protected:
  nlohmann::json json(const std::string& arguments) const {
    const Outcome outcome = steptape("profile --json " + arguments);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    return nlohmann::json::parse(outcome.out);
  }

  /// Returns the path of a trace that the real PyTorch wrote.
  static std::string goldenTrace(const std::string& name) {
    return STEPTAPE_SOURCE_DIR "/tests/golden/torch_traces/" + name;
  }

  static std::vector<std::string> namesIn(const nlohmann::json& operators) {
    std::vector<std::string> names;
    for (const nlohmann::json& op : operators) {
      names.push_back(op.at("name"));
    }
    return names;
  }
};

TEST_F(Profile, NamesTheProcess) {
  writeProfile("a.xplane.pb", Training());
  const Outcome outcome = steptape("profile a.xplane.pb");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.out, StartsWith("a.xplane.pb\n  rank 0 on node7, process 4242 (train)\n"));
  EXPECT_THAT(outcome.out, HasSubstr("3 steps: 10 to 12, 45.000 ms, 100.0 % of it in spans, "
                                     "24 spans on 1 thread\n"));
}

TEST_F(Profile, SaysThatTheStartIsUnknown) {
  writeBytes("a.json", R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":6,"dur":1}]})");
  EXPECT_THAT(steptape("profile a.json").out, HasSubstr("\n  start unknown, no steps, "));
  EXPECT_TRUE(json("a.json").at("traces")[0].at("start_unix_nanos").is_null());
}

TEST_F(Profile, WritesNoCompressedProfile) {
  writeProfile("a.xplane.pb", Training());
  EXPECT_THAT(steptape("profile a.xplane.pb --output b.xplane.pb.gz"),
              Exits(2, HasSubstr("--output: got b.xplane.pb.gz; expected a name that ends")));
}

TEST_F(Profile, ReadsATraceThatWasCutOffWithANote) {
  writeBytes("a.json", R"({"traceEvents":[
      {"ph":"X","name":"a","pid":1,"tid":1,"ts":6,"dur":1},{"ph":"X","na)");
  const Outcome outcome = steptape("profile a.json");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.out, HasSubstr("1 span on 1 thread"));
  EXPECT_THAT(outcome.error,
              ContainsRegex("^note: a.json ends in the middle, at byte 9[0-9] of its "
                            "text: what follows is missing\n$"));
}

TEST_F(Profile, ReadsTheNumbersOfPythonWithANote) {
  writeBytes("a.json", R"({"traceEvents":[
      {"ph":"X","name":"a","pid":1,"tid":1,"ts":6,"dur":1,"args":{"loss":NaN}}]})");
  EXPECT_THAT(
      steptape("profile a.json"),
      Exits(0,
            "note: a.json has 1 number such as NaN or Infinity, which JSON does not have: other "
            "programs may refuse it\n"));
}

TEST_F(Profile, ShowsThePartsOfAStep) {
  Trace trace = traceOf(Training());
  trace.steps.back().duration += 3 * kMillisecond;
  writeProfile("a.xplane.pb", trace);
  EXPECT_THAT(steptape("profile a.xplane.pb").out,
              HasSubstr("\n"
                        "  a step's   mean ms      %  min ms  max ms\n"
                        "  input        1.000    6.3   1.000   1.000\n"
                        "  forward      9.000   56.3   9.000   9.000\n"
                        "  backward     3.000   18.8   3.000   3.000\n"
                        "  optimizer    0.000    0.0   0.000   0.000\n"
                        "  transfer     1.000    6.3   1.000   1.000\n"
                        "  wait         1.000    6.3   1.000   1.000\n"
                        "  other        1.000    6.3   0.000   3.000\n"
                        "  total       16.000  100.0  15.000  18.000\n"));
}

TEST_F(Profile, ShowsOperators) {
  writeProfile("a.xplane.pb", Training());
  EXPECT_THAT(
      steptape("profile a.xplane.pb --top 3").out,
      HasSubstr("\n"
                "  operator       kind      calls  self ms  self %  total ms   mean us  GFLOP/s\n"
                "  aten::mm       operator      6   24.000    53.3    24.000  4000.000      1.0\n"
                "  aten::mul      operator      3    6.000    13.3     6.000  2000.000\n"
                "  ReluBackward0  backward      3    3.000     6.7     9.000  3000.000\n"
                "  and 4 more: --top\n"));
}

TEST_F(Profile, SortsOperators) {
  writeProfile("a.xplane.pb", Training());
  const auto first = [&](const std::string& options) {
    return namesIn(json("a.xplane.pb --top 2 " + options).at("traces")[0].at("operators"));
  };
  EXPECT_THAT(first("--sort self"), ElementsAre("aten::mm", "aten::mul"));
  EXPECT_THAT(first("--sort total"), ElementsAre("aten::mm", "ReluBackward0"));
  EXPECT_THAT(first("--sort calls"), ElementsAre("aten::mm", "aten::mul"));
}

TEST_F(Profile, SeparatesCallsByShape) {
  writeProfile("a.xplane.pb", Training());
  const std::string out = steptape("profile a.xplane.pb --by shape").out;
  EXPECT_THAT(out,
              ContainsRegex("aten::mm \\[\\[64, 784\\], \\[784, 256\\]\\] +operator +3 +12.0"));
  EXPECT_THAT(out, ContainsRegex("aten::mm \\[\\[64, 256\\], \\[256, 10\\]\\] +operator +3 +12.0"));
}

TEST_F(Profile, AddsUpModules) {
  writeProfile("a.xplane.pb", Training());
  const std::string out = steptape("profile a.xplane.pb --by module").out;
  EXPECT_THAT(out, ContainsRegex("\n  module +calls "));
  EXPECT_THAT(out, ContainsRegex("\n  hidden +3 +12.000 "));
  EXPECT_THAT(out, ContainsRegex("\n  output +3 +12.000 "));
}

TEST_F(Profile, ShowsWhatADeviceDidAndForWhom) {
  TraceBuilder builder;
  builder.span(0, "aten::mm", SpanKind::kOperator, 0, 2 * kMillisecond);
  builder.span(0, "cudaLaunchKernel", SpanKind::kRuntime, 0, kMillisecond).correlation = 1;
  builder.span(builder.stream(0, 7), "sgemm", SpanKind::kDevice, kMillisecond, 4 * kMillisecond)
      .correlation = 1;
  builder.trace().duration = 12 * kMillisecond;
  writeProfile("a.xplane.pb", builder.take());
  const std::string out = steptape("profile a.xplane.pb").out;
  EXPECT_THAT(out,
              HasSubstr("  device 0: idle 75.0 % of the window, kernels 25.0 %, copies 0.0 %\n"));
  EXPECT_THAT(out, ContainsRegex("\n  aten::mm +1 +3.000 +25.0\n"));
  const nlohmann::json device = json("a.xplane.pb").at("traces")[0].at("devices")[0];
  EXPECT_EQ(device.at("busy_ms"), 3);
  EXPECT_EQ(device.at("launchers")[0].at("name"), "aten::mm");
}

TEST_F(Profile, ShowsTheMemoryAtItsPeak) {
  Trace trace = traceOf(Training());
  TraceMemoryEvent event;
  event.time = 2 * kMillisecond;
  event.address = 0x1000;
  event.bytes = 3 << 20;
  trace.memory = {event};
  writeProfile("a.xplane.pb", trace);
  const std::string out = steptape("profile a.xplane.pb").out;
  EXPECT_THAT(out, HasSubstr("  cpu memory: at most 3.00 MiB, of what was allocated in the window, "
                             "at 2.000 ms\n"));
  EXPECT_THAT(out, ContainsRegex("\n  aten::mm +3.00 MiB +3.00 MiB +0 B +1\n"));
  const nlohmann::json memory = json("a.xplane.pb").at("traces")[0].at("memory")[0];
  EXPECT_EQ(memory.at("device"), "cpu");
  EXPECT_EQ(memory.at("peak_bytes"), 3 << 20);
  EXPECT_EQ(memory.at("operators")[0].at("bytes_at_peak"), 3 << 20);
}

TEST_F(Profile, WarnsAboutLostSpans) {
  Trace trace = traceOf(Training());
  trace.dropped = 17;
  writeProfile("a.xplane.pb", trace);
  EXPECT_THAT(steptape("profile a.xplane.pb").out, HasSubstr("  WARNING: 17 spans lost, "));
  const Outcome outcome = steptape("profile a.xplane.pb --json");
  EXPECT_EQ(outcome.error,
            "note: a.xplane.pb lacks 17 spans, which were lost or could not be read\n");
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("traces")[0].at("dropped_spans"), 17);
}

TEST_F(Profile, PrintsJson) {
  writeProfile("a.xplane.pb", Training());
  const nlohmann::json profile = json("a.xplane.pb");
  EXPECT_TRUE(profile.at("ranks").is_null());
  const nlohmann::json& trace = profile.at("traces").at(0);
  EXPECT_EQ(trace.at("file"), "a.xplane.pb");
  EXPECT_EQ(trace.at("host"), "node7");
  EXPECT_EQ(trace.at("process"), 4242);
  EXPECT_EQ(trace.at("rank"), 0);
  EXPECT_EQ(trace.at("start_unix_nanos"), kOrigin);
  EXPECT_EQ(trace.at("window_ms"), 45.0);
  EXPECT_EQ(trace.at("steps").at(2).at("step"), 12);
  EXPECT_EQ(trace.at("steps").at(2).at("forward_ms"), 9.0);
  EXPECT_EQ(trace.at("steps").at(2).at("total_ms"), 15.0);
  EXPECT_EQ(trace.at("operators").size(), 7U);
  EXPECT_EQ(trace.at("operators").at(0).at("name"), "aten::mm");
  EXPECT_EQ(trace.at("operators").at(0).at("calls"), 6);
  EXPECT_EQ(trace.at("operators").at(0).at("self_ms"), 24.0);
  EXPECT_EQ(trace.at("operators").at(0).at("flops"), 24e6);
}

TEST_F(Profile, NamesTheSlowestRank) {
  writeJob("runs/demo");
  const Outcome outcome = steptape("profile runs/demo");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.out, StartsWith("3 processes\n"));
  EXPECT_THAT(
      outcome.out,
      HasSubstr(
          "\n"
          "  process                                window ms  steps  step ms  work ms  wait ms\n"
          "  rank 0 on node7, process 4242 (train)     81.000      3   27.000   13.000   13.000\n"
          "  rank 1 on node8, process 4243 (train)     81.000      3   27.000   25.000    1.000\n"
          "  rank 2 on node9, process 4244 (train)     81.000      3   27.000   13.000   13.000\n"
          "\n"
          "  slowest: rank 1 on node8, 25.000 ms of work a step, 1.92 times the others' mean\n"));
}

// Rank 1 sleeps 30 ms in each step. Rank 0 waits for it in gloo:all_reduce, on Gloo's thread.
TEST_F(Profile, NamesTheSlowestRankOfTorchsDataParallel) {
  const nlohmann::json job = json(goldenTrace("ddp"));
  EXPECT_EQ(job.at("ranks").at("slowest").at("rank"), 1);
  EXPECT_GT(job.at("ranks").at("slowest").at("ratio_to_others"), 10);
  for (const nlohmann::json& step : job.at("traces").at(0).at("steps")) {
    EXPECT_GT(step.at("transfer_ms"), 30);
  }
  for (const nlohmann::json& step : job.at("traces").at(1).at("steps")) {
    EXPECT_LT(step.at("transfer_ms"), 2);
    EXPECT_GT(step.at("other_ms"), 30);
  }
}

// The optimizer's scope begins and ends inside Python calls that do not enclose it.
TEST_F(Profile, MeasuresTheScopesOfTorchWithPythonStacks) {
  const nlohmann::json trace = json(goldenTrace("with_stack.pt.trace.json")).at("traces").at(0);
  double optimizer = 0;
  double input = 0;
  for (const nlohmann::json& step : trace.at("steps")) {
    optimizer += step.at("optimizer_ms").get<double>();
    input += step.at("input_ms").get<double>();
  }
  EXPECT_NEAR(optimizer, 0.02708 + 0.731335 + 0.017156 + 0.477317, 1e-9);
  EXPECT_NEAR(input, 0.346734 + 0.19559, 1e-9);
}

// torch 2.5.1 states that these steps take 15 us, from the begin of Profiler.step() on.
TEST_F(Profile, MeasuresTheStepsOfTorch25WithPythonStacks) {
  const std::string path = goldenTrace("with_stack_2_5_1.pt.trace.json");
  const Outcome outcome = steptape("profile --json " + path);
  EXPECT_THAT(outcome.error,
              ContainsRegex("^note: .*2_5_1.pt.trace.json has 2 steps with the begin of the call "
                            "that ends it, as PyTorch 2.5 .*\n$"));
  const nlohmann::json trace = nlohmann::json::parse(outcome.out).at("traces").at(0);
  double total = 0;
  double optimizer = 0;
  for (const nlohmann::json& step : trace.at("steps")) {
    total += step.at("total_ms").get<double>();
    optimizer += step.at("optimizer_ms").get<double>();
  }
  EXPECT_NEAR(total, 3.744984, 1e-9);
  EXPECT_NEAR(optimizer, 0.037846 + 0.548283 + 0.024406 + 0.437399, 1e-9);
}

TEST_F(Profile, AddsUpTheModulesOfTorch) {
  const std::string trace = goldenTrace("with_stack.pt.trace.json");
  EXPECT_THAT(namesIn(json("--by module " + trace).at("traces").at(0).at("operators")),
              ElementsAre("(no module)", "Linear_0"));
}

TEST_F(Profile, ComparesRanks) {
  writeJob("runs/demo");
  const std::string out = steptape("profile runs/demo --top 2").out;
  EXPECT_THAT(out, HasSubstr("\n  forward     13.000   48.1  21.000  rank 1\n"));
  EXPECT_THAT(out, HasSubstr("\n  input        1.000    3.7   1.000\n"));
  EXPECT_THAT(
      out,
      HasSubstr("\n"
                "  operator  kind      calls  mean self ms  self %  max self ms  of      host\n"
                "  aten::mm  operator     18        36.000    44.4       60.000  rank 1  node8\n"
                "  wait      wait          9        27.000    33.3       39.000  rank 0  node7\n"
                "  and 5 more: --top\n"));
  const nlohmann::json ranks = json("runs/demo").at("ranks");
  EXPECT_EQ(ranks.at("slowest").at("rank"), 1);
  EXPECT_EQ(ranks.at("slowest").at("host"), "node8");
  EXPECT_EQ(ranks.at("slowest").at("work_ms"), 25.0);
  EXPECT_EQ(ranks.at("operators")[0].at("name"), "aten::mm");
  EXPECT_EQ(ranks.at("operators")[0].at("mean_self_ms"), 36.0);
  EXPECT_EQ(ranks.at("operators")[0].at("max_self_ms"), 60.0);
  EXPECT_EQ(ranks.at("operators")[0].at("max_rank"), 1);
}

TEST_F(Profile, NamesTheRankWithLostSpans) {
  Training training;
  training.worldSize = 2;
  writeProfile("0.xplane.pb", training);
  training.rank = 1;
  Trace trace = traceOf(training);
  trace.dropped = 5;
  writeProfile("1.xplane.pb", trace);
  EXPECT_THAT(steptape("profile 0.xplane.pb 1.xplane.pb").out,
              HasSubstr("\n  WARNING: rank 1: 5 spans lost, "));
}

TEST_F(Profile, NotesMissingRanks) {
  writeJob("runs/demo");
  std::filesystem::remove(
      path("runs/demo/plugins/profile/2023_11_14_22_13_20/"
           "node8_rank00001.xplane.pb"));
  EXPECT_THAT(steptape("profile runs/demo"),
              Exits(0, "note: got traces of 2 of the 3 ranks of the job\n"));
}

TEST_F(Profile, FitsATerminal) {
  writeJob("job");
  tools::TraceSet job = tools::readTraces({path("job")});
  job.traces[0].dropped = 1'000'000;
  tools::TraceSet one;
  one.traces = {job.traces[0]};
  one.files = {job.files[0]};
  const tools::OpTableView view;
  tools::Terminal terminal;
  terminal.isTerminal = true;
  for (const int columns : {40, 60, 80, 120}) {
    terminal.columns = columns;
    const std::string text =
        tools::profileText(one, tools::profileOf(one.traces[0], view.grouping), view, terminal) +
        tools::jobProfileText(job, tools::jobProfileOf(job, view.grouping), view, terminal) +
        tools::profileDiffText(tools::compareProfiles(one, job, view.grouping), {"old", "new"},
                               view, terminal);
    EXPECT_THAT(text, HasSubstr("aten::mm"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(tools::columnsOf(line), columns) << line;
    }
  }
}

TEST_F(Profile, ShowsSlowerOperators) {
  Training training;
  writeProfile("before.xplane.pb", training);
  training.steps = 5;
  training.matmulMs = 6;
  training.activation = "aten::gelu";
  writeProfile("after.xplane.pb", training);
  const Outcome outcome = steptape("profile --compare before.xplane.pb after.xplane.pb --top 4");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.out, StartsWith("- before.xplane.pb, 3 steps\n"
                                      "+ after.xplane.pb, 5 steps\n"
                                      "a step of 19.000 ms, was 15.000 ms, +26.7 %\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("\n  forward +9.000 +13.000 +\\+4.000 +1.44\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("\n"
                        "  operator       kind      - self ms  + self ms  change ms  ratio\n"
                        "  aten::mm       operator      8.000     12.000     +4.000   1.50\n"
                        "  aten::gelu     operator          -      1.000     +1.000    new\n"
                        "  aten::relu     operator      1.000          -     -1.000   gone\n"
                        "  ReluBackward0  backward      1.000      1.000     +0.000   1.00\n"
                        "  and 4 more: --top\n"));
}

TEST_F(Profile, ComparesWithinSteps) {
  writeProfile("before.xplane.pb", Training());
  Trace trace = traceOf(Training());
  trace.steps.pop_back();
  writeProfile("after.xplane.pb", trace);
  const nlohmann::json diff = json("--compare before.xplane.pb after.xplane.pb");
  EXPECT_EQ(diff.at("per"), "step");
  EXPECT_EQ(diff.at("counts"), nlohmann::json({3, 2}));
  for (const nlohmann::json& op : diff.at("operators")) {
    EXPECT_EQ(op.at("change_ms"), 0.0) << op;
  }
}

TEST_F(Profile, ComparesWindowsWithoutSteps) {
  Trace trace = traceOf(Training());
  writeProfile("before.xplane.pb", trace);
  trace.steps.clear();
  writeProfile("after.xplane.pb", trace);
  const nlohmann::json diff = json("--compare before.xplane.pb after.xplane.pb");
  EXPECT_EQ(diff.at("per"), "window");
  EXPECT_EQ(diff.at("total_ms"), nlohmann::json({45.0, 45.0}));
  EXPECT_TRUE(diff.at("step_parts_ms").is_null());
  EXPECT_EQ(diff.at("operators")[0].at("change_ms"), 0.0);
}

TEST_F(Profile, FailsAboveALimit) {
  Training training;
  writeProfile("before.xplane.pb", training);
  training.matmulMs = 6;
  writeProfile("after.xplane.pb", training);
  EXPECT_THAT(steptape("profile --compare before.xplane.pb after.xplane.pb --fail-above 26"),
              Exits(1, "problem: a step takes 26.7 % longer; expected at most 26 %\n"));
  EXPECT_EQ(steptape("profile --compare before.xplane.pb after.xplane.pb --fail-above 27").exitCode,
            0);
  EXPECT_EQ(steptape("profile --compare after.xplane.pb before.xplane.pb --fail-above 0").exitCode,
            0);
}

TEST_F(Profile, ConvertsToXprof) {
  writeProfile("a.xplane.pb", Training());
  const Outcome outcome = steptape("profile a.xplane.pb --output b.xplane.pb");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.out + outcome.error, "");
  nlohmann::json original = json("a.xplane.pb");
  nlohmann::json converted = json("b.xplane.pb");
  converted.at("traces")[0].at("file") = "a.xplane.pb";
  EXPECT_EQ(converted, original);
}

TEST_F(Profile, ConvertsToAndFromJson) {
  writeProfile("a.xplane.pb", Training());
  EXPECT_EQ(steptape("profile a.xplane.pb --output b.json").exitCode, 0);
  EXPECT_EQ(steptape("profile b.json --output c.json.gz").exitCode, 0);
  EXPECT_EQ(steptape("profile c.json.gz --output d.xplane.pb").exitCode, 0);
  EXPECT_THAT(contentOf("b.json"), StartsWith("{"));
  EXPECT_THAT(contentOf("c.json.gz"), StartsWith("\x1f\x8b"));
  const auto operators = [&](const std::string& file) {
    return json(file).at("traces").at(0).at("operators");
  };
  EXPECT_EQ(operators("b.json"), operators("a.xplane.pb"));
  EXPECT_EQ(operators("d.xplane.pb"), operators("a.xplane.pb"));
}

TEST_F(Profile, SeparatesCallsByZone) {
  TraceBuilder builder;
  builder.span(0, "train", SpanKind::kZone, 0, 2 * kMillisecond);
  builder.span(0, "aten::mm", SpanKind::kOperator, 0, kMillisecond);
  builder.span(0, "test", SpanKind::kZone, 2 * kMillisecond, 4 * kMillisecond);
  builder.span(0, "aten::mm", SpanKind::kOperator, 2 * kMillisecond, 4 * kMillisecond);
  writeProfile("a.xplane.pb", builder.take());
  const std::string out = steptape("profile a.xplane.pb --by stack").out;
  EXPECT_THAT(out, ContainsRegex("\n  stack +kind +calls +self ms"));
  EXPECT_THAT(out, ContainsRegex("\n  test;aten::mm +operator +1 +2.000 "));
  EXPECT_THAT(out, ContainsRegex("\n  train;aten::mm +operator +1 +1.000 "));
}

TEST_F(Profile, ConvertsToFoldedStacks) {
  writeProfile("a.xplane.pb", Training());
  const Outcome outcome = steptape("profile a.xplane.pb --output a.folded");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.out + outcome.error, "");
  EXPECT_THAT(contentOf("a.folded"), HasSubstr("\nReluBackward0;aten::mul 6000\n"));
  EXPECT_THAT(contentOf("a.folded"), HasSubstr("aten::mm 24000\n"));
  writeJob("job");
  EXPECT_EQ(steptape("profile job --output job.folded").exitCode, 0);
  EXPECT_THAT(contentOf("job.folded"), StartsWith("rank 0;"));
  EXPECT_THAT(contentOf("job.folded"), HasSubstr("\nrank 1;aten::mm 60000\n"));
}

TEST_F(Profile, WritesSeveralRanksToOneJson) {
  writeJob("runs/demo");
  EXPECT_EQ(steptape("profile runs/demo --output all.json.gz").exitCode, 0);
  EXPECT_EQ(detail::profile::readChromeTrace(path("all.json.gz")).size(), 3U);
  EXPECT_THAT(steptape("profile all.json.gz").out, HasSubstr("  slowest: rank 1 on node8, 25.0"));
}

TEST_F(Profile, ReadsTheNewestTracesOfARun) {
  Training training;
  training.worldSize = 2;
  for (training.rank = 0; training.rank < 2; ++training.rank) {
    for (const std::int64_t seconds : {0, 10}) {
      training.origin = kOrigin + seconds * 1'000 * kMillisecond;
      training.firstStep = seconds;
      const Trace trace = traceOf(training);
      writeChrome("runs/demo/" + detail::profile::chromeTraceFileName(trace), trace);
    }
  }
  const nlohmann::json traces = json("runs").at("traces");
  ASSERT_EQ(traces.size(), 2U);
  EXPECT_EQ(traces[0].at("rank"), 0);
  EXPECT_EQ(traces[0].at("steps")[0].at("step"), 10);
  EXPECT_EQ(traces[1].at("rank"), 1);
  EXPECT_EQ(traces[1].at("steps")[0].at("step"), 10);
}

TEST_F(Profile, TakesTheNewestTraceOfARank) {
  Training training;
  training.rank = 1;
  training.worldSize = 2;
  writeProfile("runs/session/old.xplane.pb", training);
  training.origin += kMillisecond;
  training.firstStep = 20;
  writeProfile("runs/session/new.xplane.pb", training);
  const Outcome outcome = steptape("profile --json runs");
  EXPECT_EQ(outcome.error,
            "note: runs/session/old.xplane.pb left out: runs/session/new.xplane.pb is "
            "a newer trace of rank 1\n");
  const nlohmann::json traces = nlohmann::json::parse(outcome.out).at("traces");
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_EQ(traces[0].at("file"), "runs/session/new.xplane.pb");
  // Explicitly named files are all used.
  EXPECT_EQ(json("runs/session/old.xplane.pb runs/session/new.xplane.pb").at("traces").size(), 2U);
}

TEST_F(Profile, FailsIfATraceIsDamaged) {
  writeProfile("good.xplane.pb", Training());
  writeBytes("bad.xplane.pb", "\xff\xff\xff");
  const Outcome outcome = steptape("profile good.xplane.pb bad.xplane.pb");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.error, StartsWith("problem: bad.xplane.pb is not an XProf profile: "));
  EXPECT_THAT(outcome.error, HasSubstr("\nsteptape: 1 of 2 traces cannot be read, and the others "
                                       "alone would mislead\n"));
  EXPECT_THAT(steptape("profile bad.xplane.pb").error,
              StartsWith("steptape: bad.xplane.pb is not an XProf profile: "));
}

TEST_F(Profile, NamesTheOffsetOfDamageInJson) {
  writeBytes("bad.json", "{\"traceEvents\": [{\"ph\": ]}");
  const Outcome outcome = steptape("profile bad.json");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.error, HasSubstr("bad.json"));
}

TEST_F(Profile, ReportsADirectoryWithoutTraces) {
  EXPECT_THAT(
      steptape("profile ."),
      Exits(1,
            "steptape: no trace in or below .; expected *.pt.trace.json, *.pt.trace.json.gz, "
            "plugins/profile/*/*.xplane.pb or plugins/profile/*/*.trace.json.gz\n"));
}

TEST_F(Profile, RefusesToReplaceAProfileOfXprof) {
  writeProfile("a.xplane.pb", Training());
  EXPECT_THAT(steptape("profile a.xplane.pb --output a.xplane.pb"),
              Exits(1, HasSubstr("a.xplane.pb")));
}

TEST_F(Profile, RefusesConflictingOptions) {
  writeProfile("a.xplane.pb", Training());
  writeJob("job");
  writeBytes("a.txt", "");
  writeBytes("a.pftrace.gz", "");
  const std::pair<const char*, const char*> kCalls[] = {
      {"", "TRACE is required"},
      {"absent.json", "cannot find absent.json: No such file or directory"},
      {"a.txt",
       "TRACE: got a.txt; expected a name that ends in .json, .json.gz, "
       ".xplane.pb or .xplane.pb.gz"},
      {"a.pftrace.gz",
       "TRACE: got a.pftrace.gz; expected a name that ends in .json, .json.gz, .xplane.pb or "
       ".xplane.pb.gz; "
       "steptape writes Perfetto traces only"},
      {"a.xplane.pb --by color", "--by: got color; expected name, shape, module or stack"},
      {"a.xplane.pb --top few", "--top"},
      {"a.xplane.pb --fail-above 5", "--fail-above requires --compare"},
      {"a.xplane.pb --compare a.xplane.pb --fail-above -5", "--fail-above"},
      {"a.xplane.pb --compare a.xplane.pb --sort calls", "--sort excludes --compare"},
      {"a.xplane.pb --output b.json --json", "--json excludes --output"},
      {"a.xplane.pb --output b.csv",
       "--output: got b.csv; expected a name that ends in .json, .json.gz, .pftrace, .pftrace.gz, "
       ".xplane.pb or .folded"},
      {"job --output b.xplane.pb", "--output: got 3 processes for b.xplane.pb, which holds one"},
  };
  for (const auto& [arguments, message] : kCalls) {
    const Outcome outcome = steptape(std::string("profile ") + arguments);
    EXPECT_EQ(outcome.exitCode, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_THAT(outcome.error, HasSubstr(message)) << arguments;
  }
}

}  // namespace
}  // namespace steptape
