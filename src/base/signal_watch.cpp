// SPDX-License-Identifier: Apache-2.0
#include "steptape/base/signal_watch.h"

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <string>
#include <utility>

#include "base/got_expected.h"

namespace steptape {
namespace {

/// A signal that SignalWatch objects watch.
struct Caught {
  int users = 0;
  struct sigaction before {};  ///< Valid while users > 0.
};

// A signal handler may access only these variables and `before`, which changes only while the
// handler is not installed.
std::atomic<std::uint64_t> signalCount{0};
std::array<std::atomic<std::uint64_t>, NSIG> latestCount{};  // for each signal
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

std::array<Caught, NSIG> caughtSignals;
std::mutex caughtMutex;

void noteSignal(int signal, siginfo_t* info, void* context) {
  latestCount[static_cast<std::size_t>(signal)].store(signalCount.fetch_add(1) + 1);
  const struct sigaction& before = caughtSignals[static_cast<std::size_t>(signal)].before;
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  }
}

void checkCanBeCaught(int signal) {
  if (signal <= 0 || signal >= NSIG || signal == SIGKILL || signal == SIGSTOP) {
    detail::base::reject(
        "signal " + std::to_string(signal),
        "one that can be caught, such as SIGTERM (" + std::to_string(SIGTERM) + ")", "SignalWatch");
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

SignalWatch::SignalWatch(std::vector<int> signals) : signals_(std::move(signals)) {
  for (const int signal : signals_) {
    checkCanBeCaught(signal);
  }
  countBefore_ = signalCount.load();
  const std::lock_guard<std::mutex> lock(caughtMutex);
  for (const int signal : signals_) {
    startCatching(signal);
  }
}

SignalWatch::~SignalWatch() {
  const std::lock_guard<std::mutex> lock(caughtMutex);
  for (const int signal : signals_) {
    stopCatching(signal);
  }
}

int SignalWatch::received() const {
  std::uint64_t latest = countBefore_;
  int received = 0;
  for (const int signal : signals_) {
    const std::uint64_t count =
        latestCount[static_cast<std::size_t>(signal)].load(std::memory_order_relaxed);
    if (count > latest) {
      latest = count;
      received = signal;
    }
  }
  return received;
}

}  // namespace steptape
