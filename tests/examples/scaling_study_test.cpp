// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "steptape/testing/temp_dir.h"

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

TEST(ScalingStudy, WritesJson) {
  Measurement only = job(1, 50);
  only.seconds = 2.5;
  EXPECT_EQ(jsonLine(compare({only})),
            R"([{"ranks":1,"rate":50,"speed_up":1,"efficiency":1,"wait_share":"NaN",)"
            R"("input_share":"NaN","compute_share":"NaN","seconds":2.5}])");
}

TEST(ScalingStudy, ReplacesPlaceholdersEverywhere) {
  EXPECT_THAT(fillIn({"srun", "-n{ranks}", "--out={log_dir}/{work}_{work}"}, 4, 8, "runs/x"),
              ElementsAre("srun", "-n4", "--out=runs/x/8_8"));
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
    EXPECT_EQ(error.what(), "job with {ranks} = 1: got no scalar 'rate' in " + run +
                                "; expected the work per second; see --rate-tag");
  }
  EXPECT_THROW(runJob(silent, 1, 1, run), std::runtime_error) << "the folder exists";
}

}  // namespace
