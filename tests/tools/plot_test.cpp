// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class Plot : public ToolFixture {
 protected:
  void writeLoss(const std::string& run, const std::vector<float>& values) const {
    std::vector<event::Event> events;
    for (std::size_t i = 0; i < values.size(); ++i) {
      events.push_back(simpleScalar("loss", values[i], static_cast<std::int64_t>(i)));
    }
    writeEvents("runs/" + run + "/events.out.tfevents.1", events);
  }
  /// Runs in a UTF-8 locale with times in UTC, without the settings of the user who runs the tests.
  Outcome plot(const std::string& arguments, const std::string& environment = "") const {
    return run("env -u COLUMNS -u LINES LC_ALL=C.UTF-8 TZ=UTC " + environment +
               " '" STEPTAPE_TOOL "' plot " + arguments);
  }
  static auto lineCount(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  }
};

TEST_F(Plot, DrawsACurveIntoAPipe) {
  writeLoss("demo", {1, 0.5F, 0.25F, 0.125F});
  const Outcome outcome = plot("runs --tag loss");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(lineCount(outcome.out), 23);
  EXPECT_THAT(outcome.out, HasSubstr(" loss\n"));
  EXPECT_THAT(outcome.out, HasSubstr("1.0 ┤⠑⠤⡀\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  ━━ runs/demo  0.125 at step 3\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\033")));
}

TEST_F(Plot, DrawsSeveralRunsInOneChart) {
  writeLoss("a", {1, 2});
  writeLoss("b", {2, 1});
  EXPECT_THAT(plot("runs --tag loss").out,
              HasSubstr("  *  runs/a  2 at step 1  +  runs/b  1 at step 1\n"));
}

TEST_F(Plot, SelectsRuns) {
  writeLoss("a", {1, 2});
  writeLoss("b", {2, 1});
  const std::string drawn = plot("runs --tag loss --run b$").out;
  EXPECT_THAT(drawn, Not(HasSubstr("runs/a")));
  EXPECT_THAT(drawn, HasSubstr("runs/b"));
}

TEST_F(Plot, DrawsOneChartForEachTag) {
  writeBytes("runs/events.out.tfevents.1", smallFile());
  const std::string drawn = plot("runs").out;
  EXPECT_THAT(drawn, HasSubstr(" accuracy\n"));
  EXPECT_THAT(drawn, HasSubstr(" loss\n"));
  EXPECT_THAT(plot("runs --tag '^loss$'").out, Not(HasSubstr("accuracy")));
}

TEST_F(Plot, HasTheRequestedSize) {
  writeLoss("demo", {1, 2, 3});
  const std::string drawn = plot("runs --width 60 --height 15").out;
  EXPECT_EQ(lineCount(drawn), 15);
  EXPECT_THAT(drawn, ::testing::StartsWith(std::string(28, ' ') + "loss\n"));
  EXPECT_EQ(lineCount(plot("runs", "COLUMNS=100 LINES=40").out), 39);
}

