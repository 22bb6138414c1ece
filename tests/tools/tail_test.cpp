// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "tools/steptape/runs/point_follower.h"
#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using tools::PointFollower;
using tools::RunNews;

class Follower : public LogDirFixture {
 protected:
  void append(const std::string& file, const std::vector<event::Event>& events) const {
    std::ofstream out(path(file), std::ios::binary | std::ios::app);
    out << framed(events);
    ASSERT_TRUE(out.good());
  }
  PointFollower follower(const tools::NameFilter& filter = {}) const { return {{root_}, filter}; }

  /// Returns "tag step = value" of each point.
  static std::vector<std::string> textsOf(const RunNews& news) {
    std::vector<std::string> texts;
    for (const tools::NewPoint& point : news.points) {
      texts.push_back(fmt::format("{} {} = {}", *point.tag, point.step, point.value));
    }
    return texts;
  }
  static std::vector<std::string> newPoints(PointFollower* follower) {
    return textsOf(follower->update());
  }
  /// Returns the directories of the points' runs.
  static std::vector<std::string> runsOf(const RunNews& news) {
    std::vector<std::string> runs;
    for (const tools::NewPoint& point : news.points) {
      runs.push_back(*point.run);
    }
    return runs;
  }
  /// Returns the event with this wall time.
  static event::Event at(double wallTime, event::Event event) {
    event.wallTime = wallTime;
    return event;
  }
};

TEST_F(Follower, GivesEachPointOnce) {
  writeEvents("events.out.tfevents.1", {simpleScalar("loss", 1, 0), simpleScalar("loss", 1, 1)});
  PointFollower runs = follower();
  EXPECT_THAT(newPoints(&runs), ElementsAre("loss 0 = 1", "loss 1 = 1"));
  EXPECT_THAT(newPoints(&runs), IsEmpty());
  append("events.out.tfevents.1", {simpleScalar("loss", 1, 2)});
  EXPECT_THAT(newPoints(&runs), ElementsAre("loss 2 = 1"));
}

TEST_F(Follower, WaitsForTheRestOfARecord) {
  const std::string bytes = framed({simpleScalar("loss", 1, 0), simpleScalar("loss", 1, 1)});
  writeBytes("events.out.tfevents.1", bytes.substr(0, bytes.size() - 3));
  PointFollower runs = follower();
  const RunNews news = runs.update();
  EXPECT_THAT(textsOf(news), ElementsAre("loss 0 = 1"));
  EXPECT_THAT(news.damage, IsEmpty());
  writeBytes("events.out.tfevents.1", bytes);
  EXPECT_THAT(newPoints(&runs), ElementsAre("loss 1 = 1"));
}

TEST_F(Follower, ContinuesInNewFilesAndNewRuns) {
  writeEvents("a/events.out.tfevents.1", {simpleScalar("loss", 1, 0)});
  PointFollower runs = follower();
  EXPECT_THAT(newPoints(&runs), ElementsAre("loss 0 = 1"));
  writeEvents("a/events.out.tfevents.2", {simpleScalar("loss", 1, 1)});
  writeEvents("b/events.out.tfevents.1", {simpleScalar("loss", 1, 2)});
  EXPECT_THAT(runsOf(runs.update()), ElementsAre(path("a"), path("b")));
}

TEST_F(Follower, OrdersThePointsOfAllRunsByTime) {
  writeEvents("a/events.out.tfevents.1", {simpleScalar("loss", 1, 0), simpleScalar("loss", 1, 2)});
  writeEvents("b/events.out.tfevents.1", {simpleScalar("loss", 2, 1), simpleScalar("loss", 2, 3)});
  PointFollower runs = follower();
  EXPECT_THAT(newPoints(&runs),
              ElementsAre("loss 0 = 1", "loss 1 = 2", "loss 2 = 1", "loss 3 = 2"));
}

TEST_F(Follower, LimitsTheNumberOfNewPoints) {
  writeEvents("a/events.out.tfevents.1", {simpleScalar("loss", 1, 0), simpleScalar("loss", 1, 1)});
  writeEvents("b/events.out.tfevents.1", {simpleScalar("lr", 2, 2), simpleScalar("lr", 2, 3)});
  EXPECT_THAT(textsOf(follower().update(3)), ElementsAre("loss 1 = 1", "lr 2 = 2", "lr 3 = 2"));
  EXPECT_THAT(textsOf(follower().update(1)), ElementsAre("lr 3 = 2"));
  EXPECT_THAT(textsOf(follower().update(0)), IsEmpty());
}

