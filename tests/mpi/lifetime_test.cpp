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

}  // namespace
}  // namespace steptape
