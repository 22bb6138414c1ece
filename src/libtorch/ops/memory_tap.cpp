// SPDX-License-Identifier: Apache-2.0
#include "libtorch/ops/memory_tap.h"

#include <cstdint>

#include "steptape/base/clock.h"

#include "process/blackbox/state_page.h"
#include "process/spans/thread_recorder.h"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/version.h>

namespace steptape::detail::libtorch {
namespace {

#if TORCH_VERSION_MAJOR < 2
using MemoryTotal = std::int64_t;
#else
using MemoryTotal = std::size_t;
#endif

}  // namespace

class MemoryTap::Reporter final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* address, std::int64_t bytes, MemoryTotal allocated,
                         MemoryTotal reserved, c10::Device device) override {
    if (!device.is_cpu()) {
      process::noteDeviceBytes(static_cast<std::int64_t>(allocated));
    }
    process::ThreadRecorder* const recorder = process::recorderForNow();
    if (recorder == nullptr) {
      return;
    }
    const std::uint64_t now = readTicks();
    recorder->push(SpanRecord::memory(now, reinterpret_cast<std::uintptr_t>(address), bytes,
                                      static_cast<std::uint8_t>(device.type()),
                                      static_cast<std::uint16_t>(device.index())));
    recorder->push(SpanRecord::memoryTotals(now, static_cast<std::uint64_t>(allocated),
                                            static_cast<std::uint64_t>(reserved)));
  }
  bool memoryProfilingEnabled() const override { return true; }
};

class MemoryTap::Guard {
 public:
  Guard() : guard_(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<Reporter>()) {}

 private:
  c10::DebugInfoGuard guard_;
};

MemoryTap::MemoryTap() {
  if (c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE) != nullptr) {
    problem_ =
        "memory is not recorded: another profiler of LibTorch records it on this thread; stop "
        "it "
        "first";
    return;
  }
  guard_ = std::make_unique<Guard>();
}

MemoryTap::~MemoryTap() = default;

}  // namespace steptape::detail::libtorch
