// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/terminal/standard_streams.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <system_error>
#include <unistd.h>

#include "steptape/base/status.h"

#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

bool isPipeWithoutReader(int fd) {
  pollfd output{fd, 0, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace

void holdStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
      // Gets the lowest free number, which is `fd`, because those below it are taken.
      open("/dev/null", O_RDONLY);
    }
  }
}

void flushOutput() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
    return;
  }
  // Zero if an earlier call failed.
  const std::string reason = errno == 0 ? "" : ": " + std::generic_category().message(errno);
  if (!isPipeWithoutReader(STDOUT_FILENO)) {
    throw Error(ErrorCode::kIoError, "cannot write the output" + reason);
  }
}

void printMessage(const std::string& text) {
  // A failure is ignored: it could only be reported here.
  std::fputs((shown(text, terminalAt(STDERR_FILENO)) + '\n').c_str(), stderr);
}

void printMessages(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    printMessage(text);
  }
}

void printNotes(const std::vector<std::string>& notes, std::string_view whereAll) {
  constexpr std::size_t kMost = 5;
  const std::size_t shown = notes.size() <= kMost + 1 ? notes.size() : kMost;
  for (std::size_t i = 0; i < shown; ++i) {
    printMessage("note: " + notes[i]);
  }
  if (shown < notes.size()) {
    std::string more = "note: and " + std::to_string(notes.size() - shown) + " more such notes";
    printMessage(whereAll.empty() ? more : more.append("; ").append(whereAll));
  }
}

}  // namespace steptape::tools
