// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "summary/hparams.h"

namespace steptape::detail {

/// The session that a run's hyperparameters began: it has to be ended once, and to say how.
///
/// @threads Thread-safe.
class HparamsSession {
 public:
  /// @param metrics Tags that an experiment record promises.
  /// @return false if a session was begun before.
  bool begin(std::vector<std::string> metrics) {
    MutexLock lock(mutex_);
    if (state_ != State::kNone) {
      return false;
    }
    state_ = State::kOpen;
    metrics_ = std::move(metrics);
    return true;
  }

  /// As if begin() had not been called: the record of it could not be logged.
  void abandon() noexcept {
    MutexLock lock(mutex_);
    state_ = State::kNone;
  }

  /// Ends an open session. @return its promised metrics; nothing if there is none to end.
  std::optional<std::vector<std::string>> end() {
    MutexLock lock(mutex_);
    if (state_ != State::kOpen) {
      return std::nullopt;
    }
    state_ = State::kEnded;
    return std::move(metrics_);
  }

  /// How the process does: badly if an exception is on its way that was not when this was made.
  SessionStatus status() const {
    return std::uncaught_exceptions() > exceptionsAtStart_ ? SessionStatus::kFailure
                                                           : SessionStatus::kSuccess;
  }

 private:
  enum class State { kNone, kOpen, kEnded };

  const int exceptionsAtStart_ = std::uncaught_exceptions();
  Mutex mutex_;
  State state_ STEPTAPE_GUARDED_BY(mutex_) = State::kNone;
  std::vector<std::string> metrics_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail
