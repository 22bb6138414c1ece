// SPDX-License-Identifier: Apache-2.0
// Training when one of its processes fails: the job ends soon and names the rank, files on disk are
// intact, and a job that resumes from the last checkpoint ends as if nothing had happened.

#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "faults/training_job.h"

namespace steptape::test {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Matcher;
using ::testing::Not;

constexpr const char* kAsync = "checkpoints=async";

/// One kind of failure; the arguments of `fault_program train`.
struct Case {
  const char* how;
  const char* fault;
  const char* at;
  int ranks = 2;
  int by = 1;
  const char* more = "";

  std::string arguments() const {
    return std::string("how=") + how + " fault=" + fault + " at=" + at +
           " by=" + std::to_string(by) + " timeout=5000 " + more;
  }

  bool checkpointsAreAsync() const {
    return std::string(how) == "fit" || std::string(more) == kAsync;
  }
};

std::ostream& operator<<(std::ostream& out, const Case& tested) {
  return out << tested.ranks << " ranks " << tested.arguments();
}

/// Returns the output at the end of the same job if no rank fails.
std::string undisturbed(const Case& tested) {
  static std::map<std::string, std::string> parametersByJob;
  const std::string arguments = std::string("how=") + tested.how + " " + tested.more;
  const auto [found, isNew] = parametersByJob.emplace(std::to_string(tested.ranks) + arguments, "");
  if (isNew) {
    found->second = TrainingJob().parametersAfter(tested.ranks, arguments);
  }
  return found->second;
}

class RankFault : public ::testing::TestWithParam<Case> {
 protected:
  void expectThatItEnds(const Matcher<const std::string&>& message) {
    const JobEnd end = job_.run(GetParam().ranks, GetParam().arguments());
    EXPECT_NE(end.exitCode, 0) << end.output;
    EXPECT_NE(end.exitCode, 124) << "did not end by itself: " << end.output;
    EXPECT_THAT(end.output, message);
    job_.expectWholeEventFiles();
  }

  void expectThatItGoesOn() {
    const std::string arguments =
        std::string("resume how=") + GetParam().how + " " + GetParam().more;
    const JobEnd end = job_.run(GetParam().ranks, arguments);
    EXPECT_EQ(end.exitCode, 0) << end.output;
    // One that is written while training continues may not be whole when the job dies.
    const char* const steps = GetParam().checkpointsAreAsync() ? "(4|8|10)" : "(8|10)";
    EXPECT_THAT(end.output,
                ContainsRegex(std::string("resumed from [^\n]*/checkpoint_") + steps + ".pt"));
    EXPECT_EQ(TrainingJob::parametersOf(end), undisturbed(GetParam()));
    job_.expectWholeEventFiles();
  }

  std::string rank() const { return "rank " + std::to_string(GetParam().by); }

