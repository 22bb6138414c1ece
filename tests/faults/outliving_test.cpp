// SPDX-License-Identifier: Apache-2.0
// MPI that other code owns, that ends before the training objects, and that no launcher has
// started.

#include <string>

#include "faults/training_job.h"

namespace steptape::test {
namespace {

using ::testing::HasSubstr;

class Outliving : public ::testing::TestWithParam<const char*> {
 protected:
  JobEnd run(const std::string& launcher, const std::string& arguments) const {
    return runJob(launcher + " '" STEPTAPE_FAULT_PROGRAM "' outlive dir=" + job_.directory() + " " +
                  arguments + " " + GetParam());
  }

  TrainingJob job_;
};
INSTANTIATE_TEST_SUITE_P(Paths, Outliving, ::testing::Values("memory=shared", "memory=messages"));

TEST_P(Outliving, ItsOwnMpiIsHarmless) {
  const JobEnd end = run(STEPTAPE_MPIEXEC " -n 2", "mpi=own");
  EXPECT_EQ(end.exitCode, 0) << end.output;
  EXPECT_THAT(end.output, HasSubstr("rank 0 is done"));
  EXPECT_THAT(end.output, HasSubstr("rank 1 is done"));
  job_.expectWholeEventFiles();
}

TEST_P(Outliving, AnMpiOfSomebodyElseIsHarmless) {
  const JobEnd end = run(STEPTAPE_MPIEXEC " -n 2", "mpi=foreign");
  EXPECT_EQ(end.exitCode, 0) << end.output;
  EXPECT_THAT(end.output, HasSubstr("rank 0 is done"));
  EXPECT_THAT(end.output, HasSubstr("rank 1 is done"));
  job_.expectWholeEventFiles();
}

TEST_P(Outliving, MpiIsAnErrorForWhatNeedsTheOtherRanks) {
  const JobEnd end = run(STEPTAPE_MPIEXEC " -n 2", "mpi=own use=yes");
  EXPECT_EQ(end.exitCode, 0) << end.output;
  for (const char* line : {"save refused: [^\n]*MPI is not initialized, or finalized already",
                           "fit refused: [^\n]*MPI is not initialized, or finalized already",
                           "reduce refused: [^\n]*since MPI was finalized with [^\n]* under way"}) {
    EXPECT_THAT(end.output, ::testing::ContainsRegex(line));
  }
  EXPECT_THAT(end.output, HasSubstr("rank 0 is done"));
  EXPECT_THAT(end.output, HasSubstr("rank 1 is done"));
}

TEST_P(Outliving, NeedsNoLauncher) {
  const JobEnd end = run(STEPTAPE_MPI_ENV " STEPTAPE_LAUNCHER=mpi", "mpi=own");
  EXPECT_EQ(end.exitCode, 0) << end.output;
  EXPECT_THAT(end.output, HasSubstr("rank 0 is done"));
  job_.expectWholeEventFiles();
}

}  // namespace
}  // namespace steptape::test
