// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/programs/report_pipe.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

#include "steptape/base/status.h"

namespace steptape::tools {

ReportPipe::ReportPipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ErrorCode::kIoError,
                "cannot make a pipe: " + std::generic_category().message(errno));
  }
  readEnd = ends[0];
  writeEnd = ends[1];
}

ReportPipe::~ReportPipe() {
  closeWriteEnd();
  ::close(readEnd);
}

void ReportPipe::closeWriteEnd() {
  if (writeEnd >= 0) {
    ::close(writeEnd);
    writeEnd = -1;
  }
}

std::string ReportPipe::readAll() const {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(readEnd, buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return text;
    }
  }
}

std::vector<char*> pointersTo(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));  // POSIX's type; never written to.
  }
  arguments.push_back(nullptr);
  return arguments;
}

}  // namespace steptape::tools
