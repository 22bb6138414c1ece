// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/termination.h"

#include <unistd.h>

#include "base/never_destroyed.h"
#include "process/blackbox/crash_handler.h"

namespace steptape::detail::storage {

Termination& Termination::instance() {
  static const base::NeverDestroyed<Termination> kInstance;
  return *kInstance;
}

/// In the signal handler. A second signal ends the process at once.
bool Termination::takeOver() {
  Termination& self = instance();
  if (self.process_.load() != ::getpid()) {
    return false;
  }
  self.askedAt_.store(std::chrono::steady_clock::now());
  // In this order: the last mirror that leaves looks whether it was asked.
  return !self.isAsked_.exchange(true) && self.mirrors_.load() > 0;
}

bool Termination::isOver(std::chrono::milliseconds patience) const {
  return isAsked_.load() && std::chrono::steady_clock::now() - askedAt_.load() >= patience;
}

void Termination::enter() {
  if (process_.exchange(::getpid()) != ::getpid()) {
    mirrors_.store(0);
    isAsked_.store(false);
  }
  mirrors_.fetch_add(1);
  process::delayTermination(&takeOver);
}

void Termination::leave() {
  if (mirrors_.fetch_sub(1) == 1 && isAsked_.load()) {
    process::endByTermination();
  }
}

}  // namespace steptape::detail::storage
