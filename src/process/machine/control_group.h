// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/process/machine_sampler.h"

#include "process/machine/counter_rate.h"

namespace steptape::detail::process {

/// The limits of the control groups of this process, and how near it is to them. Both versions of
/// control groups are known.
///
/// The group of the process or a group around it may set the limit: under Slurm, for example, that
/// of the job. The strictest memory limit counts, because reaching it invokes the OOM killer.
class ControlGroup {
 public:
  /// Looks for the limits. They are not looked for again: a process rarely changes its group.
  ControlGroup(const std::string& procDirectory, const std::string& sysDirectory);

  void read(MachineSample* sample);

 private:
  // Empty: there is no limit.
  std::string memoryUsage_;
  std::string memoryLimit_;
  std::string processorStatistics_;

  CounterRate periods_;
  CounterRate throttledPeriods_;
};

}  // namespace steptape::detail::process
