// SPDX-License-Identifier: Apache-2.0
#include "server/store/followed_run.h"

#include <filesystem>
#include <sys/stat.h>
#include <system_error>

namespace steptape::detail::server {
namespace {

/// Returns when the newest file of a run was written, in nanoseconds.
std::int64_t lastWritten(const RunFiles& run) {
  struct stat status {};
  if (run.files.empty() || ::stat(run.files.back().c_str(), &status) != 0) {
    return 0;
  }
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec;
}

}  // namespace

std::string canonicalOf(const std::string& directory) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(directory, error);
  return error ? directory : path.string();
}

FollowedRun::FollowedRun(std::string servedName, RunFiles files, const RunReaderOptions& options)
    : name(std::move(servedName)),
      directory(files.directory),
      canonical(canonicalOf(files.directory)),
      written(lastWritten(files)),
      follower(std::move(files), options, [] { return std::make_shared<ServedRun>(); }) {}

void FollowedRun::update() {
  const std::shared_ptr<ServedRun> before = served();
  if (follower.update() > 0 && hasTail) {
    served()->setTail(nullptr);
    hasTail = false;
  }
  hasTail = hasTail && before == served();
}

std::uint64_t FollowedRun::bytesReadOf(const std::string& file) const {
  const std::vector<std::uint64_t> offsets = follower.offsets();
  const std::vector<std::string>& files = follower.run().files;
  for (std::size_t i = 0; i < files.size() && !file.empty(); ++i) {
    if (files[i].substr(files[i].rfind('/') + 1) == file) {
      return offsets[i];
    }
  }
  return 0;
}

}  // namespace steptape::detail::server
