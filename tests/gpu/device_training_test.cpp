// SPDX-License-Identifier: Apache-2.0
// The trainer on devices.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/test_device.h"
#include "trainer/training_fixture.h"

namespace steptape::test {
namespace {

class DeviceTraining : public Training {
 protected:
  static int ranks() { return std::min<int>(2, gpu::deviceCount()); }

  /// Trains on ranks that are threads, and returns the parameters of the last one on the host.
  std::vector<at::Tensor> trained(const TrainerOptions& options, double drop = 0) {
    std::vector<at::Tensor> parameters;
    torch::manual_seed(5);
    testing::runRanksShared(ranks(), [&](const World& world) {
      Run run;
      run.options = options;
      run.options.allowTf32 = false;
      run.options.gradientSync.ncclLibrary = gpu::ncclLibrary();
      run.net = std::make_shared<SmallNet>(drop);
      const std::shared_ptr<SmallNet> net = run.net;
      fit(world, std::move(run));
      EXPECT_EQ(net->fc->weight.is_cuda(), options.useDevices);
      if (world->rank() + 1 == world->size()) {
        for (const at::Tensor& parameter : net->parameters()) {
          parameters.push_back(parameter.detach().cpu().clone());
        }
      }
    });
    return parameters;
  }

  TrainerOptions onDevices(std::int64_t epochs = 2) {
    TrainerOptions options;
    options.epochs = epochs;
    options.useDevices = true;
    return options;
  }

  static void expectClose(const std::vector<at::Tensor>& tensors,
                          const std::vector<at::Tensor>& expected, double tolerance) {
    ASSERT_EQ(tensors.size(), expected.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_TRUE(tensors[i].allclose(expected[i], tolerance, tolerance))
          << "got\n"
          << tensors[i] << "\nexpected\n"
          << expected[i];
    }
  }
};

TEST_F(DeviceTraining, LearnsWhatTheCpuLearns) {
  TrainerOptions onCpu = onDevices();
  onCpu.useDevices = false;
  expectClose(trained(onDevices()), trained(onCpu), 1e-4);
}

TEST_F(DeviceTraining, LearnsTheSameWithEverythingLogged) {
  const std::vector<at::Tensor> expected = trained(onDevices());
  TrainerOptions options = onDevices();
  options.parameterNormSteps = 1;
  options.stragglerSteps = 2;
  options.profilingShare = 0.5;
  options.detailScalars = true;
  expectClose(trained(options), expected, 1e-6);
}

TEST_F(DeviceTraining, ComputesInBfloat16AndFloat16) {
  const std::vector<at::Tensor> expected = trained(onDevices());
  TrainerOptions options = onDevices();
  options.precision = Precision::kBfloat16;
  expectClose(trained(options), expected, 0.05);
  options.precision = Precision::kFloat16;
  options.lossScale.initial = 256;
  expectClose(trained(options), expected, 0.01);
}

TEST_F(DeviceTraining, ResumesBitForBitWithTheRandomNumbersOfTheDevices) {
  constexpr double kDrop = 0.5;
  const std::vector<at::Tensor> expected = trained(onDevices(4), kDrop);
  TrainerOptions first = withCheckpoints(2);
  first.useDevices = true;
  trained(first, kDrop);
  TrainerOptions second = withCheckpoints(4, true);
  second.useDevices = true;
  expectClose(trained(second, kDrop), expected, 0);
}

}  // namespace
}  // namespace steptape::test
