// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <unistd.h>
#include <vector>

#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// The output depends on the time zone and the locale.
class Inspect : public ToolFixture {
 protected:
  void SetUp() override {
    ToolFixture::SetUp();
    ::setenv("TZ", "UTC", 1);
    ::setenv("LC_ALL", "C.UTF-8", 1);
  }

  /// Runs the tool with the permissions of any user, even if the tests run as root.
  Outcome asAnyone(const std::string& arguments) const {
    const std::string tool = "'" STEPTAPE_TOOL "' " + arguments;
    return run(::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " + tool
                                : tool);
  }
};

event::Event atTime(event::Event event, double wallTime) {
  event.wallTime = wallTime;
  return event;
}

constexpr char kGoldenFile[] = STEPTAPE_SOURCE_DIR "/tests/golden/torch.tfevents";

TEST_F(Inspect, ShowsATable) {
  writeBytes("runs/demo/events.out.tfevents.1", smallFile());
  const Outcome outcome = steptape("inspect runs");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.out, "runs/demo: 1 file, " + std::to_string(smallFile().size()) +
                             " B, 2 tags, 3 points\n"
                             "  1970-01-01 00:16:41 to 00:17:00, 19 s\n"
                             "  events.out.tfevents.1  " +
                             std::to_string(smallFile().size()) +
                             " B\n"
                             "\n"
                             "  scalar    points  steps  first  last   min  max  curve\n"
                             "  accuracy       1     20      1     1     1    1  \u2584\n"
                             "  loss           2  1..20    0.5  0.25  0.25  0.5  \u2588\u2581\n");
}

TEST_F(Inspect, DrawsInAsciiWithoutUtf8) {
  ::setenv("LC_ALL", "C", 1);
  writeBytes("runs/events.out.tfevents.1", smallFile());
  EXPECT_THAT(steptape("inspect runs").out, HasSubstr("0.25  0.25  0.5  #.\n"));
}

TEST_F(Inspect, CountsNumbersThatAreNotFinite) {
  writeEvents("events.out.tfevents.1",
              {simpleScalar("x", std::nanf(""), 1), simpleScalar("x", 2, 2),
               simpleScalar("x", HUGE_VALF, 3), simpleScalar("y", 1, 1)});
  EXPECT_THAT(steptape("inspect .").out,
              HasSubstr("  scalar  points  steps  first  last  min  max  NaN/inf  curve\n"
                        "  x            3   1..3    nan   inf    2  inf        2   \u2584\n"
                        "  y            1      1      1     1    1    1           \u2584\n"));
}

TEST_F(Inspect, SkipsTimesThatAreNaN) {
  writeEvents("runs/some/events.out.tfevents.1",
              {atTime(simpleScalar("x", 1, 1), std::nan("")), atTime(simpleScalar("x", 2, 2), 1000),
               atTime(simpleScalar("x", 3, 3), 1060)});
  writeEvents("runs/none/events.out.tfevents.1", {atTime(simpleScalar("x", 1, 1), std::nan(""))});
  EXPECT_THAT(steptape("inspect runs").out,
              AllOf(HasSubstr("  1970-01-01 00:16:40 to 00:17:40, 1:00\n"), Not(HasSubstr("nan"))));
  EXPECT_THAT(steptape("inspect runs --run none --json").out,
              HasSubstr("\"first_wall_time\": null, \"last_wall_time\": null"));
}

TEST_F(Inspect, ShowsOtherPluginsBelowScalars) {
  event::Value image = tensorValue<char>("pictures", event::TensorType::kString, {});
  std::get<event::Tensor>(image.data) = {
      event::TensorType::kString, {3}, "", {"28", "14", "\xff\xd8\xff"}};
  image.metadata.emplace();
  image.metadata->pluginName = event::kImagesPlugin;
  writeEvents("events.out.tfevents.1",
              {eventAt(7, event::Summary{{image}}), simpleScalar("x", 1, 1)});
  EXPECT_THAT(steptape("inspect .").out,
              HasSubstr("  x            1      1      1     1    1    1"
                        "  \u2584\n"
                        "\n"
                        "  other tag  points  steps  plugin  last value\n"
                        "  pictures        1      7  images  28x14 JPEG\n"));
}

