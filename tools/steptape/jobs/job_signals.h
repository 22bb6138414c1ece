// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>

namespace steptape::tools {

/// A signal to this process.
struct ArrivedSignal {
  int number = 0;
  bool fromTerminal = false;  ///< Sent to the whole foreground group, as by Ctrl-C.
};

/// Receives the signals of a job one after another, where the program waits for them, from
/// construction to destruction. A signal that was ignored before stays ignored, as nohup needs it.
///
/// @threads Not thread-safe. REQUIRES: the process has one thread.
class JobSignals {
 public:
  using Clock = std::chrono::steady_clock;

  JobSignals();
  ~JobSignals();
  JobSignals(const JobSignals&) = delete;
  JobSignals& operator=(const JobSignals&) = delete;

  /// Waits for the next signal, SIGCHLD included.
  ///
  /// @return nothing if none arrived before `deadline`.
  std::optional<ArrivedSignal> waitUntil(Clock::time_point deadline) const;

  /// Restores the signal mask, in a child. Async-signal-safe.
  void restore() const;

 private:
  sigset_t awaited_{};
  sigset_t before_{};
};

/// Returns whether a signal asks a job to end: SIGINT, SIGTERM, SIGHUP, SIGQUIT, and SIGUSR1, at
/// which a Trainer stops.
bool asksToEnd(int signal);

}  // namespace steptape::tools
