// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/columnar/column_file.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "steptape/base/status.h"

#include "tools/steptape/columnar/csv_to_columns.h"
#include "tools/steptape/programs/python_program.h"

extern char** environ;

namespace steptape::tools {
namespace {

constexpr int kNoPyarrow = 69;  // As csv_to_columns.py ends.
constexpr std::size_t kPieceBytes = std::size_t{1} << 16;

std::string reason(int error) {
  return std::generic_category().message(error);
}

struct Pipe {
  int readEnd = -1;
  int writeEnd = -1;
};

/// No other child gets its ends.
Pipe makePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ErrorCode::kIoError, "cannot make a pipe: " + reason(errno));
  }
  return {ends[0], ends[1]};
}

void closeOnce(int* file) {
  if (*file >= 0) {
    close(std::exchange(*file, -1));
  }
}

}  // namespace

ColumnFile::ColumnFile(const std::string& format, Sink sink, const std::vector<Type>& types)
    : format_(format), sink_(std::move(sink)), python_(pythonToUse()) {
  // A child that ends early is noticed by what write(2) returns.
  std::signal(SIGPIPE, SIG_IGN);
  start(types);
  reader_ = std::thread([this] { passOn(); });
}

ColumnFile::~ColumnFile() {
  if (child_ != 0) {
    kill(child_, SIGKILL);
    waitForEnd();
  }
}

void ColumnFile::start(const std::vector<Type>& types) {
  std::string letters;
  for (const Type type : types) {
    letters += static_cast<char>(type);
  }
  const Pipe in = makePipe();
  const Pipe out = makePipe();
  std::array<std::string, 5> command{python_, "-c", kCsvToColumns, format_, letters};
  std::array<char*, command.size() + 1> arguments{};
  for (std::size_t i = 0; i < command.size(); ++i) {
    arguments[i] = command[i].data();
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in.readEnd, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out.writeEnd, STDOUT_FILENO);
  const int error = posix_spawnp(&child_, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  close(in.readEnd);
  close(out.writeEnd);
  input_ = in.writeEnd;
  output_ = out.readEnd;
  if (error != 0) {
    child_ = 0;
    closeOnce(&input_);
    closeOnce(&output_);
    throw Error(
        ErrorCode::kIoError,
        fmt::format(
            "--format {}: cannot start {}: {}; expected a Python with pyarrow, which writes "
            "such files: install it, or name one by STEPTAPE_PYTHON",
            format_, python_, reason(error)));
  }
}

void ColumnFile::passOn() {
  std::array<char, kPieceBytes> piece{};
  try {
    while (true) {
      const ssize_t bytes = read(output_, piece.data(), piece.size());
      if (bytes > 0) {
        sink_({piece.data(), static_cast<std::size_t>(bytes)});
      } else if (bytes == 0 || errno != EINTR) {
        break;
      }
    }
  } catch (...) {
    sinkError_ = std::current_exception();
  }
  closeOnce(&output_);  // The child ends when it next writes.
}

void ColumnFile::write(std::string_view csv) {
  while (!csv.empty()) {
    const ssize_t bytes = ::write(input_, csv.data(), csv.size());
    if (bytes >= 0) {
      csv.remove_prefix(static_cast<std::size_t>(bytes));
    } else if (errno != EINTR) {
      finish();
      throw Error(ErrorCode::kIoError,
                  fmt::format("--format {}: {} ended before the last row", format_, python_));
    }
  }
}

int ColumnFile::waitForEnd() {
  closeOnce(&input_);
  reader_.join();
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void ColumnFile::finish() {
  const int exitCode = waitForEnd();
  if (sinkError_) {
    std::rethrow_exception(sinkError_);
  }
  if (exitCode == kNoPyarrow) {
    throw Error(
        ErrorCode::kIoError,
        fmt::format("--format {}: got {} without pyarrow; expected a Python that has it: {} -m pip "
                    "install pyarrow, or name another one by STEPTAPE_PYTHON",
                    format_, python_, python_));
  }
  if (exitCode != 0) {
    throw Error(ErrorCode::kIoError,
                fmt::format("--format {}: {} ended with exit code {}; expected 0", format_, python_,
                            exitCode));
  }
}

}  // namespace steptape::tools
