// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape {

/// Framed records in memory, ready for one write to a file.
///
/// Payloads are built in place, between the header and the footer of their record:
///
///     std::string* out = buffer.beginRecord();
///     encodeEvent(event, out);
///     buffer.endRecord();
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    No allocation once it has grown to the largest batch; two checksums per record.
/// @source  docs/event_file_format.md
class STEPTAPE_EXPORT RecordBuffer {
 public:
  /// Starts a record.
  ///
  /// @return where to append the payload. Do not change the bytes before it.
  /// REQUIRES: no record is open.
  std::string* beginRecord();

  /// Ends the open record: fills in its length and both checksums.
  /// REQUIRES: a record is open.
  void endRecord();

  /// Drops the open record, as if it had not been begun: for a payload that could not be built.
  /// REQUIRES: a record is open.
  void cancelRecord();

  /// Adds a whole record. REQUIRES: no record is open.
  void append(std::string_view payload);

  /// The whole records, in order; valid until the next call that changes the buffer.
  /// REQUIRES: no record is open.
  std::string_view bytes() const { return bytes_; }

  /// Whole records in bytes().
  std::size_t records() const { return records_; }

  /// Forgets the records and keeps the memory. REQUIRES: no record is open.
  void clear();

  /// Hands out the records with their memory; the buffer is then empty.
  /// REQUIRES: no record is open.
  std::string take();

 private:
  std::string bytes_;
  std::size_t recordStart_ = 0;  // of the open record, else unused
  std::size_t records_ = 0;
};

}  // namespace steptape
