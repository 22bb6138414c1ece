// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {

/// Records signals during its lifetime, instead of letting them end the process.
///
///     steptape::SignalWatch signals({SIGTERM, SIGUSR1});
///     while (signals.received() == 0) { ... }
///
/// A signal may reach a single rank of a job: ranks must agree before they act on it.
///
/// The handler stores the number and then calls the earlier handler, if that is a function.
/// Interrupted system calls are restarted. Lifetimes of several objects may overlap, on several
/// threads too; the destruction of the last one restores the earlier handlers.
///
/// @threads Construction and destruction: thread-safe. received(): thread-safe.
/// @source  sigaction(2).
class STEPTAPE_EXPORT SignalWatch {
 public:
  /// Installs the handlers.
  ///
  /// @throws Error(kInvalidArgument) naming a number that is not a signal or cannot be caught; no
  ///         handler is changed then.
  explicit SignalWatch(std::vector<int> signals);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();

  /// Returns the latest of the watched signals since construction; 0 if there was none.
  int received() const;

 private:
  std::vector<int> signals_;
  std::uint64_t countBefore_;
};

}  // namespace steptape
