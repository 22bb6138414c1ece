// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/bucket_copies.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "steptape/base/status.h"

#include "base/file_descriptor.h"
#include "base/text.h"
#include "events/framing/event_file_name.h"
#include "storage/mirror/bucket_copy.h"
#include "storage/s3/bucket_url.h"

namespace steptape::tools {
namespace {

namespace fs = std::filesystem;
using detail::base::FileDescriptor;
using detail::storage::BucketCopy;

constexpr std::string_view kPrefix = "steptape-bucket-";
constexpr const char* kLock = "/.lock";  // which no bucket is named
constexpr const char* kScheme = "s3://";

FileDescriptor lockOf(const std::string& directory) {
  FileDescriptor lock(
      ::open((directory + kLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  return lock.isOpen() && ::flock(lock.number(), LOCK_EX | LOCK_NB) == 0 ? std::move(lock)
                                                                         : FileDescriptor();
}

/// Removes the directories of programs that were killed.
void removeLeft(const fs::path& place) {
  std::error_code error;
  for (fs::directory_iterator entry(place, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string path = entry->path().string();
    struct stat status {};
    const bool isOurs = detail::base::startsWith(entry->path().filename().string(), kPrefix) &&
                        ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                        status.st_uid == ::getuid() && fs::exists(path + kLock, error);
    if (isOurs && lockOf(path).isOpen()) {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  }
}

/// A directory that lives as long as the program.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const fs::path place = fs::temp_directory_path();
    removeLeft(place);
    path_ = (place / (std::string(kPrefix) + "XXXXXX")).string();
    if (::mkdtemp(path_.data()) == nullptr) {
      throw Error(ErrorCode::kIoError,
                  fmt::format("cannot make a directory in {}: {}", place.string(),
                              std::generic_category().message(errno)));
    }
    lock_ = lockOf(path_);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  FileDescriptor lock_;
};

struct Copy {
  std::string directory;
  std::unique_ptr<BucketCopy> files;
  std::optional<std::chrono::steady_clock::time_point> updated;
};

struct Copies {
  std::unique_ptr<TemporaryDirectory> directory;  // null: there are none
  std::map<std::string, Copy> all;                // by URL

  static Copies& instance() {
    static Copies copies;
    return copies;
  }
};

/// Whether the path of a bucket stays below a directory: keys may be anything.
bool isPath(std::string_view prefix) {
  const fs::path path(prefix);
  return std::none_of(path.begin(), path.end(),
                      [](const fs::path& name) { return name == "." || name == ".."; });
}

/// Says of a file that cannot be written that it is a copy: the bucket is not at fault.
Status withPlace(Status problem) {
  const std::string text = shownPathOf(problem.message());
  return text == problem.message()
             ? std::move(problem)
             : Status(problem.code(), fmt::format("cannot copy to {}: {}",
                                                  Copies::instance().directory->path(), text));
}

BucketCopy::Update update(const std::string& url, Copy* copy, std::vector<Damage>* problems) {
  BucketCopy::Update result = copy->files->update();
  copy->updated = std::chrono::steady_clock::now();
  for (Status& problem : result.problems) {
    problem = withPlace(std::move(problem));
    if (problems != nullptr) {
      problems->push_back({url, 0, 0, ReadOutcome::kIoError, problem});
    }
  }
  return result;
}

}  // namespace

std::string makeBucketCopy(const std::string& url) {
  const detail::storage::BucketUrl parsed = detail::storage::parseBucketUrl(url, "PATH");
  if (!isPath(parsed.prefix)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("PATH: got {}; expected no '.' and no '..' between slashes", url));
  }
  Copies& copies = Copies::instance();
  if (const auto known = copies.all.find(url); known != copies.all.end()) {
    return known->second.directory;
  }
  if (copies.directory == nullptr) {
    copies.directory = std::make_unique<TemporaryDirectory>();
  }
  Copy copy;
  copy.directory = copies.directory->path() + '/' + parsed.bucket +
                   (parsed.prefix.empty() ? "" : '/' + parsed.prefix);
  std::error_code error;
  fs::create_directories(copy.directory, error);
  if (error) {
    throw Error(ErrorCode::kIoError, fmt::format("cannot copy {} to {}: {}", url,
                                                 copies.directory->path(), error.message()));
  }
  BucketCopy::Options options;
  options.directory = copy.directory;
  options.wants = detail::events::isRunFileName;
  copy.files = std::make_unique<BucketCopy>(parsed, std::move(options));
  return copies.all.emplace(url, std::move(copy)).first->second.directory;
}

std::string localPathOf(const std::string& path, std::vector<Damage>* problems) {
  if (!detail::storage::isBucketUrl(path)) {
    return path;
  }
  std::string directory = makeBucketCopy(path);
  Copy& copy = Copies::instance().all.at(path);
  if (copy.updated) {
    return directory;
  }
  std::vector<Damage> found;
  const BucketCopy::Update first = update(path, &copy, &found);
  if (first.objects == 0 || found.size() >= first.objects) {
    throw Error(ErrorCode::kIoError, found.empty() ? "no event file below " + path +
                                                         "; expected the place of a run or of "
                                                         "several, not a file and no pattern"
                                                   : found.front().status.message());
  }
  if (problems != nullptr) {
    problems->insert(problems->end(), found.begin(), found.end());
  }
  return directory;
}

std::string shownPathOf(const std::string& path) {
  const Copies& copies = Copies::instance();
  if (copies.directory == nullptr) {
    return path;
  }
  const std::string start = copies.directory->path() + '/';
  std::string shown = path;
  for (std::size_t at = shown.find(start); at != std::string::npos; at = shown.find(start)) {
    shown.replace(at, start.size(), kScheme);
  }
  return shown;
}

void updateBucketCopies(std::vector<Damage>* problems, std::chrono::milliseconds period) {
  for (auto& [url, copy] : Copies::instance().all) {
    if (!copy.updated || std::chrono::steady_clock::now() - *copy.updated >= period) {
      update(url, &copy, problems);
    }
  }
}

}  // namespace steptape::tools
