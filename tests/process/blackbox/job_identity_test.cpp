// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/job_identity.h"

#include <map>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::process {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

JobIdentity identityIn(const std::map<std::string, std::string>& variables) {
  return JobIdentity::ofThisProcess([&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(JobIdentity, IsOfOneJobWithoutAnythingThatTellsJobsApart) {
  EXPECT_TRUE(canBeOfOneJob(identityIn({}), identityIn({})));
  EXPECT_TRUE(canBeOfOneJob(identityIn({{"SLURM_JOB_ID", "41"}}), identityIn({})));
  EXPECT_TRUE(canBeOfOneJob(identityIn({{"TORCHELASTIC_RUN_ID", "none"}}),
                            identityIn({{"TORCHELASTIC_RUN_ID", "a"}})));
}

TEST(JobIdentity, TellsJobsAndStepsOfASchedulerApart) {
  const JobIdentity one = identityIn({{"SLURM_JOB_ID", "41"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_TRUE(canBeOfOneJob(one, one));
  EXPECT_FALSE(canBeOfOneJob(one, identityIn({{"SLURM_JOB_ID", "42"}, {"SLURM_STEP_ID", "0"}})));
  EXPECT_FALSE(canBeOfOneJob(one, identityIn({{"SLURM_JOB_ID", "41"}, {"SLURM_STEP_ID", "1"}})));
  EXPECT_FALSE(canBeOfOneJob(identityIn({{"PBS_JOBID", "41"}}), one));
}

TEST(JobIdentity, IsOfOneJobForThePartsOfAHeterogeneousOne) {
  EXPECT_TRUE(canBeOfOneJob(identityIn({{"SLURM_JOB_ID", "41"}, {"SLURM_HET_SIZE", "2"}}),
                            identityIn({{"SLURM_JOB_ID", "42"}, {"SLURM_HET_SIZE", "2"}})));
}

TEST(JobIdentity, TellsUsersApart) {
  JobIdentity other = identityIn({});
  other.user = std::to_string(::getuid() + 1);
  EXPECT_FALSE(canBeOfOneJob(identityIn({}), other));
}

TEST(JobIdentity, IsDecidedByTorchrunsRunAcrossJobsOfAScheduler) {
  EXPECT_TRUE(canBeOfOneJob(identityIn({{"SLURM_JOB_ID", "41"}, {"TORCHELASTIC_RUN_ID", "a"}}),
                            identityIn({{"SLURM_JOB_ID", "42"}, {"TORCHELASTIC_RUN_ID", "a"}})));
  EXPECT_FALSE(canBeOfOneJob(identityIn({{"SLURM_JOB_ID", "41"}, {"TORCHELASTIC_RUN_ID", "a"}}),
                             identityIn({{"SLURM_JOB_ID", "41"}, {"TORCHELASTIC_RUN_ID", "b"}})));
}

TEST(JobIdentity, IsDecidedByTheNameThatTheUserGaveIt) {
  JobIdentity other = identityIn({{"SLURM_JOB_ID", "42"}, {"STEPTAPE_JOB", "a"}});
  other.user = "7";
  EXPECT_TRUE(canBeOfOneJob(identityIn({{"SLURM_JOB_ID", "41"}, {"STEPTAPE_JOB", "a"}}), other));
  EXPECT_FALSE(
      canBeOfOneJob(identityIn({{"STEPTAPE_JOB", "a"}}), identityIn({{"STEPTAPE_JOB", "b"}})));
}

TEST(JobIdentity, DescribesProcessJobAndUser) {
  const JobIdentity step = identityIn({{"SLURM_JOB_ID", "41"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_THAT(step.describe(), StartsWith("process " + std::to_string(::getpid()) + " on "));
  EXPECT_THAT(step.describe(),
              HasSubstr(" of step 0 of job 41 of Slurm, user " + std::to_string(::getuid())));
  EXPECT_THAT(identityIn({{"LSB_JOBID", "7"}}).describe(), HasSubstr(" of job 7 of LSF, user "));
}

TEST(JobIdentity, SurvivesItsEncoding) {
  const JobIdentity identity = identityIn({{"SLURM_JOB_ID", "41"},
                                           {"SLURM_STEP_ID", "0"},
                                           {"STEPTAPE_JOB", "two\nlines"},
                                           {"TORCHELASTIC_RUN_ID", "a b"}});
  const JobIdentity copy = JobIdentity::decode(identity.encode());
  EXPECT_EQ(copy.encode(), identity.encode());
  EXPECT_EQ(copy.name, "two lines");
  EXPECT_EQ(copy.process, identity.process);
  EXPECT_TRUE(JobIdentity::decode("").user.empty());
}

}  // namespace
}  // namespace steptape::detail::process
