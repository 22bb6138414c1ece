// SPDX-License-Identifier: Apache-2.0
#include "checker/replacement_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace steptape::detail {
namespace {

std::string directoryOf(const std::string& path) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  return directory.empty() ? "." : directory.string();
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

Status alreadyThere(const std::string& path) {
  return Status(ErrorCode::kFailedPrecondition, "cannot write " + path + ": it is there already");
}

/// Makes names in `directory` last through a power failure; where that cannot be asked for, the
/// names are good all the same.
void syncDirectory(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    static_cast<void>(::fsync(descriptor));
    ::close(descriptor);
  }
}

}  // namespace

ReplacementFile::~ReplacementFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

Status ReplacementFile::open() {
  std::string name = directoryOf(path_) + "/.steptape-XXXXXX";
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    return systemError();
  }
  temporary_ = std::move(name);
  return ::fchmod(descriptor_, permissions_) == 0 ? Status() : systemError();
}

Status ReplacementFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return systemError();
    }
    bytes.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return Status();
}

Status ReplacementFile::finish() {
  if (::fsync(descriptor_) != 0) {
    return systemError();
  }
  // Network file systems say only here that there was no room.
  return ::close(std::exchange(descriptor_, -1)) == 0 ? Status() : systemError();
}

Status ReplacementFile::appear(bool overwrite) {
  if (overwrite) {
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
      return systemError();
    }
    temporary_.clear();
  } else if (Status status = addName(temporary_, path_); !status.ok()) {
    return status;
  }
  syncDirectory(directoryOf(path_));
  return Status();
}

Status ReplacementFile::systemError() const {
  return Status(ErrorCode::kIoError, "cannot write " + path_ + ": " + reason(errno));
}

Status addName(const std::string& path, const std::string& name) {
  if (::link(path.c_str(), name.c_str()) == 0) {
    return Status();
  }
  if (errno == EEXIST) {
    return alreadyThere(name);
  }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) {
    return Status(ErrorCode::kIoError, "cannot write " + name + ": " + reason(errno));
  }
  if (::access(name.c_str(), F_OK) == 0) {
    return alreadyThere(name);
  }
  return std::rename(path.c_str(), name.c_str()) == 0
             ? Status()
             : Status(ErrorCode::kIoError, "cannot write " + name + ": " + reason(errno));
}

}  // namespace steptape::detail
