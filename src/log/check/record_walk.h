// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/status.h"
#include "steptape/events/record_reader.h"

namespace steptape::detail::log {

/// Divides a finished file into complete records and the bytes between them:
///
///     RecordWalk walk(&source);
///     RecordWalk::Stretch stretch;
///     while ((stretch = walk.next()) != RecordWalk::Stretch::kEnd) { ... }
///
/// Stretches follow each other without a gap from the first byte to the last.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    As RecordReader.
class RecordWalk {
 public:
  enum class Stretch {
    kRecord,   ///< A complete record with two valid checksums.
    kDamage,   ///< Bytes that are not a record. status() describes the error at their start.
    kTail,     ///< An incomplete record at the end of the file.
    kEnd,      ///< The end of the file.
    kIoError,  ///< The source failed with status(); the walk cannot continue.
  };

  /// REQUIRES: `source` is not null and outlives this object.
  explicit RecordWalk(const ByteSource* source) : source_(source), reader_(source) {}

  Stretch next();

  /// Advances to the next kRecord and skips other stretches.
  /// @return false at the end, and at kIoError.
  bool nextRecord();

  std::uint64_t offset() const { return begin_; }
  std::uint64_t bytes() const { return end_ - begin_; }

  /// REQUIRES: the stretch is kRecord. Valid until the next call.
  std::string_view payload() const { return payload_; }

  /// For kDamage, kTail and kIoError. The message ends with the offset and the source's name.
  const Status& status() const { return status_; }

  /// Returns the message of status() without offset and name. REQUIRES: the stretch is kDamage or
  /// kTail.
  std::string problem() const;

  /// Returns whether the damage starts with an incomplete record, not with a wrong checksum.
  /// REQUIRES: the stretch is kDamage.
  bool isCutShort() const { return isCutShort_; }

 private:
  Stretch passDamage(ReadOutcome outcome);
  Stretch fail();

  const ByteSource* source_;
  RecordReader reader_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::string_view payload_;
  Status status_;
  bool isCutShort_ = false;
  bool isAtEnd_ = false;
};

}  // namespace steptape::detail::log
