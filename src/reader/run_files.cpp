// SPDX-License-Identifier: Apache-2.0
#include "steptape/reader/run_files.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "steptape/base/error.h"

#include "record/event_file_name.h"

namespace steptape {
namespace {

namespace fs = std::filesystem;

std::string withoutTrailingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

RunFiles runOfFile(const fs::path& file) {
  return {".", file.has_parent_path() ? file.parent_path().string() : ".", {file.string()}, false};
}

/// What matters in a directory, in the order of the names.
struct Listing {
  std::vector<std::string> files;  ///< Event files.
  std::vector<fs::path> directories;
};

/// @return what could be read; `*error` says why not all.
Listing list(const fs::path& directory, std::error_code* error) {
  std::vector<fs::directory_entry> entries;  // which mostly know their type without a system call
  for (fs::directory_iterator it(directory, *error), end; !*error && it != end;
       it.increment(*error)) {
    entries.push_back(*it);
  }
  std::sort(entries.begin(), entries.end());
  Listing listing;
  for (const fs::directory_entry& entry : entries) {
    std::error_code ignored;
    if (entry.is_directory(ignored)) {
      listing.directories.push_back(entry.path());
    } else if (detail::isEventFileName(entry.path().filename().string())) {
      listing.files.push_back(entry.path().string());
    }
  }
  return listing;
}

class RunFinder {
 public:
  explicit RunFinder(fs::path root) : root_(std::move(root)) {}

  /// Adds the runs in and below `directory`.
  std::error_code visit(const fs::path& directory) {
    std::error_code error;
    const fs::path canonical = fs::canonical(directory, error);
    if (error || !visited_.insert(canonical).second) {
      return error;
    }
    Listing listing = list(directory, &error);
    if (!listing.files.empty()) {
      runs.push_back({directory.lexically_relative(root_).string(), directory.string(),
                      std::move(listing.files), true});
    }
    for (const fs::path& child : listing.directories) {
      visit(child);
    }
    return error;
  }

  std::vector<RunFiles> runs;

 private:
  fs::path root_;
  std::set<fs::path> visited_;
};

}  // namespace

std::vector<std::string> listEventFiles(const std::string& directory) {
  std::error_code ignored;
  return list(directory, &ignored).files;
}

std::vector<RunFiles> listRuns(const std::string& pathAsGiven) {
  const std::string path = withoutTrailingSlashes(pathAsGiven);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    return {runOfFile(path)};
  }
  RunFinder finder(path);
  error = finder.visit(path);
  if (error) {
    throw Error(ErrorCode::kIoError, "cannot read " + path + ": " + error.message());
  }
  std::sort(finder.runs.begin(), finder.runs.end(),
            [](const RunFiles& a, const RunFiles& b) { return a.name < b.name; });
  return std::move(finder.runs);
}

}  // namespace steptape
