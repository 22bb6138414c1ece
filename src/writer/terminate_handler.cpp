// SPDX-License-Identifier: Apache-2.0
#include "writer/terminate_handler.h"

#include <atomic>
#include <cstdlib>
#include <exception>

#include "writer/backend.h"

namespace steptape {
namespace {

std::terminate_handler previousHandler = nullptr;

[[noreturn]] void flushAndTerminate() {
  // Several threads may come here, and flushing may lead here again.
  static std::atomic<bool> entered{false};
  if (!entered.exchange(true)) {
    Backend::instance().flushAllBeforeAbort();
  }
  if (previousHandler != nullptr) {
    previousHandler();
  }
  std::abort();
}

}  // namespace

void flushBeforeTerminate() {
  previousHandler = std::set_terminate(&flushAndTerminate);
}

}  // namespace steptape