TEST_F(Follower, SaysOnceThatIntegersOfATagAreRounded) {
  const auto large = [](std::int64_t step) {
    const std::int64_t odd = (std::int64_t{1} << 53) + 1;
    return eventAt(step, event::Summary{{ofScalarsPlugin(tensorValue<std::int64_t>(
                             "tokens", event::TensorType::kInt64, {odd}))}});
  };
  writeEvents("events.out.tfevents.1", {simpleScalar("loss", 1, 0)});
  PointFollower runs = follower();
  EXPECT_THAT(runs.update().rounded, IsEmpty());
  append("events.out.tfevents.1", {large(1), large(2)});
  EXPECT_THAT(runs.update().rounded, ElementsAre(HasSubstr("tokens of " + root_ + ": got")));
  append("events.out.tfevents.1", {large(3)});
  EXPECT_THAT(runs.update().rounded, IsEmpty());
}

TEST_F(Follower, GivesPointsAfterARestartOnce) {
  writeEvents("events.out.tfevents.1", {version(), simpleScalar("loss", 1, 0),
                                        simpleScalar("loss", 1, 1), simpleScalar("loss", 1, 2)});
  PointFollower runs = follower();
  EXPECT_THAT(newPoints(&runs), SizeIs(3));
  // More points than were discarded, so that their number alone shows nothing. Neither do their
  // times: the clock was set back meanwhile, and one step has exactly the same time as before.
  writeEvents("events.out.tfevents.2",
              {version(), start(1), at(900, simpleScalar("loss", 2, 1)), simpleScalar("loss", 2, 2),
               at(950, simpleScalar("loss", 2, 3))});
  const RunNews news = runs.update();
  EXPECT_THAT(textsOf(news), ElementsAre("loss 1 = 2", "loss 3 = 2", "loss 2 = 2"));
  EXPECT_THAT(news.restarted, ElementsAre(root_));

  append("events.out.tfevents.2", {at(960, simpleScalar("loss", 2, 4))});
  const RunNews later = runs.update();
  EXPECT_THAT(textsOf(later), ElementsAre("loss 4 = 2"));
  EXPECT_THAT(later.restarted, IsEmpty());
}

TEST_F(Follower, GivesNothingIfARestartOnlyDiscards) {
  writeEvents("events.out.tfevents.1",
              {version(), simpleScalar("loss", 1, 0), simpleScalar("loss", 1, 1)});
  PointFollower runs = follower();
  EXPECT_THAT(newPoints(&runs), SizeIs(2));
  writeEvents("events.out.tfevents.2", {version(), start(1)});
  const RunNews news = runs.update();
  EXPECT_THAT(news.points, IsEmpty());
  EXPECT_THAT(news.restarted, ElementsAre(root_));
  append("events.out.tfevents.2", {simpleScalar("loss", 1, 1)});
  EXPECT_THAT(newPoints(&runs), ElementsAre("loss 1 = 1"));
}

TEST_F(Follower, GivesThePointsOfAFileThatWasWrittenAnew) {
  const std::string file = writeEvents(
      "events.out.tfevents.1", {version(), simpleScalar("loss", 1, 0), simpleScalar("loss", 1, 1),
                                simpleScalar("loss", 1, 2)});
  PointFollower runs = follower();
  EXPECT_THAT(newPoints(&runs), SizeIs(3));
  writeEvents("events.out.tfevents.1", {version(), simpleScalar("loss", 2, 0)});
  RunNews news = runs.update();
  EXPECT_THAT(textsOf(news), ElementsAre("loss 0 = 2"));
  EXPECT_THAT(news.replaced, ElementsAre(file));
  EXPECT_THAT(news.restarted, IsEmpty());
  EXPECT_THAT(news.damage, IsEmpty());
  append("events.out.tfevents.1", {simpleScalar("loss", 2, 1), simpleScalar("loss", 2, 2)});
  news = runs.update();
  EXPECT_THAT(textsOf(news), ElementsAre("loss 1 = 2", "loss 2 = 2"));
  EXPECT_THAT(news.replaced, IsEmpty());
}

