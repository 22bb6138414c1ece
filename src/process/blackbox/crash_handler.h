// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "steptape/base/export.h"

// Notes signals that end this process in its state: which signal, where, sent by whom, and the
// stack. Then the signal takes the way that it would have taken without this.

namespace steptape::detail::process {

class StatePage;

/// Catches SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and SIGTERM for `page`, and keeps the map of
/// the program's code in it. Also those that end a process unless it has a handler: SIGHUP, SIGINT,
/// SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGPIPE and SIGALRM, if it has none.
///
/// A handler that was installed before is called with the same arguments. A signal that would have
/// ended the process ends it; one that was ignored stays ignored. SIGTERM is only noted.
///
/// Catches nothing if the environment variable STEPTAPE_SIGNAL_HANDLER is `off`, or in a program
/// with a sanitizer, which has handlers of its own.
///
/// May allocate and lock.
void catchFatalSignals(StatePage& page) noexcept;

/// Lets a piece of this process finish its work before SIGTERM ends it: `takesOver` is called in
/// the handler when SIGTERM would end the process, and returns whether somebody will call
/// endByTermination(). It may do only what a handler may. Null: nobody.
///
/// Without effect where catchFatalSignals() catches nothing, or a later handler of the program
/// decides what follows.
STEPTAPE_EXPORT void delayTermination(bool (*takesOver)()) noexcept;

/// Ends the process as SIGTERM does without a handler.
[[noreturn]] STEPTAPE_EXPORT void endByTermination() noexcept;

/// A stack for the signal handlers of one thread, without which an overflow of the thread's own
/// stack ends the process unseen. Nothing can be stored next to it: a thread's stack often lies
/// right above, and a function whose locals are larger than that stack's own guard page steps over
/// it.
///
/// @threads Construct, install() and destroy it on one thread.
class SignalStack {
 public:
  SignalStack() = default;
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

  /// Does nothing if the thread has such a stack.
  void install() noexcept;

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 10;  // the handler's and the next one's
  static constexpr std::size_t kGuardBytes = std::size_t{64} << 10;  // the largest size of a page

  void* memory_ = nullptr;  // a guard, the stack and another guard
};

}  // namespace steptape::detail::process
