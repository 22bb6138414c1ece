// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "support/own_black_boxes.h"
#include "tools/runs_fixture.h"
#include "tools/state_job.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(RunsCommand, ShowsARowForEachRun) {
  writeTrials();
  const Outcome outcome = runs("runs");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.out,
            "  run        lr  opt   loss  step  trained  last point  state\n"
            "  runs/a    0.1  sgd      2     1    1.0 s  1970-01-01  -\n"
            "  runs/b   0.01  adam     1     1    1.0 s  1970-01-01  -\n"
            "  runs/c  0.001  adam     4     1    1.0 s  1970-01-01  -\n");
}

TEST_F(RunsCommand, ShowsHyperparametersThatAreEqualOnDemand) {
  writeTrials();
  EXPECT_THAT(runs("runs").out, Not(HasSubstr("batch")));
  EXPECT_THAT(runs("runs --all").out, HasSubstr("batch"));
}

TEST_F(RunsCommand, ShowsTheLastTheLeastAndTheLargestValueOfATag) {
  writeTrials();
  const RunJson c = json("runs/c --metric loss --metric loss:min --metric loss:max").at(0);
  EXPECT_EQ(c.at("metrics").at("loss"), RunJson::parse(R"({"step": 1, "value": 4.0})"));
  EXPECT_EQ(c.at("metrics").at("loss:min"), RunJson::parse(R"({"step": 0, "value": 0.5})"));
  EXPECT_EQ(c.at("metrics").at("loss:max"), RunJson::parse(R"({"step": 1, "value": 4.0})"));
}

TEST_F(RunsCommand, TakesThePathAfterTheOptions) {
  writeTrials();
  EXPECT_THAT(runs("--metric loss --where lr=0.1 --metric loss:min runs"),
              Prints(HasSubstr("loss:min")));
}

TEST_F(RunsCommand, FindsTheBestOfTheValuesThatAreNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  writeRun(
      "runs/a", {},
      {simpleScalar("loss", nan, 0), simpleScalar("loss", 2, 1), simpleScalar("loss", nan, 2)});
  const RunJson metrics = json("runs --metric loss --metric loss:min").at(0).at("metrics");
  EXPECT_EQ(metrics.at("loss").at("value"), "NaN");
  EXPECT_EQ(metrics.at("loss:min").at("value"), 2.0);
}

TEST_F(RunsCommand, TakesATagThatEndsLikeTheNameOfAMetric) {
  writeRun("runs/a", {}, {simpleScalar("loss:min", 7, 0)});
  EXPECT_EQ(json("runs --metric loss:min").at(0).at("metrics").at("loss:min").at("value"), 7.0);
}

TEST_F(RunsCommand, SaysWhichScalarsItCouldShowIfTheyAreMany) {
  writeRun("runs/a", {},
           {simpleScalar("a", 1, 0), simpleScalar("b", 1, 0), simpleScalar("c", 1, 0),
            simpleScalar("d", 1, 0), simpleScalar("e", 1, 0)});
  const Outcome outcome = runs("runs");
  EXPECT_EQ(outcome.error,
            "note: 5 scalar tags; --metric chooses which of them to show, such as --metric 'a' or "
            "--metric 'a:min'\n");
  EXPECT_THAT(outcome.out, Not(HasSubstr("  a  ")));
  EXPECT_THAT(json("runs").at(0).at("metrics"), SizeIs(5));
}

