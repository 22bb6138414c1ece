// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/box_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/got_expected.h"

namespace steptape::detail::process {

Status boxError(const char* what, const std::string& path, int error) {
  return {ErrorCode::kIoError, "black box: cannot " + std::string(what) + " " + path + ": " +
                                   std::generic_category().message(error)};
}

std::unique_ptr<BoxFile> BoxFile::create(const BoxName& box, const std::string& part,
                                         const BoxHeader& header, Status* why,
                                         const std::string& suffix) {
  const std::string bytes = encodeBoxHeader(header, part);
  std::unique_ptr<BoxFile> file(new BoxFile(box.pathOf(suffix.empty() ? part : suffix)));
  file->descriptor_ = ::open(file->path_.c_str(),
                             O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (file->descriptor_ < 0) {
    *why = boxError("create", file->path_, errno);
    return nullptr;
  }
  file->remover_ = ::getpid();
  if (const int error = file->append(bytes)) {
    *why = boxError("write to", file->path_, error);
    return nullptr;
  }
  return file;
}

BoxFile::~BoxFile() {
  if (remover_ != 0 && remover_ == ::getpid()) {
    remove();
  }
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

/// Returns whether the user's limit of a file's size forbids one that ends at `end`: the kernel
/// answers by a signal that ends the process.
bool BoxFile::isOverLimit(std::uint64_t end) const noexcept {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         end > limit.rlim_cur;
}

int writeAll(int descriptor, std::string_view bytes, std::uint64_t* total) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return written < 0 ? errno : EIO;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    *total += static_cast<std::uint64_t>(written);
  }
  return 0;
}

bool BoxFile::isRemoved() const noexcept {
  struct stat status {};
  return ::fstat(descriptor_, &status) == 0 && status.st_nlink == 0;
}

int BoxFile::append(std::string_view bytes) noexcept {
  if (isOverLimit(size_ + bytes.size())) {
    return EFBIG;
  }
  return writeAll(descriptor_, bytes, &size_);
}

int BoxFile::cutTo(std::uint64_t bytes) noexcept {
  int result = 0;
  do {
    result = ::ftruncate(descriptor_, static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    return errno;
  }
  size_ = bytes;
  return ::lseek(descriptor_, static_cast<off_t>(bytes), SEEK_SET) < 0 ? errno : 0;
}

int BoxFile::reserve(std::uint64_t offset, std::size_t bytes) noexcept {
  if (isOverLimit(offset + bytes)) {
    return EFBIG;
  }
  int error = 0;
  do {
    error = ::posix_fallocate(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (error == EINTR);
  return error;
}

void* BoxFile::map(std::uint64_t offset, std::size_t bytes, int* error) noexcept {
  *error = reserve(offset, bytes);
  if (*error != 0) {
    return nullptr;
  }
  return mapAt(nullptr, offset, bytes, error);
}

/// Maps reserved bytes, in the place of the pages at `at` if it is not null.
void* BoxFile::mapAt(void* at, std::uint64_t offset, std::size_t bytes, int* error) noexcept {
  const int place = at == nullptr ? 0 : MAP_FIXED;
  void* const memory = ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE | place,
                              descriptor_, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) {
    *error = errno;
    return nullptr;
  }
  // A child would otherwise write into its parent's box. Without success, only this is lost.
  static_cast<void>(::madvise(memory, bytes, MADV_DONTFORK));
  return memory;
}

int BoxFile::replaceMapping(std::uint64_t offset, std::size_t bytes, void* at) noexcept {
  if (const int error = reserve(offset, bytes)) {
    return error;
  }
  const auto begin = static_cast<off_t>(offset);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t written = ::pwrite(descriptor_, static_cast<const char*>(at) + done, bytes - done,
                                     begin + static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return written < 0 ? errno : EIO;
    }
    done += static_cast<std::size_t>(written);
  }
  int error = 0;
  mapAt(at, offset, bytes, &error);
  return error;
}

int BoxFile::takePlaceOf(BoxFile* other) noexcept {
  std::string path;
  try {
    path = other->path_;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  if (::rename(path_.c_str(), path.c_str()) != 0) {
    return errno;
  }
  other->remover_ = 0;
  path_.swap(path);
  return 0;
}

void BoxFile::remove() noexcept {
  ::unlink(path_.c_str());
  remover_ = 0;
}

Status openBoxFile(const BoxName& box, const std::string& part, base::FileDescriptor* file) {
  const std::string path = box.pathOf(part);
  // O_NONBLOCK: a pipe of that name must not stop us.
  *file =
      base::FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file->isOpen()) {
    return boxError("open", path, errno);
  }
  struct stat status {};
  if (::fstat(file->number(), &status) != 0) {
    return boxError("read", path, errno);
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != ::getuid()) {
    return {ErrorCode::kDataLoss, "black box: " + path + ": " +
                                      base::gotExpected("something else", "a file of this user")};
  }
  return {};
}

ssize_t readBytesAt(int descriptor, std::uint64_t offset, char* data, std::size_t size) noexcept {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got =
        ::pread(descriptor, data + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return got;
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

Status readBoxFile(const BoxName& box, const std::string& part, std::size_t most,
                   std::string* bytes) {
  bytes->clear();
  base::FileDescriptor file;
  Status result = openBoxFile(box, part, &file);
  if (!result.ok()) {
    return result;
  }
  struct stat status {};
  ssize_t got = ::fstat(file.number(), &status);
  if (got == 0) {
    bytes->resize(std::min<std::size_t>(most, static_cast<std::size_t>(status.st_size)));
    got = readBytesAt(file.number(), 0, bytes->data(), bytes->size());
  }
  if (got < 0) {
    result = boxError("read", box.pathOf(part), errno);
  }
  bytes->resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return result;
}

Status readBoxHeader(const BoxName& box, const std::string& part, BoxHeader* header) {
  std::string bytes;
  const Status status = readBoxFile(box, part, BoxHeader::kBytes, &bytes);
  return status.ok() ? decodeBoxHeader(bytes, part, header) : status;
}

bool hasBoxFile(const BoxName& box, const std::string& part) {
  return ::access(box.pathOf(part).c_str(), F_OK) == 0;
}

Status continueBoxFile(const BoxName& box, const std::string& part, std::uint64_t at,
                       std::string_view bytes) {
  BoxFile file(box.pathOf(part));
  file.descriptor_ = ::open(file.path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file.descriptor_ < 0) {
    return boxError("open", file.path_, errno);
  }
  int error = file.cutTo(at);
  if (error == 0) {
    error = file.append(bytes);
  }
  return error == 0 ? Status() : boxError("write to", file.path_, error);
}

}  // namespace steptape::detail::process
