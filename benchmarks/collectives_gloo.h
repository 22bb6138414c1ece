// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "steptape/ranks/communicator.h"

namespace benchmark {

/// Returns a call of LibTorch's process group, over all ranks that torchrun has started.
std::function<void(std::vector<float>& data)> bareGloo();

/// Returns a communicator that uses no shared memory.
std::shared_ptr<steptape::Communicator> communicatorOverGloo();

}  // namespace benchmark
