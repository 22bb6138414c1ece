// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <pthread.h>

namespace steptape::detail::base {

/// During its lifetime, the calling thread gets none of the signals that ask a process for
/// something, and the threads that it starts never do. A program that blocks such a signal in its
/// own threads, to wait for it, would lose it to a thread of a library: it would end the process,
/// or be ignored.
///
/// Signals of faults, and those that profilers and LibTorch's stack traces send to each thread, are
/// left.
class RequestsBlocked {
 public:
  RequestsBlocked() noexcept {
    sigset_t requests;
    sigemptyset(&requests);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD, SIGCONT,
                             SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH}) {
      sigaddset(&requests, signal);
    }
    pthread_sigmask(SIG_BLOCK, &requests, &before_);
  }
  ~RequestsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  RequestsBlocked(const RequestsBlocked&) = delete;
  RequestsBlocked& operator=(const RequestsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace steptape::detail::base
