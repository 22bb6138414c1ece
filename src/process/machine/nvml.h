// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/process/machine_sampler.h"

namespace steptape::detail::process {

/// One entry of CUDA_VISIBLE_DEVICES: the index of a GPU, or the start of its UUID.
struct VisibleGpu {
  int index = -1;    ///< -1: identified by `uuid`.
  std::string uuid;  ///< Begins with "GPU-" or "MIG-".
};

/// Parses CUDA_VISIBLE_DEVICES as CUDA does: entries from the first invalid one on are ignored, so
/// that "-1" and "" hide all GPUs.
std::vector<VisibleGpu> parseVisibleGpus(const std::string& text);

/// The GPUs of this process, read through NVML. The library is loaded at run time, so that programs
/// start without it. Its few functions are declared in nvml.cpp.
///
/// @source https://docs.nvidia.com/deploy/nvml-api
/// @threads Not thread-safe: one thread at a time.
class NvmlGpus {
 public:
  /// Called for each problem, every time it occurs.
  using OnProblem = std::function<void(const std::string&)>;

  /// @param gpus As MachineSamplerOptions::gpus.
  NvmlGpus(const std::string& library, const std::optional<std::vector<int>>& gpus,
           OnProblem onProblem);
  NvmlGpus(const NvmlGpus&) = delete;
  NvmlGpus& operator=(const NvmlGpus&) = delete;
  ~NvmlGpus();

  std::vector<GpuSample> read();

 private:
  struct Functions;
  struct Gpu;

  bool load(const std::string& library);
  void findGpus(const std::optional<std::vector<int>>& gpus);
  std::vector<Gpu> visibleGpus() const;
  std::optional<Gpu> find(const VisibleGpu& wanted, unsigned count) const;
  bool succeeds(int result, const char* call, const std::string& subject) const;

  const OnProblem onProblem_;
  std::unique_ptr<Functions> functions_;  // null: there is no usable NVML
  std::vector<Gpu> gpus_;
};

}  // namespace steptape::detail::process
