// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPng[] = "\x89PNG\r\n\x1a\n...";

class Export : public ToolFixture {
 protected:
  static event::Summary imageSummary() {
    return event::Summary{{event::Value{"a/b", event::SummaryImage{1, 1, 3, kPng}, std::nullopt}}};
  }
  /// Returns the paths of all files below `directory`, relative to it.
  std::set<std::string> filesBelow(const std::string& directory) const {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(directory))) {
      if (entry.is_regular_file()) {
        files.insert(entry.path().lexically_relative(path(directory)).string());
      }
    }
    return files;
  }
};

constexpr char kSmallFileJson[] =
    "{\n"
    "\"runs/demo/accuracy\": [[1020, 20, 1]],\n"
    "\"runs/demo/loss\": [[1001, 1, 0.5], [1020, 20, 0.25]]\n"
    "}\n";

constexpr char kSmallFileCsv[] = "step,accuracy,loss\n1,,0.5\n20,1.0,0.25\n";

TEST_F(Export, WritesAFile) {
  writeBytes("runs/demo/events.out.tfevents.1", smallFile());
  const Outcome outcome = steptape("export runs/demo --format json --output scalars.json");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(contentOf("scalars.json"), kSmallFileJson);
}

TEST_F(Export, WritesToStandardOutput) {
  writeBytes("runs/demo/events.out.tfevents.1", smallFile());
  EXPECT_EQ(steptape("export runs/demo").out, kSmallFileJson);
}

TEST_F(Export, NamesCurvesByTheDirectoryOfTheirRun) {
  writeBytes("runs/demo/events.out.tfevents.1", smallFile());
  EXPECT_EQ(steptape("export runs").out, kSmallFileJson);
  EXPECT_EQ(steptape("export runs/demo/events.out.tfevents.1").out, kSmallFileJson);
}

TEST_F(Export, WritesNanAndInfinitiesAsStrings) {
  writeEvents("events.out.tfevents.1",
              {version(), simpleScalar("x", std::nanf(""), 1), simpleScalar("x", HUGE_VALF, -2)});
  EXPECT_EQ(steptape("export .").out,
            "{\n\"./x\": [[1001, 1, \"NaN\"], [998, -2, \"Infinity\"]]\n}\n");
}

TEST_F(Export, EscapesTags) {
  writeEvents("events.out.tfevents.1", {simpleScalar("a\"b\xff", 1, 1)});
  EXPECT_EQ(steptape("export .").out, "{\n\"./a\\\"b\xef\xbf\xbd\": [[1001, 1, 1]]\n}\n");
}

TEST_F(Export, IsAnObjectWithoutAnyScalar) {
  writeEvents("events.out.tfevents.1", {});
  const Outcome outcome = steptape("export .");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.out, "{}\n");
  EXPECT_EQ(outcome.error, "note: nothing to export\n");
}

TEST_F(Export, WritesEveryIntactRecordOfADamagedFile) {
  writeBytes("runs/events.out.tfevents.1", damagedFile());
  EXPECT_THAT(steptape("export runs --output scalars.json"),
              Exits(1, HasSubstr("problem: data checksum mismatch")));
  EXPECT_EQ(contentOf("scalars.json"), "{\n\"runs/loss\": [[1001, 1, 0.5], [1020, 20, 0.25]]\n}\n");
}

TEST_F(Export, NamesTheFileThatCannotBeWritten) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  EXPECT_THAT(steptape("export runs --output absent/scalars.json"),
              Exits(1, "steptape: cannot write absent/scalars.json: No such file or directory\n"));

  EXPECT_THAT(steptape("export runs --output /dev/full"),
              Exits(1, "steptape: cannot write /dev/full: No space left on device\n"));
}

TEST_F(Export, KeepsTheOldFileIfTheNewOneFails) {
  writeBytes("runs/events.out.tfevents.1", framed({eventAt(1, imageSummary())}));
  writeBytes("records.jsonl", "old");
  writeBytes("file", "");
  EXPECT_EQ(steptape("export runs --format jsonl --output records.jsonl --media file").exitCode, 1);
  EXPECT_EQ(contentOf("records.jsonl"), "old");
  EXPECT_EQ(filesBelow("."), (std::set<std::string>{"file", "records.jsonl", "stderr", "stdout",
                                                    "runs/events.out.tfevents.1"}));
}

TEST_F(Export, LeavesNoTemporaryFile) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  steptape("export runs --format csv --output scalars.csv");
  EXPECT_EQ(filesBelow("."), (std::set<std::string>{"scalars.csv", "stderr", "stdout",
                                                    "runs/events.out.tfevents.1"}));
}

TEST_F(Export, FollowsALinkToItsOutput) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  writeBytes("elsewhere/scalars.csv", "");
  std::filesystem::create_symlink("elsewhere/scalars.csv", path("scalars.csv"));
  EXPECT_EQ(steptape("export runs --format csv --output scalars.csv").exitCode, 0);
  EXPECT_EQ(contentOf("elsewhere/scalars.csv"), kSmallFileCsv);
  EXPECT_TRUE(std::filesystem::is_symlink(path("scalars.csv")));
}

TEST_F(Export, WritesCsv) {
  writeBytes("runs/demo/events.out.tfevents.1", smallFile());
  EXPECT_EQ(steptape("export runs --format csv").out, kSmallFileCsv);
  EXPECT_EQ(steptape("export runs --format csv --layout long").out,
            "run,tag,step,wall_time,value\n"
            "runs/demo,loss,1,1001.0,0.5\n"
            "runs/demo,loss,20,1020.0,0.25\n"
            "runs/demo,accuracy,20,1020.0,1.0\n");
}

