// SPDX-License-Identifier: Apache-2.0
#include "base/directory_entries.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <utility>

namespace steptape::detail::base {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

DirectoryEntry entryOf(DIR* directory, const dirent& found) {
  DirectoryEntry entry;
  entry.name = found.d_name;
  entry.isDirectory = found.d_type == DT_DIR;
  entry.isLink = found.d_type == DT_LNK;
  struct stat status {};
  const int at = ::dirfd(directory);
  // Most file systems report the type of an entry. Ask only for links and if the type is unknown.
  if (found.d_type == DT_UNKNOWN &&
      ::fstatat(at, found.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
    entry.isDirectory = S_ISDIR(status.st_mode);
    entry.isLink = S_ISLNK(status.st_mode);
  }
  if (entry.isLink && ::fstatat(at, found.d_name, &status, 0) == 0) {
    entry.isDirectory = S_ISDIR(status.st_mode);
  }
  return entry;
}

}  // namespace

int listDirectory(const std::string& directory, std::vector<DirectoryEntry>* entries) {
  const std::unique_ptr<DIR, CloseDirectory> open(::opendir(directory.c_str()));
  if (open == nullptr) {
    return errno;
  }
  while (true) {
    errno = 0;
    const dirent* const found = ::readdir(open.get());
    if (found == nullptr) {
      return errno;
    }
    DirectoryEntry entry = entryOf(open.get(), *found);
    if (entry.name != "." && entry.name != "..") {
      entries->push_back(std::move(entry));
    }
  }
}

}  // namespace steptape::detail::base
