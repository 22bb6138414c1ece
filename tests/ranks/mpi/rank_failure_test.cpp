// SPDX-License-Identifier: Apache-2.0
// A job of which one rank fails: it ends soon, reports why, and flushed data can be read.

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "steptape/log/run_reader.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/ranks/testing.h"

#include "metrics/read_back.h"
#include "support/collective_names.h"
#include "support/job.h"
#include "support/other_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::JobEnd;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class RankFailure : public ::testing::Test {
 protected:
  /// Runs the failing job on two ranks; rank 1 fails.
  JobEnd run(const std::string& kind, const std::string& place = "reduce") {
    return test::runJob(STEPTAPE_MPIEXEC " -n 2 '" + std::string(STEPTAPE_RANK_FAILURE_PROGRAM) +
                        "' '" + kind + "' '" + logDir() + "' '" + place + "'");
  }

  void expectEndsByItself(const JobEnd& job) {
    EXPECT_NE(job.exitCode, 124) << "did not end by itself: " << job.output;
  }
  void expectEndsWithAnError(const JobEnd& job) {
    EXPECT_NE(job.exitCode, 0) << job.output;
    expectEndsByItself(job);
  }

  /// Expects the job's means and each rank's own values, and that every file is intact.
  void expectFlushedPointsAreThere() {
    expectPoints({{".", 0.5F}, {rankRunName(0), 0}, {rankRunName(1), 1}}, 3);
  }

  void expectPoints(std::map<std::string, float> valueByRun, std::size_t count) {
    for (const RunFiles& run : listRuns(logDir())) {
      SCOPED_TRACE(run.name);
      const RunReader reader = test::readRun(run);
      EXPECT_EQ(reader.damage().size(), 0U);
      const ScalarColumns& loss = reader.tags().at("loss").scalars;
      ASSERT_EQ(loss.size(), count);
      for (std::size_t step = 0; step < loss.size(); ++step) {
        EXPECT_EQ(loss.steps[step], static_cast<std::int64_t>(step));
        EXPECT_EQ(loss.values[step], valueByRun.at(run.name));
      }
      valueByRun.erase(run.name);
    }
    EXPECT_EQ(valueByRun.size(), 0U) << "runs are missing";
  }

  std::string logDir() const { return directory_.string() + "/run"; }

  testing::TempDir directory_;
};

/// The operation in which the other rank waits.
class RankFailureIn : public RankFailure, public ::testing::WithParamInterface<const char*> {
 protected:
  void expectThatAKilledRankEndsTheJob(const std::string& kind) {
    const JobEnd job = run(kind, GetParam());
    expectEndsWithAnError(job);
    // Told by the launcher, or by rank 0, which may end the job before the launcher knows.
    EXPECT_THAT(job.output,
                ContainsRegex(STEPTAPE_LAUNCHER_NAMES_KILLED "|rank 1 \\([^)]*\\) has ended"));
    expectFlushedPointsAreThere();
  }
};
INSTANTIATE_TEST_SUITE_P(Places, RankFailureIn,
                         ::testing::Values("reduce", "asynchronous", "barrier", "profile"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(RankFailureIn, OfAKilledRankEndsTheJob) {
  expectThatAKilledRankEndsTheJob("killed");
}

TEST_P(RankFailureIn, OfARankThatExitsEndsTheJob) {
  const JobEnd job = run("exits", GetParam());
  expectEndsByItself(job);
  if (STEPTAPE_LAUNCHER_REPORTS_LEAVER) {
    expectEndsWithAnError(job);
    EXPECT_THAT(job.output, ContainsRegex("rank 1|" STEPTAPE_LAUNCHER_NAMES_LEAVER));
  }
  expectFlushedPointsAreThere();
}

TEST_P(RankFailureIn, ByAnExceptionEndsTheJobBeforeTheOthersRunOutOfTime) {
  const JobEnd job = run("throws", GetParam());
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output, HasSubstr("rank 1 ends the job: an exception leaves the scope"));
  expectFlushedPointsAreThere();
}

TEST_P(RankFailureIn, OfARankThatHangsEndsTheJob) {
  const JobEnd job = run("hangs", GetParam());
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output, HasSubstr("rank 0 ends the job: "));
  expectFlushedPointsAreThere();
}