TEST_F(Inspect, AlignsTagsThatAreNotAscii) {
  writeEvents("events.out.tfevents.1",
              {simpleScalar("fl\u00e4che", 1, 1), simpleScalar("\u7cbe\u5ea6", 1, 1),
               simpleScalar("volume", 1, 1)});
  const std::string out = steptape("inspect .").out;
  EXPECT_THAT(out, HasSubstr("\n  fl\u00e4che       1 "));
  // Chinese characters are two columns wide.
  EXPECT_THAT(out, HasSubstr("\n  \u7cbe\u5ea6         1 "));
}

TEST_F(Inspect, KeepsTagsFromControllingTheTerminal) {
  writeEvents("events.out.tfevents.1", {simpleScalar("a\033[31mb\nc", 1, 1)});
  const std::string out = steptape("inspect .").out;
  EXPECT_THAT(out, HasSubstr(R"(a\x1b[31mb\nc)"));
  EXPECT_THAT(out, Not(HasSubstr("\033")));
}

TEST_F(Inspect, DoesNotShortenNamesInAPipe) {
  const std::string tag(300, 't');
  writeEvents("events.out.tfevents.1", {simpleScalar(tag, 1, 1)});
  EXPECT_THAT(steptape("inspect .").out, HasSubstr("  " + tag + "       1 "));
}

TEST_F(Inspect, ShowsOnlyTagsThatMatch) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  const std::string out = steptape("inspect runs --tag '^lo.s$'").out;
  EXPECT_THAT(out, HasSubstr(" B, 1 tag, 2 points\n"));
  EXPECT_THAT(out, HasSubstr("  loss "));
  EXPECT_THAT(out, Not(HasSubstr("accuracy")));
}

TEST_F(Inspect, ShowsOnlyRunsThatMatch) {
  writeBytes("runs/lr_0.1/events.out.tfevents.1", smallFile());
  writeBytes("runs/lr_0.2/events.out.tfevents.1", smallFile());
  const std::string out = steptape("inspect runs --run 'lr_0[.]2'").out;
  EXPECT_THAT(out, HasSubstr("runs/lr_0.2: "));
  EXPECT_THAT(out, Not(HasSubstr("lr_0.1")));
}

TEST_F(Inspect, ReportsThatNoRunMatches) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  EXPECT_THAT(steptape("inspect runs --run absent"),
              Exits(1, "steptape: --run: got \"absent\"; expected a match among 1 run\n"));
}

TEST_F(Inspect, RefusesAWrongExpression) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  EXPECT_THAT(steptape("inspect runs --tag '('"),
              Exits(2, HasSubstr("--tag: got \"(\"; expected a regular expression: ")));
}

TEST_F(Inspect, ShowsEveryRun) {
  writeBytes("runs/b/events.out.tfevents.1", smallFile());
  writeBytes("runs/a/events.out.tfevents.1", framed({}));
  EXPECT_THAT(steptape("inspect runs"), Prints(HasSubstr("runs/a: 1 file, 0 B, 0 tags, 0 points\n"
                                                         "  events.out.tfevents.1  0 B\n"
                                                         "\n"
                                                         "runs/b: 1 file, ")));
}

TEST_F(Inspect, CountsARepeatedPathOnce) {
  writeBytes("runs/events.out.tfevents.1", framed({version()}) + smallFile());
  writeBytes("runs/events.out.tfevents.2", smallFile());
  EXPECT_THAT(steptape("inspect runs runs/events.out.tfevents.1 runs/").out,
              AllOf(HasSubstr("runs: 2 files, "), HasSubstr(", 2 tags, 6 points\n")));
}

TEST_F(Inspect, ReadsTheFileOfAnotherWriter) {
  EXPECT_THAT(steptape("inspect '" + std::string(kGoldenFile) + "'"),
              Prints(ContainsRegex("\n  loss/train  +3 +0..2 +1 +0.3333 +0.3333 +1  ")));
}