TEST_F(RunsCommand, SortsTheBestFirst) {
  writeTrials();
  EXPECT_THAT(names("runs"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names("runs --sort loss"), ElementsAre("b", "a", "c"));
  EXPECT_THAT(names("runs --sort loss:min"), ElementsAre("c", "b", "a"));
  EXPECT_THAT(names("runs --sort loss:max"), ElementsAre("c", "a", "b"));
  EXPECT_THAT(names("runs --sort lr"), ElementsAre("c", "b", "a"));
  EXPECT_THAT(names("runs --sort lr --reverse --top 2"), ElementsAre("a", "b"));
}

TEST_F(RunsCommand, SortsRunsWithoutTheValueToTheEnd) {
  writeTrials();
  writeEvents("runs/0/events.out.tfevents.1", {simpleScalar("other", 1, 0)});
  EXPECT_THAT(names("runs --sort loss"), ElementsAre("b", "a", "c", "0"));
  EXPECT_THAT(names("runs --sort loss --reverse"), ElementsAre("c", "a", "b", "0"));
}

TEST_F(RunsCommand, ShowsTheColumnThatItSortsBy) {
  writeTrials();
  EXPECT_THAT(runs("runs --sort batch --metric loss").out, HasSubstr("  batch  "));
  EXPECT_THAT(runs("runs --sort loss:max --metric loss").out, HasSubstr("  loss:max  "));
}

TEST_F(RunsCommand, ShowsOnlyRunsForWhichAllConditionsHold) {
  writeTrials();
  EXPECT_THAT(names("runs --where 'lr>0.001'"), ElementsAre("a", "b"));
  EXPECT_THAT(names("runs --where 'lr >= 0.001' --where 'opt = adam'"), ElementsAre("b", "c"));
  EXPECT_THAT(names("runs --where 'opt!=adam'"), ElementsAre("a"));
  EXPECT_THAT(names("runs --where 'loss:min<1'"), ElementsAre("c"));
  EXPECT_THAT(names("runs --where 'loss<=1'"), ElementsAre("b"));
  EXPECT_THAT(names("runs --where 'step>7'"), IsEmpty());
}

TEST_F(RunsCommand, RefusesNamesThatNoRunHas) {
  writeTrials();
  EXPECT_THAT(runs("runs --metric los"),
              Exits(2, HasSubstr("--metric: got \"los\", which no run has; expected \"loss\"")));
  EXPECT_THAT(
      runs("runs --sort zzz"),
      Exits(2, HasSubstr("--sort: got \"zzz\", which no run has; expected one of run, state, "
                         "step, trained, age, sessions, batch, loss, lr, opt")));
  EXPECT_THAT(runs("runs --where 'lrr>1'"), Exits(2, HasSubstr("--where: got \"lrr\"")));
  EXPECT_THAT(runs("runs --where loss"),
              Exits(2, HasSubstr("--where: got \"loss\"; expected a comparison")));
}

TEST_F(RunsCommand, RefusesANegativeNumberOfRuns) {
  writeTrials();
  EXPECT_THAT(runs("runs --top -1"),
              Exits(2, HasSubstr("--top: got -1; expected a number of at least 0")));
  EXPECT_THAT(names("runs --top 0"), SizeIs(3));
}

TEST_F(RunsCommand, RefusesOptionsThatDoNotGoTogether) {
  writeTrials();
  EXPECT_THAT(runs("runs --json --format csv"), Exits(2, HasSubstr("--json: not with")));
  EXPECT_THAT(runs("runs --watch --format csv"), Exits(2, HasSubstr("--watch: only for")));
  EXPECT_THAT(runs("runs --output x"), Exits(2, HasSubstr("--output: only for")));
}

TEST_F(RunsCommand, CountsTheTimeOfTrainingWithoutTheGapsBetweenSessions) {
  const auto at = [](double wallTime, event::Event event) {
    event.wallTime = wallTime;
    return event;
  };
  writeEvents("runs/a/events.out.tfevents.1",
              {at(1000, version()), at(1060, simpleScalar("loss", 1, 1))});
  writeEvents("runs/a/events.out.tfevents.2",
              {at(9000, version()), at(9001, start(1)), at(9030, simpleScalar("loss", 1, 1))});
  const RunJson run = json("runs").at(0);
  EXPECT_EQ(run.at("trained_seconds"), 90);
  EXPECT_EQ(run.at("sessions"), 2);
  EXPECT_EQ(run.at("last_wall_time"), 9030);
}

TEST_F(RunsCommand, ShowsNoTimeOfTrainingIfTimesAreNotSeconds) {
  const auto at = [](double wallTime, float value) {
    event::Event event = simpleScalar("loss", value, 1);
    event.wallTime = wallTime;
    return event;
  };
  const double infinite = std::numeric_limits<double>::infinity();
  writeEvents("runs/infinite/events.out.tfevents.1", {at(1.7e9, 1), at(infinite, 1)});
  writeEvents("runs/mixed/events.out.tfevents.1", {at(1.7e9, 1), at(1.7e12, 1)});
  for (const RunJson& run : json("runs")) {
    EXPECT_TRUE(run.at("trained_seconds").is_null()) << run;
  }
  EXPECT_THAT(runs("runs").out, AllOf(Not(HasSubstr(" ms")), Not(HasSubstr(" s "))));
  EXPECT_THAT(runs("runs --format csv").out, AllOf(HasSubstr("runs/infinite,,1,,1,inf"),
                                                   HasSubstr("runs/mixed,,1,,1,1700000000000.0")));
  EXPECT_THAT(names("runs --where 'trained>0'"), IsEmpty());
}

TEST_F(RunsCommand, ShowsTheLargestStepOfARunWhoseStepsGoBack) {
  writeRun("runs/a", {},
           {simpleScalar("loss", 1, 10), simpleScalar("loss", 1, 20), simpleScalar("loss", 1, 5)});
  const auto pairAt = [](std::int64_t step) {
    return eventAt(step,
                   event::Summary{{tensorValue<float>("pair", event::TensorType::kFloat, {1, 2})}});
  };
  writeRun("runs/b", {}, {pairAt(10), pairAt(20), pairAt(5)});
  for (const RunJson& run : json("runs")) {
    EXPECT_EQ(run.at("step"), 20) << run;
  }
}

TEST_F(RunsCommand, ShowsAHyperparameterThatIsNoNumberInOneRun) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  writeRun("runs/a", {{"drop", nan}, {"same", nan}}, {});
  writeRun("runs/b", {{"drop", 0.1}, {"same", nan}}, {});
  writeRun("runs/c", {{"drop", 0.2}, {"same", nan}}, {});
  EXPECT_THAT(runs("runs").out, AllOf(HasSubstr("drop"), Not(HasSubstr("same"))));
}

