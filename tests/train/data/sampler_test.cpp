// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/train/batch_loader.h"
#include "steptape/train/distributed_sampler.h"

#include "support/expect_error.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Eq;

/// Simulates a rank of a job; a sampler uses nothing else.
class FixedRank final : public Communicator {
 public:
  FixedRank(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }

 private:
  int rank_;
  int size_;
};

using Shares = std::vector<std::vector<std::int64_t>>;

Shares deal(std::int64_t datasetSize, int ranks, DistributedSamplerOptions options,
            std::int64_t epoch = 0) {
  Shares shares;
  for (int rank = 0; rank < ranks; ++rank) {
    DistributedSampler sampler(datasetSize, FixedRank(rank, ranks), options);
    sampler.setEpoch(epoch);
    shares.push_back(sampler.indices());
  }
  return shares;
}

/// Returns how often each sample was dealt, over all ranks.
std::vector<int> countSamples(const Shares& shares, std::int64_t datasetSize) {
  std::vector<int> counts(static_cast<std::size_t>(datasetSize));
  for (const auto& share : shares) {
    for (const std::int64_t index : share) {
      ++counts.at(static_cast<std::size_t>(index));
    }
  }
  return counts;
}

std::vector<std::size_t> sizesOf(const Shares& shares) {
  std::vector<std::size_t> sizes;
  for (const auto& share : shares) {
    sizes.push_back(share.size());
  }
  return sizes;
}

TEST(DistributedSampler, DealsEverySampleOnceIfTheRanksDivideThem) {
  const Shares shares = deal(12, 3, {});
  EXPECT_THAT(sizesOf(shares), ElementsAre(4, 4, 4));
  EXPECT_THAT(countSamples(shares, 12), Each(Eq(1)));
}

TEST(DistributedSampler, FillsUpWithTheFirstSamplesOfTheOrder) {
  DistributedSamplerOptions options;
  options.shuffle = false;
  EXPECT_THAT(deal(5, 3, options),
              ElementsAre(ElementsAre(0, 3), ElementsAre(1, 4), ElementsAre(2, 0)));
}

TEST(DistributedSampler, DealsFewSamplesToManyRanksSeveralTimes) {
  EXPECT_THAT(sizesOf(deal(2, 5, {})), ElementsAre(1, 1, 1, 1, 1));
}

TEST(DistributedSampler, LeavesOutTheRestOnDropLast) {
  DistributedSamplerOptions options;
  options.dropLast = true;
  const Shares shares = deal(11, 4, options);
  EXPECT_THAT(sizesOf(shares), ElementsAre(2, 2, 2, 2));
  const std::vector<int> counts = countSamples(shares, 11);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 1), 8);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 0), 3);
}

TEST(DistributedSampler, DealsEverySampleExactlyOnceWithUnevenShares) {
  DistributedSamplerOptions options;
  options.evenShares = false;
  const Shares shares = deal(11, 4, options);
  EXPECT_THAT(sizesOf(shares), ElementsAre(3, 3, 3, 2));
  EXPECT_THAT(countSamples(shares, 11), Each(Eq(1)));
}

TEST(DistributedSampler, DealsAnotherOrderInEveryEpoch) {
  EXPECT_NE(deal(100, 1, {}, 0), deal(100, 1, {}, 1));
  EXPECT_EQ(deal(100, 1, {}, 1), deal(100, 1, {}, 1));
}

TEST(DistributedSampler, DealsAnotherOrderForAnotherSeed) {
  DistributedSamplerOptions options;
  options.seed = 7;
  EXPECT_NE(deal(100, 1, options), deal(100, 1, {}));
}

// The order is defined by mt19937_64, whose 10000th value is in the C++ standard, and by the
// Fisher-Yates shuffle. Computed once by an independent program in Python.
TEST(DistributedSampler, DealsTheSameOrderOnEveryMachine) {
  DistributedSamplerOptions options;
  options.seed = 1;
  EXPECT_THAT(deal(10, 1, options), ElementsAre(ElementsAre(1, 7, 3, 9, 4, 0, 5, 2, 6, 8)));
}

/// Returns the shares of a job of `ranks` ranks that continues after `samplesDone` samples of epoch
/// 3.
Shares dealRest(std::int64_t datasetSize, int ranks, std::int64_t samplesDone,
                DistributedSamplerOptions options = {}) {
  Shares shares;
  for (int rank = 0; rank < ranks; ++rank) {
    DistributedSampler sampler(datasetSize, FixedRank(rank, ranks), options);
    sampler.resume({3, samplesDone});
    shares.push_back(sampler.indices());
  }
  return shares;
}

/// Returns how often each sample is used if 2 ranks use `usedByEach` samples each, and `ranks`
/// ranks the rest.
std::vector<int> countOverAResume(std::int64_t datasetSize, std::int64_t usedByEach, int ranks,
                                  DistributedSamplerOptions options) {
  Shares before = deal(datasetSize, 2, options, 3);
  for (auto& share : before) {
    share.resize(static_cast<std::size_t>(usedByEach));
  }
  std::vector<int> counts = countSamples(before, datasetSize);
  const std::vector<int> rest =
      countSamples(dealRest(datasetSize, ranks, 2 * usedByEach, options), datasetSize);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] += rest[i];
  }
  return counts;
}

