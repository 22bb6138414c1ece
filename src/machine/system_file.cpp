// SPDX-License-Identifier: Apache-2.0
#include "machine/system_file.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace steptape::detail {
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

std::optional<std::uint64_t> takeNumber(std::string_view* text) {
  text->remove_prefix(std::min(text->find_first_not_of(" \t"), text->size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) {
    return std::nullopt;
  }
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return number;
}

std::optional<std::uint64_t> numberAfter(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    if (text.substr(0, key.size()) == key) {
      text.remove_prefix(key.size());
      return takeNumber(&text);
    }
    const std::size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::nullopt;
}

}  // namespace steptape::detail
