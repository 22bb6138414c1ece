// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/status.h"
#include "steptape/tfrecord/byte_source.h"
#include "steptape/tfrecord/record_reader.h"

namespace steptape::detail {

/// Divides a finished file into whole records and the bytes between them:
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
    kRecord,   ///< A whole record with two good checksums.
    kDamage,   ///< Bytes that are no record. status() says what is wrong where they begin.
    kTail,     ///< The first bytes of a record, which the file then ends.
    kEnd,      ///< Nothing is left.
    kIoError,  ///< The source failed, as status() says; there is no way on.
  };

  /// REQUIRES: `source` is not null and outlives this.
  explicit RecordWalk(const ByteSource* source) : source_(source), reader_(source) {}

  Stretch next();

  /// Goes on to the next kRecord, over what is none. @return false at the end, and at kIoError.
  bool nextRecord();

  std::uint64_t offset() const { return begin_; }
  std::uint64_t bytes() const { return end_ - begin_; }

  /// REQUIRES: the stretch is kRecord. Valid until the next call.
  std::string_view payload() const { return payload_; }

  /// For kDamage, kTail and kIoError. Its message ends with the offset and the source's name.
  const Status& status() const { return status_; }

  /// The message of status() without these. REQUIRES: the stretch is kDamage or kTail.
  std::string problem() const;

  /// Whether the damage begins with an incomplete record, rather than with a wrong checksum.
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

}  // namespace steptape::detail
