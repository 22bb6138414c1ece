// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/base/export.h"

namespace steptape {

/// What a profiler does during a step.
enum class ProfilerAction {
  kNone,           ///< Nothing is recorded; the hooks are off.
  kWarmup,         ///< Recorded and thrown away: pays for what happens only the first time.
  kRecord,         ///< Recorded.
  kRecordAndSave,  ///< Recorded; the last step of its window.
};

/// Which steps to profile: `skipFirst` steps once, then cycles of `wait`, `warmup` and `active`.
///
///     step     0     1     2       3       4       5                   6
///     action   none  none  warmup  record  record  recordAndSave       none ...
///     for      skipFirst = 1, wait = 1, warmup = 1, active = 3, repeat = 1
///
/// The default records one window, from start to stop.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  torch.profiler.schedule of PyTorch, whose fields these are.
struct STEPTAPE_EXPORT ProfilerSchedule {
  /// Steps to leave out once, at the start.
  std::int64_t skipFirst = 0;
  /// Steps to leave out at the start of every cycle.
  std::int64_t wait = 0;
  /// Steps to record and throw away in every cycle.
  std::int64_t warmup = 0;
  /// Steps to record in every cycle. 0: after the first warm-up every step until the end.
  std::int64_t active = 0;
  /// Cycles to make; 0: as many as there are steps. Not used when `active` is 0.
  std::int64_t repeat = 0;

  /// @param step Counted from 0. @return what to do during it.
  ProfilerAction actionAt(std::int64_t step) const noexcept;

  /// Whether nothing is recorded at `step` or later, since all cycles are over.
  bool isOverAt(std::int64_t step) const noexcept;

  /// @throws Error(kInvalidArgument) naming the first field that is negative, and its value.
  void validate() const;
};

}  // namespace steptape
