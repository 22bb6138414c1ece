// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <filesystem>
#include <new>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/log/run_reader.h"

#include "base/directory_entries.h"
#include "events/framing/event_file_name.h"
#include "log/reader/run_finder.h"

namespace steptape {
namespace {

namespace fs = std::filesystem;

using detail::log::FoundRuns;
using detail::log::LinkRule;

std::string withoutTrailingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

RunFiles runOfFile(const fs::path& file) {
  return {".", file.has_parent_path() ? file.parent_path().string() : ".", {file.string()}, false};
}

/// The relevant entries of a directory, sorted by name.
struct Listing {
  std::vector<std::string> files;  ///< Event files.
  std::vector<fs::path> directories;
  std::vector<fs::path> links;  ///< Links to directories.
};

/// @return the readable entries; `*error` is set if some could not be read.
Listing list(const fs::path& directory, std::error_code* error) {
  std::vector<detail::base::DirectoryEntry> entries;
  error->assign(detail::base::listDirectory(directory.string(), &entries), std::system_category());
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  Listing listing;
  for (const detail::base::DirectoryEntry& entry : entries) {
    if (entry.isDirectory) {
      (entry.isLink ? listing.links : listing.directories).push_back(directory / entry.name);
    } else if (detail::events::isRunFileName(entry.name)) {
      listing.files.push_back((directory / entry.name).string());
    }
  }
  return listing;
}

class RunFinder {
 public:
  RunFinder(fs::path root, LinkRule links) : root_(std::move(root)), rule_(links) {}

  /// @return why the root cannot be read.
  std::error_code findAll() {
    const std::error_code error = visit(root_);
    // Follows links last, so that a run has the name of its own directory: "latest -> run_7" does
    // not rename a run, and does not move a run when it is changed to the next one.
    for (std::size_t i = 0; i < links_.size(); ++i) {
      visitBelow(links_[i]);
    }
    return error;
  }

  FoundRuns found;

 private:
  /// Adds the runs in and below `directory`, and collects links.
  std::error_code visit(const fs::path& directory) {
    std::error_code error;
    const fs::path canonical = fs::canonical(directory, error);
    if (error == std::errc::not_enough_memory) {
      throw std::bad_alloc();  // canonical() caught it
    }
    if (error || !visited_.insert(canonical).second) {
      return error;
    }
    found.directories.push_back(directory.string());
    Listing listing = list(directory, &error);
    if (!listing.files.empty()) {
      found.runs.push_back({directory.lexically_relative(root_).string(), directory.string(),
                            std::move(listing.files), true});
    }
    for (const fs::path& child : listing.directories) {
      visitBelow(child);
    }
    if (rule_ == LinkRule::kEachDirectoryOnce) {
      links_.insert(links_.end(), listing.links.begin(), listing.links.end());
      return error;
    }
    for (const fs::path& link : listing.links) {
      visitBelow(link);
    }
    visited_.erase(canonical);  // only a link to a directory around it is a cycle
    return error;
  }

  void visitBelow(const fs::path& directory) {
    const std::error_code error = visit(directory);
    const bool isGone =
        error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
    if (error && !isGone) {
      const std::string path = directory.string();
      found.unreadable.push_back(
          {path, 0, 0, ReadOutcome::kIoError,
           Status(ErrorCode::kIoError,
                  "cannot read " + path + ": " + error.message() + "; its runs are left out")});
    }
  }

  fs::path root_;
  LinkRule rule_;
  std::set<fs::path> visited_;
  std::deque<fs::path> links_;  // a deque: elements do not move while it grows
};

}  // namespace

std::vector<std::string> listEventFiles(const std::string& directory) {
  std::error_code ignored;
  return list(directory, &ignored).files;
}

std::uint64_t totalBytes(const RunFiles& run) {
  std::uint64_t bytes = 0;
  for (const std::string& file : run.files) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(file, error);
    bytes += error ? 0 : size;
  }
  return bytes;
}

std::vector<RunFiles> listRuns(const std::string& path, std::vector<Damage>* unreadable) {
  FoundRuns found = findRuns(path, LinkRule::kEachDirectoryOnce);
  if (unreadable != nullptr) {
    unreadable->insert(unreadable->end(), found.unreadable.begin(), found.unreadable.end());
  }
  return std::move(found.runs);
}

detail::log::FoundRuns detail::log::findRuns(const std::string& pathAsGiven, LinkRule links) {
  const std::string path = withoutTrailingSlashes(pathAsGiven);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    return {{runOfFile(path)}, {}, {}};
  }
  RunFinder finder(path, links);
  error = finder.findAll();
  if (error) {
    throw Error(ErrorCode::kIoError, "cannot read " + path + ": " + error.message());
  }
  std::sort(finder.found.runs.begin(), finder.found.runs.end(),
            [](const RunFiles& a, const RunFiles& b) { return a.name < b.name; });
  return std::move(finder.found);
}

}  // namespace steptape
