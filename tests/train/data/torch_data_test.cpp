// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/torch_data.h"

#include <memory>
#include <utility>
#include <vector>

#include "support/expect_error.h"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/data/datasets/base.h>
#include <torch/data/datasets/map.h>
#include <torch/data/samplers/sequential.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using torch::data::DataLoaderOptions;
using torch::data::Example;
using torch::data::samplers::SequentialSampler;
using torch::data::transforms::Stack;

/// Sample i is the pair (i, -i).
struct Numbers : torch::data::datasets::Dataset<Numbers> {
  explicit Numbers(std::size_t count) : samples(count) {}

  Example<> get(std::size_t index) override {
    const auto number = static_cast<double>(index);
    return {at::full({1}, number), at::full({1}, -number)};
  }
  torch::optional<std::size_t> size() const override { return samples; }

  std::size_t samples;
};

DistributedSampler dealtInOrder(std::int64_t size) {
  DistributedSamplerOptions options;
  options.shuffle = false;
  return {size, Communicator(), options};
}

/// Returns the rest of the epoch, batch by batch.
std::vector<std::vector<int>> readRest(BatchLoader& loader) {
  std::vector<std::vector<int>> batches;
  for (Batch batch; loader.next(batch);) {
    EXPECT_EQ(batch.size(), batch.inputs.size(0));
    EXPECT_TRUE(batch.targets.equal(-batch.inputs));
    batches.emplace_back();
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      batches.back().push_back(batch.inputs[i].item<int>());
    }
  }
  return batches;
}

using Workers = ::testing::TestWithParam<std::size_t>;
INSTANTIATE_TEST_SUITE_P(DatasetLoader, Workers, ::testing::Values(0, 2));

