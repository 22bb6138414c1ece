// SPDX-License-Identifier: Apache-2.0
// GradientSync on GPUs, by NCCL.

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "steptape/base/error.h"
#include "steptape/parallel/gradient_sync.h"
#include "steptape/testing/thread_communicator.h"

#include "gpu/simulated/simulated_gpu.h"
#include "support/expect_error.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;

using World = std::shared_ptr<Communicator>;
using Tensors = std::vector<at::Tensor>;

constexpr int kRanks = 3;
constexpr int kSteps = 4;

GradientSyncOptions smallBuckets() {
  GradientSyncOptions options;
  options.ncclLibrary = STEPTAPE_SIMULATED_NCCL;
  options.firstBucketBytes = 256;
  options.bucketBytes = 1024;
  return options;
}

torch::nn::Sequential net() {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  torch::manual_seed(3);
  return torch::nn::Sequential(torch::nn::Linear(6, 16), torch::nn::Tanh(),
                               torch::nn::Linear(16, 16), torch::nn::Tanh(),
                               torch::nn::Linear(16, 2));
}

at::Tensor samplesOf(int rank, int step) {
  return at::sin(at::arange(8 * 6, at::kFloat) * 0.7 + rank * 5 + step).view({8, 6});
}

at::Tensor lossOf(torch::nn::Sequential& net, int rank, int step, c10::Device device) {
  return net->forward(samplesOf(rank, step).to(device)).pow(2).mean();
}

Tensors onHost(const Tensors& tensors) {
  Tensors copies;
  for (const at::Tensor& tensor : tensors) {
    copies.push_back(tensor.detach().cpu().clone());
  }
  return copies;
}

/// Trains with the mean of all ranks' losses in one process.
Tensors trainedByOne() {
  torch::nn::Sequential model = net();
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    at::Tensor loss = torch::zeros({});
    for (int rank = 0; rank < kRanks; ++rank) {
      loss = loss + lossOf(model, rank, step, at::kCPU) / kRanks;
    }
    loss.backward();
    optimizer.step();
  }
  return onHost(model->parameters());
}

struct Trained {
  Tensors parameters;
  std::string describe;
};

/// Trains on a rank with a GPU of its own.
Trained train(const World& world, const GradientSyncOptions& options) {
  const c10::Device device = simulated_gpu::device(static_cast<c10::DeviceIndex>(world->rank()));
  const c10::DeviceGuard guard(device);
  torch::nn::Sequential model = net();
  model->to(device);
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  GradientSync sync(model->named_parameters(), world, options);
  for (int step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    simulated_gpu::keepBusy(device, 5);
    lossOf(model, world->rank(), step, device).backward();
    sync.step(optimizer);
  }
  return {onHost(model->parameters()), sync.describe()};
}

std::vector<Trained> trainOnRanks(const GradientSyncOptions& options) {
  std::vector<Trained> trained(kRanks);
  testing::runRanksShared(kRanks, [&](const World& world) {
    trained[static_cast<std::size_t>(world->rank())] = train(world, options);
  });
  return trained;
}

void expectClose(const Tensors& tensors, const Tensors& expected, double tolerance) {
  ASSERT_EQ(tensors.size(), expected.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE(torch::allclose(tensors[i], expected[i], tolerance, tolerance))
        << "parameter " << i << ": " << (tensors[i] - expected[i]).abs().max();
  }
}

void expectEqual(const Tensors& tensors, const Tensors& expected) {
  ASSERT_EQ(tensors.size(), expected.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE(tensors[i].equal(expected[i])) << "parameter " << i;
  }
}

TEST(NcclGradients, TrainRanksLikeOneProcessWithAllSamples) {
  const std::int64_t before = simulated_gpu::ncclSums();
  const std::vector<Trained> trained = trainOnRanks(smallBuckets());
  EXPECT_THAT(trained[0].describe, HasSubstr("summed on the GPUs by NCCL"));
  EXPECT_THAT(trained[0].describe, HasSubstr("overlapped on a stream of their own"));
  EXPECT_GE(simulated_gpu::ncclSums() - before, kRanks * kSteps * 2);
  expectClose(trained[0].parameters, trainedByOne(), 1e-5);
  expectEqual(trained[1].parameters, trained[0].parameters);
  expectEqual(trained[2].parameters, trained[0].parameters);
}

