// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint/random_state.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/little_endian.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <torch/nn/module.h>

namespace steptape::detail::train {
namespace {

std::vector<c10::Device> devicesOf(const torch::nn::Module& module) {
  std::vector<c10::Device> devices = {c10::kCPU};
  const auto add = [&devices](const at::Tensor& tensor) {
    if (tensor.is_cuda() &&
        std::find(devices.begin(), devices.end(), tensor.device()) == devices.end()) {
      devices.push_back(tensor.device());
    }
  };
  for (const at::Tensor& parameter : module.parameters()) {
    add(parameter);
  }
  for (const at::Tensor& buffer : module.buffers()) {
    add(buffer);
  }
  return devices;
}

constexpr std::size_t kSizeBytes = sizeof(std::uint64_t);

/// Returns the states, which follow their sizes.
std::vector<at::Tensor> statesIn(const std::string& bytes) {
  std::vector<at::Tensor> states;
  std::size_t next = 0;
  while (bytes.size() - next >= kSizeBytes) {
    const std::uint64_t size = base::loadLittleEndian64(bytes.data() + next);
    next += kSizeBytes;
    TORCH_CHECK(size <= bytes.size() - next, "a random state is longer than what holds it");
    states.push_back(at::empty({static_cast<std::int64_t>(size)}, at::kByte));
    std::memcpy(states.back().data_ptr(), bytes.data() + next, size);
    next += size;
  }
  return states;
}

}  // namespace

std::string randomState(const torch::nn::Module& module) {
  std::string bytes;
  for (const c10::Device device : devicesOf(module)) {
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    const at::Tensor state = generator.get_state();
    char size[kSizeBytes];
    base::storeLittleEndian64(size, state.nbytes());
    bytes.append(size, sizeof(size));
    bytes.append(static_cast<const char*>(state.data_ptr()), state.nbytes());
  }
  return bytes;
}

void setRandomState(const torch::nn::Module& module, const std::string& state) {
  const std::vector<at::Tensor> states = statesIn(state);
  const std::vector<c10::Device> devices = devicesOf(module);
  for (std::size_t i = 0; i < std::min(states.size(), devices.size()); ++i) {
    at::Generator generator = at::globalContext().defaultGenerator(devices[i]);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_state(states[i]);
  }
}

}  // namespace steptape::detail::train
