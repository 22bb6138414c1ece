// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "process/blackbox/rank_state.h"
#include "support/own_black_boxes.h"

#include <gtest/gtest.h>

namespace steptape::test {

/// A child process that tells its parent when it is ready, and then waits to be ended.
class StateChild {
 public:
  /// How the child tells, from inside the body.
  class Ready {
   public:
    Ready(int write, int read) : write_(write), read_(read) {}

    /// Tells the parent to go on, and waits until it lets the child end.
    void tellAndWait() const {
      tell();
      char byte = 0;
      static_cast<void>(!::read(read_, &byte, 1));
    }
    void tell() const { static_cast<void>(!::write(write_, "r", 1)); }

   private:
    int write_;
    int read_;
  };

  /// Runs `body` in a child, which then ends as main() does.
  explicit StateChild(const std::function<void(const Ready&)>& body) {
    int ready[2];
    int end[2];
    EXPECT_EQ(pipe(ready), 0);
    EXPECT_EQ(pipe(end), 0);
    child_ = fork();
    if (child_ == 0) {
      close(ready[0]);
      close(end[1]);
      body(Ready(ready[1], end[0]));
      std::exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    close(ready[1]);
    close(end[0]);
    ready_ = ready[0];
    end_ = end[1];
  }
  StateChild(const StateChild&) = delete;
  StateChild& operator=(const StateChild&) = delete;
  ~StateChild() {
    if (child_ > 0) {
      send(SIGKILL);
      end();
    }
    close(ready_);
    letEnd();
  }

  pid_t pid() const { return child_; }
  /// Waits until the child is ready.
  /// @return false if it has ended before.
  bool isReady() const {
    char byte = 0;
    return ::read(ready_, &byte, 1) == 1;
  }
  void send(int signal) const { ::kill(child_, signal); }
  /// Lets Ready::tellAndWait() return.
  void letEnd() {
    if (end_ >= 0) {
      close(end_);
      end_ = -1;
    }
  }
  /// Waits for the child's end; returns its wait status.
  int end() {
    constexpr auto kBound = std::chrono::seconds(60);
    const auto deadline = std::chrono::steady_clock::now() + kBound;
    int status = 0;
    while (waitpid(child_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "the child did not end within its bound";
        send(SIGKILL);
        waitpid(child_, &status, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    child_ = -1;
    return status;
  }

 private:
  pid_t child_ = -1;
  int ready_ = -1;
  int end_ = -1;
};

/// Gives each test a folder for black boxes of its own.
class StateTest : public ::testing::Test {
 protected:
  std::string folder() const { return boxes_.folder(); }
  std::vector<detail::process::BoxName> boxes() const {
    return detail::process::listBoxes(folder());
  }

  /// Returns the state in the only box.
  detail::process::RankState state() const {
    detail::process::RankState state;
    const std::vector<detail::process::BoxName> known = boxes();
    EXPECT_EQ(known.size(), 1U);
    if (!known.empty()) {
      const Status status = detail::process::readRankState(known.front(), &state);
      EXPECT_TRUE(status.ok()) << status.message();
    }
    return state;
  }

 private:
  test::OwnBlackBoxes boxes_;
};

}  // namespace steptape::test
