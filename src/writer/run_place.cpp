// SPDX-License-Identifier: Apache-2.0
#include "writer/run_place.h"

#include <filesystem>
#include <sys/stat.h>
#include <system_error>

namespace steptape::detail {

RunPlace placeOf(const std::string& directory) {
  RunPlace place;
  std::error_code error;
  place.directory = std::filesystem::weakly_canonical(directory, error).string();
  if (error) {
    place.directory = directory;
  }
  while (place.directory.size() > 1 && place.directory.back() == '/') {
    place.directory.pop_back();
  }
  struct stat status {};
  if (::stat(place.directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    place.device = status.st_dev;
    place.inode = status.st_ino;
  }
  return place;
}

}  // namespace steptape::detail
