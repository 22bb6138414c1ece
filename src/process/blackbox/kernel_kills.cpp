// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/kernel_kills.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/number_text.h"

// Calls only what a signal handler may call: opendir() would allocate.

namespace steptape::detail::process {
namespace {

constexpr int kMostDepth = 8;

/// What the system call fills in.
/// @source getdents(2)
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];  // NOLINT(modernize-avoid-c-arrays): the rest of the entry
};

class OpenFile {
 public:
  OpenFile(int directory, const char* path, int flags) noexcept
      : number_(::openat(directory, path, flags | O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const noexcept { return number_; }

 private:
  const int number_;
};

/// Returns the number of the line "oom_kill 3"; -1 if it is unknown.
std::int64_t killsOfGroup(int group, bool isVersion2) noexcept {
  const OpenFile file(group, isVersion2 ? "memory.events" : "memory.oom_control", 0);
  std::array<char, 512> text;
  const ssize_t bytes = file.number() < 0 ? 0 : ::read(file.number(), text.data(), text.size());
  if (bytes <= 0) {
    return -1;
  }
  const auto kills = base::numberAfter({text.data(), static_cast<std::size_t>(bytes)}, "oom_kill ");
  return kills ? static_cast<std::int64_t>(*kills) : -1;
}

bool mayBeGroup(const Entry& entry) noexcept {
  return (entry.type == DT_DIR || entry.type == DT_UNKNOWN) && std::strcmp(entry.name, ".") != 0 &&
         std::strcmp(entry.name, "..") != 0;
}

/// Adds the kills in the groups inside of one of version 1.
///
/// @param mostGroups How many more may be read; counts down.
void addInnerKills(int group, int depth, int* mostGroups, std::int64_t* kills) noexcept {
  alignas(Entry) std::array<char, 1024> entries;
  for (;;) {
    const long bytes = ::syscall(SYS_getdents64, group, entries.data(), entries.size());
    if (bytes <= 0) {
      return;
    }
    for (long at = 0; at < bytes;) {
      const auto& entry = *reinterpret_cast<const Entry*>(entries.data() + at);
      at += entry.bytes;
      if (!mayBeGroup(entry) || --*mostGroups <= 0) {
        continue;
      }
      const OpenFile inner(group, entry.name, O_DIRECTORY | O_NOFOLLOW);
      if (inner.number() < 0) {
        continue;
      }
      *kills += std::max<std::int64_t>(killsOfGroup(inner.number(), /*isVersion2=*/false), 0);
      if (depth < kMostDepth) {
        addInnerKills(inner.number(), depth + 1, mostGroups, kills);
      }
    }
  }
}

}  // namespace

KernelKills::KernelKills(std::string_view directory, bool isVersion2, bool withInnerGroups) noexcept
    : isVersion2_(isVersion2), withInnerGroups_(withInnerGroups) {
  if (directory.size() < directory_.size()) {
    std::copy(directory.begin(), directory.end(), directory_.begin());
  }
}

std::int64_t KernelKills::count() const noexcept {
  if (directory_[0] == '\0') {
    return -1;
  }
  const int errorBefore = errno;
  std::int64_t kills = -1;
  {
    const OpenFile group(AT_FDCWD, directory_.data(), O_DIRECTORY);
    if (group.number() >= 0) {
      kills = killsOfGroup(group.number(), isVersion2_);
      int mostGroups = 1000;
      if (withInnerGroups_) {
        addInnerKills(group.number(), 0, &mostGroups, &kills);
      }
    }
  }
  errno = errorBefore;
  return kills;
}

}  // namespace steptape::detail::process
