// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/path_pattern.h"

#include <filesystem>
#include <glob.h>
#include <system_error>

#include "storage/s3/bucket_url.h"

namespace steptape::tools {
namespace {

std::vector<std::string> pathsMatching(const std::string& pattern) {
  ::glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return paths;
}

}  // namespace

std::vector<std::string> replacePatterns(const std::vector<std::string>& paths) {
  std::vector<std::string> replaced;
  for (const std::string& path : paths) {
    std::error_code notThere;
    if (detail::storage::isBucketUrl(path) || std::filesystem::exists(path, notThere)) {
      replaced.push_back(path);
    } else {
      const std::vector<std::string> matching = pathsMatching(path);
      replaced.insert(replaced.end(), matching.begin(), matching.end());
    }
  }
  return replaced;
}

}  // namespace steptape::tools
