// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/events/record_reader.h"
#include "steptape/log/run_reader.h"

namespace steptape::detail::log {

/// Returns the error for a file with `got` bytes of which `expected` were read before.
Status becameShorter(const std::string& path, std::uint64_t got, std::uint64_t expected);

/// One file of a run, with the position up to which it was read. The file is open only while it is
/// read: a log directory may have more files than a process may open.
///
/// A file that may grow may also be truncated, or replaced by another one of its name. The inode
/// does not tell: rsync replaces a copy by another file with the same content and more. So the
/// first and the last bytes that were read are compared.
///
///     if (file.open()) {
///       while (file.next(&payload)) { ... }
///       file.close();
///     }
///
/// @threads Not thread-safe: one thread at a time.
class RunFile {
 public:
  /// @param expectGrowth As RunReaderOptions::expectGrowth.
  RunFile(std::string path, bool expectGrowth)
      : path_(std::move(path)), expectsGrowth_(expectGrowth) {}

  /// @return false if the file has not changed since it was read, cannot be read, or isReplaced().
  bool open();

  /// Returns whether the last open() did not find what was read before: another RunFile can read
  /// the file from its start.
  bool isReplaced() const { return isReplaced_; }

  /// Reads the next record and skips damage. REQUIRES: open.
  /// @param payload Valid until the next call.
  /// @return false at the current end.
  bool next(std::string_view* payload) {
    begin_ = reader_->offset();
    return (!searched_ && reader_->next(payload) == ReadOutcome::kRecord) ||
           nextAfterDamage(payload);
  }

  /// Returns the start of the record that next() returned.
  std::uint64_t recordOffset() const { return begin_; }

  /// Marks the record that next() returned as damage, because it is not an event.
  void rejectRecord(const Status& status);

  void close();
  /// Closes a file that was not read to its end: the next open() opens it even if it has not
  /// changed.
  void closeEarly();

  /// Returns the number of bytes that were read or skipped.
  std::uint64_t offset() const { return reader_ ? reader_->offset() : offset_; }
  /// Continues at `offset`, where a record starts. REQUIRES: open.
  void seek(std::uint64_t offset) { reader_->seek(offset); }
  /// REQUIRES: open.
  const ByteSource* source() const { return &*source_; }
  /// Returns the number of bytes still to read. REQUIRES: open.
  std::uint64_t bytesLeft() const { return bytesFrom(reader_->offset()); }
  void appendDamage(std::vector<Damage>* damage) const;
  /// Returns whether reading continued after damage.
  bool hasPassedDamage() const { return !passed_.empty(); }

 private:
  /// What changes when a file is written or replaced.
  struct Stamp {
    std::uint64_t size;
    std::uint64_t inode;
    std::int64_t changed;  // nanoseconds

    bool operator==(const Stamp& other) const {
      return size == other.size && inode == other.inode && changed == other.changed;
    }
  };
  static constexpr std::size_t kKeptBytes = 128;   // each half takes a version or a scalar
  static constexpr std::size_t kReadAtOnce = 512;  // faster than two small parts
  using KeptBytes = std::array<char, kKeptBytes>;

  static std::optional<Stamp> stampOf(const std::string& path);
  bool holdsWhatWasRead() const;
  bool keep(KeptBytes* kept) const;
  bool nextAfterDamage(std::string_view* payload);
  Status isCompressed() const;
  bool passDamage();
  void addPassed(Damage damage);
  std::uint64_t bytesFrom(std::uint64_t offset) const;

  std::string path_;
  bool expectsGrowth_;
  std::optional<FileByteSource> source_;  // this and the reader: only while open
  std::optional<RecordReader> reader_;
  std::uint64_t begin_ = 0;
  std::uint64_t size_ = 0;      // at the last open()
  std::optional<Stamp> stamp_;  // at the last open(); nothing if the file must be opened again
  std::uint64_t offset_ = 0;    // where to continue
  KeptBytes kept_{};            // of a file that may grow: see keep()
  bool hasKept_ = false;
  bool isReplaced_ = false;
  std::vector<Damage> passed_;
  std::optional<Damage> searched_;  // damage after which no complete record was found yet
  std::optional<Damage> end_;       // the reason why the file cannot be read further
};

}  // namespace steptape::detail::log
