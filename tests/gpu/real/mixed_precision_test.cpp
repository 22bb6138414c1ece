// SPDX-License-Identifier: Apache-2.0
// Only real devices have the kernels that autocast selects.
#include "gpu/device_training.h"

namespace steptape::test {
namespace {

TEST_F(DeviceTraining, ComputesInBfloat16AndFloat16) {
  const std::vector<at::Tensor> expected = trained(onDevices());
  TrainerOptions options = onDevices();
  options.precision = Precision::kBfloat16;
  expectClose(trained(options), expected, 0.05);
  options.precision = Precision::kFloat16;
  options.lossScale.initial = 256;
  expectClose(trained(options), expected, 0.01);
}

}  // namespace
}  // namespace steptape::test
