// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/status.h"

namespace steptape::detail {

class OpenFiles;

/// The name of a new event file in a directory that holds `existing`, which sorts after all of
/// them: readers take a run's files in the order of their names.
///
/// `events.out.tfevents.<10-digit seconds>.<host>.<pid>.<5-digit number><suffix>`; the seconds are
/// raised where an earlier start lies in the same second, or in the future.
std::string nextEventFileName(const std::vector<std::string>& existing, double wallTime,
                              const std::string& suffix);

/// One event file that this process created and alone appends to.
///
/// Its descriptor may be closed between writes, to keep within OpenFiles' bound.
///
/// @threads Not thread-safe: one thread at a time.
class EventFile {
 public:
  EventFile() = default;
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  /// Lets `openFiles`, which outlives the file, close the descriptor between writes.
  void keepWithin(OpenFiles* openFiles) noexcept;

  /// Makes `directory` and a new event file in it. REQUIRES: !created()
  /// @return kIoError with path and the system's words.
  Status create(const std::string& directory, double wallTime, const std::string& suffix);

  bool created() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  /// Bytes of the whole records in it.
  std::uint64_t size() const { return size_; }
  /// True if the directory held event files when create() was called.
  bool followsOthers() const { return followsOthers_; }

  /// Appends whole records: all of `bytes`, or none after a failure. If the file cannot be
  /// truncated after a failure, the next call must pass the same bytes, possibly with more after
  /// them, and continues where this one ended.
  Status append(std::string_view bytes);

  /// True if a part of a failed append() is still in the file.
  bool hasPartialAppend() const { return leftover_ > 0; }
  /// The bytes of that part.
  std::size_t partialBytes() const { return leftover_; }
  /// Cuts that part off. @return 0 or an errno
  int cutBack() noexcept;
  /// Keeps the first `bytes` of that part, which are whole records; the rest is still to be cut
  /// off.
  void keepPartial(std::size_t bytes) {
    size_ += bytes;
    leftover_ -= bytes;
  }

  /// True if the file was deleted, so that what is written to it is lost.
  bool deleted();

  void closeDescriptor() noexcept;

  /// Closes the file for good: created() is false until the next create(). First cuts off what is
  /// left of a failed append(), or removes the file if it holds no whole record.
  /// @return 0, or the errno for which it could not; nothing has changed then.
  int finish() noexcept;
  /// Finishes as finish(); an incomplete record that cannot be removed stays.
  void abandon() noexcept;

 private:
  friend class OpenFiles;
  int open() noexcept;  // 0 or an errno
  void forget() noexcept;

  OpenFiles* openFiles_ = nullptr;
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;    // whole records
  std::size_t leftover_ = 0;  // bytes of a failed append that could not be cut off
  bool followsOthers_ = false;
  std::list<EventFile*> place_{this};  // empty while it is in OpenFiles, whose list has it then
  std::list<EventFile*>::iterator inOpenFiles_;
};

/// Keeps the number of open event files bounded by closing the least recently written one.
/// Allocates nothing: files bring their places.
///
/// @threads Not thread-safe: one thread at a time.
class OpenFiles {
 public:
  explicit OpenFiles(std::size_t limit) : limit_(limit) {}

  /// Notes that `file` has just been opened; may close another.
  void opened(EventFile* file) noexcept;
  /// Notes that `file` is in use.
  void used(EventFile* file) noexcept;
  /// Notes that `file` is about to be closed.
  void closed(EventFile* file) noexcept;
  std::size_t count() const { return files_.size(); }

 private:
  std::size_t limit_;
  std::list<EventFile*> files_;  // most recently used first
};

}  // namespace steptape::detail
