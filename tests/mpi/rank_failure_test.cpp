// SPDX-License-Identifier: Apache-2.0
// What becomes of a job when one of its ranks fails: it ends soon, says why, and what was flushed
// can be read.

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <sys/wait.h>
#include <vector>

#include "steptape/reader/scalar_series.h"
#include "steptape/testing/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;

struct JobEnd {
  int exitCode;
  std::string output;
};

/// Runs the failing job on two ranks. coreutils' timeout bounds it; its exit code is then 124.
JobEnd runJob(const std::string& kind, const std::string& logDir) {
  const std::string command = "timeout 30 " STEPTAPE_MPIEXEC " -n 2 '" +
                              std::string(STEPTAPE_RANK_FAILURE_PROGRAM) + "' '" + kind + "' '" +
                              logDir + "' 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return {-1, "popen failed"};
  }
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t bytes = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), bytes);
  }
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

class RankFailure : public ::testing::Test {
 protected:
  JobEnd run(const std::string& kind) { return runJob(kind, logDir()); }

  void expectEndsWithAnError(const JobEnd& job) {
    EXPECT_NE(job.exitCode, 0) << job.output;
    EXPECT_NE(job.exitCode, 124) << "did not end by itself: " << job.output;
  }

  void expectFlushedPointsAreThere() {
    const std::vector<ScalarPoint> loss = readScalars(logDir()).at("loss");
    ASSERT_EQ(loss.size(), 3U);
    for (std::size_t step = 0; step < loss.size(); ++step) {
      EXPECT_EQ(loss[step].step, static_cast<std::int64_t>(step));
      EXPECT_EQ(loss[step].value, 0.5F);
    }
  }

  std::string logDir() const { return directory_.string() + "/run"; }

  testing::TempDir directory_;
};

TEST_F(RankFailure, OfAKilledRankEndsTheJob) {
  const JobEnd job = run("killed");
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output, HasSubstr("signal 9"));
  expectFlushedPointsAreThere();
}

TEST_F(RankFailure, OfARankThatExitsEndsTheJob) {
  const JobEnd job = run("exits");
  expectEndsWithAnError(job);
  expectFlushedPointsAreThere();
}

TEST_F(RankFailure, OfARankThatNeverComesEndsTheJobWithTheNameOfTheOperation) {
  const JobEnd job = run("hangs");
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output,
              HasSubstr("rank 0 ends the job: allreduce of 304 bytes did not end within 0.5 s"));
  expectFlushedPointsAreThere();
}

TEST_F(RankFailure, AfterATimeoutThatWasCaughtDoesNotWaitInFinalize) {
  const JobEnd job = run("caught hang");
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output, HasSubstr("caught: allreduce of 304 bytes did not end within 0.5 s on "
                                    "rank 0 ("));
  EXPECT_THAT(job.output, HasSubstr(") of 2; another rank has ended, hangs or is in another "
                                    "operation"));
  EXPECT_THAT(job.output, HasSubstr("rank 0 ends the job: allreduce of 304 bytes"));
  expectFlushedPointsAreThere();
}

TEST_F(RankFailure, ByAnExceptionEndsTheJobBeforeTheOthersRunOutOfTime) {
  const JobEnd job = run("throws");
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output, HasSubstr("rank 1 ends the job: an exception leaves the scope"));
  expectFlushedPointsAreThere();
}

TEST_F(RankFailure, IsToldInTheRanksOwnWordsByAbort) {
  const JobEnd job = run("aborts");
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output, HasSubstr("steptape: rank 1 ends the job: this rank gives up"));
  expectFlushedPointsAreThere();
}

TEST_F(RankFailure, IsNotReportedForAJobThatEndsWell) {
  const JobEnd job = run("none");
  EXPECT_EQ(job.exitCode, 0) << job.output;
  EXPECT_EQ(readScalars(logDir()).at("loss").size(), 4U);
}

}  // namespace
}  // namespace steptape
