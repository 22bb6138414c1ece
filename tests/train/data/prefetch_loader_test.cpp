// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"
#include "steptape/train/batch_loader.h"
#include <steptape/profile.h>

#include "support/expect_error.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::expectError;
using ::testing::ElementsAre;

constexpr std::int64_t kSamples = 23;

/// Samples of one number: the index, and a random number besides.
std::shared_ptr<FunctionSource> numbers(std::int64_t broken = -1) {
  return std::make_shared<FunctionSource>(
      kSamples, std::vector<std::int64_t>{2}, [broken](std::int64_t index, SampleRandom& random) {
        if (index == broken) {
          throw Error(ErrorCode::kIoError, "image \"x.jpg\": cannot open it");
        }
        const double values[] = {static_cast<double>(index), random.uniform()};
        return std::make_pair(at::tensor(at::ArrayRef<double>(values)), index % 3);
      });
}

DistributedSampler sampler(const Communicator& world, std::uint64_t seed = 7) {
  DistributedSamplerOptions options;
  options.seed = seed;
  return {kSamples, world, options};
}

PrefetchLoaderOptions withWorkers(std::int64_t workers, std::int64_t prefetch = 2) {
  PrefetchLoaderOptions options;
  options.workers = workers;
  options.prefetch = prefetch;
  return options;
}

std::vector<Batch> restOf(BatchLoader& loader) {
  std::vector<Batch> batches;
  for (Batch batch; loader.next(batch);) {
    batches.push_back(batch);
  }
  return batches;
}

std::vector<Batch> epochOf(BatchLoader& loader, std::int64_t epoch, std::int64_t skipped = 0) {
  loader.startEpoch(epoch, skipped);
  return restOf(loader);
}

void expectEqual(const std::vector<Batch>& got, const std::vector<Batch>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(at::equal(got[i].inputs, expected[i].inputs)) << "batch " << i;
    EXPECT_TRUE(at::equal(got[i].targets, expected[i].targets)) << "batch " << i;
  }
}

TEST(PrefetchLoader, GivesTheSamplesInTheOrderOfTheSampler) {
  const Communicator world;
  PrefetchLoader loader(numbers(), sampler(world), 5, withWorkers(2));
  EXPECT_EQ(loader.batches(), 5);
  EXPECT_EQ(loader.seed(), 7u);
  DistributedSampler expected = sampler(world);
  expected.setEpoch(3);
  std::vector<std::int64_t> indices;
  for (const Batch& batch : epochOf(loader, 3)) {
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      indices.push_back(batch.inputs[i][0].item<std::int64_t>());
      EXPECT_EQ(batch.targets[i].item<std::int64_t>(), indices.back() % 3);
    }
  }
  EXPECT_EQ(indices, expected.indices());
}

TEST(PrefetchLoader, GivesTheSameBitsWithAnyNumberOfWorkers) {
  const Communicator world;
  PrefetchLoader alone(numbers(), sampler(world), 4, withWorkers(0));
  for (const std::int64_t workers : {1, 2, 4}) {
    PrefetchLoader loader(numbers(), sampler(world), 4, withWorkers(workers, workers));
    for (const std::int64_t epoch : {0, 1}) {
      expectEqual(epochOf(loader, epoch), epochOf(alone, epoch));
    }
  }
}

TEST(PrefetchLoader, DrawsOtherRandomNumbersInEachEpochAndForEachSeed) {
  const Communicator world;
  const auto drawn = [&](std::uint64_t seed, std::int64_t epoch) {
    PrefetchLoader loader(numbers(), sampler(world, seed), kSamples);
    const Batch batch = epochOf(loader, epoch)[0];
    return batch.inputs.index_select(0, batch.inputs.select(1, 0).argsort()).select(1, 1);
  };
  EXPECT_TRUE(at::equal(drawn(1, 0), drawn(1, 0)));
  EXPECT_FALSE(at::any(drawn(1, 0).eq(drawn(1, 1))).item<bool>());
  EXPECT_FALSE(at::any(drawn(1, 0).eq(drawn(2, 0))).item<bool>());
}

TEST(PrefetchLoader, SkipsBatches) {
  const Communicator world;
  PrefetchLoader loader(numbers(), sampler(world), 4);
  std::vector<Batch> whole = epochOf(loader, 1);
  whole.erase(whole.begin(), whole.begin() + 2);
  expectEqual(epochOf(loader, 1, 2), whole);
  EXPECT_TRUE(epochOf(loader, 1, 6).empty());
}