TEST_F(Follower, FiltersTagsAndRuns) {
  writeEvents("a/events.out.tfevents.1", {simpleScalar("loss", 1, 0), simpleScalar("lr", 1, 5)});
  writeEvents("b/events.out.tfevents.1", {simpleScalar("lr", 2, 6)});
  PointFollower tags = follower({{}, tools::NamePattern("^lr")});
  EXPECT_THAT(newPoints(&tags), ElementsAre("lr 5 = 1", "lr 6 = 2"));
  PointFollower runs = follower({tools::NamePattern("/b$"), {}});
  EXPECT_THAT(newPoints(&runs), ElementsAre("lr 6 = 2"));
}

TEST_F(Follower, FollowsARepeatedPathOnce) {
  const std::string file =
      writeEvents("runs/a/events.out.tfevents.1", {simpleScalar("loss", 1, 0)});
  writeEvents("runs/ab/events.out.tfevents.1", {simpleScalar("loss", 1, 1)});
  std::filesystem::create_directory_symlink(path("runs"), path("link"));
  PointFollower below({path("runs/a"), path("runs"), path("link/ab"), file}, {});
  EXPECT_THAT(runsOf(below.update()), ElementsAre(path("runs/a"), path("runs/ab")));
  PointFollower beside({path("runs/a/"), path("runs/ab"), path("link/a")}, {});
  EXPECT_THAT(runsOf(beside.update()), ElementsAre(path("runs/a"), path("runs/ab")));
}

TEST_F(Follower, FollowsSingleFiles) {
  const std::string first = writeEvents("events.out.tfevents.1", {simpleScalar("loss", 1, 0)});
  const std::string third = writeEvents("events.out.tfevents.3", {simpleScalar("loss", 3, 2)});
  writeEvents("events.out.tfevents.2", {simpleScalar("loss", 2, 1)});
  PointFollower runs({first, third}, {});
  EXPECT_THAT(newPoints(&runs), ElementsAre("loss 0 = 1", "loss 2 = 3"));
}

TEST_F(Follower, ReportsDamageOnce) {
  std::string bytes = framed({simpleScalar("loss", 1, 0)});
  bytes.back() = static_cast<char>(~bytes.back());
  writeBytes("events.out.tfevents.1", bytes + framed({simpleScalar("loss", 1, 1)}));
  PointFollower runs = follower();
  const RunNews news = runs.update();
  ASSERT_THAT(news.damage, SizeIs(1));
  EXPECT_EQ(news.damage[0].offset, 0u);
  append("events.out.tfevents.1", {simpleScalar("loss", 1, 2)});
  EXPECT_THAT(runs.update().damage, IsEmpty());
  // The content that replaces it is damaged at the same place.
  writeBytes("events.out.tfevents.1", bytes + framed({simpleScalar("loss", 3, 3)}));
  EXPECT_THAT(runs.update().damage, SizeIs(1));
}

class Tail : public ToolFixture {
 protected:
  Outcome tail(const std::string& arguments) const {
    return run("env TZ=UTC '" STEPTAPE_TOOL "' tail " + arguments);
  }
};

TEST_F(Tail, PrintsTheLastPointsInOrderOfTime) {
  writeBytes("runs/demo/events.out.tfevents.1", smallFile());
  const Outcome outcome = tail("runs --once");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.out,
            "1970-01-01 00:16:41.000  runs/demo  loss         1  0.5\n"
            "1970-01-01 00:17:00.000  runs/demo  accuracy        20  1\n"
            "1970-01-01 00:17:00.000  runs/demo  loss            20  0.25\n");
  EXPECT_EQ(tail("runs --once --lines 1").out,
            "1970-01-01 00:17:00.000  runs/demo  loss        20  0.25\n");
}

TEST_F(Tail, AlignsTimesThatAreNoDates) {
  event::Event event = simpleScalar("loss", 1, 0);
  event.wallTime = HUGE_VAL;
  writeEvents("runs/events.out.tfevents.1", {simpleScalar("loss", 1, 0), event});
  EXPECT_EQ(tail("runs --once").out,
            "1970-01-01 00:16:40.000  runs  loss         0  1\n"
            "inf                      runs  loss         0  1\n");
}

TEST_F(Tail, SelectsTagsAndRuns) {
  writeBytes("runs/a/events.out.tfevents.1", smallFile());
  writeBytes("runs/b/events.out.tfevents.1", smallFile());
  EXPECT_EQ(tail("runs --once --tag acc --run b").out,
            "1970-01-01 00:17:00.000  runs/b  accuracy        20  1\n");
}

TEST_F(Tail, PrintsJsonLines) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  EXPECT_EQ(tail("runs --once --json --lines 1").out,
            R"({"wall_time": 1020, "run": "runs", "tag": "loss", "step": 20, "value": 0.25})"
            "\n");
}