TEST_F(Export, WritesRecords) {
  writeBytes("runs/demo/events.out.tfevents.1", smallFile());
  EXPECT_THAT(steptape("export runs --format jsonl").out,
              StartsWith(R"({"run":"runs/demo","tag":"loss","plugin":"scalars","step":1,)"
                         R"("wall_time":1001.0,"value":0.5})"
                         "\n"));
}

TEST_F(Export, WritesImagesToFiles) {
  writeBytes("runs/events.out.tfevents.1", framed({eventAt(1, imageSummary())}));
  EXPECT_THAT(steptape("export runs --format jsonl --media pictures").out,
              HasSubstr(R"("file":"pictures/runs/a%2Fb/1_0.png"})"));
  EXPECT_EQ(contentOf("pictures/runs/a%2Fb/1_0.png"), kPng);
}

TEST_F(Export, FiltersRunsTagsAndSteps) {
  writeBytes("runs/one/events.out.tfevents.1", smallFile());
  writeBytes("runs/two/events.out.tfevents.1", smallFile());
  EXPECT_EQ(steptape("export runs --run 'w.$' --tag ^l --from 2 --to 20").out,
            "{\n\"runs/two/loss\": [[1020, 20, 0.25]]\n}\n");
}

TEST_F(Export, LeavesOutOverwrittenPointsByDefault) {
  writeEvents("events.out.tfevents.1",
              {version(), simpleScalar("x", 1, 1), start(1), simpleScalar("x", 2, 1)});
  EXPECT_EQ(steptape("export . --format csv").out, "step,x\n1,2.0\n");
  EXPECT_EQ(steptape("export . --format csv --all").out, "step,x\n1,1.0\n1,2.0\n");
}

TEST_F(Export, RefusesABadRegularExpression) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  EXPECT_THAT(steptape("export runs --tag '('"),
              Exits(2, HasSubstr("--tag: got \"(\"; expected a regular expression")));
}

TEST_F(Export, RefusesConflictingOptions) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  const std::pair<const char*, const char*> kCalls[] = {
      {"--format xml", "--format: got xml; expected json, jsonl, csv, parquet or arrow"},
      {"--from 2 --to 1", "--from: got 2; expected at most --to, which is 1"},
      {"--format json --layout long", "--layout: only for --format csv, parquet and arrow"},
      {"--format csv --media m", "--media: only for --format jsonl"},
      {"--from one", "--from"},
  };
  for (const auto& [options, message] : kCalls) {
    const Outcome outcome = steptape(std::string("export runs ") + options);
    EXPECT_EQ(outcome.exitCode, 2) << options;
    EXPECT_EQ(outcome.out, "") << options;
    EXPECT_THAT(outcome.error, HasSubstr(message));
  }
}

/// A Python for --format parquet whose behavior a shell script defines.
class ExportColumns : public Export {
 protected:
  Outcome exportBy(const std::string& script) {
    writeBytes("runs/events.out.tfevents.1", smallFile());
    writeBytes("python", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(path("python"), std::filesystem::perms::owner_all);
    return run("env STEPTAPE_PYTHON=./python '" STEPTAPE_TOOL
               "' export runs --format parquet --output scalars.parquet");
  }
};

TEST_F(ExportColumns, GoThroughPythonAsCsv) {
  EXPECT_EQ(exportBy("echo \"$3\"; cat").exitCode, 0);
  EXPECT_EQ(contentOf("scalars.parquet"), std::string("parquet\n") + kSmallFileCsv);
}

TEST_F(ExportColumns, LeaveNoFileWithoutPython) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  EXPECT_THAT(run("env STEPTAPE_PYTHON=./python '" STEPTAPE_TOOL
                  "' export runs --format arrow --output scalars.arrow"),
              Exits(1, HasSubstr("--format arrow: cannot start ./python: No such file")));
  EXPECT_FALSE(std::filesystem::exists(path("scalars.arrow")));
}

TEST_F(ExportColumns, SayHowToGetPyarrow) {
  EXPECT_THAT(exportBy("exit 69"),
              Exits(1, HasSubstr("got ./python without pyarrow; expected a Python that has it: "
                                 "./python -m pip install pyarrow")));
  EXPECT_FALSE(std::filesystem::exists(path("scalars.parquet")));
}

TEST_F(ExportColumns, LeaveNoFileIfPythonFails) {
  EXPECT_THAT(exportBy("cat; exit 3"),
              Exits(1, HasSubstr("./python ended with exit code 3; expected 0")));
  EXPECT_FALSE(std::filesystem::exists(path("scalars.parquet")));
}

TEST_F(ExportColumns, GiveTheReasonForWhichAFileCannotBeWritten) {
  exportBy("cat");
  EXPECT_THAT(run("env STEPTAPE_PYTHON=./python '" STEPTAPE_TOOL
                  "' export runs --format parquet --output /dev/full"),
              Exits(1, "steptape: cannot write /dev/full: No space left on device\n"));
}

TEST_F(Export, WritesHistogramsAsATable) {
  std::filesystem::create_directories(path("run"));
  std::filesystem::copy_file(STEPTAPE_SOURCE_DIR "/tests/golden/tensorboardx.tfevents",
                             path("run/events.out.tfevents.1"));
  const Outcome outcome = steptape("export run --format csv --layout histograms");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.out, StartsWith("run,tag,step,wall_time,left,right,count\nrun,weights,1,"));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 6);
}

}  // namespace
}  // namespace steptape
