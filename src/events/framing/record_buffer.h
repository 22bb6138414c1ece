// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail::events {

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
  /// @return the string to append the payload to. Do not change its earlier bytes. REQUIRES: no
  ///   record is open.
  std::string* beginRecord();

  /// Ends the open record: fills in its length and both checksums.
  /// REQUIRES: a record is open.
  void endRecord();

  /// Discards the open record, if its payload could not be built. REQUIRES: a record is open.
  void cancelRecord();

  /// Adds a complete record. REQUIRES: no record is open.
  void append(std::string_view payload);

  /// Returns the complete records, in order. They are valid until the next call that changes the
  /// buffer. REQUIRES: no record is open.
  std::string_view bytes() const { return bytes_; }

  /// Returns the number of complete records in bytes().
  std::size_t records() const { return records_; }

  /// Discards the records and keeps the memory. REQUIRES: no record is open.
  void clear();

  /// Moves the records out of the buffer, which is then empty. REQUIRES: no record is open.
  std::string take();

 private:
  std::string bytes_;
  std::size_t recordStart_ = 0;  // start of the open record
  std::size_t records_ = 0;
};

}  // namespace steptape::detail::events
