// SPDX-License-Identifier: Apache-2.0
#include "log/writer/terminate_handler.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "process/blackbox/rank_state.h"
#include "process/blackbox/state_page.h"

namespace steptape::detail::log {
namespace {

void (*callFirst)() = nullptr;
std::terminate_handler previousHandler = nullptr;

/// Notes the text of the uncaught exception in the state of the process. Allocates nothing: memory
/// may be what is lacking.
void noteReason() noexcept {
  const std::exception_ptr uncaught = std::current_exception();
  if (!uncaught) {
    process::noteError("std::terminate() was called without an exception");
    return;
  }
  try {
    std::rethrow_exception(uncaught);
  } catch (const std::exception& error) {
    std::array<char, 1024> text{};
    std::snprintf(text.data(), text.size(), "%s%s", process::kUncaughtException, error.what());
    process::noteError(text.data());
  } catch (...) {
    process::noteError("an exception that is no std::exception was not caught");
  }
}

[[noreturn]] void callAndTerminate() {
  // Several threads may call it, and the function may terminate again.
  static std::atomic<bool> entered{false};
  if (!entered.exchange(true)) {
    noteReason();
    callFirst();
    noteReason();  // what could not be written then is not why the process ends
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

}  // namespace steptape::detail::log
