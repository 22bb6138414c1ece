// SPDX-License-Identifier: Apache-2.0
#include "libtorch/ops/kineto_recorder.h"

#include <torch/version.h>

#if (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)) && \
    __has_include(<kineto/libkineto.h>)
#define STEPTAPE_HAS_KINETO 1
#else
#define STEPTAPE_HAS_KINETO 0
#endif

#if STEPTAPE_HAS_KINETO

#include <atomic>
#include <exception>
#include <kineto/libkineto.h>
#include <memory>
#include <set>
#include <utility>

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>

// Weak: a LibTorch without Kineto may install its headers all the same, and programs must link.
namespace libkineto {
__attribute__((weak)) LibkinetoApi& api();
}
extern "C" __attribute__((weak)) void libkineto_init(bool cpuOnly, bool logOnError);
extern "C" __attribute__((weak)) void suppressLibkinetoLogMessages();

namespace steptape::detail::libtorch {
namespace {

using libkineto::ActivityType;
using profile::DeviceActivity;
using profile::DeviceActivityKind;

constexpr const char* kInstead =
    "; kernels are not in the profile, and devices are timed by operator instead";

const std::set<ActivityType>& requestedTypes() {
  // Without CUDA_SYNC, which makes every CUDA event take timestamps, and OVERHEAD: both are times
  // in which the device does nothing.
  static const auto* const kTypes = new std::set<ActivityType>{
      ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY, ActivityType::GPU_MEMSET,
      ActivityType::CUDA_RUNTIME, ActivityType::CUDA_DRIVER};
  return *kTypes;
}

std::atomic<std::uint64_t> sessionsBegun{0};

/// Counts the sessions of Kineto, whoever begins them. Takes part in none.
class SessionCounter final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override { return name_; }
  const std::set<ActivityType>& availableActivities() const override { return none_; }

  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      const std::set<ActivityType>& /*types*/, const libkineto::Config& /*config*/) override {
    ++sessionsBegun;
    return nullptr;
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      std::int64_t /*start*/, std::int64_t /*duration*/, const std::set<ActivityType>& types,
      const libkineto::Config& config) override {
    return configure(types, config);
  }

 private:
  const std::string name_ = "steptape";
  const std::set<ActivityType> none_{};
};

/// Initializes Kineto as LibTorch's own profiler does, if nobody has done so.
libkineto::ActivityProfilerInterface& profiler() {
  static auto* const kProfiler = [] {
    libkineto::LibkinetoApi& api = libkineto::api();
    if (!api.isProfilerRegistered()) {
      libkineto_init(/*cpuOnly=*/false, /*logOnError=*/true);
      suppressLibkinetoLogMessages();
    }
    api.initProfilerIfRegistered();
    api.registerProfilerFactory([] { return std::make_unique<SessionCounter>(); });
    return &api.activityProfiler();
  }();
  return *kProfiler;
}

bool isCall(ActivityType type) {
  return type == ActivityType::CUDA_RUNTIME || type == ActivityType::CUDA_DRIVER;
}

bool isWork(ActivityType type) {
  return type == ActivityType::CONCURRENT_KERNEL || type == ActivityType::GPU_MEMCPY ||
         type == ActivityType::GPU_MEMSET;
}

DeviceActivity activityOf(const libkineto::ITraceActivity& from) {
  DeviceActivity activity;
  const bool isOnHost = isCall(from.type());
  activity.kind = isOnHost ? DeviceActivityKind::kCall : DeviceActivityKind::kWork;
  activity.name = from.name();
  activity.device = isOnHost ? -1 : static_cast<int>(from.deviceId());
  // Kineto keeps numbers of threads as signed 32-bit numbers.
  activity.row = static_cast<std::uint32_t>(from.resourceId());
  activity.correlation = static_cast<std::uint32_t>(from.correlationId());
  activity.startNanos = from.timestamp();
  activity.endNanos = from.timestamp() + from.duration();
  activity.facts = from.metadataJson();
  return activity;
}

/// Returns whether Kineto has stopped because its buffers were full. Before LibTorch 2.13 it does
/// not tell.
bool isFull([[maybe_unused]] const libkineto::ActivityProfilerInterface& kineto) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 13)
  return kineto.isStopped();
#else
  return false;
#endif
}

std::string firstLine(const std::exception& error) {
  const std::string what = error.what();
  return what.substr(0, what.find('\n'));
}

}  // namespace

bool KinetoRecorder::isUseful() {
  return &libkineto::api != nullptr && &libkineto_init != nullptr && at::hasCUDA() &&
         at::detail::getCUDAHooks().getNumGPUs() > 0;
}

std::string KinetoRecorder::start() {
  try {
    return startSession();
  } catch (const std::exception& error) {
    session_ = 0;
    return "Kineto: " + firstLine(error) + kInstead;
  }
}

std::string KinetoRecorder::startSession() {
  if (&libkineto::api == nullptr || &libkineto_init == nullptr) {
    return std::string("this LibTorch contains no Kineto") + kInstead;
  }
  libkineto::ActivityProfilerInterface& kineto = profiler();
  if (kineto.isActive()) {
    return std::string("another profiler uses LibTorch's Kineto") + kInstead;
  }
  const std::uint64_t before = sessionsBegun;
  kineto.prepareTrace(requestedTypes());
  kineto.startTrace();
  session_ = sessionsBegun;
  return session_ == before ? std::string("Kineto began no session") + kInstead : "";
}

void KinetoRecorder::synchronize() {
  if (!isUseful()) {
    return;
  }
  try {
    const at::CUDAHooksInterface& cuda = at::detail::getCUDAHooks();
    const c10::DeviceIndex current =
        c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).getDevice().index();
    for (int device = 0; device < cuda.getNumGPUs(); ++device) {
      const auto index = static_cast<c10::DeviceIndex>(device);
      // On a device that the process does not use, the call would take memory for a context.
      if (index == current || cuda.hasPrimaryContext(index)) {
        cuda.deviceSynchronize(index);
      }
    }
  } catch (const std::exception&) {  // an error of the device, which the training also gets
  }
}

std::string KinetoRecorder::stop(std::vector<DeviceActivity>* activities) {
  const std::uint64_t session = std::exchange(session_, 0);
  if (session == 0) {
    return "";
  }
  if (session != sessionsBegun) {
    return "another profiler has canceled the recording of kernels: they are not in this window";
  }
  try {
    const bool wasFull = isFull(profiler());
    const auto trace = profiler().stopTrace();
    if (trace == nullptr || trace->activities() == nullptr) {
      return "Kineto has returned no activities";
    }
    for (const libkineto::ITraceActivity* const activity : *trace->activities()) {
      if (activity != nullptr && (isCall(activity->type()) || isWork(activity->type()))) {
        activities->push_back(activityOf(*activity));
      }
    }
    return wasFull
               ? "kernels at the end of a window are missing, because Kineto's buffers were full; "
                 "record fewer steps in a window"
               : "";
  } catch (const std::exception& error) {
    return "Kineto: " + firstLine(error) + "; kernels are not in this window";
  }
}

}  // namespace steptape::detail::libtorch

#else

namespace steptape::detail::libtorch {

bool KinetoRecorder::isUseful() {
  return false;
}
std::string KinetoRecorder::start() {
  return startSession();
}
std::string KinetoRecorder::startSession() {
  return "kernels can be recorded with LibTorch 2.4 or later";
}
void KinetoRecorder::synchronize() {}
std::string KinetoRecorder::stop(std::vector<profile::DeviceActivity>*) {
  return "";
}

}  // namespace steptape::detail::libtorch

#endif
