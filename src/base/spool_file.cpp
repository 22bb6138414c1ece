// SPDX-License-Identifier: Apache-2.0
#include "base/spool_file.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <unistd.h>

namespace steptape::detail::base {

SpoolFile::~SpoolFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
  }
}

Status SpoolFile::systemError(const char* what) const {
  return {ErrorCode::kIoError, std::string(what) + " the temporary file " + prefix_ +
                                   "*: " + std::generic_category().message(errno)};
}

Status SpoolFile::open() {
  std::string path = prefix_ + "XXXXXX";
  const int descriptor = ::mkstemp(path.data());
  if (descriptor < 0) {
    return systemError("cannot create");
  }
  ::unlink(path.c_str());
  file_ = ::fdopen(descriptor, "w+b");
  if (file_ == nullptr) {
    ::close(descriptor);
    return systemError("cannot create");
  }
  return {};
}

Status SpoolFile::append(const void* bytes, std::size_t size, std::uint64_t* offset) {
  if (file_ == nullptr) {
    if (Status opened = open(); !opened.ok()) {
      return opened;
    }
  }
  // A stream must be repositioned between reads and writes. That empties its buffer, so it is done
  // only if needed.
  if (!isAtEnd_ && std::fseek(file_, 0, SEEK_END) != 0) {
    return systemError("cannot write");
  }
  isAtEnd_ = true;
  *offset = size_;
  if (std::fwrite(bytes, 1, size, file_) != size) {
    return systemError("cannot write");
  }
  size_ += size;
  return {};
}

Status SpoolFile::read(std::uint64_t offset, void* bytes, std::size_t size) {
  isAtEnd_ = false;
  if (::fseeko(file_, static_cast<off_t>(offset), SEEK_SET) != 0 ||
      std::fread(bytes, 1, size, file_) != size) {
    return systemError("cannot read");
  }
  return {};
}

}  // namespace steptape::detail::base
