// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <ctime>
#include <pthread.h>

namespace steptape::detail::base {

/// During its lifetime, SIGPIPE ends neither the calling thread nor the threads that it starts, and
/// those never: a write to a connection whose other end has died fails with EPIPE instead. For
/// libraries that write to sockets and leave the signal to the program, as gloo does (LibTorch
/// 2.15). The rest of the program keeps its signals.
class SigpipeBlocked {
 public:
  SigpipeBlocked() noexcept {
    sigset_t pending;
    sigpending(&pending);
    wasPending_ = sigismember(&pending, SIGPIPE) == 1;
    const sigset_t pipe = onlySigpipe();
    pthread_sigmask(SIG_BLOCK, &pipe, &before_);
  }
  ~SigpipeBlocked() {
    const sigset_t pipe = onlySigpipe();
    const timespec now{};
    if (!wasPending_ && sigismember(&before_, SIGPIPE) == 0) {
      while (sigtimedwait(&pipe, nullptr, &now) == SIGPIPE) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;

 private:
  static sigset_t onlySigpipe() noexcept {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
  }

  sigset_t before_{};
  bool wasPending_ = false;
};

}  // namespace steptape::detail::base
