// SPDX-License-Identifier: Apache-2.0
#include "trainer/whole_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace steptape::detail {
namespace {

Status systemError(const std::string& doing, const std::string& path, int error) {
  return {ErrorCode::kIoError, "cannot " + doing + " " + path + ": " + std::strerror(error)};
}

/// Writes and syncs, and says by errno what failed.
bool writeDurably(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written < 0 ? 0 : written));
  }
  return ::fsync(fd) == 0;
}

/// A rename is only safe on disk once the directory is.
void syncDirectory(const std::filesystem::path& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    ::fsync(fd);
    ::close(fd);
  }
}

}  // namespace

Status readWholeFile(const std::string& path, std::string& bytes) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (file) {
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  if (!file || file.bad()) {
    return systemError("read", path, errno);
  }
  return {};
}

Status replaceFile(const std::string& path, std::string_view bytes) {
  const std::filesystem::path directory = std::filesystem::absolute(path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return {ErrorCode::kIoError,
            "cannot create the directory " + directory.string() + ": " + error.message()};
  }
  const std::string temporary = path + ".tmp";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) {
    return systemError("create", temporary, errno);
  }
  const bool written = writeDurably(fd, bytes);
  const int writeError = errno;
  ::close(fd);
  if (!written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int failure = written ? errno : writeError;
    ::unlink(temporary.c_str());
    return systemError("write", path, failure);
  }
  syncDirectory(directory);
  return {};
}

}  // namespace steptape::detail
