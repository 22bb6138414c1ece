// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/tfrecord/byte_source.h"

namespace steptape {
namespace detail {

/// A length and the stored checksum of it that was found good. Neighboring records often have the
/// same length, and then the same checksum of it.
struct KnownLength {
  std::uint64_t length = ~std::uint64_t{0};  ///< At first one that no record has.
  std::uint32_t storedCrc = 0;
};

}  // namespace detail

/// What RecordReader::next() found, and what to do about it.
enum class ReadOutcome {
  kRecord,     ///< A whole record with two good checksums.
  kTruncated,  ///< The source ends inside or before a record. Call again after it has grown.
  kCorrupt,    ///< A checksum or the length is wrong. Stop, or go on with findRecord().
  kIoError,    ///< The source failed; see lastError(). Call again if that error may pass.
};

/// Reads the records of an event file one after another.
///
/// A file that is still being written is read by calling next() again after kTruncated: reading
/// goes on where it stopped, and bytes that were read are not read again.
///
/// A damaged length costs no memory: it is believed only when its checksum is good and it is at
/// most kMaxPayloadBytes, and then the buffer grows with the bytes that arrive, not with the
/// length.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    Reads 256 KiB at a time, and records of 64 KiB and more by themselves; memory is that,
///          or the largest record and as much again.
/// @source  docs/event_file_format.md, "Reading"
class STEPTAPE_EXPORT RecordReader {
 public:
  /// Reads `source` from its first byte. REQUIRES: `source` is not null.
  explicit RecordReader(std::unique_ptr<ByteSource> source);
  /// As above, for a source that outlives the reader.
  explicit RecordReader(const ByteSource* source);

  /// Reads the next record.
  ///
  /// @param payload Set for kRecord only; valid until the next call or the reader's end.
  /// @return after kCorrupt always kCorrupt, until findRecord() or seek().
  ReadOutcome next(std::string_view* payload);

  /// Goes on at `offset`, where a record begins.
  void seek(std::uint64_t offset);

  /// Goes on at the first whole record that begins at `from` or later, but before `until`: one
  /// whose length has a good checksum, is plausible, and has data behind it with a good checksum.
  /// That random bytes look like one has odds of 2^-64 at an offset.
  ///
  /// What a record holds is searched too: bytes of an event file that somebody logged are found if
  /// `from` lies in front of them within the record.
  ///
  /// @return kRecord if there is one: offset() is where, and next() reads it. kTruncated if the
  ///         source or the stretch ends first: offset() is then where to search on. kIoError.
  /// @cost   About 1 ns a byte. Against bytes made to look like many long records, what all
  ///         searches of a reader checksum is limited to 64 times the bytes they passed over and 4
  ///         GiB; records that would take more are not found.
  ReadOutcome findRecord(std::uint64_t from, std::uint64_t until = ~std::uint64_t{0});

  /// Where the next record begins: all bytes before are whole records or were passed over by
  /// seek() and findRecord().
  std::uint64_t offset() const { return offset_; }

  /// Why next() last gave kCorrupt or kIoError, with what was got, wanted and where. After
  /// kTruncated: kDataLoss if the source ends inside a record, success if it ends before one. After
  /// kRecord: success.
  const Status& lastError() const { return lastError_; }

 private:
  struct Free {
    void operator()(char* bytes) const;
  };

  ReadOutcome readRecord(std::string_view* payload);
  ReadOutcome findHeader(std::uint64_t until);
  bool mayCheck() const;
  ReadOutcome fill(std::size_t wanted);
  void makeRoom(std::size_t wanted);
  void advance(std::size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
  }
  ReadOutcome fail(ReadOutcome outcome, const std::string& what);
  const char* record() const { return buffer_.get() + begin_; }
  std::size_t buffered() const { return end_ - begin_; }

  std::unique_ptr<ByteSource> owned_;
  const ByteSource* source_;
  std::unique_ptr<char[], Free> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;  // of the next record in buffer_
  std::size_t end_ = 0;    // of the bytes read in buffer_
  std::uint64_t offset_ = 0;
  detail::KnownLength knownLength_;
  bool isCorrupt_ = false;
  std::uint64_t searchPassed_ = 0;   // bytes that searches moved over
  std::uint64_t searchChecked_ = 0;  // bytes that searches checksummed
  Status lastError_;
};

}  // namespace steptape
