// SPDX-License-Identifier: Apache-2.0
#include "steptape/reader/log_dir.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

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

/// The entries of `directory` in the order of their names; none if it cannot be read.
std::vector<fs::directory_entry> sortedEntries(const fs::path& directory, std::error_code* error) {
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator it(directory, *error), end; !*error && it != end;
       it.increment(*error)) {
    entries.push_back(*it);
  }
  std::sort(entries.begin(), entries.end());
  return entries;
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
    RunFiles run{directory.lexically_relative(root_).string(), directory.string(), {}, true};
    std::vector<fs::path> directories;
    for (const fs::directory_entry& entry : sortedEntries(directory, &error)) {
      std::error_code ignored;
      if (entry.is_directory(ignored)) {
        directories.push_back(entry.path());
      } else if (detail::isEventFileName(entry.path().filename().string())) {
        run.files.push_back(entry.path().string());
      }
    }
    if (!run.files.empty()) {
      runs.push_back(std::move(run));
    }
    for (const fs::path& child : directories) {
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
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : sortedEntries(directory, &error)) {
    std::error_code ignored;
    if (!entry.is_directory(ignored) && detail::isEventFileName(entry.path().filename().string())) {
      files.push_back(entry.path().string());
    }
  }
  return files;
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
