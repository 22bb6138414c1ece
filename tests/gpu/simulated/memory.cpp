// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "gpu/simulated/simulated_gpu.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

namespace steptape::simulated_gpu {
namespace {

constexpr std::size_t kBytesPerDevice = std::size_t{1} << 28;
constexpr std::size_t kAlignment = 512;

/// The memory of all devices, mapped twice: one view for kernels, and one that only has addresses.
class Arena {
 public:
  Arena() {
    const int file = memfd_create("simulated_gpu", MFD_CLOEXEC);
    TORCH_CHECK(file >= 0 && ftruncate(file, kBytes) == 0, "no memory for the simulated GPU");
    addresses_ = map(file, PROT_NONE);
    kernels_ = map(file, PROT_READ | PROT_WRITE);
    close(file);
    for (std::size_t device = 0; device < kDevices; ++device) {
      free_.emplace(device * kBytesPerDevice, kBytesPerDevice);
    }
  }

  void* allocate(c10::DeviceIndex device, std::size_t bytes) {
    const std::size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto block = free_.lower_bound(device * kBytesPerDevice); block != free_.end(); ++block) {
      const auto [start, room] = *block;
      if (start / kBytesPerDevice == static_cast<std::size_t>(device) && room >= size) {
        free_.erase(block);
        if (room > size) {
          free_.emplace(start + size, room - size);
        }
        used_.emplace(start, size);
        return addresses_ + start;
      }
    }
    throw std::runtime_error("the simulated GPU is out of memory");
  }

  /// Returns the size of the block at `pointer`.
  std::size_t sizeOf(const void* pointer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return used_.at(offsetOf(pointer));
  }

  void release(void* pointer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto block = used_.extract(offsetOf(pointer));
    const auto at = free_.emplace(block.key(), block.mapped()).first;
    // Joined within a device only.
    const auto next = std::next(at);
    if (next != free_.end() && at->first + at->second == next->first &&
        next->first % kBytesPerDevice != 0) {
      at->second += next->second;
      free_.erase(next);
    }
    if (at != free_.begin() && at->first % kBytesPerDevice != 0) {
      const auto previous = std::prev(at);
      if (previous->first + previous->second == at->first) {
        previous->second += at->second;
        free_.erase(at);
      }
    }
  }

  bool holds(const void* pointer) const {
    const auto* const at = static_cast<const std::byte*>(pointer);
    return at >= addresses_ && at < addresses_ + kBytes;
  }
  std::size_t offsetOf(const void* pointer) const {
    TORCH_CHECK(holds(pointer), "the address is not in the simulated GPU");
    return static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - addresses_);
  }
  void* kernelView(const void* pointer) const { return kernels_ + offsetOf(pointer); }

  void protect(int protection) const { mprotect(addresses_, kBytes, protection); }

 private:
  static constexpr std::size_t kBytes = kDevices * kBytesPerDevice;

  static std::byte* map(int file, int protection) {
    void* const memory = mmap(nullptr, kBytes, protection, MAP_SHARED, file, 0);
    TORCH_CHECK(memory != MAP_FAILED, "no memory for the simulated GPU");
    return static_cast<std::byte*>(memory);
  }

  std::mutex mutex_;
  std::byte* addresses_ = nullptr;
  std::byte* kernels_ = nullptr;
  std::map<std::size_t, std::size_t> free_;
  std::map<std::size_t, std::size_t> used_;
};

Arena& arena() {
  static auto& arena = *new Arena;  // Never destroyed: streams use it until the process ends.
  return arena;
}

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    return c10::GetCPUAllocator()->allocate(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

class Hooks final : public at::CUDAHooksInterface {
 public:
  explicit Hooks(at::CUDAHooksArgs /*arguments*/) {}

  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  int getNumGPUs() const override { return kDevices; }
  c10::DeviceIndex deviceCount() const override { return kDevices; }
  bool hasPrimaryContext(c10::DeviceIndex /*device*/) const override { return true; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    static auto& generators = *new std::vector<at::Generator>;
    static const bool kIsFilled = [] {
      for (c10::DeviceIndex index = 0; index < kDevices; ++index) {
        generators.push_back(at::detail::createCPUGenerator());
      }
      return true;
    }();
    static_cast<void>(kIsFilled);
    return generators.at(static_cast<std::size_t>(std::max<c10::DeviceIndex>(device, 0)));
  }
  at::Device getDeviceFromPtr(void* pointer) const override { return device(deviceOf(pointer)); }
  at::Allocator* getPinnedMemoryAllocator() const override {
    static PinnedAllocator allocator;
    return &allocator;
  }
};

}  // namespace
}  // namespace steptape::simulated_gpu

namespace at {
using CUDAHooks = steptape::simulated_gpu::Hooks;
REGISTER_CUDA_HOOKS(CUDAHooks)  // LibTorch asks for this name.
}  // namespace at

namespace steptape::simulated_gpu {

void* allocate(c10::DeviceIndex device, std::size_t bytes) {
  return bytes == 0 ? nullptr : arena().allocate(device, bytes);
}

void release(void* pointer) {
  arena().release(pointer);
}

void* kernelView(const void* pointer) {
  return pointer == nullptr ? nullptr : arena().kernelView(pointer);
}

bool isDeviceMemory(const void* pointer) {
  return arena().holds(pointer);
}

c10::DeviceIndex deviceOf(const void* pointer) {
  return static_cast<c10::DeviceIndex>(arena().offsetOf(pointer) / kBytesPerDevice);
}

std::size_t bytesAt(const void* pointer) {
  return arena().sizeOf(pointer);
}

HostAccess::HostAccess() {
  arena().protect(PROT_READ | PROT_WRITE);
}

HostAccess::~HostAccess() {
  arena().protect(PROT_NONE);
}

}  // namespace steptape::simulated_gpu
