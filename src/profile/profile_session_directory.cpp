// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_session_directory.h"

#include <filesystem>
#include <system_error>

#include "steptape/base/error.h"

namespace steptape::detail {
namespace {

namespace fs = std::filesystem;

fs::path unfinishedDirectory(const std::string& logDir, const std::string& session) {
  return fs::path(logDir) / "plugins" / "profile_unfinished" / session;
}

int filesIn(const fs::path& directory) {
  int files = 0;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    files += entry->path().extension() == ".pb" ? 1 : 0;
  }
  return files;
}

Status failure(const fs::path& path, const std::error_code& error) {
  return {ErrorCode::kIoError, "cannot make " + path.string() + ": " + error.message()};
}

}  // namespace

Status writeToSession(const std::string& logDir, const std::string& session, const Trace& trace,
                      const XPlaneOptions& options) {
  const fs::path place = xplanePath(logDir, session, trace);
  const fs::path unfinished = unfinishedDirectory(logDir, session);
  std::error_code error;
  const bool isLate = fs::exists(place.parent_path(), error);
  const bool isAlone = trace.worldSize == 1 || isLate;
  const fs::path directory = isAlone ? place.parent_path() : unfinished;
  fs::create_directories(directory, error);
  if (error) {
    return failure(directory, error);
  }
  Status status = writeXPlane((directory / place.filename()).string(), trace, options);
  if (!status.ok()) {
    fs::remove(directory, error);  // if it is empty: XProf would list a session without files
  }
  if (status.ok() && !isAlone && filesIn(unfinished) == trace.worldSize) {
    status = finishSession(logDir, session);
  }
  return status;
}

Status finishSession(const std::string& logDir, const std::string& session) {
  const fs::path from = unfinishedDirectory(logDir, session);
  const fs::path to = fs::path(logDir) / "plugins" / "profile" / session;
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (error) {
    return failure(to.parent_path(), error);
  }
  fs::rename(from, to, error);
  // Another rank may have been faster.
  const bool isMissing = error == std::errc::no_such_file_or_directory;
  if (error && !isMissing) {
    return failure(to, error);
  }
  fs::remove(from.parent_path(), error);  // if this was the last one in it
  return {};
}

}  // namespace steptape::detail
