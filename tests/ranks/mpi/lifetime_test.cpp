// SPDX-License-Identifier: Apache-2.0
// MPI that other code owns, that ends before our objects, and that no launcher has started.

#include <string>

#include "support/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::JobEnd;
using ::testing::HasSubstr;

constexpr const char* kProgram = STEPTAPE_LIFETIME_PROGRAM;

std::string onTwoRanks(const std::string& kind) {
  return STEPTAPE_MPIEXEC " -n 2 '" + std::string(kProgram) + "' '" + kind + "'";
}

TEST(Lifetime, OfMpiMayBelongToOtherCode) {
  const JobEnd job = test::runJob(onTwoRanks("foreign init"));
  EXPECT_EQ(job.exitCode, 0) << job.output;
  EXPECT_THAT(job.output, HasSubstr("leaves MPI alone"));
  EXPECT_THAT(job.output, HasSubstr("rank 0 of 2 is done"));
  EXPECT_THAT(job.output, HasSubstr("rank 1 of 2 is done"));
}

TEST(Lifetime, OfMpiMayEndBeforeThatOfItsUsers) {
  const JobEnd job = test::runJob(onTwoRanks("outlives MPI"));
  EXPECT_EQ(job.exitCode, 0) << job.output;
  EXPECT_THAT(job.output,
              HasSubstr("refused: barrier: MPI is not initialized, or finalized already"));
}

TEST(Lifetime, NeedsNoLauncher) {
  const JobEnd job =
      test::runJob(STEPTAPE_MPI_ENV " '" + std::string(kProgram) + "' 'outlives MPI'");
  EXPECT_EQ(job.exitCode, 0) << job.output;
  EXPECT_THAT(job.output, HasSubstr("rank 0 of 1 is done"));
}

/// What two ranks of the launcher of another MPI find: Open MPI and MPICH see one rank each under
/// the other's, without an error.
std::string underAForeignLauncher(const std::string& more) {
  return STEPTAPE_MPI_ENV " PMI_RANK=0 PMI_SIZE=2 " + more + " '" + kProgram + "' 'outlives MPI'";
}

TEST(Lifetime, IsRefusedUnderTheLauncherOfAnotherMpi) {
  const JobEnd job = test::runJob(underAForeignLauncher(""));
  EXPECT_NE(job.exitCode, 0) << job.output;
  EXPECT_THAT(job.output, HasSubstr("got rank 0 of 2 of "));
  EXPECT_THAT(job.output, HasSubstr("(PMI_SIZE=2), and a world of 1 rank of "));
}

TEST(Lifetime, UnderTheLauncherOfAnotherMpiIsPermittedByChoice) {
  const JobEnd job = test::runJob(underAForeignLauncher("STEPTAPE_LAUNCHER=none"));
  EXPECT_EQ(job.exitCode, 0) << job.output;
  EXPECT_THAT(job.output, HasSubstr("rank 0 of 1 is done"));
}

}  // namespace
}  // namespace steptape
