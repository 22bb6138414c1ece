// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "steptape/events/record_reader.h"

#include "base/file_kind.h"

namespace steptape {
namespace {

std::string systemMessage(int error) {
  return std::generic_category().message(error);
}

}  // namespace

ByteSource::~ByteSource() = default;

FileByteSource::FileByteSource(const std::string& path) : path_(path), descriptor_(-1) {
  // Checked before open(): a socket cannot be opened, and opening a device may have side effects.
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kIoError,
                "cannot read " + path_ + ": " + detail::base::fileKindProblem(status.st_mode));
  }
  // Without O_NONBLOCK, open() would wait for a writer if the file has become a FIFO meanwhile.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    throw Error(ErrorCode::kIoError, "cannot open " + path_ + ": " + systemMessage(errno));
  }
}

FileByteSource::~FileByteSource() {
  ::close(descriptor_);
}

Status FileByteSource::read(std::uint64_t offset, char* data, std::size_t size,
                            std::size_t* got) const {
  ssize_t count;
  do {
    count = ::pread(descriptor_, data, size, static_cast<off_t>(offset));
  } while (count < 0 && errno == EINTR);
  *got = count < 0 ? 0 : static_cast<std::size_t>(count);
  if (count < 0) {
    return Status(ErrorCode::kIoError, "cannot read at offset " + std::to_string(offset) + " of " +
                                           path_ + ": " + systemMessage(errno));
  }
  return Status();
}

MemoryByteSource::MemoryByteSource(std::string bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)) {}

Status MemoryByteSource::read(std::uint64_t offset, char* data, std::size_t size,
                              std::size_t* got) const {
  const std::size_t from = std::min<std::uint64_t>(offset, bytes_.size());
  *got = std::min(size, bytes_.size() - from);
  std::memcpy(data, bytes_.data() + from, *got);
  return Status();
}

}  // namespace steptape
