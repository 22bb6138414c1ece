// SPDX-License-Identifier: Apache-2.0
#include "steptape/record/record_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "steptape/record/crc32c.h"
#include "steptape/record/record_format.h"

#include "base/little_endian.h"

namespace steptape {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

std::string gotWant(MaskedCrc32c got, MaskedCrc32c want) {
  return "got " + got.toString() + ", want " + want.toString();
}

}  // namespace

RecordReader::RecordReader(std::unique_ptr<ByteSource> source)
    : owned_(std::move(source)), source_(owned_.get()) {}

RecordReader::RecordReader(const ByteSource* source) : source_(source) {}

ReadOutcome RecordReader::next(std::string_view* payload) {
  if (isCorrupt_) {
    return ReadOutcome::kCorrupt;
  }
  lastError_ = Status();
  return readRecord(payload);
}

ReadOutcome RecordReader::readRecord(std::string_view* payload) {
  if (const ReadOutcome outcome = fill(kHeaderBytes); outcome != ReadOutcome::kRecord) {
    return outcome;
  }
  const MaskedCrc32c lengthCrc(detail::loadLittleEndian32(record() + 8));
  const MaskedCrc32c wantedLengthCrc = maskedCrc32c({record(), 8});
  if (lengthCrc != wantedLengthCrc) {
    return fail(ReadOutcome::kCorrupt,
                "length checksum mismatch: " + gotWant(lengthCrc, wantedLengthCrc));
  }
  const std::uint64_t length = detail::loadLittleEndian64(record());
  if (length > kMaxPayloadBytes) {
    return fail(ReadOutcome::kCorrupt, "record too long: got " + std::to_string(length) +
                                           " bytes, want at most " +
                                           std::to_string(kMaxPayloadBytes));
  }

  if (const ReadOutcome outcome = fill(kFramingBytes + length); outcome != ReadOutcome::kRecord) {
    return outcome;
  }
  const std::string_view data(record() + kHeaderBytes, length);
  const MaskedCrc32c dataCrc(detail::loadLittleEndian32(data.data() + length));
  const MaskedCrc32c wantedDataCrc = maskedCrc32c(data);
  if (dataCrc != wantedDataCrc) {
    return fail(ReadOutcome::kCorrupt,
                "data checksum mismatch: " + gotWant(dataCrc, wantedDataCrc));
  }
  begin_ += kFramingBytes + length;
  offset_ += kFramingBytes + length;
  *payload = data;
  return ReadOutcome::kRecord;
}

/// Reads on until `wanted` bytes from the record's first on are in the buffer.
ReadOutcome RecordReader::fill(std::size_t wanted) {
  while (buffered() < wanted) {
    makeRoom(wanted);
    std::size_t got = 0;
    lastError_ =
        source_->read(offset_ + buffered(), buffer_.data() + end_, buffer_.size() - end_, &got);
    if (!lastError_.ok()) {
      return ReadOutcome::kIoError;
    }
    if (got == 0 && buffered() == 0) {
      return ReadOutcome::kTruncated;
    }
    if (got == 0) {
      return fail(ReadOutcome::kTruncated, "record cut short: got " + std::to_string(buffered()) +
                                               " bytes, want " + std::to_string(wanted));
    }
    end_ += got;
  }
  return ReadOutcome::kRecord;
}

/// Makes the buffer take at least one more byte: moves the record to its front if it would not fit
/// behind, and grows only what is full, so that a length without data behind it costs no memory.
void RecordReader::makeRoom(std::size_t wanted) {
  if (begin_ > 0 && begin_ + wanted > buffer_.size()) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, buffered());
    end_ = buffered();
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    buffer_.resize(std::max(kReadBytes, 2 * buffer_.size()));
  }
}

ReadOutcome RecordReader::fail(ReadOutcome outcome, const std::string& what) {
  lastError_ = Status(ErrorCode::kDataLoss,
                      what + " at offset " + std::to_string(offset_) + " of " + source_->name());
  isCorrupt_ = outcome == ReadOutcome::kCorrupt;
  return outcome;
}

}  // namespace steptape