TEST_F(Inspect, PrintsJson) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  const Outcome outcome = steptape("inspect --json runs");
  EXPECT_EQ(outcome.exitCode, 0);
  const std::string bytes = std::to_string(smallFile().size());
  EXPECT_EQ(outcome.out,
            R"({"runs": [
{"run": "runs", "files": 1, "bytes": )" +
                bytes +
                R"(, "points": 3, "first_wall_time": 1001, "last_wall_time": 1020, "file_list": [
{"file": "runs/events.out.tfevents.1", "bytes": )" +
                bytes + R"(}
], "tags": [
{"tag": "accuracy", "plugin": "scalars", "points": 1, "first_step": 20, "last_step": 20, "first_value": 1, "last_value": 1, "min_value": 1, "max_value": 1, "not_finite": 0, "first_wall_time": 1020, "last_wall_time": 1020, "display_name": "", "description": ""},
{"tag": "loss", "plugin": "scalars", "points": 2, "first_step": 1, "last_step": 20, "first_value": 0.5, "last_value": 0.25, "min_value": 0.25, "max_value": 0.5, "not_finite": 0, "first_wall_time": 1001, "last_wall_time": 1020, "display_name": "", "description": ""}
], "notes": [], "problems": []}
]}
)");
}

TEST_F(Inspect, NamesADamagedFileAndItsOffset) {
  writeBytes("runs/events.out.tfevents.1", damagedFile());
  const Outcome outcome = steptape("inspect runs");
  EXPECT_EQ(outcome.exitCode, 1);
  const std::size_t good =
      framed({simpleScalar("loss", 0.5F, 1), simpleScalar("loss", 0.25F, 20)}).size();
  const std::string offset = std::to_string(good);
  const std::string lost = std::to_string(damagedFile().size() - good);
  EXPECT_THAT(outcome.error, HasSubstr("problem: data checksum mismatch: got 0x"));
  EXPECT_THAT(outcome.error, HasSubstr(" at offset " + offset + " of runs/events.out.tfevents.1 (" +
                                       lost + " bytes skipped)\n"));
  EXPECT_THAT(outcome.out, HasSubstr(" B, 1 tag, 2 points\n"));
  EXPECT_THAT(outcome.out, HasSubstr(" B  damaged: " + lost + " B in 1 gap\n"));
}

TEST_F(Inspect, ReportsAFileThatCannotBeRead) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  std::filesystem::create_symlink("nowhere", path("runs/events.out.tfevents.2"));
  const Outcome outcome = steptape("inspect runs");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.out, ContainsRegex("\n  events.out.tfevents.2 +0 B  not readable\n"));
  EXPECT_EQ(outcome.error,
            "problem: cannot open runs/events.out.tfevents.2: No such file or directory\n");
}

TEST_F(Inspect, IncludesDamageInItsJson) {
  writeBytes("runs/events.out.tfevents.1", damagedFile());
  const Outcome outcome = steptape("inspect --json runs");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.out, HasSubstr(R"({"file": "runs/events.out.tfevents.1", "offset": )"));
  EXPECT_THAT(outcome.out, HasSubstr(R"("damaged": true, "message": "data checksum mismatch)"));
}

TEST_F(Inspect, AcceptsAFileThatIsStillWritten) {
  const std::string bytes = smallFile();
  writeBytes("runs/events.out.tfevents.1", bytes.substr(0, bytes.size() - 1));
  const Outcome outcome = steptape("inspect runs");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.error, HasSubstr("note: record cut short: got "));
  EXPECT_THAT(outcome.out, HasSubstr(" B, 1 tag, 2 points\n"));
  EXPECT_THAT(outcome.out, HasSubstr(" B  ends inside a record, "));
}

