// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "log/writer/failed_end.h"
#include "values/kinds/hparams.h"

namespace steptape::detail::log {

/// The session that a run's hyperparameters begin. It must be ended once, with a status.
///
/// @threads Thread-safe.
class HparamsSession {
 public:
  /// @param metrics Tags that an experiment record announces.
  /// @return false if a session was begun before.
  bool begin(std::vector<std::string> metrics) {
    base::MutexLock lock(mutex_);
    if (state_ != State::kNone) {
      return false;
    }
    state_ = State::kOpen;
    metrics_ = std::move(metrics);
    return true;
  }

  /// Undoes begin(), if its record could not be logged.
  void abandon() noexcept {
    base::MutexLock lock(mutex_);
    state_ = State::kNone;
  }

  /// Ends an open session.
  /// @return its announced metrics; nothing if no session is open.
  std::optional<std::vector<std::string>> end() {
    base::MutexLock lock(mutex_);
    if (state_ != State::kOpen) {
      return std::nullopt;
    }
    state_ = State::kEnded;
    return std::move(metrics_);
  }

  /// Returns a failure if an exception is in flight that was not in flight at construction, or if
  /// the caller says so.
  SessionStatus status() const {
    const bool hasFailed =
        std::uncaught_exceptions() > exceptionsAtStart_ || FailedEnd::isInThread();
    return hasFailed ? SessionStatus::kFailure : SessionStatus::kSuccess;
  }

 private:
  enum class State { kNone, kOpen, kEnded };

  const int exceptionsAtStart_ = std::uncaught_exceptions();
  base::Mutex mutex_;
  State state_ STEPTAPE_GUARDED_BY(mutex_) = State::kNone;
  std::vector<std::string> metrics_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail::log
