// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "job.h"
#include "process.h"
#include "report.h"
#include "support/content_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using steptape::test::contentOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

Measurement job(int ranks, double rate) {
  Measurement measured;
  measured.ranks = ranks;
  measured.rate = rate;
  return measured;
}

TEST(ScalingStudy, ComparesWithTheFewestRanks) {
  const std::vector<Scaling> study = compare({job(1, 50), job(2, 90), job(4, 120)});
  EXPECT_DOUBLE_EQ(study[0].speedUp, 1);
  EXPECT_DOUBLE_EQ(study[0].efficiency, 1);
  EXPECT_DOUBLE_EQ(study[1].speedUp, 1.8);
  EXPECT_DOUBLE_EQ(study[1].efficiency, 0.9);
  EXPECT_DOUBLE_EQ(study[2].speedUp, 2.4);
  EXPECT_DOUBLE_EQ(study[2].efficiency, 0.6);
}

TEST(ScalingStudy, TreatsTheFewestRanksAsIdealWithoutAJobOnOneRank) {
  const std::vector<Scaling> study = compare({job(4, 100), job(8, 150)});
  EXPECT_DOUBLE_EQ(study[0].speedUp, 4);
  EXPECT_DOUBLE_EQ(study[1].speedUp, 6);
  EXPECT_DOUBLE_EQ(study[1].efficiency, 0.75);
}

TEST(ScalingStudy, ReportsTheMedianOfTheRounds) {
  Measurement slow = job(2, 10);
  slow.seconds = 9;
  slow.waitShare = 0.5;
  Measurement usual = job(2, 30);
  usual.seconds = 3;
  usual.waitShare = 0.1;
  Measurement fast = job(2, 32);
  fast.seconds = 2;
  fast.waitShare = 0.2;
  const Measurement median = medianOf({slow, usual, fast});
  EXPECT_EQ(median.ranks, 2);
  EXPECT_EQ(median.rate, 30);
  EXPECT_EQ(median.seconds, 3);
  EXPECT_EQ(median.waitShare, 0.2);
  EXPECT_EQ(medianOf({slow, fast}).rate, 21);
}

TEST(ScalingStudy, SharesOfTheMedianAddUpToOne) {
  const auto shares = [](double wait, double input) {
    Measurement measured = job(2, 10);
    measured.waitShare = wait;
    measured.inputShare = input;
    measured.computeShare = 1 - wait - input;
    return measured;
  };
  // The separate medians of the shares would be 0.2, 0.3 and 0.4.
  const Measurement median = medianOf({shares(0.1, 0.3), shares(0.2, 0.4), shares(0.7, 0)});
  EXPECT_EQ(median.waitShare, 0.2);
  EXPECT_EQ(median.inputShare, 0.3);
  EXPECT_DOUBLE_EQ(median.computeShare, 0.5);
}

TEST(ScalingStudy, AlignsTheTableAndShowsADashForUnknownValues) {
  Measurement first = job(1, 50);
  first.seconds = 12.34;
  Measurement second = job(16, 700);
  second.waitShare = 0.125;
  second.inputShare = 0;
  second.computeShare = 0.875;
  EXPECT_EQ(consoleTable(compare({first, second}), "images"),
            "ranks   images   speed-up   efficiency     wait   input   compute   seconds\n"
            "    1     50.0       1.00      100.0 %        -       -         -      12.3\n"
            "   16    700.0      14.00       87.5 %   12.5 %   0.0 %    87.5 %       0.0\n");
}

Measurement epochs(int ranks, double seconds) {
  Measurement measured = job(ranks, 2 / seconds);
  measured.epochs = 2;
  measured.secondsOfEpochs = seconds;
  return measured;
}

TEST(ScalingStudy, ShowsTheTimeOfEpochs) {
  const std::vector<Scaling> study = compare({epochs(1, 12.5), epochs(4, 6.25)});
  EXPECT_EQ(
      consoleTable(study, "images"),
      "ranks   epochs   seconds   speed-up   efficiency   wait   input   compute   job seconds\n"
      "    1        2     12.50       1.00      100.0 %      -       -         -           0.0\n"
      "    4        2      6.25       2.00       50.0 %      -       -         -           0.0\n");
  EXPECT_THAT(jsonLine(study), HasSubstr(R"("seconds":0,"epochs":2,"seconds_of_epochs":6.25)"));
}

TEST(ScalingStudy, WritesJson) {
  Measurement only = job(1, 50);
  only.seconds = 2.5;
  EXPECT_EQ(jsonLine(compare({only})),
            R"([{"ranks":1,"rate":50,"speed_up":1,"efficiency":1,"wait_share":"NaN",)"
            R"("input_share":"NaN","compute_share":"NaN","seconds":2.5}])");
}

