// SPDX-License-Identifier: Apache-2.0
#include "steptape/recipe/stop_signals.h"

#include <csignal>
#include <memory>

#include "distributed/expect_error.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

int callsOfTheirs = 0;
void countCall(int /*signal*/) {
  ++callsOfTheirs;
}

/// Their handler of SIGUSR2 for the length of a test.
class TheirHandler {
 public:
  TheirHandler() { before_ = std::signal(SIGUSR2, countCall); }
  ~TheirHandler() { std::signal(SIGUSR2, before_); }

 private:
  void (*before_)(int);
};

TEST(StopSignals, NotesASignalInsteadOfDying) {
  const StopSignals signals({SIGTERM, SIGUSR1});
  EXPECT_EQ(signals.received(), 0);
  std::raise(SIGTERM);
  EXPECT_EQ(signals.received(), SIGTERM);
  std::raise(SIGUSR1);
  EXPECT_EQ(signals.received(), SIGUSR1) << "the latest counts";
}

TEST(StopSignals, KnowsNothingOfWhatCameBeforeIt) {
  const StopSignals first({SIGUSR1});
  std::raise(SIGUSR1);
  const StopSignals second({SIGUSR1});
  EXPECT_EQ(second.received(), 0);
  EXPECT_EQ(first.received(), SIGUSR1);
}

TEST(StopSignals, GoesOnToTheHandlerThatWasThere) {
  const TheirHandler theirs;
  callsOfTheirs = 0;
  {
    const StopSignals signals({SIGUSR2});
    std::raise(SIGUSR2);
    EXPECT_EQ(callsOfTheirs, 1);
    EXPECT_EQ(signals.received(), SIGUSR2);
  }
  std::raise(SIGUSR2);
  EXPECT_EQ(callsOfTheirs, 2) << "their handler is not back";
}

TEST(StopSignals, KeepsCatchingUntilTheLastObjectHasGone) {
  const TheirHandler theirs;
  callsOfTheirs = 0;
  auto first = std::make_unique<StopSignals>(std::vector<int>{SIGUSR2});
  const StopSignals second({SIGUSR2});
  first.reset();
  std::raise(SIGUSR2);
  EXPECT_EQ(second.received(), SIGUSR2);
}

TEST(StopSignals, RejectsWhatCannotBeCaught) {
  for (const int signal : {SIGKILL, SIGSTOP, 0, -1, 100000}) {
    test::expectError(ErrorCode::kInvalidArgument,
                      "StopSignals got the signal " + std::to_string(signal) + ", wanted one that",
                      [&] {
                        const StopSignals signals({SIGTERM, signal});
                      });
  }
}

}  // namespace
}  // namespace steptape
