// SPDX-License-Identifier: Apache-2.0
#include "log/writer/directory_place.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>

namespace steptape::detail::log {
namespace {

/// @return 0 if the file system or the kernel does not tell.
std::uint64_t creationOf(const std::string& path) {
  struct statx status {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BTIME, &status) != 0 ||
      (status.stx_mask & STATX_BTIME) == 0) {
    return 0;
  }
  constexpr std::uint64_t kNanosPerSecond = 1'000'000'000;
  return static_cast<std::uint64_t>(status.stx_btime.tv_sec) * kNanosPerSecond +
         status.stx_btime.tv_nsec;
}

DirectoryIdentity identityOf(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return {};
  }
  return {status.st_dev, status.st_ino, creationOf(path)};
}

}  // namespace

DirectoryPlace placeOf(const std::string& directory) {
  DirectoryPlace place;
  std::error_code error;
  place.directory = std::filesystem::weakly_canonical(directory, error).string();
  if (error) {
    place.directory = directory;
  }
  while (place.directory.size() > 1 && place.directory.back() == '/') {
    place.directory.pop_back();
  }
  place.identity = identityOf(place.directory);
  return place;
}

}  // namespace steptape::detail::log
