// SPDX-License-Identifier: Apache-2.0
#include "base/replacement_file.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace steptape::detail::base {
namespace {

std::string directoryOf(const std::string& path) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  return directory.empty() ? "." : directory.string();
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

Status alreadyThere(const std::string& path) {
  return Status(ErrorCode::kFailedPrecondition, "cannot write " + path + ": the file exists");
}

/// Creates a file under an unused name. mkstemp(3) would allow access only to the user, and
/// umask(2) cannot be read without changing it for all threads.
int createFile(const std::string& directory, unsigned permissions, std::string* path) {
  static std::atomic<unsigned> last{0};
  int descriptor;
  do {
    *path = directory + '/' + std::string(kTemporaryPrefix) + std::to_string(::getpid()) + '-' +
            std::to_string(++last);
    descriptor = ::open(path->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
  } while (descriptor < 0 && (errno == EEXIST || errno == EINTR));
  return descriptor;
}

/// Makes new names in `directory` survive a power failure. Errors are ignored: on a file system
/// without this feature, the names are still valid.
void syncDirectory(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    static_cast<void>(::fsync(descriptor));
    ::close(descriptor);
  }
}

}  // namespace

ReplacementFile::~ReplacementFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

Status ReplacementFile::open() {
  constexpr unsigned kAnyNewFile = 0666;  // umask(2) removes some of them
  std::string name;
  const int descriptor = createFile(directoryOf(path_), permissions_ ? 0600 : kAnyNewFile, &name);
  if (descriptor < 0) {
    return fail();
  }
  temporary_ = std::move(name);
  if (!permissions_ || ::fchmod(descriptor, *permissions_) == 0) {
    file_ = ::fdopen(descriptor, "wb");
  }
  if (file_ == nullptr) {
    status_ = fail();
    ::close(descriptor);
  }
  return status_;
}

void ReplacementFile::bypassPageCache() {
  direct_.emplace(::fileno(file_));
}

void ReplacementFile::write(std::string_view bytes) {
  // fwrite() requires a valid pointer even for zero bytes.
  if (status_.ok() && !bytes.empty() && !writeBytes(bytes)) {
    status_ = fail();
  }
}

bool ReplacementFile::writeBytes(std::string_view bytes) {
  return direct_ ? direct_->write(bytes)
                 : std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
}

bool ReplacementFile::flush() {
  return direct_ ? direct_->finish() : std::fflush(file_) == 0;
}

Status ReplacementFile::finish() {
  if (!status_.ok()) {
    return status_;
  }
  if (!flush() || ::fsync(::fileno(file_)) != 0) {
    return fail();
  }
  // Network file systems may report a full disk only on close.
  return std::fclose(std::exchange(file_, nullptr)) == 0 ? Status() : fail();
}

Status ReplacementFile::appear(bool overwrite) {
  if (!status_.ok()) {
    return status_;
  }
  if (overwrite) {
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
      return fail();
    }
    temporary_.clear();
  } else if (Status status = addName(temporary_, path_); !status.ok()) {
    return status;
  }
  syncDirectory(directoryOf(path_));
  return Status();
}

Status ReplacementFile::fail() {
  status_ = Status(ErrorCode::kIoError, "cannot write " + path_ + ": " + reason(errno));
  return status_;
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

}  // namespace steptape::detail::base
