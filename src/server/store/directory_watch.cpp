// SPDX-License-Identifier: Apache-2.0
#include "server/store/directory_watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>
#include <unordered_set>

#include "events/framing/event_file_name.h"
#include "process/blackbox/box_folder.h"

namespace steptape::detail::server {
namespace {

constexpr std::uint32_t kEvents = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                                  IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

bool isLink(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

}  // namespace

DirectoryWatch::DirectoryWatch()
    : inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      waker_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!waker_.isOpen()) {
    throw std::system_error(errno, std::system_category(), "eventfd");
  }
}

std::string DirectoryWatch::problemOf(const std::string& directory) {
  if (const char* const network = process::networkFileSystemOf(directory)) {
    return directory + " is on " + network + ", which does not tell of changes by other machines";
  }
  struct statfs status {};
  constexpr std::uint32_t kFuse = 0x65735546;  // linux/magic.h has it since Linux 5.14 only
  if (::statfs(directory.c_str(), &status) == 0 &&
      static_cast<std::uint32_t>(status.f_type) == kFuse) {
    return directory + " is on a file system in user space, which may not tell of all changes";
  }
  return "";
}

std::string DirectoryWatch::watch(const std::vector<std::string>& directories,
                                  std::vector<std::string>* added) {
  if (!inotify_.isOpen()) {
    return "inotify is not available";
  }
  const std::unordered_set<std::string> wanted(directories.begin(), directories.end());
  std::vector<std::string> unwanted;
  for (const auto& [directory, number] : watches_) {
    if (wanted.count(directory) == 0) {
      unwanted.push_back(directory);
    }
  }
  for (const std::string& directory : unwanted) {
    unwatch(directory);
  }
  for (const std::string& directory : directories) {
    if (watches_.count(directory) != 0) {
      continue;
    }
    const int number = ::inotify_add_watch(inotify_.number(), directory.c_str(), kEvents);
    if (number < 0 && (errno == ENOSPC || errno == ENOMEM)) {
      return "more directories than fs.inotify.max_user_watches allows: " +
             std::to_string(directories.size());
    }
    // One that has gone or cannot be read is the business of who lists it.
    if (number >= 0) {
      watches_.emplace(directory, number);
      directories_[number].push_back(directory);
      added->push_back(directory);
    }
  }
  return "";
}

/// Stops watching a path; the directory too, unless it has another path.
void DirectoryWatch::unwatch(const std::string& directory) {
  const auto known = watches_.find(directory);
  if (known == watches_.end()) {
    return;
  }
  std::vector<std::string>& paths = directories_[known->second];
  paths.erase(std::find(paths.begin(), paths.end(), directory));
  if (paths.empty()) {
    ::inotify_rm_watch(inotify_.number(), known->second);
    directories_.erase(known->second);
  }
  watches_.erase(known);
}

/// Stops watching a path and all below it, which may name other directories from now on.
void DirectoryWatch::unwatchBelow(const std::string& directory) {
  const std::string below = directory + "/";
  std::vector<std::string> gone{directory};
  for (auto it = watches_.lower_bound(below);
       it != watches_.end() && it->first.compare(0, below.size(), below) == 0; ++it) {
    gone.push_back(it->first);
  }
  for (const std::string& path : gone) {
    unwatch(path);
  }
}

/// Forgets a watch that the system has removed.
void DirectoryWatch::forgetWatch(int watch) {
  for (const std::string& directory : directories_[watch]) {
    watches_.erase(directory);
  }
  directories_.erase(watch);
}

DirectoryWatch::Changes DirectoryWatch::wait(std::chrono::milliseconds patience) {
  std::array<pollfd, 2> wanted{{{waker_.number(), POLLIN, 0}, {inotify_.number(), POLLIN, 0}}};
  const auto timeout =
      static_cast<int>(std::min<std::int64_t>(patience.count(), std::numeric_limits<int>::max()));
  Changes changes;
  const int ready = ::poll(wanted.data(), wanted.size(), std::max(timeout, -1));
  if (ready <= 0) {
    changes.isTimeout = ready == 0;
    return changes;
  }
  std::uint64_t count = 0;
  static_cast<void>(!::read(waker_.number(), &count, sizeof count));
  if ((wanted[1].revents & POLLIN) != 0) {
    readChanges(&changes);
  }
  return changes;
}

void DirectoryWatch::readChanges(Changes* changes) {
  constexpr std::size_t kBytes = 64 << 10;
  alignas(inotify_event) std::array<char, kBytes> bytes;
  for (;;) {
    const ssize_t got = ::read(inotify_.number(), bytes.data(), bytes.size());
    if (got <= 0) {
      return;
    }
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event;
      std::memcpy(&event, &bytes[at], sizeof event);
      const std::string name(event.len > 0 ? &bytes[at + sizeof event] : "");
      at += sizeof event + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        changes->everything = true;
        continue;
      }
      if (directories_.count(event.wd) == 0) {
        continue;
      }
      if ((event.mask & IN_IGNORED) != 0) {
        changes->structure = true;
        forgetWatch(event.wd);
      } else if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF)) != 0) {
        changes->structure = true;
        const std::vector<std::string> paths = directories_.at(event.wd);
        for (const std::string& path : paths) {
          unwatchBelow(path);
        }
      } else {
        noteEntry(event.wd, name, event.mask, changes);
      }
    }
  }
}

/// Notes what has happened to an entry of a directory.
void DirectoryWatch::noteEntry(int watch, const std::string& name, std::uint32_t mask,
                               Changes* changes) {
  const std::vector<std::string> paths = directories_.at(watch);
  if ((mask & IN_ISDIR) == 0 && events::isRunFileName(name)) {
    changes->directories.insert(paths.begin(), paths.end());
    changes->structure = changes->structure || (mask & IN_MODIFY) == 0;
    return;
  }
  for (const std::string& path : paths) {
    const std::string entry = path + "/" + name;
    // A link to a directory is no directory for inotify.
    if ((mask & IN_ISDIR) != 0 || watches_.count(entry) != 0 || isLink(entry)) {
      changes->structure = true;
      unwatchBelow(entry);
    }
  }
}

void DirectoryWatch::wake() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(waker_.number(), &one, sizeof one));
}

void DirectoryWatch::forget() {
  inotify_ = base::FileDescriptor();
  directories_.clear();
  watches_.clear();
}

}  // namespace steptape::detail::server
