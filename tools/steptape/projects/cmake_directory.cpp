// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/projects/cmake_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/base/version.h"

#include "base/whole_file.h"

namespace steptape::tools {
namespace {

namespace fs = std::filesystem;

/// Returns the directories in `folder`, sorted; none if it cannot be read.
std::vector<fs::path> directoriesIn(const fs::path& folder) {
  std::vector<fs::path> directories;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    if (entry->is_directory(unknown)) {
      directories.push_back(entry->path());
    }
  }
  std::sort(directories.begin(), directories.end());
  return directories;
}

/// Returns whether the package in the directory has this program's version.
bool isOurs(const fs::path& directory) {
  const std::string wanted = "set(PACKAGE_VERSION \"" STEPTAPE_VERSION "\")";
  std::string version;
  return detail::base::readWholeFile((directory / "steptapeConfigVersion.cmake").string(), version)
             .ok() &&
         version.find(wanted) != std::string::npos;
}

}  // namespace

std::string cmakeDirectory() {
  std::error_code error;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  const fs::path package = "cmake/steptape";
  const fs::path inWheel = "steptape/cpp/lib" / package;
  // `pip install --target` makes no folder lib.
  std::vector<fs::path> candidates{prefix / "share" / package, prefix / inWheel};
  for (const char* const lib : {"lib", "lib64"}) {
    candidates.push_back(prefix / lib / package);
    for (const fs::path& folder : directoriesIn(prefix / lib)) {
      candidates.push_back(folder / package);  // lib/x86_64-linux-gnu
      if (folder.filename().string().rfind("python3", 0) == 0) {
        candidates.push_back(folder / "site-packages" / inWheel);
        candidates.push_back(folder / "dist-packages" / inWheel);
      }
    }
  }
  for (const fs::path& candidate : candidates) {
    if (isOurs(candidate)) {
      return candidate.string();
    }
  }
  throw Error(ErrorCode::kFailedPrecondition,
              "--cmakedir: got no package of Steptape " STEPTAPE_VERSION " for CMake below " +
                  prefix.string() +
                  "; expected an installation (cmake --install, or libsteptape-dev) or a wheel "
                  "(pip install steptape) with this program");
}

}  // namespace steptape::tools
