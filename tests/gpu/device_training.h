// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/test_device.h"
#include "train/loop/training_fixture.h"

namespace steptape::test {

class DeviceTraining : public Training {
 protected:
  /// Trains on ranks that are threads with devices of their own, and returns the parameters of the
  /// last one on the host.
  std::vector<at::Tensor> trained(
      const TrainerOptions& options, double drop = 0, int most = 2,
      const std::function<void(Run&)>& change = [](Run&) {}) {
    std::vector<at::Tensor> parameters;
    torch::manual_seed(5);
    testing::runRanksShared(std::min<int>(most, gpu::deviceCount()), [&](const World& world) {
      Run run;
      run.options = options;
      run.options.allowTf32 = false;
      run.options.gradientSync.ncclLibrary = gpu::ncclLibrary();
      run.net = std::make_shared<SmallNet>(drop);
      change(run);
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

}  // namespace steptape::test
