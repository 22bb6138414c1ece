// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/signal_watch.h"
#include "steptape/profile/profiler.h"
#include "steptape/ranks/communicator.h"

#include "profile/recorder/file_watch.h"
#include "profile/recorder/trigger_agreement.h"

namespace steptape::detail::profile {

/// Decides after which steps a profile begins and ends; see ProfilerTrigger.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class STEPTAPE_EXPORT ProfileTrigger {
 public:
  /// @param ranks Null for a single process.
  /// @throws Error(kInvalidArgument) if the signal cannot be caught.
  ProfileTrigger(const ProfilerTrigger& options, std::shared_ptr<Communicator> ranks);

  /// Starts to count steps, and ignores signals received before. Collective.
  void arm();
  /// Stops counting steps. Not collective.
  void disarm() { agreement_.reset(); }

  /// Call it after each step while armed. Collective.
  ///
  /// @return what to do now; never kBegin during a profile, or kEnd outside of one.
  TriggerWish endStep(bool isProfiling);

  /// Returns, once, why no more requests will be followed; else empty.
  std::string takeProblem();

 private:
  TriggerWish wishOfThisProcess(bool isProfiling);
  bool hasNewSignal();
  void follow(TriggerWish wish);

  const int signal_;
  const std::shared_ptr<Communicator> ranks_;
  std::unique_ptr<SignalWatch> signals_;  // null: no signal; recreated to ignore earlier signals
  std::int64_t signalsFromNanos_ = 0;     // earlier ones count as one that took effect
  std::optional<FileWatch> file_;
  std::int64_t wantedModification_ = FileWatch::kAbsent;  // of a file that requests a profile
  std::int64_t usedModification_ = FileWatch::kAbsent;    // of the file that last began one
  bool isByFile_ = false;                                 // the file began the current profile
  std::optional<TriggerAgreement> agreement_;             // while armed, in a job of several ranks
  bool hasToldProblem_ = false;
};

}  // namespace steptape::detail::profile
