// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/programs/silent_program.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/steptape/programs/report_pipe.h"

namespace steptape::tools {
namespace {

/// Makes `descriptor` one of the program's; /dev/null if it is negative.
void addOutput(posix_spawn_file_actions_t* files, int descriptor, int ofProgram) {
  if (descriptor >= 0) {
    posix_spawn_file_actions_adddup2(files, descriptor, ofProgram);
  } else {
    posix_spawn_file_actions_addopen(files, ofProgram, "/dev/null", O_WRONLY, 0);
  }
}

pid_t spawn(const std::vector<std::string>& command, int output, int errors) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  addOutput(&files, output, STDOUT_FILENO);
  addOutput(&files, errors, STDERR_FILENO);
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

}  // namespace

std::string outputOf(const std::vector<std::string>& command) {
  ReportPipe pipe;
  const pid_t process = spawn(command, pipe.writeEnd, -1);
  pipe.closeWriteEnd();
  if (process < 0) {
    return "";
  }
  std::string text = pipe.readAll();
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

pid_t startSilently(const std::vector<std::string>& command) {
  return spawn(command, -1, -1);
}

pid_t startWithPipes(const std::vector<std::string>& command, int output, int errors) {
  return spawn(command, output, errors);
}

}  // namespace steptape::tools
