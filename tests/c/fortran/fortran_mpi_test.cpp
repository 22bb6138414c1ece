// SPDX-License-Identifier: Apache-2.0
// A job in Fortran: values of its root, and averages over its ranks.

#include <string>

#include "steptape/ranks/testing.h"

#include "metrics/read_back.h"
#include "support/job.h"
#include "support/own_black_boxes.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(FortranMpiTest, AveragesOverTheRanksOfAJob) {
  const test::OwnBlackBoxes boxes;
  const testing::TempDir logs;
  const std::string run = logs.string() + "/run";
  const test::JobEnd end =
      test::runJob(STEPTAPE_MPIEXEC " -n 3 '" STEPTAPE_FORTRAN_MPI_PROGRAM "' '" + run + "'");
  ASSERT_EQ(end.exitCode, 0) << end.output;
  const auto points = test::readPoints(run);
  EXPECT_THAT(points.at("own"), ElementsAre(Pair(1, 0.0F), Pair(2, 0.0F), Pair(3, 0.0F)));
  EXPECT_THAT(points.at("residual"), ElementsAre(Pair(1, 2.0F), Pair(2, 3.0F), Pair(3, 4.0F)));
  EXPECT_THAT(points.at("residual/argmax_rank"),
              ElementsAre(Pair(1, 2.0F), Pair(2, 2.0F), Pair(3, 2.0F)));
  EXPECT_THAT(test::readPoints(run + "_each", "rank_00002").at("own"), ElementsAre(Pair(1, 2.0F)));
}

}  // namespace
}  // namespace steptape
