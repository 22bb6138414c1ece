// SPDX-License-Identifier: Apache-2.0
#include "steptape/base/signal_watch.h"

#include <csignal>
#include <memory>

#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

int callsOfTheirs = 0;
void countCall(int /*signal*/) {
  ++callsOfTheirs;
}

/// The program's own handler of SIGUSR2 during a test.
class TheirHandler {
 public:
  TheirHandler() { before_ = std::signal(SIGUSR2, countCall); }
  ~TheirHandler() { std::signal(SIGUSR2, before_); }

 private:
  void (*before_)(int);
};

TEST(SignalWatch, RecordsASignalInsteadOfEndingTheProcess) {
  const SignalWatch signals({SIGTERM, SIGUSR1});
  EXPECT_EQ(signals.received(), 0);
  std::raise(SIGTERM);
  EXPECT_EQ(signals.received(), SIGTERM);
  std::raise(SIGUSR1);
  EXPECT_EQ(signals.received(), SIGUSR1) << "the latest counts";
}

TEST(SignalWatch, IgnoresEarlierSignals) {
  const SignalWatch first({SIGUSR1});
  std::raise(SIGUSR1);
  const SignalWatch second({SIGUSR1});
  EXPECT_EQ(second.received(), 0);
  EXPECT_EQ(first.received(), SIGUSR1);
}

TEST(SignalWatch, IgnoresSignalsOfOtherWatches) {
  const SignalWatch first({SIGUSR1});
  const SignalWatch second({SIGUSR2});
  std::raise(SIGUSR2);
  EXPECT_EQ(first.received(), 0);
  EXPECT_EQ(second.received(), SIGUSR2);
}

TEST(SignalWatch, CallsTheEarlierHandler) {
  const TheirHandler theirs;
  callsOfTheirs = 0;
  {
    const SignalWatch signals({SIGUSR2});
    std::raise(SIGUSR2);
    EXPECT_EQ(callsOfTheirs, 1);
    EXPECT_EQ(signals.received(), SIGUSR2);
  }
  std::raise(SIGUSR2);
  EXPECT_EQ(callsOfTheirs, 2) << "their handler is not back";
}

TEST(SignalWatch, KeepsCatchingUntilTheLastObjectHasGone) {
  const TheirHandler theirs;
  callsOfTheirs = 0;
  auto first = std::make_unique<SignalWatch>(std::vector<int>{SIGUSR2});
  const SignalWatch second({SIGUSR2});
  first.reset();
  std::raise(SIGUSR2);
  EXPECT_EQ(second.received(), SIGUSR2);
}

TEST(SignalWatch, RejectsWhatCannotBeCaught) {
  for (const int signal : {SIGKILL, SIGSTOP, 0, -1, 100000}) {
    test::expectError(ErrorCode::kInvalidArgument,
                      "SignalWatch: got signal " + std::to_string(signal) + "; expected one that",
                      [&] {
                        const SignalWatch signals({SIGTERM, signal});
                      });
  }
}

}  // namespace
}  // namespace steptape
