// SPDX-License-Identifier: Apache-2.0
#include "process/machine/quantities.h"

#include <array>

namespace steptape::detail::process {

ArrayView<const Quantity<MachineSample>> machineQuantities() {
  // docs/distributed.md describes each.
  static constexpr std::array kQuantities{
      Quantity<MachineSample>{"cpu_percent", "Processor time of the process; 100 is one core.",
                              &MachineSample::cpuPercent},
      Quantity<MachineSample>{"resident_bytes", "Physical memory of the process.",
                              &MachineSample::residentBytes},
      Quantity<MachineSample>{"major_faults_per_second",
                              "Page faults of the process that waited for a disk.",
                              &MachineSample::majorFaultsPerSecond},
      Quantity<MachineSample>{"read_bytes_per_second", "Bytes that the process read from storage.",
                              &MachineSample::readBytesPerSecond},
      Quantity<MachineSample>{"write_bytes_per_second", "Bytes that the process wrote to storage.",
                              &MachineSample::writeBytesPerSecond},
      Quantity<MachineSample>{"cgroup/memory_bytes",
                              "Memory of the control group with the strictest limit.",
                              &MachineSample::groupMemoryBytes},
      Quantity<MachineSample>{"cgroup/memory_limit_bytes", "Limit of that control group.",
                              &MachineSample::groupMemoryLimitBytes},
      Quantity<MachineSample>{"cgroup/throttled_percent",
                              "Scheduler periods in which the control group was stopped.",
                              &MachineSample::groupThrottledPercent},
      Quantity<MachineSample>{"node/load", "Threads of the node that run or wait, over a minute.",
                              &MachineSample::load},
      Quantity<MachineSample>{"node/available_bytes",
                              "Memory of the node that can be allocated without swapping.",
                              &MachineSample::availableBytes},
      Quantity<MachineSample>{"node/received_bytes_per_second",
                              "Bytes that the node received over network interfaces.",
                              &MachineSample::receivedBytesPerSecond},
      Quantity<MachineSample>{"node/sent_bytes_per_second",
                              "Bytes that the node sent over network interfaces.",
                              &MachineSample::sentBytesPerSecond},
      Quantity<MachineSample>{"node/cpu_pressure_percent",
                              "Time in which a thread of the node waited for a core.",
                              &MachineSample::cpuPressurePercent},
      Quantity<MachineSample>{"node/memory_pressure_percent",
                              "Time in which a thread of the node waited for memory.",
                              &MachineSample::memoryPressurePercent},
      Quantity<MachineSample>{"node/io_pressure_percent",
                              "Time in which a thread of the node waited for storage.",
                              &MachineSample::ioPressurePercent}};
  return {kQuantities.data(), kQuantities.size()};
}

ArrayView<const Quantity<GpuSample>> gpuQuantities() {
  static constexpr std::array kQuantities{
      Quantity<GpuSample>{"utilization_percent", "Time in which the GPU ran a kernel.",
                          &GpuSample::utilizationPercent},
      Quantity<GpuSample>{"memory_bytes", "Memory of the GPU in use.", &GpuSample::memoryBytes},
      Quantity<GpuSample>{"memory_total_bytes", "Memory of the GPU.", &GpuSample::memoryTotalBytes},
      Quantity<GpuSample>{"temperature_celsius", "Temperature of the GPU.",
                          &GpuSample::temperatureCelsius},
      Quantity<GpuSample>{"power_watts", "Power that the GPU draws.", &GpuSample::powerWatts}};
  return {kQuantities.data(), kQuantities.size()};
}

}  // namespace steptape::detail::process
