// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "steptape/base/export.h"

#include "process/blackbox/rank_state.h"

namespace steptape::detail::metrics {

/// Decides from regular looks at a process whether it hangs. Times are in seconds.
///
/// What counts is the time since a step ended, or since a phase with a time of its own began:
/// set-up, a checkpoint, a validation. Time in which the process did not run, because it was
/// stopped, does not count, nor does time that the caller excuses.
///
/// While zones, operators or collectives still begin and end, a long evaluation is likelier than a
/// hang; then `first` is the limit, if it is longer.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT HangDetector {
 public:
  struct Limits {
    double minimum = 60;
    double factor = 10;     ///< Of the usual time.
    double first = 1800;    ///< As long as no usual time is known.
    double longestGap = 5;  ///< Between two looks; what is longer was a stop.
  };
  struct Sight {
    double now = 0;           ///< By a clock that does not jump.
    std::uint64_t steps = 0;  ///< That have ended: any number that grows with them.
    process::RunPhase phase = process::RunPhase::kUnknown;
    std::uint64_t activity = 0;  ///< Changes when a zone, operator or collective begins or ends.
    double usualStep = 0;        ///< 0: unknown; then the longest step so far is usual.
    bool counts = true;          ///< False: the time since the last look is excused.
  };
  /// What is reported.
  struct Hang {
    double waited = 0;
    double usual = 0;  ///< 0: unknown.
    double limit = 0;
    double idle = 0;  ///< Of `waited`, the last part, in which there was no activity.
    process::RunPhase phase = process::RunPhase::kUnknown;  ///< kUnknown: in a step.
  };

  explicit HangDetector(const Limits& limits) : limits_(limits) {}

  /// @return what to report: when the limit has passed, and each time when the time has doubled.
  std::optional<Hang> look(const Sight& sight);

 private:
  static process::RunPhase ownTimeOf(process::RunPhase phase);
  double usualOf(const Sight& sight) const;

  const Limits limits_;
  bool hasLooked_ = false;
  double last_ = 0;
  double waited_ = 0;
  double idle_ = 0;
  double nextReport_ = 0;  // 0: the limit
  std::uint64_t steps_ = 0;
  std::uint64_t changes_ = 0;  // of steps_
  std::uint64_t activity_ = 0;
  process::RunPhase kind_ = process::RunPhase::kUnknown;
  std::array<double, 8> longest_{};  // by phase
};

}  // namespace steptape::detail::metrics
