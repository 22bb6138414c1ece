// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/key_program.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/file_descriptor.h"
#include "base/got_expected.h"

extern char** environ;

namespace steptape::detail::storage {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::chrono::seconds kProgramPatience{60};
constexpr std::chrono::milliseconds kLookForEnd{5};
constexpr std::size_t kMostOutputBytes = std::size_t{64} << 10;

/// Starts a shell in a process group of its own.
/// @return the errno if that fails.
int startShell(std::string command, int output, pid_t* process) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::array<std::string, 2> words{"sh", "-c"};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), command.data(), nullptr};
  const int error =
      ::posix_spawn(process, "/bin/sh", &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/// Reads until the program closes its output, which its end does.
/// @return false if it does not in time, or prints too much.
bool readAll(int input, SteadyTime end, std::string* output) {
  std::array<char, 4096> bytes{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd polled{input, POLLIN, 0};
    if (left.count() <= 0 || output->size() > kMostOutputBytes) {
      return false;
    }
    if (::poll(&polled, 1, static_cast<int>(left.count())) <= 0) {
      continue;  // a signal, or the end of the time
    }
    const ssize_t count = ::read(input, bytes.data(), bytes.size());
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return count == 0;
    }
    output->append(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  }
}

}  // namespace

Status runKeyProgram(const std::string& command, std::string* output) {
  output->clear();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {ErrorCode::kIoError, "cannot open a pipe: " + std::generic_category().message(errno)};
  }
  const base::FileDescriptor input(ends[0]);
  base::FileDescriptor other(ends[1]);
  pid_t process = -1;
  if (const int error = startShell(command, other.number(), &process); error != 0) {
    return {ErrorCode::kIoError, "cannot start a shell: " + std::generic_category().message(error)};
  }
  { const base::FileDescriptor closed = std::move(other); }
  const SteadyTime end = std::chrono::steady_clock::now() + kProgramPatience;
  bool isWhole = readAll(input.number(), end, output);
  int status = 0;
  // ECHILD if this process waits for all of its children elsewhere: then the output must do.
  while (::waitpid(process, &status, WNOHANG) == 0) {
    isWhole = isWhole && std::chrono::steady_clock::now() < end;
    if (!isWhole) {
      ::kill(-process, SIGKILL);
    }
    std::this_thread::sleep_for(kLookForEnd);
  }
  if (!isWhole) {
    return {ErrorCode::kIoError,
            base::gotExpected(output->size() > kMostOutputBytes ? "too much output" : "no end",
                              "keys within a minute; killed")};
  }
  const int code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return code == 0 ? Status()
                   : Status(ErrorCode::kIoError,
                            base::gotExpected((WIFSIGNALED(status) ? "signal " : "exit code ") +
                                                  std::to_string(code),
                                              "exit code 0"));
}

}  // namespace steptape::detail::storage
