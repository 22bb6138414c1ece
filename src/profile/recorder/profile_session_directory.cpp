// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/profile_session_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "base/directory_entries.h"
#include "base/mutex.h"

namespace steptape::detail::profile {
namespace {

namespace fs = std::filesystem;

int filesIn(const fs::path& directory) {
  std::vector<base::DirectoryEntry> entries;
  base::listDirectory(directory.string(), &entries);
  return static_cast<int>(std::count_if(
      entries.begin(), entries.end(),
      [](const base::DirectoryEntry& entry) { return fs::path(entry.name).extension() == ".pb"; }));
}

Status failure(const fs::path& path, const std::error_code& error) {
  return {ErrorCode::kIoError, "cannot make " + path.string() + ": " + error.message()};
}

/// Moves the files of a directory to another directory, and removes it.
std::error_code moveFiles(const fs::path& from, const fs::path& to) {
  std::vector<base::DirectoryEntry> entries;
  std::error_code error(base::listDirectory(from.string(), &entries), std::system_category());
  for (auto entry = entries.begin(); !error && entry != entries.end(); ++entry) {
    fs::rename(from / entry->name, to / entry->name, error);
  }
  if (!error) {
    fs::remove(from, error);
  }
  return error;
}

}  // namespace

std::string newSessionName(std::int64_t unixNanos) {
  static base::Mutex mutex;
  static std::string last;
  static int sameAsLast = 0;
  std::string name = profileSessionName(unixNanos);
  const base::MutexLock lock(mutex);
  sameAsLast = name == last ? sameAsLast + 1 : 0;
  last = name;
  return sameAsLast == 0 ? name : name + "_" + std::to_string(sameAsLast);
}

std::string ProfileSessionDirectory::unfinished(const std::string& session) const {
  return logDir_ + "/plugins/profile_unfinished/" + session;
}

Status ProfileSessionDirectory::write(const std::string& session, const Trace& trace,
                                      const XPlaneOptions& options) {
  Status earlier = finish(std::chrono::milliseconds(0));  // all ranks have advanced
  if (!earlier.ok()) {
    return earlier;
  }
  const fs::path place = xplanePath(logDir_, session, trace);
  std::error_code error;
  const bool isLate = fs::exists(place.parent_path(), error);
  const bool isAlone = trace.worldSize == 1 || isLate;
  const fs::path directory = isAlone ? place.parent_path() : fs::path(unfinished(session));
  fs::create_directories(directory, error);
  if (error) {
    return failure(directory, error);
  }
  Status status = writeXPlane((directory / place.filename()).string(), trace, options);
  if (!status.ok()) {
    fs::remove(directory, error);  // only if it is empty: XProf would list a session without files
  } else if (!isAlone) {
    last_ = session;
    status = filesIn(directory) == trace.worldSize ? finish(std::chrono::milliseconds(0)) : status;
  }
  return status;
}

Status ProfileSessionDirectory::finish(std::chrono::milliseconds patience) {
  if (last_.empty()) {
    return {};
  }
  const std::string session = std::exchange(last_, "");
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::error_code error;
  while (fs::exists(unfinished(session), error) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return appear(session);
}

Status ProfileSessionDirectory::appear(const std::string& session) const {
  const fs::path from = unfinished(session);
  const fs::path to = fs::path(logDir_) / "plugins" / "profile" / session;
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (error) {
    return failure(to.parent_path(), error);
  }
  fs::rename(from, to, error);
  if (error == std::errc::directory_not_empty || error == std::errc::file_exists) {
    error = moveFiles(from, to);  // another rank timed out, and its own file exists
  }
  // Another rank may have been faster.
  const bool isMissing = error == std::errc::no_such_file_or_directory;
  if (error && !isMissing) {
    return failure(to, error);
  }
  fs::remove(from.parent_path(), error);  // if it was the last one
  return {};
}

}  // namespace steptape::detail::profile