TEST(ScalingStudy, ReplacesPlaceholdersEverywhere) {
  EXPECT_THAT(fillIn({"srun", "-n{ranks}", "--out={log_dir}/{work}_{work}", "{epochs}"},
                     {/*ranks=*/4, /*work=*/8, /*epochs=*/2, "runs/x"}),
              ElementsAre("srun", "-n4", "--out=runs/x/8_8", "2"));
}

TEST(Process, KeepsOutputErrorsAndExitCode) {
  const steptape::testing::TempDir folder;
  const std::string output = folder.string() + "/output.txt";
  const ProcessEnd end = runProcess({"sh", "-c", "echo out; echo err >&2; exit 3"}, output, 60s);
  EXPECT_EQ(end.exitCode, 3);
  EXPECT_FALSE(end.timedOut);
  EXPECT_EQ(contentOf(output), "out\nerr\n");
}

TEST(Process, ReportsASignalAs128PlusItsNumber) {
  const steptape::testing::TempDir folder;
  EXPECT_EQ(runProcess({"sh", "-c", "kill -9 $$"}, folder.string() + "/output.txt", 60s).exitCode,
            128 + 9);
}

TEST(Process, TerminatesAProgramAtTheTimeLimit) {
  const steptape::testing::TempDir folder;
  const ProcessEnd end = runProcess({"sleep", "600"}, folder.string() + "/output.txt", 0s);
  EXPECT_TRUE(end.timedOut);
  EXPECT_EQ(end.exitCode, 128 + 15);
}

TEST(Process, NamesAProgramThatDoesNotExist) {
  const steptape::testing::TempDir folder;
  try {
    runProcess({"no_such_program"}, folder.string() + "/output.txt", 60s);
    FAIL() << "no_such_program was started";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), StartsWith("cannot start no_such_program: "));
  }
}

TEST(ScalingStudy, ReportsExitCodeAndOutputOfAFailedJob) {
  const steptape::testing::TempDir folder;
  JobTemplate failing;
  failing.launcher = {"env"};
  failing.program = {"sh", "-c", "echo no more memory; exit 7"};
  failing.rateTag = "rate";
  failing.timeLimit = 60s;
  try {
    runJob(failing, 2, 1, folder.string() + "/run");
    FAIL() << "the job did not fail";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                StartsWith("job with {ranks} = 2: got exit code 7; expected exit code 0; "));
    EXPECT_THAT(error.what(), HasSubstr("no more memory"));
  }
}

TEST(ScalingStudy, NamesTheScalarThatAJobDidNotLog) {
  const steptape::testing::TempDir folder;
  JobTemplate silent;
  silent.launcher = {"env"};
  silent.program = {"true"};
  silent.rateTag = "rate";
  silent.timeLimit = 60s;
  const std::string run = folder.string() + "/run";
  try {
    runJob(silent, 1, 1, run);
    FAIL() << "a job without a rate was accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), "job with {ranks} = 1, log directory " + run +
                                ": got no scalar 'rate'; expected the work per second; see "
                                "--rate-tag");
  }
  EXPECT_THROW(runJob(silent, 1, 1, run), std::runtime_error) << "the folder exists";
}

/// A program that logs two epochs of 3 s and 4 s, and the job that runs it.
JobTemplate jobOfTwoEpochs(const std::string& prepared) {
  steptape::SummaryWriter writer(prepared);
  writer.addScalar("epoch_seconds", 3, 10);
  writer.addScalar("epoch_seconds", 4, 20);
  writer.close().throwIfError();
  JobTemplate training;
  training.launcher = {"env"};
  training.program = {"cp", "-r", prepared + "/.", "{log_dir}"};
  training.timeLimit = 60s;
  return training;
}

TEST(ScalingStudy, AddsUpTheEpochs) {
  const steptape::testing::TempDir folder;
  JobTemplate training = jobOfTwoEpochs(folder.string() + "/prepared");
  training.epochs = 2;
  const Measurement measured = runJob(training, 2, 1, folder.string() + "/run");
  EXPECT_EQ(measured.epochs, 2);
  EXPECT_EQ(measured.secondsOfEpochs, 7);
  EXPECT_DOUBLE_EQ(measured.rate, 2.0 / 7);
}

TEST(ScalingStudy, RefusesAJobThatTrainsOtherEpochs) {
  const steptape::testing::TempDir folder;
  JobTemplate training = jobOfTwoEpochs(folder.string() + "/prepared");
  training.epochs = 3;
  const std::string run = folder.string() + "/run";
  try {
    runJob(training, 2, 1, run);
    FAIL() << "two epochs were accepted in place of three";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), "job with {ranks} = 2, log directory " + run +
                                ": got 2 points of the scalar 'epoch_seconds'; expected 3; Trainer "
                                "logs one for each epoch with detailScalars");
  }
}

}  // namespace
