// SPDX-License-Identifier: Apache-2.0
#include "log/writer/file_system.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/directory_entries.h"
#include "base/never_destroyed.h"

namespace steptape::detail::log {
namespace {

std::atomic<FileSystem*> testFileSystem{nullptr};

int openFile(const std::string& path, int flags, int* descriptor) {
  do {
    *descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (*descriptor < 0 && errno == EINTR);
  return *descriptor < 0 ? errno : 0;
}

}  // namespace

FileSystem::~FileSystem() = default;

FileSystem& FileSystem::current() {
  // Never destroyed: a writer with static storage may end after it.
  static const base::NeverDestroyed<FileSystem> kReal;
  FileSystem* const test = testFileSystem.load(std::memory_order_acquire);
  return test != nullptr ? *test : *kReal;
}

void FileSystem::setForTesting(FileSystem* fileSystem) {
  testFileSystem.store(fileSystem, std::memory_order_release);
}

int FileSystem::createDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  // Another process may have created it meanwhile; it only matters that it exists.
  if (error && !std::filesystem::is_directory(path)) {
    return error.value();
  }
  return 0;
}

int FileSystem::list(const std::string& path, std::vector<std::string>* names) {
  std::vector<base::DirectoryEntry> entries;
  const int error = base::listDirectory(path, &entries);
  for (base::DirectoryEntry& entry : entries) {
    names->push_back(std::move(entry.name));
  }
  return error;
}

int FileSystem::createExclusive(const std::string& path, int* descriptor) {
  return openFile(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, descriptor);
}

int FileSystem::openToAppend(const std::string& path, int* descriptor) {
  return openFile(path, O_WRONLY | O_APPEND, descriptor);
}

int FileSystem::write(int descriptor, std::string_view bytes, std::size_t* written) {
  ssize_t result;
  do {
    result = ::write(descriptor, bytes.data(), bytes.size());
  } while (result < 0 && errno == EINTR);
  *written = result < 0 ? 0 : static_cast<std::size_t>(result);
  return result < 0 ? errno : 0;
}

int FileSystem::read(const std::string& path, std::string* bytes) {
  int descriptor = -1;
  if (const int error = openFile(path, O_RDONLY, &descriptor)) {
    return error;
  }
  char buffer[4096];
  ssize_t count = 0;
  try {
    while ((count = ::read(descriptor, buffer, sizeof(buffer))) > 0 ||
           (count < 0 && errno == EINTR)) {
      bytes->append(buffer, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  const int error = count < 0 ? errno : 0;
  ::close(descriptor);
  return error;
}

int FileSystem::rename(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) < 0 ? errno : 0;
}

int FileSystem::remove(const std::string& path) {
  return ::unlink(path.c_str()) < 0 ? errno : 0;
}

int FileSystem::truncate(int descriptor, std::uint64_t size) {
  int result;
  do {
    result = ::ftruncate(descriptor, static_cast<off_t>(size));
  } while (result < 0 && errno == EINTR);
  return result < 0 ? errno : 0;
}

int FileSystem::linkCount(int descriptor, std::uint64_t* links) {
  struct stat status;
  if (::fstat(descriptor, &status) < 0) {
    return errno;
  }
  *links = status.st_nlink;
  return 0;
}

void FileSystem::close(int descriptor) {
  ::close(descriptor);
}

}  // namespace steptape::detail::log
