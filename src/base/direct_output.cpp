// SPDX-License-Identifier: Apache-2.0
#include "base/direct_output.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <unistd.h>

namespace steptape::detail::base {
namespace {

/// Address, size and position in the file must be multiples of the disk's block, which has at most
/// the size of a page.
constexpr std::size_t kAlignment = 4096;
/// A disk reaches its full speed with writes of this size.
constexpr std::size_t kDirectBufferBytes = std::size_t{1} << 20;

}  // namespace

DirectOutput::DirectOutput(int descriptor)
    : descriptor_(descriptor),
      buffer_(static_cast<char*>(std::aligned_alloc(kAlignment, kDirectBufferBytes))) {
  if (buffer_ == nullptr) {
    throw std::bad_alloc();
  }
  setDirect(true);
}

bool DirectOutput::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kDirectBufferBytes - used_);
    std::memcpy(buffer_.get() + used_, bytes.data(), count);
    used_ += count;
    bytes.remove_prefix(count);
    if (used_ == kDirectBufferBytes && !writeBuffer()) {
      return false;
    }
  }
  return true;
}

bool DirectOutput::finish() {
  // The end of the file is not a multiple of a block.
  setDirect(false);
  return writeBuffer();
}

bool DirectOutput::writeBuffer() {
  const char* from = buffer_.get();
  while (used_ > 0) {
    const ssize_t count = ::write(descriptor_, from, used_);
    if (count >= 0) {
      from += count;
      used_ -= static_cast<std::size_t>(count);
    } else if (errno == EINVAL && isDirect()) {
      setDirect(false);  // Some file systems refuse only here, or after a write that was cut short.
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool DirectOutput::isDirect() const {
  const int flags = ::fcntl(descriptor_, F_GETFL);
  return flags >= 0 && (flags & O_DIRECT) != 0;
}

void DirectOutput::setDirect(bool direct) const {
  const int flags = ::fcntl(descriptor_, F_GETFL);
  if (flags >= 0) {
    const int wanted = direct ? flags | O_DIRECT : flags & ~O_DIRECT;
    static_cast<void>(::fcntl(descriptor_, F_SETFL, wanted));
  }
}

}  // namespace steptape::detail::base
