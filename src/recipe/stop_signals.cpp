// SPDX-License-Identifier: Apache-2.0
#include "steptape/recipe/stop_signals.h"

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <string>
#include <utility>

#include "steptape/base/error.h"

namespace steptape {
namespace {

/// A signal that somebody waits for.
struct Caught {
  int users = 0;
  struct sigaction before {};  ///< Set while users > 0.
};

// A signal handler may touch nothing but these and `before`, which changes only while the handler is
// not installed.
std::atomic<int> latestSignal{0};
std::atomic<std::uint64_t> signalCount{0};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

std::array<Caught, NSIG> caughtSignals;
std::mutex caughtMutex;

void noteSignal(int signal, siginfo_t* info, void* context) {
  latestSignal.store(signal);
  signalCount.fetch_add(1);
  const struct sigaction& before = caughtSignals[static_cast<std::size_t>(signal)].before;
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  }
}

void checkCanBeCaught(int signal) {
  if (signal <= 0 || signal >= NSIG || signal == SIGKILL || signal == SIGSTOP) {
    throw Error(ErrorCode::kInvalidArgument,
                "StopSignals got the signal " + std::to_string(signal) +
                    ", wanted one that can be caught, such as SIGTERM (" + std::to_string(SIGTERM) +
                    ")");
  }
}

void startCatching(int signal) {
  Caught& caught = caughtSignals[static_cast<std::size_t>(signal)];
  if (caught.users++ > 0) {
    return;
  }
  sigaction(signal, nullptr, &caught.before);
  struct sigaction action {};
  action.sa_sigaction = noteSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void stopCatching(int signal) {
  Caught& caught = caughtSignals[static_cast<std::size_t>(signal)];
  if (--caught.users == 0) {
    sigaction(signal, &caught.before, nullptr);
  }
}

}  // namespace

StopSignals::StopSignals(std::vector<int> signals) : signals_(std::move(signals)) {
  for (const int signal : signals_) {
    checkCanBeCaught(signal);
  }
  countBefore_ = signalCount.load();
  const std::lock_guard<std::mutex> lock(caughtMutex);
  for (const int signal : signals_) {
    startCatching(signal);
  }
}

StopSignals::~StopSignals() {
  const std::lock_guard<std::mutex> lock(caughtMutex);
  for (const int signal : signals_) {
    stopCatching(signal);
  }
}

int StopSignals::received() const {
  return signalCount.load(std::memory_order_relaxed) == countBefore_ ? 0 : latestSignal.load();
}

}  // namespace steptape
