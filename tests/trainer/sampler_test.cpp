// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "steptape/base/error.h"
#include "steptape/trainer/distributed_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;

/// Stands for a rank of a job; a sampler asks for nothing else.
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

/// How often each sample was dealt, over all ranks.
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

// The order follows from mt19937_64, whose 10000th value the C++ standard states, and from Fisher
// and Yates; computed once with an independent program in Python.
TEST(DistributedSampler, DealsTheSameOrderOnEveryMachine) {
  DistributedSamplerOptions options;
  options.seed = 1;
  EXPECT_THAT(deal(10, 1, options), ElementsAre(ElementsAre(1, 7, 3, 9, 4, 0, 5, 2, 6, 8)));
}

TEST(DistributedSampler, RejectsAnEmptyDataset) {
  try {
    DistributedSampler(0, FixedRank(0, 1));
    FAIL() << "accepted no samples";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("got a data set of 0 samples, wanted at least one"));
  }
}

}  // namespace
}  // namespace steptape
