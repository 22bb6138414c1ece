// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/processes.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "steptape/base/error.h"

#include "base/directory_entries.h"
#include "base/process_stat.h"

namespace steptape::tools {
namespace {

constexpr int kCannotExecute = 127;

std::vector<char*> pointersTo(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));  // POSIX's type; never written to.
  }
  arguments.push_back(nullptr);
  return arguments;
}

/// A pipe that no other program inherits.
struct ReportPipe {
  ReportPipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw Error(ErrorCode::kIoError,
                  "cannot make a pipe: " + std::generic_category().message(errno));
    }
    readEnd = ends[0];
    writeEnd = ends[1];
  }
  ReportPipe(const ReportPipe&) = delete;
  ReportPipe& operator=(const ReportPipe&) = delete;
  ~ReportPipe() {
    closeWriteEnd();
    ::close(readEnd);
  }
  void closeWriteEnd() {
    if (writeEnd >= 0) {
      ::close(writeEnd);
      writeEnd = -1;
    }
  }

  int readEnd = -1;
  int writeEnd = -1;
};

std::string readAll(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return text;
    }
  }
}

/// @param output The descriptor of its standard output; none if negative.
pid_t spawn(const std::vector<std::string>& command, int output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  if (output >= 0) {
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  pid_t process = -1;
  const int error = ::posix_spawnp(&process, command.front().c_str(), &files, &attributes,
                                   pointersTo(command).data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error == 0 ? process : -1;
}

/// Becomes the program; runs in the child of a fork. Writes the errno to `errors` if it cannot.
[[noreturn]] void become(const std::vector<char*>& arguments, const JobSignals& signals,
                         bool ownGroup, int deathSignal, pid_t parent, int errors) {
  if (ownGroup) {
    ::setpgid(0, 0);
  }
  ::prctl(PR_SET_PDEATHSIG, deathSignal);
  if (::getppid() != parent) {
    ::_exit(kCannotExecute);  // The parent died before it could be noticed.
  }
  signals.restore();
  ::execvp(arguments.front(), arguments.data());
  const int error = errno;
  // If this fails, the exit code still says that there is no program.
  static_cast<void>(!::write(errors, &error, sizeof error));
  ::_exit(kCannotExecute);
}

}  // namespace

std::string outputOf(const std::vector<std::string>& command) {
  ReportPipe pipe;
  const pid_t process = spawn(command, pipe.writeEnd);
  pipe.closeWriteEnd();
  if (process < 0) {
    return "";
  }
  std::string text = readAll(pipe.readEnd);
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

pid_t startSilently(const std::vector<std::string>& command) {
  return spawn(command, -1);
}

StartedProcess startJob(const std::vector<std::string>& command, const JobSignals& signals,
                        bool ownGroup, int deathSignal) {
  const std::vector<char*> arguments = pointersTo(command);
  ReportPipe errors;
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) {
    become(arguments, signals, ownGroup, deathSignal, parent, errors.writeEnd);
  }
  if (process < 0) {
    return {-1, errno};
  }
  errors.closeWriteEnd();
  const std::string text = readAll(errors.readEnd);
  int error = 0;
  if (text.size() == sizeof error) {
    text.copy(reinterpret_cast<char*>(&error), sizeof error);
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
    return {-1, error};
  }
  return {process, 0};
}

bool isInForeground() {
  const int terminal = ::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) {
    return false;
  }
  const pid_t group = ::tcgetpgrp(terminal);
  ::close(terminal);
  return group == ::getpgrp();
}

void adoptOrphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void signalChildren(int signal) {
  std::vector<detail::DirectoryEntry> entries;
  static_cast<void>(detail::listDirectory("/proc", &entries));  // What is readable is enough.
  const pid_t self = ::getpid();
  for (const detail::DirectoryEntry& entry : entries) {
    if (std::isdigit(static_cast<unsigned char>(entry.name.front())) == 0) {
      continue;
    }
    const std::optional<detail::ProcessStat> stat = detail::readProcessStat(entry.name);
    if (stat && stat->parent == self) {
      // The child cannot have a new process id: it is reaped only by this process.
      ::kill(static_cast<pid_t>(std::atol(entry.name.c_str())), signal);
    }
  }
}

}  // namespace steptape::tools
