// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/file_descriptor.h"

namespace steptape::detail::server {

/// Tells which directories have changed, by inotify(7).
///
/// @threads Not thread-safe: one thread at a time. wake() is thread-safe.
class DirectoryWatch {
 public:
  /// What has changed since the last wait().
  struct Changes {
    std::set<std::string> directories;  ///< Whose event files have grown, appeared or gone.
    bool structure = false;             ///< Directories or runs may have appeared or gone.
    bool everything = false;            ///< The system has lost count.
    bool isTimeout = false;             ///< The patience was over before anything happened.

    bool isEmpty() const { return directories.empty() && !structure && !everything; }
  };

  /// @throws std::system_error if there are no descriptors left.
  DirectoryWatch();

  /// Returns why changes of a directory are not told, such as a network file system; empty: they
  /// are.
  static std::string problemOf(const std::string& directory);

  /// Watches exactly these directories from now on.
  ///
  /// @param added Receives those that were not watched before: what happened to them before this
  ///              call is not told.
  /// @return why they cannot be watched; empty: they are.
  std::string watch(const std::vector<std::string>& directories, std::vector<std::string>* added);

  /// Waits until something has changed, wake() is called, or `patience` is over; negative: without
  /// an end.
  Changes wait(std::chrono::milliseconds patience);

  void wake() noexcept;

  /// Stops watching: from now on, wait() is a clock.
  void forget();

 private:
  void readChanges(Changes* changes);
  void noteEntry(int watch, const std::string& name, std::uint32_t mask, Changes* changes);
  void unwatch(const std::string& directory);
  void unwatchBelow(const std::string& directory);
  void forgetWatch(int watch);

  base::FileDescriptor inotify_;
  base::FileDescriptor waker_;
  // By number of the watch: all paths of a directory that links show several times have one.
  std::unordered_map<int, std::vector<std::string>> directories_;
  std::map<std::string, int> watches_;  // by path
};

}  // namespace steptape::detail::server
