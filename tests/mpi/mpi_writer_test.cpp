// SPDX-License-Identifier: Apache-2.0
// DistributedWriter over real MPI, on as many ranks as the launcher started. Its logic is tested in
// tests/distributed; here it meets MPI's datatype, operation and processes.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/mpi.h"
#include "steptape/reader/scalar_series.h"
#include "steptape/testing/temp_dir.h"

#include "distributed/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

/// Opens a writer on all ranks, in a directory of the root.
class MpiWriter : public ::testing::Test {
 protected:
  MpiWriter() : world_(mpi::world()) {
    if (world_->isRoot()) {
      directory_.emplace();
    }
    writer_.emplace(world_->isRoot() ? directory_->string() : "the root's counts", world_);
  }

  const std::shared_ptr<Communicator> world_;
  std::optional<testing::TempDir> directory_;  // Only the root's is used.
  std::optional<DistributedWriter> writer_;
};

TEST_F(MpiWriter, AveragesAThousandMetricsOverTheProcesses) {
  constexpr int kMetrics = 1000;
  for (int step = 0; step < 2; ++step) {
    for (int metric = 0; metric < kMetrics; ++metric) {
      ReducedOptions options;
      options.weight = world_->rank() + 1;
      options.argmaxRank = metric == 0;
      writer_->addReduced("metric" + std::to_string(metric), world_->rank() + metric, step,
                          options);
    }
    writer_->reduce(step);
  }
  EXPECT_TRUE(writer_->close().ok());
  if (!world_->isRoot()) {
    return;
  }
  double sum = 0;
  double weights = 0;
  for (int rank = 0; rank < world_->size(); ++rank) {
    sum += rank * (rank + 1);
    weights += rank + 1;
  }
  const ScalarsByTag scalars = readScalars(directory_->string());
  EXPECT_EQ(scalars.size(), kMetrics + 1U);
  EXPECT_EQ(scalars.at("metric0/argmax_rank").at(1).value, world_->size() - 1);
  for (int metric = 0; metric < kMetrics; ++metric) {
    const std::vector<ScalarPoint>& series = scalars.at("metric" + std::to_string(metric));
    ASSERT_EQ(series.size(), 2U);
    EXPECT_FLOAT_EQ(series[1].value, static_cast<float>(metric + sum / weights));
  }
}

TEST_F(MpiWriter, TellsAllRanksOfADisagreementAndGoesOn) {
  const bool isOdd = world_->rank() == world_->size() - 1 && world_->size() > 1;
  writer_->addReduced("loss", 1, 5);
  if (isOdd) {
    writer_->addReduced("acc", 1, 5);
  }
  if (world_->size() > 1) {
    test::expectError(ErrorCode::kRankMismatch,
                      "rank " + std::to_string(world_->size() - 1) + " (" + world_->nodeName() +
                          ") reduces 'acc' at step 5, which rank 0 (" + world_->nodeName() +
                          ") does not",
                      [&] { writer_->reduce(5); });
  }
  writer_->addReduced("loss", 2, 6);
  writer_->reduce(6);
  EXPECT_TRUE(writer_->flush().ok());
  if (world_->isRoot()) {
    const std::vector<ScalarPoint> loss = readScalars(directory_->string()).at("loss");
    ASSERT_EQ(loss.size(), 1U);
    EXPECT_EQ(loss[0].step, 6);
    EXPECT_EQ(loss[0].value, 2);
  }
}

}  // namespace
}  // namespace steptape