TEST_F(Inspect, ShowsEachKindOfValueUnderOneTagAndSaysSo) {
  const event::SummaryHistogram histogram{0, 2, 7, 0, 0, {1, 2}, {3, 4}};
  std::vector<event::Event> events;
  for (std::int64_t step = 0; step < 4; ++step) {
    events.push_back(eventAt(
        step, event::Summary{{{"layer", 0.5F, std::nullopt}, {"layer", histogram, std::nullopt}}}));
  }
  writeEvents("runs/events.out.tfevents.1", events);
  const Outcome outcome = steptape("inspect runs");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.out, HasSubstr(" B, 1 tag, 8 points\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  layer        4   0..3    0.5   0.5  0.5  0.5  "));
  EXPECT_THAT(outcome.out,
              HasSubstr("  layer           4   0..3  histograms  0 to 2, 7 numbers, 2 buckets\n"));
  EXPECT_EQ(outcome.error,
            "note: layer: got scalars (4) and histograms (4) under one tag; expected one kind: "
            "TensorBoard "
            "shows one of them at most, see steptape check\n");
  const std::string printed = steptape("inspect --json runs").out;
  EXPECT_THAT(printed,
              HasSubstr(R"({"tag": "layer", "plugin": "scalars", "points": 4, "first_step": 0)"));
  EXPECT_THAT(printed, HasSubstr(R"({"tag": "layer", "plugin": "histograms", "points": 4, )"));
  EXPECT_THAT(printed, HasSubstr(R"("notes": ["layer: got scalars (4) and histograms (4))"));
}

TEST_F(Inspect, ShowsIntegersAsScalarsAndSaysIfTheyAreRounded) {
  const auto event = [](std::int64_t number) {
    return eventAt(0, event::Summary{{ofScalarsPlugin(tensorValue<std::int64_t>(
                          "tokens", event::TensorType::kInt64, {number}))}});
  };
  writeEvents("small/events.out.tfevents.1", {event(12)});
  writeEvents("large/events.out.tfevents.1", {event((std::int64_t{1} << 53) + 1)});
  const Outcome outcome = steptape("inspect small");
  EXPECT_THAT(outcome.out, HasSubstr("  tokens       1      0     12    12   12   12  "));
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(steptape("inspect large").error,
              HasSubstr("note: tokens: got integers that no double"));
}

TEST_F(Inspect, ExplainsAFileInWhichTensorFlowHasWrittenNoValue) {
  event::Event header = version();
  header.sourceWriter = "tensorflow.core.util.events_writer";
  const std::string file = "events.out.tfevents.1795838972.host.4054.0.v2";
  writeEvents("begun/" + file, {header});
  ASSERT_EQ(std::filesystem::file_size(path("begun/" + file)), 78u) << "as TensorFlow 2.21 does";
  const Outcome outcome = steptape("inspect begun");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.out, HasSubstr("begun: 1 file, 78 B, 0 tags, 0 points\n"));
  EXPECT_EQ(outcome.error,
            "note: begun/" + file +
                ": TensorFlow has begun this file and written no value yet. If that stays so, its "
                "program may lack the package tensorboard, without which tf.summary raises "
                "TBNotInstalledError: pip install tensorboard\n");
  EXPECT_THAT(steptape("inspect begun --json").out, HasSubstr("pip install tensorboard"));
}

TEST_F(Inspect, DoesNotSuspectOtherFilesWithoutAValue) {
  event::Event header = version();
  header.sourceWriter = "tensorflow.core.util.events_writer";
  writeEvents("profiler/events.out.tfevents.1.profile-empty", {header});
  writeEvents("logged/events.out.tfevents.1", {header, simpleScalar("loss", 1, 0)});
  writeEvents("logged/events.out.tfevents.2", {header});
  writeEvents("torch/events.out.tfevents.1", {version()});
  writeEvents("graph/events.out.tfevents.1", {header, eventAt(0, event::GraphDef{"\x12\x00"})});
  header.sourceWriter = "tensorboard.summary.writer.event_file_writer";
  writeEvents("other/events.out.tfevents.1", {header});
  for (const std::string run :
       {"profiler", "logged", "logged --tag nothing", "torch", "graph", "other"}) {
    EXPECT_EQ(steptape("inspect " + run).error, "") << run;
  }
}

