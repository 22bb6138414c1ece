// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/poll_pause.h"

#include <array>
#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace steptape::detail::ranks {
namespace {

using Clock = std::chrono::steady_clock;

TEST(PollPause, EndsAfterItsTimeout) {
  PollPause pause(std::chrono::milliseconds(200));
  const auto start = Clock::now();
  while (pause.next()) {
  }
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(200));
  EXPECT_GT(pause.waited(), std::chrono::milliseconds(200));
}

/// Waits in a child process, which the parent stops for longer than the time limit.
/// @return whether the child goes on to wait.
bool waitsOnAfterAStop() {
  constexpr std::chrono::seconds kLimit{4};
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    PollPause pause(kLimit);
    bool hasTold = false;
    auto last = Clock::now();
    while (pause.next()) {
      const auto now = Clock::now();
      if (now - last > kLimit) {
        ::_exit(pause.next() ? 0 : 1);  // after the stop
      }
      last = now;
      if (!hasTold && pause.hasNapped()) {
        hasTold = true;
        static_cast<void>(!::write(ends[1], "", 1));
      }
    }
    ::_exit(2);
  }
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  ::kill(child, SIGSTOP);
  std::this_thread::sleep_for(kLimit + std::chrono::seconds(1));
  ::kill(child, SIGCONT);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(PollPause, DoesNotCountTimeInWhichTheProcessWasStopped) {
  EXPECT_TRUE(waitsOnAfterAStop());
}

}  // namespace
}  // namespace steptape::detail::ranks
