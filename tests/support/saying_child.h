// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace steptape::test {

/// A forked process that says something, and then waits until it is killed.
class SayingChild {
 public:
  explicit SayingChild(const std::function<std::string()>& say) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      return;
    }
    pid_ = ::fork();
    if (pid_ == 0) {
      const std::string words = say() + "\n";
      static_cast<void>(!::write(ends[1], words.data(), words.size()));
      while (true) {
        ::pause();
      }
    }
    ::close(ends[1]);
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) {
      said_ += c;
    }
    ::close(ends[0]);
  }
  ~SayingChild() { kill(); }
  SayingChild(const SayingChild&) = delete;
  SayingChild& operator=(const SayingChild&) = delete;

  const std::string& said() const { return said_; }
  pid_t pid() const { return pid_; }
  void kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      pid_ = 0;
    }
  }

 private:
  pid_t pid_ = 0;
  std::string said_;
};

}  // namespace steptape::test
