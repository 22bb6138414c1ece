// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/processes.h"

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/directory_entries.h"
#include "base/process_stat.h"
#include "tools/steptape/programs/report_pipe.h"

namespace steptape::tools {
namespace {

constexpr int kCannotExecute = 127;

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
  const std::string text = errors.readAll();
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

std::vector<pid_t> childrenOutside(pid_t group) {
  std::vector<pid_t> children;
  std::vector<detail::base::DirectoryEntry> entries;
  static_cast<void>(detail::base::listDirectory("/proc", &entries));  // What is readable is enough.
  const pid_t self = ::getpid();
  for (const detail::base::DirectoryEntry& entry : entries) {
    if (std::isdigit(static_cast<unsigned char>(entry.name.front())) == 0) {
      continue;
    }
    const std::optional<detail::base::ProcessStat> stat = detail::base::readProcessStat(entry.name);
    if (stat && stat->parent == self && stat->group != group) {
      children.push_back(static_cast<pid_t>(std::atol(entry.name.c_str())));
    }
  }
  return children;
}

}  // namespace steptape::tools