  TrainingJob job_;
};

/// The launcher ends a job of which a process dies, and names it.
using DeadRank = RankFault;
TEST_P(DeadRank, EndsTheJobAndLeavesAUsableCheckpoint) {
  expectThatItEnds(AnyOf(HasSubstr(rank()), HasSubstr("," + std::to_string(GetParam().by) + "]")));
  expectThatItGoesOn();
}
INSTANTIATE_TEST_SUITE_P(Gradients, DeadRank,
                         ::testing::Values(Case{"gradients", "exits", "backward"},
                                           Case{"gradients", "killed", "exchange", 4, 3}));
INSTANTIATE_TEST_SUITE_P(AsyncCheckpoints, DeadRank,
                         ::testing::Values(Case{"gradients", "killed", "exchange", 2, 0, kAsync},
                                           Case{"gradients", "exits", "backward", 4, 3, kAsync}));
INSTANTIATE_TEST_SUITE_P(Fit, DeadRank,
                         ::testing::Values(Case{"fit", "killed", "callback", 2, 0},
                                           Case{"fit", "exits", "callback"},
                                           Case{"fit", "vanishes", "exchange", 4, 2}));

/// A launcher that ignores dead processes, as some are configured: Open MPI's settings.
using DeadRankThatNobodyReports = RankFault;
TEST_P(DeadRankThatNobodyReports, IsNoticedAtOnceByTheOthers) {
  const std::string settings =
      "OMPI_MCA_orte_enable_recovery=1 OMPI_MCA_orte_abort_on_non_zero_status=0 "
      "OMPI_MCA_orte_allowed_exit_without_sync=1 "
      // Their names in Open MPI 5.
      "PRTE_MCA_state_base_recoverable=1 PRTE_MCA_state_base_error_non_zero_exit=0 "
      "PRTE_MCA_prte_allowed_exit_without_sync=1 ";
  // Longer than a job may take: nothing else ends the wait either.
  const std::string timeout = " timeout=100000";
  const JobEnd end = job_.run(GetParam().ranks, GetParam().arguments() + timeout, settings);
  EXPECT_NE(end.exitCode, 124) << "did not end by itself: " << end.output;
  EXPECT_THAT(end.output, ContainsRegex("ends the job: [^\n]*" + rank() +
                                        " \\([^)]*\\) has ended or let go of the memory"));
  job_.expectWholeEventFiles();
  expectThatItGoesOn();
}
INSTANTIATE_TEST_SUITE_P(Gradients, DeadRankThatNobodyReports,
                         ::testing::Values(Case{"gradients", "vanishes", "exchange"}));
INSTANTIATE_TEST_SUITE_P(Fit, DeadRankThatNobodyReports,
                         ::testing::Values(Case{"fit", "vanishes", "exchange"}));

using ThrowingRank = RankFault;
TEST_P(ThrowingRank, EndsTheJobAtOnceInItsOwnWords) {
  expectThatItEnds(HasSubstr(rank() + " ends the job: this rank fails"));
}
INSTANTIATE_TEST_SUITE_P(Gradients, ThrowingRank,
                         ::testing::Values(Case{"gradients", "throws", "forward"},
                                           Case{"gradients", "throws", "backward", 2, 1,
                                                "memory=messages"}));
INSTANTIATE_TEST_SUITE_P(Fit, ThrowingRank, ::testing::Values(Case{"fit", "throws", "backward"}));

/// The exception leaves the scope of the store, which waits for the checkpoint.
using ThrowingRankWithAsyncCheckpoints = RankFault;
TEST_P(ThrowingRankWithAsyncCheckpoints, GoesOnFromTheLastOne) {
  expectThatItEnds(HasSubstr("this rank fails"));
  expectThatItGoesOn();
}
INSTANTIATE_TEST_SUITE_P(Gradients, ThrowingRankWithAsyncCheckpoints,
                         ::testing::Values(Case{"gradients", "throws", "forward", 1, 0, kAsync}));

using ThrowingCallback = RankFault;
TEST_P(ThrowingCallback, EndsAllRanksWithTheSameError) {
  expectThatItEnds(HasSubstr("Trainer: a callback threw: " + rank() + ": afterBatch at step "));
  expectThatItGoesOn();
}
INSTANTIATE_TEST_SUITE_P(Fit, ThrowingCallback,
                         ::testing::Values(Case{"fit", "throws", "callback"}));

/// Only the other ranks can notice that it hangs.
using HangingRank = RankFault;
TEST_P(HangingRank, IsNamedByTheOthersWhenTheirTimeIsOver) {
  expectThatItEnds(
      ContainsRegex("ends the job: [^\n]*" + rank() + "( \\([^)]*\\))? did not arrive"));
  expectThatItGoesOn();
}
INSTANTIATE_TEST_SUITE_P(Gradients, HangingRank,
                         ::testing::Values(Case{"gradients", "stops", "exchange", 4, 2},
                                           Case{"gradients", "sleeps", "backward", 2, 1,
                                                "memory=messages"}));
INSTANTIATE_TEST_SUITE_P(Fit, HangingRank,
                         ::testing::Values(Case{"fit", "sleeps", "callback", 2, 0},
                                           Case{"fit", "stops", "forward", 2, 1,
                                                "memory=messages"}));

/// The ranks of the other node wait for ranks that wait for the hanging one: they must not time out
/// first and report the wrong ranks.
using HangingRankOfANode = RankFault;
TEST_P(HangingRankOfANode, IsNamedByItsNode) {
  expectThatItEnds(::testing::AllOf(
      ContainsRegex("rank 2 ends the job: [^\n]*rank [13][^\n]* did not arrive"),
      Not(HasSubstr("rank 0 ends the job")), Not(HasSubstr("rank 1 ends the job"))));
}
INSTANTIATE_TEST_SUITE_P(Gradients, HangingRankOfANode,
                         ::testing::Values(Case{"gradients", "stops", "exchange", 4, 3,
                                                "ranksPerNode=2"}));

}  // namespace
}  // namespace steptape::test
