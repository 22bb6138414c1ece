// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/hosts/host_check.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/text.h"
#include "tools/steptape/programs/silent_program.h"

namespace steptape::tools {
namespace {

using SteadyTime = std::chrono::steady_clock;

constexpr auto kLongestWait = std::chrono::seconds(15);
constexpr auto kAnswerPollPeriod = std::chrono::milliseconds(10);

/// @return whether the process ends with exit code 0; it is killed at the deadline.
bool succeeds(pid_t process, SteadyTime::time_point deadline) {
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process) {
      return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    if (ended < 0 && errno != EINTR) {
      return false;
    }
    if (SteadyTime::now() >= deadline) {
      ::kill(-process, SIGKILL);
    }
    std::this_thread::sleep_for(kAnswerPollPeriod);
  }
}

}  // namespace

bool isThisMachine(const std::string& host) {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const std::string_view self = name.data();
  return host == "localhost" || host == "127.0.0.1" || host == "::1" || host == self ||
         host == self.substr(0, self.find('.')) ||
         detail::base::startsWith(host, std::string(self) + '.');
}

std::vector<Host> answeringHosts(const std::vector<Host>& hosts,
                                 const std::vector<std::string>& shell) {
  const SteadyTime::time_point deadline = SteadyTime::now() + kLongestWait;
  std::vector<pid_t> questions;
  for (const Host& host : hosts) {
    std::vector<std::string> command = shell;
    command.insert(command.end(), {host.name, "true"});
    questions.push_back(isThisMachine(host.name) ? 0 : startSilently(command));
  }
  std::vector<Host> answering;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (questions[i] == 0 || (questions[i] > 0 && succeeds(questions[i], deadline))) {
      answering.push_back(hosts[i]);
    }
  }
  return answering;
}

}  // namespace steptape::tools
