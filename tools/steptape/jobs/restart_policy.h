// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace steptape::tools {

struct RestartLimits {
  int maxRestarts = 3;
  double pause = 1;          ///< @units Seconds before the first restart; doubles with each one.
  double longestPause = 60;  ///< @units Seconds.
  /// A job that ran this long and made progress has all restarts again. @units Seconds.
  double resetAfter = 600;
};

/// A start of a job that failed.
struct FailedStart {
  double seconds = 0;  ///< How long it ran.
  /// Whether it came further than every start before it; nothing if that is not known.
  std::optional<bool> madeProgress;
  bool ranOutOfMemory = false;  ///< The kernel has killed a rank for lack of memory.
  /// Why it is not started again, whatever the limits are; empty if it may be.
  std::string finalReason;
  bool wasStarted = true;  ///< Otherwise there were too few hosts.
};

/// What to do after a failed start.
struct RestartDecision {
  std::string whyNot;    ///< Why the job is not started again; empty if it is.
  double pause = 0;      ///< @units Seconds until the next start.
  int restartsLeft = 0;  ///< After the next start.
};

/// Decides whether a job that died is started again, and when.
class RestartPolicy {
 public:
  /// A job that dies earlier has made no progress, if nothing better is known. @units Seconds.
  static constexpr double kEarlySeconds = 10;
  /// A job that dies this often in a row without progress dies at the same place.
  static constexpr int kMostWithoutProgress = 3;

  explicit RestartPolicy(const RestartLimits& limits) : limits_(limits) {}

  RestartDecision judge(const FailedStart& start);

 private:
  RestartLimits limits_;
  int restarts_ = 0;  // since the last reset
  int startsWithoutProgress_ = 0;
};

}  // namespace steptape::tools
