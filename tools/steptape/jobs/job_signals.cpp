// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/job_signals.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace steptape::tools {
namespace {

constexpr std::array<int, 8> kPassedOn{SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                       SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

bool isIgnored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

timespec durationUntil(JobSignals::Clock::time_point deadline) {
  using std::chrono::nanoseconds;
  constexpr nanoseconds kLongest = std::chrono::hours(1);  // A later deadline is asked for again.
  const nanoseconds left = std::clamp(
      std::chrono::duration_cast<nanoseconds>(
          std::min(deadline, JobSignals::Clock::now() + kLongest) - JobSignals::Clock::now()),
      nanoseconds(0), kLongest);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((left - seconds).count())};
}

}  // namespace

JobSignals::JobSignals() {
  // If a parent ignores it, the kernel would reap the children.
  std::signal(SIGCHLD, SIG_DFL);
  sigemptyset(&awaited_);
  sigaddset(&awaited_, SIGCHLD);
  for (const int signal : kPassedOn) {
    if (!isIgnored(signal)) {
      sigaddset(&awaited_, signal);
    }
  }
  sigset_t blocked = awaited_;
  // A message that nobody reads must not end the job.
  sigaddset(&blocked, SIGPIPE);
  ::sigprocmask(SIG_BLOCK, &blocked, &before_);
}

JobSignals::~JobSignals() {
  restore();
}

std::optional<ArrivedSignal> JobSignals::waitUntil(Clock::time_point deadline) const {
  for (;;) {
    const timespec left = durationUntil(deadline);
    siginfo_t info{};
    const int signal = ::sigtimedwait(&awaited_, &info, &left);
    if (signal > 0) {
      return ArrivedSignal{signal, info.si_code == SI_KERNEL};
    }
    if (errno != EINTR && Clock::now() >= deadline) {
      return std::nullopt;
    }
  }
}

void JobSignals::restore() const {
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

bool asksToEnd(int signal) {
  constexpr std::array<int, 5> kEnding{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};
  return std::find(kEnding.begin(), kEnding.end(), signal) != kEnding.end();
}

}  // namespace steptape::tools
