// SPDX-License-Identifier: Apache-2.0
// A job without MPI of which one rank fails: every other rank ends soon, and says why; flushed data
// can be read.

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "steptape/log/run_reader.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/ranks/testing.h"

#include "metrics/read_back.h"
#include "support/collective_names.h"
#include "support/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::JobEnd;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const char* const kOnOneNode = "";
const char* const kOnTwoNodes = "--ranks-per-node 1 ";

class C10dFailure : public ::testing::Test {
 protected:
  /// Runs the failing job on two ranks; rank 1 fails.
  JobEnd run(const std::string& nodes, const std::string& kind, const std::string& place) {
    return test::runJob(STEPTAPE_START_RANKS " " + nodes +
                        "2 '" STEPTAPE_RANK_FAILURE_PROGRAM "' '" + kind + "' '" + logDir() +
                        "' '" + place + "'");
  }

  /// Runs a job of two nodes in which no rank fails.
  JobEnd runOver(const std::string& networkInterfaces) {
    return test::runJob("env GLOO_SOCKET_IFNAME=" + networkInterfaces +
                        " " STEPTAPE_START_RANKS " " + kOnTwoNodes +
                        "2 '" STEPTAPE_RANK_FAILURE_PROGRAM "' none '" + logDir() + "' allreduce");
  }

  static bool canMakeNodes() {
    static const bool kCan =
        test::runJob(STEPTAPE_START_RANKS " --ranks-per-node 1 1 /bin/true").exitCode != 77;
    return kCan;
  }
  void SetUp() override {
    if (!canMakeNodes()) {
      GTEST_SKIP() << "this process may not mount a /dev/shm for each node";
    }
  }

  static void expectEndsWithAnError(const JobEnd& job) {
    EXPECT_NE(job.exitCode, 0) << job.output;
    EXPECT_NE(job.exitCode, 124) << "did not end by itself: " << job.output;
  }

  static void expectEndsWell(const JobEnd& job) {
    EXPECT_EQ(job.exitCode, 0) << job.output;
    // The gloo of some releases of LibTorch tells of its connections.
    EXPECT_THAT(job.output, MatchesRegex("(\\[Gloo\\] Rank [^\n]*\n)*"));
  }

  /// Expects the job's means and each rank's own values, and that every file is intact.
  void expectFlushedPointsAreThere() {
    std::map<std::string, float> valueByRun{{".", 0.5F}, {rankRunName(0), 0}, {rankRunName(1), 1}};
    for (const RunFiles& run : listRuns(logDir())) {
      SCOPED_TRACE(run.name);
      const RunReader reader = test::readRun(run);
      EXPECT_EQ(reader.damage().size(), 0U);
      const ScalarColumns& loss = reader.tags().at("loss").scalars;
      ASSERT_GE(loss.size(), 3U);
      EXPECT_EQ(loss.values.front(), valueByRun.at(run.name));
      valueByRun.erase(run.name);
    }
    EXPECT_EQ(valueByRun.size(), 0U) << "runs are missing";
  }

  std::string logDir() const { return directory_.string() + "/run"; }

  testing::TempDir directory_;
};

std::string nameOfPlace(
    const ::testing::TestParamInfo<std::tuple<const char*, const char*>>& tested) {
  return std::get<1>(tested.param) +
         std::string(std::get<0>(tested.param) == kOnOneNode ? "_on_one_node" : "_on_two_nodes");
}

/// The nodes of the job, and the operation in which the other rank waits.
class C10dFailureIn : public C10dFailure,
                      public ::testing::WithParamInterface<std::tuple<const char*, const char*>> {
 protected:
  JobEnd runThere(const std::string& kind) {
    return run(std::get<0>(GetParam()), kind, std::get<1>(GetParam()));
  }

  void expectThatTheOtherEndsAndNamesIt(const std::string& kind) {
    const JobEnd job = runThere(kind);
    expectEndsWithAnError(job);
    EXPECT_THAT(job.output, HasSubstr("rank 1 ("));
    EXPECT_THAT(job.output, HasSubstr("steptape: rank 0 ends: "));
    expectFlushedPointsAreThere();
  }
};
INSTANTIATE_TEST_SUITE_P(Places, C10dFailureIn,
                         ::testing::Combine(::testing::Values(kOnOneNode, kOnTwoNodes),
                                            ::testing::Values("reduce", "asynchronous", "barrier",
                                                              "profile")),
                         nameOfPlace);

