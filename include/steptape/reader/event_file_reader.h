// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/event/event.h"
#include "steptape/tfrecord/byte_source.h"
#include "steptape/tfrecord/record_reader.h"

namespace steptape {

/// Reads the events of one file one after another:
///
///     EventFileReader reader(path);
///     Event event;
///     while (reader.next(&event) == ReadOutcome::kRecord) { ... }
///     if (!reader.lastError().ok()) { ... }   // cut short, or damaged
///
/// A file that is still being written is followed by calling next() again after kTruncated.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    As RecordReader, and one decoded message per event.
class STEPTAPE_EXPORT EventFileReader {
 public:
  /// @throws Error(kIoError) with the path and the system's reason if the file cannot be opened.
  explicit EventFileReader(const std::string& path);
  /// Reads from any source. REQUIRES: `source` is not null.
  explicit EventFileReader(std::unique_ptr<ByteSource> source);

  /// Reads the next event.
  ///
  /// @param event Set for kRecord only; unspecified otherwise.
  /// @return kCorrupt also for a record with good checksums that holds no event. After kCorrupt
  ///         always kCorrupt, until skipDamage().
  ReadOutcome next(event::Event* event);

  /// Goes on behind damage, or behind a record that is cut short, at the next whole record.
  /// REQUIRES: next() gave kCorrupt or kTruncated.
  ///
  /// @return kRecord if there is one, which next() reads: what was passed over reaches from
  ///         offset() before the call to offset() behind it. kTruncated if the file ends first;
  ///         call again after it has grown. kIoError.
  ReadOutcome skipDamage();

  /// Where the next event begins, or the damaged one: all bytes before are good.
  std::uint64_t offset() const {
    return undecodable_.ok() ? records_.offset() : undecodableOffset_;
  }

  /// Why next() last did not give an event; as RecordReader::lastError().
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
