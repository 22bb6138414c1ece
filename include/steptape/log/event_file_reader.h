// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/events/event.h"
#include "steptape/events/record_reader.h"

namespace steptape {

/// Reads the events of one file one after another:
///
///     EventFileReader reader(path);
///     Event event;
///     while (reader.next(&event) == ReadOutcome::kRecord) { ... }
///     if (!reader.lastError().ok()) { ... }   // cut short, or damaged
///
/// To follow a file that is still being written, call next() again after kTruncated.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    As RecordReader, plus decoding one message per event.
class STEPTAPE_EXPORT EventFileReader {
 public:
  /// Opens a file.
  ///
  /// @throws Error(kIoError) with the path and the operating system's error message if the file
  ///         cannot be opened.
  explicit EventFileReader(const std::string& path);
  /// Reads from any source. REQUIRES: `source` is not null.
  explicit EventFileReader(std::unique_ptr<ByteSource> source);

  /// Reads the next event.
  ///
  /// @param event Set for kRecord only; unspecified otherwise.
  /// @return as RecordReader::next(); kCorrupt also for a record with valid checksums that is not
  ///         an event. After kCorrupt always kCorrupt, until skipDamage().
  ReadOutcome next(event::Event* event);

  /// Skips damage or an incomplete record, and continues at the next whole record.
  /// REQUIRES: next() returned kCorrupt or kTruncated.
  ///
  /// @return kRecord if there is one, which next() reads; the skipped bytes are those from offset()
  ///         before the call to offset() after it. kTruncated if the file ends first: call again
  ///         after it grew. kIoError if the source failed.
  ReadOutcome skipDamage();

  /// Returns the offset of the next event, or of the damage that next() found.
  std::uint64_t offset() const {
    return undecodable_.ok() ? records_.offset() : undecodableOffset_;
  }

  /// Returns why next() last returned no event, as RecordReader::lastError().
  const Status& lastError() const {
    return undecodable_.ok() ? records_.lastError() : undecodable_;
  }

 private:
  std::string name_;
  RecordReader records_;
  Status undecodable_;
  std::uint64_t undecodableOffset_ = 0;
  bool isSearching_ = false;  // skipDamage() has found nothing yet
};

}  // namespace steptape