TEST(DistributedSampler, DealsTheRestOfAnEpochOnceToAnotherNumberOfRanks) {
  DistributedSamplerOptions once;
  once.evenShares = false;
  for (const int ranks : {1, 2, 3, 7}) {
    EXPECT_THAT(countOverAResume(22, 5, ranks, once), Each(Eq(1))) << ranks;
  }
  EXPECT_THAT(countOverAResume(22, 5, 3, {}), Each(Eq(1)));  // 12 for 3 ranks
}

TEST(DistributedSampler, DealsTheSameRestToTheSameRanks) {
  for (const bool dropLast : {false, true}) {
    DistributedSamplerOptions options;
    options.dropLast = dropLast;
    Shares whole = deal(23, 3, options, 3);
    for (auto& share : whole) {
      share.erase(share.begin(), share.begin() + 4);
    }
    EXPECT_EQ(dealRest(23, 3, 12, options), whole);
  }
}

TEST(DistributedSampler, FillsUpOrLeavesOutTheRestAsOptionsSay) {
  DistributedSamplerOptions options;
  options.shuffle = false;
  EXPECT_THAT(dealRest(10, 3, 6, options),
              ElementsAre(ElementsAre(6, 9), ElementsAre(7, 0), ElementsAre(8, 1)));
  options.dropLast = true;
  EXPECT_THAT(dealRest(10, 3, 6, options),
              ElementsAre(ElementsAre(6), ElementsAre(7), ElementsAre(8)));
}

TEST(DistributedSampler, HasNoSamplesLeftAfterTheLastOne) {
  EXPECT_THAT(sizesOf(dealRest(10, 2, 10)), ElementsAre(0, 0));
  EXPECT_THAT(sizesOf(dealRest(10, 2, 11)), ElementsAre(0, 0));
}

TEST(DistributedSampler, KnowsItsPositionOverSeveralResumes) {
  DistributedSampler sampler(20, FixedRank(1, 3), {});
  sampler.setEpoch(4);
  sampler.startAt(6);
  EXPECT_EQ(sampler.position(0).samplesDone, 6);
  EXPECT_EQ(sampler.position(2).samplesDone, 12);
  EXPECT_EQ(sampler.position(5).samplesDone, 20);  // the fifth round fills up
  EXPECT_EQ(sampler.position(2).epoch, 4);
  EXPECT_EQ(sampler.epochSize(), 7);
  EXPECT_EQ(sampler.size(), 5);
  sampler.setEpoch(5);
  EXPECT_EQ(sampler.position(0).samplesDone, 0);
  EXPECT_EQ(sampler.size(), 7);
}

TEST(DistributedSampler, CannotStartBeforeTheFirstSample) {
  DistributedSampler sampler(20, FixedRank(0, 1));
  test::expectError(ErrorCode::kInvalidArgument, "got samplesDone = -1; expected at least 0",
                    [&] { sampler.startAt(-1); });
}

/// Labels are image numbers, so that a batch identifies its images.
ImageLoader numberedLoader(std::int64_t images, int rank, int ranks, std::int64_t batchSize) {
  const at::Tensor labels = at::arange(images, at::kLong);
  return {ImageDataset(at::zeros({images, 1, 1}, at::kByte), labels),
          DistributedSampler(images, FixedRank(rank, ranks)), batchSize};
}

std::vector<std::int64_t> labelsOf(const Batch& batch) {
  const std::int64_t* first = batch.targets.data_ptr<std::int64_t>();
  return {first, first + batch.size()};
}

TEST(ImageLoader, ResumesTheRemainingSamplesOnAnotherNumberOfRanks) {
  Shares used;
  std::int64_t samplesDone = 0;
  Batch batch;
  for (int rank = 0; rank < 2; ++rank) {
    ImageLoader loader = numberedLoader(24, rank, 2, 3);
    loader.startEpoch(1);
    EXPECT_EQ(loader.samplesDone(), 0);
    for (int step = 0; step < 2; ++step) {
      ASSERT_TRUE(loader.next(batch));
      used.push_back(labelsOf(batch));
    }
    samplesDone = loader.samplesDone();
  }
  EXPECT_EQ(samplesDone, 12);
  for (int rank = 0; rank < 3; ++rank) {
    ImageLoader loader = numberedLoader(24, rank, 3, 3);
    EXPECT_EQ(loader.resumeEpoch(1, samplesDone), 2);
    EXPECT_EQ(loader.batches(), 3) << "of a whole epoch";
    while (loader.next(batch)) {
      used.push_back(labelsOf(batch));
    }
    EXPECT_EQ(loader.samplesDone(), 24);
  }
  EXPECT_THAT(countSamples(used, 24), Each(Eq(1)));
}

TEST(BatchLoader, CannotResumeBySamplesByDefault) {
  class Loader final : public BatchLoader {
   public:
    std::int64_t batches() const override { return 1; }
    std::uint64_t seed() const override { return 0; }
    void startEpoch(std::int64_t /*epoch*/, std::int64_t /*skippedBatches*/) override {}
    bool next(Batch& /*batch*/) override { return false; }
  };
  Loader loader;
  EXPECT_EQ(loader.samplesDone(), -1);
  test::expectError(ErrorCode::kFailedPrecondition,
                    "this BatchLoader cannot resume epoch 2 after 64 samples",
                    [&] { loader.resumeEpoch(2, 64); });
}

TEST(DistributedSampler, RejectsAnEmptyDataset) {
  test::expectError(ErrorCode::kInvalidArgument,
                    "got a data set of 0 samples; expected at least one",
                    [] { DistributedSampler(0, FixedRank(0, 1)); });
}

}  // namespace
}  // namespace steptape
