// SPDX-License-Identifier: Apache-2.0
// DistributedWriter with real MPI, on as many ranks as the launcher has started. tests/metrics
// tests its logic; this tests MPI's datatype, operation and processes.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/log/run_reader.h"
#include "steptape/log/values.h"
#include "steptape/metrics/straggler_report.h"
#include "steptape/mpi.h"
#include "steptape/ranks/testing.h"

#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

/// Opens a writer on all ranks, in a directory of the root.
class MpiWriter : public ::testing::Test {
 protected:
  MpiWriter() : world_(world()) {
    if (world_->isRoot()) {
      directory_.emplace();
    }
    open(ReduceMode::kBlocking);
  }

  void open(ReduceMode mode) {
    DistributedWriterOptions options;
    options.reduceMode = mode;
    writer_.emplace(world_->isRoot() ? directory_->string() : "the root's counts", world_, options);
  }

  const std::shared_ptr<Communicator> world_;
  std::optional<testing::TempDir> directory_;  // only the root's is used
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

TEST_F(MpiWriter, ReportsADisagreementOnAllRanksAndStaysUsable) {
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

TEST_F(MpiWriter, WritesTheMetricsOfAHundredStepsWhileTheNextOnesRun) {
  open(ReduceMode::kNonBlocking);
  constexpr int kSteps = 100;
  for (int step = 0; step < kSteps; ++step) {
    for (int metric = 0; metric < 30; ++metric) {
      writer_->addReduced("metric" + std::to_string(metric), world_->rank() + metric + step, step);
    }
    writer_->reduce(step);
  }
  EXPECT_TRUE(writer_->close().ok());
  if (!world_->isRoot()) {
    return;
  }
  const double ownMean = (world_->size() - 1) / 2.0;
  const ScalarsByTag scalars = readScalars(directory_->string());
  for (int metric = 0; metric < 30; ++metric) {
    const std::vector<ScalarPoint>& series = scalars.at("metric" + std::to_string(metric));
    ASSERT_EQ(series.size(), static_cast<std::size_t>(kSteps));
    for (int step = 0; step < kSteps; ++step) {
      EXPECT_EQ(series[static_cast<std::size_t>(step)].step, step);
      EXPECT_EQ(series[static_cast<std::size_t>(step)].value,
                static_cast<float>(ownMean + metric + step));
    }
  }
}

TEST_F(MpiWriter, WritesAllStatisticsWithoutBlocking) {
  open(ReduceMode::kNonBlocking);
  for (int step = 0; step < 10; ++step) {
    writer_->addReduced("time", world_->rank() + 1, step, ReducedOptions::all());
    writer_->reduce(step);
  }
  writer_->finishReduce();
  EXPECT_TRUE(writer_->flush().ok());
  if (world_->isRoot()) {
    const ScalarsByTag scalars = readScalars(directory_->string());
    const auto last = [&scalars](const char* tag) { return scalars.at(tag).at(9).value; };
    const auto ranks = static_cast<float>(world_->size());
    EXPECT_EQ(last("time"), (ranks + 1) / 2);
    EXPECT_EQ(last("time/min"), 1);
    EXPECT_EQ(last("time/max"), ranks);
    EXPECT_EQ(last("time/sum"), ranks * (ranks + 1) / 2);
    EXPECT_EQ(last("time/argmax_rank"), ranks - 1);
    // The smallest value that half of the ranks do not exceed.
    EXPECT_EQ(last("time/p50"), static_cast<float>((world_->size() + 1) / 2));
    EXPECT_EQ(last("time/p99"), ranks);
  }
}

TEST_F(MpiWriter, ReportsADisagreementOfThePreviousStepWithoutBlocking) {
  open(ReduceMode::kNonBlocking);
  const bool isOdd = world_->rank() == world_->size() - 1 && world_->size() > 1;
  writer_->addReduced(isOdd ? "acc" : "loss", 1, 5);
  writer_->reduce(5);
  writer_->addReduced("loss", 1, 6);
  if (world_->size() > 1) {
    test::expectError(ErrorCode::kRankMismatch, "reduces 'acc' at step 5",
                      [&] { writer_->reduce(6); });
  } else {
    writer_->reduce(6);
  }
  writer_->addReduced("loss", 2, 7);
  writer_->reduce(7);
  EXPECT_TRUE(writer_->close().ok());
  if (world_->isRoot()) {
    EXPECT_EQ(readScalars(directory_->string()).at("loss").back().step, 7);
  }
}

TEST_F(MpiWriter, GathersTextsAndImagesOfTheProcesses) {
  const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(3 * (world_->rank() + 1)), 100);
  writer_->addImageFromRanks("sample", TensorView(pixels.data(), {1, world_->rank() + 1, 3}), 1);
  TextFromRanksOptions options;
  options.ranks = {world_->size() - 1};
  writer_->addTextFromRanks("note", "rank " + std::to_string(world_->rank()), 1, options);
  EXPECT_TRUE(writer_->close().ok());
  if (!world_->isRoot()) {
    return;
  }
  RunReader reader(listRuns(directory_->string()).front());
  reader.update();
  EXPECT_EQ(reader.tags().size(), static_cast<std::size_t>(world_->size() + 1));
  const std::string last = rankRunName(world_->size() - 1);
  event::Value value;
  reader.value(reader.tags().at("sample/" + last).values.at(0), &value).throwIfError();
  ImageValue image;
  decodeImages(value, &image).throwIfError();
  EXPECT_EQ(image.height, world_->size());
  reader.value(reader.tags().at("note/" + last).values.at(0), &value).throwIfError();
  TextValue text;
  decodeText(value, &text).throwIfError();
  EXPECT_EQ(text.strings.at(0), "rank " + std::to_string(world_->size() - 1));
}

TEST_F(MpiWriter, FindsTheSlowRankOfTheProcesses) {
  const auto clock = std::make_shared<testing::FakeClock>();
  StragglerReportOptions options;
  options.everySteps = 2;
  options.mode = ReduceMode::kNonBlocking;
  options.clock = clock;
  StragglerReport report(*writer_, options);
  for (int step = 0; step < 8; ++step) {
    const auto timer = report.time(StepPart::kInput);
    clock->advance(std::chrono::milliseconds(world_->rank() == world_->size() - 1 ? 3 : 1));
    report.endStep(step);
  }
  report.finish();
  EXPECT_TRUE(writer_->close().ok());
  if (world_->isRoot()) {
    const ScalarsByTag scalars = readScalars(directory_->string());
    EXPECT_EQ(scalars.at("straggler/slowest_rank").back().value, world_->size() - 1);
    EXPECT_EQ(scalars.at("straggler/slowdown").back().value, world_->size() > 1 ? 3 : 1);
    EXPECT_EQ(scalars.at("straggler/slowdown").size(), 4U);
  }
}

}  // namespace
}  // namespace steptape
