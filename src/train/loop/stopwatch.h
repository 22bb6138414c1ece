// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/base/clock.h"

namespace steptape::detail::train {

/// Sums the time spent in scopes.
///
/// @threads Not thread-safe: one thread at a time.
class Stopwatch {
 public:
  /// Runs the watch during its lifetime; scopes of one watch do not nest.
  class Scope {
   public:
    explicit Scope(Stopwatch& watch) : watch_(watch) {
      watch_.startNanos_ = Clock::system().steadyNanos();
    }
    ~Scope() {
      watch_.totalNanos_ += Clock::system().steadyNanos() - watch_.startNanos_;
      watch_.startNanos_ = kStopped;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Stopwatch& watch_;
  };

  /// Returns the time until now, including a running scope.
  double seconds() const {
    const std::int64_t running =
        startNanos_ == kStopped ? 0 : Clock::system().steadyNanos() - startNanos_;
    return static_cast<double>(totalNanos_ + running) * 1e-9;
  }

 private:
  static constexpr std::int64_t kStopped = -1;

  std::int64_t totalNanos_ = 0;
  std::int64_t startNanos_ = kStopped;
};

}  // namespace steptape::detail::train
