// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/directory_mark.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fcntl.h>
#include <string_view>
#include <sys/random.h>
#include <unistd.h>
#include <utility>

#include "base/file_descriptor.h"
#include "base/text.h"
#include "base/whole_file.h"

namespace steptape::detail::storage {
namespace {

constexpr std::size_t kMarkBytes = 16;
constexpr std::string_view kToward = "mirror: ";

std::string markFileOf(const std::string& directory) {
  return directory + "/.steptape_mirror";
}

std::string newMark() {
  std::array<unsigned char, kMarkBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return {};
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string mark;
  for (const unsigned char byte : bytes) {
    mark += kDigits[byte >> 4];
    mark += kDigits[byte & 15];
  }
  return mark;
}

bool isMark(std::string_view text) {
  return text.size() == 2 * kMarkBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return base::hexDigit(c) >= 0; });
}

std::string textOf(const DirectoryMark& mark) {
  return mark.mark + '\n' + (mark.url.empty() ? "" : std::string(kToward) + mark.url + '\n');
}

}  // namespace

DirectoryMark readMark(const std::string& directory) {
  std::string text;
  DirectoryMark mark;
  if (!base::readWholeFile(markFileOf(directory), text).ok()) {
    return mark;
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (mark.mark.empty() && isMark(line)) {
      mark.mark = line;
    } else if (base::startsWith(line, kToward)) {
      mark.url = line.substr(kToward.size());
    }
  }
  return mark.mark.empty() ? DirectoryMark() : mark;
}

DirectoryMark takeMark(const std::string& directory, const std::string& url) {
  const std::string path = markFileOf(directory);
  DirectoryMark mark = readMark(directory);
  if (mark.mark.empty()) {
    mark = {newMark(), url};
    const std::string text = textOf(mark);
    const base::FileDescriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!file.isOpen()) {
      return readMark(directory);  // of another process, which was faster
    }
    if (::write(file.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      ::unlink(path.c_str());
      return {};
    }
  } else if (!url.empty() && mark.url != url) {
    mark.url = url;
    static_cast<void>(base::replaceFile(path, textOf(mark)));  // for later programs only
  }
  return mark;
}

}  // namespace steptape::detail::storage
