// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/status.h"

namespace steptape::detail::log {

class OpenFiles;

/// Returns the name of a new event file that sorts after all `existing` names of its directory,
/// because readers read a run's files in the order of their names.
///
/// `events.out.tfevents.<10-digit seconds>.<host>.<pid>.<5-digit number><suffix>`. The seconds are
/// increased if an earlier start was in the same second or in the future.
std::string nextEventFileName(const std::vector<std::string>& existing, double wallTime,
                              const std::string& suffix);

/// An event file that this process created and to which only this object appends.
///
/// Its descriptor may be closed between writes, to stay within the limit of OpenFiles.
///
/// @threads Not thread-safe: one thread at a time.
class EventFile {
 public:
  EventFile() = default;
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  /// Lets `openFiles`, which must outlive the file, close the descriptor between writes.
  void keepWithin(OpenFiles* openFiles) noexcept;

  /// Creates `directory` and a new event file in it. REQUIRES: !created()
  /// @return kIoError with the path and the operating system's error message.
  Status create(const std::string& directory, double wallTime, const std::string& suffix);

  bool created() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  /// Returns the bytes of complete records in the file.
  std::uint64_t size() const { return size_; }
  /// Returns whether the directory already held event files at create().
  bool followsOthers() const { return followsOthers_; }

  /// Appends complete records: all of `bytes`, or none after a failure. If the file cannot be
  /// truncated after a failure, the next call must pass the same bytes, optionally with more after
  /// them, and continues where this one stopped.
  Status append(std::string_view bytes);

  /// Returns whether a part of a failed append() is still in the file.
  bool hasPartialAppend() const { return leftover_ > 0; }
  /// Returns the bytes of that part.
  std::size_t partialBytes() const { return leftover_; }
  /// Truncates the file to remove that part.
  /// @return 0 or an errno.
  int cutBack() noexcept;
  /// Keeps the first `bytes` of that part, which must be complete records; the rest remains to be
  /// removed.
  void keepPartial(std::size_t bytes) {
    size_ += bytes;
    leftover_ -= bytes;
  }

  /// Returns whether the file was deleted, so that data written to it is lost.
  bool deleted();

  void closeDescriptor() noexcept;

  /// Closes the file permanently: created() returns false until the next create(). First removes
  /// the rest of a failed append(), or the whole file if it holds no complete record.
  /// @return 0, or the errno of a failure; nothing has changed then.
  int finish() noexcept;
  /// Like finish(), but leaves an incomplete record that cannot be removed.
  void abandon() noexcept;

 private:
  friend class OpenFiles;
  int open() noexcept;  // 0 or an errno
  void forget() noexcept;

  OpenFiles* openFiles_ = nullptr;
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;    // complete records
  std::size_t leftover_ = 0;  // bytes of a failed append that could not be removed
  bool followsOthers_ = false;
  std::list<EventFile*> place_{this};  // empty while OpenFiles' list holds the element
  std::list<EventFile*>::iterator inOpenFiles_;
};

/// Limits the number of open event files by closing the least recently written one. Allocates
/// nothing: each file brings its list element.
///
/// @threads Not thread-safe: one thread at a time.
class OpenFiles {
 public:
  explicit OpenFiles(std::size_t limit) : limit_(limit) {}

  /// Records that `file` has just been opened; may close another one.
  void opened(EventFile* file) noexcept;
  /// Records that `file` is in use.
  void used(EventFile* file) noexcept;
  /// Records that `file` is about to be closed.
  void closed(EventFile* file) noexcept;
  std::size_t count() const { return files_.size(); }

 private:
  std::size_t limit_;
  std::list<EventFile*> files_;  // most recently used first
};

}  // namespace steptape::detail::log
