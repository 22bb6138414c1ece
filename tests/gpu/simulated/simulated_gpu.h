// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <c10/core/Device.h>

/// CUDA devices for a LibTorch whose CUDA libraries are not linked. They behave like GPUs in what
/// programs get wrong:
///
/// - Streams are threads. Copies with non_blocking and operators that change a tensor in place run
///   later, in the order of their stream. Other operators wait for the current stream first.
/// - Device memory is not accessible to the host: reading it ends the process.
/// - Freed memory is filled with NaN, in the order of the stream on which it was allocated. Work on
///   another stream then finds NaN unless that stream was recorded with the memory.
///
/// Operators run on the processor. LibTorch's CUDA code does not run here; gpu_test runs it.
namespace steptape::simulated_gpu {

inline constexpr c10::DeviceType kType = c10::DeviceType::CUDA;
inline constexpr c10::DeviceIndex kDevices = 4;

inline c10::Device device(c10::DeviceIndex index = 0) {
  return {kType, index};
}

/// Queues `work` behind the work of the stream. `stream` is its native handle.
void enqueue(void* stream, std::function<void()> work);

/// Returns where "kernels" find the device memory at `pointer`.
void* kernelView(const void* pointer);
/// Returns whether `pointer` is device memory.
bool isDeviceMemory(const void* pointer);

/// Keeps the current stream of `device` busy.
void keepBusy(c10::Device device, std::int64_t millis);

/// Makes device memory accessible to the host, as managed memory is, until the destructor.
class HostAccess {
 public:
  HostAccess();
  ~HostAccess();
  HostAccess(const HostAccess&) = delete;
  HostAccess& operator=(const HostAccess&) = delete;
};

/// What the host did since the start of the process, on any thread.
struct Counts {
  std::int64_t waits = 0;        ///< Waits of the host for a stream or an event.
  std::int64_t bytesToHost = 0;  ///< Copied from a device.
  std::int64_t bytesToDevice = 0;
};
Counts counts();

// The simulated library also has NCCL's functions, for ranks that are threads. Their sums take a
// few milliseconds on their stream:

/// Returns the number of sums that ranks have queued.
std::int64_t ncclSums();
/// Sets what ncclCommGetAsyncError() reports: ncclRemoteError is 6.
void ncclReportsError(int error);
/// Sets what ncclCommInitRank() returns.
void ncclFailsToStart(int error);
/// Sets whether all ranks find themselves on the same GPU.
void ranksShareGpus(bool whether);

// For the parts of the simulation:

void* allocate(c10::DeviceIndex device, std::size_t bytes);
void release(void* pointer);
c10::DeviceIndex deviceOf(const void* pointer);
/// Returns the size of the block that starts at `pointer`.
std::size_t bytesAt(const void* pointer);
/// Waits for the current stream of `device`.
void waitForCurrentStream(c10::Device device);
/// As above, where a GPU would queue more work instead: not one of Counts::waits.
void finishCurrentStream(c10::Device device);
/// Makes a stream that is not LibTorch's, and returns its handle. LibTorch's number of it is the
/// handle, as with CUDA.
void* makeStream(c10::Device device);
/// Returns the native handle of the current stream of `device`.
void* currentStream(c10::Device device);
void noteCopy(std::int64_t bytesToHost, std::int64_t bytesToDevice);

}  // namespace steptape::simulated_gpu
