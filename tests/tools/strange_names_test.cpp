// SPDX-License-Identifier: Apache-2.0
//
// Names of runs, tags and files that would control a terminal, in the output of every command.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/trace_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A line break and a forged line, a tab, a color, DEL, C1, a paragraph separator, and direction
// marks.
const std::string kStrange = "x\nINJECTED\t\x1b[31m\x7f\u009b\u2029\u061c\u200f\u202e\u2067y";
constexpr char kShown[] = R"(x\nINJECTED\t\x1b[31m\x7f\u009b\u2029\u061c\u200f\u202e\u2067y)";

class StrangeNames : public TraceFixture {
 protected:
  void SetUp() override {
    TraceFixture::SetUp();
    ASSERT_EQ(::setenv("LC_ALL", "C.UTF-8", 1), 0);
    writeBytes(file_, framed({simpleScalar(tag_, 0.5F, 1), simpleScalar(tag_, 0.25F, 20)}));
    writeBytes(other_, framed({simpleScalar(tag_, 0.5F, 1), simpleScalar(tag_ + "2", 1, 1)}));
    std::string damaged = framed({simpleScalar(tag_, 1, 1), simpleScalar(tag_, 2, 2)});
    damaged.back() = static_cast<char>(~damaged.back());
    writeBytes(damaged_, damaged);
    Training training;
    training.activation = "op " + kStrange;
    Trace trace = traceOf(training);
    trace.hostName = "host " + kStrange;
    trace.processName = "process " + kStrange;
    writeChrome(trace_, trace);
    trace.rank = 1;
    writeChrome(otherTrace_, trace);
  }

  static std::string quoted(const std::string& name) { return " '" + name + "'"; }

  static void expectHarmless(const std::string& text, const std::string& arguments) {
    for (const char* harm : {"\t", "\x1b", "\x7f", "\u009b", "\u2029", "\u061c", "\u200f", "\u202e",
                             "\u2067", "\nINJECTED"}) {
      EXPECT_THAT(text, Not(HasSubstr(harm))) << arguments;
    }
  }

  /// Expects `shown` in the command's output for people.
  void expectShown(const std::string& arguments, const std::string& shown = kShown) const {
    const Outcome outcome = steptape(arguments);
    expectHarmless(outcome.out + outcome.error, arguments);
    EXPECT_THAT(outcome.out + outcome.error, HasSubstr(shown)) << arguments;
  }

  nlohmann::json jsonOf(const std::string& arguments) const {
    return nlohmann::json::parse(steptape(arguments).out, nullptr, false);
  }

  const std::string tag_ = "tag " + kStrange;
  const std::string runs_ = "runs";
  const std::string run_ = "runs/" + kStrange;
  const std::string file_ = run_ + "/events.out.tfevents.1." + kStrange;
  const std::string other_ = "runs/other" + kStrange + "/events.out.tfevents.1";
  const std::string damaged_ = "damaged" + kStrange + "/events.out.tfevents.1" + kStrange;
  const std::string trace_ = "traces/" + kStrange + ".pt.trace.json";
  const std::string otherTrace_ = "traces/2" + kStrange + ".pt.trace.json";
};

TEST_F(StrangeNames, AreEscapedByCommandsThatReadRuns) {
  expectShown("inspect runs", std::string("runs/") + kShown);
  expectShown("inspect runs", std::string("tag ") + kShown);
  expectShown("inspect" + quoted(damaged_), std::string("events.out.tfevents.1") + kShown);
  expectShown("check runs", std::string("runs/") + kShown + ": 1 file");
  expectShown("check" + quoted(file_), std::string("events.out.tfevents.1.") + kShown + ": 1 file");
  expectShown("check" + quoted(damaged_));
  expectShown("tail --once runs", std::string("tag ") + kShown);
  expectShown("tail --once" + quoted(damaged_), std::string("events.out.tfevents.1") + kShown);
  expectShown("plot --width 200 runs", std::string("tag ") + kShown);
  expectShown("plot --width 200 runs", std::string("runs/") + kShown);
  expectShown("diff" + quoted(run_) + quoted("runs/other" + kStrange));
  expectShown("diff" + quoted(run_) + quoted(damaged_));
  expectShown("export --output out.json" + quoted(damaged_));
}

TEST_F(StrangeNames, AreEscapedByRepair) {
  const std::string output = "repaired" + kStrange;
  expectShown("repair" + quoted(damaged_) + " --output" + quoted(output),
              std::string("written: repaired") + kShown);
  expectShown("repair" + quoted(damaged_) + " --output" + quoted(output));  // the output exists
  expectShown("repair" + quoted(damaged_) + " --in-place", kShown + std::string(".damaged\n"));
  expectShown("repair" + quoted(file_) + " --in-place");
}

TEST_F(StrangeNames, AreEscapedByCommandsThatReadTraces) {
  expectShown("profile" + quoted(trace_), std::string("traces/") + kShown);
  expectShown("profile" + quoted(trace_), std::string("op ") + kShown);
  expectShown("profile" + quoted(trace_), std::string("host ") + kShown);
  expectShown("profile traces", std::string("host ") + kShown);
  expectShown("profile --compare" + quoted(trace_) + quoted(otherTrace_),
              std::string("op ") + kShown);
  const std::string merged = "merged" + kStrange + ".json";
  expectShown("merge-traces traces --output" + quoted(merged), std::string("merged") + kShown);
  writeBytes("broken" + kStrange + ".json", "{");
  expectShown("profile" + quoted("broken" + kStrange + ".json"));
  expectShown("profile" + quoted("broken" + kStrange + ".json") + quoted(trace_));
}

TEST_F(StrangeNames, AreEscapedInUsageErrors) {
  expectShown(quoted(kStrange));  // as a command
  for (const char* command :
       {"inspect", "check", "export", "tail", "plot", "profile", "repair --in-place", "diff runs",
        "merge-traces --output all.json", "man"}) {
    expectShown(command + quoted("absent" + kStrange));
  }
  expectShown("inspect runs" + quoted("--" + kStrange));
  expectShown("inspect runs --run" + quoted("(" + kStrange));
  expectShown("inspect runs --run" + quoted("absent" + kStrange));
  expectShown("plot runs --tag" + quoted("absent" + kStrange));
  expectShown("profile traces --output" + quoted("form" + kStrange));
  expectShown("export runs --output" + quoted("absent" + kStrange + "/out.json"));
  expectShown("diff damaged* " + quoted(kStrange));
}

TEST_F(StrangeNames, ReachProgramsUnchanged) {
  const nlohmann::json inspected = jsonOf("inspect --json runs");
  EXPECT_EQ(inspected["runs"][0]["tags"][0]["tag"], tag_) << inspected;
  EXPECT_EQ(jsonOf("check --json runs")["runs"][1]["run"], run_);
  EXPECT_EQ(jsonOf("tail --once --lines 1 --json" + quoted(file_))["tag"], tag_);
  EXPECT_EQ(jsonOf("diff --json" + quoted(run_) + quoted(run_))["runs"][0], run_);
  EXPECT_EQ(jsonOf("repair --json --in-place" + quoted(file_))["file"], file_);
  EXPECT_EQ(jsonOf("profile --json" + quoted(trace_))["traces"][0]["file"], trace_);
  EXPECT_THAT(steptape("export --format csv runs").out, AllOf(HasSubstr(run_), HasSubstr(tag_)));
}

}  // namespace
}  // namespace steptape