class RankFailureWithin : public RankFailureIn {};
INSTANTIATE_TEST_SUITE_P(Collectives, RankFailureWithin, ::testing::ValuesIn(test::kCollectives),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(RankFailureWithin, EndsTheJob) {
  expectThatAKilledRankEndsTheJob("killed within");
}

TEST_F(RankFailure, ByHangingIsReportedWithRankAndOperation) {
  const JobEnd job = run("caught hang", "asynchronous");
  expectEndsWithAnError(job);
  const std::string told =
      "allreduce\\(sum\\) 'gradients' of 100000 float32 did not end within 0.5 s on rank 0 "
      "\\([^)]*\\) of 2: rank 1 \\([^)]*\\) did not arrive";
  EXPECT_THAT(job.output, ContainsRegex("caught: " + told));
  // MPI_Finalize() would wait for the other rank.
  EXPECT_THAT(job.output, ContainsRegex("rank 0 ends the job: " + told));
  expectFlushedPointsAreThere();
}

TEST_F(RankFailure, InAnExchangeOfGpuMemoryIsReportedWithRankAndBucket) {
  const JobEnd job = run("caught hang", "device memory");
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output,
              ContainsRegex("caught: gradients of bucket 0 did not end within 0.5 s on rank 0 "
                            "\\([^)]*\\) of 2: no message of rank 1 \\("));
  expectFlushedPointsAreThere();
}

TEST_F(RankFailure, InNodeMemoryIsReportedWithTheRank) {
  const JobEnd job = run("caught hang", "barrier");
  expectEndsWithAnError(job);
  EXPECT_THAT(
      job.output,
      ContainsRegex("caught: gradients: rank 1 \\([^)]*\\) did not arrive within 0.5 s to rank 0"));
  expectFlushedPointsAreThere();
}

TEST_F(RankFailure, InNodeMemoryIsNoticedAlthoughAForkedChildOfTheRankLives) {
  // A shell takes the rank's place, so that mpiexec does not end the job before the other rank
  // notices.
  const JobEnd job = test::runJob(STEPTAPE_MPIEXEC " -n 2 sh -c '\"$0\" \"$@\" || sleep 120' '" +
                                  std::string(STEPTAPE_RANK_FAILURE_PROGRAM) +
                                  "' 'killed with a child' '" + logDir() + "' 'patient barrier'");
  expectEndsWithAnError(job);
  EXPECT_THAT(
      job.output,
      ContainsRegex("rank 0 ends the job: gradients: rank 1 \\([^)]*\\) has ended or let go "
                    "of the memory that it shared"));
  expectFlushedPointsAreThere();
}

TEST_F(RankFailure, IsReportedWithTheRanksMessageByAbort) {
  const JobEnd job = run("aborts");
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output, HasSubstr("steptape: rank 1 ends the job: this rank gives up"));
  expectFlushedPointsAreThere();
}

TEST_F(RankFailure, ByAnotherBuildIsReportedByEveryRank) {
  const std::string program = STEPTAPE_RANK_FAILURE_PROGRAM;
  const std::string other = test::programOfAnotherBuild(program, directory_.string());
  const std::string arguments = " 'caught hang' '" + logDir() + "' reduce";
  // One script that chooses: not every mpiexec starts several programs.
  const std::string choice = directory_.string() + "/choose_program";
  std::ofstream(choice) << "if [ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 1 ]; then exec " << other
                        << arguments << "; fi\nexec " << program << arguments << '\n';
  const JobEnd job = test::runJob(STEPTAPE_MPIEXEC " -n 2 sh " + choice);
  EXPECT_THAT(job.output, ContainsRegex(std::string("caught: ") + test::kOtherBuildOfRank1 +
                                        "(.|\n)*caught: " + test::kOtherBuildOfRank1));
}

TEST_F(RankFailure, IsNotReportedForAJobThatEndsWell) {
  const JobEnd job = run("none");
  EXPECT_EQ(job.exitCode, 0) << job.output;
  expectPoints({{".", 0.5F}, {rankRunName(0), 0}, {rankRunName(1), 1}}, 4);
}

}  // namespace
}  // namespace steptape
