// SPDX-License-Identifier: Apache-2.0
#include "base/file_kind.h"

#include <sys/stat.h>

namespace steptape::detail::base {

const char* fileKindName(mode_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a regular file";
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
      return "a character device";
    case S_IFBLK:
      return "a block device";
    default:
      return "a file of an unknown kind";
  }
}

std::string fileKindProblem(mode_t mode, const std::string& expected) {
  return S_ISREG(mode) ? "" : std::string("got ") + fileKindName(mode) + "; expected " + expected;
}

}  // namespace steptape::detail::base