TEST_F(RunsCommand, GivesAColumnANameOfItsOwnIfItsNameIsTaken) {
  writeRun(
      "runs/a", {{"lr", 0.1}},
      {simpleScalar("step", 77, 3), simpleScalar("run", 8, 3), simpleScalar("hparams/lr", 9, 3)});
  const Outcome csv = runs("runs --format csv");
  EXPECT_EQ(csv.out,
            "run,state,step,trained_seconds,sessions,last_wall_time,hparams/lr,hparams/lr (2),"
            "run (2),step (2)\n"
            "runs/a,,3,3.0,1,1003.0,0.1,9.0,8.0,77.0\n");
  EXPECT_EQ(csv.error,
            "note: the name \"hparams/lr\" is taken: the metric \"hparams/lr\" is shown as "
            "\"hparams/lr (2)\"\n"
            "note: the name \"run\" is taken: the metric \"run\" is shown as \"run (2)\"\n"
            "note: the name \"step\" is taken: the metric \"step\" is shown as \"step (2)\"\n");
  EXPECT_THAT(runs("runs").out,
              AllOf(HasSubstr("  step (2)  "), HasSubstr("  step  "), HasSubstr("  run (2)  ")));
  EXPECT_EQ(runs("runs --json").error, "");
}

TEST_F(RunsCommand, ShowsAMetricThatIsNamedTwiceOnce) {
  writeTrials();
  const std::string twice = "runs/a --metric loss --metric loss:last";
  EXPECT_THAT(runs(twice + " --format csv").out, HasSubstr(",loss\n"));
  const std::string text = runs(twice + " --json").out;
  EXPECT_EQ(text.find("\"loss\""), text.rfind("\"loss\"")) << text;
}

TEST_F(RunsCommand, SortsNumbersThatAreTextsAsNumbers) {
  writeRun("runs/a", {{"decay", "0.1"}}, {});
  writeRun("runs/b", {{"decay", "1e-05"}}, {});
  writeRun("runs/c", {{"decay", "0.002"}}, {});
  EXPECT_THAT(names("runs --sort decay"), ElementsAre("b", "c", "a"));
}

