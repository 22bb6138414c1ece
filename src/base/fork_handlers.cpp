// SPDX-License-Identifier: Apache-2.0
#include "base/fork_handlers.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cxxabi.h>
#include <pthread.h>

namespace steptape::detail::base {
namespace {

constexpr std::size_t kForkCopies = 4;
constexpr std::size_t kForkSlots = (static_cast<std::size_t>(ForkOrder::kBoxes) + 1) * kForkCopies;

/// In the order of fork(), some for each place. Initialized at compile time: constructors of static
/// objects may add handlers.
std::array<std::atomic<const ForkHandlers*>, kForkSlots> forkHandlers{};
std::atomic<bool> isExiting{false};

struct HeldInFork {
  const ForkHandlers* handlers;
  Mutex* mutex;
};
/// What the thread that calls fork() has locked, which is the child's only thread. Handlers or a
/// mutex that another thread adds meanwhile are left alone.
thread_local std::array<HeldInFork, kForkSlots> heldInFork{};

// The mutexes are held from one call to the next, across fork(), which the analysis cannot follow.
void lockBeforeFork() STEPTAPE_THREAD_ANNOTATION(no_thread_safety_analysis) {
  for (std::size_t i = 0; i < kForkSlots; ++i) {
    const ForkHandlers* const handlers = forkHandlers[i];
    Mutex* const mutex = handlers != nullptr ? handlers->mutex() : nullptr;
    if (mutex != nullptr) {
      mutex->lock();
    }
    heldInFork[i] = {handlers, mutex};
  }
}

void unlockAfterFork(bool isChild) STEPTAPE_THREAD_ANNOTATION(no_thread_safety_analysis) {
  for (std::size_t i = kForkSlots; i-- > 0;) {
    const HeldInFork held = heldInFork[i];
    // Else another thread has unloaded their library meanwhile.
    const bool isLoaded = held.handlers != nullptr && held.handlers == forkHandlers[i];
    if (isChild && isLoaded && held.handlers->inChild != nullptr) {
      held.handlers->inChild();
    }
    if (isLoaded && held.mutex != nullptr) {
      held.mutex->unlock();
    }
  }
}

/// Called when the library of the handlers is unloaded, and by std::exit(). Then they stay: static
/// objects and threads may need them until the process ends.
void removeForkHandlers(void* handlers) {
  for (std::size_t i = 0; i < kForkSlots && !isExiting; ++i) {
    const auto* expected = static_cast<const ForkHandlers*>(handlers);
    forkHandlers[i].compare_exchange_strong(expected, nullptr);
  }
}

}  // namespace

void addForkHandlers(ForkOrder place, const ForkHandlers& handlers, void* library) {
  // If it fails for lack of memory, fork() works as long as no other thread holds a mutex.
  static const int kRegistered = pthread_atfork(
      &lockBeforeFork, [] { unlockAfterFork(false); }, [] { unlockAfterFork(true); });
  static_cast<void>(kRegistered);
  const std::size_t first = static_cast<std::size_t>(place) * kForkCopies;
  for (std::size_t i = first; i < first + kForkCopies; ++i) {
    const ForkHandlers* present = nullptr;
    if (forkHandlers[i].compare_exchange_strong(present, &handlers)) {
      abi::__cxa_atexit(&removeForkHandlers, const_cast<ForkHandlers*>(&handlers), library);
      std::atexit([] { isExiting = true; });  // std::exit() calls the last one first
      return;
    }
    if (present == &handlers) {
      return;
    }
  }
}

}  // namespace steptape::detail::base
