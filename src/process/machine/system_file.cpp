// SPDX-License-Identifier: Apache-2.0
#include "process/machine/system_file.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace steptape::detail::process {
namespace {

// Far more than any of the files that are read has; bounds the memory if a path leads elsewhere.
constexpr std::size_t kLargestSystemFile = std::size_t{1} << 20;

}  // namespace

int readSystemFile(const std::string& path, std::string* text) {
  text->clear();
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return errno;
  }
  std::array<char, 4096> buffer;
  int error = 0;
  while (text->size() < kLargestSystemFile) {
    const ssize_t bytes = ::read(file, buffer.data(), buffer.size());
    if (bytes > 0) {
      text->append(buffer.data(), static_cast<std::size_t>(bytes));
    } else if (bytes == 0 || errno != EINTR) {
      error = bytes == 0 ? 0 : errno;
      break;
    }
  }
  ::close(file);
  if (error != 0) {
    text->clear();
  }
  return error;
}

std::string systemFile(const std::string& path) {
  std::string text;
  static_cast<void>(readSystemFile(path, &text));
  return text;
}

}  // namespace steptape::detail::process
