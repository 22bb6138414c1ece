// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <unistd.h>

namespace steptape::test {

inline bool writeTo(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  const bool isWritten =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) {
    close(file);
  }
  return isWritten;
}

/// Gives the calling process, which must have one thread, mounts that no other process sees.
/// @return false without the right to.
inline bool takeOwnMounts() {
  const std::string user = std::to_string(getuid());
  const std::string group = std::to_string(getgid());
  if (unshare(CLONE_NEWNS) != 0) {
    // Without root's rights: as root of a name space for users, with the same numbers as outside.
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !writeTo("/proc/self/setgroups", "deny") ||
        !writeTo("/proc/self/uid_map", user + " " + user + " 1") ||
        !writeTo("/proc/self/gid_map", group + " " + group + " 1")) {
      return false;
    }
  }
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

/// Mounts an empty tmpfs.
/// @param options As of `mount -o`.
inline bool mountTmpfs(const std::string& folder, const std::string& options) {
  return mount("none", folder.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

/// Forbids writes to a file system that mountTmpfs() has mounted.
inline bool makeReadOnly(const std::string& folder) {
  return mount("none", folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0;
}

/// Takes all room of the file system in which `folder` is.
inline void fillUp(const std::string& folder) {
  const int file = open((folder + "/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  for (std::size_t bytes = 65536; bytes > 0; bytes /= 2) {
    while (write(file, std::string(bytes, 'x').data(), bytes) > 0) {
    }
  }
  close(file);
}

}  // namespace steptape::test