TEST(PrefetchLoader, DropsTheLastBatchIfAsked) {
  const Communicator world;
  PrefetchLoaderOptions options;
  options.dropLast = true;
  PrefetchLoader loader(numbers(), sampler(world), 5, options);
  PrefetchLoader whole(numbers(), sampler(world), 5);
  EXPECT_EQ(loader.batches(), 4);
  std::vector<Batch> expected = epochOf(whole, 2);
  expected.pop_back();
  expectEqual(epochOf(loader, 2), expected);
  EXPECT_EQ(loader.resumeEpoch(2, 10), 2);
  EXPECT_EQ(restOf(loader).size(), 2u);
}

TEST(PrefetchLoader, ResumesAtAnyBatchOnAnotherNumberOfRanks) {
  // The numbers of all samples with their random numbers, in the order of the job.
  const auto jobOrder = [](int ranks, std::int64_t samplesDone, std::int64_t batches) {
    std::vector<std::vector<Batch>> ofRanks(static_cast<std::size_t>(ranks));
    testing::runRanks(ranks, [&](Communicator& world) {
      PrefetchLoader loader(numbers(), sampler(world), 2);
      loader.resumeEpoch(1, samplesDone);
      Batch batch;
      while (static_cast<std::int64_t>(ofRanks[static_cast<std::size_t>(world.rank())].size()) <
                 batches &&
             loader.next(batch)) {
        ofRanks[static_cast<std::size_t>(world.rank())].push_back(batch);
      }
    });
    std::vector<at::Tensor> order;
    for (std::size_t i = 0; i < ofRanks[0].size(); ++i) {
      for (std::int64_t place = 0; place < ofRanks[0][i].size(); ++place) {
        for (const std::vector<Batch>& ofRank : ofRanks) {
          order.push_back(ofRank[i].inputs[place]);
        }
      }
    }
    return at::stack(order);
  };
  const at::Tensor whole = jobOrder(1, 0, 100);
  const at::Tensor begun = jobOrder(2, 0, 3);
  ASSERT_EQ(begun.size(0), 12);
  const at::Tensor rest = jobOrder(3, 12, 100);
  EXPECT_TRUE(at::equal(begun, whole.narrow(0, 0, 12)));
  EXPECT_TRUE(at::equal(rest.narrow(0, 0, kSamples - 12), whole.narrow(0, 12, kSamples - 12)));
}

TEST(PrefetchLoader, CountsTheSamplesThatWereUsedAndNotThoseReadAhead) {
  const Communicator world;
  PrefetchLoader loader(numbers(), sampler(world), 4, withWorkers(2, 3));
  loader.startEpoch(0);
  EXPECT_EQ(loader.samplesDone(), 0);
  Batch batch;
  loader.next(batch);
  EXPECT_EQ(loader.samplesDone(), 4);
  EXPECT_EQ(loader.resumeEpoch(0, 20), 1);
  EXPECT_EQ(restOf(loader).size(), 1u);
  EXPECT_EQ(loader.samplesDone(), kSamples);
}

TEST(PrefetchLoader, ThrowsInTheTurnOfTheSampleThatFails) {
  const Communicator world;
  DistributedSampler order = sampler(world);
  const std::int64_t broken = order.indices()[9];  // In the third batch of four.
  for (const std::int64_t workers : {0, 1, 4}) {
    PrefetchLoader loader(numbers(broken), sampler(world), 4, withWorkers(workers));
    Batch batch;
    for (int attempt = 0; attempt < 2; ++attempt) {  // It can be started again.
      loader.startEpoch(0);
      EXPECT_TRUE(loader.next(batch));
      EXPECT_TRUE(loader.next(batch));
      for (int i = 0; i < 2; ++i) {
        expectError(ErrorCode::kIoError,
                    "PrefetchLoader: sample " + std::to_string(broken) +
                        " in epoch 0: image \"x.jpg\": cannot open it",
                    [&] { loader.next(batch); });
      }
    }
    EXPECT_TRUE((loader.startEpoch(0), loader.next(batch)));
  }
}

TEST(PrefetchLoader, ReadsNoFurtherAheadThanItsOption) {
  const Communicator world;
  std::atomic<std::int64_t> read{0};
  const auto source = std::make_shared<FunctionSource>(
      kSamples, std::vector<std::int64_t>{1}, [&](std::int64_t index, SampleRandom&) {
        ++read;
        return std::make_pair(at::zeros({1}), index);
      });
  PrefetchLoader loader(source, sampler(world), 2, withWorkers(4, 3));
  loader.startEpoch(0);
  Batch batch;
  for (std::int64_t taken = 1; taken <= 5; ++taken) {
    loader.next(batch);
    EXPECT_LE(read, 2 * (taken + 3));
  }
}

