// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/signal_watch.h"
#include "steptape/comm/communicator.h"
#include "steptape/profile/profiler_options.h"

#include "profile/file_watch.h"
#include "profile/trigger_agreement.h"

namespace steptape::detail {

/// Decides after which steps a profile begins and ends, see ProfilerTrigger.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class STEPTAPE_EXPORT ProfileTrigger {
 public:
  /// @param ranks Null for a single process.
  /// @throws Error(kInvalidArgument) if the signal cannot be caught.
  ProfileTrigger(const ProfilerTrigger& options, std::shared_ptr<Communicator> ranks);

  /// From now on steps are made; signals that came before count no more. Collective.
  void arm();
  /// No more steps are made; not collective.
  void disarm() { agreement_.reset(); }

  /// To be called after each step while it is armed. Collective.
  ///
  /// @return what to do now; never kBegin while a profile is made, or kEnd while none is.
  TriggerWish endStep(bool isProfiling);

  /// Why no wish will be followed any more, once; else empty.
  std::string takeProblem();

 private:
  TriggerWish wishOfThisProcess(bool isProfiling);
  bool hasNewSignal();
  void follow(TriggerWish wish);

  const int signal_;
  const std::shared_ptr<Communicator> ranks_;
  std::unique_ptr<SignalWatch> signals_;  // null: no signal; made anew to forget what came
  std::int64_t signalsFromNanos_ = 0;     // earlier ones count as one that took effect
  std::optional<FileWatch> file_;
  std::int64_t wantedModification_ = FileWatch::kAbsent;  // of a file that wants a profile
  std::int64_t usedModification_ = FileWatch::kAbsent;    // of the file that last began one
  bool isByFile_ = false;                                 // the profile that is made
  std::optional<TriggerAgreement> agreement_;             // while armed, in a job of several ranks
  bool hasToldProblem_ = false;
};

}  // namespace steptape::detail
