// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

/// The devices of the tests in this folder: simulated in simulated_gpu_test, real in gpu_test.
namespace steptape::gpu {

/// Returns the number of devices, at least 1.
c10::DeviceIndex deviceCount();

/// Longer than the calls of a test take.
inline constexpr std::int64_t kLongMillis = 300;

/// Keeps the current stream of `device` busy for about that long. Returns at once.
void keepBusy(c10::Device device, std::int64_t millis);

/// Returns how often the process has waited for a stream, an event or a device, on any thread. A
/// query does not wait.
std::int64_t hostWaits();

/// The name for GradientSyncOptions::ncclLibrary.
std::string ncclLibrary();

/// Ranks that are threads share the devices if there are more ranks than devices.
inline c10::Device device(int rank = 0) {
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(rank % deviceCount())};
}

inline c10::impl::VirtualGuardImpl streams() {
  return c10::impl::VirtualGuardImpl(c10::kCUDA);
}

/// Returns whether work is queued on the current stream of `device`.
inline bool isBusy(c10::Device device) {
  return !streams().queryStream(streams().getStream(device));
}

/// Waits for the current stream of `device`.
inline void waitFor(c10::Device device) {
  streams().synchronizeStream(streams().getStream(device));
}

/// Returns a stream other than the default one.
inline c10::Stream otherStream(c10::Device device) {
  return streams().getStreamFromGlobalPool(device);
}

}  // namespace steptape::gpu
