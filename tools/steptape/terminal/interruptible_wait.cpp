// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/terminal/interruptible_wait.h"

#include <cmath>
#include <csignal>
#include <poll.h>
#include <unistd.h>

namespace steptape::tools {
namespace {

volatile std::sig_atomic_t wasInterrupted = 0;

}  // namespace

void endOnInterrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { wasInterrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool waitFor(double seconds) {
  pollfd output{STDOUT_FILENO, 0, 0};
  const int ready = poll(&output, 1, static_cast<int>(std::ceil(seconds * 1000)));
  return wasInterrupted == 0 && ready <= 0;
}

}  // namespace steptape::tools