TEST_F(Plot, IsAsciiInAnAsciiLocale) {
  writeLoss("demo", {1, 2, 3});
  for (const Outcome& outcome : {plot("runs", "LC_ALL=C"), plot("runs --ascii")}) {
    EXPECT_TRUE(std::all_of(outcome.out.begin(), outcome.out.end(),
                            [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
    EXPECT_THAT(outcome.out, HasSubstr("*"));
  }
}

TEST_F(Plot, LeavesOutAndCountsNonFiniteValues) {
  writeLoss("demo", {1, kNan, 0.5F, INFINITY, 0.25F});
  EXPECT_THAT(plot("runs").out, HasSubstr("0.25 at step 4; 2 of 5 left out: not finite\n"));
}

TEST_F(Plot, LeavesOutNonPositiveValuesOnALogarithmicAxis) {
  writeLoss("demo", {100, 0, 1, -1, 0.01F});
  const std::string drawn = plot("runs --log --height 20").out;
  EXPECT_THAT(drawn, HasSubstr("2 of 5 left out: not positive or not finite\n"));
  for (const char* label : {" 100 ┤", "   1 ┤", "0.01 ┤"}) {
    EXPECT_THAT(drawn, HasSubstr(label));
  }
}

TEST_F(Plot, DrawsARunThatIsAllNan) {
  writeLoss("demo", {kNan, kNan});
  EXPECT_THAT(plot("runs"), Prints(HasSubstr("nan at step 1; 2 of 2 left out: not finite")));
}

TEST_F(Plot, Smooths) {
  writeLoss("demo", {1, 0.5F});
  EXPECT_THAT(plot("runs --smooth 0.6").out, HasSubstr("0.5, smoothed 0.6875, at step 1\n"));
}

TEST_F(Plot, CountsTime) {
  writeLoss("demo", {1, 2, 3});  // at 1000, 1001 and 1002 seconds
  const std::string clock = plot("runs --x time").out;
  EXPECT_THAT(clock, HasSubstr("00:16:40"));
  EXPECT_THAT(clock, HasSubstr(" time on 1970-01-01\n"));
  const std::string relative = plot("runs --x relative").out;
  EXPECT_THAT(relative, HasSubstr("0.5s"));
  EXPECT_THAT(relative, HasSubstr(" time since the run's first point\n"));
}

TEST_F(Plot, DrawsTimesInMillisecondsSinceTheFirstPoint) {
  std::vector<event::Event> events;
  for (int i = 0; i < 5; ++i) {
    events.push_back(simpleScalar("loss", static_cast<float>(i), i));
    events.back().wallTime = 1000.0 * (1'795'700'000 + i);
  }
  writeEvents("runs/demo/events.out.tfevents.1", events);
  const std::string relative = plot("runs --x relative").out;
  EXPECT_THAT(relative, HasSubstr("4 at step 4\n"));
  EXPECT_THAT(relative, HasSubstr("1h"));  // 4000 "seconds"
  EXPECT_THAT(
      plot("runs --x time --width 120").out,
      HasSubstr("4 at step 4; 5 of 5 left out: time beyond the year 9999: milliseconds?\n"));
}

TEST_F(Plot, NamesEachReasonForAPointThatIsLeftOut) {
  std::vector<event::Event> events = {simpleScalar("loss", 1, 0), simpleScalar("loss", kNan, 1),
                                      simpleScalar("loss", 1, 2), simpleScalar("loss", 1, 3)};
  events[2].wallTime = HUGE_VAL;
  events[3].wallTime = -5;
  writeEvents("runs/demo/events.out.tfevents.1", events);
  EXPECT_THAT(plot("runs --x time --width 150").out,
              HasSubstr("; 1 of 4 left out: not finite; 1 of 4 left out: time before 1970; "
                        "1 of 4 left out: time not finite\n"));
}

TEST_F(Plot, WritesSvg) {
  writeLoss("demo", {1, 0.5F});
  EXPECT_THAT(plot("runs --svg chart.svg"), Prints(""));
  const std::string svg = contentOf("chart.svg");
  EXPECT_THAT(svg, HasSubstr("<title>loss</title>"));
  EXPECT_THAT(svg, HasSubstr("<polyline "));
  EXPECT_THAT(svg, HasSubstr("runs/demo"));
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

TEST_F(Plot, ReportsThatItCannotWrite) {
  writeLoss("demo", {1, 0.5F});
  EXPECT_THAT(plot("runs --svg absent/chart.svg"),
              Exits(1, HasSubstr("absent/chart.svg: No such file or directory")));
}

TEST_F(Plot, ReportsThatThereAreNoScalars) {
  writeEvents("runs/events.out.tfevents.1", {version()});
  EXPECT_THAT(steptape("plot runs"),
              Exits(1, "steptape: got no scalar tag; 'steptape inspect' lists all tags\n"));
}

TEST_F(Plot, NamesTheMissingTag) {
  writeLoss("demo", {1});
  EXPECT_THAT(plot("runs --tag lose"), Exits(1,
                                             "steptape: --tag: got \"lose\"; expected a match in a "
                                             "scalar tag; 'steptape inspect' lists "
                                             "all tags\n"));
}

TEST_F(Plot, RefusesInvalidOptions) {
  writeLoss("demo", {1});
  for (const char* arguments :
       {"runs --smooth 2", "runs --x epoch", "runs --width 3", "runs --tag '('", "absent"}) {
    EXPECT_EQ(plot(arguments).exitCode, 2) << arguments;
  }
}

TEST_F(Plot, DrawsIntactPointsAndReportsTheDamage) {
  writeBytes("runs/events.out.tfevents.1", damagedFile());
  const Outcome outcome = plot("runs");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.error, HasSubstr("data checksum mismatch"));
  EXPECT_THAT(outcome.out, HasSubstr("0.25 at step 20"));
}

TEST_F(Plot, ShowsTheTimeOfTrainingWithoutTheGapsBetweenSessions) {
  const auto at = [](double wallTime, event::Event event) {
    event.wallTime = wallTime;
    return event;
  };
  writeEvents("runs/events.out.tfevents.1",
              {at(1000, version()), at(1000, simpleScalar("loss", 1, 0)),
               at(1010, simpleScalar("loss", 2, 1))});
  writeEvents("runs/events.out.tfevents.2",
              {at(9000, version()), at(9010, simpleScalar("loss", 3, 2))});
  EXPECT_THAT(plot("runs --x relative").out, HasSubstr("2h"));
  const std::string trained = plot("runs --x trained").out;
  EXPECT_THAT(trained, HasSubstr("20s"));
  EXPECT_THAT(trained, HasSubstr(" time of training\n"));
}

}  // namespace
}  // namespace steptape
