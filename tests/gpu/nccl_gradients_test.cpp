// SPDX-License-Identifier: Apache-2.0
// GradientSync on GPUs, by NCCL.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"

#include "gpu/gradient_ranks.h"
#include "gpu/simulated/simulated_gpu.h"
#include "support/expect_error.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::test {
namespace {

using ::testing::HasSubstr;

constexpr int kRanks = 3;

GradientSyncOptions byNccl() {
  return smallBuckets(STEPTAPE_SIMULATED_NCCL);
}

std::vector<Trained> trainOnRanks(const GradientSyncOptions& options) {
  std::vector<Trained> trained(kRanks);
  testing::runRanksShared(kRanks, [&](const World& world) {
    trained[static_cast<std::size_t>(world->rank())] = train(world, options);
  });
  return trained;
}

TEST(NcclGradients, TrainRanksLikeOneProcessWithAllSamples) {
  const std::int64_t before = simulated_gpu::ncclSums();
  const std::vector<Trained> trained = trainOnRanks(byNccl());
  EXPECT_THAT(trained[0].describe, HasSubstr("summed on the GPUs by NCCL"));
  EXPECT_THAT(trained[0].describe, HasSubstr("overlapped on a stream of their own"));
  EXPECT_GE(simulated_gpu::ncclSums() - before, kRanks * kSteps * 2);
  expectClose(trained[0].parameters, trainedByOne(kRanks), 1e-5);
  expectEqual(trained[1].parameters, trained[0].parameters);
  expectEqual(trained[2].parameters, trained[0].parameters);
}

TEST(NcclGradients, DoNotDependOnOverlapAndBuckets) {
  const std::vector<Trained> expected = trainOnRanks(byNccl());
  GradientSyncOptions options = byNccl();
  options.overlap = false;
  options.gradientAsBucketView = false;
  options.bucketBytes = 1 << 20;
  const std::vector<Trained> trained = trainOnRanks(options);
  EXPECT_THAT(trained[0].describe, HasSubstr("not overlapped"));
  expectEqual(trained[0].parameters, expected[0].parameters);
}

TEST(NcclGradients, AreSummedAsFloat16IfCompressed) {
  GradientSyncOptions options = byNccl();
  options.compression = Compression::kFp16;
  options.predivideFactor = 2;
  const std::vector<Trained> trained = trainOnRanks(options);
  EXPECT_THAT(trained[0].describe, HasSubstr("float16"));
  expectClose(trained[0].parameters, trainedByOne(kRanks), 2e-3);
  expectEqual(trained[2].parameters, trained[0].parameters);
}

TEST(NcclGradients, AreLimitedInNormAndAccumulated) {
  GradientSyncOptions options = byNccl();
  options.maxNorm = 0.05;
  options.accumulationSteps = 2;
  GradientSyncOptions byHost = options;
  byHost.ncclLibrary.clear();
  const std::vector<Trained> trained = trainOnRanks(options);
  const std::vector<Trained> expected = trainOnRanks(byHost);
  EXPECT_THAT(expected[0].describe, ::testing::Not(HasSubstr("NCCL")));
  expectClose(trained[0].parameters, expected[0].parameters, 1e-6);
}

TEST(NcclGradients, TravelThroughMainMemoryIfRanksShareAGpu) {
  simulated_gpu::ranksShareGpus(true);
  const std::vector<Trained> trained = trainOnRanks(byNccl());
  simulated_gpu::ranksShareGpus(false);
  EXPECT_THAT(trained[2].describe,
              HasSubstr("not by NCCL: ranks 0 and 1 use the same GPU, which NCCL does not allow"));
  expectClose(trained[0].parameters, trainedByOne(kRanks), 1e-5);
}

TEST(NcclGradients, TravelThroughMainMemoryWithoutNccl) {
  GradientSyncOptions options = byNccl();
  options.ncclLibrary = "libnccl-that-is-not-there.so";
  const std::vector<Trained> trained = trainOnRanks(options);
  EXPECT_THAT(trained[1].describe, HasSubstr("not by NCCL: rank 0: NCCL cannot be loaded"));
  EXPECT_THAT(trained[1].describe, HasSubstr("libnccl-that-is-not-there.so"));
  expectClose(trained[0].parameters, trainedByOne(kRanks), 1e-5);
}

TEST(NcclGradients, TravelThroughMainMemoryIfNcclDoesNotStart) {
  simulated_gpu::ncclFailsToStart(2);
  const std::vector<Trained> trained = trainOnRanks(byNccl());
  simulated_gpu::ncclFailsToStart(0);
  EXPECT_THAT(trained[1].describe, HasSubstr("rank 0: NCCL reports \"unhandled system error\""));
  expectClose(trained[0].parameters, trainedByOne(kRanks), 1e-5);
}

TEST(NcclGradients, AreNotCopiedToTheHostWhichWaitsForNoGpu) {
  testing::runRanksShared(2, [](const World& world) {
    GradientRank rank(world, byNccl());
    rank.backward();
    world->barrier();
    const simulated_gpu::Counts before = simulated_gpu::counts();
    world->barrier();
    rank.sync().synchronize();
    world->barrier();
    EXPECT_EQ(simulated_gpu::counts().bytesToHost, before.bytesToHost);
    EXPECT_EQ(simulated_gpu::counts().waits, before.waits);
    world->barrier();
  });
}

TEST(NcclGradients, AreSummedWhileBackwardRuns) {
  testing::runRanksShared(2, [](const World& world) {
    GradientRank rank(world, byNccl());
    world->barrier();
    const std::int64_t before = simulated_gpu::ncclSums();
    world->barrier();
    rank.backward();
    world->barrier();
    EXPECT_GE(simulated_gpu::ncclSums() - before, 4);
    world->barrier();
    rank.sync().synchronize();
  });
}

TEST(NcclGradients, OfALostRankEndInAnError) {
  testing::runRanksShared(2, [](const World& world) {
    GradientRank rank(world, byNccl());
    if (world->rank() == 1) {
      return;  // never sums again
    }
    rank.backward();
    expectError(ErrorCode::kDeadlineExceeded, "rank 1", [&] { rank.sync().synchronize(); });
    // A host that waits for the GPU continues.
    const c10::Device device = rank.device();
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
    expectError(ErrorCode::kDeadlineExceeded, "rank 1", [&] { rank.sync().synchronize(); });
  });
}

}  // namespace
}  // namespace steptape::test
