// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {

/// Notes signals instead of letting them end the process, while one of these lives.
///
///     steptape::SignalWatch signals({SIGTERM, SIGUSR1});
///     while (signals.received() == 0) { ... }
///
/// On several ranks a signal may reach one of them only, so that they must agree before they act.
///
/// The handler only stores a number and goes on to the handler that was there before, if that was a
/// function. System calls that it interrupts are restarted. Objects may overlap in time, on several
/// threads too: the handlers of before are back once the last one has gone.
///
/// @threads Construction and destruction: thread-safe. received(): thread-safe.
/// @source  sigaction(2).
class STEPTAPE_EXPORT SignalWatch {
 public:
  /// @throws Error(kInvalidArgument) naming a number that is no signal or cannot be caught; then
  ///         nothing is changed.
  explicit SignalWatch(std::vector<int> signals);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();

  /// The latest of the signals that came to this process since the construction; 0 if none did.
  int received() const;

 private:
  std::vector<int> signals_;
  std::uint64_t countBefore_;
};

}  // namespace steptape
