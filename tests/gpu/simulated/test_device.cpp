// SPDX-License-Identifier: Apache-2.0
#include "gpu/test_device.h"

#include "gpu/simulated/simulated_gpu.h"

namespace steptape::gpu {

c10::DeviceIndex deviceCount() {
  return simulated_gpu::kDevices;
}

void keepBusy(c10::Device device, std::int64_t millis) {
  simulated_gpu::keepBusy(device, millis);
}

std::int64_t hostWaits() {
  return simulated_gpu::counts().waits;
}

std::string ncclLibrary() {
  return STEPTAPE_SIMULATED_NCCL;
}

}  // namespace steptape::gpu