TEST_P(C10dFailureIn, OfAKilledRankEndsTheOther) {
  expectThatTheOtherEndsAndNamesIt("killed");
}

TEST_P(C10dFailureIn, OfARankThatExitsEndsTheOther) {
  const JobEnd job = runThere("exits");
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output, HasSubstr("steptape: rank 0 ends: "));
  expectFlushedPointsAreThere();
}

TEST_P(C10dFailureIn, ByAnExceptionEndsBothRanks) {
  const JobEnd job = runThere("throws");
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output, HasSubstr("steptape: rank 1 ends: an exception leaves the scope"));
  EXPECT_THAT(job.output, HasSubstr("steptape: rank 0 ends: "));
  expectFlushedPointsAreThere();
}

TEST_P(C10dFailureIn, OfARankThatHangsEndsTheOther) {
  expectThatTheOtherEndsAndNamesIt("hangs briefly");
}

class C10dFailureWithin : public C10dFailureIn {};
INSTANTIATE_TEST_SUITE_P(Collectives, C10dFailureWithin,
                         ::testing::Combine(::testing::Values(kOnOneNode, kOnTwoNodes),
                                            ::testing::ValuesIn(test::kCollectives)),
                         nameOfPlace);

TEST_P(C10dFailureWithin, EndsTheOtherRank) {
  expectThatTheOtherEndsAndNamesIt("killed within");
}

TEST_F(C10dFailure, OfAKilledRankIsNoticedBeforeTheTimeout) {
  for (const char* const nodes : {kOnOneNode, kOnTwoNodes}) {
    // The wait has ten minutes, the test one.
    const JobEnd job = run(nodes, "killed", "patient");
    expectEndsWithAnError(job);
    EXPECT_THAT(job.output, ContainsRegex("rank 0 ends: allreduce\\(sum\\) 'gradients' of 100000 "
                                          "float32 .*rank 1 \\("));
  }
}

TEST_F(C10dFailure, OfOneOfThreeNodesIsReportedWithItsRank) {
  const JobEnd job = test::runJob(
      STEPTAPE_START_RANKS " --ranks-per-node 1 3 '" STEPTAPE_RANK_FAILURE_PROGRAM "' killed '" +
      logDir() + "' patient");
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output,
              ContainsRegex("ends: [^\n]* rank 2 \\([^)]*\\) does not answer any more"));
  for (const char* const rank : {"rank 0 ends: ", "rank 1 ends: "}) {
    EXPECT_THAT(job.output, HasSubstr(rank));
  }
}

TEST_F(C10dFailure, IsReportedWithTheRanksMessageByAbort) {
  const JobEnd job = run(kOnOneNode, "aborts", "reduce");
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output, HasSubstr("steptape: rank 1 ends: this rank gives up"));
  EXPECT_THAT(job.output, HasSubstr("rank 1 ("));
}

TEST_F(C10dFailure, IsToldToTorchrunInItsFile) {
  const std::string file = directory_.string() + "/error.json";
  // One rank: the file is each rank's own, under torchrun.
  const JobEnd job =
      test::runJob("env TORCHELASTIC_ERROR_FILE='" + file +
                   "' " STEPTAPE_START_RANKS " 1 '" STEPTAPE_RANK_FAILURE_PROGRAM "' aborts '" +
                   logDir() + "' reduce; cat '" + file + "'");
  EXPECT_THAT(job.output,
              ContainsRegex("\\{\"message\": \"this rank gives up\", \"timestamp\": [0-9]+\\}"));
}

TEST_F(C10dFailure, OfANetworkInterfaceIsReportedWithItsName) {
  const JobEnd job = runOver("lo,no_such_interface");
  expectEndsWithAnError(job);
  EXPECT_THAT(job.output, HasSubstr("no_such_interface"));
}

TEST_F(C10dFailure, IsNotReportedForAJobOverSeveralNetworkInterfaces) {
  const JobEnd job = runOver("lo,lo");
  expectEndsWell(job);
}

TEST_F(C10dFailure, IsNotReportedForAJobThatEndsWell) {
  for (const char* const nodes : {kOnOneNode, kOnTwoNodes}) {
    const JobEnd job = run(nodes, "none", "reduce");
    expectEndsWell(job);
  }
}

}  // namespace
}  // namespace steptape