TEST_F(Inspect, NamesAScalarWithoutAValue) {
  event::Tensor empty;
  empty.type = event::TensorType::kFloat;
  writeEvents("runs/events.out.tfevents.1",
              {eventAt(0, event::Summary{{ofScalarsPlugin({"loss", empty, std::nullopt})}})});
  EXPECT_THAT(steptape("inspect runs").out,
              HasSubstr("  loss            1      0  scalars  no value\n"));
}

TEST_F(Inspect, ShowsBothEndsOfTimesThatNoCalendarHas) {
  std::vector<event::Event> events{atTime(simpleScalar("loss", 1, 0), 1795700000000),
                                   atTime(simpleScalar("loss", 1, 1), 1795700004000)};
  writeEvents("ms/events.out.tfevents.1", events);
  EXPECT_THAT(
      steptape("inspect ms").out,
      HasSubstr("  1795700000000 s to 1795700004000 s, beyond the year 9999: milliseconds?\n"));
  events[0].wallTime = 1795700000;
  events[1].wallTime = std::numeric_limits<double>::infinity();
  writeEvents("inf/events.out.tfevents.1", events);
  EXPECT_THAT(steptape("inspect inf").out, HasSubstr("  2026-11-26 13:33:20 to inf s\n"));
}

TEST_F(Inspect, ShowsADirectoryOnceThatALinkLeadsTo) {
  writeBytes("runs/run_7/events.out.tfevents.1", smallFile());
  std::filesystem::create_directory_symlink("run_7", path("runs/latest"));
  const Outcome outcome = steptape("inspect runs/latest runs/run_7");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("runs/run_7: 1 file"), Not(HasSubstr("latest"))));
  EXPECT_EQ(outcome.error, "note: runs/latest left out: it is the directory runs/run_7\n");
}

TEST_F(Inspect, TellsHowToReadACompressedFile) {
  writeBytes("runs/events.out.tfevents.1.gz",
             std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + std::string(100, 'x'));
  EXPECT_THAT(
      steptape("inspect runs"),
      Exits(1,
            "problem: runs/events.out.tfevents.1.gz: got a file compressed with gzip; expected an "
            "event file. Decompress it first: gzip --decompress --keep (110 bytes skipped)\n"));
}

TEST_F(Inspect, NamesADirectoryThatItCannotRead) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  std::filesystem::create_directories(path("runs/secret"));
  std::filesystem::permissions(path("runs/secret"), std::filesystem::perms::none);
  std::filesystem::permissions(root_, std::filesystem::perms::all);
  const Outcome outcome = asAnyone("inspect runs");
  std::filesystem::permissions(path("runs/secret"), std::filesystem::perms::owner_all);
  if (outcome.exitCode == 127 || outcome.exitCode == 126) {
    GTEST_SKIP() << "root's program is not for others: " << outcome.error;
  }
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.out, HasSubstr(" B, 2 tags, 3 points\n"));
  EXPECT_EQ(outcome.error,
            "problem: cannot read runs/secret: Permission denied; its runs are left out\n");
}

TEST_F(Inspect, SaysOfManyTagsHowManyHaveSeveralKinds) {
  event::Summary summary;
  for (int i = 0; i < 20; ++i) {
    const std::string tag = "tag" + std::to_string(i);
    summary.values.push_back({tag, 1.0F, std::nullopt});
    summary.values.push_back({tag, event::SummaryHistogram(), std::nullopt});
  }
  writeEvents("runs/events.out.tfevents.1", {eventAt(0, summary)});
  EXPECT_THAT(steptape("inspect runs").error,
              HasSubstr("see steptape check\nnote: and 15 more such notes; --json has all\n"));
  EXPECT_THAT(steptape("inspect --json runs").out,
              HasSubstr("\"tag19: got scalars (1) and histograms (1)"));
}

}  // namespace
}  // namespace steptape
