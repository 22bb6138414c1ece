// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape {

/// The state of one GPU. NaN: not known.
struct GpuSample {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  double utilizationPercent = kUnknown;  ///< Share of the last second in which a kernel ran.
  double memoryBytes = kUnknown;         ///< In use, by all processes.
  double memoryTotalBytes = kUnknown;
  double temperatureCelsius = kUnknown;
  double powerWatts = kUnknown;
};

/// What a process and its node did. NaN: not known, because the system does not provide it or, for
/// rates and shares, because there is no earlier sample or a counter went backward.
struct MachineSample {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  // This process, with all its threads.

  double cpuPercent = kUnknown;            ///< Processor time; 100: one core was busy all the time.
  double residentBytes = kUnknown;         ///< Physical memory, shared pages included.
  double majorFaultsPerSecond = kUnknown;  ///< Page faults that waited for a disk.
  double readBytesPerSecond = kUnknown;    ///< From storage; not what the page cache served.
  double writeBytesPerSecond = kUnknown;   ///< To storage.

  // The control group that limits this process; only where there is a limit.

  double groupMemoryBytes = kUnknown;  ///< Of all its processes, page cache included.
  double groupMemoryLimitBytes = kUnknown;
  double groupThrottledPercent = kUnknown;  ///< Share of the scheduler's periods it was stopped in.

  // The node, with all its processes.

  double load = kUnknown;                    ///< Threads that run or wait, over the last minute.
  double availableBytes = kUnknown;          ///< Memory that can be allocated without swapping.
  double receivedBytesPerSecond = kUnknown;  ///< Over network interfaces; see MachineSampler.
  double sentBytesPerSecond = kUnknown;
  // Share of the time in which at least one thread waited for it.
  double cpuPressurePercent = kUnknown;
  double memoryPressurePercent = kUnknown;
  double ioPressurePercent = kUnknown;

  std::vector<GpuSample> gpus;  ///< Of this process; see MachineSamplerOptions::gpus.
};

/// Options of MachineSampler.
struct MachineSamplerOptions {
  /// The GPUs of this process, as CUDA numbers them. Unset: all that CUDA_VISIBLE_DEVICES names, or
  /// all of the node if it is not set.
  std::optional<std::vector<int>> gpus = std::nullopt;

  /// Called once for each problem, on the thread that calls sample(). Default: one line to stderr.
  std::function<void(const Status&)> onError = nullptr;

  /// The source of intervals. Null: the system clock.
  std::shared_ptr<const Clock> clock = nullptr;

  // Where the system provides the numbers.

  std::string procDirectory = "/proc";
  std::string sysDirectory = "/sys";
  std::string nvmlLibrary = "libnvidia-ml.so.1";  ///< Empty: no GPUs.
};

/// Measures what this process and its node do.
///
///     steptape::MachineSampler sampler;
///     ...
///     const steptape::MachineSample sample = sampler.sample();  // rates since the sample before
///
/// MachineMetrics logs samples over all ranks. Use this class to do something else with them.
///
/// Network traffic is counted on interfaces of physical devices, so that bridges, bonds and VLANs
/// do not count twice. In a container, which has none, all interfaces except `lo` count. Traffic of
/// InfiniBand and other RDMA does not pass through the kernel and is not counted.
///
/// GPUs are read through NVML, which is loaded in the first sample() if it is installed. NVML
/// numbers GPUs by PCI bus. CUDA does too if they are equal or if CUDA_DEVICE_ORDER is PCI_BUS_ID.
///
/// Nothing is an error: what cannot be read is NaN. A missing /proc, an NVML that does not start
/// and a GPU that is lost are reported once through MachineSamplerOptions::onError.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    33 system calls and 0.2 ms (Linux 6, x86-64), 45 calls where control groups set limits,
///          and 4 calls of NVML per GPU. The first sample also loads NVML.
class STEPTAPE_EXPORT MachineSampler {
 public:
  explicit MachineSampler(MachineSamplerOptions options = {});
  MachineSampler(const MachineSampler&) = delete;
  MachineSampler& operator=(const MachineSampler&) = delete;
  ~MachineSampler();

  /// Measures now. Rates and shares are over the time since the call before; NaN in the first call.
  MachineSample sample();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape
