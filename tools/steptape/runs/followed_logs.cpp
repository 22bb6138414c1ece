// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/followed_logs.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/steptape/runs/bucket_copies.h"

namespace steptape::tools {
namespace {

namespace fs = std::filesystem;

fs::path canonical(const std::string& path) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(path, error);
  return error ? fs::path(path) : place;
}

/// Returns whether `place` is `directory` or is below it.
bool isWithin(const fs::path& place, const fs::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), place.begin(), place.end()).first ==
         directory.end();
}

/// Returns `paths` without those that are below another one or repeat one.
std::vector<std::string> outermost(const std::vector<std::string>& paths) {
  std::vector<fs::path> places;
  std::transform(paths.begin(), paths.end(), std::back_inserter(places), canonical);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    bool isOutermost = true;
    for (std::size_t j = 0; j < paths.size(); ++j) {
      const bool isRepeated = places[i] == places[j] && j >= i;
      isOutermost = isOutermost && (isRepeated || !isWithin(places[i], places[j]));
    }
    if (isOutermost) {
      result.push_back(paths[i]);
    }
  }
  return result;
}

}  // namespace

std::vector<LogDir> followedLogs(const std::vector<std::string>& paths, const NamePattern& run,
                                 std::function<void(std::uint64_t bytes)> onProgress) {
  RunReaderOptions options;
  options.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.onProgress = std::move(onProgress);
  std::vector<LogDir> logs;
  std::vector<std::string> places;
  std::transform(paths.begin(), paths.end(), std::back_inserter(places),
                 [](const std::string& path) { return localPathOf(path); });
  for (const std::string& path : outermost(places)) {
    logs.emplace_back(path, options, [run](const RunFiles& files) {
      return run.isFoundIn(shownPathOf(files.directory));
    });
  }
  return logs;
}

}  // namespace steptape::tools