TEST_F(RunsCommand, WritesCsvWithAllHyperparameters) {
  writeTrials();
  const Outcome outcome = runs("runs --format csv --where lr=0.1");
  EXPECT_EQ(outcome.out,
            "run,state,step,trained_seconds,sessions,last_wall_time,hparams/batch,hparams/lr,"
            "hparams/opt,loss\n"
            "runs/a,,1,1.0,1,1001.0,32.0,0.1,sgd,2.0\n");
}

TEST_F(RunsCommand, ReportsDamageAndShowsTheRest) {
  writeBytes("runs/a/events.out.tfevents.1", damagedFile());
  const Outcome outcome = runs("runs");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.error, HasSubstr("problem: data checksum mismatch"));
  EXPECT_THAT(outcome.out, HasSubstr("runs/a"));
}

TEST_F(RunsCommand, WatchShowsRunsThatAppear) {
  writeTrials();
  const Outcome outcome = run("sh -c \"'" STEPTAPE_TOOL
                              "' runs runs --json --watch --interval 0.05 |"
                              " { read -r first; mkdir runs/d; cp runs/a/* runs/d;"
                              " grep -m1 -o 'runs/d'; }\"");
  EXPECT_THAT(outcome, Prints("runs/d\n"));
}

class RunStateTest : public RunsCommand {
 protected:
  /// Runs `work` in a process of its own, which ends without destroying anything.
  template <typename Work>
  static void inChild(const Work& work) {
    const pid_t child = fork();
    if (child == 0) {
      work();
      std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
  }
  std::string stateOf(const std::string& run) const {
    const RunJson state = json(run).at(0).at("state");
    return state.is_null() ? "-" : state.get<std::string>();
  }

  test::OwnBlackBoxes boxes_;
};

TEST_F(RunStateTest, IsRunningWhileAProcessWritesAndHangingWhileItIsStopped) {
  const RankProcess process(0, 1, [&](const std::function<void()>& ready) {
    SummaryWriter writer(path("runs/a"));
    writer.addScalar("loss", 1, 0);
    writer.addScalars("losses", {{"train", 1.0}}, 0);
    static_cast<void>(writer.flush());
    ready();
    pause();
  });
  EXPECT_EQ(stateOf("runs/a"), "running");
  EXPECT_EQ(stateOf("runs/a/losses/train"), "running");
  process.stop();
  EXPECT_EQ(stateOf("runs/a"), "hanging");
}

TEST_F(RunStateTest, IsEndedAfterItsProcessHasClosedTheRun) {
  inChild([&] {
    SummaryWriter writer(path("runs/a"));
    writer.addScalar("loss", 1, 0);
    static_cast<void>(writer.close());
  });
  EXPECT_EQ(stateOf("runs/a"), "ended");
}

TEST_F(RunStateTest, IsKilledIfItsProcessWas) {
  const auto killed = [&] {
    SummaryWriter writer(path("runs/a"));
    writer.addScalar("loss", 1, 0);
    static_cast<void>(writer.flush());
    raise(SIGKILL);
  };
  inChild(killed);
  EXPECT_EQ(stateOf("runs/a"), "killed");
  EXPECT_EQ(steptape("recover runs").exitCode, 0);
  EXPECT_EQ(stateOf("runs/a"), "killed");
}

TEST_F(RunStateTest, IsThatOfTheLastSession) {
  inChild([&] {
    SummaryWriter writer(path("runs/a"));
    writer.addScalar("loss", 1, 0);
    static_cast<void>(writer.flush());
    raise(SIGKILL);
  });
  inChild([&] {
    SummaryWriter writer(path("runs/a"));
    writer.addScalar("loss", 1, 1);
    static_cast<void>(writer.close());
  });
  EXPECT_EQ(stateOf("runs/a"), "ended");
}

TEST_F(RunStateTest, IsFailedIfItsProgramSaysSo) {
  inChild([&] {
    try {
      SummaryWriter writer(path("runs/a"));
      writer.addHparams({{"lr", 0.1}}, {});
      writer.addScalar("loss", 1, 0);
      throw 1;
    } catch (int) {
    }
  });
  EXPECT_EQ(stateOf("runs/a"), "failed");
}

TEST_F(RunStateTest, IsUnknownForOtherLibraries) {
  writeTrials();
  EXPECT_EQ(stateOf("runs/a"), "-");
}

}  // namespace
}  // namespace steptape
