// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <string>
#include <vector>

#include "steptape/reader/run_files.h"

#include "tools/point_follower.h"
#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Follower : public LogDirFixture {
 protected:
  void append(const std::string& file, const std::vector<Event>& events) const {
    std::ofstream out(path(file), std::ios::binary | std::ios::app);
    out << framed(events);
    ASSERT_TRUE(out.good());
  }
  tools::PointFollower follower(const tools::NamePattern& tag = {}) const {
    return {listRuns(root_).front(), tag};
  }
  /// The steps of the points that are new.
  static std::vector<std::int64_t> newSteps(tools::PointFollower* follower) {
    std::vector<tools::NewPoint> points;
    follower->update(&points);
    std::vector<std::int64_t> steps;
    for (const tools::NewPoint& point : points) {
      steps.push_back(point.step);
    }
    return steps;
  }
  static Event version() { return eventAt(0, FileVersion{"brain.Event:2"}); }
  static Event later(Event event) {
    event.wallTime += 1000;
    return event;
  }
};

TEST_F(Follower, GivesEachPointOnce) {
  writeEvents("events.out.tfevents.1", {legacyScalar("loss", 1, 0), legacyScalar("loss", 1, 1)});
  tools::PointFollower run = follower();
  EXPECT_THAT(newSteps(&run), ElementsAre(0, 1));
  EXPECT_THAT(newSteps(&run), IsEmpty());
  append("events.out.tfevents.1", {legacyScalar("loss", 1, 2)});
  EXPECT_THAT(newSteps(&run), ElementsAre(2));
}

TEST_F(Follower, WaitsForTheRestOfARecord) {
  const std::string bytes = framed({legacyScalar("loss", 1, 0), legacyScalar("loss", 1, 1)});
  writeBytes("events.out.tfevents.1", bytes.substr(0, bytes.size() - 3));
  tools::PointFollower run = follower();
  EXPECT_THAT(newSteps(&run), ElementsAre(0));
  writeBytes("events.out.tfevents.1", bytes);
  EXPECT_THAT(newSteps(&run), ElementsAre(1));
}

TEST_F(Follower, GoesOnInANewFile) {
  writeEvents("events.out.tfevents.1", {legacyScalar("loss", 1, 0)});
  tools::PointFollower run = follower();
  EXPECT_THAT(newSteps(&run), ElementsAre(0));
  writeEvents("events.out.tfevents.2", {legacyScalar("loss", 1, 1)});
  EXPECT_THAT(newSteps(&run), ElementsAre(1));
}

TEST_F(Follower, GivesWhatARestartWritesAgain) {
  writeEvents("events.out.tfevents.1", {version(), legacyScalar("loss", 1, 0),
                                        legacyScalar("loss", 1, 1), legacyScalar("loss", 1, 2)});
  tools::PointFollower run = follower();
  EXPECT_THAT(newSteps(&run), ElementsAre(0, 1, 2));
  // More points than were dropped, so that their number alone tells nothing.
  writeEvents("events.out.tfevents.2",
              {later(version()), later(start(1)), later(legacyScalar("loss", 2, 1)),
               later(legacyScalar("loss", 2, 2)), later(legacyScalar("loss", 2, 3))});
  std::vector<tools::NewPoint> points;
  EXPECT_TRUE(run.update(&points));
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points.front().step, 1);
  EXPECT_EQ(points.front().value, 2);
  points.clear();
  EXPECT_FALSE(run.update(&points));
  EXPECT_THAT(points, IsEmpty());
}

TEST_F(Follower, GivesNothingWhereARestartOnlyDrops) {
  writeEvents("events.out.tfevents.1",
              {version(), legacyScalar("loss", 1, 0), legacyScalar("loss", 1, 1)});
  tools::PointFollower run = follower();
  EXPECT_THAT(newSteps(&run), ElementsAre(0, 1));
  writeEvents("events.out.tfevents.2", {later(version()), later(start(1))});
  EXPECT_THAT(newSteps(&run), IsEmpty());
  append("events.out.tfevents.2", {later(legacyScalar("loss", 1, 1))});
  EXPECT_THAT(newSteps(&run), ElementsAre(1));
}

TEST_F(Follower, GivesTheTagsThatAreAskedFor) {
  writeEvents("events.out.tfevents.1", {legacyScalar("loss", 1, 0), legacyScalar("lr", 1, 5)});
  tools::PointFollower run = follower(tools::NamePattern("^lr"));
  EXPECT_THAT(newSteps(&run), ElementsAre(5));
}

class Tail : public ToolFixture {
 protected:
  Outcome tail(const std::string& arguments) const {
    return run("env TZ=UTC '" STEPTAPE_TOOL "' tail " + arguments);
  }
};

TEST_F(Tail, PrintsTheLastPointsInTheOrderOfTheirTimes) {
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

TEST_F(Tail, SaysWhereThereIsNothingToFollow) {
  const Outcome outcome = tail(". --once");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.error, "steptape: no event file in or below .\n");
}

TEST_F(Tail, FindsRunsThatAppear) {
  writeBytes("small", smallFile());
  const Outcome outcome =
      run("sh -c '(sleep 0.3; mkdir -p runs/new; cp small runs/new/events.out.tfevents.1) & "
          "mkdir -p runs; \"" STEPTAPE_TOOL "\" tail runs --interval 0.05 | head -n 3'");
  EXPECT_THAT(outcome.out, HasSubstr("runs/new  loss"));
  EXPECT_EQ(outcome.error, "note: no event file in or below runs yet; waiting\n");
}

TEST_F(Tail, EndsWhenNobodyReads) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  // Nothing is ever written again: the closed pipe itself must be noticed.
  const Outcome outcome = run("sh -c '{ \"" STEPTAPE_TOOL
                              "\" tail runs --interval 0.05; echo $? >code; } | head -n 1'");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(contentOf("code"), "0\n");
}

TEST_F(Tail, EndsCleanlyOnInterrupt) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  const Outcome outcome =
      run("timeout --preserve-status -s INT 1 '" STEPTAPE_TOOL "' tail runs --lines 1");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.out, HasSubstr("0.25\n"));
}

TEST_F(Tail, NamesDamageAndGoesOn) {
  writeBytes("runs/events.out.tfevents.1", damagedFile() + framed({legacyScalar("loss", 8, 21)}));
  const Outcome outcome = tail("runs --once");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.error, HasSubstr("problem: data checksum mismatch"));
  EXPECT_THAT(outcome.out, HasSubstr("  21  8\n"));
}

TEST_F(Tail, DoesNotComplainOfAFileThatIsBeingWritten) {
  const std::string bytes = smallFile();
  writeBytes("runs/events.out.tfevents.1", bytes.substr(0, bytes.size() - 1));
  const Outcome outcome = tail("runs --once");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
}

}  // namespace
}  // namespace steptape
