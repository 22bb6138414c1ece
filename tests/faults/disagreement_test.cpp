// SPDX-License-Identifier: Apache-2.0
// If processes do not train in the same way, all of them get an error that names the rank and the
// difference.

#include <string>

#include "support/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::test {
namespace {

using ::testing::HasSubstr;

/// Expects that each rank prints `line` after its prefix.
void expectFromAll(const JobEnd& job, int ranks, const std::string& line) {
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string prefix = "[rank " + std::to_string(rank) + "/" + std::to_string(ranks) + " ";
    EXPECT_THAT(job.output, ::testing::ContainsRegex("\\" + prefix + "[^]]*\\] " + line));
  }
}

class Disagreement : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Disagreement, ::testing::Values(2, 4));

TEST_P(Disagreement, IsReportedOnAllRanksWithRankAndDifference) {
  const int ranks = GetParam();
  const JobEnd job = runJob(STEPTAPE_MPIEXEC " -n " + std::to_string(ranks) +
                            " '" STEPTAPE_FAULT_PROGRAM "' disagree");
  EXPECT_EQ(job.exitCode, 0) << job.output;
  const std::string last = "rank " + std::to_string(ranks - 1);
  const std::string run = "Trainer: " + last + " has a different run from rank 0: got ";
  const std::string optimizer = "Trainer: " + last + " has a different optimizer from rank 0: got ";
  const std::string fewer = std::to_string(60 / ranks / 2 + (60 / ranks) % 2);
  const std::string all = std::to_string(80 / ranks / 2);
  const std::string larger = std::to_string(80 / ranks / 5);
  for (const std::string& line : {
           "model: broadcastParameters: " + last +
               " has a different model from rank 0: got first.weight: Float \\[5, 4\\]; "
               "expected first.weight: Float \\[3, 4\\]",
           "data: " + run + "training batches per epoch: " + fewer +
               "; expected training batches per epoch: " + all,
           "batch size: " + run + "training batches per epoch: " + larger + "; expected",
           "seed: " + run + "seed of the training data: 7; expected seed of the training data: 0",
           "steps: " + run + "epochs: 1, at most 8 steps; expected epochs: 1, at most 2 steps",
           "schedule: " + run + "learning rate: .* at epoch 2.*expected .* at epoch 1",
           "clipping: " + run + "gradient norm: at most 1; expected gradient norm: not limited",
           "bucket: GradientSync: " + last +
               " has a different option from rank 0: got bucketBytes = 1024; expected",
           "checkpoints: " + run + "checkpointEverySteps = 5; expected checkpointEverySteps = 0",
           "monitor: " + run + "monitored: no such metric.*expected monitored: nothing",
           "rate: " + optimizer + "group 0 lr = 0.2[0-9]*; expected group 0 lr = 0.1",
           "optimizer: " + optimizer +
               "an optimizer of type torch::optim::Adam; expected an optimizer of type "
               "torch::optim::SGD",
       }) {
    expectFromAll(job, ranks, line);
  }
}

TEST_P(Disagreement, OverACollectiveInACallbackNamesTheMissingRank) {
  const int ranks = GetParam();
  const JobEnd job = runJob(STEPTAPE_MPIEXEC " -n " + std::to_string(ranks) +
                            " '" STEPTAPE_FAULT_PROGRAM "' disagree callbacks");
  EXPECT_EQ(job.exitCode, 1) << job.output;
  // The fastest rank ends the job.
  EXPECT_THAT(job.output,
              ::testing::AnyOf(HasSubstr("barrier 'of a callback' did not end within 1.5 s"),
                               HasSubstr("is in barrier 'of a callback'")));
}

}  // namespace
}  // namespace steptape::test
