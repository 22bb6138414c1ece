// SPDX-License-Identifier: Apache-2.0
#include "libtorch/tensors/device_copy.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace steptape::detail::libtorch {
namespace {

std::atomic<const DeviceCopier*> testCopier{nullptr};

/// The end of a queued copy.
class EventArrival final : public TensorArrival {
 public:
  EventArrival(c10::Event done, at::Tensor source)
      : done_(std::move(done)), source_(std::move(source)) {}

  void wait() override {
    // Polled: before 2.4, LibTorch has no device-independent way to wait for an event.
    constexpr auto kLongestPause = std::chrono::microseconds(1000);
    auto pause = std::chrono::microseconds(20);
    while (!done_.query()) {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kLongestPause);
    }
  }

 private:
  const c10::Event done_;
  const at::Tensor source_;  // its memory must not be reused before the copy is made
};

/// The copy engine writes asynchronously only to page-locked memory.
at::Tensor emptyInMainMemory(const at::Tensor& like) {
  return at::empty(like.sizes(),
                   like.options().device(at::kCPU).pinned_memory(like.device().is_cuda()));
}

}  // namespace

DeviceCopier::~DeviceCopier() = default;

bool DeviceCopier::canCopy(const at::Tensor& tensor) const {
  const c10::DeviceType type = tensor.device().type();
  return type != c10::DeviceType::CPU && type != c10::DeviceType::Meta &&
         tensor.layout() == at::kStrided && !tensor.is_quantized() &&
         c10::impl::hasDeviceGuardImpl(type);
}

DeviceCopier::Copy DeviceCopier::copy(const at::Tensor& tensor) const {
  const c10::Device device = tensor.device();
  at::Tensor host = emptyInMainMemory(tensor);
  host.copy_(tensor, /*non_blocking=*/true);
  c10::Event done(device.type());
  done.record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  return {std::move(host), std::make_shared<EventArrival>(std::move(done), tensor)};
}

const DeviceCopier& DeviceCopier::current() {
  static const DeviceCopier kReal;
  const DeviceCopier* const test = testCopier.load(std::memory_order_acquire);
  return test != nullptr ? *test : kReal;
}

void DeviceCopier::setForTesting(const DeviceCopier* copier) {
  testCopier.store(copier, std::memory_order_release);
}

}  // namespace steptape::detail::libtorch
