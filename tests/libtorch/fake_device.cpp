// SPDX-License-Identifier: Apache-2.0
#include "fake_device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include <c10/core/TensorImpl.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

namespace steptape {
namespace {

using Clock = std::chrono::steady_clock;

constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;

c10::Device device() {
  return {kType, 0};
}

struct FakeEvent {
  Clock::time_point reached;
};

std::mutex mutex;
Clock::time_point streamIsFree;
bool streamNeverIdles = false;
std::vector<std::thread::id> waits;
std::atomic<std::int64_t> created{0};
std::atomic<bool> refuses{false};

/// Returns when newly queued work starts. REQUIRES: the mutex is held.
Clock::time_point endOfStream() {
  return streamNeverIdles ? streamIsFree : std::max(Clock::now(), streamIsFree);
}

class FakeGuard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device) const override { return device(); }
  c10::Device getDevice() const override { return device(); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::Stream getStream(c10::Device) const override {
    return c10::Stream(c10::Stream::UNSAFE, device(), FakeDevice::kStreamId);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override {
    return c10::Stream(c10::Stream::UNSAFE, device(), FakeDevice::kStreamId + 1);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex,
              c10::EventFlag) const override {
    TORCH_CHECK(!refuses, "the fake device has no events");
    if (*event == nullptr) {
      *event = new FakeEvent;
      ++created;
    }
    const std::lock_guard<std::mutex> lock(mutex);
    static_cast<FakeEvent*>(*event)->reached =
        stream.id() == FakeDevice::kStreamId ? endOfStream() : Clock::now();
  }
  bool queryEvent(void* event) const override {
    return static_cast<FakeEvent*>(event)->reached <= Clock::now();
  }
  void synchronizeEvent(void* event) const override {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      waits.push_back(std::this_thread::get_id());
    }
    std::this_thread::sleep_until(static_cast<FakeEvent*>(event)->reached);
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<FakeEvent*>(event);
  }
  double elapsedTime(void* from, void* to, c10::DeviceIndex) const override {
    return std::chrono::duration<double, std::milli>(static_cast<FakeEvent*>(to)->reached -
                                                     static_cast<FakeEvent*>(from)->reached)
        .count();
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, FakeGuard)

at::Tensor runWork(const at::Tensor& tensor, std::int64_t micros) {
  const std::lock_guard<std::mutex> lock(mutex);
  streamIsFree = endOfStream() + std::chrono::microseconds(micros);
  return tensor;
}

at::Tensor runWorkTwice(const at::Tensor& tensor, std::int64_t micros) {
  FakeDevice::work(tensor, micros);
  return FakeDevice::work(tensor, micros);
}

using Operator = at::Tensor(const at::Tensor&, std::int64_t);

c10::TypedOperatorHandle<Operator> operatorNamed(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Operator>();
}

}  // namespace

at::Tensor FakeDevice::tensor() {
  return at::detail::make_tensor<c10::TensorImpl>(
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), caffe2::TypeMeta::Make<float>(),
      device());
}

at::Tensor FakeDevice::work(const at::Tensor& tensor, std::int64_t micros) {
  static const auto kWork = operatorNamed("fake::work");
  return kWork.call(tensor, micros);
}

at::Tensor FakeDevice::workTwice(const at::Tensor& tensor, std::int64_t micros) {
  static const auto kWorkTwice = operatorNamed("fake::work_twice");
  return kWorkTwice.call(tensor, micros);
}

void FakeDevice::neverIdles(bool whether) {
  const std::lock_guard<std::mutex> lock(mutex);
  streamIsFree = endOfStream();
  if (whether) {
    // Far ahead of the host: otherwise a profiler would see work that runs before its launch.
    streamIsFree += std::chrono::milliseconds(200);
  }
  streamNeverIdles = whether;
}

std::int64_t FakeDevice::eventsCreated() {
  return created;
}

std::vector<std::thread::id> FakeDevice::takeWaits() {
  const std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(waits, {});
}

void FakeDevice::refuseEvents(bool whether) {
  refuses = whether;
}

TORCH_LIBRARY(fake, library) {
  library.def("work(Tensor tensor, int micros) -> Tensor");
  library.def("work_twice(Tensor tensor, int micros) -> Tensor");
}
TORCH_LIBRARY_IMPL(fake, PrivateUse1, library) {
  library.impl("work", &runWork);
  library.impl("work_twice", &runWorkTwice);
}
// Older releases, such as 2.8, do not find an operator without it.
TORCH_LIBRARY_IMPL(fake, AutogradPrivateUse1, library) {
  library.impl("work", torch::CppFunction::makeFallthrough());
  library.impl("work_twice", torch::CppFunction::makeFallthrough());
}

}  // namespace steptape