TEST_P(Workers, LoadTheSamplesThatTheSamplerDeals) {
  DatasetLoader loader(Numbers(5).map(Stack<>()), dealtInOrder(5),
                       DataLoaderOptions(2).workers(GetParam()));
  EXPECT_EQ(loader.batches(), 3);
  for (const std::int64_t epoch : {0, 1}) {
    loader.startEpoch(epoch);
    EXPECT_THAT(readRest(loader),
                ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
    EXPECT_THAT(readRest(loader), IsEmpty()) << "the epoch is over";
  }
}

TEST_P(Workers, StartAnEpochAfterAnUnfinishedOne) {
  DatasetLoader loader(Numbers(9), dealtInOrder(9), DataLoaderOptions(1).workers(GetParam()));
  Batch batch;
  loader.startEpoch(0);
  ASSERT_TRUE(loader.next(batch));
  loader.startEpoch(1, 7);
  EXPECT_EQ(loader.samplesDone(), 7);
  EXPECT_THAT(readRest(loader), ElementsAre(ElementsAre(7), ElementsAre(8)));
  EXPECT_EQ(loader.samplesDone(), 9);
}

TEST_P(Workers, AreStoppedInTheMiddleOfAnEpoch) {
  Batch batch;
  {
    DatasetLoader loader(Numbers(9), dealtInOrder(9), DataLoaderOptions(1).workers(GetParam()));
    loader.startEpoch(0);
    loader.next(batch);
  }
  EXPECT_EQ(batch.size(), 1);
}

TEST(DatasetLoader, ResumesAfterTheSamplesThatAllRanksHaveUsed) {
  DatasetLoader loader(Numbers(5), dealtInOrder(5), 2);
  EXPECT_EQ(loader.resumeEpoch(3, 2), 2);
  EXPECT_EQ(loader.samplesDone(), 2);
  EXPECT_THAT(readRest(loader), ElementsAre(ElementsAre(2, 3), ElementsAre(4)));
  EXPECT_EQ(loader.batches(), 3) << "of a whole epoch";
}

TEST(DatasetLoader, HasTheOrderOfEachEpochFromTheSampler) {
  DistributedSamplerOptions shuffled;
  shuffled.seed = 3;
  DistributedSampler sampler(20, Communicator(), shuffled);
  DatasetLoader loader(Numbers(20), sampler, 20);
  EXPECT_EQ(loader.seed(), 3U);
  for (const std::int64_t epoch : {0, 1}) {
    loader.startEpoch(epoch);
    sampler.setEpoch(epoch);
    const std::vector<int> expected(sampler.indices().begin(), sampler.indices().end());
    EXPECT_THAT(readRest(loader), ElementsAre(expected)) << "epoch " << epoch;
  }
}

TEST(DatasetLoader, DropsTheLastSmallBatchIfRequested) {
  DatasetLoader loader(Numbers(5), dealtInOrder(5), DataLoaderOptions(2).drop_last(true));
  EXPECT_EQ(loader.batches(), 2);
  loader.startEpoch(0);
  EXPECT_THAT(readRest(loader), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(DatasetLoader, RejectsASamplerOfALargerDataset) {
  test::expectError(ErrorCode::kInvalidArgument,
                    "DatasetLoader got a sampler of 6 samples; expected at most the data set's 5",
                    [] { DatasetLoader(Numbers(5), dealtInOrder(6), 2); });
}

TEST(DatasetLoader, RejectsAnEmptyBatch) {
  test::expectError(ErrorCode::kInvalidArgument,
                    "DatasetLoader got a batch size of 0; expected at least 1",
                    [] { DatasetLoader(Numbers(5), dealtInOrder(5), 0); });
}

TEST(TorchLoader, ReadsADataLoaderInItsOwnOrder) {
  const auto loader =
      torch::data::make_data_loader(Numbers(5).map(Stack<>()), SequentialSampler(5), 2);
  TorchLoader batches(*loader);
  EXPECT_EQ(batches.batches(), BatchLoader::kUnknownBatches);
  EXPECT_EQ(batches.samplesDone(), -1);
  batches.startEpoch(0);
  EXPECT_THAT(readRest(batches), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
  batches.startEpoch(1, 2);
  EXPECT_THAT(readRest(batches), ElementsAre(ElementsAre(4)));
  batches.startEpoch(2, 9);
  EXPECT_THAT(readRest(batches), IsEmpty());
}

TEST(TorchLoader, StartsAnEpochWhileWorkersAreBusyWithThePreviousOne) {
  TorchLoader batches(torch::data::make_data_loader(Numbers(9), SequentialSampler(9),
                                                    DataLoaderOptions(3).workers(2)));
  Batch batch;
  batches.startEpoch(0);
  ASSERT_TRUE(batches.next(batch));
  batches.startEpoch(1);
  EXPECT_THAT(readRest(batches),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5), ElementsAre(6, 7, 8)));
}

TEST(TorchLoader, KnowsTheLengthFromItsOptions) {
  TorchLoaderOptions options;
  options.batches = 3;
  const TorchLoader batches(torch::data::make_data_loader(Numbers(5), SequentialSampler(5), 2),
                            options);
  EXPECT_EQ(batches.batches(), 3);
}

TEST(BatchLoaderRef, RefersToABatchLoaderOrToADataLoaderOfLibTorch) {
  DatasetLoader ours(Numbers(5), dealtInOrder(5), 2);
  EXPECT_EQ(&*BatchLoaderRef(ours), &ours);
  auto theirs = torch::data::make_data_loader(Numbers(5), SequentialSampler(5), 5);
  for (const BatchLoaderRef& batches : {BatchLoaderRef(theirs), BatchLoaderRef(*theirs)}) {
    batches->startEpoch(0);
    EXPECT_THAT(readRest(*batches), ElementsAre(ElementsAre(0, 1, 2, 3, 4)));
  }
}

static_assert(!std::is_constructible_v<BatchLoaderRef, Numbers&>,
              "a data set has no order: DatasetLoader gives it one");

}  // namespace
}  // namespace steptape
