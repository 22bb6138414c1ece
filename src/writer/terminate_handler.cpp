// SPDX-License-Identifier: Apache-2.0
#include "writer/terminate_handler.h"

#include <atomic>
#include <cstdlib>
#include <exception>

#include "blackbox/state_page.h"

namespace steptape::detail {
namespace {

void (*callFirst)() = nullptr;
std::terminate_handler previousHandler = nullptr;

/// Notes the text of the uncaught exception in the state of the process.
void noteReason() noexcept {
  const std::exception_ptr uncaught = std::current_exception();
  if (!uncaught) {
    noteError("std::terminate() was called without an exception");
    return;
  }
  try {
    std::rethrow_exception(uncaught);
  } catch (const std::exception& error) {
    noteError(error.what());
  } catch (...) {
    noteError("an exception that is no std::exception was not caught");
  }
}

[[noreturn]] void callAndTerminate() {
  // Several threads may call it, and the function may terminate again.
  static std::atomic<bool> entered{false};
  if (!entered.exchange(true)) {
    noteReason();
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