TEST(PrefetchLoader, IsDestroyedInTheMiddleOfAnEpoch) {
  const Communicator world;
  for (const std::int64_t workers : {0, 1, 4}) {
    PrefetchLoader loader(numbers(), sampler(world), 2, withWorkers(workers));
    Batch batch;
    loader.startEpoch(0);
    loader.next(batch);
  }
}

TEST(PrefetchLoader, IsAZoneOfTheProfiler) {
  const Communicator world;
  PrefetchLoader loader(numbers(), sampler(world), 4);
  std::vector<std::string> names;
  ProfilerOptions options;
  options.schedule.active = 1;
  options.schedule.repeat = 1;
  options.onTrace = [&](const Trace& trace, SummaryWriter*, std::int64_t) {
    for (const TraceName& name : trace.names) {
      names.push_back(name.text);
    }
  };
  Profiler profiler(options);
  epochOf(loader, 0);
  profiler.step();
  static_cast<void>(profiler.flush());
  EXPECT_THAT(names, ::testing::Contains("next batch"));
}

TEST(PrefetchLoader, RejectsWhatItCannotUse) {
  const Communicator world;
  const auto load = [&](std::int64_t batchSize, const PrefetchLoaderOptions& options) {
    PrefetchLoader loader(numbers(), sampler(world), batchSize, options);
  };
  test::expectInvalidArgument([&] { load(0, {}); },
                              "PrefetchLoader: got batch size 0; expected at least 1");
  test::expectInvalidArgument(
      [&] { load(1, withWorkers(-1)); },
      "PrefetchLoader: got PrefetchLoaderOptions::workers -1; expected at least 0");
  test::expectInvalidArgument(
      [&] { load(1, withWorkers(1, 0)); },
      "PrefetchLoader: got PrefetchLoaderOptions::prefetch 0; expected at least 1");
  test::expectInvalidArgument(
      [&] { PrefetchLoader loader(numbers(), DistributedSampler(24, world), 1); },
      "PrefetchLoader: got a sampler of 24 samples; expected at most the source's 23");
}

TEST(FunctionSource, ConvertsTypesAndRejectsOtherShapes) {
  const Communicator world;
  const auto source = std::make_shared<FunctionSource>(
      kSamples, std::vector<std::int64_t>{2, 1}, [](std::int64_t index, SampleRandom&) {
        return std::make_pair(at::full({index < 22 ? 2 : 3, 1}, index, at::kByte), index);
      });
  DistributedSamplerOptions inOrder;
  inOrder.shuffle = false;
  PrefetchLoader loader(source, {kSamples, world, inOrder}, 22);
  Batch batch;
  ASSERT_TRUE(loader.next(batch));
  EXPECT_TRUE(at::equal(batch.inputs[21], at::full({2, 1}, 21.0F)));
  expectError(ErrorCode::kInvalidArgument,
              "sample 22 in epoch 0: FunctionSource: got a tensor of shape [3, 1]; expected [2, 1]",
              [&] { loader.next(batch); });
}

TEST(DatasetSource, GivesTheBatchesOfImageLoader) {
  const Communicator world;
  const ImageDataset dataset(at::arange(2 * 3 * 4 * 4).view({2, 3, 4, 4}).to(at::kByte),
                             at::arange(2));
  const Normalization normalization{{0.1, 0.2, 0.3}, {0.5, 0.6, 0.7}};
  ImageLoader expected(dataset, {2, world}, 2, normalization);
  PrefetchLoader loader(std::make_shared<DatasetSource>(dataset, ImageTransforms{}, normalization),
                        {2, world}, 2);
  expectEqual(epochOf(loader, 5), epochOf(expected, 5));
}

TEST(DatasetSource, PadsWithBlackAndCropsAndMirrors) {
  const Communicator world;
  const ImageDataset dataset(at::full({1, 1, 2, 2}, 255, at::kByte), at::zeros({1}));
  const Normalization plain{{0}, {1}};
  PrefetchLoader loader(
      std::make_shared<DatasetSource>(
          dataset, ImageTransforms{RandomCrop{2, 1}, RandomHorizontalFlip{}}, plain),
      {1, world}, 1);
  std::vector<double> sums;
  for (std::int64_t epoch = 0; epoch < 60; ++epoch) {
    sums.push_back(epochOf(loader, epoch)[0].inputs.sum().item<double>());
  }
  // The crop holds all four pixels, two at an edge, or one at a corner.
  std::sort(sums.begin(), sums.end());
  sums.erase(std::unique(sums.begin(), sums.end()), sums.end());
  EXPECT_THAT(sums, ElementsAre(1, 2, 4));
}

}  // namespace
}  // namespace steptape
