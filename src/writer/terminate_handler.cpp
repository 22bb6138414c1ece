// SPDX-License-Identifier: Apache-2.0
#include "writer/terminate_handler.h"

#include <atomic>
#include <cstdlib>
#include <exception>

namespace steptape::detail {
namespace {

void (*callFirst)() = nullptr;
std::terminate_handler previousHandler = nullptr;

[[noreturn]] void callAndTerminate() {
  // Several threads may call it, and the function may terminate again.
  static std::atomic<bool> entered{false};
  if (!entered.exchange(true)) {
    callFirst();
  }
  if (previousHandler != nullptr) {
    previousHandler();
  }
  std::abort();
}

}  // namespace

void callBeforeTerminate(void (*function)()) {
  callFirst = function;
  previousHandler = std::set_terminate(&callAndTerminate);
}

}  // namespace steptape::detail
