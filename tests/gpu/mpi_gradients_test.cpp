// SPDX-License-Identifier: Apache-2.0
// GradientSync on GPUs, by a GPU-aware MPI. With HostAccess, every MPI accesses the simulated GPUs.

#include <chrono>
#include <memory>
#include <string>

#include "steptape/ranks/mpi_communicator.h"

#include "gpu/gradient_ranks.h"
#include "gpu/simulated/simulated_gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MpiGradients : public ::testing::Test {
 protected:
  static MpiCommunicatorOptions gpuAware() {
    MpiCommunicatorOptions options;
    options.timeout = std::chrono::seconds(60);
    options.assumeGpuAware = true;
    return options;
  }

  static World world(const MpiCommunicatorOptions& options = gpuAware()) {
    return std::make_shared<MpiCommunicator>(MPI_COMM_WORLD, options);
  }

  static GradientSyncOptions withoutNccl() { return smallBuckets(""); }

  static void expectEqualOnAllRanks(const Tensors& parameters) {
    for (const at::Tensor& parameter : parameters) {
      at::Tensor ofRoot = parameter.clone();
      job_->broadcast(ofRoot.data_ptr(), ofRoot.nbytes(), 0);
      EXPECT_TRUE(parameter.equal(ofRoot)) << parameter << "\nroot:\n" << ofRoot;
    }
  }

 private:
  void SetUp() override { job_ = world(); }
  void TearDown() override { job_.reset(); }

  const simulated_gpu::HostAccess access_;
  static inline World job_;
};

TEST_F(MpiGradients, TrainRanksLikeOneProcessWithAllSamples) {
  const World ranks = world();
  const Trained trained = train(ranks, withoutNccl());
  EXPECT_THAT(trained.describe, HasSubstr("summed on the GPUs, exchanged by a GPU-aware MPI"));
  EXPECT_EQ(trained.bytesToHost, 0);
  expectClose(trained.parameters, trainedByOne(ranks->size()), 1e-5);
  expectEqualOnAllRanks(trained.parameters);
}

TEST_F(MpiGradients, DoNotDependOnOverlapAndBucketsAndTheSizeOfMessages) {
  const Trained expected = train(world(), withoutNccl());
  GradientSyncOptions options = withoutNccl();
  options.overlap = false;
  options.gradientAsBucketView = false;
  options.bucketBytes = 1 << 20;
  MpiCommunicatorOptions smallMessages = gpuAware();
  smallMessages.maxCount = 100;
  smallMessages.useNodeMemory = false;
  const Trained trained = train(world(smallMessages), options);
  EXPECT_THAT(trained.describe, HasSubstr("not overlapped"));
  EXPECT_EQ(trained.bytesToHost, 0);
  if (world()->size() == 2) {  // of more summands, the order depends on the buckets
    expectEqual(trained.parameters, expected.parameters);
  }
  expectClose(trained.parameters, expected.parameters, 1e-6);
}

TEST_F(MpiGradients, AreSummedInFloat32IfFloat16Travels) {
  GradientSyncOptions options = withoutNccl();
  options.compression = Compression::kFp16;
  options.predivideFactor = 2;
  const Trained trained = train(world(), options);
  EXPECT_THAT(trained.describe, HasSubstr("float16, summed on the GPUs"));
  EXPECT_EQ(trained.bytesToHost, 0);
  expectClose(trained.parameters, trainedByOne(world()->size()), 2e-3);
  expectEqualOnAllRanks(trained.parameters);
}

TEST_F(MpiGradients, AreLimitedInNormAndAccumulated) {
  GradientSyncOptions options = withoutNccl();
  options.maxNorm = 0.05;
  options.accumulationSteps = 2;
  MpiCommunicatorOptions mainMemory = gpuAware();
  mainMemory.assumeGpuAware = false;
  const Trained expected = train(world(mainMemory), options);
  EXPECT_THAT(expected.describe, Not(HasSubstr("on the GPUs")));
  EXPECT_GT(expected.bytesToHost, 0);
  expectClose(train(world(), options).parameters, expected.parameters, 1e-6);
}

TEST_F(MpiGradients, MayHaveFewerElementsThanThereAreRanks) {
  const World ranks = world();
  at::Tensor bias = at::zeros({1}, gpuOf(*ranks)).requires_grad_();
  GradientSync sync({{"bias", bias}}, ranks, withoutNccl());
  for (int step = 0; step < 2; ++step) {
    bias.mutable_grad().reset();
    (bias * (ranks->rank() + step)).sum().backward();
    sync.synchronize();
    EXPECT_EQ(bias.grad().item<double>(), (ranks->size() - 1) / 2.0 + step);
  }
}

TEST_F(MpiGradients, TravelThroughMainMemoryIfMpiOnOneRankIsNotGpuAware) {
  MpiCommunicatorOptions options = gpuAware();
  options.assumeGpuAware = world()->rank() != 1;
  const Trained trained = train(world(options), withoutNccl());
  EXPECT_THAT(trained.describe, Not(HasSubstr("on the GPUs")));
  expectClose(trained.parameters, trainedByOne(world()->size()), 1e-5);
}

TEST_F(MpiGradients, TravelBetweenGpusIfNcclCannotBeLoaded) {
  const Trained trained = train(world(), smallBuckets("libnccl-that-is-not-there.so"));
  EXPECT_THAT(trained.describe, HasSubstr("exchanged by a GPU-aware MPI"));
  EXPECT_THAT(trained.describe, HasSubstr("not by NCCL: rank 0: NCCL cannot be loaded"));
}

}  // namespace
}  // namespace steptape::test
