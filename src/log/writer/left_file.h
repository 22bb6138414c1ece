// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "log/writer/box_records.h"
#include "log/writer/dead_process.h"
#include "process/blackbox/box_header.h"

namespace steptape::detail::log {

/// Returns the number of values in an event.
std::uint64_t valuesIn(std::string_view payload);

/// An event file as its process has left it, or as it is at the moment.
class LeftFile {
 public:
  explicit LeftFile(std::string path);

  int error() const { return error_; }
  bool isMissing() const { return error_ == ENOENT || error_ == ENOTDIR; }
  std::uint64_t size() const { return size_; }
  /// Takes the file as if it had no more than its first `bytes`.
  void endAt(std::uint64_t bytes) { size_ = std::min(size_, bytes); }

  /// Returns whether the file holds the first bytes of `bytes` from `offset` to its end.
  bool endsWithin(std::uint64_t offset, std::string_view bytes) const;

  struct WholeRecords {
    std::uint64_t bytes = 0;
    std::uint64_t values = 0;
  };
  /// Takes the whole records from `offset` on, within the next `most` bytes.
  /// @return false if something else is there.
  bool wholeRecords(std::uint64_t offset, std::size_t most, WholeRecords* records) const;

 private:
  bool read(std::uint64_t offset, std::size_t most, std::string* bytes) const;

  const std::string path_;
  const base::FileDescriptor file_;
  const int error_;
  std::uint64_t size_ = 0;
};

/// How much of an announced write has arrived.
struct ArrivedWrite {
  /// Where the last of its whole records ends in the file, which may have a part of a further one
  /// after it; nothing if the file does not reach the write or has something else there.
  std::optional<std::uint64_t> end;
  std::uint64_t missing = 0;  ///< How many of its last scalars the file lacks.
};

/// Finds out how much of a write the stream's file has got: the stream then continues after it.
ArrivedWrite continueAfter(const AnnouncedWrite& write, const LeftFile& file,
                           DeadProcess::Stream* stream);

/// The files of a process in a directory.
struct FilesOfProcess {
  std::string last;  ///< The name of its last event file there; empty: there is none.
  /// A name for a stream's new file: after the last one, and before those of later processes. The
  /// name is always the same, so that a second recovery finds what the first one has written.
  std::string next;
};

/// @return 0 or an errno.
int findFiles(const process::BoxHeader& box, const std::string& directory,
              const NamedStream& stream, FilesOfProcess* files);

/// Returns the records with which a new file begins.
std::string headOfNewFile(const process::BoxHeader& box, const NamedStream& stream);

}  // namespace steptape::detail::log
