// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace steptape::detail::storage {

base::FileDescriptor openToRead(const std::string& path) {
  base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (file.isOpen() && (::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode))) {
    file = base::FileDescriptor();
    errno = EINVAL;
  }
  return file;
}

std::size_t readAt(const base::FileDescriptor& file, std::uint64_t offset, char* out,
                   std::size_t most) {
  ssize_t bytes = 0;
  do {
    bytes = ::pread(file.number(), out, most, static_cast<off_t>(offset));
  } while (bytes < 0 && errno == EINTR);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::optional<base::Crc32c> checksumOf(const base::FileDescriptor& file, std::uint64_t bytes) {
  base::Crc32c crc;
  std::vector<char> block(std::size_t{256} << 10);
  for (std::uint64_t done = 0; done < bytes;) {
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(bytes - done, block.size()));
    const std::size_t read = readAt(file, done, block.data(), most);
    if (read == 0) {
      return std::nullopt;
    }
    crc = base::extend(crc, {block.data(), read});
    done += read;
  }
  return crc;
}

bool hasBytes(const base::FileDescriptor& file, std::uint64_t offset, std::string_view bytes) {
  std::vector<char> own(bytes.size());
  for (std::size_t done = 0; done < own.size();) {
    const std::size_t read = readAt(file, offset + done, own.data() + done, own.size() - done);
    if (read == 0) {
      return false;
    }
    done += read;
  }
  return bytes == std::string_view(own.data(), own.size());
}

}  // namespace steptape::detail::storage