TEST_F(Tail, ReportsAPathWithoutEventFiles) {
  EXPECT_THAT(tail(". --once"), Exits(1, "steptape: no event file in or below .\n"));
}

TEST_F(Tail, FindsRunsThatAppear) {
  writeBytes("small", smallFile());
  const Outcome outcome =
      run("sh -c '(sleep 0.3; mkdir -p runs/new; cp small runs/new/events.out.tfevents.1) & "
          "mkdir -p runs; \"" STEPTAPE_TOOL "\" tail runs --interval 0.05 | head -n 3'");
  EXPECT_THAT(outcome.out, HasSubstr("runs/new  loss"));
  EXPECT_EQ(outcome.error, "note: no event file in or below runs yet; waiting\n");
}

TEST_F(Tail, PrintsPointsAfterARestartOnce) {
  writeEvents("runs/events.out.tfevents.1",
              {version(), simpleScalar("loss", 1, 1), simpleScalar("loss", 1, 2),
               simpleScalar("loss", 1, 3)});
  // The same times as before, from a program that uses step numbers as times.
  writeEvents("restart", {version(), start(2), simpleScalar("loss", 2, 2),
                          simpleScalar("loss", 2, 3), simpleScalar("loss", 2, 4)});
  const Outcome outcome = run("sh -c '\"" STEPTAPE_TOOL
                              "\" tail runs --interval 0.05 --json | "
                              "{ head -n 3; mv restart runs/events.out.tfevents.2; head -n 3; }'");
  std::string lines;
  for (const char* point : {R"(1002, "run": "runs", "tag": "loss", "step": 2, "value": 2)",
                            R"(1003, "run": "runs", "tag": "loss", "step": 3, "value": 2)",
                            R"(1004, "run": "runs", "tag": "loss", "step": 4, "value": 2)"}) {
    lines += R"({"wall_time": )" + std::string(point) + "}\n";
  }
  EXPECT_THAT(outcome.out, EndsWith("\"step\": 3, \"value\": 1}\n" + lines));
  EXPECT_EQ(outcome.error, "note: runs restarted, which discarded points after its checkpoint\n");
}

TEST_F(Tail, EndsWhenItsReaderExits) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  // Nothing is ever written again: the closed pipe itself must be noticed.
  const Outcome outcome = run("sh -c '{ \"" STEPTAPE_TOOL
                              "\" tail runs --interval 0.05; echo $? >code; } | head -n 1'");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(contentOf("code"), "0\n");
}

TEST_F(Tail, EndsCleanlyOnInterrupt) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  EXPECT_THAT(run("timeout --preserve-status -s INT 1 '" STEPTAPE_TOOL "' tail runs --lines 1"),
              Prints(HasSubstr("0.25\n")));
}

TEST_F(Tail, ReportsDamageAndContinues) {
  writeBytes("runs/events.out.tfevents.1", damagedFile() + framed({simpleScalar("loss", 8, 21)}));
  const Outcome outcome = tail("runs --once");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.error, HasSubstr("problem: data checksum mismatch"));
  EXPECT_THAT(outcome.out, HasSubstr("  21  8\n"));
}

TEST_F(Tail, AcceptsAFileThatIsBeingWritten) {
  const std::string bytes = smallFile();
  writeBytes("runs/events.out.tfevents.1", bytes.substr(0, bytes.size() - 1));
  EXPECT_THAT(tail("runs --once"), Exits(0, ""));
}

TEST_F(Tail, PrintsWhatIsWrongWithACurveOnDemand) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  writeEvents("runs/events.out.tfevents.1",
              {simpleScalar("loss", 1, 0), simpleScalar("loss", nan, 1),
               simpleScalar("loss", nan, 2), simpleScalar("loss", nan, 3)});
  EXPECT_THAT(tail("runs --once --lines 1").out, Not(HasSubstr("finding")));
  const Outcome outcome = tail("runs --once --lines 1 --check");
  EXPECT_THAT(outcome.out, StartsWith("finding: runs: not-finite: loss: got NaN at step 1 after 1; "
                                      "expected a finite number\n"));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2);
  EXPECT_THAT(tail("runs --once --lines 0 --check --json").out,
              StartsWith("{\"run\": \"runs\", \"finding\": {\"rule\": \"not-finite\", "));
}

}  // namespace
}  // namespace steptape
