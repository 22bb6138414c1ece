// SPDX-License-Identifier: Apache-2.0
#include "steptape/events/record_reader.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "base/got_expected.h"
#include "base/little_endian.h"
#include "events/framing/masked_crc32c.h"
#include "events/framing/record_check.h"
#include "events/framing/record_format.h"

namespace steptape {
namespace {

// Large enough to amortize the system call, and small enough for the data to stay in the
// second-level cache until the checksum is computed.
constexpr std::size_t kReadBytes = 256 * 1024;

// For a record of at least this size, only the missing bytes are read. Otherwise part of the next
// record would be moved to the front of the buffer.
constexpr std::size_t kLongRecordBytes = 64 * 1024;

// Bytes that a search may checksum per byte that it skips, in addition to one record of maximum
// length: a single false length must not hide a long record.
constexpr std::uint64_t kSearchFactor = 64;
constexpr std::uint64_t kSearchBytes = detail::events::kMaxPayloadBytes;

bool isPlausible(std::uint64_t length) {
  return length <= detail::events::kMaxPayloadBytes;
}

detail::events::MaskedCrc32c crcAt(const char* bytes) {
  return detail::events::MaskedCrc32c(detail::base::loadLittleEndian32(bytes));
}

/// @param header kHeaderBytes bytes.
bool hasGoodLengthCrc(const char* header) {
  return crcAt(header + 8) == detail::events::maskedCrc32c({header, 8});
}

/// @param data A payload followed by its footer.
bool hasGoodDataCrc(std::string_view data) {
  return crcAt(data.data() + data.size()) == detail::events::maskedCrc32c(data);
}

std::string mismatch(detail::events::MaskedCrc32c got, detail::events::MaskedCrc32c expected) {
  return detail::base::gotExpected(got.toString(), expected.toString());
}

}  // namespace

RecordReader::RecordReader(std::unique_ptr<ByteSource> source)
    : owned_(std::move(source)), source_(owned_.get()) {}

RecordReader::RecordReader(const ByteSource* source) : source_(source) {}

void RecordReader::Free::operator()(char* bytes) const {
  std::free(bytes);
}

ReadOutcome RecordReader::next(std::string_view* payload) {
  if (!lastError_.ok() && !isCorrupt_) {
    lastError_ = Status();
  }
  // Fast path: nearly every record is complete and in the buffer.
  const std::uint64_t length = detail::events::recordLength(record(), buffered(), &knownLength_);
  if (length != detail::events::kNoRecord) {
    *payload = {record() + detail::events::kHeaderBytes, static_cast<std::size_t>(length)};
    advance(detail::events::kFramingBytes + static_cast<std::size_t>(length));
    return ReadOutcome::kRecord;
  }
  return isCorrupt_ ? ReadOutcome::kCorrupt : readRecord(payload);
}

ReadOutcome RecordReader::readRecord(std::string_view* payload) {
  if (const ReadOutcome outcome = fill(detail::events::kHeaderBytes);
      outcome != ReadOutcome::kRecord) {
    return outcome;
  }
  if (!hasGoodLengthCrc(record())) {
    return fail(ReadOutcome::kCorrupt,
                "length checksum mismatch: " +
                    mismatch(crcAt(record() + 8), detail::events::maskedCrc32c({record(), 8})));
  }
  const std::uint64_t length = detail::base::loadLittleEndian64(record());
  if (!isPlausible(length)) {
    return fail(
        ReadOutcome::kCorrupt,
        "record too long: " + detail::base::gotExpected(
                                  std::to_string(length) + " bytes",
                                  "at most " + std::to_string(detail::events::kMaxPayloadBytes)));
  }

  if (const ReadOutcome outcome = fill(detail::events::kFramingBytes + length);
      outcome != ReadOutcome::kRecord) {
    return outcome;
  }
  const std::string_view data(record() + detail::events::kHeaderBytes, length);
  if (!hasGoodDataCrc(data)) {
    return fail(ReadOutcome::kCorrupt,
                "data checksum mismatch: " +
                    mismatch(crcAt(data.data() + length), detail::events::maskedCrc32c(data)));
  }
  advance(detail::events::kFramingBytes + length);
  *payload = data;
  return ReadOutcome::kRecord;
}

void RecordReader::seek(std::uint64_t offset) {
  isCorrupt_ = false;
  if (offset >= offset_ && offset - offset_ <= buffered()) {
    advance(static_cast<std::size_t>(offset - offset_));
  } else {
    begin_ = 0;
    end_ = 0;
    offset_ = offset;
  }
}

ReadOutcome RecordReader::findRecord(std::uint64_t from, std::uint64_t until) {
  seek(from);
  std::optional<std::uint64_t> firstIncomplete;
  std::uint64_t sourceEnd = std::numeric_limits<std::uint64_t>::max();  // until it is known
  ReadOutcome outcome;
  for (; (outcome = findHeader(until)) == ReadOutcome::kRecord; advance(1)) {
    const std::uint64_t length = detail::base::loadLittleEndian64(record());
    if (detail::events::kFramingBytes + length > sourceEnd - offset_) {
      firstIncomplete = firstIncomplete.value_or(offset_);
      continue;
    }
    if (!mayCheck()) {
      continue;
    }
    outcome = fill(detail::events::kFramingBytes + length);
    if (outcome == ReadOutcome::kIoError) {
      return outcome;
    }
    searchChecked_ += std::min<std::uint64_t>(length, buffered());
    if (outcome == ReadOutcome::kTruncated) {
      sourceEnd = offset_ + buffered();
      firstIncomplete = firstIncomplete.value_or(offset_);
    } else if (hasGoodDataCrc({record() + detail::events::kHeaderBytes, length})) {
      return outcome;
    }
  }
  if (outcome == ReadOutcome::kTruncated) {
    lastError_ = Status();
    seek(firstIncomplete.value_or(offset_));
  }
  return outcome;
}

/// Returns whether a search may checksum another record.
bool RecordReader::mayCheck() const {
  return searchChecked_ <= kSearchBytes + kSearchFactor * searchPassed_;
}

/// Moves to the first offset before `until` that has a plausible length with a valid checksum.
ReadOutcome RecordReader::findHeader(std::uint64_t until) {
  while (offset_ < until) {
    if (const ReadOutcome outcome = fill(detail::events::kHeaderBytes);
        outcome != ReadOutcome::kRecord) {
      return outcome;
    }
    while (offset_ < until && buffered() >= detail::events::kHeaderBytes) {
      if (isPlausible(detail::base::loadLittleEndian64(record())) && hasGoodLengthCrc(record())) {
        return ReadOutcome::kRecord;
      }
      advance(1);
      ++searchPassed_;
    }
  }
  return ReadOutcome::kTruncated;
}

/// Reads until the buffer holds the first `needed` bytes of the record.
ReadOutcome RecordReader::fill(std::size_t needed) {
  while (buffered() < needed) {
    makeRoom(needed);
    const std::size_t missing = needed - buffered() + detail::events::kHeaderBytes;
    const std::size_t room = capacity_ - end_;
    const std::size_t size = needed >= kLongRecordBytes ? std::min(missing, room) : room;
    std::size_t got = 0;
    lastError_ = source_->read(offset_ + buffered(), buffer_.get() + end_, size, &got);
    if (!lastError_.ok()) {
      return ReadOutcome::kIoError;
    }
    if (got == 0 && buffered() == 0) {
      return ReadOutcome::kTruncated;
    }
    if (got == 0) {
      return fail(
          ReadOutcome::kTruncated,
          "record cut short: " + detail::base::gotExpected(std::to_string(buffered()) + " bytes",
                                                           std::to_string(needed)));
    }
    end_ += got;
  }
  return ReadOutcome::kRecord;
}

/// Makes room for at least one more byte. Moves the record to the front if it does not fit. Only a
/// full buffer grows, so that a false length costs no memory.
void RecordReader::makeRoom(std::size_t needed) {
  if (begin_ > 0 && begin_ + needed > capacity_) {
    std::memmove(buffer_.get(), record(), buffered());
    end_ = buffered();
    begin_ = 0;
  }
  if (end_ == capacity_) {
    const std::size_t capacity = std::max(kReadBytes, 2 * capacity_);
    // For a large block, realloc() remaps pages instead of copying them, and touches no new pages.
    void* const grown = std::realloc(buffer_.get(), capacity);
    if (grown == nullptr) {
      throw std::bad_alloc();
    }
    static_cast<void>(buffer_.release());
    buffer_.reset(static_cast<char*>(grown));
    capacity_ = capacity;
  }
}

ReadOutcome RecordReader::fail(ReadOutcome outcome, const std::string& what) {
  lastError_ = Status(ErrorCode::kDataLoss,
                      what + " at offset " + std::to_string(offset_) + " of " + source_->name());
  isCorrupt_ = outcome == ReadOutcome::kCorrupt;
  return outcome;
}

}  // namespace steptape
