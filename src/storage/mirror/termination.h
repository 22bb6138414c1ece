// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <sys/types.h>

namespace steptape::detail::storage {

/// Lets SIGTERM wait until all mirrors of the process have sent what they have. A child made by
/// fork() has none of its parent's.
///
/// @threads Thread-safe.
class Termination {
 public:
  static Termination& instance();

  /// Whether SIGTERM has come.
  bool isAsked() const { return isAsked_.load(); }
  /// Whether it came longer ago than `patience`.
  bool isOver(std::chrono::milliseconds patience) const;

  /// Adds a mirror to wait for.
  void enter();
  /// Takes it away again. The last one ends the process, if SIGTERM has come.
  void leave();

 private:
  static bool takeOver();

  std::atomic<pid_t> process_{0};
  std::atomic<int> mirrors_{0};
  std::atomic<bool> isAsked_{false};
  std::atomic<std::chrono::steady_clock::time_point> askedAt_{};
};

}  // namespace steptape::detail::storage
