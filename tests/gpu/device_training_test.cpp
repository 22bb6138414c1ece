// SPDX-License-Identifier: Apache-2.0
// The trainer on devices.
#include "gpu/device_training.h"

namespace steptape::test {
namespace {

TEST_F(DeviceTraining, LearnsWhatTheCpuLearns) {
  TrainerOptions onCpu = onDevices();
  onCpu.useDevices = false;
  expectClose(trained(onDevices()), trained(onCpu), 1e-4);
}

TEST_F(DeviceTraining, LearnsTheSameWithEverythingLogged) {
  constexpr int kRanks = 1;  // A process has one profiler.
  const std::vector<at::Tensor> expected = trained(onDevices(), 0, kRanks);
  TrainerOptions options = onDevices();
  options.parameterNormSteps = 1;
  options.stragglerSteps = 2;
  options.profilingShare = 0.5;
  options.detailScalars = true;
  expectClose(trained(options, 0, kRanks), expected, 1e-6);
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
