// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape {

/// Bytes that can be read at any offset, and that may still grow at the end.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource();

  /// Reads up to `size` bytes at `offset` to `data`.
  ///
  /// @param got Set to the number of bytes read, also on failure. 0 on success: the source ends at
  ///            or before `offset`, for now.
  /// @return kIoError with the reason if the source failed.
  virtual Status read(std::uint64_t offset, char* data, std::size_t size,
                      std::size_t* got) const = 0;

  /// Returns the name for messages, such as the path of a file.
  virtual const std::string& name() const = 0;
};

/// A file that stays open: renaming or deleting it does not affect reading.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT FileByteSource final : public ByteSource {
 public:
  /// @throws Error(kIoError) with the path and the operating system's error message if the file
  ///         cannot be opened, or with its kind if it is not a regular file. Never waits for a
  ///         FIFO.
  explicit FileByteSource(const std::string& path);
  ~FileByteSource() override;

  Status read(std::uint64_t offset, char* data, std::size_t size, std::size_t* got) const override;
  const std::string& name() const override { return path_; }

 private:
  std::string path_;
  int descriptor_;
};

/// Bytes in memory, for records from a network and for tests.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT MemoryByteSource final : public ByteSource {
 public:
  explicit MemoryByteSource(std::string bytes = {}, std::string name = "memory");

  /// Appends bytes, as a writer appends to a file.
  void append(std::string_view bytes) { bytes_.append(bytes); }

  Status read(std::uint64_t offset, char* data, std::size_t size, std::size_t* got) const override;
  const std::string& name() const override { return name_; }

 private:
  std::string bytes_;
  std::string name_;
};

namespace detail::events {

/// A record length and its stored checksum, which has been verified. Neighboring records often have
/// the same length, and then the same checksum.
struct KnownLength {
  std::uint64_t length = ~std::uint64_t{0};  ///< Initially one that no record has.
  std::uint32_t storedCrc = 0;
};

}  // namespace detail::events

/// The outcome of RecordReader::next(), and how to continue.
enum class ReadOutcome {
  kRecord,     ///< A whole record with two valid checksums.
  kTruncated,  ///< The source ends inside or before a record. Call again after it grew.
  kCorrupt,    ///< A checksum or the length is invalid. Stop, or call findRecord().
  kIoError,    ///< The source failed; see lastError(). Call again if the error may pass.
};

/// Reads the records of an event file one after another.
///
/// To follow a file that is still being written, call next() again after kTruncated: it continues
/// where it stopped and reads no byte twice.
///
/// A damaged length costs no memory: a length is accepted only if its checksum is valid and it is
/// less than 2 GiB, and the buffer grows with the bytes that arrive, not with the length.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    Reads 256 KiB at a time, and records of 64 KiB or more one by one. Memory: 256 KiB, or
///          up to twice the largest record.
/// @source  docs/event_file_format.md, "Reading"
class STEPTAPE_EXPORT RecordReader {
 public:
  /// Reads `source` from its first byte. REQUIRES: `source` is not null.
  explicit RecordReader(std::unique_ptr<ByteSource> source);
  /// Reads `source` from its first byte. REQUIRES: `source` outlives the reader.
  explicit RecordReader(const ByteSource* source);

  /// Reads the next record.
  ///
  /// @param payload Set only for kRecord; valid until the next call or the reader's destruction.
  /// @return the outcome; after kCorrupt always kCorrupt, until findRecord() or seek().
  ReadOutcome next(std::string_view* payload);

  /// Continues at `offset`, where a record begins.
  void seek(std::uint64_t offset);

  /// Continues at the first whole record that begins in [from, until): one with a plausible length
  /// and valid checksums of length and data. Random bytes match with a probability of 2^-64 at each
  /// offset.
  ///
  /// The search also looks inside records: if `from` lies inside a record whose payload contains
  /// the bytes of another event file, it finds the records of that file.
  ///
  /// @return kRecord if there is one: it begins at offset(), and next() reads it. kTruncated if the
  ///         source or the range ends first: continue the search at offset(). kIoError if the
  ///         source failed.
  /// @cost   About 1 ns a byte. All searches of one reader together checksum at most 4 GiB plus 64
  ///         times the bytes that they passed, which bounds the cost of bytes crafted to look like
  ///         many long records. Records that would take more are not found.
  ReadOutcome findRecord(std::uint64_t from, std::uint64_t until = ~std::uint64_t{0});

  /// Returns the offset of the next record. All bytes before it are whole records, or were skipped
  /// by seek() or findRecord().
  std::uint64_t offset() const { return offset_; }

  /// Returns why next() last returned kCorrupt or kIoError: what was got, what was expected, and
  /// where. After kTruncated: kDataLoss if the source ends inside a record, success if it ends
  /// before one. After kRecord: success.
  const Status& lastError() const { return lastError_; }

 private:
  struct Free {
    void operator()(char* bytes) const;
  };

  ReadOutcome readRecord(std::string_view* payload);
  ReadOutcome findHeader(std::uint64_t until);
  bool mayCheck() const;
  ReadOutcome fill(std::size_t needed);
  void makeRoom(std::size_t needed);
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
  detail::events::KnownLength knownLength_;
  bool isCorrupt_ = false;
  std::uint64_t searchPassed_ = 0;   // bytes that searches moved over
  std::uint64_t searchChecked_ = 0;  // bytes that searches checksummed
  Status lastError_;
};

}  // namespace steptape
