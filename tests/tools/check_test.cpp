// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>

#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Check : public ToolFixture {
 protected:
  /// Returns a file that both readers show completely.
  static std::vector<event::Event> goodEvents() {
    return {eventAt(0, event::FileVersion{"brain.Event:2"}), start(0),
            simpleScalar("loss", 0.5F, 1), simpleScalar("loss", 0.25F, 20)};
  }
};

TEST_F(Check, ReportsThatBothReadersShowAnIntactRun) {
  writeEvents("runs/demo/events.out.tfevents.1", goodEvents());
  const Outcome outcome = steptape("check runs");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(
      outcome.out,
      "runs/demo: 1 file, 4 records, 153 B; fast data server: shows everything; Python loader: "
      "shows everything\n");
}

TEST_F(Check, NamesASingleFile) {
  writeEvents("runs/events.out.tfevents.1", goodEvents());
  EXPECT_THAT(steptape("check runs/events.out.tfevents.1").out,
              StartsWith("runs/events.out.tfevents.1: 1 file, 4 records, "));
}

TEST_F(Check, NamesTheOffsetAndTheRule) {
  const std::string good = framed(goodEvents());
  writeBytes("runs/events.out.tfevents.1", good + "damage" + framed({simpleScalar("loss", 0, 21)}));
  const Outcome outcome = steptape("check runs");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(
      outcome.out,
      StartsWith("runs/events.out.tfevents.1:" + std::to_string(good.size()) +
                 ": loss [length-checksum; both readers] length checksum mismatch: got 0x"));
  EXPECT_THAT(outcome.out, HasSubstr(", 6 bytes that are no record: both readers show nothing of "
                                     "the file from here on\nruns: 1 file, 5 records, "));
  EXPECT_THAT(outcome.out, EndsWith("; fast data server: does not show everything; Python loader: "
                                    "does not show everything\n"));
}

TEST_F(Check, SucceedsIfThereAreOnlyNotes) {
  const std::string bytes = framed(goodEvents());
  writeBytes("runs/events.out.tfevents.1", bytes.substr(0, bytes.size() - 1));
  const Outcome outcome = steptape("check runs");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.out, HasSubstr(": note [cut-short; both readers] record cut short: got "));
  EXPECT_THAT(outcome.out, HasSubstr("; fast data server: shows everything, see the notes; "));
}

TEST_F(Check, NamesTheAffectedReaderAndTheCount) {
  std::vector<event::Event> events = goodEvents();
  events.push_back(simpleScalar("loss", 0, 20));
  events.push_back(simpleScalar("loss", 1, 20));
  writeEvents("runs/events.out.tfevents.1", events);
  const Outcome outcome = steptape("check runs");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(
      outcome.out,
      HasSubstr(": loss [duplicate-step; fast data server] 'loss': got step 20 after step "
                "20; expected a greater one: the fast data server drops what was written before "
                "at step 20 (2 times)\n"));
  EXPECT_THAT(outcome.out, EndsWith("; fast data server: does not show everything; Python loader: "
                                    "shows everything\n"));
}

TEST_F(Check, ComparesRuns) {
  for (const std::string run : {"a", "b"}) {
    event::Value value{"_hparams_/experiment", std::monostate(), event::SummaryMetadata()};
    value.metadata->pluginName = event::kHparamsPlugin;
    value.metadata->pluginContent = run;
    std::vector<event::Event> events = goodEvents();
    events.push_back(eventAt(0, event::Summary{{value}}));
    writeEvents("runs/" + run + "/events.out.tfevents.1", events);
  }
  const Outcome outcome = steptape("check runs");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.out, HasSubstr("runs/b/events.out.tfevents.1:153: loss [experiment-conflict; "
                                     "both readers] got another experiment record than at offset "
                                     "153 of runs/a/events.out.tfevents.1"));
}

TEST_F(Check, PrintsJson) {
  std::vector<event::Event> events = goodEvents();
  events.push_back(simpleScalar("loss", 0, 20));
  writeEvents("runs/events.out.tfevents.1", events);
  const Outcome outcome = steptape("check --json runs");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.out,
            R"({"runs": [
{"run": "runs", "files": 1, "records": 5, "bytes": 195, "fast_data_server": "loss", "python_loader": "none", "findings": [
{"file": "runs/events.out.tfevents.1", "offset": 153, "bytes": 42, "rule": "duplicate-step", "severity": "loss", "fast_data_server": "loss", "python_loader": "none", "tag": "loss", "count": 1, "message": "got step 20 after step 20; expected a greater one: the fast data server drops what was written before at step 20"}
], "more_findings": 0}
], "between_runs": []}
)");
}

class CheckValues : public Check {
 protected:
  /// Writes two runs: one with a loss that is NaN from step 2 on, and a healthy one.
  void writeRuns() const {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    writeEvents("runs/sick/events.out.tfevents.1",
                {version(), simpleScalar("loss", 1, 0), simpleScalar("loss", 0.5F, 1),
                 simpleScalar("loss", nan, 2), simpleScalar("accuracy", nan, 3)});
    writeEvents("runs/well/events.out.tfevents.1", {version(), simpleScalar("loss", 1, 0)});
  }
};

TEST_F(CheckValues, PrintsALineForEachFindingAndOneForEachRun) {
  writeRuns();
  const Outcome outcome = steptape("check --values runs");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(
      outcome.out,
      "runs/sick: not-finite: loss: got NaN at step 2 after 0.5; expected a finite number\n"
      "runs/sick: not-finite: accuracy: got NaN at step 3; expected a finite number; the first "
      "that was not finite is loss at step 2\n"
      "runs/sick: 4 points of 2 scalar tags: 2 findings\n"
      "runs/well: 1 point of 1 scalar tag: no findings\n");
}

TEST_F(CheckValues, SucceedsWithoutFindings) {
  writeRuns();
  EXPECT_EQ(steptape("check --values runs/well").exitCode, 0);
  EXPECT_EQ(steptape("check --values runs --leave-out not-finite").exitCode, 0);
  EXPECT_EQ(steptape("check --values runs --tag zzz").exitCode, 0);
  EXPECT_EQ(steptape("check --values runs --run well").exitCode, 0);
}

TEST_F(CheckValues, PrintsJson) {
  writeRuns();
  EXPECT_THAT(steptape("check --values --json runs/sick").out, StartsWith(R"({"runs": [
{"run": "runs/sick", "tags": 2, "points": 4, "findings": [
{"rule": "not-finite", "tag": "loss", "step": 2, "value": "NaN", "wall_time": 1002, "message": ")"));
}

TEST_F(CheckValues, IsNeededForItsOptions) {
  writeRuns();
  EXPECT_THAT(steptape("check runs --tag loss"), Exits(2, HasSubstr("--values")));
  EXPECT_THAT(steptape("check --values runs --leave-out nan"),
              Exits(2, HasSubstr("got nan; expected not-finite, spike, ")));
}

TEST_F(CheckValues, TellsACommandOfTheUser) {
  writeRuns();
  EXPECT_EQ(steptape("check --values runs --on-event 'cat >> events'").exitCode, 1);
  EXPECT_THAT(contentOf("events"),
              AllOf(HasSubstr("\"event\": \"finding\", \"message\": \"loss: got NaN at step 2"),
                    HasSubstr("\"run\": \"runs/sick\""), HasSubstr("\"tag\": \"accuracy\"")));
  EXPECT_THAT(steptape("check --values runs --on-event 'exit 3'").error,
              HasSubstr("note: event command \"exit 3\": got exit code 3; expected exit code 0\n"));
}

}  // namespace
}  // namespace steptape
