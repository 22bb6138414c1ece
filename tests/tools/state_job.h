// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "steptape/log/writer_options.h"

#include "support/own_black_boxes.h"
#include "tools/tool_fixture.h"

namespace steptape {

/// A rank in a process of its own, which a test ends in its own way.
class RankProcess {
 public:
  /// Runs `body` as rank `rank` of `size`; the constructor returns when `body` calls `ready`. The
  /// process then stays where it is until it is ended.
  RankProcess(int rank, int size, const std::function<void(const std::function<void()>&)>& body) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    child_ = fork();
    if (child_ == 0) {
      close(ready[0]);
      setenv("RANK", std::to_string(rank).c_str(), 1);
      setenv("WORLD_SIZE", std::to_string(size).c_str(), 1);
      body([&] { static_cast<void>(!::write(ready[1], "r", 1)); });
      while (true) {
        pause();
      }
    }
    close(ready[1]);
    char byte = 0;
    static_cast<void>(!::read(ready[0], &byte, 1));
    close(ready[0]);
  }
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;
  ~RankProcess() { end(SIGKILL); }

  pid_t pid() const { return child_; }
  /// Ends it with a signal, or waits until it has ended by itself if `signal` is 0.
  void end(int signal) {
    if (child_ > 0) {
      if (signal != 0) {
        kill(child_, signal);
      }
      waitpid(child_, nullptr, 0);
      child_ = -1;
    }
  }
  /// Stops it; returns when it has stopped.
  void stop() const {
    kill(child_, SIGSTOP);
    int status = 0;
    waitpid(child_, &status, WUNTRACED);
    EXPECT_TRUE(WIFSTOPPED(status));
  }

 private:
  pid_t child_ = -1;
};

/// For processes that stand for the ranks of a job, each with a writer.
inline WriterOptions sharedRun() {
  WriterOptions options;
  options.occupied = OccupiedRun::kShare;
  return options;
}

/// Gives each test a folder for black boxes of its own.
class StateJob : public ToolFixture {
 protected:
  test::OwnBlackBoxes boxes_;
};

}  // namespace steptape
