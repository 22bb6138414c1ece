// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/process/machine_sampler.h"

#include "base/loop_thread.h"
#include "process/machine/text_metrics.h"

namespace steptape::detail::process {

struct MachineMonitorOptions {
  MachineSamplerOptions sampler;
  std::chrono::milliseconds period = std::chrono::seconds(10);
  std::string textFile;  ///< Empty: none.
  TextMetricsLabels labels;
};

/// Samples this process periodically on a thread of its own: at once, after at most a second, and
/// then every period, so that short programs have rates as well.
///
/// If `textFile` is set, it holds the latest sample. The destructor removes it, so a file that
/// stays is of a process that was killed.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT MachineMonitor {
 public:
  /// Problems are reported as MachineSamplerOptions::onError says, each once.
  explicit MachineMonitor(MachineMonitorOptions options);
  MachineMonitor(const MachineMonitor&) = delete;
  MachineMonitor& operator=(const MachineMonitor&) = delete;
  /// Waits for a sample that is being taken, at most for 5 s. Does nothing in a forked child.
  ~MachineMonitor();

  /// Returns the latest sample, or nothing if there is no newer one than in the call before.
  std::optional<MachineSample> takeSample();

  /// Notes a step for the text file, if there is one. Does nothing in a forked child.
  void noteStep(std::int64_t step);

  /// Whether this process is a forked child of the one that made the object.
  bool isOfParent() const { return thread_ && thread_->isOfParent(); }

 private:
  struct State;

  std::shared_ptr<State> state_;
  std::unique_ptr<base::LoopThread> thread_;  // null: the system had none
};

}  // namespace steptape::detail::process
