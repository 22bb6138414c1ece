// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

extern char** environ;

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr auto kPollPeriod = std::chrono::milliseconds(20);
constexpr auto kTimeToEnd = std::chrono::seconds(10);

pid_t start(const std::vector<std::string>& command, const std::string& outputPath) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));  // POSIX's type; never written to.
  }
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, outputPath.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), "cannot start " + command[0]);
  }
  return process;
}

/// Returns the status of waitpid(), or nothing if `deadline` passes first.
std::optional<int> waitUntil(pid_t process, SteadyClock::time_point deadline) {
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process) {
      return status;
    }
    if (ended < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "waitpid");
    }
    if (SteadyClock::now() >= deadline) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(kPollPeriod);
  }
}

}  // namespace

ProcessEnd runProcess(const std::vector<std::string>& command, const std::string& outputPath,
                      std::chrono::seconds timeLimit) {
  const auto begin = SteadyClock::now();
  const pid_t process = start(command, outputPath);
  ProcessEnd end;
  std::optional<int> status = waitUntil(process, begin + timeLimit);
  if (!status) {
    end.timedOut = true;
    kill(process, SIGTERM);
    status = waitUntil(process, SteadyClock::now() + kTimeToEnd);
  }
  if (!status) {
    kill(process, SIGKILL);
    status = waitUntil(process, SteadyClock::time_point::max());
  }
  end.exitCode = WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
  end.seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  return end;
}
