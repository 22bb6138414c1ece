// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/traces/trace_search.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/core.h>
#include <map>
#include <regex>
#include <string_view>
#include <sys/stat.h>

#include "steptape/base/status.h"

#include "base/directory_entries.h"
#include "base/text.h"

namespace steptape::tools {
namespace {

using detail::base::endsWith;

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kMinuteNanos = 60 * kNanosPerSecond;

/// Directory of sessions that some ranks have not written yet.
constexpr char kUnfinishedDirectory[] = "profile_unfinished";

struct FoundFile {
  std::string path;
  std::int64_t unixNanos;
};

/// Files of one profile.
struct Session {
  std::vector<FoundFile> files;
  std::int64_t unixNanos = INT64_MIN;  // of the newest file
};

std::int64_t modificationTime(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0
             ? status.st_mtim.tv_sec * kNanosPerSecond + status.st_mtim.tv_nsec
             : 0;
}

void add(const std::string& path, std::int64_t unixNanos, Session* session) {
  session->files.push_back({path, unixNanos});
  session->unixNanos = std::max(session->unixNanos, unixNanos);
}

/// The parts of a name such as "<host>_<pid>.<nanoseconds>.pt.trace.json.gz", in which "_rank00003"
/// may precede the process id.
struct WorkerFile {
  std::string worker;  ///< The rank, or the process if the name has no rank.
  std::int64_t unixNanos;
};

WorkerFile workerFileOf(const std::filesystem::path& path) {
  // Older versions of torch write milliseconds, which are not precise enough: use the file time.
  static const std::regex kName(
      R"(^(.*?)(_\d+)?(?:\.(\d{19}))?(?:\.\d+)?\.pt\.trace\.json(\.gz)?$)");
  static const std::regex kRanked(R"(_rank\d+$)");
  const std::string name = path.filename().string();
  std::smatch parts;
  if (!std::regex_match(name, parts, kName)) {
    return {name, modificationTime(path.string())};
  }
  const std::string host = parts[1];
  return {path.parent_path().string() + '/' + host +
              (std::regex_search(host, kRanked) ? "" : parts[2].str()),
          parts[3].matched ? std::strtoll(parts[3].str().c_str(), nullptr, 10)
                           : modificationTime(path.string())};
}

/// Returns the start time in the name of the session directory, as profileSessionName() writes it,
/// else the file time.
std::int64_t sessionTime(const std::filesystem::path& file) {
  const std::string name = file.parent_path().filename().string();
  std::tm local{};
  local.tm_isdst = -1;
  if (::strptime(name.c_str(), "%Y_%m_%d_%H_%M_%S", &local) != nullptr) {
    return std::mktime(&local) * kNanosPerSecond;
  }
  return modificationTime(file.string());
}

/// Returns whether the file is in a session: "plugins/profile/<session>/<name>".
bool isInSession(const std::string& path) {
  const std::filesystem::path profile =
      std::filesystem::absolute(path).lexically_normal().parent_path().parent_path();
  return profile.filename() == "profile" && profile.parent_path().filename() == "plugins";
}

/// All traces in and below a directory.
class TraceSearch {
 public:
  explicit TraceSearch(const std::filesystem::path& directory) {
    search(directory);
    for (const auto& [session, copies] : copies_) {
      if (sessions_.count(session) == 0) {
        for (const FoundFile& copy : copies) {
          add(copy.path, copy.unixNanos, &sessions_[session]);
        }
      }
    }
  }

  /// Returns the files of the newest profile by name; empty if there is no profile.
  std::vector<std::string> newest() const {
    const Session xplanes = newestSession();
    const Session workers = newestOfWorkers();
    const bool isChrome =
        xplanes.files.empty() ||
        (!workers.files.empty() && workers.unixNanos - kMinuteNanos > xplanes.unixNanos);
    std::vector<std::string> paths;
    for (const FoundFile& file : isChrome ? workers.files : xplanes.files) {
      paths.push_back(file.path);
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

 private:
  void search(const std::filesystem::path& directory) {
    std::vector<detail::base::DirectoryEntry> entries;
    if (const int error = detail::base::listDirectory(directory.string(), &entries)) {
      throw Error(ErrorCode::kIoError, fmt::format("cannot read {}: {}", directory.string(),
                                                   std::generic_category().message(error)));
    }
    for (const detail::base::DirectoryEntry& entry : entries) {
      if (!entry.isDirectory) {
        take(directory / entry.name);
      } else if (!entry.isLink && entry.name != kUnfinishedDirectory) {
        search(directory / entry.name);
      }
    }
  }

  void take(const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    if (endsWith(name, ".xplane.pb")) {
      add(path.string(), sessionTime(path), &sessions_[path.parent_path().string()]);
    } else if (isInSession(path.string()) &&
               (endsWith(name, ".trace.json") || endsWith(name, ".trace.json.gz")) &&
               !endsWith(name, ".pt.trace.json") && !endsWith(name, ".pt.trace.json.gz")) {
      copies_[path.parent_path().string()].push_back({path.string(), sessionTime(path)});
    } else if (endsWith(name, ".pt.trace.json") || endsWith(name, ".pt.trace.json.gz")) {
      const WorkerFile file = workerFileOf(path);
      const auto [known, isNew] =
          workers_.try_emplace(file.worker, FoundFile{path.string(), file.unixNanos});
      if (!isNew && known->second.unixNanos < file.unixNanos) {
        known->second = {path.string(), file.unixNanos};
      }
    }
  }

  Session newestSession() const {
    Session newest;
    for (const auto& [directory, session] : sessions_) {
      // Of sessions that began in the same second, the later one has the longer name.
      newest = session.unixNanos >= newest.unixNanos ? session : newest;
    }
    return newest;
  }

  Session newestOfWorkers() const {
    Session all;
    for (const auto& [worker, file] : workers_) {
      add(file.path, file.unixNanos, &all);
    }
    Session newest;
    for (const FoundFile& file : all.files) {
      if (file.unixNanos >= all.unixNanos - kMinuteNanos) {
        add(file.path, file.unixNanos, &newest);
      }
    }
    return newest;
  }

  std::map<std::string, Session> sessions_;               // by directory
  std::map<std::string, std::vector<FoundFile>> copies_;  // of a session's files, in another format
  std::map<std::string, FoundFile> workers_;              // the newest file of each
};

}  // namespace

TraceForm traceFormOf(const std::string& path) {
  if (endsWith(path, ".json")) {
    return TraceForm::kJson;
  }
  if (endsWith(path, ".json.gz")) {
    return TraceForm::kCompressedJson;
  }
  if (endsWith(path, ".pftrace")) {
    return TraceForm::kPerfetto;
  }
  if (endsWith(path, ".pftrace.gz")) {
    return TraceForm::kCompressedPerfetto;
  }
  if (endsWith(path, ".xplane.pb.gz")) {
    return TraceForm::kCompressedXPlane;
  }
  return endsWith(path, ".xplane.pb") ? TraceForm::kXPlane : TraceForm::kUnknown;
}

std::vector<std::string> newestTraceFiles(const std::string& directory) {
  std::vector<std::string> paths = TraceSearch(directory).newest();
  if (!paths.empty()) {
    return paths;
  }
  throw Error(ErrorCode::kIoError,
              fmt::format("no trace in or below {}; expected *.pt.trace.json, *.pt.trace.json.gz, "
                          "plugins/profile/*/*.xplane.pb or plugins/profile/*/*.trace.json.gz",
                          directory));
}

}  // namespace steptape::tools
