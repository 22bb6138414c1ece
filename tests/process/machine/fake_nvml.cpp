// SPDX-License-Identifier: Apache-2.0
// The functions of NVIDIA's libnvidia-ml.so.1 that Steptape calls, for two GPUs that do not exist.
// fakeNvmlFail() lets one of them fail.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>

namespace {

struct FakeGpu {
  const char* uuid;
  unsigned long long usedBytes;
  unsigned utilization;
  unsigned celsius;
  unsigned milliwatts;
};

constexpr unsigned long long kTotalBytes = 80000000000;

std::array<FakeGpu, 2> gpus{
    FakeGpu{"GPU-aaaaaaaa-0000-0000-0000-000000000000", 1000000000, 10, 40, 100500},
    FakeGpu{"GPU-bbbbbbbb-0000-0000-0000-000000000000", 3000000000, 90, 80, 700000}};

// What fails: a function, for the device `failingGpu` or for all (-1).
std::string failingCall;
int failingGpu = -1;
int failure = 0;
std::atomic<int> users{0};  // NVML can be initialized by several threads.

int resultOf(const char* call, const void* device = nullptr) {
  const bool isHit = failingCall == call && (failingGpu < 0 || device == &gpus[failingGpu]);
  if (isHit) {
    return failure;
  }
  constexpr int kUninitialized = 1;
  return users > 0 || std::strcmp(call, "nvmlInit_v2") == 0 ? 0 : kUninitialized;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): NVIDIA's names.
extern "C" {

__attribute__((visibility("default"))) void fakeNvmlFail(const char* call, int gpu, int error) {
  failingCall = call;
  failingGpu = gpu;
  failure = error;
}

__attribute__((visibility("default"))) int fakeNvmlUsers() {
  return users;
}

__attribute__((visibility("default"))) int nvmlInit_v2() {
  const int result = resultOf("nvmlInit_v2");
  users += result == 0 ? 1 : 0;
  return result;
}

__attribute__((visibility("default"))) int nvmlShutdown() {
  --users;
  return 0;
}

__attribute__((visibility("default"))) const char* nvmlErrorString(int result) {
  return result == 15 ? "GPU is lost" : "Unknown Error";
}

__attribute__((visibility("default"))) int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = gpus.size();
  return resultOf("nvmlDeviceGetCount_v2");
}

__attribute__((visibility("default"))) int nvmlDeviceGetHandleByIndex_v2(unsigned index,
                                                                         void** device) {
  *device = &gpus.at(index);
  return resultOf("nvmlDeviceGetHandleByIndex_v2", *device);
}

__attribute__((visibility("default"))) int nvmlDeviceGetHandleByUUID(const char* uuid,
                                                                     void** device) {
  constexpr int kNotFound = 6;
  for (FakeGpu& gpu : gpus) {
    if (std::strcmp(gpu.uuid, uuid) == 0) {
      *device = &gpu;
      return 0;
    }
  }
  return kNotFound;
}

__attribute__((visibility("default"))) int nvmlDeviceGetUUID(void* device, char* uuid,
                                                             unsigned size) {
  std::strncpy(uuid, static_cast<FakeGpu*>(device)->uuid, size);
  return 0;
}

__attribute__((visibility("default"))) int nvmlDeviceGetMemoryInfo(void* device,
                                                                   unsigned long long* memory) {
  const unsigned long long used = static_cast<FakeGpu*>(device)->usedBytes;
  memory[0] = kTotalBytes;
  memory[1] = kTotalBytes - used;
  memory[2] = used;
  return resultOf("nvmlDeviceGetMemoryInfo", device);
}

__attribute__((visibility("default"))) int nvmlDeviceGetUtilizationRates(void* device,
                                                                         unsigned* rates) {
  rates[0] = static_cast<FakeGpu*>(device)->utilization;
  rates[1] = 5;
  return resultOf("nvmlDeviceGetUtilizationRates", device);
}

__attribute__((visibility("default"))) int nvmlDeviceGetTemperature(void* device, int sensor,
                                                                    unsigned* celsius) {
  *celsius = sensor == 0 ? static_cast<FakeGpu*>(device)->celsius : 0;
  return resultOf("nvmlDeviceGetTemperature", device);
}

__attribute__((visibility("default"))) int nvmlDeviceGetPowerUsage(void* device,
                                                                   unsigned* milliwatts) {
  *milliwatts = static_cast<FakeGpu*>(device)->milliwatts;
  return resultOf("nvmlDeviceGetPowerUsage", device);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
