// SPDX-License-Identifier: Apache-2.0
// CUDA devices. Needs no header of CUDA, so that it compiles everywhere.
#include "gpu/test_device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <dlfcn.h>
#include <mutex>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <c10/core/DeviceGuard.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

namespace steptape::gpu {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<std::int64_t> waits{0};

/// Without a device, no test runs and the program fails.
class RequireDevice final : public ::testing::Environment {
 public:
  void SetUp() override {
    if (torch::cuda::device_count() == 0) {
      FAIL() << "tests/gpu: got no CUDA device; expected at least one, a driver, and a LibTorch "
                "whose CUDA libraries are linked (STEPTAPE_WITH_CUDA=ON)";
    }
  }
};
[[maybe_unused]] const ::testing::Environment* const kRequirement =
    ::testing::AddGlobalTestEnvironment(new RequireDevice);

/// Matrix products, which wait for nothing and allocate nothing.
class Load {
 public:
  void queue(c10::Device device, std::int64_t millis) {
    prepare(device);
    const auto products = static_cast<std::int64_t>(static_cast<double>(millis) / millisEach_) + 1;
    for (std::int64_t i = 0; i < products; ++i) {
      multiply();
    }
  }

 private:
  void prepare(c10::Device device) {
    if (factor_.defined()) {
      return;
    }
    constexpr std::int64_t kSize = 4096;
    constexpr int kProducts = 10;
    factor_ = at::ones({kSize, kSize}, device);
    product_ = at::ones({kSize, kSize}, device);
    multiply();  // loads the library
    waitFor(device);
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kProducts; ++i) {
      multiply();
    }
    waitFor(device);
    const std::chrono::duration<double, std::milli> time = Clock::now() - start;
    millisEach_ = std::max(time.count() / kProducts, 0.01);
  }
  void multiply() { at::mm_out(product_, factor_, factor_); }

  at::Tensor factor_;
  at::Tensor product_;
  double millisEach_ = 1;
};

using Function = int (*)(void*);

/// Calls CUDA's function and counts the call.
int countedWait(const char* name, void* argument) {
  constexpr int kNoDevice = 100;  // cudaErrorNoDevice
  const auto function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  ++waits;
  return function == nullptr ? kNoDevice : function(argument);
}

}  // namespace

c10::DeviceIndex deviceCount() {
  return static_cast<c10::DeviceIndex>(torch::cuda::device_count());
}

void keepBusy(c10::Device device, std::int64_t millis) {
  // Never destroyed: CUDA may end before static objects do.
  static auto& loads = *new std::array<Load, 64>;
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const at::NoGradGuard noGrad;
  const c10::DeviceGuard guard(device);
  loads.at(static_cast<std::size_t>(device.index())).queue(device, millis);
}

std::int64_t hostWaits() {
  return waits;
}

std::string ncclLibrary() {
  return "libnccl.so.2";
}

}  // namespace steptape::gpu

// The program exports these, so LibTorch calls them instead of CUDA's.
extern "C" {

__attribute__((visibility("default"))) int cudaStreamSynchronize(void* stream) {
  return steptape::gpu::countedWait("cudaStreamSynchronize", stream);
}

__attribute__((visibility("default"))) int cudaEventSynchronize(void* event) {
  return steptape::gpu::countedWait("cudaEventSynchronize", event);
}

__attribute__((visibility("default"))) int cudaDeviceSynchronize() {
  return steptape::gpu::countedWait("cudaDeviceSynchronize", nullptr);
}

}  // extern "C"
