// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/recorder/device_activity.h"

namespace steptape::detail::libtorch {

/// Records kernels, copies and calls of the CUDA runtime by the Kineto in LibTorch, which uses
/// CUPTI. Kineto records nothing else for it: our own hooks record operators.
///
/// Kineto has one session per process, and a new one cancels the old one. This class therefore
/// starts none while another is active. It notices when its own session is canceled, and then
/// leaves the new one alone.
///
/// @threads As ActivityRecorder.
/// @source libkineto.h of Kineto, https://github.com/pytorch/kineto, which LibTorch 2.4 and later
///         installs. Older versions of LibTorch record nothing.
class KinetoRecorder final : public profile::ActivityRecorder {
 public:
  /// Returns whether LibTorch contains Kineto and there is a CUDA device.
  static bool isUseful();

  /// @cost The first call in a process initializes CUPTI: up to some seconds. Later calls enable
  ///       its records: milliseconds. CUPTI then adds about 1 us to each launch.
  std::string start() override;
  void synchronize() override;
  /// @cost Milliseconds, and about 1 us per activity.
  std::string stop(std::vector<profile::DeviceActivity>* activities) override;

 private:
  std::string startSession();

  std::uint64_t session_ = 0;  ///< Number of the running session; 0: none.
};

}  // namespace steptape::detail::libtorch