TEST(NcclGradients, DoNotDependOnOverlapAndBuckets) {
  const std::vector<Trained> expected = trainOnRanks(smallBuckets());
  GradientSyncOptions options = smallBuckets();
  options.overlap = false;
  options.gradientAsBucketView = false;
  options.bucketBytes = 1 << 20;
  const std::vector<Trained> trained = trainOnRanks(options);
  EXPECT_THAT(trained[0].describe, HasSubstr("not overlapped"));
  expectEqual(trained[0].parameters, expected[0].parameters);
}

TEST(NcclGradients, AreSummedAsFloat16IfCompressed) {
  GradientSyncOptions options = smallBuckets();
  options.compression = Compression::kFp16;
  options.predivideFactor = 2;
  const std::vector<Trained> trained = trainOnRanks(options);
  EXPECT_THAT(trained[0].describe, HasSubstr("float16"));
  expectClose(trained[0].parameters, trainedByOne(), 2e-3);
  expectEqual(trained[2].parameters, trained[0].parameters);
}

TEST(NcclGradients, AreLimitedInNormAndAccumulated) {
  GradientSyncOptions options = smallBuckets();
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
  const std::vector<Trained> trained = trainOnRanks(smallBuckets());
  simulated_gpu::ranksShareGpus(false);
  EXPECT_THAT(trained[2].describe,
              HasSubstr("not by NCCL: ranks 0 and 1 use the same GPU, which NCCL does not allow"));
  expectClose(trained[0].parameters, trainedByOne(), 1e-5);
}

TEST(NcclGradients, TravelThroughMainMemoryWithoutNccl) {
  GradientSyncOptions options = smallBuckets();
  options.ncclLibrary = "libnccl-that-is-not-there.so";
  const std::vector<Trained> trained = trainOnRanks(options);
  EXPECT_THAT(trained[1].describe, HasSubstr("not by NCCL: rank 0: NCCL cannot be loaded"));
  EXPECT_THAT(trained[1].describe, HasSubstr("libnccl-that-is-not-there.so"));
  expectClose(trained[0].parameters, trainedByOne(), 1e-5);
}

TEST(NcclGradients, TravelThroughMainMemoryIfNcclDoesNotStart) {
  simulated_gpu::ncclFailsToStart(2);
  const std::vector<Trained> trained = trainOnRanks(smallBuckets());
  simulated_gpu::ncclFailsToStart(0);
  EXPECT_THAT(trained[1].describe, HasSubstr("rank 0: NCCL reports \"unhandled system error\""));
  expectClose(trained[0].parameters, trainedByOne(), 1e-5);
}

/// A rank that has averaged gradients once, so that its buckets and NCCL's group exist.
class Rank {
 public:
  explicit Rank(const World& world, const GradientSyncOptions& options = smallBuckets())
      : world_(world),
        device_(simulated_gpu::device(static_cast<c10::DeviceIndex>(world->rank()))),
        guard_(device_),
        model_(net()) {
    model_->to(device_);
    sync_ = std::make_unique<GradientSync>(model_->named_parameters(), world, options);
    backward();
    sync_->synchronize();
  }

  c10::Device device() const { return device_; }
  GradientSync& sync() { return *sync_; }
  void backward() { lossOf(model_, world_->rank(), 0, device_).backward(); }
  void waitForGpu() const {
    c10::impl::VirtualGuardImpl(device_.type()).synchronizeDevice(device_.index());
  }

 private:
  World world_;
  c10::Device device_;
  c10::DeviceGuard guard_;
  torch::nn::Sequential model_;
  std::unique_ptr<GradientSync> sync_;
};

TEST(NcclGradients, AreNotCopiedToTheHostWhichWaitsForNoGpu) {
  testing::runRanksShared(2, [](const World& world) {
    Rank rank(world);
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
    Rank rank(world);
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
    Rank rank(world);
    if (world->rank() == 1) {
      return;  // never sums again
    }
    rank.backward();
    test::expectError(ErrorCode::kDeadlineExceeded, "rank 1", [&] { rank.sync().synchronize(); });
    // A host that waits for the GPU continues.
    rank.waitForGpu();
    test::expectError(ErrorCode::kDeadlineExceeded, "rank 1", [&] { rank.sync().synchronize(); });
  });
}

}  // namespace
}  // namespace steptape
